/// Augmented Lagrangian with Newton's method.
///
/// Given impulses p, every contact answers a motion y as if it were elastic about p with the
/// stiffness rho: p'(w) = P(p - rho w), P the projection on what its law allows with the bounds of
/// friction frozen. Then
///     F(y) = y - J^T p'(w_free + J y) = 0
/// are the equations of motion; F is the gradient of a convex function, piecewise linear, and
/// Newton's method with a search along each step solves them. p' become the next p, the bounds
/// follow, and so on. This is the proximal point method for the impulses: a stiffness of kappa
/// times the contact's own mass reduces an error whose Delassus eigenvalue is lambda/mass by
/// 1/(1 + kappa lambda) a round. The bending of a bonded beam of n grains has lambda ~ n^-4, so
/// kappa goes up to 3e13, as far as doubles let it: y then carries noise of kappa times rounding,
/// which rounds with less and less stiffness clean away; they do not spoil what is right on large
/// scales. Where states of contacts change Newton's method needs many steps at a high stiffness:
/// there it does not rise.
#include "rigid/direct/methods.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static const double FIRST_STIFFNESS = 1e2, LEAST_STIFFNESS = 10.0, MOST_STIFFNESS = 3e13;
/// Rise of the stiffness after a round of at most QUICK factorisations, its fall after one of more
/// than SLOW, and its fall when all is found and only noise is left. A round that Newton's method
/// could not solve is worse than none: it is taken back, and the stiffness stays below that, with
/// smaller rises.
static const double RISE = 1e2, SMALL_RISE = 10.0, FALL = 0.1, CLEAN = 1e-3;
enum {
    QUICK = 3,
    SLOW = 8,
    MOST_STEPS = 20,
    MOST_ROUNDS = 100,
    MOST_CLEANING = 10,
    MOST_POLISHING = 12
};
/// Change of y in a round, relative to y, below which a stiffness has done what it can, and all.
static const double SETTLED = 1e-9, DONE = 1e-11;
/// |F| over |y| that counts as solved, and from which on a round is worse than none.
static const double SOLVED = 1e-14, FAR = 1e-3;

typedef struct lagrange {
    direct_cluster* s;
    double stiffness;
    bool follow;            ///< bounds follow the normal impulses within a round
    double noise;           ///< of F by rounding
    double left;            ///< |F| over |y| after a round
    double *p, *next;       ///< impulses of this round, and the answer to the motion at hand
    double *w, *y, *dy, *F; ///< velocities, motion, its step, and what is left
    double *trial, *before, *p_before; ///< p_before: impulses of the round before
    double* limit;                     ///< [count][BOUNDED] frozen bounds
    double *D, *D_made; ///< blocks dp'/dw with the opposite sign, and those that were factorised
    bool made;
} lagrange;

static void freeze_bounds(lagrange* l)
{
    const direct_cluster* s = l->s;
    double slope;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double base = direct_base(c, l->p + c->first);
        for (int part = 0; part < BOUNDED; part++) {
            l->limit[i * BOUNDED + part] = direct_limit(c, part, base, &slope);
        }
    }
}

/// A bounded part's answer, cut to its limit; D, which may be NULL, receives its block and, where
/// bounds follow, its columns for what the limit grows with.
static void answer_part(const lagrange* l, const direct_contact* c, int part, double limit,
                        double slope, double* D)
{
    const direct_part* q = &c->part[part];
    const int64_t at = c->first + q->first;
    const double *p = l->p + at, *w = l->w + at, centre = direct_centre(c, part);
    const double stiff = l->stiffness * c->mass[q->first];
    double *next = l->next + at, along[2] = {0.0, 0.0}, size = 0.0;
    for (int m = 0; m < q->count; m++) {
        next[m] = p[m] - stiff * w[m] - centre;
        size += next[m] * next[m];
    }
    size = sqrt(size);
    const bool cut = size > limit;
    const double factor = cut ? limit / size : 1.0;
    for (int m = 0; m < q->count; m++) {
        along[m] = cut ? next[m] / size : 0.0;
        // Where nothing is cut there is no detour by the centre: a bond may bear 1e20 times more
        // than it does.
        next[m] = cut ? centre + factor * next[m] : p[m] - stiff * w[m];
    }
    for (int m = 0; m < q->count && D; m++) {
        double* row = D + (q->first + m) * c->count;
        for (int j = 0; j < q->count; j++) {
            row[q->first + j] = stiff * factor * ((m == j) - along[m] * along[j]);
        }
        if (slope == 0.0 || !cut) continue;
        row[0] += along[m] * slope * D[0];
        if (c->part[HOLD].count) {
            const int hold = c->part[HOLD].first;
            row[hold] += along[m] * slope * D[hold * (c->count + 1)];
        }
    }
}

static void answer(const lagrange* l, int64_t i, double* D)
{
    const direct_contact* c = &l->s->contact[i];
    const double stiff = l->stiffness * c->mass[0];
    double* next = l->next + c->first;
    if (D) memset(D, 0, sizeof(double) * (size_t)(c->count * c->count));
    next[0] = fmax(l->p[c->first] - stiff * l->w[c->first], 0.0);
    if (D && next[0] > 0.0) D[0] = stiff;
    for (int k = 0; k < BOUNDED; k++) {
        const int part = direct_order[k];
        if (c->part[part].count == 0) continue;
        double limit = l->limit[i * BOUNDED + part], slope = 0.0;
        if (l->follow && part != HOLD) limit = direct_limit(c, part, direct_base(c, next), &slope);
        answer_part(l, c, part, limit, slope, D);
    }
}

/// Noise of J^T p' by the rounding of velocities, squared, that contact i makes.
static double noise2_of(const lagrange* l, const direct_contact* c, const double* D)
{
    const double *w = l->w + c->first, *w_free = l->s->w_free + c->first;
    double sum = 0.0;
    for (int k = 0; k < c->count; k++) {
        const double d = D[k * (c->count + 1)];
        const double size = fabs(w_free[k]) + fabs(w[k] - w_free[k]);
        sum += d * d * size * size / c->mass[k];
    }
    return sum;
}

/// F of the motion y, its blocks and its noise if `derivative`; returns |F|.
static double evaluate(lagrange* l, const double* y, bool derivative)
{
    const direct_cluster* s = l->s;
    const int64_t n = s->bodies * s->width;
    double noise2 = 0.0;
    direct_velocities(s, y, l->w);
    for (int64_t i = 0; i < s->count; i++) {
        double* D = derivative ? l->D + s->contact[i].square : NULL;
        answer(l, i, D);
        if (derivative) noise2 += noise2_of(l, &s->contact[i], D);
    }
    if (derivative) l->noise = 4.0 * DBL_EPSILON * sqrt(noise2);
    direct_motion(s, l->next, l->F);
    for (int64_t k = 0; k < n; k++) l->F[k] = y[k] - l->F[k];
    return sqrt(direct_dot(n, l->F, l->F));
}

/// Go from y along dy. With frozen bounds F is a gradient whose component along dy grows: stop
/// where it is nearly 0, or at the whole step if it is still falling there. Else |F|, `size` at the
/// beginning, has to fall.
static void search_line(lagrange* l, double size)
{
    const int64_t n = l->s->bodies * l->s->width;
    const double begin = fabs(direct_dot(n, l->F, l->dy));
    double low = 0.0, high = 1.0, f_low = -begin, f_high = 0.0, at = 1.0;
    for (int i = 0; i < 12; i++) {
        for (int64_t k = 0; k < n; k++) l->trial[k] = l->y[k] + at * l->dy[k];
        const double now = evaluate(l, l->trial, false);
        if (l->follow) {
            if (now <= (1.0 - 1e-4 * at) * size) break;
            at *= 0.5;
            continue;
        }
        const double slope = direct_dot(n, l->F, l->dy);
        if ((slope <= 0.3 * begin && slope >= -0.5 * begin) || (slope < 0.0 && at == 1.0)) break;
        if (slope < 0.0) {
            low = at, f_low = slope;
        } else {
            high = at, f_high = slope;
        }
        at = low + (high - low) * fmin(fmax(-f_low / (f_high - f_low), 0.1), 0.9);
    }
    memcpy(l->y, l->trial, sizeof(double) * (size_t)n);
}

/// Are the factors those of the blocks at hand?
static bool has_factors(const lagrange* l)
{
    return l->made && memcmp(l->D, l->D_made, sizeof(double) * (size_t)l->s->squares) == 0;
}

/// The factors of the blocks at hand; the last ones, if these have not changed.
static bool factorise(lagrange* l)
{
    const size_t bytes = sizeof(double) * (size_t)l->s->squares;
    if (has_factors(l)) return true;
    memcpy(l->D_made, l->D, bytes);
    l->made = direct_factorise(l->s, l->D, !l->follow);
    return l->made;
}

/// Solve F = 0 from y on, with factorisations up to number `last`.
static bool newton(lagrange* l, int64_t last)
{
    const int64_t n = l->s->bodies * l->s->width;
    double before = INFINITY;
    for (int i = 0; i < MOST_STEPS; i++) {
        const double size = evaluate(l, l->y, true), all = sqrt(direct_dot(n, l->y, l->y));
        if (size <= fmax(SOLVED * all, l->noise)) return true;
        if (i > 0 && size > 0.5 * before && size < 1e-6 * all) return true; // no less for rounding
        if (i > 0 && size > 0.5 * before && has_factors(l)) return false;   // nor by another step
        before = size;
        if (!isfinite(size) || l->s->factorisations >= last || !factorise(l)) return false;
        for (int64_t k = 0; k < n; k++) l->dy[k] = -l->F[k];
        reduced_factor_solve(l->s->factor, l->dy);
        search_line(l, size);
    }
    return false;
}

/// One round: p become the answer to the motion that solves F = 0. Returns the change of y relative
/// to y; *solved: Newton's method found it.
static double make_round(lagrange* l, int64_t last, bool* solved)
{
    const int64_t n = l->s->bodies * l->s->width;
    double change2 = 0.0;
    freeze_bounds(l);
    memcpy(l->before, l->y, sizeof(double) * (size_t)n);
    memcpy(l->p_before, l->p, sizeof(double) * (size_t)l->s->components);
    *solved = newton(l, last);
    const double size = evaluate(l, l->y, false);
    memcpy(l->p, l->next, sizeof(double) * (size_t)l->s->components);
    for (int64_t k = 0; k < n; k++) {
        change2 += (l->before[k] - l->y[k]) * (l->before[k] - l->y[k]);
    }
    const double all2 = direct_dot(n, l->y, l->y);
    l->left = all2 > 0.0 ? size / sqrt(all2) : 0.0;
    return all2 > 0.0 ? sqrt(change2 / all2) : 0.0;
}

/// As if the last round had not been.
static void take_back(lagrange* l)
{
    memcpy(l->y, l->before, sizeof(double) * (size_t)(l->s->bodies * l->s->width));
    memcpy(l->p, l->p_before, sizeof(double) * (size_t)l->s->components);
}

/// Room for a method that works on p; false if there is none.
static bool begin(lagrange* l, direct_cluster* s, double* p)
{
    const int64_t n = s->bodies * s->width, m = s->components;
    *l = (lagrange){.s = s, .p = p};
    double* at =
        malloc(sizeof(double) * (size_t)(3 * m + 5 * n + s->count * BOUNDED + 2 * s->squares + 1));
    if (!at) return false;
    l->next = at, at += m;
    l->w = at, at += m;
    l->p_before = at, at += m;
    l->y = at, at += n;
    l->dy = at, at += n;
    l->F = at, at += n;
    l->trial = at, at += n;
    l->before = at, at += n;
    l->limit = at, at += s->count * BOUNDED;
    l->D = at, at += s->squares;
    l->D_made = at;
    direct_motion(s, p, l->y);
    return true;
}

bool direct_lagrange(direct_cluster* s, int64_t factorisations, double* p)
{
    lagrange l;
    if (!begin(&l, s, p)) return false;
    const int64_t last = s->factorisations + factorisations;
    bool cleaning = false, done = false;
    int rounds_cleaning = 0;
    double change_before = INFINITY, rise = RISE, most = MOST_STIFFNESS;
    l.stiffness = FIRST_STIFFNESS;
    for (int round = 0; round < MOST_ROUNDS && s->factorisations < last && !done; round++) {
        const int64_t first = s->factorisations;
        bool solved;
        const double change = make_round(&l, last, &solved);
        const int64_t used = s->factorisations - first;
        const double noise = l.noise / sqrt(direct_dot(s->bodies * s->width, l.y, l.y));
        if (l.left > FAR && l.stiffness > LEAST_STIFFNESS) {
            take_back(&l);
            rise = SMALL_RISE;
            most = l.stiffness = fmax(l.stiffness * FALL, LEAST_STIFFNESS);
            continue;
        }
        // Below the noise a change may still be a change, as long as it goes down.
        const bool settled =
            change <= SETTLED || (change <= 4.0 * noise && change > 0.3 * change_before);
        change_before = change;
        if (!isfinite(change)) break;
        if (!cleaning && settled && solved) cleaning = true;
        if (!cleaning) {
            if (used <= QUICK) l.stiffness = fmin(l.stiffness * rise, most);
            if (used > SLOW) l.stiffness = fmax(l.stiffness * FALL, LEAST_STIFFNESS);
            continue;
        }
        const bool clean = l.stiffness * CLEAN < 1.0;
        done = clean && change <= DONE;
        if (settled && !clean) {
            l.stiffness *= CLEAN;
            rounds_cleaning = 0;
        } else if (++rounds_cleaning > MOST_CLEANING) {
            done = true; // rounding
        }
    }
    free(l.next);
    return done;
}

bool direct_polish(direct_cluster* s, int64_t factorisations, double* p)
{
    lagrange l;
    if (!begin(&l, s, p)) return false;
    const int64_t last = s->factorisations + factorisations;
    bool solved = true, done = false;
    l.follow = true;
    l.stiffness = FIRST_STIFFNESS;
    for (int round = 0; round < MOST_POLISHING && !done && solved && s->factorisations < last;
         round++) {
        done = make_round(&l, last, &solved) <= DONE;
        l.stiffness = fmin(l.stiffness * RISE, RISE * RISE * FIRST_STIFFNESS);
    }
    free(l.next);
    return done && solved;
}

/// Interior point method, primal and dual, for the law of Coulomb itself: bounds of friction follow
/// the normal impulses, and the derivative of that is in the matrix.
///
/// The law is smoothed by tau, which goes to 0. With the gap velocity v of a push, and of a bounded
/// part the impulse in units of its bound x = (p - centre)/limit and its slip eta x = -w:
///     p v = tau E,    v = w,                                       E an energy of the cluster
///     eta (1 - |x|^2)/2 = tau u,    w + eta x = 0,                 u a velocity of it
/// so that an open contact keeps x and eta while its bound goes to 0. Newton's step for all of them
/// and y = J^T p leaves, contact by contact, dp = r - D dw, and so a matrix 1 + J^T D J over the
/// bodies, not symmetric where contacts slide. Steps are predicted and corrected as by Mehrotra.
/// They are as long as p and v stay positive and what is left of the equations goes down. A part
/// whose x or eta would leave its range does not hold the others up: it is put on its smoothed law
/// at the new velocity. Contacts without load change their direction of slip all the time.
#include "rigid/direct/methods.h"

#include <stdlib.h>
#include <string.h>

/// What must be left of p, v and the rest after a step, at least.
static const double KEEP = 0.005;
/// Smallest reduction of tau in a step that is asked for, and the least room to a bound: rounding.
static const double LEAST_SIGMA = 1e-6, LEAST_ROOM = 1e-16;
/// Squares of what is left of the equations may be so much of the products p v + ...: more than
/// OFF_PATH, and the step only returns to the path; up to ON_PATH it need not go down.
static const double OFF_PATH = 0.1, ON_PATH = 0.01;
/// Squares over |y|^2 at which it is enough.
static const double ENOUGH = 1e-14;
/// The largest part of its bound with which a bounded impulse begins, to have room on all sides.
/// For a bond that is a pull of at least 0.15 of its strength. The scales of the path must allow
/// for that, or the start is far off it: BY_BONDS of a bond's strength counts as an impulse of its
/// own. While a block of 100 bonded disks breaks (scenes/bonded-cluster.yaml, 420 steps) 158
/// steps were left without a useful answer by all methods together if it is 0; 139, 117 and 140 if
/// it is 0.03, 0.1 and 0.3.
static const double MOST_BEGIN = 0.7, BY_BONDS = 0.1;
/// It is given up when tau has not halved within this number of steps.
enum { PATIENCE = 12, HALVINGS = 7 };

typedef struct interior {
    direct_cluster* s;
    double u, energy;   ///< scales
    double *p, *y, *w;  ///< impulses, motion, velocities w_free + J y
    double* v;          ///< [count]
    double* x;          ///< [components], those of the bounded parts
    double* eta;        ///< [count][BOUNDED]
    double *dpush, *dv; ///< [count] the step
    double *dx, *dy, *deta;
    double *D, *r;  ///< dp = r - D dw
    double *E, *rx; ///< dx = rx - E dw, E [components][2]
    double* F;      ///< [bodies][width]
    double* kept;   ///< p, x, y, v, eta to go back to
    double* best;   ///< [components] impulses with the least left of gap and equations
} interior;

static ALWAYS_INLINE double size2_of(const direct_part* q, const double* x)
{
    return vec_dot(q->count, x + q->first, x + q->first);
}

/// (1 - |x|^2)/2
static ALWAYS_INLINE double room_of(const direct_part* q, const double* x)
{
    return fmax(0.5 * (1.0 - size2_of(q, x)), LEAST_ROOM);
}

/// tau u - eta room, and of the products of second order that the predicted step leaves.
static double miss_of(const interior* t, int64_t i, int part, double tau, bool second)
{
    const direct_contact* c = &t->s->contact[i];
    const direct_part* q = &c->part[part];
    const double *x = t->x + c->first, *dx = t->dx + c->first, eta = t->eta[i * BOUNDED + part];
    double miss = tau * t->u - eta * room_of(q, x);
    if (second) {
        miss += t->deta[i * BOUNDED + part] * vec_dot(q->count, x + q->first, dx + q->first) +
                0.5 * eta * size2_of(q, dx);
    }
    return miss;
}

/// dx = rx - E dw of a part, from
///     eta dx + x deta = -(w + eta x) - dw,      room deta - eta x.dx = miss
static void linearise_part(const interior* t, int64_t i, int part, double tau, bool second)
{
    const direct_contact* c = &t->s->contact[i];
    const direct_part* q = &c->part[part];
    const int64_t at = c->first + q->first;
    const double *x = t->x + at, *w = t->w + at, *dx = t->dx + at;
    const double eta = t->eta[i * BOUNDED + part], room = room_of(q, t->x + c->first);
    const double miss = miss_of(t, i, part, tau, second);
    const double share = 1.0 / (room + vec_dot(q->count, x, x));
    double b[2] = {0.0, 0.0};
    for (int m = 0; m < q->count; m++) {
        b[m] = -(w[m] + eta * x[m]) - x[m] * miss / room;
        if (second) b[m] -= t->deta[i * BOUNDED + part] * dx[m];
    }
    const double along = share * vec_dot(q->count, x, b);
    for (int m = 0; m < q->count; m++) {
        t->rx[at + m] = (b[m] - x[m] * along) / eta;
        for (int j = 0; j < q->count; j++) {
            t->E[2 * (at + m) + j] = ((m == j) - x[m] * x[j] * share) / eta;
        }
    }
}

static void linearise(const interior* t, int64_t i, double tau, bool second)
{
    const direct_contact* c = &t->s->contact[i];
    const double *p = t->p + c->first, *x = t->x + c->first, v = t->v[i];
    const double base = direct_base(c, p);
    double *D = t->D + c->square, *r = t->r + c->first;
    memset(D, 0, sizeof(double) * (size_t)(c->count * c->count));
    const double miss = tau * t->energy - p[0] * v - (second ? t->dpush[i] * t->dv[i] : 0.0);
    r[0] = (miss - p[0] * (t->w[c->first] - v)) / v;
    D[0] = p[0] / v;
    for (int k = 0; k < BOUNDED; k++) {
        const int part = direct_order[k], f = c->part[part].first;
        const int hold = c->part[HOLD].count ? c->part[HOLD].first : -1;
        double slope;
        if (c->part[part].count == 0) continue;
        const double limit = direct_limit(c, part, base, &slope);
        linearise_part(t, i, part, tau, second);
        for (int m = f; m < f + c->part[part].count; m++) {
            double* row = D + m * c->count;
            r[m] = limit * t->rx[c->first + m];
            for (int j = 0; j < c->part[part].count; j++) {
                row[f + j] = limit * t->E[2 * (c->first + m) + j];
            }
            if (part == HOLD) continue;
            r[m] += x[m] * slope * (r[0] + (hold >= 0 ? r[hold] : 0.0));
            row[0] += x[m] * slope * D[0];
            if (hold >= 0) row[hold] += x[m] * slope * D[hold * (c->count + 1)];
        }
    }
}

/// The step of a contact's own variables from that of the motion.
static void follow_motion(const interior* t, int64_t i, double tau, bool second)
{
    const direct_cluster* s = t->s;
    const direct_contact* c = &s->contact[i];
    double dw[MOST_COMPONENTS];
    direct_velocity_change(s, c, t->dy, dw);
    t->dpush[i] = t->r[c->first] - t->D[c->square] * dw[0];
    t->dv[i] = dw[0] + t->w[c->first] - t->v[i];
    for (int part = 0; part < BOUNDED; part++) {
        const direct_part* q = &c->part[part];
        const int64_t at = c->first + q->first;
        if (q->count == 0) continue;
        const double miss = miss_of(t, i, part, tau, second);
        for (int m = 0; m < q->count; m++) {
            t->dx[at + m] = t->rx[at + m] - vec_dot(q->count, t->E + 2 * (at + m), dw + q->first);
        }
        t->deta[i * BOUNDED + part] =
            (miss + t->eta[i * BOUNDED + part] * vec_dot(q->count, t->x + at, t->dx + at)) /
            room_of(q, t->x + c->first);
    }
}

/// Find a step towards `tau`; `second`: correct the one that is there. `anew`: the matrix is new.
static bool find_step(interior* t, double tau, bool second, bool anew)
{
    direct_cluster* s = t->s;
    const int64_t n = s->bodies * s->width;
    for (int64_t i = 0; i < s->count; i++) linearise(t, i, tau, second);
    if (anew && !direct_factorise(s, t->D, false)) return false;
    direct_motion(s, t->p, t->F); // y + dy = J^T (p + r - D J dy)
    direct_motion(s, t->r, t->dy);
    for (int64_t k = 0; k < n; k++) t->dy[k] += t->F[k] - t->y[k];
    reduced_factor_solve(s->factor, t->dy);
    for (int64_t i = 0; i < s->count; i++) follow_motion(t, i, tau, second);
    return true;
}

/// The longest step, at most 1, that leaves `keep` of all p and v.
static double longest(const interior* t, double keep)
{
    const direct_cluster* s = t->s;
    double step = 1.0;
    for (int64_t i = 0; i < s->count; i++) {
        const double p = t->p[s->contact[i].first], v = t->v[i];
        if (p + step * t->dpush[i] < keep * p) step = (1.0 - keep) * p / -t->dpush[i];
        if (v + step * t->dv[i] < keep * v) step = (1.0 - keep) * v / -t->dv[i];
    }
    return step;
}

/// The mean of p v/E and eta room/u after a step of that length: tau on the path.
static double mean_product(const interior* t, double step)
{
    const direct_cluster* s = t->s;
    double sum = 0.0, count = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        sum += (t->p[c->first] + step * t->dpush[i]) * (t->v[i] + step * t->dv[i]) / t->energy;
        count += 1.0;
        for (int part = 0; part < BOUNDED; part++) {
            const direct_part* q = &c->part[part];
            double size2 = 0.0;
            if (q->count == 0) continue;
            for (int64_t m = c->first + q->first; m < c->first + q->first + q->count; m++) {
                const double x = t->x[m] + step * t->dx[m];
                size2 += x * x;
            }
            sum += 0.5 * (1.0 - size2) *
                   (t->eta[i * BOUNDED + part] + step * t->deta[i * BOUNDED + part]) / t->u;
            count += 1.0;
        }
    }
    return sum / count;
}

/// Squares of what is left: of the equations of motion and of v = w.
static double left_of(const interior* t)
{
    const direct_cluster* s = t->s;
    double sum = 0.0;
    direct_motion(s, t->p, t->F);
    for (int64_t k = 0; k < s->bodies * s->width; k++) {
        sum += (t->F[k] - t->y[k]) * (t->F[k] - t->y[k]);
    }
    for (int64_t i = 0; i < s->count; i++) {
        const double miss = t->w[s->contact[i].first] - t->v[i];
        sum += s->contact[i].mass[0] * miss * miss;
    }
    return sum;
}

/// The products with their units: half the duality gap.
static double gap_of(const interior* t)
{
    const direct_cluster* s = t->s;
    double sum = 0.0, slope;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double base = direct_base(c, t->p + c->first);
        sum += t->p[c->first] * t->v[i];
        for (int part = 0; part < BOUNDED; part++) {
            if (c->part[part].count == 0) continue;
            sum += direct_limit(c, part, base, &slope) * t->eta[i * BOUNDED + part] *
                   room_of(&c->part[part], t->x + c->first);
        }
    }
    return sum;
}

/// Go the step in the impulses of contact i, whose velocity is already the new one. Impulses change
/// as the linear equations of motion have it, also where their bound moves.
static void step_contact(const interior* t, int64_t i, double step, double tau)
{
    const direct_contact* c = &t->s->contact[i];
    double *p = t->p + c->first, *x = t->x + c->first, slope, slope_before;
    const double *dx = t->dx + c->first, *w = t->w + c->first, before = direct_base(c, p);
    p[0] += step * t->dpush[i];
    for (int k = 0; k < BOUNDED; k++) {
        const int part = direct_order[k], f = c->part[part].first;
        const direct_part* q = &c->part[part];
        if (q->count == 0) continue;
        const double limit_before = direct_limit(c, part, before, &slope_before);
        const double base = direct_base(c, p), limit = direct_limit(c, part, base, &slope);
        double next[2] = {0.0, 0.0}, *eta = &t->eta[i * BOUNDED + part];
        for (int m = 0; m < q->count; m++) {
            next[m] = (limit_before * (x[f + m] + step * dx[f + m]) +
                       slope_before * (base - before) * x[f + m]) /
                      limit;
        }
        const double eta_next = *eta + step * t->deta[i * BOUNDED + part];
        const double left = 0.5 * (1.0 - vec_dot(q->count, next, next));
        if (left >= KEEP * room_of(q, x) && eta_next >= KEEP * *eta) {
            *eta = eta_next;
            vec_copy(q->count, x + f, next);
        } else {
            const double e = tau * t->u;
            *eta = e + sqrt(e * e + size2_of(q, w));
            for (int m = f; m < f + q->count; m++) x[m] = -w[m] / *eta;
        }
        for (int m = f; m < f + q->count; m++) p[m] = direct_centre(c, part) + limit * x[m];
    }
}

/// Copy p, x, y, v and eta to `kept`, or back.
static void keep(const interior* t, bool back)
{
    const direct_cluster* s = t->s;
    double *const of[] = {t->p, t->x, t->y, t->v, t->eta}, *at = t->kept;
    const int64_t size[] = {s->components, s->components, s->bodies * s->width, s->count,
                            s->count * BOUNDED};
    for (int k = 0; k < 5; k++) {
        memcpy(back ? of[k] : at, back ? at : of[k], sizeof(double) * (size_t)size[k]);
        at += size[k];
    }
}

/// Go as much of the step as makes `left` smaller, which may be as large as `allowed` anyway.
static void go(interior* t, double step, double tau, double left, double allowed)
{
    const direct_cluster* s = t->s;
    keep(t, false);
    for (int halving = 0;; halving++) {
        for (int64_t k = 0; k < s->bodies * s->width; k++) t->y[k] += step * t->dy[k];
        for (int64_t i = 0; i < s->count; i++) t->v[i] += step * t->dv[i];
        direct_velocities(s, t->y, t->w);
        for (int64_t i = 0; i < s->count; i++) step_contact(t, i, step, tau);
        if (left_of(t) <= fmax((1.0 - 0.1 * step) * left, allowed) || halving == HALVINGS) return;
        keep(t, true);
        step *= 0.5;
    }
}

/// Scales, and a point on the path for tau = 1 that is as near to the impulses p as that may be.
static void start(interior* t)
{
    const direct_cluster* s = t->s;
    double energy = 0.0, mass = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double approach = fmin(s->w_free[c->first], 0.0);
        const double by_bond = c->bond > 0.0 ? BY_BONDS * c->bond / c->mass[0] : 0.0;
        energy += c->mass[0] * (approach * approach + by_bond * by_bond);
        mass += c->mass[0];
    }
    t->u = energy > 0.0 ? sqrt(energy / mass) : 1.0;
    t->energy = mass / (double)s->count * t->u * t->u;
    direct_motion(s, t->p, t->y);
    direct_velocities(s, t->y, t->w);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double *p = t->p + c->first, *x = t->x + c->first, slope;
        const double opening = t->w[c->first];
        p[0] = opening > t->u ? t->energy / opening : fmax(p[0], t->energy / t->u);
        t->v[i] = t->energy / p[0];
        for (int k = 0; k < BOUNDED; k++) {
            const int part = direct_order[k];
            const direct_part* q = &c->part[part];
            if (q->count == 0) continue;
            const double limit = direct_limit(c, part, direct_base(c, p), &slope);
            const double centre = direct_centre(c, part);
            for (int m = q->first; m < q->first + q->count; m++) x[m] = (p[m] - centre) / limit;
            const double size = sqrt(size2_of(q, x));
            const double cut = size > MOST_BEGIN ? MOST_BEGIN / size : 1.0;
            for (int m = q->first; m < q->first + q->count; m++) {
                x[m] *= cut;
                p[m] = centre + limit * x[m];
            }
            t->eta[i * BOUNDED + part] = t->u / room_of(q, x);
        }
    }
    direct_motion(s, t->p, t->y);
    direct_velocities(s, t->y, t->w);
}

/// One step along the path; false if the matrix cannot be factorised.
static bool advance(interior* t, double tau, double left, double gap)
{
    const bool off = left > OFF_PATH * gap;
    if (!find_step(t, 0.0, false, true)) return false;
    const double predicted = longest(t, 0.0), ratio = mean_product(t, predicted) / tau;
    const double sigma = off ? 1.0 : fmin(fmax(ratio * ratio * ratio, LEAST_SIGMA), 1.0);
    const double least = fmax(KEEP, 0.1 * (1.0 - predicted));
    const bool correct = !off && predicted > 0.1;
    if (!find_step(t, sigma * tau, correct, false)) return false;
    double step = longest(t, least);
    if (correct && step < 0.5 * predicted) { // the correction does harm
        if (!find_step(t, sigma * tau, false, false)) return false;
        step = longest(t, least);
    }
    go(t, step, sigma * tau, left, ON_PATH * gap);
    return true;
}

static bool begin(interior* t, direct_cluster* s, double* p)
{
    const int64_t n = s->bodies * s->width, m = s->components, c = s->count;
    *t = (interior){.s = s, .p = p};
    double* at =
        calloc((size_t)(10 * m + 4 * n + c * (4 + 3 * BOUNDED) + s->squares + 1), sizeof(double));
    if (!at) return false;
    t->w = at, at += m;
    t->x = at, at += m;
    t->dx = at, at += m;
    t->r = at, at += m;
    t->rx = at, at += m;
    t->E = at, at += 2 * m;
    t->y = at, at += n;
    t->dy = at, at += n;
    t->F = at, at += n;
    t->v = at, at += c;
    t->dv = at, at += c;
    t->dpush = at, at += c;
    t->eta = at, at += c * BOUNDED;
    t->deta = at, at += c * BOUNDED;
    t->D = at, at += s->squares;
    t->best = at, at += m;
    t->kept = at; // 2 m + n + c (1 + BOUNDED)
    return true;
}

bool direct_interior(direct_cluster* s, int64_t factorisations, double* p)
{
    interior t;
    if (!begin(&t, s, p)) return false;
    const int64_t last = s->factorisations + factorisations;
    const size_t bytes = sizeof(double) * (size_t)s->components;
    double mark = INFINITY, best = INFINITY; // tau when it had last halved
    int waited = 0;
    bool done = false;
    start(&t);
    while (s->factorisations < last && waited < PATIENCE) {
        const double tau = mean_product(&t, 0.0), left = left_of(&t), gap = gap_of(&t);
        const double all = direct_dot(s->bodies * s->width, t.y, t.y);
        done = gap <= ENOUGH * all && left <= ENOUGH * all;
        if (fmax(gap, left) < best * all) best = fmax(gap, left) / all, memcpy(t.best, p, bytes);
        if (done || !isfinite(tau + left + gap)) break;
        waited = tau <= 0.5 * mark ? 0 : waited + 1;
        if (waited == 0) mark = tau;
        if (!advance(&t, tau, left, gap)) break;
        memset(t.dpush, 0, sizeof(double) * (size_t)s->count); // mean_product() is where we are
        memset(t.dv, 0, sizeof(double) * (size_t)s->count);
        memset(t.dx, 0, sizeof(double) * (size_t)s->components);
        memset(t.deta, 0, sizeof(double) * (size_t)(s->count * BOUNDED));
    }
    // At its end a path may be thrown off by rounding.
    if (isfinite(best)) memcpy(p, t.best, bytes);
    free(t.w);
    return done;
}

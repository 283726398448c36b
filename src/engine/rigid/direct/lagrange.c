#include "rigid/direct/methods.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

typedef struct lagrange {
    direct_cluster* s;
    double stiffness;
    bool follow;
    double noise; ///< of F by rounding
    double* p;     ///< multipliers
    double* next;  ///< what they become
    double* w;
    double *y, *dy, *trial, *F;
    double* limit; ///< [count][BOUNDED] frozen
    double* D;
} lagrange;

static void freeze(lagrange* l)
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

/// next and D of one contact.
static void respond(const lagrange* l, int64_t i, double* D)
{
    const direct_cluster* s = l->s;
    const direct_contact* c = &s->contact[i];
    const double *p = l->p + c->first, *w = l->w + c->first;
    double* next = l->next + c->first;
    if (D) memset(D, 0, sizeof(double) * MOST_COMPONENTS * MOST_COMPONENTS);
    const double rho = l->stiffness * c->mass[0];
    next[0] = fmax(p[0] - rho * w[0], 0.0);
    if (D && next[0] > 0.0) D[0] = rho;
    static const int order[BOUNDED] = {HOLD, SLIDE, ROLL, TWIST};
    for (int k = 0; k < BOUNDED; k++) {
        const int part = order[k];
        const direct_part* q = &c->part[part];
        if (q->count == 0) continue;
        double limit = l->limit[i * BOUNDED + part], slope = 0.0, size = 0.0;
        if (l->follow && part != HOLD) limit = direct_limit(c, part, direct_base(c, next), &slope);
        const double centre = direct_centre(c, part), stiff = l->stiffness * c->mass[q->first];
        for (int m = q->first; m < q->first + q->count; m++) {
            next[m] = p[m] - stiff * w[m] - centre;
            size += next[m] * next[m];
        }
        size = sqrt(size);
        if (size <= limit) {
            for (int m = q->first; m < q->first + q->count; m++) {
                next[m] += centre;
                if (D) D[m * (MOST_COMPONENTS + 1)] = stiff;
            }
            continue;
        }
        double along[2] = {0.0, 0.0};
        for (int m = 0; m < q->count; m++) {
            along[m] = next[q->first + m] / size;
            next[q->first + m] = limit * along[m] + centre;
        }
        for (int m = 0; m < q->count && D; m++) {
            double* row = D + (q->first + m) * MOST_COMPONENTS;
            for (int j = 0; j < q->count; j++) {
                row[q->first + j] = stiff * limit / size * ((m == j) - along[m] * along[j]);
            }
            if (!l->follow) continue;
            row[0] += along[m] * slope * D[0];
            if (c->part[HOLD].count) {
                const int hold = c->part[HOLD].first;
                row[hold] += along[m] * slope * D[hold * (MOST_COMPONENTS + 1)];
            }
        }
    }
}

/// F = y - J^T next(y); returns |F|.
static double evaluate(lagrange* l, const double* y, bool derivative)
{
    const direct_cluster* s = l->s;
    const int64_t n = s->bodies * s->width;
    direct_velocities(s, y, l->w);
    double noise = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        respond(l, i, derivative ? l->D + i * MOST_COMPONENTS * MOST_COMPONENTS : NULL);
        const direct_contact* c = &s->contact[i];
        for (int k = 0; k < c->count && derivative; k++) {
            const double d = l->D[(i * MOST_COMPONENTS + k) * MOST_COMPONENTS + k];
            const double w = fabs(s->w_free[c->first + k]) + fabs(l->w[c->first + k] - s->w_free[c->first + k]);
            noise += d * d * w * w / c->mass[k];
        }
    }
    if (derivative) l->noise = 4.0 * DBL_EPSILON * sqrt(noise);
    direct_motion(s, l->next, l->F);
    for (int64_t k = 0; k < n; k++) l->F[k] = y[k] - l->F[k];
    return sqrt(direct_dot(n, l->F, l->F));
}

/// Go from y along dy. With frozen bounds F is the gradient of a convex function, whose slope along
/// dy grows monotonically: stop where it is nearly 0.
static double search_line(lagrange* l, double size)
{
    const int64_t n = l->s->bodies * l->s->width;
    const double begin = -fabs(direct_dot(n, l->F, l->dy));
    double low = 0.0, high = 1.0, at = 1.0, f_low = begin, f_high = 0.0;
    for (int i = 0; i < 12; i++) {
        for (int64_t k = 0; k < n; k++) l->trial[k] = l->y[k] + at * l->dy[k];
        const double now = evaluate(l, l->trial, false);
        if (l->follow) {
            if (now <= (1.0 - 1e-4 * at) * size) break;
            at *= 0.5;
            continue;
        }
        const double slope = direct_dot(n, l->F, l->dy);
        if (slope <= 0.3 * fabs(begin) && slope >= -0.5 * fabs(begin)) break;
        if (slope < 0.0 && at == 1.0) break;
        if (slope < 0.0) low = at, f_low = slope;
        if (slope >= 0.0) high = at, f_high = slope;
        at = low + (high - low) * fmin(fmax(-f_low / (f_high - f_low), 0.1), 0.9);
    }
    memcpy(l->y, l->trial, sizeof(double) * (size_t)n);
    return at;
}

static int verbose(void) { static int v = -1; if (v < 0) v = getenv("DV") ? atoi(getenv("DV")) : 0; return v; }

static bool newton(lagrange* l, double tolerance, int most, const direct_budget* budget)
{
    direct_cluster* s = l->s;
    const int64_t n = s->bodies * s->width;
    double last = INFINITY;
    for (int i = 0; i < most; i++) {
        const double size = evaluate(l, l->y, true), all = sqrt(direct_dot(n, l->y, l->y));
        if (verbose() > 1) printf("    newton %d |F| %.3e |y| %.6e\n", i, size, all);
        if (size <= fmax(tolerance * all, l->noise)) return true;
        if (i > 0 && size > 0.5 * last && size < 1e-6 * all) return true; // rounding
        last = size;
        if (s->factorisations >= budget->factorisations) return false;
        if (!direct_factorise(s, l->D, !l->follow)) return false;
        for (int64_t k = 0; k < n; k++) l->dy[k] = -l->F[k];
        reduced_factor_solve(s->factor, l->dy);
        const double at = search_line(l, size);
        if (verbose() > 1) printf("    step %.3f\n", at);
    }
    return false;
}

bool direct_lagrange(direct_cluster* s, const direct_budget* budget, double* p)
{
    const int64_t n = s->bodies * s->width, m = s->components;
    double* room = malloc(sizeof(double) * (size_t)(2 * m + 4 * n + s->count * (BOUNDED + MOST_COMPONENTS * MOST_COMPONENTS) + n + 1));
    if (!room) return false;
    lagrange l = {.s = s, .p = p, .next = room};
    l.w = l.next + m;
    l.y = l.w + m;
    l.dy = l.y + n;
    l.trial = l.dy + n;
    l.F = l.trial + n;
    l.limit = l.F + n;
    l.D = l.limit + s->count * BOUNDED;

    bool good = false, rising = true;
    l.follow = getenv("DF") != NULL;
    direct_motion(s, p, l.y);
    l.stiffness = 1e2;
    int repeats = 0;
    double last_change = INFINITY;
    for (int level = 0; level < 100; level++) {
        freeze(&l);
        double* was = room + 2 * m + 4 * n + s->count * (BOUNDED + MOST_COMPONENTS * MOST_COMPONENTS);
        memcpy(was, l.y, sizeof(double) * (size_t)n);
        const int64_t first = s->factorisations;
        const bool done = newton(&l, 1e-14, 20, budget);
        const int64_t used = s->factorisations - first;
        evaluate(&l, l.y, false);
        memcpy(p, l.next, sizeof(double) * (size_t)m);
        double change = 0.0, all = direct_dot(n, l.y, l.y);
        for (int64_t k = 0; k < n; k++) change += (was[k] - l.y[k]) * (was[k] - l.y[k]);
        change = sqrt(change / all);
        if (verbose()) printf("  level %.0e done %d factorisations %ld |y| %.9e change %.2e noise %.2e\n", l.stiffness, done, (long)s->factorisations, sqrt(direct_dot(n, l.y, l.y)), change, l.noise/sqrt(all));
        good = done;
        if (s->factorisations >= budget->factorisations) break;
        const bool enough = change <= 1e-9 || (change <= 4.0 * l.noise / sqrt(all) && change > 0.3 * last_change);
        last_change = change;
        if (rising && enough && done) rising = false;
        if (rising) {
            if (used <= 3) l.stiffness = fmin(3e13, l.stiffness * 1e2);
            else if (used > 8) l.stiffness = fmax(10.0, l.stiffness * 0.1);
        }
        if (!rising && enough && l.stiffness <= 1e3 && change < 1e-11) break;
        if (!rising && enough && l.stiffness > 1e3) { l.stiffness *= 1e-3; repeats = 0; }
        else if (!rising && ++repeats > 10) break;
    }
    free(room);
    return good;
}

bool direct_polish(direct_cluster* s, const direct_budget* budget, double* p)
{
    const int64_t n = s->bodies * s->width, m = s->components;
    double* room = malloc(sizeof(double) * (size_t)(2 * m + 4 * n + s->count * (BOUNDED + MOST_COMPONENTS * MOST_COMPONENTS) + n + 1));
    if (!room) return false;
    lagrange l = {.s = s, .p = p, .next = room};
    l.w = l.next + m;
    l.y = l.w + m;
    l.dy = l.y + n;
    l.trial = l.dy + n;
    l.F = l.trial + n;
    l.limit = l.F + n;
    l.D = l.limit + s->count * BOUNDED;
    bool good = false;
    l.follow = true;
    direct_motion(s, p, l.y);
    l.stiffness = getenv("DP") ? atof(getenv("DP")) : 1e3;
    for (int level = 0; level < 6; level++) {
        freeze(&l);
        double* was = room + 2 * m + 4 * n + s->count * (BOUNDED + MOST_COMPONENTS * MOST_COMPONENTS);
        memcpy(was, l.y, sizeof(double) * (size_t)n);
        const bool done = newton(&l, 1e-14, 15, budget);
        evaluate(&l, l.y, false);
        memcpy(p, l.next, sizeof(double) * (size_t)m);
        double change = 0.0, all = direct_dot(n, l.y, l.y);
        for (int64_t k = 0; k < n; k++) change += (was[k] - l.y[k]) * (was[k] - l.y[k]);
        change = sqrt(change / all);
        if (verbose()) printf("  polish %.0e done %d factorisations %ld |y| %.9e change %.2e\n", l.stiffness, done, (long)s->factorisations, sqrt(all), change);
        good = done && change < 1e-11;
        if (good || s->factorisations >= budget->factorisations) break;
    }
    free(room);
    return good;
}

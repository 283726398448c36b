/// Interior point method in the cones of friction, for contacts that push and slide and do nothing
/// else.
///
/// It is the method of reduced/interior.c (which says what x, y, T and theta are), with the bodies
/// left in. There a step is (A + T^2) dx = b over the contacts, A = B W/d^2 with the responses W =
/// J J^T of all contacts to each other and a block B of every contact that adds the sliding to its
/// opening. Here
///     z = J^T p,   p = x/d:      dx = T^-2 (b - B J dz/d),      (1 + J^T D J) dz = J^T T^-2 b/d
/// with D = T^-2 B/d^2: a matrix over the bodies, as that of the other direct methods. Contacts are
/// more than bodies, twice as many in a packing of disks and five times as many in a wall of
/// bricks, and far more coupled.
///
/// interior.c has the whole derivative of the bounds of friction in its matrix and comes to a halt
/// where many contacts begin to slide; here theta says how much of that of sliding is trusted.
#include "rigid/direct/methods.h"

#include "rigid/reduced/cone.h"

#include <stdlib.h>
#include <string.h>

/// Squared change that single contacts would make, over |y|^2, at which it is enough.
static const double ENOUGH = 1e-15;
/// Steps without progress after which theta is halved, however long they are: with all of the
/// derivative the path may turn back, as it did in steps of falling walls (scenes/masonry: 6 of 32
/// were not solved without that; of 4, 8, 10, 12, 16 and 20 steps 16 and 20 solved all of 69).
enum { IDLE = 16 };

struct direct_cones {
    direct_cluster* s;
    cone_progress progress;
    double* d;        ///< [components] x = d p, y = w/d + ...
    double *x, *y;    ///< [components] inside the cones
    double* l;        ///< [components] T x
    double *axis, *e; ///< [components], [count] T = e (2 axis axis^T - J)^1/2
    double* w;        ///< [components] velocities of x
    double* along;    ///< [components] theta times the direction of sliding, in tangential places
    double* aim;      ///< [components] y of w
    double* off;      ///< [components] aim less y
    double *dx, *dy;  ///< [components] the step
    double* second;   ///< [components] second order of x o y
    double* right;    ///< [components] of the linear system
    double *p, *next; ///< [components] impulses, and what contacts would change them to
    double *z, *dz;   ///< [bodies][width] motion
    double* D;        ///< [squares]
    double* best;     ///< [components] the best impulses, and what they leave to be changed:
    double best_left;
    int64_t first; ///< factorisations before it began
    bool ended;
};

bool direct_has_cones(const direct_cluster* s)
{
    for (int64_t i = 0; i < s->count; i++) {
        const direct_part* part = s->contact[i].part;
        if (part[ROLL].count || part[TWIST].count || part[HOLD].count) return false;
    }
    return true;
}

/// Velocities of x, and what y should be.
static void find_aim(direct_cones* t)
{
    const direct_cluster* s = t->s;
    for (int64_t k = 0; k < s->components; k++) t->p[k] = t->x[k] / t->d[k];
    direct_motion(s, t->p, t->z);
    direct_velocities(s, t->z, t->w);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double *aim = t->aim + c->first, *along = t->along + c->first;
        for (int k = 0; k < c->count; k++) aim[k] = t->w[c->first + k] / t->d[c->first + k];
        const double length = cone_length(c->count, aim);
        aim[0] += length;
        for (int k = 1; k < c->count; k++) {
            along[k] = length > 0.0 ? t->progress.theta * aim[k] / length : 0.0;
        }
    }
}

/// T of all contacts, and l; returns the smallest of the products l o l.
static double find_scales(direct_cones* t)
{
    double least = INFINITY;
    for (int64_t i = 0; i < t->s->count; i++) {
        const int64_t at = t->s->contact[i].first;
        const int n = t->s->contact[i].count;
        t->e[i] = cone_scaling(n, t->x + at, t->y + at, t->axis + at);
        cone_scale(n, t->axis + at, t->e[i], t->x + at, t->l + at);
        least = fmin(least, cone_inside(n, t->l + at));
    }
    return least;
}

/// out = T^-2 a of contact i.
static void unscale(const direct_cones* t, int64_t i, const double* a, double* out)
{
    const int64_t at = t->s->contact[i].first;
    const int n = t->s->contact[i].count;
    double once[3];
    cone_unscale(n, t->axis + at, t->e[i], a, once);
    cone_unscale(n, t->axis + at, t->e[i], once, out);
}

static bool factorise(direct_cones* t)
{
    const direct_cluster* s = t->s;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double *d = t->d + c->first, *along = t->along + c->first;
        double* D = t->D + c->square;
        for (int k = 0; k < c->count; k++) { // column k of T^-2 B
            double column[3] = {0.0, 0.0, 0.0}, out[3];
            column[k] = 1.0;
            if (k > 0) column[0] = along[k];
            unscale(t, i, column, out);
            for (int m = 0; m < c->count; m++) D[m * c->count + k] = out[m] / (d[m] * d[k]);
        }
    }
    return direct_factorise(t->s, t->D, false);
}

/// Solve (A + T^2) dx = right.
static void solve_system(direct_cones* t)
{
    const direct_cluster* s = t->s;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t at = s->contact[i].first;
        unscale(t, i, t->right + at, t->p + at);
    }
    for (int64_t k = 0; k < s->components; k++) t->p[k] /= t->d[k];
    direct_motion(s, t->p, t->dz);
    reduced_factor_solve(s->factor, t->dz);
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const double* right = t->right + c->first;
        double dw[MOST_COMPONENTS];
        direct_velocity_change(s, c, t->dz, dw);
        for (int k = 0; k < c->count; k++) dw[k] /= t->d[c->first + k];
        dw[0] += vec_dot(c->count - 1, t->along + c->first + 1, dw + 1);
        for (int k = 0; k < c->count; k++) dw[k] = right[k] - dw[k];
        unscale(t, i, dw, t->dx + c->first);
    }
}

/// Put the step towards x o y = tau, with the second order of it if `second`.
static void find_step(direct_cones* t, double tau, bool second)
{
    const direct_cluster* s = t->s;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t at = s->contact[i].first;
        const int n = s->contact[i].count;
        double m[3];
        cone_towards(n, t->l + at, tau, second ? t->second + at : NULL, m);
        cone_scale(n, t->axis + at, t->e[i], m, t->dy + at);
        for (int64_t k = at; k < at + n; k++) t->right[k] = t->dy[k] - t->off[k];
    }
    solve_system(t);
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t at = s->contact[i].first;
        const int n = s->contact[i].count;
        double once[3], twice[3];
        cone_scale(n, t->axis + at, t->e[i], t->dx + at, once);
        cone_scale(n, t->axis + at, t->e[i], once, twice);
        for (int k = 0; k < n; k++) t->dy[at + k] -= twice[k];
    }
}

/// The largest share of the step that stays inside all cones.
static double reach_of_all(const direct_cones* t)
{
    double share = INFINITY;
    for (int64_t i = 0; i < t->s->count; i++) {
        const int64_t at = t->s->contact[i].first;
        const int n = t->s->contact[i].count;
        share = fmin(share, cone_reach(n, t->x + at, t->dx + at));
        share = fmin(share, cone_reach(n, t->y + at, t->dy + at));
    }
    return share;
}

/// Second order of x o y in the step, times `weight`.
static void find_second_order(direct_cones* t, double weight)
{
    for (int64_t i = 0; i < t->s->count; i++) {
        const int64_t at = t->s->contact[i].first;
        const int n = t->s->contact[i].count;
        double a[3], b[3], *out = t->second + at;
        cone_scale(n, t->axis + at, t->e[i], t->dx + at, a);
        cone_unscale(n, t->axis + at, t->e[i], t->dy + at, b);
        out[0] = weight * vec_dot(n, a, b);
        for (int k = 1; k < n; k++) out[k] = weight * (a[0] * b[k] + b[0] * a[k]);
    }
}

/// x and y of the impulses p, moved into their cones as far as they are large in the mean.
static void start(direct_cones* t, const double* p)
{
    const direct_cluster* s = t->s;
    double x2 = 0.0, y2 = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        const bool rough = c->count > 1;
        for (int k = 0; k < c->count; k++) {
            const double root = 1.0 / sqrt(c->mass[rough ? 1 : 0]);
            const int64_t at = c->first + k;
            t->d[at] = k == 0 && rough ? c->mu * root : root;
            t->x[at] = t->d[at] * p[at];
            x2 += t->x[at] * t->x[at];
            y2 += s->w_free[at] / t->d[at] * (s->w_free[at] / t->d[at]);
        }
    }
    find_aim(t);
    memcpy(t->y, t->aim, sizeof(double) * (size_t)s->components);
    const double in_x = sqrt(x2 / (double)s->count), in_y = sqrt(y2 / (double)s->count);
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t at = s->contact[i].first;
        const int n = s->contact[i].count;
        t->x[at] = fmax(t->x[at], cone_length(n, t->x + at)) + in_x;
        t->y[at] = fmax(t->y[at], cone_length(n, t->y + at)) + in_y;
    }
}

/// One step from x and y, whose w is known; returns its length, 0 if there is none. *tau receives
/// the mean of x o y before it.
static double step(direct_cones* t, bool first, double* tau)
{
    const direct_cluster* s = t->s;
    const double count = (double)s->count;
    double mean = 0.0, off = 0.0, hoped = 0.0;
    for (int64_t k = 0; k < s->components; k++) {
        t->off[k] = t->aim[k] - t->y[k];
        mean += t->x[k] * t->y[k] / count;
    }
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t at = s->contact[i].first;
        off += t->x[at] * vec_norm(s->contact[i].count, t->off + at) / count;
    }
    *tau = mean;
    const double least = find_scales(t);
    if (!factorise(t)) return 0.0;
    find_step(t, 0.0, false);
    const double far = fmin(1.0, reach_of_all(t));
    for (int64_t k = 0; k < s->components; k++) {
        hoped += (t->x[k] + far * t->dx[k]) * (t->y[k] + far * t->dy[k]) / count;
    }
    const bool to_the_middle = !first && cone_is_off(mean, least, off);
    find_second_order(t, to_the_middle ? 0.0 : far);
    find_step(t, to_the_middle ? mean : cone_fall(mean, hoped) * mean, true);
    const double share = cone_share(reach_of_all(t));
    for (int64_t k = 0; k < s->components; k++) {
        t->x[k] += share * t->dx[k];
        t->y[k] += share * t->dy[k];
    }
    return isfinite(share) ? share : 0.0;
}

/// Keep the impulses that contacts would change to from x, each alone, if less would change than
/// with those kept; true if it is enough.
static bool keep_better(direct_cones* t)
{
    const direct_cluster* s = t->s;
    double left = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const direct_contact* c = &s->contact[i];
        double *p = t->p + c->first, *w = t->w + c->first, *next = t->next + c->first;
        for (int k = 0; k < c->count; k++) next[k] = p[k] - c->mass[k] * w[k];
        next[0] = fmax(next[0], 0.0);
        const double size = cone_length(c->count, next);
        const double cut = size > c->mu * next[0] ? c->mu * next[0] / size : 1.0;
        for (int k = 1; k < c->count; k++) next[k] *= cut;
        for (int k = 0; k < c->count; k++) left += (p[k] - next[k]) * (p[k] - next[k]) / c->mass[k];
    }
    if (left < t->best_left) {
        t->best_left = left;
        memcpy(t->best, t->next, sizeof(double) * (size_t)s->components);
    }
    return left <= ENOUGH * direct_dot(s->bodies * s->width, t->z, t->z);
}

direct_cones* direct_cones_new(direct_cluster* s, const double* p)
{
    const int64_t m = s->components, n = s->bodies * s->width;
    if (!direct_has_cones(s)) return NULL;
    direct_cones* t = malloc(sizeof *t);
    double* at = calloc((size_t)(16 * m + 2 * n + s->count + s->squares + 1), sizeof(double));
    if (!t || !at) {
        free(t);
        free(at);
        return NULL;
    }
    *t = (direct_cones){.s = s,
                        .progress = cone_progress_start(IDLE),
                        .best_left = INFINITY,
                        .first = s->factorisations};
    double** const array[] = {&t->d,     &t->x,    &t->y,   &t->l,   &t->axis, &t->w,
                              &t->along, &t->aim,  &t->off, &t->dx,  &t->dy,   &t->second,
                              &t->right, &t->next, &t->p,   &t->best};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++, at += m) *array[i] = at;
    t->e = at, at += s->count;
    t->z = at, at += n;
    t->dz = at, at += n;
    t->D = at;
    start(t, p);
    find_aim(t);
    return t;
}

void direct_cones_free(direct_cones* t)
{
    if (!t) return;
    free(t->d);
    free(t);
}

bool direct_cones_go(direct_cones* t, int64_t factorisations, double* p)
{
    direct_cluster* s = t->s;
    const int64_t last = s->factorisations + factorisations;
    while (s->factorisations < last && !t->ended) {
        double tau;
        const double share = step(t, s->factorisations < t->first + CONE_FIRST_STEPS, &tau);
        t->ended = !(share > 0.0) || !isfinite(tau);
        if (t->ended) break;
        find_aim(t);
        t->ended = keep_better(t) || !cone_progress_next(&t->progress, share, tau);
    }
    if (isfinite(t->best_left)) memcpy(p, t->best, sizeof(double) * (size_t)s->components);
    return !t->ended;
}

/// An interior point method: for hyperstatic piles, on which sweeps take for ever and Newton's
/// method alone does not know which of many solutions to go to.
///
/// In the variables x = (mu r_N, r_T) and y = (u_N/mu + |u_T|, u_T) Coulomb's law reads: x and y
/// lie in the same cone L = { a_0 >= |a_1| } and x.y = 0 (De Saxce's change of variables). The
/// method stays inside both cones, where x o y = tau (1, 0, 0) with the product of L's algebra,
///     x o y = (x.y, x_0 y_1 + y_0 x_1),
/// and lets tau go to zero. In the limit the forces are in the middle of all that solve the
/// problem: contacts whose forces are not unique are far from the surface of their cones, which is
/// what Newton's method needs to end it.
///
/// A step is one linear system (A + T^2) dx = ..., A the matrix of y(x) and T that of Nesterov and
/// Todd, T x = T^-1 y =: l, contact by contact; it is solved twice, first for tau = 0 to see how
/// far that leads, then for the tau that this suggests and with the second order of x o y
/// (Mehrotra). With |u_T| left alone in A it is positive, and steps are long, but forces follow the
/// sliding slowly; with its full derivative they follow at once, and steps may come to nothing. So
/// A has a part of the derivative, theta, which is halved after short steps and grows after
/// long ones (cone.h).
///
/// Where contacts are stiff and many the forces are not unique and A + T^2 is singular but for T^2,
/// which goes to zero with tau. Then solutions are nothing but rounding errors, the velocities of y
/// are wrong by more than tau, and the path ends there (tau 1e-15, velocities 1e-5 in piles of
/// cubes). So delta is added, a proximal term: forces move only as far as they must. It falls with
/// tau/|x|^2, and so what it leaves undone falls faster than tau. That is so over the bodies; the
/// factors of the contacts' own matrix keep more digits, and paths there end well without it.
#include "rigid/reduced/cone.h"
#include "rigid/reduced/system.h"

#include <stdlib.h>
#include <string.h>

/// Bounds of delta; and the weight of wrong velocities when it is asked whether to go back to the
/// middle: |u_T| has a corner where a contact begins to slide, so that steps leave some always.
static const double LEAST_DELTA = 1e-13, MOST_DELTA = 1e-8, OFF = 0.1;

enum { ARRAYS = 16 }; ///< of reduced_interior, with n numbers each

struct reduced_interior {
    const reduced_work* work;
    int width;
    int64_t n;
    cone_progress progress;
    double* d;            ///< [n] x = d r, y = u/d + ...
    double *x, *y;        ///< [n] inside the cones
    double* l;            ///< [n] T x
    double *axis, *e;     ///< [n], [count] T = e (2 axis axis^T - J)^1/2
    double* u;            ///< [n] velocities of x, divided by d
    double* along;        ///< [n] theta times the direction of sliding, in the tangential places
    double* off;          ///< [n] y of u less y
    double *dx, *dy;      ///< [n] the step
    double* second;       ///< [n] second order of x o y
    double *aim, *r;      ///< [n] y of u; impulses to be measured
    double *right, *room; ///< [n] of the linear system, and room
    double delta;         ///< proximal term
    reduced_system* system;
};

// ---- the cone ----------------------------------------------------------------------------------

/// T of all contacts, and l; returns the smallest of the products l o l.
static double find_scales(reduced_interior* s)
{
    const int w = s->width;
    double least = INFINITY;
    for (int64_t c = 0; c < s->work->p->count; c++) {
        const double *x = s->x + c * w, *y = s->y + c * w;
        s->e[c] = cone_scaling(w, x, y, s->axis + c * w);
        cone_scale(w, s->axis + c * w, s->e[c], x, s->l + c * w);
        least = fmin(least, cone_inside(w, s->l + c * w));
    }
    return least;
}

/// out = T^2 a
static void scale_twice(const reduced_interior* s, int64_t c, const double* a, double* out)
{
    const double* axis = s->axis + c * s->width;
    double once[3];
    cone_scale(s->width, axis, s->e[c], a, once);
    cone_scale(s->width, axis, s->e[c], once, out);
}

// ---- the linear system -------------------------------------------------------------------------

/// u of x, and y of u: what y should be.
static void find_aim(reduced_interior* s)
{
    const int w = s->width;
    for (int64_t k = 0; k < s->n; k++) s->room[k] = s->x[k] / s->d[k];
    reduced_fast_velocity(s->work->p, s->room, s->u);
    for (int64_t k = 0; k < s->n; k++) s->u[k] /= s->d[k];
    for (int64_t c = 0; c < s->work->p->count; c++) {
        const double* u = s->u + c * w;
        const bool rough = s->work->p->mu[c] > 0.0;
        const double length = rough ? reduced_length(w - 1, u + 1) : 0.0;
        s->aim[c * w] = u[0] + length;
        for (int k = 1; k < w; k++) {
            s->aim[c * w + k] = rough ? u[k] : 0.0;
            s->along[c * w + k] = length > 0.0 ? s->progress.theta * u[k] / length : 0.0;
        }
    }
}

/// The blocks of contact c, for reduced_system_make(), with dx/d as the unknown. Smooth contacts
/// have no tangential impulses.
static void find_blocks(const void* data, int64_t c, double* A, double* B)
{
    const reduced_interior* s = data;
    const int w = s->width;
    const bool rough = s->work->p->mu[c] > 0.0;
    const double *d = s->d + c * w, *axis = s->axis + c * w, e2 = s->e[c] * s->e[c];
    for (int k = 0; k < w * w; k++) {
        const int i = k / w, j = k % w;
        const double J = k == 0 ? 1.0 : (i == j ? -1.0 : 0.0);
        A[k] = i == j && (i == 0 || rough) ? 1.0 / d[i] : 0.0;
        if (i == 0 && j > 0) A[k] = s->along[c * w + j] / d[j];
        B[k] = (e2 * (2.0 * axis[i] * axis[j] - J) + (i == j ? s->delta : 0.0)) * d[j];
    }
}

/// Solve (A + T^2 + delta) dx = right.
static void solve_system(reduced_interior* s)
{
    memcpy(s->dx, s->right, (size_t)s->n * sizeof(double));
    reduced_system_solve(s->system, 1, s->dx);
    for (int64_t k = 0; k < s->n; k++) s->dx[k] *= s->d[k];
}

/// Put the step towards x o y = tau, with the second order of it if `second`.
static void find_step(reduced_interior* s, double tau, bool second)
{
    const int w = s->width;
    for (int64_t c = 0; c < s->work->p->count; c++) {
        const double* l = s->l + c * w;
        double m[3];
        cone_towards(w, l, tau, second ? s->second + c * w : NULL, m);
        cone_scale(w, s->axis + c * w, s->e[c], m, s->dy + c * w);
        for (int64_t k = c * w; k < (c + 1) * w; k++) s->right[k] = s->dy[k] - s->off[k];
    }
    solve_system(s);
    for (int64_t c = 0; c < s->work->p->count; c++) {
        double twice[3];
        scale_twice(s, c, s->dx + c * w, twice);
        for (int k = 0; k < w; k++) s->dy[c * w + k] -= twice[k];
    }
}

/// The largest share of the step that stays inside all cones.
static double reach_of_all(const reduced_interior* s)
{
    double share = INFINITY;
    for (int64_t k = 0; k < s->n; k += s->width) {
        share = fmin(share, cone_reach(s->width, s->x + k, s->dx + k));
        share = fmin(share, cone_reach(s->width, s->y + k, s->dy + k));
    }
    return share;
}

/// Second order of x o y in the step, times `weight`.
static void find_second_order(reduced_interior* s, double weight)
{
    const int w = s->width;
    for (int64_t c = 0; c < s->work->p->count; c++) {
        double a[3], b[3], *out = s->second + c * w;
        cone_scale(w, s->axis + c * w, s->e[c], s->dx + c * w, a);
        cone_unscale(w, s->axis + c * w, s->e[c], s->dy + c * w, b);
        out[0] = weight * vec_dot(w, a, b);
        for (int k = 1; k < w; k++) out[k] = weight * (a[0] * b[k] + b[0] * a[k]);
    }
}

// ---- the method --------------------------------------------------------------------------------

reduced_interior* reduced_interior_new(const reduced_work* work)
{
    const reduced_problem* p = work->p;
    const int w = p->width;
    if (w > 3) return NULL;
    reduced_interior* s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (reduced_interior){.work = work, .width = w, .n = p->count * w};
    s->d = malloc((size_t)(ARRAYS * s->n) * sizeof(double));
    s->system = reduced_system_new(work);
    if (!s->d || !s->system) {
        reduced_interior_free(s);
        return NULL;
    }
    double** const array[ARRAYS] = {&s->d,   &s->x,     &s->y,    &s->l,    &s->axis, &s->e,
                                    &s->u,   &s->along, &s->off,  &s->dx,   &s->dy,   &s->second,
                                    &s->aim, &s->r,     &s->room, &s->right};
    for (int i = 0; i < ARRAYS; i++) *array[i] = s->d + i * s->n;
    for (int64_t c = 0; c < p->count; c++) {
        const reduced_scale D = reduced_scale_of(w, p->block + work->diagonal[c] * w * w);
        s->d[c * w] = p->mu[c] > 0.0 ? p->mu[c] * sqrt(D.t) : sqrt(D.n);
        for (int k = 1; k < w; k++) s->d[c * w + k] = sqrt(D.t);
    }
    return s;
}

void reduced_interior_free(reduced_interior* s)
{
    if (!s) return;
    reduced_system_free(s->system);
    free(s->d);
    free(s);
}

/// x and y of the impulses r, moved into their cones as far as they are large in the mean.
static void start(reduced_interior* s, const double* r)
{
    const reduced_problem* p = s->work->p;
    const int w = s->width;
    double x2 = 0.0, y2 = 0.0;
    for (int64_t k = 0; k < s->n; k++) {
        s->x[k] = p->mu[k / w] > 0.0 || k % w == 0 ? s->d[k] * r[k] : 0.0;
        x2 += s->x[k] * s->x[k];
        y2 += p->q[k] / s->d[k] * (p->q[k] / s->d[k]);
    }
    find_aim(s);
    memcpy(s->y, s->aim, (size_t)s->n * sizeof(double));
    const double in_x = sqrt(x2 / (double)p->count), in_y = sqrt(y2 / (double)p->count);
    for (int64_t k = 0; k < s->n; k += w) {
        s->x[k] = fmax(s->x[k], reduced_length(w - 1, s->x + k + 1)) + in_x;
        s->y[k] = fmax(s->y[k], reduced_length(w - 1, s->y + k + 1)) + in_y;
    }
}

/// Measure the natural map of the impulses in x, which is admissible; s->u belongs to x.
static void measure(reduced_interior* s, reduced_run* run, double* r)
{
    const reduced_problem* p = s->work->p;
    const int w = s->width;
    for (int64_t c = 0; c < p->count; c++) {
        const reduced_scale D = reduced_scale_of(w, p->block + s->work->diagonal[c] * w * w);
        double now[3], u[3];
        for (int k = 0; k < w; k++) {
            now[k] = s->x[c * w + k] / s->d[c * w + k];
            u[k] = s->u[c * w + k] * s->d[c * w + k];
        }
        reduced_map(w, &D, p->mu[c], 0.0, now, u, s->r + c * w);
    }
    reduced_keep_better(s->work, run, s->r, r);
}

/// One step from x and y, whose u is known; returns its length, 0 if there is none. *tau receives
/// the mean of x o y before it.
static double step(reduced_interior* s, bool first, double* tau)
{
    const double count = (double)s->work->p->count;
    double mean = 0.0, off = 0.0, hoped = 0.0, x2 = 0.0;
    for (int64_t k = 0; k < s->n; k++) {
        s->off[k] = s->aim[k] - s->y[k];
        x2 += s->x[k] * s->x[k] / count;
        mean += s->x[k] * s->y[k] / count;
    }
    for (int64_t k = 0; k < s->n; k += s->width) {
        off += s->x[k] * vec_norm(s->width, s->off + k) / count;
    }
    *tau = mean;
    const bool bodies = reduced_system_has_bodies(s->system);
    s->delta = bodies ? fmin(MOST_DELTA, fmax(LEAST_DELTA, mean / x2)) : 0.0;
    const double least = find_scales(s);
    if (!reduced_system_make(s->system, find_blocks, s)) return 0.0;
    find_step(s, 0.0, false);
    const double far = fmin(1.0, reach_of_all(s));
    for (int64_t k = 0; k < s->n; k++) {
        hoped += (s->x[k] + far * s->dx[k]) * (s->y[k] + far * s->dy[k]) / count;
    }
    const bool to_the_middle = !first && cone_is_off(mean, least, bodies ? OFF * off : off);
    find_second_order(s, to_the_middle ? 0.0 : far);
    find_step(s, to_the_middle ? mean : cone_fall(mean, hoped) * mean, true);
    const double share = cone_share(reach_of_all(s));
    for (int64_t k = 0; k < s->n; k++) {
        s->x[k] += share * s->dx[k];
        s->y[k] += share * s->dy[k];
    }
    return isfinite(share) ? share : 0.0;
}

void reduced_interior_go(reduced_interior* s, reduced_run* run, double* r)
{
    s->progress = cone_progress_start(1.0, 0);
    start(s, r);
    const int64_t begin = run->iterations;
    while (run->iterations < run->limit && !reduced_run_is_late(run)) {
        double tau;
        find_aim(s);
        const double share = step(s, run->iterations < begin + CONE_FIRST_STEPS, &tau);
        run->iterations++;
        if (!(share > 0.0) || !isfinite(tau)) return;
        find_aim(s);
        measure(s, run, r);
        if (reduced_run_is_done(run)) return;
        if (!cone_progress_next(&s->progress, share, tau)) return;
    }
}

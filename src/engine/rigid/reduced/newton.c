/// Newton's method with a vanishing proximal term: for problems on which sweeps are slow.
///
/// One step of Newton's method on r - t = 0, with the natural map t of r and u, is one sparse
/// linear system G x + Q (W x) = t - r (linear_law.h). It is singular where the forces are not
/// unique and then throws r far away. So the problem is solved with u + alpha D (r - r_k) in place
/// of u, r_k the last solution, for smaller and smaller alpha: each is a step of the proximal point
/// method, r moves only as far as it must, and the limit fulfils the law exactly.
///
/// Full steps are tried first. Where small forces slide in large piles such a step follows the
/// tangent of a cone far beyond its surface, |r - t| grows by powers of ten, and the next steps
/// take that back, each by the square of what is left; steps that must not let it grow would creep.
/// Where full steps do not come to rest they are halved until |r - t| falls. Where that comes to
/// nothing, too, r goes back to r_k and alpha to the last that worked, and falls more slowly from
/// there.
///
/// Piles and flows on the verge of giving way are far from their solution along soft directions,
/// and small alphas fail there: r moves a little way in each round, round after round in one
/// direction. Where the bodies are known and a step costs little it is worth going on for hundreds
/// of rounds. They have momentum, that of accelerated gradients, and a round that brings |r - t|
/// down to a tenth but does not end is a step forward, too.
#include "rigid/reduced/linear_law.h"
#include "rigid/reduced/system.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 60,    ///< values of alpha, at most
    STEPS = 40,     ///< of Newton's method for one of them, at most
    HALVINGS = 10,  ///< of one step, at most
    IDLE = 2,       ///< rounds near rounding that gain nothing: then there is no more to gain
    POOR_STEPS = 8, ///< steps in a row that hardly gain: then this alpha is given up
    FAILURES = 6,   ///< values of alpha that are given up: then the method is
};
/// What alpha is multiplied with, the same once one was too small, and the last. Of 18 piles of
/// boxes (two towers of 20 to 40 that touch, mu = 0.2 to 0.6, three, four and one) 17 were solved
/// before the sweeps had to go on. With 0.1 throughout and alpha 30 times as large after a failure
/// these were 16, and one was not solved at all: the velocities were right to 1.005e-8 and not to
/// 1e-8, as alpha jumped to and fro between what did not move the impulses and what failed.
static const double NEXT_ALPHA = 0.1, CAREFUL_ALPHA = 0.3, LAST_ALPHA = 1e-10;
/// Measures from which on a round that gains nothing is taken for rounding.
static const double ROUNDING = 1e-10;
/// A step that leaves more than this of |r - t| is poor.
static const double POOR = 0.95;
/// The energy of r - t, relative to that at the begin of a round, which makes it a step forward;
/// and the largest alpha. Of the rounds of cubes-6-tilted, boxes-2d-tilted and collapse-disks
/// (bench/friction) as many steps got twice to three times as far with both, momentum and this.
static const double FORWARD = 1e-2, MOST_ALPHA = 10.0;

/// How Newton's method for one alpha ended.
typedef enum round_end { SOLVED, NEARER, FAILED } round_end;

struct reduced_newton {
    const reduced_work* work;
    int64_t n;
    double alpha;
    bool patient;     ///< it is to go on for hundreds of rounds
    double* scale;    ///< [n] D by components
    double *r, *u;    ///< [n] impulses and velocities, with the proximal term
    double *x, *dx_u; ///< [n] step, and how it changes u
    double* t;        ///< [n] natural map of r and u
    double *trial_r, *trial_u;
    double* centre;  ///< [n] r_k
    double* last;    ///< [n] the solution before r
    double* nearest; ///< [n] the impulses of a round with the least |r - t|
    reduced_system* system;
};

// ---- the linear system -------------------------------------------------------------------------

/// The blocks of contact c, for reduced_system_make().
static void find_blocks(const void* data, int64_t c, double* A, double* B)
{
    const reduced_newton* s = data;
    const reduced_problem* p = s->work->p;
    const int w = p->width;
    const int64_t at = c * w;
    const linear_law a =
        linear_law_of(w, s->scale + at, p->mu[c], w == 5 ? p->mu_r[c] : 0.0, s->r + at, s->u + at);
    for (int i = 0; i < w; i++) {
        for (int j = 0; j < w; j++) {
            A[i * w + j] = a.Q[i][j];
            B[i * w + j] = a.G[i][j] + a.Q[i][j] * s->alpha * s->scale[at + j];
        }
    }
}

// ---- the law with the proximal term ------------------------------------------------------------

/// Put t of the impulses r and velocities u; returns the energy of r - t.
static ALWAYS_INLINE double map_of(const int w, reduced_newton* s, const double* r, const double* u)
{
    const reduced_problem* p = s->work->p;
    double sum = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        const double* D = s->scale + c * w;
        reduced_scale scale = {D[0], D[1], w == 5 ? D[3] : 0.0};
        const double mu_r = w == 5 ? p->mu_r[c] : 0.0;
        double* t = s->t + c * w;
        reduced_map(w, &scale, p->mu[c], mu_r, r + c * w, u + c * w, t);
        for (int k = 0; k < w; k++) sum += D[k] * (r[c * w + k] - t[k]) * (r[c * w + k] - t[k]);
    }
    return sum;
}

static double map(reduced_newton* s, const double* r, const double* u)
{
    switch (s->work->p->width) {
    case 2: return map_of(2, s, r, u);
    case 3: return map_of(3, s, r, u);
    default: return map_of(5, s, r, u);
    }
}

/// Take the step, in full or shortened until the energy falls below `before`; returns the new one.
/// u is linear in r, so that no product with W is needed for each length.
static double take_step(reduced_newton* s, bool full, double before)
{
    double share = 1.0, after = INFINITY;
    reduced_fast_velocity(s->work->p, s->x, s->dx_u);
    for (int64_t k = 0; k < s->n; k++) {
        s->dx_u[k] += s->alpha * s->scale[k] * s->x[k] - s->work->p->q[k];
    }
    for (int i = 0; i < HALVINGS; i++, share *= 0.5) {
        for (int64_t k = 0; k < s->n; k++) {
            s->trial_r[k] = s->r[k] + share * s->x[k];
            s->trial_u[k] = s->u[k] + share * s->dx_u[k];
        }
        after = map(s, s->trial_r, s->trial_u);
        if (full || after < (1.0 - 1e-4 * share) * before) break;
    }
    double *r = s->r, *u = s->u;
    s->r = s->trial_r, s->u = s->trial_u;
    s->trial_r = r, s->trial_u = u;
    return after;
}

/// One step; false if the matrix is singular.
static bool step(reduced_newton* s, bool full, double* left)
{
    if (!reduced_system_make(s->system, find_blocks, s)) return false;
    for (int64_t k = 0; k < s->n; k++) s->x[k] = s->t[k] - s->r[k];
    reduced_system_solve(s->system, 0, s->x);
    for (int64_t k = 0; k < s->n; k++) {
        if (!isfinite(s->x[k])) return false;
    }
    *left = take_step(s, full, *left);
    return true;
}

/// Newton's method for one alpha from r_k, with full steps or shortened ones.
static round_end solve_proximal(reduced_newton* s, reduced_run* run, bool full)
{
    const size_t bytes = (size_t)s->n * sizeof(double);
    memcpy(s->r, s->centre, bytes);
    reduced_fast_velocity(s->work->p, s->r, s->u);
    double left = map(s, s->r, s->u), size = 0.0;
    for (int64_t k = 0; k < s->n; k++) size += s->scale[k] * s->r[k] * s->r[k];
    // Precise enough for the next alpha, and at the end for the tolerance, which the velocities of
    // a pile at rest may be much farther from than r is.
    const double share = run->best.residual / reduced_measure_worse(run->best);
    const double aim = run->tolerance * (share < 1.0 ? share : 1.0);
    const double enough = fmax(1e-6 * left, 1e-2 * aim * aim * size);
    const double first = left;
    double lowest = left;
    for (int i = 0, poor = 0; i < STEPS && left > enough && poor < POOR_STEPS; i++) {
        if (run->iterations >= run->limit || reduced_run_is_late(run)) break;
        const double before = full ? lowest : left;
        if (!step(s, full, &left)) break;
        run->iterations++;
        poor = left > POOR * POOR * before ? poor + 1 : 0;
        if (left < lowest && s->patient) memcpy(s->nearest, s->r, bytes);
        lowest = fmin(lowest, left);
    }
    if (left <= enough) return SOLVED;
    if (!s->patient || !(lowest < FORWARD * first)) return FAILED;
    memcpy(s->r, s->nearest, bytes);
    return NEARER;
}

// ---- the method --------------------------------------------------------------------------------

reduced_newton* reduced_newton_new(const reduced_work* work)
{
    const reduced_problem* p = work->p;
    const int w = p->width;
    const int64_t n = p->count * w;
    reduced_newton* s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (reduced_newton){.work = work, .n = n};
    s->scale = malloc((size_t)(11 * n) * sizeof(double));
    s->system = reduced_system_new(work);
    if (!s->scale || !s->system) {
        reduced_newton_free(s);
        return NULL;
    }
    s->r = s->scale + n, s->u = s->r + n, s->x = s->u + n, s->dx_u = s->x + n, s->t = s->dx_u + n;
    s->trial_r = s->t + n, s->trial_u = s->trial_r + n, s->centre = s->trial_u + n;
    s->last = s->centre + n, s->nearest = s->last + n;
    for (int64_t c = 0; c < p->count; c++) {
        linear_law_scale(w, p->block + work->diagonal[c] * w * w, s->scale + c * w);
    }
    return s;
}

void reduced_newton_free(reduced_newton* s)
{
    if (!s) return;
    reduced_system_free(s->system);
    free(s->scale);
    free(s);
}

double reduced_newton_step_in_sweeps(const reduced_newton* s)
{
    return reduced_system_in_sweeps(s->system);
}

/// The next centre: r, and beyond it in the direction of the last round if `age` rounds have gone
/// the same way. `last` becomes r.
static void find_centre(reduced_newton* s, int age)
{
    const double momentum = (double)age / ((double)age + 3.0);
    for (int64_t k = 0; k < s->n; k++) {
        s->centre[k] = s->r[k] + (age > 0 ? momentum * (s->r[k] - s->last[k]) : 0.0);
        s->last[k] = s->r[k];
    }
}

/// Has the round gone on in the direction in which it has moved as a whole?
static bool goes_on(const reduced_newton* s)
{
    double sum = 0.0;
    for (int64_t k = 0; k < s->n; k++) {
        sum += s->scale[k] * (s->r[k] - s->centre[k]) * (s->r[k] - s->last[k]);
    }
    return sum >= 0.0;
}

void reduced_newton_go(reduced_newton* s, reduced_run* run, double alpha, bool patient, double* r)
{
    const size_t bytes = (size_t)s->n * sizeof(double);
    s->patient = patient;
    memcpy(s->r, r, bytes);
    s->alpha = alpha;
    int idle = 0, failures = 0, age = 0;
    for (int64_t round = 0; (round < ROUNDS || patient) && idle < IDLE; round++) {
        if (reduced_run_is_done(run) || run->iterations >= run->limit || reduced_run_is_late(run))
            break;
        const double before = reduced_measure_worse(run->best);
        find_centre(s, age);
        round_end end = solve_proximal(s, run, true);
        if (end == FAILED) end = solve_proximal(s, run, false);
        age = patient && end == SOLVED && goes_on(s) ? age + 1 : 0;
        reduced_fast_velocity(s->work->p, s->r, s->u);
        map(s, s->r, s->u); // of the law itself, and inside the cone
        reduced_keep_better(s->work, run, s->t, r);
        const double after = reduced_measure_worse(run->best);
        // Rounding, or huge impulses that leave only velocities wrong: no more steps help.
        const bool bound = after < ROUNDING || run->best.velocity == after;
        idle += s->alpha <= LAST_ALPHA && bound && !(after < before);
        if (end == SOLVED) {
            const double next = failures > 0 ? CAREFUL_ALPHA : NEXT_ALPHA;
            s->alpha = fmax(s->alpha * next, LAST_ALPHA);
            continue;
        }
        if (++failures == FAILURES && !patient) break;
        if (end == NEARER) continue;
        memcpy(s->r, s->last, bytes);
        s->alpha /= NEXT_ALPHA;
        if (patient) s->alpha = fmin(s->alpha, MOST_ALPHA);
    }
}

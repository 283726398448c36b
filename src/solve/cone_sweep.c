/// Sweeps of exact one-contact solutions over a cone problem, with momentum.
///
/// From y one forward sweep, the same order every time, gives x; then y = x + beta (x - x_old) with
/// Nesterov's beta and a restart whenever the last step went against the sweep's own direction,
///     sum_c D_c (x - y).(x - x_old) < 0
/// (shared/spec/solver.md). y may leave the cone, the next sweep brings it back. Gradient restarts
/// alone fall into cycles: when a measure of progress has not dropped for a while, restarts also
/// come when the steps shrink, and when that does not help either plain sweeps take over.
#include "base/error.h"
#include "solve/cone_contact.h"
#include "solve/cone_methods.h"

#include <stdlib.h>
#include <string.h>

/// Without a drop of |x - y|^2 by 20 % in so many sweeps there is a cycle.
enum { STALL = 150, YOUNG = 30 };

typedef struct sweeper {
    const cone_problem* p;
    double* own;   ///< [count][cone_own_size] blocks and inverses
    double *x, *y; ///< after and before the sweep
    double* old;   ///< x of the sweep before
    double* best;  ///< best impulses that were measured
    double moved2; ///< energy of x - y
    double size2;  ///< energy of x
    double along;  ///< energy product of x - y and x - old
    double step2;  ///< energy of x - old
    cone_measure best_measure;
} sweeper;

/// One forward sweep from y to x and the sums that steer the momentum.
static ALWAYS_INLINE void sweep_of(const int width, sweeper* s)
{
    const cone_problem* p = s->p;
    const int size = cone_own_size(width);
    double moved2 = 0.0, size2 = 0.0, along = 0.0, step2 = 0.0;
    memcpy(s->x, s->y, (size_t)(p->count * width) * sizeof(double));
    for (int64_t c = 0; c < p->count; c++) {
        const double* own = s->own + c * size;
        const double *y = s->y + c * width, *old = s->old + c * width;
        double* x = s->x + c * width;
        double u[5], free[5];
        cone_row_velocity(width, p, c, s->x, u);
        for (int i = 0; i < width; i++) free[i] = u[i] - vec_dot(width, own + i * width, x);
        cone_contact(width, own, p->mu[c], width == 5 ? p->mu_r[c] : 0.0, free, x);
        for (int k = 0; k < width; k++) {
            const double D = own[k * (width + 1)], move = x[k] - y[k], step = x[k] - old[k];
            moved2 += D * move * move;
            size2 += D * x[k] * x[k];
            along += D * move * step;
            step2 += D * step * step;
        }
    }
    s->moved2 = moved2;
    s->size2 = size2;
    s->along = along;
    s->step2 = step2;
}

static void sweep(sweeper* s)
{
    switch (s->p->width) {
    case 2: sweep_of(2, s); break;
    case 3: sweep_of(3, s); break;
    default: sweep_of(5, s); break;
    }
}

static talus_status sweeper_start(sweeper* s, const cone_problem* p, const double* r)
{
    const int64_t n = p->count * p->width, own = p->count * cone_own_size(p->width);
    *s = (sweeper){.p = p};
    s->own = malloc((size_t)(own + 4 * n) * sizeof(double));
    if (!s->own) return TALUS_ERR_MEMORY;
    s->x = s->own + own, s->y = s->x + n, s->old = s->y + n, s->best = s->old + n;
    for (int64_t c = 0; c < p->count; c++) {
        cone_contact_prepare(p->width, cone_diagonal(p, c), s->own + c * cone_own_size(p->width));
    }
    memcpy(s->y, r, (size_t)n * sizeof(double));
    memcpy(s->old, r, (size_t)n * sizeof(double));
    memcpy(s->best, r, (size_t)n * sizeof(double));
    s->best_measure = cone_measure_of(p, r);
    return TALUS_OK;
}

/// Measure x and keep it if it is the best so far; true when it is good enough.
static bool judge(sweeper* s, double tolerance)
{
    cone_measure m = cone_measure_of(s->p, s->x);
    double worse = fmax(m.error, m.residual);
    if (worse < fmax(s->best_measure.error, s->best_measure.residual)) {
        s->best_measure = m;
        memcpy(s->best, s->x, (size_t)(s->p->count * s->p->width) * sizeof(double));
    }
    return cone_measure_meets(m, tolerance);
}

/// When to look at the true measures: as soon as the sweep moves x by no more than the tolerance,
/// and then again whenever it moves by a third less.
typedef struct watch {
    double below; ///< energy of a move, relative
    double stall2;
    int64_t stall_at;
    bool cautious;
} watch;

static bool is_due(watch* w, const sweeper* s)
{
    if (s->moved2 > w->below * w->below * s->size2) return false;
    w->below = fmax(0.3 * sqrt(s->moved2 / s->size2), 1e-17);
    return true;
}

/// Momentum for the next sweep: y = x + beta (x - old).
static void extrapolate(sweeper* s, double beta)
{
    const int64_t n = s->p->count * s->p->width;
    for (int64_t k = 0; k < n; k++) {
        s->y[k] = s->x[k] + beta * (s->x[k] - s->old[k]);
    }
    double* keep = s->old;
    s->old = s->x;
    s->x = keep;
}

static void note_stall(watch* w, const sweeper* s, int64_t iteration)
{
    if (s->moved2 < 0.8 * w->stall2) {
        w->stall2 = s->moved2;
        w->stall_at = iteration;
    } else if (iteration - w->stall_at > STALL) {
        w->cautious = true;
    }
}

static talus_status sweeps(const cone_problem* p, cone_run* run, double* r, bool momentum)
{
    sweeper s;
    TRY(sweeper_start(&s, p, r));
    watch w = {.below = run->tolerance, .stall2 = INFINITY};
    double theta = 1.0, last2 = INFINITY;
    int64_t age = 0;
    bool done = cone_measure_meets(s.best_measure, run->tolerance);
    for (run->iterations = 0; !done && run->iterations < run->limit;) {
        sweep(&s);
        run->iterations++;
        if (is_due(&w, &s)) done = judge(&s, run->tolerance);
        if (done || (run->iterations % 64 == 0 && cone_run_is_late(run))) break;
        note_stall(&w, &s, run->iterations);
        bool restart = s.along < 0.0 || (w.cautious && age > YOUNG && s.step2 < last2);
        double next = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4.0));
        double beta = theta * (1.0 - theta) / (theta * theta + next);
        last2 = s.step2;
        age = restart ? 0 : age + 1;
        theta = restart ? 1.0 : next;
        extrapolate(&s, restart || !momentum ? 0.0 : beta);
    }
    if (!done) {
        memcpy(s.x, s.old, (size_t)(p->count * p->width) * sizeof(double));
        judge(&s, run->tolerance);
    }
    memcpy(r, s.best, (size_t)(p->count * p->width) * sizeof(double));
    run->best = s.best_measure;
    free(s.own);
    return TALUS_OK;
}

talus_status cone_sweep_plain(const cone_problem* p, cone_run* run, double* r)
{
    return sweeps(p, run, r, false);
}

talus_status cone_sweep_fast(const cone_problem* p, cone_run* run, double* r)
{
    return sweeps(p, run, r, true);
}

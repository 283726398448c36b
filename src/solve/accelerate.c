/// Coloured sweeps with Nesterov momentum: sweeps grow like L/d instead of (L/d)^2.
///
/// From y one forward sweep, always in the same order, gives x (wide.h). Then
///     y' = x + beta (x - x_old),   theta' = (-theta^2 + theta sqrt(theta^2 + 4))/2,
///     beta = theta (1 - theta)/(theta^2 + theta')                                 (Nesterov)
/// for impulses and velocities alike; y may leave the cone, the next sweep projects it back, so
/// what is converged to is the exact law. Momentum starts anew when it points the wrong way, that
/// is when sum w (x - y).(x - x_old) < 0 (O'Donoghue and Candes). There is no proof for friction;
/// two guards keep it honest. On some packings that restart alone falls into cycles: if the change
/// of a sweep has not dropped by 20 % in 150 sweeps, momentum also starts anew once it is old and
/// the steps become shorter. If the change grows far beyond the smallest one seen, plain sweeps
/// take over for a while (shared/spec/solver.md).
#include "solve/residual.h"
#include "solve/solver.h"
#include "solve/stop.h"

#include <math.h>

/// After so many sweeps without progress by this factor a cycle is suspected.
enum { STALL_SWEEPS = 150, OLD_AGE = 30, PLAIN_SWEEPS = 20 };
static const double STALL_PROGRESS = 0.8;
/// Growth of the squared change over the smallest one that counts as divergence.
static const double DIVERGENCE = 1e6;

typedef struct momentum {
    double theta, beta;
    int64_t age;       ///< sweeps since the last restart
    double last_step;  ///< squared length of the last sweep's step
    double best;       ///< smallest change seen
    double stall_mark; ///< change that must be undercut
    int64_t stall_age; ///< sweeps since the mark was set
    bool cautious;     ///< cycles were suspected: restart more often
    int64_t plain;     ///< sweeps left to do without momentum
} momentum;

static momentum momentum_start(void)
{
    return (momentum){.theta = 1.0, .best = INFINITY, .stall_mark = INFINITY};
}

static void restart(momentum* m)
{
    m->theta = 1.0;
    m->beta = 0.0;
    m->age = 0;
}

static void watch_for_cycles(momentum* m, double change)
{
    if (change <= STALL_PROGRESS * m->stall_mark) {
        m->stall_mark = change;
        m->stall_age = 0;
    } else if (++m->stall_age >= STALL_SWEEPS) {
        m->cautious = true;
        m->stall_mark = change;
        m->stall_age = 0;
    }
}

/// Decide from the sums of a sweep how far the next one is extrapolated.
static void momentum_next(momentum* m, const wide_sums* s)
{
    watch_for_cycles(m, s->change);
    const bool slowing = m->cautious && m->age > OLD_AGE && s->step < m->last_step;
    const bool diverges = s->change > DIVERGENCE * m->best;
    m->last_step = s->step;
    m->best = fmin(m->best, s->change);
    if (diverges) {
        m->plain = PLAIN_SWEEPS;
        m->best = s->change;
    }
    if (m->plain > 0) m->plain--;
    if (s->turning < 0.0 || slowing || diverges || m->plain > 0) {
        restart(m);
        return;
    }
    const double t = m->theta, t2 = t * t;
    m->theta = 0.5 * (sqrt(t2 * (t2 + 4.0)) - t2);
    m->beta = t * (1.0 - t) / (t2 + m->theta);
    m->age++;
}

/// Static friction gives way only when all forces are known, and then the solve goes on. With a
/// fixed number of sweeps the first half is taken to have found them.
static bool forces_known(const talus_solver_def* options, bool reached, int64_t sweeps)
{
    return reached ||
           (options->stop == TALUS_STOP_SWEEPS && sweeps == (options->max_sweeps + 1) / 2);
}

/// Sweep until the rule is met or there have been enough; true if it is met. Leaves the problem as
/// it is for solve_conclude().
static bool sweep_until(problem* p, const solve_request* request, wide* w,
                        const wide_kernels* kernels, stop_state* stop, solve_result* out)
{
    const talus_solver_def* options = request->options;
    const bool accelerated = options->method != TALUS_SOLVER_COLOURED;
    momentum m = momentum_start();
    bool reached = false, current = false;
    if (accelerated) wide_remember(w);
    while (out->sweeps < options->max_sweeps && !reached) {
        const wide_sums sums = wide_sweep(w, kernels, accelerated, m.beta, request->threads);
        const sweep_stats stats = {.change2 = sums.change, .impulse2 = sums.impulse};
        out->sweeps++;
        if (accelerated) momentum_next(&m, &sums);
        const bool watched = request->watch && request->watch->next == out->sweeps;
        const bool due = stop_due(stop, out->sweeps, &stats);
        const bool halfway = forces_known(options, false, out->sweeps) && p->rich_count > 0;
        current = watched || due || halfway;
        if (!current) continue;
        wide_give_back(w, kernels, request->threads);
        if (watched && solve_watched(request, p, out->sweeps)) break;
        reached = due && stop_look(stop, p, out->sweeps, &stats);
        if (forces_known(options, reached, out->sweeps) &&
            problem_break_loose(p, options->tolerance)) {
            wide_refresh_friction(w);
            reached = false;
            stop->next_check = out->sweeps + 1;
        }
    }
    if (!current) wide_give_back(w, kernels, request->threads);
    return reached;
}

static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    const wide_kernels* kernels = wide_kernels_for(request->options->vector);
    wide* w = &ws->wide;
    *out = (solve_result){.converged = true};
    if (p->count == 0) {
        problem_refresh(p);
        return TALUS_OK;
    }
    if (wide_pack(w, p, request->threads)) return TALUS_ERR_MEMORY;
    wide_apply(w, kernels, request->threads);
    stop_state stop = stop_begin(request);
    const bool reached = sweep_until(p, request, w, kernels, &stop, out);
    solve_conclude(&stop, p, reached, out);
    return TALUS_OK;
}

const solver_ops accelerated_solver = {.name = "accelerated", .solve = solve};

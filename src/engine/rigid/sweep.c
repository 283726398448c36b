/// Nonlinear Gauss-Seidel sweeps: the reference solver (UK section 3, LN 8.4).
///
/// Each sweep visits every contact once and gives it the exact one-contact solution with all other
/// impulses at their latest values. The order is a fresh random permutation every sweep, or the
/// contact index ascending, or alternating. Cost of an update: 2 body rows and 1 contact row read
/// and written, about 70 flops in 3D and 40 in 2D, no division except on sliding contacts.
///
/// The parallel order (Jacobi) is the one that the papers' continuum theory begins with. Where a
/// body has more than two contacts they all push back the same motion at once, and impulses grow
/// from sweep to sweep: it is no solver for packings (BUW 1.5).
#include "base/array.h"
#include "base/rng.h"
#include "rigid/residual.h"
#include "rigid/residual_card.h"
#include "rigid/solver.h"
#include "rigid/stop.h"
#include "rigid/update.h"

#include <stdlib.h>

void solve_workspace_free(solve_workspace* ws)
{
    free(ws->order);
    residual_card_free(ws->residual_card);
    packed_free(&ws->packed);
    coarse_free(&ws->coarse);
    rescaling_free(&ws->rescaling);
    certificate_free(&ws->certificate);
    *ws = (solve_workspace){0};
}

/// What the stopping rule wants to know; constant in each instance of the sweep.
enum stats_level { STATS_NONE, STATS_SQUARES, STATS_NORMS };

static ALWAYS_INLINE void count_change(const int dim, const int level, const double* impulse,
                                       const double* dp, double tolerance, double cutoff,
                                       sweep_stats* stats)
{
    if (level == STATS_NONE) return;
    double change2 = vec_dot(dim, dp, dp), impulse2 = vec_dot(dim, impulse, impulse);
    stats->change2 += change2;
    stats->impulse2 += impulse2;
    if (level == STATS_NORMS) {
        double norm = sqrt(impulse2);
        stats->impulse += norm;
        stats->unsettled += sqrt(change2) > tolerance * norm + cutoff;
    }
}

/// In random order every row is a jump: ask for those of a contact some updates ahead of time.
enum { PREFETCH_DISTANCE = 6 };

static ALWAYS_INLINE void prefetch_contact(const problem* p, const int32_t* order, int64_t k,
                                           const int dim)
{
    if (k >= p->count) return;
    const int64_t c = order[k];
    const double* row = p->contact + c * problem_width(dim);
    __builtin_prefetch(row);
    if (dim == 3) __builtin_prefetch(row + 8);
    if (problem_block_of(p, c) >= 0) {
        const double* block = problem_block(p, dim, c);
        for (int line = 0; line < block_width(dim); line += 8) __builtin_prefetch(block + line);
    }
    __builtin_prefetch(p->body + (int64_t)p->pair[2 * c] * problem_stride(dim));
    __builtin_prefetch(p->body + (int64_t)p->pair[2 * c + 1] * problem_stride(dim));
}

/// One sweep over the contacts in `order`.
static ALWAYS_INLINE sweep_stats sweep(problem* p, const int32_t* order, const int dim,
                                       const int level, double tolerance, double cutoff)
{
    const int stride = problem_stride(dim), width = problem_width(dim);
    sweep_stats stats = {0};
    for (int64_t k = 0; k < p->count; k++) {
        const int64_t c = order[k];
        prefetch_contact(p, order, k + PREFETCH_DISTANCE, dim);
        double* row = p->contact + c * width;
        double* a = p->body + (int64_t)p->pair[2 * c] * stride;
        double* b = p->body + (int64_t)p->pair[2 * c + 1] * stride;
        double dp[3];
        update_contact(p, dim, c, a, b, dp);
        count_change(dim, level, row + contact_p(dim), dp, tolerance, cutoff, &stats);
    }
    return stats;
}

/// One parallel sweep: every contact gets its exact impulse, while the velocities stay those of the
/// impulses before it until its end.
static sweep_stats sweep_parallel(problem* p, int level, double tolerance, double cutoff)
{
    const int dim = p->dim;
    sweep_stats stats = {0};
    for (int64_t c = 0; c < p->count; c++) {
        double* row = p->contact + c * problem_width(dim);
        double* impulse = row + contact_p(dim);
        const int32_t compound = problem_compound_of(p, c);
        double u[3], dp[3], solved[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0};
        problem_velocity(p, c, u);
        if (compound < 0 && problem_block_of(p, c) < 0) {
            coulomb_map(dim, row, row[contact_mn(dim)], row[contact_mt(dim)],
                        row[contact_bias(dim)], row[contact_mu(dim)], u, impulse, solved);
        } else {
            problem_solve_alone(p, c, u, solved, torque);
        }
        vec_sub(dim, dp, solved, impulse);
        vec_copy(dim, impulse, solved);
        if (compound >= 0) vec_copy(3, p->compound_rows[compound].torque, torque);
        count_change(dim, level, impulse, dp, tolerance, cutoff, &stats);
    }
    problem_refresh(p);
    return stats;
}

/// Pick the instance of the sweep for this dimension and stopping rule.
static sweep_stats sweep_once(problem* p, const int32_t* order, int level, double tolerance,
                              double cutoff)
{
    if (p->dim == 2) {
        if (level == STATS_NONE) return sweep(p, order, 2, STATS_NONE, 0, 0);
        if (level == STATS_SQUARES) return sweep(p, order, 2, STATS_SQUARES, 0, 0);
        return sweep(p, order, 2, STATS_NORMS, tolerance, cutoff);
    }
    if (level == STATS_NONE) return sweep(p, order, 3, STATS_NONE, 0, 0);
    if (level == STATS_SQUARES) return sweep(p, order, 3, STATS_SQUARES, 0, 0);
    return sweep(p, order, 3, STATS_NORMS, tolerance, cutoff);
}

/// Order of the coming sweep of this solve, from the one before it.
static void next_order(int32_t* order, int64_t count, const solve_request* request,
                       int64_t sweep_number)
{
    switch (request->options->order) {
    case TALUS_ORDER_FORWARD:
    case TALUS_ORDER_PARALLEL: return;
    case TALUS_ORDER_ALTERNATING:
        if (sweep_number == 0) return;
        for (int64_t i = 0, j = count - 1; i < j; i++, j--) {
            int32_t swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
        return;
    case TALUS_ORDER_RANDOM: break;
    }
    const uint64_t of_step = (uint64_t)(request->sweeps_before + sweep_number);
    rng r = rng_make(request->seed, request->key, of_step);
    for (int64_t i = count - 1; i > 0; i--) { // Fisher-Yates
        int64_t j = (int64_t)rng_below(&r, (uint64_t)i + 1);
        int32_t swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
}

static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    const talus_solver_def* options = request->options;
    *out = (solve_result){.converged = true, .tolerance = solve_tolerance(request, NULL)};
    problem_refresh(p);
    if (p->count == 0) return TALUS_OK;
    if (!arrays_renew(&ws->order_capacity, p->count, ARRAY(ws->order))) return TALUS_ERR_MEMORY;
    for (int64_t c = 0; c < p->count; c++) ws->order[c] = (int32_t)c;

    stop_state stop = stop_begin(request);
    const int level = options->stop == TALUS_STOP_SWEEPS ? STATS_NONE
                      : stop_measures(&stop)             ? STATS_SQUARES
                                                         : STATS_NORMS;
    const int64_t budget = solve_budget(request);
    bool reached = false;
    while (out->sweeps < budget && !reached) {
        next_order(ws->order, p->count, request, out->sweeps);
        const double tolerance = stop.tolerance, cutoff = stop_cutoff(&stop);
        sweep_stats stats = options->order == TALUS_ORDER_PARALLEL
                                ? sweep_parallel(p, level, tolerance, cutoff)
                                : sweep_once(p, ws->order, level, tolerance, cutoff);
        out->sweeps++;
        if (solve_watched(request, p, out->sweeps)) break;
        reached = stop_settled(&stop, p, &stats);
        if (stop_due(&stop, out->sweeps, &stats)) {
            problem_refresh(p);
            reached = stop_look(&stop, p, out->sweeps, &stats);
        }
        if (solve_knows_forces(request, reached, out->sweeps) &&
            problem_break_loose(p, stop.tolerance)) {
            reached = false;
            stop.next_check = out->sweeps + 1;
        }
    }
    problem_refresh(p);
    solve_conclude(&stop, p, reached, out);
    return TALUS_OK;
}

const solver_ops sweep_solver = {.name = "sweep", .solve = solve};

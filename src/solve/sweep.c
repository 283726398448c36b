/// Nonlinear Gauss-Seidel sweeps: the reference solver (UK section 3, LN 8.4).
///
/// Each sweep visits every contact once and gives it the exact one-contact solution with all other
/// impulses at their latest values. The order is a fresh random permutation every sweep, or the
/// contact index ascending, or alternating. Cost of an update: 2 body rows and 1 contact row read
/// and written, about 70 flops in 3D and 40 in 2D, no division except on sliding contacts.
#include "base/rng.h"
#include "law/coulomb.h"
#include "solve/residual.h"
#include "solve/solver.h"
#include "solve/stop.h"

#include <stdlib.h>

void solve_workspace_free(solve_workspace* ws)
{
    free(ws->order);
    *ws = (solve_workspace){0};
}

/// What the stopping rule wants to know; constant in each instance of the sweep.
enum stats_level { STATS_NONE, STATS_SQUARES, STATS_NORMS };

/// Exact update of a rich contact.
static void update_rich(problem* p, int64_t c, double* a, double* b, const double* u, double* dp)
{
    const int dim = p->dim;
    double* row = p->contact + c * problem_width(dim);
    double* impulse = row + contact_p(dim);
    double solved[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0}, dt[3];
    rich_contact* r = &p->rich_rows[problem_rich_of(p, c)];
    problem_solve_alone(p, c, u, solved, torque);
    vec_sub(dim, dp, solved, impulse);
    vec_copy(dim, impulse, solved);
    if (problem_block_of(p, c) < 0) {
        contact_apply(dim, a, b, row, dp);
    } else {
        block_apply(p, dim, problem_block(p, dim, c), p->pair[2 * c], a, b, dp);
    }
    vec_sub(3, dt, torque, r->torque);
    vec_copy(3, r->torque, torque);
    problem_twist(p, c, dt);
}

/// The sticking solution, if it is inside the friction cone and the contact would close when left
/// alone (law/coulomb_block.c takes open before stick where both are possible).
static ALWAYS_INLINE bool stick_update(const int dim, const double* block, const double* row,
                                       const double* u, const double* impulse, double* solved)
{
    const double *S = block, *inverse = block + block_inverse(dim), *n = row;
    double target[3], pn = 0.0, pp = 0.0, free_n = row[contact_bias(dim)];
    for (int k = 0; k < dim; k++) {
        target[k] = u[k] + row[contact_bias(dim)] * n[k];
        free_n += n[k] * (u[k] - vec_dot(dim, S + k * dim, impulse));
    }
    for (int k = 0; k < dim; k++) {
        solved[k] = impulse[k] - vec_dot(dim, inverse + k * dim, target);
        pn += solved[k] * n[k];
        pp += solved[k] * solved[k];
    }
    const double mu = row[contact_mu(dim)];
    // |p_t|^2 = pp - pn^2 loses digits near mu = 0: a little inside the cone, the rest is solved.
    // A block that is not definite to rounding has an inverse of zeros.
    return inverse[0] > 0.0 && free_n < 0.0 && pn > 0.0 &&
           pp - pn * pn < 0.999999 * mu * mu * pn * pn;
}

/// Does a contact without an impulse stay open?
static ALWAYS_INLINE bool stays_open(const int dim, const double* row, const double* u)
{
    const double* impulse = row + contact_p(dim);
    double un = row[contact_bias(dim)];
    for (int k = 0; k < dim; k++) {
        if (impulse[k] != 0.0) return false;
        un += row[k] * u[k];
    }
    return un >= 0.0;
}

/// Exact update of a Coulomb contact with a full block. Most of them stay open, or stick: then the
/// impulse takes the one step S^-1 (u + bias n) that stops the slip and closes the gap.
static ALWAYS_INLINE void update_block(problem* p, const int dim, int64_t c, double* a, double* b,
                                       double* u, double* dp)
{
    double* row = p->contact + c * problem_width(dim);
    double* impulse = row + contact_p(dim);
    const double* block = problem_block(p, dim, c);
    double solved[3], torque[3];
    block_velocity(dim, block, a, b, u);
    if (stays_open(dim, row, u)) {
        for (int k = 0; k < dim; k++) dp[k] = 0.0;
        return;
    }
    if (!stick_update(dim, block, row, u, impulse, solved)) {
        problem_solve_alone(p, c, u, solved, torque);
    }
    vec_sub(dim, dp, solved, impulse);
    vec_copy(dim, impulse, solved);
    block_apply(p, dim, block, p->pair[2 * c], a, b, dp);
}

/// Exact update of a Coulomb contact with a diagonal block: the hot path.
static ALWAYS_INLINE void update_coulomb(const int dim, double* row, double* a, double* b,
                                         const double* u, double* dp)
{
    double* impulse = row + contact_p(dim);
    double solved[3];
    coulomb_map(dim, row, row[contact_mn(dim)], row[contact_mt(dim)], row[contact_bias(dim)],
                row[contact_mu(dim)], u, impulse, solved);
    vec_sub(dim, dp, solved, impulse);
    vec_copy(dim, impulse, solved);
    contact_apply(dim, a, b, row, dp);
}

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
        double u[3], dp[3];
        if (problem_rich_of(p, c) >= 0) {
            problem_velocity(p, c, u);
            update_rich(p, c, a, b, u, dp);
        } else if (problem_block_of(p, c) < 0) {
            contact_velocity(dim, a, b, row, u);
            update_coulomb(dim, row, a, b, u, dp);
        } else {
            update_block(p, dim, c, a, b, u, dp);
        }
        count_change(dim, level, row + contact_p(dim), dp, tolerance, cutoff, &stats);
    }
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

static talus_status reserve_order(solve_workspace* ws, int64_t count)
{
    if (count <= ws->order_capacity) return TALUS_OK;
    int64_t grown = count + count / 4 + 16;
    free(ws->order);
    ws->order = malloc(sizeof *ws->order * (size_t)grown);
    ws->order_capacity = ws->order ? grown : 0;
    return ws->order ? TALUS_OK : TALUS_ERR_MEMORY;
}

/// Order of the coming sweep, from the one before it.
static void next_order(int32_t* order, int64_t count, const solve_request* request,
                       int64_t sweep_number)
{
    switch (request->options->order) {
    case TALUS_ORDER_FORWARD: return;
    case TALUS_ORDER_ALTERNATING:
        if (sweep_number == 0) return;
        for (int64_t i = 0, j = count - 1; i < j; i++, j--) {
            int32_t swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
        return;
    case TALUS_ORDER_RANDOM: break;
    }
    rng r = rng_make(request->seed, request->key, (uint64_t)sweep_number);
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
    *out = (solve_result){.converged = true};
    problem_refresh(p);
    if (p->count == 0) return TALUS_OK;
    if (reserve_order(ws, p->count)) return TALUS_ERR_MEMORY;
    for (int64_t c = 0; c < p->count; c++) ws->order[c] = (int32_t)c;

    const int level = options->stop == TALUS_STOP_SWEEPS     ? STATS_NONE
                      : options->stop == TALUS_STOP_RESIDUAL ? STATS_SQUARES
                                                             : STATS_NORMS;
    stop_state stop = stop_begin(request);
    bool reached = false;
    while (out->sweeps < options->max_sweeps && !reached) {
        next_order(ws->order, p->count, request, out->sweeps);
        sweep_stats stats = sweep_once(p, ws->order, level, options->tolerance, stop_cutoff(&stop));
        out->sweeps++;
        if (request->watch && request->watch->next == out->sweeps) {
            request->watch->look(request->watch, p, out->sweeps);
            if (request->watch->enough) break;
        }
        reached = stop_reached(&stop, p, out->sweeps, &stats);
        // Static friction gives way only when all forces are known, and then the solve goes on.
        // With a fixed number of sweeps the first half is taken to have found them.
        const bool halfway =
            options->stop == TALUS_STOP_SWEEPS && out->sweeps == (options->max_sweeps + 1) / 2;
        if ((reached || halfway) && problem_break_loose(p, options->tolerance)) {
            reached = false;
            stop.next_check = out->sweeps + 1;
        }
    }
    out->updates = out->sweeps * p->count;
    const bool by_residual = options->stop == TALUS_STOP_RESIDUAL;
    out->residual = reached && by_residual ? stop.residual : residual_natural(p);
    // The last sweep allowed may have met the residual rule between two looks at it.
    out->converged = reached || options->stop == TALUS_STOP_SWEEPS ||
                     (by_residual && out->residual <= options->tolerance);
    return TALUS_OK;
}

const solver_ops sweep_solver = {.name = "sweep", .solve = solve};

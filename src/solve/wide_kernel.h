/// The sweeps over a block, for the vector width that the including file is compiled with.
#ifndef TALUS_SOLVE_WIDE_KERNEL_H
#define TALUS_SOLVE_WIDE_KERNEL_H

#include "solve/wide_ball.h"
#include "solve/wide_full.h"
#include "solve/wide_roll.h"

// ---- every other law ---------------------------------------------------------------------------

static ALWAYS_INLINE void sweep_scalar(wide* w, const int dim, int64_t batch, bool momentum,
                                       double beta, lane_sums* sums)
{
    double* p = w->values[WIDE_P] + batch * dim * WIDE_LANES;
    double* z = w->values[WIDE_OLD_P] + batch * dim * WIDE_LANES;
    _Alignas(64) double x[3 * WIDE_LANES], y[3 * WIDE_LANES], before[3 * WIDE_LANES];
    _Alignas(64) double wn[WIDE_LANES] = {0};
    for (int i = 0; i < dim * WIDE_LANES; i++) {
        before[i] = p[i];
        x[i] = y[i] = momentum ? p[i] + beta * (p[i] - z[i]) : p[i];
        if (momentum) z[i] = p[i];
    }
    for (int lane = 0; lane < WIDE_LANES; lane++) {
        if (w->source[batch * WIDE_LANES + lane] < 0) continue;
        wn[lane] = wide_update_scalar(w, batch, lane, momentum, beta, y + lane, x + lane);
    }
    for (int i = 0; i < dim * WIDE_LANES; i++) p[i] = x[i];
    for (int part = 0; part < PARTS; part++) {
        lanes nx[3], ny[3], nz[3];
        for (int i = 0; i < dim; i++) {
            const int at = i * WIDE_LANES + part * LANE_WIDTH;
            nx[i] = lanes_load(x + at), ny[i] = lanes_load(y + at), nz[i] = lanes_load(before + at);
        }
        add_to_sums(dim, sums, part, lanes_load(wn + part * LANE_WIDTH), nx, ny, nz);
    }
}

// ---- a block -----------------------------------------------------------------------------------

/// Extrapolate the velocities of the block's own rows.
static ALWAYS_INLINE void extrapolate_rows(wide* w, const int dim, const wide_block* block,
                                           double beta)
{
    const int stride = wide_stride(dim);
    double* x = w->values[WIDE_ROW];
    double* z = w->values[WIDE_OLD_ROW];
    for (int64_t k = block->row_first * stride; k < block->row_last * stride; k++) {
        const double now = x[k];
        x[k] = now + beta * (now - z[k]);
        z[k] = now;
    }
}

static double add_lanes(const lanes* sums)
{
    _Alignas(64) double each[WIDE_LANES];
    double sum = 0.0;
    for (int part = 0; part < PARTS; part++) lanes_store(each + part * LANE_WIDTH, sums[part]);
    for (int lane = 0; lane < WIDE_LANES; lane++) sum += each[lane];
    return sum;
}

static ALWAYS_INLINE void sweep_block(wide* w, const int dim, int64_t number, bool momentum,
                                      double beta, wide_sums* out)
{
    const wide_block* block = &w->blocks[number];
    const lanes beta_lanes = lanes_set(beta);
    lane_sums sums;
    for (int part = 0; part < PARTS; part++) {
        sums.change[part] = sums.step[part] = lanes_set(0.0);
        sums.turning[part] = sums.impulse[part] = lanes_set(0.0);
    }
    if (momentum) extrapolate_rows(w, dim, block, beta);
    for (int64_t k = block->first; k < block->last; k++) {
        switch (w->batches[k].kind) {
        case WIDE_BALL: sweep_balls(w, WIDE_BALL, dim, k, momentum, beta_lanes, &sums); break;
        case WIDE_BOND: sweep_balls(w, WIDE_BOND, dim, k, momentum, beta_lanes, &sums); break;
        case WIDE_ROLL: sweep_rolls(w, dim, k, momentum, beta_lanes, &sums); break;
        case WIDE_LID: sweep_balls(w, WIDE_LID, dim, k, momentum, beta_lanes, &sums); break;
        case WIDE_BLOCK: sweep_full(w, dim, k, momentum, beta_lanes, &sums); break;
        default: sweep_scalar(w, dim, k, momentum, beta, &sums); break;
        }
    }
    *out = (wide_sums){.change = add_lanes(sums.change),
                       .step = add_lanes(sums.step),
                       .turning = add_lanes(sums.turning),
                       .impulse = add_lanes(sums.impulse)};
}

/// Add the impulses of a batch of balls or full blocks to the velocities.
static ALWAYS_INLINE void apply_batch(wide* w, const int dim, int64_t batch)
{
    const int kind = w->batches[batch].kind;
    const double* constants = wide_constants(w, kind, dim, batch);
    const double* p = w->values[WIDE_P] + batch * dim * WIDE_LANES;
    const int arms = wide_full_arms(dim), arm_size = dim == 2 ? 2 : 9;
    for (int part = 0; part < PARTS; part++) {
        const int lane = part * LANE_WIDTH;
        const int32_t* who = w->who + 2 * batch * WIDE_LANES + lane;
        const double *k = constants + lane, *arm_a = k + arms * WIDE_LANES;
        lanes n[3], dp[3];
        wide_bodies o;
        load_bodies(dim, w->values[WIDE_ROW], who, &o);
        for (int i = 0; i < dim; i++) {
            n[i] = field(k, i);
            dp[i] = lanes_load(p + i * WIDE_LANES + lane);
        }
        if (kind == WIDE_BLOCK) {
            full_apply(dim, n, arm_a, arm_a + arm_size * WIDE_LANES, dp, &o);
        } else {
            apply_balls(w, kind, dim, k, n, dp, &o);
        }
        if (kind == WIDE_ROLL) apply_torques(w, dim, batch, lane, k, &o);
        store_bodies(dim, w->values[WIDE_ROW], who, &o);
    }
}

/// The velocities that the impulses of a block make, added to those of the blocks before it.
static void apply_any(wide* w, int64_t number)
{
    const wide_block* block = &w->blocks[number];
    for (int64_t k = block->first; k < block->last; k++) {
        if (w->batches[k].kind == WIDE_SCALAR) {
            wide_apply_scalar(w, k);
        } else if (w->dim == 2) {
            apply_batch(w, 2, k);
        } else {
            apply_batch(w, 3, k);
        }
    }
}

/// Pick the instance for this dimension and for sweeps with or without momentum.
static void sweep_any(wide* w, int64_t block, bool momentum, double beta, wide_sums* sums)
{
    if (w->dim == 2) {
        if (momentum) {
            sweep_block(w, 2, block, true, beta, sums);
        } else {
            sweep_block(w, 2, block, false, 0.0, sums);
        }
    } else if (momentum) {
        sweep_block(w, 3, block, true, beta, sums);
    } else {
        sweep_block(w, 3, block, false, 0.0, sums);
    }
}

#endif

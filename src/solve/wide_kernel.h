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
    real* p = values_of(w, WIDE_P) + batch * dim * WIDE_LANES;
    real* z = values_of(w, WIDE_OLD_P) + batch * dim * WIDE_LANES;
    _Alignas(64) real x[3 * WIDE_LANES], y[3 * WIDE_LANES], before[3 * WIDE_LANES];
    _Alignas(64) real wn[WIDE_LANES] = {0};
    for (int i = 0; i < dim * WIDE_LANES; i++) {
        before[i] = p[i];
        x[i] = y[i] = momentum ? p[i] + (real)beta * (p[i] - z[i]) : p[i];
        if (momentum) z[i] = p[i];
    }
    for (int lane = 0; lane < WIDE_LANES; lane++) {
        if (w->source[batch * WIDE_LANES + lane] < 0) continue;
        wn[lane] = update_alone(w, batch, lane, momentum, beta, y + lane, x + lane);
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
    real* x = values_of(w, WIDE_ROW);
    real* z = values_of(w, WIDE_OLD_ROW);
    for (int64_t k = block->row_first * stride; k < block->row_last * stride; k++) {
        const real now = x[k];
        x[k] = now + (real)beta * (now - z[k]);
        z[k] = now;
    }
}

static double add_lanes(const lanes* sums)
{
    _Alignas(64) real each[WIDE_LANES];
    double sum = 0.0;
    for (int part = 0; part < PARTS; part++) lanes_store(each + part * LANE_WIDTH, sums[part]);
    for (int lane = 0; lane < WIDE_LANES; lane++) sum += (double)each[lane];
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

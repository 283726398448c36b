/// The sweeps over a block, for the vector width that the including file is compiled with.
#ifndef TALUS_RIGID_PACKED_KERNEL_H
#define TALUS_RIGID_PACKED_KERNEL_H

#include "rigid/packed/ball.h"
#include "rigid/packed/compound.h"
#include "rigid/packed/roll.h"
#include "rigid/packed/skip.h"
#include "rigid/packed/solid.h"

// ---- every other law ---------------------------------------------------------------------------

/// Ask for what the contacts of a batch have in the problem itself.
static inline void prefetch_scalar(const packed_problem* packed, const int dim, int64_t batch)
{
    const problem* p = packed->problem;
    const int width = problem_width(dim), line = 8;
    if (batch >= packed->batch_count || packed->batches[batch].kind != PACKED_SCALAR) return;
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int32_t c = packed->source[batch * PACKED_LANES + lane];
        if (c < 0) continue;
        for (int k = 0; k < width; k += line) __builtin_prefetch(p->contact + c * width + k);
        if (problem_block_of(p, c) < 0) continue;
        const double* block = problem_block(p, dim, c);
        for (int k = 0; k < block_width(dim); k += line) __builtin_prefetch(block + k);
    }
}

/// All vectors of a batch, one contact after the other; sums is [PARTS].
static ALWAYS_INLINE void sweep_scalar(packed_problem* packed, const int dim, int64_t batch,
                                       bool momentum, double beta, lane_sums* sums)
{
    real* p = values_of(packed, PACKED_IMPULSE) + batch * dim * PACKED_LANES;
    real* z = values_of(packed, PACKED_OLD_IMPULSE) + batch * dim * PACKED_LANES;
    _Alignas(64) real x[3 * PACKED_LANES], y[3 * PACKED_LANES], before[3 * PACKED_LANES];
    _Alignas(64) real wn[PACKED_LANES] = {0};
    const lane_manner hold_none = {.momentum = false};
    prefetch_scalar(packed, dim, batch + 1);
    for (int i = 0; i < dim * PACKED_LANES; i++) {
        before[i] = p[i];
        x[i] = y[i] = momentum ? p[i] + (real)beta * (p[i] - z[i]) : p[i];
        if (momentum) z[i] = p[i];
    }
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        if (packed->source[batch * PACKED_LANES + lane] < 0) continue;
        wn[lane] = update_alone(packed, batch, lane, momentum, beta, y + lane, x + lane);
    }
    for (int i = 0; i < dim * PACKED_LANES; i++) p[i] = x[i];
    for (int part = 0; part < PARTS; part++) {
        lanes nx[3], ny[3], nz[3];
        for (int i = 0; i < dim; i++) {
            const int at = i * PACKED_LANES + part * LANE_WIDTH;
            nx[i] = lanes_load(x + at), ny[i] = lanes_load(y + at), nz[i] = lanes_load(before + at);
        }
        const int lane = part * LANE_WIDTH;
        add_to_sums(packed, dim, batch, lane, hold_none, 0, lanes_load(wn + lane), nx, ny, nz,
                    sums + part);
    }
}

// ---- a block -----------------------------------------------------------------------------------

/// Extrapolate the velocities of the block's own rows.
static ALWAYS_INLINE void extrapolate_rows(packed_problem* packed, const int dim,
                                           const packed_block* block, double beta)
{
    const int stride = packed_stride(dim);
    real* x = values_of(packed, PACKED_ROW);
    real* z = values_of(packed, PACKED_OLD_ROW);
    for (int64_t k = block->row_first * stride; k < block->row_last * stride; k++) {
        const real now = x[k];
        x[k] = now + (real)beta * (now - z[k]);
        z[k] = now;
    }
}

/// Sum up what the batches of a block have added.
static double add_slots(const lane_sums sums[PACKED_SLOTS][PARTS], const sum_of which)
{
    _Alignas(64) real each[LANE_WIDTH];
    double all[PACKED_SUMMANDS];
    for (int slot = 0; slot < PACKED_SLOTS; slot++) {
        for (int part = 0; part < PARTS; part++) {
            double* out = all + slot * PACKED_LANES + part * LANE_WIDTH;
            lanes_store(each, sums[slot][part].of[which]);
            for (int i = 0; i < LANE_WIDTH; i++) out[i] = (double)each[i];
        }
    }
    packed_add_halves(all);
    return all[0];
}

/// Ask for the rows of a batch some batches ahead: one batch fills the machine's window, so their
/// misses would wait for each other.
enum { PREFETCH_BATCHES = 2 };

static ALWAYS_INLINE void prefetch_rows(const packed_problem* packed, const int dim, int64_t batch)
{
    if (batch >= packed->batch_count) return;
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES;
    const real* rows = values_of(packed, PACKED_ROW);
    for (int k = 0; k < 2 * PACKED_LANES; k++) {
        __builtin_prefetch(rows + (int64_t)who[k] * packed_stride(dim), 1);
    }
}

/// Sweep over a batch that is not one of the other laws.
static ALWAYS_INLINE void sweep_batch(packed_problem* packed, const int kind, const int dim,
                                      int64_t batch, const lane_manner manner, lane_sums* sums)
{
    for (int part = 0; part < PARTS; part++) {
        switch (kind) {
        case PACKED_ROLL: sweep_rolls(packed, dim, batch, part, manner, sums + part); break;
        case PACKED_SOLID: sweep_solids(packed, dim, batch, part, manner, sums + part); break;
        case PACKED_SOLID_BOND:
        case PACKED_SOLID_ROLL:
            sweep_compounds(packed, kind, dim, batch, part, manner, sums + part);
            break;
        default: sweep_balls(packed, kind, dim, batch, part, manner, sums + part); break;
        }
    }
}

static ALWAYS_INLINE void sweep_block(packed_problem* packed, const int dim, int64_t number,
                                      bool momentum, const packed_manner* manner, packed_sums* out)
{
    const packed_block* block = &packed->blocks[number];
    const double beta = momentum ? manner->beta : 0.0;
    const bool skip = momentum && manner->skip;
    const lane_manner in_lanes = {momentum, lanes_set(beta), lanes_set(manner->outlier)};
    int64_t skipped = 0;
    lane_sums sums[PACKED_SLOTS][PARTS] = {0};
    if (momentum) extrapolate_rows(packed, dim, block, beta);
    for (int64_t k = block->first; k < block->last; k++) {
        if (skip && packed->open[k] > 0) {
            skipped += packed->open[k];
            continue;
        }
        lane_sums* own = sums[(k - block->first) % PACKED_SLOTS];
        prefetch_rows(packed, dim, k + PREFETCH_BATCHES);
        switch (packed->batches[k].kind) {
        case PACKED_BALL: sweep_batch(packed, PACKED_BALL, dim, k, in_lanes, own); break;
        case PACKED_BOND: sweep_batch(packed, PACKED_BOND, dim, k, in_lanes, own); break;
        case PACKED_ROLL: sweep_batch(packed, PACKED_ROLL, dim, k, in_lanes, own); break;
        case PACKED_SOLID: sweep_batch(packed, PACKED_SOLID, dim, k, in_lanes, own); break;
        case PACKED_SOLID_BOND:
            sweep_batch(packed, PACKED_SOLID_BOND, dim, k, in_lanes, own);
            break;
        case PACKED_SOLID_ROLL:
            sweep_batch(packed, PACKED_SOLID_ROLL, dim, k, in_lanes, own);
            break;
        default: sweep_scalar(packed, dim, k, momentum, beta, own); break;
        }
        if (momentum && !skip) count_held(packed, k);
        if (!skip) packed->open[k] = momentum ? stays_open(packed, dim, k) : 0;
    }
    *out = (packed_sums){.change = add_slots(sums, SUM_CHANGE),
                         .step = add_slots(sums, SUM_STEP),
                         .turning = add_slots(sums, SUM_TURNING),
                         .impulse = add_slots(sums, SUM_IMPULSE),
                         .skipped = skipped};
}

/// Pick the instance for this dimension and for sweeps with or without momentum.
static void sweep_any(packed_problem* packed, int64_t block, const packed_manner* manner,
                      packed_sums* sums)
{
    if (packed->dim == 2) {
        if (manner->momentum) {
            sweep_block(packed, 2, block, true, manner, sums);
        } else {
            sweep_block(packed, 2, block, false, manner, sums);
        }
    } else if (manner->momentum) {
        sweep_block(packed, 3, block, true, manner, sums);
    } else {
        sweep_block(packed, 3, block, false, manner, sums);
    }
}

#endif

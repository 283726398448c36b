/// The packed sweeps on a card, by the kernels that the CPU has: a block of contacts is a block of
/// threads, a contact of a group a thread. Groups come one after the other with a barrier between,
/// blocks in waves (packed.h) with a launch for each. So every body and every impulse sees what it
/// sees on the CPU, and with sums in the one order that packed.h gives the bits are the same.
#include "card/phases.h"

CARD_HEADERS
#include "rigid/packed/apply.h"
#include "rigid/packed/card_jobs.h"
#include "rigid/packed/skip.h"
#include "rigid/packed/walls.h"
#if ON_CARD // what these call is linked elsewhere
#include "base/portable.c"
#include "law/compound.c"
#include "law/disks.c"
#include "law/rolling.c"
#include <float.h>
namespace law {
#include "law/coulomb_block.c"
}
bool coulomb_block(int dim, const double* S, const double* inverse, const double* n, double bias,
                   double mu, const double* free, const double* guess, double* p)
{
    return law::coulomb_block(dim, S, inverse, n, bias, mu, free, guess, p);
}
#endif
CARD_HEADERS_END

// ---- sums --------------------------------------------------------------------------------------

/// As packed_add_halves(), for `count` sums at once, by all threads of a block: partial sums are
/// [count][PACKED_SUMMANDS], and the first of each receives all.
#define ADD_HALVES(parts, count)                                                                   \
    for (int half = PACKED_SUMMANDS / 2; half > 0; half /= 2) {                                    \
        PHASE (t) {                                                                                \
            for (int i = 0; i < (count) && t < half; i++) {                                        \
                double* part = (parts) + i * PACKED_SUMMANDS;                                      \
                part[t] += part[half + t];                                                         \
            }                                                                                      \
        }                                                                                          \
    }

/// The sums of a sweep, the last of them contacts that were skipped.
enum { TOTALS = SUMS + 1 };

CARD_INLINE void write_sums(packed_sums* out, const double* parts)
{
    out->change = parts[SUM_CHANGE * PACKED_SUMMANDS];
    out->step = parts[SUM_STEP * PACKED_SUMMANDS];
    out->turning = parts[SUM_TURNING * PACKED_SUMMANDS];
    out->impulse = parts[SUM_IMPULSE * PACKED_SUMMANDS];
    out->skipped = (int64_t)parts[SUMS * PACKED_SUMMANDS];
}

// ---- a contact ---------------------------------------------------------------------------------

/// The batches of a block whose number, counted from its first one, has this thread's slot, begin
/// here among those from `first` on.
CARD_INLINE int64_t own_batch(int64_t block_first, int64_t first, int t)
{
    const int64_t slot = t / PACKED_LANES;
    return first + ((slot - (first - block_first)) & (PACKED_SLOTS - 1));
}

/// `balls`: there are no other kinds than BALL and BOND, and the code for them is left out.
CARD_INLINE void sweep_lane(packed_problem* packed, const int dim, const bool balls, int64_t batch,
                            int lane, const lane_manner manner, lane_sums* sums)
{
    const int kind = packed->batches[batch].kind;
    if (kind == PACKED_BALL) {
        sweep_balls(packed, PACKED_BALL, dim, batch, lane, manner, sums);
    } else if (kind == PACKED_BOND) {
        sweep_balls(packed, PACKED_BOND, dim, batch, lane, manner, sums);
    } else if (!balls && kind == PACKED_ROLL) {
        sweep_rolls(packed, dim, batch, lane, manner, sums);
    } else if (!balls && kind == PACKED_SOLID_BOND) {
        sweep_compounds(packed, PACKED_SOLID_BOND, dim, batch, lane, manner, sums);
    } else if (!balls && kind == PACKED_SOLID_ROLL) {
        sweep_compounds(packed, PACKED_SOLID_ROLL, dim, batch, lane, manner, sums);
    } else if (!balls) {
        sweep_solids(packed, dim, batch, lane, manner, sums);
    }
}

/// Extrapolate number k of the rows, as the block does that has it (kernel.h).
CARD_INLINE void extrapolate_number(const packed_problem* packed, int64_t k, double beta)
{
    real* x = values_of(packed, PACKED_ROW) + k;
    real* z = values_of(packed, PACKED_OLD_ROW) + k;
    const real now = *x;
    *x = now + (real)beta * (now - *z);
    *z = now;
}

/// What the contacts of a thread push the wall of their block by.
CARD_INLINE void add_pushes(const packed_problem* packed, const int dim, packed_array array,
                            const packed_block* block, int t, double* sum)
{
    const int lane = t % PACKED_LANES;
    for (int64_t k = own_batch(block->first, block->first, t); k < block->last; k += PACKED_SLOTS) {
        const double* n = packed->values[packed_array_of(packed->batches[k].kind)] +
                          packed_constants_at(packed, packed->batches[k].kind, dim, k) + lane;
        double push[3];
        push_of_lane(dim, n, packed->values[array] + k * dim * PACKED_LANES + lane, push);
        for (int i = 0; i < dim; i++) sum[i] += push[i];
    }
}

// ---- a block -----------------------------------------------------------------------------------

/// Sum up what the contacts of a block push its wall by.
CARD_INLINE void push_wall(const card_place here, const card_sweep_job* job, const int dim)
{
    const packed_problem* packed = &job->packed;
    const int64_t number = job->first + here.block;
    const packed_block* block = &packed->blocks[number];
    const bool before = job->before;
    SHARED(double, parts, 6 * PACKED_SUMMANDS);
    PHASE (t) {
        double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        add_pushes(packed, dim, PACKED_IMPULSE, block, t, sum);
        if (before) add_pushes(packed, dim, PACKED_OLD_IMPULSE, block, t, sum + 3);
        for (int i = 0; i < 6; i++) parts[i * PACKED_SUMMANDS + t] = sum[i];
    }
    ADD_HALVES(parts, 6)
    LAST_PHASE (t) {
        packed_push* push = &packed->pushes[number];
        if (t < 3) push->now[t] = parts[t * PACKED_SUMMANDS];
        if (t < 3 && before) push->before[t] = parts[(3 + t) * PACKED_SUMMANDS];
    }
}

CARD_INLINE void sweep_block(const card_place here, const card_sweep_job* job, const int dim,
                             const bool momentum, const bool balls)
{
    packed_problem* packed = (packed_problem*)&job->packed;
    const int64_t number = job->first + here.block;
    const packed_block* block = &packed->blocks[number];
    const double beta = momentum ? job->manner.beta : 0.0;
    const bool skip = momentum && job->manner.skip;
    const lane_manner manner = {momentum, lanes_set(beta), lanes_set(job->manner.outlier)};
    const int64_t first = block->first, last = block->last;
    const int32_t *group = job->groups.first, *of_block = job->groups.of_block + number;
    PER_THREAD(lane_sums, sums);
    PER_THREAD(int32_t, skipped);
    PHASE (t) {
        const int64_t end = block->row_last * packed_stride(dim);
        int64_t k = block->row_first * packed_stride(dim) + t;
        for (; momentum && k < end; k += here.threads) extrapolate_number(packed, k, beta);
        for (int i = 0; i < SUMS; i++) MINE(sums, t).of[i] = lanes_set(0.0);
        MINE(skipped, t) = 0;
    }
    for (int32_t g = of_block[0]; g < of_block[1]; g++) {
        PHASE (t) {
            const int lane = t % PACKED_LANES;
            for (int64_t k = own_batch(first, group[g], t); k < group[g + 1]; k += PACKED_SLOTS) {
                if (skip && packed->open[k] > 0) {
                    if (lane == 0) MINE(skipped, t) += packed->open[k];
                } else {
                    sweep_lane(packed, dim, balls, k, lane, manner, &MINE(sums, t));
                }
            }
        }
    }
    SHARED(double, parts, TOTALS* PACKED_SUMMANDS);
    PHASE (t) {
        for (int i = 0; i < SUMS; i++) {
            parts[i * PACKED_SUMMANDS + t] = (double)MINE(sums, t).of[i];
        }
        parts[SUMS * PACKED_SUMMANDS + t] = (double)MINE(skipped, t);
        for (int64_t k = first + t; k < last && !skip; k += here.threads) {
            if (momentum) count_held(packed, k);
            packed->open[k] = momentum ? stays_open(packed, dim, k) : 0;
        }
    }
    ADD_HALVES(parts, TOTALS)
    LAST_PHASE (t) {
        if (t == 0) write_sums(&packed->sums[number], parts);
    }
}

/// Contacts of the tail share bodies: one thread takes them one by one.
CARD_INLINE void sweep_tail(const card_place here, const card_sweep_job* job, const int dim)
{
    packed_problem* packed = (packed_problem*)&job->packed;
    const packed_block* tail = &packed->blocks[packed->block_count];
    const bool momentum = job->manner.momentum, skip = momentum && job->manner.skip;
    const double beta = momentum ? job->manner.beta : 0.0;
    const lane_manner manner = {momentum, lanes_set(beta), lanes_set(job->manner.outlier)};
    SHARED(double, parts, TOTALS* PACKED_SUMMANDS);
    PHASE (t) {
        const int64_t end = tail->row_last * packed_stride(dim);
        int64_t k = tail->row_first * packed_stride(dim) + t;
        for (; momentum && k < end; k += here.threads) extrapolate_number(packed, k, beta);
        for (int i = 0; i < TOTALS; i++) parts[i * PACKED_SUMMANDS + t] = 0.0;
    }
    PHASE (t) {
        for (int64_t k = tail->first; k < tail->last && t == 0; k++) {
            const int64_t slot = (k - tail->first) % PACKED_SLOTS * PACKED_LANES;
            if (skip && packed->open[k] > 0) {
                parts[SUMS * PACKED_SUMMANDS] += packed->open[k];
                continue;
            }
            for (int lane = 0; lane < PACKED_LANES; lane++) {
                double* own = parts + slot + lane;
                lane_sums sums;
                for (int i = 0; i < SUMS; i++) sums.of[i] = (real)own[i * PACKED_SUMMANDS];
                sweep_lane(packed, dim, false, k, lane, manner, &sums);
                for (int i = 0; i < SUMS; i++) own[i * PACKED_SUMMANDS] = (double)sums.of[i];
            }
            if (momentum && !skip) count_held(packed, k);
            if (!skip) packed->open[k] = momentum ? stays_open(packed, dim, k) : 0;
        }
    }
    ADD_HALVES(parts, TOTALS)
    LAST_PHASE (t) {
        if (t == 0) write_sums(&packed->sums[packed->block_count], parts);
    }
}

CARD_INLINE void apply_block(const card_place here, const card_sweep_job* job, const int dim)
{
    packed_problem* packed = (packed_problem*)&job->packed;
    const int64_t number = job->first + here.block, first = packed->blocks[number].first;
    const int32_t *group = job->groups.first, *of_block = job->groups.of_block + number;
    for (int32_t g = of_block[0]; g < of_block[1]; g++) {
        PHASE (t) {
            for (int64_t k = own_batch(first, group[g], t); k < group[g + 1]; k += PACKED_SLOTS) {
                apply_part(packed, dim, k, t % PACKED_LANES);
            }
        }
    }
}

CARD_INLINE void apply_tail(const card_place here, const card_sweep_job* job, const int dim)
{
    packed_problem* packed = (packed_problem*)&job->packed;
    const packed_block* tail = &packed->blocks[packed->block_count];
    LAST_PHASE (t) {
        for (int64_t k = tail->first; k < tail->last && t == 0; k++) {
            for (int lane = 0; lane < PACKED_LANES; lane++) apply_part(packed, dim, k, lane);
        }
    }
}

// ---- kernels -----------------------------------------------------------------------------------

#define SWEEP_KERNEL(name, dim, momentum, balls)                                                   \
    CARD_KERNEL(name, card_sweep_job, CARD_SWEEP_THREADS)                                          \
    {                                                                                              \
        sweep_block(here, &job, dim, momentum, balls);                                             \
    }
SWEEP_KERNEL(sweep_balls_2d, 2, false, true)
SWEEP_KERNEL(sweep_balls_3d, 3, false, true)
SWEEP_KERNEL(sweep_balls_momentum_2d, 2, true, true)
SWEEP_KERNEL(sweep_balls_momentum_3d, 3, true, true)
SWEEP_KERNEL(sweep_all_2d, 2, false, false)
SWEEP_KERNEL(sweep_all_3d, 3, false, false)
SWEEP_KERNEL(sweep_all_momentum_2d, 2, true, false)
SWEEP_KERNEL(sweep_all_momentum_3d, 3, true, false)

#define KERNEL(name, work, dim)                                                                    \
    CARD_KERNEL(name, card_sweep_job, CARD_SWEEP_THREADS)                                          \
    {                                                                                              \
        work(here, &job, dim);                                                                     \
    }
KERNEL(sweep_tail_2d, sweep_tail, 2)
KERNEL(sweep_tail_3d, sweep_tail, 3)
KERNEL(apply_2d, apply_block, 2)
KERNEL(apply_3d, apply_block, 3)
KERNEL(apply_tail_2d, apply_tail, 2)
KERNEL(apply_tail_3d, apply_tail, 3)
KERNEL(push_wall_2d, push_wall, 2)
KERNEL(push_wall_3d, push_wall, 3)

/// One block of threads.
CARD_KERNEL(add_sums, card_total_job, CARD_SWEEP_THREADS)
{
    SHARED(double, parts, TOTALS* PACKED_SUMMANDS);
    PHASE (t) {
        double sum[TOTALS] = {0.0, 0.0, 0.0, 0.0, 0.0};
        for (int64_t k = t; k <= job.packed.block_count; k += PACKED_SUMMANDS) {
            const packed_sums* of = &job.packed.sums[k];
            sum[SUM_CHANGE] += of->change;
            sum[SUM_STEP] += of->step;
            sum[SUM_TURNING] += of->turning;
            sum[SUM_IMPULSE] += of->impulse;
            sum[SUMS] += (double)of->skipped;
        }
        for (int i = 0; i < TOTALS; i++) parts[i * PACKED_SUMMANDS + t] = sum[i];
    }
    ADD_HALVES(parts, TOTALS)
    LAST_PHASE (t) {
        if (t == 0) write_sums(job.total, parts);
    }
}

/// One block of threads; walls.c does the same.
CARD_KERNEL(move_walls, card_walls_job, CARD_SWEEP_THREADS)
{
    const packed_problem* packed = &job.packed;
    const int dim = packed->dim;
    packed_push* walls = packed->wall_velocity;
    PHASE (t) {
        for (int64_t i = t; i < 6 * job.walls; i += here.threads) {
            const int64_t wall = i / 6, axis = i % 3;
            const bool now = i % 6 < 3;
            double sum = 0.0;
            for (int64_t k = packed->inner; k < packed->block_count && (now || job.before); k++) {
                const packed_push* push = &packed->pushes[k];
                if (packed->blocks[k].wall == wall)
                    sum += now ? push->now[axis] : push->before[axis];
            }
            *(now ? &walls[wall].now[axis] : &walls[wall].before[axis]) = sum;
        }
    }
    PHASE (t) {
        for (int64_t wall = t; wall < job.walls; wall += here.threads) {
            move_wall(dim, job.free + wall * dim, job.mobility + wall * dim * dim, &walls[wall]);
        }
    }
    LAST_PHASE (t) {
        for (int64_t k = packed->inner + t; k < packed->block_count; k += here.threads) {
            const packed_block* block = &packed->blocks[k];
            const int64_t row = packed_wall_row(block) * packed_stride(dim);
            for (int i = 0; i < dim; i++) {
                packed->values[PACKED_ROW][row + i] = walls[block->wall].now[i];
                if (job.before)
                    packed->values[PACKED_OLD_ROW][row + i] = walls[block->wall].before[i];
            }
        }
    }
}

CARD_KERNEL(shift_impulses, card_shift_job, CARD_MOST_THREADS)
{
    LAST_PHASE (t) {
        const int64_t i = card_item(here, t);
        if (i < job.count) {
            const double change = job.fresh[i] - job.now[i];
            job.now[i] = change;
            job.old[i] += change;
        }
    }
}

/// The packed sweeps on a card, by the kernels that the CPU has: a block of contacts is a block of
/// threads, a contact of a group a thread. Groups come one after the other with a barrier between,
/// and each block waits for those that touch the same bodies before it. So every body and every
/// impulse sees what it sees on the CPU, and with sums in the one order that packed.h gives the
/// bits are the same.
///
/// Here are balls, and what every problem needs; card_laws.h sweeps over contacts of any law. They
/// are apart because a driver compiles a source when it is first used, which takes it some time for
/// all laws.
#include "card/phases.h"

CARD_HEADERS
#include "rigid/packed/apply.h"
#include "rigid/packed/card_jobs.h"
#include "rigid/packed/walls.h"
CARD_HEADERS_END

/// There are no other kinds than BALL and BOND.
CARD_INLINE void sweep_lane(packed_problem* packed, const int dim, int64_t batch, int lane,
                            const lane_manner manner, lane_sums* sums)
{
    if (packed->batches[batch].kind == PACKED_BALL) {
        sweep_balls(packed, PACKED_BALL, dim, batch, lane, manner, sums);
    } else {
        sweep_balls(packed, PACKED_BOND, dim, batch, lane, manner, sums);
    }
}

#include "rigid/packed/card_block.h"

// ---- walls -------------------------------------------------------------------------------------

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

// ---- impulses ----------------------------------------------------------------------------------

CARD_INLINE void apply_block(const card_place here, const card_sweep_job* job, const int dim)
{
    packed_problem* packed = (packed_problem*)&job->packed;
    const int64_t number = take_block(here, job), first = packed->blocks[number].first;
    const int32_t *group = job->groups.first, *of_block = job->groups.of_block + number;
    await_others(here, job, number);
    for (int32_t g = of_block[0]; g < of_block[1]; g++) {
        PHASE (t) {
            for (int64_t k = own_batch(first, group[g], t); k < group[g + 1]; k += PACKED_SLOTS) {
                apply_part(packed, dim, k, t % PACKED_LANES);
            }
        }
    }
    LAST_PHASE (t) {
        tell_others(job, number, t);
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

#define SWEEP_KERNEL(name, dim, momentum)                                                          \
    CARD_KERNEL(name, card_sweep_job, CARD_SWEEP_THREADS)                                          \
    {                                                                                              \
        sweep_block(here, &job, dim, momentum);                                                    \
    }
SWEEP_KERNEL(sweep_balls_2d, 2, false)
SWEEP_KERNEL(sweep_balls_3d, 3, false)
SWEEP_KERNEL(sweep_balls_momentum_2d, 2, true)
SWEEP_KERNEL(sweep_balls_momentum_3d, 3, true)

#define KERNEL(name, work, dim)                                                                    \
    CARD_KERNEL(name, card_sweep_job, CARD_SWEEP_THREADS)                                          \
    {                                                                                              \
        work(here, &job, dim);                                                                     \
    }
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

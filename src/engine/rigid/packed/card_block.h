/// A block of contacts swept by a block of threads, whatever the laws of its contacts are: a
/// contact of a group a thread. The source of kernels that includes this has defined what a thread
/// does with its contact:
///
///     sweep_lane(packed_problem*, int dim, int64_t batch, int lane, lane_manner, lane_sums*)
#ifndef TALUS_RIGID_PACKED_CARD_BLOCK_H
#define TALUS_RIGID_PACKED_CARD_BLOCK_H

#include "card/phases.h"

CARD_HEADERS
#include "rigid/packed/card_jobs.h"
#include "rigid/packed/skip.h"
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

/// Extrapolate the block's own rows (kernel.h), thread t of `threads`. Each reads several numbers
/// before it writes the first: otherwise it would wait for memory at each of them.
CARD_INLINE void extrapolate_rows(const packed_problem* packed, const int dim,
                                  const packed_block* block, double beta, int t, int threads)
{
    enum { AT_ONCE = 8 };
    real* x = values_of(packed, PACKED_ROW);
    real* z = values_of(packed, PACKED_OLD_ROW);
    const int64_t end = block->row_last * packed_stride(dim);
    for (int64_t k = block->row_first * packed_stride(dim) + t; k < end; k += AT_ONCE * threads) {
        real now[AT_ONCE], old[AT_ONCE];
        UNROLLED for (int i = 0; i < AT_ONCE; i++)
        {
            const int64_t at = k + i * threads;
            now[i] = at < end ? x[at] : (real)0.0;
            old[i] = at < end ? z[at] : (real)0.0;
        }
        UNROLLED for (int i = 0; i < AT_ONCE; i++)
        {
            const int64_t at = k + i * threads;
            if (at >= end) continue;
            x[at] = now[i] + (real)beta * (now[i] - old[i]);
            z[at] = now[i];
        }
    }
}

// ---- a block -----------------------------------------------------------------------------------

/// Ask for so many bytes from an address on. All that a block reads is asked for at once: its
/// groups come one after the other, and each would wait for memory anew.
CARD_INLINE void ask_for(const void* from, int64_t bytes)
{
    enum { LINE = 128 };
    for (int64_t at = 0; at < bytes; at += LINE) card_ask_for((const char*)from + at);
}

/// Ask for all that the threads of a block will read of a batch.
CARD_INLINE void ask_for_batch(const packed_problem* packed, const int dim, bool momentum,
                               int64_t batch)
{
    const int64_t numbers = dim * PACKED_LANES;
    const int kind = packed->batches[batch].kind;
    ask_for(packed->who + 2 * batch * PACKED_LANES, 2 * PACKED_LANES * (int64_t)sizeof(int32_t));
    ask_for(values_of(packed, PACKED_IMPULSE) + batch * numbers, numbers * (int64_t)sizeof(real));
    if (momentum) {
        ask_for(values_of(packed, PACKED_OLD_IMPULSE) + batch * numbers,
                numbers * (int64_t)sizeof(real));
    }
    ask_for(constants_of(packed, kind, dim, batch),
            packed_fields(kind, dim) * PACKED_LANES * (int64_t)sizeof(real));
}

/// The next block of contacts in the order of a sweep.
CARD_INLINE int64_t take_block(const card_place here, const card_sweep_job* job)
{
    SHARED(int64_t, number, 1);
    PHASE (t) {
        if (t == 0) number[0] = job->first + (card_add(job->order.ticket, 1) - job->order.begun);
    }
    return number[0];
}

/// Wait until all blocks that touch the bodies of this one before it have had this pass.
CARD_INLINE void await_others(const card_place here, const card_sweep_job* job, int64_t number)
{
    const packed_block* block = &job->packed.blocks[number];
    const int32_t* waits = job->packed.waits + block->wait_first;
    PHASE (t) {
        for (int32_t k = t; k < block->wait_count; k += here.threads) {
            card_await(here, &job->packed.done[waits[k]], job->order.pass);
        }
    }
}

/// Tell the others that this block has had this pass; after a phase's end.
CARD_INLINE void tell_others(const card_sweep_job* job, int64_t number, int t)
{
    if (t == 0) card_raise(&job->packed.done[number], job->order.pass);
}

CARD_INLINE void sweep_block(const card_place here, const card_sweep_job* job, const int dim,
                             const bool momentum)
{
    packed_problem* packed = (packed_problem*)&job->packed;
    const int64_t number = take_block(here, job);
    const packed_block* block = &packed->blocks[number];
    const double beta = momentum ? job->manner.beta : 0.0;
    const bool skip = momentum && job->manner.skip;
    const lane_manner manner = {momentum, lanes_set(beta), lanes_set(job->manner.outlier)};
    const int64_t first = block->first, last = block->last;
    const int32_t *group = job->groups.first, *of_block = job->groups.of_block + number;
    PER_THREAD(lane_sums, sums);
    PER_THREAD(int32_t, skipped);
    PHASE (t) {
        for (int64_t k = first + t; k < last; k += here.threads) {
            ask_for_batch(packed, dim, momentum, k);
        }
    }
    await_others(here, job, number);
    PHASE (t) {
        if (momentum) extrapolate_rows(packed, dim, block, beta, t, here.threads);
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
                    sweep_lane(packed, dim, k, lane, manner, &MINE(sums, t));
                }
            }
        }
    }
    SHARED(double, parts, TOTALS* PACKED_SUMMANDS);
    PHASE (t) {
        tell_others(job, number, t);
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

#endif

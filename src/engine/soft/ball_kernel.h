/// Forces between balls, block by block of the list, for the vector width that the including file
/// is compiled with: eight pairs at once (ball_part.h), sums in the order of the pairs.
///
/// Flops and bytes of a pair (3D, linear, Cundall): about 230 flops, 2 square roots, 2 divisions;
/// reads two rows of 96 bytes, mostly in the first cache, and 40 bytes of its own, writes 24 of
/// these, adds to two sums of 64 bytes.
#ifndef TALUS_SOFT_BALL_KERNEL_H
#define TALUS_SOFT_BALL_KERNEL_H

#include "soft/ball_part.h"

#include <string.h>

/// Is this a build for sanitizers?
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SOFT_SANITIZED 1
#elif defined __has_feature
#define SOFT_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SOFT_SANITIZED 0
#endif

/// Add the forces of a part of a batch to the sums of its bodies.
static ALWAYS_INLINE void add_forces(const ball_kind kind, const law_in* in, const law_out* out,
                                     const lanes arm[2], const int32_t* where, double* sums)
{
    const lanes zero = lanes_set(0.0);
    lanes force[3], torque[2][3];
    forces_of_part(kind, in, out, arm, force, torque);
    const lanes on_a[8] = {-force[0],    -force[1],    -force[2], torque[0][0],
                           torque[0][1], torque[0][2], out->loss, out->power};
    const lanes on_b[8] = {force[0],     force[1],     force[2], torque[1][0],
                           torque[1][1], torque[1][2], zero,     zero};
    lanes_add_rows(sums, where, on_a, where + SOFT_LANES, on_b);
}

/// Write a part of a batch for the record.
static ALWAYS_INLINE void record_part(const ball_kind kind, const law_in* in, const law_out* out,
                                      unsigned active, soft_recorded* to)
{
    double field[11][SOFT_LANES] __attribute__((aligned(64))) = {{0.0}};
    for (int k = 0; k < kind.dim; k++) {
        lanes_store(field[k], out->force[k]);
        lanes_store(field[6 + k], in->n[k]);
    }
    for (int k = 0; k < spin_width(kind.dim) && kind.compound; k++) {
        lanes_store(field[3 + k], out->torque[k]);
    }
    lanes_store(field[9], -in->overlap);
    lanes_store(field[10], out->elastic);
    for (int lane = 0; lane < LANE_WIDTH; lane++) {
        soft_recorded* r = &to[lane];
        *r = (soft_recorded){.active = active >> lane & 1};
        if (!r->active) continue;
        for (int k = 0; k < 3; k++) {
            r->force[k] = field[k][lane];
            r->torque[k] = field[3 + k][lane];
            r->normal[k] = field[6 + k][lane];
        }
        r->gap = field[9][lane];
        r->elastic = field[10][lane];
    }
}

/// What is added up of a block beside the forces.
typedef struct ball_totals {
    lanes deepest[SOFT_LANES / LANE_WIDTH];
    int64_t active;
} ball_totals;

/// Replace the bits of a part in a byte.
static ALWAYS_INLINE void set_bits(uint8_t* byte, int part, unsigned bits)
{
    const unsigned all = (1u << LANE_WIDTH) - 1;
    *byte = (uint8_t)((*byte & ~(all << part)) | bits << part);
}

/// Where the sums of a part of a batch begin, if those of the block do so at `sums`.
static ALWAYS_INLINE void sums_of_part(const soft_pairs* s, int64_t batch, int part, int64_t sums,
                                       int32_t where[2 * SOFT_LANES])
{
    const int32_t* from = s->where + 16 * batch + part;
    const int32_t own = (int32_t)sums;
    for (int k = 0; k < LANE_WIDTH; k++) {
        const int32_t b = from[SOFT_LANES + k];
        where[k] = from[k] + own;
        where[SOFT_LANES + k] = b < SOFT_BLOCK_SUMS ? b + own : b;
    }
}

/// Forces of a part of a batch of a block. With a record nothing changes but the record.
static ALWAYS_INLINE void work_on_part(const ball_kind kind, const ball_task* task,
                                       const soft_block* block, int64_t batch, int part,
                                       ball_totals* totals)
{
    soft_pairs* s = task->pairs;
    const int32_t* law = task->uniform ? NULL : s->law + 8 * batch + part;
    const unsigned all = (1u << LANE_WIDTH) - 1, live = (unsigned)s->live[batch] >> part & all;
    law_in in; // what the plain law does not read stays as it is: zeros cost a tenth of the rest
    law_history history;
    law_out out;
    lanes arm[2], turn[3];
    if (kind.compound) in = (law_in){0}, history = (law_history){0}, out = (law_out){0};
    if (!meet_balls(kind, task, s->who + 16 * batch + part, s->images[batch], live, &in, arm,
                    turn)) {
        return; // there is no history either
    }
    in.touched = mask_of_bits(live);
    in.root_mass = lanes_load(s->root_mass + 8 * batch + part);
    const int width = spin_width(kind.dim);
    const int64_t at = 8 * batch * width + part;
    for (int k = 0; k < width; k++) history.slip[k] = lanes_load(s->slip + at + 8 * k);
    if (kind.compound) {
        for (int k = 0; k < width; k++) history.roll[k] = lanes_load(s->roll + at + 8 * k);
        history.bonded = mask_of_bits((unsigned)s->bonded[batch] >> part);
        history.slid = mask_of_bits((unsigned)s->slides[batch] >> part);
    }
    answer_balls(kind, task, law, turn, &in, &history, &out);
    const unsigned active = mask_bits(out.active);
    if (task->record) {
        record_part(kind, &in, &out, active, task->record + 8 * (batch - block->batch) + part);
        return;
    }
    for (int k = 0; k < width; k++) lanes_store(s->slip + at + 8 * k, history.slip[k]);
    for (int k = 0; k < width && kind.compound; k++) {
        lanes_store(s->roll + at + 8 * k, history.roll[k]);
    }
    set_bits(&s->slides[batch], part, mask_bits(out.sliding));
    set_bits(&s->live[batch], part, active);
    if (kind.compound) set_bits(&s->bonded[batch], part, mask_bits(history.bonded));
    // Pairs that do not touch add zeros, which costs less than asking which they are.
    int32_t where[2 * SOFT_LANES];
    sums_of_part(s, batch, part, block->sums, where);
    add_forces(kind, &in, &out, arm, where, s->sum);
    lanes* deepest = &totals->deepest[part / LANE_WIDTH];
    *deepest = lanes_pick(in.touching, lanes_larger(in.overlap, *deepest), *deepest);
    totals->active += __builtin_popcount(active);
}

/// Numbers that lie one after the other, and how many of them are asked for with each batch.
typedef struct ball_stretch {
    const double *next, *end;
    int64_t part;
} ball_stretch;

static ALWAYS_INLINE ball_stretch stretch_of(const double* numbers, int width,
                                             const soft_block* block, int64_t batches)
{
    const int64_t count = (block->end - block->first) * width;
    return (ball_stretch){.next = numbers + block->first * width,
                          .end = numbers + block->end * width,
                          .part = (count / batches + 8) / 8 * 8}; // whole lines
}

/// As long as there are any: as many each time, so that the loop is foreseen.
static ALWAYS_INLINE void prefetch_stretch(ball_stretch* s)
{
    if (s->next >= s->end) return;
    for (int64_t k = 0; k < s->part; k += 8) __builtin_prefetch(s->next + k, 0, 2);
    s->next += s->part;
}

/// What the memory is told while a block is worked on: the block that is next, a part of it with
/// every batch, so that it is in the second cache when its turn comes.
typedef struct ball_ahead {
    ball_stretch rows, own, listed;
    int64_t halo, halo_end, halos;
} ball_ahead;

static ALWAYS_INLINE ball_ahead look_ahead(const ball_kind kind, const ball_task* task,
                                           int64_t block)
{
    const soft_pairs* s = task->pairs;
    const soft_bodies* bodies = task->bodies;
    ball_ahead out = {.halo = 0};
    if (task->ahead == 0 || block + task->ahead >= s->block_count) return out;
    const soft_block* next = &s->block[block + task->ahead];
    const int64_t batches = s->block[block].batch_end - s->block[block].batch + 1;
    out.rows = stretch_of(bodies->row, soft_row(kind.dim, kind.geometric), next, batches);
    if (task->own > 0) {
        out.own = stretch_of(bodies->own, task->own, next, batches);
        out.listed = stretch_of(bodies->listed, kind.dim, next, batches);
    }
    out.halo = next->halo;
    out.halo_end = next->halo_end;
    out.halos = (next->halo_end - next->halo) / batches + 1;
    return out;
}

/// Batches so many before which their numbers are asked for.
enum { BATCHES_AHEAD = 32 };

/// A function of its own: within the kernel it would cost registers.
static __attribute__((noinline)) void tell_ahead(const ball_task* task, int64_t batch,
                                                 ball_ahead* ahead)
{
    const soft_pairs* s = task->pairs;
    const int width = spin_width(s->dim), length = s->row;
    prefetch_stretch(&ahead->rows);
    prefetch_stretch(&ahead->own);
    prefetch_stretch(&ahead->listed);
    for (int64_t k = 0; k < ahead->halos && ahead->halo < ahead->halo_end; k++, ahead->halo++) {
        const double* row = task->bodies->row + (int64_t)s->halo[ahead->halo] * length;
        for (int at = 0; at < length; at += 8) __builtin_prefetch(row + at, 0, 2);
        __builtin_prefetch(soft_pairs_halo_sum(s, ahead->halo), 0, 2);
    }
    batch += BATCHES_AHEAD;
    __builtin_prefetch(s->who + 16 * batch, 0, 2);
    __builtin_prefetch(s->where + 16 * batch, 0, 2);
    __builtin_prefetch(s->root_mass + 8 * batch, 0, 2);
    for (int k = 0; k < width; k++) __builtin_prefetch(s->slip + 8 * (batch * width + k), 0, 2);
}

/// The sums of a block, its own and its halo, begin at zero.
static ALWAYS_INLINE void clear_sums(soft_pairs* s, const soft_block* b)
{
    memset(s->sum + b->sums, 0, sizeof(double) * SOFT_SUM * (size_t)(b->end - b->first));
    memset(soft_pairs_halo_sum(s, b->halo), 0,
           sizeof(double) * SOFT_SUM * (size_t)(b->halo_end - b->halo));
}

static ALWAYS_INLINE void work_on_block(const ball_kind kind, const ball_task* task, int64_t block)
{
    soft_pairs* s = task->pairs;
    soft_block* b = &s->block[block];
    ball_totals totals = {.active = 0};
    for (int k = 0; k < SOFT_LANES / LANE_WIDTH; k++) totals.deepest[k] = lanes_set(0.0);
    if (!task->record) clear_sums(s, b);
    ball_ahead ahead = look_ahead(kind, task, block);
    for (int64_t batch = b->batch; batch < b->batch_end; batch++) {
        tell_ahead(task, batch, &ahead);
        for (int part = 0; part < SOFT_LANES; part += LANE_WIDTH) {
            work_on_part(kind, task, b, batch, part, &totals);
        }
    }
    if (task->record) return;
    b->active = totals.active;
    b->overlap_max = 0.0;
    double deepest[SOFT_LANES] __attribute__((aligned(64)));
    for (int k = 0; k < SOFT_LANES / LANE_WIDTH; k++) {
        lanes_store(deepest + k * LANE_WIDTH, totals.deepest[k]);
    }
    for (int lane = 0; lane < SOFT_LANES; lane++) {
        b->overlap_max = deepest[lane] > b->overlap_max ? deepest[lane] : b->overlap_max;
    }
}

/// The plain linear law is compiled for each of its kinds; others decide as they go, and so do all
/// in builds for sanitizers, which take long to compile.
#define WORK(dim, hertz, total, compound, geometric)                                               \
    work_on_block((ball_kind){dim, hertz, total, compound, geometric}, task, block)

static ALWAYS_INLINE void work_on_plain_block(const int dim, const ball_task* task, int64_t block)
{
    if (task->kind.total) {
        task->geometric ? WORK(dim, false, true, false, true)
                        : WORK(dim, false, true, false, false);
    } else {
        task->geometric ? WORK(dim, false, false, false, true)
                        : WORK(dim, false, false, false, false);
    }
}

static ALWAYS_INLINE void work_on_any_block(const int dim, const ball_task* task, int64_t block)
{
    const soft_kind* kind = &task->kind;
    WORK(dim, kind->law == TALUS_SOFT_HERTZ, kind->total, kind->compound, task->geometric);
}

static void balls_of_block(const ball_task* task, int64_t block)
{
    const soft_kind* kind = &task->kind;
    const bool plain = !SOFT_SANITIZED && !kind->compound && kind->law != TALUS_SOFT_HERTZ;
    if (plain && kind->dim == 2) {
        work_on_plain_block(2, task, block);
    } else if (plain) {
        work_on_plain_block(3, task, block);
    } else if (kind->dim == 2) {
        work_on_any_block(2, task, block);
    } else {
        work_on_any_block(3, task, block);
    }
}

#undef WORK

#endif

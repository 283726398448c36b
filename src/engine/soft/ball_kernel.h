/// Forces between balls, eight pairs at once, for the vector width that the including file is
/// compiled with: geometry from the packed rows, the law (law_kernel.h), sums in the order of the
/// pairs.
///
/// Flops and bytes of a pair (3D, linear, Cundall): about 230 flops, 2 square roots, 2 divisions;
/// reads two rows of 96 bytes, mostly in the first cache, and 40 bytes of its own, writes 24 of
/// these, adds to two sums of 64 bytes.
#ifndef TALUS_SOFT_BALL_KERNEL_H
#define TALUS_SOFT_BALL_KERNEL_H

#include "soft/kernels.h"
#include "soft/law_kernel.h"

#include <string.h>

/// Is this a build for sanitizers?
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SOFT_SANITIZED 1
#elif defined __has_feature
#define SOFT_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SOFT_SANITIZED 0
#endif

/// The bodies of some pairs.
typedef struct ball_lanes {
    lanes x[3], v[3], spin[3], radius;
    lanes moved[3], turned[3];
} ball_lanes;

static ALWAYS_INLINE void load_ball(const int dim, const bool moving, const soft_bodies* b,
                                    const int32_t* who, ball_lanes* o)
{
    lanes t[4];
    lanes_load_rows(b->row, 1, 0, who, t);
    o->x[0] = t[0], o->x[1] = t[1];
    if (dim == 2) {
        o->radius = t[2];
        lanes_load_rows(b->row, 1, 4, who, t);
        o->v[0] = t[0], o->v[1] = t[1], o->spin[0] = t[2];
    } else {
        o->x[2] = t[2], o->radius = t[3];
        lanes_load_rows(b->row, 1, 4, who, t);
        o->v[0] = t[0], o->v[1] = t[1], o->v[2] = t[2];
        lanes_load_rows(b->row, 1, 8, who, t);
        o->spin[0] = t[0], o->spin[1] = t[1], o->spin[2] = t[2];
    }
    if (!moving) return;
    const int at = soft_row_motion(dim);
    lanes_load_rows(b->row, 1, at, who, t);
    o->moved[0] = t[0], o->moved[1] = t[1];
    if (dim == 2) {
        o->turned[0] = t[2];
    } else {
        o->moved[2] = t[2];
        lanes_load_rows(b->row, 1, at + 4, who, t);
        o->turned[0] = t[0], o->turned[1] = t[1], o->turned[2] = t[2];
    }
}

static ALWAYS_INLINE void lanes_cross(lanes out[3], const lanes a[3], const lanes b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// out = b - a - (arm_a turn_a + arm_b turn_b) x n: how the surfaces move against each other at the
/// contact when the centres move by a and b and the balls turn.
static ALWAYS_INLINE void at_contact(const int dim, const lanes* a, const lanes* b, lanes arm_a,
                                     lanes arm_b, const lanes* turn_a, const lanes* turn_b,
                                     const lanes* n, lanes* out)
{
    lanes turn[3], sweep[3];
    for (int k = 0; k < spin_width(dim); k++) turn[k] = arm_a * turn_a[k] + arm_b * turn_b[k];
    if (dim == 2) {
        sweep[0] = -(turn[0] * n[1]);
        sweep[1] = turn[0] * n[0];
    } else {
        lanes_cross(sweep, turn, n);
    }
    for (int k = 0; k < dim; k++) out[k] = b[k] - a[k] - sweep[k];
}

/// 1/|last| and |last| of last = d - step, from those of d: series in e = (|last|/|d|)^2 - 1, which
/// is small in any step that follows a contact; off by e^5.
static ALWAYS_INLINE void last_length(const int dim, const lanes* d, const lanes* step,
                                      lanes distance, lanes inverse, lanes* length, lanes* one_over)
{
    const lanes one = lanes_set(1.0), two = lanes_set(2.0);
    const lanes change = soft_dot(dim, step, step) - two * soft_dot(dim, d, step);
    const lanes e = change * (inverse * inverse);
    *one_over =
        inverse *
        (one - e * (lanes_set(0.5) - e * (lanes_set(0.375) -
                                          e * (lanes_set(0.3125) - e * lanes_set(35.0 / 128.0)))));
    *length =
        distance *
        (one + e * (lanes_set(0.5) -
                    e * (lanes_set(0.125) - e * (lanes_set(0.0625) - e * lanes_set(5.0 / 128.0)))));
}

/// Centres apart: d = x_b - x_a.
typedef struct ball_gap {
    lanes d[3], distance, inverse;
} ball_gap;

/// The normal at the last evaluation and, by increments of positions and angles, how the surfaces
/// have moved since: with the middle of both normals and overlaps, right to second order.
static ALWAYS_INLINE void geometric_motion(const int dim, const ball_lanes* a, const ball_lanes* b,
                                           const ball_gap* gap, law_in* in)
{
    lanes step[3], middle[3], length, one_over;
    const lanes half = lanes_set(0.5);
    for (int k = 0; k < dim; k++) step[k] = b->moved[k] - a->moved[k];
    last_length(dim, gap->d, step, gap->distance, gap->inverse, &length, &one_over);
    for (int k = 0; k < dim; k++) {
        in->last_n[k] = (gap->d[k] - step[k]) * one_over;
        middle[k] = in->last_n[k] + in->n[k];
    }
    const lanes unit = soft_middle(dim, in->n, in->last_n);
    for (int k = 0; k < dim; k++) middle[k] = middle[k] * unit;
    const lanes was = a->radius + b->radius - length;
    const lanes quarter = lanes_set(0.25) * (in->overlap + was);
    at_contact(dim, a->moved, b->moved, a->radius - quarter, b->radius - quarter, a->turned,
               b->turned, middle, in->moved);
    if (dim == 3) {
        in->twist = half * (soft_dot(3, a->turned, in->n) + soft_dot(3, b->turned, in->n));
    }
}

/// The same by velocity times step. In 3D the turn of the pair since then, of its line of centres
/// and about it, goes to `turn`: elongations are turned before the law sees them.
static ALWAYS_INLINE void cundall_motion(const int dim, const ball_lanes* a, const ball_lanes* b,
                                         const ball_gap* gap, lanes h, law_in* in, lanes turn[3])
{
    for (int k = 0; k < dim; k++) in->moved[k] = in->velocity[k] * h, in->last_n[k] = in->n[k];
    if (dim == 2) return; // the slip is a number along the tangent, wherever that points
    lanes apart[3], about;
    for (int k = 0; k < 3; k++) apart[k] = b->v[k] - a->v[k];
    lanes_cross(turn, in->n, apart);
    about = lanes_set(0.0);
    for (int k = 0; k < 3; k++) about = about + (a->spin[k] + b->spin[k]) * in->n[k];
    const lanes across = gap->inverse * h, along = lanes_set(0.5) * about * h;
    for (int k = 0; k < 3; k++) turn[k] = across * turn[k] + along * in->n[k];
}

/// Turn a vector by a small rotation: x + t x (x + t x x/2), off by the third power of the angle.
static ALWAYS_INLINE void turn_slightly(const lanes turn[3], lanes x[3])
{
    const lanes half = lanes_set(0.5);
    lanes once[3], sum[3];
    lanes_cross(once, turn, x);
    for (int k = 0; k < 3; k++) sum[k] = x[k] + half * once[k];
    lanes_cross(once, turn, sum);
    for (int k = 0; k < 3; k++) x[k] = x[k] + once[k];
}

/// What the kernels are compiled for, beside the law.
typedef struct ball_kind {
    int dim;
    bool hertz, total, compound, geometric;
} ball_kind;

/// The nearest image of a difference of positions that are both in the cell, or hardly outside.
static ALWAYS_INLINE void nearest_image(const int dim, const ball_task* task, lanes* d)
{
    for (int k = 0; k < dim; k++) {
        const double length = task->length[k];
        const lanes half = lanes_set(length > 0.0 ? 0.5 * length : INFINITY);
        const lanes zero = lanes_set(0.0), whole = lanes_set(length);
        const lanes back = lanes_if_greater(d[k], half, whole, zero);
        const lanes forth = lanes_if_greater(zero - half, d[k], whole, zero);
        d[k] = d[k] - back + forth;
    }
}

/// Geometry of a part of a batch; false if none of its pairs touch or did so (`live`).
static ALWAYS_INLINE bool meet_balls(const ball_kind kind, const ball_task* task,
                                     const int32_t* who, bool images, unsigned live, law_in* in,
                                     lanes arm[2], lanes turn[3])
{
    const int dim = kind.dim;
    const lanes half = lanes_set(0.5), h = lanes_set(task->h);
    ball_lanes a, b;
    ball_gap gap;
    lanes* const d = gap.d;
    load_ball(dim, kind.geometric, task->bodies, who, &a);
    load_ball(dim, kind.geometric, task->bodies, who + SOFT_LANES, &b);
    for (int k = 0; k < dim; k++) d[k] = b.x[k] - a.x[k];
    if (images) nearest_image(dim, task, d);
    const lanes square = soft_dot(dim, d, d), reach = a.radius + b.radius;
    in->touching = lanes_more(reach * reach, square);
    if (mask_bits(in->touching) == 0 && live == 0) return false;
    gap.distance = lanes_sqrt(square);
    gap.inverse = lanes_set(1.0) / gap.distance;
    for (int k = 0; k < dim; k++) in->n[k] = d[k] * gap.inverse;
    in->overlap = reach - gap.distance;
    in->curvature = lanes_set(1.0);
    if (kind.hertz || kind.compound) in->curvature = reach / (a.radius * b.radius);
    arm[0] = a.radius - half * in->overlap;
    arm[1] = b.radius - half * in->overlap;
    at_contact(dim, a.v, b.v, arm[0], arm[1], a.spin, b.spin, in->n, in->velocity);
    if (kind.geometric) {
        geometric_motion(dim, &a, &b, &gap, in);
    } else {
        cundall_motion(dim, &a, &b, &gap, h, in, turn);
    }
    for (int k = 0; k < spin_width(dim) && kind.compound; k++) {
        in->spin[k] = b.spin[k] - a.spin[k];
        in->turned[k] = kind.geometric ? b.turned[k] - a.turned[k] : in->spin[k] * h;
    }
    return true;
}

/// Add the forces of a part of a batch to the sums of its bodies.
static ALWAYS_INLINE void add_forces(const ball_kind kind, const law_in* in, const law_out* out,
                                     const lanes arm[2], const int32_t* where, double* sums)
{
    const lanes zero = lanes_set(0.0);
    lanes force[3] = {zero, zero, zero}, torque[2][3];
    lanes turn[3] = {zero, zero, zero};
    for (int k = 0; k < kind.dim; k++) force[k] = out->force[k];
    if (kind.dim == 2) {
        turn[2] = in->n[1] * force[0] - in->n[0] * force[1];
    } else {
        lanes_cross(turn, force, in->n);
    }
    for (int k = 0; k < 3; k++) {
        torque[0][k] = arm[0] * turn[k];
        torque[1][k] = arm[1] * turn[k];
    }
    for (int k = 0; k < spin_width(kind.dim) && kind.compound; k++) {
        const int axis = kind.dim == 2 ? 2 : k;
        torque[0][axis] = torque[0][axis] - out->torque[k];
        torque[1][axis] = torque[1][axis] + out->torque[k];
    }
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
    lanes arm[2], turn[3], c[SOFT_CONSTANTS];
    if (kind.compound) in = (law_in){0}, history = (law_history){0}, out = (law_out){0};
    if (!meet_balls(kind, task, s->who + 16 * batch + part, s->images[batch], live, &in, arm,
                    turn)) {
        return; // there is no history either
    }
    in.touched = mask_of_bits(live);
    in.root_mass = lanes_load(s->root_mass + 8 * batch + part);
    load_constants(kind.compound, task->constants, law, c);
    const int width = spin_width(kind.dim);
    const int64_t at = 8 * batch * width + part;
    for (int k = 0; k < width; k++) history.slip[k] = lanes_load(s->slip + at + 8 * k);
    if (kind.compound) {
        for (int k = 0; k < width; k++) history.roll[k] = lanes_load(s->roll + at + 8 * k);
        history.bonded = mask_of_bits((unsigned)s->bonded[batch] >> part);
        history.slid = mask_of_bits((unsigned)s->slides[batch] >> part);
    }
    if (kind.dim == 3 && !kind.geometric) {
        turn_slightly(turn, history.slip);
        if (kind.compound) turn_slightly(turn, history.roll);
    }
    soft_law_turning(kind.dim, kind.geometric, kind.hertz, kind.total, kind.compound, c, task->h,
                     &in, &history, &out);
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

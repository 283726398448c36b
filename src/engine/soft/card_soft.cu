/// A step of spheres that move in their rows (soft/stream.c), on a card: forces by blocks of pairs,
/// then the motion of all spheres (card_jobs.h). Law, geometry and motion are the headers of the
/// CPU's kernels, with one lane.
#include "card/phases.h"

CARD_HEADERS
#include "soft/ball_part.h"
#include "soft/card_jobs.h"
#include "soft/sphere_kernel.h"
CARD_HEADERS_END

/// Blocks that a multiprocessor should hold: with 128 registers a thread two fit, and with a few
/// more that the compiler would take only one, which took 1.6 times as long (H200).
enum { RESIDENT = 2 };

// ---- pairs -------------------------------------------------------------------------------------

/// What is found out about the pairs of a thread.
typedef struct found {
    double deepest;
    int32_t active;
} found;

/// Numbers of a pair lie [field][pair] in shared memory, where the threads of a chunk write side by
/// side.
CARD_INLINE void write_part(double* parts, int slot, const lanes force[3], const lanes torque[2][3],
                            lanes loss, lanes power)
{
    double* out = parts + slot;
    for (int k = 0; k < 3; k++) out[(PART_FORCE + k) * SOFT_CARD_CHUNK] = force[k];
    for (int k = 0; k < 3; k++) out[(PART_TORQUES + k) * SOFT_CARD_CHUNK] = torque[0][k];
    for (int k = 0; k < 3; k++) out[(PART_TORQUES + 3 + k) * SOFT_CARD_CHUNK] = torque[1][k];
    out[PART_LOSS * SOFT_CARD_CHUNK] = loss;
    out[PART_POWER * SOFT_CARD_CHUNK] = power;
}

/// A pair that does not touch adds zeros, as on the CPU.
CARD_INLINE void write_no_part(double* parts, int slot)
{
    for (int k = 0; k < PART_NUMBERS; k++) parts[slot + k * SOFT_CARD_CHUNK] = 0.0;
}

/// What a pair does to a second sphere that another block adds up.
CARD_INLINE void write_cross(double* cross, int64_t pair, const double* parts, int slot)
{
    for (int k = 0; k < 3; k++) {
        cross[pair * CROSS_NUMBERS + k] = parts[slot + (PART_FORCE + k) * SOFT_CARD_CHUNK];
        cross[pair * CROSS_NUMBERS + 3 + k] =
            parts[slot + (PART_TORQUES + 3 + k) * SOFT_CARD_CHUNK];
    }
}

/// Forces of a pair, as work_on_part() of the CPU (soft/ball_kernel.h).
CARD_INLINE void work_on_pair(const ball_kind kind, const soft_card_job* job, int64_t pair,
                              int slot, double* parts, found* own)
{
    const int64_t batch = pair / SOFT_LANES, lane = pair % SOFT_LANES, at = 3 * 8 * batch + lane;
    const soft_bodies bodies = {.dim = 3, .moving = kind.geometric, .row = job->row};
    ball_task task = {.kind = job->kind,
                      .geometric = kind.geometric,
                      .uniform = job->uniform,
                      .constants = job->constants,
                      .h = job->since,
                      .bodies = &bodies};
    for (int k = 0; k < 3; k++) task.length[k] = job->length[k];
    const uint8_t was = job->list.state[pair];
    const int32_t* law = job->uniform ? NULL : job->list.law + pair;
    law_in in = {};
    law_history history = {};
    law_out out = {};
    lanes arm[2], turn[3], force[3], torque[2][3];
    if (!meet_balls(kind, &task, job->list.who + 16 * batch + lane, job->list.images[batch],
                    was & PAIR_LIVE, &in, arm, turn)) {
        write_no_part(parts, slot);
        return;
    }
    in.touched = (was & PAIR_LIVE) != 0;
    in.root_mass = job->list.root_mass[pair];
    for (int k = 0; k < 3; k++) history.slip[k] = job->list.slip[at + 8 * k];
    if (kind.compound) {
        for (int k = 0; k < 3; k++) history.roll[k] = job->list.roll[at + 8 * k];
        history.bonded = (was & PAIR_BONDED) != 0;
        history.slid = (was & PAIR_SLIDES) != 0;
    }
    answer_balls(kind, &task, law, turn, &in, &history, &out);
    for (int k = 0; k < 3; k++) job->list.slip[at + 8 * k] = history.slip[k];
    for (int k = 0; k < 3 && kind.compound; k++) job->list.roll[at + 8 * k] = history.roll[k];
    job->list.state[pair] =
        (uint8_t)((out.active ? PAIR_LIVE : 0) | (out.sliding ? PAIR_SLIDES : 0) |
                  (kind.compound && history.bonded ? PAIR_BONDED : 0));
    forces_of_part(kind, &in, &out, arm, force, torque);
    write_part(parts, slot, force, torque, out.loss, out.power);
    if (in.touching && in.overlap > own->deepest) own->deepest = in.overlap;
    own->active += out.active;
}

/// Add what a pair of the chunk puts into the sum of its first or second sphere.
CARD_INLINE void add_part(const double* part, const bool second, double* sum)
{
    for (int i = 0; i < 3; i++) {
        const double force = part[(PART_FORCE + i) * SOFT_CARD_CHUNK];
        sum[i] += second ? force : -force;
        sum[3 + i] += part[(PART_TORQUES + 3 * second + i) * SOFT_CARD_CHUNK];
    }
    if (second) return;
    sum[6] += part[PART_LOSS * SOFT_CARD_CHUNK];
    sum[7] += part[PART_POWER * SOFT_CARD_CHUNK];
}

/// Add what the pairs [first, last) put into the sum of a sphere: first those whose second it is,
/// from `next` on, which is where that left off, then those whose first it is.
CARD_INLINE void add_chunk(const soft_card_job* job, const soft_card_block* block, int64_t place,
                           int64_t end, int64_t first, int64_t last, const double* parts,
                           double* sums, int32_t* next)
{
    const soft_card_list* list = &job->list;
    const int32_t own = list->first_of[place];
    const int32_t own_end = place + 1 < end ? list->first_of[place + 1] : block->pair_end;
    const int32_t incoming_end = list->incoming_of[place + 1];
    const int64_t from = own > first ? own : first, to = own_end < last ? own_end : last;
    int32_t in = *next;
    if (from >= to && (in >= incoming_end || list->incoming[in] >= last)) return;
    double sum[SOFT_SUM];
    for (int i = 0; i < SOFT_SUM; i++) sum[i] = sums[i * SOFT_BLOCK];
    for (; in < incoming_end && list->incoming[in] < last; in++) {
        add_part(parts + (list->incoming[in] - first), true, sum);
    }
    for (int64_t pair = from; pair < to; pair++) add_part(parts + (pair - first), false, sum);
    for (int i = 0; i < SOFT_SUM; i++) sums[i * SOFT_BLOCK] = sum[i];
    *next = in;
}

CARD_INLINE void work_on_block(const card_place here, const ball_kind kind,
                               const soft_card_job* job, double* memory)
{
    const soft_card_block* block = &job->list.blocks[here.block];
    const int64_t begin = (int64_t)here.block * SOFT_BLOCK, last = begin + SOFT_BLOCK;
    const int64_t end = last < job->count ? last : job->count;
    const int length = soft_row(3, kind.geometric);
    double *parts = memory, *sums = memory + PART_NUMBERS * SOFT_CARD_CHUNK;
    SHARED(int32_t, next, SOFT_BLOCK);
    PER_THREAD(found, own);
    PHASE (t) {
        MINE(own, t).deepest = 0.0;
        MINE(own, t).active = 0;
        for (int k = t; k < SOFT_BLOCK_SUMS; k += here.threads) sums[k] = 0.0;
        for (int64_t place = begin + t; place < end; place += here.threads) {
            int32_t in = job->list.incoming_of[place];
            const int32_t in_end = job->list.incoming_of[place + 1];
            while (in < in_end && job->list.incoming[in] < block->pair) in++;
            next[place - begin] = in;
        }
    }
    for (int64_t first = block->pair; first < block->pair_end; first += SOFT_CARD_CHUNK) {
        PHASE (t) {
            const int64_t pair = first + t;
            if (pair >= block->pair_end) continue;
            work_on_pair(kind, job, pair, t, parts, &MINE(own, t));
            const int32_t second =
                job->list.who[16 * (pair / SOFT_LANES) + SOFT_LANES + pair % SOFT_LANES];
            if (second >= end * length) write_cross(job->cross, pair, parts, t);
        }
        PHASE (t) {
            for (int64_t place = begin + t; place < end; place += here.threads) {
                add_chunk(job, block, place, end, first, first + SOFT_CARD_CHUNK, parts,
                          sums + (place - begin), &next[place - begin]);
            }
        }
    }
    SHARED(found, all, SOFT_CARD_CHUNK);
    PHASE (t) {
        double* out = job->sum + SOFT_SUM * begin;
        for (int64_t k = t; k < SOFT_SUM * (end - begin); k += here.threads) {
            out[k] = sums[k % SOFT_SUM * SOFT_BLOCK + k / SOFT_SUM];
        }
        all[t] = MINE(own, t);
    }
    for (int half = SOFT_CARD_CHUNK / 2; half > 0; half /= 2) {
        PHASE (t) {
            if (t >= half) continue;
            if (all[half + t].deepest > all[t].deepest) all[t].deepest = all[half + t].deepest;
            all[t].active += all[half + t].active;
        }
    }
    LAST_PHASE (t) {
        if (t > 0) continue;
        job->meeting[here.block].overlap_max = all[0].deepest;
        job->meeting[here.block].active = all[0].active;
    }
}

/// A kernel for each law, so that the plain one needs few registers; the rest is decided as it
/// runs.
#define FORCES(name, hertz, compound)                                                              \
    CARD_KERNEL(name, soft_card_job, SOFT_CARD_CHUNK, RESIDENT)                                    \
    {                                                                                              \
        SHARED_BYTES(memory);                                                                      \
        const ball_kind kind = {3, hertz, job.kind.total, compound, job.geometric};                \
        work_on_block(here, kind, &job, (double*)memory);                                          \
    }
FORCES(soft_forces_linear, false, false)
FORCES(soft_forces_hertz, true, false)
FORCES(soft_forces_compound, job.kind.law == TALUS_SOFT_HERTZ, true)

// ---- spheres -----------------------------------------------------------------------------------

/// All that acts on a sphere: from its own block, then from each of those before it with what its
/// pairs make together, then from walls.
CARD_INLINE void collect_sums(const soft_card_job* job, int64_t place, double* sum)
{
    const soft_card_list* list = &job->list;
    const int32_t own = list->blocks[place / SOFT_BLOCK].pair, end = list->incoming_of[place + 1];
    const int places = SOFT_BLOCK * soft_row(3, job->geometric);
    for (int i = 0; i < SOFT_SUM; i++) sum[i] = job->sum[SOFT_SUM * place + i];
    for (int32_t in = list->incoming_of[place]; in < end && list->incoming[in] < own;) {
        double together[CROSS_NUMBERS] = {0.0};
        const int32_t first = list->incoming[in];
        const int block = list->who[16 * (first / SOFT_LANES) + first % SOFT_LANES] / places;
        for (; in < end && list->incoming[in] < list->blocks[block].pair_end; in++) {
            const double* cross = job->cross + CROSS_NUMBERS * (int64_t)list->incoming[in];
            for (int i = 0; i < CROSS_NUMBERS; i++) together[i] += cross[i];
        }
        for (int i = 0; i < CROSS_NUMBERS; i++) sum[i] += together[i];
    }
    const int32_t near = job->walls.near_count > 0 ? job->walls.near_of[place] : -1;
    if (near < 0) return;
    for (int32_t c = job->walls.contact_of[near]; c < job->walls.contact_of[near + 1]; c++) {
        const double* push = job->walls.push + WALL_PUSH * (int64_t)c;
        for (int i = 0; i < SOFT_SUM; i++) sum[i] += push[i];
        for (int i = 0; i < 3; i++) sum[3 + i] += push[SOFT_SUM + i];
    }
}

/// Is a free sphere out of the domain? It is noted, and counted.
CARD_INLINE bool escapes(const soft_card_job* job, int64_t place)
{
    const double* row = job->row + place * soft_row(3, job->geometric);
    if (!job->has_domain || row[7] == 0.0) return false; // the inverse mass
    for (int k = 0; k < 3; k++) {
        const bool within = row[k] >= job->domain_low[k] && row[k] <= job->domain_high[k];
        if (within || job->periodic.periodic[k]) continue;
        job->escaped[job->row_of[place]] = 1;
        return true;
    }
    return false;
}

/// Numbers of a sphere that are added up or compared.
enum { TELLS_LOST, TELLS_DASHPOTS, TELLS_SQUARES, TELLS_POWER, TELLS_HELD, TELLS_SUMS };

/// Correct a sphere and predict it, as correct_some() of the CPU (soft/sphere_kernel.h).
CARD_INLINE void carry_sphere(const sphere_kind kind, const soft_card_job* job, int64_t place,
                              const double* sum, double* tells, double* far2)
{
    grains g = {};
    g.image = job->image;
    const soft_bodies bodies = {
        .dim = 3, .moving = kind.moving, .row = job->row, .own = job->own, .listed = job->listed};
    const soft_places order = {.row_of = job->row_of};
    const sphere_task task = {.g = &g,
                              .bodies = &bodies,
                              .places = &order,
                              .verlet = kind.verlet,
                              .listed = true,
                              .h = job->h,
                              .periodic = &job->periodic,
                              .gravity = {job->gravity[0], job->gravity[1], job->gravity[2]},
                              .drag = job->drag};
    const int lane = (int)(place % SOFT_LANES);
    const sphere_places places = places_from(place - lane, job->count, lane);
    sphere_lanes s;
    sphere_flow flow = {};
    load_spheres(kind, &task, &places, &s);
    correct_spheres(kind, &task, &places, sum, place, &s, &flow);
    wrap_spheres(&task, &places, &s);
    predict_spheres(kind, &task, &s);
    store_spheres(kind, &task, &places, &s);
    go_farther(&task, &places, &s, half_round(&job->periodic, 3), far2);
    tells[TELLS_LOST] = flow.lost;
    tells[TELLS_DASHPOTS] = flow.dashpots;
    tells[TELLS_SQUARES] = flow.squares;
    tells[TELLS_POWER] = flow.power;
    tells[TELLS_HELD] = flow.held;
}

CARD_INLINE void carry_any(const soft_card_job* job, int64_t place, const double* sum,
                           double* tells, double* far2)
{
    const sphere_kind kind = {job->verlet, job->geometric};
    carry_sphere(kind, job, place, sum, tells, far2);
}

/// Move a share of the spheres on. Its powers are added up as the CPU does: eight partial sums, of
/// every eighth sphere each, then these.
CARD_KERNEL(soft_move, soft_card_job, SOFT_CARD_ROWS, RESIDENT)
{
    SHARED(double, tells, TELLS_SUMS* SOFT_CARD_ROWS);
    SHARED(double, far2, SOFT_CARD_ROWS);
    SHARED(double, lane_sum, TELLS_SUMS* SOFT_LANES);
    SHARED(double, total, TELLS_SUMS);
    SHARED(int32_t, escaped, SOFT_CARD_ROWS);
    PHASE (t) {
        const int64_t place = card_item(here, t);
        _Alignas(4 * sizeof(double)) double sum[SOFT_SUM];
        double own[TELLS_SUMS] = {0.0}, far = 0.0;
        escaped[t] = 0;
        if (place < job.count) {
            collect_sums(&job, place, sum);
            escaped[t] = escapes(&job, place);
            if (job.on) {
                carry_any(&job, place, sum, own, &far);
            } else {
                for (int i = 0; i < SOFT_SUM; i++) job.sum[SOFT_SUM * place + i] = sum[i];
            }
        }
        for (int k = 0; k < TELLS_SUMS; k++) tells[k * SOFT_CARD_ROWS + t] = own[k];
        far2[t] = far;
    }
    PHASE (t) {
        if (t >= TELLS_SUMS * SOFT_LANES) continue;
        const double* of = tells + t / SOFT_LANES * SOFT_CARD_ROWS + t % SOFT_LANES;
        double sum = 0.0;
        for (int k = 0; k < SOFT_CARD_ROWS; k += SOFT_LANES) sum += of[k];
        lane_sum[t] = sum;
    }
    PHASE (t) {
        if (t >= TELLS_SUMS) continue;
        total[t] = 0.0;
        for (int k = 0; k < SOFT_LANES; k++) total[t] += lane_sum[t * SOFT_LANES + k];
    }
    for (int half = SOFT_CARD_ROWS / 2; half > 0; half /= 2) {
        PHASE (t) {
            if (t >= half) continue;
            if (far2[half + t] > far2[t]) far2[t] = far2[half + t];
            escaped[t] += escaped[half + t];
        }
    }
    LAST_PHASE (t) {
        if (t > 0) continue;
        soft_card_motion* out = &job.motion[here.block];
        out->flow[FLOW_LOSS] = total[TELLS_LOST];
        out->flow[FLOW_DASHPOTS] = total[TELLS_DASHPOTS];
        out->flow[FLOW_DRAG] = job.drag * total[TELLS_SQUARES];
        out->flow[FLOW_INPUT] = total[TELLS_HELD] + total[TELLS_POWER];
        out->farthest = sqrt(far2[0]);
        out->escaped = escaped[0];
    }
}

/// Copies of the rows of the spheres that walls may reach.
CARD_KERNEL(soft_gather, soft_card_job, SOFT_CARD_ROWS)
{
    LAST_PHASE (t) {
        const int64_t k = card_item(here, t);
        const int length = soft_row(3, job.geometric);
        for (int i = 0; i < length && k < job.walls.near_count; i++) {
            job.walls.rows[k * length + i] = job.row[job.walls.near[k] * (int64_t)length + i];
        }
    }
}

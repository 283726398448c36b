/// A step of spheres that move in their rows (soft/sphere_kernel.h), block after block of places:
/// forces of a block's pairs, then the motion of its grains while their rows are still in the
/// cache.
///
/// The pairs of a block are those with later places. So the grains of a block may move on as soon
/// as the forces of the block, and of those before it that have pairs with it, are known: nobody
/// reads their rows any more, and their sums are complete. Each block counts down what it waits
/// for, and whoever comes last moves its grains; no thread waits for another one.
#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "soft/on_card.h"

/// One evaluation and the motion after it.
typedef struct stream {
    soft_particles* s;
    const step_order* order;
    ball_task balls;
    general_task walls;
    sphere_task spheres;
    bool on;         ///< to the next prediction, or into the table
    bool first;      ///< contacts with walls are the first item
    int memory_runs; ///< 1: it was short
} stream;

// ---- the motion of a block ---------------------------------------------------------------------

/// Grains out of the domain join those found behind walls.
static void watch_domain(const stream* t, const soft_block* block)
{
    const talus_world_def* def = t->order->options;
    const soft_particles* s = t->s;
    for (int64_t p = block->first; p < block->end && def->has_domain; p++) {
        const double* row = s->bodies.row + p * soft_row(3, s->geometric);
        for (int k = 0; k < 3 && row[7] != 0.0; k++) { // the inverse mass
            const bool within = row[k] >= def->domain_low[k] && row[k] <= def->domain_high[k];
            if (!within && !t->order->state->cell.periodic[k]) {
                s->general.escaped[s->places.row_of[p]] = 1;
            }
        }
    }
}

static void move_block(stream* t, int64_t b)
{
    soft_particles* s = t->s;
    const soft_block* block = &s->pairs.block[b];
    soft_pairs_collect_block(&s->pairs, b);
    if (s->general.near[b]) general_contacts_add_block(&s->general, &t->walls, &s->pairs, b);
    watch_domain(t, block);
    for (int64_t first = block->first; first < block->end; first += SOFT_ROWS) {
        const int64_t end = first + SOFT_ROWS < block->end ? first + SOFT_ROWS : block->end;
        soft_share* share = &s->share[first / SOFT_ROWS];
        const double* sums = soft_pairs_sum(&s->pairs, first);
        if (t->on) {
            share->farthest = s->kernels->carry(&t->spheres, sums, first, end, share->flow);
        } else {
            s->kernels->land(&t->spheres, sums, first, end, share->flow);
        }
    }
    __atomic_clear(&s->taken[block->sums / SOFT_BLOCK_SUMS], __ATOMIC_RELEASE);
}

/// Sums for a block, the first that no other one uses: mostly those that were used last.
static int64_t take_sums(soft_particles* s)
{
    int64_t k = 0;
    while (__atomic_test_and_set(&s->taken[k], __ATOMIC_ACQUIRE)) k++;
    return k * SOFT_BLOCK_SUMS;
}

// ---- who waits for whom ------------------------------------------------------------------------

/// Something that a block has waited for is done.
static void release(stream* t, int64_t block)
{
    if (__atomic_sub_fetch(&t->s->waiting[block], 1, __ATOMIC_ACQ_REL) == 0) move_block(t, block);
}

talus_status soft_meet_walls(soft_particles* s, const step_order* order, const general_task* others)
{
    soft_rows_to_table(s, &order->state->grains, s->general.far);
    TRY(general_contacts_evaluate(&s->general, others));
    return general_contacts_deal(&s->general, others, &order->state->walls);
}

static void meet_walls(stream* t)
{
    soft_particles* s = t->s;
    if (soft_meet_walls(s, t->order, &t->walls)) {
        t->memory_runs = 1; // nobody waits for ever, and the step fails
        for (int64_t b = 0; b < s->pairs.block_count; b++) s->general.first_of[b] = -1;
    }
}

static void stream_item(void* data, int64_t item)
{
    stream* t = data;
    soft_particles* s = t->s;
    if (t->first && item == 0) {
        meet_walls(t);
        for (int64_t b = 0; b < s->pairs.block_count; b++) {
            if (s->general.near[b]) release(t, b);
        }
        return;
    }
    const int64_t b = t->first ? item - 1 : item;
    s->pairs.block[b].sums = take_sums(s);
    s->kernels->balls(&t->balls, b);
    release(t, b);
    for (int64_t i = s->pairs.target_first[b]; i < s->pairs.target_first[b + 1]; i++) {
        release(t, s->pairs.target[i]);
    }
}

talus_status soft_stream(soft_particles* s, const step_order* order, double since, bool on,
                         talus_error* error)
{
    stream t = {.s = s, .order = order, .on = on};
    TRY(soft_begin_evaluation(s, order, since, &t.walls, error));
    if (order->card) return soft_card_stream(s, order, since, on, &t.walls, error);
    const int64_t blocks = s->pairs.block_count;
    const int team = parallel_threads(order->threads, s->pairs.body_count);
    if (!arrays_renew(&s->waiting_capacity, blocks, ARRAY(s->waiting), ARRAY(s->taken))) {
        return error_memory(error, "moving grains");
    }
    t.balls = soft_ball_task(s, order, since);
    t.balls.ahead = team;
    t.balls.own = soft_own(s->integrator != &verlet_integrator);
    t.spheres = soft_sphere_task(s, order);
    t.first = team == 1 || soft_walls_are_few(s, team);
    if (t.first) {
        t.walls.threads = 1;
    } else {
        meet_walls(&t);
    }
    for (int64_t b = 0; b < blocks; b++) {
        s->taken[b] = false;
        s->waiting[b] = 1 + s->pairs.senders[b] + (t.first && s->general.near[b]);
    }
    const int64_t items[] = {0, blocks + t.first};
    crew_do(&s->crew, team, 1, items, stream_item, &t);
    if (t.memory_runs) return error_memory(error, "meeting walls");
    s->in_rows = on;
    if (on) soft_rows_filled(s, order->state->grains.count);
    return TALUS_OK;
}

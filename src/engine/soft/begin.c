/// The beginning of a soft run: derivatives that nobody knows yet (soft/start.h), and the energies.
#include "base/error.h"
#include "base/vec.h"
#include "soft/internal.h"
#include "soft/start.h"
#include "state/drive.h"

#include <stdlib.h>
#include <string.h>

/// All coordinates one after the other: centres, turns, mobile walls.
typedef struct beginning {
    soft_particles* s;
    const step_order* order;
    talus_error* error;
    coordinates all;
    double* numbers;        ///< of `all`
    double* last;           ///< [all.count] x at the last evaluation
    double last_time;       ///< of the last evaluation
    soft_memories memories; ///< history after the first evaluation
    contacts general;       ///< likewise
    soft_flow flow;         ///< at the first evaluation
    bool evaluated;
    bool failed; ///< memory was short where nothing can be said
} beginning;

/// Worlds may be empty: memcpy() of nothing from nowhere is not allowed.
static void copy_numbers(double* to, const double* from, int64_t count)
{
    if (count > 0) memcpy(to, from, sizeof(double) * (size_t)count);
}

static int64_t centre_count(const beginning* b)
{
    return b->order->state->grains.count * b->s->dim;
}

static int64_t turn_count(const beginning* b)
{
    return b->order->state->grains.count * spin_width(b->s->dim);
}

/// Copy between `all` and the tables: x and v.
static void exchange(beginning* b, bool to_tables)
{
    soft_particles* s = b->s;
    grains* g = &b->order->state->grains;
    const coordinates part[3] = {soft_centres(s, g), soft_turns(s, g),
                                 soft_walls_read(s, &b->order->state->walls)};
    int64_t at = 0;
    for (int p = 0; p < 3; p++) {
        const int64_t count = part[p].count;
        if (to_tables) {
            copy_numbers(part[p].x, b->all.x + at, count);
            copy_numbers(part[p].v, b->all.v + at, count);
        } else {
            copy_numbers(b->all.x + at, part[p].x, count);
            copy_numbers(b->all.v + at, part[p].v, count);
        }
        at += count;
    }
    if (to_tables) soft_walls_write(s, &b->order->state->walls);
}

/// Motion since the last evaluation, for geometric elongations.
static void set_motion(beginning* b)
{
    const step_order* order = b->order;
    const int64_t centres = centre_count(b), turns = turn_count(b);
    const double* mobile = b->all.x + centres + turns;
    for (int64_t i = 0; i < centres; i++) order->state->grains.moved[i] = b->all.x[i] - b->last[i];
    for (int64_t i = 0; i < turns; i++) {
        order->state->grains.turned[i] = b->all.x[centres + i] - b->last[centres + i];
    }
    for (int i = 0; i < b->s->mobile_count; i++) {
        vec_sub(3, order->state->walls.moved + 3 * b->s->mobile[i], mobile + 3 * i,
                b->last + centres + turns + 3 * i);
    }
    copy_numbers(b->last, b->all.x, b->all.count);
}

static talus_status evaluate(void* user, double time, double* acceleration)
{
    beginning* b = user;
    soft_particles* s = b->s;
    const step_order* order = b->order;
    walls* w = &order->state->walls;
    const int64_t centres = centre_count(b), turns = turn_count(b);
    const double since = time - b->last_time;
    exchange(b, true);
    set_motion(b);
    // Driven walls stand still while derivatives are sought, but have the velocities of the time.
    for (int64_t k = 0; k < 3 * w->count; k++) w->turned[k] = 0.0;
    drive_advance(w, order->state->time, 0.0);
    drive_carry_grains(w, &order->state->cell, &order->state->grains, order->threads);
    TRY(soft_evaluate(s, order, since, b->error));
    soft_flow flow;
    const int64_t bad = soft_accelerate(s, order, since, &flow);
    if (bad >= 0) {
        return error_set(b->error, TALUS_ERR_NUMERIC, "grain %lld: its force is no number",
                         (long long)order->state->grains.id[bad]);
    }
    if (!b->evaluated) b->flow = flow;
    b->evaluated = true;
    b->last_time = time;
    copy_numbers(acceleration, s->acceleration, centres);
    copy_numbers(acceleration + centres, s->angular, turns);
    for (int i = 0; i < s->mobile_count; i++) {
        drive_acceleration(w, s->mobile[i], order->options->gravity,
                           acceleration + centres + turns + 3 * i);
    }
    return TALUS_OK;
}

static talus_status save(void* user)
{
    beginning* b = user;
    soft_particles* s = b->s;
    TRY(soft_pairs_remember(&s->pairs));
    for (int64_t i = 0; i < s->pairs.memories.count; i++) {
        TRY(soft_memories_add(&b->memories, &s->pairs.memories.row[i]));
    }
    contacts_init(&b->general, s->dim);
    TRY(contacts_resize(&b->general, s->general.list.count));
    TRY(contacts_need_like(&b->general, &s->general.list));
    contacts_paste(&b->general, 0, &s->general.list);
    return TALUS_OK;
}

static void restore(void* user)
{
    beginning* b = user;
    soft_particles* s = b->s;
    s->pairs.memories.count = 0;
    for (int64_t i = 0; i < b->memories.count; i++) {
        b->failed |= soft_memories_add(&s->pairs.memories, &b->memories.row[i]) < 0;
    }
    s->listed = false;
    s->remembered = true;
    b->failed |= general_contacts_reserve(&s->general, b->general.count) < 0 ||
                 contacts_need_like(&s->general.list, &b->general) < 0;
    if (b->failed) return;
    s->general.list.count = b->general.count;
    contacts_paste(&s->general.list, 0, &b->general);
    b->last_time = 0.0;
    copy_numbers(b->last, b->all.x, b->all.count);
}

/// Room for `all`, filled from the tables.
static talus_status gather(beginning* b)
{
    const int64_t count = centre_count(b) + turn_count(b) + 3 * b->s->mobile_count;
    b->numbers = calloc((size_t)(7 * count) + 1, sizeof *b->numbers);
    if (!b->numbers) return TALUS_ERR_MEMORY;
    double* x = b->numbers;
    b->all = (coordinates){.count = count,
                           .x = x,
                           .v = x + count,
                           .d = {x + 2 * count, x + 3 * count, x + 4 * count, x + 5 * count}};
    b->last = x + 6 * count;
    for (int64_t i = 0; i < turn_count(b) && b->s->dim == 3; i++) b->s->turn[i] = 0.0;
    exchange(b, false);
    copy_numbers(b->last, b->all.x, count);
    return TALUS_OK;
}

/// Derivatives into the tables; x and v are there as they were.
static void scatter(beginning* b)
{
    soft_particles* s = b->s;
    grains* g = &b->order->state->grains;
    exchange(b, true);
    const coordinates part[3] = {soft_centres(s, g), soft_turns(s, g),
                                 soft_walls_read(s, &b->order->state->walls)};
    int64_t at = 0;
    for (int p = 0; p < 3; p++) {
        for (int k = 0; k < s->integrator->kept; k++) {
            copy_numbers(part[p].d[k], b->all.d[k] + at, part[p].count);
        }
        at += part[p].count;
    }
    soft_walls_write(s, &b->order->state->walls);
}

static talus_status begin(beginning* b, talus_error* error)
{
    soft_particles* s = b->s;
    talus_totals* totals = b->order->totals;
    const start_forces forces = {.user = b, .evaluate = evaluate, .save = save, .restore = restore};
    if (gather(b)) return error_memory(error, "beginning a soft run");
    double elastic = 0.0;
    TRY(start_derivatives(s->integrator, &b->all, b->order->h, b->order->threads, &forces, error));
    if (b->failed) return error_memory(error, "beginning a soft run");
    scatter(b);
    set_motion(b);
    TRY(soft_evaluate(s, b->order, 0.0, error));
    if (soft_elastic(s, b->order, &elastic)) return error_memory(error, "beginning a soft run");
    totals->start = grains_kinetic_energy(&b->order->state->grains, b->order->threads) + elastic;
    totals->power_lost = b->flow.out;
    totals->power_input = b->flow.input;
    return TALUS_OK;
}

talus_status soft_begin(soft_particles* s, const step_order* order, talus_error* error)
{
    beginning b = {.s = s, .order = order, .error = error};
    const talus_status status = begin(&b, error);
    free(b.numbers);
    free(b.memories.row);
    contacts_free(&b.general);
    return status;
}

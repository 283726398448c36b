/// The beginning of a soft run: derivatives that nobody knows yet (soft/start.h), and the energies.
#include "base/error.h"
#include "base/vec.h"
#include "soft/start.h"
#include "soft/stepper.h"
#include "state/drive.h"

#include <stdlib.h>
#include <string.h>

/// All coordinates one after the other: centres, turns, mobile walls.
typedef struct beginning {
    stepper* s;
    const step_context* ctx;
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
    return b->ctx->grains->count * b->s->dim;
}

static int64_t turn_count(const beginning* b)
{
    return b->ctx->grains->count * spin_width(b->s->dim);
}

/// Copy between `all` and the tables: x and v.
static void exchange(beginning* b, bool to_tables)
{
    stepper* s = b->s;
    grains* g = b->ctx->grains;
    const coordinates part[3] = {soft_centres(s, g), soft_turns(s, g),
                                 soft_walls_read(s, b->ctx->walls)};
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
    if (to_tables) soft_walls_write(s, b->ctx->walls);
}

/// Motion since the last evaluation, for geometric elongations.
static void set_motion(beginning* b)
{
    const step_context* ctx = b->ctx;
    const int64_t centres = centre_count(b), turns = turn_count(b);
    const double* mobile = b->all.x + centres + turns;
    for (int64_t i = 0; i < centres; i++) ctx->grains->moved[i] = b->all.x[i] - b->last[i];
    for (int64_t i = 0; i < turns; i++) {
        ctx->grains->turned[i] = b->all.x[centres + i] - b->last[centres + i];
    }
    for (int i = 0; i < b->s->mobile_count; i++) {
        vec_sub(3, ctx->walls->moved + 3 * b->s->mobile[i], mobile + 3 * i,
                b->last + centres + turns + 3 * i);
    }
    copy_numbers(b->last, b->all.x, b->all.count);
}

static talus_status evaluate(void* user, double time, double* acceleration)
{
    beginning* b = user;
    stepper* s = b->s;
    const step_context* ctx = b->ctx;
    walls* w = ctx->walls;
    const int64_t centres = centre_count(b), turns = turn_count(b);
    const double since = time - b->last_time;
    exchange(b, true);
    set_motion(b);
    // Driven walls stand still while derivatives are sought, but have the velocities of the time.
    for (int64_t k = 0; k < 3 * w->count; k++) w->turned[k] = 0.0;
    drive_advance(w, ctx->time, 0.0);
    drive_carry_grains(w, ctx->cell, ctx->grains, ctx->threads);
    TRY(soft_evaluate(s, ctx, since, b->error));
    soft_flow flow;
    const int64_t bad = soft_accelerate(s, ctx, since, &flow);
    if (bad >= 0) {
        return error_set(b->error, TALUS_ERR_NUMERIC, "grain %lld: its force is no number",
                         (long long)ctx->grains->id[bad]);
    }
    if (!b->evaluated) b->flow = flow;
    b->evaluated = true;
    b->last_time = time;
    copy_numbers(acceleration, s->acceleration, centres);
    copy_numbers(acceleration + centres, s->angular, turns);
    for (int i = 0; i < s->mobile_count; i++) {
        drive_acceleration(w, s->mobile[i], ctx->def->gravity,
                           acceleration + centres + turns + 3 * i);
    }
    return TALUS_OK;
}

static talus_status save(void* user)
{
    beginning* b = user;
    stepper* s = b->s;
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
    stepper* s = b->s;
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
    stepper* s = b->s;
    grains* g = b->ctx->grains;
    exchange(b, true);
    const coordinates part[3] = {soft_centres(s, g), soft_turns(s, g),
                                 soft_walls_read(s, b->ctx->walls)};
    int64_t at = 0;
    for (int p = 0; p < 3; p++) {
        for (int k = 0; k < s->integrator->kept; k++) {
            copy_numbers(part[p].d[k], b->all.d[k] + at, part[p].count);
        }
        at += part[p].count;
    }
    soft_walls_write(s, b->ctx->walls);
}

static talus_status begin(beginning* b, talus_error* error)
{
    stepper* s = b->s;
    talus_totals* totals = b->ctx->totals;
    const start_forces forces = {.user = b, .evaluate = evaluate, .save = save, .restore = restore};
    if (gather(b)) return error_memory(error, "beginning a soft run");
    double elastic = 0.0;
    TRY(start_derivatives(s->integrator, &b->all, b->ctx->h, b->ctx->threads, &forces, error));
    if (b->failed) return error_memory(error, "beginning a soft run");
    scatter(b);
    set_motion(b);
    TRY(soft_evaluate(s, b->ctx, 0.0, error));
    if (soft_elastic(s, b->ctx, &elastic)) return error_memory(error, "beginning a soft run");
    totals->start = grains_kinetic_energy(b->ctx->grains, b->ctx->threads) + elastic;
    totals->power_lost = b->flow.out;
    totals->power_input = b->flow.input;
    return TALUS_OK;
}

talus_status soft_begin(stepper* s, const step_context* ctx, talus_error* error)
{
    beginning b = {.s = s, .ctx = ctx, .error = error};
    const talus_status status = begin(&b, error);
    free(b.numbers);
    free(b.memories.row);
    contacts_free(&b.general);
    return status;
}

/// The start of a soft run: derivatives that nobody knows yet, and the energies.
///
/// The derivatives are found by collocation: the acceleration is taken as a polynomial in time
/// through its values at 0, h/2, h, ..., and these values are found on the path that the polynomial
/// itself gives, by sweeps over the times.
///
/// A sweep takes the values of the last one, wrong by h^n, to an error of h^(n+1), because the
/// velocity is an integral of the acceleration; so as many sweeps as there are times reach the
/// polynomial's own error, and the derivative of order k is found up to h^(kept+2-k), what a Gear
/// integrator needs for its full order. Each sweep goes forward in time from the same past:
/// friction that slides is never run backwards, as it is by the better known steps forth and back,
/// which also need four steps each way before they give Gear 5 its order (docs/soft.md).
#include "soft/start.h"

#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "soft/workspace.h"
#include "state/drive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- derivatives of any coordinates ------------------------------------------------------------

enum { START_TIMES = INTEGRATOR_KEPT - 1 }; ///< after the start, at most

typedef struct start {
    const coordinates* c;
    double* x0; ///< [count]
    double* v0;
    double* at[START_TIMES]; ///< [count] accelerations at the times after the start
    int times;
    int threads;
    double gap; ///< between the times
} start;

/// Put x and v where the Taylor series has them at `time`.
static void move_to(const start* s, double time)
{
    const coordinates* c = s->c;
#pragma omp parallel for num_threads(parallel_threads(s->threads, c->count)) schedule(static)
    for (int64_t i = 0; i < c->count; i++) {
        double shift = 0.0, change = 0.0;
        for (int k = s->times; k >= 0; k--) {
            shift = c->d[k][i] + time / (k + 3) * shift;
            change = c->d[k][i] + time / (k + 2) * change;
        }
        c->v[i] = s->v0[i] + time * change;
        c->x[i] = s->x0[i] + time * (s->v0[i] + 0.5 * time * shift);
    }
}

/// Derivatives of the polynomial through the accelerations, from their forward differences.
static void fit(const start* s)
{
    const coordinates* c = s->c;
    const double per = 1.0 / s->gap;
#pragma omp parallel for num_threads(parallel_threads(s->threads, c->count)) schedule(static)
    for (int64_t i = 0; i < c->count; i++) {
        const double a0 = c->d[0][i], a1 = s->at[0][i];
        if (s->times == 1) {
            c->d[1][i] = per * (a1 - a0);
            continue;
        }
        const double a2 = s->at[1][i], a3 = s->at[2][i];
        const double first = a1 - a0, second = (a2 - a1) - first;
        const double third = ((a3 - a2) - (a2 - a1)) - second;
        c->d[1][i] = per * (first - second / 2.0 + third / 3.0);
        c->d[2][i] = per * per * (second - third);
        c->d[3][i] = per * per * per * third;
    }
}

talus_status start_derivatives(const integrator* kind, const coordinates* c, double h, int threads,
                               const start_forces* forces, talus_error* error)
{
    const size_t count = (size_t)c->count, bytes = count * sizeof(double);
    start s = {.c = c, .times = kind->kept - 1, .threads = threads, .gap = 0.5 * h};
    assert(s.times == 0 || s.times == 1 || s.times == 3);
    TRY(forces->evaluate(forces->user, 0.0, c->d[0]));
    if (s.times == 0 || count == 0) return TALUS_OK;
    if (forces->save) TRY(forces->save(forces->user));
    double* memory = calloc(count * (size_t)(2 + s.times), sizeof *memory);
    if (!memory) return error_memory(error, "the starting values of the integrator");
    s.x0 = memory;
    s.v0 = memory + count;
    for (int k = 0; k < s.times; k++) s.at[k] = memory + count * (size_t)(2 + k);
    memcpy(s.x0, c->x, bytes);
    memcpy(s.v0, c->v, bytes);

    // The sweeps, from constant acceleration. x, v and the forces' past are the given ones after
    // each.
    talus_status status = TALUS_OK;
    for (int k = 1; k <= s.times; k++) memset(c->d[k], 0, bytes);
    for (int sweep = 0; sweep < s.times && status >= 0; sweep++) {
        for (int k = 0; k < s.times && status >= 0; k++) {
            const double time = (k + 1) * s.gap;
            move_to(&s, time);
            status = forces->evaluate(forces->user, time, s.at[k]);
        }
        if (status >= 0) fit(&s);
        memcpy(c->x, s.x0, bytes);
        memcpy(c->v, s.v0, bytes);
        const talus_status back = forces->restore ? forces->restore(forces->user) : TALUS_OK;
        if (status >= 0) status = back;
    }
    free(memory);
    return status;
}

// ---- those of grains and mobile walls ----------------------------------------------------------

/// All coordinates one after the other: centres, turns, mobile walls.
typedef struct soft_path {
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
} soft_path;

/// Worlds may be empty: memcpy() of nothing from nowhere is not allowed.
static void copy_numbers(double* to, const double* from, int64_t count)
{
    if (count > 0) memcpy(to, from, sizeof(double) * (size_t)count);
}

static int64_t centre_count(const soft_path* p)
{
    return p->order->state->grains.count * p->s->dim;
}

static int64_t turn_count(const soft_path* p)
{
    return p->order->state->grains.count * spin_width(p->s->dim);
}

/// Room for `all`, filled from the tables.
static talus_status gather(soft_path* p)
{
    soft_particles* s = p->s;
    const grains* g = &p->order->state->grains;
    const int64_t count = centre_count(p) + turn_count(p) + 3 * s->mobile_count;
    p->numbers = calloc((size_t)(7 * count) + 1, sizeof *p->numbers);
    if (!p->numbers) return TALUS_ERR_MEMORY;
    double* x = p->numbers;
    p->all = (coordinates){.count = count,
                           .x = x,
                           .v = x + count,
                           .d = {x + 2 * count, x + 3 * count, x + 4 * count, x + 5 * count}};
    p->last = x + 6 * count;
    for (int64_t i = 0; i < turn_count(p) && s->dim == 3; i++) s->turn[i] = 0.0;
    const coordinates part[3] = {soft_centres(s, g), soft_turns(s, g),
                                 soft_walls_read(s, &p->order->state->walls)};
    for (int64_t k = 0, at = 0; k < 3; at += part[k++].count) {
        copy_numbers(p->all.x + at, part[k].x, part[k].count);
        copy_numbers(p->all.v + at, part[k].v, part[k].count);
    }
    copy_numbers(p->last, p->all.x, count);
    return TALUS_OK;
}

/// x, v and the first `kept` derivatives into the tables, with the motion since the last
/// evaluation.
static void scatter(soft_path* p, int kept)
{
    soft_particles* s = p->s;
    grains* g = &p->order->state->grains;
    walls* w = &p->order->state->walls;
    const coordinates part[3] = {soft_centres(s, g), soft_turns(s, g), soft_walls_read(s, w)};
    for (int64_t k = 0, at = 0; k < 3; at += part[k++].count) {
        copy_numbers(part[k].x, p->all.x + at, part[k].count);
        copy_numbers(part[k].v, p->all.v + at, part[k].count);
        for (int n = 0; n < kept; n++) copy_numbers(part[k].d[n], p->all.d[n] + at, part[k].count);
    }
    soft_walls_write(s, w);
    const int64_t centres = centre_count(p), turns = turn_count(p);
    const double *x = p->all.x, *last = p->last;
    for (int64_t i = 0; i < centres; i++) g->moved[i] = x[i] - last[i];
    for (int64_t i = 0; i < turns; i++) g->turned[i] = x[centres + i] - last[centres + i];
    for (int i = 0; i < s->mobile_count; i++) {
        const int64_t at = centres + turns + 3 * i;
        vec_sub(3, w->moved + 3 * s->mobile[i], x + at, last + at);
    }
    copy_numbers(p->last, x, p->all.count);
}

static talus_status evaluate(void* user, double time, double* acceleration)
{
    soft_path* p = user;
    soft_particles* s = p->s;
    const step_order* order = p->order;
    grains* g = &order->state->grains;
    walls* w = &order->state->walls;
    const int64_t centres = centre_count(p), turns = turn_count(p);
    const double since = time - p->last_time;
    scatter(p, 0);
    // Driven walls stand still while derivatives are sought, but have the velocities of the time.
    for (int64_t k = 0; k < 3 * w->count; k++) w->turned[k] = 0.0;
    drive_advance(w, order->state->time, 0.0);
    drive_carry_grains(w, &order->state->cell, g, order->threads);
    TRY(soft_evaluate(s, order, since, p->error));
    soft_flow flow = soft_flow_of_walls(s, order);
    soft_each_share(s, order, soft_accelerate_rows);
    soft_sum_flow(s, g->count, since, &flow);
    const int64_t bad = soft_runaway(g, s->acceleration, s->angular, &flow);
    if (bad >= 0) {
        return error_set(p->error, TALUS_ERR_NUMERIC, "grain %lld: its force is no number",
                         (long long)g->id[bad]);
    }
    if (!p->evaluated) p->flow = flow;
    p->evaluated = true;
    p->last_time = time;
    copy_numbers(acceleration, s->acceleration, centres);
    copy_numbers(acceleration + centres, s->angular, turns);
    for (int i = 0; i < s->mobile_count; i++) {
        drive_acceleration(w, s->mobile[i], order->options->gravity,
                           acceleration + centres + turns + 3 * i);
    }
    return TALUS_OK;
}

static talus_status copy_memories(soft_memories* to, const soft_memories* from)
{
    to->count = 0;
    for (int64_t i = 0; i < from->count; i++) TRY(soft_memories_add(to, &from->row[i]));
    return TALUS_OK;
}

static talus_status save(void* user)
{
    soft_path* p = user;
    soft_particles* s = p->s;
    const contacts* list = &s->general.list;
    contacts_init(&p->general, s->dim);
    if (soft_pairs_remember(&s->pairs) || copy_memories(&p->memories, &s->pairs.memories) ||
        contacts_resize(&p->general, list->count) || contacts_need_like(&p->general, list)) {
        return error_memory(p->error, "starting a soft run");
    }
    contacts_paste(&p->general, 0, list);
    return TALUS_OK;
}

static talus_status restore(void* user)
{
    soft_path* p = user;
    soft_particles* s = p->s;
    s->listed = false;
    if (copy_memories(&s->pairs.memories, &p->memories) ||
        general_contacts_reserve(&s->general, p->general.count) ||
        contacts_need_like(&s->general.list, &p->general)) {
        return error_memory(p->error, "starting a soft run");
    }
    s->general.list.count = p->general.count;
    contacts_paste(&s->general.list, 0, &p->general);
    p->last_time = 0.0;
    copy_numbers(p->last, p->all.x, p->all.count);
    return TALUS_OK;
}

// ---- the run -----------------------------------------------------------------------------------

static talus_status start_run(soft_path* p, talus_error* error)
{
    soft_particles* s = p->s;
    const step_order* order = p->order;
    const start_forces forces = {.user = p, .evaluate = evaluate, .save = save, .restore = restore};
    if (gather(p)) return error_memory(error, "starting a soft run");
    TRY(start_derivatives(s->integrator, &p->all, order->h, order->threads, &forces, error));
    scatter(p, s->integrator->kept);
    // The springs at the start, with the history that the first evaluation has made.
    double elastic = 0.0;
    TRY(soft_evaluate(s, order, 0.0, error));
    if (soft_elastic(s, order, &elastic)) return error_memory(error, "starting a soft run");
    order->totals->shown.start =
        grains_kinetic_energy(&order->state->grains, order->threads) + elastic;
    order->totals->power_lost = p->flow.out;
    order->totals->power_input = p->flow.input;
    return TALUS_OK;
}

talus_status soft_start(soft_particles* s, const step_order* order, talus_error* error)
{
    soft_path p = {.s = s, .order = order, .error = error};
    const talus_status status = start_run(&p, error);
    free(p.numbers);
    free(p.memories.row);
    contacts_free(&p.general);
    return status;
}

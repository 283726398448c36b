/// One step of soft particles: predict, find the forces there, correct (PLMH; soft/integrator.h).
///
/// Grains (soft/motion.c) and mobile walls are coordinates of the integrator. Walls with a
/// prescribed motion are where their drive says at the time of the evaluation.
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "soft/on_card.h"
#include "state/drive.h"

#include <stdlib.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

const char* soft_particles_why_no_card(const talus_world_def* options, const physical_state* state)
{
    const grains* g = &state->grains;
    if (options->dim == 2) return "the method soft is on a card in 3D only";
    if (integrator_of(options->soft.integrator)->kept != 1) {
        return "the method soft is on a card with the integrators verlet and leapfrog only";
    }
    if (g->force || g->torque || g->locked || g->glue_position) {
        return "soft grains with external forces or locked axes, or glued to walls, move on the "
               "CPU";
    }
    return NULL;
}

void soft_particles_destroy(soft_particles* s)
{
    if (!s) return;
    soft_laws_free(&s->laws);
    soft_places_free(&s->places);
    soft_bodies_free(&s->bodies);
    soft_pairs_free(&s->pairs);
    general_contacts_free(&s->general);
    grid_destroy(s->grid);
    pair_list_free(&s->near);
    pair_list_free(&s->balls);
    pair_list_free(&s->others);
    free(s->reach);
    free(s->acceleration);
    free(s->angular);
    free(s->turn);
    free(s->share);
    free(s->waiting);
    free(s->taken);
    crew_free(s->crew);
    soft_card_free(s->card);
    free(s->mobile);
    free(s->wall_state);
    free(s->wall_acceleration);
    free(s->wall_reach);
    free(s);
}

talus_status soft_particles_create(soft_particles** out, int dim, talus_error* error)
{
    soft_particles* s = calloc(1, sizeof *s);
    if (s) s->grid = grid_create();
    if (!s || !s->grid) {
        soft_particles_destroy(s);
        return error_memory(error, "making soft particles");
    }
    s->dim = dim;
    general_contacts_init(&s->general, dim);
    *out = s;
    return TALUS_OK;
}

// ---- coordinates -------------------------------------------------------------------------------

coordinates soft_walls_read(soft_particles* s, const walls* w)
{
    double* const from[6] = {w->position, w->velocity, w->rate2, w->rate3, w->rate4, w->rate5};
    const int64_t count = 3 * s->mobile_count;
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < s->mobile_count; i++) {
            vec_copy(3, s->wall_state + k * count + 3 * i, from[k] + 3 * s->mobile[i]);
        }
    }
    double* x = s->wall_state;
    return (coordinates){.count = count,
                         .x = x,
                         .v = x + count,
                         .d = {x + 2 * count, x + 3 * count, x + 4 * count, x + 5 * count}};
}

void soft_walls_write(const soft_particles* s, walls* w)
{
    double* const to[6] = {w->position, w->velocity, w->rate2, w->rate3, w->rate4, w->rate5};
    const int64_t count = 3 * s->mobile_count;
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < s->mobile_count; i++) {
            vec_copy(3, to[k] + 3 * s->mobile[i], s->wall_state + k * count + 3 * i);
        }
    }
}

// ---- predict and correct -----------------------------------------------------------------------

/// Motion of the mobile walls since the last evaluation, from here (sign -1) or up to here (1).
static void note_walls(const soft_particles* s, walls* w, double sign)
{
    for (int i = 0; i < s->mobile_count; i++) {
        vec_add_scaled(3, w->moved + 3 * s->mobile[i], sign, w->position + 3 * s->mobile[i]);
    }
}

/// Bring walls and grains to their prediction at the time of evaluation.
static void predict(soft_particles* s, const step_order* order)
{
    walls* w = &order->state->walls;
    const integrator* method = s->integrator;
    note_walls(s, w, -1.0);
    const coordinates mobile = soft_walls_read(s, w);
    method->predict(&mobile, order->h, 0, mobile.count);
    soft_walls_write(s, w);
    drive_advance(w, order->state->time, method->evaluates_at * order->h);
    note_walls(s, w, 1.0);
    soft_predict_grains(s, order);
}

/// Correct what was predicted of the walls by the forces found there: where they are at the end of
/// the step.
static void correct_walls(soft_particles* s, const step_order* order)
{
    walls* w = &order->state->walls;
    const integrator* method = s->integrator;
    const double h = order->h, at = method->evaluates_at;
    for (int64_t k = 0; k < 3 * w->count; k++) w->moved[k] = w->turned[k] = 0.0;
    note_walls(s, w, -1.0);
    for (int i = 0; i < s->mobile_count; i++) {
        drive_acceleration(w, s->mobile[i], order->options->gravity, s->wall_acceleration + 3 * i);
    }
    const coordinates mobile = soft_walls_read(s, w);
    method->correct(&mobile, s->wall_acceleration, h, 0, mobile.count);
    soft_walls_write(s, w);
    if (at < 1.0) drive_advance(w, order->state->time + at * h, (1.0 - at) * h);
    note_walls(s, w, 1.0);
}

// ---- the step ----------------------------------------------------------------------------------

/// Contacts and overlaps at the evaluation, and the grains that were lost.
static void summarise(const soft_particles* s, const step_order* order, step_outcome* out)
{
    const contacts* list = &s->general.list;
    out->contacts = s->pairs.pair_count + list->count;
    out->active = list->count;
    for (int64_t c = 0; c < list->count; c++) {
        out->overlap_max = fmax(out->overlap_max, -list->gap[c]);
    }
    for (int64_t b = 0; b < s->pairs.block_count; b++) {
        out->active += s->pairs.block[b].active;
        out->overlap_max = fmax(out->overlap_max, s->pairs.block[b].overlap_max);
    }
    const int64_t n = order->state->grains.count;
    const uint8_t* first = n > 0 ? memchr(s->general.escaped, 1, (size_t)n) : NULL;
    out->escaped_grain = first ? first - s->general.escaped : -1;
    out->escaped = s->general.escaped;
}

/// Clocks are read in one of so many steps, which stands for all of them: small steps are shorter
/// than a look at the clock on some machines.
enum { TIMED_STEPS = 16 };

/// The time, in steps that are timed.
static double watch(const step_order* order)
{
    return order->state->step % TIMED_STEPS == 0 ? TIMED_STEPS * clock_seconds() : 0.0;
}

/// The first grain that ran away, as the table says once it knows; -1 if none did.
static talus_status find_runaway(soft_particles* s, const step_order* order, const soft_flow* flow,
                                 int64_t* row, talus_error* error)
{
    grains* g = &order->state->grains;
    if (!soft_flow_is_finite(flow)) TRY(soft_leave_rows(s, g, error));
    *row = soft_runaway(g, g->rate2, g->turn2, flow);
    return TALUS_OK;
}

talus_status soft_particles_step(soft_particles* s, const step_order* order, step_outcome* out,
                                 talus_error* error)
{
    const grains* g = &order->state->grains;
    running_totals* totals = order->totals;
    const double started = watch(order);
    *out = step_outcome_good();
    const bool begins = !g->rate2 && g->capacity > 0;
    TRY(soft_prepare(s, order, error));
    if (begins) TRY(soft_start(s, order, error));

    predict(s, order);
    const double predicted = watch(order);

    // A run begins with an evaluation at its start, the others are a step apart.
    const double since = begins ? s->integrator->evaluates_at * order->h : order->h;
    soft_flow flow;
    if (s->in_rows) {
        TRY(soft_stream(s, order, since, soft_stays_in_rows(order), error));
        flow = soft_flow_of_walls(s, order);
        correct_walls(s, order);
    } else {
        TRY(soft_evaluate(s, order, since, error));
        flow = soft_flow_of_walls(s, order);
        correct_walls(s, order);
        soft_each_share(s, order, soft_correct_rows);
    }
    soft_sum_flow(s, g->count, since, &flow);
    TRY(find_runaway(s, order, &flow, &out->nan_grain, error));
    const double evaluated = watch(order);
    totals->shown.seconds_advance += predicted - started;
    totals->shown.seconds_solve += evaluated - predicted;
    if (out->nan_grain >= 0) return TALUS_OK;

    totals->shown.dissipated += flow.lost + 0.5 * since * (totals->power_lost + flow.out);
    totals->shown.input += 0.5 * since * (totals->power_input + flow.input);
    totals->power_lost = flow.out;
    totals->power_input = flow.input;
    summarise(s, order, out);
    totals->shown.seconds_advance += watch(order) - evaluated;
    return TALUS_OK;
}

talus_soft_energy soft_particles_energy(const soft_particles* s, const step_order* order)
{
    const running_totals* t = order->totals;
    const double ahead = (1.0 - s->integrator->evaluates_at) * order->h; // since the evaluation
    return (talus_soft_energy){.elastic = s->elastic,
                               .dissipated = t->shown.dissipated + ahead * t->power_lost,
                               .input = t->shown.input + ahead * t->power_input,
                               .start = t->shown.start};
}

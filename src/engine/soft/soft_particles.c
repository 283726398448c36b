/// One step of soft particles: predict, find the forces there, correct (PLMH; soft/integrator.h).
///
/// Positions, angles and the mobile walls are coordinates of the integrator. Walls with a
/// prescribed motion are where their drive says at the time of the evaluation. In 3D the coordinate
/// of a rotation is the turn since the step began.
#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "soft/workspace.h"
#include "state/drive.h"

#include <stdlib.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

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

coordinates soft_centres(const soft_particles* s, const grains* g)
{
    return (coordinates){.count = g->count * s->dim,
                         .x = g->position,
                         .v = g->velocity,
                         .d = {g->rate2, g->rate3, g->rate4, g->rate5}};
}

coordinates soft_turns(const soft_particles* s, const grains* g)
{
    return (coordinates){.count = g->count * spin_width(s->dim),
                         .x = s->dim == 2 ? g->rotation : s->turn,
                         .v = g->spin,
                         .d = {g->turn2, g->turn3, g->turn4, g->turn5}};
}

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

// ---- what has moved ----------------------------------------------------------------------------

/// sum += factor x
static void add_scaled(int threads, int64_t count, double* sum, double factor, const double* x)
{
    if (parallel_is_plain(threads, count)) {
        for (int64_t i = 0; i < count; i++) sum[i] += factor * x[i];
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i++) sum[i] += factor * x[i];
}

/// Motion since the last evaluation, from here (sign -1) or up to here (sign 1): of the mobile
/// walls and, where elongations follow it, of all grains.
static void note_motion(const soft_particles* s, const step_order* order, double sign)
{
    grains* g = &order->state->grains;
    walls* w = &order->state->walls;
    const int dim = s->dim;
    for (int i = 0; i < s->mobile_count; i++) {
        vec_add_scaled(3, w->moved + 3 * s->mobile[i], sign, w->position + 3 * s->mobile[i]);
    }
    if (!s->geometric) return;
    add_scaled(order->threads, g->count * dim, g->moved, sign, g->position);
    add_scaled(order->threads, g->count * spin_width(dim), g->turned, sign,
               dim == 2 ? g->rotation : s->turn);
    // Grains glued to walls may have been carried across the cell.
    for (int64_t i = 0; i < g->count && sign > 0.0 && g->glue_position; i++) {
        if (g->glued_to[i] >= 0) cell_nearest(&order->state->cell, dim, g->moved + i * dim);
    }
}

/// Motions begin anew after an evaluation.
static void forget_motion(const soft_particles* s, const step_order* order)
{
    grains* g = &order->state->grains;
    walls* w = &order->state->walls;
    for (int64_t k = 0; k < 3 * w->count; k++) w->moved[k] = w->turned[k] = 0.0;
    if (!s->geometric || g->count == 0) return;
    const size_t n = (size_t)g->count, spin_dim = (size_t)spin_width(s->dim);
    memset(g->moved, 0, sizeof(double) * n * (size_t)s->dim);
    memset(g->turned, 0, sizeof(double) * n * spin_dim);
}

// ---- predict and correct -----------------------------------------------------------------------

/// Bring grains and walls to their prediction at the time of evaluation.
static void predict(soft_particles* s, const step_order* order)
{
    grains* g = &order->state->grains;
    walls* w = &order->state->walls;
    const integrator* method = s->integrator;
    const coordinates centres = soft_centres(s, g), turns = soft_turns(s, g);
    if (s->dim == 3 && turns.count > 0) memset(s->turn, 0, sizeof(double) * (size_t)turns.count);
    note_motion(s, order, -1.0);
    integrator_predict(method, &centres, order->h, order->threads);
    integrator_predict(method, &turns, order->h, order->threads);
    const coordinates mobile = soft_walls_read(s, w);
    integrator_predict(method, &mobile, order->h, 1);
    soft_walls_write(s, w);
    drive_advance(w, order->state->time, method->evaluates_at * order->h);
    drive_carry_grains(w, &order->state->cell, g, order->threads);
    note_motion(s, order, 1.0);
}

/// Turn a quaternion by a small vector: (1, turn/2) q, of unit length. The angle is 2
/// atan(|turn|/2), less than |turn| by |turn|^3/12: nothing that spheres feel depends on it.
static ALWAYS_INLINE void turn_slightly(double* q, const double turn[3])
{
    const double a = 0.5 * turn[0], b = 0.5 * turn[1], c = 0.5 * turn[2];
    const double w = q[0] - a * q[1] - b * q[2] - c * q[3];
    const double x = q[1] + a * q[0] + b * q[3] - c * q[2];
    const double y = q[2] + b * q[0] + c * q[1] - a * q[3];
    const double z = q[3] + c * q[0] + a * q[2] - b * q[1];
    const double scale = 1.5 - 0.5 * (w * w + x * x + y * y + z * z);
    q[0] = scale * w, q[1] = scale * x, q[2] = scale * y, q[3] = scale * z;
}

static ALWAYS_INLINE bool has_left(const cell* c, int dim, const double* x)
{
    bool left = false;
    for (int k = 0; k < dim; k++) {
        left |= c->periodic[k] && !(x[k] >= c->low[k] && x[k] < c->low[k] + c->length[k]);
    }
    return left;
}

/// Grains that have left the cell come in again on the other side; in 3D all turn.
static void finish_grains(const soft_particles* s, const step_order* order)
{
    grains* g = &order->state->grains;
    const int dim = s->dim;
    bool periodic = false;
    for (int k = 0; k < dim; k++) periodic = periodic || order->state->cell.periodic[k];
    if (!periodic && dim == 2) return;
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] >= 0) continue;
        if (periodic && has_left(&order->state->cell, dim, g->position + i * dim)) {
            cell_wrap(&order->state->cell, dim, g->position + i * dim, g->image + i * dim);
        }
        if (dim == 3) turn_slightly(g->rotation + 4 * i, s->turn + 3 * i);
    }
}

/// Correct what was predicted by the forces found there: the state at the end of the step.
static void correct(soft_particles* s, const step_order* order)
{
    grains* g = &order->state->grains;
    walls* w = &order->state->walls;
    const integrator* method = s->integrator;
    const double h = order->h, at = method->evaluates_at;
    const coordinates centres = soft_centres(s, g), turns = soft_turns(s, g);
    note_motion(s, order, -1.0);
    for (int i = 0; i < s->mobile_count; i++) {
        drive_acceleration(w, s->mobile[i], order->options->gravity, s->wall_acceleration + 3 * i);
    }
    const coordinates mobile = soft_walls_read(s, w);
    integrator_correct(method, &mobile, s->wall_acceleration, h, 1);
    soft_walls_write(s, w);
    if (at < 1.0) drive_advance(w, order->state->time + at * h, (1.0 - at) * h);
    integrator_correct(method, &centres, s->acceleration, h, order->threads);
    integrator_correct(method, &turns, s->angular, h, order->threads);
    drive_carry_grains(w, &order->state->cell, g, order->threads);
    note_motion(s, order, 1.0);
    finish_grains(s, order);
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
    // Grains out of the domain join those found behind walls.
    const grains* g = &order->state->grains;
    const talus_world_def* def = order->options;
    const int64_t n = g->count;
    for (int64_t i = 0; i < n && def->has_domain; i++) {
        for (int k = 0; k < g->dim && g->inv_mass[i] != 0.0; k++) {
            const double x = g->position[i * g->dim + k];
            const bool within = x >= def->domain_low[k] && x <= def->domain_high[k];
            if (!within && !order->state->cell.periodic[k]) s->general.escaped[i] = 1;
        }
    }
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
    TRY(soft_evaluate(s, order, since, error));
    out->nan_grain = soft_accelerate(s, order, since, &flow);
    const double evaluated = watch(order);
    totals->shown.seconds_advance += predicted - started;
    totals->shown.seconds_solve += evaluated - predicted;
    if (out->nan_grain >= 0) return TALUS_OK;

    totals->shown.dissipated += flow.lost + 0.5 * since * (totals->power_lost + flow.out);
    totals->shown.input += 0.5 * since * (totals->power_input + flow.input);
    totals->power_lost = flow.out;
    totals->power_input = flow.input;
    forget_motion(s, order);
    summarise(s, order, out);

    correct(s, order);
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

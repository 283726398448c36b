/// The beginning of a step: walls and grains as they would move without contacts, and how far that
/// is.
#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "rigid/step_parts.h"
#include "state/drive.h"

/// Room for velocities to change during the solve, in radii. Larger means more candidate contacts,
/// smaller more repeated searches (a flowing hopper: 2.7 a step at 0.005, 2 at 0.02).
static const double MARGIN_RADII = 0.01;

/// Velocities that the grains would have without contacts; drag is taken implicitly.
static void set_free_velocities(contact_dynamics* s, const step_order* order)
{
    const grains* g = &order->state->grains;
    const int dim = s->dim;
    const double h = order->h;
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        const double im = g->inv_mass[i], slow = step_slowing(order, im);
        const double falls = im > 0.0 ? 1.0 : 0.0;
        for (int k = 0; k < dim; k++) {
            const double force = g->force ? g->force[i * dim + k] : 0.0;
            double kick = h * (falls * order->options->gravity[k] + im * force);
            s->free_velocity[i * dim + k] = slow * (g->velocity[i * dim + k] + kick);
        }
    }
}

static void find_torque(void* data, int64_t first, int64_t last, double* found)
{
    const grains* g = data;
    const int spin_dim = spin_width(g->dim);
    for (int64_t i = first * spin_dim; i < last * spin_dim && *found == 0.0; i++) {
        *found = g->torque[i] != 0.0;
    }
}

/// Spins that the grains would have without contacts: their own, unless a torque acts on any.
static talus_status set_free_spins(contact_dynamics* s, const step_order* order)
{
    grains* g = &order->state->grains;
    const int spin_dim = spin_width(s->dim);
    double found;
    s->spin = g->spin;
    if (!g->torque) return TALUS_OK;
    parallel_reduce(order->threads, g->count, PARALLEL_SUM, 1, find_torque, g, &found);
    if (found == 0.0) return TALUS_OK;
    if (!arrays_renew(&s->spin_capacity, g->count, ROWS(s->free_spin, spin_dim))) {
        return TALUS_ERR_MEMORY;
    }
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        vec_copy(spin_dim, s->free_spin + i * spin_dim, g->spin + i * spin_dim);
        grain_add_torque(g, i, order->h, s->free_spin + i * spin_dim);
    }
    s->spin = s->free_spin;
    return TALUS_OK;
}

/// Sum of the free velocities of the free grains, and how many there are.
static void add_free_velocities(void* data, int64_t first, int64_t last, double sums[4])
{
    const step_loop* loop = data;
    const int dim = loop->s->dim;
    for (int64_t i = first; i < last; i++) {
        if (loop->order->state->grains.inv_mass[i] == 0.0) continue;
        vec_add_scaled(dim, sums, 1.0, loop->s->free_velocity + i * dim);
        sums[3] += 1.0;
    }
}

double step_motion(const contact_dynamics* s, const grains* g, int64_t i, const double* v,
                   const double* spin, double h)
{
    const struck_body* struck = impacts_struck(&s->impacts, i);
    double relative[3];
    vec_sub(s->dim, relative, v, s->drift);
    if (struck) vec_add_scaled(s->dim, relative, 1.0 / h, struck->shift);
    double angle[3] = {0.0, 0.0, 0.0};
    if (g->solid[i] >= 0) {
        if (struck) grain_spin_of_w(g, i, struck->turn, angle);
        vec_add_scaled(spin_width(s->dim), angle, h, spin);
    }
    return h * vec_norm(s->dim, relative) + g->radius[i] * vec_norm(3, angle);
}

/// Margins are counted from the mean free velocity of the free grains, so that a falling or
/// travelling pile has small ones.
static void set_margins(contact_dynamics* s, const step_order* order)
{
    const grains* g = &order->state->grains;
    const walls* w = &order->state->walls;
    const int spin_dim = spin_width(s->dim);
    step_loop loop = {.s = s, .order = order};
    double sums[4];
    parallel_reduce(order->threads, g->count, PARALLEL_SUM, 4, add_free_velocities, &loop, sums);
    for (int k = 0; k < 3; k++) s->drift[k] = sums[k] / (sums[3] > 0.0 ? sums[3] : 1.0);
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        const int wall = g->glued_to[i];
        const bool pushed = g->inv_mass[i] > 0.0 || (wall >= 0 && wall_is_mobile(w, wall));
        const double slack = pushed ? MARGIN_RADII * g->radius[i] : 0.0;
        s->margin[i] = slack + step_motion(s, g, i, s->free_velocity + i * s->dim,
                                           s->spin + i * spin_dim, order->h);
    }
    const double wall_slack = MARGIN_RADII * grains_mean_diameter(g, order->threads);
    for (int i = 0; i < (int)w->count; i++) {
        s->wall_margin[i] = wall_is_mobile(w, i) ? wall_slack : 0.0;
    }
}

talus_status step_begin(contact_dynamics* s, const step_order* order)
{
    physical_state* state = order->state;
    walls* w = &state->walls;
    s->saved_count = 0;
    impacts_clear(&s->impacts);
    s->flown = false;
    if (!arrays_renew(&s->grain_capacity, state->grains.count, ROWS(s->free_velocity, s->dim),
                      ARRAY(s->margin), ARRAY(s->clear), ARRAY(s->reach), ARRAY(s->escaped)) ||
        !arrays_renew(&s->wall_capacity, w->count, ARRAY(s->wall_margin), ARRAY(s->wall_clear),
                      ROWS(s->saved_walls, 9))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t i = 0; i < w->count; i++) {
        double* saved = s->saved_walls + 9 * i;
        vec_copy(3, saved, w->velocity + 3 * i);
        vec_copy(3, saved + 3, w->spin + 3 * i);
        vec_copy(3, saved + 6, w->applied + 3 * i);
    }
    s->saved_count = w->count;
    s->assembly.wall_before = s->saved_walls;
    s->assembly.impacts = &s->impacts;
    drive_begin_step(w, order->options->gravity, state->time, order->h);
    drive_carry_grains(w, &state->cell, &state->grains, order->threads);
    set_free_velocities(s, order);
    TRY(set_free_spins(s, order));
    set_margins(s, order);
    return poses_update(&state->poses, &state->grains);
}

// ---- steps that are too long -------------------------------------------------------------------

/// A step in which a grain goes farther than so many times its thickness is halved before anything
/// is searched. Less is left to what is seen of its contacts: a grain may fly fast and alone.
static const double FAR = 10.0;

/// Whether a grain of [first, last) goes that far.
static void find_far(void* data, int64_t first, int64_t last, double* found)
{
    const step_loop* loop = data;
    const grains* g = &loop->order->state->grains;
    for (int64_t i = first; i < last && *found == 0.0; i++) {
        *found = loop->s->margin[i] - MARGIN_RADII * g->radius[i] > FAR * grain_thinnest(g, i);
    }
}

bool step_goes_far(contact_dynamics* s, const step_order* order)
{
    step_loop loop = {.s = s, .order = order};
    double found = 0.0;
    if (!order->may_halve) return false;
    parallel_reduce(order->threads, order->state->grains.count, PARALLEL_SUM, 1, find_far, &loop,
                    &found);
    return found > 0.0;
}

/// The end of a step that is accepted: velocities, places, and forces on walls.
#include "base/clock.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "rigid/step_parts.h"
#include "state/drive.h"

/// Add a contact's force and torque to a wall.
static void load_wall(walls* w, const cell* periodic, int wall, const contacts* list, int64_t c,
                      double sign)
{
    const int dim = list->dim;
    double arm[3] = {0.0, 0.0, 0.0}, f[3] = {0.0, 0.0, 0.0}, torque[3];
    for (int k = 0; k < dim; k++) f[k] = sign * list->force[c * dim + k];
    vec_sub(dim, arm, list->point + c * dim, w->position + 3 * wall);
    cell_nearest(periodic, dim, arm);
    vec_cross(torque, arm, f);
    if (dim == 2) {
        torque[2] += list->torque ? sign * list->torque[c] : 0.0;
    } else if (list->torque) {
        vec_add_scaled(3, torque, sign, list->torque + 3 * c);
    }
    vec_add_scaled(3, w->force + 3 * wall, 1.0, f);
    vec_add_scaled(3, w->torque + 3 * wall, 1.0, torque);
}

/// The walls that a contact's bodies belong to, as walls or as grains glued to them; below 0: none.
static void walls_of(const step_order* order, int64_t c, int* wall_a, int* wall_b)
{
    const int32_t a = order->state->contacts.a_row[c], b = order->state->contacts.b_row[c];
    *wall_a = a < 0 ? -1 - a : order->state->grains.glued_to[a];
    *wall_b = order->state->grains.glued_to[b];
}

static bool any_at_walls(const step_order* order, int64_t first, int64_t last)
{
    for (int64_t c = first; c < last; c++) {
        int wall_a, wall_b;
        walls_of(order, c, &wall_a, &wall_b);
        if (wall_a >= 0 || wall_b >= 0) return true;
    }
    return false;
}

/// Sum the forces of the grains on the walls, through glued grains too. Threads look for the chunks
/// of contacts that matter; the sums are made in the order of the contacts.
static void load_walls(const step_order* order)
{
    walls* w = &order->state->walls;
    const contacts* list = &order->state->contacts;
    const int chunks = parallel_chunks(list->count);
    bool matters[PARALLEL_CHUNKS];
    for (int64_t k = 0; k < 3 * w->count; k++) w->force[k] = w->torque[k] = 0.0;
#pragma omp parallel for num_threads(parallel_threads(order->threads, list->count)) schedule(static)
    for (int k = 0; k < chunks; k++) {
        matters[k] =
            any_at_walls(order, parallel_first(list->count, k), parallel_first(list->count, k + 1));
    }
    for (int k = 0; k < chunks; k++) {
        const int64_t last = parallel_first(list->count, matters[k] ? k + 1 : k);
        for (int64_t c = parallel_first(list->count, k); c < last; c++) {
            int wall_a, wall_b;
            walls_of(order, c, &wall_a, &wall_b);
            if (wall_a >= 0) load_wall(w, &order->state->cell, wall_a, list, c, -1.0);
            if (wall_b >= 0) load_wall(w, &order->state->cell, wall_b, list, c, 1.0);
        }
    }
}

bool contact_dynamics_may_overlap(const contact_dynamics* s, const physical_state* state, int64_t c)
{
    const contacts* list = &state->contacts;
    const int32_t a = list->a_row[c];
    if (list->state[c] != TALUS_CONTACT_OPEN || list->gap[c] <= 0.0) return true;
    // Balls that were hit may have met others. Solids that turned far may have left the features
    // that were near, and seem to overlap there.
    const bool balls =
        state->grains.solid[list->b_row[c]] < 0 && (a < 0 || state->grains.solid[a] < 0);
    return balls && impacts_bend(&s->impacts, state, list, c);
}

void step_turn_grain(contact_dynamics* s, grains* g, int64_t i, double h)
{
    const int dim = s->dim;
    const struck_body* struck = impacts_struck(&s->impacts, i);
    const double* row = s->problem.body + i * problem_stride(dim);
    grain_spin_of_w(g, i, row + row_w(dim), g->spin + i * spin_width(dim));
    if (struck && g->solid[i] >= 0) grain_turn_aside(g, i, struck->turn);
    grain_turn(g, i, h);
}

void contact_dynamics_accept(contact_dynamics* s, const step_order* order)
{
    const double start = clock_seconds(), h = order->h;
    const int dim = s->dim, stride = problem_stride(dim);
    physical_state* state = order->state;
    grains* g = &state->grains;
    walls* w = &state->walls;
    for (int i = 0; i < (int)w->count; i++) {
        const int64_t row = s->assembly.wall_row[i];
        const struck_body* struck = impacts_struck(&s->impacts, g->count + i);
        if (row >= 0) vec_copy(dim, w->velocity + 3 * i, s->problem.body + row * stride);
        if (struck) vec_add_scaled(dim, w->position + 3 * i, 1.0, struck->shift);
    }
    contacts_swap(&state->contacts, &s->found);
    load_walls(order);

    // x_new = x + h v_new, and what impacts did on the way
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        const double* row = s->problem.body + i * stride;
        vec_copy(dim, g->velocity + i * dim, row);
        vec_add_scaled(dim, g->position + i * dim, h, row);
        const struck_body* struck = impacts_struck(&s->impacts, i);
        if (struck) vec_add_scaled(dim, g->position + i * dim, 1.0, struck->shift);
        cell_wrap(&state->cell, dim, g->position + i * dim, g->image + i * dim);
        step_turn_grain(s, g, i, h);
    }
    drive_move(w, h);
    drive_carry_grains(w, &state->cell, g, order->threads);
    s->h = h;
    order->totals->shown.seconds_advance += clock_seconds() - start;
}

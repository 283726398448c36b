/// The ways of solids in a step that was solved: would it carry them into others?
#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "rigid/step_parts.h"

/// A body that was hit gets to where its path with corners ends: the velocity of the chord.
static void add_shift(const contact_dynamics* s, int64_t body, double h, double* velocity)
{
    const struck_body* struck = impacts_struck(&s->impacts, body);
    if (struck) vec_add_scaled(s->dim, velocity, 1.0 / h, struck->shift);
}

/// The even spin with which a free grain gets to the orientation that the step gives it: it is
/// turned as it will be, looked at, and turned back. Impacts and the gyroscopic torque bend the
/// way.
static void even_spin(contact_dynamics* s, grains* g, int64_t i, double h, double* spin)
{
    const int dim = s->dim, spin_dim = spin_width(dim);
    const struck_body* struck = impacts_struck(&s->impacts, i);
    double turning[3];
    vec_copy(spin_dim, turning, s->problem.body + i * problem_stride(dim) + row_w(dim));
    if (struck) vec_add_scaled(spin_dim, turning, 1.0 / h, struck->turn);
    grain_spin_of_w(g, i, turning, spin);
    if (dim == 2 || g->solid[i] < 0) return;
    double *q = g->rotation + 4 * i, *own = g->spin + 3 * i, start[4], before[3], way[4], angle[3];
    vec_copy(4, start, q);
    vec_copy(3, before, own);
    step_turn_grain(s, g, i, h);
    const double back[4] = {start[0], -start[1], -start[2], -start[3]};
    quat_multiply(way, q, back);
    quat_to_rotation(angle, way);
    vec_copy(4, q, start);
    vec_copy(3, own, before);
    const double size = vec_norm(3, angle);
    if (!(size > 0.0)) return;
    // Whole turns are not seen in orientations: there are as many as the spin makes.
    const double whole = round((h * vec_dot(3, spin, angle) / size - size) / (2.0 * M_PI));
    for (int k = 0; k < 3; k++) spin[k] = (1.0 + 2.0 * M_PI * whole / size) * angle[k] / h;
}

talus_status step_look_at_ways(contact_dynamics* s, const step_order* order, step_passage* out)
{
    const physical_state* state = order->state;
    grains* g = &order->state->grains;
    const walls* w = &state->walls;
    const int dim = s->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    if (!state->poses.first || state->poses.first[g->count] == 0) return TALUS_OK; // only balls
    if (!arrays_renew(&s->way_capacity, g->count, ROWS(s->way_velocity, dim),
                      ROWS(s->way_spin, spin_dim)) ||
        !arrays_renew(&s->wall_way_capacity, w->count, ROWS(s->way_walls, 3))) {
        return TALUS_ERR_MEMORY;
    }
    for (int i = 0; i < (int)w->count; i++) {
        const int64_t row = s->assembly.wall_row[i];
        vec_copy(3, s->way_walls + 3 * i, w->velocity + 3 * i);
        if (row >= 0) vec_copy(dim, s->way_walls + 3 * i, s->problem.body + row * stride);
        add_shift(s, g->count + i, order->h, s->way_walls + 3 * i);
    }
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        const int wall = g->glued_to[i];
        const double* row = s->problem.body + i * stride;
        const bool mobile = wall >= 0 && s->assembly.wall_row[wall] >= 0;
        vec_copy(dim, s->way_velocity + i * dim, mobile ? s->way_walls + 3 * wall : row);
        add_shift(s, i, order->h, s->way_velocity + i * dim);
        if (wall == GRAIN_FREE) {
            even_spin(s, g, i, order->h, s->way_spin + i * spin_dim);
        } else {
            vec_copy(spin_dim, s->way_spin + i * spin_dim, g->spin + i * spin_dim);
        }
    }
    const passage_way way = {.state = state,
                             .pairs = &s->neighbours.pairs,
                             .velocity = s->way_velocity,
                             .spin = s->way_spin,
                             .wall_velocity = s->way_walls,
                             .drift = {s->drift[0], s->drift[1], s->drift[2]},
                             .h = order->h,
                             .threads = order->threads};
    passage found;
    TRY(passage_find(&s->passage, &way, &found));
    *out = (step_passage){.passes = found.passes,
                          .a = found.a,
                          .b = found.b,
                          .depth = found.depth,
                          .safe_step = found.safe_step};
    return TALUS_OK;
}

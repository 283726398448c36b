/// The ways of solids in a step that was solved: would it carry them into others?
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "rigid/step_parts.h"

/// A body that was hit gets to where its path with corners ends: the velocity of the chord.
static void add_shift(const contact_dynamics* s, int64_t body, double h, double* velocity)
{
    const struck_body* struck = impacts_struck(&s->impacts, body);
    if (struck) vec_add_scaled(s->dim, velocity, 1.0 / h, struck->shift);
}

talus_status step_look_at_ways(contact_dynamics* s, const step_order* order, step_passage* out)
{
    const physical_state* state = order->state;
    const grains* g = &state->grains;
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
    for (int64_t i = 0; i < g->count; i++) {
        const int wall = g->glued_to[i];
        const double* row = s->problem.body + i * stride;
        const bool mobile = wall >= 0 && s->assembly.wall_row[wall] >= 0;
        vec_copy(dim, s->way_velocity + i * dim, mobile ? s->way_walls + 3 * wall : row);
        add_shift(s, i, order->h, s->way_velocity + i * dim);
        if (wall == GRAIN_FREE) {
            const struck_body* struck = impacts_struck(&s->impacts, i);
            double turning[3];
            vec_copy(spin_dim, turning, row + row_w(dim));
            if (struck) vec_add_scaled(spin_dim, turning, 1.0 / order->h, struck->turn);
            grain_spin_of_w(g, i, turning, s->way_spin + i * spin_dim);
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

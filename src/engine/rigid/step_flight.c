/// Impacts of a step (rigid/impacts.h), searched as far as they carry bodies, and how the step goes
/// on after them.
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "rigid/step_parts.h"
#include "state/drive.h"

/// Raise the margins of the bodies that impacts carry beyond them; false if there are none.
static bool raise_struck_margins(contact_dynamics* s, const step_order* order)
{
    const int64_t count = order->state->grains.count;
    bool raised = false;
    for (int64_t j = 0; j < s->impacts.body_count; j++) {
        const struck_body* b = &s->impacts.body[j];
        double* margin = b->body < count ? s->margin + b->body : s->wall_margin + (b->body - count);
        if (!(b->reach > *margin)) continue;
        *margin = MARGIN_GROWTH * b->reach;
        raised = true;
    }
    return raised;
}

/// Grains that are glued to walls that were hit go with them.
static void carry_with_struck_walls(contact_dynamics* s, const step_order* order)
{
    grains* g = &order->state->grains;
    bool hit = false;
    for (int i = 0; i < (int)order->state->walls.count; i++) {
        const struck_body* b = impacts_struck(&s->impacts, g->count + i);
        if (!b) continue;
        s->wall_margin[i] = fmax(s->wall_margin[i], vec_norm(s->dim, b->shift));
        hit = true;
    }
    if (!hit) return;
    s->assembly.wall_before = s->impacts.wall_before;
    drive_carry_grains(&order->state->walls, &order->state->cell, g, order->threads);
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] < 0) continue;
        vec_copy(s->dim, s->free_velocity + i * s->dim, g->velocity + i * s->dim);
    }
}

talus_status step_fly(contact_dynamics* s, const step_order* order, int64_t* spoilt,
                      talus_error* error)
{
    const impact_scene scene = {.order = order,
                                .list = &s->found,
                                .free_velocity = s->free_velocity,
                                .free_spin = s->spin,
                                .wall_before = s->saved_walls,
                                .drift = s->drift};
    talus_totals* totals = &order->totals->shown;
    const double start = clock_seconds(), detect = totals->seconds_detect;
    if (*spoilt >= 0 || !impacts_possible(&order->state->materials)) return TALUS_OK;
    for (int searches = 0;; searches++) {
        if (impacts_find(&s->impacts, &scene)) return error_memory(error, "finding impacts");
        if (!raise_struck_margins(s, order)) break;
        impacts_clear(&s->impacts);
        if (searches == MAX_SEARCHES) {
            return error_set(error, TALUS_ERR_NUMERIC,
                             "impacts keep moving grains beyond every search radius at t = %g; the "
                             "time step is too large",
                             order->state->time);
        }
        TRY(step_search(s, order, spoilt, error));
        if (*spoilt >= 0) return TALUS_OK;
    }
    impacts_commit(&s->impacts, &scene, s->free_velocity,
                   s->spin == s->free_spin ? s->free_spin : NULL);
    carry_with_struck_walls(s, order);
    impacts_adjust(&s->impacts, order, s->free_velocity, &s->found);
    s->flown = true;
    totals->seconds_solve += clock_seconds() - start - (totals->seconds_detect - detect);
    return TALUS_OK;
}

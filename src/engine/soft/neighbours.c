/// Which grains are near each other: what the soft method keeps of a world from step to step, and
/// when it is made anew. Laws and histories belong to a world as somebody left it, places to so
/// many steps, the list of pairs to grains that have moved by less than half its room.
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "soft/on_card.h"

#include <stdlib.h>
#include <string.h>

/// Room of a pair in the list, in mean diameters: a wide one serves longer, but has pairs that do
/// not touch. It widens or narrows until a list serves about as many steps as making it costs
/// percents of a step. Results do not depend on it.
static const double FIRST_SKIN = 0.02, LEAST_SKIN = 0.005, MOST_SKIN = 0.5;
enum { FEW_STEPS = 60, MANY_STEPS = 300 };
/// Steps after which the order of work is made anew; numbers of steps, so that a resumed run does
/// the same as an unbroken one.
enum { SORT_STEPS = 20000 };

// ---- a world that somebody has changed ---------------------------------------------------------

/// Laws, places and history anew.
static talus_status take_over(soft_particles* s, const step_order* order, talus_error* error)
{
    const talus_soft_def* soft = &order->options->soft;
    grains* g = &order->state->grains;
    s->integrator = integrator_of(soft->integrator);
    s->kernels = soft_kernels_for(soft->vector);
    s->geometric = soft->elongation == TALUS_ELONGATION_GEOMETRIC;
    if (!s->kernels) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "this machine does not have the vector width that was asked for");
    }
    s->has_solids = false;
    for (int64_t i = 0; i < g->count && !s->has_solids; i++) s->has_solids = g->solid[i] >= 0;
    TRY(soft_laws_make(&s->laws, &order->state->materials, soft, s->dim, s->has_solids, error));
    if (s->has_solids && s->dim == 3) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the method soft knows balls and, in 2D, polygons: 3D grains of other "
                         "shapes need the method contact");
    }
    if (soft->law == TALUS_SOFT_AREA && s->dim == 3) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the law area of the method soft exists in 2D only");
    }
    area_shapes_free(&s->general.shapes);
    const bool fresh = !g->place;
    const int width = spin_width(s->dim);
    if (grains_need_soft(g, s->integrator->kept) || walls_need_soft(&order->state->walls) ||
        !arrays_renew(&s->row_capacity, g->count, ARRAY(s->reach), ROWS(s->acceleration, s->dim),
                      ROWS(s->angular, width), ROWS(s->turn, width)) ||
        !arrays_renew(&s->share_capacity, g->count / SOFT_ROWS + 1, ARRAY(s->share)) ||
        soft_places_make(&s->places, g, fresh, order->threads) || soft_import(s, order)) {
        return error_memory(error, "preparing soft grains");
    }
    s->listed = s->in_rows = s->on_card = false;
    s->revision = order->state->revision;
    s->known = true;
    return TALUS_OK;
}

/// New places, and the history in their terms.
static talus_status sort_places(soft_particles* s, const step_order* order)
{
    if (s->listed) TRY(soft_pairs_remember(&s->pairs));
    const int64_t n = s->places.count;
    int32_t* old = malloc(sizeof *old * (size_t)(n + 1));
    if (!old) return TALUS_ERR_MEMORY;
    for (int64_t p = 0; p < n; p++) old[p] = s->places.row_of[p];
    const talus_status status =
        soft_places_make(&s->places, &order->state->grains, true, order->threads);
    if (status == TALUS_OK) soft_pairs_reorder(&s->pairs, old, &s->places);
    free(old);
    s->listed = false;
    return status;
}

talus_status soft_leave_rows(soft_particles* s, grains* g, talus_error* error)
{
    TRY(soft_card_fetch(s, g, error));
    if (s->in_rows) soft_rows_to_table(s, g, NULL);
    return TALUS_OK;
}

talus_status soft_show_rows(soft_particles* s, grains* g, talus_error* error)
{
    TRY(soft_card_fetch_rows(s, error));
    if (s->in_rows) soft_rows_to_table(s, g, NULL);
    return TALUS_OK;
}

bool soft_stays_in_rows(const step_order* order)
{
    return order->more && (order->state->step + 1) % SORT_STEPS != 0;
}

talus_status soft_prepare(soft_particles* s, const step_order* order, talus_error* error)
{
    const physical_state* state = order->state;
    if (!s->known || s->revision != state->revision) TRY(take_over(s, order, error));
    if (state->step > 0 && state->step % SORT_STEPS == 0 && sort_places(s, order)) {
        return error_memory(error, "sorting the grains");
    }
    const int own =
        soft_moves_in_rows(s, order) ? soft_own(s->integrator != &verlet_integrator) : 0;
    if (soft_bodies_reserve(&s->bodies, &state->grains, s->geometric, own)) {
        return error_memory(error, "preparing a step");
    }
    const walls* w = &state->walls;
    if (w->count > s->wall_capacity) {
        s->general.far_known = false;
        if (!arrays_renew(&s->wall_capacity, w->count, ARRAY(s->mobile), ROWS(s->wall_state, 18),
                          ROWS(s->wall_acceleration, 3), ARRAY(s->wall_reach))) {
            return error_memory(error, "preparing a step");
        }
        memset(s->wall_reach, 0, sizeof *s->wall_reach * (size_t)s->wall_capacity);
    }
    s->mobile_count = 0;
    for (int i = 0; i < (int)w->count; i++) {
        if (w->present[i] && wall_is_mobile(w, i)) s->mobile[s->mobile_count++] = i;
    }
    return TALUS_OK;
}

// ---- the list of pairs -------------------------------------------------------------------------

/// Those of balls, and those that are not.
static talus_status split_pairs(soft_particles* s, const grains* g)
{
    s->balls.count = s->others.count = 0;
    for (int64_t i = 0; i < s->near.count; i++) {
        const int32_t a = s->near.a[i], b = s->near.b[i];
        pair_list* list = soft_are_balls(s, g, a, b) ? &s->balls : &s->others;
        if (!arrays_grow(&list->capacity, list->count + 1, ARRAY(list->a), ARRAY(list->b))) {
            return TALUS_ERR_MEMORY;
        }
        list->a[list->count] = a;
        list->b[list->count++] = b;
    }
    return TALUS_OK;
}

/// Two images of one pair must not both be in reach: 4 reaches of the widest grain must fit into
/// the cell. The skin is made as narrow as that needs.
static talus_status fit_skin(soft_particles* s, const step_order* order, talus_error* error)
{
    const grains* g = &order->state->grains;
    int64_t widest = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->radius[i] > g->radius[widest]) widest = i;
    }
    for (int k = 0; k < s->dim && g->count > 1; k++) {
        if (!order->state->cell.periodic[k]) continue;
        const double room =
            0.5 * order->state->cell.length[k] - 2.0 * g->radius[widest] - s->laws.range;
        s->skin = fmin(s->skin, 0.9 * room);
        if (room > 0.0) continue;
        return error_set(error, TALUS_ERR_NUMERIC,
                         "periodic cell too short along %c: %g is not more than twice the distance "
                         "across which grain %lld (radius %g) may touch another; use a longer cell",
                         axis_letter(k), order->state->cell.length[k], (long long)g->id[widest],
                         g->radius[widest]);
    }
    return TALUS_OK;
}

/// Room of the pairs in the next list.
static talus_status choose_skin(soft_particles* s, const step_order* order, talus_error* error)
{
    const double part = s->skin_part <= 0.0 ? FIRST_SKIN : s->skin_part;
    const double wish = s->served < FEW_STEPS    ? 1.5 * part
                        : s->served > MANY_STEPS ? 0.7 * part
                                                 : part;
    s->skin_part = s->served > 0 ? fmin(fmax(wish, LEAST_SKIN), MOST_SKIN) : part;
    s->served = 0;
    s->skin = s->skin_part * grains_mean_diameter(&order->state->grains, order->threads);
    return fit_skin(s, order, error);
}

talus_status soft_make_list(soft_particles* s, const step_order* order, talus_error* error)
{
    const grains* g = &order->state->grains;
    const cell* periodic = &order->state->cell;
    const bool all_balls = !s->has_solids && s->laws.kind.law != TALUS_SOFT_AREA;
    TRY(choose_skin(s, order, error));
    for (int64_t i = 0; i < g->count; i++) {
        s->reach[i] = g->radius[i] + 0.5 * (s->skin + s->laws.range);
    }
    const ball_set all = {s->dim, g->count, g->position, s->reach, g->inv_mass};
    const soft_listing from = {.g = g,
                               .periodic = periodic,
                               .moving = s->geometric,
                               .skin = s->skin,
                               .places = &s->places,
                               .pairs = all_balls ? &s->near : &s->balls,
                               .laws = &s->laws,
                               .threads = order->threads};
    talus_status status = grid_pairs(s->grid, &all, periodic, order->threads, &s->near);
    grid_give_back(s->grid);
    if (status == TALUS_OK && !all_balls) status = split_pairs(s, g);
    if (status == TALUS_OK) status = soft_bodies_list(&s->bodies, g, &s->places, s->geometric);
    if (status == TALUS_OK) status = soft_pairs_make(&s->pairs, &from);
    if (status < 0) return error_memory(error, "listing pairs of grains");
    s->listed = true;
    s->general.far_known = false; // grains' room counts from the list
    return TALUS_OK;
}

double soft_fill_rows(const soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    return s->kernels->fill(&s->bodies, &order->state->grains, &s->places, &order->state->cell,
                            first, last);
}

static void fill_share(soft_particles* s, const step_order* order, int64_t first, int64_t last)
{
    s->share[first / SOFT_ROWS].farthest = soft_fill_rows(s, order, first, last);
}

void soft_rows_filled(soft_particles* s, int64_t count)
{
    s->filled = true;
    s->farthest = 0.0;
    for (int64_t first = 0; first < count; first += SOFT_ROWS) {
        s->farthest = fmax(s->farthest, s->share[first / SOFT_ROWS].farthest);
    }
}

talus_status soft_neighbours(soft_particles* s, const step_order* order, talus_error* error)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!s->listed) {
            TRY(soft_leave_rows(s, &order->state->grains, error));
            TRY(soft_make_list(s, order, error));
            s->filled = s->in_rows;
            s->farthest = 0.0;
        }
        if (!s->filled) {
            soft_each_share(s, order, fill_share);
            soft_rows_filled(s, order->state->grains.count);
        }
        s->filled = false; // whoever asks next has moved the grains
        if (s->farthest <= 0.5 * s->skin) {
            s->served++;
            return TALUS_OK;
        }
        bool made = false;
        if (s->on_card) {
            TRY(choose_skin(s, order, error));
            TRY(soft_card_make_list(s, order, &made, error));
        }
        if (made) {
            s->filled = true;
            s->farthest = 0.0;
            s->general.far_known = false;
            continue;
        }
        TRY(soft_leave_rows(s, &order->state->grains, error));
        if (s->listed && soft_pairs_remember(&s->pairs)) {
            return error_memory(error, "listing pairs of grains");
        }
        s->listed = false;
    }
    return error_set(error, TALUS_ERR_NUMERIC, "positions are not finite at t = %.9g",
                     order->state->time);
}

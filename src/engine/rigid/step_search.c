/// Searching contacts so far that none is missed: margins of the bodies, a search within them, and
/// another when the solution moves one beyond its own.
#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "detect/narrow.h"
#include "rigid/step_parts.h"

#include <string.h>

/// Positions and reaches beyond this have squares that overflow.
static const double SEARCHABLE = 1e150;

// ---- within the margins ------------------------------------------------------------------------

/// Two images of one pair must not both be in reach: contacts are found for the nearest only.
static talus_status check_cell(const contact_dynamics* s, const step_order* order,
                               talus_error* error)
{
    const grains* g = &order->state->grains;
    for (int k = 0; k < s->dim && g->count > 1; k++) {
        if (!order->state->cell.periodic[k] || 4.0 * s->widest < order->state->cell.length[k])
            continue;
        int64_t widest = 0;
        while (s->reach[widest] < s->widest) widest++;
        return error_set(
            error, TALUS_ERR_NUMERIC,
            "periodic cell too short along %c: %g is not more than twice the distance "
            "across which grain %lld (radius %g) may touch another in this step; use a "
            "longer cell or a smaller time step",
            axis_letter(k), order->state->cell.length[k], (long long)g->id[widest],
            g->radius[widest]);
    }
    return TALUS_OK;
}

/// Reaches of the grains [first, last). Least numbers: a row with a bad velocity, a row with a bad
/// place, the largest reach with its sign turned.
static void set_reaches(void* data, int64_t first, int64_t last, double least[3])
{
    const step_loop* loop = data;
    contact_dynamics* s = loop->s;
    const grains* g = &loop->order->state->grains;
    const double range = materials_bond_range(&loop->order->state->materials);
    const int dim = s->dim;
    for (int64_t i = first; i < last; i++) {
        double speed = 0.0, place = s->reach[i] = g->radius[i] + s->margin[i] + 0.5 * range;
        least[2] = fmin(least[2], -place);
        for (int k = 0; k < dim; k++) {
            speed += fabs(s->free_velocity[i * dim + k]);
            place += fabs(g->position[i * dim + k]);
        }
        if (!isfinite(speed)) least[0] = fmin(least[0], (double)i);
        if (!(place < SEARCHABLE)) least[1] = fmin(least[1], (double)i);
    }
}

talus_status step_carry_over(contact_dynamics* s, const step_order* order)
{
    const physical_state* state = order->state;
    TRY(contacts_match(&s->found, &state->contacts, &state->grains, order->threads));
    // Impacts want to know which contacts were pressed: before them forces are kept in any case.
    const bool wanted = !s->flown && impacts_possible(&state->materials);
    if (!order->options->solver.warm_start && !wanted) contacts_forget_forces(&s->found);
    return TALUS_OK;
}

talus_status step_search(contact_dynamics* s, const step_order* order, int64_t* spoilt,
                         talus_error* error)
{
    physical_state* state = order->state;
    grains* g = &state->grains;
    const double start = clock_seconds();
    step_loop loop = {.s = s, .order = order};
    double least[3];
    parallel_reduce(order->threads, g->count, PARALLEL_MIN, 3, set_reaches, &loop, least);
    s->widest = -least[2];
    *spoilt = least_row(least[0]) >= 0 ? least_row(least[0]) : least_row(least[1]);
    if (*spoilt >= 0) return TALUS_OK;
    TRY(check_cell(s, order, error));
    if (g->count > 0) memset(s->escaped, 0, (size_t)g->count);
    const ball_set balls = {s->dim, g->count, g->position, s->reach, g->inv_mass};
    const narrow bodies = {.g = g,
                           .w = &state->walls,
                           .periodic = &state->cell,
                           .poses = &state->poses,
                           .margin = s->margin,
                           .wall_margin = s->wall_margin,
                           .range = materials_bond_range(&state->materials),
                           .velocity = s->free_velocity,
                           .spin = s->spin,
                           .drift = {s->drift[0], s->drift[1], s->drift[2]},
                           .h = order->h,
                           .last = &state->contacts,
                           .threads = order->threads};
    s->found.count = 0;
    if (neighbours_update(&s->neighbours, &balls, &state->cell, order->threads) ||
        narrow_walls(&bodies, s->escaped, &s->found) ||
        narrow_pairs(&bodies, &s->neighbours.pairs, &s->found) || step_carry_over(s, order)) {
        return error_memory(error, "searching for contacts");
    }
    if (s->found.count > INT32_MAX - 64) {
        return error_set(error, TALUS_ERR_ARGUMENT, "more than 2^31 contacts in one world");
    }
    contacts_prune(&s->found, order->threads);
    if (s->flown) impacts_adjust(&s->impacts, order, s->free_velocity, &s->found);
    order->totals->shown.seconds_detect += clock_seconds() - start;
    return TALUS_OK;
}

// ---- beyond the margins ------------------------------------------------------------------------

/// How far the solution moves a grain; one glued to a mobile wall goes with the wall.
static double solved_motion(const contact_dynamics* s, const grains* g, int64_t i, double h)
{
    const int dim = s->dim, wall = g->glued_to[i];
    const int32_t wall_row = wall >= 0 ? s->assembly.wall_row[wall] : -1;
    const double* row = s->problem.body + (wall_row >= 0 ? wall_row : i) * problem_stride(dim);
    double spin[3] = {0.0, 0.0, 0.0};
    if (g->solid[i] >= 0 && wall_row < 0) grain_spin_of_w(g, i, row + row_w(dim), spin);
    return step_motion(s, g, i, row, spin, h);
}

/// How far it moves a mobile wall from where that would go by itself.
static double solved_wall_motion(const contact_dynamics* s, const grains* g, int wall, double h)
{
    const struck_body* struck = impacts_struck(&s->impacts, g->count + wall);
    const int64_t at = s->assembly.wall_row[wall] * problem_stride(s->dim);
    double change[3];
    vec_sub(s->dim, change, s->problem.body + at, s->problem.free + at);
    return h * vec_norm(s->dim, change) + (struck ? vec_norm(s->dim, struck->shift) : 0.0);
}

/// What a margin has beyond the motion, in thicknesses, so that overlaps can be taken apart after
/// the step (rigid/separate.h). (In a drum of 1000 disks grains that stood at the end of their
/// margins kept overlaps of up to 1.3e-3 diameters from going away, now and then.)
static const double RESERVE = 2e-3;

static double reserve_of(const step_order* order)
{
    return order->options->solver.separate_overlaps ? RESERVE : 0.0;
}

/// Raise the margins of the grains that the solution moves beyond them.
static void raise_grain_margins(void* data, int64_t first, int64_t last, double* raised)
{
    const step_loop* loop = data;
    contact_dynamics* s = loop->s;
    const grains* g = &loop->order->state->grains;
    const double range = materials_bond_range(&loop->order->state->materials);
    const double reserve = reserve_of(loop->order);
    for (int64_t i = first; i < last; i++) {
        const double moved = solved_motion(s, g, i, loop->order->h);
        const double most = loop->widest - g->radius[i] - 0.5 * range;
        const double room = g->inv_mass[i] > 0.0 ? reserve * grain_thinnest(g, i) : 0.0;
        const double needed = moved + room;
        if (!(needed > s->margin[i]) || !(most > s->margin[i])) continue;
        s->margin[i] = fmin(MARGIN_GROWTH * needed, most);
        *raised += 1.0;
    }
}

/// Raise the margins of grains and walls that the solution moves beyond them, but no reach beyond
/// `widest`; false if none is.
static bool raise_margins(contact_dynamics* s, const step_order* order, double widest)
{
    step_loop loop = {s, order, widest};
    double raised;
    parallel_reduce(order->threads, order->state->grains.count, PARALLEL_SUM, 1,
                    raise_grain_margins, &loop, &raised);
    for (int i = 0; i < (int)order->state->walls.count; i++) {
        if (s->assembly.wall_row[i] < 0) continue;
        const double needed =
            solved_wall_motion(s, &order->state->grains, i, order->h) +
            reserve_of(order) * grains_mean_diameter(&order->state->grains, order->threads);
        if (!(needed > s->wall_margin[i]) || !(widest > s->wall_margin[i])) continue;
        s->wall_margin[i] = fmin(MARGIN_GROWTH * needed, widest);
        raised += 1.0;
    }
    return raised > 0.0;
}

/// Is there a contact in s->found that s->before lacks and that the solution would close?
static void find_closing(void* data, int64_t first, int64_t last, double* closing)
{
    const step_loop* loop = data;
    const contact_dynamics* s = loop->s;
    const contacts *found = &s->found, *solved = &s->before;
    if (first == last) return;
    int64_t j = contacts_cursor_at(solved, found->a[first], found->b[first]).at;
    for (int64_t c = first; c < last && *closing == 0.0; c++) {
        int order = 1;
        while (j < solved->count && (order = contacts_compare(solved, j, found, c)) < 0) j++;
        const bool is_new = j >= solved->count || order != 0;
        if (!is_new) continue;
        *closing = assembly_gap_after(&s->assembly, loop->order, &s->problem, found, c) < 0.0;
    }
}

talus_status step_search_again(contact_dynamics* s, const step_order* order, double widest,
                               bool* more, int64_t* spoilt, talus_error* error)
{
    double closing = 0.0;
    const bool farther = raise_margins(s, order, widest);
    *more = false;
    if (!farther && !s->wider) return TALUS_OK;
    contacts_swap(&s->found, &s->before);
    if (farther) TRY(step_search(s, order, spoilt, error));
    if (*spoilt < 0) {
        step_loop loop = {.s = s, .order = order};
        parallel_reduce(order->threads, s->found.count, PARALLEL_SUM, 1, find_closing, &loop,
                        &closing);
    }
    *more = closing > 0.0;
    s->wider = !*more && *spoilt < 0;
    if (!*more) contacts_swap(&s->found, &s->before);
    return TALUS_OK;
}

void step_find_clearance(contact_dynamics* s, const step_order* order)
{
    const contacts *seen = &s->before, *listed = &s->found;
    for (int64_t i = 0; i < order->state->grains.count; i++) s->clear[i] = INFINITY;
    for (int64_t i = 0; i < order->state->walls.count; i++) s->wall_clear[i] = INFINITY;
    for (int64_t c = 0, j = 0; c < seen->count && s->wider; c++) {
        int at = 1;
        while (j < listed->count && (at = contacts_compare(listed, j, seen, c)) < 0) j++;
        if (j < listed->count && at == 0) continue;
        const double half = 0.5 * assembly_gap_after(&s->assembly, order, &s->problem, seen, c);
        const int32_t a = seen->a_row[c], b = seen->b_row[c];
        double* clear_a = a >= 0 ? s->clear + a : s->wall_clear + (-1 - a);
        *clear_a = fmin(*clear_a, half);
        s->clear[b] = fmin(s->clear[b], half);
    }
}

double contact_dynamics_room(const contact_dynamics* s, const physical_state* state, int64_t body)
{
    const grains* g = &state->grains;
    if (body < g->count) {
        return fmin(s->margin[body] - solved_motion(s, g, body, s->h), s->clear[body]);
    }
    const int wall = (int)(body - g->count);
    return fmin(s->wall_margin[wall] - solved_wall_motion(s, g, wall, s->h), s->wall_clear[wall]);
}

/// One step of Contact Dynamics: implicit Euler with all contacts solved together (UK 1-2).
///
///   v_free = v + h M^-1 F_ext;  find p;  v_new = v_free + M^-1 H p;  x_new = x + h v_new
///
/// The search for contacts is certain, not hopeful: each grain is given a margin that it may move
/// in the step (beyond the mean drift of all grains). If the solution moves a grain farther, its
/// margin is raised and the search repeated; if that shows a new contact, it joins the others and
/// the sweeps go on from the impulses found so far. So no contact within the step's reach is
/// missed.
///
/// Where balls have restitution their impacts come first, one after the other (rigid/impacts.h).
/// The step then goes on from the velocities that these leave.
///
/// A step has one budget of sweeps, max_sweeps, however often it is searched. So that new contacts
/// find sweeps to join, a solve that takes long is looked at on the way: after half of its sweeps,
/// three quarters and seven eighths. What shows up only after the last sweep is listed without an
/// impulse and counts in the residual.
#include "rigid/contact_dynamics.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "detect/narrow.h"
#include "detect/neighbours.h"
#include "detect/passage.h"
#include "rigid/assemble.h"
#include "rigid/audit.h"
#include "rigid/coarseness.h"
#include "rigid/impacts.h"
#include "rigid/residual.h"
#include "rigid/solver.h"
#include "state/drive.h"

#include <stdlib.h>
#include <string.h>

/// Room for velocities to change during the solve, in radii. Larger means more candidate contacts,
/// smaller more repeated searches (a flowing hopper: 2.7 a step at 0.005, 2 at 0.02).
static const double MARGIN_RADII = 0.01;
/// A grain that outran its margin gets this many times what it needed.
static const double MARGIN_GROWTH = 1.5;
/// Searches per step before giving up; margins grow geometrically, so a few are enough.
enum { MAX_SEARCHES = 40 };
/// Above so many contacts the list of a search that was repeated is given back after the step.
enum { KEEP_CONTACTS = 200000 };

/// Positions and reaches beyond this have squares that overflow.
static const double SEARCHABLE = 1e150;

struct contact_dynamics {
    int dim;
    neighbours neighbours;
    contacts found, before; ///< contacts of this search and of the one before it in the same step
    bool wider;             ///< `before` is a wider search: it has more than what is solved
    assembly assembly;
    problem problem;
    solve_workspace workspace, audit_workspace;
    bool certified;          ///< the solver has judged the problem's solution:
    certificate certificate; ///< its judgement
    int64_t grain_capacity;
    double* free_velocity; ///< [grains][dim]
    const double* spin;    ///< [grains][1 or 3] without contacts: the grains' own or free_spin
    double* free_spin;     ///< [grains][1 or 3] if a torque acts on any grain
    int64_t spin_capacity;
    double* margin;   ///< [grains]
    double* reach;    ///< [grains] radius + margin
    double widest;    ///< largest reach
    uint8_t* escaped; ///< [grains]
    int64_t wall_capacity;
    double* wall_margin; ///< [walls]
    double* clear;       ///< [grains] half of the least gap that is left, after the step, to bodies
                         ///< that were seen but are not listed (s->wider)
    double* wall_clear;  ///< [walls] likewise
    double* saved_walls; ///< [walls][9] velocity, spin, applied force before the attempt
    int64_t saved_count; ///< walls that an attempt has moved and that are in saved_walls
    double drift[3];     ///< mean free velocity of the free grains
    impacts impacts;     ///< of this step
    bool flown;          ///< they are known: gaps are counted after them
    passage_work passage;
    int64_t way_capacity, wall_way_capacity;
    double* way_velocity; ///< [grains][dim] with contacts
    double* way_spin;     ///< [grains][1 or 3]
    double* way_walls;    ///< [walls][3]
    double h;             ///< of the step accepted last
};

// ---- memory ------------------------------------------------------------------------------------

void contact_dynamics_destroy(contact_dynamics* s)
{
    if (!s) return;
    neighbours_free(&s->neighbours);
    contacts_free(&s->found);
    contacts_free(&s->before);
    assembly_free(&s->assembly);
    problem_free(&s->problem);
    solve_workspace_free(&s->workspace);
    solve_workspace_free(&s->audit_workspace);
    free(s->free_velocity);
    free(s->free_spin);
    free(s->margin);
    free(s->reach);
    free(s->escaped);
    free(s->wall_margin);
    free(s->clear);
    free(s->wall_clear);
    free(s->saved_walls);
    impacts_free(&s->impacts);
    passage_work_free(&s->passage);
    free(s->way_velocity);
    free(s->way_spin);
    free(s->way_walls);
    free(s);
}

talus_status contact_dynamics_create(contact_dynamics** out, int dim, talus_error* error)
{
    contact_dynamics* s = calloc(1, sizeof *s);
    if (!s || neighbours_init(&s->neighbours)) {
        contact_dynamics_destroy(s);
        return error_memory(error, "making the contact_dynamics");
    }
    s->dim = dim;
    contacts_init(&s->found, dim);
    contacts_init(&s->before, dim);
    *out = s;
    return TALUS_OK;
}

// ---- before the contacts -----------------------------------------------------------------------

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

/// What a loop over grains or contacts works on.
typedef struct step_loop {
    contact_dynamics* s;
    const step_order* order;
    double widest; ///< reach that a margin may be raised to
} step_loop;

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

/// Distance that no point of a grain exceeds in the step when it moves with velocity v and spin,
/// after its impacts, seen from the drift. A ball's turning moves nothing.
static double motion(const contact_dynamics* s, const grains* g, int64_t i, const double* v,
                     const double* spin, double h)
{
    const struck_body* struck = impacts_struck(&s->impacts, i);
    double relative[3];
    vec_sub(s->dim, relative, v, s->drift);
    if (struck) vec_add_scaled(s->dim, relative, 1.0 / h, struck->shift);
    const double turn = g->solid[i] < 0 ? 0.0 : g->radius[i] * vec_norm(spin_width(s->dim), spin);
    return h * (vec_norm(s->dim, relative) + turn);
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
        s->margin[i] = slack + motion(s, g, i, s->free_velocity + i * s->dim,
                                      s->spin + i * spin_dim, order->h);
    }
    const double wall_slack = MARGIN_RADII * grains_mean_diameter(g, order->threads);
    for (int i = 0; i < (int)w->count; i++) {
        s->wall_margin[i] = wall_is_mobile(w, i) ? wall_slack : 0.0;
    }
}

/// All that comes before the contacts: the motion of walls, free velocities, margins, poses.
static talus_status begin_step(contact_dynamics* s, const step_order* order)
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

// ---- searching ---------------------------------------------------------------------------------

/// The row that the least of some rows as doubles stands for, -1 if there was none.
static int64_t row_of(double least)
{
    return isinf(least) ? -1 : (int64_t)least;
}

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

/// Forget the forces of a list: its contacts begin without.
static void forget_forces(contacts* list)
{
    const size_t count = (size_t)list->count, spin_dim = (size_t)spin_width(list->dim);
    if (count == 0) return;
    memset(list->force, 0, sizeof(double) * count * (size_t)list->dim);
    if (list->torque) memset(list->torque, 0, sizeof(double) * count * spin_dim);
}

/// What is known of the contacts in s->found from the last step.
static talus_status carry_over(contact_dynamics* s, const step_order* order)
{
    const physical_state* state = order->state;
    TRY(contacts_match(&s->found, &state->contacts, &state->grains, order->threads));
    // Impacts want to know which contacts were pressed: before them forces are kept in any case.
    const bool wanted = !s->flown && impacts_possible(&state->materials);
    if (!order->options->solver.warm_start && !wanted) forget_forces(&s->found);
    return TALUS_OK;
}

/// Fill s->found with every contact that the margins allow, and what is known of them from the last
/// step. *spoilt receives the first row whose velocity, position or reach is out of the range of
/// numbers, -1 if none: then there is nothing to search. A bad velocity spoils the drift and so the
/// reach of every other grain: it is named before them.
static talus_status search(contact_dynamics* s, const step_order* order, int64_t* spoilt,
                           talus_error* error)
{
    physical_state* state = order->state;
    grains* g = &state->grains;
    const double start = clock_seconds();
    step_loop loop = {.s = s, .order = order};
    double least[3];
    parallel_reduce(order->threads, g->count, PARALLEL_MIN, 3, set_reaches, &loop, least);
    s->widest = -least[2];
    *spoilt = row_of(least[0]) >= 0 ? row_of(least[0]) : row_of(least[1]);
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
        narrow_pairs(&bodies, &s->neighbours.pairs, &s->found) || carry_over(s, order)) {
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

/// How far the solution moves a grain; one glued to a mobile wall goes with the wall.
static double solved_motion(const contact_dynamics* s, const grains* g, int64_t i, double h)
{
    const int dim = s->dim, wall = g->glued_to[i];
    const int32_t wall_row = wall >= 0 ? s->assembly.wall_row[wall] : -1;
    const double* row = s->problem.body + (wall_row >= 0 ? wall_row : i) * problem_stride(dim);
    double spin[3] = {0.0, 0.0, 0.0};
    if (g->solid[i] >= 0 && wall_row < 0) grain_spin_of_w(g, i, row + row_w(dim), spin);
    return motion(s, g, i, row, spin, h);
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

/// Raise the margins of the grains that the solution moves beyond them.
static void raise_grain_margins(void* data, int64_t first, int64_t last, double* raised)
{
    const step_loop* loop = data;
    contact_dynamics* s = loop->s;
    const grains* g = &loop->order->state->grains;
    const double range = materials_bond_range(&loop->order->state->materials);
    for (int64_t i = first; i < last; i++) {
        const double moved = solved_motion(s, g, i, loop->order->h);
        const double most = loop->widest - g->radius[i] - 0.5 * range;
        if (!(moved > s->margin[i]) || !(most > s->margin[i])) continue;
        s->margin[i] = fmin(MARGIN_GROWTH * moved, most);
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
        const double moved = solved_wall_motion(s, &order->state->grains, i, order->h);
        if (!(moved > s->wall_margin[i]) || !(widest > s->wall_margin[i])) continue;
        s->wall_margin[i] = fmin(MARGIN_GROWTH * moved, widest);
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
    int64_t j = contacts_cursor_at(solved, found->a[first], found->b[first]).at;
    for (int64_t c = first; c < last && *closing == 0.0; c++) {
        int order = 1;
        while (j < solved->count && (order = contacts_compare(solved, j, found, c)) < 0) j++;
        const bool is_new = j >= solved->count || order != 0;
        if (!is_new) continue;
        *closing = assembly_gap_after(&s->assembly, loop->order, &s->problem, found, c) < 0.0;
    }
}

static void swap_contacts(contacts* x, contacts* y)
{
    contacts swap = *x;
    *x = *y;
    *y = swap;
}

/// Search again if the velocities in the problem move anything farther than was searched, up to
/// reaches of `widest`. If one of the contacts that this adds does not stay open (*more) s->found
/// has all of them and s->before those in the problem. Else what was solved stands, s->found is
/// what it was, and s->before keeps the others for the next look (s->wider).
static talus_status search_again(contact_dynamics* s, const step_order* order, double widest,
                                 bool* more, int64_t* spoilt, talus_error* error)
{
    double closing = 0.0;
    const bool farther = raise_margins(s, order, widest);
    *more = false;
    if (!farther && !s->wider) return TALUS_OK;
    swap_contacts(&s->found, &s->before);
    if (farther) TRY(search(s, order, spoilt, error));
    if (*spoilt < 0) {
        step_loop loop = {.s = s, .order = order};
        parallel_reduce(order->threads, s->found.count, PARALLEL_SUM, 1, find_closing, &loop,
                        &closing);
    }
    *more = closing > 0.0;
    s->wider = !*more && *spoilt < 0;
    if (!*more) swap_contacts(&s->found, &s->before);
    return TALUS_OK;
}

/// How near the bodies come to others that were seen but, as they stay open, not listed.
static void find_clearance(contact_dynamics* s, const step_order* order)
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

// ---- impacts -----------------------------------------------------------------------------------

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

/// Let balls with restitution fly from impact to impact, and go on with the velocities after the
/// last. *spoilt as in search().
static talus_status fly(contact_dynamics* s, const step_order* order, int64_t* spoilt,
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
        TRY(search(s, order, spoilt, error));
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

/// Whether a step that may be halved goes so far that a search would find half of the world.
static bool goes_far(contact_dynamics* s, const step_order* order)
{
    step_loop loop = {.s = s, .order = order};
    double found = 0.0;
    if (!order->may_halve) return false;
    parallel_reduce(order->threads, order->state->grains.count, PARALLEL_SUM, 1, find_far, &loop,
                    &found);
    return found > 0.0;
}

// ---- solving -----------------------------------------------------------------------------------

/// Looks, while contacts are solved, whether others are needed, and ends the solve if they are.
typedef struct margin_watch {
    solve_watch watch; ///< first: the solver hands it back
    contact_dynamics* s;
    const step_order* order;
    int64_t budget, last; ///< sweeps of this solve, and the step's number of its last one
    bool more;            ///< others are needed: search_again()
    talus_status status;
    talus_error* error;
} margin_watch;

/// Reach that a look on the way may search to. Velocities that are not yet those of the solution
/// must not make the step fail, nor the list long.
static double widest_on_the_way(const contact_dynamics* s, const cell* periodic)
{
    double widest = 10.0 * s->widest;
    for (int k = 0; k < s->dim; k++) {
        if (periodic->periodic[k]) widest = fmin(widest, 0.249 * periodic->length[k]);
    }
    return widest;
}

/// The next look is after half of the sweeps that are left, as long as these are more than an
/// eighth; the end of the solve is looked at anyway.
static void plan_look(margin_watch* m, int64_t sweeps)
{
    const int64_t left = m->last - sweeps;
    m->watch.next = left > 1 && left > m->budget / 8 ? sweeps + (left + 1) / 2 : INT64_MAX;
}

static void look_at_margins(solve_watch* watch, const problem* p, int64_t sweeps)
{
    margin_watch* m = (margin_watch*)watch;
    const double widest = widest_on_the_way(m->s, &m->order->state->cell);
    int64_t spoilt = -1;
    (void)p; // it is the problem of s
    m->status = search_again(m->s, m->order, widest, &m->more, &spoilt, m->error);
    watch->enough = m->more || m->status != TALUS_OK;
    plan_look(m, sweeps);
}

/// Does a row hold NaN, infinity or a number whose square overflows?
static bool runs_away(const contact_dynamics* s, int64_t row)
{
    const int stride = problem_stride(s->dim);
    for (int k = 0; k < stride; k++) {
        if (!(fabs(s->problem.body[row * stride + k]) < 1e150)) return true;
    }
    return false;
}

static void find_runaway(void* data, int64_t first, int64_t last, double* least)
{
    for (int64_t i = first; i < last && isinf(*least); i++) {
        if (runs_away(data, i)) *least = (double)i;
    }
}

/// Look for velocities that are no numbers: *grain receives the first grain that runs away, -1 if
/// none. A mobile wall that does is not a grain's fault: it ends the step by its own name.
static talus_status check_velocities(contact_dynamics* s, const step_order* order, int64_t* grain,
                                     talus_error* error)
{
    const physical_state* state = order->state;
    double least;
    parallel_reduce(order->threads, state->grains.count, PARALLEL_MIN, 1, find_runaway, s, &least);
    *grain = row_of(least);
    for (int i = 0; i < (int)state->walls.count && *grain < 0; i++) {
        const int32_t row = s->assembly.wall_row[i];
        if (row < 0 || !runs_away(s, row)) continue;
        return error_set(error, TALUS_ERR_NUMERIC,
                         "wall '%s' got a velocity that is not a finite number at t = %.9g",
                         state->walls.record[i].name, state->time + order->h);
    }
    return TALUS_OK;
}

/// Grains that the step would carry out of the domain join those found behind walls.
static void mark_escaped(void* data, int64_t first, int64_t last, double* least)
{
    const step_loop* loop = data;
    contact_dynamics* s = loop->s;
    const grains* g = &loop->order->state->grains;
    const cell* periodic = &loop->order->state->cell;
    const talus_world_def* def = loop->order->options;
    const int dim = s->dim, stride = problem_stride(dim);
    for (int64_t i = first; i < last; i++) {
        for (int k = 0; k < dim && def->has_domain && g->inv_mass[i] > 0.0; k++) {
            if (periodic->periodic[k]) continue;
            const struck_body* struck = impacts_struck(&s->impacts, i);
            const double x = g->position[i * dim + k] + (struck ? struck->shift[k] : 0.0) +
                             loop->order->h * s->problem.body[i * stride + k];
            if (x < def->domain_low[k] || x > def->domain_high[k]) s->escaped[i] = 1;
        }
        if (s->escaped[i]) *least = fmin(*least, (double)i);
    }
}

/// Judge the velocities that were found. Rows of the problem below the number of grains are grains.
static talus_status certify(contact_dynamics* s, const step_order* order, step_certificate* out)
{
    const int64_t count = order->state->grains.count;
    certificate found = s->certificate;
    if (!s->certified) {
        TRY(certificate_find(&s->workspace.certificate, &s->problem, order->threads, &found));
    }
    *out = (step_certificate){.bound = found.bound,
                              .bodies = found.cluster_bodies,
                              .grain = found.row < count ? found.row : -1,
                              .sliding = found.sliding,
                              .worst_grain = found.worst_row < count ? found.worst_row : -1,
                              .grain_error = found.row_error};
    return TALUS_OK;
}

/// Have the step judged by an independent solution, if the order says so.
static talus_status audit(contact_dynamics* s, const step_order* order, double tolerance,
                          step_audit* out)
{
    const certificate_work* claims = &s->workspace.certificate;
    if (order->audit_updates == 0 || s->problem.count == 0) return TALUS_OK;
    if (!audit_worthwhile(claims)) return TALUS_OK;
    const solve_request request = {.options = &order->options->solver,
                                   .h = order->h,
                                   .seed = order->options->seed,
                                   .key = order->key,
                                   .size = order->size,
                                   .threads = order->threads};
    audit_result found;
    TRY(audit_solution(&s->problem, claims, &request, tolerance, order->audit_updates,
                       &s->audit_workspace, &found));
    *out = (step_audit){.done = true,
                        .answered = found.answered,
                        .ratio = found.ratio,
                        .error = found.error,
                        .claim = found.claim,
                        .grain = found.row < order->state->grains.count ? found.row : -1,
                        .updates = found.updates,
                        .judged = found.judged,
                        .of = found.of,
                        .largest = found.largest};
    return TALUS_OK;
}

static void count_active(void* data, int64_t first, int64_t last, double* count)
{
    const contacts* list = data;
    for (int64_t c = first; c < last; c++) *count += list->state[c] != TALUS_CONTACT_OPEN;
}

// ---- the step ----------------------------------------------------------------------------------

void contact_dynamics_reject(contact_dynamics* s, const step_order* order)
{
    walls* w = &order->state->walls;
    impacts_undo(&s->impacts, order->state);
    impacts_clear(&s->impacts);
    for (int64_t i = 0; i < s->saved_count; i++) {
        const double* saved = s->saved_walls + 9 * i;
        vec_copy(3, w->velocity + 3 * i, saved);
        vec_copy(3, w->spin + 3 * i, saved + 3);
        vec_copy(3, w->applied + 3 * i, saved + 6);
    }
    s->saved_count = 0;
    drive_carry_grains(w, &order->state->cell, &order->state->grains, order->threads);
}

/// Solve the contacts in s->found with the sweeps that the step has left: p and v_new = v_free +
/// M^-1 H p. *more: the velocities ask for more contacts, which are now in s->found with the
/// impulses so far.
static talus_status solve_found(contact_dynamics* s, const step_order* order, int searches,
                                step_outcome* out, bool* more, talus_error* error)
{
    talus_totals* totals = &order->totals->shown;
    const talus_solver_def* options = &order->options->solver;
    const double start = clock_seconds(), detect = totals->seconds_detect;
    if (assemble(&s->assembly, order, &s->found, s->free_velocity, s->spin, &s->problem)) {
        return error_memory(error, "building the contact problem");
    }
    margin_watch m = {.watch = {.look = look_at_margins},
                      .s = s,
                      .order = order,
                      .budget = options->max_sweeps - out->sweeps,
                      .last = options->max_sweeps,
                      .error = error};
    plan_look(&m, out->sweeps);
    s->wider = false;
    const solve_request request = {.options = options,
                                   .h = order->h,
                                   .seed = order->options->seed,
                                   .key = order->key * MAX_SEARCHES + (uint64_t)searches,
                                   .sweeps_before = out->sweeps,
                                   .size = order->size,
                                   .strictness = order->strictness,
                                   .threads = order->threads,
                                   .last_chance = order->last_chance,
                                   .watch = &m.watch};
    solve_result result;
    if (solver_for(options)->solve(&s->problem, &request, &s->workspace, &result)) {
        return error_memory(error, "solving the contacts");
    }
    TRY(m.status);
    s->certified = result.certified;
    s->certificate = result.certificate;
    out->sweeps += result.sweeps;
    out->updates += result.updates;
    out->last_updates += result.last_updates;
    out->converged = result.converged;
    out->residual = result.residual;
    out->tolerance = result.tolerance;
    out->velocity_error = result.velocity_error;
    out->second = result.second_method != NULL;
    TRY(check_velocities(s, order, &out->nan_grain, error));
    disassemble(&s->assembly, order, &s->problem, result.tolerance,
                m.more ? &s->before : &s->found);
    totals->seconds_solve += clock_seconds() - start - (totals->seconds_detect - detect);

    // Does anything move farther than was searched?
    *more = m.more && out->nan_grain < 0;
    if (!m.more && out->nan_grain < 0) {
        TRY(search_again(s, order, INFINITY, more, &out->nan_grain, error));
    }
    if (!*more) return TALUS_OK;
    if (out->sweeps >= options->max_sweeps) forget_forces(&s->found); // nobody would correct them
    if (contacts_match_forces(&s->found, &s->before, order->threads)) {
        return error_memory(error, "searching for contacts");
    }
    return TALUS_OK;
}

/// A body that was hit gets to where its path with corners ends: the velocity of the chord.
static void add_shift(const contact_dynamics* s, int64_t body, double h, double* velocity)
{
    const struck_body* struck = impacts_struck(&s->impacts, body);
    if (struck) vec_add_scaled(s->dim, velocity, 1.0 / h, struck->shift);
}

/// Would the step carry solids into each other, or into walls?
static talus_status look_at_ways(contact_dynamics* s, const step_order* order, step_passage* out)
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
            grain_spin_of_w(g, i, row + row_w(dim), s->way_spin + i * spin_dim);
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

talus_status contact_dynamics_attempt(contact_dynamics* s, const step_order* order,
                                      step_outcome* out, talus_error* error)
{
    talus_totals* totals = &order->totals->shown;
    *out = step_outcome_good();

    // v_free = v + h M^-1 F_ext
    double start = clock_seconds();
    if (begin_step(s, order)) return error_memory(error, "preparing a step");
    totals->seconds_advance += clock_seconds() - start;
    out->too_coarse = goes_far(s, order);
    if (out->too_coarse) return TALUS_OK;

    TRY(search(s, order, &out->nan_grain, error));
    if (out->nan_grain < 0) {
        out->coarseness = coarseness_find(order, &s->found, s->free_velocity, s->spin);
        out->too_coarse = order->may_halve && out->coarseness > TALUS_COARSE;
        if (out->too_coarse) return TALUS_OK;
    }
    TRY(fly(s, order, &out->nan_grain, error));
    if (!order->options->solver.warm_start) forget_forces(&s->found);
    int searches = 0;
    bool more = out->nan_grain < 0;
    while (more && searches < MAX_SEARCHES) {
        TRY(solve_found(s, order, searches++, out, &more, error));
    }
    if (!more && out->nan_grain < 0) find_clearance(s, order);
    if (s->before.capacity > KEEP_CONTACTS) contacts_free(&s->before);
    if (more) {
        return error_set(error, TALUS_ERR_NUMERIC,
                         "the solution keeps moving grains beyond every search radius at t = %g; "
                         "the time step is too large",
                         order->state->time);
    }

    double active, escaped;
    impacts_add_forces(&s->impacts, order->h, &s->found);
    parallel_reduce(order->threads, s->found.count, PARALLEL_SUM, 1, count_active, &s->found,
                    &active);
    out->contacts = s->found.count;
    out->active = (int64_t)active;
    if (out->nan_grain >= 0) return TALUS_OK;
    start = clock_seconds();
    if (look_at_ways(s, order, &out->passage)) return error_memory(error, "following solids");
    totals->seconds_detect += clock_seconds() - start;
    if (out->passage.passes && order->may_cut) return TALUS_OK; // it will not be accepted
    start = clock_seconds();
    if (certify(s, order, &out->certified) || audit(s, order, out->tolerance, &out->audit)) {
        return error_memory(error, "certifying a step");
    }
    totals->seconds_solve += clock_seconds() - start;
    parallel_reduce(order->threads, order->state->grains.count, PARALLEL_MIN, 1, mark_escaped,
                    &(step_loop){.s = s, .order = order}, &escaped);
    out->escaped_grain = row_of(escaped);
    out->escaped = s->escaped;
    return TALUS_OK;
}

const double* contact_dynamics_errors(const contact_dynamics* s)
{
    return s->workspace.certificate.row_error;
}

/// The attempt left its solution in the list: forces, states and bonds are carried over anew.
talus_status contact_dynamics_pose(contact_dynamics* s, const step_order* order, problem* out,
                                   const contacts** list, talus_error* error)
{
    if (carry_over(s, order) ||
        assemble(&s->assembly, order, &s->found, s->free_velocity, s->spin, out)) {
        return error_memory(error, "building the contact problem");
    }
    *list = &s->found;
    return TALUS_OK;
}

// ---- after the contacts ------------------------------------------------------------------------

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

void contact_dynamics_accept(contact_dynamics* s, const step_order* order)
{
    const double start = clock_seconds(), h = order->h;
    const int dim = s->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    physical_state* state = order->state;
    grains* g = &state->grains;
    walls* w = &state->walls;
    for (int i = 0; i < (int)w->count; i++) {
        const int64_t row = s->assembly.wall_row[i];
        const struck_body* struck = impacts_struck(&s->impacts, g->count + i);
        if (row >= 0) vec_copy(dim, w->velocity + 3 * i, s->problem.body + row * stride);
        if (struck) vec_add_scaled(dim, w->position + 3 * i, 1.0, struck->shift);
    }
    swap_contacts(&state->contacts, &s->found);
    load_walls(order);

    // x_new = x + h v_new, and what impacts did on the way
#pragma omp parallel for num_threads(parallel_threads(order->threads, g->count)) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        if (g->glued_to[i] != GRAIN_FREE) continue;
        const double* row = s->problem.body + i * stride;
        vec_copy(dim, g->velocity + i * dim, row);
        grain_spin_of_w(g, i, row + row_w(dim), g->spin + i * spin_dim);
        vec_add_scaled(dim, g->position + i * dim, h, row);
        const struck_body* struck = impacts_struck(&s->impacts, i);
        if (struck) vec_add_scaled(dim, g->position + i * dim, 1.0, struck->shift);
        cell_wrap(&state->cell, dim, g->position + i * dim, g->image + i * dim);
        grain_turn(g, i, h);
    }
    drive_move(w, h);
    drive_carry_grains(w, &state->cell, g, order->threads);
    s->h = h;
    order->totals->shown.seconds_advance += clock_seconds() - start;
}

double contact_dynamics_length(const contact_dynamics* s)
{
    return s->h;
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

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
/// Where bodies have restitution their impacts come first, one after the other (rigid/impacts.h).
/// The step then goes on from the velocities that these leave.
///
/// A step has one budget of sweeps, max_sweeps, however often it is searched. So that new contacts
/// find sweeps to join, a solve that takes long is looked at on the way: after half of its sweeps,
/// three quarters and seven eighths. What shows up only after the last sweep is listed without an
/// impulse and counts in the residual.
#include "rigid/contact_dynamics.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "card/card.h"
#include "rigid/audit.h"
#include "rigid/coarseness.h"
#include "rigid/solver.h"
#include "rigid/step_parts.h"
#include "state/drive.h"

#include <stdlib.h>

/// Above so many contacts the list that a search left behind which was repeated is given back after
/// a step that had none: flows repeat it in every step.
enum { KEEP_CONTACTS = 200000 };

// ---- memory ------------------------------------------------------------------------------------

const char* contact_dynamics_why_no_card(const talus_world_def* options,
                                         const physical_state* state)
{
    const talus_solver_def* solver = &options->solver;
    (void)state;
    if (solver->method == TALUS_SOLVER_SWEEPS) {
        return "sweeps in the order of the papers go from one contact to the next";
    }
    if (solver->precision == TALUS_PRECISION_SINGLE) {
        return "sweeps in single precision are made on the CPU";
    }
    return NULL;
}

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
    witness_free(&s->witnesses);
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

// ---- solving -----------------------------------------------------------------------------------

/// Looks, while contacts are solved, whether others are needed, and ends the solve if they are.
typedef struct margin_watch {
    solve_watch watch; ///< first: the solver hands it back
    contact_dynamics* s;
    const step_order* order;
    int64_t budget, last; ///< sweeps of this solve, and the step's number of its last one
    bool more;            ///< others are needed: step_search_again()
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
    m->status = step_search_again(m->s, m->order, widest, &m->more, &spoilt, m->error);
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
    *grain = least_row(least);
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
    TRY(witness_claims(&s->workspace.certificate, &s->problem, order->threads, &s->witnesses,
                       &found));
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

/// The largest coordinate of a grain.
static double farthest_place(const step_order* order)
{
    const grains* g = &order->state->grains;
    double low[3], high[3], farthest = 0.0;
    if (g->count == 0) return 0.0;
    grains_box(g, order->threads, low, high);
    for (int k = 0; k < g->dim; k++) {
        farthest = fmax(farthest, fmax(fabs(low[k]), fabs(high[k])));
    }
    return farthest;
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
                                   .farthest = farthest_place(order),
                                   .strictness = order->strictness,
                                   .threads = order->threads,
                                   .card = order->card,
                                   .last_chance = order->last_chance,
                                   .watch = &m.watch};
    solve_result result;
    const talus_status solved =
        solver_for(options)->solve(&s->problem, &request, &s->workspace, &result);
    if (solved == TALUS_ERR_DEVICE) return card_state(order->card, error);
    if (solved) return error_memory(error, "solving the contacts");
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
    out->flows = result.flows;
    out->second = result.second_method != NULL;
    out->why_no_card = result.why_no_card;
    TRY(check_velocities(s, order, &out->nan_grain, error));
    disassemble(&s->assembly, order, &s->problem, result.tolerance,
                m.more ? &s->before : &s->found);
    totals->seconds_solve += clock_seconds() - start - (totals->seconds_detect - detect);

    // Does anything move farther than was searched?
    *more = m.more && out->nan_grain < 0;
    if (!m.more && out->nan_grain < 0) {
        TRY(step_search_again(s, order, INFINITY, more, &out->nan_grain, error));
    }
    if (!*more) return TALUS_OK;
    if (out->sweeps >= options->max_sweeps)
        contacts_forget_forces(&s->found); // nobody would correct them
    if (contacts_match_forces(&s->found, &s->before, order->threads)) {
        return error_memory(error, "searching for contacts");
    }
    return TALUS_OK;
}

talus_status contact_dynamics_attempt(contact_dynamics* s, const step_order* order,
                                      step_outcome* out, talus_error* error)
{
    talus_totals* totals = &order->totals->shown;
    *out = step_outcome_good();

    // v_free = v + h M^-1 F_ext
    double start = clock_seconds();
    if (step_begin(s, order)) return error_memory(error, "preparing a step");
    totals->seconds_advance += clock_seconds() - start;
    out->too_coarse = step_goes_far(s, order);
    if (out->too_coarse) return TALUS_OK;

    TRY(step_search(s, order, &out->nan_grain, error));
    if (out->nan_grain < 0) {
        out->coarseness = coarseness_find(order, &s->found, s->free_velocity, s->spin);
        out->too_coarse = order->may_halve && out->coarseness > TALUS_COARSE;
        if (out->too_coarse) return TALUS_OK;
    }
    TRY(step_fly(s, order, &out->nan_grain, error));
    if (!order->options->solver.warm_start) contacts_forget_forces(&s->found);
    int searches = 0;
    bool more = out->nan_grain < 0;
    while (more && searches < MAX_SEARCHES) {
        TRY(solve_found(s, order, searches++, out, &more, error));
    }
    if (!more && out->nan_grain < 0) step_find_clearance(s, order);
    const bool repeated = s->wider || searches > 1;
    if (!repeated && s->before.capacity > KEEP_CONTACTS) contacts_free(&s->before);
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
    if (step_look_at_ways(s, order, &out->passage)) return error_memory(error, "following solids");
    totals->seconds_detect += clock_seconds() - start;
    if (out->passage.passes && order->may_cut) return TALUS_OK; // it will not be accepted
    start = clock_seconds();
    if (certify(s, order, &out->certified) || audit(s, order, out->tolerance, &out->audit)) {
        return error_memory(error, "certifying a step");
    }
    totals->seconds_solve += clock_seconds() - start;
    parallel_reduce(order->threads, order->state->grains.count, PARALLEL_MIN, 1, mark_escaped,
                    &(step_loop){.s = s, .order = order}, &escaped);
    out->escaped_grain = least_row(escaped);
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
    if (step_carry_over(s, order) ||
        assemble(&s->assembly, order, &s->found, s->free_velocity, s->spin, out)) {
        return error_memory(error, "building the contact problem");
    }
    *list = &s->found;
    return TALUS_OK;
}

double contact_dynamics_length(const contact_dynamics* s)
{
    return s->h;
}

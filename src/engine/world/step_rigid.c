/// Steps of Contact Dynamics: attempts, their halves where one is too coarse, not solved or would
/// carry solids into others, and audits.
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "rigid/problem.h"
#include "rigid/separate.h"
#include "world/advise_step.h"
#include "world/diagnose.h"
#include "world/steps.h"

#include <math.h>

/// Work that audits may take, of all contact updates; steps' and sweeps' worth of it with which one
/// begins (a hundredth of the tolerance takes 5 to 20 times the sweeps), and the chance that it
/// does then.
static const double AUDIT_SHARE = 0.05, AUDIT_CHANCE = 0.25;
enum { AUDIT_STEPS = 16, AUDIT_SWEEPS = 300, MOST_TIGHTENED = 4 };
/// Work that last chances of clusters in flow may take, of all contact updates, and updates' worth
/// that they are given beforehand, some seconds: in a run in which hardly any step needs one all of
/// them get it, and one in which many steps would does not take much longer. Hard steps come in
/// rows: polydisperse of scenes/ has used up a second's worth early in its run and left 7 of 1145
/// steps unsolved; now none, for a tenth more time.
static const double LAST_SHARE = 0.15, LAST_FREE = 5e8;
/// How often a step may be cut in two for solids that would go into others.
enum { MOST_CUT = 8 };
/// How often a step that may be halved is, because its flow is not solved otherwise; but no more
/// once it has made so many times the sweeps that a solve may make. In slow, dense flows sweeps
/// grow like the length of a step, at times twice as fast: a silo of 30 000 spheres ends all its
/// steps of 1 ms unconverged after 1000 sweeps, and none of them in four parts, after 1250 in all
/// (docs/benchmarks.md). It is cut at once into parts that resolve the inertial time of the
/// pressure between its grains. Parts are tried twice as long again after so many steps if they
/// resolve it then, too, which costs a solve that fails at the worst, or at once where they took
/// less than this share of the sweeps that a solve may make.
enum { MOST_SHORTENED = 4, MOST_BUDGETS = 4, CALM_STEPS = 20, NO_USE = -1 };
static const double EASY = 0.25;
/// Error of a part, of that of the longer one, above which shorter parts do not help: it falls by a
/// fifth each time in that silo, by 3 % in a rain of 10^5 spheres. Then they are not tried again
/// for CALM_STEPS.
static const double HELPS = 0.9;
/// Key of the random numbers of audits beside those of sweeps.
static const uint64_t AUDIT_STREAM = 0xa0d17;

/// Extent of the system in mean diameters: of the last steps' clusters, of all grains before them.
/// A bed that lands after a flight is one cluster again at once, so large ones are not forgotten
/// soon.
static double system_size(const talus_world* w)
{
    const grains* g = &w->state.grains;
    if (w->extent > 0.0) return w->extent;
    if (g->count == 0) return 0.0;
    double low[3], high[3], longest = 0.0;
    grains_box(g, w->pace.threads, low, high);
    for (int k = 0; k < g->dim; k++) longest = fmax(longest, high[k] - low[k]);
    return longest / grains_mean_diameter(g, w->pace.threads);
}

/// After an audit that found a claim to be false, all later steps are solved to half the tolerance,
/// and so on a few times.
static double strictness(const talus_totals* t)
{
    const int64_t failed = t->audits - t->audits_held - t->audits_unanswered;
    return ldexp(1.0, (int)(failed < MOST_TIGHTENED ? failed : MOST_TIGHTENED));
}

/// The order of a step that a contact problem is solved for.
static step_order order_solve(talus_world* w, double h)
{
    step_order order = world_order_step(w, h);
    order.key = (uint64_t)w->solves++;
    order.size = system_size(w);
    order.strictness = strictness(&w->totals.shown);
    order.last_chance = (double)w->totals.shown.last_updates <=
                        LAST_FREE + LAST_SHARE * (double)w->totals.shown.updates;
    return order;
}

/// How many contact updates an audit of the coming step may take, 0: there is none. Audits have a
/// share of all updates so far. One begins when that is worth several steps, more of them if the
/// last audits ended without an answer, and then at random, so that no rhythm of the motion can
/// hide from it. Counts and the step's key decide, never a clock: a run resumed gives the same
/// bits.
static int64_t audit_allowance(const talus_world* w, uint64_t key)
{
    const talus_totals* t = &w->totals.shown;
    if (w->def.solver.stop != TALUS_STOP_RIGID || w->last.updates == 0) return 0;
    const int64_t credit = (int64_t)(AUDIT_SHARE * (double)t->updates) - t->audit_updates;
    const int64_t step = w->last.updates, least = AUDIT_SWEEPS * w->last.contacts;
    const int64_t audit = AUDIT_STEPS * step > least ? AUDIT_STEPS * step : least;
    if (credit < audit * (1 + t->audits_unanswered)) return 0;
    rng r = rng_make(w->def.seed, key, AUDIT_STREAM);
    return rng_uniform(&r) < AUDIT_CHANCE ? credit : 0;
}

void world_watch(talus_world* world, world_watcher watcher)
{
    world->watcher = watcher;
}

/// Pose the problem of an attempt for the watcher. Posing spoils the attempt, which is made once
/// more: the same start and the same key give the same bits.
static talus_status show_problem(talus_world* w, const step_order* order, step_outcome* outcome,
                                 talus_error* error)
{
    const running_totals totals = w->totals;
    const contacts* list = NULL;
    problem p = {0};
    talus_status status = contact_dynamics_pose(w->rigid, order, &p, &list, error);
    if (status >= 0) status = w->watcher.take(w->watcher.user, &p, order, outcome, error);
    problem_free(&p);
    contact_dynamics_reject(w->rigid, order);
    if (status >= 0) status = contact_dynamics_attempt(w->rigid, order, outcome, error);
    w->totals = totals;
    return status;
}

/// An attempt, shown to the watcher if that wants it.
static talus_status attempt_and_show(talus_world* w, const step_order* order, step_outcome* outcome,
                                     talus_error* error)
{
    const world_watcher* watcher = &w->watcher;
    TRY(contact_dynamics_attempt(w->rigid, order, outcome, error));
    if (outcome->too_coarse || outcome->nan_grain >= 0 || !watcher->wants ||
        !watcher->wants(watcher->user, outcome)) {
        return TALUS_OK;
    }
    return show_problem(w, order, outcome, error);
}

/// The same, once more by the CPU if a card fails and need not be the one to do it, or if parts of
/// the step are done already: then the next step says that it has failed, and none ends half way. A
/// step that fails has been rejected.
static talus_status attempt(talus_world* w, step_order* order, bool parts_done,
                            step_outcome* outcome, talus_error* error)
{
    const running_totals totals = w->totals;
    talus_error failure = {0};
    talus_status status = attempt_and_show(w, order, outcome, &failure);
    if (status < 0) contact_dynamics_reject(w->rigid, order);
    if (status == TALUS_ERR_DEVICE && (world_cpu_takes_over(w, &failure) || parts_done)) {
        w->totals = totals;
        order->card = NULL;
        status = attempt_and_show(w, order, outcome, &failure);
        if (status < 0) contact_dynamics_reject(w->rigid, order);
    }
    if (status < 0 && error) *error = failure;
    return status;
}

/// Add an audit to the totals, and say it if a claim was false.
static void note_audit(talus_world* w, const step_audit* audit, double h)
{
    talus_totals* t = &w->totals.shown;
    const bool held = audit->ratio <= 1.0;
    t->audits++;
    t->audit_updates += audit->updates;
    t->audits_unanswered += !audit->answered;
    if (!audit->answered) return;
    t->audits_held += held;
    t->audit_grains += audit->judged;
    t->audit_touching += audit->of;
    t->audit_largest = audit->largest > t->audit_largest ? audit->largest : t->audit_largest;
    const bool first = t->audits - t->audits_unanswered == 1;
    t->audit_least = first ? audit->ratio : fmin(t->audit_least, audit->ratio);
    t->audit_most = first ? audit->ratio : fmax(t->audit_most, audit->ratio);
    if (held) return;
    log_write(
        &w->log, TALUS_LOG_WARNING,
        "t = %.9g: an audit found velocities off by %.2g %% where the step was certified within "
        "%.2g %%, in the cluster of grain %lld; from now on steps are solved to a tolerance %g "
        "times smaller",
        w->state.time + h, 100.0 * audit->error, 100.0 * audit->claim,
        (long long)(audit->grain >= 0 ? w->state.grains.id[audit->grain] : -1), strictness(t));
}

/// How far bodies overlap after a part of a step, once overlaps have been taken apart as far as
/// that goes; of several parts the worst counts. The law g does it by itself. After grains were
/// removed it is known no more how far others may go.
static talus_status conclude_overlap(talus_world* w, talus_step_result* result)
{
    const talus_solver_def* solver = &w->def.solver;
    const double start = clock_seconds();
    const double most = result->overlap_max, thickest = result->overlap_thickness_max;
    bool separated = false;
    TRY(poses_update(&w->state.poses, &w->state.grains));
    diagnose_overlap(w, result);
    if (solver->separate_overlaps && !solver->push_out_overlap && result->removed == 0 &&
        result->overlap_thickness_max > OVERLAP_ALLOWED) {
        TRY(separate_overlaps(&w->separation, &w->state, w->rigid, w->pace.threads, &separated));
    }
    if (separated) {
        TRY(poses_update(&w->state.poses, &w->state.grains));
        diagnose_overlap(w, result);
    }
    result->overlap_max = fmax(result->overlap_max, most);
    result->overlap_thickness_max = fmax(result->overlap_thickness_max, thickest);
    w->totals.shown.seconds_advance += clock_seconds() - start;
    return TALUS_OK;
}

/// How often a step was cut in two so far, for each reason on its own: a part that was cut short
/// for its solids may still be retried.
typedef struct halvings {
    int coarse; ///< it went too far
    int flow;   ///< its flow would not be solved
    int cut;    ///< it would have carried solids into others
    int retried;
    double error; ///< velocity error of the longer part whose flow was not solved
} halvings;

static talus_status take_halves(talus_world* w, double h, halvings so_far,
                                talus_step_result* result, talus_error* error);

/// How often steps of a flow shall be cut in two, when parts of length h, which have been cut so
/// often, were not solved: once more, and as often as the pressure between the grains asks for.
static talus_status shorten(talus_world* w, double h, int cuts)
{
    double resolved;
    TRY(advice_resolved_step(&w->state, w->pace.threads, &resolved));
    w->shortening = cuts + 1;
    for (double part = 0.5 * h; part > resolved && w->shortening < MOST_SHORTENED; part *= 0.5) {
        w->shortening++;
    }
    return TALUS_OK;
}

/// One step of length h, or two of h/2 if the policy says retry, if it is coarse or a flow that is
/// not solved and may be halved, or if it would carry solids into others, and so on down.
static talus_status step_or_halve(talus_world* w, double h, halvings so_far,
                                  talus_step_result* result, talus_error* error)
{
    const bool halves = w->def.on_coarse == TALUS_POLICY_RETRY;
    if (halves && so_far.flow < w->shortening) {
        so_far.flow++;
        return take_halves(w, h, so_far, result, error);
    }
    const int64_t most = MOST_BUDGETS * w->def.solver.max_sweeps;
    const bool may_shorten =
        halves && w->shortening >= 0 && so_far.flow < MOST_SHORTENED && result->sweeps < most;
    step_order order = order_solve(w, h);
    order.audit_updates = audit_allowance(w, order.key);
    order.may_halve = halves && so_far.coarse < w->def.retry_depth;
    order.may_cut = so_far.cut < MOST_CUT;
    step_outcome outcome;
    char why[200] = "";
    const talus_step_result before = *result;
    TRY(attempt(w, &order, before.substeps > 0, &outcome, error));
    if (outcome.too_coarse) {
        contact_dynamics_reject(w->rigid, &order);
        so_far.coarse++;
        return take_halves(w, h, so_far, result, error);
    }
    if (order.card && outcome.why_no_card) {
        device_shared(&w->device, outcome.why_no_card, &w->log);
    }
    w->totals.shown.last_updates += outcome.last_updates;
    if (outcome.passage.passes) outcome_note_passage(w, &order, &outcome.passage);
    const bool cut = outcome.passage.passes && order.may_cut;
    const bool unsolved = may_shorten && outcome.flows && !outcome.converged;
    const bool helps = outcome.velocity_error < HELPS * so_far.error;
    if (unsolved) {
        w->shortened = w->state.step;
        w->shortening = NO_USE;
        if (helps && shorten(w, h, so_far.flow)) return error_memory(error, "shortening a step");
    }
    if (cut || (unsolved && helps && outcome.nan_grain < 0)) {
        contact_dynamics_reject(w->rigid, &order);
        result->sweeps += outcome.sweeps;
        result->updates += outcome.updates;
        so_far.cut += cut;
        so_far.flow += !cut;
        if (!cut) so_far.error = outcome.velocity_error;
        return take_halves(w, h, so_far, result, error);
    }
    const talus_policy policy = outcome_judge(w, &outcome, h, result, why, sizeof why);
    outcome_add(w, &outcome, result);
    if (outcome.audit.done) note_audit(w, &outcome.audit, h);
    if (policy == TALUS_POLICY_ACCEPT) {
        contact_dynamics_accept(w->rigid, &order);
        outcome_note_coarse(&w->totals.shown, &outcome, h);
        if (outcome_note_unmet(w, &outcome, h)) return error_memory(error, "diagnosing a step");
        if (diagnose_errors(w, result->substeps > 0)) {
            return error_memory(error, "diagnosing a step");
        }
        TRY(outcome_go_on(w, &order, &outcome, result, error));
        return conclude_overlap(w, result) ? error_memory(error, "diagnosing a step") : TALUS_OK;
    }
    contact_dynamics_reject(w->rigid, &order);
    if (policy != TALUS_POLICY_RETRY || so_far.retried >= w->def.retry_depth) {
        return error_set(error, TALUS_ERR_NUMERIC, "%s%s", why,
                         so_far.retried > 0 ? ", also with the smallest step that retrying allows"
                                            : "");
    }
    log_write(&w->log, TALUS_LOG_INFO, "%s; trying two steps of half the length", why);
    result->residual = before.residual;
    result->coarseness = before.coarseness;
    result->second = before.second;
    result->rigidity = before.rigidity;
    result->converged = before.converged;
    result->nan_grain = before.nan_grain;
    result->escaped_grain = before.escaped_grain;
    so_far.retried++;
    return take_halves(w, h, so_far, result, error);
}

/// Two steps of half the length instead of one.
static talus_status take_halves(talus_world* w, double h, halvings so_far,
                                talus_step_result* result, talus_error* error)
{
    TRY(step_or_halve(w, 0.5 * h, so_far, result, error));
    return step_or_halve(w, 0.5 * h, so_far, result, error);
}

/// Into how many parts the next step is cut from the beginning, after one of length h with so many
/// sweeps in each of its parts.
static talus_status adapt_shortening(talus_world* w, double h, int64_t in_part)
{
    const bool easy = (double)in_part < EASY * (double)w->def.solver.max_sweeps;
    const bool calm = w->state.step - w->shortened > CALM_STEPS;
    double resolved = INFINITY;
    if (w->shortening == 0 || !(calm || (easy && w->shortening > 0))) return TALUS_OK;
    if (!easy) TRY(advice_resolved_step(&w->state, w->pace.threads, &resolved));
    const bool longer = ldexp(h, (int)(1 - w->shortening)) <= resolved;
    if (w->shortening < 0)
        w->shortening = 0;
    else if (longer)
        w->shortening--;
    w->shortened = w->state.step;
    return TALUS_OK;
}

talus_status world_step_rigid(talus_world* w, double h, talus_step_result* result,
                              talus_error* error)
{
    const running_totals totals = w->totals;
    const int64_t solves = w->solves, shortening = w->shortening, shortened = w->shortened;
    const talus_status status = step_or_halve(w, h, (halvings){.error = INFINITY}, result, error);
    if (status == TALUS_ERR_DEVICE) {
        w->totals = totals;
        w->solves = solves;
        w->shortening = shortening;
        w->shortened = shortened;
    }
    return status;
}

talus_status world_conclude_rigid(talus_world* w, double h, talus_step_result* result,
                                  talus_error* error)
{
    const double start = clock_seconds();
    w->state.step++;
    outcome_conclude(w, result);
    const int64_t sweeps = result->sweeps / (result->substeps > 0 ? result->substeps : 1);
    if (adapt_shortening(w, h, sweeps)) return error_memory(error, "diagnosing a step");
    if (diagnose_rigidity(w, h / (double)result->substeps, sweeps, &result->rigidity)) {
        return error_memory(error, "diagnosing a step");
    }
    diagnose_remark(&result->rigidity, &w->def.solver, sweeps, result->remark,
                    sizeof result->remark);
    outcome_add_to_totals(&w->totals.shown, result);
    outcome_count_certificate(&w->totals.shown, result);
    w->totals.shown.seconds_advance += clock_seconds() - start;
    w->last = *result;
    return TALUS_OK;
}

talus_status world_pose(talus_world* w, double h, struct problem* out, const contacts** list,
                        talus_error* error)
{
    if (!w->method->solves_contacts) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the method %s has no contact problem: it needs the method contact",
                         w->method->name);
    }
    const running_totals totals = w->totals;
    const int64_t solves = w->solves;
    talus_world_def options = w->def;
    options.solver.warm_start = true; // the last step's impulses are wanted in any case
    step_order order = order_solve(w, h);
    order.options = &options;
    order.card = NULL;
    step_outcome outcome;
    talus_status status = contact_dynamics_attempt(w->rigid, &order, &outcome, error);
    if (status >= 0) {
        status = outcome.nan_grain < 0
                     ? contact_dynamics_pose(w->rigid, &order, out, list, error)
                     : error_set(error, TALUS_ERR_NUMERIC,
                                 "grain %lld would get a velocity that is not a number",
                                 (long long)w->state.grains.id[outcome.nan_grain]);
    }
    contact_dynamics_reject(w->rigid, &order);
    w->totals = totals;
    w->solves = solves;
    return status;
}

/// Stepping a world: one attempt, the policies for what may go wrong with it, and the bookkeeping.
///
/// A step attempt ends in one of three ways (after SUNDIALS): go on, try again with a smaller step,
/// fail. Numerical outcomes are facts in the result; which of them fails the step is the user's
/// choice.
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/words.h"
#include "detect/passage.h"
#include "rigid/problem.h"
#include "rigid/separate.h"
#include "world/advise_step.h"
#include "world/diagnose.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

// ---- the method --------------------------------------------------------------------------------

talus_status world_make_method(talus_world* w, talus_error* error)
{
    switch (w->def.method) {
    case TALUS_METHOD_SOFT:
        w->why_no_card = soft_particles_why_no_card;
        w->card_worth = SOFT_PARTICLES_CARD_WORTH;
        return soft_particles_create(&w->soft, w->def.dim, error);
    default:
        w->why_no_card = contact_dynamics_why_no_card;
        w->card_worth = CONTACT_DYNAMICS_CARD_WORTH;
        return contact_dynamics_create(&w->rigid, w->def.dim, error);
    }
}

void world_free_method(talus_world* w)
{
    soft_particles_destroy(w->soft);
    contact_dynamics_destroy(w->rigid);
}

talus_status world_renew_method(talus_world* w, talus_error* error)
{
    contact_dynamics* rigid = w->rigid;
    soft_particles* soft = w->soft;
    const talus_status status = world_make_method(w, error);
    if (status < 0) {
        w->rigid = rigid;
        w->soft = soft;
        return status;
    }
    contact_dynamics_destroy(rigid);
    soft_particles_destroy(soft);
    return TALUS_OK;
}

/// A card has failed: shall the CPU do again what failed, and all that comes?
static bool cpu_takes_over(talus_world* w, const talus_error* failure)
{
    if (!device_may_give_up(&w->device) || world_renew_method(w, NULL) < 0) return false;
    device_give_up(&w->device, w->state.time, failure, &w->log);
    return true;
}

static step_order order_step(talus_world* w, double h)
{
    return (step_order){.state = &w->state,
                        .options = &w->def,
                        .h = h,
                        .threads = w->pace.threads,
                        .card = w->device.now,
                        .totals = &w->totals};
}

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
    step_order order = order_step(w, h);
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

// ---- what came of a step -----------------------------------------------------------------------

/// The other body of a passage, in words.
static void passage_words(const talus_world* w, const step_passage* p, char* text, size_t size)
{
    if (p->a < 0) {
        snprintf(text, size, "wall '%s'", w->state.walls.record[-1 - p->a].name);
    } else {
        snprintf(text, size, "grain %lld", (long long)w->state.grains.id[p->a]);
    }
}

/// Is a number worth telling again: the first, and whenever it has doubled?
static bool worth_telling(int64_t count)
{
    return (count & (count - 1)) == 0;
}

/// Count a step that would carry solids into others: it is cut, or cannot be cut any more.
static void note_passage(talus_world* w, const step_order* order, const step_passage* p)
{
    talus_totals* t = &w->totals.shown;
    char other[128];
    passage_words(w, p, other, sizeof other);
    if (!(t->safe_step > 0.0) || p->safe_step < t->safe_step) t->safe_step = p->safe_step;
    const int64_t grain = w->state.grains.id[p->b];
    if (order->may_cut) {
        if (!worth_telling(++t->cut)) return;
        log_write(&w->log, TALUS_LOG_WARNING,
                  "t = %.9g: in a step of %.3g grain %lld would go into %s by %.2g of the "
                  "thickness; the step is cut in two. Steps of %.2g would be safe for them (said "
                  "at every doubling: %lld so far)",
                  w->state.time, order->h, (long long)grain, other, p->depth, p->safe_step,
                  (long long)t->cut);
        return;
    }
    t->sunk_depth = fmax(t->sunk_depth, p->depth);
    if (!worth_telling(++t->sunk)) return;
    log_write(&w->log, TALUS_LOG_WARNING,
              "t = %.9g: grain %lld goes into %s by %.2g of the thickness, also in a step cut to "
              "%.3g (said at every doubling: %lld so far)",
              w->state.time, (long long)grain, other, p->depth, order->h, (long long)t->sunk);
}

/// What to do with an attempt, and the sentence to say if the step fails.
static talus_policy judge(const talus_world* w, const step_outcome* o, double h,
                          talus_step_result* result, char* why, size_t why_size)
{
    const double t = w->state.time + h;
    if (o->nan_grain >= 0) {
        result->nan_grain = w->state.grains.id[o->nan_grain];
        snprintf(why, why_size, "grain %lld got a velocity that is not a finite number at t = %.9g",
                 (long long)result->nan_grain, t);
        return w->def.on_nan;
    }
    if (o->escaped_grain >= 0) {
        result->escaped_grain = w->state.grains.id[o->escaped_grain];
        snprintf(why, why_size,
                 "grain %lld escaped (out of the domain or behind a wall) at t = %.9g",
                 (long long)result->escaped_grain, t);
        if (w->def.on_escape == TALUS_POLICY_STOP) return TALUS_POLICY_STOP;
    }
    if (!o->converged && w->def.on_unconverged != TALUS_POLICY_ACCEPT) {
        snprintf(why, why_size,
                 "the contacts did not converge at t = %.9g: residual %.3g, velocities estimated "
                 "to be off by %.2g %%, after %lld sweep%s",
                 t, o->residual, 100.0 * o->velocity_error, (long long)o->sweeps,
                 plural(o->sweeps));
        return w->def.on_unconverged;
    }
    if (o->coarseness > TALUS_COARSE && w->def.on_coarse == TALUS_POLICY_STOP) {
        snprintf(why, why_size,
                 "the step is too long at t = %.9g: grains slide past each other so far that "
                 "straight paths are off by %.2g %% of a grain's thickness; %.2g would do",
                 t, 100.0 * o->coarseness, h * sqrt(TALUS_COARSE / o->coarseness));
        return TALUS_POLICY_STOP;
    }
    return TALUS_POLICY_ACCEPT;
}

/// Of several attempts and halved steps the worst counts. Rows become ids while they are known.
static void keep_worse_certificate(const talus_world* w, const step_certificate* c,
                                   talus_rigidity* out)
{
    const grains* g = &w->state.grains;
    if (out->worst_grain < 0 || c->grain_error > out->worst_grain_error) {
        out->worst_grain = c->worst_grain >= 0 ? g->id[c->worst_grain] : -1;
        out->worst_grain_error = c->grain_error;
    }
    if (out->cluster_grains > 0 && !(c->bound > out->certified)) return;
    out->certified = c->bound;
    out->frozen_friction = c->sliding;
    out->cluster_grains = c->bodies;
    out->cluster_grain = c->grain >= 0 ? g->id[c->grain] : -1;
    for (int k = 0; k < g->dim && c->grain >= 0; k++) {
        out->cluster_place[k] = g->position[c->grain * g->dim + k];
    }
}

static void add_outcome(const talus_world* w, const step_outcome* o, talus_step_result* result)
{
    result->sweeps += o->sweeps;
    result->updates += o->updates;
    result->contacts = o->contacts;
    result->active = o->active;
    result->converged = result->converged && o->converged;
    result->residual = fmax(result->residual, o->residual);
    result->rigidity.velocity_error = fmax(result->rigidity.velocity_error, o->velocity_error);
    keep_worse_certificate(w, &o->certified, &result->rigidity);
    result->second = result->second || o->second;
    result->overlap_max = fmax(result->overlap_max, o->overlap_max);
    result->coarseness = fmax(result->coarseness, o->coarseness);
}

/// Say that grains were removed: the first time, then whenever their number has doubled.
static void log_removal(const talus_world* w, int64_t before, int64_t removed, int64_t first)
{
    int64_t doubling = 1;
    while (doubling <= before) doubling *= 2;
    if (before + removed < doubling) return;
    log_write(&w->log, TALUS_LOG_WARNING,
              "t = %.9g: escaped grain %lld removed, %lld so far (said at every doubling)",
              w->state.time, (long long)first, (long long)(before + removed));
}

/// Go on from a step that was done: the time, and the grains that the user wants removed.
static talus_status go_on(talus_world* w, const step_order* order, const step_outcome* o,
                          talus_step_result* result, talus_error* error)
{
    w->state.time += order->h;
    result->substeps++;
    if (o->escaped_grain < 0 || w->def.on_escape != TALUS_POLICY_REMOVE) return TALUS_OK;
    int64_t removed = 0;
    TRY(world_remove_grains(w, o->escaped, &removed, error));
    log_removal(w, w->totals.shown.removed + result->removed, removed, result->escaped_grain);
    result->removed += removed;
    return TALUS_OK;
}

double talus_certified_level(int level)
{
    static const double levels[TALUS_CERTIFIED_LEVELS] = {1e-3, 2e-3, 5e-3, 0.01, 0.02,    0.05,
                                                          0.1,  0.2,  0.5,  1.0,  INFINITY};
    return level >= 0 && level < TALUS_CERTIFIED_LEVELS ? levels[level] : NAN;
}

static void count_certificate(talus_totals* t, const talus_step_result* r)
{
    int level = 0;
    while (level < TALUS_CERTIFIED_LEVELS - 1 &&
           !(r->rigidity.certified <= talus_certified_level(level))) {
        level++;
    }
    t->certified[level]++;
    t->frozen_friction += r->rigidity.frozen_friction;
    t->unproved_sliding += level == TALUS_CERTIFIED_LEVELS - 1 && r->rigidity.frozen_friction;
    t->worst_estimate = fmax(t->worst_estimate, r->rigidity.velocity_error);
    if (t->steps > 1 && !(r->rigidity.certified > t->worst_certified)) return;
    t->worst_certified = r->rigidity.certified;
    t->worst_time = r->time;
    t->worst_grains = r->rigidity.cluster_grains;
    t->worst_grain = r->rigidity.cluster_grain;
    for (int k = 0; k < 3; k++) t->worst_place[k] = r->rigidity.cluster_place[k];
}

/// Note how short a part of a step should have been that was far too long.
static void note_coarse(talus_totals* t, const step_outcome* o, double h)
{
    t->worst_coarseness = fmax(t->worst_coarseness, o->coarseness);
    if (!(o->coarseness > TALUS_TOO_COARSE)) return;
    const double needed = h * sqrt(TALUS_COARSE / o->coarseness);
    t->step_needed = t->step_needed > 0.0 ? fmin(t->step_needed, needed) : needed;
}

/// Note how short a part of a step of a flow should have been that ended without meeting its rule
/// and was too long for the pressure between the grains.
static talus_status note_unmet(talus_world* w, const step_outcome* o, double h)
{
    double* least = &w->totals.shown.resolved_step;
    double resolved;
    if (o->converged || !o->flows) return TALUS_OK;
    TRY(advice_resolved_step(&w->state, w->pace.threads, &resolved));
    if (h > resolved) *least = *least > 0.0 ? fmin(*least, resolved) : resolved;
    return TALUS_OK;
}

static void add_to_totals(talus_totals* t, const talus_step_result* r)
{
    t->halved += r->substeps > 1;
    t->substeps += r->substeps;
    t->coarse += r->coarseness > TALUS_TOO_COARSE;
    t->steps = r->step;
    t->sweeps += r->sweeps;
    t->updates += r->updates;
    t->unconverged += !r->converged;
    t->yielding += r->rigidity.yielding;
    t->second += r->second;
    t->removed += r->removed;
}

/// What is told of every step.
static void conclude(const talus_world* w, talus_step_result* result)
{
    result->step = w->state.step;
    result->time = w->state.time;
    result->grains = w->state.grains.count;
    result->kinetic_energy = grains_kinetic_energy(&w->state.grains, w->pace.threads);
}

static const talus_step_result no_result = {.converged = true,
                                            .nan_grain = -1,
                                            .escaped_grain = -1,
                                            .rigidity = {.cluster_grain = -1, .worst_grain = -1}};

// ---- steps of Contact Dynamics, which can be undone
// ----------------------------------------------

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
    if (status == TALUS_ERR_DEVICE && (cpu_takes_over(w, &failure) || parts_done)) {
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
    if (outcome.passage.passes) note_passage(w, &order, &outcome.passage);
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
    const talus_policy policy = judge(w, &outcome, h, result, why, sizeof why);
    add_outcome(w, &outcome, result);
    if (outcome.audit.done) note_audit(w, &outcome.audit, h);
    if (policy == TALUS_POLICY_ACCEPT) {
        contact_dynamics_accept(w->rigid, &order);
        note_coarse(&w->totals.shown, &outcome, h);
        if (note_unmet(w, &outcome, h)) return error_memory(error, "diagnosing a step");
        if (diagnose_errors(w, result->substeps > 0)) {
            return error_memory(error, "diagnosing a step");
        }
        TRY(go_on(w, &order, &outcome, result, error));
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

/// A whole step, in as many parts as it takes. If a card fails nothing has changed: neither the
/// state nor what decides how the step is made when it is made again.
static talus_status whole_step(talus_world* w, double h, talus_step_result* result,
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

/// How rigid a step was that is done.
static talus_status conclude_rigid(talus_world* w, double h, talus_step_result* result,
                                   talus_error* error)
{
    const double start = clock_seconds();
    w->state.step++;
    conclude(w, result);
    const int64_t sweeps = result->sweeps / (result->substeps > 0 ? result->substeps : 1);
    if (adapt_shortening(w, h, sweeps)) return error_memory(error, "diagnosing a step");
    if (diagnose_rigidity(w, h / (double)result->substeps, sweeps, &result->rigidity)) {
        return error_memory(error, "diagnosing a step");
    }
    diagnose_remark(&result->rigidity, &w->def.solver, sweeps, result->remark,
                    sizeof result->remark);
    add_to_totals(&w->totals.shown, result);
    count_certificate(&w->totals.shown, result);
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

// ---- steps of soft particles, which cannot
// -------------------------------------------------------

/// With `more` another one follows at once.
static talus_status soft_step(talus_world* w, double h, bool more, talus_step_result* result,
                              talus_error* error)
{
    step_order order = order_step(w, h);
    order.more = more && w->def.on_escape != TALUS_POLICY_REMOVE; // who may ask for the grains
    step_outcome outcome;
    char why[200] = "";
    TRY(soft_particles_step(w->soft, &order, &outcome, error));
    const talus_policy policy = judge(w, &outcome, h, result, why, sizeof why);
    add_outcome(w, &outcome, result);
    if (policy != TALUS_POLICY_ACCEPT) return error_set(error, TALUS_ERR_NUMERIC, "%s", why);
    // Whoever removes grains needs the contacts that go with them.
    if (outcome.escaped_grain >= 0 && w->def.on_escape == TALUS_POLICY_REMOVE &&
        soft_particles_publish(w->soft, &order)) {
        return error_memory(error, "writing down the contacts");
    }
    return go_on(w, &order, &outcome, result, error);
}

/// Steps one after the other; *result is that of the last, *done counts those that were done and
/// *deepest is the largest overlap of all.
static talus_status soft_steps(talus_world* w, double h, int64_t count, talus_step_result* result,
                               int64_t* done, double* deepest, talus_error* error)
{
    *deepest = 0.0;
    for (*done = 0; *done < count; ++*done) {
        result->overlap_max = 0.0;
        TRY(soft_step(w, h, *done + 1 < count, result, error));
        w->state.step++;
        *deepest = fmax(*deepest, result->overlap_max);
    }
    return TALUS_OK;
}

/// Contacts, overlaps and energies of steps that were done. The method gave the largest overlap in
/// metres.
static talus_status conclude_soft(talus_world* w, double h, talus_step_result* result,
                                  talus_error* error)
{
    const double start = clock_seconds();
    const step_order order = order_step(w, h);
    const contacts* list = &w->state.contacts;
    conclude(w, result);
    if (soft_particles_publish(w->soft, &order)) {
        return error_memory(error, "writing down the contacts");
    }
    const double diameter = grains_mean_diameter(&w->state.grains, w->pace.threads);
    result->contacts = list->count; // candidates depend on when the list was last made
    double sum = 0.0;
    result->overlap_thickness_max = 0.0;
    for (int64_t c = 0; c < list->count; c++) {
        const double overlap = fmax(-list->gap[c], 0.0);
        const double thickness = overlap_thickness(&w->state.grains, list, c);
        sum += overlap;
        result->overlap_thickness_max = fmax(result->overlap_thickness_max, overlap / thickness);
    }
    result->overlap_mean = list->count > 0 ? sum / (double)list->count / diameter : 0.0;
    result->overlap_max /= diameter;
    talus_soft_energy* e = &result->energy;
    *e = soft_particles_energy(w->soft, &order);
    e->error = result->kinetic_energy + e->elastic + e->dissipated - e->start - e->input;
    add_to_totals(&w->totals.shown, result);
    w->totals.shown.seconds_advance += clock_seconds() - start;
    w->last = *result;
    return TALUS_OK;
}

/// When a step fails all are taken back, and those before it are done again: they give the same
/// bits.
static talus_status batched_steps(talus_world* w, double h, int64_t count,
                                  talus_step_result* result, double* deepest, talus_error* error)
{
    int64_t done;
    const running_totals totals = w->totals;
    if (snapshot_take(&w->snapshot, &w->state))
        return error_memory(error, "keeping the state before steps");
    talus_error failure = {0};
    talus_status status = soft_steps(w, h, count, result, &done, deepest, &failure);
    if (status == TALUS_ERR_DEVICE && cpu_takes_over(w, &failure)) {
        snapshot_restore(&w->snapshot, &w->state);
        w->totals = totals;
        *result = no_result;
        status = soft_steps(w, h, count, result, &done, deepest, &failure);
    }
    if (status < 0 && error) *error = failure;
    talus_step_result good = *result;
    if (status < 0) {
        snapshot_restore(&w->snapshot, &w->state);
        w->totals = totals;
        good = no_result;
        int64_t again;
        if (done == 0 || status == TALUS_ERR_DEVICE) return status; // nobody is there to do them
        if (soft_steps(w, h, done, &good, &again, deepest, NULL) < 0) {
            snapshot_restore(&w->snapshot, &w->state);
            w->totals = totals;
            return status;
        }
    }
    // What is kept is the last step's own: it must not depend on how steps are cut into calls.
    TRY(conclude_soft(w, h, &good, error));
    *deepest /= grains_mean_diameter(&w->state.grains, w->pace.threads);
    if (status == TALUS_OK) *result = good;
    return status;
}

talus_status talus_world_soft_times(const talus_world* world, talus_soft_times* out,
                                    talus_error* error)
{
    return soft_particles_times(&world->state, &world->def, out, error);
}

// ---- steps -------------------------------------------------------------------------------------

double talus_world_safe_step(const talus_world* world)
{
    return passage_safe_step(&world->state);
}

/// What a step of rigid grains costs, in updates of contacts: all that is not sweeps is worth some
/// eighty of them (docs/performance-internals.md, What a step is made of).
static double work_of(const talus_world* w, const talus_step_result* r)
{
    enum { SWEEPS_WORTH = 80 };
    const double each = (double)(SWEEPS_WORTH * r->contacts + w->state.grains.count);
    return (double)r->updates + (double)r->substeps * each;
}

talus_status talus_world_steps(talus_world* world, double h, int64_t count,
                               talus_step_result* result, talus_error* error)
{
    if (!(h > 0.0) || !isfinite(h)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "the time step must be positive, got %g", h);
    }
    if (count < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the number of steps must be at least 1, got %lld", (long long)count);
    }
    const card_use use = {world->why_no_card(&world->def, &world->state), world->card_worth};
    talus_status status = device_prepare(&world->device, &world->state, use, &world->log, error);
    talus_step_result r = no_result;
    double deepest = 0.0, thickest = 0.0;
    if (status < 0) return status;
    if (world->method->undoable) {
        int64_t substeps = 0;
        for (int64_t i = 0; i < count && status == TALUS_OK; i++) {
            r = no_result;
            const double start = clock_seconds(), end = world->state.time + h;
            status = whole_step(world, h, &r, error);
            if (status == TALUS_OK) world->state.time = end; // its parts round otherwise
            if (status == TALUS_OK) status = conclude_rigid(world, h, &r, error);
            if (status == TALUS_OK) {
                deepest = fmax(deepest, r.overlap_max);
                thickest = fmax(thickest, r.overlap_thickness_max);
            }
            substeps += r.substeps;
            pace_step(&world->pace, clock_seconds() - start, work_of(world, &r));
        }
        r.substeps = substeps;
        r.overlap_thickness_max = thickest;
    } else {
        const double start = clock_seconds();
        status = batched_steps(world, h, count, &r, &deepest, error);
        pace_step(&world->pace, clock_seconds() - start,
                  (double)count * (double)world->state.grains.count);
    }
    r.overlap_max = deepest;
    if (result) *result = r;
    return status;
}

talus_status talus_world_step(talus_world* world, double h, talus_step_result* result,
                              talus_error* error)
{
    return talus_world_steps(world, h, 1, result, error);
}

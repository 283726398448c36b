/// Stepping a world: one attempt, the policies for what may go wrong with it, and the bookkeeping.
///
/// A step attempt ends in one of three ways (after SUNDIALS): go on, try again with a smaller step,
/// fail. Numerical outcomes are facts in the result; which of them fails the step is the user's
/// choice.
#include "base/clock.h"
#include "base/error.h"
#include "base/words.h"
#include "rigid/problem.h"
#include "world/diagnose.h"
#include "world/snapshot.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// Extent of the system in mean diameters: of the last steps' clusters, of all grains before them.
/// A bed that lands after a flight is one cluster again at once, so large ones are not forgotten
/// soon.
static double system_size(const talus_world* w)
{
    const grains* g = &w->grains;
    if (w->def.method == TALUS_METHOD_SOFT) return 0.0; // needed by the contact solver only
    if (w->last.rigidity.largest_size > 0.0) return w->last.rigidity.largest_size;
    if (g->count == 0) return 0.0;
    double low[3], high[3], longest = 0.0;
    grains_box(g, w->def.threads, low, high);
    for (int k = 0; k < g->dim; k++) longest = fmax(longest, high[k] - low[k]);
    return longest / grains_mean_diameter(g, w->def.threads);
}

static step_context make_context(talus_world* w, double h)
{
    return (step_context){.def = &w->def,
                          .cell = &w->cell,
                          .materials = &w->materials,
                          .grains = &w->grains,
                          .walls = &w->walls,
                          .contacts = &w->contacts,
                          .poses = &w->poses,
                          .time = w->time,
                          .h = h,
                          .key = (uint64_t)w->solves++,
                          .size = system_size(w),
                          .totals = &w->totals,
                          .threads = w->def.threads,
                          .step = w->step,
                          .revision = w->revision};
}

/// What to do with an attempt, and the sentence to say if the step fails.
static talus_policy judge(const talus_world* w, const step_outcome* o, double h,
                          talus_step_result* result, char* why, size_t why_size)
{
    const double t = w->time + h;
    if (o->nan_grain >= 0) {
        result->nan_grain = w->grains.id[o->nan_grain];
        snprintf(why, why_size, "grain %lld got a velocity that is not a finite number at t = %.9g",
                 (long long)result->nan_grain, t);
        return w->def.on_nan;
    }
    if (o->escaped_grain >= 0) {
        result->escaped_grain = w->grains.id[o->escaped_grain];
        snprintf(why, why_size,
                 "grain %lld escaped (out of the domain or behind a wall) at t = %.9g",
                 (long long)result->escaped_grain, t);
        if (w->def.on_escape == TALUS_POLICY_STOP) return TALUS_POLICY_STOP;
    }
    if (!o->converged && w->def.on_unconverged != TALUS_POLICY_ACCEPT) {
        snprintf(
            why, why_size,
            "the contacts did not converge at t = %.9g: residual %.3g, velocities off by about "
            "%.2g %%, after %lld sweep%s",
            t, o->residual, 100.0 * o->velocity_error, (long long)o->sweeps, plural(o->sweeps));
        return w->def.on_unconverged;
    }
    return TALUS_POLICY_ACCEPT;
}

static void add_outcome(const step_outcome* o, talus_step_result* result)
{
    result->sweeps += o->sweeps;
    result->updates += o->updates;
    result->contacts = o->contacts;
    result->active = o->active;
    result->converged = result->converged && o->converged;
    result->residual = fmax(result->residual, o->residual);
    result->rigidity.velocity_error = fmax(result->rigidity.velocity_error, o->velocity_error);
    result->second = result->second || o->second;
    result->overlap_max = fmax(result->overlap_max, o->overlap_max);
}

/// Say that grains were removed: the first time, then whenever their number has doubled.
static void log_removal(const talus_world* w, int64_t before, int64_t removed, int64_t first)
{
    int64_t doubling = 1;
    while (doubling <= before) doubling *= 2;
    if (before + removed < doubling) return;
    log_write(&w->log, TALUS_LOG_WARNING,
              "t = %.9g: escaped grain %lld removed, %lld so far (said at every doubling)", w->time,
              (long long)first, (long long)(before + removed));
}

static talus_status accept(talus_world* w, const step_context* ctx, const step_outcome* o,
                           talus_step_result* result, talus_error* error)
{
    int64_t removed = 0;
    w->ops->accept(w->stepper, ctx);
    w->time += ctx->h;
    result->substeps++;
    if (o->escaped_grain >= 0 && w->def.on_escape == TALUS_POLICY_REMOVE) {
        if (w->ops->publish && w->ops->publish(w->stepper, ctx)) {
            return error_memory(error, "writing down the contacts");
        }
        TRY(world_remove_grains(w, o->escaped, &removed, error));
        log_removal(w, w->totals.removed + result->removed, removed, result->escaped_grain);
    }
    result->removed += removed;
    return TALUS_OK;
}

/// Pose the problem of an attempt for the watcher. Posing spoils the attempt, which is made once
/// more: the same start and the same key give the same bits.
static talus_status show_problem(talus_world* w, const step_context* ctx, step_outcome* outcome,
                                 talus_error* error)
{
    const talus_totals totals = w->totals;
    const contacts* list = NULL;
    problem p = {0};
    talus_status status = w->ops->pose(w->stepper, ctx, &p, &list, error);
    if (status >= 0) status = w->watcher.take(w->watcher.user, &p, ctx, outcome, error);
    problem_free(&p);
    w->ops->reject(w->stepper, ctx);
    if (status >= 0) status = w->ops->attempt(w->stepper, ctx, outcome, error);
    w->totals = totals;
    return status;
}

void world_watch(talus_world* world, world_watcher watcher)
{
    world->watcher = watcher;
}

/// One step of length h, or two of h/2 if the policy says retry, and so on down.
static talus_status step_or_halve(talus_world* w, double h, int depth, talus_step_result* result,
                                  talus_error* error)
{
    step_context ctx = make_context(w, h);
    step_outcome outcome;
    char why[200] = "";
    const talus_step_result before = *result;
    TRY(w->ops->attempt(w->stepper, &ctx, &outcome, error));
    const world_watcher* watcher = &w->watcher;
    if (watcher->wants && outcome.nan_grain < 0 && watcher->wants(watcher->user, &outcome)) {
        TRY(show_problem(w, &ctx, &outcome, error));
    }
    talus_policy policy = judge(w, &outcome, h, result, why, sizeof why);
    add_outcome(&outcome, result);
    if (policy == TALUS_POLICY_ACCEPT) return accept(w, &ctx, &outcome, result, error);

    w->ops->reject(w->stepper, &ctx);
    if (policy != TALUS_POLICY_RETRY || depth >= w->def.retry_depth) {
        return error_set(error, TALUS_ERR_NUMERIC, "%s%s", why,
                         depth > 0 ? ", also with the smallest step that retrying allows" : "");
    }
    log_write(&w->log, TALUS_LOG_INFO, "%s; trying two steps of half the length", why);
    result->residual = before.residual;
    result->rigidity.velocity_error = before.rigidity.velocity_error;
    result->converged = before.converged;
    result->nan_grain = before.nan_grain;
    result->escaped_grain = before.escaped_grain;
    TRY(step_or_halve(w, 0.5 * h, depth + 1, result, error));
    return step_or_halve(w, 0.5 * h, depth + 1, result, error);
}

static void add_to_totals(talus_totals* t, const talus_step_result* r)
{
    t->steps = r->step;
    t->sweeps += r->sweeps;
    t->updates += r->updates;
    t->unconverged += !r->converged;
    t->soft += r->rigidity.soft;
    t->second += r->second;
    t->removed += r->removed;
}

/// How rigid a step of Contact Dynamics was.
static talus_status conclude_contact(talus_world* w, double h, talus_step_result* result,
                                     talus_error* error)
{
    if (poses_update(&w->poses, &w->grains)) return error_memory(error, "diagnosing a step");
    diagnose_overlap(w, &result->overlap_mean, &result->overlap_max);
    int64_t sweeps = result->sweeps / (result->substeps > 0 ? result->substeps : 1);
    if (diagnose_rigidity(w, &w->clusters, h / result->substeps, sweeps, &result->rigidity)) {
        return error_memory(error, "diagnosing a step");
    }
    diagnose_remark(&result->rigidity, &w->def.solver, sweeps, result->remark,
                    sizeof result->remark);
    return TALUS_OK;
}

/// Contacts, overlaps and energies of a soft step. The stepper gave the largest overlap in metres.
static talus_status conclude_soft(talus_world* w, double h, talus_step_result* result,
                                  talus_error* error)
{
    step_context ctx = make_context(w, h);
    w->solves--; // nothing was attempted
    if (w->ops->publish(w->stepper, &ctx)) return error_memory(error, "writing down the contacts");
    const double diameter = grains_mean_diameter(&w->grains, w->def.threads);
    result->contacts = w->contacts.count; // candidates depend on when the list was last made
    double sum = 0.0;
    for (int64_t c = 0; c < w->contacts.count; c++) sum += fmax(-w->contacts.gap[c], 0.0);
    result->overlap_mean = w->contacts.count > 0 ? sum / (double)w->contacts.count / diameter : 0.0;
    result->overlap_max /= diameter;
    talus_soft_energy* e = &result->energy;
    w->ops->energy(w->stepper, &ctx, e);
    e->error = result->kinetic_energy + e->elastic + e->dissipated - e->start - e->input;
    return TALUS_OK;
}

/// Sums and diagnostics of steps that were done.
static talus_status conclude(talus_world* w, double h, talus_step_result* result,
                             talus_error* error)
{
    double start = clock_seconds();
    result->step = w->step;
    result->time = w->time;
    result->grains = w->grains.count;
    result->kinetic_energy = grains_kinetic_energy(&w->grains, w->def.threads);
    if (w->ops->publish) {
        TRY(conclude_soft(w, h, result, error));
    } else {
        TRY(conclude_contact(w, h, result, error));
    }
    add_to_totals(&w->totals, result);
    w->totals.seconds_advance += clock_seconds() - start;
    return TALUS_OK;
}

static talus_status check_step(double h, talus_error* error)
{
    if (h > 0.0 && isfinite(h)) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "the time step must be positive, got %g", h);
}

static const talus_step_result no_result = {
    .converged = true, .nan_grain = -1, .escaped_grain = -1};

/// Steps one after the other; *result is that of the last, *done counts those that were done and
/// *deepest is the largest overlap of all.
static talus_status take_steps(talus_world* w, double h, int64_t count, talus_step_result* result,
                               int64_t* done, double* deepest, talus_error* error)
{
    *done = 0;
    *deepest = 0.0;
    while (*done < count) {
        result->overlap_max = 0.0;
        TRY(step_or_halve(w, h, 0, result, error));
        w->step++;
        *deepest = fmax(*deepest, result->overlap_max);
        ++*done;
    }
    return TALUS_OK;
}

/// One step of a method that undoes what fails.
static talus_status undoable_step(talus_world* w, double h, talus_step_result* result,
                                  double* deepest, talus_error* error)
{
    int64_t done;
    double overlap;
    TRY(take_steps(w, h, 1, result, &done, &overlap, error));
    TRY(conclude(w, h, result, error));
    w->last = *result;
    *deepest = fmax(*deepest, result->overlap_max);
    return TALUS_OK;
}

/// Steps of a method that cannot undo a step and writes its contacts down only when asked. When one
/// fails all are taken back, and those before it are done again: they give the same bits.
static talus_status batched_steps(talus_world* w, double h, int64_t count,
                                  talus_step_result* result, double* deepest, talus_error* error)
{
    int64_t done;
    if (snapshot_take(w)) return error_memory(error, "keeping the state before steps");
    talus_status status = take_steps(w, h, count, result, &done, deepest, error);
    talus_step_result good = *result;
    if (status < 0) {
        snapshot_restore(w);
        good = no_result;
        int64_t again;
        if (done == 0 || take_steps(w, h, done, &good, &again, deepest, NULL)) return status;
    }
    if (done == 0) return status;
    // What is kept is the last step's own: it must not depend on how steps are cut into calls.
    TRY(conclude(w, h, &good, error));
    *deepest /= grains_mean_diameter(&w->grains, w->def.threads);
    w->last = good;
    if (status == TALUS_OK) *result = good;
    return status;
}

talus_status talus_world_steps(talus_world* world, double h, int64_t count,
                               talus_step_result* result, talus_error* error)
{
    talus_step_result r = no_result;
    TRY(check_step(h, error));
    if (count < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the number of steps must be at least 1, got %lld", (long long)count);
    }
    talus_status status = TALUS_OK;
    double deepest = 0.0;
    if (world->ops->publish) {
        status = batched_steps(world, h, count, &r, &deepest, error);
    } else {
        int substeps = 0;
        for (int64_t i = 0; i < count && status == TALUS_OK; i++) {
            r = no_result;
            status = undoable_step(world, h, &r, &deepest, error);
            substeps += r.substeps;
        }
        r.substeps = substeps;
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

static talus_status attempt_and_pose(talus_world* w, const step_context* ctx, struct problem* out,
                                     const contacts** list, talus_error* error)
{
    step_outcome outcome;
    TRY(w->ops->attempt(w->stepper, ctx, &outcome, error));
    talus_status status;
    if (outcome.nan_grain < 0) {
        status = w->ops->pose(w->stepper, ctx, out, list, error);
    } else {
        status = error_set(error, TALUS_ERR_NUMERIC,
                           "grain %lld would get a velocity that is not a number",
                           (long long)w->grains.id[outcome.nan_grain]);
    }
    w->ops->reject(w->stepper, ctx);
    return status;
}

talus_status world_pose(talus_world* world, double h, struct problem* out, const contacts** list,
                        talus_error* error)
{
    const talus_totals totals = world->totals;
    const int64_t solves = world->solves;
    talus_world_def def = world->def;
    def.solver.warm_start = true; // the last step's impulses are wanted in any case
    step_context ctx = make_context(world, h);
    ctx.def = &def;
    talus_status status = attempt_and_pose(world, &ctx, out, list, error);
    world->totals = totals;
    world->solves = solves;
    return status;
}

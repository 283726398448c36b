/// What came of a step: which policy it meets, what is told of it, what is counted.
#include "base/error.h"
#include "base/words.h"
#include "world/advise_step.h"
#include "world/steps.h"

#include <math.h>
#include <stdio.h>

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

void outcome_note_passage(talus_world* w, const step_order* order, const step_passage* p)
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

talus_policy outcome_judge(const talus_world* w, const step_outcome* o, double h,
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

void outcome_add(const talus_world* w, const step_outcome* o, talus_step_result* result)
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

talus_status outcome_go_on(talus_world* w, const step_order* order, const step_outcome* o,
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

void outcome_count_certificate(talus_totals* t, const talus_step_result* r)
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

void outcome_note_coarse(talus_totals* t, const step_outcome* o, double h)
{
    t->worst_coarseness = fmax(t->worst_coarseness, o->coarseness);
    if (!(o->coarseness > TALUS_TOO_COARSE)) return;
    const double needed = h * sqrt(TALUS_COARSE / o->coarseness);
    t->step_needed = t->step_needed > 0.0 ? fmin(t->step_needed, needed) : needed;
}

talus_status outcome_note_unmet(talus_world* w, const step_outcome* o, double h)
{
    double* least = &w->totals.shown.resolved_step;
    double resolved;
    if (o->converged || !o->flows) return TALUS_OK;
    TRY(advice_resolved_step(&w->state, w->pace.threads, &resolved));
    if (h > resolved) *least = *least > 0.0 ? fmin(*least, resolved) : resolved;
    return TALUS_OK;
}

void outcome_add_to_totals(talus_totals* t, const talus_step_result* r)
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

void outcome_conclude(const talus_world* w, talus_step_result* result)
{
    result->step = w->state.step;
    result->time = w->state.time;
    result->grains = w->state.grains.count;
    result->kinetic_energy = grains_kinetic_energy(&w->state.grains, w->pace.threads);
}

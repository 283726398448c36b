/// Which method is cheaper for a scene.
///
/// Estimate (BUW 1.35 to 1.37): Contact Dynamics takes steps of a fraction of r/v with N^(2/d)
/// sweeps each, soft particles take steps of a fraction of sqrt(m/K), so that
///     T_CD/T_MD ~ N^(2/d) sqrt(m v^2/(K r^2)).
/// Talus's solver needs about L/d sweeps or fewer (docs/benchmarks.md). Both say nothing about
/// factors. Hence the trial: the scene is begun with both methods, each is given the same processor
/// time, and seconds a step times steps is what the whole scene will take.
#include "run/advise.h"
#include "run/tolerance.h"

#include "base/clock.h"
#include "base/definition.h"
#include "base/error.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Step of the method contact where a scene states none, in r/v (BUW 1.35: a fraction). The
/// ready-made scenes have 0.007 to 1, one half of them 0.05 or more.
static const double CONTACT_STEP = 0.1;
/// A step of fewer grains takes about as long as one of so many.
static const double FEW_GRAINS = 50.0;
/// Costs that differ by less are about the same: the trial is not more exact.
static const double CLOSE = 2.0;

/// An override of a phase's step: "phases[12].step=1.2345e-06".
typedef char step_set[96];

/// An advice in the making.
typedef struct advising {
    const talus_advise_def* def;
    talus_advice* out;
    scene_estimate estimate;
    int phase_count;
    double* lengths;       ///< [phase_count] simulated time, at most; < 0: not known
    step_set* step_sets;   ///< [phase_count] for the method that the scene does not state
    const char** all_sets; ///< [set_count] the user's, method, steps
    int set_count;
} advising;

void talus_advise_default_sized(talus_advise_def* def, size_t size)
{
    talus_advise_def own = {.seconds = 1.0};
    DEFINITION_GIVE(def, size, own);
}

// ---- the scene ---------------------------------------------------------------------------------

/// What turns the scene into one of the other method. A step that is written for one of them says
/// nothing about the other.
static talus_status find_sets(advising* a, const run* r, talus_error* error)
{
    const scene_estimate* e = &a->estimate;
    static const char* const methods[][2] = {{"method=contact", "method=soft"},
                                             {"step=1", "step=auto"}};
    const talus_method other = other_method(a->out->method);
    char step[32] = "auto";
    if (other == TALUS_METHOD_CONTACT) {
        // Nothing moves: as far as the largest force takes a grain from rest.
        const double time = e->speed > 0   ? e->radius / e->speed
                            : e->force > 0 ? sqrt(e->mass * e->radius / e->force)
                                           : a->out->duration;
        snprintf(step, sizeof step, "%.6g", CONTACT_STEP * time);
    }
    a->step_sets = calloc((size_t)a->phase_count, sizeof *a->step_sets);
    a->all_sets = calloc((size_t)(a->def->set_count + 2 + a->phase_count), sizeof(const char*));
    if (!a->step_sets || !a->all_sets) return error_memory(error, "the advice");
    for (int i = 0; i < a->def->set_count; i++) a->all_sets[a->set_count++] = a->def->sets[i];
    a->all_sets[a->set_count++] = methods[0][other];
    a->all_sets[a->set_count++] = methods[1][other];
    for (int p = 0; p < a->phase_count; p++) {
        snprintf(a->step_sets[p], sizeof *a->step_sets, "%.60s=%s",
                 scene_phase_step_path(r->scene, p), step);
        a->all_sets[a->set_count++] = a->step_sets[p];
    }
    return TALUS_OK;
}

static talus_status describe(advising* a, const run* r, talus_error* error)
{
    talus_advice* out = a->out;
    const talus_world_def* world = talus_world_options(r->world);
    TRY(scene_estimate_make(r->scene, r->world, scene_overlap(r->scene), &a->estimate, error));
    const scene_estimate* e = &a->estimate;
    *out = (talus_advice){.dim = world->dim,
                          .threads = world->threads > 1 ? world->threads : 1,
                          .reduced_units = scene_outputs(r->scene)->reduced_units,
                          .method = scene_method(r->scene),
                          .grains = e->grains,
                          .radius = e->radius,
                          .mass = e->mass,
                          .size = e->size,
                          .speed = e->speed,
                          .speed_of = e->speed_of,
                          .stiffness_of = estimate_reason_words(e->reason)};
    a->phase_count = scene_phase_count(r->scene);
    a->lengths = calloc((size_t)a->phase_count, sizeof *a->lengths);
    if (!a->lengths) return error_memory(error, "the advice");
    for (int p = 0; p < a->phase_count; p++) {
        const int64_t limit = schedule_phase_limit(r, p);
        a->lengths[p] = limit < 0 ? -1.0 : (double)limit * scene_phase_step(r->scene, p);
        out->at_most |= scene_phase_end(r->scene, p)->kinetic_energy >= 0 && limit >= 0;
        out->unknown_phases += limit < 0;
        out->duration += fmax(a->lengths[p], 0.0);
    }
    out->per_second = out->unknown_phases == a->phase_count;
    if (out->per_second) out->duration = 1.0;
    return find_sets(a, r, error);
}

/// Overlap, in mean diameters, under the loads and impacts of the scene.
static double overlap_of(const scene_estimate* e, double stiffness)
{
    return scene_estimate_depth(e, stiffness) / (2.0 * e->radius);
}

/// Which tolerance of the contact solver to take.
static void advise_tolerance(const talus_world* world, double h, talus_advice* out)
{
    char words[TOLERANCE_WORDS], take[96] = "keep the one that is set";
    const tolerance_cost cost = tolerance_measure(world, h);
    const double worth = tolerance_worth(&cost);
    if (!cost.known) return;
    tolerance_words(&cost, words);
    if (worth > 0.0) {
        snprintf(take, sizeof take, "take %g, which costs little more", worth);
    }
    snprintf(out->tolerance, sizeof out->tolerance, "Tolerance: %s; %s.", words, take);
}

// ---- the trial ---------------------------------------------------------------------------------

/// Step the scene from its beginning until the time is used up or the last phase has ended.
static talus_status spend(run* r, double seconds, int threads, talus_cost* cost, talus_error* error)
{
    // Nothing is recorded, so no record comes due.
    r->state.frame_mark = r->state.series_mark = INT64_MAX / 2;
    const double began = clock_cpu_seconds();
    talus_status status = run_phase_begin(r, 0, error);
    do {
        if (status >= 0) status = run_advance_phase(r, &cost->trial_whole, error);
        if (status >= 0 && !cost->trial_whole) status = run_steps(r, error);
        cost->trial_seconds = (clock_cpu_seconds() - began) / threads;
    } while (status >= 0 && !cost->trial_whole && cost->trial_seconds < seconds);
    const double steps = fmax((double)r->state.step, 1.0);
    cost->trial_steps = r->state.step;
    cost->trial_time = talus_world_time(r->world);
    cost->trial_grains = r->state.grain_steps / steps;
    cost->sweeps = (double)talus_world_totals(r->world)->sweeps / steps;
    cost->step_seconds = cost->trial_seconds / steps;
    return status;
}

/// Try one method in a run that is built.
static talus_status try_method(advising* a, run* r, talus_error* error)
{
    const talus_method method = scene_method(r->scene);
    talus_cost* cost = &a->out->cost[method];
    if (method == TALUS_METHOD_SOFT) {
        a->out->stiffness = scene_phase_times(r->scene, 0)->stiffness;
        a->out->stiffness_chosen = scene_choices(r->scene)->stiffness;
    }
    for (int p = 0; p < a->phase_count; p++) { // steps of the whole scene
        const double length =
            a->out->per_second ? a->out->duration / a->phase_count : fmax(a->lengths[p], 0.0);
        cost->steps += length / scene_phase_step(r->scene, p);
    }
    cost->step = a->out->duration / cost->steps;
    const talus_status status = spend(r, a->def->seconds, a->out->threads, cost, error);
    cost->possible = status >= 0 || (status == TALUS_ERR_NUMERIC && cost->trial_steps > 0);
    if (cost->possible && status < 0)
        snprintf(cost->reason, sizeof cost->reason, "%.1000s", error->text);
    // Only so many of the grains were there yet.
    const double factor = a->estimate.grains / fmax(cost->trial_grains, FEW_GRAINS);
    if (scene_inlet_count(r->scene) > 0 && factor > 1.0) cost->step_seconds *= factor;
    if (cost->possible && method == TALUS_METHOD_CONTACT) {
        advise_tolerance(r->world, schedule_step_length(r), a->out);
    }
    return cost->possible ? TALUS_OK : status;
}

/// The method that the scene states: its failures are the caller's.
static talus_status try_stated(advising* a, const talus_run_def* options, talus_report* report,
                               talus_error* error)
{
    run r;
    run_init(&r, options);
    talus_status status =
        run_build(&r, a->def->scene, a->def->sets, a->def->set_count, report, error);
    if (status >= 0) status = describe(a, &r, error);
    if (status >= 0) status = try_method(a, &r, error);
    run_free(&r);
    return status;
}

/// The other one: if it fails, that is a reason not to use it.
static talus_status try_other(advising* a, const talus_run_def* options, talus_error* error)
{
    talus_report report = {0};
    talus_error own = {0};
    run r;
    run_init(&r, options);
    talus_status status = run_build(&r, a->def->scene, a->all_sets, a->set_count, &report, &own);
    for (int p = 0; status >= 0 && p < a->phase_count; p++) {
        scene_phase_by_time(r.scene, p, a->lengths[p]);
    }
    if (status >= 0) status = try_method(a, &r, &own);
    run_free(&r);
    talus_cost* cost = &a->out->cost[other_method(a->out->method)];
    if (status < 0) {
        snprintf(cost->reason, sizeof cost->reason, "%.1000s",
                 report.count > 0 ? report.lines[0] : own.text);
    }
    talus_report_clear(&report);
    return status == TALUS_ERR_MEMORY ? error_memory(error, "the trial") : TALUS_OK;
}

// ---- what follows ------------------------------------------------------------------------------

/// Costs of the whole scene. A trial that went through all of it knows how long that is.
static void fill_costs(advising* a)
{
    talus_advice* out = a->out;
    const talus_cost* stated = &out->cost[out->method];
    const talus_cost* other = &out->cost[other_method(out->method)];
    const talus_cost* whole = stated->trial_whole ? stated : other->trial_whole ? other : NULL;
    if (whole) {
        out->duration = whole->trial_time;
        out->at_most = out->per_second = false;
        out->unknown_phases = 0;
    }
    for (int m = 0; m < 2; m++) {
        talus_cost* c = &out->cost[m];
        if (!c->possible) continue;
        if (c->trial_whole) {
            c->step_seconds = c->trial_seconds / (double)c->trial_steps;
            c->step = c->trial_time / (double)c->trial_steps;
        }
        c->steps = c->trial_whole ? (double)c->trial_steps : out->duration / c->step;
        c->seconds = c->steps * c->step_seconds;
    }
}

static void conclude(advising* a)
{
    talus_advice* out = a->out;
    const talus_cost *contact = &out->cost[TALUS_METHOD_CONTACT], *soft = &out->cost[1];
    // BUW 1.37, as it stands and with the sweeps of Talus's solver.
    if (!(out->stiffness > 0)) {
        out->stiffness = a->estimate.stiffness;
        out->stiffness_chosen = true;
    }
    const double depth = out->radius * sqrt(out->stiffness / out->mass);
    const double fraction = depth > 0 ? out->speed / depth : NAN;
    out->papers_sweeps = pow(out->grains, 2.0 / out->dim);
    out->ratio_papers = out->papers_sweeps * fraction;
    out->ratio_talus = out->size * fraction;
    fill_costs(a);
    // The springs that were chosen for a law other than the linear one differ by a factor.
    const double linear = out->stiffness_chosen ? a->estimate.stiffness : out->stiffness;
    out->overlap = overlap_of(&a->estimate, linear);
    out->use = soft->possible ? TALUS_METHOD_SOFT : TALUS_METHOD_CONTACT;
    if (!contact->possible || !soft->possible) return;
    out->ratio = contact->seconds / soft->seconds;
    out->close = out->ratio < CLOSE && out->ratio > 1.0 / CLOSE;
    if (out->close || out->ratio < 1.0) out->use = TALUS_METHOD_CONTACT;
    // Steps of the soft method are as short as sqrt(m/K).
    out->even_stiffness = out->stiffness * out->ratio * out->ratio;
    out->even_overlap = overlap_of(&a->estimate, linear * out->ratio * out->ratio);
}

talus_status talus_advise(const talus_advise_def* given, talus_advice* out, talus_report* report,
                          talus_error* error)
{
    talus_advise_def own = talus_advise_default();
    const talus_advise_def* def = &own;
    *out = (talus_advice){.speed_of = "", .stiffness_of = ""};
    TRY(DEFINITION_TAKE(advise, &own, given, error));
    if (!def->scene) return error_set(error, TALUS_ERR_ARGUMENT, "an advice needs a scene");
    if (!(def->seconds >= 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the time of the trial is %g (expected a number of at least 0)",
                         def->seconds);
    }
    talus_run_def options = talus_run_default();
    options.threads = def->threads;
    options.device = "cpu"; // its seconds are those of processors
    advising a = {.def = def, .out = out};
    talus_error local; // the text is needed though the caller may not want it
    talus_status status = try_stated(&a, &options, report, error ? error : &local);
    if (status >= 0) status = try_other(&a, &options, error);
    if (status >= 0) {
        conclude(&a);
        advise_words(out);
    }
    free(a.lengths);
    free(a.step_sets);
    free(a.all_sets);
    return status;
}

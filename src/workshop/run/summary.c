/// What a run tells about itself: run.json at its beginning, summary.json at its end, and a verdict
/// in plain words on convergence, overlaps and exactness.
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/words.h"
#include "law/restitution.h"
#include "run/certainty.h"
#include "run/directory.h"
#include "run/run.h"
#include "run/tolerance.h"
#include "world/advise_step.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/// Energies of the method soft that add up to this part of the largest of them are trusted.
static const double ENERGY_TRUSTED = 0.01;
/// Overlaps of rigid bodies above this part of the thinner one's thickness are a reason for one.
static const double OVERLAP_TRUSTED = 0.1;

int64_t summary_peak_memory(void)
{
    // Not getrusage(): its maximum survives execve(), so that a small run started from a large
    // program would report that program's memory.
    FILE* status = fopen("/proc/self/status", "re");
    char line[128];
    long long kibibytes = 0;
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "VmHWM: %lld kB", &kibibytes) == 1) break;
    }
    if (status) fclose(status);
    return (int64_t)kibibytes * 1024;
}

run_seconds summary_seconds(const run* r)
{
    const talus_totals* totals = talus_world_totals(r->world);
    run_seconds s = r->before;
    const double total = clock_seconds() - r->started;
    const double stages = totals->seconds_detect + totals->seconds_solve + totals->seconds_advance;
    // The method soft times one step in some: on a busy machine that may be more than there was.
    const double most = fmax(total - r->seconds_record, 0.0);
    const double share = stages > most ? most / stages : 1.0;
    s.detect += share * totals->seconds_detect;
    s.solve += share * totals->seconds_solve;
    s.advance += share * totals->seconds_advance;
    s.record += r->seconds_record;
    s.total += total;
    return s;
}

const char* summary_time_unit(const run* r)
{
    return scene_outputs(r->scene)->reduced_units ? "" : " s";
}

void summary_note_energy(run_state* s)
{
    const talus_soft_energy* e = &s->last.energy;
    const double held = s->last.kinetic_energy + e->elastic + e->dissipated;
    // The largest up to now: at the top of a bounce there is hardly any.
    s->energy_scale = fmax(s->energy_scale, fmax(fmax(held, e->start), fabs(e->input)));
    s->worst_energy = fmax(s->worst_energy, isfinite(e->error) ? fabs(e->error) : INFINITY);
}

/// Append a sentence as a line of its own.
static void add_line(char* text, size_t size, const char* format, ...) TALUS_PRINTF(3, 4);
static void add_line(char* text, size_t size, const char* format, ...)
{
    size_t used = strlen(text);
    if (used > 0 && used + 1 < size) text[used++] = '\n';
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/// Append `--set KEY=STEP` for each key that a phase has a step from that is longer.
static void add_shorter_steps(const run* r, double step, char* text, size_t size)
{
    const int count = scene_phase_count(r->scene);
    for (int i = 0; i < count; i++) {
        const char* key = scene_phase_step_path(r->scene, i);
        bool told = !(scene_phase_step(r->scene, i) > step);
        for (int k = 0; k < i && !told; k++) {
            told = strcmp(scene_phase_step_path(r->scene, k), key) == 0;
        }
        const size_t used = strlen(text);
        if (!told) snprintf(text + used, size - used, " --set %s=%g", key, step);
    }
}

void summary_resolved_step(const run* r, char* text, size_t size)
{
    const double longest = talus_world_totals(r->world)->resolved_step;
    const bool halved = talus_world_options(r->world)->on_coarse == TALUS_POLICY_RETRY;
    text[0] = '\0';
    if (!(longest > 0.0)) return;
    snprintf(text, size,
             "under its pressure P the flow wants steps of at most %.2g%s, a quarter of d "
             "sqrt(rho/P): run it with",
             longest, summary_time_unit(r));
    add_shorter_steps(r, advice_round(longest), text, size);
    const size_t used = strlen(text);
    if (!halved) {
        snprintf(text + used, size - used,
                 ", or with --set policies.coarse=retry, which cuts steps where that helps");
    }
}

/// Whether steps met their rule, and what that took. Rule and method are those of the last phase; a
/// number of sweeps asks for no convergence.
static void judge_convergence(const run* r, const talus_summary* sum, char* text, size_t size)
{
    static const char* const sweeps[] = {"", "", " over blocks of contacts without momentum",
                                         " over one contact after the other"};
    const talus_solver_def* solver = &talus_world_options(r->world)->solver;
    char met[96] = "every step met its stopping rule", direct[96] = "";
    char shorter[SHORTER_STEP_WORDS];
    if (sum->unconverged_steps > 0) {
        snprintf(met, sizeof met,
                 "%" PRId64 " of %" PRId64 " step%s ended without meeting the stopping rule",
                 sum->unconverged_steps, sum->steps, plural(sum->steps));
    } else if (solver->stop == TALUS_STOP_SWEEPS) {
        snprintf(met, sizeof met, "not asked for, a step ends after its sweeps");
    }
    if (sum->second_steps > 0) {
        snprintf(direct, sizeof direct, "; direct methods finished %" PRId64 " step%s",
                 sum->second_steps, plural(sum->second_steps));
    }
    summary_resolved_step(r, shorter, sizeof shorter);
    add_line(text, size, "Convergence: %s; %.3g sweeps%s on average%s.%s%s%s", met,
             (double)sum->sweeps_total / (double)sum->steps, sweeps[solver->method], direct,
             shorter[0] ? " Steps were too long: " : "", shorter, shorter[0] ? "." : "");
}

/// Steps that were too long for slender solids.
static void judge_passages(const run* r, char* text, size_t size)
{
    const talus_totals* t = talus_world_totals(r->world);
    char sunk[128] = "";
    if (t->cut == 0 && t->sunk == 0) return;
    if (t->sunk > 0) {
        snprintf(sunk, sizeof sunk,
                 " In %" PRId64 " of the shortest ones they did, by up to %.2g of the thickness.",
                 t->sunk, t->sunk_depth);
    }
    add_line(text, size,
             "Passages: %" PRId64 " time%s a step was cut in two, for solids would have gone into "
             "other bodies on its way.%s A step of %.2g%s would be safe.",
             t->cut, plural(t->cut), sunk, t->safe_step, summary_time_unit(r));
}

/// How exact the steps were, for all that is known. The papers' theory of softness is about their
/// own solver.
static void judge_exactness(const run* r, const talus_summary* sum, char* text, size_t size)
{
    const talus_totals* totals = talus_world_totals(r->world);
    const talus_rigidity* last = &r->state.last.rigidity;
    const talus_world_def* world = talus_world_options(r->world);
    const certainty_speech speech = {world->dim, sum->reduced_units};
    bool failed;
    char words[800];
    certainty_tell_exactness(&speech, totals, words, sizeof words);
    add_line(text, size, "%s", words);
    certainty_tell_audits(totals, &failed, words, sizeof words);
    if (words[0]) add_line(text, size, "%s%s", failed ? VERDICT_WARNING : "", words);
    if (world->solver.method == TALUS_SOLVER_SWEEPS && last->yielding &&
        last->diffusion_length < last->system_size) {
        add_line(text, size,
                 "In its last step the forces travelled %.3g of %.3g diameters, the equivalent "
                 "stiffness was %.3g%s, and about %.3g sweeps a step would carry forces across.",
                 last->diffusion_length, last->system_size, last->stiffness,
                 sum->reduced_units ? "" : " N/m", last->sweeps_for_rigid);
    }
}

/// What other tolerances would cost, measured on the world as it is now.
static void judge_tolerance(const run* r, char* text, size_t size)
{
    char words[TOLERANCE_WORDS];
    const tolerance_cost cost = tolerance_measure(r->world, schedule_step_length(r));
    if (!cost.known) return;
    tolerance_words(&cost, words);
    add_line(text, size, "Tolerance: %s.", words);
}

/// Whether the energies of the method soft add up. Books that do not are a reason for a warning:
/// they are exact to the order of the scheme as long as collisions are resolved.
static void judge_energy(const talus_summary* sum, char* text, size_t size)
{
    const double error = sum->energy_error_max;
    if (error <= ENERGY_TRUSTED) {
        add_line(text, size,
                 "Energy: kinetic, elastic and dissipated energy and the work done add up to %.2g "
                 "%% of the largest of them at worst.",
                 100 * error);
        return;
    }
    char much[32] = "100 % or more";
    if (error < 1) snprintf(much, sizeof much, "%.2g %%", 100 * error);
    add_line(text, size,
             VERDICT_WARNING
             "energy is off by %s: kinetic, elastic and dissipated energy and the work done do not "
             "add up. The step is too long, or grains are pushed so deep into each other that "
             "forces jump; try a shorter step or a larger stiffness.",
             much);
}

void summary_coarseness(double coarseness, char* text, size_t size)
{
    if (coarseness < 1.0)
        snprintf(text, size, "%.2g %% of a grain's thickness", 100 * coarseness);
    else
        snprintf(text, size, "more than the grain is thick");
}

/// How the steps went that were halved, and whether any was too long.
static void judge_step(const talus_summary* sum, char* text, size_t size)
{
    const char* unit = sum->reduced_units ? "" : " s";
    if (sum->halved_steps > 0) {
        add_line(text, size,
                 "Step: %g%s; %" PRId64 " of %" PRId64 " steps were taken in %" PRId64 " parts.",
                 sum->step_length, unit, sum->halved_steps, sum->steps,
                 sum->substeps - (sum->steps - sum->halved_steps));
    }
    if (sum->coarse_steps == 0) return;
    char off[64];
    summary_coarseness(sum->worst_coarseness, off, sizeof off);
    add_line(text, size,
             VERDICT_WARNING
             "the step was too long in %" PRId64 " of %" PRId64
             " steps: grains slid past each other so far that straight paths were off by %s, "
             "where %g %% is fine. A step of %.2g%s would have done, or step: auto.",
             sum->coarse_steps, sum->steps, off, 100 * TALUS_COARSE, sum->step_needed, unit);
}

/// Overlaps against the bodies themselves: needles may have passed through each other that overlap
/// by little of a mean diameter.
static void judge_thickness(const talus_summary* sum, char* text, size_t size)
{
    const double deepest = fmax(sum->overlap_thickness_max, sum->overlap_thickness_ever);
    if (deepest <= OVERLAP_TRUSTED || !method_of(sum->method)->solves_contacts) return;
    add_line(text, size,
             VERDICT_WARNING
             "bodies overlapped by up to %.2g %% of the thickness of the thinner one. Rigid bodies "
             "should not: the step is too long for bodies as thin or as fast as these, or they "
             "were placed so.",
             100 * deepest);
}

/// Impacts that are worked out all at once make or lose energy, the more the longer the step.
static void judge_impacts(const run* r, char* text, size_t size)
{
    const int count = talus_world_material_count(r->world);
    char pairs[256] = "";
    int others = 0;
    for (int k = 0; k < count * count; k++) {
        const talus_material_id a = {k / count}, b = {k % count};
        talus_pair_def law = talus_pair_default();
        if (b.index < a.index || talus_world_pair(r->world, a, b, &law, NULL)) continue;
        const char* with = restitution_at_once(&law);
        if (!with) continue;
        if (pairs[0]) {
            others++;
            continue;
        }
        snprintf(pairs, sizeof pairs, "'%s' and '%s' have restitution and %s",
                 talus_world_material_name(r->world, a), talus_world_material_name(r->world, b),
                 with);
    }
    if (!pairs[0]) return;
    char more[64] = "";
    if (others > 0) snprintf(more, sizeof more, " (so do %d other pairs)", others);
    add_line(text, size,
             VERDICT_WARNING
             "%s%s: impacts of theirs that fell into one step were worked out all at once, so that "
             "energy may have been lost or gained. Compare with a run with half the step.",
             pairs, more);
}

static void judge(const run* r, talus_summary* sum)
{
    char* text = sum->verdict;
    size_t size = sizeof sum->verdict;
    if (sum->steps == 0) {
        add_line(text, size, "No step was done.");
        return;
    }
    const method_traits* method = method_of(sum->method);
    if (method->has_springs) {
        char share[96] = "";
        if (sum->contact_time > 0) {
            snprintf(share, sizeof share, " = t_c/%.3g, where t_c is how long a collision lasts",
                     sum->contact_time / sum->step_length);
        }
        add_line(text, size, "Step: %.3g%s%s.", sum->step_length, sum->reduced_units ? "" : " s",
                 share);
        judge_energy(sum, text, size);
    } else {
        judge_step(sum, text, size);
        judge_convergence(r, sum, text, size);
    }
    add_line(
        text, size,
        "Overlap: %.2g %% of a mean diameter at most; at the end %.2g %% at most and %.2g %% on "
        "average.",
        100 * r->state.worst_overlap, 100 * sum->overlap_max, 100 * sum->overlap_mean);
    judge_passages(r, text, size);
    judge_thickness(sum, text, size);
    if (method->solves_contacts) judge_impacts(r, text, size);
    if (method->solves_contacts) judge_exactness(r, sum, text, size);
    if (method->solves_contacts) judge_tolerance(r, text, size);
    if (sum->removed_grains > 0) {
        add_line(text, size, "Escape: %" PRId64 " grain%s left the domain and %s taken out.",
                 sum->removed_grains, plural(sum->removed_grains),
                 sum->removed_grains == 1 ? "was" : "were");
    }
    char dumped[320];
    if (r->def->dump_problems > 0 && dump_verdict(&r->dump, dumped, sizeof dumped)) {
        add_line(text, size, "%s", dumped);
    }
}

void summary_fill(const run* r, const char* outcome, talus_summary* out)
{
    const run_state* s = &r->state;
    const talus_totals* totals = talus_world_totals(r->world);
    const certainty known = certainty_of(totals);
    run_seconds seconds = summary_seconds(r);
    int64_t memory = summary_peak_memory();
    *out = (talus_summary){
        .steps = s->step,
        .grains = talus_world_grains(r->world).count,
        .contacts = s->last.contacts,
        .sweeps_total = totals->sweeps,
        .contact_updates = totals->updates,
        .unconverged_steps = totals->unconverged,
        .yielding_steps = totals->yielding,
        .second_steps = totals->second,
        .removed_grains = totals->removed,
        .halved_steps = totals->halved,
        .substeps = totals->substeps,
        .coarse_steps = totals->coarse,
        .worst_coarseness = totals->worst_coarseness,
        .step_needed = totals->step_needed,
        .frames = s->frames_written,
        .shapes = talus_world_solid_count(r->world),
        .time = talus_world_time(r->world),
        .residual = s->last.residual,
        .velocity_error = s->last.rigidity.velocity_error,
        .certified = s->last.rigidity.certified,
        .certified_level = known.most ? known.level : INFINITY,
        .certified_steps = known.steps,
        .worst_estimate = totals->worst_estimate,
        .worst_certified = totals->worst_certified,
        .worst_time = totals->worst_time,
        .worst_grains = totals->worst_grains,
        .worst_grain = totals->worst_grain,
        .worst_place = {totals->worst_place[0], totals->worst_place[1], totals->worst_place[2]},
        .frozen_friction = totals->frozen_friction,
        .unproved_sliding = totals->unproved_sliding,
        .audits = totals->audits,
        .audits_held = totals->audits_held,
        .audits_unanswered = totals->audits_unanswered,
        .audit_least = totals->audit_least,
        .audit_most = totals->audit_most,
        .audit_grains = totals->audit_grains,
        .audit_touching = totals->audit_touching,
        .audit_largest = totals->audit_largest,
        .overlap_mean = s->last.overlap_mean,
        .overlap_max = s->last.overlap_max,
        .overlap_thickness_max = s->last.overlap_thickness_max,
        .overlap_thickness_ever = s->worst_overlap_thickness,
        .kinetic_energy = s->last.kinetic_energy,
        .method = scene_method(r->scene),
        .energy = s->last.energy,
        .energy_error_max = s->worst_energy > 0 ? s->worst_energy / s->energy_scale : 0,
        .contact_time = scene_phase_times(r->scene, (int)s->phase)->contact,
        .step_length = s->step_length,
        .grain_steps = s->grain_steps,
        .seconds_detect = seconds.detect,
        .seconds_solve = seconds.solve,
        .seconds_advance = seconds.advance,
        .seconds_record = seconds.record,
        .seconds_total = seconds.total,
        .threads = talus_world_options(r->world)->threads,
        .seed = scene_seed(r->scene),
        .state_hash = talus_world_hash(r->world),
        .peak_memory_bytes = memory > s->peak_memory ? memory : s->peak_memory,
        .reduced_units = scene_outputs(r->scene)->reduced_units,
        .interrupted = r->interrupted,
        .problems_dumped = r->dump.written,
        .problems_skipped = r->dump.richer + r->dump.larger,
    };
    snprintf(out->device, sizeof out->device, "%s", talus_world_device(r->world));
    snprintf(out->device_reason, sizeof out->device_reason, "%.500s",
             talus_world_device_reason(r->world));
    snprintf(out->outcome, sizeof out->outcome, "%s", outcome);
    judge(r, out);
}

/// A stream into memory, written to a file in one piece.
typedef struct text_stream {
    FILE* file;
    char* data;
    size_t size;
} text_stream;

static talus_status stream_open(text_stream* stream, talus_error* error)
{
    stream->file = open_memstream(&stream->data, &stream->size);
    return stream->file ? TALUS_OK : error_memory(error, "writing JSON");
}

/// Close the stream and put what it holds into directory/name, atomically.
static talus_status stream_write(text_stream* stream, const char* directory, const char* name,
                                 talus_error* error)
{
    talus_status status = TALUS_OK;
    bool failed = ferror(stream->file) != 0;
    if (fclose(stream->file) != 0 || failed) status = error_memory(error, "writing JSON");
    if (status == TALUS_OK) {
        status = directory_write(directory, name, stream->data, stream->size, error);
    }
    free(stream->data);
    return status;
}

static void write_phases(json* j, const run* r)
{
    static const char* const reasons[] = {"not ended", "duration", "steps", "kinetic energy"};
    json_array(j, "phases");
    int count = scene_phase_count(r->scene);
    for (int p = 0; p < count && p <= (int)r->state.phase; p++) {
        const phase_log* log = &r->phases[p];
        bool ended = log->reason != PHASE_NOT_ENDED;
        json_object(j, NULL);
        json_string(j, "name", scene_phase_name(r->scene, p));
        json_string(j, "ended_by", reasons[log->reason]);
        json_integer(j, "steps", (ended ? log->end_step : r->state.step) - log->start_step);
        json_number(j, "start_time", log->start_time);
        json_number(j, "end_time", ended ? log->end_time : talus_world_time(r->world));
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_certificate(json* j, const talus_summary* sum)
{
    json_number(j, "certified", sum->certified);
    json_number(j, "certified_level", sum->certified_level);
    json_integer(j, "certified_steps", sum->certified_steps);
    json_number(j, "worst_estimate", sum->worst_estimate);
    json_number(j, "worst_certified", sum->worst_certified);
    json_number(j, "worst_time", sum->worst_time);
    json_integer(j, "worst_grains", sum->worst_grains);
    json_integer(j, "worst_grain", sum->worst_grain);
    json_vector(j, "worst_place", sum->worst_place);
    json_integer(j, "frozen_friction", sum->frozen_friction);
    json_integer(j, "unproved_sliding", sum->unproved_sliding);
    json_integer(j, "audits", sum->audits);
    json_integer(j, "audits_held", sum->audits_held);
    json_integer(j, "audits_unanswered", sum->audits_unanswered);
    json_number(j, "audit_least", sum->audit_least);
    json_number(j, "audit_most", sum->audit_most);
    json_integer(j, "audit_grains", sum->audit_grains);
    json_integer(j, "audit_touching", sum->audit_touching);
    json_integer(j, "audit_largest", sum->audit_largest);
}

talus_status summary_write(const run* r, const talus_summary* sum, talus_error* error)
{
    text_stream stream;
    TRY(stream_open(&stream, error));
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, sum->state_hash);

    json j = json_begin(stream.file);
    json_string(&j, "title", talus_scene_title(r->scene));
    json_string(&j, "units", sum->reduced_units ? "reduced" : "si");
    json_string(&j, "outcome", sum->outcome);
    json_string(&j, "method", method_of(sum->method)->name);
    json_integer(&j, "steps", sum->steps);
    json_number(&j, "time", sum->time);
    json_integer(&j, "grains", sum->grains);
    json_integer(&j, "contacts", sum->contacts);
    json_integer(&j, "active_contacts", r->state.last.active);
    json_number(&j, "overlap_mean", sum->overlap_mean);
    json_number(&j, "overlap_max", sum->overlap_max);
    json_number(&j, "overlap_max_ever", r->state.worst_overlap);
    json_number(&j, "overlap_thickness_max", sum->overlap_thickness_max);
    if (method_of(sum->method)->solves_contacts) {
        json_number(&j, "overlap_thickness_ever", sum->overlap_thickness_ever);
    }
    json_number(&j, "kinetic_energy", sum->kinetic_energy);
    if (method_of(sum->method)->solves_contacts) {
        json_integer(&j, "substeps", sum->substeps);
        json_integer(&j, "coarse_steps", sum->coarse_steps);
        json_number(&j, "worst_coarseness", sum->worst_coarseness);
    }
    json_integer(&j, "frames", sum->frames);
    json_integer(&j, "shapes", sum->shapes);
    json_integer(&j, "removed_grains", sum->removed_grains);
    if (method_of(sum->method)->has_springs) {
        const double working = sum->seconds_detect + sum->seconds_solve + sum->seconds_advance;
        json_number(&j, "elastic_energy", sum->energy.elastic);
        json_number(&j, "dissipated", sum->energy.dissipated);
        json_number(&j, "input_work", sum->energy.input);
        json_number(&j, "energy_error", sum->energy.error);
        json_number(&j, "energy_error_max", sum->energy_error_max);
        json_number(&j, "step_length", sum->step_length);
        json_number(&j, "contact_time", sum->contact_time);
        json_number(&j, "grain_steps_per_second", working > 0 ? sum->grain_steps / working : 0.0);
    } else {
        json_integer(&j, "sweeps_total", sum->sweeps_total);
        json_integer(&j, "contact_updates", sum->contact_updates);
        json_number(&j, "residual", sum->residual);
        json_number(&j, "velocity_error", sum->velocity_error);
        write_certificate(&j, sum);
        json_integer(&j, "unconverged_steps", sum->unconverged_steps);
        json_integer(&j, "yielding_steps", sum->yielding_steps);
        json_integer(&j, "second_steps", sum->second_steps);
        if (r->def->dump_problems > 0) {
            json_integer(&j, "problems_dumped", sum->problems_dumped);
            json_integer(&j, "problems_skipped", sum->problems_skipped);
        }
    }
    json_object(&j, "wall_forces");
    for (int w = 0; w < talus_world_wall_count(r->world); w++) {
        talus_wall_state state;
        if (talus_world_wall(r->world, (talus_wall_id){w}, &state, NULL) == TALUS_OK &&
            state.present) {
            json_vector(&j, state.name, state.force);
        }
    }
    json_object_end(&j);
    write_phases(&j, r);
    json_object(&j, "seconds");
    json_number(&j, "detect", sum->seconds_detect);
    json_number(&j, "solve", sum->seconds_solve);
    json_number(&j, "advance", sum->seconds_advance);
    json_number(&j, "record", sum->seconds_record);
    json_number(&j, "total", sum->seconds_total);
    json_object_end(&j);
    json_integer(&j, "threads", sum->threads);
    json_string(&j, "device", sum->device);
    json_string(&j, "device_reason", sum->device_reason);
    json_unsigned(&j, "seed", sum->seed);
    json_string(&j, "version", talus_version());
    json_string(&j, "state_hash", hash);
    json_integer(&j, "peak_memory_bytes", sum->peak_memory_bytes);
    json_string(&j, "verdict", sum->verdict);
    json_end(&j);
    return stream_write(&stream, r->def->directory, "summary.json", error);
}

talus_status summary_write_run(const run* r, talus_error* error)
{
    text_stream stream;
    TRY(stream_open(&stream, error));
    struct utsname host = {0};
    uname(&host);
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));

    json j = json_begin(stream.file);
    json_string(&j, "program", "talus");
    json_string(&j, "version", talus_version());
    json_string(&j, "revision", talus_revision());
    json_string(&j, "compiler", talus_compiler());
    json_string(&j, "host", host.nodename);
    json_string(&j, "system", host.sysname);
    json_string(&j, "kernel", host.release);
    json_string(&j, "machine", host.machine);
    json_integer(&j, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    json_integer(&j, "threads", talus_world_options(r->world)->threads);
    json_unsigned(&j, "seed", scene_seed(r->scene));
    json_string(&j, "units", scene_outputs(r->scene)->reduced_units ? "reduced" : "si");
    const method_traits* method = method_of(scene_method(r->scene));
    json_string(&j, "method", method->name);
    if (method->has_springs) { // what its steps were chosen by
        const talus_soft_times* times = scene_phase_times(r->scene, 0);
        const soft_choices* choices = scene_choices(r->scene);
        json_object(&j, "soft");
        json_number(&j, "contact_time", times->contact);
        json_number(&j, "oscillation_time", times->oscillation);
        json_number(&j, "step_bound", times->bound);
        json_number(&j, "step", scene_phase_step(r->scene, 0));
        if (choices->stiffness) {
            json_number(&j, "stiffness_chosen", choices->chosen);
            json_string(&j, "stiffness_decided_by",
                        estimate_reason_words(choices->estimate.reason));
        }
        json_object_end(&j);
    }
    json_string(&j, "date", date);
    if (r->def->scene) json_string(&j, "scene", r->def->scene);
    if (r->def->command) json_string(&j, "command", r->def->command);
    json_array(&j, "overrides");
    for (int i = 0; i < r->def->set_count; i++) json_string(&j, NULL, r->def->sets[i]);
    json_array_end(&j);
    json_end(&j);
    return stream_write(&stream, r->def->directory, "run.json", error);
}

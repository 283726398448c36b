/// A scene carried out into a directory.
///
/// start:  scene -> world -> directory -> first frame and checkpoint at step 0 -> loop
/// resume: directory -> scene -> world -> phases replayed -> checkpoint loaded -> loop
/// loop:   phase changes, inlets, step, records, checkpoints, until the last phase ends, the step
///         limit is reached, the caller says stop, or a step fails.
/// Every end but an interruption writes a checkpoint first and the closing records after it, so a
/// run that goes on later drops those again and records what an unbroken run would have.
#include "run/run.h"

#include "base/clock.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/words.h"
#include "record/files.h"
#include "run/certainty.h"
#include "run/directory.h"
#include "run/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Wall time after which a batch of steps of the method soft ends, so that the user hears of it.
#define BATCH_SECONDS 1.0

void talus_run_default_sized(talus_run_def* def, size_t size)
{
    talus_run_def own = {.max_steps = -1, .checkpoint_seconds = -1};
    DEFINITION_GIVE(def, size, own);
}

// ---- beginnings --------------------------------------------------------------------------------

void run_init(run* r, const talus_run_def* def)
{
    *r = (run){.def = def, .lock = -1, .started = clock_seconds()};
    r->journal.copy = (log_sink){.function = def->log, .user = def->log_user};
    r->log = journal_sink(&r->journal);
    r->state.held = -1;
    r->state.frame_step = -1;
    r->state.series_step = -1;
    r->speed_clock[0] = r->speed_clock[1] = r->started;
    r->pace = 1;
}

void run_free(run* r)
{
    output_close(r);
    talus_world_destroy(r->world);
    talus_scene_destroy(r->scene);
    free(r->inlets);
    free(r->phases);
    free(r->kept.data);
    free(r->settings.data);
    journal_close(&r->journal);
    if (r->lock >= 0) close(r->lock);
}

talus_status run_build(run* r, const char* scene, const char* const* sets, int set_count,
                       talus_report* report, talus_error* error)
{
    TRY(talus_scene_load(scene, sets, set_count, &r->scene, report, error));
    talus_world_def options = talus_world_default();
    options.log = r->log.function;
    options.log_user = r->log.user;
    options.threads = r->def->threads;
    TRY(talus_scene_build(r->scene, &options, &r->world, report, error));
    if (r->def->dump_problems > 0 && !method_of(scene_method(r->scene))->solves_contacts) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the method soft has no contact problems to be dumped; --dump-problems "
                         "goes with method: contact");
    }

    // One more than needed: calloc(0) may be NULL.
    r->inlets = calloc((size_t)scene_inlet_count(r->scene) + 1, sizeof *r->inlets);
    r->phases = calloc((size_t)scene_phase_count(r->scene) + 1, sizeof *r->phases);
    if (!r->inlets || !r->phases) return error_memory(error, "starting a run");
    return TALUS_OK;
}

/// Say what stiffness was chosen and why.
static void say_stiffness(run* r)
{
    const soft_choices* choices = scene_choices(r->scene);
    if (!choices->stiffness) return;
    const scene_estimate* e = &choices->estimate;
    const bool reduced = scene_outputs(r->scene)->reduced_units;
    char speed[96] = "";
    if (e->reason == ESTIMATE_IMPACTS) {
        snprintf(speed, sizeof speed, ", those of %s", e->impact_of);
    }
    log_write(&r->log, TALUS_LOG_INFO,
              "stiffness %.3g%s chosen so that overlaps stay below %.3g %% of a diameter (decided "
              "by: %s%s)",
              choices->chosen, reduced ? "" : " N/m", 100 * scene_overlap(r->scene),
              estimate_reason_words(e->reason), speed);
}

/// Say why the step of a phase was chosen, if it is not that of the phase before.
static void say_chosen_step(run* r, int phase)
{
    const double h = scene_phase_step(r->scene, phase);
    if (!scene_phase_step_chosen(r->scene, phase)) return;
    if (phase > 0 && h == scene_phase_step(r->scene, phase - 1)) return;
    char why[256];
    scene_advice_words(scene_phase_advice(r->scene, phase), scene_outputs(r->scene)->reduced_units,
                       why, sizeof why);
    log_write(&r->log, TALUS_LOG_INFO,
              "step %g%s chosen, below %s; halved where grains slide past each other fast", h,
              summary_time_unit(r), why);
}

/// Say how the step of a phase compares with the times of its stiffest pair, if it does differently
/// from the phase before.
static void say_step(run* r, int phase)
{
    if (!method_of(scene_method(r->scene))->has_springs) {
        say_chosen_step(r, phase);
        return;
    }
    const talus_soft_times* t = scene_phase_times(r->scene, phase);
    const double h = scene_phase_step(r->scene, phase);
    if (!(t->contact > 0)) return;
    if (phase > 0 && h == scene_phase_step(r->scene, phase - 1) &&
        t->contact == scene_phase_times(r->scene, phase - 1)->contact) {
        return;
    }
    const char* unit = summary_time_unit(r);
    log_write(&r->log, TALUS_LOG_INFO,
              "stiffest pair: a collision lasts t_c = %.3g%s, the lightest grain swings with t_s = "
              "%.3g%s; step %.3g%s = t_c/%.3g; bound of this scheme t_c/%.3g",
              t->contact, unit, t->oscillation, unit, h, unit, t->contact / h,
              t->contact / t->bound);
    if (scene_phase_is_coarse(r->scene, phase)) {
        log_write(&r->log, TALUS_LOG_WARNING,
                  "the step %.3g%s = t_c/%.3g is above t_c/%.3g = %.3g%s: %s", h, unit,
                  t->contact / h, t->contact / t->bound, t->bound, unit, t->reason);
    }
}

talus_status run_phase_begin(run* r, int phase, talus_error* error)
{
    run_state* s = &r->state;
    s->phase = phase;
    s->held = -1;
    s->energy = s->last.kinetic_energy;
    r->phases[phase].start_step = s->step;
    r->phases[phase].start_time = talus_world_time(r->world);
    TRY(scene_phase_begin(r->scene, phase, r->world, error));
    log_write(&r->log, TALUS_LOG_INFO, "phase %d of %d, %s, begins at step %" PRId64 ", t = %.6g%s",
              phase + 1, scene_phase_count(r->scene), scene_phase_name(r->scene, phase), s->step,
              talus_world_time(r->world), summary_time_unit(r));
    say_step(r, phase);
    return TALUS_OK;
}

static void log_banner(run* r, const char* what)
{
    log_write(&r->log, TALUS_LOG_INFO, "%s: talus %s (%s, %s), %d thread%s, process %ld", what,
              talus_version(), talus_revision(), talus_compiler(),
              talus_world_options(r->world)->threads,
              plural(talus_world_options(r->world)->threads), (long)getpid());
}

/// First records and the checkpoint at step 0: from here on a kill can be resumed.
static talus_status run_first_records(run* r, talus_error* error)
{
    TRY(run_phase_begin(r, 0, error));
    TRY(output_open(r, error));
    TRY(output_due(r, error));
    return output_checkpoint(r, error);
}

/// Make the directory this run's own and write what the run is.
static talus_status run_claim_directory(run* r, talus_error* error)
{
    const char* directory = r->def->directory;
    TRY(directory_make(directory, error));
    TRY(directory_lock(directory, &r->lock, error));
    TRY(directory_check(directory, r->def->force, error)); // again, now that nobody else can write
    const int file_count = scene_file_count(r->scene);
    for (int i = -1; i < file_count; i++) {
        // --force must not remove what the new run is made from.
        const char* file = i < 0 ? r->def->scene : scene_file(r->scene, i);
        if (!directory_owns(directory, file)) continue;
        return error_set(
            error, TALUS_ERR_EXISTS,
            "%s belongs to the run that --force would remove; choose another directory "
            "with -o, or copy the file elsewhere first",
            file);
    }
    TRY(directory_clean(directory, error));
    TRY(journal_open(&r->journal, directory, error));
    TRY(directory_copy(directory, "scene.original.yaml", r->def->scene, error));
    // Files that the scene reads are copied, and scene.yaml names the copies: the run can be
    // resumed when the originals have changed and when the directory was moved.
    for (int i = 0; i < file_count; i++) {
        char name[DIRECTORY_PATH_SIZE];
        TRY(directory_adopt(directory, i, scene_file(r->scene, i), name, error));
        TRY(scene_name_file(r->scene, i, name, error));
    }
    TRY(summary_write_run(r, error));

    // Last, and by rename: a directory with a scene.yaml can be resumed.
    char part[DIRECTORY_PATH_SIZE], path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(part, directory, "scene.yaml.tmp", error));
    TRY(directory_path(path, directory, "scene.yaml", error));
    TRY(talus_scene_write(r->scene, part, error));
    TRY(files_rename(part, path, error));
    return files_sync_folder(directory, error);
}

// ---- the loop ----------------------------------------------------------------------------------

/// What comes up in step after step is said the first time and at every doubling of its count.
static bool worth_saying(int64_t count)
{
    return (count & (count - 1)) == 0;
}

/// "step 12, t = 0.3 s: words", and how often so far if not for the first time.
static void say_of_step(run* r, int64_t count, const char* words)
{
    char times[64] = "";
    if (count > 1) snprintf(times, sizeof times, " (%" PRId64 " times so far)", count);
    log_write(&r->log, TALUS_LOG_WARNING, "step %" PRId64 ", t = %.6g%s: %s%s", r->state.step,
              r->state.last.time, summary_time_unit(r), words, times);
}

/// The remark on the step just done, with what is certain of it and where it is worst. What
/// yielding means is explained the first time only.
static void remark_words(const run* r, char* text, size_t size)
{
    const talus_step_result* last = &r->state.last;
    const certainty_speech speech = {talus_world_options(r->world)->dim,
                                     scene_outputs(r->scene)->reduced_units};
    char known[64], estimate[32], cluster[160];
    certainty_of_step(&last->rigidity, known, sizeof known);
    certainty_estimate(last->rigidity.velocity_error, estimate, sizeof estimate);
    certainty_cluster(&speech, &last->rigidity, cluster, sizeof cluster);
    if (r->state.remarks == 1) {
        snprintf(text, size, "%s; %s, %s", last->remark, known, cluster);
    } else {
        snprintf(text, size, "%s%s, %s, %s", last->rigidity.yielding ? "yielding: " : "", known,
                 estimate, cluster);
    }
}

/// Log what the step just done has to say: yielding, missing convergence, an accepted escape.
static void note_step(run* r)
{
    run_state* s = &r->state;
    const talus_step_result* last = &s->last;
    char words[sizeof last->remark + 256];
    if (last->remark[0] && worth_saying(++s->remarks)) {
        remark_words(r, words, sizeof words);
        say_of_step(r, s->remarks, words);
    }
    int64_t unconverged = talus_world_totals(r->world)->unconverged;
    if (!last->converged && worth_saying(unconverged)) {
        snprintf(words, sizeof words,
                 "ended without meeting the stopping rule, residual %.2g after %" PRId64 " sweep%s",
                 last->residual, last->sweeps, plural(last->sweeps));
        say_of_step(r, unconverged, words);
    }
    const talus_totals* totals = talus_world_totals(r->world);
    if (last->coarseness > TALUS_TOO_COARSE && worth_saying(totals->coarse)) {
        char off[64];
        summary_coarseness(last->coarseness, off, sizeof off);
        snprintf(words, sizeof words,
                 "the step is too long: grains slide past each other so far that straight paths "
                 "are off by %s; %.2g%s would do, or step: auto",
                 off, totals->step_needed, summary_time_unit(r));
        say_of_step(r, totals->coarse, words);
    }
    // Grains that were removed are in the log already: the world names them.
    if (last->escaped_grain >= 0 && last->removed == 0 && worth_saying(++s->escapes)) {
        snprintf(words, sizeof words, "grain %" PRId64 " is out of the domain or behind a wall",
                 last->escaped_grain);
        say_of_step(r, s->escapes, words);
    }
}

static void tell_progress(run* r)
{
    if (!r->def->progress) return;
    const run_state* s = &r->state;
    // Steps a second over the last two to four seconds.
    const double now = clock_seconds();
    if (now - r->speed_clock[1] > 2) {
        r->speed_clock[0] = r->speed_clock[1];
        r->speed_step[0] = r->speed_step[1];
        r->speed_clock[1] = now;
        r->speed_step[1] = s->step;
    }
    const double elapsed = now - r->speed_clock[0];
    talus_progress p = {
        .last = &s->last,
        .phase = scene_phase_name(r->scene, (int)s->phase),
        .phase_index = (int)s->phase,
        .phase_count = scene_phase_count(r->scene),
        .reduced_units = scene_outputs(r->scene)->reduced_units,
        .method = scene_method(r->scene),
        .end_time = -1,
        .steps_per_second = elapsed > 0 ? (double)(s->step - r->speed_step[0]) / elapsed : 0,
        .eta_seconds = -1,
    };
    double time_left;
    int64_t left = schedule_steps_left(r, &p.at_most, &time_left);
    if (left >= 0) {
        p.end_time = s->last.time + time_left;
        if (p.steps_per_second > 0) p.eta_seconds = (double)left / p.steps_per_second;
    }
    r->def->progress(r->def->progress_user, &p);
}

/// One step, or several of the method soft. If one of these fails, those before it are done.
static talus_status take_steps(run* r, double h, int64_t count, talus_error* error)
{
    run_state* s = &r->state;
    talus_step_result result = {0};
    if (!method_of(scene_method(r->scene))->short_steps) {
        TRY(talus_world_step(r->world, h, &result, error));
        s->last = result;
        s->worst_overlap_thickness = fmax(s->worst_overlap_thickness, result.overlap_thickness_max);
        s->step++;
    } else {
        const double began = clock_seconds();
        talus_status status = talus_world_steps(r->world, h, count, &result, error);
        // The world's own result is that of its last step, whatever the length of the batch.
        s->last = *talus_world_last(r->world);
        count = s->last.step - s->step;
        s->step = s->last.step;
        if (count > 0) s->poured = 0, s->step_length = h;
        TRY(status);
        const double seconds = fmax(clock_seconds() - began, 1e-9);
        r->pace = fmin(fmax(BATCH_SECONDS * (double)count / seconds, 1), 2 * r->pace + 1);
    }
    s->poured = 0;
    s->step_length = h;
    s->grain_steps += (double)count * (double)s->last.grains;
    s->worst_overlap = fmax(s->worst_overlap, result.overlap_max);
    return TALUS_OK;
}

talus_status run_steps(run* r, talus_error* error)
{
    run_state* s = &r->state;
    const double h = schedule_step_length(r);
    const int64_t pours = s->poured ? 0 : schedule_pour_steps(r);
    if (pours > 0) {
        TRY(scene_pour(r->scene, (int)s->phase, r->inlets, r->world, (double)pours * h, error));
    }
    s->poured = 1;
    dump_step(&r->dump, s->step + 1);
    TRY(take_steps(r, h, r->steered ? 1 : schedule_batch(r), error));
    schedule_note_energy(r);
    note_step(r);
    return TALUS_OK;
}

talus_status run_advance_phase(run* r, bool* finished, talus_error* error)
{
    run_state* s = &r->state;
    phase_reason reason;
    while ((reason = schedule_phase_over(r)) != PHASE_NOT_ENDED) {
        phase_log* log = &r->phases[s->phase];
        log->reason = (int64_t)reason;
        log->end_step = s->step;
        log->end_time = talus_world_time(r->world);
        if (s->phase + 1 == scene_phase_count(r->scene)) {
            *finished = true;
            return TALUS_OK;
        }
        TRY(run_phase_begin(r, (int)s->phase + 1, error));
    }
    return TALUS_OK;
}

/// Begin the next phase if it is time to, and see whether the run has come to an end: r->end.
static talus_status run_look_ahead(run* r, talus_error* error)
{
    bool finished = false;
    TRY(run_advance_phase(r, &finished, error));
    if (finished) {
        r->end = END_FINISHED;
    } else if (r->def->max_steps >= 0 && r->state.step >= r->def->max_steps) {
        r->end = END_LIMIT;
    } else if (r->def->stop && *r->def->stop) {
        r->end = END_INTERRUPTED;
    }
    return TALUS_OK;
}

/// The next steps; r->end tells if one could not be taken.
static talus_status run_go_on(run* r, talus_error* error)
{
    const talus_status status = run_steps(r, &r->failure);
    if (status == TALUS_ERR_NUMERIC) {
        r->end = END_NUMERIC;
    } else if (status < 0) {
        if (error) *error = r->failure;
        return status;
    }
    return TALUS_OK;
}

/// What is due after the steps just done.
static talus_status run_record(run* r, talus_error* error)
{
    TRY(output_due(r, error));
    TRY(output_publish(r, error));
    tell_progress(r);
    return output_checkpoint_due(r) ? output_checkpoint(r, error) : TALUS_OK;
}

static talus_status run_loop(run* r, talus_error* error)
{
    for (;;) {
        TRY(run_look_ahead(r, error));
        if (r->end == END_NOT_YET) TRY(run_go_on(r, error));
        if (r->end != END_NOT_YET) return TALUS_OK;
        TRY(run_record(r, error));
    }
}

// ---- ends --------------------------------------------------------------------------------------

/// Checkpoint, closing records and summary.
static talus_status run_close(run* r, talus_summary* summary, talus_error* error)
{
    const run_end end = r->end;
    r->interrupted = end == END_INTERRUPTED;
    r->state.finished = end == END_FINISHED || end == END_STOPPED;
    TRY(output_checkpoint(r, error));
    if (end != END_INTERRUPTED) TRY(output_finish(r, error));

    char outcome[sizeof summary->outcome];
    switch (end) {
    case END_NOT_YET:
    case END_BEFORE:
    case END_FINISHED: snprintf(outcome, sizeof outcome, "finished"); break;
    case END_STOPPED: snprintf(outcome, sizeof outcome, "finished: %s", r->stopped_by); break;
    case END_LIMIT:
        snprintf(outcome, sizeof outcome, "stopped at the limit of %" PRId64 " step%s",
                 r->def->max_steps, plural(r->def->max_steps));
        break;
    case END_INTERRUPTED: snprintf(outcome, sizeof outcome, "interrupted"); break;
    case END_NUMERIC:
        snprintf(outcome, sizeof outcome, "numerical stop: %.480s", r->failure.text);
        break;
    }
    talus_summary local;
    if (!summary) summary = &local;
    summary_fill(r, outcome, summary);
    log_write(&r->log, end == END_NUMERIC ? TALUS_LOG_WARNING : TALUS_LOG_INFO,
              "%s after %" PRId64 " step%s at t = %.6g%s, %" PRId64 " frame%s", outcome,
              summary->steps, plural(summary->steps), summary->time, summary_time_unit(r),
              summary->frames, plural(summary->frames));
    // The verdict line by line, warnings as such.
    char words[sizeof summary->verdict];
    memcpy(words, summary->verdict, sizeof words);
    char* rest = NULL;
    for (char* line = strtok_r(words, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const size_t head = sizeof VERDICT_WARNING - 1;
        const bool warning = strncmp(line, VERDICT_WARNING, head) == 0;
        log_write(&r->log, warning ? TALUS_LOG_WARNING : TALUS_LOG_INFO, "%s",
                  warning ? line + head : line);
    }
    return summary_write(r, summary, error);
}

/// What has to be there before the first step of this process.
static void run_prepare(run* r)
{
    if (r->def->dump_problems <= 0) return;
    r->dump = (dump){.most = r->def->dump_problems,
                     .directory = r->def->directory,
                     .title = talus_scene_title(r->scene),
                     .reduced_units = scene_outputs(r->scene)->reduced_units,
                     .log = r->log};
    dump_begin(&r->dump, r->world);
}

/// After the last step: close the run and say how it ended. TALUS_ERR_NUMERIC and TALUS_INTERRUPTED
/// come from a run that is closed properly.
static talus_status run_conclude(run* r, talus_summary* summary, talus_error* error)
{
    if (r->end == END_NUMERIC) {
        // The number of the step before what the world said of it: grain, time and reason.
        char words[sizeof r->failure.text];
        memcpy(words, r->failure.text, sizeof words);
        snprintf(r->failure.text, sizeof r->failure.text, "step %" PRId64 ": %.1900s",
                 r->state.step + 1, words);
    }
    TRY(run_close(r, summary, error));
    if (r->end == END_NUMERIC) {
        if (error) *error = r->failure;
        return TALUS_ERR_NUMERIC;
    }
    return r->end == END_INTERRUPTED ? TALUS_INTERRUPTED : TALUS_OK;
}

/// Say in the log why the run could not go on.
static talus_status run_failed(run* r, talus_status status, const talus_error* failure,
                               talus_error* error)
{
    log_write(&r->log, TALUS_LOG_WARNING, "failed: %s", failure->text);
    if (error) *error = *failure;
    return status;
}

/// The summary of a run that had ended before it was resumed.
static talus_status run_look_back(run* r, talus_summary* summary)
{
    if (summary) {
        summary_fill(r, r->state.finished ? "finished" : "step limit already reached", summary);
        summary->nothing_to_do = true;
    }
    return TALUS_OK;
}

/// From the first step to the summary, for start and resume alike.
static talus_status run_carry_out(run* r, talus_summary* summary, talus_error* error)
{
    talus_error failure = {0};
    if (r->end == END_BEFORE) return run_look_back(r, summary);
    run_prepare(r);
    const talus_status status = run_loop(r, &failure);
    if (status < 0) return run_failed(r, status, &failure, error);
    return run_conclude(r, summary, error);
}

// ---- the two entries ---------------------------------------------------------------------------

/// Make the run ready for its first step.
static talus_status start(run* r, talus_report* report, talus_error* error)
{
    const talus_run_def* def = r->def;
    if (!def->scene || !def->directory) {
        return error_set(error, TALUS_ERR_ARGUMENT, "a run needs a scene and a directory");
    }
    // The scene is read and built before anything on disk is touched: a scene with errors does not
    // cost an old run.
    TRY(directory_check(def->directory, def->force, error));
    TRY(run_build(r, def->scene, def->sets, def->set_count, report, error));
    TRY(run_claim_directory(r, error));
    log_banner(r, "start");
    say_stiffness(r);
    return run_first_records(r, error);
}

talus_status talus_run_start(const talus_run_def* given, talus_summary* summary,
                             talus_report* report, talus_error* error)
{
    talus_run_def own = talus_run_default();
    const talus_run_def* def = &own;
    TRY(DEFINITION_TAKE(run, &own, given, error));
    run r;
    run_init(&r, def);
    talus_status status = start(&r, report, error);
    if (status == TALUS_OK) status = run_carry_out(&r, summary, error);
    run_free(&r);
    return status;
}

/// Build the world of the scene that a run's directory holds.
static talus_status resume_build(run* r, talus_report* report, talus_error* error)
{
    char scene[DIRECTORY_PATH_SIZE];
    TRY(directory_path(scene, r->def->directory, "scene.yaml", error));
    return run_build(r, scene, NULL, 0, report, error);
}

static bool has_checkpoint(const char* directory)
{
    return directory_has(directory, "checkpoint.h5") ||
           directory_has(directory, "checkpoint.previous.h5");
}

/// Bring world and run to where the last checkpoint stands.
static talus_status resume_restore(run* r, talus_error* error)
{
    TRY(output_peek_state(r, error));
    int last = (int)r->state.phase;
    if (last < 0 || last >= scene_phase_count(r->scene)) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "the checkpoint in %s is in phase %d, but scene.yaml has %d phases",
                         r->def->directory, last + 1, scene_phase_count(r->scene));
    }
    for (int p = 0; p <= last; p++) TRY(scene_phase_begin(r->scene, p, r->world, error));
    if (r->settings.size > 0) {
        TRY(settings_restore(r->world, (const char*)r->settings.data, error));
    }
    return output_restore(r, error);
}

/// A finished run is done unless the caller wants more steps of its last phase.
static bool resume_is_done(run* r)
{
    run_state* s = &r->state;
    int64_t limit = r->def->max_steps;
    if (limit > s->step && (s->finished || (s->extended_to > 0 && limit > s->extended_to))) {
        s->extended_to = limit;
        s->finished = 0;
    }
    bool done = s->finished || (limit >= 0 && s->step >= limit);
    // Frames that could not be gathered for want of space may be now.
    return done && directory_has(r->def->directory, "summary.json") &&
           !directory_has(r->def->directory, "frames");
}

/// Make the run ready for the step after its last checkpoint; r->end tells if there is none.
static talus_status resume(run* r, talus_report* report, talus_error* error)
{
    const char* directory = r->def->directory;
    if (!directory) return error_set(error, TALUS_ERR_ARGUMENT, "a resume needs a directory");
    if (!directory_has(directory, "scene.yaml")) {
        const char* absence = directory_absence(directory);
        return error_set(error, TALUS_ERR_STATE, "there is no run to resume in %s: %s", directory,
                         absence ? absence : "it has no scene.yaml");
    }
    TRY(directory_lock(directory, &r->lock, error));
    TRY(resume_build(r, report, error));

    // Killed before the first checkpoint: nothing is recorded yet, begin at the beginning.
    bool fresh = !has_checkpoint(directory);
    if (!fresh) TRY(resume_restore(r, error));
    if (!fresh && resume_is_done(r)) {
        r->end = END_BEFORE;
        return TALUS_OK;
    }
    TRY(journal_open(&r->journal, directory, error));
    log_banner(r, "resume");
    TRY(directory_remove(directory, "summary.json", error));
    if (fresh) {
        TRY(run_first_records(r, error));
    } else {
        log_write(&r->log, TALUS_LOG_INFO, "going on from step %" PRId64 ", t = %.6g%s",
                  r->state.step, talus_world_time(r->world), summary_time_unit(r));
        TRY(output_open(r, error));
        r->checkpointed = clock_seconds();
    }
    r->speed_step[0] = r->speed_step[1] = r->state.step;
    return TALUS_OK;
}

talus_status talus_run_resume(const talus_run_def* given, talus_summary* summary,
                              talus_report* report, talus_error* error)
{
    talus_run_def own = talus_run_default();
    const talus_run_def* def = &own;
    TRY(DEFINITION_TAKE(run, &own, given, error));
    run r;
    run_init(&r, def);
    talus_status status = resume(&r, report, error);
    if (status == TALUS_OK) status = run_carry_out(&r, summary, error);
    run_free(&r);
    return status;
}

static talus_status load(run* r, talus_loaded* out, talus_report* report, talus_error* error)
{
    const char* directory = r->def->directory;
    if (!directory) return error_set(error, TALUS_ERR_ARGUMENT, "a directory is needed");
    if (!directory_has(directory, "scene.yaml") || !has_checkpoint(directory)) {
        const char* absence = directory_absence(directory);
        return error_set(error, TALUS_ERR_STATE, "there is no run with a checkpoint in %s: %s",
                         directory,
                         absence                                   ? absence
                         : !directory_has(directory, "scene.yaml") ? "it has no scene.yaml"
                                                                   : "it has no checkpoint.h5");
    }
    TRY(resume_build(r, report, error));
    TRY(resume_restore(r, error));
    *out = (talus_loaded){.world = r->world,
                          .step_length = schedule_step_length(r),
                          .finished = r->state.finished != 0,
                          .reduced_units = scene_outputs(r->scene)->reduced_units};
    r->world = NULL;
    return TALUS_OK;
}

talus_status talus_run_load(const talus_run_def* given, talus_loaded* out, talus_report* report,
                            talus_error* error)
{
    talus_run_def own = talus_run_default();
    const talus_run_def* def = &own;
    run r;
    run_init(&r, def);
    // The world outlives the run, so it must speak to the caller and not to the run's journal.
    r.log = (log_sink){.function = def->log, .user = def->log_user};
    *out = (talus_loaded){0};
    TRY(DEFINITION_TAKE(run, &own, given, error));
    talus_status status = load(&r, out, report, error);
    run_free(&r);
    return status;
}

// ---- a run in its user's hands ------------------------------------------------------------------

talus_status talus_run_open(const talus_run_def* given, bool resumed, talus_run** out,
                            talus_report* report, talus_error* error)
{
    *out = NULL;
    run* r = malloc(sizeof *r);
    if (!r) return error_memory(error, "a run");
    talus_run_def own = talus_run_default();
    talus_status status = DEFINITION_TAKE(run, &own, given, error);
    run_init(r, &r->own);
    r->own = own;
    r->journal.copy = (log_sink){.function = own.log, .user = own.log_user};
    r->steered = true;
    if (status == TALUS_OK) status = resumed ? resume(r, report, error) : start(r, report, error);
    if (status < 0) {
        run_free(r);
        free(r);
        return status;
    }
    if (r->end == END_NOT_YET) run_prepare(r);
    *out = r;
    return TALUS_OK;
}

talus_world* talus_run_world(talus_run* r)
{
    return r->world;
}

double talus_run_step_length(const talus_run* r)
{
    return schedule_step_length(r);
}

talus_status talus_run_goes_on(talus_run* r, bool* going, talus_error* error)
{
    talus_error failure = {0};
    const talus_status status = r->end == END_NOT_YET ? run_look_ahead(r, &failure) : TALUS_OK;
    *going = status >= 0 && r->end == END_NOT_YET;
    return status < 0 ? run_failed(r, status, &failure, error) : TALUS_OK;
}

talus_status talus_run_step(talus_run* r, bool* stepped, talus_error* error)
{
    talus_error failure = {0};
    *stepped = false;
    if (r->end != END_NOT_YET) return TALUS_OK;
    const talus_status status = run_go_on(r, &failure);
    if (status < 0) return run_failed(r, status, &failure, error);
    *stepped = r->end == END_NOT_YET;
    return TALUS_OK;
}

talus_status talus_run_record(talus_run* r, bool* frame, talus_error* error)
{
    const int64_t before = r->state.frames_written;
    talus_error failure = {0};
    const talus_status status = r->end == END_NOT_YET ? run_record(r, &failure) : TALUS_OK;
    if (frame) *frame = r->state.frames_written > before;
    return status < 0 ? run_failed(r, status, &failure, error) : TALUS_OK;
}

bool talus_run_checkpoint_due(const talus_run* r)
{
    return output_checkpoint_due(r);
}

talus_status talus_run_keep(talus_run* r, const void* bytes, int64_t size, talus_error* error)
{
    if (size < 0 || (size > 0 && !bytes)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "what is to be kept needs bytes and a size");
    }
    unsigned char* copy = malloc((size_t)size + 1);
    if (!copy) return error_memory(error, "what is to be kept");
    if (size > 0) memcpy(copy, bytes, (size_t)size);
    free(r->kept.data);
    r->kept = (checkpoint_bytes){copy, size};
    return TALUS_OK;
}

const void* talus_run_kept(const talus_run* r, int64_t* size)
{
    *size = r->kept.size;
    return r->kept.data;
}

void talus_run_stop(talus_run* r, const char* why)
{
    if (r->end != END_NOT_YET) return;
    r->end = END_STOPPED;
    snprintf(r->stopped_by, sizeof r->stopped_by, "%s", why ? why : "stopped by its user's rule");
}

talus_status talus_run_close(talus_run* r, talus_summary* summary, talus_error* error)
{
    if (!r) return TALUS_OK;
    if (r->end == END_NOT_YET) r->end = END_INTERRUPTED;
    const talus_status status =
        r->end == END_BEFORE ? run_look_back(r, summary) : run_conclude(r, summary, error);
    run_free(r);
    free(r);
    return status;
}

void talus_run_abandon(talus_run* r)
{
    if (!r) return;
    run_free(r);
    free(r);
}

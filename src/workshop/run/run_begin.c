/// How a run begins.
///
/// start:  scene -> world -> directory -> first frame and checkpoint at step 0
/// resume: directory -> scene -> world -> phases replayed -> checkpoint loaded. If the user could
///         change what the world is made of, the checkpoint has that too, and the world is made
///         from it.
#include "run/run.h"

#include "base/clock.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/words.h"
#include "record/files.h"
#include "run/directory.h"
#include "world/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

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
    if (!r->owned) talus_world_destroy(r->world);
    talus_scene_destroy(r->scene);
    free(r->inlets);
    free(r->phases);
    free(r->kept.data);
    journal_close(&r->journal);
    if (r->lock >= 0) close(r->lock);
}

talus_status run_read_scene(run* r, const char* scene, const char* const* sets, int set_count,
                            talus_report* report, talus_error* error)
{
    TRY(talus_scene_load(scene, sets, set_count, &r->scene, report, error));
    // One more than needed: calloc(0) may be NULL.
    r->inlets = calloc((size_t)scene_inlet_count(r->scene) + 1, sizeof *r->inlets);
    r->phases = calloc((size_t)scene_phase_count(r->scene) + 1, sizeof *r->phases);
    return r->inlets && r->phases ? TALUS_OK : error_memory(error, "starting a run");
}

/// What the run says about the world that is made for it.
static talus_world_def world_options(const run* r)
{
    talus_world_def options = talus_world_default();
    options.log = r->log.function;
    options.log_user = r->log.user;
    options.threads = r->def->threads;
    options.device = r->def->device;
    return options;
}

talus_status run_build(run* r, const char* scene, const char* const* sets, int set_count,
                       talus_report* report, talus_error* error)
{
    TRY(run_read_scene(r, scene, sets, set_count, report, error));
    const talus_world_def options = world_options(r);
    TRY(talus_scene_build(r->scene, &options, &r->world, report, error));
    if (r->def->dump_problems > 0 && !method_of(scene_method(r->scene))->solves_contacts) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the method soft has no contact problems to be dumped; --dump-problems "
                         "goes with method: contact");
    }
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

void run_banner(run* r, const char* what)
{
    log_write(&r->log, TALUS_LOG_INFO, "%s: talus %s (%s, %s), %d thread%s, process %ld", what,
              talus_version(), talus_revision(), talus_compiler(),
              talus_world_options(r->world)->threads,
              plural(talus_world_options(r->world)->threads), (long)getpid());
}

/// The marks of records before those to come, of a world whose time does not begin at zero.
static void set_first_marks(run* r)
{
    run_state* s = &r->state;
    const scene_output* out = scene_outputs(r->scene);
    const double time = talus_world_time(r->world), h = schedule_step_length(r);
    s->step = r->world->state.step;
    if (s->step == 0) return;
    s->last = r->world->last;
    if (out->frame_interval > 0) s->frame_mark = schedule_mark(time, h, out->frame_interval);
    if (out->series_interval > 0) s->series_mark = schedule_mark(time, h, out->series_interval);
    r->speed_step[0] = r->speed_step[1] = s->step;
}

talus_status run_first_records(run* r, talus_error* error)
{
    set_first_marks(r);
    TRY(run_phase_begin(r, 0, error));
    TRY(output_open(r, error));
    TRY(output_due(r, error));
    return output_checkpoint(r, error);
}

talus_status run_take_directory(run* r, talus_error* error)
{
    const char* directory = r->def->directory;
    TRY(directory_make(directory, error));
    TRY(directory_lock(directory, &r->lock, error));
    TRY(directory_check(directory, r->def->force, error)); // again, now that nobody else can write
    for (int i = r->def->scene ? -1 : 0; r->scene && i < scene_file_count(r->scene); i++) {
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
    return journal_open(&r->journal, directory, error);
}

/// Keep the scene, as it was given, and the files that it reads.
static talus_status keep_sources(run* r, talus_error* error)
{
    const char* directory = r->def->directory;
    TRY(directory_copy(directory, "scene.original.yaml", r->def->scene, error));
    // Files that the scene reads are copied, and scene.yaml names the copies: the run can be
    // resumed when the originals have changed and when the directory was moved.
    for (int i = 0; i < scene_file_count(r->scene); i++) {
        char name[DIRECTORY_PATH_SIZE];
        TRY(directory_adopt(directory, i, scene_file(r->scene, i), name, error));
        TRY(scene_name_file(r->scene, i, name, error));
    }
    return TALUS_OK;
}

talus_status run_declare(run* r, talus_error* error)
{
    const char* directory = r->def->directory;
    TRY(summary_write_run(r, error));

    // Last, and by rename: a directory with a scene.yaml can be resumed.
    char part[DIRECTORY_PATH_SIZE], path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(part, directory, "scene.yaml.tmp", error));
    TRY(directory_path(path, directory, "scene.yaml", error));
    TRY(talus_scene_write(r->scene, part, error));
    TRY(files_sync(part, error)); // or a power cut may leave the name without the text
    TRY(files_rename(part, path, error));
    return files_sync_folder(directory, error);
}

// ---- the two entries ---------------------------------------------------------------------------

/// Something must end a run that nobody steps by hand.
static talus_status check_end(const run* r, talus_error* error)
{
    const int last = scene_phase_count(r->scene) - 1;
    if (r->steered || r->def->max_steps >= 0 || scene_phase_has_end(r->scene, last))
        return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "nothing says when this run ends, for a program stepped its world: say up to "
                     "which step with --steps N (max_steps), it stands at step %" PRId64,
                     r->world->state.step);
}

talus_status run_start(run* r, talus_report* report, talus_error* error)
{
    const talus_run_def* def = r->def;
    if (!def->scene || !def->directory) {
        return error_set(error, TALUS_ERR_ARGUMENT, "a run needs a scene and a directory");
    }
    // The scene is read and built before anything on disk is touched: a scene with errors does not
    // cost an old run.
    TRY(directory_check(def->directory, def->force, error));
    TRY(run_build(r, def->scene, def->sets, def->set_count, report, error));
    TRY(check_end(r, error));
    TRY(device_open(&r->world->device, error));
    TRY(run_take_directory(r, error));
    TRY(keep_sources(r, error));
    TRY(run_declare(r, error));
    run_banner(r, "start");
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
    talus_status status = run_start(&r, report, error);
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

bool run_has_checkpoint(const char* directory)
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
    talus_world_def options = world_options(r);
    talus_world* defined;
    if (!options.device) options.device = talus_world_options(r->world)->device; // the scene's
    TRY(checkpoint_define(r->def->directory, &options, &defined, error));
    if (defined) {
        talus_world_destroy(r->world);
        r->world = defined;
        r->extent = CHECKPOINT_WHOLE;
    } else {
        for (int p = 0; p <= last; p++) TRY(scene_phase_begin(r->scene, p, r->world, error));
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

talus_status run_reopen(run* r, talus_error* error)
{
    TRY(journal_open(&r->journal, r->def->directory, error));
    run_banner(r, "resume");
    TRY(directory_remove(r->def->directory, "summary.json", error));
    log_write(&r->log, TALUS_LOG_INFO, "going on from step %" PRId64 ", t = %.6g%s", r->state.step,
              talus_world_time(r->world), summary_time_unit(r));
    TRY(output_open(r, error));
    r->checkpointed = clock_seconds();
    r->speed_step[0] = r->speed_step[1] = r->state.step;
    return TALUS_OK;
}

talus_status run_resume(run* r, talus_report* report, talus_error* error)
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
    bool fresh = !run_has_checkpoint(directory);
    if (!fresh) TRY(resume_restore(r, error));
    if (!fresh && resume_is_done(r)) {
        r->end = END_BEFORE;
        return TALUS_OK;
    }
    TRY(check_end(r, error));
    TRY(device_open(&r->world->device, error));
    if (!fresh) return run_reopen(r, error);
    TRY(journal_open(&r->journal, directory, error));
    run_banner(r, "resume");
    return run_first_records(r, error);
}

talus_status talus_run_resume(const talus_run_def* given, talus_summary* summary,
                              talus_report* report, talus_error* error)
{
    talus_run_def own = talus_run_default();
    const talus_run_def* def = &own;
    TRY(DEFINITION_TAKE(run, &own, given, error));
    run r;
    run_init(&r, def);
    talus_status status = run_resume(&r, report, error);
    if (status == TALUS_OK) status = run_carry_out(&r, summary, error);
    run_free(&r);
    return status;
}

static talus_status load(run* r, talus_loaded* out, talus_report* report, talus_error* error)
{
    const char* directory = r->def->directory;
    if (!directory) return error_set(error, TALUS_ERR_ARGUMENT, "a directory is needed");
    if (!directory_has(directory, "scene.yaml") || !run_has_checkpoint(directory)) {
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

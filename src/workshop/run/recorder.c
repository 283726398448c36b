/// A world that its owner steps, recorded as a run is.
///
/// Its directory has a scene like that of any run: it names the file in which the world was saved
/// when the recording began, and has no end. Checkpoints hold the whole world, so that its owner
/// may add materials, shapes and walls as he goes.
#include "base/definition.h"
#include "base/error.h"
#include "base/json.h"
#include "record/files.h"
#include "run/directory.h"
#include "run/run.h"
#include "world/world.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <talus/record.h>

#define SAVED_WORLD "sources/0-world.h5"

void talus_record_default_sized(talus_record_def* def, size_t size)
{
    talus_record_def own = {.title = "recorded world", .checkpoint_seconds = 300, .contacts = true};
    DEFINITION_GIVE(def, size, own);
}

// ---- beginnings --------------------------------------------------------------------------------

static talus_status check_options(const talus_record_def* def, talus_error* error)
{
    if (!def->directory) {
        return error_set(error, TALUS_ERR_ARGUMENT, "a recording needs a directory");
    }
    const double times[] = {def->frame_interval, def->series_interval, def->step_length};
    static const char* const names[] = {"frame_interval", "series_interval", "step_length"};
    for (int i = 0; i < 3; i++) {
        if (times[i] >= 0 && isfinite(times[i])) continue;
        return error_set(error, TALUS_ERR_ARGUMENT, "%s: expected a time >= 0, got %g", names[i],
                         times[i]);
    }
    if (def->checkpoint_seconds > 0 && isfinite(def->checkpoint_seconds)) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "checkpoint_seconds: expected a time > 0, got %g",
                     def->checkpoint_seconds);
}

/// The step that the scene states: it is gone on with before the owner's first step.
static talus_status stated_step(const talus_world* world, const talus_record_def* def, double* out,
                                talus_error* error)
{
    *out = def->step_length;
    if (*out > 0) return TALUS_OK;
    if (method_of(world->def.method)->has_springs) {
        talus_soft_times times;
        TRY(talus_world_soft_times(world, &times, error));
        *out = times.chosen;
    } else {
        talus_step_advice advice;
        TRY(talus_world_step_advice(world, &advice, error));
        *out = advice.length;
    }
    if (*out > 0 && isfinite(*out)) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "a step_length is needed: this world has no gravity, no force and no speed "
                     "that would tell how long steps may be");
}

/// scene.original.yaml: what a user would write to go on with the saved world.
static talus_status write_scene(const run* r, const talus_record_def* def, double step,
                                talus_error* error)
{
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    if (!file) return error_memory(error, "a scene");
    fprintf(file, "# A world that a program steps, and what is recorded of it.\ntitle: ");
    json_quote(file, def->title ? def->title : "recorded world");
    fprintf(file,
            "\nunits: %s\ndimension: %d\nworld: " SAVED_WORLD "\nstep: %.17g\noutput: {frames: "
            "%.17g, series: "
            "%.17g, checkpoint: %.17g, contacts: %s}\n",
            def->reduced_units ? "reduced" : "si", r->world->def.dim, step, def->frame_interval,
            def->series_interval, def->checkpoint_seconds, def->contacts ? "true" : "false");
    const bool written = fclose(file) == 0;
    const talus_status status =
        written ? directory_write(r->def->directory, "scene.original.yaml", text, size, error)
                : error_memory(error, "a scene");
    free(text);
    return status;
}

static talus_status read_own_scene(run* r, const char* name, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    talus_report report = {0};
    TRY(directory_path(path, r->def->directory, name, error));
    const talus_status status = run_read_scene(r, path, NULL, 0, &report, error);
    if (status == TALUS_ERR_SCENE && report.count > 0)
        error_set(error, status, "%s", report.lines[0]);
    talus_report_clear(&report);
    return status;
}

/// What the summary of soft grains tells; without grains there is nothing to tell.
static void note_times(run* r)
{
    talus_soft_times times;
    if (!method_of(r->world->def.method)->has_springs) return;
    if (talus_world_soft_times(r->world, &times, NULL) >= 0) scene_note_times(r->scene, &times);
}

static talus_status begin(run* r, const talus_record_def* def, talus_error* error)
{
    const char* directory = r->def->directory;
    double step;
    TRY(stated_step(r->world, def, &step, error));
    TRY(directory_check(directory, def->force, error));
    TRY(run_take_directory(r, error));
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, "sources", error));
    TRY(files_make_folder(path, error));
    TRY(directory_path(path, directory, SAVED_WORLD, error));
    TRY(talus_world_save(r->world, path, error));
    TRY(write_scene(r, def, step, error));
    TRY(read_own_scene(r, "scene.original.yaml", error));
    TRY(scene_name_file(r->scene, 0, SAVED_WORLD, error));
    note_times(r);
    TRY(run_declare(r, error));
    run_banner(r, "recording begins");
    return run_first_records(r, error);
}

static talus_status go_on(run* r, talus_error* error)
{
    const char* directory = r->def->directory;
    if (!directory_has(directory, "scene.yaml") || !run_has_checkpoint(directory)) {
        return error_set(error, TALUS_ERR_STATE, "there is no recording to go on with in %s",
                         directory);
    }
    TRY(directory_lock(directory, &r->lock, error));
    TRY(read_own_scene(r, "scene.yaml", error));
    if (scene_phase_has_end(r->scene, scene_phase_count(r->scene) - 1)) {
        return error_set(
            error, TALUS_ERR_STATE,
            "%s has a run of a scene and not a recorded world: talus_run_resume() goes "
            "on with it",
            directory);
    }
    TRY(output_restore(r, error));
    note_times(r);
    if (r->state.step != r->world->state.step ||
        r->state.world_hash != talus_world_hash(r->world)) {
        return error_set(error, TALUS_ERR_STATE,
                         "the world is not that of the last checkpoint in %s, which stands at step "
                         "%" PRId64 ": load it from there",
                         directory, r->state.step);
    }
    r->state.finished = 0;
    r->state.extended_to = 0;
    return run_reopen(r, error);
}

talus_status talus_record_open(talus_world* world, const talus_record_def* given, bool resumed,
                               talus_run** out, talus_error* error)
{
    talus_record_def def = talus_record_default();
    *out = NULL;
    TRY(DEFINITION_TAKE(record, &def, given, error));
    TRY(check_options(&def, error));
    run* r = malloc(sizeof *r);
    if (!r) return error_memory(error, "a recording");
    talus_run_def own = talus_run_default();
    own.directory = def.directory;
    own.force = def.force;
    own.command = def.command;
    own.log = def.log;
    own.log_user = def.log_user;
    own.checkpoint_seconds = def.checkpoint_seconds;
    run_init(r, &r->own);
    r->own = own;
    r->journal.copy = (log_sink){.function = own.log, .user = own.log_user};
    r->world = world;
    r->owned = r->steered = true;
    r->extent = CHECKPOINT_WHOLE;
    const talus_status status = resumed ? go_on(r, error) : begin(r, &def, error);
    if (status < 0) {
        run_free(r);
        free(r);
        return status;
    }
    *out = r;
    return TALUS_OK;
}

// ---- stepping ----------------------------------------------------------------------------------

talus_status talus_record_steps(talus_run* r, double h, int64_t count, talus_step_result* result,
                                talus_error* error)
{
    if (!r->owned) {
        return error_set(error, TALUS_ERR_STATE, "the run steps this world by itself");
    }
    if (count < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT, "steps: expected at least one, got %" PRId64,
                         count);
    }
    run_state* s = &r->state;
    s->step = r->world->state.step; // its owner may have taken steps that are not recorded
    const int64_t end = s->step + count;
    double overlap = 0.0, overlap_thickness = 0.0;
    int64_t substeps = 0;
    while (s->step < end) {
        talus_step_result now = {0};
        if (h > 0) s->step_length = h;
        const int64_t batch = schedule_batch(r), left = end - s->step;
        TRY(run_take_steps(r, h, batch < left ? batch : left, &now, error));
        TRY(run_record(r, error));
        overlap = fmax(overlap, now.overlap_max);
        overlap_thickness = fmax(overlap_thickness, now.overlap_thickness_max);
        substeps += now.substeps;
        if (!result) continue;
        *result = now;
        result->overlap_max = overlap;
        result->overlap_thickness_max = overlap_thickness;
        result->substeps = substeps;
    }
    return TALUS_OK;
}

talus_status talus_record_frame(talus_run* r, talus_error* error)
{
    r->state.step = r->world->state.step;
    if (r->state.frame_step == r->state.step) return TALUS_OK;
    TRY(output_frame(r, error));
    return output_publish(r, error);
}

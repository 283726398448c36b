/// Recorded runs: frames of a run's directory shown as worlds.
///
/// The world is made from the run's scene.yaml, without its grains: materials, shapes and walls.
/// Phases may change gravity, drives and friction: the changes up to a frame's phase are carried
/// out before it is shown. They cannot be undone, so a frame of an earlier phase gets a new world.
/// The phase stands in the frame; of frames that do not say it, the run's newest checkpoint tells
/// where phases began. A run whose user could change what its world is made of has that in its
/// checkpoints, and its frames are shown with the newest one's.
#include "base/error.h"
#include "record/frame_read.h"
#include "run/directory.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <talus/recording.h>

struct talus_recording {
    char directory[DIRECTORY_PATH_SIZE];
    talus_scene* scene;
    phase_log* phases; ///< [scene_phase_count] as the newest checkpoint knows them
    talus_world* world;
    bool defined; ///< by a checkpoint: phases and the user have left it as it is there
    int phase;    ///< whose changes the world has seen, -1: none
    frame_reader reader;
};

// ---- opening -----------------------------------------------------------------------------------

/// Take over the frames that are there now; the recording stays as it is if that fails.
static talus_status refresh(talus_recording* rec, talus_error* error)
{
    frame_reader reader;
    talus_status status = frame_reader_open(rec->directory, &reader, error);
    if (status != TALUS_OK) {
        frame_reader_close(&reader);
        return status;
    }
    frame_reader_close(&rec->reader);
    rec->reader = reader;

    // Without a checkpoint, frames that do not tell their phase are taken for those of the first.
    const checkpoint_part phases = {"phases", &phase_log_fields, scene_phase_count(rec->scene),
                                    rec->phases};
    talus_error unimportant;
    checkpoint_peek(rec->directory, &phases, 1, &unimportant);
    return TALUS_OK;
}

talus_status talus_recording_refresh(talus_recording* rec, talus_error* error)
{
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = refresh(rec, error);
    h5_loud(&quiet);
    return status;
}

static talus_status open_parts(talus_recording* rec, const char* directory, talus_report* report,
                               talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, "scene.yaml", error));
    if (!directory_has(directory, "scene.yaml") || !directory_has(directory, "frames.h5")) {
        const char* absence = directory_absence(directory);
        return error_set(error, TALUS_ERR_STATE, "there is no recorded run in %s: %s", directory,
                         absence                                   ? absence
                         : !directory_has(directory, "scene.yaml") ? "it has no scene.yaml"
                                                                   : "it has no frames.h5");
    }
    snprintf(rec->directory, sizeof rec->directory, "%s", directory);
    TRY(talus_scene_load(path, NULL, 0, &rec->scene, report, error));
    rec->phases = calloc((size_t)scene_phase_count(rec->scene) + 1, sizeof *rec->phases);
    if (!rec->phases) return error_memory(error, "a recording");
    return talus_recording_refresh(rec, error);
}

talus_status talus_recording_open(const char* directory, talus_recording** out,
                                  talus_report* report, talus_error* error)
{
    *out = NULL;
    talus_recording* rec = calloc(1, sizeof *rec);
    if (!rec) return error_memory(error, "a recording");
    rec->reader.file = -1;
    rec->phase = -1;
    talus_status status = open_parts(rec, directory, report, error);
    if (status == TALUS_OK) {
        *out = rec;
    } else {
        talus_recording_close(rec);
    }
    return status;
}

void talus_recording_close(talus_recording* rec)
{
    if (!rec) return;
    talus_world_destroy(rec->world);
    talus_scene_destroy(rec->scene);
    frame_reader_close(&rec->reader);
    free(rec->phases);
    free(rec);
}

// ---- what is there -----------------------------------------------------------------------------

int64_t talus_recording_frame_count(const talus_recording* rec)
{
    return rec->reader.count;
}

const double* talus_recording_times(const talus_recording* rec)
{
    return rec->reader.time;
}

const int64_t* talus_recording_steps(const talus_recording* rec)
{
    return rec->reader.step;
}

int64_t talus_recording_nearest(const talus_recording* rec, double time)
{
    int64_t nearest = -1;
    for (int64_t i = 0; i < rec->reader.count; i++) {
        if (nearest < 0 ||
            fabs(rec->reader.time[i] - time) < fabs(rec->reader.time[nearest] - time))
            nearest = i;
    }
    return nearest;
}

const char* talus_recording_title(const talus_recording* rec)
{
    return talus_scene_title(rec->scene);
}

bool talus_recording_reduced_units(const talus_recording* rec)
{
    return scene_outputs(rec->scene)->reduced_units;
}

bool talus_recording_has_contacts(const talus_recording* rec)
{
    return scene_outputs(rec->scene)->contacts;
}

// ---- showing a frame ---------------------------------------------------------------------------

/// Bring the world to a phase, from its beginning if it is past it.
static talus_status reach_phase(talus_recording* rec, int phase, talus_error* error)
{
    if (!rec->world || rec->phase > phase) {
        talus_world_destroy(rec->world);
        rec->world = NULL;
        rec->phase = -1;
        rec->defined = false;
        talus_error unimportant;
        if (checkpoint_define(rec->directory, NULL, &rec->world, &unimportant) == TALUS_OK &&
            rec->world) {
            rec->defined = true;
        } else {
            TRY(scene_build_bare(rec->scene, &rec->world, NULL, error));
        }
    }
    if (rec->defined) return TALUS_OK;
    while (rec->phase < phase) {
        TRY(scene_phase_begin(rec->scene, rec->phase + 1, rec->world, error));
        rec->phase++;
    }
    return TALUS_OK;
}

static talus_status show(talus_recording* rec, const frame_data* d, int64_t frame,
                         talus_error* error)
{
    const int count = scene_phase_count(rec->scene);
    if (d->phase >= count) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s does not belong to the scene in the same folder, or is damaged: frame "
                         "%lld is of phase %lld, but there are %d",
                         rec->reader.path, (long long)frame, (long long)d->phase + 1, count);
    }
    int phase = d->phase < 0 ? 0 : (int)d->phase;
    for (int p = 1; d->phase < 0 && p < count; p++) {
        // By the checkpoint. The frame at the very end of a phase was written before the next one
        // began.
        const phase_log* log = &rec->phases[p];
        const bool begun = log->start_step > 0 || log->start_time > 0.0;
        if (begun && log->start_step < d->step) phase = p;
    }
    TRY(reach_phase(rec, phase, error));
    talus_status status = frame_into_world(d, rec->reader.path, rec->world, error);
    if (status == TALUS_ERR_FORMAT &&
        rec->defined) { // materials, shapes or walls may have come since
        talus_world_destroy(rec->world);
        rec->world = NULL;
        TRY(reach_phase(rec, phase, error));
        status = frame_into_world(d, rec->reader.path, rec->world, error);
    }
    return status;
}

talus_status talus_recording_show(talus_recording* rec, int64_t frame, const talus_world** world,
                                  talus_error* error)
{
    *world = NULL;
    if (frame < 0 || frame >= rec->reader.count) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "there is no frame %lld in %s: it has %lld, counted from 0",
                         (long long)frame, rec->directory, (long long)rec->reader.count);
    }
    h5_quiet quiet;
    h5_silence(&quiet);
    frame_data d;
    talus_status status = frame_read(&rec->reader, frame, FRAME_STATE, &d, error);
    if (status == TALUS_OK) {
        status = show(rec, &d, frame, error);
        frame_data_free(&d);
    }
    h5_loud(&quiet);
    if (status == TALUS_OK) *world = rec->world;
    return status;
}

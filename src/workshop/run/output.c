/// Records of a run: frames and series when due, and checkpoints that point to them.
///
/// A checkpoint is written after the frames are committed and the series is synced, and holds where
/// both stood. Those between the first and the last are made here but written by another thread:
/// until one is on the disk the one before it counts, and all that it points to is still there.
/// Whatever was recorded later is cut off on resume and recorded again, with the same bits: nothing
/// is lost and nothing is there twice, wherever the run was killed.
///
/// Between checkpoints frames and rows are published for those who look at the run while it goes.
/// Frames may be packed and published by a thread of their own, too. HDF5 is for one thread at a
/// time: checkpoints begin with frames_commit(), which waits for it.
#include "base/clock.h"
#include "base/error.h"
#include "run/directory.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>

/// Seconds from one publication of frames to the next: at least the first; this part of the time
/// since the process began, so that the number of files grows with its logarithm; and so many times
/// what the last one took, so that a slow disk does not slow the run.
#define PUBLISH_SECONDS 1.0
#define PUBLISH_AGE 0.01
#define PUBLISH_COST 50.0

// ---- what a checkpoint keeps of a run ----------------------------------------------------------

static const stored_field position_fields[] = {FIELD(frames_position, frames),
                                               FIELD(frames_position, segments)};
static const stored_fields position_list = FIELD_LIST(frames_position, position_fields);

static const stored_field seconds_fields[] = {
    FIELD(run_seconds, detect), FIELD(run_seconds, solve), FIELD(run_seconds, advance),
    FIELD(run_seconds, record), FIELD(run_seconds, total)};
static const stored_fields seconds_list = FIELD_LIST(run_seconds, seconds_fields);

static const stored_field state_fields[] = {
    FIELD(run_state, phase),
    FIELD(run_state, step),
    FIELD(run_state, poured),
    FIELD(run_state, held),
    FIELD(run_state, energy),
    FIELD(run_state, step_length),
    FIELD(run_state, frame_mark),
    FIELD(run_state, series_mark),
    FIELD(run_state, frame_step),
    FIELD(run_state, series_step),
    FIELD_OWN(run_state, frames, &position_list),
    FIELD(run_state, frames_written),
    FIELD(run_state, series_bytes),
    FIELD(run_state, finished),
    FIELD(run_state, extended_to),
    FIELD(run_state, remarks),
    FIELD(run_state, escapes),
    FIELD(run_state, peak_memory),
    FIELD(run_state, worst_overlap),
    FIELD(run_state, worst_overlap_thickness),
    FIELD(run_state, worst_energy),
    FIELD(run_state, energy_scale),
    FIELD(run_state, grain_steps),
    FIELD_OWN(run_state, seconds, &seconds_list),
    FIELD(run_state, world_hash),
    FIELD_OWN(run_state, last, &step_result_fields),
};
const stored_fields run_state_fields = FIELD_LIST(run_state, state_fields);

static const stored_field phase_fields[] = {
    FIELD(phase_log, start_time), FIELD(phase_log, end_time), FIELD(phase_log, start_step),
    FIELD(phase_log, end_step), FIELD(phase_log, reason)};
const stored_fields phase_log_fields = FIELD_LIST(phase_log, phase_fields);

static const stored_field inlet_fields[] = {FIELD(inlet_state, poured),
                                            FIELD(inlet_state, attempts), FIELD(inlet_state, owed)};
const stored_fields inlet_state_fields = FIELD_LIST(inlet_state, inlet_fields);

enum { RUN_PARTS = 4 };

/// The run's own parts of a checkpoint.
static void list_parts(run* r, checkpoint_part out[RUN_PARTS])
{
    out[0] = (checkpoint_part){"run", &run_state_fields, 1, &r->state};
    out[1] = (checkpoint_part){"phases", &phase_log_fields, scene_phase_count(r->scene), r->phases};
    out[2] =
        (checkpoint_part){"inlets", &inlet_state_fields, scene_inlet_count(r->scene), r->inlets};
    out[3] = (checkpoint_part){.name = "kept", .data = &r->kept};
}

/// How many materials, shapes and walls a world has: they are only ever added.
static int64_t count_definitions(const talus_world* world)
{
    return (int64_t)talus_world_material_count(world) + talus_world_solid_count(world) +
           talus_world_wall_count(world);
}

// ---- records -----------------------------------------------------------------------------------

talus_status output_open(run* r, talus_error* error)
{
    const char* directory = r->def->directory;
    const run_state* s = &r->state;
    const scene_output* out = scene_outputs(r->scene);
    frames_options options = {.contacts = out->contacts,
                              .reduced_units = out->reduced_units,
                              .soft = !method_of(scene_method(r->scene))->solves_contacts};
    TRY(frames_open(directory, s->frames, options, &r->frames, error));
    const char* loss = frames_loss(r->frames);
    if (loss) log_write(&r->log, TALUS_LOG_WARNING, "%s", loss);
    return series_open(directory, s->series_bytes, r->world, &r->series, error);
}

/// Who steers a run may use HDF5 too, and problems are dumped by it.
static bool writes_behind(const run* r)
{
    return r->def->write_behind && r->def->dump_problems == 0 && !r->steered && !r->owned;
}

talus_status output_frame(run* r, talus_error* error)
{
    frames_set_phase(r->frames, r->state.phase);
    TRY(writes_behind(r) ? frames_write_behind(r->frames, r->world, error)
                         : frames_write(r->frames, r->world, error));
    r->state.frame_step = r->state.step;
    r->state.frames_written++;
    return TALUS_OK;
}

static talus_status write_row(run* r, talus_error* error)
{
    run_state* s = &r->state;
    TRY(series_write(r->series, r->world, s->step_length, error));
    s->series_step = s->step;
    // Here and not after each batch of steps, whose lengths depend on the machine.
    summary_note_energy(s);
    return TALUS_OK;
}

/// Whether a record is due after the step just done; moves *mark on.
static bool is_due(const run* r, double interval, int64_t* mark)
{
    int64_t now = schedule_mark(talus_world_time(r->world), schedule_step_length(r), interval);
    // A phase with shorter steps may see an earlier mark again: that record is already there.
    if (now <= *mark) return false;
    *mark = now;
    return true;
}

talus_status output_due(run* r, talus_error* error)
{
    double began = clock_seconds();
    run_state* s = &r->state;
    const scene_output* out = scene_outputs(r->scene);
    if (s->frame_step < 0) { // the first
        TRY(output_frame(r, error));
    } else {
        if (out->frame_interval > 0 && is_due(r, out->frame_interval, &s->frame_mark)) {
            TRY(output_frame(r, error));
        }
        const int64_t done = schedule_phase_steps(r);
        const bool row = out->series_interval > 0
                             ? is_due(r, out->series_interval, &s->series_mark)
                             : done % schedule_series_steps(r) == 0 ||
                                   done == schedule_phase_limit(r, (int)s->phase);
        if (row) TRY(write_row(r, error));
    }
    r->seconds_record += clock_seconds() - began;
    return TALUS_OK;
}

talus_status output_publish(run* r, talus_error* error)
{
    const double now = clock_seconds();
    if (r->frames_shown != r->state.frames_written && now >= r->publish_at &&
        !frames_are_busy(r->frames)) {
        TRY(writes_behind(r) ? frames_commit_behind(r->frames, error)
                             : frames_commit(r->frames, NULL, error));
        r->frames_shown = r->state.frames_written;
        const double ended = clock_seconds();
        r->publish_at = ended + fmax(fmax(PUBLISH_SECONDS, PUBLISH_AGE * (ended - r->started)),
                                     PUBLISH_COST * (ended - now));
        r->seconds_record += ended - now;
    }
    if (now < r->flush_at) return TALUS_OK;
    r->flush_at = now + PUBLISH_SECONDS;
    return series_flush(r->series, error);
}

bool output_checkpoint_due(const run* r)
{
    // Recorded frames are shown with the walls and shapes of the newest checkpoint.
    if (r->extent == CHECKPOINT_WHOLE && count_definitions(r->world) != r->defined) return true;
    const double wish = r->def->checkpoint_seconds;
    const double interval = wish >= 0 ? wish : scene_outputs(r->scene)->checkpoint_seconds;
    return clock_seconds() - r->checkpointed >= interval;
}

talus_status output_checkpoint_behind(run* r, talus_error* error)
{
    double began = clock_seconds();
    run_state* s = &r->state;
    TRY(frames_commit(r->frames, &s->frames, error));
    r->frames_shown = s->frames_written;
    TRY(series_sync(r->series, &s->series_bytes, error));
    s->seconds = summary_seconds(r);
    int64_t memory = summary_peak_memory();
    if (memory > s->peak_memory) s->peak_memory = memory;

    s->world_hash = talus_world_hash(r->world);
    checkpoint_part parts[RUN_PARTS];
    list_parts(r, parts);
    TRY(checkpoint_write_behind(&r->writer, r->def->directory, r->world, r->extent, parts,
                                RUN_PARTS, error));
    r->defined = count_definitions(r->world);
    r->checkpointed = clock_seconds();
    r->seconds_record += r->checkpointed - began;
    return TALUS_OK;
}

talus_status output_checkpoint(run* r, talus_error* error)
{
    TRY(output_checkpoint_behind(r, error));
    const double began = clock_seconds();
    TRY(checkpoint_writer_wait(r->writer, error));
    r->seconds_record += clock_seconds() - began;
    return TALUS_OK;
}

talus_status output_peek_state(run* r, talus_error* error)
{
    const checkpoint_part state = {"run", &run_state_fields, 1, &r->state};
    return checkpoint_peek(r->def->directory, &state, 1, error);
}

talus_status output_restore(run* r, talus_error* error)
{
    checkpoint_part parts[RUN_PARTS];
    list_parts(r, parts);
    bool used_previous = false;
    talus_world* world = r->owned ? NULL : r->world;
    TRY(checkpoint_read(r->def->directory, world, parts, RUN_PARTS, &used_previous, error));
    r->defined = count_definitions(r->world);
    if (used_previous) {
        log_write(&r->log, TALUS_LOG_WARNING,
                  "checkpoint.h5 is damaged; going on from the one before it");
    }
    r->before = r->state.seconds;
    return TALUS_OK;
}

talus_status output_finish(run* r, talus_error* error)
{
    double began = clock_seconds();
    if (r->state.frame_step != r->state.step) TRY(output_frame(r, error));
    if (r->state.step > r->phases[0].start_step && r->state.series_step != r->state.step)
        TRY(write_row(r, error));
    TRY(frames_commit(r->frames, NULL, error));
    TRY(series_sync(r->series, NULL, error));
    // All is on disk and readable; a disk too full for the tidy form does not fail the run.
    talus_error reason = {0};
    if (frames_finish(r->frames, &reason) != TALUS_OK) {
        log_write(&r->log, TALUS_LOG_WARNING, "%s", reason.text);
    }
    r->seconds_record += clock_seconds() - began;
    return TALUS_OK;
}

void output_close(run* r)
{
    if (r->frames) frames_close(r->frames);
    if (r->series) series_close(r->series);
    checkpoint_writer_free(r->writer);
    r->writer = NULL;
    r->frames = NULL;
    r->series = NULL;
}

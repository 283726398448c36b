/// The frame record: frames gather in a segment in memory, which becomes a file that is never
/// touched again.
///
/// A kill loses at most the open segment, that is frames after the last checkpoint, which a resumed
/// run computes again. The number of closed segments is part of the checkpoint; segments beyond it
/// belong to a future that did not happen and are removed on opening.
///
/// A run that is resumed after it was consolidated keeps the consolidated file as frames/base.h5,
/// which holds every frame that has no segment of its own.
///
/// Shapes go into the first segment and into each later one before which some were added: they are
/// only ever added, so the newest serve all frames.
#include "record/frames.h"

#include "base/array.h"
#include "base/error.h"
#include "record/export.h"
#include "record/files.h"
#include "record/frame_read.h"
#include "record/shapes_h5.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/base.h>

/// A segment that grew beyond this is closed without waiting for a checkpoint.
enum { SEGMENT_BYTES = 32 << 20 };

char* frames_segment_path(const frames* f, int64_t segment, bool relative)
{
    const char* directory = relative ? "" : f->directory;
    const char* slash = relative ? "" : "/";
    if (segment == FRAMES_BASE) return files_text("%s%sframes/base.h5", directory, slash);
    return files_text("%s%sframes/segment-%06lld.h5", directory, slash, (long long)segment);
}

// ---- opening -----------------------------------------------------------------------------------

frame_entry frames_entry_of(const frame_data* d, int64_t segment,
                            const drawn_place drawn[DRAWN_SETS])
{
    frame_entry e = {.time = d->time,
                     .step = d->step,
                     .segment = segment,
                     .grains = d->grains.count,
                     .contacts = d->contacts.count};
    memcpy(e.drawn, drawn, sizeof e.drawn);
    return e;
}

static talus_status open_folder(frames* f, frames_position at, talus_error* error)
{
    char* folder = files_text("%s/frames", f->directory);
    if (!folder) return error_memory(error, "a file name");
    talus_status status = files_make_folder(folder, error);
    free(folder);
    if (status == TALUS_OK) status = export_paraview_script(f->directory, error);
    if (status == TALUS_OK && at.frames > 0) status = frames_find_old(f, at, error);
    f->segments = at.segments;
    // The master must not show segments that are about to be removed, nor the XDMF files frames
    // that the master does not have.
    if (status == TALUS_OK) status = xdmf_write(f, f->count, error);
    if (status == TALUS_OK) status = frames_publish(f, f->count, error);
    if (status == TALUS_OK) frames_remove(f, at.segments, at.frames == 0);
    return status;
}

talus_status frames_open(const char* directory, frames_position at, frames_options options,
                         frames** out, talus_error* error)
{
    *out = NULL;
    frames* f = calloc(1, sizeof *f);
    if (!f) return error_memory(error, "the frame record");
    f->segment = -1;
    f->shapes_in = FRAMES_NOWHERE;
    drawing_forget(f->drawn);
    f->options = options;
    f->directory = strdup(directory);
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status =
        f->directory ? open_folder(f, at, error) : error_memory(error, "the frame record");
    h5_loud(&quiet);
    if (status == TALUS_OK) {
        *out = f;
    } else {
        frames_close(f);
    }
    return status;
}

const char* frames_loss(const frames* f)
{
    return f->loss;
}

// ---- writing -----------------------------------------------------------------------------------

bool frames_write_root(hid_t file, const frames* f, int64_t first, int64_t count, bool linked)
{
    int32_t version = FRAMES_VERSION, dim = f->dim;
    uint8_t flag = linked;
    double* time = malloc(sizeof *time * (size_t)(count + 1));
    int64_t* step = malloc(sizeof *step * (size_t)(count + 1));
    bool good = time && step;
    for (int64_t i = 0; good && i < count; i++) {
        time[i] = f->entry[first + i].time;
        step[i] = f->entry[first + i].step;
    }
    good = good && h5_put_text(file, "format", FRAMES_FORMAT) &&
           h5_put_numbers(file, "format_version", COLUMN_I32, 1, &version) &&
           h5_put_numbers(file, "dimension", COLUMN_I32, 1, &dim) &&
           h5_put_text(file, "version", talus_version()) &&
           h5_put_text(file, "units", f->options.reduced_units ? "reduced" : "si") &&
           h5_put_numbers(file, "linked", COLUMN_U8, 1, &flag) &&
           h5_put_numbers(file, "first_frame", COLUMN_I64, 1, &first) &&
           h5_put_numbers(file, "frame_count", COLUMN_I64, 1, &count) &&
           h5_write(file, "time", COLUMN_F64, count, 1, time, true) &&
           h5_write(file, "step", COLUMN_I64, count, 1, step, true);
    free(time);
    free(step);
    return good;
}

static talus_status begin_segment(frames* f, talus_error* error)
{
    if (f->segment >= 0) return TALUS_OK;
    f->segment = h5_create(f, "segment");
    hid_t group = f->segment < 0
                      ? -1
                      : H5Gcreate2(f->segment, "frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return h5_error(error, TALUS_ERR_IO, "cannot begin a segment in", f->directory);
    H5Gclose(group);
    f->segment_first = f->count;
    return TALUS_OK;
}

/// Put the open segment on the disk. If that fails it stays open and nothing is lost yet.
static talus_status end_segment(frames* f, talus_error* error)
{
    if (f->segment < 0) return TALUS_OK;
    void* data = NULL;
    size_t size = 0;
    char* path = frames_segment_path(f, f->segments, false);
    if (!path) return error_memory(error, "a file name");
    talus_status status = TALUS_OK;
    // A first attempt may have failed on a full disk after the root was written.
    if (H5Aexists(f->segment, "format") <= 0 &&
        !frames_write_root(f->segment, f, f->segment_first, f->count - f->segment_first, false)) {
        status = h5_error(error, TALUS_ERR_IO, "cannot finish", path);
    }
    if (status == TALUS_OK) status = h5_image(f->segment, &data, &size, error);
    if (status == TALUS_OK) status = files_replace(path, data, size, true, error);
    free(data);
    free(path);
    if (status != TALUS_OK) return status;
    H5Fclose(f->segment);
    f->segment = -1;
    if (f->shapes_open) f->shapes_in = f->segments;
    f->shapes_open = false;
    f->segments++;
    f->published = false;
    return TALUS_OK;
}

/// Put the shapes into the open segment if there are more of them than the files say.
static talus_status update_shapes(frames* f, const talus_world* world, talus_error* error)
{
    if (f->shapes_known && f->shapes.solid_count == world->state.solids.count &&
        f->shapes.wall_count == world->state.walls.count) {
        return TALUS_OK;
    }
    shapes_free(&f->shapes);
    f->shapes_known = shapes_of_world(world, &f->shapes) &&
                      shapes_write(f->segment, &f->shapes, f->options.reduced_units);
    if (!f->shapes_known) {
        return h5_error(error, TALUS_ERR_IO, "cannot record the shapes in", f->directory);
    }
    f->shapes_open = true;
    return TALUS_OK;
}

/// A frame as a group of the open segment, whole or not at all.
static bool add_group(frames* f, const frame_data* d, int threads, drawn_place drawn[DRAWN_SETS])
{
    char name[32];
    snprintf(name, sizeof name, "%06lld", (long long)f->count);
    hid_t frame = -1, group = H5Gopen2(f->segment, "frames", H5P_DEFAULT);
    bool good = group >= 0 && frame_write_group(group, name, d, threads);
    if (good) {
        frame = H5Gopen2(group, name, H5P_DEFAULT);
        good = frame >= 0 && drawing_write(frame, f->count, &f->shapes, d, threads,
                                           f->options.reduced_units, f->drawn, drawn);
        if (frame >= 0) H5Gclose(frame);
        if (!good) H5Ldelete(group, name, H5P_DEFAULT);
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

/// Make the frame of a world, and what it needs in the open segment.
static talus_status take_frame(frames* f, const talus_world* world, talus_error* error)
{
    if (f->finished) return error_set(error, TALUS_ERR_STATE, "the frame record is finished");
    int dim = world->def.dim;
    if (f->dim != 0 && f->dim != dim) {
        return error_set(error, TALUS_ERR_STATE, "the frames in %s are %dD, the world is %dD",
                         f->directory, f->dim, dim);
    }
    f->dim = dim;
    TRY(begin_segment(f, error));
    if (H5Aexists(f->segment, "format") > 0) TRY(end_segment(f, error));
    TRY(begin_segment(f, error));
    TRY(update_shapes(f, world, error));
    f->frame = (frame_data){0};
    if (!arrays_grow(&f->capacity, f->count + 1, ARRAY(f->entry)) ||
        !frame_of_world(world, f->options, f->phase, &f->frame)) {
        frame_data_free(&f->frame);
        return error_memory(error, "a frame");
    }
    return TALUS_OK;
}

/// Put the frame that was taken into the open segment.
static talus_status put_frame(frames* f, talus_error* error)
{
    drawn_place drawn[DRAWN_SETS];
    const bool good = add_group(f, &f->frame, f->threads, drawn);
    if (good) f->entry[f->count++] = frames_entry_of(&f->frame, f->segments, drawn);
    frame_data_free(&f->frame);
    if (!good) return h5_error(error, TALUS_ERR_IO, "cannot record a frame in", f->directory);
    return h5_size(f->segment) > SEGMENT_BYTES ? end_segment(f, error) : TALUS_OK;
}

static talus_status commit(frames* f, talus_error* error)
{
    TRY(end_segment(f, error));
    return f->published ? TALUS_OK : frames_publish(f, f->count, error);
}

/// HDF5 is for one thread at a time: who uses it here has waited for the writer.
static talus_status quietly(frames* f, talus_status (*work)(frames* f, talus_error* error),
                            talus_error* error)
{
    h5_quiet quiet;
    h5_silence(&quiet);
    const talus_status status = work(f, error);
    h5_loud(&quiet);
    return status;
}

static talus_status put_behind(void* f, talus_error* error)
{
    return quietly(f, put_frame, error);
}

static talus_status commit_behind(void* f, talus_error* error)
{
    return quietly(f, commit, error);
}

static talus_status begin_frame(frames* f, const talus_world* world, talus_error* error)
{
    TRY(behind_wait(f->writer, error));
    h5_quiet quiet;
    h5_silence(&quiet);
    const talus_status status = take_frame(f, world, error);
    h5_loud(&quiet);
    return status;
}

talus_status frames_write(frames* f, const talus_world* world, talus_error* error)
{
    TRY(begin_frame(f, world, error));
    f->threads = world->def.threads;
    return quietly(f, put_frame, error);
}

talus_status frames_write_behind(frames* f, const talus_world* world, talus_error* error)
{
    TRY(begin_frame(f, world, error));
    f->threads = 1; // beside the world's own
    const talus_status status = frame_keep(&f->frame) ? behind_do(&f->writer, put_behind, f, error)
                                                      : error_memory(error, "a frame");
    if (status < 0) frame_data_free(&f->frame);
    return status;
}

void frames_set_phase(frames* f, int64_t phase)
{
    f->phase = phase;
}

bool frames_are_busy(const frames* f)
{
    return behind_is_busy(f->writer);
}

talus_status frames_commit(frames* f, frames_position* at, talus_error* error)
{
    TRY(behind_wait(f->writer, error));
    TRY(quietly(f, commit, error));
    if (at) *at = (frames_position){.frames = f->count, .segments = f->segments};
    return TALUS_OK;
}

talus_status frames_commit_behind(frames* f, talus_error* error)
{
    return behind_do(&f->writer, commit_behind, f, error);
}

talus_status frames_finish(frames* f, talus_error* error)
{
    TRY(behind_wait(f->writer, error));
    h5_quiet quiet;
    h5_silence(&quiet);
    talus_status status = f->finished ? TALUS_OK : commit(f, error);
    if (status == TALUS_OK && !f->finished) {
        talus_error reason = {0};
        status = frames_consolidate(f, &reason);
        if (status == TALUS_OK) {
            f->finished = true;
            frames_remove(f, 0, true);
        } else {
            const bool damaged = status == TALUS_ERR_FORMAT;
            error_set(error, status,
                      "the frames could not be gathered into one file%s; %s/frames.h5 %s, with "
                      "links to the files in %s/frames. Reason: %s%s",
                      damaged ? ", since some are damaged, or the disk is" : "", f->directory,
                      damaged ? "shows the others" : "is complete and good", f->directory,
                      reason.text,
                      damaged ? "" : ". Make room, then resume the run: that gathers them");
        }
    }
    h5_loud(&quiet);
    return status;
}

void frames_close(frames* f)
{
    if (!f) return;
    behind_free(f->writer);
    h5_quiet quiet;
    h5_silence(&quiet);
    if (f->segment >= 0) H5Fclose(f->segment);
    h5_loud(&quiet);
    drawing_forget(f->drawn);
    shapes_free(&f->shapes);
    free(f->directory);
    free(f->loss);
    free(f->entry);
    free(f);
}

/// How the frame record of a run that goes on finds what was written before.
///
/// HDF5 1.10 may crash on a damaged file, and a run with a good checkpoint goes on all the same. So
/// another process looks first (record/apart.h). This one takes the files before the first that the
/// other could not read; those from there on are moved out of the way, and nothing is removed.
#include "record/frames.h"

#include "base/array.h"
#include "base/error.h"
#include "record/apart.h"
#include "record/export.h"
#include "record/files.h"
#include "record/frame_read.h"
#include "record/shapes_h5.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// Of the processor, to look at all old frames: far more than it takes.
enum { SURVEY_SECONDS = 300, MOST_ASIDE = 1000 };

// ---- the index ---------------------------------------------------------------------------------

/// Range of the frames in a file of frames, false if it is not one.
static bool frames_range(hid_t file, int64_t* first, int64_t* count)
{
    return h5_text_is(file, "format", FRAMES_FORMAT) &&
           h5_get_numbers(file, "first_frame", COLUMN_I64, 1, first) &&
           h5_get_numbers(file, "frame_count", COLUMN_I64, 1, count);
}

/// Index what one file adds to the frames known so far, up to `limit` frames in all.
static talus_status index_file(frames* f, int64_t segment, int64_t limit, talus_error* error)
{
    char* path = frames_segment_path(f, segment, false);
    if (!path) return error_memory(error, "a file name");
    int64_t first = 0, count = 0;
    talus_status status = TALUS_OK;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0 || !frames_range(file, &first, &count) || first < 0) {
        status = h5_error(error, TALUS_ERR_FORMAT, "cannot read the frames in", path);
    } else if (first > f->count) {
        status =
            error_set(error, TALUS_ERR_FORMAT, "the frames from %lld to %lld are missing in %s",
                      (long long)f->count, (long long)first - 1, f->directory);
    } else {
        // Frames that the base holds too are taken from the segment, which is newer. A kill while
        // segments were cleaned up leaves any of them: the frames after one may be in the base.
        int32_t dim = 0;
        if (h5_get_numbers(file, "dimension", COLUMN_I32, 1, &dim)) {
            f->dim = dim;
        } else {
            status = h5_error(error, TALUS_ERR_FORMAT, "cannot read the frames in", path);
        }
        const int64_t end = first + count < limit ? first + count : limit;
        for (int64_t i = first; status == TALUS_OK && i < end; i++) {
            char name[64];
            snprintf(name, sizeof name, "/frames/%06lld", (long long)i);
            hid_t frame = H5Gopen2(file, name, H5P_DEFAULT);
            frame_data head = {0};
            drawn_place drawn[DRAWN_SETS];
            if (frame < 0 || !frame_read_head(frame, &head) || !drawing_find(frame, i, drawn)) {
                status = error_set(error, TALUS_ERR_FORMAT, "%s has no good frame %lld", path,
                                   (long long)i);
            } else if (!arrays_grow(&f->capacity, i + 1, ARRAY(f->entry))) {
                status = error_memory(error, "the index of frames");
            } else {
                f->entry[i] = frames_entry_of(&head, segment, drawn);
                if (i == f->count) f->count++;
            }
            if (frame >= 0) H5Gclose(frame);
        }
        if (H5Lexists(file, SHAPES_GROUP, H5P_DEFAULT) > 0) f->shapes_in = segment;
    }
    if (file >= 0) H5Fclose(file);
    free(path);
    return status;
}

static bool segment_exists(const frames* f, int64_t segment)
{
    char* path = frames_segment_path(f, segment, false);
    bool there = path && files_size(path) >= 0;
    free(path);
    return there;
}

/// Index base and segments, those before `below`; *reached is how far it came.
static talus_status index_files(frames* f, int64_t below, int64_t limit, int64_t* reached,
                                talus_error* error)
{
    for (*reached = FRAMES_BASE; *reached < below; ++*reached) {
        if (segment_exists(f, *reached)) TRY(index_file(f, *reached, limit, error));
    }
    return TALUS_OK;
}

/// Remember what was drawn last, so that a resumed run writes what one without a break would.
static talus_status recall_drawing(frames* f, talus_error* error)
{
    talus_status status = TALUS_OK;
    for (drawn_index set = 0; f->count > 0 && set < DRAWN_SETS && status == TALUS_OK; set++) {
        const drawn_place place = f->entry[f->count - 1].drawn[set];
        if (place.frame < 0) continue;
        char* path = frames_segment_path(f, f->entry[place.frame].segment, false);
        hid_t file = path ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
        if (file < 0 || !drawing_recall(file, set, f->dim, place, &f->drawn[set])) {
            status = h5_error(error, TALUS_ERR_FORMAT, "cannot read what is drawn in",
                              path ? path : f->directory);
        }
        if (file >= 0) H5Fclose(file);
        free(path);
    }
    return status;
}

// ---- what another process finds ----------------------------------------------------------------

/// What the other process tells, also when it dies.
typedef struct findings {
    int64_t reached; ///< files before this one can be indexed
    bool recalled;   ///< what was drawn last can be read
} findings;

typedef struct survey {
    frames* f;
    frames_position at;
    findings* found;
} survey;

static talus_status look_at_files(void* user, talus_error* error)
{
    const survey* s = user;
    TRY(index_files(s->f, s->at.segments, s->at.frames, &s->found->reached, error));
    TRY(recall_drawing(s->f, error));
    s->found->recalled = true;
    return TALUS_OK;
}

/// TALUS_OK if frames.h5 holds all frames itself, TALUS_ERR_STATE if it has links, TALUS_ERR_FORMAT
/// if it cannot be read.
static talus_status look_at_master(void* user, talus_error* error)
{
    const survey* s = user;
    char* path = files_text("%s/frames.h5", s->f->directory);
    if (!path) return error_memory(error, "a file name");
    uint8_t linked = 1;
    int64_t first = 0, count = 0;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const bool known = file >= 0 && h5_get_numbers(file, "linked", COLUMN_U8, 1, &linked) &&
                       frames_range(file, &first, &count);
    talus_status status = TALUS_OK;
    if (!known) {
        status = h5_error(error, TALUS_ERR_FORMAT, "cannot read the frames in", path);
    } else if (linked || count < s->at.frames) {
        status = error_set(error, TALUS_ERR_STATE, "%s has no frames of its own", path);
    }
    if (file >= 0) H5Fclose(file);
    free(path);
    return status;
}

// ---- what this one does about it ---------------------------------------------------------------

/// A finished run that goes on: its frames.h5 holds all frames and becomes the base. If it cannot
/// be read, *damage says why.
static talus_status adopt_consolidated(survey* s, talus_error* damage, talus_error* error)
{
    char* master = files_text("%s/frames.h5", s->f->directory);
    char* base = frames_segment_path(s->f, FRAMES_BASE, false);
    talus_status status = master && base ? TALUS_OK : error_memory(error, "a file name");
    if (status == TALUS_OK && files_size(master) >= 0) {
        const talus_status found = apart_do(look_at_master, s, SURVEY_SECONDS, damage);
        if (found == TALUS_OK) {
            // The folder must not be lost in a power cut, or the frames would be lost with it.
            status = files_sync_folder(s->f->directory, error);
            if (status == TALUS_OK) status = files_rename(master, base, error);
        } else if (found == TALUS_ERR_STATE) {
            *damage = (talus_error){0};
        } else if (found != TALUS_ERR_FORMAT) {
            status = error_set(error, found, "%s", damage->text);
        }
    }
    free(master);
    free(base);
    return status;
}

/// A new folder for what cannot be used; on the heap.
static talus_status make_aside(const frames* f, char** out, talus_error* error)
{
    for (int number = 1; number <= MOST_ASIDE; number++) {
        *out = number == 1 ? files_text("%s/frames.damaged", f->directory)
                           : files_text("%s/frames.damaged-%d", f->directory, number);
        if (!*out) return error_memory(error, "a file name");
        if (mkdir(*out, 0777) == 0) return TALUS_OK;
        if (errno != EEXIST || number == MOST_ASIDE) files_error(error, "make the folder", *out);
        free(*out);
        *out = NULL;
        if (errno != EEXIST) break;
    }
    return TALUS_ERR_IO;
}

static talus_status move_into(const char* folder, const char* path, talus_error* error)
{
    char* target = path ? files_text("%s/%s", folder, strrchr(path, '/') + 1) : NULL;
    talus_status status = target ? TALUS_OK : error_memory(error, "a file name");
    if (status == TALUS_OK && files_size(path) >= 0) status = files_rename(path, target, error);
    free(target);
    return status;
}

/// Keep what cannot be used: base and segments from `first` on, and frames.h5 if it is damaged.
static talus_status set_aside(const frames* f, int64_t first, int64_t segments, bool with_master,
                              char** folder, talus_error* error)
{
    bool any = with_master;
    for (int64_t k = first; k < segments && !any; k++) any = segment_exists(f, k);
    if (!any) return TALUS_OK;
    TRY(make_aside(f, folder, error));
    talus_status status = TALUS_OK;
    if (with_master) {
        char* master = files_text("%s/frames.h5", f->directory);
        status = move_into(*folder, master, error);
        free(master);
    }
    for (int64_t k = first; status == TALUS_OK && k < segments; k++) {
        char* path = frames_segment_path(f, k, false);
        status = move_into(*folder, path, error);
        free(path);
    }
    return status == TALUS_OK ? files_sync_folder(*folder, error) : status;
}

/// Go on with fewer frames than the checkpoint knows of.
static talus_status give_up_frames(survey* s, const talus_error* of_master,
                                   const talus_error* of_files, talus_error* error)
{
    frames* f = s->f;
    char* folder = NULL;
    const bool with_master = of_master->status < 0;
    const char* reason = of_files->status < 0 ? of_files->text : of_master->text;
    TRY(set_aside(f, s->found->reached, s->at.segments, with_master, &folder, error));
    const char* where = folder ? folder : "nowhere: the files are missing";
    f->loss = files_text("the frames from %lld to %lld of %s cannot be read%s%s; what there is of "
                         "them is kept in %s, and the next frame has the number %lld",
                         (long long)f->count, (long long)s->at.frames - 1, f->directory,
                         reason[0] ? ": " : "", reason, where, (long long)f->count);
    free(folder);
    return f->loss ? TALUS_OK : error_memory(error, "a message");
}

/// Rebuild the index of what was written up to the checkpoint.
static talus_status take_old_frames(survey* s, talus_error* error)
{
    frames* f = s->f;
    talus_error of_master = {0}, of_files = {0};
    TRY(adopt_consolidated(s, &of_master, error));
    const talus_status found = apart_do(look_at_files, s, SURVEY_SECONDS, &of_files);
    if (found < 0 && found != TALUS_ERR_FORMAT) return error_set(error, found, "%s", of_files.text);
    int64_t reached;
    TRY(index_files(f, s->found->reached, s->at.frames, &reached, error));
    if (s->found->recalled) TRY(recall_drawing(f, error));
    if (f->count == s->at.frames) return TALUS_OK;
    return give_up_frames(s, &of_master, &of_files, error);
}

talus_status frames_find_old(frames* f, frames_position at, talus_error* error)
{
    survey s = {.f = f, .at = at, .found = apart_share(sizeof *s.found)};
    if (!s.found) return error_memory(error, "looking at old frames");
    s.found->reached = FRAMES_BASE;
    const talus_status status = take_old_frames(&s, error);
    apart_unshare(s.found, sizeof *s.found);
    return status;
}

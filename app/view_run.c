/// talus view: the run's folder, which may grow, be replaced or vanish while it is looked at.
///
/// frames.h5 is only ever replaced as a whole (rename), so a look at its inode tells whether there
/// is more. What was read of the frames before stays valid as long as it is the same run
/// (run.json) and their times and steps agree: a run that was cut back and goes on records them
/// again with the same bits.
#include "view.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "record/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <talus/scene.h>

static view_stamp stamp_of(const char* directory, const char* name)
{
    char* path = files_text("%s/%s", directory, name);
    struct stat facts;
    view_stamp stamp;
    memset(&stamp, 0, sizeof stamp); // padding too: stamps are compared as bytes
    if (path && stat(path, &facts) == 0) {
        stamp.device = facts.st_dev;
        stamp.inode = facts.st_ino;
        stamp.size = facts.st_size;
        stamp.changed = facts.st_mtim;
    }
    free(path);
    return stamp;
}

static bool same_stamp(const view_stamp* a, const view_stamp* b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

view_run view_run_make(const char* directory)
{
    view_run v;
    memset(&v, 0, sizeof v);
    v.directory = directory;
    v.reader.file = -1;
    return v;
}

void view_run_forget(view_run* v)
{
    frame_reader_close(&v->reader);
    memset(&v->frames_stamp, 0, sizeof v->frames_stamp);
}

static void free_heads(view_run* v)
{
    free(v->head);
    v->head = NULL;
    v->head_count = v->head_capacity = 0;
}

void view_run_end(view_run* v)
{
    view_run_forget(v);
    frame_data_free(&v->newest);
    free_heads(v);
}

static int64_t number_of(const view_stamp* stamp)
{
    return (int64_t)(hash_bytes(HASH_START, stamp, sizeof *stamp) >> 11);
}

int64_t view_run_generation(const view_run* v)
{
    return number_of(&v->frames_stamp);
}

int64_t view_run_identity(const view_run* v)
{
    return number_of(&v->run_stamp);
}

talus_status view_run_path(const view_run* v, const char* name, char** out, talus_error* error)
{
    *out = NULL;
    char* path = files_text("%s/%s", v->directory, name);
    char* home = realpath(v->directory, NULL);
    char* real = path ? realpath(path, NULL) : NULL;
    talus_status status = TALUS_OK;
    if (!path) {
        status = error_memory(error, "a file name");
    } else if (!home || !real) {
        status = files_error(error, "open", path);
    } else {
        const size_t length = strlen(home);
        if (strncmp(real, home, length) != 0 || real[length] != '/') {
            status =
                error_set(error, TALUS_ERR_FORMAT, "%s is a link out of the run's folder", path);
        }
    }
    free(home);
    free(real);
    if (status == TALUS_OK) {
        *out = path;
    } else {
        free(path);
    }
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

/// The scene's title; the name of the folder if the scene cannot be read.
static void read_title(view_run* v)
{
    char* path = files_text("%s/scene.yaml", v->directory);
    talus_scene* scene = NULL;
    if (path && files_check(path, NULL) == TALUS_OK &&
        talus_scene_load(path, NULL, 0, &scene, NULL, NULL) == TALUS_OK) {
        snprintf(v->title, sizeof v->title, "%s", talus_scene_title(scene));
    } else {
        char* real = realpath(v->directory, NULL);
        const char* slash = real ? strrchr(real, '/') : NULL;
        snprintf(v->title, sizeof v->title, "%s", slash ? slash + 1 : v->directory);
        free(real);
    }
    talus_scene_destroy(scene);
    free(path);
}

/// Heads of all frames; those known so far stay if they are those of the open file.
static talus_status read_heads(view_run* v, talus_error* error)
{
    frame_reader* r = &v->reader;
    int64_t stay = 0;
    while (stay < r->count && stay < v->head_count && v->head[stay].time == r->time[stay] &&
           v->head[stay].step == r->step[stay]) {
        stay++;
    }
    v->head_count = stay;
    if (!arrays_grow(&v->head_capacity, r->count, ARRAY(v->head))) {
        return error_memory(error, "the list of frames");
    }
    while (v->head_count < r->count) {
        TRY(frame_read(r, v->head_count, FRAME_HEAD, &v->head[v->head_count], error));
        v->head_count++;
    }
    return TALUS_OK;
}

static talus_status read_all(view_run* v, talus_error* error)
{
    char* path = NULL;
    TRY(view_run_path(v, "frames.h5", &path, error));
    free(path);
    TRY(frame_reader_open(v->directory, &v->reader, error));
    if (v->reader.count < 1) {
        return error_set(error, TALUS_ERR_STATE, "no frame has been recorded in %s yet",
                         v->directory);
    }
    TRY(read_heads(v, error));
    // What is told about fields and walls is that of the newest frame.
    frame_data_free(&v->newest);
    TRY(frame_read(&v->reader, v->head_count - 1, FRAME_LIST, &v->newest, error));
    return v->newest.wall_name
               ? TALUS_OK
               : error_set(error, TALUS_ERR_FORMAT, "%s has no names of walls", v->reader.path);
}

talus_status view_run_refresh(view_run* v, talus_error* error)
{
    const view_stamp run_now = stamp_of(v->directory, "run.json");
    // Before opening: a file that is replaced meanwhile is then seen as changed the next time.
    const view_stamp frames_now = stamp_of(v->directory, "frames.h5");
    if (!same_stamp(&run_now, &v->run_stamp) || !v->looked) {
        view_run_forget(v);
        free_heads(v);
        read_title(v);
        v->run_stamp = run_now;
        v->looked = true;
    }
    if (v->reader.file >= 0 && same_stamp(&frames_now, &v->frames_stamp)) return TALUS_OK;
    view_run_forget(v);
    talus_status status = read_all(v, error);
    if (status == TALUS_OK) {
        v->frames_stamp = frames_now;
    } else {
        view_run_forget(v);
    }
    return status;
}

/// frames.h5: a master with external links while the run goes, one whole file when it is over.
///
/// Both are built under another name and renamed, so a reader finds the old or the new file and
/// never a half. Consolidation copies the compressed chunks as they are (H5Ocopy). Its disk space
/// is reserved first: HDF5 then never meets a full disk, from which it does not recover.
#include "record/frames.h"

#include "base/error.h"
#include "record/apart.h"
#include "record/files.h"
#include "record/shapes_h5.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Of the processor, to gather frames: far more than it takes, in seconds and bytes a second.
enum { COPY_SECONDS = 300, COPY_SPEED = 1 << 20 };

static bool write_links(hid_t file, const frames* f, int64_t count)
{
    hid_t group = H5Gcreate2(file, "frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    bool good = true;
    for (int64_t i = 0; good && i < count; i++) {
        char name[32], target[64];
        snprintf(name, sizeof name, "%06lld", (long long)i);
        snprintf(target, sizeof target, "/frames/%s", name);
        char* path = frames_segment_path(f, f->entry[i].segment, true);
        good = path && H5Lcreate_external(path, target, group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
        free(path);
    }
    H5Gclose(group);
    if (!good || count == 0 || f->shapes_in == FRAMES_NOWHERE) return good;
    char* path = frames_segment_path(f, f->shapes_in, true);
    good = path && H5Lcreate_external(path, "/" SHAPES_GROUP, file, SHAPES_GROUP, H5P_DEFAULT,
                                      H5P_DEFAULT) >= 0;
    free(path);
    return good;
}

/// The bytes of frames.h5 with `count` links, or of its empty frame for consolidation.
static talus_status master_image(const frames* f, int64_t count, bool linked, void** data,
                                 size_t* size, talus_error* error)
{
    hid_t file = h5_create(f, "master");
    bool good = file >= 0 && frames_write_root(file, f, 0, count, linked) &&
                write_links(file, f, linked ? count : 0);
    talus_status status =
        good ? h5_image(file, data, size, error)
             : h5_error(error, TALUS_ERR_IO, "cannot build frames.h5 of", f->directory);
    if (file >= 0) H5Fclose(file);
    return status;
}

talus_status frames_publish(frames* f, int64_t count, talus_error* error)
{
    void* data = NULL;
    size_t size = 0;
    char* folder = files_text("%s/frames", f->directory);
    char* path = files_text("%s/frames.h5", f->directory);
    talus_status status = folder && path ? TALUS_OK : error_memory(error, "a file name");
    if (status == TALUS_OK) status = files_sync_folder(folder, error);
    if (status == TALUS_OK) status = master_image(f, count, true, &data, &size, error);
    if (status == TALUS_OK) status = files_replace(path, data, size, true, error);
    if (status == TALUS_OK) status = xdmf_write(f, count, error);
    if (status == TALUS_OK) status = files_sync_folder(f->directory, error);
    f->published = status == TALUS_OK;
    free(data);
    free(folder);
    free(path);
    return status;
}

// ---- consolidation -----------------------------------------------------------------------------

/// Bytes of all files that hold frames, with some room for the directory of the new one.
static int64_t space_needed(const frames* f)
{
    int64_t sum = (1 << 16) + 1024 * f->count, last = FRAMES_BASE - 1;
    for (int64_t i = 0; i < f->count; i++) {
        if (f->entry[i].segment == last) continue;
        last = f->entry[i].segment;
        char* path = frames_segment_path(f, last, false);
        int64_t size = path ? files_size(path) : 0;
        if (size > 0) sum += size;
        free(path);
    }
    return sum;
}

/// All frames and the newest shapes. There is room for them: what fails here is what is read.
static talus_status copy_frames(const frames* f, hid_t access, hid_t target, talus_error* error)
{
    hid_t source = -1;
    talus_status status = TALUS_OK;
    for (int64_t i = 0; i < f->count && status == TALUS_OK; i++) {
        char* path = frames_segment_path(f, f->entry[i].segment, false);
        char name[64];
        snprintf(name, sizeof name, "/frames/%06lld", (long long)i);
        if (i == 0 || f->entry[i].segment != f->entry[i - 1].segment) {
            if (source >= 0) H5Fclose(source);
            source = path ? H5Fopen(path, H5F_ACC_RDONLY, access) : -1;
        }
        if (source < 0 || H5Ocopy(source, name, target, name, H5P_DEFAULT, H5P_DEFAULT) < 0) {
            status = h5_error(error, TALUS_ERR_FORMAT, "cannot copy the frames of",
                              path ? path : "a segment");
        }
        free(path);
    }
    if (source >= 0) H5Fclose(source);
    if (status != TALUS_OK || f->shapes_in == FRAMES_NOWHERE) return status;

    char* path = frames_segment_path(f, f->shapes_in, false);
    source = path ? H5Fopen(path, H5F_ACC_RDONLY, access) : -1;
    if (source < 0 ||
        H5Ocopy(source, SHAPES_GROUP, target, SHAPES_GROUP, H5P_DEFAULT, H5P_DEFAULT) < 0) {
        status = h5_error(error, TALUS_ERR_FORMAT, "cannot copy the shapes of",
                          path ? path : "a segment");
    }
    if (source >= 0) H5Fclose(source);
    free(path);
    return status;
}

/// The file that is to become frames.h5.
typedef struct whole_file {
    const frames* f;
    const char* path;
} whole_file;

static talus_status build_whole(void* user, talus_error* error)
{
    const whole_file* w = user;
    const frames* f = w->f;
    const char* path = w->path;
    void* data = NULL;
    size_t size = 0;
    TRY(master_image(f, f->count, false, &data, &size, error));
    talus_status status = files_write(path, NULL, 0, data, size, false, error);
    free(data);
    if (status == TALUS_OK) {
        status = files_reserve(path, space_needed(f) + (int64_t)size, error);
    }
    if (status != TALUS_OK) return status;

    hid_t access = h5_access();
    hid_t target = H5Fopen(path, H5F_ACC_RDWR, access);
    status = target < 0 ? h5_error(error, TALUS_ERR_IO, "cannot open", path)
                        : copy_frames(f, access, target, error);
    H5Pclose(access);
    if (target < 0) return status;
    // Closing also cuts off the reserved space that was not used.
    if (H5Fclose(target) < 0 && status == TALUS_OK) {
        status = h5_error(error, TALUS_ERR_IO, "cannot finish", path);
    }
    return status == TALUS_OK ? files_sync(path, error) : status;
}

talus_status frames_consolidate(frames* f, talus_error* error)
{
    char* whole = files_text("%s/frames.h5.tmp", f->directory);
    char* path = files_text("%s/frames.h5", f->directory);
    talus_status status = whole && path ? TALUS_OK : error_memory(error, "a file name");
    if (status == TALUS_OK) {
        // HDF5 crashes also on a disk that fails, and all is on the disk already.
        whole_file w = {f, whole};
        const int seconds = COPY_SECONDS + (int)(space_needed(f) / COPY_SPEED);
        status = apart_do(build_whole, &w, seconds, error);
        if (status == TALUS_OK) status = files_rename(whole, path, error);
        if (status != TALUS_OK) unlink(whole);
    }
    if (status == TALUS_OK) status = files_sync_folder(f->directory, error);
    free(whole);
    free(path);
    return status;
}

// ---- cleaning up -------------------------------------------------------------------------------

void frames_remove(const frames* f, int64_t first, bool with_base)
{
    char* folder = files_text("%s/frames", f->directory);
    DIR* list = folder ? opendir(folder) : NULL;
    if (list) {
        const struct dirent* item;
        while ((item = readdir(list)) != NULL) {
            long long number = -1;
            size_t length = strlen(item->d_name);
            bool unfinished = length > 4 && strcmp(item->d_name + length - 4, ".tmp") == 0;
            bool segment = sscanf(item->d_name, "segment-%lld.h5", &number) == 1;
            bool base = strcmp(item->d_name, "base.h5") == 0;
            if (unfinished || (segment && number >= first) || (base && with_base)) {
                unlinkat(dirfd(list), item->d_name, 0);
            }
        }
        closedir(list);
        if (f->finished) rmdir(folder); // a stranger's file in it keeps it
    }
    char* master = files_text("%s/frames.h5.tmp", f->directory);
    if (master) unlink(master);
    free(master);
    free(folder);
}

/// The directory of a run.
///
/// Nothing that Talus did not write is ever removed: cleaning goes by a list of names. The lock is
/// flock() on a file that stays: unlike a file whose presence is the lock, it cannot be left behind
/// by a killed process.
#include "run/directory.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME ".talus.lock"
#define TEMPORARY_SUFFIX ".part"

/// Files of a run. A name that ends with '*' stands for all names that begin so: segments and the
/// temporary files that a kill leaves behind.
static const char* const own_files[] = {
    "scene.yaml*",   "scene.original.yaml*", "run.json*",      "summary.json*", "log.txt",
    "series.csv",    "frames.h5*",           "frames.xdmf*",   "checkpoint.h5*",
    "checkpoint.previous.h5*",
};
static const char* const own_segments[] = {"segment-*"};

talus_status directory_path(char out[DIRECTORY_PATH_SIZE], const char* directory, const char* name,
                            talus_error* error)
{
    int length = snprintf(out, DIRECTORY_PATH_SIZE, "%s/%s", directory, name);
    if (length < 0 || length >= DIRECTORY_PATH_SIZE) {
        return error_set(error, TALUS_ERR_ARGUMENT, "the path %.200s... is too long", directory);
    }
    return TALUS_OK;
}

bool directory_has(const char* directory, const char* name)
{
    char path[DIRECTORY_PATH_SIZE];
    return directory_path(path, directory, name, NULL) == TALUS_OK && access(path, F_OK) == 0;
}

static bool name_matches(const char* name, const char* const* patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(patterns[i]);
        bool prefix = patterns[i][length - 1] == '*';
        if (prefix ? strncmp(name, patterns[i], length - 1) == 0 : strcmp(name, patterns[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_dot(const char* name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/// What a directory holds, as far as a new run cares.
typedef enum contents { CONTENTS_NONE, CONTENTS_RUN, CONTENTS_FOREIGN } contents;

static talus_status directory_contents(const char* directory, contents* out, talus_error* error)
{
    *out = CONTENTS_NONE;
    DIR* dir = opendir(directory);
    if (!dir) {
        if (errno == ENOENT) return TALUS_OK;
        return error_set(error, TALUS_ERR_IO, "cannot look into %s: %s", directory,
                         strerror(errno));
    }
    // A lock alone is what a kill in the first instant leaves: nothing worth keeping.
    bool any = false, own = false;
    for (struct dirent* entry; (entry = readdir(dir));) {
        if (is_dot(entry->d_name) || strcmp(entry->d_name, LOCK_NAME) == 0) continue;
        any = true;
        own |= name_matches(entry->d_name, own_files, sizeof own_files / sizeof *own_files);
    }
    closedir(dir);
    if (any) *out = own && directory_has(directory, LOCK_NAME) ? CONTENTS_RUN : CONTENTS_FOREIGN;
    return TALUS_OK;
}

talus_status directory_check(const char* directory, bool force, talus_error* error)
{
    contents what;
    TRY(directory_contents(directory, &what, error));
    if (what == CONTENTS_FOREIGN) {
        return error_set(error, TALUS_ERR_EXISTS,
                         "%s has files in it that are not a Talus run; choose another directory",
                         directory);
    }
    if (what == CONTENTS_RUN && !force) {
        return error_set(error, TALUS_ERR_EXISTS,
                         "%s already holds a run; continue it with 'talus resume %s', replace it "
                         "with --force, or choose another directory with -o",
                         directory, directory);
    }
    return TALUS_OK;
}

talus_status directory_make(const char* directory, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, "", error));
    for (char* slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            return error_set(error, TALUS_ERR_IO, "cannot make the directory %s: %s", path,
                             strerror(errno));
        }
        *slash = '/';
    }
    return TALUS_OK;
}

talus_status directory_lock(const char* directory, int* lock, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, LOCK_NAME, error));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        return error_set(error, TALUS_ERR_IO, "cannot write in %s: %s", directory, strerror(errno));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int reason = errno;
        close(fd);
        if (reason == EWOULDBLOCK) {
            return error_set(error, TALUS_ERR_STATE, "another talus is running in %s right now",
                             directory);
        }
        return error_set(error, TALUS_ERR_IO, "cannot lock %s: %s", path, strerror(reason));
    }
    *lock = fd;
    return TALUS_OK;
}

/// Remove the regular files of `directory` whose names match.
static talus_status remove_matching(const char* directory, const char* const* patterns,
                                    size_t count, talus_error* error)
{
    DIR* dir = opendir(directory);
    if (!dir) return TALUS_OK;
    talus_status status = TALUS_OK;
    for (struct dirent* entry; status == TALUS_OK && (entry = readdir(dir));) {
        if (!is_dot(entry->d_name) && name_matches(entry->d_name, patterns, count)) {
            status = directory_remove(directory, entry->d_name, error);
        }
    }
    closedir(dir);
    return status;
}

talus_status directory_clean(const char* directory, talus_error* error)
{
    char segments[DIRECTORY_PATH_SIZE];
    TRY(directory_path(segments, directory, "frames", error));
    TRY(remove_matching(segments, own_segments, sizeof own_segments / sizeof *own_segments, error));
    rmdir(segments); // stays if someone put something else there
    return remove_matching(directory, own_files, sizeof own_files / sizeof *own_files, error);
}

/// Path of the temporary file that becomes directory/name.
static talus_status part_path(char out[DIRECTORY_PATH_SIZE], const char* directory,
                              const char* name, talus_error* error)
{
    char part[256];
    snprintf(part, sizeof part, "%s" TEMPORARY_SUFFIX, name);
    return directory_path(out, directory, part, error);
}

talus_status directory_replace(const char* directory, const char* name, FILE** file,
                               talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(part_path(path, directory, name, error));
    *file = fopen(path, "we");
    if (!*file) {
        return error_set(error, TALUS_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    return TALUS_OK;
}

talus_status directory_replace_end(const char* directory, const char* name, FILE* file,
                                   talus_error* error)
{
    char part[DIRECTORY_PATH_SIZE], path[DIRECTORY_PATH_SIZE];
    bool good = part_path(part, directory, name, error) == TALUS_OK &&
                directory_path(path, directory, name, error) == TALUS_OK;
    bool written = !ferror(file) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int reason = errno;
    if (fclose(file) != 0 && written) {
        written = false;
        reason = errno;
    }
    if (!good) return TALUS_ERR_ARGUMENT;
    if (written && rename(part, path) != 0) {
        written = false;
        reason = errno;
    }
    if (!written) {
        unlink(part);
        return error_set(error, TALUS_ERR_IO, "cannot write %s: %s", path, strerror(reason));
    }
    return directory_sync(directory, error);
}

talus_status directory_remove(const char* directory, const char* name, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, name, error));
    if (unlink(path) != 0 && errno != ENOENT) {
        return error_set(error, TALUS_ERR_IO, "cannot remove %s: %s", path, strerror(errno));
    }
    return TALUS_OK;
}

talus_status directory_copy(const char* directory, const char* name, const char* source,
                            talus_error* error)
{
    FILE* in = fopen(source, "re");
    if (!in) {
        return error_set(error, TALUS_ERR_IO, "cannot read %s: %s", source, strerror(errno));
    }
    FILE* out = NULL;
    talus_status status = directory_replace(directory, name, &out, error);
    if (status == TALUS_OK) {
        char block[65536];
        for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;) fwrite(block, 1, n, out);
        status = directory_replace_end(directory, name, out, error);
    }
    if (status == TALUS_OK && ferror(in)) {
        status = error_set(error, TALUS_ERR_IO, "cannot read %s", source);
    }
    fclose(in);
    return status;
}

talus_status directory_sync(const char* directory, talus_error* error)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Some file systems do not sync directories (EINVAL): they have nothing better to offer.
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int reason = errno;
    if (fd >= 0) close(fd);
    if (good) return TALUS_OK;
    return error_set(error, TALUS_ERR_IO, "cannot sync %s: %s", directory, strerror(reason));
}

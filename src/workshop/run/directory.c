/// The directory of a run.
///
/// Nothing that Talus did not write is ever removed: cleaning goes by a list of names. The lock is
/// flock() on a file that stays: unlike a file whose presence is the lock, it cannot be left behind
/// by a killed process.
#include "run/directory.h"

#include "base/error.h"
#include "record/files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_NAME ".talus.lock"

/// A lock is given up on after so many attempts with so many nanoseconds between them: longer than
/// directory_is_locked() holds one.
enum { LOCK_ATTEMPTS = 5, LOCK_PAUSE = 20000000 };

/// Files of a run. Each may also be there with ".tmp" behind it, left by a kill. (Older versions
/// wrote frames.xdmf.)
static const char* const own_files[] = {
    "scene.yaml",
    "scene.original.yaml",
    "run.json",
    "summary.json",
    "log.txt",
    "series.csv",
    "frames.h5",
    "frames.xdmf",
    "grains.xdmf2",
    "contacts.xdmf2",
    "walls.xdmf2",
    "solids.xdmf2",
    "checkpoint.h5",
    "checkpoint.previous.h5",
    "show-in-paraview.py",
};

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

const char* directory_absence(const char* path)
{
    struct stat info;
    if (stat(path, &info) != 0) return "there is no such directory";
    return S_ISDIR(info.st_mode) ? NULL : "that is a file (expected the directory of a run)";
}

/// Length of a name without a ".tmp" at its end.
static size_t stem_length(const char* name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".tmp") == 0 ? length - 4 : length;
}

static bool is_own_file(const char* name)
{
    size_t length = stem_length(name);
    for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++) {
        if (strlen(own_files[i]) == length && strncmp(name, own_files[i], length) == 0) return true;
    }
    return false;
}

/// segment-NNNNNN.h5 and base.h5 in the folder `frames`.
static bool is_own_segment(const char* name)
{
    size_t length = stem_length(name);
    if (length == 7 && strncmp(name, "base.h5", 7) == 0) return true;
    if (strncmp(name, "segment-", 8) != 0) return false;
    size_t digits = strspn(name + 8, "0123456789");
    return digits > 0 && length == 8 + digits + 3 && strncmp(name + 8 + digits, ".h5", 3) == 0;
}

/// N-NAME in the folder `sources`, as directory_adopt() makes them.
static bool is_own_source(const char* name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && name[digits] == '-';
}

/// step-N.hdf5 and step-N-part-M.hdf5 in the folder `problems`.
static bool is_own_problem(const char* name)
{
    size_t length = stem_length(name);
    return strncmp(name, "step-", 5) == 0 && length > 10 && isdigit((unsigned char)name[5]) &&
           strncmp(name + length - 5, ".hdf5", 5) == 0;
}

/// Files that come before scene.yaml and the first results: alone they are what a kill in the first
/// instant leaves, nothing that can be resumed or is worth keeping.
static bool is_beginning(const char* name)
{
    static const char* const list[] = {"log.txt", "scene.original.yaml", "run.json", "sources"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(name, list[i]) == 0) return true;
    }
    return is_own_file(name) && stem_length(name) < strlen(name);
}

talus_status directory_check(const char* directory, bool force, talus_error* error)
{
    DIR* dir = opendir(directory);
    if (!dir) {
        if (errno == ENOENT) return TALUS_OK;
        return files_error(error, "look into", directory);
    }
    bool any = false, own = false, locked = directory_has(directory, LOCK_NAME);
    for (struct dirent* entry; (entry = readdir(dir));) {
        const char* name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, LOCK_NAME) == 0) {
            continue;
        }
        any |= !locked || !is_beginning(name);
        own |= is_own_file(name);
    }
    closedir(dir);
    const bool holds_run = own && locked;
    if (any && !holds_run) {
        return error_set(error, TALUS_ERR_EXISTS,
                         "%s has files in it that are not a Talus run; choose another directory",
                         directory);
    }
    if (any && !force) {
        return error_set(error, TALUS_ERR_EXISTS,
                         "%s already holds a run; resume it, replace it with --force, or choose "
                         "another directory with -o",
                         directory);
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
            return files_error(error, "make the directory", path);
        }
        *slash = '/';
    }
    return TALUS_OK;
}

bool directory_is_locked(const char* directory)
{
    char path[DIRECTORY_PATH_SIZE];
    if (directory_path(path, directory, LOCK_NAME, NULL) != TALUS_OK) return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    bool locked = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    return locked;
}

talus_status directory_lock(const char* directory, int* lock, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, LOCK_NAME, error));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return files_error(error, "write in", directory);
    int attempts = 0, reason = 0;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        reason = errno;
        if (reason != EWOULDBLOCK || ++attempts == LOCK_ATTEMPTS) break;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE}, NULL);
        reason = 0;
    }
    if (reason != 0) {
        close(fd);
        if (reason == EWOULDBLOCK) {
            return error_set(error, TALUS_ERR_STATE, "another talus is running in %s right now",
                             directory);
        }
        errno = reason;
        return files_error(error, "lock", path);
    }
    *lock = fd;
    return TALUS_OK;
}

/// Remove the files of `directory` that are ours.
static talus_status remove_own(const char* directory, bool (*is_own)(const char* name),
                               talus_error* error)
{
    DIR* dir = opendir(directory);
    if (!dir) return TALUS_OK;
    talus_status status = TALUS_OK;
    for (struct dirent* entry; status == TALUS_OK && (entry = readdir(dir));) {
        if (is_own(entry->d_name)) {
            status = directory_remove(directory, entry->d_name, error);
        }
    }
    closedir(dir);
    return status;
}

talus_status directory_clean(const char* directory, talus_error* error)
{
    char folder[DIRECTORY_PATH_SIZE];
    TRY(directory_path(folder, directory, "frames", error));
    TRY(remove_own(folder, is_own_segment, error));
    rmdir(folder); // stays if someone put something else there
    TRY(directory_path(folder, directory, "sources", error));
    TRY(remove_own(folder, is_own_source, error));
    rmdir(folder);
    TRY(directory_path(folder, directory, "problems", error));
    TRY(remove_own(folder, is_own_problem, error));
    rmdir(folder);
    return remove_own(directory, is_own_file, error);
}

bool directory_owns(const char* directory, const char* path)
{
    char* home = realpath(directory, NULL);
    char* file = realpath(path, NULL);
    size_t length = home ? strlen(home) : 0;
    bool owns = false;
    if (home && file && strncmp(file, home, length) == 0 && file[length] == '/') {
        const char* name = file + length + 1;
        owns = is_own_file(name) || (strncmp(name, "sources/", 8) == 0 && is_own_source(name + 8));
    }
    free(home);
    free(file);
    return owns;
}

/// The path without links and dots; of a file that is not there, that of its folder and its name.
/// NULL if there is no such folder or memory is short. free() it.
static char* resolve(const char* path)
{
    char* whole = realpath(path, NULL);
    if (whole) return whole;
    const char* slash = strrchr(path, '/');
    char* above = slash ? files_text("%.*s/", (int)(slash - path), path) : files_text(".");
    char* folder = above ? realpath(above, NULL) : NULL;
    if (folder) whole = files_text("%s/%s", folder, slash ? slash + 1 : path);
    free(above);
    free(folder);
    return whole;
}

bool directory_reserves(const char* path)
{
    static const struct {
        const char* name;
        bool (*is_own)(const char* name);
    } folders[] = {
        {"frames", is_own_segment}, {"sources", is_own_source}, {"problems", is_own_problem}};
    char* folder = resolve(path);
    char* slash = folder ? strrchr(folder, '/') : NULL;
    bool reserves = false;
    if (slash) {
        const char* name = slash + 1;
        *slash = '\0';
        if (directory_has(folder, LOCK_NAME)) {
            reserves = is_own_file(name) || strcmp(name, LOCK_NAME) == 0;
        } else if ((slash = strrchr(folder, '/'))) {
            *slash = '\0';
            for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
                if (strcmp(slash + 1, folders[i].name) != 0) continue;
                reserves = folders[i].is_own(name) && directory_has(folder, LOCK_NAME);
            }
        }
    }
    free(folder);
    return reserves;
}

talus_status directory_adopt(const char* directory, int number, const char* source,
                             char name[DIRECTORY_PATH_SIZE], talus_error* error)
{
    char folder[DIRECTORY_PATH_SIZE];
    TRY(directory_path(folder, directory, "sources", error));
    TRY(files_make_folder(folder, error));
    const char* slash = strrchr(source, '/');
    const char* base = slash ? slash + 1 : source;
    // A run of an effective scene keeps the names that its files have there.
    if (is_own_source(base)) base += strspn(base, "0123456789") + 1;
    snprintf(name, DIRECTORY_PATH_SIZE, "sources/%d-%.100s", number, base);
    // A name that every file system and YAML take, also when it was cut within a letter.
    for (char* c = name + strcspn(name, "-"); *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("-._", *c)) *c = '_';
    }
    TRY(directory_copy(directory, name, source, error));
    return files_sync_folder(folder, error);
}

talus_status directory_remove(const char* directory, const char* name, talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, name, error));
    if (unlink(path) != 0 && errno != ENOENT) return files_error(error, "remove", path);
    return TALUS_OK;
}

talus_status directory_write(const char* directory, const char* name, const void* data, size_t size,
                             talus_error* error)
{
    char path[DIRECTORY_PATH_SIZE];
    TRY(directory_path(path, directory, name, error));
    return files_replace(path, data, size, true, error);
}

talus_status directory_copy(const char* directory, const char* name, const char* source,
                            talus_error* error)
{
    unsigned char* data = NULL;
    size_t size = 0;
    TRY(files_read(source, &data, &size, error));
    talus_status status = directory_write(directory, name, data, size, error);
    free(data);
    return status;
}

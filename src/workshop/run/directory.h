/// The directory of a run: who may write there, what belongs to Talus, files replaced atomically.
#ifndef TALUS_RUN_DIRECTORY_H
#define TALUS_RUN_DIRECTORY_H

#include <stddef.h>
#include <talus/base.h>

enum { DIRECTORY_PATH_SIZE = 4096 };

/// "directory/name" into `out`; TALUS_ERR_ARGUMENT if it is too long.
talus_status directory_path(char out[DIRECTORY_PATH_SIZE], const char* directory, const char* name,
                            talus_error* error);
/// Whether directory/name exists.
bool directory_has(const char* directory, const char* name);
/// Why a path is not a directory, in words; NULL if it is one.
const char* directory_absence(const char* path);

/// May a new run be written to `directory`? Looks without touching: TALUS_ERR_EXISTS if there is
/// something and `force` is false, or if what is there is no Talus run.
talus_status directory_check(const char* directory, bool force, talus_error* error);
/// Make the directory and its parents where missing.
talus_status directory_make(const char* directory, talus_error* error);
/// Take the lock of a directory; *lock is a descriptor to be closed at the end. A second process
/// is refused with TALUS_ERR_STATE. The lock dies with the process, however it ends.
talus_status directory_lock(const char* directory, int* lock, talus_error* error);
/// Whether a process holds the lock of a directory. Looking takes the lock for an instant, which
/// directory_lock() waits for.
bool directory_is_locked(const char* directory);
/// Remove the files Talus writes, and nothing else.
talus_status directory_clean(const char* directory, talus_error* error);
/// Whether directory_clean() would remove the file `path`.
bool directory_owns(const char* directory, const char* path);
/// Whether `path`, which need not exist, is one that a run writes in the directory of that run.
bool directory_reserves(const char* path);

/// Copy file number `number` that the scene reads into the directory; `name` receives the name of
/// the copy, relative to the directory.
talus_status directory_adopt(const char* directory, int number, const char* source,
                             char name[DIRECTORY_PATH_SIZE], talus_error* error);

/// Remove directory/name if it is there.
talus_status directory_remove(const char* directory, const char* name, talus_error* error);
/// Replace directory/name atomically by these bytes.
talus_status directory_write(const char* directory, const char* name, const void* data, size_t size,
                             talus_error* error);
/// Copy the file `source` to directory/name, atomically.
talus_status directory_copy(const char* directory, const char* name, const char* source,
                            talus_error* error);

#endif

/// Files that appear whole or not at all: temporary name, sync, rename, sync of the folder.
#ifndef TALUS_RECORD_FILES_H
#define TALUS_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <talus/base.h>

/// A formatted path or other text on the heap, NULL when memory is short.
char* files_text(const char* format, ...) TALUS_PRINTF(1, 2);

/// "cannot <what> <path>: <strerror(errno)>" as TALUS_ERR_IO.
talus_status files_error(talus_error* error, const char* what, const char* path);

/// Write `head` (may be NULL with size 0) and `body` to `path`, replacing it; `sync` waits for the
/// disk. A file that could not be written whole is removed.
talus_status files_write(const char* path, const void* head, size_t head_size, const void* body,
                         size_t body_size, bool sync, talus_error* error);
/// files_write() to `path`.tmp, then rename to `path`.
talus_status files_replace(const char* path, const void* body, size_t size, bool sync,
                           talus_error* error);
/// Open a file that somebody else has made to read it. Folders are refused, and pipes and devices,
/// which may have no end.
talus_status files_open(const char* path, FILE** out, talus_error* error);
/// Only see that files_open() could open it: who opens a pipe by its name waits for ever.
talus_status files_check(const char* path, talus_error* error);
/// The whole file; the caller frees *data.
talus_status files_read(const char* path, unsigned char** data, size_t* size, talus_error* error);
talus_status files_rename(const char* from, const char* to, talus_error* error);
/// Wait until what was written to a file by somebody else's functions is on the disk.
talus_status files_sync(const char* path, talus_error* error);
/// Make renames and removals in a folder survive a power cut.
talus_status files_sync_folder(const char* path, talus_error* error);
/// Make a folder; one that is there already is fine.
talus_status files_make_folder(const char* path, talus_error* error);
/// Make sure that a file that is there can have this many bytes. HDF5 does not recover from a full
/// disk; what it gets after this call is there.
talus_status files_reserve(const char* path, int64_t bytes, talus_error* error);
/// Bytes of a file, -1 if there is none.
int64_t files_size(const char* path);

/// A growing text that remembers a failed allocation in `failed`.
typedef struct text_buffer {
    char* data;
    size_t size;
    int64_t capacity;
    bool failed;
} text_buffer;

void text_add(text_buffer* t, const char* format, ...) TALUS_PRINTF(2, 3);
/// The letters and digits of `word`, `_` for every other byte.
void text_add_word(text_buffer* t, const char* word);
/// Room for `size` more bytes at t->data + t->size, NULL when memory is short.
char* text_room(text_buffer* t, size_t size);
/// Append plain bytes; false when memory is short.
bool text_append(text_buffer* t, const void* data, size_t size);
/// Append bytes in base64, padded with `=` to a multiple of four letters.
void text_add_base64(text_buffer* t, const void* data, size_t size);
void text_free(text_buffer* t);

#endif

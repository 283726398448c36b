/// Files that appear whole or not at all.
///
/// rename(2) replaces a name atomically, and fsync(2) on the file before it and on the folder after
/// it make the replacement survive a power cut. Every failure carries errno's text and the path.
#include "record/files.h"

#include "base/array.h"
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char* files_text(const char* format, ...)
{
    char* out = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&out, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : out;
}

talus_status files_error(talus_error* error, const char* what, const char* path)
{
    return error_set(error, TALUS_ERR_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

static bool write_all(int file, const void* data, size_t size)
{
    const char* at = data;
    while (size > 0) {
        ssize_t written = write(file, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

talus_status files_write(const char* path, const void* head, size_t head_size, const void* body,
                         size_t body_size, bool sync, talus_error* error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return files_error(error, "create", path);
    bool good = write_all(file, head, head_size) && write_all(file, body, body_size) &&
                (!sync || fsync(file) == 0);
    int reason = errno;
    // Some network file systems report a full disk only here.
    if (close(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good) return TALUS_OK;
    unlink(path);
    errno = reason;
    return files_error(error, "write", path);
}

talus_status files_replace(const char* path, const void* body, size_t size, bool sync,
                           talus_error* error)
{
    char* temporary = files_text("%s.tmp", path);
    if (!temporary) return error_memory(error, "a file name");
    talus_status status = files_write(temporary, NULL, 0, body, size, sync, error);
    if (status == TALUS_OK) {
        status = files_rename(temporary, path, error);
        if (status != TALUS_OK) unlink(temporary);
    }
    free(temporary);
    return status;
}

static bool read_all(int file, unsigned char* data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(file, data + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO; // the file became shorter while it was read
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

talus_status files_open(const char* path, FILE** out, talus_error* error)
{
    *out = NULL;
    struct stat facts;
    // Whoever opens a pipe waits for somebody to write into it, unless asked not to.
    const int handle = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (handle < 0 || fstat(handle, &facts) != 0) {
        error_set(error, TALUS_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    } else if (S_ISDIR(facts.st_mode)) {
        error_set(error, TALUS_ERR_IO, "%s is a folder; a file is needed", path);
    } else if (!S_ISREG(facts.st_mode)) {
        error_set(error, TALUS_ERR_IO, "%s is a pipe or a device; a file is needed", path);
    } else if (!(*out = fdopen(handle, "r"))) {
        error_set(error, TALUS_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    }
    if (!*out && handle >= 0) close(handle);
    return *out ? TALUS_OK : TALUS_ERR_IO;
}

talus_status files_check(const char* path, talus_error* error)
{
    FILE* file;
    TRY(files_open(path, &file, error));
    fclose(file);
    return TALUS_OK;
}

talus_status files_read(const char* path, unsigned char** data, size_t* size, talus_error* error)
{
    *data = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not make us wait
    if (file < 0) return files_error(error, "open", path);
    struct stat facts;
    talus_status status = TALUS_OK;
    if (fstat(file, &facts) != 0) {
        status = files_error(error, "read", path);
    } else if (!S_ISREG(facts.st_mode)) {
        status = error_set(error, TALUS_ERR_IO, "cannot read %s: it is no regular file", path);
    } else {
        *size = (size_t)facts.st_size;
        *data = malloc(*size + 1);
        if (!*data) {
            status = error_memory(error, path);
        } else if (!read_all(file, *data, *size)) {
            status = files_error(error, "read", path);
        }
    }
    close(file);
    if (status != TALUS_OK) {
        free(*data);
        *data = NULL;
    }
    return status;
}

talus_status files_rename(const char* from, const char* to, talus_error* error)
{
    return rename(from, to) == 0 ? TALUS_OK : files_error(error, "replace", to);
}

talus_status files_sync(const char* path, talus_error* error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return files_error(error, "open", path);
    const talus_status status = fsync(file) == 0 ? TALUS_OK : files_error(error, "sync", path);
    close(file);
    return status;
}

talus_status files_sync_folder(const char* path, talus_error* error)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return files_error(error, "open", path);
    // Some file systems cannot sync a folder and say EINVAL; there is nothing more to be done then.
    bool good = fsync(folder) == 0 || errno == EINVAL;
    int reason = errno;
    close(folder);
    errno = reason;
    return good ? TALUS_OK : files_error(error, "sync", path);
}

talus_status files_make_folder(const char* path, talus_error* error)
{
    if (mkdir(path, 0777) == 0) return TALUS_OK;
    int reason = errno;
    struct stat facts;
    if (reason == EEXIST && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) return TALUS_OK;
    errno = reason;
    return files_error(error, "make the folder", path);
}

talus_status files_reserve(const char* path, int64_t bytes, talus_error* error)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return files_error(error, "open", path);
    int reason = posix_fallocate(file, 0, (off_t)bytes);
    close(file);
    if (reason == 0) return TALUS_OK;
    errno = reason;
    return files_error(error, "reserve space for", path);
}

int64_t files_size(const char* path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

char* text_room(text_buffer* t, size_t size)
{
    if (t->failed) return NULL;
    const size_t needed = t->size + size;
    t->failed = !arrays_grow(&t->capacity, (int64_t)needed, ARRAY(t->data));
    return t->failed ? NULL : t->data + t->size;
}

void text_add(text_buffer* t, const char* format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char* room = length < 0 ? NULL : text_room(t, (size_t)length + 1);
    if (room) {
        vsnprintf(room, (size_t)length + 1, format, again);
        t->size += (size_t)length;
    }
    va_end(again);
}

void text_add_word(text_buffer* t, const char* word)
{
    for (; *word; word++) text_add(t, "%c", isalnum((unsigned char)*word) ? *word : '_');
}

bool text_append(text_buffer* t, const void* data, size_t size)
{
    char* room = size > 0 ? text_room(t, size) : NULL;
    if (room) {
        memcpy(room, data, size);
        t->size += size;
    }
    return !t->failed;
}

void text_add_base64(text_buffer* t, const void* data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char* bytes = data;
    char* room = size > 0 ? text_room(t, (size + 2) / 3 * 4) : NULL;
    if (!room) return;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned bits = (unsigned)bytes[i] << 16 |
                              (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0u) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0u);
        *room++ = digits[bits >> 18];
        *room++ = digits[bits >> 12 & 63];
        *room++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *room++ = left > 2 ? digits[bits & 63] : '=';
    }
    t->size += (size + 2) / 3 * 4;
}

void text_free(text_buffer* t)
{
    free(t->data);
    *t = (text_buffer){0};
}

/// Reading other programs' text files: lines, words, numbers, and messages with file:line.
#include "scene/import.h"

#include "base/array.h"
#include "record/files.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

talus_status import_open(import_file* f, const char* path, talus_error* error)
{
    *f = (import_file){.path = path, .error = error};
    return files_open(path, &f->file, error);
}

void import_close(import_file* f)
{
    if (f->file) fclose(f->file);
    free(f->line);
    *f = (import_file){0};
}

/// getline() that gives up when a line gets too long to be one: -1 at the end of the file or after
/// an error, IMPORT_LONGEST + 1 then.
static ssize_t read_line(import_file* f)
{
    size_t length = 0;
    for (int byte; (byte = getc_unlocked(f->file)) != EOF;) {
        if (!arrays_grow(&f->capacity, (int64_t)length + 2, ARRAY(f->line))) {
            errno = ENOMEM;
            return -1;
        }
        f->line[length++] = (char)byte;
        f->line[length] = '\0';
        if (byte == '\n' || length > IMPORT_LONGEST) break;
    }
    return length > 0 && !ferror(f->file) ? (ssize_t)length : -1;
}

int import_line(import_file* f)
{
    if (f->again) {
        f->again = false;
        return 1;
    }
    errno = 0;
    ssize_t length = read_line(f);
    if (length < 0) {
        if (!ferror(f->file) && errno != ENOMEM) return 0;
        return error_set(f->error, TALUS_ERR_IO, "%s: cannot be read: %s", f->path,
                         strerror(errno));
    }
    f->number++;
    if (length > IMPORT_LONGEST) {
        return import_error(f, "this is not a text file: the line is longer than %d bytes",
                            IMPORT_LONGEST);
    }
    if (strlen(f->line) != (size_t)length) {
        return import_error(f, "this is not a text file: the line has a zero byte");
    }
    while (length > 0 && strchr("\r\n", f->line[length - 1])) f->line[--length] = '\0';
    return 1;
}

talus_status import_error(const import_file* f, const char* format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(f->error, TALUS_ERR_FORMAT, "%s:%lld: %s", f->path, (long long)f->number,
                     text);
}

/// A word in double quotes, within which two of them stand for one; NULL if it is none.
static char* quoted_word(char* start, char** rest, char separator)
{
    if (start[0] != '"') return NULL;
    char *end = start + 1, *to = start;
    while (*end && (*end != '"' || end[1] == '"')) end += *end == '"' ? 2 : 1;
    if (!*end) return NULL;
    char* behind = end + 1 + strspn(end + 1, " \t");
    const bool ends = separator == ' ' ? behind > end + 1 : *behind == separator;
    if (*behind && !ends) return NULL;
    *rest = *behind ? behind + (separator == ' ' ? 0 : 1) : NULL;
    for (const char* from = start + 1; from < end; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    *to = '\0';
    return start;
}

char* import_word(char** rest, char separator)
{
    if (!*rest) return NULL;
    const char ends[2] = {separator, '\0'};
    char* start = *rest + strspn(*rest, " \t");
    if (separator == ' ' && !*start) return NULL;
    char* quoted = quoted_word(start, rest, separator);
    if (quoted) return quoted;
    const size_t length = strcspn(start, separator == ' ' ? " \t" : ends);
    *rest = start[length] ? start + length + 1 : NULL;
    start[length] = '\0';
    for (size_t end = length; end > 0 && strchr(" \t", start[end - 1]); end--)
        start[end - 1] = '\0';
    return start;
}

bool import_number(const char* text, double* out)
{
    char copy[64];
    const size_t length = strlen(text);
    if (length == 0 || length >= sizeof copy) return false;
    for (size_t i = 0; i <= length; i++) {
        copy[i] = text[i] == 'D' || text[i] == 'd' ? 'e' : text[i];
    }
    char* end;
    *out = strtod(copy, &end);
    return end != copy && *end == '\0' && isfinite(*out);
}

bool import_integer(const char* text, int64_t* out)
{
    char* end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno) return false;
    *out = value;
    return true;
}

/// Reading other programs' text files: lines, words, numbers, and messages with file:line.
#include "scene/import.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

talus_status import_open(import_file* f, const char* path, talus_error* error)
{
    *f = (import_file){.path = path, .error = error};
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        return error_set(error, TALUS_ERR_IO, "%s is a folder; a file is needed", path);
    }
    f->file = fopen(path, "re");
    if (f->file) return TALUS_OK;
    return error_set(error, TALUS_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
}

void import_close(import_file* f)
{
    if (f->file) fclose(f->file);
    free(f->line);
    *f = (import_file){0};
}

int import_line(import_file* f)
{
    if (f->again) {
        f->again = false;
        return 1;
    }
    errno = 0;
    ssize_t length = getline(&f->line, &f->size, f->file);
    if (length < 0) {
        if (!ferror(f->file) && errno != ENOMEM) return 0;
        return error_set(f->error, TALUS_ERR_IO, "%s: cannot be read: %s", f->path,
                         strerror(errno));
    }
    f->number++;
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

char* import_word(char** rest, char separator)
{
    if (!*rest) return NULL;
    const char ends[2] = {separator, '\0'};
    char* start = *rest + strspn(*rest, " \t");
    if (separator == ' ' && !*start) return NULL;
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

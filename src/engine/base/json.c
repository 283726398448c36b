/// A small JSON writer (RFC 8259): two spaces a level, one member a line.
#include "base/json.h"

#include "base/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_quote(FILE* file, const char* text)
{
    fputc('"', file);
    for (const char* s = text; *s;) {
        const size_t length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", file);
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\') {
            fprintf(file, "\\%c", *s);
        } else if (*s == '\n') {
            fputs("\\n", file);
        } else if ((unsigned char)*s < 0x20) {
            fprintf(file, "\\u%04x", (unsigned char)*s);
        } else {
            fwrite(s, 1, length, file);
        }
        s += length;
    }
    fputc('"', file);
}

static void put_number(FILE* file, double value)
{
    // 17 digits give the same double back.
    if (isfinite(value)) {
        fprintf(file, "%.17g", value);
    } else {
        fputs("null", file);
    }
}

/// Comma, newline, indent, and the key: all that stands before a value.
static void put_key(json* j, const char* key)
{
    if (!j->fresh) fputc(',', j->file);
    fprintf(j->file, "\n%*s", 2 * j->depth, "");
    if (key) {
        json_quote(j->file, key);
        fputs(": ", j->file);
    }
    j->fresh = false;
}

static void open_level(json* j, char bracket)
{
    fputc(bracket, j->file);
    j->depth++;
    j->fresh = true;
}

static void close_level(json* j, char bracket)
{
    j->depth--;
    if (!j->fresh) fprintf(j->file, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->file);
    j->fresh = false;
}

json json_begin(FILE* file)
{
    json j = {.file = file};
    open_level(&j, '{');
    return j;
}

json json_begin_array(FILE* file)
{
    json j = {.file = file};
    open_level(&j, '[');
    return j;
}

void json_end_array(json* j)
{
    close_level(j, ']');
    fputc('\n', j->file);
}

void json_end(json* j)
{
    close_level(j, '}');
    fputc('\n', j->file);
}

void json_object(json* j, const char* key)
{
    put_key(j, key);
    open_level(j, '{');
}

void json_object_end(json* j)
{
    close_level(j, '}');
}

void json_array(json* j, const char* key)
{
    put_key(j, key);
    open_level(j, '[');
}

void json_array_end(json* j)
{
    close_level(j, ']');
}

void json_string(json* j, const char* key, const char* value)
{
    put_key(j, key);
    json_quote(j->file, value);
}

void json_number(json* j, const char* key, double value)
{
    put_key(j, key);
    put_number(j->file, value);
}

void json_integer(json* j, const char* key, int64_t value)
{
    put_key(j, key);
    fprintf(j->file, "%" PRId64, value);
}

void json_unsigned(json* j, const char* key, uint64_t value)
{
    put_key(j, key);
    fprintf(j->file, "%" PRIu64, value);
}

void json_bool(json* j, const char* key, bool value)
{
    put_key(j, key);
    fputs(value ? "true" : "false", j->file);
}

void json_raw(json* j, const char* key, const char* value)
{
    put_key(j, key);
    fputs(value, j->file);
}

void json_numbers(json* j, const char* key, int64_t count, const double* value)
{
    put_key(j, key);
    fputc('[', j->file);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) fputs(", ", j->file);
        put_number(j->file, value[i]);
    }
    fputc(']', j->file);
}

void json_integers(json* j, const char* key, int64_t count, const int64_t* value)
{
    put_key(j, key);
    fputc('[', j->file);
    for (int64_t i = 0; i < count; i++) {
        fprintf(j->file, "%s%" PRId64, i > 0 ? ", " : "", value[i]);
    }
    fputc(']', j->file);
}

void json_vector(json* j, const char* key, const double value[3])
{
    json_numbers(j, key, 3, value);
}

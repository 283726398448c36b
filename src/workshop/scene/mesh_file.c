/// Reading triangles from STL files, binary or text, and from OBJ files.
///
/// The contents decide, not the name: a file whose length is 84 + 50 n, with n the 32-bit number at
/// byte 80, is a binary STL even if it begins with "solid"; a text that begins with "solid" is a
/// text STL; other text is OBJ, of which v, f, o and g are read and all else is ignored. Polygons
/// are cut into a fan of triangles. Each solid, object or group that has triangles gets a number.
#include "scene/mesh_file.h"

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "record/files.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { STL_HEAD = 84, STL_TRIANGLE = 50 };

/// More would not fit into 32-bit indices of corners.
static const int64_t most_triangles = INT32_MAX / 3;
/// Coordinates beyond this overflow in products of three.
static const double largest_coordinate = 1e100;

/// A file in memory and where the reader is.
typedef struct mesh_reader {
    const char* path;
    char* text; ///< [size + 1], ends with a zero
    int64_t size;
    char* next;   ///< line to be read next
    int64_t line; ///< number of the line last read
    triangles t;
    int64_t vertex_capacity, triangle_capacity;
    talus_error* error;
} mesh_reader;

static talus_status bad_line(const mesh_reader* r, const char* what, const char* word)
{
    return error_set(r->error, TALUS_ERR_FORMAT, "%s:%lld: %s%.60s", r->path, (long long)r->line,
                     what, word);
}

static talus_status add_vertex(mesh_reader* r, const double x[3])
{
    if (r->t.vertex_count >= INT32_MAX)
        return error_set(r->error, TALUS_ERR_FORMAT, "%s: too many corners", r->path);
    if (!arrays_grow(&r->vertex_capacity, r->t.vertex_count + 1, ROWS(r->t.vertex, 3)))
        return error_memory(r->error, "reading a mesh");
    vec_copy(3, r->t.vertex + 3 * r->t.vertex_count++, x);
    return TALUS_OK;
}

static talus_status add_triangle(mesh_reader* r, int32_t a, int32_t b, int32_t c)
{
    const int64_t count = r->t.triangle_count;
    if (count >= most_triangles)
        return error_set(r->error, TALUS_ERR_FORMAT, "%s: too many triangles", r->path);
    if (!arrays_grow(&r->triangle_capacity, count + 1, ROWS(r->t.triangle, 3), ARRAY(r->t.group)))
        return error_memory(r->error, "reading a mesh");
    int32_t* t = r->t.triangle + 3 * count;
    t[0] = a, t[1] = b, t[2] = c;
    r->t.group[count] = r->t.group_count - 1;
    r->t.triangle_count++;
    return TALUS_OK;
}

/// Triangles that follow belong to a new group, unless the last one is still empty.
static void begin_group(mesh_reader* r)
{
    int64_t count = r->t.triangle_count;
    if (count > 0 && r->t.group[count - 1] == r->t.group_count - 1) r->t.group_count++;
}

static bool good_coordinates(const double x[3])
{
    for (int k = 0; k < 3; k++)
        if (!(fabs(x[k]) <= largest_coordinate)) return false; // false for NaN too
    return true;
}

// ---- Binary STL --------------------------------------------------------------------------------

static uint32_t little_endian(const char* bytes)
{
    const unsigned char* b = (const unsigned char*)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static talus_status read_binary(mesh_reader* r)
{
    int64_t count = little_endian(r->text + 80);
    for (int64_t i = 0; i < count; i++) {
        for (int corner = 0; corner < 3; corner++) {
            // 12 bytes of normal come first; it is not used, since it is often zero or wrong.
            int64_t at = STL_HEAD + STL_TRIANGLE * i + 12 + 12 * corner;
            double x[3];
            for (int k = 0; k < 3; k++) {
                uint32_t bits = little_endian(r->text + at + 4 * k);
                float value;
                memcpy(&value, &bits, sizeof value);
                x[k] = (double)value;
            }
            if (!good_coordinates(x))
                return error_set(r->error, TALUS_ERR_FORMAT,
                                 "%s: byte %lld: corner %d of triangle %lld is not finite", r->path,
                                 (long long)at, corner + 1, (long long)i + 1);
            TRY(add_vertex(r, x));
        }
        int32_t last = (int32_t)(r->t.vertex_count - 1);
        TRY(add_triangle(r, last - 2, last - 1, last));
    }
    return TALUS_OK;
}

// ---- Text --------------------------------------------------------------------------------------

/// The next line without its end; a backslash at its end joins the next one to it. NULL at the end.
static char* next_line(mesh_reader* r)
{
    char *start = r->next, *end = r->text + r->size;
    if (start >= end) return NULL;
    char* c = start;
    for (;; c++) {
        if (c == end) break;
        if (*c != '\n') continue;
        r->line++;
        char* last = c > start && c[-1] == '\r' ? c - 2 : c - 1;
        if (last < start || *last != '\\') break;
        for (char* blank = last; blank <= c; blank++) *blank = ' ';
    }
    if (c == end) r->line++;
    r->next = c == end ? end : c + 1;
    *c = '\0';
    return start;
}

/// The next word of a line, ended by a zero; *at moves behind it. NULL if there is none.
static char* next_word(char** at)
{
    char* start = *at;
    while (isspace((unsigned char)*start)) start++;
    if (!*start) return NULL;
    char* end = start;
    while (*end && !isspace((unsigned char)*end)) end++;
    *at = *end ? end + 1 : end;
    *end = '\0';
    return start;
}

/// Three numbers from the rest of a line.
static talus_status read_coordinates(mesh_reader* r, char* at)
{
    double x[3];
    for (int k = 0; k < 3; k++) {
        char *word = next_word(&at), *end;
        if (!word) return bad_line(r, "a corner needs three coordinates", "");
        x[k] = strtod(word, &end);
        if (*end || end == word) return bad_line(r, "not a number: ", word);
    }
    if (!good_coordinates(x)) return bad_line(r, "a coordinate is not finite or too large", "");
    return add_vertex(r, x);
}

/// One line of a text STL. *corners counts those of the current facet, -1 outside of one.
static talus_status stl_line(mesh_reader* r, char* word, char* at, int* corners)
{
    if (strcasecmp(word, "vertex") == 0) {
        if (*corners < 0) return bad_line(r, "a vertex outside of a facet", "");
        if (++*corners > 3) return bad_line(r, "a facet has more than three corners", "");
        return read_coordinates(r, at);
    }
    if (strcasecmp(word, "facet") == 0) {
        if (*corners >= 0) return bad_line(r, "a facet begins within a facet", "");
        *corners = 0;
        return TALUS_OK;
    }
    if (strcasecmp(word, "endfacet") == 0) {
        if (*corners != 3) return bad_line(r, "a facet ends without three corners", "");
        *corners = -1;
        int32_t last = (int32_t)(r->t.vertex_count - 1);
        return add_triangle(r, last - 2, last - 1, last);
    }
    if (strcasecmp(word, "solid") == 0)
        begin_group(r);
    else if (strcasecmp(word, "outer") != 0 && strcasecmp(word, "endloop") != 0 &&
             strcasecmp(word, "endsolid") != 0)
        return bad_line(r, "not known in a text STL: ", word);
    return TALUS_OK;
}

static talus_status read_text_stl(mesh_reader* r)
{
    int corners = -1;
    char* line;
    while ((line = next_line(r))) {
        char* word = next_word(&line);
        if (word) TRY(stl_line(r, word, line, &corners));
    }
    if (corners >= 0) return bad_line(r, "the file ends within a facet", "");
    return TALUS_OK;
}

/// Corner of a face: "7", "7/1", "7//3" or "7/1/3"; negative ones count back from the last.
static talus_status obj_index(mesh_reader* r, const char* word, int32_t* index)
{
    char* end;
    errno = 0;
    long long number = strtoll(word, &end, 10);
    if (end == word || (*end && *end != '/') || errno) return bad_line(r, "not a corner: ", word);
    if (number < 0) number += r->t.vertex_count + 1;
    if (number < 1 || number > r->t.vertex_count)
        return bad_line(r, "the file has no such corner up to here: ", word);
    *index = (int32_t)(number - 1);
    return TALUS_OK;
}

static talus_status obj_face(mesh_reader* r, char* at)
{
    int32_t first = 0, before = 0, index = 0;
    int count = 0;
    char* word;
    while ((word = next_word(&at))) {
        if (word[0] == '#') break;
        TRY(obj_index(r, word, &index));
        if (count == 0) first = index;
        if (count >= 2) TRY(add_triangle(r, first, before, index));
        before = index;
        count++;
    }
    return count < 3 ? bad_line(r, "a face needs three corners", "") : TALUS_OK;
}

static talus_status read_obj(mesh_reader* r)
{
    char* line;
    while ((line = next_line(r))) {
        char* word = next_word(&line);
        if (!word) continue;
        if (strcmp(word, "v") == 0) TRY(read_coordinates(r, line));
        if (strcmp(word, "f") == 0) TRY(obj_face(r, line));
        if (strcmp(word, "o") == 0 || strcmp(word, "g") == 0) begin_group(r);
    }
    return TALUS_OK;
}

// ---- The file ----------------------------------------------------------------------------------

static talus_status load(mesh_reader* r)
{
    FILE* file;
    TRY(files_open(r->path, &file, r->error));
    int64_t capacity = 0;
    bool memory = true;
    size_t got = 1;
    while (memory && got > 0) {
        memory = arrays_grow(&capacity, r->size + (1 << 16) + 1, ARRAY(r->text));
        if (!memory) break;
        got = fread(r->text + r->size, 1, (size_t)(capacity - r->size - 1), file);
        r->size += (int64_t)got;
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    if (!memory) return error_memory(r->error, "reading a mesh");
    if (failed) return error_set(r->error, TALUS_ERR_IO, "%s: cannot be read", r->path);
    r->text[r->size] = '\0';
    r->next = r->text;
    return TALUS_OK;
}

static bool begins_with_solid(const mesh_reader* r)
{
    int64_t at = 0;
    while (at < r->size && isspace((unsigned char)r->text[at])) at++;
    return r->size - at >= 5 && strncasecmp(r->text + at, "solid", 5) == 0;
}

/// Parse by what the contents look like.
static talus_status parse(mesh_reader* r)
{
    int64_t promised = -1;
    if (r->size >= STL_HEAD)
        promised = STL_HEAD + STL_TRIANGLE * (int64_t)little_endian(r->text + 80);
    if (r->size == promised) return read_binary(r);
    if (memchr(r->text, '\0', (size_t)r->size)) {
        if (promised < 0)
            return error_set(r->error, TALUS_ERR_FORMAT, "%s: neither an STL nor an OBJ file",
                             r->path);
        return error_set(r->error, TALUS_ERR_FORMAT,
                         "%s: byte 80: as a binary STL of %lld triangles it would have %lld bytes, "
                         "but it has %lld",
                         r->path, (long long)((promised - STL_HEAD) / STL_TRIANGLE),
                         (long long)promised, (long long)r->size);
    }
    return begins_with_solid(r) ? read_text_stl(r) : read_obj(r);
}

talus_status triangles_read(const char* path, triangles* out, talus_error* error)
{
    *out = (triangles){0};
    mesh_reader r = {.path = path, .error = error, .t = {.group_count = 1}};
    talus_status status = load(&r);
    if (status == TALUS_OK) status = parse(&r);
    if (status == TALUS_OK && r.t.triangle_count == 0)
        status = error_set(error, TALUS_ERR_FORMAT,
                           "%s: no triangles found; it should be an STL or OBJ file", path);
    // A group that was begun at the very end has no triangles.
    if (status == TALUS_OK) r.t.group_count = r.t.group[r.t.triangle_count - 1] + 1;
    if (status == TALUS_OK) status = triangles_weld(&r.t, error);
    free(r.text);
    if (status == TALUS_OK)
        *out = r.t;
    else
        triangles_free(&r.t);
    return status;
}

/// talus view: what the page asks for, as JSON, CSV and plain arrays.
///
/// Only what is asked for is read: one field of one frame is one dataset. Arrays go out as they are
/// in memory, [rows][width], little-endian.
#include "view.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "record/files.h"
#include "record/series_row.h"
#include "record/shapes_h5.h"
#include "record/surface.h"
#include "run/directory.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are sent as they are in memory");

const char* view_type_name(column_type type)
{
    switch (type) {
    case COLUMN_F64: return "f64";
    case COLUMN_I64: return "i64";
    case COLUMN_I32: return "i32";
    case COLUMN_U8: return "u8";
    }
    return "u8";
}

// ---- api/run.json ------------------------------------------------------------------------------

static void write_frame(json* j, const frame_data* f)
{
    json_object(j, NULL);
    json_number(j, "time", f->time);
    json_integer(j, "step", f->step);
    json_integer(j, "grains", f->grains.count);
    json_integer(j, "contacts", f->contacts.count);
    json_integer(j, "walls", f->walls.count);
    json_array(j, "periodic");
    for (int k = 0; k < 3; k++) json_bool(j, NULL, f->periodic[k] != 0);
    json_array_end(j);
    json_vector(j, "cell_low", f->cell_low);
    json_vector(j, "cell_high", f->cell_high);
    json_object_end(j);
}

static void write_fields(json* j, const char* name, const frame_table* t, bool exported)
{
    json_array(j, name);
    for (int i = 0; i < t->field_count; i++) {
        const frame_field* f = &t->field[i];
        const bool shorter = exported && f->type == COLUMN_F64;
        json_object(j, NULL);
        json_string(j, "name", f->name);
        json_string(j, "type", shorter ? "f32" : view_type_name(f->type));
        json_integer(j, "width", f->width);
        json_string(j, "unit", f->unit);
        json_string(j, "description", f->doc);
        json_object_end(j);
    }
    json_array_end(j);
}

/// The units of the columns of series.csv, by their names; without a series none.
static void write_series_units(json* j, const view_run* v)
{
    char* path = NULL;
    char* line = NULL;
    size_t room = 0;
    FILE* file = NULL;
    if (view_run_path(v, "series.csv", &path, NULL) == TALUS_OK) files_open(path, &file, NULL);
    json_object(j, "series_units");
    if (file && getline(&line, &room, file) > 0) {
        char* rest = NULL;
        for (char* name = strtok_r(line, ",\n", &rest); name; name = strtok_r(NULL, ",\n", &rest)) {
            json_string(j, name, v->reader.reduced_units ? "" : series_unit(name));
        }
    }
    json_object_end(j);
    if (file) fclose(file);
    free(line);
    free(path);
}

int64_t view_run_mark(const view_run* v, int64_t count)
{
    uint64_t hash = HASH_START;
    for (int64_t i = 0; i < count && i < v->head_count; i++) {
        hash = hash_bytes(hash, &v->head[i].time, sizeof v->head[i].time);
        hash = hash_bytes(hash, &v->head[i].step, sizeof v->head[i].step);
    }
    return (int64_t)(hash >> 11);
}

talus_status view_write_run(const view_run* v, const frame_range* range, bool exported, FILE* out,
                            talus_error* error)
{
    if (range->last >= v->head_count) {
        return error_set(error, TALUS_ERR_ARGUMENT, "there are only %lld frames in %s",
                         (long long)v->head_count, v->directory);
    }
    json j = json_begin(out);
    json_string(&j, "title", v->title);
    json_string(&j, "version", talus_version());
    json_integer(&j, "dim", v->reader.dim);
    json_bool(&j, "reduced_units", v->reader.reduced_units);
    json_bool(&j, "running", !exported && directory_is_locked(v->directory));
    json_integer(&j, "identity", view_run_identity(v));
    json_integer(&j, "generation", view_run_generation(v));
    json_integer(&j, "mark", view_run_mark(v, v->head_count));
    json_integer(&j, "first", exported ? 0 : range->first);
    json_array(&j, "frames");
    for (int64_t i = range->first; i <= range->last; i += range->stride) {
        write_frame(&j, &v->head[i]);
    }
    json_array_end(&j);
    json_object(&j, "fields");
    write_fields(&j, "grains", &v->newest.grains, exported);
    write_fields(&j, "contacts", &v->newest.contacts, exported);
    write_fields(&j, "walls", &v->newest.walls, exported);
    json_object_end(&j);
    json_array(&j, "wall_names");
    for (int64_t i = 0; i < v->newest.walls.count; i++) {
        json_string(&j, NULL, v->newest.wall_name[i]);
    }
    json_array_end(&j);
    write_series_units(&j, v);
    json_bool(&j, "export", exported);
    json_end(&j);
    return TALUS_OK;
}

// ---- api/shapes.json ---------------------------------------------------------------------------

static void write_part(json* j, const shapes* s, int32_t p)
{
    const int32_t base = s->vertex_first[p];
    json_object(j, NULL);
    json_array(j, "vertex");
    for (int32_t v = base; v < s->vertex_first[p + 1]; v++) {
        json_numbers(j, NULL, s->dim, s->vertex + (int64_t)v * s->dim);
    }
    json_array_end(j);
    json_array(j, "faces");
    for (int32_t f = s->face_first[p]; f < s->face_first[p + 1]; f++) {
        json_array(j, NULL);
        for (int32_t c = s->loop_first[f]; c < s->loop_first[f + 1]; c++) {
            json_integer(j, NULL, s->loop[c] - base);
        }
        json_array_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

talus_status view_write_shapes(const view_run* v, FILE* out, talus_error* error)
{
    shapes s;
    talus_status status = shapes_read(v->reader.file, v->reader.path, v->reader.dim, &s, error);
    if (status != TALUS_OK) {
        shapes_free(&s);
        return status;
    }
    json j = json_begin_array(out);
    for (int i = 0; i < s.solid_count; i++) {
        json_object(&j, NULL);
        json_string(&j, "name", s.name[i]);
        json_number(&j, "radius", s.radius[i]);
        json_array(&j, "parts");
        for (int32_t p = s.part_first[i]; p < s.part_first[i + 1]; p++) write_part(&j, &s, p);
        json_array_end(&j);
        json_object_end(&j);
    }
    json_end_array(&j);
    shapes_free(&s);
    return TALUS_OK;
}

// ---- api/frame/N/surface.json ------------------------------------------------------------------

static void write_surface(const surface* s, FILE* out)
{
    const int64_t* corner = (const int64_t*)(const void*)s->corner.data;
    const int64_t* end = (const int64_t*)(const void*)s->end.data;
    json j = json_begin(out);
    json_integer(&j, "lines", s->lines);
    json_numbers(&j, "points", 3 * s->points, (const double*)(const void*)s->point.data);
    json_array(&j, "cells");
    for (int64_t i = 0, begin = 0; i < s->cells; begin = end[i++]) {
        json_integers(&j, NULL, end[i] - begin, corner + begin);
    }
    json_array_end(&j);
    json_integers(&j, "owner", s->cells, (const int64_t*)(const void*)s->owner.data);
    json_end(&j);
}

/// What surface_walls() needs of a frame.
static talus_status read_for_surface(const view_run* v, int64_t frame, frame_data* d,
                                     talus_error* error)
{
    static const char* const needed[][2] = {{"grains", "position"},
                                            {"grains", "radius"},
                                            {"walls", "position"},
                                            {"walls", "rotation"},
                                            {"walls", "present"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        TRY(frame_read_field(&v->reader, frame, needed[i][0], needed[i][1], d, error));
    }
    return TALUS_OK;
}

static talus_status no_such_frame(const view_run* v, int64_t frame, talus_error* error)
{
    return error_set(error, TALUS_ERR_ARGUMENT, "there is no frame %lld, only %lld so far",
                     (long long)frame, (long long)v->head_count);
}

talus_status view_write_surface(const view_run* v, int64_t frame, FILE* out, talus_error* error)
{
    if (frame < 0 || frame >= v->head_count) return no_such_frame(v, frame, error);
    surface s = {0};
    shapes all;
    frame_data d = v->head[frame];
    talus_status status = shapes_read(v->reader.file, v->reader.path, v->reader.dim, &all, error);
    if (status == TALUS_OK) status = read_for_surface(v, frame, &d, error);
    if (status == TALUS_OK) status = surface_walls(&s, &all, &d, error);
    if (status == TALUS_OK) write_surface(&s, out);
    surface_free(&s);
    frame_data_free(&d);
    shapes_free(&all);
    return status;
}

// ---- arrays and series -------------------------------------------------------------------------

talus_status view_read_field(const view_run* v, int64_t frame, const char* table, const char* name,
                             frame_field* out, talus_error* error)
{
    if (frame < 0 || frame >= v->head_count) return no_such_frame(v, frame, error);
    frame_data d = v->head[frame];
    talus_status status = frame_read_field(&v->reader, frame, table, name, &d, error);
    if (status != TALUS_OK) {
        frame_data_free(&d);
        return status;
    }
    frame_table* t = frame_table_of(&d, table);
    *out = t->field[0];
    free(t->field);
    return TALUS_OK;
}

talus_status view_read_series(const view_run* v, char** data, size_t* size, talus_error* error)
{
    *data = NULL;
    char* path = NULL;
    TRY(view_run_path(v, "series.csv", &path, error));
    unsigned char* bytes = NULL;
    talus_status status = files_read(path, &bytes, size, error);
    free(path);
    if (status != TALUS_OK) return status;
    while (*size > 0 && bytes[*size - 1] != '\n') --*size;
    *data = (char*)bytes;
    return TALUS_OK;
}

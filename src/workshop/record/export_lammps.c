/// Frames as one LAMMPS dump (dump style custom), which OVITO opens as a trajectory of particles.
///
/// Fields that LAMMPS knows get its names (x y z, vx vy vz, omegax, quatw, ...), so that OVITO maps
/// them by itself; all others are written under their own. Plane vectors get a third component 0.
/// Numbers have 10 digits: half of the time of a run's export goes into digits.
///
/// In a run with solids the type is the shape, as OVITO gives shapes to types; the shapes go to OBJ
/// files beside the dump, and plane orientations are written as quaternions, too.
#include "base/error.h"
#include "record/export.h"
#include "record/files.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 32, FLUSH_BYTES = 4 << 20, LEADING = 6 };

/// LAMMPS' names of a field's components, by width.
typedef struct known_field {
    const char* name;
    int width;
    const char* columns;
} known_field;

static const known_field known[] = {
    {"position", 2, "x y z"},
    {"position", 3, "x y z"},
    {"velocity", 2, "vx vy vz"},
    {"velocity", 3, "vx vy vz"},
    {"force", 2, "fx fy fz"},
    {"force", 3, "fx fy fz"},
    {"image", 2, "ix iy iz"},
    {"image", 3, "ix iy iz"},
    {"spin", 1, "omegaz"},
    {"spin", 3, "omegax omegay omegaz"},
    {"torque", 1, "tqz"},
    {"torque", 3, "tqx tqy tqz"},
    {"rotation", 1, "angle"},
    {"rotation", 4, "quatw quati quatj quatk"},
    {"quaternion", 4, "quatw quati quatj quatk"},
};

/// Order of the first columns; the others follow by name.
static const char* const leading[LEADING] = {"id",       "type",   "position",
                                             "velocity", "radius", "mass"};

static void add_names(text_buffer* t, const frame_field* field)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (field->width == known[i].width && strcmp(field->name, known[i].name) == 0) {
            text_add(t, " %s", known[i].columns);
            return;
        }
    }
    int width = field->width == 2 ? 3 : field->width;
    for (int k = 0; k < width; k++) {
        if (width == 1) text_add(t, " %s", field->name);
        if (width > 1 && width <= 3) text_add(t, " %s_%c", field->name, 'x' + k);
        if (width > 3) text_add(t, " %s_%d", field->name, k);
    }
}

static char* add_integer(char* out, int64_t value)
{
    char digits[24];
    int count = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do digits[count++] = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0) *out++ = '-';
    while (count > 0) *out++ = digits[--count];
    return out;
}

static char* add_row(char* out, const frame_field* const* fields, int count, int64_t row)
{
    for (int f = 0; f < count; f++) {
        const frame_field* field = fields[f];
        for (int k = 0; k < field->width; k++) {
            const int64_t at = row * field->width + k;
            switch (field->type) {
            case COLUMN_F64: {
                const double value = ((const double*)field->data)[at];
                if (value == 0.0) *out++ = '0';
                if (value != 0.0) out += snprintf(out, NUMBER_BYTES, "%.10g", value);
                break;
            }
            case COLUMN_I64: out = add_integer(out, ((const int64_t*)field->data)[at]); break;
            case COLUMN_I32: out = add_integer(out, ((const int32_t*)field->data)[at]); break;
            case COLUMN_U8: out = add_integer(out, ((const uint8_t*)field->data)[at]); break;
            }
            *out++ = ' ';
        }
        if (field->width == 2) {
            *out++ = '0';
            *out++ = ' ';
        }
    }
    out[-1] = '\n';
    return out;
}

/// The periodic cell, or the extent of the grains; a plane run lies between -r and r in z.
static void add_box(text_buffer* t, const frame_data* d, const double* position,
                    const double* radius)
{
    const int dim = d->dim;
    text_add(t, "ITEM: BOX BOUNDS");
    for (int k = 0; k < 3; k++) text_add(t, k < dim && d->periodic[k] ? " pp" : " ff");
    text_add(t, "\n");
    for (int k = 0; k < 3; k++) {
        double low = DBL_MAX, high = -DBL_MAX;
        for (int64_t i = 0; i < d->grains.count; i++) {
            double r = radius[i];
            double x = k < dim ? position[i * dim + k] : 0.0;
            if (x - r < low) low = x - r;
            if (x + r > high) high = x + r;
        }
        if (d->grains.count == 0) low = 0.0, high = 1.0;
        if (k < dim && d->periodic[k]) low = d->cell_low[k], high = d->cell_high[k];
        text_add(t, "%.10g %.10g\n", low, high);
    }
}

/// Fields in the order in which they are written; returns how many. Without solids, what is said of
/// them is left out.
static int order_fields(const frame_table* t, bool with_solids, const frame_field** out)
{
    int count = 0;
    for (int l = 0; l < LEADING; l++) {
        const frame_field* field = frame_find(t, leading[l]);
        if (field) out[count++] = field;
    }
    for (int i = 0; i < t->field_count; i++) {
        const char* name = t->field[i].name;
        bool of_solids = strcmp(name, "solid") == 0 || strcmp(name, "scale") == 0;
        bool used = of_solids && !with_solids;
        for (int l = 0; l < LEADING; l++) used |= strcmp(name, leading[l]) == 0;
        if (!used) out[count++] = &t->field[i];
    }
    return count;
}

/// A field of integers becomes LAMMPS' type, its number 0 the type `zero`.
static void field_to_type(frame_table* t, const char* name, int32_t zero)
{
    for (int i = 0; i < t->field_count; i++) {
        frame_field* field = &t->field[i];
        if (strcmp(field->name, name) != 0 || field->type != COLUMN_I32) continue;
        snprintf(field->name, sizeof field->name, "type");
        for (int64_t row = 0; row < field->rows; row++) ((int32_t*)field->own)[row] += zero;
    }
}

/// Plane angles as quaternions w x y z, in a field of their own.
static talus_status add_quaternions(frame_table* t, talus_error* error)
{
    const frame_field* angle = frame_find(t, "rotation");
    if (!angle || angle->type != COLUMN_F64 || angle->width != 1) return TALUS_OK;
    double* q = calloc(4 * (size_t)angle->rows + 1, sizeof *q);
    for (int64_t i = 0; q && i < angle->rows; i++) {
        q[4 * i] = cos(0.5 * ((const double*)angle->data)[i]);
        q[4 * i + 3] = sin(0.5 * ((const double*)angle->data)[i]);
    }
    const frame_field added = {.name = "quaternion",
                               .type = COLUMN_F64,
                               .rows = angle->rows,
                               .width = 4,
                               .data = q,
                               .own = q};
    if (q && frame_add(t, &added)) return TALUS_OK;
    free(q);
    return error_memory(error, "the orientations of a frame");
}

static talus_status flush(FILE* file, text_buffer* t, const char* path, talus_error* error)
{
    if (t->failed) return error_memory(error, path);
    if (fwrite(t->data, 1, t->size, file) != t->size) return files_error(error, "write", path);
    t->size = 0;
    return TALUS_OK;
}

static talus_status write_frame(FILE* file, text_buffer* t, frame_data* d, bool with_solids,
                                const frame_field** fields, const char* path, talus_error* error)
{
    const double* position = frame_numbers(&d->grains, "position", COLUMN_F64, d->dim);
    const double* radius = frame_numbers(&d->grains, "radius", COLUMN_F64, 1);
    if (!position || !radius) {
        return error_set(error, TALUS_ERR_FORMAT, "a frame for %s lacks positions or radii", path);
    }
    text_add(t, "ITEM: TIME\n%.17g\nITEM: TIMESTEP\n%lld\nITEM: NUMBER OF ATOMS\n%lld\n", d->time,
             (long long)d->step, (long long)d->grains.count);
    add_box(t, d, position, radius);
    text_add(t, "ITEM: ATOMS");
    const int count = order_fields(&d->grains, with_solids, fields);
    size_t row = 1;
    for (int f = 0; f < count; f++) {
        add_names(t, fields[f]);
        row += NUMBER_BYTES * (size_t)(fields[f]->width + 1);
    }
    text_add(t, "\n");
    for (int64_t i = 0; i < d->grains.count; i++) {
        char* start = text_room(t, row);
        if (!start) return error_memory(error, path);
        t->size += (size_t)(add_row(start, fields, count, i) - start);
        if (t->size > FLUSH_BYTES) TRY(flush(file, t, path, error));
    }
    return flush(file, t, path, error);
}

talus_status export_lammps(frame_reader* reader, const shapes* all, const char* path,
                           talus_error* error)
{
    FILE* file = fopen(path, "wbe");
    if (!file) return files_error(error, "create", path);
    const bool with_solids = all->solid_count > 0;
    text_buffer t = {0};
    talus_status status = TALUS_OK;
    for (int64_t i = 0; status == TALUS_OK && i < reader->count; i++) {
        frame_data data;
        status = frame_read(reader, i, FRAME_FIELDS, &data, error);
        if (status != TALUS_OK) break;
        field_to_type(&data.grains, with_solids ? "solid" : "material",
                      with_solids ? EXPORT_FIRST_SOLID_TYPE : 1);
        if (with_solids) status = add_quaternions(&data.grains, error);
        const frame_field** fields = calloc((size_t)data.grains.field_count + 1, sizeof *fields);
        if (!fields) status = error_memory(error, path);
        if (status == TALUS_OK) {
            status = write_frame(file, &t, &data, with_solids, fields, path, error);
        }
        free(fields);
        frame_data_free(&data);
    }
    text_free(&t);
    if (fclose(file) != 0 && status == TALUS_OK) status = files_error(error, "write", path);
    return status;
}

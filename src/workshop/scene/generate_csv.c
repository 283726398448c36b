/// Grains from a text file with named columns, strictly read.
///
/// The separator is found in the line of names: semicolon if there is one, else comma, else blanks.
/// A number must fill its field; every row must have all columns. Errors begin with file:line:.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/files.h"
#include "scene/generate.h"

typedef enum field_type {
    FIELD_NUMBER,
    FIELD_POSITIVE,
    FIELD_DIAMETER,
    FIELD_NAME, ///< of a material
    FIELD_TAG,
    FIELD_SHAPE, ///< name of a shape, or ball
    FIELD_TURN,  ///< degrees about an axis
    FIELD_QUAT,  ///< part of a quaternion
    FIELD_FIXED, ///< 0 or 1
} field_type;

typedef struct field {
    const char* name;
    field_type type;
    bool flat; ///< has a meaning in 2D
    size_t offset;
} field;

enum {
    X,
    Y,
    Z,
    RADIUS,
    DIAMETER,
    MASS = 11,
    DENSITY,
    MATERIAL,
    TAG,
    SHAPE,
    SCALE,
    ANGLE,
    RX,
    RY,
    RZ,
    QW,
    QX,
    QY,
    QZ,
    FIXED,
    FIELD_COUNT
};

#define AT(member) offsetof(talus_grain_def, member)
#define ROW(member, k) (offsetof(talus_grain_def, member) + (k) * sizeof(double))
static const field FIELDS[FIELD_COUNT] = {
    [X] = {"x", FIELD_NUMBER, true, ROW(position, 0)},
    [Y] = {"y", FIELD_NUMBER, true, ROW(position, 1)},
    [Z] = {"z", FIELD_NUMBER, false, ROW(position, 2)},
    [RADIUS] = {"radius", FIELD_POSITIVE, true, AT(radius)},
    [DIAMETER] = {"diameter", FIELD_DIAMETER, true, AT(radius)},
    {"vx", FIELD_NUMBER, true, ROW(velocity, 0)},
    {"vy", FIELD_NUMBER, true, ROW(velocity, 1)},
    {"vz", FIELD_NUMBER, false, ROW(velocity, 2)},
    {"wx", FIELD_NUMBER, false, ROW(spin, 0)},
    {"wy", FIELD_NUMBER, false, ROW(spin, 1)},
    {"wz", FIELD_NUMBER, true, ROW(spin, 2)},
    [MASS] = {"mass", FIELD_POSITIVE, true, AT(mass)},
    [DENSITY] = {"density", FIELD_POSITIVE, true, AT(density)},
    [MATERIAL] = {"material", FIELD_NAME, true, AT(material)},
    [TAG] = {"tag", FIELD_TAG, true, AT(tag)},
    [SHAPE] = {"shape", FIELD_SHAPE, true, 0},
    [SCALE] = {"scale", FIELD_POSITIVE, true, AT(scale)},
    [ANGLE] = {"angle", FIELD_TURN, true, ROW(rotation, 2)},
    [RX] = {"rx", FIELD_TURN, false, ROW(rotation, 0)},
    [RY] = {"ry", FIELD_TURN, false, ROW(rotation, 1)},
    [RZ] = {"rz", FIELD_TURN, false, ROW(rotation, 2)},
    [QW] = {"qw", FIELD_QUAT, false, 0},
    [QX] = {"qx", FIELD_QUAT, false, 0},
    [QY] = {"qy", FIELD_QUAT, false, 0},
    [QZ] = {"qz", FIELD_QUAT, false, 0},
    [FIXED] = {"fixed", FIELD_FIXED, true, 0},
};

typedef struct csv {
    const char* path;
    int64_t line;
    int dim;
    char separator;           ///< ' ' for blanks
    int column_count;         ///< 0: names not read yet
    int columns[FIELD_COUNT]; ///< field of each column
    const generate_context* context;
    const csv_names* names;
    const shape_choice* choice; ///< of grains that do not say theirs
    talus_error* error;
} csv;

/// A row as it is read.
typedef struct csv_row {
    talus_grain_def grain;
    shape_choice choice;
    double quat[4];
} csv_row;

TALUS_PRINTF(2, 3) static talus_status csv_error(const csv* c, const char* format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(c->error, TALUS_ERR_FORMAT, "%s:%lld: %s", c->path, (long long)c->line, text);
}

/// Cut off a comment and the blanks around a text; returns its first character.
static char* trim(char* text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strcspn(text, "#");
    while (length > 0 && strchr(" \t\r\n", text[length - 1])) length--;
    text[length] = '\0';
    return text;
}

/// Take the next field off *rest; NULL when there is none left.
static char* next_field(const csv* c, char** rest)
{
    if (!*rest) return NULL;
    char* start = *rest;
    const char* ends = c->separator == ' ' ? " \t" : c->separator == ',' ? "," : ";";
    size_t length = strcspn(start, ends);
    *rest = start[length] ? start + length + 1 : NULL;
    start[length] = '\0';
    if (*rest && c->separator == ' ') *rest += strspn(*rest, " \t");
    return trim(start);
}

// ---- names -------------------------------------------------------------------------------------

static bool has_column(const csv* c, int which)
{
    for (int i = 0; i < c->column_count; i++) {
        if (c->columns[i] == which) return true;
    }
    return false;
}

static talus_status add_column(csv* c, const char* name)
{
    int which = 0;
    while (which < FIELD_COUNT && strcmp(FIELDS[which].name, name) != 0) which++;
    if (which == FIELD_COUNT) {
        return csv_error(
            c,
            "unknown column '%.60s'; known are x, y, z, radius, diameter, vx, vy, "
            "vz, wx, wy, wz, mass, density, material, tag, shape, scale, angle, rx, ry, "
            "rz, qw, qx, qy, qz, fixed",
            name);
    }
    if (c->dim == 2 && !FIELDS[which].flat) {
        return csv_error(c, "column '%s' has no meaning in a 2D scene", name);
    }
    if (c->dim == 3 && which == ANGLE) {
        return csv_error(c, "column 'angle' has no meaning in a 3D scene; use rx, ry, rz");
    }
    if (has_column(c, which)) return csv_error(c, "column '%s' is there twice", name);
    c->columns[c->column_count++] = which;
    return TALUS_OK;
}

/// Whether the columns together say where a grain is, and everything about it once.
static talus_status check_columns(const csv* c, bool needs_radius)
{
    for (int k = 0; k < c->dim; k++) {
        const char* name = FIELDS[X + k].name;
        if (!has_column(c, X + k)) return csv_error(c, "column '%s' is missing", name);
    }
    bool radius = has_column(c, RADIUS), diameter = has_column(c, DIAMETER);
    if (radius && diameter) return csv_error(c, "give column 'radius' or 'diameter', not both");
    if (!radius && !diameter && needs_radius && !has_column(c, SHAPE)) {
        return csv_error(c, "column 'radius' (or 'diameter') is missing");
    }
    if ((radius || diameter) && has_column(c, SCALE)) {
        return csv_error(c, "give column 'scale' or 'radius', not both");
    }
    int quats = has_column(c, QW) + has_column(c, QX) + has_column(c, QY) + has_column(c, QZ);
    bool turns = has_column(c, RX) || has_column(c, RY) || has_column(c, RZ);
    if ((quats != 0 && quats != 4) || (quats > 0 && turns)) {
        return csv_error(c, "give rx, ry, rz or all of qw, qx, qy, qz");
    }
    if (has_column(c, MASS) && has_column(c, DENSITY)) {
        return csv_error(c, "give column 'mass' or 'density', not both");
    }
    return TALUS_OK;
}

// ---- rows --------------------------------------------------------------------------------------

static talus_status read_field(const csv* c, int which, const char* text, csv_row* row)
{
    const field* f = &FIELDS[which];
    talus_grain_def* grain = &row->grain;
    char* end;
    if (f->type == FIELD_NAME) {
        for (int i = 0; i < c->names->material_count; i++) {
            if (strcmp(c->names->materials[i], text) != 0) continue;
            grain->material.index = i;
            return TALUS_OK;
        }
        return csv_error(c, "column 'material': there is no material named '%.60s'", text);
    }
    if (f->type == FIELD_TAG) {
        errno = 0;
        long long tag = strtoll(text, &end, 10);
        if (end == text || *end || errno || tag < INT32_MIN || tag > INT32_MAX) {
            return csv_error(c, "column 'tag': expected a whole number of 32 bits, found '%.60s'",
                             text);
        }
        grain->tag = (int32_t)tag;
        return TALUS_OK;
    }
    if (f->type == FIELD_SHAPE) {
        const shape_table* table = c->names->shapes;
        row->choice.table = NULL;
        if (strcmp(text, "ball") == 0) return TALUS_OK;
        for (int i = 0; table && i < table->count; i++) {
            if (strcmp(table->names[i], text) != 0) continue;
            row->choice.table = table;
            row->choice.first = table->rows[i].first;
            row->choice.count = table->rows[i].count;
            return TALUS_OK;
        }
        return csv_error(c, "column 'shape': there is no shape named '%.60s'", text);
    }
    if (f->type == FIELD_FIXED) {
        if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
            return csv_error(c, "column 'fixed': expected 0 or 1, found '%.60s'", text);
        }
        grain->fixed = text[0] == '1';
        return TALUS_OK;
    }
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value)) {
        return csv_error(c, "column '%s': expected a number, found '%.60s'", f->name, text);
    }
    if ((f->type == FIELD_POSITIVE || f->type == FIELD_DIAMETER) && value <= 0.0) {
        return csv_error(c, "column '%s': must be > 0, not %g", f->name, value);
    }
    if (f->type == FIELD_DIAMETER) value *= 0.5;
    if (f->type == FIELD_TURN) value = radians(value);
    if (f->type == FIELD_QUAT)
        row->quat[which - QW] = value;
    else
        memcpy((char*)grain + f->offset, &value, sizeof value);
    if (which == DENSITY) grain->mass = 0.0; // a mass in the base would win over it
    return TALUS_OK;
}

/// Rotation, if the file gives one, and size of a grain with a shape.
static talus_status finish_shape(const csv* c, csv_row* row, int64_t number)
{
    talus_grain_def* g = &row->grain;
    shape_choice* choice = &row->choice;
    bool turned =
        has_column(c, ANGLE) || has_column(c, RX) || has_column(c, RY) || has_column(c, RZ);
    if (has_column(c, QW)) {
        double norm = sqrt(vec_dot(4, row->quat, row->quat));
        if (!(norm > 1e-6)) return csv_error(c, "qw, qx, qy, qz are no rotation: all are zero");
        for (int k = 0; k < 4; k++) row->quat[k] /= norm;
        rotation_from_quat(row->quat, g->rotation);
    }
    if (turned || has_column(c, QW)) {
        choice->any_rotation = false;
        vec_copy(3, choice->rotation, g->rotation);
    }
    if (has_column(c, SCALE))
        choice->scale = g->scale;
    else if (has_column(c, RADIUS) || has_column(c, DIAMETER) || g->radius > 0.0)
        choice->scale = 0.0;
    if (choice->scale == 0.0 && g->radius <= 0.0) choice->scale = 1.0;
    if (!choice->table && g->radius <= 0.0) {
        return csv_error(c, "a ball needs a radius (column 'radius' or 'diameter')");
    }
    g->scale = 1.0;
    shape_choice_apply(choice, c->dim, c->context->seed, c->context->source, (uint64_t)number, g);
    return TALUS_OK;
}

static talus_status read_row(const csv* c, char* text, csv_row* row)
{
    char* rest = text;
    const int base_material = row->grain.material.index;
    for (int i = 0; i < c->column_count; i++) {
        const char* value = next_field(c, &rest);
        if (!value || !*value) {
            return csv_error(c, "column '%s': the value is missing", FIELDS[c->columns[i]].name);
        }
        TRY(read_field(c, c->columns[i], value, row));
    }
    // A material of its own brings its density, as in a list.
    if (has_column(c, MATERIAL) && !has_column(c, DENSITY) &&
        row->grain.material.index != base_material) {
        row->grain.density = c->names->densities[row->grain.material.index];
    }
    if (!rest) return TALUS_OK;
    return csv_error(c, "more values than the %d columns; too much is '%.60s'", c->column_count,
                     rest);
}

enum { BAD_ROWS_LISTED = 10 };

static talus_status read_lines(csv* c, FILE* file, char** line, const talus_grain_def* base,
                               grain_list* grains, generate_report* report)
{
    size_t size = 0;
    // Bad rows are gathered, one a line, so that a user can mend them all at once.
    int bad_rows = 0;
    char bad[sizeof c->error->text] = "";
    for (c->line = 1; getline(line, &size, file) >= 0; c->line++) {
        char* text = *line;
        if (c->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3; // byte order mark
        text = trim(text);
        if (!*text) continue;
        if (c->column_count == 0) {
            c->separator = strchr(text, ';') ? ';' : strchr(text, ',') ? ',' : ' ';
            for (char* name; (name = next_field(c, &text));) TRY(add_column(c, name));
            TRY(check_columns(c, base->radius <= 0.0 && !c->choice->table));
            continue;
        }
        csv_row row = {.grain = *base, .choice = *c->choice};
        int64_t number = report->requested++;
        if (read_row(c, text, &row) < 0 || finish_shape(c, &row, number) < 0) {
            const size_t used = strlen(bad);
            if (bad_rows++ < BAD_ROWS_LISTED) {
                snprintf(bad + used, sizeof bad - used, "%s%.180s", used > 0 ? "\n" : "",
                         c->error->text);
            }
            continue;
        }
        TRY(grain_list_add(grains, &row.grain, c->error));
        report->placed++;
    }
    if (ferror(file)) {
        return error_set(c->error, TALUS_ERR_IO, "%s: cannot be read: %s", c->path,
                         strerror(errno));
    }
    if (c->column_count == 0) {
        return csv_error(c, "the file ends before the line that names the columns");
    }
    if (bad_rows > BAD_ROWS_LISTED) {
        return error_set(c->error, TALUS_ERR_FORMAT, "%.1900s\nand %d more bad rows", bad,
                         bad_rows - BAD_ROWS_LISTED);
    }
    return bad_rows == 0 ? TALUS_OK : error_set(c->error, TALUS_ERR_FORMAT, "%s", bad);
}

talus_status generate_csv(const char* path, const generate_context* context, const csv_names* names,
                          const shape_choice* choice, const talus_grain_def* base,
                          grain_list* grains, generate_report* report, talus_error* error)
{
    *report = (generate_report){0};
    FILE* file;
    TRY(files_open(path, &file, error));
    talus_error local;
    csv c = {.path = path,
             .dim = context->dim,
             .context = context,
             .names = names,
             .choice = choice,
             .error = error ? error : &local};
    char* line = NULL;
    talus_status status = read_lines(&c, file, &line, base, grains, report);
    free(line);
    fclose(file);
    return status;
}

/// Files of other programs as scenes: which reader, and what holds for all of them.
#include "scene/import.h"

#include "base/array.h"
#include "base/definition.h"
#include "base/vec.h"
#include "base/words.h"
#include "geometry/solid.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void talus_import_default_sized(talus_import_def* def, size_t size)
{
    talus_import_def own = {.frame = -1};
    DEFINITION_GIVE(def, size, own);
}

void talus_import_free(talus_import_result* result)
{
    for (int i = 0; i < result->note_count; i++) free(result->notes[i]);
    free(result->notes);
    free(result->csv);
    *result = (talus_import_result){0};
}

// ---- the model ---------------------------------------------------------------------------------

import_grain import_grain_default(void)
{
    return (import_grain){.quat = {1.0, 0.0, 0.0, 0.0}, .shape = -1};
}

talus_status import_add_grain(import_model* m, const import_grain* grain, talus_error* error)
{
    if (!arrays_grow(&m->grain_capacity, m->grain_count + 1, ARRAY(m->grain))) {
        return error_memory(error, "the grains of a file");
    }
    m->grain[m->grain_count++] = *grain;
    return TALUS_OK;
}

int import_find_material(import_model* m, const char* name)
{
    import_material added = {.friction = -1.0};
    size_t length = 0;
    for (; name[length] && length < sizeof added.name - 1; length++) {
        const unsigned char sign = (unsigned char)name[length];
        added.name[length] = sign < 0x80 && isalnum(sign) ? name[length] : '_';
    }
    if (length == 0) added.name[0] = '_';
    for (int i = 0; i < m->material_count; i++) {
        if (strcmp(m->material[i].name, added.name) == 0) return i;
    }
    if (!arrays_grow(&m->material_capacity, m->material_count + 1, ARRAY(m->material))) return -1;
    m->material[m->material_count] = added;
    return m->material_count++;
}

talus_status import_add_shape(import_model* m, const double* points, int point_count,
                              const int* part_sizes, int part_count, int* row, talus_error* error)
{
    import_shape s = {.part_count = part_count, .point_count = point_count};
    const size_t bytes = sizeof(double) * (size_t)point_count * (size_t)m->dim;
    s.part_sizes = malloc(sizeof(int) * (size_t)part_count + 1);
    s.points = malloc(bytes + 1);
    bool good = s.part_sizes && s.points;
    if (good) {
        memcpy(s.part_sizes, part_sizes, sizeof(int) * (size_t)part_count);
        memcpy(s.points, points, bytes);
        *row = -1;
        for (int i = 0; i < m->shape_count && *row < 0; i++) {
            const import_shape* other = &m->shape[i];
            if (other->part_count == part_count && other->point_count == point_count &&
                memcmp(other->part_sizes, part_sizes, sizeof(int) * (size_t)part_count) == 0 &&
                memcmp(other->points, points, bytes) == 0) {
                *row = i;
            }
        }
        good = arrays_grow(&m->shape_capacity, m->shape_count + 1, ARRAY(m->shape));
    }
    talus_status status = good ? TALUS_OK : error_memory(error, "a shape");
    if (good && *row < 0) {
        solid made = {0};
        talus_solid_def def = talus_solid_default();
        def.name = "imported";
        def.points = s.points;
        def.part_sizes = s.part_sizes;
        def.part_count = part_count;
        def.point_count = point_count;
        status = solid_make(&def, m->dim, &made, error);
        if (status == TALUS_OK) {
            vec_copy(3, s.centre, made.centre);
            s.radius = made.radius;
            *row = m->shape_count;
            m->shape[m->shape_count++] = s;
            solid_free(&made);
            return TALUS_OK;
        }
    }
    free(s.part_sizes);
    free(s.points);
    return status;
}

/// Whether YAML takes the character of `length` bytes in the middle of a line: no control
/// characters, of which some end a line (U+0085, U+2028, U+2029), no byte order mark, U+FFFE,
/// U+FFFF.
static bool stays_in_line(const char* at, size_t length)
{
    const unsigned char first = (unsigned char)at[0];
    if (length <= 1) return length == 1 && first >= ' ' && first != 0x7f;
    if (length == 2) return first != 0xc2 || (unsigned char)at[1] >= 0xa0;
    static const char* const refused[] = {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf",
                                          "\xef\xbf\xbe", "\xef\xbf\xbf"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (length == 3 && memcmp(at, refused[i], 3) == 0) return false;
    }
    return true;
}

void import_clean(char* text)
{
    for (char* at = text; *at;) {
        const size_t length = utf8_length(at);
        if (stays_in_line(at, length)) {
            at += length;
        } else {
            memset(at, (unsigned char)*at < ' ' ? ' ' : '?', length > 0 ? length : 1);
        }
    }
}

bool import_add_line(import_lines* lines, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    char* text = NULL;
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) return false;
    import_clean(text);
    if (!arrays_grow(&lines->capacity, lines->count + 1, ARRAY(lines->line))) {
        free(text);
        return false;
    }
    lines->line[lines->count++] = text;
    return true;
}

static void free_lines(import_lines* lines)
{
    for (int i = 0; i < lines->count; i++) free(lines->line[i]);
    free(lines->line);
}

void import_model_free(import_model* m)
{
    for (int i = 0; i < m->shape_count; i++) {
        free(m->shape[i].part_sizes);
        free(m->shape[i].points);
    }
    free(m->shape);
    free(m->grain);
    free(m->material);
    free_lines(&m->walls);
    free_lines(&m->pairs);
    free_lines(&m->notes);
    *m = (import_model){0};
}

// ---- which format ------------------------------------------------------------------------------

static bool ends_with(const char* text, const char* end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcasecmp(text + length - tail, end) == 0;
}

/// Find the format by the name and the first lines that are not empty.
static talus_status find_format(const char* path, talus_import_format* out, talus_error* error)
{
    struct stat facts;
    const char* name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const bool folder = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    *out = TALUS_IMPORT_AUTO;
    if (folder || strncmp(name, "BODIES", 6) == 0) *out = TALUS_IMPORT_LMGC90;
    if (ends_with(name, ".csv")) *out = TALUS_IMPORT_CSV;
    if (*out != TALUS_IMPORT_AUTO) return TALUS_OK;
    import_file f;
    talus_status status = import_open(&f, path, error);
    int found = status < 0 ? 0 : 1;
    for (int i = 0; found > 0 && i < 40 && *out == TALUS_IMPORT_AUTO; i++) {
        found = import_line(&f);
        if (found <= 0) break;
        if (strncmp(f.line, "ITEM:", 5) == 0) *out = TALUS_IMPORT_LAMMPS_DUMP;
        if (strncmp(f.line, "$bdyty", 6) == 0) *out = TALUS_IMPORT_LMGC90;
        if (ends_with(f.line, "atoms") || strstr(f.line, "xlo xhi")) {
            *out = TALUS_IMPORT_LAMMPS_DATA;
        }
    }
    if (found < 0) status = (talus_status)found;
    import_close(&f);
    if (status == TALUS_OK && *out == TALUS_IMPORT_AUTO) {
        status = error_set(error, TALUS_ERR_FORMAT,
                           "%s: the format is not known; expected a LAMMPS dump or data file, "
                           "LMGC90's BODIES.DAT or a CSV file (name.csv)",
                           path);
    }
    return status;
}

// ---- what holds for all formats ----------------------------------------------------------------

/// A file in which nothing happens along z is one of a plane.
static void choose_dimension(const talus_import_def* def, import_model* m)
{
    if (m->dim != 0) return;
    bool flat = true;
    for (int64_t i = 0; flat && i < m->grain_count; i++) {
        const import_grain* g = &m->grain[i];
        flat = g->position[2] == m->grain[0].position[2] && g->velocity[2] == 0.0 &&
               g->spin[0] == 0.0 && g->spin[1] == 0.0 && g->quat[1] == 0.0 && g->quat[2] == 0.0;
    }
    m->dim = def->dimension ? def->dimension : m->flat || (flat && m->grain_count > 1) ? 2 : 3;
    if (m->dim == 2 && !flat) {
        import_add_line(&m->notes, "what the file has along z was left out");
    }
}

static talus_status make_cell(const talus_import_def* def, import_model* m, talus_error* error)
{
    for (int k = 0; k < 3; k++) {
        const bool given = def->periodic[k] && def->high[k] > def->low[k];
        if (k >= m->dim && (m->periodic[k] || def->periodic[k])) {
            import_add_line(&m->notes,
                            "the scene is in 2D: that the axis z is periodic was left out");
            m->periodic[k] = false;
        }
        if (k >= m->dim || (!def->periodic[k] && !m->periodic[k])) continue;
        if (given) m->low[k] = def->low[k], m->high[k] = def->high[k];
        if (!given && !(m->has_box && m->high[k] > m->low[k])) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "the file has no box along %c; give the cell, as in %c=0:1", "xyz"[k],
                             "xyz"[k]);
        }
        m->periodic[k] = true;
    }
    return TALUS_OK;
}

/// Say what the file does not, and what holds instead.
static void note_assumptions(import_model* m)
{
    int64_t light = 0;
    for (int64_t i = 0; i < m->grain_count; i++) {
        const import_grain* g = &m->grain[i];
        light += g->mass <= 0.0 && m->material[g->material].density <= 0.0;
    }
    if (light > 0) {
        const talus_grain_def usual = talus_grain_default();
        import_add_line(&m->notes,
                        "the file says nothing of mass or density of %lld grain%s: the density is "
                        "%g kg/m%s",
                        (long long)light, plural(light), usual.density, m->dim == 2 ? "^2" : "^3");
    }
    if (!m->has_gravity) import_add_line(&m->notes, "the file says nothing of gravity: it is 0");
    if (m->grain_count > 0 && m->material[0].friction < 0.0 && m->pairs.count == 0) {
        import_add_line(&m->notes, "the file says nothing of friction: it is 0");
    }
    import_add_line(&m->notes, "overlaps of grains in the file are kept (allow_overlap)");
}

static talus_status complete_grains(const talus_import_def* def, import_model* m,
                                    talus_error* error)
{
    if (m->grain_count == 0 && m->walls.count == 0) {
        return error_set(error, TALUS_ERR_FORMAT, "%s: there are no grains in it", def->path);
    }
    for (int64_t i = 0; i < m->grain_count; i++) {
        import_grain* g = &m->grain[i];
        for (int k = 0; k < m->dim; k++) {
            const double length = m->high[k] - m->low[k];
            if (!m->periodic[k]) continue;
            g->position[k] -= length * floor((g->position[k] - m->low[k]) / length);
            if (g->position[k] >= m->high[k]) g->position[k] = m->low[k];
        }
        import_material* material = &m->material[g->material];
        if (g->mass <= 0.0) continue;
        material->mass += g->mass;
        material->volume += m->dim == 2 ? M_PI * g->radius * g->radius
                                        : 4.0 / 3.0 * M_PI * g->radius * g->radius * g->radius;
    }
    for (int i = 0; i < m->material_count; i++) {
        import_material* material = &m->material[i];
        if (material->density <= 0.0 && material->volume > 0.0) {
            material->density = material->mass / material->volume;
        }
    }
    note_assumptions(m);
    return TALUS_OK;
}

static talus_status import_model_fill(const talus_import_def* def, import_model* m,
                                      talus_error* error)
{
    talus_import_format format = def->format;
    if (format == TALUS_IMPORT_AUTO) TRY(find_format(def->path, &format, error));
    if (format == TALUS_IMPORT_LMGC90) {
        TRY(import_lmgc90(def, m, error));
    } else {
        import_file f;
        talus_status status = import_open(&f, def->path, error);
        if (status == TALUS_OK) {
            status = format == TALUS_IMPORT_LAMMPS_DUMP   ? import_lammps_dump(&f, def, m)
                     : format == TALUS_IMPORT_LAMMPS_DATA ? import_lammps_data(&f, m)
                                                          : import_csv(&f, def, m);
        }
        import_close(&f);
        if (status < 0) return status;
    }
    choose_dimension(def, m);
    TRY(make_cell(def, m, error));
    return complete_grains(def, m, error);
}

talus_status talus_import(const talus_import_def* given, talus_import_result* result,
                          talus_error* error)
{
    talus_import_def own = talus_import_default();
    const talus_import_def* def = &own;
    import_model m = {0};
    *result = (talus_import_result){0};
    TRY(DEFINITION_TAKE(import, &own, given, error));
    // "scene.yaml" gives "scene-grains.csv".
    char* csv = NULL;
    const size_t stem = strlen(def->out) - (ends_with(def->out, ".yaml") ? 5 : 0);
    if (asprintf(&csv, "%.*s-grains.csv", (int)stem, def->out) < 0) csv = NULL;
    talus_status status =
        csv ? import_model_fill(def, &m, error) : error_memory(error, "a file name");
    if (status == TALUS_OK) status = import_write(def, &m, csv, error);
    if (status == TALUS_OK) {
        *result = (talus_import_result){.dimension = m.dim,
                                        .grains = m.grain_count,
                                        .shapes = m.shape_count,
                                        .walls = m.walls.count,
                                        .materials = m.material_count,
                                        .csv = csv,
                                        .note_count = m.notes.count,
                                        .notes = m.notes.line};
        m.notes = (import_lines){0};
    } else {
        free(csv);
    }
    import_model_free(&m);
    return status;
}

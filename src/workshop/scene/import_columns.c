/// Grains from rows of named columns: LAMMPS dumps and CSV files.
///
/// Names are those of LAMMPS' dump style custom and of Talus' own CSV files, whatever their case.
/// Of several columns for the same thing the first counts. A CSV file has a line of names, then
/// rows; its separator is a semicolon if the names have one, else a comma, else blanks; lines that
/// begin with # are comments.
#include "scene/import.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct column_name {
    const char* name;
    import_field field;
} column_name;

static const column_name NAMES[] = {
    {"id", IMPORT_ID},
    {"type", IMPORT_TYPE},
    {"x", IMPORT_X},
    {"y", IMPORT_Y},
    {"z", IMPORT_Z},
    {"xu", IMPORT_X},
    {"yu", IMPORT_Y},
    {"zu", IMPORT_Z},
    {"xs", IMPORT_XS},
    {"ys", IMPORT_YS},
    {"zs", IMPORT_ZS},
    {"xsu", IMPORT_XS},
    {"ysu", IMPORT_YS},
    {"zsu", IMPORT_ZS},
    {"radius", IMPORT_RADIUS},
    {"r", IMPORT_RADIUS},
    {"diameter", IMPORT_DIAMETER},
    {"d", IMPORT_DIAMETER},
    {"vx", IMPORT_VX},
    {"vy", IMPORT_VY},
    {"vz", IMPORT_VZ},
    {"omegax", IMPORT_WX},
    {"omegay", IMPORT_WY},
    {"omegaz", IMPORT_WZ},
    {"wx", IMPORT_WX},
    {"wy", IMPORT_WY},
    {"wz", IMPORT_WZ},
    {"quatw", IMPORT_QW},
    {"quati", IMPORT_QX},
    {"quatj", IMPORT_QY},
    {"quatk", IMPORT_QZ},
    {"qw", IMPORT_QW},
    {"qx", IMPORT_QX},
    {"qy", IMPORT_QY},
    {"qz", IMPORT_QZ},
    {"angle", IMPORT_ANGLE},
    {"mass", IMPORT_MASS},
    {"m", IMPORT_MASS},
    {"density", IMPORT_DENSITY},
    {"rho", IMPORT_DENSITY},
    {"material", IMPORT_MATERIAL},
    {"tag", IMPORT_TAG},
};
enum { NAME_COUNT = sizeof NAMES / sizeof NAMES[0] };

talus_status import_name_columns(import_columns* c, const import_file* f, char* text,
                                 import_model* m)
{
    char skipped[256] = "";
    char* rest = text;
    for (char* name; (name = import_word(&rest, c->separator));) {
        if (c->count == IMPORT_COLUMNS) {
            return import_error(f, "there are more than %d columns", IMPORT_COLUMNS);
        }
        import_field field = IMPORT_SKIP;
        for (int i = 0; field == IMPORT_SKIP && i < NAME_COUNT; i++) {
            if (strcasecmp(NAMES[i].name, name) == 0) field = NAMES[i].field;
        }
        if (field != IMPORT_SKIP && c->has[field]) field = IMPORT_SKIP;
        if (field == IMPORT_SKIP) {
            const size_t used = strlen(skipped);
            snprintf(skipped + used, sizeof skipped - used, "%s%.40s", used > 0 ? ", " : "", name);
        } else {
            c->has[field] = true;
        }
        c->field[c->count++] = field;
    }
    if (skipped[0]) import_add_line(&m->notes, "columns that were not carried over: %s", skipped);
    m->flat = !c->has[IMPORT_Z] && !c->has[IMPORT_ZS];
    for (int k = 0; k < 2; k++) {
        if (!c->has[IMPORT_X + k] && !c->has[IMPORT_XS + k]) {
            return import_error(f, "there is no column %c (known are also %cu, %cs and %csu)",
                                'x' + k, 'x' + k, 'x' + k, 'x' + k);
        }
        if (!c->has[IMPORT_X + k] && !m->has_box) {
            return import_error(f, "column %cs needs a box, and the file has none", 'x' + k);
        }
    }
    return TALUS_OK;
}

// ---- rows --------------------------------------------------------------------------------------

static const char* field_name(import_field field)
{
    for (int i = 0; i < NAME_COUNT; i++) {
        if (NAMES[i].field == field) return NAMES[i].name;
    }
    return "?";
}

/// Read the words of a row; names of materials go to `material`.
static talus_status read_values(const import_columns* c, const import_file* f, char* text,
                                double value[IMPORT_FIELDS], char material[IMPORT_NAME])
{
    char* rest = text;
    for (int i = 0; i < c->count; i++) {
        const char* word = import_word(&rest, c->separator);
        if (!word) return import_error(f, "only %d values for %d columns", i, c->count);
        const import_field field = (import_field)c->field[i];
        if (field == IMPORT_SKIP) continue;
        if (field == IMPORT_MATERIAL || field == IMPORT_TYPE) {
            const char* prefix = field == IMPORT_TYPE ? "type" : "";
            if (field == IMPORT_TYPE && c->has[IMPORT_MATERIAL]) continue;
            if (!*word)
                return import_error(f, "column '%s': the value is missing", field_name(field));
            const bool number = strspn(word, "0123456789") == strlen(word);
            if (number && field == IMPORT_MATERIAL) prefix = "material";
            snprintf(material, IMPORT_NAME, "%s%.36s", prefix, word);
            continue;
        }
        if (!import_number(word, &value[field])) {
            return import_error(f, "column '%s': expected a number, found '%.60s'",
                                field_name(field), word);
        }
    }
    if (rest && rest[strspn(rest, " \t")]) {
        return import_error(f, "more values than the %d columns; too much is '%.60s'", c->count,
                            rest);
    }
    return TALUS_OK;
}

talus_status import_row(const import_columns* c, const import_file* f, char* text,
                        const talus_import_def* def, import_model* m)
{
    double value[IMPORT_FIELDS] = {0};
    char material[IMPORT_NAME] = "grain";
    TRY(read_values(c, f, text, value, material));
    import_grain g = import_grain_default();
    for (int k = 0; k < 3; k++) {
        const bool scaled = !c->has[IMPORT_X + k] && c->has[IMPORT_XS + k];
        g.position[k] = scaled ? m->low[k] + value[IMPORT_XS + k] * (m->high[k] - m->low[k])
                               : value[IMPORT_X + k];
    }
    vec_copy(3, g.velocity, value + IMPORT_VX);
    vec_copy(3, g.spin, value + IMPORT_WX);
    g.radius = c->has[IMPORT_RADIUS]     ? value[IMPORT_RADIUS]
               : c->has[IMPORT_DIAMETER] ? 0.5 * value[IMPORT_DIAMETER]
                                         : def->radius;
    if (!(g.radius > 0.0)) {
        if (c->has[IMPORT_RADIUS] || c->has[IMPORT_DIAMETER])
            return import_error(f, "the radius must be > 0, not %g", g.radius);
        return import_error(f,
                            "there is no column radius or diameter; give a radius for all grains");
    }
    if (c->has[IMPORT_QW] && c->has[IMPORT_QX] && c->has[IMPORT_QY] && c->has[IMPORT_QZ]) {
        vec_copy(4, g.quat, value + IMPORT_QW);
        const double norm = vec_norm(4, g.quat);
        if (!(norm > 1e-6)) return import_error(f, "the quaternion is no rotation: it is zero");
        for (int k = 0; k < 4; k++) g.quat[k] /= norm;
    } else if (c->has[IMPORT_ANGLE]) {
        const double half = 0.5 * value[IMPORT_ANGLE] * (c->degrees ? M_PI / 180.0 : 1.0);
        g.quat[0] = cos(half);
        g.quat[3] = sin(half);
    }
    // The mass is that of the column, or of the density and the ball.
    const double r = g.radius;
    const bool plane = def->dimension == 2 || m->flat;
    if (c->has[IMPORT_MASS])
        g.mass = value[IMPORT_MASS];
    else if (c->has[IMPORT_DENSITY])
        g.mass = value[IMPORT_DENSITY] * (plane ? M_PI * r * r : 4.0 / 3.0 * M_PI * r * r * r);
    if ((c->has[IMPORT_MASS] || c->has[IMPORT_DENSITY]) && !(g.mass > 0.0)) {
        return import_error(f, "the mass must be > 0, not %g", g.mass);
    }
    const double tag = c->has[IMPORT_ID] ? value[IMPORT_ID] : value[IMPORT_TAG];
    if (fabs(tag) <= INT32_MAX) g.tag = (int64_t)tag;
    g.material = import_find_material(m, material);
    if (g.material < 0) return error_memory(f->error, "the materials of a file");
    return import_add_grain(m, &g, f->error);
}

talus_status import_csv(import_file* f, const talus_import_def* def, import_model* m)
{
    import_columns c = {.degrees = true};
    int found;
    while ((found = import_line(f)) > 0) {
        char* text = f->line;
        if (f->number == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3; // byte order mark
        text += strspn(text, " \t");
        if (!*text || *text == '#') continue;
        if (c.count > 0) {
            TRY(import_row(&c, f, text, def, m));
            continue;
        }
        c.separator = strchr(text, ';') ? ';' : strchr(text, ',') ? ',' : ' ';
        TRY(import_name_columns(&c, f, text, m));
    }
    if (found < 0) return (talus_status)found;
    return c.count > 0 ? TALUS_OK
                       : import_error(f, "the file ends before the line that names the columns");
}

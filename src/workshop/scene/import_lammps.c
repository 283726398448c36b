/// LAMMPS' text files: a frame of a dump (dump style custom), and data files of atom style sphere
/// (docs.lammps.org, commands dump and read_data).
///
/// Of a dump the frame is found by going through the file once, or twice if frames are counted from
/// the end. Boxes that are not rectangular are refused.
#include "scene/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const AXES[3] = {"x", "y", "z"};

/// The next line, which must be there.
static talus_status need_line(import_file* f, const char* what)
{
    const int found = import_line(f);
    if (found < 0) return (talus_status)found;
    return found > 0 ? TALUS_OK : import_error(f, "the file ends before %s", what);
}

// ---- dump --------------------------------------------------------------------------------------

/// "ITEM: BOX BOUNDS pp pp ff", with "xy xz yz" before if the box may be tilted; then three lines.
static talus_status read_box(import_file* f, import_model* m)
{
    char* rest = f->line + strlen("ITEM: BOX BOUNDS");
    int axis = 0;
    for (char* word; axis < 3 && (word = import_word(&rest, ' '));) {
        if (strcmp(word, "xy") == 0 || strcmp(word, "xz") == 0 || strcmp(word, "yz") == 0) continue;
        m->periodic[axis++] = strcmp(word, "pp") == 0;
    }
    for (int k = 0; k < 3; k++) { // two numbers; a third, which tilts the box, must be 0
        TRY(need_line(f, "the bounds of the box"));
        double value[3] = {0};
        rest = f->line;
        for (int i = 0; i < 3; i++) {
            const char* word = import_word(&rest, ' ');
            if (!word && i == 2) break;
            if (!word || !import_number(word, &value[i])) {
                return import_error(f, "expected the bounds of the box along %s", AXES[k]);
            }
        }
        if (value[2] != 0.0) {
            return import_error(f, "a tilted box (triclinic) cannot be a Talus cell");
        }
        if (!(value[1] > value[0])) {
            return import_error(f, "the box is empty along %s: %g to %g", AXES[k], value[0],
                                value[1]);
        }
        m->low[k] = value[0];
        m->high[k] = value[1];
    }
    m->has_box = true;
    return TALUS_OK;
}

static talus_status read_atoms(import_file* f, const talus_import_def* def, import_model* m,
                               int64_t count)
{
    import_columns c = {.separator = ' '};
    char* names = strdup(f->line + strlen("ITEM: ATOMS"));
    if (!names) return error_memory(f->error, "the names of columns");
    talus_status status = import_name_columns(&c, f, names, m);
    free(names);
    for (int64_t i = 0; status == TALUS_OK && i < count; i++) {
        status = need_line(f, "the last atom of its frame");
        if (status == TALUS_OK && strncmp(f->line, "ITEM:", 5) == 0) {
            status = import_error(f, "only %lld atoms, %lld were announced", (long long)i,
                                  (long long)count);
        }
        if (status == TALUS_OK) status = import_row(&c, f, f->line, def, m);
    }
    return status;
}

static talus_status read_count(import_file* f, const char* what, int64_t* out)
{
    TRY(need_line(f, what));
    char* rest = f->line;
    const char* word = import_word(&rest, ' ');
    if (word && import_integer(word, out) && *out >= 0) return TALUS_OK;
    return import_error(f, "expected %s", what);
}

/// From the frame's first item, the present line, to its last atom.
static talus_status read_frame(import_file* f, const talus_import_def* def, import_model* m)
{
    int64_t count = -1, step;
    for (int found = 1; found > 0; found = import_line(f)) {
        if (strncmp(f->line, "ITEM: ATOMS", 11) == 0) {
            if (count < 0) return import_error(f, "ITEM: NUMBER OF ATOMS is missing before this");
            return read_atoms(f, def, m, count);
        }
        if (strncmp(f->line, "ITEM: BOX BOUNDS", 16) == 0) {
            TRY(read_box(f, m));
        } else if (strcmp(f->line, "ITEM: NUMBER OF ATOMS") == 0) {
            TRY(read_count(f, "the number of atoms", &count));
        } else if (strcmp(f->line, "ITEM: TIMESTEP") == 0) {
            TRY(read_count(f, "the number of the step", &step));
            import_add_line(&m->notes, "from step %lld of %s", (long long)step, f->path);
        } else if (strncmp(f->line, "ITEM: ", 6) == 0) {
            TRY(need_line(f, "the value of this item")); // units, time
        } else {
            return import_error(f, "expected a line that begins with ITEM:, found '%.40s'",
                                f->line);
        }
    }
    return import_error(f, "the file ends before ITEM: ATOMS");
}

/// Go to the first line of frame `wanted`, or to the end of the file; *frames: how many were seen.
static talus_status find_frame(import_file* f, int64_t wanted, int64_t* frames)
{
    int found;
    bool timed = false;
    *frames = 0;
    while ((found = import_line(f)) > 0) {
        if (f->number == 1 && strncmp(f->line, "ITEM:", 5) != 0) {
            return import_error(f, "not a text dump of LAMMPS: it must begin with ITEM:");
        }
        // A frame begins with its time, which may stand before the step, or with its step.
        const bool time = strcmp(f->line, "ITEM: TIME") == 0;
        const bool step = strcmp(f->line, "ITEM: TIMESTEP") == 0;
        const bool begins = time || (step && !timed);
        if (time || step) timed = time;
        if (begins && (*frames)++ == wanted) return TALUS_OK;
    }
    return found < 0 ? (talus_status)found : TALUS_OK;
}

talus_status import_lammps_dump(import_file* f, const talus_import_def* def, import_model* m)
{
    int64_t frames, wanted = def->frame;
    if (wanted < 0) {
        TRY(find_frame(f, -1, &frames));
        wanted += frames;
        rewind(f->file);
        f->number = 0;
    }
    TRY(find_frame(f, wanted, &frames));
    if (wanted < 0 || frames != wanted + 1) {
        return error_set(f->error, TALUS_ERR_FORMAT, "%s: there is no frame %lld", f->path,
                         (long long)def->frame);
    }
    return read_frame(f, def, m);
}

// ---- data file ---------------------------------------------------------------------------------

/// Numbers of a line; false if it has fewer than `least` or something else.
static bool read_numbers(char* text, int least, int most, double* out, int* count)
{
    char* rest = text;
    *count = 0;
    for (char* word; *count < most && (word = import_word(&rest, ' '));) {
        if (word[0] == '#') break;
        if (!import_number(word, &out[(*count)++])) return false;
    }
    return *count >= least;
}

/// A line of the head: "3 atoms", "0 1 xlo xhi", "0 0 0 xy xz yz"; others do not matter here.
static talus_status read_head_line(import_file* f, import_model* m, int64_t* atoms)
{
    char* rest = f->line;
    char* word[6] = {NULL};
    int count = 0;
    while (count < 6 && (word[count] = import_word(&rest, ' ')) && word[count][0] != '#') count++;
    double value[3];
    if (count == 2 && strcmp(word[1], "atoms") == 0) {
        if (import_integer(word[0], atoms) && *atoms >= 0) return TALUS_OK;
        return import_error(f, "expected the number of atoms, found '%.40s'", word[0]);
    }
    for (int k = 0; count == 4 && k < 3; k++) {
        if (word[2][0] != 'x' + k || strcmp(word[2] + 1, "lo") != 0) continue;
        if (!import_number(word[0], &value[0]) || !import_number(word[1], &value[1]) ||
            !(value[1] > value[0])) {
            return import_error(f, "expected the bounds of the box along %s", AXES[k]);
        }
        m->low[k] = value[0];
        m->high[k] = value[1];
        m->has_box = true;
    }
    if (count == 6 && strcmp(word[3], "xy") == 0) {
        for (int k = 0; k < 3; k++) {
            if (!import_number(word[k], &value[k]) || value[k] != 0.0) {
                return import_error(f, "a tilted box (triclinic) cannot be a Talus cell");
            }
        }
    }
    return TALUS_OK;
}

/// "id type diameter density x y z [ix iy iz]".
static talus_status read_atom(import_file* f, import_model* m)
{
    double v[10];
    int count;
    char name[IMPORT_NAME];
    if (!read_numbers(f->line, 7, 10, v, &count)) {
        return import_error(f, "expected an atom: id type diameter density x y z");
    }
    if (!(v[2] > 0.0) || !(v[3] > 0.0)) {
        return import_error(f, "an atom needs a diameter and a density > 0, not %g and %g", v[2],
                            v[3]);
    }
    import_grain g = import_grain_default();
    g.tag = fabs(v[0]) <= INT32_MAX ? (int64_t)v[0] : 0;
    g.radius = 0.5 * v[2];
    g.mass = v[3] * 4.0 / 3.0 * M_PI * g.radius * g.radius * g.radius;
    for (int k = 0; k < 3; k++) g.position[k] = v[4 + k];
    snprintf(name, sizeof name, "type%.0f", v[1]);
    g.material = import_find_material(m, name);
    if (g.material < 0) return error_memory(f->error, "the materials of a file");
    return import_add_grain(m, &g, f->error);
}

static int compare_tags(const void* a, const void* b)
{
    const int64_t x = ((const import_grain*)a)->tag, y = ((const import_grain*)b)->tag;
    return (x > y) - (x < y);
}

/// "id vx vy vz [wx wy wz]"; atoms are ordered by id by then.
static talus_status read_velocity(import_file* f, import_model* m)
{
    double v[7] = {0};
    int count;
    if (!read_numbers(f->line, 4, 7, v, &count)) {
        return import_error(f, "expected a velocity: id vx vy vz wx wy wz");
    }
    const import_grain key = {.tag = fabs(v[0]) <= INT32_MAX ? (int64_t)v[0] : -1};
    import_grain* g = m->grain_count > 0 ? bsearch(&key, m->grain, (size_t)m->grain_count,
                                                   sizeof *m->grain, compare_tags)
                                         : NULL;
    if (!g) return import_error(f, "there is no atom %g", v[0]);
    for (int k = 0; k < 3; k++) g->velocity[k] = v[1 + k];
    for (int k = 0; count == 7 && k < 3; k++) g->spin[k] = v[4 + k];
    return TALUS_OK;
}

/// Lines of a section up to the next empty one.
static talus_status read_section(import_file* f, import_model* m, int64_t atoms,
                                 talus_status (*read)(import_file*, import_model*))
{
    TRY(need_line(f, "the empty line below the name of a section"));
    for (int64_t i = 0; i < atoms; i++) {
        TRY(need_line(f, "the last line of this section"));
        if (!f->line[strspn(f->line, " \t")]) {
            return import_error(f, "only %lld lines in this section, there are %lld atoms",
                                (long long)i, (long long)atoms);
        }
        TRY(read(f, m));
    }
    return TALUS_OK;
}

static bool is_section(const char* line, const char* name)
{
    const size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && (!line[length] || strchr(" \t#", line[length]));
}

talus_status import_lammps_data(import_file* f, import_model* m)
{
    int64_t atoms = -1;
    bool any = false;
    TRY(need_line(f, "its first line")); // a comment, whatever it says
    int found;
    while ((found = import_line(f)) > 0) {
        if (is_section(f->line, "Atoms")) {
            if (atoms < 0) return import_error(f, "the number of atoms was not announced");
            const char* style = strchr(f->line, '#');
            if (style && !strstr(style, "sphere")) {
                return import_error(f, "atom style '%.40s'; only sphere has sizes",
                                    style + 1 + strspn(style + 1, " "));
            }
            if (!style) import_add_line(&m->notes, "the atom style is not given: taken as sphere");
            TRY(read_section(f, m, atoms, read_atom));
            if (m->grain_count > 0) {
                qsort(m->grain, (size_t)m->grain_count, sizeof *m->grain, compare_tags);
            }
            any = true;
        } else if (is_section(f->line, "Velocities")) {
            if (!any) return import_error(f, "velocities before atoms");
            TRY(read_section(f, m, atoms, read_velocity));
        } else if (!any) {
            TRY(read_head_line(f, m, &atoms));
        }
    }
    if (found < 0) return (talus_status)found;
    if (!any) return import_error(f, "there is no section Atoms");
    import_add_line(&m->notes, "a data file does not say which axes are periodic: none is, unless "
                               "it was asked for");
    return TALUS_OK;
}

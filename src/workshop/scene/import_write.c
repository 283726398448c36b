/// The scene and the CSV file of an import: a scene that passes `talus check` and runs, with notes
/// at its top on what the file did not say.
///
/// The step is a guess from the smallest grain, h = sqrt(2 r / g) / 50: in the time in which it
/// falls by its own diameter it makes some fifty steps.
#include "scene/import.h"

#include "base/vec.h"
#include "base/words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 1000, FRAMES = 50 };

/// The shortest text that gives the same number.
static void write_number(FILE* file, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value) snprintf(text, sizeof text, "%.17g", value);
    fputs(text, file);
}

/// Numbers with a comma before each of them.
static void write_values(FILE* file, const double* value, int count)
{
    for (int k = 0; k < count; k++) {
        fputc(',', file);
        write_number(file, value[k]);
    }
}

/// "[x, y, z]".
static void write_list(FILE* file, const double* value, int count)
{
    for (int k = 0; k < count; k++) {
        fputs(k > 0 ? ", " : "[", file);
        write_number(file, value[k]);
    }
    fputc(']', file);
}

static double guess_step(const import_model* m)
{
    double least = 0.0;
    for (int64_t i = 0; i < m->grain_count; i++) {
        const double r = m->grain[i].radius;
        if (least == 0.0 || r < least) least = r;
    }
    const double gravity = vec_norm(3, m->gravity);
    const double step = sqrt(2.0 * least / (gravity > 0.0 ? gravity : 9.81)) / 50.0;
    if (!(step > 0.0)) return 1e-3;
    const double unit = pow(10.0, floor(log10(step)));
    return unit * floor(step / unit); // one digit
}

// ---- grains ------------------------------------------------------------------------------------

/// Columns that some grain needs.
typedef struct csv_needs {
    bool radius, shape, velocity, spin, rotation, mass, material, fixed;
} csv_needs;

static void write_row(FILE* file, const import_model* m, const csv_needs* n, const import_grain* g)
{
    const int dim = m->dim;
    write_number(file, g->position[0]);
    write_values(file, g->position + 1, dim - 1);
    if (n->radius) write_values(file, &g->radius, 1);
    if (n->shape && g->shape < 0) fprintf(file, ",ball");
    if (n->shape && g->shape >= 0) fprintf(file, ",shape%d", g->shape);
    if (n->velocity) write_values(file, g->velocity, dim);
    if (n->spin) write_values(file, g->spin + (dim == 2 ? 2 : 0), spin_width(dim));
    const double angle = 2.0 * atan2(g->quat[3], g->quat[0]) * 180.0 / M_PI;
    if (n->rotation) write_values(file, dim == 2 ? &angle : g->quat, dim == 2 ? 1 : 4);
    if (n->mass) write_values(file, &g->mass, 1);
    if (n->material) fprintf(file, ",%s", m->material[g->material].name);
    if (n->fixed) fprintf(file, ",%d", g->fixed);
    fprintf(file, ",%lld\n", (long long)g->tag);
}

static void write_csv(FILE* file, const import_model* m)
{
    const bool plane = m->dim == 2;
    csv_needs n = {.material = m->material_count > 1, .mass = m->grain_count > 0};
    for (int64_t i = 0; i < m->grain_count; i++) {
        const import_grain* g = &m->grain[i];
        n.radius |= g->shape < 0;
        n.shape |= g->shape >= 0;
        n.velocity |= vec_norm(m->dim, g->velocity) > 0.0;
        n.spin |= g->spin[2] != 0.0 || (!plane && (g->spin[0] != 0.0 || g->spin[1] != 0.0));
        n.rotation |= fabs(g->quat[0]) != 1.0;
        n.mass &= g->mass > 0.0;
        n.fixed |= g->fixed;
    }
    fprintf(file, plane ? "x,y" : "x,y,z");
    if (n.radius) fprintf(file, ",radius");
    if (n.shape) fprintf(file, ",shape");
    if (n.velocity) fprintf(file, plane ? ",vx,vy" : ",vx,vy,vz");
    if (n.spin) fprintf(file, plane ? ",wz" : ",wx,wy,wz");
    if (n.rotation) fprintf(file, plane ? ",angle" : ",qw,qx,qy,qz");
    if (n.mass) fprintf(file, ",mass");
    if (n.material) fprintf(file, ",material");
    if (n.fixed) fprintf(file, ",fixed");
    fprintf(file, ",tag\n");
    for (int64_t i = 0; i < m->grain_count; i++) write_row(file, m, &n, &m->grain[i]);
}

// ---- the scene ---------------------------------------------------------------------------------

/// Text in double quotes.
static void write_quoted(FILE* file, const char* text)
{
    fputc('"', file);
    for (const char* c = text; *c; c++) {
        if (*c == '"' || *c == '\\') fputc('\\', file);
        fputc(*c, file);
    }
    fputc('"', file);
}

/// Name of a file without its folder.
static const char* name_of(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void write_head(FILE* file, const talus_import_def* def, const import_model* m)
{
    const double step = guess_step(m);
    for (int i = 0; i < m->notes.count; i++) fprintf(file, "# %s\n", m->notes.line[i]);
    char title[256];
    snprintf(title, sizeof title, "%s", name_of(def->path));
    import_clean(title);
    fprintf(file, "title: ");
    write_quoted(file, title);
    fprintf(file, "\ndimension: %d\nstep: %g                # s, a guess from the sizes\n", m->dim,
            step);
    fprintf(file, "gravity: ");
    write_list(file, m->gravity, m->dim);
    fputc('\n', file);
    bool any = false;
    for (int k = 0; k < m->dim; k++) {
        if (!m->periodic[k]) continue;
        const double cell[2] = {m->low[k], m->high[k]};
        fprintf(file, "%s  %c: ", any ? "" : "periodic:\n", 'x' + k);
        write_list(file, cell, 2);
        fputc('\n', file);
        any = true;
    }
    fprintf(file, "until: {steps: %d}\noutput: {frames: %g}\n", STEPS, FRAMES * step);
}

static void write_shapes(FILE* file, const import_model* m)
{
    if (m->shape_count > 0) fprintf(file, "shapes:\n");
    for (int i = 0; i < m->shape_count; i++) {
        const import_shape* s = &m->shape[i];
        fprintf(file, "  shape%d: {", i);
        int first = 0;
        for (int p = 0; p < s->part_count; p++) {
            if (s->part_count > 1) fprintf(file, p == 0 ? "parts: [{" : ", {");
            fprintf(file, "points: [");
            for (int k = 0; k < s->part_sizes[p]; k++) {
                if (k > 0) fputs(", ", file);
                write_list(file, s->points + (first + k) * m->dim, m->dim);
            }
            fprintf(file, "]");
            if (s->part_count > 1) fprintf(file, p == s->part_count - 1 ? "}]" : "}");
            first += s->part_sizes[p];
        }
        fprintf(file, "}\n");
    }
}

static void write_scene(FILE* file, const talus_import_def* def, const import_model* m,
                        const char* csv)
{
    write_head(file, def, m);
    fprintf(file, "materials:\n");
    if (m->material_count == 0) fprintf(file, "  grain: {}\n");
    for (int i = 0; i < m->material_count; i++) {
        const import_material* material = &m->material[i];
        fprintf(file, "  %s: {", material->name);
        if (material->density > 0.0) fprintf(file, "density: %.10g, ", material->density);
        fprintf(file, "friction: %.10g}\n", material->friction > 0.0 ? material->friction : 0.0);
    }
    if (m->pairs.count > 0) fprintf(file, "pairs:\n");
    for (int i = 0; i < m->pairs.count; i++) fprintf(file, "  - %s\n", m->pairs.line[i]);
    write_shapes(file, m);
    if (m->walls.count > 0) fprintf(file, "walls:\n");
    for (int i = 0; i < m->walls.count; i++) fprintf(file, "  - %s\n", m->walls.line[i]);
    if (m->grain_count == 0) return;
    fprintf(file, "grains:\n  - {type: csv, allow_overlap: true, file: ");
    write_quoted(file, name_of(csv));
    fprintf(file, "}\n");
}

/// The scene names its file of grains: can YAML hold that name?
static talus_status check_name(const char* csv, talus_error* error)
{
    char* clean = strdup(name_of(csv));
    if (!clean) return error_memory(error, "a file name");
    import_clean(clean);
    const bool same = strcmp(clean, name_of(csv)) == 0;
    free(clean);
    if (same) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "the name of the scene must be of UTF-8 letters, without control characters");
}

/// Create a file that is not there yet.
static talus_status create(const char* path, FILE** out, talus_error* error)
{
    *out = fopen(path, "wxe");
    if (*out) return TALUS_OK;
    if (errno == EEXIST) {
        return error_set(error, TALUS_ERR_EXISTS, "%s is there already; it is not overwritten",
                         path);
    }
    return error_set(error, TALUS_ERR_IO, "cannot create %s: %s", path, strerror(errno));
}

static talus_status finish(FILE* file, const char* path, talus_error* error)
{
    const bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed) return TALUS_OK;
    return error_set(error, TALUS_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

talus_status import_write(const talus_import_def* def, const import_model* m, const char* csv,
                          talus_error* error)
{
    FILE *scene = NULL, *grains = NULL;
    TRY(check_name(csv, error));
    TRY(create(def->out, &scene, error));
    talus_status status = create(csv, &grains, error);
    if (status == TALUS_OK) {
        write_csv(grains, m);
        status = finish(grains, csv, error);
        if (status != TALUS_OK) unlink(csv);
    }
    if (status == TALUS_OK) write_scene(scene, def, m, csv);
    talus_error second = {0};
    talus_status closed = finish(scene, def->out, &second);
    if (status == TALUS_OK && closed != TALUS_OK) {
        unlink(csv);
        if (error) *error = second;
        status = closed;
    }
    if (status != TALUS_OK) unlink(def->out);
    return status;
}

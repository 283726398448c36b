/// Frames as one GSD file after the schema hoomd 1.4, which OVITO opens with the shapes of grains.
///
/// The schema wants float32, and a box with its centre at the origin that holds all particles:
///   x_file = x - centre.
/// Along periodic axes the box is the cell, along the others the extent of the grains in all
/// frames. `log/centre` gives the centre back. Contacts between grains are bonds. What the schema
/// does not know is logged under its own name: log/particles/FIELD, log/bonds/FIELD, log/time.
#include "base/error.h"
#include "record/export.h"
#include "record/gsd_types.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_VERSION ((1u << 16) | 4u)

typedef struct export_job {
    frame_reader* reader;
    const shapes* shapes;
    gsd_types types;
    double low[3], high[3]; ///< extent of all grains in all frames
    double largest;         ///< radius
    gsd_writer out;
} export_job;

/// The columns of a frame's grains that are looked at.
typedef struct grain_view {
    int64_t count;
    const double *position, *radius, *rotation, *scale, *velocity, *mass;
    const int32_t *solid, *image;
} grain_view;

static talus_status look(const export_job* job, const frame_table* t, grain_view* out,
                         talus_error* error)
{
    const int dim = job->reader->dim;
    *out = (grain_view){
        .count = t->count,
        .position = frame_numbers(t, "position", COLUMN_F64, dim),
        .radius = frame_numbers(t, "radius", COLUMN_F64, 1),
        .rotation = frame_numbers(t, "rotation", COLUMN_F64, dim == 2 ? 1 : 4),
        .scale = frame_numbers(t, "scale", COLUMN_F64, 1),
        .velocity = frame_numbers(t, "velocity", COLUMN_F64, dim),
        .mass = frame_numbers(t, "mass", COLUMN_F64, 1),
        .solid = frame_numbers(t, "solid", COLUMN_I32, 1),
        .image = frame_numbers(t, "image", COLUMN_I32, dim),
    };
    bool good = out->position && out->radius && out->rotation && out->scale && out->velocity &&
                out->mass && out->solid && out->image;
    for (int64_t i = 0; good && i < t->count; i++) good = out->solid[i] < job->shapes->solid_count;
    if (good && t->count < INT32_MAX) return TALUS_OK;
    return error_set(error, TALUS_ERR_FORMAT, "a frame of %s lacks a field of its grains",
                     job->reader->path);
}

/// Sizes and places of all frames, before the first one can be written.
static talus_status survey(export_job* job, talus_error* error)
{
    const int dim = job->reader->dim;
    job->types.all = job->shapes;
    for (int k = 0; k < 3; k++) job->low[k] = DBL_MAX, job->high[k] = -DBL_MAX;
    for (int64_t f = 0; f < job->reader->count; f++) {
        frame_data d;
        grain_view g;
        TRY(frame_read(job->reader, f, FRAME_FIELDS, &d, error));
        talus_status status = look(job, &d.grains, &g, error);
        for (int64_t i = 0; status == TALUS_OK && i < g.count; i++) {
            gsd_types_see(&job->types, g.solid[i], g.radius[i], g.scale[i]);
            job->largest = fmax(job->largest, g.radius[i]);
            for (int k = 0; k < dim; k++) {
                job->low[k] = fmin(job->low[k], g.position[i * dim + k] - g.radius[i]);
                job->high[k] = fmax(job->high[k], g.position[i * dim + k] + g.radius[i]);
            }
        }
        frame_data_free(&d);
        if (status != TALUS_OK) return status;
    }
    return TALUS_OK;
}

// ---- the box -----------------------------------------------------------------------------------

typedef struct box {
    double centre[3];
    float length[3];
} box;

static box make_box(const export_job* job, const frame_data* d)
{
    box b;
    for (int k = 0; k < 3; k++) {
        const bool flat = k >= job->reader->dim;
        double low = flat ? -job->largest : job->low[k], high = flat ? job->largest : job->high[k];
        if (!flat && d->periodic[k]) low = d->cell_low[k], high = d->cell_high[k];
        if (!(high > low)) low = -0.5, high = 0.5; // no grains in any frame
        b.centre[k] = 0.5 * (low + high);
        b.length[k] = (float)(high - low);
    }
    return b;
}

/// A coordinate relative to the centre of the box and inside it, and how many boxes it was moved.
static float place_inside(double x, double length, int32_t* moved)
{
    const float half = 0.5f * (float)length;
    const double boxes = floor(x / length + 0.5);
    *moved = (int32_t)boxes;
    float out = (float)(x - boxes * length);
    // Rounding may put what is inside on the upper end, which is not.
    if (out >= half) out = nextafterf(half, 0.0f);
    return out < -half ? -half : out;
}

// ---- chunks of a frame -------------------------------------------------------------------------

/// The grains as the schema has them: types, sizes, places, orientations, velocities.
static talus_status put_grains(export_job* job, const grain_view* g, const box* b,
                               talus_error* error)
{
    const int dim = job->reader->dim;
    const int64_t count = g->count;
    const size_t room = (size_t)count + 1;
    uint32_t* type = calloc(room, sizeof *type);
    int32_t* image = calloc(3 * room, sizeof *image);
    float* diameter = calloc((1 + 1 + 3 + 4 + 3) * room, sizeof *diameter);
    float *mass = diameter + room, *position = mass + room, *q = position + 3 * room,
          *velocity = q + 4 * room;
    talus_status status =
        type && image && diameter ? TALUS_OK : error_memory(error, "the grains of a frame");
    for (int64_t i = 0; status == TALUS_OK && i < count; i++) {
        double wide;
        type[i] = gsd_types_find(&job->types, g->solid[i], g->radius[i], g->scale[i], &wide);
        diameter[i] = (float)wide;
        mass[i] = (float)g->mass[i];
        for (int k = 0; k < dim; k++) {
            int32_t moved;
            position[3 * i + k] =
                place_inside(g->position[i * dim + k] - b->centre[k], (double)b->length[k], &moved);
            image[3 * i + k] = g->image[i * dim + k] + moved;
            velocity[3 * i + k] = (float)g->velocity[i * dim + k];
        }
        if (dim == 2) {
            q[4 * i] = (float)cos(0.5 * g->rotation[i]);
            q[4 * i + 3] = (float)sin(0.5 * g->rotation[i]);
        }
        for (int k = 0; dim == 3 && k < 4; k++) q[4 * i + k] = (float)g->rotation[4 * i + k];
    }
    const struct {
        const char* name;
        gsd_type type;
        int width;
        const void* data;
    } chunks[] = {{"particles/typeid", GSD_UINT32, 1, type},
                  {"particles/diameter", GSD_FLOAT, 1, diameter},
                  {"particles/mass", GSD_FLOAT, 1, mass},
                  {"particles/position", GSD_FLOAT, 3, position},
                  {"particles/image", GSD_INT32, 3, image},
                  {"particles/orientation", GSD_FLOAT, 4, q},
                  {"particles/velocity", GSD_FLOAT, 3, velocity}};
    for (int c = 0; status == TALUS_OK && c < 7; c++) {
        status = gsd_put(&job->out, chunks[c].name, chunks[c].type, count, chunks[c].width,
                         chunks[c].data, error);
    }
    free(type);
    free(image);
    free(diameter);
    return status;
}

// ---- what the schema does not know -------------------------------------------------------------

/// Rows of a field, all or those listed. Plane vectors get a third component 0. Bytes become int32,
/// as OVITO takes no unsigned numbers.
static talus_status put_logged(gsd_writer* w, const char* prefix, const frame_field* f,
                               const int64_t* rows, int64_t count, talus_error* error)
{
    static const gsd_type types[] = {[COLUMN_F64] = GSD_DOUBLE,
                                     [COLUMN_I64] = GSD_INT64,
                                     [COLUMN_I32] = GSD_INT32,
                                     [COLUMN_U8] = GSD_INT32};
    char name[sizeof f->name + 32];
    snprintf(name, sizeof name, "%s%s", prefix, f->name);
    const int width = f->width == 2 ? 3 : f->width;
    column probe = {.type = f->type == COLUMN_U8 ? COLUMN_I32 : f->type};
    const size_t element = column_element_size(&probe), row = element * (size_t)f->width;
    char* out = calloc((size_t)count + 1, element * (size_t)width);
    if (!out) return error_memory(error, name);
    for (int64_t i = 0; i < count; i++) {
        const int64_t from = rows ? rows[i] : i;
        char* to = out + element * (size_t)(i * width);
        if (f->type != COLUMN_U8) memcpy(to, (const char*)f->data + row * (size_t)from, row);
        for (int k = 0; f->type == COLUMN_U8 && k < f->width; k++) {
            const int32_t value = ((const uint8_t*)f->data)[from * f->width + k];
            memcpy(to + element * (size_t)k, &value, element);
        }
    }
    talus_status status = gsd_put(w, name, types[f->type], count, width, out, error);
    free(out);
    return status;
}

/// Row of the grain with this id, -1 if there is none; ids ascend.
static int64_t row_of(const int64_t* id, int64_t count, int64_t wanted)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (id[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && id[low] == wanted ? low : -1;
}

/// Contacts between grains as bonds, with all their fields; a wall is no particle.
static talus_status put_bonds(export_job* job, const frame_data* d, talus_error* error)
{
    const frame_table* t = &d->contacts;
    const int64_t* id = frame_numbers(&d->grains, "id", COLUMN_I64, 1);
    const int64_t* a = frame_numbers(t, "a", COLUMN_I64, 1);
    const int64_t* b = frame_numbers(t, "b", COLUMN_I64, 1);
    if (!id || !a || !b) {
        return error_set(error, TALUS_ERR_FORMAT, "a frame lacks the grains of contacts");
    }
    uint32_t* group = calloc(2 * (size_t)t->count + 1, sizeof *group);
    int64_t* rows = calloc((size_t)t->count + 1, sizeof *rows);
    const bool room = group && rows;
    int64_t count = 0;
    for (int64_t i = 0; room && i < t->count; i++) {
        const int64_t first = row_of(id, d->grains.count, a[i]);
        const int64_t second = row_of(id, d->grains.count, b[i]);
        if (first < 0 || second < 0) continue;
        group[2 * count] = (uint32_t)first;
        group[2 * count + 1] = (uint32_t)second;
        rows[count++] = i;
    }
    const uint32_t n = (uint32_t)count;
    gsd_writer* out = &job->out;
    talus_status status = room ? gsd_put(out, "bonds/N", GSD_UINT32, 1, 1, &n, error)
                               : error_memory(error, "the contacts of a frame");
    if (status == TALUS_OK) status = gsd_put(out, "bonds/types", GSD_INT8, 1, 8, "contact", error);
    if (status == TALUS_OK) {
        status = gsd_put(out, "bonds/group", GSD_UINT32, count, 2, group, error);
    }
    for (int i = 0; status == TALUS_OK && i < t->field_count; i++) {
        const frame_field* f = &t->field[i];
        if (strcmp(f->name, FRAME_SEGMENT) == 0) continue;
        status = put_logged(out, "log/bonds/", f, rows, count, error);
    }
    free(group);
    free(rows);
    return status;
}

// ---- all frames --------------------------------------------------------------------------------

static talus_status put_frame(export_job* job, const frame_data* d, talus_error* error)
{
    gsd_writer* out = &job->out;
    const frame_table* t = &d->grains;
    grain_view g;
    TRY(look(job, t, &g, error));
    const box b = make_box(job, d);
    const uint64_t step = (uint64_t)d->step;
    const uint8_t dimensions = (uint8_t)d->dim;
    const float edges[6] = {b.length[0], b.length[1], b.length[2]};
    const uint32_t n = (uint32_t)t->count;
    TRY(gsd_put(out, "configuration/step", GSD_UINT64, 1, 1, &step, error));
    TRY(gsd_put(out, "configuration/dimensions", GSD_UINT8, 1, 1, &dimensions, error));
    TRY(gsd_put(out, "configuration/box", GSD_FLOAT, 6, 1, edges, error));
    TRY(gsd_put(out, "particles/N", GSD_UINT32, 1, 1, &n, error));
    TRY(gsd_put(out, "log/time", GSD_DOUBLE, 1, 1, &d->time, error));
    TRY(gsd_put(out, "log/centre", GSD_DOUBLE, 3, 1, b.centre, error));
    // What later frames lack is that of the first.
    if (out->frame == 0) TRY(gsd_types_put(&job->types, out, error));
    TRY(put_grains(job, &g, &b, error));
    for (int i = 0; i < t->field_count; i++) {
        const frame_field* f = &t->field[i];
        const bool known = strcmp(f->name, "position") == 0 || strcmp(f->name, "velocity") == 0 ||
                           strcmp(f->name, "mass") == 0 || strcmp(f->name, "image") == 0;
        if (!known) TRY(put_logged(out, "log/particles/", f, NULL, t->count, error));
    }
    if (d->contacts.count >= 0) TRY(put_bonds(job, d, error));
    gsd_end_frame(out);
    return TALUS_OK;
}

talus_status export_gsd(frame_reader* reader, const shapes* all, const char* path,
                        talus_error* error)
{
    export_job job = {.reader = reader, .shapes = all};
    TRY(survey(&job, error));
    talus_status status = gsd_begin(&job.out, path, error);
    for (int64_t i = 0; status == TALUS_OK && i < reader->count; i++) {
        frame_data d;
        status = frame_read(reader, i, FRAME_FIELDS, &d, error);
        if (status != TALUS_OK) break;
        status = put_frame(&job, &d, error);
        frame_data_free(&d);
    }
    return gsd_finish(&job.out, "hoomd", SCHEMA_VERSION, status, error);
}

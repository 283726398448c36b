/// Voronoi cells of all grains: volumes, neighbours, local packing fractions and their statistics.
///
/// Cells do not know of each other, so that threads change nothing. Their neighbours are collected
/// chunk by chunk and put together in order.
#include "measure/voronoi.h"

#include "base/array.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "measure/region.h"

#include <stdlib.h>
#include <string.h>

/// Faces smaller than this, in squares (2D: lengths) of the two radii, are rounding.
static const double LEAST_FACE = 1e-9;

void talus_voronoi_default_sized(talus_voronoi_def* def, size_t size)
{
    talus_voronoi_def own = {.domain = talus_domain_default(),
                             .region = talus_region_default(),
                             .boundary = true,
                             .bins = 50};
    DEFINITION_GIVE(def, size, own);
}

void talus_voronoi_free(talus_voronoi* v)
{
    free(v->volume);
    free(v->fraction);
    free(v->centre);
    free(v->boundary);
    free(v->neighbour_first);
    free(v->neighbour);
    free(v->face);
    free(v->histogram);
    *v = (talus_voronoi){0};
}

/// Faces of a chunk's cells.
typedef struct face_list {
    int64_t count, capacity;
    int32_t* neighbour;
    double* area;
} face_list;

static talus_status face_add(face_list* l, int32_t neighbour, double area)
{
    if (!arrays_grow(&l->capacity, l->count + 1, ARRAY(l->neighbour), ARRAY(l->area))) {
        return TALUS_ERR_MEMORY;
    }
    l->neighbour[l->count] = neighbour;
    l->area[l->count++] = area;
    return TALUS_OK;
}

/// Cells on their way into the result.
typedef struct cells_task {
    const voronoi_sites* sites;
    face_list* list; ///< [chunks]
    talus_voronoi* out;
} cells_task;

/// Note the size of a cell and its faces. Sides of a prism make many on the boundary: they become
/// one.
static talus_status note_cell(void* data, int chunk, int64_t row, const convex_cell* c)
{
    const cells_task* t = data;
    const grains* g = t->sites->domain->grains;
    const double* radius = t->sites->radius;
    face_list* list = &t->list[chunk];
    talus_voronoi* out = t->out;
    double centre[3] = {0};
    const double volume = convex_cell_is_empty(c) ? 0.0 : convex_cell_volume(c, centre);
    out->volume[row] = volume;
    out->fraction[row] = volume > 0.0 ? grain_volume(g, row) / volume : 0.0;
    for (int k = 0; k < g->dim; k++) {
        const double x = g->position[row * g->dim + k];
        out->centre[row * g->dim + k] = x + (volume > 0.0 ? centre[k] : 0.0);
    }
    const int faces = convex_cell_faces(c);
    const int64_t begin = list->count;
    double outside = 0.0;
    for (int f = 0; f < faces; f++) {
        const int32_t tag = c->now.tag[f];
        const double area = convex_cell_face(c, f, NULL);
        const double size = radius[row] + radius[tag < 0 ? row : tag];
        if (area < LEAST_FACE * (g->dim == 2 ? size : size * size)) continue;
        if (tag < 0)
            outside += area;
        else
            TRY(face_add(list, tag, area));
    }
    if (outside > 0.0) TRY(face_add(list, -1, outside));
    out->boundary[row] = outside > 0.0;
    out->neighbour_first[row + 1] = list->count - begin;
    return TALUS_OK;
}

/// Put the chunks' faces together.
static talus_status join_faces(const face_list* list, int chunks, talus_voronoi* out)
{
    int64_t total = 0;
    for (int c = 0; c < chunks; c++) total += list[c].count;
    out->neighbour = malloc(sizeof *out->neighbour * ((size_t)total + 1));
    out->face = malloc(sizeof *out->face * ((size_t)total + 1));
    if (!out->neighbour || !out->face) return TALUS_ERR_MEMORY;
    int64_t at = 0;
    for (int c = 0; c < chunks; c++) {
        if (list[c].count == 0) continue;
        memcpy(out->neighbour + at, list[c].neighbour,
               sizeof *out->neighbour * (size_t)list[c].count);
        memcpy(out->face + at, list[c].area, sizeof *out->face * (size_t)list[c].count);
        at += list[c].count;
    }
    for (int64_t i = 0; i < out->count; i++) {
        out->neighbour_first[i + 1] += out->neighbour_first[i];
    }
    return TALUS_OK;
}

static talus_status make_cells(const voronoi_sites* s, int threads, talus_voronoi* out)
{
    const int chunks = parallel_chunks(s->count);
    cells_task t = {s, calloc((size_t)chunks + 1, sizeof *t.list), out};
    if (!t.list) return TALUS_ERR_MEMORY;
    talus_status status = voronoi_each_cell(s, threads, note_cell, &t);
    if (status == TALUS_OK) status = join_faces(t.list, chunks, out);
    for (int c = 0; c < chunks; c++) {
        free(t.list[c].neighbour);
        free(t.list[c].area);
    }
    free(t.list);
    return status;
}

// ---- statistics --------------------------------------------------------------------------------

static bool counts(const voronoi_sites* s, const talus_voronoi_def* def, const measure_box* region,
                   const talus_voronoi* v, int64_t row)
{
    if (!(v->volume[row] > 0.0) || (v->boundary[row] && !def->boundary)) return false;
    return measure_box_holds_grain(region, s->domain->grains, row);
}

static void describe(const voronoi_sites* s, const talus_voronoi_def* def,
                     const measure_box* region, talus_voronoi* v)
{
    double sum = 0.0, square = 0.0, filled = 0.0, space = 0.0;
    for (int64_t i = 0; i < v->count; i++) {
        if (!counts(s, def, region, v, i)) continue;
        const int bin = (int)fmin(v->fraction[i] * v->bins, v->bins - 1.0);
        v->histogram[bin] += 1.0;
        v->counted++;
        sum += v->fraction[i];
        filled += v->fraction[i] * v->volume[i];
        space += v->volume[i];
    }
    if (v->counted == 0) return;
    v->mean = sum / (double)v->counted;
    v->whole = filled / space;
    for (int64_t i = 0; i < v->count; i++) {
        const double off = v->fraction[i] - v->mean;
        if (counts(s, def, region, v, i)) square += off * off;
    }
    v->spread = sqrt(square / (double)v->counted);
    for (int b = 0; b < v->bins; b++) v->histogram[b] *= v->bins / (double)v->counted;
}

static talus_status reserve(talus_voronoi* v, int dim)
{
    const size_t n = (size_t)v->count + 1;
    v->volume = calloc(n, sizeof *v->volume);
    v->fraction = calloc(n, sizeof *v->fraction);
    v->centre = calloc(n * (size_t)dim, sizeof *v->centre);
    v->boundary = calloc(n, sizeof *v->boundary);
    v->neighbour_first = calloc(n, sizeof *v->neighbour_first);
    v->histogram = calloc((size_t)v->bins, sizeof *v->histogram);
    return v->volume && v->fraction && v->centre && v->boundary && v->neighbour_first &&
                   v->histogram
               ? TALUS_OK
               : TALUS_ERR_MEMORY;
}

talus_status talus_measure_voronoi(const talus_world* world, const talus_voronoi_def* given,
                                   talus_voronoi* out, talus_error* error)
{
    talus_voronoi_def own = talus_voronoi_default();
    const talus_voronoi_def* def = &own;
    voronoi_sites s;
    domain d;
    *out = (talus_voronoi){0};
    if (given) TRY(DEFINITION_TAKE(voronoi, &own, given, error));
    TRY(DEFINITION_CHECK(domain, &own.domain, error));
    if (def->bins < 1 || def->bins > MEASURE_MOST_BINS) {
        return error_set(error, TALUS_ERR_ARGUMENT, "Voronoi cells: %d bins, expected 1 to %d",
                         def->bins, MEASURE_MOST_BINS);
    }
    measure_box region;
    TRY(measure_box_set(world, &def->region, &region, error));
    TRY(domain_make(world, &def->domain, &d, error));
    talus_status status = domain_check_whole(&d, "Voronoi cells", error);
    if (status == TALUS_OK) status = voronoi_sites_make(&d, &s, error);
    if (status == TALUS_OK) {
        *out = (talus_voronoi){.count = d.grains->count, .domain = d.volume, .bins = def->bins};
        if (reserve(out, d.dim) || make_cells(&s, world->def.threads, out)) {
            status = error_memory(error, "making Voronoi cells");
            talus_voronoi_free(out);
        } else {
            describe(&s, def, &region, out);
        }
        voronoi_sites_free(&s);
    }
    domain_free(&d);
    return status;
}

/// Voronoi cells in a box, in two and three dimensions.
///
/// The cell of a point is a box cut by the planes halfway to its neighbours, nearest first, until
/// the next neighbour is more than twice as far as the cell's farthest corner: then no more can cut
/// it. Points are binned, so that a cell costs the same however many there are. Lloyd's steps move
/// each point to the centre of mass of its cell, which makes cells rounder and more equal.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "detect/bins.h"
#include "geometry/convex_cell.h"
#include "scene/blocks.h"
#include "scene/generate_region.h"

// ---- points in bins ----------------------------------------------------------------------------

typedef struct sites {
    const voronoi_def* def;
    int dim;
    int64_t count;
    double* x;      ///< [count][3]
    cell box;       ///< periodic where the box is endless; the third length is 0 in 2D
    double spacing; ///< of the points
    bins bins;
    near_list near;
    convex_cell cell; ///< the one being cut
} sites;

static talus_status fill_bins(sites* s, talus_error* error)
{
    bins_free(&s->bins);
    if (bins_make(s->dim, s->x, 3, NULL, s->count, &s->box, &s->bins)) {
        return error_memory(error, "making Voronoi cells");
    }
    return TALUS_OK;
}

static talus_status sites_make(sites* s, const generate_context* context, talus_error* error)
{
    region_def box = {.kind = REGION_BOX};
    vec_copy(3, box.low, s->def->low);
    vec_copy(3, box.high, s->def->high);
    TRY(region_check(&box, s->dim, error));
    for (int k = 0; k < 3; k++) {
        s->box.periodic[k] = region_endless(&box, &context->cell, s->dim, k);
        s->box.low[k] = s->def->low[k];
        s->box.length[k] = k < s->dim ? s->def->high[k] - s->def->low[k] : 0.0;
    }
    s->spacing = bins_width(s->dim, s->box.length, s->count);
    for (int k = 0; k < s->dim; k++) {
        // Every image within reach of a point is looked at.
        if (!s->box.periodic[k] || s->box.length[k] >= 1e-3 * s->spacing) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "voronoi: the periodic box is too thin along %c for cells of size %g",
                         axis_letter(k), s->spacing);
    }
    s->x = calloc((size_t)s->count, 3 * sizeof *s->x);
    if (!s->x) return error_memory(error, "making Voronoi cells");
    rng r = rng_make(context->seed, context->source, 0);
    for (int64_t i = 0; i < s->count; i++) {
        for (int k = 0; k < s->dim; k++) {
            s->x[3 * i + k] = s->def->low[k] + s->box.length[k] * rng_uniform(&r);
        }
    }
    return fill_bins(s, error);
}

static int by_distance(const void* pa, const void* pb)
{
    const near_point *a = pa, *b = pb;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return memcmp(a->delta, b->delta, sizeof a->delta);
}

/// The points within reach of a point, and their images, nearest first. Images of the point itself
/// are left out: they lie on the box that the cell starts from.
static talus_status gather(sites* s, int64_t self, double reach, talus_error* error)
{
    int64_t kept = 0;
    s->near.count = 0;
    if (bins_near(&s->bins, s->x + 3 * self, reach, &s->near)) {
        return error_memory(error, "making Voronoi cells");
    }
    for (int64_t i = 0; i < s->near.count; i++) {
        if (s->near.point[i].item != self) s->near.point[kept++] = s->near.point[i];
    }
    s->near.count = kept;
    if (kept > 1) qsort(s->near.point, (size_t)kept, sizeof *s->near.point, by_distance);
    return TALUS_OK;
}

/// Cut the cell of a point by its neighbours within `reach`; *whole: no farther one can cut it.
static talus_status cut_cell(sites* s, int64_t self, double gap, double reach, bool* whole)
{
    static const int32_t no_tags[3] = {0};
    double low[3] = {0}, high[3] = {0};
    for (int k = 0; k < s->dim; k++) {
        double half = 0.5 * (s->box.length[k] - gap);
        low[k] = s->box.periodic[k] ? -half : s->def->low[k] - s->x[3 * self + k];
        high[k] = s->box.periodic[k] ? half : s->def->high[k] - s->x[3 * self + k];
    }
    convex_cell* c = &s->cell;
    TRY(convex_cell_box(c, s->dim, low, high, no_tags));
    for (int64_t i = 0; i < s->near.count && !convex_cell_is_empty(c); i++) {
        const near_point* n = &s->near.point[i];
        *whole = n->distance - gap > 2.0 * convex_cell_radius(c);
        if (*whole) return TALUS_OK;
        double normal[3];
        for (int k = 0; k < 3; k++) normal[k] = n->delta[k] / n->distance;
        TRY(convex_cell_cut(c, normal, 0.5 * (n->distance - gap), 0));
    }
    *whole = reach - gap >= 2.0 * convex_cell_radius(c);
    return TALUS_OK;
}

static talus_status make_cell(sites* s, int64_t self, double gap, talus_error* error)
{
    double reach = 3.0 * s->spacing;
    for (bool whole = false; !whole; reach *= 2.0) {
        TRY(gather(s, self, reach, error));
        if (cut_cell(s, self, gap, reach, &whole)) {
            return error_memory(error, "making Voronoi cells");
        }
    }
    if (!convex_cell_is_empty(&s->cell)) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "voronoi: a gap of %g leaves nothing of a cell whose neighbour is near; use a "
                     "smaller gap or lloyd: 1 or more",
                     gap);
}

/// Move every point to the centre of its cell.
static talus_status lloyd_step(sites* s, double* moved, talus_error* error)
{
    for (int64_t i = 0; i < s->count; i++) {
        double centre[3];
        TRY(make_cell(s, i, 0.0, error));
        convex_cell_volume(&s->cell, centre);
        for (int k = 0; k < 3; k++) moved[3 * i + k] = s->x[3 * i + k] + centre[k];
        for (int k = 0; k < s->dim; k++) {
            double* x = &moved[3 * i + k];
            if (s->box.periodic[k])
                *x -= s->box.length[k] * floor((*x - s->def->low[k]) / s->box.length[k]);
        }
    }
    memcpy(s->x, moved, sizeof *moved * 3 * (size_t)s->count);
    return fill_bins(s, error);
}

/// The bottom or top that a cell belongs to.
static block_edge edge_of(const sites* s, int64_t self)
{
    int k = s->dim - 1;
    double low[3], high[3], slack = 1e-9 * s->box.length[k];
    convex_cell_extent(&s->cell, low, high);
    const double x = s->x[3 * self + k];
    if (x + low[k] <= s->def->low[k] + s->def->depth[EDGE_BOTTOM] + slack) return EDGE_BOTTOM;
    if (x + high[k] >= s->def->high[k] - s->def->depth[EDGE_TOP] - slack) return EDGE_TOP;
    return EDGE_NONE;
}

/// Hand a cell over: its corners about its point, each once.
static talus_status add_cell(const sites* s, int64_t self, block_list* out, talus_error* error)
{
    const convex_loops* loops = &s->cell.now;
    const int corners = loops->first[loops->faces];
    double* points = malloc(sizeof *points * 3 * (size_t)corners);
    if (!points) return error_memory(error, "making Voronoi cells");
    int count = 0;
    for (int i = 0; i < corners; i++) {
        const double* x = loops->x + 3 * i;
        int same = 0;
        while (same < count &&
               memcmp(points + same * s->dim, x, sizeof(double) * (size_t)s->dim) != 0) {
            same++;
        }
        if (same < count) continue;
        vec_copy(s->dim, points + s->dim * count++, x);
    }
    block b = {.edge = edge_of(s, self)};
    vec_copy(3, b.origin, s->x + 3 * self);
    talus_status status = block_list_add_shape(out, points, count, &b.shape, error);
    free(points);
    return status < 0 ? status : block_list_add(out, &b, error);
}

static talus_status make_all(sites* s, const generate_context* context, block_list* out,
                             double* moved, talus_error* error)
{
    TRY(sites_make(s, context, error));
    for (int i = 0; i < s->def->lloyd; i++) TRY(lloyd_step(s, moved, error));
    for (int64_t i = 0; i < s->count; i++) {
        TRY(make_cell(s, i, s->def->gap, error));
        TRY(add_cell(s, i, out, error));
    }
    return TALUS_OK;
}

talus_status generate_voronoi(const voronoi_def* def, const generate_context* context,
                              block_list* out, talus_error* error)
{
    sites s = {.def = def, .dim = context->dim, .count = def->count};
    double* moved = malloc(sizeof *moved * 3 * (size_t)def->count);
    talus_status status = moved ? make_all(&s, context, out, moved, error)
                                : error_memory(error, "making Voronoi cells");
    free(moved);
    free(s.x);
    bins_free(&s.bins);
    near_list_free(&s.near);
    convex_cell_free(&s.cell);
    return status;
}

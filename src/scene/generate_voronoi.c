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
#include "scene/blocks.h"
#include "scene/generate_region.h"
#include "shape/convex_cell.h"

// ---- points in bins ----------------------------------------------------------------------------

typedef struct neighbour {
    double delta[3];
    double distance;
} neighbour;

typedef struct sites {
    const voronoi_def* def;
    int dim;
    int64_t count;
    double* x; ///< [count][3]
    bool periodic[3];
    double length[3];
    double spacing; ///< of the bins
    int64_t bins[3];
    int64_t* head; ///< [bins] first point, -1: none
    int64_t* next; ///< [count]
    neighbour* near;
    int64_t near_count, near_capacity;
    convex_cell cell; ///< the one being cut
} sites;

static void sites_free(sites* s)
{
    free(s->x);
    free(s->head);
    free(s->next);
    free(s->near);
    convex_cell_free(&s->cell);
}

static int64_t bin_along(const sites* s, int k, double x)
{
    return (int64_t)floor((x - s->def->low[k]) / s->length[k] * (double)s->bins[k]);
}

static int64_t clamp_bin(const sites* s, int k, int64_t bin)
{
    return bin < 0 ? 0 : bin >= s->bins[k] ? s->bins[k] - 1 : bin;
}

static void fill_bins(sites* s)
{
    int64_t all = s->bins[0] * s->bins[1] * s->bins[2];
    for (int64_t i = 0; i < all; i++) s->head[i] = -1;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t at[3] = {0};
        for (int k = 0; k < s->dim; k++) at[k] = clamp_bin(s, k, bin_along(s, k, s->x[3 * i + k]));
        int64_t bin = at[0] + s->bins[0] * (at[1] + s->bins[1] * at[2]);
        s->next[i] = s->head[bin];
        s->head[bin] = i;
    }
}

/// Spacing of points that fill a box: as many as `count` on a grid of it. A box thinner than that
/// holds one layer of them: of the spacings along the longest edge, over the largest face and in
/// the whole box the largest counts, since an edge longer than the spacing without it enlarges it
/// and a shorter one does not. The bins are never more than the points.
static double fill_spacing(int dim, const double length[3], double count)
{
    double sorted[3], product = 1.0, spacing = 0.0;
    for (int k = 0; k < dim; k++) {
        int at = k;
        for (; at > 0 && sorted[at - 1] < length[k]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = length[k];
    }
    for (int k = 0; k < dim; k++) {
        product *= sorted[k] / sorted[0];
        spacing = fmax(spacing, sorted[0] * pow(product / count, 1.0 / (k + 1)));
    }
    return spacing;
}

static talus_status sites_make(sites* s, const generate_context* context, talus_error* error)
{
    region_def box = {.kind = REGION_BOX};
    vec_copy(3, box.low, s->def->low);
    vec_copy(3, box.high, s->def->high);
    TRY(region_check(&box, s->dim, error));
    for (int k = 0; k < 3; k++) {
        s->periodic[k] = region_endless(&box, &context->cell, s->dim, k);
        s->length[k] = k < s->dim ? s->def->high[k] - s->def->low[k] : 0.0;
        s->bins[k] = 1;
    }
    s->spacing = fill_spacing(s->dim, s->length, (double)s->count);
    int64_t all = 1;
    for (int k = 0; k < s->dim; k++) {
        // Every image within reach of a point is looked at.
        if (s->periodic[k] && s->length[k] < 1e-3 * s->spacing) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "voronoi: the periodic box is too thin along %c for cells of size %g",
                             axis_letter(k), s->spacing);
        }
        s->bins[k] = (int64_t)fmax(1.0, floor(s->length[k] / s->spacing));
        all *= s->bins[k];
    }
    s->x = calloc((size_t)s->count, 3 * sizeof *s->x);
    s->head = malloc(sizeof *s->head * (size_t)all);
    s->next = malloc(sizeof *s->next * (size_t)s->count);
    if (!s->x || !s->head || !s->next) return error_memory(error, "making Voronoi cells");
    rng r = rng_make(context->seed, context->source, 0);
    for (int64_t i = 0; i < s->count; i++) {
        for (int k = 0; k < s->dim; k++) {
            s->x[3 * i + k] = s->def->low[k] + s->length[k] * rng_uniform(&r);
        }
    }
    fill_bins(s);
    return TALUS_OK;
}

static int by_distance(const void* pa, const void* pb)
{
    const neighbour *a = pa, *b = pb;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return memcmp(a->delta, b->delta, sizeof a->delta);
}

/// Add the points of one bin, shifted by whole cells.
static talus_status gather_bin(sites* s, int64_t self, const int64_t bin[3], const double shift[3],
                               double reach, talus_error* error)
{
    int64_t i = s->head[bin[0] + s->bins[0] * (bin[1] + s->bins[1] * bin[2])];
    for (; i >= 0; i = s->next[i]) {
        neighbour n;
        for (int k = 0; k < 3; k++) n.delta[k] = s->x[3 * i + k] + shift[k] - s->x[3 * self + k];
        n.distance = vec_norm(3, n.delta);
        // Images of the point itself lie on the box that the cell starts from.
        if (n.distance > reach || i == self) continue;
        if (s->near_count == s->near_capacity) {
            int64_t capacity = 2 * s->near_capacity + 256;
            neighbour* more = realloc(s->near, sizeof *more * (size_t)capacity);
            if (!more) return error_memory(error, "making Voronoi cells");
            s->near = more;
            s->near_capacity = capacity;
        }
        s->near[s->near_count++] = n;
    }
    return TALUS_OK;
}

/// The points within reach of a point, and their images, nearest first.
static talus_status gather(sites* s, int64_t self, double reach, talus_error* error)
{
    int64_t from[3] = {0}, to[3] = {0}, at[3];
    s->near_count = 0;
    for (int k = 0; k < s->dim; k++) {
        from[k] = bin_along(s, k, s->x[3 * self + k] - reach);
        to[k] = bin_along(s, k, s->x[3 * self + k] + reach);
        if (s->periodic[k]) continue;
        from[k] = clamp_bin(s, k, from[k]);
        to[k] = clamp_bin(s, k, to[k]);
    }
    for (at[2] = from[2]; at[2] <= to[2]; at[2]++) {
        for (at[1] = from[1]; at[1] <= to[1]; at[1]++) {
            for (at[0] = from[0]; at[0] <= to[0]; at[0]++) {
                int64_t bin[3];
                double shift[3];
                for (int k = 0; k < 3; k++) {
                    int64_t turns = (int64_t)floor((double)at[k] / (double)s->bins[k]);
                    bin[k] = at[k] - turns * s->bins[k];
                    shift[k] = (double)turns * s->length[k];
                }
                TRY(gather_bin(s, self, bin, shift, reach, error));
            }
        }
    }
    if (s->near_count > 0) {
        qsort(s->near, (size_t)s->near_count, sizeof *s->near, by_distance);
    }
    return TALUS_OK;
}

/// Cut the cell of a point by its neighbours within `reach`; *whole: no farther one can cut it.
static talus_status cut_cell(sites* s, int64_t self, double gap, double reach, bool* whole)
{
    static const int32_t no_tags[3] = {0};
    double low[3] = {0}, high[3] = {0};
    for (int k = 0; k < s->dim; k++) {
        double half = 0.5 * (s->length[k] - gap);
        low[k] = s->periodic[k] ? -half : s->def->low[k] - s->x[3 * self + k];
        high[k] = s->periodic[k] ? half : s->def->high[k] - s->x[3 * self + k];
    }
    convex_cell* c = &s->cell;
    TRY(convex_cell_box(c, s->dim, low, high, no_tags));
    for (int64_t i = 0; i < s->near_count && !convex_cell_is_empty(c); i++) {
        const neighbour* n = &s->near[i];
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
            if (s->periodic[k]) *x -= s->length[k] * floor((*x - s->def->low[k]) / s->length[k]);
        }
    }
    memcpy(s->x, moved, sizeof *moved * 3 * (size_t)s->count);
    fill_bins(s);
    return TALUS_OK;
}

/// The bottom or top that a cell belongs to.
static block_edge edge_of(const sites* s, int64_t self)
{
    int k = s->dim - 1;
    double low[3], high[3], slack = 1e-9 * s->length[k];
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
    sites_free(&s);
    return status;
}

/// The radical Voronoi cell of one grain.
///
/// The plane between the grains i and j is at
///   d_ij = (D^2 + r_i^2 - r_j^2) / (2 D)
/// from i along the line of length D to j. The cell is the domain cut by these planes: first by
/// those nearer than a guess, nearest first. If all corners are within the guess that is all. If
/// not, as at a free surface, each corner is asked which grain it belongs to, and that grain's
/// plane cuts it off, until all corners belong to the cell: what a cell of any size costs is the
/// number of its corners. The sides of cylinders also cut only the corners that are behind them.
#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "measure/voronoi.h"

#include <stdlib.h>
#include <string.h>

/// Planes that are enough to go on with the corners.
enum { ENOUGH = 16 };
/// A corner may be behind a plane by this part of the size of the cell that was cut: a corner that
/// a plane has made is on it only up to rounding, and must not be cut by it again.
static const double ROUNDING = 1e-14;

void voronoi_sites_free(voronoi_sites* s)
{
    free(s->radius);
    power_tree_free(&s->tree);
    *s = (voronoi_sites){0};
}

void voronoi_memory_free(voronoi_memory* m)
{
    near_list_free(&m->near);
    convex_cell_free(&m->cell);
    free(m->known.x);
    free(m->known.turn);
    *m = (voronoi_memory){0};
}

talus_status voronoi_sites_make(const domain* d, voronoi_sites* out, talus_error* error)
{
    const grains* g = d->grains;
    *out = (voronoi_sites){.domain = d, .count = g->count};
    out->radius = malloc(sizeof *out->radius * ((size_t)g->count + 1));
    talus_status status = out->radius ? TALUS_OK : error_memory(error, "making Voronoi cells");
    for (int64_t i = 0; i < g->count && status == TALUS_OK; i++) {
        const double radius = out->radius[i] = 0.5 * grain_diameter(g, i);
        if (radius > 0.0 && isfinite(radius)) continue;
        status = error_set(error, TALUS_ERR_NUMERIC,
                           "Voronoi cells: grain %lld has the radius %g, expected a positive one",
                           (long long)g->id[i], radius);
    }
    if (status == TALUS_OK &&
        power_tree_make(d->dim, g->position, out->radius, out->count, &d->cell, &out->tree)) {
        status = error_memory(error, "making Voronoi cells");
    }
    if (status < 0) voronoi_sites_free(out);
    return status;
}

// ---- corners that are known --------------------------------------------------------------------

/// Keep half of the table free. When it grows it forgets all.
static talus_status known_reserve(corner_set* s)
{
    if (2 * s->count < s->capacity) return TALUS_OK;
    const int64_t needed = s->capacity > 0 ? 2 * s->capacity : 256;
    if (!arrays_renew(&s->capacity, needed, ARRAY(s->x), ARRAY(s->turn))) return TALUS_ERR_MEMORY;
    memset(s->turn, 0, sizeof *s->turn * (size_t)s->capacity); // all are forgotten
    s->count = 0;
    return TALUS_OK;
}

/// Is a corner in the set? *at: where it is or belongs.
static bool is_known(const corner_set* s, const double x[3], int64_t* at)
{
    uint64_t hash = 0, bits;
    for (int k = 0; k < 3; k++) {
        memcpy(&bits, &x[k], sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (*at = (int64_t)(hash % (uint64_t)s->capacity); s->turn[*at] == s->now;
         *at = (*at + 1) % s->capacity) {
        if (memcmp(s->x[*at], x, sizeof s->x[0]) == 0) return true;
    }
    return false;
}

// ---- planes ------------------------------------------------------------------------------------

static int by_key(const void* pa, const void* pb)
{
    const near_point *a = pa, *b = pb;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->item != b->item) return a->item < b->item ? -1 : 1;
    return memcmp(a->delta, b->delta, sizeof a->delta);
}

static talus_status cut_by(convex_cell* c, const near_point* p)
{
    double normal[3];
    for (int k = 0; k < 3; k++) normal[k] = p->delta[k] / p->distance;
    return convex_cell_cut(c, normal, p->key, p->item);
}

/// List the planes nearer than `guess`, nearest first. Of grains at the same place the larger one
/// has all, of equal ones the first: *hidden.
static talus_status find_planes(const voronoi_sites* s, int64_t row, const double place[3],
                                double guess, near_list* near, bool* hidden)
{
    const double r = s->radius[row];
    int64_t kept = 0;
    near->count = 0;
    TRY(power_tree_planes(&s->tree, place, r, guess, near));
    for (int64_t i = 0; i < near->count; i++) {
        const near_point p = near->point[i];
        const double other = s->radius[p.item];
        if (p.item == row) continue; // its own images: see start_cell()
        if (p.distance == 0.0)
            *hidden = *hidden || other > r || (other == r && p.item < row);
        else
            near->point[kept++] = p;
    }
    near->count = kept;
    if (kept > 1) qsort(near->point, (size_t)kept, sizeof *near->point, by_key);
    return TALUS_OK;
}

/// The domain as seen from a grain, up to `limit` along each axis, with its cylinders' boxes only.
/// Along periodic axes the planes to the grain's own images are the box.
static talus_status start_cell(const voronoi_sites* s, int64_t row, double limit, convex_cell* c)
{
    const domain* d = s->domain;
    const double* x = d->grains->position + row * d->dim;
    double low[3] = {0}, high[3] = {0};
    int32_t tag[3] = {-1, -1, -1};
    for (int k = 0; k < d->dim; k++) {
        const double half = 0.5 * d->cell.length[k];
        low[k] = d->whole[k] ? -half : d->low[k] - x[k];
        high[k] = d->whole[k] ? half : d->high[k] - x[k];
        if (d->whole[k]) tag[k] = (int32_t)row;
        low[k] = fmax(low[k], -limit);
        high[k] = fmin(high[k], limit);
        if (!(low[k] < high[k])) { // the grain is outside of the domain, and farther than that
            c->dim = d->dim;
            c->now.faces = 0;
            return TALUS_OK;
        }
    }
    TRY(convex_cell_box(c, d->dim, low, high, tag));
    for (int i = 0, cylinder = 0; i < d->box; i++) {
        if (cylinder < d->cylinder_count && i == d->cylinder[cylinder].first) {
            i += CYLINDER_SIDES - 1;
            cylinder++;
            continue;
        }
        const half_space* h = &d->side[i];
        TRY(convex_cell_cut(c, h->normal, h->offset - vec_dot(d->dim, h->normal, x), -1));
    }
    return TALUS_OK;
}

// ---- corners -----------------------------------------------------------------------------------

/// The side of a cylinder that a corner is over, as seen from `place`: its offset there to *offset.
static const half_space* cylinder_side(const domain* d, const domain_cylinder* cylinder,
                                       const double place[3], const double corner[3],
                                       double* offset)
{
    const half_space* side = d->side + cylinder->first;
    double arm[3] = {0};
    for (int k = 0; k < d->dim; k++) arm[k] = place[k] - cylinder->point[k] + corner[k];
    // The first two axes of the cylinder are the normals of its side 0 and of that at a right
    // angle.
    const double turn =
        atan2(vec_dot(3, side[CYLINDER_SIDES / 4].normal, arm), vec_dot(3, side[0].normal, arm));
    const int i = (int)rint(turn / (2.0 * M_PI) * CYLINDER_SIDES);
    side += (i + CYLINDER_SIDES) % CYLINDER_SIDES;
    *offset = side->offset - vec_dot(d->dim, side->normal, place);
    return side;
}

/// Cut off corners that are behind a cylinder's side or else (with `sites`) belong to another
/// grain, until all of them stay. `size` is that of the cell before any cut.
static talus_status cut_corners(const voronoi_sites* s, int64_t row, const double place[3],
                                double size, bool sites, voronoi_memory* memory)
{
    const domain* d = s->domain;
    const double slack = ROUNDING * size;
    convex_cell* c = &memory->cell;
    corner_set* known = &memory->known;
    known->now++;
    known->count = 0;
    for (int i = 0; !convex_cell_is_empty(c) && i < c->now.first[c->now.faces];) {
        double corner[3];
        bool cut = false;
        int64_t at;
        TRY(known_reserve(known));
        vec_copy(3, corner, c->now.x + 3 * i++);
        if (is_known(known, corner, &at)) continue;
        for (int r = 0; r < d->cylinder_count && !cut; r++) {
            double offset;
            const half_space* h = cylinder_side(d, &d->cylinder[r], place, corner, &offset);
            cut = vec_dot(3, h->normal, corner) - offset > slack;
            if (cut) TRY(convex_cell_cut(c, h->normal, offset, -1));
        }
        near_point owner;
        if (!cut && sites &&
            power_tree_owner(&s->tree, place, s->radius[row], corner, slack, &owner)) {
            cut = true;
            TRY(cut_by(c, &owner));
        }
        if (cut) {
            i = 0;
            continue;
        }
        vec_copy(3, known->x[at], corner);
        known->turn[at] = known->now;
        known->count++;
    }
    return TALUS_OK;
}

/// Can a cell that reaches as far as `radius` from a place be behind a side of a cylinder?
static bool reaches_cylinder(const domain* d, const double place[3], double radius)
{
    static const double here[3] = {0};
    for (int r = 0; r < d->cylinder_count; r++) {
        double offset;
        cylinder_side(d, &d->cylinder[r], place, here, &offset);
        // The side that the place is over is the nearest one.
        if (offset < radius) return true;
    }
    return false;
}

/// Cut by the planes that were found and by cylinders, and with `sites` by all others.
static talus_status cut_all(const voronoi_sites* s, int64_t row, const double place[3], bool sites,
                            voronoi_memory* memory)
{
    convex_cell* c = &memory->cell;
    const double size = convex_cell_radius(c);
    double radius = size;
    for (int64_t i = 0; i < memory->near.count && memory->near.point[i].key < radius; i++) {
        TRY(cut_by(c, &memory->near.point[i]));
        radius = convex_cell_radius(c);
    }
    if (!sites && !reaches_cylinder(s->domain, place, radius)) return TALUS_OK;
    return cut_corners(s, row, place, size, sites, memory);
}

talus_status voronoi_cell(const voronoi_sites* s, int64_t row, voronoi_memory* memory)
{
    const domain* d = s->domain;
    const double r = s->radius[row];
    convex_cell* c = &memory->cell;
    double place[3] = {0};
    vec_copy(d->dim, place, d->grains->position + row * d->dim);
    TRY(start_cell(s, row, INFINITY, c));
    const double reach = convex_cell_radius(c);
    // A start that is larger than the guess leaves corners beyond it where planes are missing.
    for (double guess = 2.0 * r;; guess *= 2.0) {
        bool hidden = false;
        TRY(find_planes(s, row, place, guess, &memory->near, &hidden));
        TRY(start_cell(s, row, hidden ? 0.0 : 1.01 * guess, c));
        if (hidden) return TALUS_OK;
        TRY(cut_all(s, row, place, false, memory));
        const bool within = !convex_cell_is_empty(c) && convex_cell_radius(c) <= guess;
        if (within && power_tree_is_whole(&s->tree, r, guess)) return TALUS_OK;
        if (within || memory->near.count >= ENOUGH || guess > reach) break;
    }
    TRY(start_cell(s, row, INFINITY, c));
    return cut_all(s, row, place, true, memory);
}

talus_status voronoi_each_cell(const voronoi_sites* s, int threads, voronoi_cell_fn* use,
                               void* data)
{
    const int chunks = parallel_chunks(s->count);
    talus_status status = TALUS_OK;
#pragma omp parallel for num_threads(parallel_threads(threads, s->count)) schedule(dynamic, 1)
    for (int c = 0; c < chunks; c++) {
        voronoi_memory memory = {0};
        talus_status of_chunk = TALUS_OK;
        const int64_t last = parallel_first(s->count, c + 1);
        for (int64_t i = parallel_first(s->count, c); i < last && of_chunk == TALUS_OK; i++) {
            of_chunk = voronoi_cell(s, i, &memory);
            if (of_chunk == TALUS_OK) of_chunk = use(data, c, i, &memory.cell);
        }
        voronoi_memory_free(&memory);
        if (of_chunk < 0) {
#pragma omp atomic write
            status = of_chunk;
        }
    }
    return status;
}

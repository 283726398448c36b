/// The radical Voronoi cell of one grain.
///
/// The plane between the grains i and j is at
///   d_ij = (D^2 + r_i^2 - r_j^2) / (2 D)
/// from i along the line of length D to j. The cell is the domain cut by these planes, nearest
/// first, until the next is farther than the cell's farthest corner. No grain of radius up to r can
/// cut a cell of radius R from farther away than R + sqrt(R^2 + r^2 - r_i^2). R is guessed at
/// first, and doubled until the cell turns out to be smaller.
#include "base/error.h"
#include "base/vec.h"
#include "measure/voronoi.h"

#include <stdlib.h>
#include <string.h>

void voronoi_sites_free(voronoi_sites* s)
{
    free(s->radius);
    for (int c = 0; c < s->classes; c++) bins_free(&s->size[c].bins);
    *s = (voronoi_sites){0};
}

/// Class of a radius: factors of two over the least one.
static int class_of(double radius, double least)
{
    const int c = (int)floor(log2(radius / least));
    return c < 0 ? 0 : c >= VORONOI_CLASSES ? VORONOI_CLASSES - 1 : c;
}

static talus_status fill_classes(voronoi_sites* s, double least, int32_t* item)
{
    const grains* g = s->domain->grains;
    for (int c = 0; c < VORONOI_CLASSES; c++) {
        int64_t count = 0;
        double largest = 0.0;
        for (int64_t i = 0; i < s->count; i++) {
            if (class_of(s->radius[i], least) != c) continue;
            item[count++] = (int32_t)i;
            largest = fmax(largest, s->radius[i]);
        }
        if (count == 0) continue;
        s->size[s->classes].radius = largest;
        TRY(bins_make(g->dim, g->position, g->dim, item, count, &s->domain->cell,
                      &s->size[s->classes].bins));
        s->classes++;
    }
    return TALUS_OK;
}

talus_status voronoi_sites_make(const domain* d, voronoi_sites* out, talus_error* error)
{
    const int64_t count = d->grains->count;
    double least = INFINITY;
    *out = (voronoi_sites){.domain = d, .count = count};
    out->radius = malloc(sizeof *out->radius * ((size_t)count + 1));
    int32_t* item = malloc(sizeof *item * ((size_t)count + 1));
    talus_status status = out->radius && item ? TALUS_OK : TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < count && status == TALUS_OK; i++) {
        out->radius[i] = 0.5 * grain_diameter(d->grains, i);
        least = fmin(least, out->radius[i]);
        if (out->radius[i] > 0.0 && isfinite(out->radius[i])) continue;
        status = error_set(error, TALUS_ERR_NUMERIC,
                           "Voronoi cells: grain %lld has the radius %g, expected a positive one",
                           (long long)d->grains->id[i], out->radius[i]);
    }
    if (status == TALUS_OK) status = fill_classes(out, least, item);
    free(item);
    if (status == TALUS_OK) return TALUS_OK;
    voronoi_sites_free(out);
    return status == TALUS_ERR_MEMORY ? error_memory(error, "making Voronoi cells") : status;
}

static int by_key(const void* pa, const void* pb)
{
    const near_point *a = pa, *b = pb;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->item != b->item) return a->item < b->item ? -1 : 1;
    return memcmp(a->delta, b->delta, sizeof a->delta);
}

/// Planes nearer than `guess`, nearest first. Of grains at the same place the larger one has all,
/// of equal ones the first: *hidden.
static talus_status gather(const voronoi_sites* s, int64_t row, double guess, near_list* near,
                           bool* hidden)
{
    const double r = s->radius[row];
    const double* place = s->domain->grains->position + row * s->domain->dim;
    near->count = 0;
    for (int c = 0; c < s->classes; c++) {
        const double square = guess * guess + s->size[c].radius * s->size[c].radius - r * r;
        if (square >= 0.0) {
            TRY(bins_near(&s->size[c].bins, place, guess + sqrt(square), near));
        }
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < near->count; i++) {
        near_point p = near->point[i];
        const double other = s->radius[p.item];
        if (p.item == row) continue; // its own images: see start_cell()
        if (p.distance == 0.0) {
            *hidden = *hidden || other > r || (other == r && p.item < row);
            continue;
        }
        p.key = (p.distance * p.distance + r * r - other * other) / (2.0 * p.distance);
        if (p.key < guess) near->point[kept++] = p;
    }
    near->count = kept;
    if (kept > 1) qsort(near->point, (size_t)kept, sizeof *near->point, by_key);
    return TALUS_OK;
}

/// The domain as seen from a grain, with its cylinders' boxes only. Along periodic axes the planes
/// to the grain's own images are the box.
static talus_status start_cell(const voronoi_sites* s, int64_t row, convex_cell* c)
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
    }
    TRY(convex_cell_box(c, d->dim, low, high, tag));
    for (int i = 0, round = 0; i < d->box; i++) {
        if (round < d->round_count && i == d->round[round].first) {
            i += DOMAIN_ROUND - 1;
            round++;
            continue;
        }
        const half_space* h = &d->side[i];
        TRY(convex_cell_cut(c, h->normal, h->offset - vec_dot(d->dim, h->normal, x), -1));
    }
    return TALUS_OK;
}

/// Cut by the sides of the cylinders, where the cell reaches them.
static talus_status cut_rounds(const voronoi_sites* s, int64_t row, convex_cell* c)
{
    const domain* d = s->domain;
    const double* x = d->grains->position + row * d->dim;
    const double radius = convex_cell_radius(c);
    for (int r = 0; r < d->round_count; r++) {
        for (int i = d->round[r].first; i < d->round[r].first + DOMAIN_ROUND; i++) {
            const half_space* h = &d->side[i];
            const double offset = h->offset - vec_dot(d->dim, h->normal, x);
            if (offset < radius) TRY(convex_cell_cut(c, h->normal, offset, -1));
        }
    }
    return TALUS_OK;
}

talus_status voronoi_cell(const voronoi_sites* s, int64_t row, voronoi_memory* memory)
{
    convex_cell* c = &memory->cell;
    bool hidden = false;
    double guess = 2.0 * s->radius[row];
    for (;; guess *= 2.0) {
        TRY(start_cell(s, row, c));
        TRY(gather(s, row, guess, &memory->near, &hidden));
        double radius = convex_cell_radius(c);
        for (int64_t i = 0; i < memory->near.count && !convex_cell_is_empty(c); i++) {
            const near_point* p = &memory->near.point[i];
            double normal[3];
            if (p->key >= radius) break;
            for (int k = 0; k < 3; k++) normal[k] = p->delta[k] / p->distance;
            TRY(convex_cell_cut(c, normal, p->key, p->item));
            radius = convex_cell_radius(c);
        }
        if (radius <= guess || convex_cell_is_empty(c)) break;
    }
    if (hidden) c->now.faces = 0;
    return cut_rounds(s, row, c);
}

/// Joining the corners of triangles that are the same.
///
/// They are sought through a table of cubes twice as wide as the tolerance: all that is within the
/// tolerance of a corner lies in at most eight of them.
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "geometry/mesh.h"

#include <stdlib.h>
#include <string.h>

typedef struct weld_table {
    double low[3], width; ///< where the cubes begin, and how wide they are
    int32_t* head;        ///< [1 << bits] newest corner of a bucket, -1: none
    int32_t* older;       ///< [corners]
    uint64_t mask;
} weld_table;

static uint64_t weld_bucket(const weld_table* w, const int64_t cube[3])
{
    uint64_t h = hash_bytes(HASH_START, cube, 3 * sizeof *cube);
    return (h ^ h >> 32) & w->mask;
}

/// A corner already kept within the tolerance of x, -1 if there is none.
static int32_t weld_find(const weld_table* w, const double* kept, const double x[3],
                         double tolerance)
{
    for (int side = 0; side < 8; side++) {
        int64_t cube[3];
        for (int k = 0; k < 3; k++) {
            double shift = side >> k & 1 ? tolerance : -tolerance;
            cube[k] = (int64_t)floor((x[k] - w->low[k] + shift) / w->width);
        }
        for (int32_t i = w->head[weld_bucket(w, cube)]; i >= 0; i = w->older[i]) {
            double u[3];
            vec_sub(3, u, kept + 3 * i, x);
            if (vec_norm(3, u) <= tolerance) return i;
        }
    }
    return -1;
}

/// Where the cubes begin, how wide they are, and an empty table; false if memory is short.
static bool weld_begin(weld_table* w, const triangles* t)
{
    double extent = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < t->vertex_count; v++) {
            low = fmin(low, t->vertex[3 * v + k]);
            high = fmax(high, t->vertex[3 * v + k]);
        }
        w->low[k] = low;
        extent = fmax(extent, high - low);
    }
    w->width = 2.0 * fmax(1e-9 * extent, 1e-300); // one point only: no cube of width zero
    w->mask = 15;
    while (w->mask < (uint64_t)t->vertex_count) w->mask = 2 * w->mask + 1;
    w->head = malloc((w->mask + 1) * sizeof *w->head);
    w->older = malloc(((size_t)t->vertex_count + 1) * sizeof *w->older);
    if (w->head) memset(w->head, 0xff, (w->mask + 1) * sizeof *w->head); // all -1
    return w->head && w->older;
}

talus_status triangles_weld(triangles* t, talus_error* error)
{
    weld_table w = {0};
    int32_t* now = malloc(((size_t)t->vertex_count + 1) * sizeof *now);
    const bool good = weld_begin(&w, t) && now;
    if (good) {
        // Keep one of every set of equal corners; now[old index] = new index.
        int32_t count = 0;
        for (int64_t v = 0; v < t->vertex_count; v++) {
            double x[3];
            vec_copy(3, x, t->vertex + 3 * v);
            now[v] = weld_find(&w, t->vertex, x, 0.5 * w.width);
            if (now[v] >= 0) continue;
            int64_t cube[3];
            for (int k = 0; k < 3; k++) cube[k] = (int64_t)floor((x[k] - w.low[k]) / w.width);
            const uint64_t bucket = weld_bucket(&w, cube);
            vec_copy(3, t->vertex + 3 * count, x);
            w.older[count] = w.head[bucket];
            w.head[bucket] = now[v] = count++;
        }
        t->vertex_count = count;
        for (int64_t k = 0; k < 3 * t->triangle_count; k++) t->triangle[k] = now[t->triangle[k]];
    }
    free(w.head);
    free(w.older);
    free(now);
    return good ? TALUS_OK : error_memory(error, "welding a mesh");
}

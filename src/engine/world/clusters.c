/// Connected clusters by union and find (base/forest.h), and their extents.
///
/// Extents are least and greatest numbers, which do not depend on the order in which threads take
/// their turns: the result has the same bits.
#include "world/clusters.h"

#include "base/array.h"
#include "base/forest.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void clusters_free(clusters* c)
{
    free(c->parent);
    free(c->extent);
    *c = (clusters){0};
}

// ---- the forest --------------------------------------------------------------------------------

static void join_active(int32_t* parent, const grains* g, const contacts* list, int threads)
{
    const int team = parallel_threads(threads, list->count);
#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t i = 0; i < g->count; i++) parent[i] = (int32_t)i;
#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t c = 0; c < list->count; c++) {
        if (list->state[c] == TALUS_CONTACT_OPEN || list->a_row[c] < 0) continue;
        forest_join(parent, list->a_row[c], list->b_row[c]);
    }
#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t i = 0; i < g->count; i++) {
        forest_set_parent(parent, (int32_t)i, forest_root(parent, (int32_t)i));
    }
}

/// Number the clusters of two grains and more: their roots get the parent -1 - number. A grain
/// alone stays its own parent. Returns how many there are.
static int64_t number_clusters(int32_t* parent, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t root = parent[i]; // lower than i, so it was seen before
        if (root == i) continue;
        if (parent[root] == root) parent[root] = (int32_t)(-1 - found++);
    }
    return found;
}

// ---- extents -----------------------------------------------------------------------------------

/// Doubles as integers of the same order, and back.
static int64_t ordered(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static double unordered(int64_t bits)
{
    double x;
    if (bits < 0) bits ^= INT64_MAX;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void lower_to(int64_t* least, int64_t value)
{
    int64_t now = __atomic_load_n(least, __ATOMIC_RELAXED);
    while (value < now && !__atomic_compare_exchange_n(least, &now, value, false, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
    }
}

/// Longest extent of the clusters in `extent` [count][2 dim]: least low and least -high of each.
static double longest_of(const int64_t* extent, int64_t count, int dim)
{
    double longest = 0.0;
    for (int64_t n = 0; n < count; n++) {
        for (int k = 0; k < dim; k++) {
            const double low = unordered(extent[2 * dim * n + k]);
            const double high = -unordered(extent[2 * dim * n + dim + k]);
            longest = fmax(longest, high - low);
        }
    }
    return longest;
}

/// What the chunks of grains work on.
typedef struct extent_task {
    const grains* g;
    const int32_t* parent;
    int64_t* extent;
} extent_task;

/// Stretch the clusters by their grains; *longest receives the longest grain that is alone.
static void stretch_clusters(void* data, int64_t first, int64_t last, double* longest)
{
    const extent_task* task = data;
    const grains* g = task->g;
    const int dim = g->dim;
    for (int64_t i = first; i < last; i++) {
        const int32_t up = task->parent[i];
        const int64_t cluster = -1 - (int64_t)(up < 0 ? up : task->parent[up]);
        for (int k = 0; k < dim; k++) {
            const double low = g->position[i * dim + k] - g->radius[i];
            const double high = g->position[i * dim + k] + g->radius[i];
            if (up == i) {
                *longest = fmax(*longest, high - low);
                continue;
            }
            lower_to(&task->extent[2 * dim * cluster + k], ordered(low));
            lower_to(&task->extent[2 * dim * cluster + dim + k], ordered(-high));
        }
    }
}

talus_status clusters_longest(clusters* c, const grains* g, const contacts* list, int threads,
                              double* longest)
{
    *longest = 0.0;
    if (!arrays_renew(&c->capacity, g->count, ARRAY(c->parent))) return TALUS_ERR_MEMORY;
    join_active(c->parent, g, list, threads);
    const int64_t count = number_clusters(c->parent, g->count), numbers = 2 * g->dim * count;
    if (!arrays_renew(&c->extent_capacity, numbers, ARRAY(c->extent))) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < numbers; i++) c->extent[i] = INT64_MAX;
    extent_task task = {g, c->parent, c->extent};
    double alone;
    parallel_reduce(threads, g->count, PARALLEL_MAX, 1, stretch_clusters, &task, &alone);
    *longest = fmax(fmax(alone, 0.0), longest_of(c->extent, count, g->dim));
    return TALUS_OK;
}

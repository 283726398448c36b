/// Radical Voronoi cells one by one; voronoi.c puts them together.
#ifndef TALUS_MEASURE_VORONOI_H
#define TALUS_MEASURE_VORONOI_H

#include "measure/domain.h"
#include "measure/power_tree.h"

/// Grains as points with radii.
typedef struct voronoi_sites {
    const domain* domain;
    int64_t count;
    double* radius; ///< [count] of the ball as large as the grain
    power_tree tree;
} voronoi_sites;

talus_status voronoi_sites_make(const domain* d, voronoi_sites* out, talus_error* error);
void voronoi_sites_free(voronoi_sites* s);

/// Corners of a cell that are known to stay: a hash table. It may forget, never invent.
typedef struct corner_set {
    int64_t count, capacity;
    double (*x)[3];
    int64_t* turn; ///< [capacity] x is of the set when this is `now`
    int64_t now;
} corner_set;

/// Memory of one thread. Zero it to begin.
typedef struct voronoi_memory {
    near_list near;
    convex_cell cell;
    corner_set known;
} voronoi_memory;

void voronoi_memory_free(voronoi_memory* m);

/// Make the cell of a grain, about its centre, in memory->cell; faces are tagged with the row of
/// the grain behind them, or -1. It is empty if other grains have it all.
talus_status voronoi_cell(const voronoi_sites* s, int64_t row, voronoi_memory* memory);

/// What is done with the cell of a grain, which belongs to a chunk of parallel_chunks(count).
typedef talus_status voronoi_cell_fn(void* data, int chunk, int64_t row, const convex_cell* c);
/// Make the cells of all grains and hand each to `use`; the threads share the chunks.
talus_status voronoi_each_cell(const voronoi_sites* s, int threads, voronoi_cell_fn* use,
                               void* data);

#endif

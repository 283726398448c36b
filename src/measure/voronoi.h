/// Radical Voronoi cells one by one; voronoi.c puts them together.
#ifndef TALUS_MEASURE_VORONOI_H
#define TALUS_MEASURE_VORONOI_H

#include "detect/bins.h"
#include "measure/domain.h"

enum { VORONOI_CLASSES = 64 };

/// Grains as points with radii, in bins by classes of size: so that a few large grains do not make
/// every small one look far.
typedef struct voronoi_sites {
    const domain* domain;
    int64_t count;
    double* radius; ///< [count] of the ball as large as the grain
    int classes;
    struct {
        double radius; ///< largest in the class
        bins bins;
    } size[VORONOI_CLASSES];
} voronoi_sites;

talus_status voronoi_sites_make(const domain* d, voronoi_sites* out, talus_error* error);
void voronoi_sites_free(voronoi_sites* s);

/// Memory of one thread. Zero it to begin.
typedef struct voronoi_memory {
    near_list near;
    convex_cell cell;
} voronoi_memory;

/// Make the cell of a grain, about its centre, in memory->cell; faces are tagged with the row of
/// the grain behind them, or -1. It is empty if other grains have it all.
talus_status voronoi_cell(const voronoi_sites* s, int64_t row, voronoi_memory* memory);

#endif

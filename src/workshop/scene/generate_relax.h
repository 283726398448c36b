/// Pushing overlapping balls apart, the second stage of random filling.
#ifndef TALUS_SCENE_GENERATE_RELAX_H
#define TALUS_SCENE_GENERATE_RELAX_H

#include "scene/generate.h"
#include "scene/generate_grid.h"

/// Balls being packed: those with handle >= fixed in the grid may move.
typedef struct packing {
    const fill_def* def;
    const generate_context* context;
    ball_grid grid;
    int64_t fixed;  ///< earlier grains, which stay where they are
    double* centre; ///< [grid.count - fixed][3] of the movable balls, not wrapped
    double typical_radius;
    rng r;
} packing;

/// Push overlapping balls apart within the region and off the walls until none overlap, for
/// *sweeps sweeps at most, which are counted down. Balls for which there is no room, and those that
/// still overlap in the end, are taken out of the grid. Returns how many, -1 when memory is short.
int64_t packing_relax(packing* p, int* sweeps);

#endif

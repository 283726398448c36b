/// Which balls are near which, for all of them at once.
#ifndef TALUS_SCENE_GENERATE_NEAR_H
#define TALUS_SCENE_GENERATE_NEAR_H

#include <talus/base.h>

#include "state/cell.h"

/// A ball that looks for others: those whose reach overlaps its own are near.
typedef struct near_ball {
    double centre[3]; ///< 2D: [2] is zero
    double reach;
} near_ball;

typedef struct near_scratch near_scratch;

/// Zero, with the first three set, is an empty start; free with near_free().
typedef struct near_lists {
    int dim, threads;
    cell cell;
    int64_t* first; ///< [movable + 1] where the list of a ball begins in `near`
    int32_t* near;  ///< the others' numbers, in an order that depends on the places only
    int64_t first_capacity, near_capacity;
    near_scratch* scratch; ///< kept from one time to the next
} near_lists;

/// Make the lists of the first `movable` balls, of which the others are in lists only. Takes the
/// nearest image of each pair. Returns false when memory is short.
bool near_find(near_lists* lists, const near_ball* balls, int64_t movable, int64_t count);
void near_free(near_lists* n);

#endif

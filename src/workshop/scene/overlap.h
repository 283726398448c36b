/// Overlapping pairs among balls, in O(n) for size ratios of 1:20 and more.
#ifndef TALUS_SCENE_OVERLAP_H
#define TALUS_SCENE_OVERLAP_H

#include <stdint.h>
#include <talus/base.h>

#include "state/cell.h"

typedef struct overlap_pair {
    int64_t a, b; ///< rows, a < b
    double depth; ///< r_a + r_b - distance, m
} overlap_pair;

/// Depth of a pair of balls that overlap when they are taken for what they are; `delta` is the
/// nearest image of b's position minus a's.
typedef double overlap_exact_fn(const void* user, int64_t a, int64_t b, const double delta[3]);

/// Find the pairs with depth > tolerance * (r_a + r_b) (tolerance 1e-9 forgives rounding).
/// `positions` [n][dim]; `c` may be NULL (not periodic). `exact` may be NULL: balls are what they
/// are. The first `capacity` pairs in ascending (a, b) go to `pairs`, the number of all of them to
/// *found.
talus_status overlaps_find(const double* positions, const double* radii, int64_t n, int dim,
                           const cell* c, double tolerance, overlap_exact_fn* exact,
                           const void* user, overlap_pair* pairs, int64_t capacity, int64_t* found,
                           talus_error* error);

#endif

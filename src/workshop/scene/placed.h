/// Grains as convex bodies in place, for the overlaps that a scene must not have.
#ifndef TALUS_SCENE_PLACED_H
#define TALUS_SCENE_PLACED_H

#include "geometry/convex.h"
#include "geometry/solid.h"

/// The parts of a solid, or a ball, turned and scaled, about the position of the body.
typedef struct placed {
    int part_count;
    convex* part;   ///< [part_count]
    double* buffer; ///< corners and normals of the parts
    convex ball;    ///< the only part of a ball
} placed;

/// Put a grain in place as seen from axes turned by the quaternion `frame`; a ball if its solid is
/// -1. The caller ends it with placed_free(). False if memory is short.
bool placed_make(placed* p, const solids* all, int dim, const talus_grain_def* g,
                 const double frame[4]);
void placed_free(placed* p);
/// Signed distance of two bodies (convex_distance()), b at `delta` from a: the least of all pairs
/// of parts.
double placed_distance(const placed* a, const placed* b, const double delta[3]);
/// How far a solid reaches from its position along a unit direction.
double placed_reach(const solid* of, int dim, const talus_grain_def* g, const double direction[3]);

#endif

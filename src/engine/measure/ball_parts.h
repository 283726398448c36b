/// Parts of balls of growing radius about a point that are in a domain, as g(r) needs them.
#ifndef TALUS_MEASURE_BALL_PARTS_H
#define TALUS_MEASURE_BALL_PARTS_H

#include "measure/domain.h"

typedef struct ball_parts {
    const domain* domain;
    int count;         ///< radii: range / count and its multiples
    double range;      ///< the largest
    convex_cell space; ///< the domain, drawn out along whole periodic axes
    convex_cell flat;  ///< the same without its cylinders
} ball_parts;

/// Prepare the search. The caller owns *out: ball_parts_free().
talus_status ball_parts_make(const domain* d, double range, int count, ball_parts* out);
void ball_parts_free(ball_parts* p);
/// Volumes of the balls about x [dim], which is in the domain, that are in the domain, to
/// part [count].
void ball_parts_at(const ball_parts* p, const double* x, double* part);

#endif

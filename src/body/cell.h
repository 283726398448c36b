/// The periodic cell: wrapping and nearest images.
#ifndef TALUS_BODY_CELL_H
#define TALUS_BODY_CELL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cell {
    bool periodic[3];
    double low[3];
    double length[3]; ///< only meaningful for periodic axes
} cell;

/// Replace a difference of positions by its nearest image.
static inline void cell_nearest(const cell* c, int dim, double* delta)
{
    for (int k = 0; k < dim; k++) {
        if (c->periodic[k]) delta[k] -= c->length[k] * rint(delta[k] / c->length[k]);
    }
}

/// Move a position into [low, low + length) and count the crossings in `image`.
static inline void cell_wrap(const cell* c, int dim, double* position, int32_t* image)
{
    for (int k = 0; k < dim; k++) {
        if (!c->periodic[k]) continue;
        double turns = floor((position[k] - c->low[k]) / c->length[k]);
        position[k] -= turns * c->length[k];
        image[k] += (int32_t)turns;
        // Rounding can leave a position at an edge just outside: the edge is `low` of one image.
        if (position[k] >= c->low[k] + c->length[k]) {
            position[k] = c->low[k];
            image[k]++;
        } else if (position[k] < c->low[k]) {
            position[k] = c->low[k];
        }
    }
}

#endif

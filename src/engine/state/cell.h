/// The periodic cell: wrapping and nearest images.
#ifndef TALUS_STATE_CELL_H
#define TALUS_STATE_CELL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cell {
    bool periodic[3];
    double low[3];
    double length[3]; ///< only meaningful for periodic axes
} cell;

/// Replace a difference of positions by its nearest image. Mostly it is that already: the division
/// is only made where it may change something.
static inline void cell_nearest(const cell* c, int dim, double* delta)
{
    for (int k = 0; k < dim; k++) {
        if (!c->periodic[k] || fabs(delta[k]) < 0.499 * c->length[k]) continue;
        delta[k] -= c->length[k] * rint(delta[k] / c->length[k]);
    }
}

/// Add crossings to a count of them; a count too large for its type stays at the type's limit.
static inline int32_t cell_count(int32_t image, double turns)
{
    double sum = image + turns;
    return sum >= INT32_MAX ? INT32_MAX : sum <= INT32_MIN ? INT32_MIN : (int32_t)sum;
}

/// Move a finite position into [low, low + length) and count the crossings in `image`.
static inline void cell_wrap(const cell* c, int dim, double* position, int32_t* image)
{
    for (int k = 0; k < dim; k++) {
        if (!c->periodic[k]) continue;
        double turns = floor((position[k] - c->low[k]) / c->length[k]);
        position[k] -= turns * c->length[k];
        image[k] = cell_count(image[k], turns);
        // Rounding can leave a position at an edge just outside: the edge is `low` of one image.
        if (position[k] >= c->low[k] + c->length[k]) {
            position[k] = c->low[k];
            image[k] = cell_count(image[k], 1.0);
        } else if (position[k] < c->low[k]) {
            position[k] = c->low[k];
        }
    }
}

#endif

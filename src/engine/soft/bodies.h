/// The grains as the kernels of balls see them: one row of numbers each, in the order of work.
///
///   3D: x y z, radius, v (3), 0, spin (3), 0        2D: x y, radius, 0, v (2), spin, 0
///
/// Two rows at the end, a unit apart and without size, stand for the pairs that are not there.
#ifndef TALUS_SOFT_BODIES_H
#define TALUS_SOFT_BODIES_H

#include "soft/places.h"
#include "state/cell.h"

enum { SOFT_ROW_2D = 8, SOFT_ROW_3D = 12, SOFT_STEP_2D = 4, SOFT_STEP_3D = 8 };

/// Numbers in a row, and in a row of the motion since the last evaluation.
static inline int soft_row(int dim)
{
    return dim == 2 ? SOFT_ROW_2D : SOFT_ROW_3D;
}
static inline int soft_step(int dim)
{
    return dim == 2 ? SOFT_STEP_2D : SOFT_STEP_3D;
}

typedef struct soft_bodies {
    int dim;
    int64_t count;    ///< grains
    int64_t capacity; ///< rows that there is room for
    double* row;      ///< [count + 2][soft_row()], aligned to 64 bytes
    double* step;     ///< [count + 2][soft_step()] motion since the last evaluation
    double* listed;   ///< [count][dim] positions when the list of pairs was made
} soft_bodies;

void soft_bodies_free(soft_bodies* b);
/// Begin a new list of pairs at the present positions.
talus_status soft_bodies_list(soft_bodies* b, const grains* g, const soft_places* o);
/// Fill all rows; `moving`: with the motion since the last evaluation, too. *farthest receives the
/// largest distance from the positions of the list.
void soft_bodies_fill(soft_bodies* b, const grains* g, const soft_places* o, const cell* periodic,
                      bool moving, int threads, double* farthest);

#endif

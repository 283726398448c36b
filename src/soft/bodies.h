/// The grains as the kernels of balls see them: one row of numbers each, in the order of work.
///
///   3D: x y z, radius, v (3), 0, spin (3), 0        2D: x y, radius, 0, v (2), spin, 0
///
/// Images of grains across a periodic cell are rows of their own (ghosts), so that kernels need no
/// cell. Two rows at the end, a unit apart and without size, stand for the pairs that are not
/// there. Between two lists of pairs positions go on across the borders of the cell.
#ifndef TALUS_SOFT_BODIES_H
#define TALUS_SOFT_BODIES_H

#include "body/cell.h"
#include "soft/order.h"

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

/// A grain seen across the cell.
typedef struct soft_ghost {
    int32_t place;
    int8_t shift[3]; ///< cells by which it is moved
} soft_ghost;

typedef struct soft_bodies {
    int dim;
    int64_t count;    ///< grains
    int64_t capacity; ///< rows that there is room for
    double* row;      ///< [count + ghosts + 2][soft_row()], aligned to 64 bytes
    double* step;     ///< [count + ghosts + 2][soft_step()] motion since the last evaluation
    soft_ghost* ghost;
    int64_t ghost_count, ghost_capacity;
    double* listed; ///< [count][dim] positions when the list of pairs was made
    int32_t* image; ///< [count][dim] images then
    int64_t listed_capacity;
} soft_bodies;

void soft_bodies_free(soft_bodies* b);
/// Begin a new list of pairs at the present positions: no ghosts yet.
talus_status soft_bodies_list(soft_bodies* b, const grains* g, const soft_order* o);
/// Row of the image of a grain, `shift` cells away; -1 if memory is short. Shift 0: its own row.
int64_t soft_bodies_ghost(soft_bodies* b, int32_t place, const int8_t shift[3]);
/// Fill all rows. `moving`: with the motion since the last evaluation, too.
/// Returns the largest distance from the positions of the list.
talus_status soft_bodies_fill(soft_bodies* b, const grains* g, const soft_order* o,
                              const cell* periodic, bool moving, int threads, double* farthest);

#endif

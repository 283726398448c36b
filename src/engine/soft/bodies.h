/// The grains as the kernels of balls see them: one row of numbers each, in the order of work.
///
///   3D: x y z, radius, v (3), -, spin (3), -        2D: x y, radius, -, v (2), spin, -
///
/// where - is any number. Where elongations follow the motion, that since the last evaluation comes
/// after it:
///
///   3D: of the centre (3), -, turn (3), -           2D: of the centre (2), turn, -
///
/// The kernels fill them (soft/motion_kernel.h).
///
/// While spheres take many steps in one call their rows, and what only a sphere itself needs of its
/// motion, are all that is read and written of them; the table of grains gets it at the end
/// (soft/sphere_kernel.h). Rows have more in them then, where - was:
///
///   x y z, radius, v (3), 1/mass, spin (3), 1/inertia
///
/// Its own numbers and its position in the list lie [field][lane], eight places after the other.
///
/// Two rows at the end, a unit apart and without size, stand for the pairs that are not there.
#ifndef TALUS_SOFT_BODIES_H
#define TALUS_SOFT_BODIES_H

#include "soft/law.h"
#include "soft/places.h"
#include "state/cell.h"

/// Place of the motion in a row.
static inline int soft_row_motion(int dim)
{
    return dim == 2 ? 8 : 12;
}
/// Numbers in a row.
static inline int soft_row(int dim, bool moving)
{
    return soft_row_motion(dim) + (!moving ? 0 : dim == 2 ? 4 : 8);
}

/// Numbers that only a sphere itself needs.
enum {
    OWN_ACCELERATION = 0, ///< 3
    OWN_ANGULAR = 3,      ///< 3: angular acceleration
    OWN_ROTATION = 6,     ///< 4
    OWN_MASS = 10,
    OWN_TURN = 11, ///< 3: turn in the step; leapfrog only
};
static inline int soft_own(bool with_turn)
{
    return with_turn ? OWN_TURN + 3 : OWN_TURN;
}
/// Where a number of a grain is among those that lie [field][lane], `width` of each.
static inline int64_t soft_lane(int64_t place, int width, int field)
{
    return place / SOFT_LANES * SOFT_LANES * width + field * SOFT_LANES + place % SOFT_LANES;
}

typedef struct soft_bodies {
    int dim;
    bool moving;      ///< rows have the motion since the last evaluation
    int64_t count;    ///< grains
    int64_t capacity; ///< numbers that there is room for
    double* row;      ///< [count + 2][soft_row()], aligned to 64 bytes
    int64_t own_capacity;
    double*
        own; ///< [count/8][soft_own()][8] of spheres that move in their rows, aligned to 64 bytes
    int64_t listed_capacity;
    double* listed; ///< [count/8][dim][8] positions when the list of pairs was made, by place
} soft_bodies;

void soft_bodies_free(soft_bodies* b);
/// Room for the rows of so many grains; `own`: so many numbers of each that only it needs.
talus_status soft_bodies_reserve(soft_bodies* b, const grains* g, bool moving, int own);
/// Begin a new list of pairs at the present positions.
talus_status soft_bodies_list(soft_bodies* b, const grains* g, const soft_places* places,
                              bool moving);

#endif

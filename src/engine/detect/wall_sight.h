/// Which grains are surely out of reach of a wall: a cheap test for the many that are.
///
/// It only ever errs on the safe side, by roundings and by what a turning wall may reach, so that
/// the contacts found do not depend on it. Planes, containers without bumps and obstacles of finite
/// size are told apart; of other walls every grain is in sight.
#ifndef TALUS_DETECT_WALL_SIGHT_H
#define TALUS_DETECT_WALL_SIGHT_H

#include "base/vec.h"
#include "detect/narrow.h"

typedef enum wall_sight_kind {
    SIGHT_ALL,     ///< no test
    SIGHT_PLANE,   ///< height over a plane
    SIGHT_BOUNDED, ///< distance from an obstacle, along each axis
    SIGHT_ROOM,    ///< distance from the sides of a box, seen from within
    SIGHT_TUBE,    ///< distance from the side of a tube, seen from within
} wall_sight_kind;

typedef struct wall_sight {
    wall_sight_kind kind;
    const cell* periodic;
    double origin[3];
    double axis[9];     ///< unit vectors: normal; of a box; of a tube
    double size[3];     ///< bound; half sizes; radius
    double speed, turn; ///< path of the wall in the step, and per distance from its origin
    double still;       ///< margin of the wall and range of bonds
} wall_sight;

wall_sight wall_sight_of(const narrow* n, int wall);

/// Whether a grain at x, of this radius and margin, cannot have a contact with the wall.
static ALWAYS_INLINE bool wall_sight_clear(const wall_sight* s, const int dim, const double* x,
                                           double radius, double margin)
{
    double d[3], own = radius + margin + s->still;
    vec_sub(dim, d, x, s->origin);
    cell_nearest(s->periodic, dim, d);
    const double far2 = vec_dot(dim, d, d), far = sqrt(far2);
    // Roundings are far below the last term.
    const double reach = own + s->speed + s->turn * (far + own) + 1e-9 * (far + own);
    switch (s->kind) {
    case SIGHT_ALL: return false;
    case SIGHT_PLANE: return vec_dot(dim, d, s->axis) > reach;
    case SIGHT_BOUNDED:
        for (int k = 0; k < dim; k++) {
            if (fabs(d[k]) > s->size[0] + reach) return true;
        }
        return false;
    case SIGHT_ROOM:
        for (int k = 0; k < dim; k++) {
            if (fabs(vec_dot(dim, d, s->axis + 3 * k)) + reach > s->size[k]) return false;
        }
        return true;
    case SIGHT_TUBE: break;
    }
    const double along = dim == 3 ? vec_dot(3, d, s->axis) : 0.0, inner = s->size[0] - reach;
    return inner > 0.0 && far2 - along * along < inner * inner;
}

#endif

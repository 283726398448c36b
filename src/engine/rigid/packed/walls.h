/// What a contact does to its mobile wall, and what that does to the wall (walls.c).
#ifndef TALUS_RIGID_PACKED_WALLS_H
#define TALUS_RIGID_PACKED_WALLS_H

#include "rigid/packed/packed.h"

/// The impulse p of a lane along the axes: in the plane it is given along the normal n and the
/// tangent. Both with the stride of lanes.
static ALWAYS_INLINE void push_of_lane(const int dim, const double* n, const double* p, double* out)
{
    if (dim == 3) {
        for (int i = 0; i < 3; i++) out[i] = p[i * PACKED_LANES];
        return;
    }
    const double nx = n[0], ny = n[PACKED_LANES], pn = p[0], pt = p[PACKED_LANES];
    out[0] = pn * nx - pt * ny;
    out[1] = pn * ny + pt * nx;
}

/// From what all contacts push a wall by to its velocities, V = V_free - M sum p.
static ALWAYS_INLINE void move_wall(const int dim, const double* free, const double* mobility,
                                    packed_push* wall)
{
    const packed_push push = *wall;
    for (int i = 0; i < dim; i++) {
        wall->now[i] = free[i] - vec_dot(dim, mobility + i * dim, push.now);
        wall->before[i] = free[i] - vec_dot(dim, mobility + i * dim, push.before);
    }
}

#endif

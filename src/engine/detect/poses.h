/// The solids in place: corners and face normals of every part of every grain, turned into world
/// axes. They stay relative to the grain's centre, so that no digits are lost far from the origin.
#ifndef TALUS_DETECT_POSES_H
#define TALUS_DETECT_POSES_H

#include "geometry/convex.h"
#include "state/grains.h"
#include "state/wall_form.h"

typedef struct poses {
    int64_t grain_capacity, part_capacity, number_capacity;
    int64_t* first; ///< [grains + 1] first part of each grain; balls have none
    convex* part;   ///< [parts]
    double* box;    ///< [parts][2][dim] lowest and highest corner, skin included
    double* pool;   ///< corners and normals of all parts
} poses;

void poses_free(poses* p);
/// Turn all solids into place.
talus_status poses_update(poses* p, const grains* g);

/// Parts of a grain; 0 for a ball.
static inline int poses_count(const poses* p, int64_t grain)
{
    return (int)(p->first[grain + 1] - p->first[grain]);
}

/// A ball as a convex body: one corner, at its centre.
convex convex_ball(int dim, double radius);

/// Turn a polytope by a rotation matrix and scale it; `numbers` receives its corners and normals
/// and has room for convex_size() of them.
convex convex_turn(const polytope* shape, const double axes[9], double scale, double skin,
                   double* numbers);
int64_t convex_size(const polytope* shape);
/// The same for a part of a solid, with its skin.
convex convex_of_solid(const solid* s, int part, const double axes[9], double scale,
                       double* numbers);
/// A part of a wall that is convex or round, in the wall's own frame.
convex convex_of_wall(const wall_form* form, int dim, int part);

#endif

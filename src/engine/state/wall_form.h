/// How a wall meets solids (and what balls meet of a wall that is itself a solid or a mesh).
///
/// Balls ask the analytic shapes of geometry/shape.h. A solid touches
///   - a plane, or a container from inside, with its corners only: these are asked one by one;
///   - a solid obstacle as convex body against convex body;
///   - a thin shell (plate, cone, mesh) as a surface of triangles.
/// Cylinders from outside and cones are round: for solids they are prisms and shells with
/// WALL_SIDES sides, which differ from the circle by pi^2/2/WALL_SIDES^2 = 0.0012 of the radius.
#ifndef TALUS_STATE_WALL_FORM_H
#define TALUS_STATE_WALL_FORM_H

#include "geometry/mesh.h"
#include "geometry/solid.h"

#include <talus/wall.h>

enum { WALL_SIDES = 64 };

typedef enum wall_form_kind {
    FORM_CORNERS = 0, ///< solids touch it with their corners
    FORM_CONVEX,      ///< convex parts
    FORM_MESH,        ///< triangles
    FORM_ROUND,       ///< 2D: a disk
} wall_form_kind;

typedef struct wall_form {
    wall_form_kind kind;
    int part_count;
    const polytope* part; ///< [part_count] in the wall's frame: own, or of a solid
    polytope* own;        ///< one polytope, owned; or NULL
    mesh* mesh;           ///< owned; or NULL
    double skin;          ///< of the parts; of a disk its radius
    double bound;         ///< wall_bound()
} wall_form;

/// Make the form of a shape that passed shape_check(). Whether an infinite cylinder is met from
/// outside by solids is asked when they are added: its form has no parts.
talus_status wall_form_make(const talus_shape_def* shape, int dim, const solids* all,
                            wall_form* out, talus_error* error);
void wall_form_free(wall_form* f);

/// Do balls meet this wall through its form, too?
static inline bool wall_form_for_balls(const talus_shape_def* shape)
{
    return shape->kind == TALUS_SHAPE_SOLID || shape->kind == TALUS_SHAPE_MESH;
}

/// Radius of the ball about the wall's origin that holds its surface; INFINITY if unbounded.
double wall_bound(const talus_shape_def* shape, int dim, const solids* all);

#endif

/// Plane: the half-space behind `normal` is forbidden, at any depth.
#include "base/vec.h"
#include "geometry/shape.h"

int plane_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                shape_hit* hits)
{
    double distance = vec_dot(dim, shape->normal, point);
    if (distance > reach) return 0;
    hits[0] = (shape_hit){.distance = distance};
    vec_copy(dim, hits[0].normal, shape->normal);
    return 1;
}

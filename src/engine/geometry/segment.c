/// Segment (2D): the points within `skin` of the line from -edge_u to +edge_u.
///
/// A convex set, so there is one nearest point. Features: 0 a side, 1 the end at -edge_u, 2 the end
/// at +edge_u. A point closer to the line than `skin` has a negative distance and is pushed to the
/// side it is on; exactly on the line, to the left of edge_u.
#include "base/vec.h"
#include "geometry/shape.h"

int segment_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                  shape_hit* hits)
{
    (void)dim;
    const double* u = shape->edge_u;
    double limit = reach + shape->skin;
    double uu = vec_dot(2, u, u);
    // (|u| + limit)^2 <= 2 |u|^2 + 2 limit^2: a bound without a square root.
    if (vec_dot(2, point, point) > 2.0 * (uu + limit * limit)) return 0;

    double along = vec_dot(2, point, u);
    double length = sqrt(uu);
    double left[2] = {-u[1] / length, u[0] / length};
    double distance, normal[2];
    int32_t feature = along < -uu ? 1 : along > uu ? 2 : 0;
    if (feature == 0) {
        double offset = vec_dot(2, left, point);
        double side = offset < 0.0 ? -1.0 : 1.0;
        distance = fabs(offset);
        for (int k = 0; k < 2; k++) normal[k] = side * left[k];
    } else {
        double end = feature == 1 ? -1.0 : 1.0;
        for (int k = 0; k < 2; k++) normal[k] = point[k] - end * u[k];
        distance = vec_norm(2, normal);
        for (int k = 0; k < 2; k++) normal[k] /= distance; // not zero: strictly beyond the end
    }
    if (distance > limit) return 0;
    hits[0] = (shape_hit){distance - shape->skin, {normal[0], normal[1], 0.0}, feature};
    return 1;
}

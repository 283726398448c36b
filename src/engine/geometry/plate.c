/// Plate (3D): the points within `skin` of the parallelogram a*edge_u + b*edge_v, |a|, |b| <= 1.
///
/// A convex set, so there is one nearest point. The foot of the perpendicular solves the 2x2 normal
/// equations of (a, b); when it lies outside, the nearest point is on an edge that the foot is
/// beyond (the nearest point of a convex polygon is always on an edge seen from the point).
/// Features: (i + 1) + 3 (j + 1) with i, j the signs of a, b where they are at an end: 4 is the
/// face, odd numbers edges, the other even ones corners. Exactly on the plate the normal is along
/// edge_u x edge_v.
#include "base/vec.h"
#include "geometry/shape.h"

/// The plate and the point in numbers that all edges share.
typedef struct plate_frame {
    double uu, uv, vv; ///< products of the half edges
    double pu, pv;     ///< point on the half edges
} plate_frame;

static double clamp_unit(double x)
{
    return x < -1.0 ? -1.0 : x > 1.0 ? 1.0 : x;
}

static int32_t side_of(double x)
{
    return x <= -1.0 ? 0 : x >= 1.0 ? 2 : 1;
}

/// Squared distance to the foot (a, b), up to the constant |p|^2.
static double plate_cost(const plate_frame* f, double a, double b)
{
    return a * (a * f->uu + 2.0 * (b * f->uv - f->pu)) + b * (b * f->vv - 2.0 * f->pv);
}

int plate_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                shape_hit* hits)
{
    (void)dim;
    const double *u = shape->edge_u, *v = shape->edge_v;
    double limit = reach + shape->skin;
    double across[3];
    vec_cross(across, u, v);
    double area2 = vec_dot(3, across, across); // = uu vv - uv^2
    double height = vec_dot(3, across, point);
    if (height * height > limit * limit * area2) return 0;

    plate_frame f = {vec_dot(3, u, u), vec_dot(3, u, v), vec_dot(3, v, v), vec_dot(3, point, u),
                     vec_dot(3, point, v)};
    double a = (f.pu * f.vv - f.pv * f.uv) / area2;
    double b = (f.pv * f.uu - f.pu * f.uv) / area2;
    double side = height < 0.0 ? -1.0 : 1.0;
    double scale = 1.0 / sqrt(area2);
    shape_hit hit = {fabs(height) * scale, {0}, 4};
    for (int k = 0; k < 3; k++) hit.normal[k] = side * scale * across[k];

    if (fabs(a) > 1.0 || fabs(b) > 1.0) {
        // Move (a, b), outside of the square, to the nearest point of the parallelogram's border.
        bool beyond_a = fabs(a) > 1.0, beyond_b = fabs(b) > 1.0;
        double a1 = clamp_unit(a), b1 = clamp_unit((f.pv - a1 * f.uv) / f.vv);
        double b2 = clamp_unit(b), a2 = clamp_unit((f.pu - b2 * f.uv) / f.uu);
        bool first = beyond_a && (!beyond_b || plate_cost(&f, a1, b1) <= plate_cost(&f, a2, b2));
        a = first ? a1 : a2;
        b = first ? b1 : b2;
        double away[3];
        for (int k = 0; k < 3; k++) away[k] = point[k] - a * u[k] - b * v[k];
        hit.distance = vec_norm(3, away);
        if (hit.distance > limit) return 0;
        hit.feature = side_of(a) + 3 * side_of(b);
        // On the border itself roundoff may have put the foot outside: keep the face's normal.
        if (hit.distance > 1e-14 * sqrt(f.uu + f.vv))
            for (int k = 0; k < 3; k++) hit.normal[k] = away[k] / hit.distance;
    }
    if (hit.distance > limit) return 0; // the first test was on squares, this is the exact one
    hit.distance -= shape->skin;
    hits[0] = hit;
    return 1;
}

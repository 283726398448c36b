/// Cylinder: a circle in 2D; in 3D infinite (half_length 0) or finite.
///
/// From outside it is a solid, with caps when finite: one nearest point; a point within has the
/// negative distance to the nearest part. Features: 0 lateral, 1 low cap, 2 high cap, 3 low rim,
/// 4 high rim.
///
/// From inside it is a tube with open ends, features of revolve.h (also the far side, when the ball
/// nearly fills the tube). A point outside of a circle or of an infinite tube has escaped: distance
/// radius - rho < 0 and inward normal at any depth. Beside a finite tube it may also have come
/// round an end: it counts as escaped while its depth is at most its height below the nearer rim
/// and at most the radius, and otherwise only the rim acts. A tube that is to be touched from its
/// outer side is a cone with two equal radii.
#include "geometry/revolve.h"

enum { SOLID_LATERAL, SOLID_LOW_CAP, SOLID_HIGH_CAP, SOLID_LOW_RIM, SOLID_HIGH_RIM };

/// Finite solid, aimed point.
static int solid_query(double radius, double half_length, const revolve_point* p, double reach,
                       shape_hit* hits)
{
    double dr = p->rho - radius, dz = fabs(p->z) - half_length;
    double up = p->z < 0.0 ? -1.0 : 1.0;
    int32_t high = up > 0.0;
    if (dr > 0.0 && dz > 0.0)
        hits[0] = revolve_circle_hit(p, radius, up * half_length, SOLID_LOW_RIM + high);
    else if (dr >= dz)
        hits[0] = revolve_hit(p, dr, 1.0, 0.0, SOLID_LATERAL);
    else
        hits[0] = revolve_hit(p, dz, 0.0, up, SOLID_LOW_CAP + high);
    return hits[0].distance <= reach;
}

/// Infinite tube or circle from inside, aimed point.
static int endless_query(double radius, const revolve_point* p, double reach, shape_hit* hits)
{
    if (radius - p->rho > reach) return 0;
    hits[0] = revolve_hit(p, radius - p->rho, -1.0, 0.0, REVOLVE_LATERAL);
    if (p->rho >= radius || radius + p->rho > reach) return 1;
    hits[1] = revolve_hit(p, radius + p->rho, 1.0, 0.0, REVOLVE_LATERAL + REVOLVE_FAR);
    return 2;
}

/// Finite tube from inside, aimed point.
static int tube_query(double radius, double half_length, const revolve_point* p, double reach,
                      shape_hit* hits)
{
    double depth = p->rho - radius, below_rim = half_length - fabs(p->z);
    if (depth < 0.0 || below_rim < 0.0) {
        revolve_shell shell = {radius, radius, half_length, 0.0};
        return revolve_shell_query(&shell, p, reach, hits);
    }
    if (depth <= below_rim && depth <= radius) {
        hits[0] = revolve_hit(p, -depth, -1.0, 0.0, REVOLVE_LATERAL);
    } else if (p->z < 0.0) {
        hits[0] = revolve_circle_hit(p, radius, -half_length, REVOLVE_LOW_RIM);
    } else {
        hits[0] = revolve_circle_hit(p, radius, half_length, REVOLVE_HIGH_RIM);
    }
    return hits[0].distance <= reach;
}

int cylinder_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                   shape_hit* hits)
{
    double radius = shape->radius;
    bool endless = dim == 2 || shape->half_length == 0.0;
    revolve_point p = revolve_split(dim, shape->axis, point);
    if (!endless && fabs(p.z) > shape->half_length + reach) return 0;
    double bound = shape->inside ? radius - reach : radius + reach;
    bool out_of_reach =
        shape->inside ? bound > 0.0 && p.rho2 < bound * bound : p.rho2 > bound * bound;
    if (out_of_reach) return 0;

    revolve_aim(&p, radius);
    if (shape->inside && endless) return endless_query(radius, &p, reach, hits);
    if (shape->inside) return tube_query(radius, shape->half_length, &p, reach, hits);
    if (!endless) return solid_query(radius, shape->half_length, &p, reach, hits);
    hits[0] = revolve_hit(&p, p.rho - radius, 1.0, 0.0, SOLID_LATERAL);
    return hits[0].distance <= reach;
}

/// Shapes of revolution: the split of a point into height and distance from the axis, and the query
/// of a thin shell, shared by the cylinder and the cone.
#ifndef TALUS_GEOMETRY_REVOLVE_H
#define TALUS_GEOMETRY_REVOLVE_H

#include "base/vec.h"
#include "geometry/shape.h"

/// A point seen from an axis through the origin. In 2D the axis is z, and z is zero.
typedef struct revolve_point {
    double z;         ///< height along the axis
    double rho2;      ///< squared distance from the axis
    double rho;       ///< distance; after revolve_aim()
    double radial[3]; ///< from the axis to the point; of length one after revolve_aim()
    double axis[3];
} revolve_point;

/// A thin shell: the segment (radius_low, -half_length) to (radius_high, half_length) revolved.
typedef struct revolve_shell {
    double radius_low, radius_high, half_length;
    double skin;
} revolve_shell;

/// Parts of a shell, as features. The same parts seen across the axis have REVOLVE_FAR added.
enum { REVOLVE_LATERAL = 0, REVOLVE_LOW_RIM = 1, REVOLVE_HIGH_RIM = 2, REVOLVE_FAR = 3 };

static inline revolve_point revolve_split(int dim, const double axis[3], const double point[3])
{
    revolve_point p = {0};
    if (dim == 2) {
        p.axis[2] = 1.0;
        vec_copy(2, p.radial, point);
    } else {
        vec_copy(3, p.axis, axis);
        p.z = vec_dot(3, point, axis);
        vec_copy(3, p.radial, point);
        vec_add_scaled(3, p.radial, -p.z, axis);
    }
    p.rho2 = vec_dot(3, p.radial, p.radial);
    return p;
}

/// Make `radial` a unit vector and fill `rho`. A point nearer to the axis than roundoff can tell,
/// against the size of the shape, is put on it and gets a fixed direction.
void revolve_aim(revolve_point* p, double size);

/// A hit with this distance and normal (radial, axial).
shape_hit revolve_hit(const revolve_point* p, double distance, double radial, double axial,
                      int32_t feature);

/// The hit on the circle of `radius` (negative: its far side) at height `z`: normal from its
/// nearest point to p, which must not be on it.
shape_hit revolve_circle_hit(const revolve_point* p, double radius, double z, int32_t feature);

/// Hits of an aimed point on a shell, as shape_query().
int revolve_shell_query(const revolve_shell* shell, const revolve_point* p, double reach,
                        shape_hit* hits);

#endif

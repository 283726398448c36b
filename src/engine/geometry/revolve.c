/// Thin shells of revolution, worked out in the half plane (rho, z) through the axis and the point.
///
/// There the shell is one segment and the near side's contact is its nearest point. Seen from
/// within, the shell is concave and the other half plane, where the point is at -rho, has a contact
/// of its own: a ball that nearly fills a tube, or sits in the hole of a funnel, is held from both
/// sides. From outside the far side is hidden behind the near one and gives nothing.
#include "geometry/revolve.h"

void revolve_aim(revolve_point* p, double size)
{
    double noise = 1e-12 * (size + fabs(p->z));
    bool on_axis = p->rho2 <= noise * noise;
    if (on_axis) {
        // The coordinate direction least along the axis.
        int least = 0;
        for (int k = 1; k < 3; k++)
            if (fabs(p->axis[k]) < fabs(p->axis[least])) least = k;
        for (int k = 0; k < 3; k++) p->radial[k] = k == least ? 1.0 : 0.0;
    }
    // For a point off the axis this second projection removes what roundoff left when rho << z.
    vec_add_scaled(3, p->radial, -vec_dot(3, p->radial, p->axis), p->axis);
    double length = vec_norm(3, p->radial), scale = 1.0 / length;
    for (int k = 0; k < 3; k++) p->radial[k] *= scale;
    p->rho = on_axis ? 0.0 : length;
}

shape_hit revolve_hit(const revolve_point* p, double distance, double radial, double axial,
                      int32_t feature)
{
    shape_hit hit = {.distance = distance, .feature = feature};
    for (int k = 0; k < 3; k++) hit.normal[k] = radial * p->radial[k] + axial * p->axis[k];
    return hit;
}

shape_hit revolve_circle_hit(const revolve_point* p, double radius, double z, int32_t feature)
{
    double dr = p->rho - radius, dz = p->z - z;
    double distance = sqrt(dr * dr + dz * dz);
    return revolve_hit(p, distance, dr / distance, dz / distance, feature);
}

/// Nearest point of the segment low-high to p in the half plane. `foot_radius` gets the distance
/// of that point from the axis, negative across the axis.
static shape_hit meridian_hit(const revolve_point* p, const double low[2], const double high[2],
                              double* foot_radius)
{
    double along[2] = {high[0] - low[0], high[1] - low[1]};
    double length2 = along[0] * along[0] + along[1] * along[1];
    double dr = p->rho - low[0], dz = p->z - low[1];
    double t = (dr * along[0] + dz * along[1]) / length2;
    // Beyond an end the point is not on it, so that the distance there is not zero.
    if (t < 0.0) {
        *foot_radius = low[0];
        return revolve_circle_hit(p, low[0], low[1], REVOLVE_LOW_RIM);
    }
    if (t > 1.0) {
        *foot_radius = high[0];
        return revolve_circle_hit(p, high[0], high[1], REVOLVE_HIGH_RIM);
    }
    *foot_radius = low[0] + t * along[0];
    // To the right of the way from low to high: outwards on a tube's near side.
    double length = sqrt(length2), right[2] = {along[1] / length, -along[0] / length};
    double offset = dr * right[0] + dz * right[1];
    double side = offset < 0.0 ? -1.0 : 1.0;
    return revolve_hit(p, fabs(offset), side * right[0], side * right[1], REVOLVE_LATERAL);
}

int revolve_shell_query(const revolve_shell* shell, const revolve_point* p, double reach,
                        shape_hit* hits)
{
    double limit = reach + shell->skin;
    double low[2] = {shell->radius_low, -shell->half_length};
    double high[2] = {shell->radius_high, shell->half_length};
    double near_radius, far_radius;
    hits[0] = meridian_hit(p, low, high, &near_radius);
    // The far side is never nearer than the near side.
    if (hits[0].distance > limit) return 0;
    hits[0].distance -= shell->skin;

    // Seen from within only. The margin is for flat rings, where foot and point have the same
    // radius up to roundoff; a foot on the axis (apex, centre of a disk) is not across it.
    double margin = 1e-9 * (shell->radius_low + shell->radius_high);
    if (near_radius - p->rho <= margin) return 1;
    low[0] = -low[0], high[0] = -high[0];
    shape_hit across = meridian_hit(p, low, high, &far_radius);
    if (across.distance > limit || -far_radius <= margin) return 1;
    across.distance -= shell->skin;
    across.feature += REVOLVE_FAR;
    hits[1] = across;
    return 2;
}

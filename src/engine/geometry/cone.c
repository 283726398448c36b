/// Cone (3D): thin shell of revolution, rounded by `skin`: funnel, tube, ring plate, disk.
///
/// Both sides act. Features are those of revolve.h: lateral surface, low rim, high rim, and the
/// same three across the axis for a point within the shell. On the axis a fixed azimuth is taken;
/// exactly on the shell the normal is to the right of the way from the low to the high rim.
#include "geometry/revolve.h"

int cone_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
               shape_hit* hits)
{
    double limit = reach + shape->skin;
    double widest = fmax(shape->radius, shape->radius_high);
    double narrowest = fmin(shape->radius, shape->radius_high);
    revolve_point p = revolve_split(dim, shape->axis, point);
    if (fabs(p.z) > shape->half_length + limit) return 0;
    double outer = widest + limit, inner = narrowest - limit;
    if (p.rho2 > outer * outer || (inner > 0.0 && p.rho2 < inner * inner)) return 0;
    // Out of reach of the line through the shell's meridian (the slack is for a rounded distance).
    double rise = 2.0 * shape->half_length, run = shape->radius_high - shape->radius;
    double offset = (sqrt(p.rho2) - shape->radius) * rise - (p.z + shape->half_length) * run;
    if (offset * offset > (1.0 + 1e-9) * limit * limit * (rise * rise + run * run)) return 0;

    revolve_aim(&p, widest + shape->half_length);
    revolve_shell shell = {shape->radius, shape->radius_high, shape->half_length, shape->skin};
    return revolve_shell_query(&shell, &p, reach, hits);
}

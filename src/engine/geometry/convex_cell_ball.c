/// The part of a ball that is in a convex cell, in closed form.
///
/// Seen from the ball's centre, the cell is a sum of cones over its faces, with signs, and each
/// cone a sum of right-angled ones: centre, its foot on the face (distance h), the foot's foot on
/// an edge (distance d), and a corner under the angle alpha. On a ray that meets the face at the
/// distance p from the foot, the ball's share of the cone is that up to min(r, sqrt(h^2 + p^2)):
///   integral of p dp up to P = d/cos(phi):  h P^2/6                         where P <= c,
///     c^2 = r^2 - h^2,                      h c^2/6 + r^2 h/3 - r^3 h/(3 sqrt(h^2 + P^2))  beyond
/// (where h > r: r^3/3 (1 - h/sqrt(h^2 + P^2))), and of this over phi from 0 to alpha:
///   h d^2 tan(phi)/6,   and   h asin(h sin(phi)/sqrt(h^2 + d^2)) / h   for the last term.
/// In 2D the same one dimension lower: triangles over sides at distance d, min(r, d/cos(phi))^2/2.
#include "base/portable.h"
#include "base/vec.h"
#include "geometry/convex_cell.h"

/// Integral over phi from 0 to alpha in [0, pi/2] of the area up to min(r, d/cos(phi)), d > 0.
static double disk_part(double r, double d, double alpha)
{
    if (d >= r) return 0.5 * r * r * alpha;
    const double edge = fmin(alpha, portable_acos(d / r)); // where the side leaves the disk
    return 0.5 * d * d * portable_tan(edge) + 0.5 * r * r * (alpha - edge);
}

/// The same of the cones over a face at the height h > 0.
static double cone_part(double r, double h, double d, double alpha)
{
    const double c2 = r * r - h * h;
    const double rim = c2 > 0.0 ? sqrt(c2) : 0.0;
    const double edge = d < rim ? fmin(alpha, portable_acos(d / rim)) : 0.0;
    const double flat = edge > 0.0 ? h * d * d * portable_tan(edge) / 6.0 : 0.0;
    const double whole = c2 > 0.0 ? h * c2 / 6.0 + r * r * h / 3.0 : r * r * r / 3.0;
    const double s = h / sqrt(h * h + d * d);
    const double turn =
        portable_asin(s * portable_sin(alpha)) - portable_asin(s * portable_sin(edge));
    return flat + whole * (alpha - edge) - r * r * r / 3.0 * turn;
}

/// Sum over the sides of a loop: `a` and `b` are corners seen from the foot, `n` the loop's normal,
/// h the height of the centre over the loop (h < 0: in 2D, none).
static double side_part(const double a[3], const double b[3], const double n[3], double r, double h,
                        bool flat)
{
    double along[3], out[3];
    vec_sub(3, along, b, a);
    const double length = vec_norm(3, along);
    if (!(length > 0.0)) return 0.0;
    for (int k = 0; k < 3; k++) along[k] /= length;
    vec_cross(out, along, n);
    const double d = vec_dot(3, out, a);
    if (d == 0.0) return 0.0;
    double sum = 0.0;
    const double end[2] = {vec_dot(3, along, b), -vec_dot(3, along, a)};
    for (int e = 0; e < 2; e++) {
        const double alpha = portable_atan2(fabs(end[e]), fabs(d));
        const double part = flat ? disk_part(r, fabs(d), alpha) : cone_part(r, h, fabs(d), alpha);
        sum += end[e] < 0.0 ? -part : part;
    }
    return d < 0.0 ? -sum : sum;
}

static double face_part(const convex_loops* l, int f, const double centre[3], double r, bool flat)
{
    double n[3], first[3], foot[3], sum = 0.0, h = 0.0;
    // The loop's unit normal (Newell), zero if it has no area.
    double cross[3];
    n[0] = n[1] = n[2] = 0.0;
    const double* base = l->x + 3 * l->first[f];
    for (int i = l->first[f] + 1; i + 1 < l->first[f + 1]; i++) {
        double u[3], v[3];
        vec_sub(3, u, l->x + 3 * i, base);
        vec_sub(3, v, l->x + 3 * (i + 1), base);
        vec_cross(cross, u, v);
        vec_add_scaled(3, n, 1.0, cross);
    }
    const double length = vec_norm(3, n);
    for (int k = 0; k < 3; k++) n[k] = length > 0.0 ? n[k] / length : 0.0;
    vec_copy(3, foot, centre);
    if (!flat) {
        vec_sub(3, first, l->x + 3 * l->first[f], centre);
        h = vec_dot(3, n, first);
        if (h == 0.0) return 0.0;
        vec_add_scaled(3, foot, h, n);
    }
    for (int i = l->first[f]; i < l->first[f + 1]; i++) {
        const int next = i + 1 < l->first[f + 1] ? i + 1 : l->first[f];
        double a[3], b[3];
        vec_sub(3, a, l->x + 3 * i, foot);
        vec_sub(3, b, l->x + 3 * next, foot);
        sum += side_part(a, b, n, r, fabs(h), flat);
    }
    return h < 0.0 ? -sum : sum;
}

double convex_cell_ball(const convex_cell* c, const double centre[3], double radius)
{
    double sum = 0.0;
    for (int f = 0; f < c->now.faces; f++) {
        sum += face_part(&c->now, f, centre, radius, c->dim == 2);
    }
    return fmax(sum, 0.0);
}

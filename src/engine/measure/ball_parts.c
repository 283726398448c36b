/// Parts of balls of growing radius in a domain.
///
/// Flat sides whose caps do not meet cut off these caps; where they meet, convex_cell_ball() is
/// exact. A cylinder is not taken as the prism of many sides that it is elsewhere, which would cost
/// all of them for every radius. A circle of radius s about the point and across the axis is inside
/// with the angle phi(s), over the heights |z| < sqrt(r^2 - s^2) as far as floor and lid allow:
///   V(r) = integral of s phi(s) L(r, s) ds,   L = min(up, sqrt(r^2 - s^2)) + the same of down.
/// The integral of s phi(s) is the common area of two disks, and that of s L(r, s) is elementary;
/// over an interval of s the first is multiplied by the mean of L, which is L's integral with s by
/// that of s. What that neglects is of second order in the interval. The intervals grow with s, so
/// that small balls have enough of them.
#include "measure/ball_parts.h"

#include "base/error.h"
#include "base/vec.h"

/// Sides that a ball may reach; intervals of s. A normal this near to the axis is along it.
enum { MOST_SIDES = 8, INTERVALS = 128 };
static const double ALONG = 1.0 - 1e-12;

talus_status ball_parts_make(const domain* d, double range, int count, ball_parts* out)
{
    static const int32_t tag[3] = {-1, -1, -1};
    double low[3], high[3];
    *out = (ball_parts){.domain = d, .count = count, .range = range};
    for (int k = 0; k < 3; k++) {
        low[k] = d->low[k] - (d->whole[k] ? 2.0 * range : 0.0);
        high[k] = d->high[k] + (d->whole[k] ? 2.0 * range : 0.0);
    }
    TRY(convex_cell_box(&out->flat, d->dim, low, high, tag));
    for (int i = 0, cylinder = 0; i < d->box; i++) {
        if (cylinder < d->cylinder_count && i == d->cylinder[cylinder].first) {
            i += CYLINDER_SIDES - 1;
            cylinder++;
            continue;
        }
        TRY(convex_cell_cut(&out->flat, d->side[i].normal, d->side[i].offset, -1));
    }
    TRY(convex_cell_copy(&out->space, &out->flat));
    for (int r = 0; r < d->cylinder_count; r++) {
        const half_space* side = d->side + d->cylinder[r].first;
        for (int i = 0; i < CYLINDER_SIDES; i++) {
            TRY(convex_cell_cut(&out->space, side[i].normal, side[i].offset, -1));
        }
    }
    return TALUS_OK;
}

void ball_parts_free(ball_parts* p)
{
    convex_cell_free(&p->space);
    convex_cell_free(&p->flat);
}

/// What the largest ball about a point reaches.
typedef struct surroundings {
    int count; ///< flat sides; MOST_SIDES + 1: too many
    const half_space* side[MOST_SIDES];
    double height[MOST_SIDES]; ///< of the sides over the point
    double meet;               ///< radius of the ball in which caps begin to meet
    int cylinders;
    const domain_cylinder* cylinder; ///< the last of them
    double off_axis;
} surroundings;

/// Distance of the nearest point that is behind both of two sides.
static double behind_both(const surroundings* s, int i, int j)
{
    const double c = vec_dot(3, s->side[i]->normal, s->side[j]->normal);
    const double a = s->height[i], b = s->height[j];
    if (a * c >= b) return a;
    if (b * c >= a) return b;
    return c <= -ALONG ? INFINITY : sqrt((a * a + b * b - 2.0 * a * b * c) / (1.0 - c * c));
}

static void look_around(const ball_parts* p, const double* x, surroundings* s)
{
    const domain* d = p->domain;
    *s = (surroundings){.meet = INFINITY};
    for (int i = 0, cylinder = 0; i < d->count; i++) {
        if (cylinder < d->cylinder_count && i == d->cylinder[cylinder].first) {
            i += CYLINDER_SIDES - 1;
            cylinder++;
            continue;
        }
        const double height = d->side[i].offset - vec_dot(d->dim, d->side[i].normal, x);
        if (d->side[i].seam || height >= p->range || s->count > MOST_SIDES) continue;
        if (s->count < MOST_SIDES) s->side[s->count] = &d->side[i], s->height[s->count] = height;
        s->count++;
    }
    for (int i = 0; i < s->count && s->count <= MOST_SIDES; i++) {
        for (int j = 0; j < i; j++) s->meet = fmin(s->meet, behind_both(s, i, j));
    }
    for (int r = 0; r < d->cylinder_count; r++) {
        double arm[3] = {0};
        vec_sub(d->dim, arm, x, d->cylinder[r].point);
        const double along = vec_dot(3, d->cylinder[r].axis, arm);
        const double off = sqrt(fmax(vec_dot(3, arm, arm) - along * along, 0.0));
        if (off + p->range <= d->cylinder[r].radius) continue;
        s->cylinders++;
        s->cylinder = &d->cylinder[r];
        s->off_axis = off;
    }
}

// ---- in a cylinder -----------------------------------------------------------------------------

/// Integral of s min(h, sqrt(r^2 - s^2)) from a to b, where za and zb are the roots there.
static double column_sum(double h, double r, double a, double b, double za, double zb)
{
    if (za <= h) return (za * za * za - zb * zb * zb) / 3.0;
    if (zb >= h) return 0.5 * h * (b * b - a * a);
    return 0.5 * h * (r * r - h * h - a * a) + (h * h * h - zb * zb * zb) / 3.0;
}

/// End of interval m of s: narrow ones first.
static double interval_end(const ball_parts* p, int m)
{
    const double share = (double)m / INTERVALS;
    return p->range * share * share;
}

/// The ball of radius r between `down` below and `up` above the point; area [INTERVALS + 1] are
/// those of the disks about it, up to the intervals' ends, within the cylinder.
static double cylinder_part(const ball_parts* p, const surroundings* s, const double* area,
                            double r, double up, double down)
{
    double volume = 0.0, a = 0.0, za = r;
    for (int m = 0; a < r; m++) {
        const bool last = m + 1 >= INTERVALS || interval_end(p, m + 1) >= r;
        const double b = last ? r : interval_end(p, m + 1), square = b * b - a * a;
        const double zb = last ? 0.0 : sqrt(fmax(r * r - b * b, 0.0));
        const double end = last ? disks_common(r, s->cylinder->radius, s->off_axis) : area[m + 1];
        const double sum = column_sum(up, r, a, b, za, zb) + column_sum(down, r, a, b, za, zb);
        if (square > 0.0) volume += (end - area[m]) * sum / (0.5 * square);
        a = b, za = zb;
    }
    return volume;
}

/// Is this a cylinder and nothing but a floor or lid across it? Their heights.
static bool is_cylinder(const surroundings* s, int dim, double* up, double* down)
{
    *up = *down = INFINITY;
    if (s->cylinders != 1 || s->count > (dim == 2 ? 0 : MOST_SIDES)) return false;
    for (int i = 0; i < s->count; i++) {
        const double along = vec_dot(3, s->side[i]->normal, s->cylinder->axis);
        if (fabs(along) < ALONG) return false;
        double* end = along > 0.0 ? up : down;
        *end = fmin(*end, s->height[i]);
    }
    return true;
}

void ball_parts_at(const ball_parts* p, const double* x, double* part)
{
    const int dim = p->domain->dim;
    surroundings s;
    double place[3] = {0}, up, down;
    vec_copy(dim, place, x);
    look_around(p, x, &s);
    if (is_cylinder(&s, dim, &up, &down)) {
        const double radius = s.cylinder->radius;
        double area[INTERVALS + 1];
        for (int m = 0; m <= INTERVALS && dim == 3; m++) {
            area[m] = disks_common(interval_end(p, m), radius, s.off_axis);
        }
        for (int b = 0; b < p->count; b++) {
            const double r = (b + 1) * p->range / p->count;
            part[b] = dim == 2 ? disks_common(r, radius, s.off_axis)
                               : cylinder_part(p, &s, area, r, up, down);
        }
        return;
    }
    const bool caps = s.cylinders == 0 && s.count <= MOST_SIDES;
    for (int b = 0; b < p->count; b++) {
        const double r = (b + 1) * p->range / p->count;
        if (!caps || r > s.meet) {
            part[b] = convex_cell_ball(s.cylinders > 0 ? &p->space : &p->flat, place, r);
            continue;
        }
        part[b] = ball_below(dim, r, r);
        for (int i = 0; i < s.count; i++) part[b] -= ball_below(dim, r, -s.height[i]);
    }
}

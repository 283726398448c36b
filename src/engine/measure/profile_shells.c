/// Shells about an axis (2D: about a point).
///
/// The part of a ball within the cylinder of radius R is, in 2D, the lens of two circles; in 3D the
/// integral of such lenses over the height, by Gauss and Legendre between the heights where a lens
/// begins or becomes a circle. There it has ends like (h - h0)^(3/2): the substitution h = sin(u)
/// makes them smooth, and 16 nodes give 1e-9 of the ball's volume or better.
#include "base/vec.h"
#include "measure/profile.h"
#include "measure/tensor.h"

/// Nodes and weights on -1..1, by Newton's method on the Legendre polynomial.
static void gauss_legendre(int n, double* node, double* weight)
{
    for (int i = 0; i < n; i++) {
        double x = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 0.0;
        for (int turn = 0; turn < 20; turn++) {
            double before = 1.0, p = x;
            for (int k = 2; k <= n; k++) {
                const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = n * (x * p - before) / (x * x - 1.0);
            x -= p / slope;
        }
        node[i] = x;
        weight[i] = 2.0 / ((1.0 - x * x) * slope * slope);
    }
}

void profile_shells_make(profile_task* t, double* volume)
{
    const domain* d = t->domain;
    const double length = t->dim == 3 ? d->high[t->axis] - d->low[t->axis] : 1.0;
    for (int k = 0; k < 3; k++) t->axes[k][(t->axis + 1 + k) % 3] = 1.0;
    for (int b = 0; b < t->bins; b++) {
        const double inner = t->low + b * t->width, outer = inner + t->width;
        volume[b] = M_PI * (outer * outer - inner * inner) * length;
    }
    gauss_legendre(PROFILE_NODES, t->node, t->weight);
}

/// Integral of the lenses of a ball (radius r, distance c from the axis) with the cylinder over the
/// heights from..to over its centre.
static double lenses(const profile_task* t, double r, double c, double radius, double from,
                     double to)
{
    const double half = 0.5 * (to - from), middle = 0.5 * (to + from);
    double sum = 0.0;
    for (int i = 0; i < PROFILE_NODES && half > 0.0; i++) {
        const double u = 0.5 * M_PI * t->node[i], h = middle + half * sin(u);
        const double disk = sqrt(fmax(r * r - h * h, 0.0));
        sum += 0.5 * M_PI * cos(u) * half * t->weight[i] * disks_common(disk, radius, c);
    }
    return sum;
}

/// Part of a ball within the cylinder, and between the heights low and high over its centre.
static double ball_in_cylinder(const profile_task* t, double r, double c, double radius, double low,
                               double high)
{
    if (t->dim == 2) return disks_common(r, radius, c);
    // Heights at which the circle of the ball touches that of the cylinder from outside or inside.
    double at[6] = {fmax(-r, low), 0, 0, 0, 0, fmin(r, high)};
    if (at[0] >= at[5] || radius <= 0.0 || c - r >= radius) return 0.0;
    const double near = fabs(radius - c), far = radius + c;
    const double outer = near < r ? sqrt(r * r - near * near) : 0.0;
    const double inner = far < r ? sqrt(r * r - far * far) : 0.0;
    const double inside[4] = {-outer, -inner, inner, outer};
    double sum = 0.0;
    for (int i = 1; i < 5; i++) at[i] = fmin(fmax(inside[i - 1], at[0]), at[5]);
    for (int i = 0; i < 5; i++) sum += lenses(t, r, c, radius, at[i], at[i + 1]);
    return sum;
}

/// Unit vectors of the cylinder's coordinates at a place: outward, around, along the axis.
static void local_axes(const profile_task* t, const double* arm, double out[3][3])
{
    const double u = vec_dot(3, t->axes[0], arm), v = vec_dot(3, t->axes[1], arm);
    const double distance = sqrt(u * u + v * v);
    const double c = distance > 0.0 ? u / distance : 1.0, s = distance > 0.0 ? v / distance : 0.0;
    for (int k = 0; k < 3; k++) {
        out[0][k] = c * t->axes[0][k] + s * t->axes[1][k];
        out[1][k] = -s * t->axes[0][k] + c * t->axes[1][k];
        out[2][k] = t->axes[2][k];
    }
}

static void turn(int dim, double axes[3][3], const double* from, double* to)
{
    double x[3] = {0};
    vec_copy(dim, x, from);
    for (int k = 0; k < dim; k++) to[k] = vec_dot(3, axes[k], x);
}

/// One image of a grain, a solid as the ball of its volume.
static void add_image(const profile_task* t, int64_t row, const double x[3], profile_sum* sums)
{
    const grains* g = t->domain->grains;
    const double r = 0.5 * grain_diameter(g, row);
    double arm[3] = {0}, axes[3][3], v[3], w[3];
    vec_sub(t->dim, arm, x, t->origin);
    local_axes(t, arm, axes);
    turn(t->dim, axes, g->velocity + row * t->dim, v);
    if (t->dim == 3)
        turn(3, axes, g->spin + 3 * row, w);
    else
        w[0] = g->spin[row];
    const double c = hypot(vec_dot(3, t->axes[0], arm), vec_dot(3, t->axes[1], arm));
    const double low = t->dim == 3 ? t->box_low[t->axis] - x[t->axis] : -INFINITY;
    const double high = t->dim == 3 ? t->box_high[t->axis] - x[t->axis] : INFINITY;
    double inner = -1.0;
    for (int b = 0; b < t->bins; b++) {
        const double radius = t->low + b * t->width;
        if (radius + t->width <= c - r || radius >= c + r) continue;
        if (inner < 0.0) inner = ball_in_cylinder(t, r, c, radius, low, high);
        const double outer = ball_in_cylinder(t, r, c, radius + t->width, low, high);
        if (outer > inner) profile_add(t, row, outer - inner, v, w, &sums[b]);
        inner = outer;
    }
}

talus_status profile_shell_grain(const profile_task* t, int64_t row, clip_memory* memory,
                                 profile_sum* sums)
{
    const domain* d = t->domain;
    const double* x = d->grains->position + row * t->dim;
    const image_range range = domain_images(d, x, d->grains->radius[row], t->box_low, t->box_high);
    int at[3];
    (void)memory;
    if (!image_first(&range, at)) return TALUS_OK;
    do {
        double moved[3];
        image_shift(d, at, moved);
        vec_add_scaled(t->dim, moved, 1.0, x);
        add_image(t, row, moved, sums);
    } while (image_next(&range, at));
    return TALUS_OK;
}

// ---- contacts ----------------------------------------------------------------------------------

/// A piece of a branch, all in shell b: along the local axes at its middle.
static void add_piece(const profile_task* t, const profile_branch* p, double from, double to,
                      const double* force, double* stress)
{
    double arm[3], axes[3][3], f[3], l[3];
    if (!(to > from)) return;
    for (int k = 0; k < 3; k++) {
        arm[k] = p->start[k] + 0.5 * (from + to) * p->branch[k] - t->origin[k];
    }
    local_axes(t, arm, axes);
    turn(t->dim, axes, force, f);
    turn(t->dim, axes, p->branch, l);
    tensor_add(t->dim, stress, to - from, f, l);
}

/// The share of a branch that is within the cylinder of radius R: from..to, empty if from > to.
static void within(const profile_task* t, const profile_branch* p, double radius, double* from,
                   double* to)
{
    double arm[3];
    vec_sub(3, arm, p->start, t->origin);
    const double x = vec_dot(3, t->axes[0], arm), y = vec_dot(3, t->axes[1], arm);
    const double u = vec_dot(3, t->axes[0], p->branch), v = vec_dot(3, t->axes[1], p->branch);
    const double a = u * u + v * v, b = x * u + y * v, c = x * x + y * y - radius * radius;
    *from = p->from, *to = p->to;
    if (a == 0.0) {
        if (c > 0.0) *from = INFINITY;
        return;
    }
    const double square = b * b - a * c;
    if (square < 0.0) {
        *from = INFINITY;
        return;
    }
    *from = fmax(*from, (-b - sqrt(square)) / a);
    *to = fmin(*to, (-b + sqrt(square)) / a);
}

void profile_shell_branch(const profile_task* t, const profile_branch* p, const double* force,
                          double* stress)
{
    for (int b = 0; b < t->bins; b++) {
        double in[2], out[2];
        const double radius = t->low + b * t->width;
        within(t, p, radius + t->width, &out[0], &out[1]);
        if (!(out[1] > out[0])) continue;
        within(t, p, radius, &in[0], &in[1]);
        if (in[1] > in[0]) {
            add_piece(t, p, out[0], in[0], force, stress + 9 * b);
            add_piece(t, p, in[1], out[1], force, stress + 9 * b);
        } else {
            add_piece(t, p, out[0], out[1], force, stress + 9 * b);
        }
    }
}

/// The cone L = { a_0 >= |a_1| } of friction and the algebra that interior point methods use in it
/// (interior.c, direct/cone.c). Vectors have w components, the first is a_0.
#ifndef TALUS_RIGID_REDUCED_CONE_H
#define TALUS_RIGID_REDUCED_CONE_H

#include "base/portable.h"
#include "base/vec.h"

#include <math.h>

/// |a_1|
static ALWAYS_INLINE double cone_length(int w, const double* a)
{
    return w == 2 ? fabs(a[1]) : vec_norm(w - 1, a + 1);
}

/// a_0^2 - |a_1|^2: zero on the surface
static ALWAYS_INLINE double cone_inside(int w, const double* a)
{
    const double length = cone_length(w, a);
    return (a[0] - length) * (a[0] + length);
}

/// The largest share of `step` with which a + share step stays inside.
static inline double cone_reach(int w, const double* a, const double* step)
{
    const double A = step[0] * step[0] - vec_dot(w - 1, step + 1, step + 1);
    const double B = a[0] * step[0] - vec_dot(w - 1, a + 1, step + 1);
    const double C = cone_inside(w, a), D = B * B - A * C;
    double share = step[0] < 0.0 ? -a[0] / step[0] : INFINITY;
    if (!(D >= 0.0)) return share;
    const double sum = -(B + copysign(sqrt(D), B)), one = C / sum, two = sum / A;
    if (one > 0.0 && one < share) share = one;
    if (two > 0.0 && two < share) share = two;
    return share;
}

/// The scaling of Nesterov and Todd, T = e (2 axis axis^T - J)^1/2 with T x = T^-1 y: axis, and e
/// is returned.
static inline double cone_scaling(int w, const double* x, const double* y, double* axis)
{
    const double x_size = sqrt(cone_inside(w, x)), y_size = sqrt(cone_inside(w, y));
    const double half = 2.0 * sqrt(0.5 * (1.0 + vec_dot(w, x, y) / (x_size * y_size)));
    axis[0] = (y[0] / y_size + x[0] / x_size) / half;
    for (int k = 1; k < w; k++) axis[k] = (y[k] / y_size - x[k] / x_size) / half;
    return sqrt(y_size / x_size);
}

static ALWAYS_INLINE void cone_turn(int w, const double* axis, double size, double sign,
                                    const double* a, double* out)
{
    const double dot = vec_dot(w - 1, axis + 1, a + 1);
    const double share = sign * a[0] + dot / (1.0 + axis[0]);
    out[0] = size * (axis[0] * a[0] + sign * dot);
    for (int k = 1; k < w; k++) out[k] = size * (a[k] + share * axis[k]);
}

/// out = T a
static ALWAYS_INLINE void cone_scale(int w, const double* axis, double e, const double* a,
                                     double* out)
{
    cone_turn(w, axis, e, 1.0, a, out);
}

/// out = T^-1 a
static ALWAYS_INLINE void cone_unscale(int w, const double* axis, double e, const double* a,
                                       double* out)
{
    cone_turn(w, axis, 1.0 / e, -1.0, a, out);
}

/// m with l o m = tau (1, 0, 0) - l o l - second, of the product of L's algebra; `second` may be
/// NULL.
static inline void cone_towards(int w, const double* l, double tau, const double* second, double* m)
{
    double left[3] = {tau - vec_dot(w, l, l)};
    for (int k = 1; k < w; k++) left[k] = -2.0 * l[0] * l[k];
    for (int k = 0; k < w && second; k++) left[k] -= second[k];
    m[0] = (l[0] * left[0] - vec_dot(w - 1, l + 1, left + 1)) / cone_inside(w, l);
    for (int k = 1; k < w; k++) m[k] = (left[k] - l[k] * m[0]) / l[0];
}

// ---- the path ----------------------------------------------------------------------------------

/// How the steps get on.
typedef struct cone_progress {
    double theta;  ///< part of the derivative of |u_T| that the matrix has
    double most;   ///< that it ever has
    int shorts;    ///< short steps in a row
    double lowest; ///< tau when it had last halved
    int waited;    ///< steps since then
    int idle;      ///< so many of these halve theta, too; 0: they do not
} cone_progress;

static inline cone_progress cone_progress_start(double most, int idle)
{
    return (cone_progress){.theta = most, .most = most, .lowest = INFINITY, .idle = idle};
}

/// After a step of this share of its full length from `tau`. Theta is halved after three short
/// ones, and where tau has not halved for some time, and grows after long ones. False if tau has
/// not halved for so long that it is no use.
static inline bool cone_progress_next(cone_progress* g, double share, double tau)
{
    enum { SHORT_STEPS = 3, PATIENCE = 40 };
    const double short_step = 0.05, long_step = 0.5, less = 0.5, more = 1.5;
    g->waited++;
    if (tau < 0.5 * g->lowest) {
        g->lowest = tau;
        g->waited = 0;
    }
    g->shorts = share < short_step ? g->shorts + 1 : 0;
    const bool idle = g->idle > 0 && g->waited >= g->idle;
    if (g->shorts == SHORT_STEPS || (idle && g->waited % g->idle == 0)) {
        g->theta *= less;
        g->shorts = 0;
    } else if (share > long_step && !idle) {
        g->theta = fmin(g->most, more * g->theta);
    }
    return g->waited <= PATIENCE;
}

/// Steps that are never used to come back to the middle.
enum { CONE_FIRST_STEPS = 4 };

/// Where the smallest of all products x o y is far below their mean, or the velocities of y are
/// wrong by more than that (`off`), a step aims at the same tau, in order to get to the middle.
static inline bool cone_is_off(double mean, double least, double off)
{
    const double unequal = 0.03;
    return off > mean || least < unequal * mean;
}

/// What tau is multiplied with otherwise, if a step towards 0 would get to `hoped` (Mehrotra).
static inline double cone_fall(double mean, double hoped)
{
    const double least = 1e-4;
    return fmin(1.0, fmax(least, portable_pow(hoped / mean, 3.0)));
}

/// The part of a step that is gone, if so much of it stays inside.
static inline double cone_share(double reach)
{
    const double keep_inside = 0.98;
    return fmin(1.0, keep_inside * reach);
}

#endif

/// Small vectors as plain double arrays. `dim` is a compile-time constant wherever speed matters,
/// so that the loops unroll; 2D code then pays for two components only.
#ifndef TALUS_BASE_VEC_H
#define TALUS_BASE_VEC_H

#include "base/portable.h"
#include <math.h>
#include <stdbool.h>

/// Device code may have its own (card/phases.h).
#ifndef ALWAYS_INLINE
#define ALWAYS_INLINE inline __attribute__((always_inline))
#endif

static ALWAYS_INLINE double vec_dot(const int dim, const double* a, const double* b)
{
    double sum = 0.0;
    for (int k = 0; k < dim; k++) sum += a[k] * b[k];
    return sum;
}

static ALWAYS_INLINE double vec_norm(const int dim, const double* a)
{
    return sqrt(vec_dot(dim, a, a));
}

/// Numbers of a spin or torque: about the one axis of the plane, or about three.
static inline int spin_width(int dim)
{
    return dim == 2 ? 1 : 3;
}

/// Name of an axis for messages.
static inline char axis_letter(int k)
{
    return (char)('x' + k);
}

static inline bool vec_finite(int count, const double* a)
{
    for (int k = 0; k < count; k++) {
        if (!isfinite(a[k])) return false;
    }
    return true;
}

static ALWAYS_INLINE void vec_copy(const int dim, double* out, const double* a)
{
    for (int k = 0; k < dim; k++) out[k] = a[k];
}

static ALWAYS_INLINE void vec_sub(const int dim, double* out, const double* a, const double* b)
{
    for (int k = 0; k < dim; k++) out[k] = a[k] - b[k];
}

/// out += s * a
static ALWAYS_INLINE void vec_add_scaled(const int dim, double* out, double s, const double* a)
{
    for (int k = 0; k < dim; k++) out[k] += s * a[k];
}

static ALWAYS_INLINE void vec_cross(double out[3], const double a[3], const double b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// Unit vectors n, t1, t2 as the rows of `frame`; in 2D t1 = (-n_y, n_x) and the rest is zero.
static inline void vec_frame(int dim, const double* n, double frame[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) frame[i][k] = 0.0;
    }
    vec_copy(dim, frame[0], n);
    if (dim == 2) {
        frame[1][0] = -n[1];
        frame[1][1] = n[0];
        return;
    }
    // The axis least aligned with n gives a well-conditioned first tangent.
    int k = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                    : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    double e[3] = {0.0, 0.0, 0.0};
    e[k] = 1.0;
    vec_cross(frame[1], n, e);
    double length = vec_norm(3, frame[1]);
    for (int c = 0; c < 3; c++) frame[1][c] /= length;
    vec_cross(frame[2], n, frame[1]);
}

/// Degrees, as scenes and tables have them, in radians.
static inline double radians(double degrees)
{
    return M_PI / 180.0 * degrees;
}

/// Quaternion (w x y z) of a rotation vector: the exact rotation by |r| about r.
static inline void quat_from_rotation(double q[4], const double r[3])
{
    double angle = vec_norm(3, r);
    double s = angle > 1e-9 ? portable_sin(0.5 * angle) / angle : 0.5;
    q[0] = portable_cos(0.5 * angle);
    for (int k = 0; k < 3; k++) q[k + 1] = s * r[k];
}

/// out = a b (first b, then a); out may be a or b.
/// The rotation vector of a unit quaternion, no longer than pi.
static inline void quat_to_rotation(double r[3], const double q[4])
{
    const double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double angle =
        2.0 * (q[0] < 0.0 ? portable_atan2(-sine, -q[0]) : portable_atan2(sine, q[0]));
    for (int k = 0; k < 3; k++) r[k] = sine > 0.0 ? angle / sine * q[1 + k] : 0.0;
}

static inline void quat_multiply(double out[4], const double a[4], const double b[4])
{
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    out[0] = w, out[1] = x, out[2] = y, out[3] = z;
}

static inline void quat_normalise(double q[4])
{
    double s = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) q[k] *= s;
}

/// out = v rotated from the body frame to the world; out may be v.
static inline void quat_rotate(double out[3], const double q[4], const double v[3])
{
    double t[3], u[3];
    vec_cross(t, q + 1, v);
    for (int k = 0; k < 3; k++) t[k] *= 2.0;
    vec_cross(u, q + 1, t);
    for (int k = 0; k < 3; k++) out[k] = v[k] + q[0] * t[k] + u[k];
}

/// Rotation matrix [3][3] of a unit quaternion: world = matrix body.
static inline void quat_matrix(double m[9], const double q[4])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    m[0] = 1.0 - 2.0 * (y * y + z * z), m[1] = 2.0 * (x * y - w * z), m[2] = 2.0 * (x * z + w * y);
    m[3] = 2.0 * (x * y + w * z), m[4] = 1.0 - 2.0 * (x * x + z * z), m[5] = 2.0 * (y * z - w * x);
    m[6] = 2.0 * (x * z - w * y), m[7] = 2.0 * (y * z + w * x), m[8] = 1.0 - 2.0 * (x * x + y * y);
}

/// out = v rotated from the world to the body frame; out may be v.
static inline void quat_rotate_back(double out[3], const double q[4], const double v[3])
{
    double inverse[4] = {q[0], -q[1], -q[2], -q[3]};
    quat_rotate(out, inverse, v);
}

#endif

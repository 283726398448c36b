/// Kernels and their integrals along a line, in closed form.
///
///   Gauss      exp(-r^2/(2 w^2)), cut off at 4 w and normalised so
///   Lucy       (1 + 3 q)(1 - q)^3 = 1 - 6 q^2 + 8 q^3 - 3 q^4, q = r/w < 1
///   Heaviside  1 for r < w
/// Along a line that passes the point at the distance a, r^2 = a^2 + t^2: each has a primitive in t
/// (error function; polynomial and arsinh; t itself), taken between the line's ends, or where it
/// enters and leaves the kernel's reach.
#include "measure/kernel.h"

#include "base/vec.h"

static const double CUT = 4.0; ///< reach of the Gaussian, in widths

/// Integral of the bare kernel over the plane or space.
static double integral_of(const kernel* k)
{
    const double w = k->width;
    const bool flat = k->dim == 2;
    switch (k->kind) {
    case TALUS_KERNEL_LUCY: return flat ? M_PI * w * w / 5.0 : 16.0 * M_PI * w * w * w / 105.0;
    case TALUS_KERNEL_HEAVISIDE: return flat ? M_PI * w * w : 4.0 / 3.0 * M_PI * w * w * w;
    default: break;
    }
    const double end = exp(-0.5 * CUT * CUT);
    if (flat) return 2.0 * M_PI * w * w * (1.0 - end);
    return pow(2.0 * M_PI, 1.5) * w * w * w * (erf(CUT / M_SQRT2) - sqrt(2.0 / M_PI) * CUT * end);
}

kernel kernel_make(talus_kernel kind, int dim, double width)
{
    kernel k = {.kind = kind, .dim = dim, .width = width, .reach = width};
    if (kind == TALUS_KERNEL_GAUSS) k.reach = CUT * width;
    k.factor = 1.0 / integral_of(&k);
    return k;
}

double kernel_at(const kernel* k, double square)
{
    if (square >= k->reach * k->reach) return 0.0;
    if (k->kind == TALUS_KERNEL_HEAVISIDE) return k->factor;
    if (k->kind == TALUS_KERNEL_GAUSS) {
        return k->factor * exp(-0.5 * square / (k->width * k->width));
    }
    const double q = sqrt(square) / k->width, rest = 1.0 - q;
    return k->factor * (1.0 + 3.0 * q) * rest * rest * rest;
}

/// Primitive of (a^2 + t^2)^(3/2).
static double cube_primitive(double a, double t)
{
    const double r = sqrt(a * a + t * t), turn = a > 0.0 ? asinh(t / a) : 0.0;
    return 0.125 * t * (2.0 * t * t + 5.0 * a * a) * r + 0.375 * a * a * a * a * turn;
}

/// Primitive in t of the bare kernel at the distance a; without the factor exp(-a^2/..) of Gauss.
static double primitive(const kernel* k, double a, double t)
{
    const double w = k->width;
    if (k->kind == TALUS_KERNEL_HEAVISIDE) return t;
    if (k->kind == TALUS_KERNEL_GAUSS) return w * sqrt(0.5 * M_PI) * erf(t / (M_SQRT2 * w));
    const double a2 = a * a / (w * w), u = t / w;
    const double even = u - 6.0 * u * (a2 + u * u / 3.0) -
                        3.0 * u * (a2 * a2 + u * u * (2.0 * a2 / 3.0 + u * u / 5.0));
    return w * (even + 8.0 * cube_primitive(a / w, u));
}

double kernel_along(const kernel* k, const double arm[3], const double branch[3])
{
    const double length = vec_norm(3, branch), reach2 = k->reach * k->reach;
    if (length == 0.0) return kernel_at(k, vec_dot(3, arm, arm));
    // The line in the frame of the point nearest to x: from t to t + length.
    const double from = vec_dot(3, arm, branch) / length;
    const double a2 = fmax(vec_dot(3, arm, arm) - from * from, 0.0);
    if (a2 >= reach2) return 0.0;
    const double half = sqrt(reach2 - a2), a = sqrt(a2);
    const double begin = fmax(from, -half), end = fmin(from + length, half);
    if (begin >= end) return 0.0;
    const double scale =
        k->kind == TALUS_KERNEL_GAUSS ? exp(-0.5 * a2 / (k->width * k->width)) : 1.0;
    return k->factor * scale * (primitive(k, a, end) - primitive(k, a, begin)) / length;
}

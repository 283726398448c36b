/// Corners of boxes, prisms, Platonic solids and random ellipsoidal clouds.
///
/// With g = (1 + sqrt 5)/2 the corners are: tetrahedron, every other corner of the cube;
/// octahedron, the unit axes; dodecahedron, those of the cube and the cyclic (0, 1/g, g);
/// icosahedron, the cyclic (0, 1, g).
#include "scene/shape_points.h"

#include <math.h>

#include "base/portable.h"
#include "base/vec.h"

int points_box(int dim, const double size[3], double* out)
{
    int count = 1 << dim;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < dim; k++) *out++ = (i >> k & 1) ? 0.5 * size[k] : -0.5 * size[k];
    }
    return count;
}

int points_prism(int dim, int sides, double radius, double height, double* out)
{
    int ends = dim == 3 ? 2 : 1;
    for (int end = 0; end < ends; end++) {
        for (int i = 0; i < sides; i++) {
            double angle = -0.5 * M_PI + (2 * i + 1) * M_PI / sides;
            *out++ = radius * portable_cos(angle);
            *out++ = radius * portable_sin(angle);
            if (dim == 3) *out++ = (end - 0.5) * height;
        }
    }
    return ends * sides;
}

/// The eight corners of the cube, or the four of one sign.
static int add_cube(double* out, bool half)
{
    int count = 0;
    for (int i = 0; i < 8; i++) {
        int ones = (i & 1) + (i >> 1 & 1) + (i >> 2 & 1);
        if (half && ones % 2 == 1) continue;
        for (int k = 0; k < 3; k++) out[3 * count + k] = (i >> k & 1) ? 1.0 : -1.0;
        count++;
    }
    return count;
}

/// (0, +-a, +-b) and its cyclic shifts; of +-0 only one.
static int add_cyclic(double* out, double a, double b)
{
    int count = 0;
    for (int shift = 0; shift < 3; shift++) {
        for (int sign = 0; sign < 4; sign++) {
            if (a == 0.0 && (sign & 1)) continue;
            double* x = out + 3 * count++;
            x[shift] = 0.0;
            x[(shift + 1) % 3] = (sign & 1) ? -a : a;
            x[(shift + 2) % 3] = (sign & 2) ? -b : b;
        }
    }
    return count;
}

int points_platonic(int faces, double radius, double* out)
{
    const double golden = 0.5 * (1.0 + sqrt(5.0));
    int count = 0;
    if (faces == 4 || faces == 6 || faces == 12) count = add_cube(out, faces == 4);
    if (faces == 8) count = add_cyclic(out, 0.0, 1.0);
    if (faces == 12) count += add_cyclic(out + 3 * count, 1.0 / golden, golden);
    if (faces == 20) count = add_cyclic(out, 1.0, golden);
    double scale = count > 0 ? radius / vec_norm(3, out) : 0.0;
    for (int i = 0; i < 3 * count; i++) out[i] *= scale;
    return count;
}

double points_polygon_edge(int sides)
{
    return 2.0 * portable_sin(M_PI / sides);
}

double points_platonic_edge(int faces)
{
    double x[POINTS_ROOM], least = INFINITY;
    int count = points_platonic(faces, 1.0, x);
    for (int i = 1; i < count; i++) {
        double edge[3];
        vec_sub(3, edge, x, x + 3 * i);
        least = fmin(least, vec_norm(3, edge));
    }
    return least;
}

void points_ellipsoid(int dim, int count, const double half_axes[3], rng* r, double* out)
{
    for (int i = 0; i < count; i++) {
        double x[3] = {0}, square;
        do {
            for (int k = 0; k < dim; k++) x[k] = 2.0 * rng_uniform(r) - 1.0;
            square = vec_dot(3, x, x);
        } while (square > 1.0 || square < 1e-6);
        for (int k = 0; k < dim; k++) *out++ = half_axes[k] * x[k] / sqrt(square);
    }
}

/// Polytopes made without a search for a hull, and what all of them share: freeing and shifting.
///
/// A box and a prism are hulls of their corners all the same: the corners are then numbered, and
/// flat faces found, by one piece of code only.
#include "geometry/polytope.h"

#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Edges up to which all pairs of them are tried for the smallest width.
enum { MOST_EDGES_IN_PAIRS = 64 };

void polytope_free(polytope* p)
{
    free(p->vertex);
    free(p->normal);
    free(p->offset);
    free(p->face_first);
    free(p->face_vertex);
    free(p->face_edge);
    free(p->edge);
    *p = (polytope){0};
}

/// A copy of an array in *to; true unless memory is short.
static bool copy_array(void* to, const void* from, size_t size, int count)
{
    void* copy = from ? malloc(size * (size_t)count + 1) : NULL;
    if (copy) memcpy(copy, from, size * (size_t)count);
    memcpy(to, &copy, sizeof copy);
    return copy || !from;
}

talus_status polytope_copy(const polytope* p, polytope* out)
{
    const int corners = p->face_first ? p->face_first[p->face_count] : 0;
    *out = *p;
    const bool good[] = {
        copy_array(&out->vertex, p->vertex, sizeof *p->vertex, p->dim * p->vertex_count),
        copy_array(&out->normal, p->normal, sizeof *p->normal, p->dim * p->face_count),
        copy_array(&out->offset, p->offset, sizeof *p->offset, p->face_count),
        copy_array(&out->face_first, p->face_first, sizeof *p->face_first, p->face_count + 1),
        copy_array(&out->face_vertex, p->face_vertex, sizeof *p->face_vertex, corners),
        copy_array(&out->face_edge, p->face_edge, sizeof *p->face_edge, corners),
        copy_array(&out->edge, p->edge, sizeof *p->edge, 4 * p->edge_count)};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (good[i]) continue;
        polytope_free(out);
        return TALUS_ERR_MEMORY;
    }
    return TALUS_OK;
}

void polytope_shift(polytope* p, const double* by)
{
    for (int v = 0; v < p->vertex_count; v++) {
        vec_add_scaled(p->dim, p->vertex + p->dim * v, 1.0, by);
    }
    for (int f = 0; f < p->face_count; f++) {
        p->offset[f] += vec_dot(p->dim, p->normal + p->dim * f, by);
    }
}

talus_status polytope_segment(const double from[2], const double to[2], polytope* out,
                              talus_error* error)
{
    *out = (polytope){0};
    double length = portable_hypot(to[0] - from[0], to[1] - from[1]);
    if (!vec_finite(2, from) || !vec_finite(2, to) || !isfinite(length)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "an end of a segment is not a finite number");
    }
    if (!(length > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "a segment needs two different ends");
    }
    *out = (polytope){.dim = 2, .vertex_count = 2, .face_count = 2};
    out->vertex = malloc(4 * sizeof(double));
    out->normal = malloc(4 * sizeof(double));
    out->offset = malloc(2 * sizeof(double));
    if (!out->vertex || !out->normal || !out->offset) {
        polytope_free(out);
        return error_memory(error, "making a segment");
    }
    vec_copy(2, out->vertex, from);
    vec_copy(2, out->vertex + 2, to);
    for (int f = 0; f < 2; f++) {
        double side = f ? -1.0 : 1.0;
        out->normal[2 * f] = side * (to[1] - from[1]) / length;
        out->normal[2 * f + 1] = -side * (to[0] - from[0]) / length;
        out->offset[f] = vec_dot(2, out->normal + 2 * f, from);
    }
    return TALUS_OK;
}

talus_status polytope_box(int dim, const double half_size[3], polytope* out, talus_error* error)
{
    *out = (polytope){0};
    for (int k = 0; k < dim; k++) {
        if (half_size[k] > 0.0) continue;
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "half_size of a box is %g along %c; it must "
                         "be above 0",
                         half_size[k], axis_letter(k));
    }
    double points[8 * 3];
    int count = 1 << dim;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < dim; k++) {
            points[dim * i + k] = i >> k & 1 ? half_size[k] : -half_size[k];
        }
    }
    return polytope_hull(dim, points, count, out, error);
}

talus_status polytope_prism(const double axis[3], double radius, double half_length, int sides,
                            polytope* out, talus_error* error)
{
    *out = (polytope){0};
    if (sides < 3 || sides > POLYTOPE_MAX_VERTICES / 2) {
        return error_set(error, TALUS_ERR_ARGUMENT, "a prism of %d sides; it must have 3 to %d",
                         sides, POLYTOPE_MAX_VERTICES / 2);
    }
    if (!(radius > 0.0) || !(half_length > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "a prism of radius %g and half length %g; both must be above 0", radius,
                         half_length);
    }
    double* points = malloc(sizeof(double) * 6 * (size_t)sides);
    if (!points) return error_memory(error, "making a prism");
    double frame[3][3];
    vec_frame(3, axis, frame);
    // n sin(2 pi/n)/2 times the square of the corners' distance is the area of the n-gon.
    double corner = radius * sqrt(2.0 * M_PI / (sides * portable_sin(2.0 * M_PI / sides)));
    for (int i = 0; i < 2 * sides; i++) {
        double angle = 2.0 * M_PI * (i % sides) / sides;
        double u = corner * portable_cos(angle), v = corner * portable_sin(angle);
        double w = i < sides ? -half_length : half_length;
        for (int k = 0; k < 3; k++) {
            points[3 * i + k] = w * axis[k] + u * frame[1][k] + v * frame[2][k];
        }
    }
    talus_status status = polytope_hull(3, points, 2 * sides, out, error);
    free(points);
    return status;
}

/// Extent of a polytope along the unit vector n.
static double extent_along(const polytope* p, const double* n)
{
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < p->vertex_count; v++) {
        const double x = vec_dot(p->dim, n, p->vertex + v * p->dim);
        low = fmin(low, x);
        high = fmax(high, x);
    }
    return high - low;
}

/// The two planes touch a face and a corner, or (3D) two edges. Edges are tried in pairs where
/// there are not too many: a body of many edges has faces near every direction.
double polytope_width(const polytope* p)
{
    double width = INFINITY;
    for (int f = 0; f < p->face_count; f++) {
        width = fmin(width, extent_along(p, p->normal + f * p->dim));
    }
    if (p->dim == 2 || p->edge_count > MOST_EDGES_IN_PAIRS) return width;
    for (int i = 0; i < p->edge_count; i++) {
        for (int j = i + 1; j < p->edge_count; j++) {
            const int32_t *e = p->edge + 4 * i, *f = p->edge + 4 * j;
            double along_e[3], along_f[3], n[3];
            vec_sub(3, along_e, p->vertex + 3 * e[1], p->vertex + 3 * e[0]);
            vec_sub(3, along_f, p->vertex + 3 * f[1], p->vertex + 3 * f[0]);
            vec_cross(n, along_e, along_f);
            const double length = vec_norm(3, n);
            if (!(length > 1e-6 * vec_norm(3, along_e) * vec_norm(3, along_f))) continue;
            for (int k = 0; k < 3; k++) n[k] /= length;
            width = fmin(width, extent_along(p, n));
        }
    }
    return width;
}

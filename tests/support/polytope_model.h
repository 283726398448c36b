/// Random point sets, and everything a proper polytope must satisfy, for the tests of
/// src/engine/geometry.
#ifndef TALUS_TESTS_POLYTOPE_MODEL_H
#define TALUS_TESTS_POLYTOPE_MODEL_H

#include "support.h"

#include "base/rng.h"
#include "base/vec.h"
#include "geometry/polytope.h"

#include <string.h>

/// Kinds of random points: a cloud, on a sphere, on a coarse lattice, a flat slab, a long rod, and
/// a box's corners with points strewn over its faces.
typedef enum point_kind {
    POINTS_CLOUD,
    POINTS_SPHERE,
    POINTS_LATTICE,
    POINTS_SLAB,
    POINTS_ROD,
    POINTS_FACES,
    POINT_KINDS
} point_kind;

static inline void random_rotation(rng* r, double q[4])
{
    for (int k = 0; k < 4; k++) q[k] = rng_normal(r);
    quat_normalise(q);
}

static inline void random_point(rng* r, point_kind kind, int dim, int i, double* out)
{
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = rng_normal(r);
    double norm = vec_norm(dim, x);
    for (int k = 0; k < dim; k++) {
        switch (kind) {
        case POINTS_SPHERE: x[k] /= norm; break;
        case POINTS_LATTICE: x[k] = (double)rng_below(r, 4); break;
        case POINTS_SLAB: x[k] *= k == dim - 1 ? 1e-3 : 1.0; break;
        case POINTS_ROD: x[k] *= k == 0 ? 1.0 : 1e-2; break;
        case POINTS_FACES: x[k] = 2.0 * rng_uniform(r) - 1.0; break;
        default: break;
        }
    }
    if (kind == POINTS_FACES) {
        int side = (int)rng_below(r, 2 * (uint64_t)dim);
        x[side / 2] = side % 2 ? 1.0 : -1.0;
        for (int k = 0; k < dim && i < 1 << dim; k++) x[k] = i >> k & 1 ? 1.0 : -1.0;
    }
    vec_copy(dim, out, x);
}

/// `count` random points [count][dim]; not the lattice, the slab and the rod turned at random.
static inline void random_points(rng* r, point_kind kind, int dim, int count, double* out)
{
    double q[4];
    random_rotation(r, q);
    for (int i = 0; i < count; i++) {
        random_point(r, kind, dim, i, out + dim * i);
        if (dim == 3 && kind != POINTS_LATTICE) quat_rotate(out + 3 * i, q, out + 3 * i);
    }
}

static inline int32_t model_next(const polytope* p, int f, int32_t i)
{
    return i + 1 < p->face_first[f + 1] ? i + 1 : p->face_first[f];
}

/// Topology of a polyhedron: Euler's formula, each edge once in each of its two faces' loops.
static inline void check_topology(const polytope* p)
{
    assert_int_equal(p->vertex_count - p->edge_count + p->face_count, 2);
    assert_int_equal(p->face_first[p->face_count], 2 * p->edge_count);
    for (int f = 0; f < p->face_count; f++) {
        assert_true(p->face_first[f + 1] - p->face_first[f] >= 3);
        for (int32_t i = p->face_first[f]; i < p->face_first[f + 1]; i++) {
            int32_t a = p->face_vertex[i], b = p->face_vertex[model_next(p, f, i)];
            const int32_t* edge = p->edge + 4 * p->face_edge[i];
            bool forward = edge[2] == f;
            assert_true(edge[0] < edge[1] && edge[2] != edge[3]);
            assert_int_equal(forward ? edge[2] : edge[3], f);
            assert_int_equal(edge[forward ? 0 : 1], a);
            assert_int_equal(edge[forward ? 1 : 0], b);
        }
    }
}

/// Largest excess of any of `points` over any face, and largest distance of a face's own corners
/// from its plane.
static inline double face_errors(const polytope* p, const double* points, int count)
{
    double worst = 0.0;
    int dim = p->dim;
    for (int f = 0; f < p->face_count; f++) {
        const double* n = p->normal + dim * f;
        for (int i = 0; i < count; i++) {
            worst = fmax(worst, vec_dot(dim, n, points + dim * i) - p->offset[f]);
        }
        worst = fmax(worst, fabs(vec_norm(dim, n) - 1.0));
        int corners = dim == 2 ? 2 : p->face_first[f + 1] - p->face_first[f];
        for (int i = 0; i < corners; i++) {
            int v = dim == 2 ? (f + i) % p->vertex_count : p->face_vertex[p->face_first[f] + i];
            double height = vec_dot(dim, n, p->vertex + dim * v) - p->offset[f];
            worst = fmax(worst, fabs(height));
        }
    }
    return worst;
}

/// Largest distance by which a corner of a face lies within the chord of its neighbours: 0 if all
/// loops are convex.
static inline double loop_errors(const polytope* p)
{
    double worst = 0.0;
    for (int f = 0; p->dim == 3 && f < p->face_count; f++) {
        for (int32_t i = p->face_first[f]; i < p->face_first[f + 1]; i++) {
            int32_t j = model_next(p, f, i), k = model_next(p, f, j);
            const double* a = p->vertex + 3 * p->face_vertex[i];
            double u[3], v[3], c[3];
            vec_sub(3, u, p->vertex + 3 * p->face_vertex[j], a);
            vec_sub(3, v, p->vertex + 3 * p->face_vertex[k], a);
            vec_cross(c, u, v);
            worst = fmax(worst, -vec_dot(3, c, p->normal + 3 * f) / vec_norm(3, v));
        }
    }
    return worst;
}

/// Every vertex is one of the points, to the bit; in 3D in their order, in 2D the first one first.
static inline void check_vertices(const polytope* p, const double* points, int count)
{
    int from = 0;
    for (int v = 0; v < p->vertex_count; v++) {
        int i = p->dim == 3 ? from : 0;
        size_t bytes = (size_t)p->dim * sizeof(double);
        while (i < count && memcmp(points + p->dim * i, p->vertex + p->dim * v, bytes) != 0) i++;
        assert_true(i < count);
        assert_true(i >= from);
        if (p->dim == 3 || v == 0) from = i + 1;
    }
}

/// A hull of points whose extent is about `size` must be all this. `flat` is relative to it.
static inline void check_hull(const polytope* p, const double* points, int count, double size,
                              double flat)
{
    if (p->dim == 3) check_topology(p);
    check_vertices(p, points, count);
    double error = fmax(face_errors(p, points, count), loop_errors(p));
    if (error > flat * size) {
        check_below("points beyond a face or corners within it", error, flat * size,
                    "the merging tolerance");
    }
}

#endif

/// Meshes and bodies for test_mesh_touch.c and test_mesh_ahead.c, and the question itself with what
/// holds for every answer.
#ifndef TALUS_TESTS_MESH_SUPPORT_H
#define TALUS_TESTS_MESH_SUPPORT_H

#include "base/rng.h"
#include "base/vec.h"
#include "detect/mesh_touch.h"
#include "geometry/feature.h"
#include "geometry/mesh.h"
#include "support.h"

#include <string.h>

typedef struct soup {
    double vertex[3 * 200000];
    int32_t triangle[3 * 200000];
    triangles t;
} soup;

static inline soup* soup_new(void)
{
    soup* s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->t.vertex = s->vertex;
    s->t.triangle = s->triangle;
    return s;
}

static inline int32_t soup_vertex(soup* s, double x, double y, double z)
{
    double* v = s->vertex + 3 * s->t.vertex_count;
    v[0] = x, v[1] = y, v[2] = z;
    return (int32_t)s->t.vertex_count++;
}

static inline void soup_triangle(soup* s, int32_t a, int32_t b, int32_t c)
{
    int32_t* t = s->triangle + 3 * s->t.triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

static inline mesh* soup_mesh(soup* s, double skin)
{
    mesh* m = NULL;
    talus_error error;
    check_ok(mesh_make(&s->t, skin, &m, &error), error);
    free(s);
    return m;
}

/// n x n squares of two triangles each over [-1, 1]^2 at z = height(x, y); inner corners are moved
/// sideways at random, and every third triangle is wound the other way.
static inline mesh* sheet(int n, double (*height)(double, double), rng* r)
{
    soup* s = soup_new();
    for (int j = 0; j <= n; j++) {
        for (int i = 0; i <= n; i++) {
            double x = 2.0 * i / n - 1.0, y = 2.0 * j / n - 1.0;
            if (r && i > 0 && i < n) x += 0.4 / n * (2.0 * rng_uniform(r) - 1.0);
            if (r && j > 0 && j < n) y += 0.4 / n * (2.0 * rng_uniform(r) - 1.0);
            soup_vertex(s, x, y, height ? height(x, y) : 0.0);
        }
    }
    for (int32_t k = 0; k < n * n; k++) {
        int32_t a = k / n * (n + 1) + k % n, b = a + 1, c = a + n + 1, d = c + 1;
        soup_triangle(s, a, k % 3 ? b : d, k % 3 ? d : b);
        soup_triangle(s, a, d, c);
    }
    return soup_mesh(s, 0.0);
}

/// Box of this half size, every face of n x n squares.
static inline mesh* box_mesh(const double half[3], int n)
{
    soup* s = soup_new();
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (int k = 0; k < n * n; k++) {
            int32_t at[4];
            for (int c = 0; c < 4; c++) {
                double x[3];
                x[axis] = face % 2 ? half[axis] : -half[axis];
                x[u] = half[u] * (2.0 * (k % n + (c & 1)) / n - 1.0);
                x[v] = half[v] * (2.0 * (k / n + (c >> 1)) / n - 1.0);
                at[c] = -1;
                for (int32_t i = 0; i < s->t.vertex_count && at[c] < 0; i++)
                    if (memcmp(s->vertex + 3 * i, x, sizeof x) == 0) at[c] = i;
                if (at[c] < 0) at[c] = soup_vertex(s, x[0], x[1], x[2]);
            }
            soup_triangle(s, at[0], at[1], at[3]);
            soup_triangle(s, at[0], at[3], at[2]);
        }
    }
    return soup_mesh(s, 0.0);
}

/// A body in place, with the memory it needs.
typedef struct body {
    polytope shape;
    convex c;
    double vertex[3 * 64], normal[3 * 64];
    double delta[3];
} body;

static inline void random_turn(rng* r, double q[4])
{
    for (int k = 0; k < 4; k++) q[k] = rng_normal(r);
    quat_normalise(q);
}

/// Put the shape in place, turned by q.
static inline void body_place(body* b, const double q[4], const double delta[3], double skin)
{
    for (int v = 0; v < b->shape.vertex_count; v++)
        quat_rotate(b->vertex + 3 * v, q, b->shape.vertex + 3 * v);
    for (int f = 0; f < b->shape.face_count; f++)
        quat_rotate(b->normal + 3 * f, q, b->shape.normal + 3 * f);
    vec_copy(3, b->delta, delta);
    b->c = (convex){&b->shape, 3, b->shape.vertex_count, b->vertex, b->normal, skin, 0.0};
}

static inline void body_hull(body* b, rng* r, double size, int corners)
{
    double points[3 * 32];
    talus_error error;
    for (int k = 0; k < 3 * corners; k++) points[k] = size * (2.0 * rng_uniform(r) - 1.0);
    check_ok(polytope_hull(3, points, corners, &b->shape, &error), error);
}

static inline convex ball_of(double radius)
{
    static const double origin[3];
    return (convex){.dim = 3, .vertex_count = 1, .vertex = origin, .skin = radius};
}

static const double identity[4] = {1.0, 0.0, 0.0, 0.0};

/// Ask, and check what holds for every answer: order, unit normals, reach, the gap of each name.
static inline touch_list ask(const mesh* m, const convex* b, const double delta[3], double reach)
{
    touch_list list = {0};
    assert_int_equal(mesh_touches(m, b, delta, reach, NULL, &list), TALUS_OK);
    for (int i = 0; i < list.count; i++) {
        const touch* t = list.row + i;
        if (i > 0) assert_true(t[-1].feature < t->feature);
        assert_true(t->gap <= reach);
        assert_true(fabs(vec_norm(3, t->normal) - 1.0) < 1e-14);
        double gap = mesh_gap(m, b, delta, t->feature);
        if (!(fabs(gap - t->gap) < 1e-13)) {
            printf("gap of name %llx: %.17g, reported %.17g\n", (unsigned long long)t->feature, gap,
                   t->gap);
            fail();
        }
    }
    return list;
}

static inline void print_touches(const touch_list* list)
{
    for (int k = 0; k < list->count; k++) {
        const touch* t = list->row + k;
        printf("  %llx gap %g normal %g %g %g point %g %g %g\n", (unsigned long long)t->feature,
               t->gap, t->normal[0], t->normal[1], t->normal[2], t->point[0], t->point[1],
               t->point[2]);
    }
}

#endif

/// The topology of meshes: edges, corners, flat patches, and what makes no mesh.
#include "base/rng.h"
#include "base/vec.h"
#include "geometry/mesh.h"
#include "geometry/mesh_internal.h"
#include "support.h"

#include <string.h>

static void test_meshes_without_sense(void** state)
{
    (void)state;
    double vertex[12] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0};
    int32_t line[6] = {0, 1, 2, 1, 1, 3}, wrong[3] = {0, 1, 4};
    talus_error error;
    mesh* m;
    triangles t = {.vertex_count = 4, .triangle_count = 2, .vertex = vertex, .triangle = line};
    assert_int_equal(mesh_make(&t, 0.0, &m, &error), TALUS_ERR_ARGUMENT);
    printf("%s\n", error.text);
    assert_null(m);
    t.triangle = wrong, t.triangle_count = 1;
    assert_int_equal(mesh_make(&t, 0.0, &m, &error), TALUS_ERR_ARGUMENT);
    printf("%s\n", error.text);
    wrong[2] = 3;
    assert_int_equal(mesh_make(&t, -1.0, &m, &error), TALUS_ERR_ARGUMENT);
    vertex[0] = NAN;
    assert_int_equal(mesh_make(&t, 0.0, &m, &error), TALUS_ERR_ARGUMENT);
    t.triangle_count = MESH_MAX_TRIANGLES + 1;
    assert_int_equal(mesh_make(&t, 0.0, &m, &error), TALUS_ERR_ARGUMENT);
    printf("%s\n", error.text);
}

/// A torus: closed, Euler characteristic 0, every edge sharp, nothing lost in the tree.
static void test_torus(void** state)
{
    (void)state;
    enum { N = 24, M = 10 };
    double vertex[3 * N * M];
    int32_t triangle[6 * N * M];
    for (int i = 0; i < N * M; i++) {
        double a = 2.0 * M_PI * (i / M) / N, b = 2.0 * M_PI * (i % M) / M, rho = 3.0 + cos(b);
        double x[3] = {rho * cos(a), rho * sin(a), sin(b)};
        memcpy(vertex + 3 * i, x, sizeof x);
        int32_t j = (i / M + 1) % N * M + i % M;
        int32_t next = i % M == M - 1 ? i + 1 - M : i + 1;
        int32_t far = j % M == M - 1 ? j + 1 - M : j + 1;
        int32_t both[6] = {i, j, far, i, far, next};
        memcpy(triangle + 6 * i, both, sizeof both);
    }
    triangles t = {
        .vertex_count = N * M, .triangle_count = 2 * N * M, .vertex = vertex, .triangle = triangle};
    mesh* m;
    talus_error error;
    check_ok(mesh_make(&t, 0.5, &m, &error), error);
    assert_int_equal(m->vertex_count - m->edge_count + m->triangle_count, 0);
    assert_int_equal(mesh_triangle_count(m), 2 * N * M);
    check_close("bound of the torus", mesh_bound(m), 4.5, 1e-15, "a corner at 4, and the skin");
    int seen[2 * N * M] = {0};
    for (int k = 0; k < m->node_count; k++)
        for (int i = 0; i < m->node[k].count; i++) seen[m->order[m->node[k].first + i]]++;
    for (int i = 0; i < 2 * N * M; i++) assert_int_equal(seen[i], 1);
    for (int e = 0; e < m->edge_count; e++)
        assert_int_equal(m->edge_first[e + 1] - m->edge_first[e], 2);
    mesh_free(m);
}

/// Flat patches, straight edges, folds and edges of three triangles.
static void test_patches(void** state)
{
    (void)state;
    // Two squares in a plane, a third at a right angle, a triangle folded back on the first square,
    // and a fin on the edge between the first two.
    double vertex[] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0, 2, 0, 1, 2, 1, 1};
    int32_t flat[] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 4, 5, 2, 5, 7, 2, 7, 6};
    triangles t = {.vertex_count = 8, .triangle_count = 6, .vertex = vertex, .triangle = flat};
    mesh* m;
    talus_error error;
    check_ok(mesh_make(&t, 0.0, &m, &error), error);
    for (int i = 0; i < 6; i++) assert_int_equal(m->patch[i], i < 4 ? 0 : 4);
    int kinds[3] = {0};
    for (int v = 0; v < 8; v++) kinds[m->vertex_kind[v]]++;
    assert_int_equal(m->vertex_kind[1], VERTEX_STRAIGHT);
    assert_int_equal(m->vertex_kind[4], VERTEX_STRAIGHT);
    assert_int_equal(kinds[VERTEX_CORNER], 6);
    mesh_free(m);
    // The same four triangles of the plane with a fin of three triangles on one edge.
    int32_t fin[] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 4, 5, 1, 4, 6};
    t.triangle = fin, t.triangle_count = 5;
    check_ok(mesh_make(&t, 0.0, &m, &error), error);
    for (int i = 0; i < 5; i++) assert_int_equal(m->patch[i], i < 2 ? 0 : i < 4 ? 2 : 4);
    mesh_free(m);
    // Folded back: one plane, but the fold is sharp.
    int32_t fold[] = {0, 1, 4, 0, 1, 3};
    t.triangle = fold, t.triangle_count = 2;
    check_ok(mesh_make(&t, 0.0, &m, &error), error);
    assert_int_equal(m->patch[0], 0);
    assert_int_equal(m->patch[1], 1);
    mesh_free(m);
}

/// A slanted plane rounded to single precision is one patch; a cylinder of 2000 sides is not.
static void test_rounded_planes(void** state)
{
    (void)state;
    enum { N = 100 };
    static double vertex[3 * (N + 1) * (N + 1)];
    static int32_t triangle[6 * N * N];
    triangles t = {.vertex_count = (N + 1) * (N + 1),
                   .triangle_count = 2 * N * N,
                   .vertex = vertex,
                   .triangle = triangle};
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < (N + 1) * (N + 1); i++) {
            double x = (double)(i % (N + 1)) / N, y = (double)(i / (N + 1)) / N;
            double a = 2.0 * M_PI * (i % (N + 1)) / 2000.0;
            double plane[3] = {x, y, 0.3 * x + 0.77 * y}, round[3] = {cos(a), y, sin(a)};
            for (int k = 0; k < 3; k++) {
                volatile float rounded = (float)(kind ? round[k] : plane[k]);
                vertex[3 * i + k] = (double)rounded;
            }
        }
        for (int32_t k = 0; k < N * N; k++) {
            int32_t a = k / N * (N + 1) + k % N;
            int32_t both[6] = {a, a + 1, a + N + 2, a, a + N + 2, a + N + 1};
            memcpy(triangle + 6 * k, both, sizeof both);
        }
        mesh* m;
        talus_error error;
        check_ok(mesh_make(&t, 0.0, &m, &error), error);
        int patches = 0;
        for (int i = 0; i < m->triangle_count; i++) patches += m->patch[i] == i;
        assert_int_equal(patches, kind ? N : 1);
        mesh_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes_without_sense),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_rounded_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

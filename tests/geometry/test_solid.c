/// src/engine/geometry/solid.h: solids of one and several parts against hand calculation, the root
/// of the inertia against its definition, and definitions that make no sense.
#include "polytope_model.h"

#include "geometry/solid.h"

#include <string.h>

static talus_error error;

/// Corners of the box between two corners, [2^dim][dim].
static void box_corners(int dim, const double low[3], const double high[3], double* out)
{
    for (int i = 0; i < 1 << dim; i++) {
        for (int k = 0; k < dim; k++) out[dim * i + k] = i >> k & 1 ? high[k] : low[k];
    }
}

/// root^2 is the inertia, |root w|^2 = w.I w, and unroot undoes root.
static void check_root(const solid* s, rng* r)
{
    double size = 0.0, condition = 0.0;
    for (int k = 0; k < 3; k++) size = fmax(size, s->inertia[4 * k]);
    for (int k = 0; k < 9; k++) condition = fmax(condition, fabs(s->unroot[k]) * sqrt(size));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double square = 0.0, unit = 0.0;
            for (int k = 0; k < 3; k++) {
                square += s->root[3 * i + k] * s->root[3 * k + j];
                unit += s->unroot[3 * i + k] * s->root[3 * k + j];
            }
            assert_true(s->root[3 * i + j] == s->root[3 * j + i]);
            check_close("root^2 / size", square / size, s->inertia[3 * i + j] / size, 4e-15,
                        "rounding of the eigenvectors");
            check_close("unroot root", unit, i == j, 1e-14 * condition,
                        "rounding, times the ratio of the axes");
        }
    }
    double w[3], energy = 0.0, twice = 0.0;
    for (int k = 0; k < 3; k++) w[k] = rng_normal(r);
    for (int i = 0; i < 3; i++) {
        double v = vec_dot(3, s->root + 3 * i, w);
        energy += v * v;
        twice += w[i] * vec_dot(3, s->inertia + 3 * i, w);
    }
    check_close("|root w|^2 / w.I w", energy / twice, 1.0, 1e-14 * condition * condition,
                "rounding, times the ratio of the principal moments");
}

static void test_box(void** state)
{
    (void)state;
    double points[24];
    const double low[3] = {1, 2, 3}, high[3] = {2, 4, 6};
    box_corners(3, low, high, points);
    talus_solid_def def = {.name = "box", .points = points, .part_count = 1, .point_count = 8};
    solid s;
    check_ok(solid_make(&def, 3, &s, &error), error);
    assert_string_equal(s.name, "box");
    assert_ptr_not_equal(s.name, def.name);
    assert_int_equal(s.part_count, 1);
    check_close("volume", s.volume, 6.0, 1e-14, "rounding");
    check_close("radius", s.radius, 0.5 * sqrt(14.0), 1e-15, "rounding");
    for (int k = 0; k < 3; k++) {
        const double expected[3] = {13.0 / 12.0, 10.0 / 12.0, 5.0 / 12.0};
        check_close("centre", s.centre[k], 0.5 * (low[k] + high[k]), 1e-15, "rounding");
        check_close("inertia", s.inertia[4 * k], expected[k], 1e-14, "(b^2 + c^2)/12");
        check_close("root", s.root[4 * k], sqrt(expected[k]), 1e-14, "of a diagonal tensor");
        for (int v = 0; v < 8; v++) {
            double half = 0.5 * (high[k] - low[k]);
            check_close("corner", fabs(s.part[0].vertex[3 * v + k]), half, 1e-15, "rounding");
        }
    }
    solid_free(&s);
    def.skin = 0.25;
    check_ok(solid_make(&def, 3, &s, &error), error);
    check_close("radius with skin", s.radius, 0.5 * sqrt(14.0) + 0.25, 1e-15, "rounding");
    check_close("volume with skin", s.volume,
                6.0 + 22.0 * 0.25 + 24.0 * M_PI / 4.0 * 0.0625 + 4.0 * M_PI / 3.0 / 64.0, 1e-13,
                "Steiner; rounding of some 100 terms of size 1 to 10");
    solid_free(&s);
}

/// An L of two boxes: 2 x 1 x 1 along x and 1 x 1 x 1 on top of its left half.
static void test_corner(void** state)
{
    (void)state;
    const double low[2][3] = {{0, 0, 0}, {0, 1, 0}}, high[2][3] = {{2, 1, 1}, {1, 2, 1}};
    double points[48];
    const int sizes[2] = {8, 8};
    box_corners(3, low[0], high[0], points);
    box_corners(3, low[1], high[1], points + 24);
    talus_solid_def def = {
        .name = "L", .points = points, .part_sizes = sizes, .part_count = 2, .point_count = 16};
    solid s;
    check_ok(solid_make(&def, 3, &s, &error), error);
    assert_int_equal(s.part_count, 2);
    check_close("volume", s.volume, 3.0, 1e-14, "rounding");
    // Three unit cubes at (1/2, 1/2), (3/2, 1/2), (1/2, 3/2): the centre is at (5/6, 5/6, 1/2), and
    // the cubes at (-1/3, -1/3), (2/3, -1/3), (-1/3, 2/3) from there. Sums over them: x^2 6/9,
    // y^2 6/9, xy -3/9; each cube adds 1/6 about its own centre. A third of it for unit mass.
    const double xx = 2.0 / 9.0, xy = -1.0 / 9.0;
    const double expected[9] = {1.0 / 6.0 + xx,      -xy, 0, -xy, 1.0 / 6.0 + xx, 0, 0, 0,
                                1.0 / 6.0 + 2.0 * xx};
    const double centre[3] = {5.0 / 6.0, 5.0 / 6.0, 0.5};
    for (int k = 0; k < 3; k++) check_close("centre", s.centre[k], centre[k], 1e-15, "rounding");
    for (int k = 0; k < 9; k++) {
        check_close("inertia", s.inertia[k], expected[k], 1e-15, "rounding");
    }
    check_close("radius", s.radius, sqrt(49.0 / 36.0 + 25.0 / 36.0 + 0.25), 1e-15, "of (2, 0)");
    rng r = rng_make(7, 0, 0);
    check_root(&s, &r);
    solid_free(&s);

    // The same in 2D.
    double flat[16];
    const int four[2] = {4, 4};
    box_corners(2, low[0], high[0], flat);
    box_corners(2, low[1], high[1], flat + 8);
    def.points = flat, def.part_sizes = four, def.point_count = 8;
    check_ok(solid_make(&def, 2, &s, &error), error);
    check_close("area", s.volume, 3.0, 1e-14, "rounding");
    check_close("centre x", s.centre[0], 5.0 / 6.0, 1e-15, "rounding");
    check_close("centre y", s.centre[1], 5.0 / 6.0, 1e-15, "rounding");
    check_close("inertia", s.inertia[8], expected[8], 1e-15, "rounding");
    check_close("root", s.root[8], sqrt(expected[8]), 1e-15, "rounding");
    check_close("unroot", s.unroot[8], 1.0 / sqrt(expected[8]), 1e-15, "rounding");
    for (int k = 0; k < 8; k++) assert_true(s.inertia[k] == 0.0 && s.root[k] == 0.0);
    solid_free(&s);
}

/// Far from the origin, where the centre 1e6 + 1/3 is rounded by 4e-11, the body frame is not.
static void test_far(void** state)
{
    (void)state;
    const double points[6] = {1e6, 1e6, 1e6 + 1.0, 1e6, 1e6, 1e6 + 1.0};
    talus_solid_def def = {.name = "far", .points = points, .part_count = 1, .point_count = 3};
    solid s;
    check_ok(solid_make(&def, 2, &s, &error), error);
    for (int v = 0; v < 3; v++) {
        for (int k = 0; k < 2; k++) {
            double expected = (v == k + 1) - 1.0 / 3.0;
            check_close("corner", s.part[0].vertex[2 * v + k], expected, 1e-15, "rounding");
        }
    }
    check_close("inertia", s.inertia[8], 1.0 / 9.0, 1e-15, "(1 + 1)/18");
    solid_free(&s);
}

/// Many parts, anywhere: cut into boxes, a box stays the box it was.
static void test_parts(void** state)
{
    (void)state;
    enum { CUTS = 6, PARTS = CUTS * CUTS * CUTS };
    static double points[PARTS * 24];
    int sizes[PARTS];
    for (int i = 0; i < PARTS; i++) {
        double low[3] = {i % CUTS, i / CUTS % CUTS, i / CUTS / CUTS}, high[3];
        for (int k = 0; k < 3; k++) high[k] = low[k] + 1.0;
        box_corners(3, low, high, points + 24 * i);
        sizes[i] = 8;
    }
    const double far[2] = {0.0, 1e6};
    for (int place = 0; place < 2; place++) {
        for (int i = 0; i < PARTS * 24; i++) points[i] += far[place];
        talus_solid_def def = {.name = "cube",
                               .points = points,
                               .part_sizes = sizes,
                               .part_count = PARTS,
                               .point_count = 8 * PARTS};
        solid s;
        check_ok(solid_make(&def, 3, &s, &error), error);
        check_close("volume", s.volume, 216.0, 1e-12, "rounding of 216 parts");
        for (int k = 0; k < 9; k++) {
            check_close("inertia", s.inertia[k], k % 4 == 0 ? 6.0 : 0.0, 1e-13, "rounding");
        }
        check_close("centre", s.centre[1], 3.0 + far[place], 1e-15 * (1.0 + far[place]),
                    "rounding");
        // The centre of mass is at the origin to the accuracy of the shape, not of the place.
        double sum = 0.0;
        for (int i = 0; i < PARTS; i++) {
            for (int v = 0; v < 8; v++) sum += s.part[i].vertex[3 * v];
        }
        check_close("mean of the corners", sum / (8 * PARTS), 0.0, 1e-14, "rounding");
        solid_free(&s);
    }
}

static void test_root(void** state)
{
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        rng r = rng_make(7, 1, (uint64_t)trial);
        double points[3 * 30];
        random_points(&r, (point_kind)(trial % POINT_KINDS), 3, 30, points);
        for (int i = 0; i < 90; i++) points[i] = points[i] * pow(10.0, trial % 13 - 6) + trial % 7;
        talus_solid_def def = {.name = "any", .points = points, .part_count = 1, .point_count = 30};
        solid s;
        check_ok(solid_make(&def, 3, &s, &error), error);
        check_root(&s, &r);
        // The ball that holds it: no corner beyond, one on it.
        double most = 0.0;
        for (int v = 0; v < s.part[0].vertex_count; v++) {
            most = fmax(most, vec_norm(3, s.part[0].vertex + 3 * v));
        }
        assert_true(most == s.radius);
        solid_free(&s);
    }
}

// ---- definitions that make no sense ------------------------------------------------------------

static void check_refused(talus_solid_def def, const char* says)
{
    solid s;
    assert_int_equal(solid_make(&def, 3, &s, &error), TALUS_ERR_ARGUMENT);
    printf("%s\n", error.text);
    assert_non_null(strstr(error.text, says));
    assert_null(s.part);
    assert_null(s.name);
    assert_int_equal(solid_make(&def, 3, &s, NULL), TALUS_ERR_ARGUMENT);
}

static void test_refused(void** state)
{
    (void)state;
    double points[48];
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
    box_corners(3, low, high, points);
    box_corners(3, low, high, points + 24);
    const int sizes[3] = {8, 8, 0}, wrong[2] = {8, 9}, negative[2] = {17, -1}, few[2] = {13, 3};
    const talus_solid_def good = {
        .name = "x", .points = points, .part_sizes = sizes, .part_count = 2, .point_count = 16};
    talus_solid_def def = good;
    def.name = NULL;
    check_refused(def, "needs a name");
    def.name = "";
    check_refused(def, "needs a name");
    def = good, def.part_count = 0;
    check_refused(def, "'x' has 0 parts");
    def = good, def.part_count = 257;
    check_refused(def, "'x' has 257 parts");
    def = good, def.part_count = 3;
    check_refused(def, "'x', part 3: 0 points make no polyhedron");
    def = good, def.part_sizes = NULL;
    check_refused(def, "'x' has 2 parts, but how many points each has is not given");
    def = good, def.part_sizes = wrong;
    check_refused(def, "17 points together, but 16 are given");
    def = good, def.part_sizes = negative;
    check_refused(def, "'x', part 2 has -1 points");
    def = good, def.part_sizes = few;
    check_refused(def, "'x', part 2: 3 points make no polyhedron: at least 4 are needed");
    def = good, def.points = NULL;
    check_refused(def, "has no points");
    def = good, def.skin = -1.0;
    check_refused(def, "skin of -1");
    def = good, def.skin = (double)NAN;
    check_refused(def, "skin of nan");
    def = good, def.skin = 1e200;
    check_refused(def, "too large");
    points[30] = (double)NAN;
    check_refused(good, "'x', part 2: point 3 is not a finite number");
    def = good, def.part_count = 1, def.part_sizes = NULL;
    check_refused(def, "solid 'x': point 11 is not a finite number");
}

static void test_table(void** state)
{
    (void)state;
    double points[24];
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
    box_corners(3, low, high, points);
    solids all = {0};
    assert_int_equal(solids_find(&all, "box 0"), -1);
    for (int i = 0; i < 40; i++) {
        char name[32];
        int index = -1;
        snprintf(name, sizeof name, "box %d", i);
        talus_solid_def def = {.name = name, .points = points, .part_count = 1, .point_count = 8};
        points[23] = 1.0 + i; // the corner at (1, 1, 1) moves up
        check_ok(solids_add(&all, &def, 3, i % 2 ? NULL : &index, &error), error);
        if (i % 2 == 0) assert_int_equal(index, i);
        assert_int_equal(solids_add(&all, &def, 3, &index, &error), TALUS_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, name));
        assert_int_equal(all.count, i + 1);
    }
    talus_solid_def bad = {.name = "bad", .points = points, .part_count = 1, .point_count = 3};
    assert_int_equal(solids_add(&all, &bad, 3, NULL, &error), TALUS_ERR_ARGUMENT);
    bad.name = NULL;
    assert_int_equal(solids_add(&all, &bad, 3, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_int_equal(all.count, 40);
    assert_int_equal(solids_find(&all, "box 33"), 33);
    assert_int_equal(solids_find(&all, "bad"), -1);
    check_close("the points were copied", all.row[0].volume, 1.0, 1e-15, "rounding");
    solids_free(&all);
    assert_int_equal(all.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box),   cmocka_unit_test(test_corner), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_far),   cmocka_unit_test(test_root),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

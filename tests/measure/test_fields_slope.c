/// Angles of slopes: grains placed on wedges, cones and planes of known angle.
#include "physics.h"
#include "random.h"

static talus_slope slope_of(const talus_world* world, const talus_slope_def* def)
{
    talus_error error;
    talus_slope s;
    check_ok(talus_measure_slope(world, def, &s, &error), error);
    return s;
}

static int64_t add_ball(talus_world* world, double r, double x, double y, double z)
{
    const talus_grain_def def = physics_ball(r, 1.0, x, y, z);
    return physics_add(world, &def);
}

static double degrees_tan(double degrees)
{
    return tan(degrees * M_PI / 180.0);
}

/// Flanks of different angles, exactly: a grain of the surface in each column, others below it.
static void test_wedge(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, -10, 0);
    const double left = degrees_tan(31.0), right = degrees_tan(23.0);
    for (int i = -30; i <= 40; i++) {
        const double x = 3.0 + i + 0.5, off = i + 0.5;
        const double top = 20.0 - (off < 0 ? -off * left : off * right);
        for (double y = top; y > 0.0; y -= 0.7) add_ball(world, 0.3, x, y, 0);
    }
    talus_slope_def def = talus_slope_default();
    def.column = 1.0;
    def.has_centre = true;
    def.centre[0] = 3.0;
    talus_slope s = slope_of(world, &def);
    check_close("left", s.flank[0], 31.0, 1e-10, "roundoff");
    check_close("right", s.flank[1], 23.0, 1e-10, "roundoff");
    check_close("mean", s.angle, 27.0, 1e-10, "roundoff");
    check_close("error", s.error, 0.0, 1e-10, "the points are on the lines");
    check_close("roughness", s.roughness, 0.0, 1e-10, "the points are on the lines");
    int64_t fitted = 0;
    for (int64_t i = 0; i < s.count; i++) {
        const double expected = 20.3 - (s.distance[i] < 0 ? -left : right) * s.distance[i];
        check_close("top", s.top[i], expected, 1e-12, "the grain of the surface, its radius up");
        fitted += s.fitted[i];
    }
    assert_int_equal(s.count, 71);
    assert_in_range(fitted, 35, 50); // 0.6 of the height
    talus_slope_free(&s);
    // The other flank alone: the region cuts the heap at its top.
    def.region.low[0] = 3.0;
    s = slope_of(world, &def);
    check_close("right alone", s.angle, 23.0, 1e-10, "roundoff");
    assert_true(isnan(s.flank[0]));
    talus_slope_free(&s);
    // The same without being told where the top is: half of the flank is left of the centre of
    // mass.
    def.has_centre = false;
    s = slope_of(world, &def);
    check_close("leaning on a wall", s.angle, 23.0, 1e-10, "roundoff");
    assert_true(isnan(s.flank[0]) && s.flank[1] == s.angle);
    talus_slope_free(&s);
    def.region.low[0] = -INFINITY;
    s = slope_of(world, &def);
    check_close("both flanks", s.angle, 27.0, 1e-10, "roundoff");
    talus_slope_free(&s);
    talus_world_destroy(world);
}

/// Grains at random in a wedge, which is more like a heap: the angle is within its error.
static void test_random_heap(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        // Gravity along another axis than the last: the heap is turned.
        talus_world* world = physics_world_g(dim, 0.0, -10, 0, 0);
        rng r = rng_make(12, (uint64_t)dim, 0);
        const double rise = degrees_tan(25.0);
        for (int i = 0; i < (dim == 2 ? 8000 : 60000);) {
            const double y = uniform(&r, -40, 40), z = dim == 3 ? uniform(&r, -40, 40) : 0.0;
            const double x = uniform(&r, 0, 40 * rise);
            if (x > (40.0 - hypot(y, z)) * rise) continue;
            add_ball(world, 0.5, x, y, z);
            i++;
        }
        talus_slope_def def = talus_slope_default();
        def.column = 2.0;
        def.has_centre = true;
        talus_slope s = slope_of(world, &def);
        check_close("up", s.up[0], 1.0, 0.0, "against gravity");
        check_close("angle", s.angle, 25.0, fmax(4.0 * s.error, 0.1), "4 standard errors");
        check_below("error", s.error, 1.0, "grains of 1 on flanks of 25");
        talus_slope_free(&s);
        talus_world_destroy(world);
    }
}

/// A cone, exactly: rings of grains in all sectors.
static void test_cone(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(3, 0.0, 0, 0, -10);
    for (int ring = 0; ring < 30; ring++) {
        for (int i = 0; i < 12; i++) {
            const double distance = ring + 0.5, turn = (i + 0.5) * M_PI / 6;
            const double top = 15.0 - distance * degrees_tan(26.0);
            add_ball(world, 0.3, 5.0 + distance * cos(turn), distance * sin(turn), top);
            add_ball(world, 0.3, 5.0 + distance * cos(turn), distance * sin(turn), top - 1.0);
        }
    }
    talus_slope_def def = talus_slope_default();
    def.column = 1.0;
    def.sectors = 12;
    talus_slope s = slope_of(world, &def);
    check_close("angle", s.angle, 26.0, 1e-9, "roundoff; the centre of mass is the axis");
    check_close("error", s.error, 0.0, 1e-9, "the points are on the cone");
    assert_int_equal(s.count, 360);
    talus_slope_free(&s);
    talus_world_destroy(world);
}

/// The surface in a drum: a plane with noise of known size, in 2D and 3D, inclined along both axes.
static void test_plane(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        double gravity[3] = {0};
        gravity[dim - 1] = -10.0;
        talus_world* world = physics_world_g(dim, 0.0, gravity[0], gravity[1], gravity[2]);
        rng r = rng_make(13, 0, 0);
        const double rise[2] = {0.4, dim == 3 ? -0.3 : 0.0}, noise = 0.2;
        for (int i = 0; i < 30 * (dim == 3 ? 30 : 1); i++) {
            const double x = i % 30 + 0.5, y = i / 30 + 0.5;
            const double top = rise[0] * x + rise[1] * y + noise * rng_normal(&r);
            add_ball(world, 0.3, x, dim == 3 ? y : top, top);
            add_ball(world, 0.3, x, dim == 3 ? y : top - 3.0, top - 3.0);
        }
        talus_slope_def def = talus_slope_default();
        def.kind = TALUS_SLOPE_PLANE;
        def.column = 1.0;
        def.has_centre = true;
        talus_slope s = slope_of(world, &def);
        const double slope = hypot(rise[0], rise[1]);
        check_close("angle", s.angle, atan(slope) * 180.0 / M_PI, 4.0 * s.error,
                    "4 standard errors");
        const double span = 18.0, points = dim == 2 ? 18.0 : 18.0 * 18.0;
        const double error = noise / (span / sqrt(12.0)) / sqrt(points) / (1.0 + slope * slope);
        check_close("error", s.error, error * 180.0 / M_PI, 0.45 * error * 180.0 / M_PI,
                    "of a regression of such points; 18 points know their noise to 17 %");
        check_close("rise x", s.rise[0], rise[0], 4.0 * error * (1.0 + slope * slope),
                    "4 standard errors");
        check_close("rise y", s.rise[1], rise[1], 4.0 * error * (1.0 + slope * slope),
                    "4 standard errors");
        check_close("roughness", s.roughness, noise / sqrt(1.0 + slope * slope), 0.1,
                    "half of it: 18 points know their noise to 17 %");
        talus_slope_free(&s);
        talus_world_destroy(world);
    }
}

/// Grains in flight do not count if only touching ones are asked for.
static void test_touching(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    for (int i = 0; i < 20; i++) add_ball(world, 0.45, i + 0.5, 0.45, 0);
    add_ball(world, 0.45, 8.5, 7.0, 0);
    physics_step(world, 1e-3);
    talus_slope_def def = talus_slope_default();
    def.kind = TALUS_SLOPE_PLANE;
    def.column = 1.0;
    def.touching = true;
    talus_slope s = slope_of(world, &def);
    check_close("angle", s.angle, 0.0, 1e-9, "flat");
    talus_slope_free(&s);
    def.touching = false;
    s = slope_of(world, &def);
    assert_true(s.roughness > 1.0);
    talus_slope_free(&s);
    talus_world_destroy(world);
}

/// Square grains: their highest corner is the surface.
static void check_squares(double skin)
{
    static const double square[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    talus_error error;
    talus_world* world = physics_world_g(2, 0.0, 0, -10, 0);
    talus_solid_def solid = talus_solid_default();
    solid.name = "square";
    solid.points = square;
    solid.point_count = 4;
    solid.skin = skin;
    check_ok(talus_world_add_solid(world, &solid, NULL, &error), error);
    talus_grain_def grain = talus_grain_default();
    grain.solid = (talus_solid_id){0};
    grain.scale = 0.3;
    grain.rotation[2] = M_PI / 4;
    for (int i = 0; i < 10; i++) {
        grain.position[0] = i + 0.5, grain.position[1] = 0.2 * i;
        physics_add(world, &grain);
    }
    talus_slope_def def = talus_slope_default();
    def.kind = TALUS_SLOPE_PLANE;
    def.column = 1.0;
    def.has_centre = true;
    talus_slope s = slope_of(world, &def);
    check_close("angle", s.angle, atan(0.2) * 180.0 / M_PI, 1e-10, "roundoff");
    check_close("level", s.level, 0.3 * (sqrt(2.0) + skin) - 0.1, 1e-12,
                "half the diagonal, and the skin");
    talus_slope_free(&s);
    talus_world_destroy(world);
}

static void test_solids(void** state)
{
    (void)state;
    check_squares(0.0);
    check_squares(0.5);
}

static void test_mistakes(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, -10, 0);
    add_ball(world, 0.5, 0, 0, 0);
    talus_error error;
    talus_slope s;
    assert_int_equal(talus_measure_slope(world, NULL, &s, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "too few"));
    talus_slope_def def = talus_slope_default();
    def.low = 0.9;
    assert_int_equal(talus_measure_slope(world, &def, &s, &error), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wedge),    cmocka_unit_test(test_random_heap),
        cmocka_unit_test(test_cone),     cmocka_unit_test(test_plane),
        cmocka_unit_test(test_touching), cmocka_unit_test(test_solids),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

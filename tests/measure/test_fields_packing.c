/// Packing fractions of spaces: exact parts of balls and solids, limits by cell, walls and bounds.
#include "geometry/convex_cell.h"
#include "physics.h"
#include "random.h"

static talus_packing packing_of(const talus_world* world, const talus_domain_def* def)
{
    talus_error error;
    talus_packing p;
    check_ok(talus_measure_packing(world, def, &p, &error), error);
    return p;
}

static talus_domain_def bounds_of(double x0, double y0, double z0, double x1, double y1, double z1)
{
    talus_domain_def def = talus_domain_default();
    const double low[3] = {x0, y0, z0}, high[3] = {x1, y1, z1};
    memcpy(def.bounds.low, low, sizeof low);
    memcpy(def.bounds.high, high, sizeof high);
    return def;
}

static double ball(int dim, double r)
{
    return dim == 2 ? M_PI * r * r : 4.0 / 3.0 * M_PI * r * r * r;
}

static void add_ball(talus_world* world, double r, double x, double y, double z)
{
    const talus_grain_def def = physics_ball(r, 1.0, x, y, z);
    physics_add(world, &def);
}

// ---- part of a ball in a convex cell -----------------------------------------------------------

enum { PLANES = 9 };

/// Keep normal.x <= offset.
typedef struct plane {
    double normal[3], offset;
} plane;

/// Part of the ball of radius r about the origin behind all planes, by chords along x on a square
/// grid: the midpoint rule. A plane along x makes the chords jump: the error in 2D is up to a chord
/// times the spacing at each end.
static double part_by_chords(int dim, const plane* p, int planes, double r, int grid)
{
    const double step = 2.0 * r / grid;
    double sum = 0.0;
    for (int j = 0; j < grid; j++) {
        for (int k = 0; k < (dim == 3 ? grid : 1); k++) {
            const double y = -r + (j + 0.5) * step, z = dim == 3 ? -r + (k + 0.5) * step : 0.0;
            const double square = r * r - y * y - z * z;
            if (square <= 0.0) continue;
            double from = -sqrt(square), to = sqrt(square);
            for (int i = 0; i < planes; i++) {
                const double rest = p[i].offset - p[i].normal[1] * y - p[i].normal[2] * z;
                const double at = rest / p[i].normal[0];
                if (p[i].normal[0] > 0.0) to = fmin(to, at);
                if (p[i].normal[0] < 0.0) from = fmax(from, at);
            }
            if (to > from) sum += (to - from) * step * (dim == 3 ? step : 1.0);
        }
    }
    return sum;
}

static void test_ball_in_random_cells(void** state)
{
    (void)state;
    static const int32_t tag[3] = {0};
    const double low[3] = {-50, -50, -50}, high[3] = {50, 50, 50}, origin[3] = {0};
    rng r = rng_make(11, 0, 0);
    for (int i = 0; i < test_count(40, 10); i++) {
        const int dim = 2 + i % 2, planes = 1 + i % PLANES;
        convex_cell c = {0};
        plane p[PLANES];
        assert_int_equal(convex_cell_box(&c, dim, low, high, tag), TALUS_OK);
        for (int k = 0; k < planes; k++) {
            double length = 0.0;
            for (int a = 0; a < 3; a++) {
                p[k].normal[a] = a < dim ? rng_normal(&r) : 0.0;
                length = hypot(length, p[k].normal[a]);
            }
            for (int a = 0; a < 3; a++) p[k].normal[a] /= length;
            p[k].offset = uniform(&r, -0.2, 0.9);
            assert_int_equal(convex_cell_cut(&c, p[k].normal, p[k].offset, 0), TALUS_OK);
        }
        const int grid = dim == 2 ? 200000 : 300;
        check_close("part of a ball", convex_cell_ball(&c, origin, 1.0),
                    part_by_chords(dim, p, planes, 1.0, grid), dim == 2 ? 4e-5 : 3e-4,
                    "2D: a chord times the spacing, twice; 3D: such errors over 300 rows");
        convex_cell_free(&c);
    }
}

static void test_ball_at_corners(void** state)
{
    (void)state;
    static const int32_t tag[3] = {0};
    const double low[3] = {0, 0, 0}, high[3] = {10, 10, 10}, at[3] = {0, 0, 0};
    for (int dim = 2; dim <= 3; dim++) {
        convex_cell c = {0};
        assert_int_equal(convex_cell_box(&c, dim, low, high, tag), TALUS_OK);
        const double r = 0.7, in_corner = convex_cell_ball(&c, at, r);
        check_close("a corner has its share of the full turn", in_corner,
                    ball(dim, r) / (dim == 2 ? 4 : 8), 1e-15, "roundoff of a few terms");
        const double on_face[3] = {5, 0, dim == 3 ? 5 : 0};
        check_close("half on a side", convex_cell_ball(&c, on_face, r), ball(dim, r) / 2, 2e-15,
                    "roundoff of a few terms");
        const double within[3] = {5, 4, dim == 3 ? 3 : 0};
        check_close("all within", convex_cell_ball(&c, within, r), ball(dim, r), 4e-15,
                    "roundoff of a few terms");
        check_close("the cell in the ball", convex_cell_ball(&c, within, 100.0),
                    dim == 2 ? 100.0 : 1000.0, 1e-9, "roundoff of terms of the ball's 4e6");
        const double out[3] = {-1, -1, dim == 3 ? -1 : 0};
        check_close("outside", convex_cell_ball(&c, out, 1.0), 0.0, 1e-15, "roundoff");
        convex_cell_free(&c);
    }
}

// ---- whole worlds ------------------------------------------------------------------------------

/// A square or cubic lattice in its periodic cell: pi/4 and pi/6, wherever the cell begins, and
/// also in any box of whole periods within it.
static void test_lattice(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = physics_def(dim);
        for (int k = 0; k < dim; k++) {
            def.periodic[k] = true;
            def.cell_low[k] = 0.3, def.cell_high[k] = 4.3;
        }
        talus_world* world = physics_world(&def, 0.0);
        for (int i = 0; i < (dim == 3 ? 64 : 16); i++) {
            add_ball(world, 0.5, i % 4 + 0.5, i / 4 % 4 + 0.5, i / 16 + 0.5);
        }
        talus_packing p = packing_of(world, NULL);
        check_close("volume", p.volume, pow(4.0, dim), 1e-12, "roundoff");
        check_close("fraction", p.fraction, ball(dim, 0.5), 1e-13, "roundoff");
        assert_int_equal(p.grains, dim == 3 ? 64 : 16);
        talus_domain_def part = bounds_of(0.8, 1.45, 0.95, 2.8, 2.45, 3.95);
        check_close("fraction of a box", packing_of(world, &part).fraction, ball(dim, 0.5), 1e-13,
                    "roundoff");
        part = bounds_of(1.0, 1.0, 1.0, 1.5, 1.5, 1.5); // a corner between grains: one eighth
        check_close("fraction of an octant", packing_of(world, &part).fraction, ball(dim, 0.5),
                    1e-13, "roundoff");
        talus_world_destroy(world);
    }
}

/// The domain ends at walls, also those that no grain touches, and at the grains where there are
/// none.
static void test_walls_limit(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    physics_plane_at(world, "left", 1, 0, 0, -3, 0, 0);
    add_ball(world, 0.5, 0.0, 2.0, 0);
    add_ball(world, 0.25, 1.0, 4.0, 0);
    talus_packing p = packing_of(world, NULL);
    const double low[2] = {-3, 0}, high[2] = {1.25, 4.25};
    for (int k = 0; k < 2; k++) {
        check_close("low", p.low[k], low[k], 1e-11, "roundoff in the large box");
        check_close("high", p.high[k], high[k], 1e-11, "roundoff");
    }
    check_close("volume", p.volume, 4.25 * 4.25, 1e-10, "roundoff");
    check_close("solid", p.solid, ball(2, 0.5) + ball(2, 0.25), 1e-14, "roundoff");
    talus_domain_def open = talus_domain_default();
    open.walls = false;
    check_close("without walls", packing_of(world, &open).volume, 1.75 * 2.75, 1e-14, "roundoff");
    // A roof that slopes down to both sides cuts the space to a triangle.
    physics_plane_at(world, "roof", -sqrt(0.5), -sqrt(0.5), 0, 0, 6, 0);
    check_close("triangle", packing_of(world, NULL).volume, 9.0 * 9.0 / 2, 1e-9,
                "roundoff in the large box");
    talus_domain_def empty = bounds_of(-9, -9, -9, -8, 9, 9);
    talus_error error;
    assert_int_equal(talus_measure_packing(world, &empty, &p, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "no room"));
    talus_world_destroy(world);
}

static talus_wall_id add_tube(talus_world* world, int dim, double radius)
{
    talus_wall_def def = talus_wall_default();
    def.name = "tube";
    def.shape.kind = TALUS_SHAPE_CYLINDER;
    def.shape.inside = true;
    def.shape.radius = radius;
    def.shape.axis[2] = dim == 3;
    return physics_wall(world, &def);
}

/// A cylinder has its own volume although its sides are flat, and a ball that touches it is whole.
static void test_cylinder(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        add_tube(world, dim, 2.0);
        add_ball(world, 0.5, 1.5 * cos(0.01), 1.5 * sin(0.01), 0);
        add_ball(world, 0.5, 0, 0, 0);
        talus_packing p = packing_of(world, NULL);
        check_close("volume", p.volume, M_PI * 4.0 * 1.0, 1e-10, "roundoff");
        check_close("solid", p.solid, 2.0 * ball(dim, 0.5), 1e-14, "roundoff");
        talus_world_destroy(world);
    }
}

/// An open box limits the space until a grain has left it.
static void test_open_box(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, -10, 0);
    talus_wall_def box = talus_wall_default();
    box.name = "box";
    box.shape.kind = TALUS_SHAPE_BOX;
    box.shape.inside = true;
    box.shape.half_size[0] = 2.0, box.shape.half_size[1] = 3.0;
    box.shape.open_faces = TALUS_FACE_Y_HIGH;
    physics_wall(world, &box);
    add_ball(world, 0.5, 0, 0, 0);
    check_close("volume", packing_of(world, NULL).volume, 4.0 * 3.5, 1e-11, "roundoff");
    add_ball(world, 0.5, 3.0, 0, 0); // beside it: only the bottom and the left side are left
    check_close("volume", packing_of(world, NULL).volume, 5.5 * 3.5, 1e-11, "roundoff");
    talus_world_destroy(world);
}

/// Square and cube grains tile: one in each cell of a lattice, of edge a, turned at random, gives
/// a^dim; in a box that cuts a grain parallel to its sides, the part is known.
/// Grains that have rolled away do not make the space larger, nor are they in it.
static void test_strays(void** state)
{
    (void)state;
    talus_world_def def = physics_def(2);
    talus_world* world = physics_world(&def, 0.0);
    for (int i = 0; i < 100; i++) add_ball(world, 0.5, i % 10, i / 10, 0.0);
    const talus_packing alone = packing_of(world, NULL);
    check_close("a square lattice in its box", alone.fraction, M_PI / 4.0, 1e-12, "roundoff");
    add_ball(world, 0.5, 200.0, 0.0, 0.0);
    const talus_packing with_stray = packing_of(world, NULL);
    check_close("the same beside a stray", with_stray.fraction, M_PI / 4.0, 1e-12, "roundoff");
    assert_int_equal(with_stray.grains, 100);
    talus_domain_def wide = bounds_of(-0.5, -0.5, 0.0, 200.5, 9.5, 0.0);
    assert_int_equal(packing_of(world, &wide).grains, 101); // who names the space gets it
    talus_world_destroy(world);
}

static void test_solids(void** state)
{
    (void)state;
    static const double square[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    static const double cube[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                                  -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};
    for (int dim = 2; dim <= 3; dim++) {
        talus_error error;
        talus_world_def world_def = physics_def(dim);
        for (int k = 0; k < dim; k++) {
            world_def.periodic[k] = true;
            world_def.cell_high[k] = 6.0;
        }
        talus_world* world = physics_world(&world_def, 0.0);
        talus_solid_def solid = talus_solid_default();
        solid.name = "block";
        solid.points = dim == 2 ? square : cube;
        solid.point_count = dim == 2 ? 4 : 8;
        check_ok(talus_world_add_solid(world, &solid, NULL, &error), error);
        talus_grain_def grain = talus_grain_default();
        grain.solid = (talus_solid_id){0};
        grain.scale = 0.5;
        for (int k = 0; k < dim; k++) grain.position[k] = 3.0;
        physics_add(world, &grain);
        for (int k = 0; k < dim; k++) grain.position[k] = 0.1; // across the cell's corner
        grain.rotation[2] = 0.4;
        if (dim == 3) grain.rotation[0] = 0.7;
        physics_add(world, &grain);
        talus_packing p = packing_of(world, NULL);
        check_close("solid", p.solid, 2.0, 1e-13, "roundoff");
        talus_domain_def part = bounds_of(2.7, 2.0, 2.0, 3.9, 3.4, 4.0);
        check_close("part", packing_of(world, &part).solid, 0.8 * 0.9, 1e-14, "roundoff");
        talus_world_destroy(world);
    }
}

/// A rounded solid counts with its own volume.
static void test_rounded(void** state)
{
    (void)state;
    static const double square[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    talus_error error;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    talus_solid_def solid = talus_solid_default();
    solid.name = "round";
    solid.points = square;
    solid.point_count = 4;
    solid.skin = 0.5;
    check_ok(talus_world_add_solid(world, &solid, NULL, &error), error);
    talus_grain_def grain = talus_grain_default();
    grain.solid = (talus_solid_id){0};
    physics_add(world, &grain);
    talus_domain_def all = bounds_of(-5, -5, -5, 5, 5, 5), half = bounds_of(-5, 0, -5, 5, 5, 5);
    const double area = 4.0 + 4.0 * 2.0 * 0.5 + M_PI * 0.25;
    check_close("solid", packing_of(world, &all).solid, area, 1e-14, "roundoff");
    check_close("half", packing_of(world, &half).solid, area / 2, 1e-14, "symmetry, roundoff");
    const talus_packing own = packing_of(world, NULL); // its box: corners and skin
    for (int k = 0; k < 2; k++) {
        check_close("low", own.low[k], -1.5, 1e-14, "roundoff");
        check_close("high", own.high[k], 1.5, 1e-14, "roundoff");
    }
    talus_world_destroy(world);
}

/// Bounds across the edge of a periodic cell hold the same as bounds a cell's length away, and as
/// the two pieces on either side of the edge.
static void test_bounds_across_the_edge(void** state)
{
    (void)state;
    talus_world_def world_def = physics_def(2);
    world_def.periodic[0] = true;
    world_def.cell_high[0] = 6.0;
    talus_world* world = physics_world(&world_def, 0.0);
    add_ball(world, 0.5, 0.2, 1.0, 0);
    add_ball(world, 0.4, 3.0, 1.0, 0);
    add_ball(world, 0.3, 5.8, 1.2, 0);
    const talus_domain_def end = bounds_of(5, 0, 0, 6, 2, 1),
                           beginning = bounds_of(0, 0, 0, 1, 2, 1);
    const double first = packing_of(world, &end).solid;
    const double second = packing_of(world, &beginning).solid;
    check_close("two pieces", first + second, ball(2, 0.5) + ball(2, 0.3), 1e-14, "roundoff");
    static const double from[] = {5, -1, 11};
    for (int i = 0; i < 3; i++) {
        talus_domain_def def = bounds_of(from[i], 0, 0, from[i] + 2, 2, 1);
        const talus_packing p = packing_of(world, &def);
        check_close("volume", p.volume, 4.0, 1e-14, "roundoff");
        check_close("solid", p.solid, first + second, 1e-14, "roundoff");
        assert_int_equal(p.grains, 2);
    }
    talus_domain_def all = bounds_of(-1, 0, 0, 5.5, 2, 1);
    check_close("all", packing_of(world, &all).volume, 12.0, 1e-14, "longer than the cell: whole");
    talus_domain_def none = bounds_of(7, 0, 0, INFINITY, 2, 1);
    talus_packing p;
    talus_error error;
    assert_int_equal(talus_measure_packing(world, &none, &p, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "periodic axis x"));
    talus_world_destroy(world);
}

/// The same bits for any number of threads.
static void test_threads(void** state)
{
    (void)state;
    double solid[3];
    for (int threads = 1; threads <= 3; threads++) {
        talus_world_def def = physics_def(3);
        def.threads = threads;
        talus_world* world = physics_world(&def, 0.0);
        rng r = rng_make(3, 0, 0);
        for (int i = 0; i < 9000; i++) {
            add_ball(world, uniform(&r, 0.01, 0.05), rng_uniform(&r), rng_uniform(&r),
                     rng_uniform(&r));
        }
        talus_domain_def part = bounds_of(0.2, 0.2, 0.2, 0.7, 0.8, 0.9);
        solid[threads - 1] = packing_of(world, &part).solid;
        talus_world_destroy(world);
    }
    assert_memory_equal(&solid[0], &solid[1], sizeof solid[0]);
    assert_memory_equal(&solid[0], &solid[2], sizeof solid[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball_at_corners),
        cmocka_unit_test(test_ball_in_random_cells),
        cmocka_unit_test(test_lattice),
        cmocka_unit_test(test_walls_limit),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_strays),
        cmocka_unit_test(test_open_box),
        cmocka_unit_test(test_solids),
        cmocka_unit_test(test_bounds_across_the_edge),
        cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

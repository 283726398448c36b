/// Radical Voronoi cells: lattices, sums, neighbours, membership by brute force, boundaries.
#include "physics.h"
#include "random.h"

#include "world/world.h"

static talus_voronoi voronoi_of(const talus_world* world, const talus_voronoi_def* def)
{
    talus_error error;
    talus_voronoi v;
    check_ok(talus_measure_voronoi(world, def, &v, &error), error);
    return v;
}

static double total(const talus_voronoi* v)
{
    double sum = 0.0;
    for (int64_t i = 0; i < v->count; i++) sum += v->volume[i];
    return sum;
}

static void add_ball(talus_world* world, double r, double x, double y, double z)
{
    const talus_grain_def def = physics_ball(r, 1.0, x, y, z);
    physics_add(world, &def);
}

static int64_t neighbours(const talus_voronoi* v, int64_t i)
{
    return v->neighbour_first[i + 1] - v->neighbour_first[i];
}

// ---- lattices ----------------------------------------------------------------------------------

/// Triangular lattice: hexagons, fraction pi/sqrt(12) where the disks touch.
static void test_hexagons(void** state)
{
    (void)state;
    talus_world_def def = physics_def(2);
    const double row = sqrt(3.0) / 2.0;
    def.periodic[0] = def.periodic[1] = true;
    def.cell_high[0] = 6.0, def.cell_high[1] = 6.0 * row;
    talus_world* world = physics_world(&def, 0.0);
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++) add_ball(world, 0.5, i + 0.5 * (j % 2), (j + 0.5) * row, 0);
    }
    talus_voronoi v = voronoi_of(world, NULL);
    for (int64_t i = 0; i < v.count; i++) {
        check_close("volume", v.volume[i], row, 1e-14, "roundoff");
        check_close("fraction", v.fraction[i], M_PI / sqrt(12.0), 1e-14, "roundoff");
        assert_int_equal(neighbours(&v, i), 6);
        check_close("side", v.face[v.neighbour_first[i]], 1.0 / sqrt(3.0), 1e-14, "roundoff");
        assert_int_equal(v.boundary[i], 0);
    }
    check_close("mean", v.mean, M_PI / sqrt(12.0), 1e-14, "roundoff");
    check_close("spread", v.spread, 0.0, 1e-14, "roundoff");
    check_close("histogram", v.histogram[(int)(50 * v.mean)], 50.0, 1e-12, "all in one bin of 50");
    talus_voronoi_free(&v);
    talus_world_destroy(world);
}

/// Face-centred cubic: rhombic dodecahedra of 12 faces, fraction pi/sqrt(18). Body-centred cubic:
/// truncated octahedra of 14 faces.
static void test_cubic(void** state)
{
    (void)state;
    for (int body = 0; body <= 1; body++) {
        talus_world_def def = physics_def(3);
        for (int k = 0; k < 3; k++) def.periodic[k] = true, def.cell_high[k] = 3.0;
        talus_world* world = physics_world(&def, 0.0);
        const double r = body ? sqrt(3.0) / 4 : sqrt(0.125);
        for (int i = 0; i < 27; i++) {
            const double x = i % 3 + 0.1, y = i / 3 % 3 + 0.1, z = i / 9 + 0.1;
            add_ball(world, r, x, y, z);
            add_ball(world, r, x + 0.5, y + 0.5, z + (body ? 0.5 : 0.0));
            if (body) continue;
            add_ball(world, r, x + 0.5, y, z + 0.5);
            add_ball(world, r, x, y + 0.5, z + 0.5);
        }
        talus_voronoi v = voronoi_of(world, NULL);
        for (int64_t i = 0; i < v.count; i++) {
            check_close("fraction", v.fraction[i], M_PI / (body ? 8.0 / sqrt(3.0) : sqrt(18.0)),
                        1e-13, "roundoff");
            assert_int_equal(neighbours(&v, i), body ? 14 : 12);
        }
        talus_voronoi_free(&v);
        talus_world_destroy(world);
    }
}

/// Two balls in a box: the plane between them is the radical one.
static void test_two(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        add_ball(world, 0.5, 1.0, 1.0, 1.0);
        add_ball(world, 0.2, 3.0, 1.0, 1.0);
        talus_voronoi_def def = talus_voronoi_default();
        for (int k = 0; k < 3; k++) {
            def.domain.bounds.low[k] = 0.0;
            def.domain.bounds.high[k] = k == 0 ? 4.0 : 2.0;
        }
        talus_voronoi v = voronoi_of(world, &def);
        const double at = 1.0 + (4.0 + 0.25 - 0.04) / 4.0, area = dim == 2 ? 2.0 : 4.0;
        check_close("first", v.volume[0], at * area, 1e-14, "roundoff");
        check_close("second", v.volume[1], (4.0 - at) * area, 1e-14, "roundoff");
        check_close("centre", v.centre[0], at / 2, 1e-14, "roundoff");
        assert_int_equal(neighbours(&v, 0), 2);
        assert_int_equal(v.neighbour[0], 1);
        assert_int_equal(v.neighbour[1], -1);
        check_close("face", v.face[0], area, 1e-14, "roundoff");
        check_close("boundary", v.face[1], dim == 2 ? 2.0 * at + 2.0 : 8.0 * at + 4.0, 1e-13,
                    "roundoff");
        talus_voronoi_free(&v);
        def.boundary = false;
        v = voronoi_of(world, &def);
        assert_int_equal(v.counted, 0);
        talus_voronoi_free(&v);
        talus_world_destroy(world);
    }
}

// ---- random grains -----------------------------------------------------------------------------

/// Grains of a wide range of sizes at random, in a space that is periodic along some axes.
static talus_world* random_world(int dim, int count, double ratio, unsigned periodic, int threads,
                                 uint64_t seed)
{
    talus_world_def def = physics_def(dim);
    def.threads = threads;
    for (int k = 0; k < dim; k++) {
        def.periodic[k] = periodic >> k & 1u;
        def.cell_low[k] = -0.2 * k, def.cell_high[k] = 1.0;
    }
    talus_world* world = physics_world(&def, 0.0);
    rng r = rng_make(seed, 0, 0);
    const double size = 0.3 / pow(count, 1.0 / dim);
    for (int i = 0; i < count; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = uniform(&r, -0.2 * k, 1.0);
        add_ball(world, size * exp(uniform(&r, 0.0, log(ratio))), x[0], x[1], x[2]);
    }
    return world;
}

/// Row of the grain whose power |x - x_i|^2 - r_i^2 is least, by looking at all; *gap: by how much.
static int64_t owner(const talus_world* world, const double x[3], double* gap)
{
    const talus_world_def* def = talus_world_options(world);
    talus_grains g = talus_world_grains(world);
    double least = INFINITY, second = INFINITY;
    int64_t best = -1;
    for (int64_t i = 0; i < g.count; i++) {
        double power = -g.radius[i] * g.radius[i];
        for (int k = 0; k < g.dim; k++) {
            double d = x[k] - g.position[i * g.dim + k];
            const double length = def->cell_high[k] - def->cell_low[k];
            if (def->periodic[k]) d -= length * rint(d / length);
            power += d * d;
        }
        if (power < least)
            second = least, least = power, best = i;
        else
            second = fmin(second, power);
    }
    *gap = second - least;
    return best;
}

/// Volumes against the share of random points that belong to a cell, and the sum against the whole.
static void test_membership(void** state)
{
    (void)state;
    static const struct {
        int dim, count;
        double ratio;
        unsigned periodic;
    } cases[] = {{2, 60, 1, 3}, {2, 50, 6, 1}, {3, 60, 1, 7}, {3, 80, 5, 4}, {3, 5, 2, 7}};
    for (int i = 0; i < 5; i++) {
        const int dim = cases[i].dim, count = cases[i].count;
        talus_world* world = random_world(dim, count, cases[i].ratio, cases[i].periodic, 1, 7);
        talus_packing p;
        talus_error error;
        talus_voronoi v = voronoi_of(world, NULL);
        check_ok(talus_measure_packing(world, NULL, &p, &error), error);
        check_close("sum of the cells", total(&v) / p.volume, 1.0, 1e-12, "roundoff");
        check_close("domain", v.domain, p.volume, 0.0, "the same");
        const int points = test_count(40000, 10000);
        double* hits = calloc((size_t)count, sizeof *hits);
        rng r = rng_make(5, (uint64_t)i, 0);
        for (int n = 0; n < points; n++) {
            double x[3] = {0}, gap;
            for (int k = 0; k < dim; k++) x[k] = uniform(&r, p.low[k], p.high[k]);
            hits[owner(world, x, &gap)] += 1.0;
        }
        double worst = 0.0;
        for (int k = 0; k < count; k++) {
            const double share = v.volume[k] / p.volume;
            const double sigma = sqrt(fmax(share * (1.0 - share), 1.0 / points) / points);
            worst = fmax(worst, fabs(hits[k] / points - share) / sigma);
        }
        check_below("largest deviation of a cell, in standard deviations", worst, 4.5,
                    "255 cells: one in 600 such tests");
        free(hits);
        talus_voronoi_free(&v);
        talus_world_destroy(world);
    }
}

/// Faces are seen from both sides, with the same area.
static void test_neighbours_agree(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = random_world(dim, 2000, 8.0, dim == 2 ? 1 : 3, 1, 21);
        talus_voronoi v = voronoi_of(world, NULL);
        double worst = 0.0;
        int64_t faces = 0;
        for (int64_t i = 0; i < v.count; i++) {
            for (int64_t f = v.neighbour_first[i]; f < v.neighbour_first[i + 1]; f++) {
                const int64_t j = v.neighbour[f];
                if (j < 0) continue;
                double off = INFINITY;
                for (int64_t e = v.neighbour_first[j]; e < v.neighbour_first[j + 1]; e++) {
                    if (v.neighbour[e] == i) off = fmin(off, fabs(v.face[e] - v.face[f]));
                }
                worst = fmax(worst, off);
                faces++;
            }
        }
        check_below("difference of the two areas", worst, 1e-13, "roundoff of lengths up to 1");
        check_below("faces a cell at most", (double)faces / (double)v.count, dim == 2 ? 6.0 : 16.0,
                    "Euler: 6 in 2D; Poisson cells in 3D have 15.5");
        check_close("sum of the cells", total(&v) / v.domain, 1.0, 1e-12, "roundoff");
        talus_voronoi_free(&v);
        talus_world_destroy(world);
    }
}

/// Grains in a cylinder and between tilted planes: cells fill the domain.
static void test_boundaries(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        const double off = i < 2 ? 0.0 : 1e5; // far from the origin numbers are coarser
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        talus_wall_def tube = talus_wall_default();
        tube.name = "tube";
        tube.shape.kind = TALUS_SHAPE_CYLINDER;
        tube.shape.inside = true;
        tube.shape.radius = 1.0;
        tube.shape.axis[2] = dim == 3;
        tube.position[0] = off;
        physics_wall(world, &tube);
        if (dim == 3) physics_plane_at(world, "floor", 0.6, 0, 0.8, off, 0, -1);
        rng r = rng_make(9, 0, 0);
        for (int n = 0; n < 400; n++) {
            const double far = 0.95 * sqrt(rng_uniform(&r)), turn = uniform(&r, 0, 2 * M_PI);
            add_ball(world, 0.05, off + far * cos(turn), far * sin(turn), uniform(&r, 0, 2));
        }
        talus_voronoi v = voronoi_of(world, NULL);
        check_close("sum of the cells", total(&v) / v.domain, 1.0, off > 0.0 ? 1e-9 : 1e-12,
                    "roundoff, of 1e5");
        if (dim == 2)
            check_close("circle", v.domain, M_PI, off > 0.0 ? 1e-9 : 1e-10, "the prism's area");
        talus_voronoi_free(&v);
        talus_world_destroy(world);
    }
}

/// One grain far above the others: their cells reach up to it, and it must not cost more than them.
/// Searches as far as such a cell is large look at all grains (3D) or at 10^7 images of them (2D):
/// this test then takes minutes.
static void test_far_grain(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = physics_def(dim);
        if (dim == 2) def.periodic[0] = true, def.cell_high[0] = 0.2;
        talus_world* world = physics_world(&def, 0.0);
        const int side = dim == 2 ? 20 : 16, layers = dim == 2 ? 50 : 16;
        rng r = rng_make(3, 0, 0);
        for (int i = 0; i < layers * (dim == 2 ? side : side * side); i++) {
            const int at[3] = {i % side, i / side % (dim == 2 ? layers : side), i / (side * side)};
            double x[3];
            for (int k = 0; k < 3; k++) x[k] = 0.01 * at[k] + uniform(&r, 0.0, 0.002);
            add_ball(world, 0.0045, x[0], x[1], x[2]);
        }
        const double far = dim == 2 ? 1e6 : 3.0;
        add_ball(world, 0.0045, 0.1, dim == 2 ? far : 0.1, far);
        talus_voronoi_def up_to_it = talus_voronoi_default(); // by itself it would be a stray
        up_to_it.domain.bounds.high[dim - 1] = far + 0.0045;
        talus_voronoi v = voronoi_of(world, &up_to_it);
        const int64_t last = v.count - 1;
        check_close("sum of the cells", total(&v) / v.domain, 1.0, 1e-12, "roundoff");
        check_close("half of the height is the far grain's", v.volume[last] / v.domain, 0.5, 0.05,
                    "the bed is a 20th of the height");
        check_below("its neighbours at most", (double)neighbours(&v, last), side * side + 1.0,
                    "the uppermost layer and the boundary");
        check_below("its neighbours at least", -(double)neighbours(&v, last), -3.0,
                    "several below it, and the boundary");
        talus_voronoi_free(&v);
        talus_world_destroy(world);
    }
}

/// A grain within a larger one has no cell; of two at the same place one has it.
static void test_hidden(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(3, 0.0, 0, 0, 0);
    add_ball(world, 1.0, 0, 0, 0);
    add_ball(world, 0.1, 0.2, 0, 0);
    add_ball(world, 1.0, 0, 0, 0);
    add_ball(world, 0.5, 2, 0, 0);
    talus_voronoi v = voronoi_of(world, NULL);
    assert_true(v.volume[1] == 0.0 && v.volume[2] == 0.0 && v.volume[0] > 0.0);
    assert_int_equal(v.counted, 2);
    check_close("sum of the cells", total(&v), v.domain, 1e-12, "roundoff");
    talus_voronoi_free(&v);
    talus_world_destroy(world);
}

static void test_threads(void** state)
{
    (void)state;
    talus_voronoi v[3];
    const int count = 4500; // two chunks
    for (int t = 0; t < 3; t++) {
        talus_world* world = random_world(3, count, 3.0, 5, t + 1, 2);
        v[t] = voronoi_of(world, NULL);
        talus_world_destroy(world);
    }
    for (int t = 1; t < 3; t++) {
        const size_t faces = (size_t)v[0].neighbour_first[count];
        assert_memory_equal(v[0].volume, v[t].volume, sizeof *v[0].volume * (size_t)count);
        assert_memory_equal(v[0].neighbour, v[t].neighbour, sizeof *v[0].neighbour * faces);
        assert_memory_equal(v[0].face, v[t].face, sizeof *v[0].face * faces);
    }
    for (int t = 0; t < 3; t++) talus_voronoi_free(&v[t]);
}

static void test_mistakes(void** state)
{
    (void)state;
    talus_error error;
    talus_voronoi v;
    talus_world* world = random_world(2, 10, 1.0, 1, 1, 2);
    talus_voronoi_def def = talus_voronoi_default();
    def.domain.bounds.low[0] = 0.5;
    assert_int_equal(talus_measure_voronoi(world, &def, &v, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "periodic axis x"));
    const double before = world->state.grains.position[0];
    world->state.grains.position[0] = 1e300; // as a damaged file might have it
    assert_int_equal(talus_measure_voronoi(world, NULL, &v, &error), TALUS_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "far outside"));
    world->state.grains.position[0] = before;
    def = talus_voronoi_default();
    def.bins = 0;
    assert_int_equal(talus_measure_voronoi(world, &def, &v, &error), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
    world = physics_world_g(2, 0.0, 0, 0, 0);
    assert_int_equal(talus_measure_voronoi(world, NULL, &v, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "no grains"));
    add_ball(world, 1.0, 0, 0, 0);
    add_ball(world, 1.0, 3, 0, 0);
    world->state.grains.radius[0] = 0.0; // as a damaged file might have it
    assert_int_equal(talus_measure_voronoi(world, NULL, &v, &error), TALUS_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "radius 0"));
    talus_voronoi_free(&v);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hexagons),
        cmocka_unit_test(test_cubic),
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_membership),
        cmocka_unit_test(test_neighbours_agree),
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_far_grain),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// g(r): points at random give 1, lattices give shells of known radius and number, edges corrected.
#include "physics.h"
#include "random.h"

#include "base/vec.h"
#include "measure/ball_parts.h"

static talus_rdf rdf_of(const talus_world* world, const talus_rdf_def* def)
{
    talus_error error;
    talus_rdf g;
    check_ok(talus_measure_rdf(world, def, &g, &error), error);
    return g;
}

static void add_ball(talus_world* world, double r, double x, double y, double z)
{
    const talus_grain_def def = physics_ball(r, 1.0, x, y, z);
    physics_add(world, &def);
}

/// A unit cell of points at random, periodic along the axes of the bits.
static talus_world* gas(int dim, int count, unsigned periodic, int threads)
{
    talus_world_def def = physics_def(dim);
    def.threads = threads;
    for (int k = 0; k < dim; k++) def.periodic[k] = periodic >> k & 1u, def.cell_high[k] = 1.0;
    talus_world* world = physics_world(&def, 0.0);
    rng r = rng_make(4, (uint64_t)dim, 0);
    for (int i = 0; i < count; i++) {
        const double x = rng_uniform(&r), y = rng_uniform(&r), z = rng_uniform(&r);
        add_ball(world, 0.01, x, y, z);
    }
    return world;
}

static talus_rdf_def gas_def(int dim, double range, int bins, talus_rdf_edge edge)
{
    talus_rdf_def def = talus_rdf_default();
    def.range = range;
    def.bins = bins;
    def.edge = edge;
    for (int k = 0; k < dim; k++) def.domain.bounds.low[k] = 0.0, def.domain.bounds.high[k] = 1.0;
    return def;
}

/// Every bin is 1 within the noise of its number of pairs, with both ways to treat the edges.
static void test_ideal_gas(void** state)
{
    (void)state;
    const int count = test_count(4000, 3000);
    for (int i = 0; i < 8; i++) {
        const int dim = 2 + i % 2;
        const unsigned periodic = i < 2 ? 7 : i < 4 ? 1 : 0;
        const talus_rdf_edge edge = i < 6 ? TALUS_RDF_INNER : TALUS_RDF_SHELL;
        talus_world* world = gas(dim, count, periodic, 1);
        const talus_rdf_def def = gas_def(dim, 0.12, 8, edge);
        talus_rdf g = rdf_of(world, &def);
        double worst = 0.0;
        for (int b = 0; b < g.bins; b++) {
            // Pairs count from both ends where both are centres: half as many are independent.
            const double sigma = sqrt(2.0 / (double)g.pairs[b]);
            worst = fmax(worst, fabs(g.g[b] - 1.0) / sigma);
        }
        check_below("deviation of a bin from 1, in standard deviations", worst, 4.0,
                    "64 bins: one in 250 such tests, and one seed");
        assert_int_equal(g.grains, count);
        assert_true(g.centres == count || (edge == TALUS_RDF_INNER && periodic != 7));
        talus_rdf_free(&g);
        talus_world_destroy(world);
    }
}

/// In a small box nearly all shells are cut: without the correction g would fall below 1/2.
static void test_shells_in_a_small_box(void** state)
{
    (void)state;
    talus_world* world = gas(3, 1500, 0, 1);
    const talus_rdf_def def = gas_def(3, 0.8, 4, TALUS_RDF_SHELL);
    talus_rdf g = rdf_of(world, &def);
    for (int b = 0; b < g.bins; b++) {
        check_close("g", g.g[b], 1.0, 4.0 * sqrt(2.0 / (double)g.pairs[b]) + 0.02,
                    "noise of pairs, and of the density near the faces: 1500 points");
    }
    talus_rdf_def inner = def;
    inner.edge = TALUS_RDF_INNER;
    talus_error error;
    talus_rdf none;
    assert_int_equal(talus_measure_rdf(world, &inner, &none, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "smaller range"));
    talus_rdf_free(&g);
    talus_world_destroy(world);
}

/// Shells of the simple cubic and of the triangular lattice: 6, 12, 8, 6, 24 and 6, 6, 6, 12
/// neighbours at known distances, and g = number / (density shell).
static void test_lattices(void** state)
{
    (void)state;
    static const double cubic[][2] = {
        {1, 6}, {1.41421356, 12}, {1.73205081, 8}, {2, 6}, {2.23606798, 24}};
    static const double plane[][2] = {{1, 6}, {1.73205081, 6}, {2, 6}, {2.64575131, 12}};
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def def = physics_def(dim);
        const double row = dim == 2 ? sqrt(3.0) / 2.0 : 1.0;
        for (int k = 0; k < dim; k++)
            def.periodic[k] = true, def.cell_high[k] = k == 1 ? 4 * row : 4;
        talus_world* world = physics_world(&def, 0.0);
        for (int i = 0; i < (dim == 2 ? 16 : 64); i++) {
            const int j = i / 4 % 4;
            add_ball(world, 0.5, i % 4 + (dim == 2 ? 0.5 * (j % 2) : 0.0), j * row, i / 16);
        }
        talus_rdf_def options = talus_rdf_default();
        options.range = 2.8; // beyond half of the cell: several images
        options.bins = 280;
        talus_rdf g = rdf_of(world, &options);
        const int shells = dim == 2 ? 4 : 5;
        const double(*shell)[2] = dim == 2 ? plane : cubic;
        double sum = 0.0;
        for (int s = 0; s < shells; s++) {
            const int b = (int)(shell[s][0] / g.width + 1e-6);
            const double inner = b * g.width, outer = inner + g.width;
            const double volume = dim == 2 ? M_PI * (outer * outer - inner * inner)
                                           : 4.0 / 3.0 * M_PI * (pow(outer, 3) - pow(inner, 3));
            sum += shell[s][1];
            // Distances of 1 and 2 are on the border of two bins: rounding shares them out.
            const double found = g.coordination[b] - (b > 1 ? g.coordination[b - 2] : 0.0);
            check_close("neighbours in the shell", found, shell[s][1], 1e-12, "counted");
            check_close("neighbours up to the shell", g.coordination[b], sum, 1e-12, "counted");
            const double peak = g.g[b] + g.g[b - 1] * (pow(g.r[b - 1] / g.r[b], dim - 1));
            check_close("peak", peak * volume / (dim == 2 ? row : 1.0), shell[s][1],
                        1e-3 * shell[s][1], "volume of the neighbouring bin by its middle radius");
        }
        check_close("between the shells", g.g[120], 0.0, 0.0, "nothing there");
        talus_rdf_free(&g);
        talus_world_destroy(world);
    }
}

/// Length of the part of a ball's chord at (y, z) from its centre at x = off that is within a
/// cylinder of radius 1 about the z axis.
static double chord(double off, double r, double y, double z)
{
    const double ball = r * r - y * y - z * z, wall = 1.0 - y * y;
    if (ball <= 0.0 || wall <= 0.0) return 0.0;
    return fmax(fmin(off + sqrt(ball), sqrt(wall)) - fmax(off - sqrt(ball), -sqrt(wall)), 0.0);
}

/// Parts of balls in a cylinder with floor and lid: against a sum over chords. The time does not
/// depend on how finely a cylinder is divided: 1e4 grains with all their shells take a second.
static void test_parts_in_a_cylinder(void** state)
{
    (void)state;
    enum { RADII = 40, CHORDS = 400 };
    talus_world* world = physics_world_g(3, 0.0, 0, 0, 0);
    talus_wall_def tube = talus_wall_default();
    tube.name = "tube";
    tube.shape.kind = TALUS_SHAPE_CYLINDER;
    tube.shape.inside = true;
    tube.shape.radius = 1.0;
    tube.shape.axis[2] = 1.0;
    physics_wall(world, &tube);
    physics_plane_at(world, "floor", 0, 0, 1, 0, 0, 0);
    physics_plane_at(world, "lid", 0, 0, -1, 0, 0, 2);
    add_ball(world, 0.05, 0, 0, 1);
    domain d;
    ball_parts parts;
    talus_error error;
    check_ok(domain_make(world, NULL, &d, &error), error);
    assert_int_equal(ball_parts_make(&d, 1.2, RADII, &parts), TALUS_OK);
    static const double place[][2] = {{0, 1}, {0.5, 0.2}, {0.9, 1.0}, {0.99, 0.01}, {0.3, 1.9}};
    for (int i = 0; i < 5; i++) {
        const double off = place[i][0], height = place[i][1];
        double part[RADII], worst = 0.0;
        ball_parts_at(&parts, (double[]){0, off, height}, part);
        for (int b = 3; b < RADII; b += 9) {
            const double r = 1.2 * (b + 1) / RADII, step = 2.0 * r / CHORDS;
            double sum = 0.0;
            for (int n = 0; n < CHORDS * CHORDS; n++) {
                const double y = -r + (n % CHORDS + 0.5) * step;
                const double z = -r + (double)(n / CHORDS) * step + 0.5 * step;
                if (height + z > 0.0 && height + z < 2.0) sum += chord(off, r, y, z) * step * step;
            }
            worst = fmax(worst, fabs(part[b] - sum) / (4.0 / 3.0 * M_PI * r * r * r));
        }
        check_below("error of a part, in balls", worst, 2e-3,
                    "chords are cut by floor and lid up to half of one in 400");
    }
    ball_parts_free(&parts);
    domain_free(&d);
    // Shells of random points in the cylinder, 4000 of them.
    rng r = rng_make(8, 0, 0);
    for (int i = 0; i < 4000; i++) {
        const double far = sqrt(rng_uniform(&r)), turn = uniform(&r, 0, 2 * M_PI);
        add_ball(world, 0.01, far * cos(turn), far * sin(turn), uniform(&r, 0, 2));
    }
    talus_rdf_def def = talus_rdf_default();
    def.range = 0.5;
    def.bins = 10;
    def.edge = TALUS_RDF_SHELL;
    talus_rdf g = rdf_of(world, &def);
    for (int b = 0; b < g.bins; b++) {
        check_close("g in a cylinder", g.g[b], 1.0, 4.0 * sqrt(2.0 / (double)g.pairs[b]) + 0.01,
                    "noise of pairs, and of the density near the walls");
    }
    talus_rdf_free(&g);
    talus_world_destroy(world);
}

/// Caps of flat sides, apart and together: against convex_cell_ball() of the whole domain.
static void test_parts_between_planes(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = gas(dim, 30, 0, 1);
        if (dim == 3) physics_plane_at(world, "slope", 0.6, 0, 0.8, -0.4, 0, 0);
        const talus_rdf_def def = gas_def(dim, 0.7, 30, TALUS_RDF_SHELL);
        domain d;
        ball_parts parts;
        talus_error error;
        check_ok(domain_make(world, &def.domain, &d, &error), error);
        assert_int_equal(ball_parts_make(&d, 0.7, 30, &parts), TALUS_OK);
        double worst = 0.0;
        for (int64_t i = 0; i < d.grains->count; i++) {
            double part[30], x[3] = {0};
            vec_copy(dim, x, d.grains->position + i * dim);
            if (!domain_holds(&d, x)) continue;
            ball_parts_at(&parts, x, part);
            for (int b = 0; b < 30; b++) {
                const double whole = convex_cell_ball(&d.space, x, 0.7 * (b + 1) / 30);
                worst = fmax(worst, fabs(part[b] - whole));
            }
        }
        check_below("difference of the two ways", worst, 1e-13, "roundoff");
        ball_parts_free(&parts);
        domain_free(&d);
        talus_world_destroy(world);
    }
}

/// A gas that fills the lower half of a box, and a heap of it: the density is that of the filled
/// part, and g goes to 1. With the density of the whole domain it would go to 2.
static void test_free_surface(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        const bool heap = i >= 2;
        const int count = 2000;
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        rng r = rng_make(4, (uint64_t)i, 0);
        for (int n = 0; n < count;) {
            double x[3];
            for (int k = 0; k < 3; k++) x[k] = rng_uniform(&r);
            const double top = heap ? 1.0 - x[0] : 0.5;
            if (x[dim - 1] > top) continue;
            add_ball(world, 0.001, x[0], x[1], x[2]);
            n++;
        }
        const talus_rdf_def def = gas_def(dim, 0.12, 6, TALUS_RDF_SHELL);
        talus_rdf g = rdf_of(world, &def);
        // The grains at the surface count with neither number nor cell; those next to it lean
        // towards it by a part of the spacing, 0.016 (2D) or 0.063 (3D), and so do their cells.
        check_close("density", g.density / (2.0 * count), 1.0, dim == 2 ? 0.05 : 0.15,
                    "a spacing of 0.016 or 0.063 at the surface of a bed half as high");
        check_below("centres", (double)g.centres, 0.95 * count, "not those near the surface");
        for (int b = 1; b < g.bins; b++) {
            check_close("g below a free surface", g.g[b], 1.0,
                        4.0 * sqrt(2.0 / (double)g.pairs[b]) + (dim == 2 ? 0.02 : 0.05),
                        "noise of pairs, and of the density as above");
        }
        talus_rdf_free(&g);
        talus_world_destroy(world);
    }
}

/// A row of disks that touch: neighbours at whole diameters, also where no shell is all inside.
static void test_row(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    for (int i = 0; i < 20; i++) add_ball(world, 0.5, i, 0, 0);
    talus_rdf_def def = talus_rdf_default();
    def.edge = TALUS_RDF_SHELL;
    talus_rdf g = rdf_of(world, &def);
    check_close("range", g.bins * g.width, 5.0, 1e-14, "5 diameters");
    check_close("neighbours", g.coordination[30], 2.0 * 19 / 20, 1e-14,
                "counted: two, one at ends");
    assert_true(g.g[19] + g.g[20] > 1.0); // on the border of two bins
    talus_rdf_free(&g);
    def.bins = 2000000000;
    assert_int_equal(talus_measure_rdf(world, &def, &g, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "1 to 100000"));
    talus_world_destroy(world);
}

static void test_threads(void** state)
{
    (void)state;
    talus_rdf g[3];
    for (int t = 0; t < 3; t++) {
        talus_world* world = gas(2, 9000, 1, t + 1);
        const talus_rdf_def def = gas_def(2, 0.05, 20, TALUS_RDF_SHELL);
        g[t] = rdf_of(world, &def);
        talus_world_destroy(world);
    }
    for (int t = 1; t < 3; t++) assert_memory_equal(g[0].g, g[t].g, 20 * sizeof(double));
    for (int t = 0; t < 3; t++) talus_rdf_free(&g[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ideal_gas),
        cmocka_unit_test(test_shells_in_a_small_box),
        cmocka_unit_test(test_lattices),
        cmocka_unit_test(test_parts_in_a_cylinder),
        cmocka_unit_test(test_parts_between_planes),
        cmocka_unit_test(test_free_surface),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

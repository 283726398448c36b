/// g(r): points at random give 1, lattices give shells of known radius and number, edges corrected.
#include "physics.h"
#include "random.h"

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
    const int count = test_count(6000, 3000);
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
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

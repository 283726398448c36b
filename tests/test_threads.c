/// The same bits for every number of threads: a dense bed shaken out of a jittered lattice, in 2D
/// and 3D, stepped with 1, 2 and 5 threads. ThreadSanitizer runs this test too (.ci/run).
///
/// The bed has more grains than the limits (2000 and 10000) below which the engine keeps to one
/// thread, and five threads do not divide its grains evenly. It is not scaled down for sanitizers:
/// below the limits it would test nothing.
#include "support.h"

#include "base/rng.h"

#include <talus/talus.h>

enum { GRAINS = 10648, STEPS = 8 };

/// A square (2D) or cubic (3D) lattice, periodic sideways, over a floor; grains nearly touch and
/// move at random, so that contacts open and close in every step.
static talus_world* make_bed(int dim, int threads)
{
    const int side = dim == 2 ? 104 : 22;
    const double spacing = 2.04, extent = side * spacing;
    talus_error error;
    talus_world_def options = talus_world_default();
    options.dim = dim;
    options.threads = threads;
    options.gravity[dim - 1] = -10.0;
    for (int k = 0; k < dim - 1; k++) {
        options.periodic[k] = true;
        options.cell_high[k] = extent;
    }
    options.solver.stop = TALUS_STOP_SWEEPS;
    options.solver.max_sweeps = 5;
    talus_world* world;
    check_ok(talus_world_create(&options, &world, &error), error);

    talus_pair_def law = {.friction = 0.4};
    int material;
    check_ok(talus_world_add_material(world, "grit", &law, &material, &error), error);
    talus_wall_def floor_wall = talus_wall_default();
    floor_wall.name = "floor";
    floor_wall.shape.kind = TALUS_SHAPE_PLANE;
    floor_wall.shape.normal[dim - 1] = 1.0;
    check_ok(talus_world_add_wall(world, &floor_wall, NULL, &error), error);

    rng random = rng_make(3, 0, 0);
    for (int i = 0; i < GRAINS; i++) {
        talus_grain_def grain = talus_grain_default();
        for (int k = 0, rest = i; k < dim; k++, rest /= side) {
            int site = k == dim - 1 ? rest : rest % side;
            grain.position[k] = (site + 0.5) * spacing;
            grain.velocity[k] = 4.0 * rng_uniform(&random) - 2.0;
        }
        grain.radius = 0.9 + 0.1 * rng_uniform(&random);
        check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);
    }
    return world;
}

/// Hash after every step into hashes[STEPS]; the contacts of the last step are returned.
static int64_t run_bed(int dim, int threads, uint64_t* hashes)
{
    talus_error error;
    talus_step_result result;
    talus_world* world = make_bed(dim, threads);
    for (int i = 0; i < STEPS; i++) {
        check_ok(talus_world_step(world, 0.02, &result, &error), error);
        hashes[i] = talus_world_hash(world);
    }
    check_ok(talus_world_validate(world, &error), error);
    talus_world_destroy(world);
    return result.active;
}

static void check_thread_counts(int dim)
{
    uint64_t one[STEPS], several[STEPS];
    int64_t active = run_bed(dim, 1, one);
    check_below("grains per active contact", (double)GRAINS / (double)active, 10.0,
                "a bed without collisions would show nothing; one grain in ten is plenty");
    const int counts[] = {2, 5};
    for (int c = 0; c < 2; c++) {
        assert_int_equal(run_bed(dim, counts[c], several), active);
        for (int i = 0; i < STEPS; i++) {
            if (one[i] == several[i]) continue;
            fail_msg("%dD, step %d: %016jx with one thread, %016jx with %d", dim, i + 1,
                     (uintmax_t)one[i], (uintmax_t)several[i], counts[c]);
        }
    }
}

static void test_planar(void** state)
{
    (void)state;
    check_thread_counts(2);
}

static void test_spatial(void** state)
{
    (void)state;
    check_thread_counts(3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planar),
        cmocka_unit_test(test_spatial),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}

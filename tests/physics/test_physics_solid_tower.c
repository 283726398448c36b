/// Towers stand still: 20 boxes, and crossed pairs of planks 1:3:15, for 1e5 steps.
///
/// A tower at rest has a solution without motion. What moves is what the solver leaves: sweeps stop
/// at a residual of 1e-8 of the load, and of an error in the bending of n storeys the residual
/// shows the n^4-th part. So a step may leave speeds of n^4 1e-8 g h; what is left differs from
/// step to step, so that in N steps the tower walks sqrt(N) times the way of one. That is the
/// bound.
#include "physics.h"

static const double G = 9.81, H = 1e-3, TOLERANCE = 1e-8;

static talus_world* tower_world(int dim)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    def.solver.tolerance = TOLERANCE;
    def.solver.order = TALUS_ORDER_ALTERNATING;
    talus_world* world = physics_world(&def, 0.5);
    physics_plane(world, "floor", 0, dim == 2, dim == 3);
    return world;
}

static talus_world* box_tower(int dim, int count)
{
    talus_world* world = tower_world(dim);
    talus_solid_id box = physics_box_solid(world, "box", dim, 1, 1, 1);
    for (int i = 0; i < count; i++) {
        talus_grain_def block = physics_block(box, 0, dim == 2 ? 0.5 + i : 0, 0.5 + i);
        physics_add(world, &block);
    }
    return world;
}

/// Storeys of two planks 15 x 3 x 1, lying flat, crossed from storey to storey.
static talus_world* plank_tower(int storeys)
{
    talus_world* world = tower_world(3);
    talus_solid_id along[2] = {physics_box_solid(world, "plank x", 3, 15, 3, 1),
                               physics_box_solid(world, "plank y", 3, 3, 15, 1)};
    for (int i = 0; i < 2 * storeys; i++) {
        const int storey = i / 2;
        const double side = i % 2 ? 6.0 : -6.0;
        talus_grain_def plank = physics_block(along[storey % 2], storey % 2 ? side : 0,
                                              storey % 2 ? 0 : side, 0.5 + storey);
        physics_add(world, &plank);
    }
    return world;
}

/// Farthest any grain is from where it was.
static double farthest(const talus_world* world, const double* start)
{
    talus_grains g = talus_world_grains(world);
    double most = 0.0;
    for (int64_t i = 0; i < g.count * g.dim; i++) most = fmax(most, fabs(g.position[i] - start[i]));
    return most;
}

/// Largest turn of any grain, from its orientation: none is turned at the start.
static double turned(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    double most = 0.0;
    for (int64_t i = 0; i < g.count; i++) {
        const double* q = g.rotation + i * g.rotation_dim;
        double angle =
            g.dim == 2 ? fabs(q[0]) : 2.0 * sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        most = fmax(most, angle);
    }
    return most;
}

static void check_stands(const char* name, talus_world* world, int storeys, double height)
{
    const int steps = test_count(100000, 500);
    talus_grains g = talus_world_grains(world);
    double start[3 * 64], overlap = 0.0;
    assert_true(g.count <= 64);
    memcpy(start, g.position, sizeof(double) * (size_t)(g.count * g.dim));
    for (int i = 0; i < steps; i++) overlap = physics_step(world, H).overlap_max;
    const double left = pow(storeys, 4) * TOLERANCE * G * H, bound = sqrt(steps) * left * H;
    const talus_totals* t = talus_world_totals(world);
    printf("%s, %d steps, %.2f sweeps a step, %lld steps not converged\n", name, steps,
           (double)t->sweeps / steps, (long long)t->unconverged);
    check_below("  farthest way of a grain", farthest(world, start), bound,
                "random walk of what the solver leaves");
    check_below("  largest turn", turned(world), bound / height, "the same over a storey's height");
    check_below("  kinetic energy", talus_world_last(world)->kinetic_energy,
                0.5 * physics_total_mass(world) * left * left, "speeds that the solver leaves");
    check_below("  overlap", overlap, bound, "the same in the joints, of a grain's diameter > 1");
    talus_world_destroy(world);
}

static void tower_of_20_squares_stands(void** state)
{
    (void)state;
    check_stands("20 squares", box_tower(2, 20), 20, 1.0);
}

static void tower_of_20_cubes_stands(void** state)
{
    (void)state;
    check_stands("20 cubes", box_tower(3, 20), 20, 1.0);
}

static void tower_of_planks_stands(void** state)
{
    (void)state;
    check_stands("16 planks in 8 storeys", plank_tower(8), 8, 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tower_of_20_squares_stands),
        cmocka_unit_test(tower_of_20_cubes_stands),
        cmocka_unit_test(tower_of_planks_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Janssen's law: in a silo with rough walls the base force saturates with the fill.
///
/// A slice of weight dW passes dW (1 - B/B_sat) on, because wall friction grows with the pressure:
/// B = B_sat (1 - exp(-W/B_sat)), B_sat = W per height * width/(2 mu K). The base is lowered slowly
/// while measuring, so that the grains slip down along the walls and friction points up everywhere.
#include "physics.h"

static const double SINK = 0.02, H = 0.05, HALF_WIDTH = 3.0, DRAG = 0.2;

/// Upward momentum of all grains, and the force of drag on them, upward.
static double momentum(const talus_world* world, double* drag)
{
    const talus_grains g = talus_world_grains(world);
    double sum = 0.0;
    *drag = 0.0;
    for (int64_t i = 0; i < g.count; i++) {
        sum += g.mass[i] * g.velocity[2 * i + 1];
        *drag -= DRAG * g.velocity[2 * i + 1];
    }
    return sum;
}

/// Fill, settle, lower the base; mean forces on base and sides while it sinks, the weight, and what
/// base and sides have to carry of it: drag carries some, and grains that slip down faster and
/// faster do not press with all of theirs.
static void fill_silo(int rows, double wall_friction, uint64_t seed, double* weight, double* base,
                      double* sides, double* carried)
{
    talus_error error;
    talus_world_def def = physics_def(2);
    def.gravity[1] = -1.0;
    def.drag = DRAG;
    def.solver.tolerance = 1e-5;
    def.solver.max_sweeps = 500;
    talus_world* world = physics_world(&def, 0.5);
    talus_pair_def pair = talus_pair_default();
    pair.friction = wall_friction;
    talus_material_id material;
    check_ok(talus_world_add_material(world, "wall", &pair, &material, &error), error);
    check_ok(talus_world_set_pair(world, (talus_material_id){0}, material, &pair, &error), error);
    talus_wall_def def_left = physics_plane_def("left", 1, 0, 0);
    talus_wall_def def_right = physics_plane_def("right", -1, 0, 0);
    def_left.position[0] = -HALF_WIDTH, def_right.position[0] = HALF_WIDTH;
    def_left.material = def_right.material = material;
    talus_wall_id left = physics_wall(world, &def_left), right = physics_wall(world, &def_right);
    talus_wall_id bottom = physics_plane(world, "base", 0, 1, 0);
    dice d = {seed};
    physics_fill(world, 2, rows * 4, HALF_WIDTH, 0.5, 0.2, &d);
    physics_steps(world, H, 600);
    talus_drive_def sink = talus_drive_default();
    sink.kind = TALUS_DRIVE_VELOCITY;
    sink.velocity[1] = -SINK;
    check_ok(talus_world_set_drive(world, bottom, &sink, &error), error);
    physics_steps(world, H, 150);
    enum { MEASURED = 150 };
    double drag, drags = 0.0;
    const double before = momentum(world, &drag);
    *base = *sides = 0.0;
    for (int i = 0; i < MEASURED; i++) {
        physics_step(world, H);
        momentum(world, &drag);
        drags += drag / MEASURED;
        *base -= wall_force(world, bottom, 1) / MEASURED;
        *sides -= (wall_force(world, left, 1) + wall_force(world, right, 1)) / MEASURED;
    }
    *weight = physics_total_mass(world);
    *carried = *weight - drags + (momentum(world, &drag) - before) / (MEASURED * H);
    talus_world_destroy(world);
}

static double janssen(double weight, double saturation)
{
    return saturation * (1 - exp(-weight / saturation));
}

/// The saturation that fits best, by golden section over the sum of squares.
static double fit_saturation(const double* weight, const double* base, int count)
{
    double low = 1.0, high = 1000.0;
    for (int i = 0; i < 100; i++) {
        double x[2] = {low + 0.382 * (high - low), low + 0.618 * (high - low)}, sum[2] = {0, 0};
        for (int s = 0; s < 2; s++) {
            for (int k = 0; k < count; k++) sum[s] += pow(base[k] - janssen(weight[k], x[s]), 2);
        }
        if (sum[0] < sum[1]) {
            high = x[1];
        } else {
            low = x[0];
        }
    }
    return 0.5 * (low + high);
}

static void base_force_saturates(void** state)
{
    (void)state;
    enum { FILLS = 4 };
    const int rows[FILLS] = {4, 8, 16, 28}, seeds = test_count(8, 2);
    double weight[FILLS] = {0}, base[FILLS] = {0};
    for (int k = 0; k < FILLS; k++) {
        for (int s = 0; s < seeds; s++) {
            double w, b, sides, carried;
            fill_silo(rows[k], 0.8, (uint64_t)(3 + s), &w, &b, &sides, &carried);
            check_close("base and sides carry the weight", b + sides, carried, 1e-9 * w,
                        "momentum: forces inside cancel; rounding");
            check_close("most of it", carried, w, 0.1 * w, "grains slip down slowly");
            weight[k] += w / seeds;
            base[k] += b / seeds;
        }
    }
    const double saturation = fit_saturation(weight, base, FILLS);
    for (int k = 0; k < FILLS; k++) {
        check_close(
            "Janssen", base[k], janssen(weight[k], saturation),
            0.21 / sqrt((double)seeds) * saturation,
            "statistics: base forces of one fill differ by 10 % from seed to seed, and a slip "
            "while measuring moves them as much: 14 % together, 1.5 of these over sqrt(seeds)");
    }
    check_below("far below the weight", base[FILLS - 1],
                0.5 * (weight[FILLS - 1] + janssen(weight[FILLS - 1], saturation)),
                "nearer to Janssen's value, half of the weight, than to the weight");
    check_below("slope at the top", (base[3] - base[2]) / (weight[3] - weight[2]), 0.7,
                "Janssen's own slope between the last two is 0.4, without wall friction it is 1: "
                "halfway. 10 % of both forces, from seed to seed, move it by 0.17");
    check_below("slope at the bottom", 0.6, base[0] / weight[0],
                "Janssen: (1 - exp(-x))/x with x = 0.35 is 0.84");
}

static void smooth_walls_carry_nothing(void** state)
{
    (void)state;
    double weight, base, sides, carried;
    fill_silo(12, 0.0, 3, &weight, &base, &sides, &carried);
    check_close("sides", sides, 0.0, 1e-12, "no friction, no vertical force");
    check_close("base carries all", base, carried, 1e-9 * weight, "momentum; rounding");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_force_saturates),
        cmocka_unit_test(smooth_walls_carry_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

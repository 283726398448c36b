/// Velocity fields, rheology and energies: prescribed motions, falls, pushes, springs.
#include "measure_worlds.h"

static talus_velocity_field flow_of(const talus_world* world)
{
    talus_error error;
    talus_velocity_field flow;
    const talus_region whole = talus_region_default();
    check_ok(talus_measure_velocity_field(world, &whole, &flow, &error), error);
    return flow;
}

static talus_energy energies_of(const talus_world* world)
{
    talus_error error;
    talus_energy energies;
    const talus_measure_def def = talus_measure_default();
    check_ok(talus_measure_energy(world, &def, &energies, &error), error);
    return energies;
}

/// Balls at random places that move with v = V + L x, of different masses.
static void put_field(talus_world* world, int count, const double* base, const double* gradient)
{
    const int dim = world->state.grains.dim;
    dice d = {3};
    for (int i = 0; i < count; i++) {
        talus_grain_def ball = physics_ball(0.01, 0.5 + dice_roll(&d), 0, 0, 0);
        for (int k = 0; k < dim; k++) ball.position[k] = 4 * dice_roll(&d);
        for (int k = 0; k < dim; k++) {
            ball.velocity[k] = base[k] + vec_dot(dim, gradient + 3 * k, ball.position);
        }
        physics_add(world, &ball);
    }
}

/// A linear field is found again, whatever the places and masses.
static void test_linear_field_is_found(void** state)
{
    (void)state;
    const double base[3] = {1, -2, 3}, gradient[9] = {0.1, 2, -0.3, 0.4, 0.5, 0.6, -0.7, 0.8, 0.9};
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = empty_world(dim, 0, 0, 0);
        put_field(world, 30, base, gradient);
        const talus_velocity_field flow = flow_of(world);
        for (int i = 0; i < dim; i++) {
            for (int j = 0; j < dim; j++) {
                check_close("gradient", flow.gradient[3 * i + j], gradient[3 * i + j], 1e-12,
                            "rounding, well spread points");
            }
            const double v = base[i] + vec_dot(dim, gradient + 3 * i, flow.origin);
            check_close("velocity at the origin", flow.velocity[i], v, 1e-12, "rounding");
        }
        talus_world_destroy(world);
    }
}

/// Along a periodic axis and along one without extent there is no gradient, and no harm.
static void test_axes_without_gradient(void** state)
{
    (void)state;
    const double base[3] = {0}, gradient[9] = {0, 2, 0, 0, 0, 0, 0, 0, 0};
    talus_world* world = empty_world(2, 5, 0, 0);
    put_field(world, 20, base, gradient);
    talus_velocity_field flow = flow_of(world);
    check_close("shear", flow.gradient[1], 2.0, 1e-12, "rounding");
    check_close("along the cell", flow.gradient[0], 0.0, 0.0, "not fitted");
    talus_world_destroy(world);
    world = empty_world(2, 0, 0, 0);
    for (int i = 0; i < 4; i++) { // a row: nothing is known across it
        talus_grain_def ball = physics_ball(0.1, 1, i, 2, 0);
        ball.velocity[1] = 3.0 * i;
        physics_add(world, &ball);
    }
    flow = flow_of(world);
    check_close("along the row", flow.gradient[3], 3.0, 1e-12, "rounding");
    check_close("across the row", flow.gradient[4], 0.0, 1e-12, "no extent");
    talus_world_destroy(world);
    world = empty_world(2, 0, 0, 0); // nothing at all
    check_close("empty", flow_of(world).velocity[0], 0.0, 0.0, "nothing moves");
    talus_world_destroy(world);
}

/// Simple shear v_x = rate z with contacts of known stress: I, mu and their parts by hand.
static void test_inertial_number(void** state)
{
    (void)state;
    const double rate = 0.7;
    talus_world* world = empty_world(3, 0, 0, 0);
    for (int i = 0; i < 6; i++) {
        double n[3] = {0}, point[3] = {3.0 * (i % 3), 3.0 * (i / 3), 2.0 * i};
        const double rub[3] = {i % 3 == 2 ? -0.6 : 0.0, 0, i % 3 == 0 ? -0.6 : 0.0};
        n[i % 3] = 1.0;
        put_pair(world, point, n, 2.0, rub); // isotropic pressure, s_xz = s_zx < 0
    }
    for (int64_t i = 0; i < world->state.grains.count; i++) {
        world->state.grains.velocity[3 * i] = rate * world->state.grains.position[3 * i + 2];
    }
    talus_measure_def def = talus_measure_default();
    def.volume = 5.0;
    talus_rheology r;
    talus_error error;
    check_ok(talus_measure_rheology(world, &def, &r, &error), error);
    const double pressure = 2 * 2.0 / 5.0, shear = 2 * 0.6 / 5.0;
    const double density = 1.0 / (M_PI / 6.0);
    const char* why = "rounding";
    check_close("rate", r.rate, rate, 1e-12, why);
    check_close("pressure", r.pressure, pressure, 1e-12, why);
    check_close("shear stress", r.shear, shear, 1e-12, why);
    check_close("diameter", r.diameter, 1.0, 1e-12, why);
    check_close("density", r.density, density, 1e-12, why);
    check_close("mu", r.friction, shear / pressure, 1e-12, why);
    check_close("I", r.inertial, rate * sqrt(density / pressure), 1e-12, why);
    // A given field twice as fast the other way: the stress now drives it.
    def.flow = TALUS_FLOW_GIVEN;
    def.given.gradient[2] = -2 * rate;
    check_ok(talus_measure_rheology(world, &def, &r, &error), error);
    check_close("given rate", r.rate, 2 * rate, 1e-12, why);
    assert_true(r.shear < 0.0);
    // Nothing moves: the rate is zero, the friction unknown.
    def.given.gradient[2] = 0.0;
    check_ok(talus_measure_rheology(world, &def, &r, &error), error);
    assert_true(r.rate == 0.0 && r.inertial == 0.0 && isnan(r.friction));
    talus_world_destroy(world);
}

// ---- energies ----------------------------------------------------------------------------------

/// A spinning ball that falls, one at rest that is pushed, a fixed one that does not count.
static void test_energies_by_hand(void** state)
{
    (void)state;
    talus_world_def options = physics_def(3);
    options.gravity[2] = -10;
    options.periodic[0] = true;
    options.cell_high[0] = 4;
    talus_world* world = physics_world(&options, 0.5);
    talus_grain_def ball = physics_ball(0.5, 2, 1, 0, 5);
    ball.velocity[0] = 3, ball.velocity[2] = -1;
    ball.spin[1] = 4;
    physics_add(world, &ball);
    talus_grain_def pushed = physics_ball(0.5, 1, 3, 0, 2);
    pushed.velocity[1] = 2, pushed.spin[0] = 1;
    pushed.external_force[1] = 5, pushed.external_torque[0] = 0.5;
    physics_add(world, &pushed);
    talus_grain_def fixed = physics_ball(0.5, 1, 2, 0, 9);
    fixed.fixed = true;
    physics_add(world, &fixed);
    talus_energy e = energies_of(world);
    const char* why = "rounding of sums by hand";
    assert_int_equal(e.grains, 2);
    check_close("translational", e.translational, 0.5 * 2 * 10 + 0.5 * 1 * 4, ROUNDING, why);
    const double inertia = 0.4 * 0.25; // of unit mass
    check_close("rotational", e.rotational, 0.5 * 2 * inertia * 16 + 0.5 * inertia, 1e-12, why);
    check_close("kinetic", e.kinetic, e.translational + e.rotational, 1e-12, why);
    check_close("potential", e.potential, 2 * 10 * 5 + 1 * 10 * 2, ROUNDING, why);
    check_close("power of gravity", e.gravity_power, 2 * 10 * 1.0, ROUNDING, why);
    check_close("power of the push", e.force_power, 5 * 2 + 0.5, ROUNDING, why);
    // Mean velocity (2, 2/3, -2/3); fluctuation = translational - M V^2/2.
    const double mean2 = 4 + 4.0 / 9 + 4.0 / 9;
    check_close("fluctuating", e.fluctuating, e.translational - 1.5 * mean2, 1e-12, why);
    talus_measure_def def = talus_measure_default();
    def.region.low[2] = 4.0;
    talus_error error;
    check_ok(talus_measure_energy(world, &def, &e, &error), error);
    assert_int_equal(e.grains, 1);
    check_close("above", e.translational, 10, ROUNDING, why);
    talus_world_destroy(world);
}

/// The powers are the rates of the energies: gravity and a wall that lifts a ball at 0.5 m/s.
static void test_powers_are_rates(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0, 0, -10, 0);
    talus_wall_def lift = physics_plane_def("lift", 0, 1, 0);
    lift.drive.kind = TALUS_DRIVE_VELOCITY;
    lift.drive.velocity[1] = 0.5;
    physics_wall(world, &lift);
    talus_grain_def ball = physics_ball(0.5, 2, 0, 0.5, 0);
    ball.velocity[1] = 0.5;
    physics_add(world, &ball);
    physics_steps(world, 1e-2, 3);
    const talus_energy before = energies_of(world);
    physics_step(world, 1e-2);
    const talus_energy after = energies_of(world);
    const char* why = "residual 1e-13, over steps of 0.01";
    check_close("power of the wall", after.wall_power, 2 * 10 * 0.5, 1e-9, why);
    check_close("power of gravity", after.gravity_power, -2 * 10 * 0.5, 1e-9, why);
    check_close("rise of the energy", (after.potential - before.potential) / 1e-2, after.wall_power,
                1e-9, why);
    check_close("no energy of springs", after.soft.elastic, 0.0, 0.0, "method contact");
    talus_world_destroy(world);
}

/// Two soft disks pressed into each other: the spring stores k d^2/2.
static void test_soft_energy(void** state)
{
    (void)state;
    talus_world_def options = physics_def(2);
    options.method = TALUS_METHOD_SOFT;
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = 1e4, pair.restitution = 1.0;
    talus_world* world = physics_world_pair(&options, &pair);
    talus_grain_def left = physics_ball(0.5, 1, 0, 0, 0), right = physics_ball(0.5, 1, 0.99, 0, 0);
    physics_add(world, &left);
    physics_add(world, &right);
    physics_steps(world, 1e-5, 1);
    const talus_energy e = energies_of(world);
    const double stored = 0.5 * 1e4 * 0.01 * 0.01;
    check_close("elastic", e.soft.elastic, stored, 1e-4 * stored, "moved by k d h^2/2m = 5e-9 m");
    check_close("elastic + kinetic", e.soft.elastic + e.kinetic, stored, 1e-9 * stored,
                "Verlet's error, O((w h)^2) of what has become kinetic energy");
    check_close("at the start", e.soft.start, stored, 1e-12, "rounding");
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_field_is_found), cmocka_unit_test(test_axes_without_gradient),
        cmocka_unit_test(test_inertial_number),       cmocka_unit_test(test_energies_by_hand),
        cmocka_unit_test(test_powers_are_rates),      cmocka_unit_test(test_soft_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

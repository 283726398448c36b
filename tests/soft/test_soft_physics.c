/// The method soft against closed results: a sphere on an incline slides, rolls or does both as
/// Coulomb says; damping as a part of the critical one; and what happens to worlds that lose grains
/// or fail a step.
#include "support.h"

#include "world/world.h"

#include <talus/talus.h>

static const double STEP = 2e-5;

static talus_world* make_world(int dim, talus_soft_bound bound, double friction,
                               talus_policy escape)
{
    talus_error error;
    talus_world* w;
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.method = TALUS_METHOD_SOFT;
    def.soft.bound = bound;
    def.on_escape = escape;
    def.has_domain = escape != TALUS_POLICY_ACCEPT;
    for (int k = 0; k < 3; k++) def.domain_low[k] = -50.0, def.domain_high[k] = 50.0;
    check_ok(talus_world_create(&def, &w, &error), error);
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = 1e5;
    pair.friction = friction;
    check_ok(talus_world_add_material(w, "glass", &pair, NULL, &error), error);
    return w;
}

static void add_ball(talus_world* w, double x, double y, double speed)
{
    talus_error error;
    talus_grain_def g = talus_grain_default();
    g.radius = 0.5;
    g.mass = 1.0;
    g.position[0] = x;
    g.position[w->def.dim - 1] = y;
    g.velocity[0] = speed;
    check_ok(talus_world_add_grain(w, &g, NULL, &error), error);
}

static void add_floor(talus_world* w)
{
    talus_error error;
    talus_wall_def wall = talus_wall_default();
    wall.name = "floor";
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[w->def.dim - 1] = 1.0;
    check_ok(talus_world_add_wall(w, &wall, NULL, &error), error);
}

/// Speed along a plane after a second under gravity tilted by 30 degrees, from the depth at rest.
static double speed_down(int dim, talus_soft_bound bound, double friction, double* spin)
{
    talus_error error;
    talus_world* w = make_world(dim, bound, friction, TALUS_POLICY_ACCEPT);
    const double g = 10.0, tilt = M_PI / 6.0, load = g * cos(tilt);
    double gravity[3] = {g * sin(tilt), 0.0, 0.0};
    gravity[dim - 1] = -load;
    check_ok(talus_world_set_gravity(w, gravity, &error), error);
    add_floor(w);
    add_ball(w, 0.0, 0.5 - load / 1e5, 0.0);
    check_ok(talus_world_steps(w, STEP, 50000, NULL, &error), error);
    const talus_grains all = talus_world_grains(w);
    const double speed = all.velocity[0];
    *spin = dim == 2 ? all.spin[0] : -all.spin[1];
    talus_world_destroy(w);
    return speed;
}

/// Disks (I = m r^2/2) and spheres (2/5 m r^2). Friction of a tenth slides all the way: it would
/// take tan 30/3 or 2/7 tan 30 to roll.
static void test_incline(void** state)
{
    (void)state;
    const char* why = "the friction spring stretches and rings for some t_c = 0.01 s at the start";
    const double down = 10.0 * sin(M_PI / 6.0), load = 10.0 * cos(M_PI / 6.0);
    for (int dim = 2; dim <= 3; dim++) {
        const double inertia = dim == 2 ? 0.5 : 0.4;
        double spin;
        for (int bound = 0; bound < 2; bound++) {
            check_close("ice", speed_down(dim, (talus_soft_bound)bound, 0.0, &spin), down, 1e-9,
                        "nothing drags: rounding of 50000 steps");
            check_close("its spin", spin, 0.0, 1e-12, "no torque");
        }
        check_close("slides", speed_down(dim, TALUS_BOUND_TOTAL, 0.1, &spin), down - 0.1 * load,
                    0.005, why);
        check_close("its spin", spin, -0.1 * load * 0.5 / (inertia * 0.25), 0.05, why);
        const double rolls = down / (1.0 + inertia);
        check_close("rolls", speed_down(dim, TALUS_BOUND_TOTAL, 0.9, &spin), rolls, 0.005, why);
        check_close("its spin", spin, -rolls / 0.5, 0.02, why);
    }
}

/// Balls in a row, some of which leave the domain on the way while others touch.
static talus_world* make_row(talus_policy escape)
{
    talus_world* w = make_world(2, TALUS_BOUND_TOTAL, 0.5, escape);
    add_ball(w, -49.95, 5.0, -4.0);
    for (int i = 0; i < 8; i++) add_ball(w, 0.999 * i, 0.02 * i, i % 2 ? -1.0 : 1.0);
    add_ball(w, 49.9, 5.0, 4.0);
    return w;
}

static uint64_t remove_in_calls_of(int at_once)
{
    talus_error error;
    talus_world* w = make_row(TALUS_POLICY_REMOVE);
    for (int done = 0; done < 2000; done += at_once) {
        check_ok(talus_world_steps(w, STEP, at_once, NULL, &error), error);
        check_ok(talus_world_validate(w, &error), error);
    }
    assert_int_equal(talus_world_grains(w).count, 8);
    const uint64_t hash = talus_world_hash(w);
    talus_world_destroy(w);
    return hash;
}

/// Grains that leave are removed in the middle of a call or at its end, with the same bits.
static void test_removal(void** state)
{
    (void)state;
    const uint64_t hash = remove_in_calls_of(1);
    assert_int_equal(remove_in_calls_of(2000), hash);
    assert_int_equal(remove_in_calls_of(250), hash);
}

/// A step that fails leaves the world as it was before it, in the first call and in a later one.
static void test_failing_step(void** state)
{
    (void)state;
    talus_error error;
    for (int before = 0; before <= 100; before += 100) {
        talus_world* single = make_row(TALUS_POLICY_STOP);
        talus_world* whole = make_row(TALUS_POLICY_STOP);
        talus_status status = TALUS_OK;
        int64_t done = -1;
        for (; status == TALUS_OK; done++) status = talus_world_step(single, STEP, NULL, &error);
        assert_int_equal(status, TALUS_ERR_NUMERIC);
        if (before > 0) check_ok(talus_world_steps(whole, STEP, before, NULL, &error), error);
        assert_int_equal(talus_world_steps(whole, STEP, 5000, NULL, &error), TALUS_ERR_NUMERIC);
        assert_int_equal(talus_world_last(whole)->step, done);
        assert_int_equal(talus_world_hash(whole), talus_world_hash(single));
        assert_memory_equal(&talus_world_last(whole)->energy, &talus_world_last(single)->energy,
                            sizeof(talus_soft_energy));
        check_ok(talus_world_validate(whole, &error), error);
        talus_world_destroy(single);
        talus_world_destroy(whole);
    }
}

/// A bonded pair that turns as a whole, also about its line of centres, while its friction spring
/// rings. Leaves positions and spins after a third of a second: 1.8 radians.
static void turn_pair(talus_elongation elongation, double h, double out[12])
{
    talus_error error;
    talus_world* w;
    talus_world_def def = talus_world_default();
    def.method = TALUS_METHOD_SOFT;
    def.soft.elongation = elongation;
    check_ok(talus_world_create(&def, &w, &error), error);
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = 1e5, pair.restitution = 1.0, pair.friction = 0.9;
    pair.cohesion_force = 200.0, pair.cohesion_energy = 1.0;
    check_ok(talus_world_add_material(w, "glue", &pair, NULL, &error), error);
    const double turn[3] = {3.0, -2.0, 4.0}, half = 0.499; // overlap: cohesion/stiffness
    for (int i = 0; i < 2; i++) {
        talus_grain_def g = talus_grain_default();
        g.radius = 0.5, g.mass = 1.0;
        g.position[0] = i ? half : -half;
        g.velocity[1] = turn[2] * g.position[0], g.velocity[2] = -turn[1] * g.position[0];
        for (int k = 0; k < 3; k++) g.spin[k] = turn[k];
        g.spin[1] += 0.1; // against each other at the contact
        check_ok(talus_world_add_grain(w, &g, NULL, &error), error);
    }
    check_ok(talus_world_steps(w, h, llround(0.333 / h), NULL, &error), error);
    const talus_grains all = talus_world_grains(w);
    for (int k = 0; k < 6; k++) out[k] = all.position[k], out[6 + k] = all.spin[k];
    talus_world_destroy(w);
}

/// Cundall's elongation turns with the pair: it tends to what the geometric one gives, which
/// follows positions. An elongation left in place would be off by its whole size, 0.1/s in the
/// spins.
static void test_objective(void** state)
{
    (void)state;
    double right[12], found[12], off[2] = {0.0, 0.0};
    turn_pair(TALUS_ELONGATION_GEOMETRIC, 1e-6, right);
    for (int fine = 0; fine < 2; fine++) {
        turn_pair(TALUS_ELONGATION_CUNDALL, fine ? 1e-6 : 4e-6, found);
        for (int k = 0; k < 12; k++) off[fine] = fmax(off[fine], fabs(found[k] - right[k]));
    }
    printf("off by %g, with a quarter of the step %g\n", off[0], off[1]);
    check_below("difference of the elongations", off[1], 5e-3,
                "Cundall's damps by k_t h/2: a twentieth of a ringing of 0.1/s at most");
    check_below("the same, of the longer step", off[1], 0.4 * off[0], "first order: a quarter");
}

/// A ball on a floor is loaded at once: it sinks as an oscillator of the damping that was asked
/// for, also of one that no restitution gives.
static void test_damping(void** state)
{
    (void)state;
    talus_error error;
    const double k = 1e5, load = 10.0, omega = sqrt(k), time = 0.01;
    for (int over = 0; over < 2; over++) {
        const double beta = over ? 2.0 : 0.5, root = omega * sqrt(fabs(beta * beta - 1.0));
        talus_world* w = make_world(2, TALUS_BOUND_TOTAL, 0.0, TALUS_POLICY_ACCEPT);
        talus_pair_def pair = talus_pair_default();
        pair.soft.stiffness = k;
        pair.soft.damping = beta;
        pair.restitution = 0.9; // has no say
        check_ok(
            talus_world_set_pair(w, (talus_material_id){0}, (talus_material_id){0}, &pair, &error),
            error);
        check_ok(talus_world_set_gravity(w, (double[3]){0.0, -load, 0.0}, &error), error);
        add_floor(w);
        add_ball(w, 0.0, 0.5, 0.0);
        check_ok(talus_world_steps(w, STEP, (int64_t)lrint(time / STEP), NULL, &error), error);
        const double depth = 0.5 - talus_world_grains(w).position[1], x = root * time;
        const double swing =
            over ? cosh(x) + beta * omega / root * sinh(x) : cos(x) + beta * omega / root * sin(x);
        check_close("depth / depth at rest", depth * k / load,
                    1.0 - exp(-beta * omega * time) * swing, 1e-4,
                    "second order: (omega h)^2 = 4e-5, and the step in which they touch");
        talus_world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incline),      cmocka_unit_test(test_removal),
        cmocka_unit_test(test_failing_step), cmocka_unit_test(test_objective),
        cmocka_unit_test(test_damping),
    };
    return cmocka_run_group_tests_name("soft physics", tests, NULL, NULL);
}

/// How long a step of the method contact may be: what is foreseen of it, what is advised, and how
/// steps that are coarse, or flows that are not solved, are halved.
#include "physics.h"

#include "world/advise_step.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/// A ball at rest and one that passes it by, grazing, at this speed.
static talus_world* passing(talus_policy policy, double speed, double r1, double r2)
{
    talus_world_def def = physics_def(2);
    def.on_coarse = policy;
    talus_world* world = physics_world(&def, 0.0);
    const talus_grain_def still = physics_ball(r1, 1.0, 0, 0, 0);
    talus_grain_def fast = physics_ball(r2, 1.0, 0, r1 + r2, 0);
    fast.velocity[0] = speed;
    physics_add(world, &still);
    physics_add(world, &fast);
    return world;
}

/// Straight past a ball by s: sqrt(D^2 + s^2) - D is missed, s^2/(2 D) to fourth order. The error
/// counts in the smaller diameter.
static void coarseness_is_what_straight_paths_leave_out(void** state)
{
    (void)state;
    const double radii[][2] = {{0.5, 0.5}, {0.5, 0.1}, {0.2, 0.7}};
    for (int i = 0; i < 3; i++) {
        const double r1 = radii[i][0], r2 = radii[i][1], D = r1 + r2, s = 0.05 * D;
        talus_world* world = passing(TALUS_POLICY_ACCEPT, s / 1e-3, r1, r2);
        const talus_step_result r = physics_step(world, 1e-3);
        const double missed = (sqrt(D * D + s * s) - D) / (2.0 * fmin(r1, r2));
        check_close("coarseness", r.coarseness, missed, 0.001 * missed,
                    "the next order is s^2/(4 D^2) = 6e-4 of it");
        talus_world_destroy(world);
    }
}

/// What makes no error: balls that fly, or slide along a plane, or roll in place; all together.
static void harmless_motion_is_not_coarse(void** state)
{
    (void)state;
    talus_world_def def = physics_def(3);
    def.on_coarse = TALUS_POLICY_RETRY;
    def.gravity[2] = -10.0;
    talus_world* world = physics_world(&def, 0.0);
    physics_plane(world, "floor", 0, 0, 1);
    for (int i = 0; i < 4; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, 1.0 * i, 0, 0.5);
        ball.velocity[1] = 30.0; // all alike
        ball.spin[0] = 100.0;
        physics_add(world, &ball);
    }
    const talus_step_result r = physics_step(world, 0.1);
    check_close("coarseness", r.coarseness, 0.0, 1e-20, "rounding, squared");
    check_close("parts", (double)r.substeps, 1, 0, "nothing to halve");
    talus_world_destroy(world);
}

/// A step is halved until its parts are fine, ends at its time, and counts as one.
static void coarse_steps_are_halved(void** state)
{
    (void)state;
    // s = 0.7 D: coarseness 0.245, so the first part is of h/8 (0.0038) or shorter.
    talus_world* world = passing(TALUS_POLICY_RETRY, 0.7 / 0.3, 0.5, 0.5);
    const talus_step_result r = physics_step(world, 0.3);
    printf("%lld parts, coarseness %g\n", (long long)r.substeps, r.coarseness);
    assert_true(r.coarseness <= TALUS_COARSE);
    assert_true(r.substeps >= 3 && r.substeps <= 8);
    check_close("time", talus_world_time(world), 0.3, 0.0, "exact whatever the parts");
    const talus_totals* t = talus_world_totals(world);
    assert_int_equal(t->steps, 1);
    assert_int_equal(t->halved, 1);
    assert_int_equal(t->substeps, r.substeps);
    assert_int_equal(t->coarse, 0);
    // Once they are apart steps are whole again.
    const talus_step_result next = physics_step(world, 0.3);
    assert_int_equal(next.substeps, 1);
    talus_world_destroy(world);
}

/// As short as it gets is accepted; a policy may stop instead; without one it is only counted.
static void what_policies_do(void** state)
{
    (void)state;
    talus_error error;
    talus_step_result r;
    talus_world_def def = physics_def(2);
    def.on_coarse = TALUS_POLICY_REMOVE;
    talus_world* none = NULL;
    assert_int_equal(talus_world_create(&def, &none, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "coarse"));

    talus_world* world = passing(TALUS_POLICY_STOP, 0.7 / 0.3, 0.5, 0.5);
    assert_int_equal(talus_world_step(world, 0.3, &r, &error), TALUS_ERR_NUMERIC);
    printf("said: %s\n", error.text);
    // h sqrt(0.01/0.245) = 0.0606
    assert_non_null(strstr(error.text, "0.061 would do"));
    talus_world_destroy(world);

    world = passing(TALUS_POLICY_ACCEPT, 0.7 / 0.3, 0.5, 0.5);
    r = physics_step(world, 0.3);
    assert_int_equal(r.substeps, 1);
    assert_int_equal(talus_world_totals(world)->coarse, 1);
    check_close("step needed", talus_world_totals(world)->step_needed, 0.3 * sqrt(0.01 / 0.245),
                1e-12, "rounding");
    talus_world_destroy(world);

    def.on_coarse = TALUS_POLICY_RETRY;
    def.retry_depth = 1;
    world = physics_world(&def, 0.0);
    const talus_grain_def still = physics_ball(0.5, 1.0, 0, 0, 0);
    talus_grain_def fast = physics_ball(0.5, 1.0, 0, 1, 0);
    fast.velocity[0] = 0.7 / 0.3;
    physics_add(world, &still);
    physics_add(world, &fast);
    r = physics_step(world, 0.3);
    assert_int_equal(r.substeps, 2);
    assert_true(r.coarseness > TALUS_COARSE);
    talus_world_destroy(world);
}

/// A rod that turns: its tip leaves the tangent by l w^2 h^2/2.
static void turning_solids_are_coarse(void** state)
{
    (void)state;
    talus_error error;
    talus_world_def def = physics_def(2);
    talus_world* world = physics_world(&def, 0.0);
    physics_plane(world, "floor", 0, 1, 0);
    const double points[] = {-1, -0.05, 1, -0.05, 1, 0.05, -1, 0.05};
    talus_solid_def rod = talus_solid_default();
    rod.name = "rod";
    rod.points = points;
    rod.point_count = 4;
    talus_solid_id id;
    check_ok(talus_world_add_solid(world, &rod, &id, &error), error);
    talus_grain_def g = talus_grain_default();
    g.solid = id;
    g.position[1] = 0.05;
    g.spin[2] = -1.0; // its right end goes into the floor
    check_ok(talus_world_add_grain(world, &g, NULL, &error), error);
    const double h = 0.01, arm = hypot(1.0, 0.05);
    const talus_step_result r = physics_step(world, h);
    check_close("coarseness", r.coarseness, 0.5 * arm * h * h / 0.1, 1e-12,
                "rounding; the thickness is 0.1");
    talus_world_destroy(world);
}

static void check_advice(const talus_world* world, const char* name, double bound, double length)
{
    talus_step_advice a;
    talus_error error;
    check_ok(talus_world_step_advice(world, &a, &error), error);
    printf("%s: %g s from %g s, of %s\n", name, a.length, a.bound, a.of);
    check_close(name, a.bound, bound, 1e-12 * bound, "a few roundings");
    check_close("round", a.length, length, 0.0, "the decimal number itself");
}

static void advice_follows_from_what_moves(void** state)
{
    (void)state;
    talus_error error;
    talus_step_advice a;
    talus_world_def def = physics_def(2);
    talus_world* world = physics_world(&def, 0.0);
    const talus_grain_def ball = physics_ball(0.005, 1.0, 0, 0, 0);
    physics_add(world, &ball);
    check_ok(talus_world_step_advice(world, &a, &error), error);
    assert_true(a.length == 0.0 && a.bound == 0.0); // nothing moves
    check_ok(talus_world_set_gravity(world, (double[3]){0, -10, 0}, &error), error);
    check_advice(world, "gravity", 0.1 * sqrt(0.01 / 10.0), 0.002);

    talus_wall_def wall = talus_wall_default();
    wall.name = "plate";
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[1] = 1;
    wall.position[1] = -1;
    wall.drive.kind = TALUS_DRIVE_SINE;
    wall.drive.frequency = 100.0;
    wall.drive.amplitude[1] = 1e-6;
    check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    check_advice(world, "a fiftieth of the period", 1.0 / 5000.0, 0.0002);

    talus_grain_def fast = physics_ball(0.005, 1.0, 1, 0, 0);
    fast.velocity[0] = 100.0;
    physics_add(world, &fast);
    check_advice(world, "half a thickness", 0.5 * 0.01 / 100.0, 5e-5);
    talus_world_destroy(world);
}

/// A heap of falling disks: the same bits with other numbers of threads and from a copy.
static void halved_steps_keep_their_bits(void** state)
{
    (void)state;
    uint64_t hash[3];
    int64_t parts[3];
    for (int i = 0; i < 3; i++) {
        talus_world_def def = physics_def(2);
        def.solver = talus_solver_default();
        def.on_coarse = TALUS_POLICY_RETRY;
        def.gravity[1] = -9.81;
        def.threads = i == 1 ? 3 : 1;
        talus_world* world = physics_world(&def, 0.3);
        physics_plane(world, "floor", 0, 1, 0);
        dice d = {7};
        for (int k = 0; k < 40; k++) {
            talus_grain_def ball = physics_ball(0.004 + 0.002 * dice_roll(&d), 0.1, 0.011 * (k % 8),
                                                0.05 + 0.013 * (double)(k / 8), 0);
            ball.velocity[0] = 0.6 * dice_roll(&d) - 0.3;
            ball.velocity[1] = -1.0;
            physics_add(world, &ball);
        }
        for (int k = 0; k < 60; k++) {
            physics_step(world, 2e-3);
            if (i != 2 || k != 25) continue;
            talus_error error;
            talus_world* copy;
            check_ok(talus_world_copy(world, &copy, &error), error);
            talus_world_destroy(world);
            world = copy;
        }
        hash[i] = talus_world_hash(world);
        parts[i] = talus_world_totals(world)->substeps;
        talus_world_destroy(world);
    }
    printf("60 steps in %lld parts\n", (long long)parts[0]);
    assert_true(parts[0] > 65);
    for (int i = 1; i < 3; i++) assert_true(hash[i] == hash[0] && parts[i] == parts[0]);
}

/// How a flow of disks over a rough floor is interrupted half-way, if at all.
typedef enum interruption { NONE, COPIED, SAVED } interruption;

/// 300 disks that fall in a shower, slide and come to rest, with 15 sweeps a step; *later receives
/// the parts of the last step.
static uint64_t run_shower(int seed, talus_policy policy, int threads, interruption how,
                           talus_totals* totals, int64_t* later)
{
    talus_error error;
    talus_world_def def = physics_def(2);
    def.solver = talus_solver_default();
    def.solver.max_sweeps = 15;
    def.on_coarse = policy;
    def.gravity[0] = 3.0, def.gravity[1] = -9.81;
    def.threads = threads;
    def.periodic[0] = true;
    def.cell_high[0] = 0.2;
    talus_world* world = physics_world(&def, 0.6);
    physics_plane(world, "floor", 0, 1, 0);
    dice d = {(uint64_t)seed};
    for (int k = 0; k < 300; k++) {
        talus_grain_def ball =
            physics_ball(0.004 + 0.002 * dice_roll(&d), 0.1, 0.0005 + 0.013 * (k % 15),
                         0.006 + 0.0125 * (double)(k / 15), 0);
        ball.velocity[0] = 0.2 * dice_roll(&d) - 0.1;
        physics_add(world, &ball);
    }
    for (int k = 0; k < 400; k++) {
        *later = physics_step(world, 2e-3).substeps;
        if (k != 60 || how == NONE) continue;
        talus_world* other;
        if (how == COPIED) {
            check_ok(talus_world_copy(world, &other, &error), error);
        } else {
            char path[] = "/tmp/talus-shower-XXXXXX";
            const int file = mkstemp(path);
            assert_true(file >= 0 && close(file) == 0 && unlink(path) == 0);
            check_ok(talus_world_save(world, path, &error), error);
            check_ok(talus_world_load(path, NULL, &other, &error), error);
            unlink(path);
        }
        talus_world_destroy(world);
        world = other;
    }
    const uint64_t hash = talus_world_hash(world);
    *totals = *talus_world_totals(world);
    talus_world_destroy(world);
    return hash;
}

/// A flow that is not solved within its sweeps is taken in shorter steps, as long as it needs them,
/// with the same bits on any number of threads and from copies and files.
static void flows_that_are_not_solved_are_halved(void** state)
{
    (void)state;
    enum { SEEDS = 5 };
    talus_totals whole, parts[SEEDS], again;
    uint64_t hash[SEEDS];
    int64_t last, again_last, unsolved = 0, left = 0;
    for (int i = 0; i < SEEDS; i++) {
        run_shower(11 + i, TALUS_POLICY_ACCEPT, 1, NONE, &whole, &last);
        assert_int_equal(whole.halved, 0);
        hash[i] = run_shower(11 + i, TALUS_POLICY_RETRY, 1, NONE, &parts[i], &last);
        printf("400 steps: %lld are not solved whole; halved, %lld in %lld parts, the last in "
               "%lld\n",
               (long long)whole.unconverged, (long long)parts[i].unconverged,
               (long long)parts[i].substeps, (long long)last);
        unsolved += whole.unconverged;
        left += parts[i].unconverged;
    }
    // Last chances solve most of what sweeps do not. Of these five flows 5, 5, 5, 3 and 5 steps are
    // still not solved whole, and one when halved.
    assert_true(unsolved >= 10);
    assert_true(left <= unsolved / 2);
    for (interruption how = NONE; how <= SAVED; how++) {
        assert_true(run_shower(11, TALUS_POLICY_RETRY, 3, how, &again, &again_last) == hash[0]);
        assert_int_equal(again.substeps, parts[0].substeps);
    }
}

/// A column of N disks on a floor: contact k above the floor bears N - k of them, so that all of
/// them have N^2 m g R of force times way.
static void inertial_time_is_that_of_the_pressure(void** state)
{
    (void)state;
    enum { N = 5 };
    const double R = 0.005, g = 10.0;
    talus_world_def def = physics_def(2);
    def.gravity[1] = -g;
    talus_world* world = physics_world(&def, 0.5);
    physics_plane(world, "floor", 0, 1, 0);
    for (int k = 0; k < N; k++) {
        const talus_grain_def ball = physics_ball(R, 1.0, 0, R * (1 + 2 * k), 0);
        physics_add(world, &ball);
    }
    double found;
    assert_int_equal(advice_inertial_time(&world->state, 1, &found), TALUS_OK);
    assert_true(isinf(found)); // nothing has pressed yet
    physics_step(world, 1e-3);
    assert_int_equal(advice_inertial_time(&world->state, 1, &found), TALUS_OK);
    check_close("t_i", found, 2.0 * R * sqrt(2.0 / (g * R * N)), 1e-8, "what the solver leaves");
    talus_world_destroy(world);
}

/// Disks that slide down a slope in 5 sweeps: a step as long as the inertial time is not solved,
/// and is taken at once in the four parts, or more, that resolve it.
static void steps_too_long_for_the_pressure_are_cut_at_once(void** state)
{
    (void)state;
    talus_error error;
    talus_world_def def = physics_def(2);
    def.solver = talus_solver_default();
    def.gravity[0] = 3.0, def.gravity[1] = -9.81;
    def.periodic[0] = true;
    def.cell_high[0] = 0.2;
    def.on_coarse = TALUS_POLICY_RETRY;
    talus_world* world = physics_world(&def, 0.5);
    physics_plane(world, "floor", 0, 1, 0);
    dice d = {5};
    for (int k = 0; k < 300; k++) {
        const talus_grain_def ball =
            physics_ball(0.004 + 0.002 * dice_roll(&d), 0.1, 0.0005 + 0.013 * (k % 15),
                         0.006 + 0.0125 * (double)(k / 15), 0);
        physics_add(world, &ball);
    }
    for (int k = 0; k < 200; k++) physics_step(world, 1e-3);
    double inertial;
    assert_int_equal(advice_inertial_time(&world->state, 1, &inertial), TALUS_OK);
    talus_solver_def few = def.solver;
    few.max_sweeps = 5;
    check_ok(talus_world_set_solver(world, &few, &error), error);
    const talus_step_result r = physics_step(world, inertial);
    printf("a step of %g s in %lld parts, %lld sweeps\n", inertial, (long long)r.substeps,
           (long long)r.sweeps);
    // Whole, then each of the four parts, in 5 sweeps: no halves were tried in between. Each more
    // is half of a part that was not solved, either.
    assert_in_range(r.substeps, 4, 8);
    assert_true(r.sweeps <= 5 * (1 + 4 + 2 * (r.substeps - 4)));
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coarseness_is_what_straight_paths_leave_out),
        cmocka_unit_test(harmless_motion_is_not_coarse),
        cmocka_unit_test(coarse_steps_are_halved),
        cmocka_unit_test(what_policies_do),
        cmocka_unit_test(turning_solids_are_coarse),
        cmocka_unit_test(advice_follows_from_what_moves),
        cmocka_unit_test(halved_steps_keep_their_bits),
        cmocka_unit_test(flows_that_are_not_solved_are_halved),
        cmocka_unit_test(inertial_time_is_that_of_the_pressure),
        cmocka_unit_test(steps_too_long_for_the_pressure_are_cut_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

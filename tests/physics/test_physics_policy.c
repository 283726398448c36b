/// What happens when a step goes wrong: NaN, a grain that escapes, contacts that do not converge.
#include "physics.h"

static int messages;

static void count_message(void* user, talus_log_level level, const char* text)
{
    (void)level;
    (void)text;
    ++*(int*)user;
}

static talus_world_def logged_def(int dim)
{
    talus_world_def def = physics_def(dim);
    messages = 0;
    def.log = count_message;
    def.log_user = &messages;
    return def;
}

/// An infinite force makes an infinite velocity: the step fails, names the grain, changes nothing.
static void nan_is_named_and_stops(void** state)
{
    (void)state;
    for (int retry = 0; retry <= 1; retry++) {
        for (int bad = 0; bad <= 1; bad++) {
            talus_world_def def = logged_def(3);
            def.on_nan = retry ? TALUS_POLICY_RETRY : TALUS_POLICY_STOP;
            def.retry_depth = 3;
            talus_world* world = physics_world(&def, 0.3);
            int64_t id[3];
            for (int i = 0; i < 3; i++) {
                talus_grain_def ball = physics_ball(0.5, 1.0, i, 0, 0);
                id[i] = physics_add(world, &ball);
            }
            physics_step(world, 0.01);
            physics_edit(world).external_force[3 * 1 + 2] = bad ? (double)NAN : (double)INFINITY;
            const uint64_t hash = talus_world_hash(world);
            const double time = talus_world_time(world);
            talus_error error;
            talus_step_result result;
            assert_int_equal(talus_world_step(world, 0.01, &result, &error), TALUS_ERR_NUMERIC);
            printf("said: %s\n", error.text);
            assert_true(strstr(error.text, "grain 1") != NULL);
            assert_int_equal(result.nan_grain, id[1]);
            assert_true(talus_world_hash(world) == hash);
            check_close("time stands", talus_world_time(world), time, 0.0, "nothing was done");
            check_close("messages of retries", messages, retry ? def.retry_depth : 0, 0.0,
                        "one halving for each level");
            physics_edit(world).external_force[3 * 1 + 2] = 0.0; // and the world is still good
            physics_step(world, 0.01);
            check_ok(talus_world_validate(world, &error), error);
            talus_world_destroy(world);
        }
    }
}

/// A step that was halved because it goes too far is retried as often as any other.
static void halved_steps_are_retried(void** state)
{
    (void)state;
    talus_world_def def = logged_def(3);
    def.on_coarse = TALUS_POLICY_RETRY;
    def.on_nan = TALUS_POLICY_RETRY;
    def.retry_depth = 3;
    talus_world* world = physics_world(&def, 0.3);
    talus_grain_def ball = physics_ball(0.5, 1.0, 0, 0, 0);
    const int64_t id = physics_add(world, &ball);
    physics_edit(world).external_force[0] = (double)INFINITY;
    talus_error error;
    talus_step_result result;
    assert_int_equal(talus_world_step(world, 0.01, &result, &error), TALUS_ERR_NUMERIC);
    assert_int_equal(result.nan_grain, id);
    check_close("messages of retries", messages, def.retry_depth, 0.0,
                "one for each level, whatever halved the step before");
    talus_world_destroy(world);
}

static talus_world* leaving_world(talus_policy policy, int64_t id[2])
{
    talus_world_def def = logged_def(2);
    def.on_escape = policy;
    def.has_domain = true;
    for (int k = 0; k < 2; k++) def.domain_low[k] = -1.0, def.domain_high[k] = 1.0;
    talus_world* world = physics_world(&def, 0.0);
    talus_grain_def still = physics_ball(0.1, 1.0, 0, 0, 0),
                    fast = physics_ball(0.1, 1.0, 0.5, 0, 0);
    fast.velocity[0] = 1.0;
    id[0] = physics_add(world, &fast);
    id[1] = physics_add(world, &still);
    return world;
}

static void escaped_grain_stops_goes_or_stays(void** state)
{
    (void)state;
    const double h = 0.03; // 0.5 m at 1 m/s: after 16 steps at 0.98, the 17th leaves
    int64_t id[2];
    talus_error error;
    talus_step_result r;

    talus_world* world = leaving_world(TALUS_POLICY_STOP, id);
    physics_steps(world, h, 16);
    double x = grain_x(world, id[0], 0);
    assert_int_equal(talus_world_step(world, h, &r, &error), TALUS_ERR_NUMERIC);
    printf("said: %s\n", error.text);
    assert_true(strstr(error.text, "grain 0") != NULL);
    assert_int_equal(r.escaped_grain, id[0]);
    check_close("stop: world as before", grain_x(world, id[0], 0), x, 0.0, "exact");
    talus_world_destroy(world);

    world = leaving_world(TALUS_POLICY_REMOVE, id);
    physics_steps(world, h, 16);
    r = physics_step(world, h);
    assert_int_equal(r.removed, 1);
    assert_int_equal(r.escaped_grain, id[0]);
    assert_int_equal(talus_world_grains(world).count, 1);
    assert_int_equal(talus_world_grain_index(world, id[0]), -1);
    assert_int_equal(talus_world_grain_index(world, id[1]), 0);
    assert_int_equal(talus_world_totals(world)->removed, 1);
    assert_true(messages > 0);
    physics_steps(world, h, 5);
    check_ok(talus_world_validate(world, &error), error);
    talus_world_destroy(world);

    world = leaving_world(TALUS_POLICY_ACCEPT, id);
    physics_steps(world, h, 16);
    r = physics_step(world, h);
    assert_int_equal(r.escaped_grain, id[0]);
    assert_int_equal(talus_world_grains(world).count, 2);
    check_close("accept: flies on", grain_x(world, id[0], 0), 0.5 + 17 * h, 1e-14, "roundoff");
    talus_world_destroy(world);
}

/// A stack that cannot converge in the sweeps it is given.
static talus_world* hard_world(talus_policy policy, int sweeps, int depth)
{
    talus_world_def def = logged_def(2);
    def.on_unconverged = policy;
    def.retry_depth = depth;
    def.gravity[1] = -9.81;
    def.solver.method = TALUS_SOLVER_SWEEPS;
    def.solver.tolerance = 1e-6;
    def.solver.max_sweeps = sweeps;
    talus_world* world = physics_world(&def, 0.3);
    physics_plane(world, "floor", 0, 1, 0);
    for (int i = 0; i < 10; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, 0, 0.5 + i, 0);
        physics_add(world, &ball);
    }
    return world;
}

static void unconverged_is_accepted_or_stops(void** state)
{
    (void)state;
    talus_step_result r;
    talus_error error;
    talus_world* world = hard_world(TALUS_POLICY_ACCEPT, 5, 3);
    r = physics_step(world, 1e-3);
    assert_false(r.converged);
    assert_int_equal(r.sweeps, 5);
    assert_int_equal(talus_world_totals(world)->unconverged, 1);
    check_below("residual says so", 1e-6, r.residual, "not converged");
    talus_world_destroy(world);

    world = hard_world(TALUS_POLICY_STOP, 5, 3);
    uint64_t hash = talus_world_hash(world);
    assert_int_equal(talus_world_step(world, 1e-3, &r, &error), TALUS_ERR_NUMERIC);
    printf("said: %s\n", error.text);
    assert_true(strstr(error.text, "converge") != NULL);
    assert_true(talus_world_hash(world) == hash);
    assert_int_equal(talus_world_totals(world)->steps, 0);
    talus_world_destroy(world);
}

/// A stack at rest does not get easier by halving, so its retries end at the smallest step; a
/// collision is approached as far as the substeps go.
static void unconverged_is_retried(void** state)
{
    (void)state;
    talus_step_result r;
    talus_error error;
    talus_world* world = hard_world(TALUS_POLICY_RETRY, 5, 3);
    uint64_t hash = talus_world_hash(world);
    assert_int_equal(talus_world_step(world, 1e-3, &r, &error), TALUS_ERR_NUMERIC);
    printf("said: %s\n", error.text);
    check_close("halvings", messages, 3, 0.0, "retry_depth");
    assert_int_equal(r.sweeps, 4 * 5); // h, h/2, h/4, h/8
    assert_true(talus_world_hash(world) == hash);
    talus_world_destroy(world);

    // The outer two of three grains close in on the middle one and touch after 1.5 ms.
    talus_world_def def = logged_def(2);
    def.on_unconverged = TALUS_POLICY_RETRY;
    def.solver.method = TALUS_SOLVER_SWEEPS;
    def.solver.max_sweeps = 1;
    def.solver.tolerance = 1e-10;
    world = physics_world(&def, 0.0);
    for (int i = 0; i < 3; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, 1.0015 * i, 0, 0);
        ball.velocity[0] = 1.0 - i; // the outer two close in on the middle one
        physics_add(world, &ball);
    }
    talus_status status = talus_world_step(world, 2e-3, &r, &error);
    // One sweep cannot solve two coupled contacts; without contact it has nothing to do. The first
    // half step passes, the second meets both contacts and fails at every depth.
    assert_int_equal(status, TALUS_ERR_NUMERIC);
    check_close("time went on to the last good substep", talus_world_time(world), 1.5e-3, 3.2e-5,
                "the touch is at 1.5 ms; the smallest substep is 2 ms/64 = 31 us");
    double momentum[3];
    talus_measure_momentum(world, momentum);
    check_close("momentum", momentum[0], 0.0, 1e-15, "roundoff");
    talus_world_destroy(world);
}

/// A retry that succeeds. Grain 0 flies past a touching pair at a distance: over the whole step the
/// plane of its contact with grain 1 is in the way, two coupled contacts cannot be solved in 2
/// sweeps; in half steps the normal turns and it passes without a touch.
static void retry_succeeds_with_smaller_steps(void** state)
{
    (void)state;
    talus_world_def def = logged_def(2);
    def.on_unconverged = TALUS_POLICY_RETRY;
    def.solver.method = TALUS_SOLVER_SWEEPS;
    def.solver.max_sweeps = 2;
    def.solver.tolerance = 1e-10;
    talus_world* world = physics_world(&def, 0.0);
    const double x[3][2] = {{-0.9, 1.15}, {0, 0}, {0, -1}};
    for (int i = 0; i < 3; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, x[i][0], x[i][1], 0);
        ball.velocity[0] = i == 0;
        physics_add(world, &ball);
    }
    talus_step_result r = physics_step(world, 1.0);
    assert_true(r.converged);
    check_close("halvings", messages, 1, 0.0, "one level is enough");
    check_close("substeps", (double)r.substeps, 2, 0.0, "two halves");
    check_close("time is the whole step", talus_world_time(world), 1.0, 0.0, "exact");
    check_close("one step counted", (double)talus_world_totals(world)->steps, 1, 0, "exact");
    check_close("passed", grain_x(world, 0, 0), 0.1, 4 * DBL_EPSILON, "roundoff");
    check_close("no kick", grain_v(world, 1, 1), 0.0, 0.0, "exact");
    talus_world_destroy(world);
}

/// A grain whose centre is behind a wall has escaped too, without any domain.
static void grain_behind_a_wall_has_escaped(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world;
    talus_world_def def = talus_world_default();
    def.dim = 2;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_wall_def wall = talus_wall_default();
    wall.name = "floor";
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[1] = 1.0;
    check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    talus_grain_def grain = talus_grain_default();
    grain.radius = 0.1;
    int64_t held, lost;
    grain.position[1] = 0.05; // deep in the floor, but not behind it
    check_ok(talus_world_add_grain(world, &grain, &held, &error), error);
    grain.position[0] = 1.0;
    check_ok(talus_world_step(world, 1e-3, NULL, &error), error);
    grain.position[1] = -0.01;
    check_ok(talus_world_add_grain(world, &grain, &lost, &error), error);
    talus_step_result r;
    assert_int_equal(talus_world_step(world, 1e-3, &r, &error), TALUS_ERR_NUMERIC);
    assert_int_equal(r.escaped_grain, lost);
    assert_non_null(strstr(error.text, "grain 1 escaped"));
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_is_named_and_stops),
        cmocka_unit_test(halved_steps_are_retried),
        cmocka_unit_test(escaped_grain_stops_goes_or_stays),
        cmocka_unit_test(grain_behind_a_wall_has_escaped),
        cmocka_unit_test(unconverged_is_accepted_or_stops),
        cmocka_unit_test(unconverged_is_retried),
        cmocka_unit_test(retry_succeeds_with_smaller_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

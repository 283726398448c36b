/// One budget of sweeps a step, however often its contacts have to be searched.
///
/// A grain may move in a step as far as its free velocity carries it and a hundredth of its radius.
/// A blow carries it farther: then contacts are searched again, and those that were not known join
/// the sweeps that are left. The scenes here do that in many of their steps.
#include "physics.h"

// ---- scenes ------------------------------------------------------------------------------------

/// A slab of loose grains hit by a fast one: the blow runs from grain to grain within a step.
static talus_world* struck_grains(int dim, const talus_solver_def* solver)
{
    talus_world_def def = physics_def(dim);
    def.solver = *solver;
    talus_world* world = physics_world(&def, 0.3);
    dice d = {3};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 12; k++) {
            talus_grain_def grain =
                physics_ball(0.5, 1.0, 1.03 * i + 0.02 * dice_roll(&d), 1.02 * k, 0.0);
            physics_add(world, &grain);
        }
    }
    talus_grain_def bullet = physics_ball(1.0, 50.0, -1.6, 5.6, 0.0);
    bullet.velocity[0] = 40.0;
    physics_add(world, &bullet);
    return world;
}

/// A bed of grains under a lid of a thousandth of a grain's mass that is pressed down: what the lid
/// does in the step is not to be seen from its velocity before.
static talus_world* light_lid(int dim, const talus_solver_def* solver)
{
    talus_world_def def = physics_def(dim);
    const int up = dim - 1;
    def.gravity[up] = -9.81;
    def.solver = *solver;
    talus_world* world = physics_world(&def, 0.5);
    physics_container(world, dim, 3.0, 40.0);
    dice d = {5};
    physics_fill(world, dim, 60, 3.0, 0.3, 0.2, &d);
    double top = 0.0;
    talus_grains g = talus_world_grains(world);
    for (int64_t i = 0; i < g.count; i++) {
        top = fmax(top, g.position[i * dim + up] + g.radius[i]);
    }
    talus_wall_def lid = physics_plane_def("lid", 0, dim == 2 ? -1 : 0, dim == 3 ? -1 : 0);
    lid.position[up] = top + 0.05;
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.free_axes[up] = true;
    lid.drive.mass = 1e-3;
    lid.drive.force[up] = -1.0;
    physics_wall(world, &lid);
    return world;
}

/// A column of grains without side walls that falls on a floor and bursts.
static talus_world* burst(int dim, const talus_solver_def* solver)
{
    talus_world_def def = physics_def(dim);
    def.gravity[1] = -9.81;
    def.solver = *solver;
    talus_world* world = physics_world(&def, 0.3);
    physics_plane(world, "floor", 0, 1, 0);
    dice d = {7};
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 16; k++) {
            talus_grain_def grain =
                physics_ball(0.25, 0.1 + dice_roll(&d), 0.5 * i + 0.25 * (k % 2), 0.25 + 0.44 * k,
                             dim == 3 ? 0.1 * (k % 3) : 0.0);
            grain.velocity[1] = -3.0;
            physics_add(world, &grain);
        }
    }
    return world;
}

typedef talus_world* scene(int dim, const talus_solver_def* solver);
static scene* const scenes[] = {struck_grains, light_lid, burst};
enum { SCENES = sizeof scenes / sizeof *scenes };
static const double STEP = 5e-3;

// ---- budgets -----------------------------------------------------------------------------------

typedef struct way {
    talus_solver_method method;
    talus_sweep_order order;
} way;
static const way ways[] = {
    {TALUS_SOLVER_SWEEPS, TALUS_ORDER_RANDOM},      {TALUS_SOLVER_SWEEPS, TALUS_ORDER_FORWARD},
    {TALUS_SOLVER_SWEEPS, TALUS_ORDER_ALTERNATING}, {TALUS_SOLVER_COLOURED, TALUS_ORDER_RANDOM},
    {TALUS_SOLVER_ACCELERATED, TALUS_ORDER_RANDOM}, {TALUS_SOLVER_AUTO, TALUS_ORDER_RANDOM}};
enum { WAYS = sizeof ways / sizeof *ways, STEPS = 60 };

static talus_solver_def solver_of(way w, talus_stop_rule rule, int most, bool warm)
{
    talus_solver_def solver = talus_solver_default();
    solver.method = w.method, solver.order = w.order;
    solver.stop = rule, solver.max_sweeps = most;
    solver.tolerance = 1e-13;
    solver.warm_start = warm;
    return solver;
}

/// Whether few sweeps or many: two balls that overlap after a step were known to it as a contact. A
/// gap that does not close along the normal does not close at all.
static void check_nobody_was_missed(const talus_world* world)
{
    const talus_grains g = talus_world_grains(world);
    for (int64_t i = 0; i < g.count; i++) {
        for (int64_t j = i + 1; j < g.count; j++) {
            double apart2 = 0.0;
            const double reach =
                g.radius[i] + g.radius[j] - 1e-12; // rounding of positions below 100
            for (int k = 0; k < g.dim; k++) {
                const double d = g.position[i * g.dim + k] - g.position[j * g.dim + k];
                apart2 += d * d;
            }
            if (apart2 < reach * reach) assert_true(find_contact(world, g.id[i], g.id[j]) >= 0);
        }
    }
}

/// Exactly N_I sweeps in every step that has contacts. Where contacts join on the way the updates
/// of plain sweeps are fewer than N_I of those that the step ends with: that must have happened.
static void fixed_number_is_kept_while_contacts_join(void** state)
{
    (void)state;
    const int numbers[] = {1, 2, 3, 10, 40};
    int64_t joined = 0;
    for (int s = 0; s < 2 * SCENES; s++) {
        for (int w = 0; w < WAYS; w++) {
            for (int k = 0; k < 5; k++) {
                const talus_solver_def solver =
                    solver_of(ways[w], TALUS_STOP_SWEEPS, numbers[k], w % 2);
                talus_world* world = scenes[s / 2](2 + s % 2, &solver);
                for (int step = 0; step < STEPS; step++) {
                    const talus_step_result r = physics_step(world, STEP);
                    assert_int_equal(r.sweeps, r.contacts > 0 ? numbers[k] : 0);
                    assert_true(r.updates <= numbers[k] * r.contacts);
                    joined += ways[w].method == TALUS_SOLVER_SWEEPS &&
                              r.updates < numbers[k] * r.contacts;
                    check_nobody_was_missed(world);
                }
                talus_world_destroy(world);
            }
        }
    }
    printf("contacts joined in %lld steps\n", (long long)joined);
    assert_true(joined >= 50);
}

/// With a rule that is hardly ever met: never more than max_sweeps.
static void budget_is_never_exceeded(void** state)
{
    (void)state;
    const talus_stop_rule rules[] = {TALUS_STOP_RIGID, TALUS_STOP_RESIDUAL, TALUS_STOP_LOCAL};
    for (int s = 0; s < 2 * SCENES; s++) {
        int64_t full = 0;
        for (int w = 0; w < WAYS; w++) {
            for (int k = 0; k < 3; k++) {
                if (rules[k] == TALUS_STOP_LOCAL && ways[w].method != TALUS_SOLVER_SWEEPS) continue;
                const talus_solver_def solver = solver_of(ways[w], rules[k], 30, true);
                talus_world* world = scenes[s / 2](2 + s % 2, &solver);
                for (int step = 0; step < STEPS; step++) {
                    const talus_step_result r = physics_step(world, STEP);
                    assert_true(r.sweeps <= 30);
                    full += r.sweeps == 30;
                }
                talus_world_destroy(world);
            }
        }
        assert_true(full > 0);
    }
}

// ---- who joins when ----------------------------------------------------------------------------

/// A runs into B, which touches it; B is thrown at C, which nobody expects to be hit: it lies
/// beyond the margins. Many others at rest keep the mean velocity small.
typedef struct three_balls {
    talus_world* world;
    int64_t a, b, c;
} three_balls;

static const double R = 0.5, SPEED = 1.0, GAP = 0.02, LONG_STEP = 0.1;

static three_balls three_in_a_row(const talus_solver_def* solver, double gap)
{
    talus_world_def def = physics_def(2);
    def.solver = *solver;
    three_balls t = {.world = physics_world(&def, 0.3)};
    talus_grain_def ball = physics_ball(R, 1.0, 0.0, 0.0, 0.0);
    ball.velocity[0] = SPEED;
    t.a = physics_add(t.world, &ball);
    ball.velocity[0] = 0.0;
    ball.position[0] = 2 * R;
    t.b = physics_add(t.world, &ball);
    ball.position[0] = 4 * R + gap;
    t.c = physics_add(t.world, &ball);
    for (int i = 0; i < 200; i++) {
        ball = physics_ball(R, 1.0, 3.0 * R * i, 10.0, 0.0);
        physics_add(t.world, &ball);
    }
    return t;
}

static void contacts_join_the_sweeps_that_are_left(void** state)
{
    (void)state;
    const double tolerance = 8 * DBL_EPSILON; // of velocities about 1
    way forward = {TALUS_SOLVER_SWEEPS, TALUS_ORDER_FORWARD};
    for (int n = 1; n <= 2; n++) {
        const talus_solver_def solver = solver_of(forward, TALUS_STOP_SWEEPS, n, true);
        three_balls t = three_in_a_row(&solver, GAP);
        const talus_step_result r = physics_step(t.world, LONG_STEP);
        assert_int_equal(r.sweeps, n);
        assert_int_equal(r.contacts, 2); // both are listed in any case
        assert_true(find_contact(t.world, t.b, t.c) >= 0);
        assert_true(r.residual > 0.1); // and neither number of sweeps is enough
        // The first sweep knows only A and B, which go on together. The second one finds them so
        // and stops B where it would be more than GAP nearer to C.
        const double together = 0.5 * SPEED, excess = together - GAP / LONG_STEP;
        const double v_c = n == 1 ? 0.0 : 0.5 * excess;
        check_close("C", grain_v(t.world, t.c, 0), v_c, tolerance, "rounding");
        check_close("B", grain_v(t.world, t.b, 0), together - v_c, tolerance, "rounding");
        check_close("A", grain_v(t.world, t.a, 0), together, tolerance, "rounding");
        check_close("force B on C", contact_normal_force(t.world, t.b, t.c), v_c / LONG_STEP,
                    tolerance / LONG_STEP, "rounding");
        talus_world_destroy(t.world);
    }
}

/// A blow that sweeps in forward order carry by one contact each: balls lie in the order of falling
/// ids, and the first is struck. What the last one will do is not to be seen on the way; that the
/// target before it is not reached yet must not be taken for the end. Every gap is tried in which a
/// look on the way may know of the target.
static void late_blows_are_not_missed(void** state)
{
    (void)state;
    enum { BALLS = 4 };
    int hits = 0;
    for (int i = 0; i < 200 * 12; i++) {
        const int sweeps = 4 + i % 12;
        const way forward = {TALUS_SOLVER_SWEEPS, TALUS_ORDER_FORWARD};
        talus_world_def def = physics_def(2);
        def.solver = solver_of(forward, TALUS_STOP_SWEEPS, sweeps, true);
        talus_world* world = physics_world(&def, 0.3);
        talus_grain_def ball = physics_ball(R, 1.0, -2 * R - 1e-3 * (i / 12 + 1), 0.0, 0.0);
        const int64_t target = physics_add(world, &ball);
        for (int k = 0; k < BALLS; k++) {
            ball.position[0] = 2 * R * k;
            ball.velocity[0] = k == BALLS - 1 ? -5.0 * SPEED : 0.0;
            physics_add(world, &ball);
        }
        for (int k = 0; k < 50; k++) {
            ball = physics_ball(R, 1.0, 3.0 * R * k, 10.0, 0.0);
            physics_add(world, &ball);
        }
        assert_int_equal(physics_step(world, LONG_STEP).sweeps, sweeps);
        check_nobody_was_missed(world);
        hits += grain_v(world, target, 0) < 0.0;
        talus_world_destroy(world);
    }
    printf("the target was hit %d times\n", hits);
    assert_true(hits > 100);
}

/// If C is farther away than B comes in this step nothing is to be solved again, and C is not
/// listed, though B outran its margin.
static void contacts_that_stay_open_do_not_join(void** state)
{
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        const talus_solver_def solver = solver_of(ways[w], TALUS_STOP_SWEEPS, 10, true);
        three_balls t = three_in_a_row(&solver, 1.1 * 0.5 * SPEED * LONG_STEP);
        const talus_step_result r = physics_step(t.world, LONG_STEP);
        assert_int_equal(r.sweeps, 10);
        assert_int_equal(r.contacts, 1);
        check_close("B", grain_v(t.world, t.b, 0), 0.5 * SPEED, 8 * DBL_EPSILON, "rounding");
        check_close("C", grain_v(t.world, t.c, 0), 0.0, 0.0, "exact");
        talus_world_destroy(t.world);
    }
}

/// With sweeps enough it does not matter that a contact came late: three grains go on at the speed
/// of an impact that closes the gap to C in this step.
static void late_contacts_get_their_impulses(void** state)
{
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        const talus_solver_def solver = solver_of(ways[w], TALUS_STOP_SWEEPS, 400, false);
        three_balls t = three_in_a_row(&solver, GAP);
        const talus_step_result r = physics_step(t.world, LONG_STEP);
        assert_int_equal(r.sweeps, 400);
        // v_a = v_b = v_c + GAP/h with the momentum of A.
        const double v_c = (SPEED - 2.0 * GAP / LONG_STEP) / 3.0;
        check_close("C", grain_v(t.world, t.c, 0), v_c, 1e-13,
                    "the error halves every sweep or so");
        check_close("A", grain_v(t.world, t.a, 0), v_c + GAP / LONG_STEP, 1e-13, "likewise");
        talus_world_destroy(t.world);
    }
}

/// Static friction gives way after half of the sweeps that a solve has. Contacts that join on the
/// way begin a new one: a slider that has nothing to do with them ends with its dynamic friction
/// all the same.
static void friction_breaks_loose_while_contacts_join(void** state)
{
    (void)state;
    const double g = 9.81, mu_static = 0.5, mu_dynamic = 0.3, push = 0.6 * g;
    for (int w = 0; w < WAYS; w++) {
        const talus_solver_def solver = solver_of(ways[w], TALUS_STOP_SWEEPS, 10, true);
        three_balls t = three_in_a_row(&solver, GAP);
        talus_error error;
        talus_pair_def pair = talus_pair_default();
        pair.friction = mu_static, pair.dynamic_friction = mu_dynamic;
        const talus_material_id stone = {0};
        check_ok(talus_world_set_pair(t.world, stone, stone, &pair, &error), error);
        physics_plane_at(t.world, "floor", 0, 1, 0, 0, -20.0, 0);
        talus_grain_def slider = physics_ball(R, 1.0, 0.0, -20.0 + R, 0.0);
        slider.locked_rotation = true;
        slider.external_force[0] = push, slider.external_force[1] = -g;
        const int64_t id = physics_add(t.world, &slider);
        const talus_step_result r = physics_step(t.world, LONG_STEP);
        assert_int_equal(r.sweeps, 10);
        assert_true(r.updates < 10 * r.contacts);
        check_close("slider", grain_v(t.world, id, 0), (push - mu_dynamic * g) * LONG_STEP,
                    8 * DBL_EPSILON, "rounding");
        talus_world_destroy(t.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_number_is_kept_while_contacts_join),
        cmocka_unit_test(budget_is_never_exceeded),
        cmocka_unit_test(contacts_join_the_sweeps_that_are_left),
        cmocka_unit_test(late_blows_are_not_missed),
        cmocka_unit_test(contacts_that_stay_open_do_not_join),
        cmocka_unit_test(late_contacts_get_their_impulses),
        cmocka_unit_test(friction_breaks_loose_while_contacts_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

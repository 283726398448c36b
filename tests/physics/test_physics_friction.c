/// Static friction larger than dynamic: thresholds, stick-slip, and no chattering.
///
/// Sliders are grains with locked rotation on a plane. The stick-slip cycle of a slider pulled by a
/// spring whose far end moves at V follows from Newton's law: with w = sqrt(k/m) and
/// D = (mu_s - mu_d) N/k it sticks for 2 D/V, then slips for (2/w)(pi - atan(D w/V)), in which the
/// spring's force swings from mu_s N to (2 mu_d - mu_s) N.
#include "physics.h"

static const double G = 9.81, MU_S = 0.5, MU_D = 0.3, R = 0.1, H = 1e-3;

static talus_world* empty_world(int dim, uint64_t seed)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    def.seed = seed;
    talus_pair_def pair = talus_pair_default();
    pair.friction = MU_S, pair.dynamic_friction = MU_D;
    return physics_world_pair(&def, &pair);
}

static talus_world* friction_world(int dim, uint64_t seed)
{
    talus_world* world = empty_world(dim, seed);
    physics_plane(world, "floor", 0, dim == 2, dim == 3);
    return world;
}

static talus_grain_def slider_def(int dim, double x, double force, double speed)
{
    talus_grain_def def = physics_ball(R, 1.0, x, dim == 2 ? R : 0, dim == 3 ? R : 0);
    def.locked_rotation = true;
    def.external_force[0] = force;
    def.velocity[0] = speed;
    return def;
}

/// Rounding of velocities in n steps, and the solver's 1e-13 of the weight's impulse in each.
static double noise(int n)
{
    return n * (1e-13 * 2.0 * G * H + 16.0 * DBL_EPSILON * R / H);
}

// ---- thresholds --------------------------------------------------------------------------------

static void slider_breaks_loose_at_the_static_bound(void** state)
{
    (void)state;
    const int n = 400;
    struct {
        double force, speed, acceleration; // in units of m g, of m/s, of g
        int end;
    } const cases[] = {
        {0.4999, 0.0, 0.0, TALUS_CONTACT_STICK},    {-0.4999, 0.0, 0.0, TALUS_CONTACT_STICK},
        {0.5001, 0.0, 0.2001, TALUS_CONTACT_SLIDE}, {-0.5001, 0.0, -0.2001, TALUS_CONTACT_SLIDE},
        {0.4, 1.0, 0.1, TALUS_CONTACT_SLIDE}, // between the two: once it slides it goes on
        {0.2, 10.0, -0.1, TALUS_CONTACT_SLIDE},
    };
    for (int dim = 2; dim <= 3; dim++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            talus_world* world = friction_world(dim, 1);
            talus_grain_def def = slider_def(dim, 0, cases[i].force * G, cases[i].speed);
            int64_t id = physics_add(world, &def);
            physics_steps(world, H, n);
            check_close("speed", grain_v(world, id, 0),
                        cases[i].speed + cases[i].acceleration * G * n * H, noise(n),
                        "constant forces are exact in this scheme; solver and rounding");
            assert_int_equal(contact_state_of(world, -1, id), cases[i].end);
            talus_world_destroy(world);
        }
    }
}

/// Slowing down, sticking, holding more than dynamic friction could, breaking loose again.
static void slider_sticks_again_and_holds(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = friction_world(dim, 1);
        talus_grain_def def = slider_def(dim, 0, 0.2 * G, 0.1);
        int64_t id = physics_add(world, &def);
        talus_error error;
        const double zero[3] = {0, 0, 0};
        int steps = 0;
        while (grain_v(world, id, 0) > 0.0 && steps < 1000) physics_step(world, H), steps++;
        check_close("steps until it rests: v/((mu_d - 0.2) g h)", steps, ceil(0.1 / (0.1 * G * H)),
                    0.0, "the step in which it would turn round is the one it sticks in");
        assert_int_equal(contact_state_of(world, -1, id), TALUS_CONTACT_STICK);
        for (int i = 0; i < 400; i++) { // 0.2 to 0.49 and up in 400 steps
            double force[3] = {(0.2 + 0.29 * i / 400) * G, 0, 0};
            check_ok(talus_world_set_grain_force(world, id, force, zero, &error), error);
            physics_step(world, H);
            check_below("speed while held", fabs(grain_v(world, id, 0)), noise(1), "rounding");
        }
        double force[3] = {0.51 * G, 0, 0};
        check_ok(talus_world_set_grain_force(world, id, force, zero, &error), error);
        physics_steps(world, H, 100);
        check_close("speed after breaking loose", grain_v(world, id, 0), 0.21 * G * 100 * H,
                    noise(100), "constant forces are exact in this scheme");
        talus_world_destroy(world);
    }
}

/// On an incline: rests up to tan = mu_s, slides with mu_d beyond it.
static void incline_has_both_coefficients(void** state)
{
    (void)state;
    const int n = 200;
    for (int dim = 2; dim <= 3; dim++) {
        for (int above = 0; above <= 1; above++) {
            const double angle = atan(MU_S) * (above ? 1.001 : 0.999);
            talus_world_def def = physics_def(dim);
            def.gravity[0] = G * sin(angle), def.gravity[dim - 1] = -G * cos(angle);
            talus_pair_def pair = talus_pair_default();
            pair.friction = MU_S, pair.dynamic_friction = MU_D;
            talus_world* world = physics_world_pair(&def, &pair);
            physics_plane(world, "slope", 0, dim == 2, dim == 3);
            talus_grain_def slider = slider_def(dim, 0, 0, 0);
            int64_t id = physics_add(world, &slider);
            physics_steps(world, H, n);
            double a = above ? G * (sin(angle) - MU_D * cos(angle)) : 0.0;
            check_close("speed down the slope", grain_v(world, id, 0), a * n * H, noise(n),
                        "constant forces are exact in this scheme");
            talus_world_destroy(world);
        }
    }
}

// ---- stick-slip --------------------------------------------------------------------------------

enum { MAX_EVENTS = 64 };

/// What a driven slider did.
typedef struct record {
    int slips, changes;
    double loose_time[MAX_EVENTS];  ///< when it broke loose
    double loose_force[MAX_EVENTS]; ///< spring force then
    double stick_time[MAX_EVENTS];
    double stick_force[MAX_EVENTS];
    double friction_low, friction_high; ///< friction force while sliding
    double held_high;                   ///< largest friction force while sticking
    uint64_t hash;
} record;

static const double SPRING = 40.0, DRIVE = 0.5; // N/m, m/s: w = 6.3/s, D = 0.049 m, D w/V = 0.62

static record drive_slider(int dim, double h, double time, uint64_t seed)
{
    talus_world* world = friction_world(dim, seed);
    talus_grain_def slider = slider_def(dim, 0, 0, 0);
    int64_t id = physics_add(world, &slider);
    talus_error error;
    const double zero[3] = {0, 0, 0};
    record out = {.friction_low = INFINITY};
    int last = TALUS_CONTACT_STICK;
    const int steps = (int)(time / h);
    for (int i = 0; i < steps; i++) {
        // The spring's force at the start of the step makes the step the symplectic Euler scheme.
        double force[3] = {SPRING * (DRIVE * i * h - grain_x(world, id, 0)), 0, 0};
        check_ok(talus_world_set_grain_force(world, id, force, zero, &error), error);
        physics_step(world, h);
        int now = contact_state_of(world, -1, id);
        int64_t c = find_contact(world, -1, id);
        assert_true(now != TALUS_CONTACT_OPEN && c >= 0);
        double friction = fabs(talus_world_contacts(world).force[c * dim]);
        out.changes += now != last;
        if (now == TALUS_CONTACT_SLIDE && last == TALUS_CONTACT_STICK && out.slips < MAX_EVENTS) {
            out.loose_time[out.slips] = i * h;
            out.loose_force[out.slips] = force[0];
        }
        if (now == TALUS_CONTACT_STICK && last == TALUS_CONTACT_SLIDE && out.slips < MAX_EVENTS) {
            out.stick_time[out.slips] = i * h;
            out.stick_force[out.slips++] = force[0];
        }
        if (now == TALUS_CONTACT_SLIDE) {
            out.friction_low = fmin(out.friction_low, friction);
            out.friction_high = fmax(out.friction_high, friction);
        } else {
            out.held_high = fmax(out.held_high, friction);
        }
        last = now;
    }
    out.hash = talus_world_hash(world);
    talus_world_destroy(world);
    return out;
}

static void driven_slider_sticks_and_slips(void** state)
{
    (void)state;
    const double w = sqrt(SPRING), D = (MU_S - MU_D) * G / SPRING;
    const double slip = 2.0 / w * (M_PI - atan(D * w / DRIVE)), period = 2.0 * D / DRIVE + slip;
    for (int dim = 2; dim <= 3; dim++) {
        for (double h = 2e-3; h > 0.4e-3; h *= 0.5) {
            record r = drive_slider(dim, h, 6.5 * period, 1);
            const double swing = SPRING * (2.0 * DRIVE + D * w) * h; // force, per step of h
            const double late = 2.0 * h;
            printf("%dD, h = %g: %d slips, %d changes of state\n", dim, h, r.slips, r.changes);
            assert_in_range(r.slips, 5, 7);
            assert_in_range(r.changes - 2 * r.slips, 0, 1); // the last slip may be cut off
            for (int i = 0; i < r.slips; i++) {
                check_close("breaks loose at mu_s N", r.loose_force[i], MU_S * G + 0.5 * swing,
                            0.5 * swing, "the first step in which the force exceeds the bound");
                check_close("sticks again at (2 mu_d - mu_s) N", r.stick_force[i],
                            (2.0 * MU_D - MU_S) * G, swing, "one step of the spring's swing");
                check_close("duration of the slip", r.stick_time[i] - r.loose_time[i], slip, late,
                            "each end is seen within a step");
                if (i == 0) continue;
                check_close("period", r.loose_time[i] - r.loose_time[i - 1], period, late,
                            "each end is seen within a step");
            }
            const double rounding = 1e-12 * G + 16.0 * DBL_EPSILON * R / (h * h);
            check_close("least friction while sliding", r.friction_low, MU_D * G, rounding,
                        "solver, rounding of the gap over h^2");
            check_close("largest friction while sliding", r.friction_high, MU_D * G, rounding,
                        "solver, rounding of the gap over h^2");
            check_below("largest friction while sticking", r.held_high, MU_S * G + rounding,
                        "solver, rounding of the gap over h^2");
            check_below("static friction is used up to", MU_S * G - r.held_high, swing,
                        "one step of the spring's swing");
        }
    }
}

static void stick_slip_is_deterministic(void** state)
{
    (void)state;
    record first = drive_slider(3, 1e-3, 3.0, 1), again = drive_slider(3, 1e-3, 3.0, 1);
    record seed = drive_slider(3, 1e-3, 3.0, 2);
    assert_true(first.hash == again.hash);
    assert_true(first.hash == seed.hash); // one contact: no order to choose
    assert_memory_equal(&first, &again, sizeof first);
}

// ---- many contacts -----------------------------------------------------------------------------

/// 1e-13 is below what the sums of many contacts can be told to, and takes too many sweeps.
static void set_tolerance(talus_world* world, double tolerance)
{
    talus_error error;
    talus_solver_def solver = talus_world_options(world)->solver;
    solver.tolerance = tolerance;
    check_ok(talus_world_set_solver(world, &solver, &error), error);
}

enum { ROW = 12 };

/// A row of touching sliders pushed at one end. How it shares the force among its contacts with the
/// floor is not determined; some are at their bound long before the row moves. It must hold up to
/// the sum of all static bounds, then all break loose within one step.
static void row_holds_to_the_sum_of_its_bounds(void** state)
{
    (void)state;
    const double pushes[] = {0.35, 0.45, 0.499, 0.501, 0.55}, tolerances[] = {1e-10, 1e-6, 1e-4};
    const int n = 20;
    for (int i = 0; i < 15; i++) {
        const double push = pushes[i % 5], tolerance = tolerances[i / 5];
        for (int dim = 2; dim <= 3; dim++) {
            talus_world* world = friction_world(dim, (uint64_t)i);
            set_tolerance(world, tolerance);
            int64_t id[ROW];
            for (int k = 0; k < ROW; k++) {
                talus_grain_def def = slider_def(dim, 2 * R * k, k ? 0 : push * ROW * G, 0);
                id[k] = physics_add(world, &def);
            }
            int sliding = 0;
            for (int step = 0; step < n; step++) assert_true(physics_step(world, H).converged);
            for (int k = 0; k < ROW; k++) {
                sliding += contact_state_of(world, -1, id[k]) == TALUS_CONTACT_SLIDE;
            }
            const bool moves = push > MU_S;
            // A push of 0.002 of the weight beyond the bound moves the row by less than 1e-4 can
            // tell: it then breaks loose within the first steps, not in the first.
            double late = tolerance == 1e-4 && push == 0.501 ? 10.0 * MU_S * G * H : 0.0;
            check_close("speed of the row", grain_v(world, id[ROW / 2], 0),
                        moves ? (push - MU_D) * G * n * H : 0.0,
                        ROW * ROW * tolerance * 2.0 * G * H * (moves ? n : 1) + late,
                        "tolerance (L/d)^2 of the impulse in each step");
            assert_int_equal(sliding, moves ? ROW : 0);
            talus_world_destroy(world);
        }
    }
}

/// A settled packing whose gravity turns at once: many contacts break loose within that step.
static uint64_t avalanche(int dim, bool check)
{
    talus_world* world = empty_world(dim, 3);
    set_tolerance(world, 1e-4);
    physics_container(world, dim, 1.0, 8.0);
    dice d = {7};
    physics_fill(world, dim, test_count(80, 60), 0.9, R, 0.2, &d);
    physics_steps(world, 5e-3, 200);
    talus_contacts before = talus_world_contacts(world);
    int resting = 0;
    for (int64_t c = 0; c < before.count; c++) resting += before.state[c] == TALUS_CONTACT_STICK;
    talus_error error;
    double gravity[3] = {0, 0, 0};
    gravity[0] = G * sin(0.8), gravity[dim - 1] = -G * cos(0.8);
    check_ok(talus_world_set_gravity(world, gravity, &error), error);
    talus_step_result result = physics_step(world, 5e-3);
    talus_contacts after = talus_world_contacts(world);
    int sliding = 0;
    double worst = 0.0;
    for (int64_t c = 0; c < after.count; c++) {
        double fn = 0.0, ff = 0.0;
        for (int k = 0; k < dim; k++) {
            fn += after.force[c * dim + k] * after.normal[c * dim + k];
            ff += after.force[c * dim + k] * after.force[c * dim + k];
        }
        double ft = sqrt(fmax(0.0, ff - fn * fn));
        sliding += after.state[c] == TALUS_CONTACT_SLIDE;
        if (after.state[c] == TALUS_CONTACT_SLIDE) worst = fmax(worst, fabs(ft - MU_D * fn));
        if (after.state[c] == TALUS_CONTACT_STICK) worst = fmax(worst, ft - MU_S * fn);
    }
    if (check) {
        printf("%dD: %d contacts stuck, then %d slide, after %lld sweeps\n", dim, resting, sliding,
               (long long)result.sweeps);
        assert_true(result.converged);
        assert_true(sliding >= 10);
        check_below("distance from both friction bounds, N", worst,
                    1e-9 * physics_total_mass(world) * G,
                    "states are told apart at 1e-9 of a bound; no force exceeds the total weight");
    }
    uint64_t hash = talus_world_hash(world);
    talus_world_destroy(world);
    return hash;
}

static void many_contacts_break_loose_in_one_step(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) assert_true(avalanche(dim, true) == avalanche(dim, false));
}

/// Also with a fixed number of sweeps, the papers' rule, a slider breaks loose and goes on with the
/// dynamic coefficient in the same step: it is decided after half of the sweeps.
static void fixed_sweeps_break_loose_too(void** state)
{
    (void)state;
    const int n = 100;
    talus_world* world = friction_world(3, 1);
    talus_error error;
    talus_solver_def solver = talus_world_options(world)->solver;
    solver.stop = TALUS_STOP_SWEEPS, solver.max_sweeps = 10;
    check_ok(talus_world_set_solver(world, &solver, &error), error);
    talus_grain_def def = slider_def(3, 0, 0.6 * G, 0);
    int64_t id = physics_add(world, &def);
    physics_steps(world, H, n);
    check_close("speed: 0.3 g from the first step on", grain_v(world, id, 0), 0.3 * n * G * H,
                noise(n), "constant forces are exact in this scheme");
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slider_breaks_loose_at_the_static_bound),
        cmocka_unit_test(slider_sticks_again_and_holds),
        cmocka_unit_test(incline_has_both_coefficients),
        cmocka_unit_test(driven_slider_sticks_and_slips),
        cmocka_unit_test(stick_slip_is_deterministic),
        cmocka_unit_test(row_holds_to_the_sum_of_its_bounds),
        cmocka_unit_test(many_contacts_break_loose_in_one_step),
        cmocka_unit_test(fixed_sweeps_break_loose_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

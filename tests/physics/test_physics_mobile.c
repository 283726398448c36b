/// Mobile walls: pistons, servos, and walls whose contacts couple normal and tangent (full blocks).
///
/// The expected values come from Newton's or Lagrange's equations written down here by hand, or
/// from checking the contact law itself on the outcome of a step; never from the engine's own block
/// solver.
#include "physics.h"

static const double G = 9.81;

/// Rounding of a gap of size x acts as a velocity x eps/h in each of n steps.
static double noise(int n, double h)
{
    return 16.0 * n * DBL_EPSILON / h;
}

/// A column of grains under a heavy, damped piston with a force on it.
static void piston_on_a_column_balances(void** state)
{
    (void)state;
    enum { N = 8 };
    const double r = 0.1, m = 0.5, M = 2.0, F = 7.0, h = 1e-3;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.4, 0, -G, 0);
        talus_wall_id floor_wall = physics_plane(world, "floor", 0, 1, 0);
        int64_t id[N];
        for (int i = 0; i < N; i++) {
            talus_grain_def def = physics_ball(r, m, 0, r + 2 * r * i, 0);
            id[i] = physics_add(world, &def);
        }
        talus_wall_def def = physics_plane_def("piston", 0, -1, 0);
        def.position[1] = 2 * r * N;
        def.drive.kind = TALUS_DRIVE_FORCE;
        def.drive.free_axes[1] = true;
        def.drive.mass = M;
        def.drive.weight = true;
        def.drive.damping = 3.0;
        def.drive.force[1] = -F;
        talus_wall_id piston = physics_wall(world, &def);
        for (int step = 0; step < 10; step++) {
            talus_step_result result = physics_step(world, h);
            assert_true(result.converged);
            const double load = F + M * G, total = load + N * m * G;
            const double tolerance = result.residual * N * N * total + N * N * noise(1, h) / h;
            const char* why = "residual (L/d)^2, rounding of gaps over h^2";
            check_close("force on the piston", wall_force(world, piston, 1), load, tolerance, why);
            check_close("force on the floor", wall_force(world, floor_wall, 1), -total, tolerance,
                        why);
            check_close("middle of the column", contact_normal_force(world, id[3], id[4]),
                        load + 4 * m * G, tolerance, why);
            check_close("piston at rest", wall_state(world, piston).velocity[1], 0.0,
                        h * tolerance / m, why);
            check_close("applied force", wall_state(world, piston).applied[1], -F, 0.0, "exact");
        }
        talus_world_destroy(world);
    }
}

/// A piston meets a grain after a gap; both go on together and press on nothing.
static void piston_picks_a_grain_up(void** state)
{
    (void)state;
    const double r = 0.1, m = 0.5, M = 1.5, F = 4.0, h = 1e-3;
    const int n = 300;
    talus_world* world = physics_world_g(3, 0.0, 0, 0, 0);
    talus_wall_def def = physics_plane_def("ram", 1, 0, 0);
    def.drive.kind = TALUS_DRIVE_FORCE;
    def.drive.free_axes[0] = true;
    def.drive.mass = M;
    def.drive.force[0] = F;
    talus_wall_id ram = physics_wall(world, &def);
    talus_grain_def ball = physics_ball(r, m, r + 0.02, 0, 0);
    int64_t id = physics_add(world, &ball);
    physics_steps(world, h, n);
    const double v = F * n * h / (M + m);
    check_close("momentum F t shared", grain_v(world, id, 0), v, noise(n, h), "roundoff");
    check_close("ram as fast", wall_state(world, ram).velocity[0], v, noise(n, h), "roundoff");
    check_close("contact force F m/(M + m)", wall_force(world, ram, 0), -F * m / (M + m),
                noise(n, h) / h, "roundoff of velocities over h");
    double momentum[3];
    talus_measure_momentum(world, momentum);
    check_close("measured momentum", momentum[0], F * n * h, noise(n, 1.0), "roundoff");
    talus_world_destroy(world);
}

/// One grain carries a servo wall while the side walls that span its area move apart.
static void servo_holds_the_stress(void** state)
{
    (void)state;
    const double r = 0.1, stress = 50.0, h = 1e-3, apart = 0.8;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.2, 0, 0, 0);
        talus_wall_id base = physics_plane(world, "base", 0, 1, 0);
        talus_wall_id left = physics_plane_at(world, "left", 1, 0, 0, -0.5, 0, 0);
        talus_wall_def def = physics_plane_def("right", -1, 0, 0);
        def.position[0] = 0.5;
        def.drive.kind = TALUS_DRIVE_VELOCITY;
        def.drive.velocity[0] = apart;
        talus_wall_id right = physics_wall(world, &def);
        talus_wall_id back = TALUS_NO_WALL, front = TALUS_NO_WALL;
        if (dim == 3) {
            back = physics_plane_at(world, "back", 0, 0, 1, 0, 0, -0.3);
            front = physics_plane_at(world, "front", 0, 0, -1, 0, 0, 0.4);
        }
        talus_wall_def lid = physics_plane_def("lid", 0, -1, 0);
        lid.position[1] = 2 * r;
        lid.drive.kind = TALUS_DRIVE_SERVO;
        lid.drive.servo_axis[1] = -1.0;
        lid.drive.stress = stress;
        lid.drive.mass = 0.4;
        lid.drive.span_count = dim - 1;
        lid.drive.span_wall[0][0] = left, lid.drive.span_wall[0][1] = right;
        lid.drive.span_wall[1][0] = back, lid.drive.span_wall[1][1] = front;
        talus_wall_id top = physics_wall(world, &lid);
        talus_grain_def ball = physics_ball(r, 1.0, 0, r, 0);
        physics_add(world, &ball);
        for (int i = 0; i < 100; i++) {
            physics_step(world, h);
            double area = (1.0 + apart * i * h) * (dim == 3 ? 0.7 : 1.0); // at the step's start
            check_close("servo force", wall_force(world, top, 1), stress * area,
                        noise(1, h) / h + noise(i + 1, 1.0) * stress, "rounding of gaps over h^2");
        }
        check_close("base feels it", wall_force(world, base, 1), -wall_force(world, top, 1),
                    noise(1, h) / h, "the same");
        talus_world_destroy(world);
    }
}

/// A servo without a grain in its way: free acceleration stress * area / mass, damped.
static void servo_moves_freely(void** state)
{
    (void)state;
    const double h = 1e-3, mass = 2.0, damping = 5.0, push = 3.0 * 1.5;
    const int n = 1000;
    talus_world* world = physics_world_g(2, 0, 0, 0, 0);
    talus_wall_def lid = physics_plane_def("lid", 0, -1, 0);
    lid.position[1] = 1e3;
    lid.drive.kind = TALUS_DRIVE_SERVO;
    lid.drive.servo_axis[0] = 0.6, lid.drive.servo_axis[1] = -0.8;
    lid.drive.stress = 3.0;
    lid.drive.area = 1.5;
    lid.drive.mass = mass;
    lid.drive.damping = damping;
    talus_wall_id top = physics_wall(world, &lid);
    physics_steps(world, h, n);
    const double v = push / damping * (1 - pow(1 + h * damping / mass, -n));
    check_close("along the axis", wall_state(world, top).velocity[0], 0.6 * v, noise(n, 1),
                "roundoff");
    check_close("along the axis", wall_state(world, top).velocity[1], -0.8 * v, noise(n, 1),
                "implicit Euler with damping, exact formula; roundoff");
    talus_world_destroy(world);
}

/// A free grain runs into a grain glued to a mobile wall: a perfectly inelastic impact with the
/// wall.
static void glued_grain_passes_impulses_to_a_mobile_wall(void** state)
{
    (void)state;
    const double r = 0.1, m = 0.5, M = 2.0, v = 1.4, h = 1e-3;
    for (int glued_first = 0; glued_first <= 1; glued_first++) {
        talus_world* world = physics_world_g(3, 0.0, 0, 0, 0);
        talus_wall_def def = physics_plane_def("cart", 1, 0, 0);
        def.drive.kind = TALUS_DRIVE_FORCE;
        def.drive.free_axes[0] = true;
        def.drive.mass = M;
        talus_wall_id cart = physics_wall(world, &def);
        talus_grain_def bump = physics_ball(r, 9.0, r, 0, 0),
                        ball = physics_ball(r, m, 3 * r, 0, 0);
        bump.glued_to = cart;
        ball.velocity[0] = -v;
        int64_t id, bump_id;
        if (glued_first) bump_id = physics_add(world, &bump);
        id = physics_add(world, &ball);
        if (!glued_first) bump_id = physics_add(world, &bump);
        physics_step(world, h);
        const double common = -v * m / (m + M);
        check_close("common velocity, grain", grain_v(world, id, 0), common, noise(1, h),
                    "roundoff");
        check_close("common velocity, cart", wall_state(world, cart).velocity[0], common,
                    noise(1, h), "roundoff");
        check_close("common velocity, bump", grain_v(world, bump_id, 0), common, noise(1, h),
                    "roundoff");
        check_close("impulse on the cart", wall_force(world, cart, 0) * h, M * common, noise(1, h),
                    "roundoff");
        talus_world_destroy(world);
    }
}

/// A grain on a wedge that is free along x. X: wedge; s: way down the slope at angle theta; beta =
/// I/mr^2.
///   (M + m) X'' + m cos s'' = 0,   (1 + beta) m s'' + m cos X'' = m g sin        rolling
///   m (X'' + s'' cos) = N (sin - mu cos), M X'' = -N (sin - mu cos),
///   m s'' sin = m g - N (cos + mu sin)                                           sliding
static void grain_on_a_movable_wedge(void** state)
{
    (void)state;
    const double theta = 0.6, m = 1.5, M = 2.5, r = 0.1, h = 1e-3, s = sin(theta), c = cos(theta);
    const int n = 200;
    for (int dim = 2; dim <= 3; dim++) {
        for (int kind = 0; kind < 3; kind++) { // smooth; sliding with friction; rolling
            const double mu = kind == 0 ? 0.0 : kind == 1 ? 0.15 : 0.9;
            talus_world* world = physics_world_g(dim, mu, 0, -G, 0);
            talus_wall_def def = physics_plane_def("wedge", s, c, 0);
            def.drive.kind = TALUS_DRIVE_FORCE;
            def.drive.free_axes[0] = true;
            def.drive.mass = M;
            talus_wall_id wedge = physics_wall(world, &def);
            talus_grain_def ball = physics_ball(r, m, r * s, r * c, 0);
            ball.locked_rotation = kind == 1;
            int64_t id = physics_add(world, &ball);
            physics_steps(world, h, n);
            double A, a; // accelerations of the wedge and along the slope
            if (kind == 2) {
                const double inertia = 1 + 1 / roll_kappa(dim);
                a = G * s / (inertia - m * c * c / (M + m));
                A = -m * c * a / (M + m);
            } else {
                // X'' = -N q/M and s'' = (N q/m + N q/M)/c go into the third equation.
                const double q = s - mu * c, p = c + mu * s;
                const double N = G / ((q / m + q / M) * s / c + p / m);
                a = (N * q / m + N * q / M) / c;
                A = -N * q / M;
            }
            const double t = n * h;
            check_close("wedge", wall_state(world, wedge).velocity[0], A * t, noise(n, h),
                        "constant acceleration, n h A; roundoff of gaps over h");
            check_close("grain x", grain_v(world, id, 0), (A + a * c) * t, noise(n, h), "the same");
            check_close("grain y", grain_v(world, id, 1), -a * s * t, noise(n, h), "the same");
            double spin = kind == 2 ? -a * t / r : 0.0;
            if (kind > 0) {
                check_close("spin", r * grain_w(world, id, 2), r * spin, noise(n, h), "the same");
            }
            talus_world_destroy(world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(piston_on_a_column_balances),
        cmocka_unit_test(piston_picks_a_grain_up),
        cmocka_unit_test(servo_holds_the_stress),
        cmocka_unit_test(servo_moves_freely),
        cmocka_unit_test(glued_grain_passes_impulses_to_a_mobile_wall),
        cmocka_unit_test(grain_on_a_movable_wedge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

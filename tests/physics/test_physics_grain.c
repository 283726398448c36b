/// One grain against formulas: falling, sliding, sticking, rolling, drag, applied force and torque.
///
/// The step is implicit Euler, v' = v + h a(v'), x' = x + h v'. Where the acceleration is constant
/// its solution is a closed formula of the step number, so most checks here are to roundoff against
/// the exact discrete solution; the distance to the textbook formula is then first order in h with
/// a size that is computed, not guessed.
#include "physics.h"

static const double G = 9.81;

/// Roundoff of n additions to a number of this size.
static double roundoff(int n, double size)
{
    return 4.0 * n * DBL_EPSILON * fabs(size);
}

static void free_fall(void** state)
{
    (void)state;
    const double h = 1e-3, g[3] = {1.5, -2.5, -9.0}, v0[3] = {0.5, 3.0, -1.0};
    const int n = 1000;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.0, g[0], g[1], g[2]);
        talus_grain_def def = physics_ball(0.1, 2.0, 1.0, 2.0, 3.0);
        memcpy(def.velocity, v0, sizeof v0);
        int64_t id = physics_add(world, &def);
        physics_steps(world, h, n);
        for (int k = 0; k < dim; k++) {
            double x = def.position[k] + n * h * v0[k] + g[k] * h * h * 0.5 * n * (n + 1);
            double t = n * h, exact = def.position[k] + t * v0[k] + 0.5 * g[k] * t * t;
            check_close("fall velocity", grain_v(world, id, k), v0[k] + n * h * g[k],
                        roundoff(n, 10.0), "roundoff of n additions");
            check_close("fall position", grain_x(world, id, k), x, roundoff(n, 10.0),
                        "exact discrete formula, roundoff of n additions");
            check_close("fall against g t^2/2", grain_x(world, id, k), exact,
                        0.5 * fabs(g[k]) * t * h + roundoff(n, 10.0),
                        "implicit Euler is ahead by g t h/2");
        }
        talus_world_destroy(world);
    }
}

static double slide_distance(int dim, double mu, double v0, double h)
{
    talus_world* world = physics_world_g(dim, mu, 0.0, -G, 0.0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def def = physics_ball(0.5, 3.0, 0.0, 0.5, 0.0);
    def.velocity[0] = v0;
    def.locked_rotation = true;
    int64_t id = physics_add(world, &def);
    int steps = (int)(v0 / (mu * G * h)) + 5;
    physics_steps(world, h, steps);
    check_close("stopped", grain_v(world, id, 0), 0.0, DBL_EPSILON * v0,
                "a sticking contact stops to roundoff");
    double distance = grain_x(world, id, 0);
    talus_world_destroy(world);
    return distance;
}

/// v falls by mu g h a step, the last step stops it: x = h (K v0 - mu g h K(K+1)/2), K full steps.
static void sliding_stop_distance(void** state)
{
    (void)state;
    const double mu = 0.3, v0 = 2.0;
    for (int dim = 2; dim <= 3; dim++) {
        double error[2];
        for (int half = 0; half < 2; half++) {
            const double h = half ? 5e-4 : 1e-3, a = mu * G * h, K = floor(v0 / a);
            double x = slide_distance(dim, mu, v0, h), textbook = v0 * v0 / (2 * mu * G);
            check_close("stop distance", x, h * (K * v0 - a * K * (K + 1) / 2),
                        roundoff((int)K, 1.0), "exact discrete formula, roundoff of K additions");
            check_close("stop distance v0^2/(2 mu g)", x, textbook, 0.5 * v0 * h,
                        "implicit Euler stops short by at most v0 h/2");
            error[half] = textbook - x;
        }
        check_close(
            "order of convergence", log2(error[0] / error[1]), 1.0, 0.01,
            "first order; the rest of the error is a (f^2 - f) h/2 with 0 <= f < 1, below 0.3 %");
    }
}

/// A locked grain for n steps on an incline; returns its speed down the slope. With `tilt_wall` the
/// plane is inclined and gravity vertical, else the plane is level and gravity inclined.
static double incline_speed(int dim, double theta, double mu, bool locked, bool tilt_wall, double h,
                            int n, double* surface_speed)
{
    const double s = sin(theta), c = cos(theta), r = 0.5;
    talus_world* world = tilt_wall ? physics_world_g(dim, mu, 0.0, -G, 0.0)
                                   : physics_world_g(dim, mu, G * s, -G * c, 0.0);
    const double nx = tilt_wall ? s : 0.0, ny = tilt_wall ? c : 1.0;
    physics_plane(world, "slope", nx, ny, 0);
    talus_grain_def def = physics_ball(r, 2.0, r * nx, r * ny, 0.0);
    def.locked_rotation = locked;
    int64_t id = physics_add(world, &def);
    physics_steps(world, h, n);
    double speed = grain_v(world, id, 0) * ny - grain_v(world, id, 1) * nx;
    // Rolling down along +x means turning with a negative spin.
    if (surface_speed) *surface_speed = speed + r * grain_w(world, id, 2);
    talus_world_destroy(world);
    return speed;
}

/// Noise of a velocity after n steps: additions, and the rounding of a gap that is felt as gap/h.
static double velocity_noise(int n, double h)
{
    return n * 4.0 * DBL_EPSILON * G * h + 32.0 * DBL_EPSILON / h;
}

static void incline_sticks_or_slides_at_mu(void** state)
{
    (void)state;
    const double mu = 0.5, h = 1e-3, off = 1e-6;
    const int n = 500;
    for (int dim = 2; dim <= 3; dim++) {
        for (int tilt = 0; tilt <= 1; tilt++) {
            double below = atan(mu * (1 - off)), above = atan(mu * (1 + off));
            double v = incline_speed(dim, below, mu, true, tilt, h, n, NULL);
            check_close(tilt ? "tan theta just below mu, wall" : "tan theta just below mu, gravity",
                        v, 0.0, velocity_noise(n, h), "roundoff of the gap felt as gap/h");
            v = incline_speed(dim, above, mu, true, tilt, h, n, NULL);
            double a = G * (sin(above) - mu * cos(above));
            check_close(tilt ? "tan theta just above mu, wall" : "tan theta just above mu, gravity",
                        v, n * h * a, velocity_noise(n, h), "n h a to roundoff");
            assert_true(n * h * a > 100 * velocity_noise(n, h)); // the two can be told apart
        }
    }
}

static void rolling_on_an_incline(void** state)
{
    (void)state;
    const double theta = 0.5, h = 1e-3, off = 1e-6;
    const int n = 500;
    for (int dim = 2; dim <= 3; dim++) {
        const double kappa = roll_kappa(dim), share = kappa / (1 + kappa); // 2/3 disk, 5/7 sphere
        const double mu_least = tan(theta) / (1 + kappa); // tan/3 disk, 2/7 tan sphere
        for (int tilt = 0; tilt <= 1; tilt++) {
            double slip,
                v = incline_speed(dim, theta, mu_least * (1 + off), false, tilt, h, n, &slip);
            check_close(dim == 2 ? "disk rolls with 2/3 g sin" : "sphere rolls with 5/7 g sin", v,
                        n * h * share * G * sin(theta), velocity_noise(n, h), "n h a to roundoff");
            check_close("no slip", slip, 0.0, velocity_noise(n, h), "roundoff");
            double mu = mu_least * (1 - off);
            v = incline_speed(dim, theta, mu, false, tilt, h, n, &slip);
            check_close("slides and rolls below the threshold", v,
                        n * h * G * (sin(theta) - mu * cos(theta)), velocity_noise(n, h),
                        "n h a to roundoff");
            double expected = n * h * G * (sin(theta) - (1 + kappa) * mu * cos(theta));
            check_close("slip below the threshold", slip, expected, 4 * velocity_noise(n, h),
                        "roundoff of speed and of 5/2 the spin");
            assert_true(expected > 100 * velocity_noise(n, h));
        }
    }
}

static void sliding_turns_into_rolling(void** state)
{
    (void)state;
    const double mu = 0.2, v0 = 3.0, h = 1e-3, r = 0.25;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, mu, 0.0, -G, 0.0);
        talus_wall_id floor_wall = physics_plane(world, "floor", 0, 1, 0);
        talus_grain_def def = physics_ball(r, 0.7, 0.0, r, 0.0);
        def.velocity[0] = v0;
        int64_t id = physics_add(world, &def);
        // t = 2 v0/(7 mu g) for a sphere, v0/(3 mu g) for a disk
        const double kappa = roll_kappa(dim), t = v0 / ((1 + kappa) * mu * G);
        int n = 0;
        do {
            physics_step(world, h);
            n++;
        } while (contact_state_of(world, -1 - floor_wall.index, id) == TALUS_CONTACT_SLIDE &&
                 n < 10000);
        check_close("first rolling step", n, ceil(t / h), 0.0,
                    "slip loses (1+kappa) mu g h a step; the step that would reverse it sticks");
        check_close(dim == 2 ? "rolls with 2/3 v0" : "rolls with 5/7 v0", grain_v(world, id, 0),
                    v0 * kappa / (1 + kappa), roundoff(n, v0), "roundoff of n additions");
        check_close("v + R omega = 0", grain_v(world, id, 0) + r * grain_w(world, id, 2), 0.0,
                    roundoff(n, v0), "roundoff");
        physics_steps(world, h, 100);
        check_close("keeps rolling", grain_v(world, id, 0), v0 * kappa / (1 + kappa),
                    roundoff(n + 100, v0), "no rolling resistance; roundoff");
        talus_world_destroy(world);
    }
}

/// v' = (v + h g)/(1 + h c/m) gives v_n = v_inf (1 - (1 + h c/m)^-n) with v_inf = m g/c.
static void drag_reaches_terminal_velocity(void** state)
{
    (void)state;
    const double drag = 1.6, mass = 0.4, h = 1e-3;
    const int n = 500;
    talus_world_def def = physics_def(3);
    def.drag = drag;
    def.gravity[2] = -G;
    talus_world* world = physics_world(&def, 0.0);
    talus_grain_def ball = physics_ball(0.1, mass, 0, 0, 0);
    int64_t id = physics_add(world, &ball);
    const double v_inf = -mass * G / drag;
    physics_steps(world, h, n);
    check_close("on the way to terminal velocity", grain_v(world, id, 2),
                v_inf * (1 - pow(1 + h * drag / mass, -n)), roundoff(n, v_inf),
                "exact discrete formula; roundoff");
    check_close("against 1 - exp(-c t/m)", grain_v(world, id, 2),
                v_inf * (1 - exp(-drag * n * h / mass)),
                fabs(v_inf) * 0.5 * n * pow(h * drag / mass, 2) * exp(-drag * n * h / mass) * 1.01,
                "implicit Euler: n (h c/m)^2/2 exp(-c t/m), first order; 1 % for the second order");
    physics_steps(world, h, 20 * n);
    check_close(
        "terminal velocity m g/c", grain_v(world, id, 2), v_inf, roundoff(1000, v_inf),
        "the rest decayed to e^-42; roundoff at the fixed point is amplified by m/(c h) = 250");
    talus_world_destroy(world);
}

static void applied_force_and_torque(void** state)
{
    (void)state;
    const double h = 1e-3, force[3] = {1.0, -2.0, 3.0}, torque[3] = {0.3, -0.1, 0.2};
    const double mass = 0.8, r = 0.2;
    const int n = 300;
    talus_error error;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        talus_grain_def def = physics_ball(r, mass, 0, 0, 0);
        memcpy(def.external_force, force, sizeof force);
        memcpy(def.external_torque, torque, sizeof torque);
        int64_t id = physics_add(world, &def);
        const double inertia = mass * r * r / roll_kappa(dim);
        physics_steps(world, h, n);
        for (int k = 0; k < dim; k++) {
            check_close("v = F t/m", grain_v(world, id, k), force[k] / mass * n * h,
                        roundoff(n, 2.0), "roundoff");
        }
        for (int k = dim == 2 ? 2 : 0; k < 3; k++) {
            check_close("omega = T t/I", grain_w(world, id, k), torque[k] / inertia * n * h,
                        roundoff(n, 10.0), "roundoff");
        }
        double none[3] = {0, 0, 0}, before = grain_v(world, id, 1);
        check_ok(talus_world_set_grain_force(world, id, none, none, &error), error);
        physics_steps(world, h, n);
        check_close("no force, no change", grain_v(world, id, 1), before, 0.0, "exact");
        talus_world_destroy(world);
    }
}

/// A constant spin turns the grain by exactly omega t: the angle in 2D, the quaternion in 3D.
static void rotation_is_exact(void** state)
{
    (void)state;
    const double h = 1e-2, spin[3] = {2.0, -1.0, 2.0}, rate = 3.0;
    const int n = 400;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.0, 0, 0, 0);
        talus_grain_def def = physics_ball(0.2, 1.0, 0, 0, 0);
        memcpy(def.spin, spin, sizeof spin);
        physics_add(world, &def);
        physics_steps(world, h, n);
        const double* q = talus_world_grains(world).rotation;
        double half = 0.5 * rate * n * h;
        if (dim == 2) {
            check_close("angle", q[0], spin[2] * n * h, roundoff(n, 10.0), "roundoff");
        } else {
            double sign = q[0] * cos(half) < 0 ? -1.0 : 1.0;
            check_close("quaternion w", sign * q[0], cos(half), roundoff(n, 1.0), "roundoff");
            for (int k = 0; k < 3; k++) {
                check_close("quaternion xyz", sign * q[1 + k], sin(half) * spin[k] / rate,
                            roundoff(n, 1.0), "roundoff");
            }
        }
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall),
        cmocka_unit_test(sliding_stop_distance),
        cmocka_unit_test(incline_sticks_or_slides_at_mu),
        cmocka_unit_test(rolling_on_an_incline),
        cmocka_unit_test(sliding_turns_into_rolling),
        cmocka_unit_test(drag_reaches_terminal_velocity),
        cmocka_unit_test(applied_force_and_torque),
        cmocka_unit_test(rotation_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

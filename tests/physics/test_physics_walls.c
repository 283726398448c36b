/// Driven walls and glued grains: what moves the wall moves the grain, by the right amount.
#include "physics.h"

static const double G = 9.81;

static double noise(int n, double size)
{
    return 8.0 * n * DBL_EPSILON * size;
}

/// A grain starts at rest near the bottom of a rough turning drum. It is spun up, rocks about the
/// lowest point until drag has calmed it, and rolls on the spot: its surface moves with the drum's.
static void drum_spins_a_grain_up(void** state)
{
    (void)state;
    const double R = 1.0, r = 0.1, omega = 0.8, h = 0.01, mass = 0.5, drag = 0.5;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world_def options = physics_def(dim);
        options.gravity[1] = -G;
        options.drag = drag;
        talus_world* world = physics_world(&options, 0.6);
        talus_wall_def drum = talus_wall_default();
        drum.name = "drum";
        drum.shape.kind = TALUS_SHAPE_CYLINDER;
        drum.shape.inside = true;
        drum.shape.axis[2] = 1.0;
        drum.shape.radius = R;
        drum.drive.kind = TALUS_DRIVE_VELOCITY;
        drum.drive.spin[2] = omega;
        talus_wall_id wall = physics_wall(world, &drum);
        talus_grain_def def = physics_ball(r, mass, 0, -(R - r), 0);
        int64_t id = physics_add(world, &def);
        // Rolling without slip, (1 + 1/kappa) m v' = -m g x/(R - r) - c v: damped at the rate
        // c/m kappa/(1 + kappa)/2. The normal is that of the step's start, which adds no damping.
        const double kappa = roll_kappa(dim), rate = 0.5 * drag / mass * kappa / (1 + kappa);
        physics_steps(world, h, (int)(16.0 / (rate * h))); // amplitude e^-16
        int64_t c = find_contact(world, -1 - wall.index, id);
        assert_true(c >= 0);
        const double* point = talus_world_contacts(world).point + c * dim;
        const double arm = hypot(point[0], point[1]);
        check_close(
            "drum: surface speed", r * grain_w(world, id, 2), omega * arm, 10 * exp(-16.0),
            "rocking, at most 1 m/s at first, has decayed to e^-16 by drag; 10 for its start");
        check_close("drum: contact on the wall", arm, R, 0.05,
                    "overlap grown while rocking, amplitude^2/(2R) with amplitude below 0.3");
        check_close("drum: grain stands still", grain_v(world, id, 0), 0.0, 10 * exp(-16.0),
                    "the same");
        check_close("drum: at the bottom", grain_x(world, id, 0), 0.0, 10 * exp(-16.0), "the same");
        check_close("drum: wall carries the weight", wall_force(world, wall, 1), -mass * G,
                    mass * G * 10 * exp(-16.0), "the same");
        talus_world_destroy(world);
    }
}

/// A grain that does not turn is carried up to the angle tan phi = mu, where the sliding wall holds
/// it.
static void drum_holds_a_sliding_grain_at_the_friction_angle(void** state)
{
    (void)state;
    const double R = 1.0, r = 0.1, mu = 0.4, h = 1e-3, mass = 0.5, phi = atan(mu);
    talus_world* world = physics_world_g(2, mu, 0, -G, 0);
    talus_wall_def drum = talus_wall_default();
    drum.name = "drum";
    drum.shape.kind = TALUS_SHAPE_CYLINDER;
    drum.shape.inside = true;
    drum.shape.radius = R;
    drum.drive.kind = TALUS_DRIVE_VELOCITY;
    drum.drive.spin[2] = 3.0; // the bottom moves to +x
    talus_wall_id wall = physics_wall(world, &drum);
    talus_grain_def def = physics_ball(r, mass, (R - r) * sin(phi), -(R - r) * cos(phi), 0);
    def.locked_rotation = true;
    int64_t id = physics_add(world, &def);
    physics_steps(world, h, 200);
    // Rounding of the gap is felt as eps/h; 200 such kicks add up at most linearly.
    check_close("held at tan phi = mu: vx", grain_v(world, id, 0), 0.0, noise(200, 1 / h),
                "roundoff");
    check_close("held at tan phi = mu: vy", grain_v(world, id, 1), 0.0, noise(200, 1 / h),
                "roundoff");
    check_close("weight on the drum", wall_force(world, wall, 1), -mass * G,
                mass * noise(200, 1 / h) / h, "roundoff of velocities over h");
    check_close("torque on the drum", wall_state(world, wall).torque[2],
                -mu * mass * G * cos(phi) * R, mass * noise(200, 1 / h) / h, "mu N R; the same");
    talus_world_destroy(world);
}

/// Follow a base that moves as A sin(2 pi f t); returns the step at which the grain first leaves
/// it.
static int ride_base(double gamma, double f, double h, int n)
{
    const double w = 2 * M_PI * f, A = gamma * G / (w * w), r = 0.05;
    talus_world* world = physics_world_g(2, 0.3, 0, -G, 0);
    talus_wall_def base = physics_plane_def("base", 0, 1, 0);
    base.drive.kind = TALUS_DRIVE_SINE;
    base.drive.amplitude[1] = A;
    base.drive.frequency = f;
    talus_wall_id wall = physics_wall(world, &base);
    talus_grain_def def = physics_ball(r, 1.3, 0, r, 0);
    int64_t id = physics_add(world, &def);
    double worst_base = 0, worst_grain = 0;
    int left = -1;
    for (int i = 1; i <= n; i++) {
        physics_step(world, h);
        double curve = A * sin(w * i * h);
        if (left < 0 && contact_state_of(world, -1 - wall.index, id) == TALUS_CONTACT_OPEN)
            left = i;
        worst_base = fmax(worst_base, fabs(wall_state(world, wall).position[1] - curve));
        if (left < 0) worst_grain = fmax(worst_grain, fabs(grain_x(world, id, 1) - r - curve));
    }
    check_close("base on its sine", worst_base, 0.0, noise(n, A), "secants telescope; roundoff");
    check_close("grain on the sine", worst_grain, 0.0, noise(n, r), "carried; roundoff");
    talus_world_destroy(world);
    return left;
}

static void vibrating_base_carries_and_throws(void** state)
{
    (void)state;
    const double f = 10.0, h = 1e-4, w = 2 * M_PI * f;
    check_close("gamma 0.95 never throws", ride_base(0.95, f, h, 2000), -1, 0.0,
                "largest acceleration 0.95 g; exact");
    // The contact opens in the step whose secant is slower than the last one by more than g h.
    const double gamma = 1.5, A = gamma * G / (w * w);
    int step = 1;
    double before = 0.0; // the base starts from rest as far as the grain knows
    for (;; step++) {
        double secant = A * (sin(w * step * h) - sin(w * (step - 1) * h)) / h;
        if (secant < before - G * h) break;
        before = secant;
    }
    check_close("gamma 1.5 throws at the right step", ride_base(gamma, f, h, 900), step, 0.0,
                "exact");
    check_close(
        "take-off at sin(w t) = 1/gamma", (step - 1.5) * h, asin(1 / gamma) / w, 0.5 * h,
        "the change of secants is the acceleration one step ago; the step is a whole number");
}

static void conveyor_takes_a_grain_along(void** state)
{
    (void)state;
    const double V = 1.5, mu = 0.35, h = 1e-3, r = 0.2;
    for (int dim = 2; dim <= 3; dim++) {
        for (int locked = 0; locked <= 1; locked++) {
            talus_world* world = physics_world_g(dim, mu, 0, -G, 0);
            talus_wall_def belt = physics_plane_def("belt", 0, 1, 0);
            belt.drive.kind = TALUS_DRIVE_VELOCITY;
            belt.drive.velocity[0] = V;
            talus_wall_id wall = physics_wall(world, &belt);
            talus_grain_def def = physics_ball(r, 1.0, 0, r, 0);
            def.locked_rotation = locked;
            int64_t id = physics_add(world, &def);
            // Slip V is used up at (1 + kappa) mu g, kappa = 0 when the grain cannot turn.
            const double kappa = locked ? 0.0 : roll_kappa(dim);
            const int last = (int)floor(V / ((1 + kappa) * mu * G * h));
            physics_steps(world, h, last);
            check_close("belt drags with mu g", grain_v(world, id, 0), last * mu * G * h,
                        noise(last, 1), "roundoff");
            check_close("friction on the belt", wall_force(world, wall, 0), -mu * G, noise(10, G),
                        "mu m g; roundoff");
            physics_steps(world, h, 20);
            check_close("final speed V/(1 + kappa)", grain_v(world, id, 0), V / (1 + kappa),
                        noise(last, 1), "roundoff");
            talus_world_destroy(world);
        }
    }
}

/// A tabulated velocity: 0 to 2 m/s in 0.1 s, held 0.1 s, back to 0 in 0.1 s: 0.4 m in all.
static void tabulated_wall_pushes_a_grain(void** state)
{
    (void)state;
    const double table[4][7] = {{0.0, 0}, {0.1, 2.0}, {0.2, 2.0}, {0.3, 0}}, h = 7e-4, r = 0.1;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    talus_wall_def ram = physics_plane_def("ram", 1, 0, 0);
    ram.drive.kind = TALUS_DRIVE_TABLE;
    ram.drive.table = &table[0][0];
    ram.drive.table_rows = 4;
    talus_wall_id wall = physics_wall(world, &ram);
    talus_grain_def def = physics_ball(r, 1.0, r, 0, 0);
    int64_t id = physics_add(world, &def);
    physics_steps(world, h, 500);
    check_close("ram's way", wall_state(world, wall).position[0], 0.4, noise(500, 1),
                "the table is integrated exactly; roundoff");
    check_close("grain keeps the top speed", grain_v(world, id, 0), 2.0, noise(500, 1 / h),
                "pushed to 2 m/s, then flies on; roundoff of gaps over h");
    talus_world_destroy(world);
}

/// A free grain on a grain that is glued to a fixed wall.
static void glued_grain_carries_force_to_a_fixed_wall(void** state)
{
    (void)state;
    const double r = 0.1, mass = 0.7, h = 1e-3;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.5, 0, -G, 0);
        talus_wall_id wall = physics_plane_at(world, "floor", 0, 1, 0, -1, 0, 0);
        talus_grain_def bump = physics_ball(r, 1.0, 0.5, r, 0);
        bump.glued_to = wall;
        talus_grain_def top = physics_ball(r, mass, 0.5, 3 * r, 0);
        int64_t glued = physics_add(world, &bump), id = physics_add(world, &top);
        physics_steps(world, h, 20);
        check_close("weight through the bump", wall_force(world, wall, 1), -mass * G,
                    mass * noise(20, 1 / h) / h, "roundoff of gaps over h^2");
        check_close("torque about the wall's origin", wall_state(world, wall).torque[2],
                    -mass * G * 1.5, 2 * mass * noise(20, 1 / h) / h, "arm 1.5 m; the same");
        check_close("bump stays", grain_x(world, glued, 0), 0.5, 0.0, "exact");
        check_close("top rests", grain_v(world, id, 1), 0.0, noise(20, 1 / h), "roundoff");
        talus_world_destroy(world);
    }
}

/// A turning wall sweeps a glued grain round; the glued grain knocks a free one away.
static void glued_grain_moves_with_a_driven_wall(void** state)
{
    (void)state;
    const double r = 0.1, omega = 2.0, arm = 1.0, h = 1e-3;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    talus_wall_def rotor = talus_wall_default();
    rotor.name = "rotor";
    rotor.shape.kind = TALUS_SHAPE_SEGMENT;
    rotor.shape.edge_u[0] = 0.2;
    rotor.drive.kind = TALUS_DRIVE_VELOCITY;
    rotor.drive.spin[2] = omega;
    talus_wall_id wall = physics_wall(world, &rotor);
    talus_grain_def bump = physics_ball(r, 1.0, arm, 0, 0);
    bump.glued_to = wall;
    int64_t glued = physics_add(world, &bump);
    talus_grain_def target = physics_ball(r, 1.0, arm, 2 * r, 0); // ahead of the bump, touching
    int64_t id = physics_add(world, &target);
    physics_step(world, h);
    // The bump's velocity at the start of the step is omega arm along y.
    check_close("knocked at the rim's speed", grain_v(world, id, 1), omega * arm, noise(1, 1 / h),
                "roundoff of the gap over h");
    check_close("reaction torque", wall_state(world, wall).torque[2], -arm * omega * arm / h,
                noise(10, 1 / h) / h, "m v arm/h; roundoff");
    physics_steps(world, h, 499);
    double angle = omega * h * 500;
    check_close("glued grain on its circle: x", grain_x(world, glued, 0), arm * cos(angle),
                noise(500, 1), "exact rotation; roundoff");
    check_close("glued grain on its circle: y", grain_x(world, glued, 1), arm * sin(angle),
                noise(500, 1), "exact rotation; roundoff");
    talus_world_destroy(world);
}

/// A rough glued grain on a turning wall carries spin too: its surface drags a free grain.
static void glued_grain_carries_the_walls_spin(void** state)
{
    (void)state;
    const double r = 0.25, omega = 2.0, h = 1e-3, force = 10.0;
    talus_world* world = physics_world_g(2, 0.5, 0, -force, 0);
    talus_wall_def rotor = talus_wall_default();
    rotor.name = "rotor";
    rotor.shape.kind = TALUS_SHAPE_SEGMENT;
    rotor.shape.edge_u[0] = 0.01;
    rotor.drive.kind = TALUS_DRIVE_VELOCITY;
    rotor.drive.spin[2] = omega;
    talus_wall_id wall = physics_wall(world, &rotor);
    talus_grain_def hub = physics_ball(r, 1.0, 0, 0, 0); // turns about its own centre
    hub.glued_to = wall;
    physics_add(world, &hub);
    talus_grain_def rider = physics_ball(r, 1.0, 0, 2 * r, 0);
    int64_t id = physics_add(world, &rider);
    physics_step(world, h);
    // The hub's top moves with -omega r; slip -omega r needs 0.167 m/s > mu g h: it slides.
    check_close("rider pulled to -x", grain_v(world, id, 0), -0.5 * force * h, noise(1, 1),
                "mu g h; roundoff");
    check_close("rider turned", r * grain_w(world, id, 2), -2 * 0.5 * force * h, noise(1, 1),
                "kappa mu g h; roundoff");
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drum_spins_a_grain_up),
        cmocka_unit_test(drum_holds_a_sliding_grain_at_the_friction_angle),
        cmocka_unit_test(vibrating_base_carries_and_throws),
        cmocka_unit_test(conveyor_takes_a_grain_along),
        cmocka_unit_test(tabulated_wall_pushes_a_grain),
        cmocka_unit_test(glued_grain_carries_force_to_a_fixed_wall),
        cmocka_unit_test(glued_grain_moves_with_a_driven_wall),
        cmocka_unit_test(glued_grain_carries_the_walls_spin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

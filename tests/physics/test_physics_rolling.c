/// Rolling and torsion friction through the public interface.
///
/// A sphere or disk with rolling length l rests on an incline up to tan = l/R and rolls beyond it
/// with (g sin - g cos l/R)/(1 + I/mR^2); constant forces give velocities that are exact at the
/// ends of the steps. The three ways to give the coefficient, and every kind of body to roll on:
/// fixed, driven and turning walls, a fixed sphere, a mobile wall (full block), another grain.
#include "physics.h"

#include "record/record.h"
#include "rolling_model.h"

#include <unistd.h>

static const double G = 9.81, H = 1e-3, R = 0.1, M = 0.5;

/// I/mR^2 of a disk or sphere.
static double gyration(int dim)
{
    return 1.0 / roll_kappa(dim);
}

/// Velocity that the solver (1e-13 of the weight's impulse) and rounding of gaps make in n steps.
static double noise(int n)
{
    return n * (1e-12 * G * H + 16.0 * DBL_EPSILON * R / H);
}
#define NOISE "constant forces are exact in this scheme; solver and rounding"

static talus_pair_def rolling_pair(talus_rolling_kind kind, double rolling, double torsion)
{
    talus_pair_def pair = talus_pair_default();
    pair.friction = 1.0;
    pair.rolling_kind = kind;
    pair.rolling = rolling;
    pair.torsion = torsion;
    return pair;
}

/// A world whose gravity is inclined by `angle`, down along +x.
static talus_world* slope_world(int dim, double angle, const talus_pair_def* pair)
{
    talus_world_def def = physics_def(dim);
    def.gravity[0] = G * sin(angle), def.gravity[dim - 1] = -G * cos(angle);
    return physics_world_pair(&def, pair);
}

static talus_grain_def ball_on_plane(int dim)
{
    return physics_ball(R, M, 0, dim == 2 ? R : 0, dim == 3 ? R : 0);
}

/// Spin of a ball that rolls along +x without slipping at v: about +y, in 2D about -z.
static double rolling_spin(const talus_world* world, int64_t id)
{
    return talus_world_grains(world).dim == 2 ? -grain_w(world, id, 0) : grain_w(world, id, 1);
}

static double rolling_acceleration(int dim, double angle, double length)
{
    double a = (G * sin(angle) - G * cos(angle) * length / R) / (1.0 + gyration(dim));
    return a > 0.0 ? a : 0.0;
}

/// Coefficient of this kind whose bound is length * N for a reduced radius and a force N.
static double coefficient_of(int dim, talus_rolling_kind kind, double length, double star, double N)
{
    if (kind == TALUS_ROLLING_LENGTH) return length;
    if (kind == TALUS_ROLLING_RADIUS) return length / star;
    return length / (dim == 2 ? sqrt(star * N) : cbrt(star * N));
}

// ---- inclines ----------------------------------------------------------------------------------

static void incline_with_every_kind_of_coefficient(void** state)
{
    (void)state;
    const double length = 0.2 * R, factors[] = {0.9, 0.999, 1.001, 1.1, 2.0};
    const int n = 300;
    for (int i = 0; i < 30; i++) {
        const int dim = 2 + i % 2, kind = i / 2 % 3;
        const double angle = atan(length / R) * factors[i / 6];
        double k = coefficient_of(dim, (talus_rolling_kind)kind, length, R, M * G * cos(angle));
        talus_pair_def pair = rolling_pair((talus_rolling_kind)kind, k, 0.0);
        talus_world* world = slope_world(dim, angle, &pair);
        physics_plane(world, "slope", 0, dim == 2, dim == 3);
        talus_grain_def def = ball_on_plane(dim);
        int64_t id = physics_add(world, &def);
        physics_steps(world, H, n);
        const double v = rolling_acceleration(dim, angle, length) * n * H;
        printf("%s, kind %d, %g of the threshold\n", dim_name(dim), kind, factors[i / 6]);
        check_close("speed", grain_v(world, id, 0), v, noise(n), NOISE);
        check_close("spin", rolling_spin(world, id), v / R, noise(n) / R, NOISE);
        talus_contacts c = talus_world_contacts(world);
        double torque = dim == 2 ? c.torque[0] : -c.torque[1]; // against the spin
        double held = fmin(tan(angle) * R, length) * M * G * cos(angle);
        check_close("recorded torque", torque, held, M * R * noise(1) / H, NOISE);
        talus_world_destroy(world);
    }
}

/// The same on a wall that moves at a constant velocity: only relative motion counts.
static void incline_that_travels(void** state)
{
    (void)state;
    const double length = 0.2 * R, drift = 0.7;
    const int n = 200;
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        const double angle = atan(length / R) * (i < 2 ? 0.999 : 1.001);
        talus_pair_def pair = rolling_pair(TALUS_ROLLING_LENGTH, length, 0.0);
        talus_world* world = slope_world(dim, angle, &pair);
        talus_wall_def belt = physics_plane_def("belt", 0, dim == 2, dim == 3);
        belt.drive.kind = TALUS_DRIVE_VELOCITY;
        belt.drive.velocity[0] = drift;
        physics_wall(world, &belt);
        talus_grain_def def = ball_on_plane(dim);
        def.velocity[0] = drift;
        int64_t id = physics_add(world, &def);
        physics_steps(world, H, n);
        const double v = rolling_acceleration(dim, angle, length) * n * H;
        check_close("speed on the belt", grain_v(world, id, 0) - drift, v, noise(n), NOISE);
        check_close("spin", rolling_spin(world, id), v / R, noise(n) / R, NOISE);
        talus_world_destroy(world);
    }
}

/// On top of a large fixed sphere the slope is the angle from the vertical; r* is that of the pair.
static void ball_on_a_fixed_sphere(void** state)
{
    (void)state;
    const double big = 0.7, star = big * R / (big + R), length = 0.2 * R;
    for (int i = 0; i < 12; i++) {
        const int dim = 2 + i % 2, kind = i / 2 % 3;
        const bool above = i >= 6;
        const double angle = atan(length / R) * (above ? 1.01 : 0.99);
        double k = coefficient_of(dim, (talus_rolling_kind)kind, length, star, M * G * cos(angle));
        talus_pair_def pair = rolling_pair((talus_rolling_kind)kind, k, 0.0);
        talus_world* world = slope_world(dim, angle, &pair);
        talus_grain_def base = physics_ball(big, 1.0, 0, 0, 0);
        base.fixed = true;
        physics_add(world, &base);
        double x[3] = {0, 0, 0};
        x[dim - 1] = big + R;
        talus_grain_def def = physics_ball(R, M, x[0], x[1], x[2]);
        int64_t id = physics_add(world, &def);
        physics_steps(world, H, above ? 1 : 200);
        const double v = above ? rolling_acceleration(dim, angle, length) * H : 0.0;
        check_close("speed (beyond the threshold: of the first step)", grain_v(world, id, 0), v,
                    noise(200), NOISE);
        check_close("spin", rolling_spin(world, id), v / R, noise(200) / R, NOISE);
        talus_world_destroy(world);
    }
}

/// A floor that begins to turn about a level axis under the ball: the relative spin counts. The
/// torque l N h sets the ball rolling, or, for a large l, the ball takes on the floor's spin.
static void wall_that_turns_sets_a_ball_rolling(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        const double spin = 0.05, length = i < 2 ? 0.02 * R : 10.0 * R;
        talus_pair_def pair = rolling_pair(TALUS_ROLLING_LENGTH, length, 0.0);
        talus_world* world = slope_world(dim, 0.0, &pair);
        talus_wall_def wall = physics_plane_def("floor", 0, dim == 2, dim == 3);
        wall.drive.kind = TALUS_DRIVE_VELOCITY;
        if (dim == 2) wall.drive.spin[2] = -spin;
        if (dim == 3) wall.drive.spin[1] = spin;
        physics_wall(world, &wall);
        talus_grain_def def = ball_on_plane(dim);
        int64_t id = physics_add(world, &def);
        physics_step(world, H);
        // The floor turns away from under the ball, whose centre would be R cos(spin H) above it:
        // it is pushed out of the way, by R spin^2 H^2/2.
        const double weight = M * (G + 0.5 * R * spin * spin);
        const double reached = length * weight * H / (M * R * R * (1.0 + gyration(dim)));
        const double w = fmin(spin, reached);
        assert_true((i < 2) == (reached < spin));
        check_close("spin after a step", rolling_spin(world, id), w, noise(1) / R, NOISE);
        check_close("speed after a step", grain_v(world, id, 0), w * R, noise(1), NOISE);
        talus_world_destroy(world);
    }
}

/// Gauss elimination with row exchange, for the equations of motion of the next test.
static void solve_linear(int n, double a[6][7], double* x)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++) best = fabs(a[r][c]) > fabs(a[best][c]) ? r : best;
        for (int k = 0; k <= n; k++) {
            double swap = a[c][k];
            a[c][k] = a[best][k], a[best][k] = swap;
        }
        for (int r = 0; r < n; r++) {
            double s = r == c ? 0.0 : a[r][c] / a[c][c];
            for (int k = 0; k <= n; k++) a[r][k] -= s * a[c][k];
        }
    }
    for (int r = 0; r < n; r++) x[r] = a[r][n] / a[r][r];
}

/// A ball on a wedge that is free to slide along x: normal, friction and rolling all couple.
/// Newton's equations for (a_x, a_y, A, R alpha, N, f): m a = N n + f t + m g, wedge A: m_w A =
/// -(N n + f t).x, no slip and no penetration, and (I/R) alpha = -(f R - s l N)/R along the slope.
static void wedge_that_slides_away(void** state)
{
    (void)state;
    const double slope = 0.5, wedge_mass = 0.2;
    const int count = 100;
    for (int i = 0; i < 6; i++) {
        const int dim = 2 + i % 2, up = dim - 1;
        const double length = i / 2 == 0 ? 0.0 : i / 2 == 1 ? 0.1 * R : 10.0 * R;
        talus_pair_def pair = rolling_pair(TALUS_ROLLING_LENGTH, length, 0.0);
        pair.friction = 5.0;
        talus_world* world = slope_world(dim, 0.0, &pair);
        const double n[2] = {sin(slope), cos(slope)}, t[2] = {cos(slope), -sin(slope)};
        talus_wall_def wedge =
            physics_plane_def("wedge", n[0], dim == 2 ? n[1] : 0, dim == 3 ? n[1] : 0);
        wedge.drive.kind = TALUS_DRIVE_FORCE;
        wedge.drive.free_axes[0] = true;
        wedge.drive.mass = wedge_mass;
        talus_wall_id wall = physics_wall(world, &wedge);
        double x[3] = {R * n[0], 0, 0};
        x[up] = R * n[1];
        talus_grain_def def = physics_ball(R, M, x[0], x[1], x[2]);
        int64_t id = physics_add(world, &def);
        // Large l: the ball does not turn, which takes the place of the torque's equation.
        const bool locked = i / 2 == 2;
        double k = gyration(dim),
               e[6][7] = {{M, 0, 0, 0, -n[0], -t[0], 0},        {0, M, 0, 0, -n[1], -t[1], -M * G},
                          {0, 0, wedge_mass, 0, n[0], t[0], 0}, {t[0], t[1], -t[0], -1, 0, 0, 0},
                          {n[0], n[1], -n[0], 0, 0, 0, 0},      {0, 0, 0, k * M, length / R, 1, 0}};
        if (locked) e[5][3] = 1.0, e[5][4] = e[5][5] = 0.0;
        double a[6];
        solve_linear(6, e, a);
        assert_true(a[4] > 0.0 && a[3] >= -1e-12);
        physics_steps(world, H, count);
        const double tolerance = 10.0 * noise(count);
        printf("%s on a wedge, l = %g R\n", dim_name(dim), length / R);
        check_close("ball along x", grain_v(world, id, 0), a[0] * count * H, tolerance, NOISE);
        check_close("ball upwards", grain_v(world, id, up), a[1] * count * H, tolerance, NOISE);
        check_close("wedge", wall_state(world, wall).velocity[0], a[2] * count * H, tolerance,
                    NOISE);
        check_close("spin", rolling_spin(world, id) * R, a[3] * count * H, tolerance, NOISE);
        talus_world_destroy(world);
    }
}

// ---- torsion -----------------------------------------------------------------------------------

/// A spinning sphere slows down at 5 l g/(2 R^2) and then rests; on a turntable it is spun up.
static void sphere_spins_down(void** state)
{
    (void)state;
    const double length = 0.1 * R, rate = 5.0 * length * G / (2.0 * R * R);
    for (int kind = 0; kind < 3; kind++) {
        for (int turntable = 0; turntable <= 1; turntable++) {
            const double table = turntable ? -3.0 : 0.0, start = 20.0;
            double k = coefficient_of(3, (talus_rolling_kind)kind, length, R, M * G);
            talus_pair_def pair = rolling_pair((talus_rolling_kind)kind, 0.0, k);
            talus_world* world = slope_world(3, 0.0, &pair);
            talus_wall_def wall = physics_plane_def("table", 0, 0, 1);
            wall.drive.kind = TALUS_DRIVE_VELOCITY;
            wall.drive.spin[2] = table;
            physics_wall(world, &wall);
            talus_grain_def def = ball_on_plane(3);
            def.spin[2] = start;
            int64_t id = physics_add(world, &def);
            const int n = (int)(start / (rate * H)) / 2, rest = (int)(25.0 / (rate * H));
            physics_steps(world, H, n);
            check_close("spin half way", grain_w(world, id, 2), start - rate * n * H, noise(n) / R,
                        NOISE);
            check_close("torque", talus_world_contacts(world).torque[2], -length * M * G,
                        M * R * noise(1) / H, NOISE);
            physics_steps(world, H, rest - n);
            check_close("spin of the table at the end", grain_w(world, id, 2), table, noise(1) / R,
                        NOISE);
            check_below("it has not moved", hypot(grain_v(world, id, 0), grain_v(world, id, 1)),
                        noise(rest), NOISE);
            talus_world_destroy(world);
        }
    }
}

// ---- two grains --------------------------------------------------------------------------------

static void random_vector(dice* d, int dim, double size, double* v)
{
    for (int k = 0; k < 3; k++) v[k] = k < dim ? size * (2.0 * dice_roll(d) - 1.0) : 0.0;
}

/// Unequal grains pressed together, sliding, rolling and spinning: one step against the dense solve
/// of the same six unknowns.
static void unequal_grains_follow_the_dense_solution(void** state)
{
    (void)state;
    dice d = {11};
    double worst = 0.0;
    for (int i = 0; i < test_count(600, 100); i++) {
        const int dim = 2 + i % 2, spin_dim = dim == 2 ? 1 : 3;
        const talus_rolling_kind kind = (talus_rolling_kind)(i / 2 % 3);
        talus_pair_def pair =
            rolling_pair(kind, 0.3 * dice_roll(&d) * dice_roll(&d), 0.1 * dice_roll(&d));
        pair.friction = dice_roll(&d);
        talus_world_def world_def = physics_def(dim);
        talus_world* world = physics_world_pair(&world_def, &pair);
        double n[3], x[3] = {0, 0, 0}, length;
        random_vector(&d, dim, 1.0, n);
        length = model_norm(n);
        for (int k = 0; k < 3; k++) n[k] /= length;
        model_body body[2];
        const double radius[2] = {0.1 + dice_roll(&d), 0.1 + dice_roll(&d)};
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 3; j++) x[j] = k * n[j] * (radius[0] + radius[1]);
            talus_grain_def def = physics_ball(radius[k], 0.2 + dice_roll(&d), x[0], x[1], x[2]);
            double spin[3];
            random_vector(&d, dim, 0.3, def.velocity);
            random_vector(&d, 3, 1.0, spin);
            if (dim == 2) spin[0] = spin[1] = 0.0;
            memcpy(def.spin, spin, sizeof spin);
            for (int j = 0; j < 3; j++) def.external_force[j] = (k ? -300.0 : 300.0) * n[j];
            int64_t row = talus_world_grain_index(world, physics_add(world, &def));
            body[k] = model_grain(dim, radius[k], def.mass, talus_world_grains(world).inertia[row]);
            memcpy(body[k].w, spin, sizeof spin);
            for (int j = 0; j < 3; j++)
                body[k].v[j] = def.velocity[j] + H * def.external_force[j] / def.mass;
        }
        model two = model_make(n, &body[0], &body[1]);
        model_law law = {.dim = dim,
                         .h = H,
                         .mu = pair.friction,
                         .kind = kind,
                         .rolling = pair.rolling,
                         .torsion = pair.torsion,
                         .reduced_radius = radius[0] * radius[1] / (radius[0] + radius[1])};
        double z[6];
        assert_true(model_solve(&two, &law, z));
        physics_step(world, H);
        talus_contacts c = talus_world_contacts(world);
        assert_int_equal(c.count, 1);
        model_scale scale = model_scales(&two, &law, z);
        for (int k = 0; k < dim; k++) {
            worst = fmax(worst, fabs(c.force[k] * H - z[k]) / scale.impulse);
        }
        for (int k = 0; k < spin_dim; k++) {
            double torque = dim == 2 ? z[5] : z[3 + k];
            worst = fmax(worst, fabs(c.torque[k] * H - torque) / (scale.impulse * scale.length));
        }
        talus_world_destroy(world);
    }
    check_below("difference of impulses from the dense solution", worst, 1e-10,
                "solver 1e-13; positions are rounded, which acts as a gap of 1e-16/h and turns the "
                "normal by 1e-16");
}

/// Momentum, angular momentum (2D: about z) and energy of all grains.
typedef struct motion_sum {
    double momentum[3], angular[3], energy;
} motion_sum;

static motion_sum sum_motion(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    motion_sum sum = {.energy = talus_world_last(world)->kinetic_energy};
    for (int64_t i = 0; i < g.count; i++) {
        double x[3] = {0, 0, 0}, v[3] = {0, 0, 0}, w[3] = {0, 0, 0}, orbit[3];
        for (int k = 0; k < g.dim; k++) {
            x[k] = g.position[i * g.dim + k];
            v[k] = g.velocity[i * g.dim + k];
        }
        for (int k = 0; k < g.spin_dim; k++) w[g.dim == 2 ? 2 : k] = g.spin[i * g.spin_dim + k];
        model_cross(orbit, x, v);
        for (int k = 0; k < 3; k++) {
            sum.momentum[k] += g.mass[i] * v[k];
            sum.angular[k] += g.mass[i] * orbit[k] + g.inertia[i] * w[k];
        }
    }
    return sum;
}

/// A pair that collides and goes on alone: contact torques are equal and opposite, so momentum and
/// angular momentum stay. Forces act at the two surfaces: a gap g turns the pair by g F_t h.
static void isolated_pair_keeps_its_angular_momentum(void** state)
{
    (void)state;
    dice d = {5};
    for (int i = 0; i < 40; i++) {
        const int dim = 2 + i % 2;
        talus_pair_def pair = rolling_pair((talus_rolling_kind)(i / 2 % 3), 0.05, 0.02);
        talus_world_def def = physics_def(dim);
        talus_world* world = physics_world_pair(&def, &pair);
        for (int k = 0; k < 2; k++) { // a distance of exactly the sum of the radii
            talus_grain_def ball = physics_ball(k ? 0.5 : 0.125, 1.0 + k, 0.625 * k, 0, 0);
            random_vector(&d, dim, 1.0, ball.velocity);
            ball.velocity[0] = k ? -1.0 : 1.0;
            random_vector(&d, 3, 5.0, ball.spin);
            physics_add(world, &ball);
        }
        motion_sum before = sum_motion(world);
        talus_grains g = talus_world_grains(world);
        before.energy = 0.0;
        for (int64_t k = 0; k < 2; k++) {
            for (int j = 0; j < g.dim; j++) {
                before.energy += 0.5 * g.mass[k] * pow(g.velocity[k * g.dim + j], 2);
            }
            for (int j = 0; j < g.spin_dim; j++) {
                before.energy += 0.5 * g.inertia[k] * pow(g.spin[k * g.spin_dim + j], 2);
            }
        }
        double allowed = 64.0 * DBL_EPSILON * 10.0;
        for (int step = 0; step < 20; step++) {
            physics_step(world, H);
            motion_sum after = sum_motion(world);
            talus_contacts c = talus_world_contacts(world);
            for (int64_t k = 0; k < c.count; k++) {
                double f = 0.0;
                for (int j = 0; j < dim; j++) f += c.force[k * dim + j] * c.force[k * dim + j];
                allowed += fabs(c.gap[k]) * sqrt(f) * H + 64.0 * DBL_EPSILON * 10.0;
            }
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(after.momentum[k] - before.momentum[k]) <= allowed);
                assert_true(fabs(after.angular[k] - before.angular[k]) <= allowed);
            }
            assert_true(after.energy <= before.energy * (1.0 + 64.0 * DBL_EPSILON));
            before.energy = after.energy;
        }
        if (i < 4) {
            check_below("angular momentum lost",
                        fabs(sum_motion(world).angular[2] - before.angular[2]), 1e-10,
                        "rounding of terms of size 10, gaps of 1e-16");
        }
        talus_world_destroy(world);
    }
}

/// A gas of rolling, spinning, sliding spheres in a closed box: energy never grows.
static void energy_never_grows(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_pair_def pair = rolling_pair(TALUS_ROLLING_RADIUS, 0.2, 0.1);
        pair.friction = 0.4;
        talus_world_def def = physics_def(dim);
        def.solver.tolerance = 1e-8;
        talus_world* world = physics_world_pair(&def, &pair);
        physics_container(world, dim, 0.5, 4.0);
        dice d = {23};
        physics_fill(world, dim, test_count(120, 40), 0.45, 0.05, 0.3, &d);
        talus_editable_grains g = physics_edit(world);
        for (int64_t i = 0; i < g.count; i++) {
            for (int k = 0; k < dim; k++) g.velocity[i * dim + k] = 2.0 * dice_roll(&d) - 1.0;
            for (int k = 0; k < g.spin_dim; k++) {
                g.spin[i * g.spin_dim + k] = 40.0 * dice_roll(&d) - 20.0;
            }
        }
        double last = INFINITY, first = 0.0;
        for (int step = 0; step < 300; step++) {
            talus_step_result result = physics_step(world, 2e-3);
            if (step == 0) first = result.kinetic_energy;
            if (!(result.kinetic_energy <= last * (1.0 + 1e-6))) {
                check_below("energy after a step", result.kinetic_energy, last * (1.0 + 1e-6),
                            "the solver's tolerance, 100 fold");
            }
            last = result.kinetic_energy;
        }
        check_below("energy left", last, 0.9 * first, "it must dissipate: inelastic and rough");
        talus_world_destroy(world);
    }
}

// ---- heap --------------------------------------------------------------------------------------

typedef struct heap {
    double spread, height, energy; ///< rms distance from the axis, mean height, kinetic
} heap;

static heap measure_heap(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    heap out = {.energy = talus_world_last(world)->kinetic_energy};
    for (int64_t i = 0; i < g.count; i++) {
        const double* x = g.position + i * g.dim;
        out.spread += (x[0] * x[0] + (g.dim == 3 ? x[1] * x[1] : 0.0)) / (double)g.count;
        out.height += x[g.dim - 1] / (double)g.count;
    }
    out.spread = sqrt(out.spread);
    return out;
}

/// A cylinder of spheres on a smooth plane is let go: what is it soon after, and later?
static void collapse(double rolling, int count, heap* soon, heap* late)
{
    const double r = 0.05, h = 5e-3;
    talus_pair_def pair = rolling_pair(TALUS_ROLLING_LENGTH, rolling * r, rolling * r);
    pair.friction = 0.5;
    talus_world_def def = physics_def(3);
    def.gravity[2] = -G;
    def.solver.tolerance = 1e-4;
    def.solver.max_sweeps = 400;
    talus_world* world = physics_world_pair(&def, &pair);
    physics_plane(world, "plane", 0, 0, 1);
    talus_wall_def tube = talus_wall_default();
    tube.name = "tube";
    tube.shape.kind = TALUS_SHAPE_CYLINDER;
    tube.shape.inside = true;
    tube.shape.axis[2] = 1.0;
    tube.shape.radius = 0.45;
    talus_wall_id wall = physics_wall(world, &tube);
    dice d = {2};
    physics_fill(world, 3, count, 0.31, r, 0.1, &d);
    talus_editable_grains g = physics_edit(world);
    for (int64_t i = 0; i < 3 * g.count; i++) g.velocity[i] = 2.0 * dice_roll(&d) - 1.0;
    physics_steps(world, h, 80);
    talus_error error;
    check_ok(talus_world_remove_wall(world, wall, &error), error);
    physics_steps(world, h, 300); // 1.5 s: five times the time of fall from the top
    *soon = measure_heap(world);
    physics_steps(world, h, 100);
    *late = measure_heap(world);
    talus_world_destroy(world);
}

/// Zhou et al. (BUW 1.7): spheres form no heap on a smooth plane unless rolling is resisted.
static void heap_stands_only_with_rolling_friction(void** state)
{
    (void)state;
    const int count = test_count(150, 100);
    const double r = 0.05;
    heap soon, late, free_soon, free_late;
    collapse(0.3, count, &soon, &late);
    collapse(0.0, count, &free_soon, &free_late);
    printf("with: spread %g then %g, height %g then %g, energy %g\n", soon.spread, late.spread,
           soon.height, late.height, late.energy);
    printf("without: spread %g then %g, height %g then %g, energy %g\n", free_soon.spread,
           free_late.spread, free_soon.height, free_late.height, free_late.energy);
    check_close("with rolling friction the heap stays", late.spread, soon.spread, 0.1 * r,
                "at rest: no more than the creep of a solve to 1e-4");
    check_below("its energy, against the other's", late.energy, 1e-2 * free_late.energy,
                "a ball that rolls without resistance never stops; with it all have stopped");
    check_below("without it the heap still spreads", free_soon.spread + r, free_late.spread,
                "rolling balls go on: a radius in 0.5 s is a tenth of their speed");
    check_below("and it lies lower", free_late.height - r, 0.5 * (late.height - r),
                "most balls have left the heap and lie on the plane");
}

// ---- restart -----------------------------------------------------------------------------------

static talus_world* world_of_all_laws(int dim)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    def.solver.tolerance = 1e-6;
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.6, pair.dynamic_friction = 0.3, pair.restitution = 0.4,
    pair.tangential_restitution = 0.2, pair.rolling_kind = TALUS_ROLLING_HERTZ, pair.rolling = 0.02,
    pair.torsion = 0.01, pair.cohesion_force = 0.01, pair.cohesion_energy = 0.01 * 0.002;
    talus_world* world = physics_world_pair(&def, &pair);
    physics_container(world, dim, 0.5, 4.0);
    talus_wall_def lid = physics_plane_def("lid", 0, dim == 2 ? -1 : 0, dim == 3 ? -1 : 0);
    lid.position[dim - 1] = dim == 2 ? 2.5 : 1.0;
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.free_axes[dim - 1] = true;
    lid.drive.mass = 0.3;
    lid.drive.weight = true;
    physics_wall(world, &lid);
    dice d = {41};
    physics_fill(world, dim, 60, 0.45, 0.06, 0.3, &d);
    return world;
}

/// Checkpointed in the middle and read into a fresh world: the same bits at the end.
static void restart_gives_the_same_bits(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        char folder[] = "/tmp/talus-rolling-XXXXXX", path[64];
        assert_non_null(mkdtemp(folder));
        talus_world* through = world_of_all_laws(dim);
        talus_world* again = world_of_all_laws(dim);
        talus_error error;
        int bonds = 0, sliding = 0, turning = 0;
        for (int round = 0; round < 4; round++) {
            physics_steps(through, 2e-3, 60);
            talus_contacts c = talus_world_contacts(through);
            for (int64_t k = 0; k < c.count; k++) {
                bonds += c.bonded[k];
                sliding += c.state[k] == TALUS_CONTACT_SLIDE;
                turning += c.torque[k * (dim == 2 ? 1 : 3)] != 0.0;
            }
            check_ok(checkpoint_write(folder, through, CHECKPOINT_STATE, NULL, 0, &error), error);
            check_ok(checkpoint_read(folder, again, NULL, 0, NULL, &error), error);
            physics_steps(through, 2e-3, 30);
            physics_steps(again, 2e-3, 30);
            assert_true(talus_world_hash(through) == talus_world_hash(again));
        }
        printf("%dD: %d bonds, %d sliding, %d torques were carried over\n", dim, bonds, sliding,
               turning);
        assert_true(bonds > 0 && sliding > 0 && turning > 0);
        talus_world_destroy(through);
        talus_world_destroy(again);
        snprintf(path, sizeof path, "%s/checkpoint.h5", folder);
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof path, "%s/checkpoint.previous.h5", folder);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(folder), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incline_with_every_kind_of_coefficient),
        cmocka_unit_test(incline_that_travels),
        cmocka_unit_test(ball_on_a_fixed_sphere),
        cmocka_unit_test(wall_that_turns_sets_a_ball_rolling),
        cmocka_unit_test(wedge_that_slides_away),
        cmocka_unit_test(sphere_spins_down),
        cmocka_unit_test(unequal_grains_follow_the_dense_solution),
        cmocka_unit_test(isolated_pair_keeps_its_angular_momentum),
        cmocka_unit_test(energy_never_grows),
        cmocka_unit_test(heap_stands_only_with_rolling_friction),
        cmocka_unit_test(restart_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Restitution: Newton's law, normal and tangential, with Moreau's handling of contacts that
/// persist.
///
/// A grain that bounces does so at the step in which it would touch, up to v h early, with e times
/// the velocity before that step: single bounces are right to first order in h. Bounces shorter
/// than a step are passed, and the grain then rests. What is left of its velocity is rounding:
/// positions of size x are known to ulp(x), so gaps are, and a gap that closes in a step is a
/// velocity ulp(x)/h.
#include "physics.h"

static const double GRAVITY = 9.81;

static talus_pair_def bounce_pair(double mu, double e, double tangential)
{
    talus_pair_def pair = talus_pair_default();
    pair.friction = mu;
    pair.restitution = e;
    pair.tangential_restitution = tangential;
    return pair;
}

static talus_world* bounce_world(int dim, const talus_pair_def* pair, double gravity)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -gravity;
    return physics_world_pair(&def, pair);
}

// ---- a ball on the floor -----------------------------------------------------------------------

/// A ball of radius 0.1 at the height h0 above a plane, or above the pole of a fixed ball.
static talus_world* drop(int dim, bool on_ball, double e, double h0, int64_t* id)
{
    const talus_pair_def pair = bounce_pair(0.0, e, 0.0);
    talus_world* world = bounce_world(dim, &pair, GRAVITY);
    if (on_ball) {
        talus_grain_def base = physics_ball(1.0, 1.0, 0, 0, 0);
        base.position[dim - 1] = -1.0;
        base.fixed = true;
        physics_add(world, &base);
    } else {
        physics_plane(world, "floor", 0, dim == 2, dim == 3);
    }
    talus_grain_def ball = physics_ball(0.1, 1.0, 0, 0, 0);
    ball.position[dim - 1] = 0.1 + h0;
    *id = physics_add(world, &ball);
    return world;
}

static void bounce_heights(void** state)
{
    (void)state;
    const double h = 1e-4, h0 = 1.0, speed = sqrt(2 * GRAVITY * h0),
                 coefficients[3] = {0.5, 0.8, 1.0};
    for (int variant = 0; variant < 12; variant++) {
        const int dim = 2 + variant % 2;
        const double e = coefficients[variant / 4];
        int64_t ball;
        talus_world* world = drop(dim, variant / 2 % 2, e, h0, &ball);
        double last = 0.0;
        for (int n = 1; n <= 5;) {
            physics_step(world, h);
            double v = grain_v(world, ball, dim - 1);
            if (v <= 0.0 && last > 0.0) {
                check_close("height of a bounce", grain_x(world, ball, dim - 1) - 0.1,
                            pow(e, 2 * n) * h0, n * speed * h,
                            "each bounce is early by at most the way v h of a step");
                n++;
            }
            last = v;
        }
        talus_world_destroy(world);
    }
}

/// Infinitely many bounces end after sqrt(2 h0/g) (1 + e)/(1 - e).
static void zeno_time_is_passed(void** state)
{
    (void)state;
    const double h = 2e-4, h0 = 0.5;
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < 2; k++) {
            const double e = k == 0 ? 0.5 : 0.8, fall = sqrt(2 * h0 / GRAVITY);
            const double zeno = fall * (1 + e) / (1 - e), floor_speed = 8 * DBL_EPSILON * 0.1 / h;
            int64_t ball;
            talus_world* world = drop(dim, false, e, h0, &ball);
            double rest = 0.0, worst = 0.0;
            const int steps = (int)lround(2 * zeno / h);
            for (int i = 0; i < steps; i++) {
                talus_step_result result = physics_step(world, h);
                assert_true(result.converged && result.sweeps <= 4);
                if (fabs(grain_v(world, ball, dim - 1)) > 2 * GRAVITY * h) rest = result.time;
                worst = fmax(worst, result.overlap_max);
            }
            const double bounces = log(GRAVITY * fall / (GRAVITY * h)) / log(1 / e);
            printf(
                "     e %g: at rest after %.5f s, Zeno %.5f s, %.0f bounces longer than a step\n",
                e, rest, zeno, bounces);
            check_close("comes to rest", rest, zeno, 2 * bounces * h,
                        "two steps for each bounce that is longer than a step");
            check_below("velocity at rest", fabs(grain_v(world, ball, dim - 1)), floor_speed,
                        "ulp(x)/h: the gap is known to ulp(x)");
            check_close("height at rest", grain_x(world, ball, dim - 1), 0.1, 1e-15, "rounding");
            check_below("overlap", worst, 1e-15, "none but rounding");
            check_close("weight", contact_normal_force(world, -1, ball), GRAVITY,
                        4 * DBL_EPSILON * 0.1 / (h * h), "m ulp(x)/h^2: rounding of the gap");
            talus_world_destroy(world);
        }
    }
}

// ---- collisions --------------------------------------------------------------------------------

/// Newton's cradle: a ball hits two that touch, or nearly. The blow goes from ball to ball, so that
/// for e = 1 the last one leaves with all of the velocity. With e = 0.5 the first one catches up
/// with the second. Several at once, long steps and a reference:
/// tests/physics/test_physics_impacts.c.
static void cradle_of_three(void** state)
{
    (void)state;
    const double r = 0.1, v = 1.0, h = 1e-3, gaps[3] = {0.0, 1e-4, 0.01};
    for (int k = 0; k < 6; k++) {
        const double e = k % 2 == 0 ? 1.0 : 0.5;
        const talus_pair_def pair = bounce_pair(0.0, e, 0.0);
        talus_world* world = bounce_world(2, &pair, 0.0);
        for (int i = 0; i < 3; i++) {
            const double beside[3] = {-0.0105, 0.0, gaps[k / 2]};
            talus_grain_def ball = physics_ball(r, 1.0, 2 * r * i + beside[i], 0, 0);
            ball.velocity[0] = i == 0 ? v : 0.0;
            physics_add(world, &ball);
        }
        physics_steps(world, h, 400);
        const double one = 0.5 * (1 + e);
        double sequence[3] = {v * (1 - one), v * one * (1 - one), v * one * one};
        if (e < 1.0) {
            const double p = 0.5 * (1 + e) * (sequence[0] - sequence[1]);
            sequence[0] -= p, sequence[1] += p;
        }
        printf("     e %g, gap %g: velocities %.6f %.6f %.6f\n", e, gaps[k / 2],
               grain_v(world, 0, 0), grain_v(world, 1, 0), grain_v(world, 2, 0));
        for (int i = 0; i < 3; i++) {
            check_close("velocity", grain_v(world, i, 0), sequence[i], 1e-11,
                        "Newton's law; positions rounded over h");
        }
        talus_world_destroy(world);
    }
}

/// A ball that hits the plane y = 0 (z = 0), touching it, with slip and spin.
typedef struct oblique {
    int dim;
    double mu, e, tangential, vn, vt, spin;
} oblique;

static talus_world* hit_wall(const oblique* o, double h)
{
    const talus_pair_def pair = bounce_pair(o->mu, o->e, o->tangential);
    talus_world* world = bounce_world(o->dim, &pair, 0.0);
    physics_plane(world, "floor", 0, o->dim == 2, o->dim == 3);
    talus_grain_def ball = physics_ball(0.1, 1.0, 0, 0, 0);
    ball.position[o->dim - 1] = 0.1;
    ball.velocity[0] = o->vt;
    ball.velocity[o->dim - 1] = -o->vn;
    ball.spin[o->dim == 2 ? 2 : 1] = o->dim == 2 ? o->spin : -o->spin; // same sense in x and up
    physics_add(world, &ball);
    physics_step(world, h);
    return world;
}

/// Slip u = vt + R w; sticking gives -e_t u: the impulse m_t (1 + e_t) u with m_t = m/(1 + kappa),
/// unless that is more than mu m (1 + e) vn.
static void tangential_restitution_on_a_wall(void** state)
{
    (void)state;
    for (int variant = 0; variant < 24; variant++) {
        const oblique o = {.dim = 2 + variant % 2,
                           .mu = variant / 2 % 2 ? 5.0 : 0.1,
                           .e = 0.6,
                           .tangential = variant / 4 % 3 * 0.5,
                           .vn = 1.5,
                           .vt = 2.0,
                           .spin = variant / 12 ? -35.0 : 4.0};
        const double kappa = roll_kappa(o.dim), slip = o.vt + 0.1 * o.spin;
        double impulse = (1 + o.tangential) * slip / (1 + kappa);
        const double bound = o.mu * (1 + o.e) * o.vn;
        if (fabs(impulse) > bound) impulse = copysign(bound, impulse);
        talus_world* world = hit_wall(&o, 1e-3);
        const double sign = o.dim == 2 ? 1.0 : -1.0, noise = 1e-13;
        const char* why = "rounding of positions over h";
        check_close("up", grain_v(world, 0, o.dim - 1), o.e * o.vn, noise, why);
        check_close("along", grain_v(world, 0, 0), o.vt - impulse, noise, why);
        check_close("spin", sign * grain_w(world, 0, 1), o.spin - kappa * impulse / 0.1, 10 * noise,
                    why);
        talus_world_destroy(world);
    }
}

/// Relative gain of energy when two balls with these sizes, or a ball and the floor (ratio 0), hit
/// each other at an angle with random spins.
static double oblique_gain(int dim, double ratio, double angle, const talus_pair_def* pair, dice* d)
{
    const double r = 0.1, across = 0.1 * (ratio > 0 ? ratio : 1.0);
    talus_world* world = bounce_world(dim, pair, 0.0);
    if (ratio == 0.0) physics_plane(world, "plate", 1, 0, 0);
    for (int i = ratio > 0.0 ? 0 : 1; i < 2; i++) {
        talus_grain_def ball = physics_ball(i ? r : across, 0, i ? r : -across, 0, 0);
        ball.density = 1.0;
        if (i == 1) ball.velocity[0] = -cos(angle), ball.velocity[1] = sin(angle);
        for (int k = 0; k < 3; k++)
            ball.spin[k] = (dim == 3 || k == 2) ? 40 * dice_roll(d) - 20 : 0;
        physics_add(world, &ball);
    }
    const double before = physics_kinetic_energy(world);
    physics_step(world, 1e-3);
    const double after = physics_kinetic_energy(world);
    talus_world_destroy(world);
    return after / before - 1.0;
}

static double worst_gain(double rolling, double largest_tangential)
{
    const double friction[4] = {0.0, 0.1, 0.5, 10.0}, ratios[4] = {0.0, 0.3, 1.0, 4.0};
    dice d = {7};
    double worst = -1.0;
    const int angles = test_count(15, 4);
    for (int dim = 2; dim <= 3; dim++) {
        for (int variant = 0; variant < 4 * 4 * 9; variant++) {
            talus_pair_def pair = bounce_pair(friction[variant / 4 % 4], variant / 16 % 3 * 0.5,
                                              variant / 48 * 0.5 * largest_tangential);
            pair.rolling = pair.torsion = rolling;
            for (int i = 0; i < angles; i++) {
                const double angle = (i + 0.5) / angles * 0.5 * M_PI;
                worst = fmax(worst, oblique_gain(dim, ratios[variant % 4], angle, &pair, &d));
            }
        }
    }
    return worst;
}

/// Balls gain no energy: normal and tangential impulses do not mix, and each takes energy away,
/// p_n (u_n + u_n')/2 <= 0 and p_t (u_t + u_t')/2 <= 0. Rolling friction mixes slip and spin: it
/// takes energy away with e_t = 0, but not always with e_t > 0.
static void no_energy_gain_at_any_angle(void** state)
{
    (void)state;
    check_below("gain over angles, mu, e, e_t, spins, masses", worst_gain(0.0, 1.0), 1e-13,
                "rounding");
    check_below("gain with rolling friction, e_t = 0", worst_gain(0.05, 0.0), 1e-13, "rounding");
    printf(
        "     rolling friction and e_t up to 1: gain %.3g of the energy (see law/restitution.h)\n",
        worst_gain(0.05, 1.0));
}

// ---- many --------------------------------------------------------------------------------------

/// Haff's law: the energy of a dilute gas decays as (1 + t/t0)^-2 with 1/t0 = w (1 - e^2)/4 and
/// Enskog's collision rate w = 2 sqrt(pi) n d chi sqrt(T/m), chi = (1 - 7 phi/16)/(1 - phi)^2.
static void haff_cooling(void** state)
{
    (void)state;
    const int count = test_count(300, 150), samples = 40;
    const double e = 0.9, r = 0.5, phi = 0.1, length = sqrt(count * M_PI * r * r / phi), h = 0.01;
    const talus_pair_def pair = bounce_pair(0.0, e, 0.0);
    talus_world_def def = physics_def(2);
    def.solver.tolerance = 1e-9;
    for (int k = 0; k < 2; k++) def.periodic[k] = true, def.cell_high[k] = length;
    talus_world* world = physics_world_pair(&def, &pair);
    dice d = {11};
    const int across = (int)ceil(sqrt(count));
    for (int i = 0; i < count; i++) {
        const double pitch = length / across;
        talus_grain_def disk =
            physics_ball(r, 1.0, pitch * (i % across + 0.5), pitch * (i / across + 0.5), 0);
        for (int k = 0; k < 2; k++) { // nearly normal, variance 1
            for (int j = 0; j < 12; j++) disk.velocity[k] += dice_roll(&d) - 0.5;
        }
        physics_add(world, &disk);
    }
    physics_steps(world, h, 500); // a collision or two each: the gas forgets its lattice
    double p[3];
    talus_measure_momentum(world, p);
    talus_editable_grains g = physics_edit(world);
    for (int i = 0; i < 2 * count; i++) g.velocity[i] -= p[i % 2] / count;
    const double start = physics_kinetic_energy(world), temperature = start / count;
    const double chi = (1 - 7 * phi / 16) / pow(1 - phi, 2);
    const double rate =
        2 * sqrt(M_PI) * (count / (length * length)) * 2 * r * chi * sqrt(temperature);
    const double t0 = 4 / (rate * (1 - e * e));
    double tt = 0.0, ty = 0.0, worst = 0.0, y[40];
    for (int s = 0; s < samples; s++) {
        physics_steps(world, h, (int)lround(2 * t0 / samples / h));
        const double t = 2 * t0 / samples * (s + 1);
        y[s] = sqrt(start / physics_kinetic_energy(world)) - 1.0;
        tt += t * t, ty += t * y[s];
    }
    for (int s = 0; s < samples; s++) {
        const double t = 2 * t0 / samples * (s + 1);
        worst = fmax(worst, fabs(y[s] - ty / tt * t));
    }
    printf("     1/t0 %.5f, Haff and Enskog %.5f; sqrt(E0/E) goes from 1 to %.3f\n", ty / tt,
           1 / t0, 1 + y[samples - 1]);
    const double collisions = count * rate * t0 * log(3.0) / 2;
    check_close("cooling rate", ty / tt * t0, 1.0, 0.05 + 4 / sqrt(collisions),
                "chi and correlations a few %, statistics of the collisions 4 sigma");
    check_below("distance from the law", worst, 0.1 + 4 / sqrt(collisions),
                "of sqrt(E0/E) up to 3; correlations and statistics");
    talus_world_destroy(world);
}

/// A filling of bouncing grains comes to rest, and inelastic collapse of a column is no obstacle.
static void packings_come_to_rest(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_pair_def pair = bounce_pair(0.5, 0.7, dim == 2 ? 0.3 : 0.0);
        pair.rolling = 0.005; // else a grain may roll about for long
        pair.torsion = dim == 2 ? 0.0 : 0.005;
        talus_world_def def = physics_def(dim);
        def.gravity[dim - 1] = -GRAVITY;
        def.solver.tolerance = 1e-6;
        def.solver.max_sweeps = 300; // the energy, not the forces, is what counts here
        talus_world* world = physics_world_pair(&def, &pair);
        dice d = {3};
        physics_container(world, dim, 0.3, 5.0);
        physics_fill(world, dim, test_count(40, 20), 0.3, 0.05, 0.2, &d);
        const double h = 1e-3, weight = physics_total_mass(world) * GRAVITY;
        int64_t unconverged = 0;
        for (int i = 0; i < 4000; i++) unconverged += !physics_step(world, h).converged;
        const double energy = physics_kinetic_energy(world);
        printf("     %s: energy %.3g J, drop of %.3g J, %d steps did not converge\n", dim_name(dim),
               energy, weight * 0.1, (int)unconverged);
        check_below("energy", energy, 1e-8 * weight * 0.1, "tolerance of the solver");
        talus_world_destroy(world);
    }
}

static void collapse_is_passed(void** state)
{
    (void)state;
    const int count = 8;
    const double r = 0.05, h = 1e-3;
    const talus_pair_def pair = bounce_pair(0.0, 0.3, 0.0);
    talus_world* world = bounce_world(2, &pair, GRAVITY);
    physics_plane(world, "floor", 0, 1, 0);
    for (int i = 0; i < count; i++) {
        talus_grain_def ball = physics_ball(r, 1.0, 0, r + 2.2 * r * i + 0.02, 0);
        physics_add(world, &ball);
    }
    for (int i = 0; i < 2000; i++) assert_true(physics_step(world, h).converged);
    for (int i = 0; i < count; i++) {
        check_close("height", grain_x(world, i, 1), r * (1 + 2 * i), 1e-13, "a column at rest");
        check_close("velocity", grain_v(world, i, 1), 0.0, 1e-11, "rounding of positions over h");
    }
    talus_world_destroy(world);
}

/// Under a piston, and on a plate that is shaken with less than g, a grain with e > 0 rests as one
/// with e = 0 does: a contact that persists does not collide.
static void persisting_contacts_do_not_bounce(void** state)
{
    (void)state;
    const talus_pair_def pair = bounce_pair(0.0, 0.9, 0.0);
    const double h = 1e-3;
    talus_world* world = bounce_world(3, &pair, 0.0);
    physics_plane(world, "floor", 0, 0, 1);
    talus_wall_def piston = physics_plane_def("piston", 0, 0, -1);
    piston.position[2] = 0.2;
    piston.drive.kind = TALUS_DRIVE_FORCE;
    piston.drive.mass = 1.0;
    piston.drive.free_axes[2] = true;
    piston.drive.force[2] = -50.0;
    physics_wall(world, &piston);
    talus_grain_def ball = physics_ball(0.1, 1.0, 0, 0, 0.1);
    physics_add(world, &ball);
    for (int i = 0; i < 100; i++) {
        physics_step(world, h);
        check_close("piston at rest", wall_state(world, (talus_wall_id){1}).velocity[2], 0.0, 1e-13,
                    "rounding");
    }
    talus_world_destroy(world);

    world = bounce_world(3, &pair, GRAVITY);
    talus_wall_def plate = physics_plane_def("plate", 0, 0, 1);
    plate.drive.kind = TALUS_DRIVE_SINE;
    plate.drive.frequency = 5.0;
    plate.drive.phase = 0.5 * M_PI; // begins at rest
    plate.drive.amplitude[2] = 0.8 * GRAVITY / pow(10.0 * M_PI, 2);
    physics_wall(world, &plate);
    physics_add(world, &ball);
    for (int i = 0; i < 1000; i++) {
        physics_step(world, h);
        check_close("on the plate",
                    grain_x(world, 0, 2) - wall_state(world, (talus_wall_id){0}).position[2], 0.1,
                    1e-13, "carried along; rounding");
    }
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounce_heights),
        cmocka_unit_test(zeno_time_is_passed),
        cmocka_unit_test(cradle_of_three),
        cmocka_unit_test(tangential_restitution_on_a_wall),
        cmocka_unit_test(no_energy_gain_at_any_angle),
        cmocka_unit_test(haff_cooling),
        cmocka_unit_test(packings_come_to_rest),
        cmocka_unit_test(collapse_is_passed),
        cmocka_unit_test(persisting_contacts_do_not_bounce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

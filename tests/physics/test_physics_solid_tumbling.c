/// Free bodies that tumble: angular momentum, energy, and the order of the scheme.
///
/// A free solid keeps its angular momentum L in space. A symmetric top (moments A, A, C) turns with
/// it exactly: rotation about L by |L| t/A after rotation about its own axis by
/// omega_3 (1 - C/A) t. Of an asymmetric body Euler's equations are solved by Runge and Kutta's
/// method with far smaller steps. The scheme keeps L to rounding and is made of turns that are
/// exact each: the motion of an asymmetric body is of second order in h, its energy swings with the
/// second order and does not drift, and the motion of a symmetric top is exact for any step.
#include "physics.h"

static const double SIZE[3] = {1.0, 2.0, 3.0}; ///< of the asymmetric box

typedef struct vec3 {
    double x[3];
} vec3;

static vec3 cross(vec3 a, vec3 b)
{
    return (vec3){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                   a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static double dot(vec3 a, vec3 b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static vec3 combine(double a, vec3 u, double b, vec3 v)
{
    return (vec3){{a * u.x[0] + b * v.x[0], a * u.x[1] + b * v.x[1], a * u.x[2] + b * v.x[2]}};
}

static double distance(vec3 a, vec3 b)
{
    vec3 d = combine(1, a, -1, b);
    return sqrt(dot(d, d));
}

/// Rodrigues: v turned about the unit axis by an angle.
static vec3 turn(vec3 axis, double angle, vec3 v)
{
    vec3 out = combine(cos(angle), v, sin(angle), cross(axis, v));
    return combine(1, out, (1 - cos(angle)) * dot(axis, v), axis);
}

/// v turned by the grain's quaternion.
static vec3 from_body(const talus_world* world, int64_t id, vec3 v)
{
    vec3 axis = {{grain_q(world, id, 1), grain_q(world, id, 2), grain_q(world, id, 3)}};
    double w = grain_q(world, id, 0), s = sqrt(dot(axis, axis));
    if (s == 0.0) return v;
    return turn(combine(1 / s, axis, 0, axis), 2 * atan2(s, w), v);
}

/// Components in the body's axes.
static vec3 to_body(const talus_world* world, int64_t id, vec3 v)
{
    vec3 out;
    for (int k = 0; k < 3; k++) {
        vec3 e = {{k == 0, k == 1, k == 2}};
        out.x[k] = dot(from_body(world, id, e), v);
    }
    return out;
}

typedef struct top {
    talus_world* world;
    int64_t id;
    double mass, moment[3];
} top;

/// A box with this spin (components in its own axes), turned by `rotation`, without gravity.
static top make_top(const double size[3], vec3 spin, vec3 rotation)
{
    talus_world_def def = physics_def(3);
    top t = {.world = physics_world(&def, 0.5)};
    talus_solid_id box = physics_box_solid(t.world, "box", 3, size[0], size[1], size[2]);
    talus_grain_def g = physics_block(box, 0, 0, 0);
    const double angle = sqrt(dot(rotation, rotation));
    vec3 in_space = angle > 0 ? turn(combine(1 / angle, rotation, 0, rotation), angle, spin) : spin;
    memcpy(g.rotation, rotation.x, sizeof g.rotation);
    memcpy(g.spin, in_space.x, sizeof g.spin);
    g.velocity[0] = 0.3;
    t.id = physics_add(t.world, &g);
    t.mass = size[0] * size[1] * size[2];
    for (int k = 0; k < 3; k++) {
        const double a = size[(k + 1) % 3], b = size[(k + 2) % 3];
        t.moment[k] = t.mass * (a * a + b * b) / 12.0;
    }
    return t;
}

static vec3 spin_of(const top* t)
{
    return (vec3){
        {grain_w(t->world, t->id, 0), grain_w(t->world, t->id, 1), grain_w(t->world, t->id, 2)}};
}

static vec3 body_spin(const top* t)
{
    return to_body(t->world, t->id, spin_of(t));
}

static vec3 momentum(const top* t)
{
    vec3 w = body_spin(t);
    for (int k = 0; k < 3; k++) w.x[k] *= t->moment[k];
    return from_body(t->world, t->id, w);
}

static double energy(const top* t)
{
    vec3 w = body_spin(t);
    double sum = 0.0;
    for (int k = 0; k < 3; k++) sum += 0.5 * t->moment[k] * w.x[k] * w.x[k];
    return sum;
}

// ---- conservation ------------------------------------------------------------------------------

static const vec3 STARTS[3] = {
    {{0.3, 0.5, 0.4}},   // any axis
    {{1e-3, 1.0, 1e-3}}, // the middle axis: it flips
    {{1e-2, 1e-2, 1.0}}, // near a stable axis
};

static void angular_momentum_stays_to_rounding(void** state)
{
    (void)state;
    const int n = test_count(100000, 2000);
    for (int i = 0; i < 3; i++) {
        top t = make_top(SIZE, STARTS[i], (vec3){{0.4, -0.2, 0.9}});
        const vec3 before = momentum(&t);
        physics_steps(t.world, 0.02, n);
        check_below("change of the angular momentum",
                    distance(momentum(&t), before) / sqrt(dot(before, before)),
                    8.0 * DBL_EPSILON * n,
                    "rounding of the tensor and its inverse, the same in each step");
        check_close("speed of the centre", grain_v(t.world, t.id, 0), 0.3, 0.0, "nothing acts");
        talus_world_destroy(t.world);
    }
}

/// Largest relative error of the energy in a time of 40.
static double energy_error(vec3 spin, double h)
{
    top t = make_top(SIZE, spin, (vec3){{0.4, -0.2, 0.9}});
    const double before = energy(&t);
    double worst = 0.0;
    for (int i = 0; i < (int)(40.0 / h + 0.5); i++) {
        physics_step(t.world, h);
        worst = fmax(worst, fabs(energy(&t) / before - 1.0));
    }
    talus_world_destroy(t.world);
    return worst;
}

/// Mean relative error of the energy in a time of 200 after one of `time`.
static double energy_drift(vec3 spin, double h, double time)
{
    top t = make_top(SIZE, spin, (vec3){{0.4, -0.2, 0.9}});
    const double before = energy(&t);
    const int n = (int)(200.0 / h + 0.5);
    double sum = 0.0;
    if (time > 0.0) physics_steps(t.world, h, (int)(time / h + 0.5));
    for (int i = 0; i < n; i++) {
        physics_step(t.world, h);
        sum += energy(&t) / before - 1.0;
    }
    talus_world_destroy(t.world);
    return sum / n;
}

static void energy_is_of_second_order(void** state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        double coarse = energy_error(STARTS[i], 0.04), fine = energy_error(STARTS[i], 0.01);
        printf("start %d: energy off by at most %.2e at h = 0.04, %.2e at h = 0.01\n", i, coarse,
               fine);
        check_close("order in h", log(coarse / fine) / log(4.0), 2.0, 0.2,
                    "second order, and at h = 0.04 some of the third");
    }
}

/// In long times the energy swings as it does at first.
static void energy_does_not_drift(void** state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double swing = energy_error(STARTS[i], 0.08);
        const double early = energy_drift(STARTS[i], 0.08, 0),
                     late = energy_drift(STARTS[i], 0.08, test_count(10000, 2000));
        printf("start %d: energy swings by %.2e, its mean is off by %.2e early and %.2e late\n", i,
               swing, early, late);
        check_below("drift", fabs(late - early), 0.02 * swing,
                    "means over 200 of a motion with periods of some 10");
    }
}

// ---- motion ------------------------------------------------------------------------------------

static vec3 euler_rate(const double moment[3], vec3 w)
{
    return (vec3){{(moment[1] - moment[2]) / moment[0] * w.x[1] * w.x[2],
                   (moment[2] - moment[0]) / moment[1] * w.x[2] * w.x[0],
                   (moment[0] - moment[1]) / moment[2] * w.x[0] * w.x[1]}};
}

/// Euler's equations in the body's axes, classical Runge-Kutta.
static vec3 euler_solution(const double moment[3], vec3 w, double time, int steps)
{
    const double h = time / steps;
    for (int i = 0; i < steps; i++) {
        vec3 a = euler_rate(moment, w);
        vec3 b = euler_rate(moment, combine(1, w, 0.5 * h, a));
        vec3 c = euler_rate(moment, combine(1, w, 0.5 * h, b));
        vec3 d = euler_rate(moment, combine(1, w, h, c));
        w = combine(1, w, h / 6, combine(1, combine(1, a, 2, b), 1, combine(2, c, 1, d)));
    }
    return w;
}

static double spin_error(vec3 spin, double time, int steps, vec3* end)
{
    top t = make_top(SIZE, spin, (vec3){{0.4, -0.2, 0.9}});
    physics_steps(t.world, time / steps, steps);
    vec3 exact = euler_solution(t.moment, spin, time, 200000);
    *end = body_spin(&t);
    double off = distance(*end, exact);
    talus_world_destroy(t.world);
    return off;
}

static void asymmetric_body_follows_euler(void** state)
{
    (void)state;
    const double times[3] = {10.0, 16.0, 10.0};
    for (int i = 0; i < 3; i++) {
        vec3 end;
        double coarse = spin_error(STARTS[i], times[i], 1000, &end);
        double fine = spin_error(STARTS[i], times[i], 4000, &end);
        printf("start %d: spin in the body (%.4f %.4f %.4f), off by %.2e and %.2e\n", i, end.x[0],
               end.x[1], end.x[2], coarse, fine);
        check_close("order in h", log(coarse / fine) / log(4.0), 2.0, 0.1, "second order");
        check_below("error", fine, 1e-4, "h^2 times third derivatives of order 1 over the time");
    }
}

/// Orientation of a symmetric top after a time: worst of its three axes.
static double precession_error(const double size[3], vec3 spin, double time, int steps)
{
    vec3 rotation = {{0.4, -0.2, 0.9}};
    top t = make_top(size, spin, rotation);
    const vec3 l = momentum(&t);
    const double norm = sqrt(dot(l, l)), own = spin.x[2] * (1.0 - t.moment[2] / t.moment[0]);
    const vec3 up = combine(1 / norm, l, 0, l);
    vec3 exact[3], along = {{0, 0, 1}};
    for (int k = 0; k < 3; k++) {
        vec3 e = {{k == 0, k == 1, k == 2}};
        exact[k] = turn(up, norm * time / t.moment[0],
                        from_body(t.world, t.id, turn(along, own * time, e)));
    }
    physics_steps(t.world, time / steps, steps);
    double worst = 0.0;
    for (int k = 0; k < 3; k++) {
        vec3 e = {{k == 0, k == 1, k == 2}};
        worst = fmax(worst, distance(from_body(t.world, t.id, e), exact[k]));
    }
    talus_world_destroy(t.world);
    return worst;
}

static void symmetric_top_precesses(void** state)
{
    (void)state;
    const double sizes[2][3] = {{1, 1, 3}, {2, 2, 0.5}}; // a stick and a disc
    for (int i = 0; i < 2; i++) {
        const vec3 spin = {{0.4, 0.3, 1.0}};
        check_below("error", precession_error(sizes[i], spin, 20.0, 1000),
                    20.0 * 8.0 * DBL_EPSILON * 1000, "rounding of L in 1000 steps, times 20 rad");
        check_below("error with a turn and a half in each step",
                    precession_error(sizes[i], spin, 100.0, 10), 100.0 * 8.0 * DBL_EPSILON * 10,
                    "exact for any step");
    }
}

/// A needle that is hit at its side spins fast about its own axis, by 3 rad in a step, and its
/// energy is what a small part of its momentum makes.
static void slender_body_keeps_its_energy(void** state)
{
    (void)state;
    const double size[3] = {1.0, 0.02, 0.02};
    top t = make_top(size, (vec3){{150.0, 10.0, -5.0}}, (vec3){{0.4, -0.2, 0.9}});
    const double before = energy(&t);
    double worst = 0.0;
    for (int i = 0; i < 1000; i++) {
        physics_step(t.world, 0.02);
        worst = fmax(worst, fabs(energy(&t) / before - 1.0));
    }
    check_below("change of the energy", worst, 1e-8,
                "moments differ by a factor of 1250: rounding times that, 1000 steps");
    talus_world_destroy(t.world);
}

static void spin_about_a_principal_axis_is_steady(void** state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        vec3 spin = {{k == 0, k == 1, k == 2}};
        top t = make_top(SIZE, spin, (vec3){{0, 0, 0}});
        physics_steps(t.world, 0.01, 1000);
        for (int i = 0; i < 3; i++)
            check_close("spin", spin_of(&t).x[i], spin.x[i], 1e-12,
                        "rounding; about the middle axis it grows e-fold in a time of 1.3");
        check_close("angle",
                    2 * fabs(atan2(grain_q(t.world, t.id, k + 1), grain_q(t.world, t.id, 0))),
                    4 * M_PI - 10.0, 1e-11, "10 radians, back from two turns");
        talus_world_destroy(t.world);
    }
}

// ---- torque ------------------------------------------------------------------------------------

static void torque_changes_the_momentum(void** state)
{
    (void)state;
    const double torque[3] = {0.7, -0.4, 1.1}, force[3] = {0, 0, 0}, h = 0.01;
    const int n = 1000;
    top t = make_top(SIZE, STARTS[0], (vec3){{0.4, -0.2, 0.9}});
    const vec3 before = momentum(&t);
    talus_error error;
    check_ok(talus_world_set_grain_force(t.world, t.id, force, torque, &error), error);
    physics_steps(t.world, h, n);
    const vec3 after = momentum(&t);
    for (int k = 0; k < 3; k++) {
        check_close("angular momentum", after.x[k], before.x[k] + torque[k] * h * n, 1e-12 * 10,
                    "torque times time, to rounding of sums of size 10");
    }
    talus_world_destroy(t.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angular_momentum_stays_to_rounding),
        cmocka_unit_test(energy_is_of_second_order),
        cmocka_unit_test(energy_does_not_drift),
        cmocka_unit_test(asymmetric_body_follows_euler),
        cmocka_unit_test(symmetric_top_precesses),
        cmocka_unit_test(slender_body_keeps_its_energy),
        cmocka_unit_test(spin_about_a_principal_axis_is_steady),
        cmocka_unit_test(torque_changes_the_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

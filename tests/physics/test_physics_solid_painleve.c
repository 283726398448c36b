/// Painleve's rod: a tip that slides forward under a steep rod would be pressed into the floor by
/// its own friction.
///
/// A rod of mass m and moment of inertia I touches the floor with its tip at l = (x, z) from its
/// centre. In (t, n) its block is S_tt = 1/m + z^2/I, S_nn = 1/m + x^2/I, S_nt = -x z/I. Sliding
/// forward with friction, a normal impulse changes the normal velocity by S_nn - mu S_nt, which is
/// negative for a thin rod at tan = 2 beyond mu = 4/3: no sliding impulse stops the approach, and
/// forces would grow without bound. As impulses of one step the law has a solution: the tip is
/// caught (stick, or slides back). It is computed here by trying the cases one by one; where the
/// law allows several, open comes before stick before slide (law/coulomb.h).
#include "physics.h"

static const double H = 1e-3, G = 9.81;

typedef struct planar {
    double tt, nt, nn;
} planar;

/// The first of open, stick, slide forward, slide back that satisfies the law. Returns its number,
/// -1 if none does.
static int solve_by_cases(planar s, double mu, double ut, double un, double p[2])
{
    p[0] = p[1] = 0.0;
    if (un >= 0.0) return 0;
    const double det = s.tt * s.nn - s.nt * s.nt;
    p[0] = -(s.nn * ut - s.nt * un) / det;
    p[1] = -(s.tt * un - s.nt * ut) / det;
    if (p[1] >= 0.0 && fabs(p[0]) <= mu * p[1]) return 1;
    for (int way = 1; way >= -1; way -= 2) { // slip to +t, then to -t
        const double response = s.nn - way * mu * s.nt, pn = -un / response;
        const double slip = ut + (s.nt - way * mu * s.tt) * pn;
        p[0] = -way * mu * pn, p[1] = pn;
        if (pn >= 0.0 && way * slip >= 0.0) return way > 0 ? 2 : 3;
    }
    return -1;
}

typedef struct rod {
    talus_world* world;
    int64_t id;
    double mass, inertia, x, z; ///< of the tip from the centre
} rod;

/// A rod of length 1 and width 0.02, pointed at both ends, its tip on the floor ahead of (x > 0) or
/// behind the centre, `steep` from the floor. In 3D it moves in the plane of x and z.
static rod make_rod(int dim, double mu, double steep, double speed, double sink, double spin)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -G;
    rod r = {.world = physics_world(&def, mu), .x = 0.5 * cos(steep), .z = -0.5 * sin(steep)};
    physics_plane(r.world, "floor", 0, dim == 2, dim == 3);
    double corners[18] = {0};
    const int count = 2 * dim;
    for (int i = 0; i < count; i++)
        corners[i * dim + i / 2] = (i % 2 ? 1 : -1) * (i < 2 ? 0.5 : 0.01);
    talus_solid_id shape = physics_solid(r.world, "rod", corners, count);
    talus_grain_def g = physics_block(shape, -r.x, dim == 2 ? -r.z : 0, -r.z);
    // the end at +0.5 goes down: clockwise in 2D, forward about y in 3D
    g.rotation[dim == 2 ? 2 : 1] = dim == 2 ? -steep : steep;
    g.velocity[0] = speed, g.velocity[dim - 1] = sink;
    g.spin[dim == 2 ? 2 : 1] = dim == 2 ? spin : -spin;
    g.mass = r.mass = 2.0;
    r.id = physics_add(r.world, &g);
    r.inertia = r.mass * solid_state(r.world, shape).inertia[dim == 2 ? 8 : 4];
    return r;
}

static planar rod_block(const rod* r)
{
    return (planar){1.0 / r->mass + r->z * r->z / r->inertia, -r->x * r->z / r->inertia,
                    1.0 / r->mass + r->x * r->x / r->inertia};
}

/// Spin about the axis that turns x into z.
static double rod_spin(const rod* r)
{
    return (talus_world_options(r->world)->dim == 2 ? 1.0 : -1.0) * grain_w(r->world, r->id, 1);
}

static double rod_energy(const rod* r)
{
    const int up = talus_world_options(r->world)->dim - 1;
    double v = grain_v(r->world, r->id, 0), w = grain_v(r->world, r->id, up), s = rod_spin(r);
    return 0.5 * r->mass * (v * v + w * w) + 0.5 * r->inertia * s * s +
           r->mass * G * grain_x(r->world, r->id, up);
}

/// One step against the solution by cases; returns the case.
static int check_step(int dim, double mu, double steep, double speed, double sink, double spin,
                      double worst[2])
{
    rod r = make_rod(dim, mu, steep, speed, sink, spin);
    const planar s = rod_block(&r);
    double p[2], ut = speed - spin * r.z, un = sink - G * H + spin * r.x;
    const int found = solve_by_cases(s, mu, ut, un, p);
    assert_true(found >= 0);
    const double energy = rod_energy(&r);
    physics_step(r.world, H);
    const double vt = speed + p[0] / r.mass, vn = sink - G * H + p[1] / r.mass;
    const double turned = spin + (r.x * p[1] - r.z * p[0]) / r.inertia;
    const double size = fabs(speed) + fabs(sink) + fabs(spin) + G * H;
    double off =
        fmax(fabs(grain_v(r.world, r.id, 0) - vt), fabs(grain_v(r.world, r.id, dim - 1) - vn));
    worst[0] = fmax(worst[0], fmax(off, fabs(rod_spin(&r) - turned)) / size);
    worst[1] = fmax(worst[1], (rod_energy(&r) - energy) / (r.mass * size * size));
    talus_world_destroy(r.world);
    return found;
}

static void impulse_of_one_tip_is_that_of_the_cases(void** state)
{
    (void)state;
    dice d = {7};
    for (int dim = 2; dim <= 3; dim++) {
        int cases[4] = {0}, paradox = 0;
        double worst[2] = {0.0, 0.0};
        for (int i = 0; i < test_count(3000, 300); i++) {
            double mu = 4.0 * dice_roll(&d), steep = 0.1 + (M_PI - 0.2) * dice_roll(&d);
            double speed = 6.0 * dice_roll(&d) - 3.0, spin = 8.0 * dice_roll(&d) - 4.0;
            double sink = 4.0 * dice_roll(&d) - 3.0;
            rod r = make_rod(dim, mu, steep, speed, sink, spin);
            const planar s = rod_block(&r);
            paradox += s.nn < mu * fabs(s.nt);
            talus_world_destroy(r.world);
            cases[check_step(dim, mu, steep, speed, sink, spin, worst)]++;
        }
        printf("%dD: %d open, %d stick, %d slide forward, %d back; %d with S_nn < mu |S_nt|\n", dim,
               cases[0], cases[1], cases[2], cases[3], paradox);
        check_below("velocities against the cases", worst[0], 1e-11,
                    "rounding of the gap, 1e-16 over h, times the rod's largest m S = 12; and the "
                    "solver's 1e-13");
        check_below("gain of energy", worst[1], 1e-13, "rounding: the law only takes energy");
        for (int k = 0; k < 4; k++) assert_true(cases[k] > 0);
        assert_true(paradox > 20);
    }
}

/// The classical case: the rod slides forward at tan = 2, mu = 2, and only gravity pushes it down.
static void sliding_rod_is_caught(void** state)
{
    (void)state;
    const double steep = atan(2.0), mu = 2.0;
    for (int dim = 2; dim <= 3; dim++) {
        rod r = make_rod(dim, mu, steep, 1.0, 0.0, 0.0);
        const planar s = rod_block(&r);
        double p[2];
        printf("%dD: S_nn - mu S_nt = %g of S_nn\n", dim, (s.nn - mu * s.nt) / s.nn);
        assert_true(s.nn - mu * s.nt < 0.0);
        assert_int_equal(solve_by_cases(s, mu, 1.0, -G * H, p), 1);
        physics_step(r.world, H);
        talus_contacts c = talus_world_contacts(r.world);
        int64_t i = find_contact(r.world, -1, r.id);
        assert_true(i >= 0);
        check_close("tangential impulse", c.force[i * dim] * H, p[0], 1e-11, "rounding as above");
        check_close("normal impulse", c.force[i * dim + dim - 1] * H, p[1], 1e-11, "the same");
        check_below("impulse", hypot(p[0], p[1]), 2.0 * r.mass * 1.0,
                    "bounded by that of stopping the rod twice");
        assert_int_equal(c.state[i], TALUS_CONTACT_STICK);
        talus_world_destroy(r.world);
    }
}

/// The same rod with a tip that just leaves: open and caught are both solutions, open is taken.
static void rising_tip_opens(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        rod r = make_rod(dim, 2.0, atan(2.0), 1.0, 2.0 * G * H, 0.0);
        physics_step(r.world, H);
        check_close("speed", grain_v(r.world, r.id, 0), 1.0, 4 * DBL_EPSILON, "no impulse");
        check_close("spin", rod_spin(&r), 0.0, 4 * DBL_EPSILON, "no impulse");
        talus_world_destroy(r.world);
    }
}

/// Thrown forward, tumbling over its tips until it lies: its energy never grows.
static void rod_runs_down_without_gaining_energy(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        rod r = make_rod(dim, 2.0, atan(2.0), 4.0, 0.0, 0.0);
        double energy = rod_energy(&r), gain = 0.0;
        const double start = energy;
        for (int i = 0; i < 3000; i++) {
            physics_step(r.world, H);
            double now = rod_energy(&r);
            gain = fmax(gain, now - energy);
            energy = now;
        }
        printf("%dD: energy %.4g J of %.4g J left\n", dim, energy, start);
        check_below("largest gain in a step", gain, 1e-12 * start,
                    "p (V_free + V)/2 <= 0 for impulses of the law, up to the solver's 1e-13");
        check_close("speed at the end", grain_v(r.world, r.id, 0), 0.0, 1e-9, "it lies");
        talus_world_destroy(r.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulse_of_one_tip_is_that_of_the_cases),
        cmocka_unit_test(sliding_rod_is_caught),
        cmocka_unit_test(rising_tip_opens),
        cmocka_unit_test(rod_runs_down_without_gaining_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

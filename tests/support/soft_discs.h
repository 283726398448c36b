/// The two discs of Pena, Lind, McNamara and Herrmann (PLMH Fig. 4), and what theory says of them.
///
/// Disc i is fixed at the origin. Disc j, of radius 1/2 and density 1, touches it at 45 degrees and
/// is pushed by a constant force along -x; its height is locked, so it moves along x and turns, or
/// moves along x only. Friction holds: it oscillates about its new place, with damping.
///
/// Small oscillations u = (x, r theta) obey M u'' + C u' + K u = 0 with
///   K = k_n/2 e e' + k_t s s',  C = nu_n/2 e e' + nu_t s s',  M = diag(m, m/2),
/// e = (1, 0) and s = (1/sqrt 2, 1) for slips, or s = (1/sqrt 2, 0) where j cannot turn. With
/// Cundall's elongation, sum of v h, a motion exp(z t) has the slip z h/(1 - exp(-z h)) times its
/// displacement: to first order in h the spring k_t damps like a dashpot k_t h/2.
#ifndef TALUS_TESTS_SOFT_DISCS_H
#define TALUS_TESTS_SOFT_DISCS_H

#include "support.h"

#include <complex.h>
#include <talus/world.h>

typedef struct discs {
    double stiffness, friction;
    double restitution; ///< of two free discs
    double push;        ///< force / stiffness, m
    double overlap;     ///< at the beginning, m
    bool rotates;
    talus_elongation elongation;
    talus_integrator integrator;
} discs;

/// As in the paper; the push moves j by 1e-6 of its size, where formulas for small motions hold.
static const discs DISCS = {
    .stiffness = 1.0, .friction = 500.0, .restitution = 0.9875, .push = 1e-6, .rotates = true};

static const double DISC_RADIUS = 0.5;

static inline double discs_mass(void)
{
    return M_PI * DISC_RADIUS * DISC_RADIUS;
}

/// nu/(2 sqrt(k m_r)) of the free pair, m_r = m/2.
static inline double discs_damping(const discs* d)
{
    const double decay = log(d->restitution);
    return -decay / sqrt(M_PI * M_PI + decay * decay);
}

/// nu_n, kg/s
static inline double discs_viscosity(const discs* d)
{
    return 2.0 * discs_damping(d) * sqrt(d->stiffness * 0.5 * discs_mass());
}

/// Contact time t_c of the free pair (PLMH 10): 1.969 s for 1 N/m.
static inline double discs_contact_time(const discs* d)
{
    const double m = 0.5 * discs_mass(), rate = discs_viscosity(d) / (2.0 * m);
    return M_PI / sqrt(d->stiffness / m - rate * rate);
}

/// Restitution that gives a world in which i is fixed the dashpots of the free pair: the reduced
/// mass is m there, twice that of the pair.
static inline double discs_world_restitution(const discs* d)
{
    const double part = discs_damping(d) / sqrt(2.0);
    return exp(-M_PI * part / sqrt(1.0 - part * part));
}

static inline talus_world* discs_world(const discs* d)
{
    talus_error error;
    talus_world* world;
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.method = TALUS_METHOD_SOFT;
    def.soft.integrator = d->integrator;
    def.soft.bound = TALUS_BOUND_ELASTIC;
    def.soft.elongation = d->elongation;
    def.soft.bound = TALUS_BOUND_ELASTIC;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = d->stiffness;
    pair.friction = d->friction;
    pair.restitution = discs_world_restitution(d);
    check_ok(talus_world_add_material(world, "disc", &pair, NULL, &error), error);
    talus_grain_def disc = talus_grain_default();
    disc.radius = DISC_RADIUS;
    disc.density = 1.0;
    disc.fixed = true;
    check_ok(talus_world_add_grain(world, &disc, NULL, &error), error);
    disc.fixed = false;
    disc.locked[1] = true;
    disc.locked_rotation = !d->rotates;
    disc.external_force[0] = -d->push * d->stiffness;
    disc.position[0] = disc.position[1] = (2.0 * DISC_RADIUS - d->overlap) * sqrt(0.5);
    check_ok(talus_world_add_grain(world, &disc, NULL, &error), error);
    return world;
}

// ---- theory ------------------------------------------------------------------------------------

/// det(z^2 M + z C + K); h > 0: with Cundall's elongation.
static inline double complex discs_determinant(const discs* d, double h, double complex z)
{
    const double m = discs_mass(), k = d->stiffness, nu = discs_viscosity(d);
    const double complex carried = h > 0.0 ? z * h / (1.0 - cexp(-z * h)) : 1.0;
    const double complex normal = k + z * nu;
    const double complex tangential = d->friction > 0.0 ? (k * carried + z * nu) / 3.0 : 0.0;
    const double complex xx = z * z * m + 0.5 * normal + 0.5 * tangential;
    if (!d->rotates) return xx;
    const double complex qq = 0.5 * z * z * m + tangential;
    return xx * qq - 0.5 * tangential * tangential;
}

/// Eigenvalue of the oscillation that lasts longest, by the secant method from the undamped
/// frequency.
static inline double complex discs_eigenvalue(const discs* d, double h)
{
    // omega^2 m/k: friction couples x and the turn (1 and 1/3), else only x has a spring
    const double level = d->friction == 0.0 ? 0.5 : d->rotates ? 1.0 / 3.0 : 2.0 / 3.0;
    double complex z = I * sqrt(level * d->stiffness / discs_mass()), last = 0.999 * z;
    double complex f_last = discs_determinant(d, h, last);
    for (int i = 0; i < 100; i++) {
        const double complex f = discs_determinant(d, h, z), change = f * (z - last) / (f - f_last);
        last = z, f_last = f;
        z -= change;
        if (cabs(change) < 1e-14 * cabs(z)) break;
    }
    return z;
}

/// Relaxation time t_R: energies fall as exp(-t/t_R).
static inline double discs_relaxation(const discs* d, double h)
{
    return -0.5 / creal(discs_eigenvalue(d, h));
}

// ---- measurement -------------------------------------------------------------------------------

/// t_R of a world from the maxima of its kinetic energy: least squares of their logarithms against
/// time, from when other oscillations have died out (`from`) to `to`. Energies are looked at every
/// 0.02 t_c or every step, maxima are found by parabolas.
static inline double measure_relaxation(talus_world* world, double t_c, double h, double from,
                                        double to)
{
    talus_error error;
    const int64_t stride = h < 0.02 * t_c ? llround(0.02 * t_c / h) : 1;
    double e[3] = {0.0}, sum[5] = {0.0};
    while (talus_world_time(world) < to) {
        talus_step_result result;
        check_ok(talus_world_steps(world, h, stride, &result, &error), error);
        e[0] = e[1], e[1] = e[2], e[2] = result.kinetic_energy;
        if (result.time < from || !(e[1] > e[0] && e[1] >= e[2])) continue;
        const double slope = 0.5 * (e[2] - e[0]), bend = e[0] - 2.0 * e[1] + e[2];
        const double top = log(e[1] - 0.5 * slope * slope / bend);
        const double t = result.time - ((double)stride * h) * (1.0 + slope / bend);
        const double add[5] = {1.0, t, top, t * t, t * top};
        for (int k = 0; k < 5; k++) sum[k] += add[k];
    }
    return -(sum[0] * sum[3] - sum[1] * sum[1]) / (sum[0] * sum[4] - sum[1] * sum[2]);
}

static inline double discs_measure(const discs* d, double h, double from, double to)
{
    talus_world* world = discs_world(d);
    const double found = measure_relaxation(world, discs_contact_time(d), h, from, to);
    talus_world_destroy(world);
    return found;
}

#endif

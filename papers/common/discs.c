/// Two discs: the world, and the theory of its small oscillations.
#include "discs.h"

#include <math.h>

static const double RADIUS = 0.5, RESTITUTION = 0.9875;

discs discs_default(void)
{
    return (discs){.stiffness = 1.0,
                   .friction = 500.0,
                   .stiffness_ratio = 1.0 / 3.0,
                   .damping_ratio = 1.0 / 3.0,
                   .push = 1e-6,
                   .motion = DISCS_BOTH,
                   .elongation = TALUS_ELONGATION_CUNDALL,
                   .bound = TALUS_BOUND_ELASTIC};
}

static double mass(void)
{
    return M_PI * RADIUS * RADIUS;
}

/// nu_n, kg/s
static double viscosity(const discs* d)
{
    return 2.0 * decay_damping(RESTITUTION) * sqrt(d->stiffness * 0.5 * mass());
}

double discs_damping_ratio(double restitutions, double stiffnesses)
{
    return decay_damping(restitutions * RESTITUTION) / decay_damping(RESTITUTION) *
           sqrt(stiffnesses);
}

double discs_contact_time(const discs* d)
{
    const double m = 0.5 * mass(), rate = viscosity(d) / (2.0 * m);
    return M_PI / sqrt(d->stiffness / m - rate * rate);
}

// ---- theory ------------------------------------------------------------------------------------

/// omega^2 m/k_n of the undamped oscillations; the slower one comes first. Returns how many.
static int levels(const discs* d, double out[2])
{
    const double ratio = d->stiffness_ratio;
    if (d->friction == 0.0 || d->motion == DISCS_TRANSLATION) {
        out[0] = d->friction == 0.0 ? 0.5 : 0.5 * (1.0 + ratio);
        return 1;
    }
    if (d->motion == DISCS_ROTATION) {
        out[0] = 2.0 * ratio;
        return 1;
    }
    const double middle = 0.25 * (1.0 + 5.0 * ratio), apart = sqrt(middle * middle - ratio);
    out[0] = middle - apart, out[1] = middle + apart;
    return 2;
}

/// det(z^2 M + z C + K), where j may move; h > 0: with Cundall's elongation.
static double complex determinant(const discs* d, double h, double complex z)
{
    const double m = mass(), k = d->stiffness, nu = viscosity(d);
    double complex tangential =
        d->stiffness_ratio * k * decay_carried(z, h) + d->damping_ratio * nu * z;
    if (d->friction == 0.0) tangential = 0.0;
    const double complex xx = z * z * m + 0.5 * (k + z * nu) + 0.5 * tangential;
    const double complex qq = 0.5 * z * z * m + tangential;
    if (d->friction == 0.0 || d->motion == DISCS_TRANSLATION) return xx;
    return d->motion == DISCS_ROTATION ? qq : xx * qq - 0.5 * tangential * tangential;
}

/// Root of the determinant near an undamped oscillation, by the secant method.
static double complex eigenvalue(const discs* d, double h, double level)
{
    double complex z = I * sqrt(level * d->stiffness / mass()), last = 0.999 * z;
    double complex f_last = determinant(d, h, last);
    for (int i = 0; i < 100; i++) {
        const double complex f = determinant(d, h, z);
        if (f == f_last) break;
        const double complex change = f * (z - last) / (f - f_last);
        last = z, f_last = f;
        z -= change;
        if (cabs(change) < 1e-14 * cabs(z)) break;
    }
    return z;
}

double discs_relaxation(const discs* d, double h)
{
    double level[2], longest = 0.0;
    const int count = levels(d, level);
    for (int k = 0; k < count; k++) {
        longest = fmax(longest, -0.5 / creal(eigenvalue(d, h, level[k])));
    }
    return longest;
}

// ---- the world ---------------------------------------------------------------------------------

/// Let disc j swing in its slower oscillation about the place where the push balances the normal
/// spring; the friction spring is at rest there.
static void set_ringing(const discs* d, talus_grain_def* disc)
{
    double level[2];
    levels(d, level);
    const double overlap = sqrt(2.0) * d->push, speed = 0.1 * overlap * sqrt(d->stiffness / mass());
    disc->position[0] = disc->position[1] = (2.0 * RADIUS - overlap) * sqrt(0.5);
    if (d->motion != DISCS_ROTATION) disc->velocity[0] = speed;
    if (d->motion == DISCS_ROTATION) disc->spin[2] = speed / RADIUS;
    if (d->motion != DISCS_BOTH || d->friction == 0.0) return;
    // first row of (K - omega^2 M) u = 0
    const double turn = (level[0] - 0.5 * (1.0 + d->stiffness_ratio)) * sqrt(2.0);
    disc->spin[2] = speed * turn / d->stiffness_ratio / RADIUS;
}

talus_status discs_run(paper* p, const discs* d, discs_start start, double h, double time,
                       decay* out)
{
    talus_world* world;
    talus_world_def def = paper_world_default();
    def.dim = 2;
    def.method = TALUS_METHOD_SOFT;
    def.soft.integrator = TALUS_INTEGRATOR_GEAR5;
    def.soft.bound = d->bound;
    def.soft.elongation = d->elongation;
    TRY(paper_world(p, &def, &world));
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = d->stiffness;
    pair.friction = d->friction;
    // The dashpots of two free discs where i is fixed: the reduced mass is m there, twice that of
    // the pair.
    const double damping = decay_damping(RESTITUTION) / sqrt(2.0);
    pair.restitution = exp(-M_PI * damping / sqrt(1.0 - damping * damping));
    pair.soft.stiffness_ratio = d->stiffness_ratio;
    pair.soft.damping_ratio = d->damping_ratio;
    TRY(talus_world_add_material(world, "disc", &pair, NULL, &p->error));
    talus_grain_def disc = talus_grain_default();
    disc.radius = RADIUS;
    disc.density = 1.0;
    disc.fixed = true;
    TRY(talus_world_add_grain(world, &disc, NULL, &p->error));
    disc.fixed = false;
    disc.locked[0] = d->motion == DISCS_ROTATION;
    disc.locked[1] = true;
    disc.locked_rotation = d->motion == DISCS_TRANSLATION;
    disc.external_force[0] = -d->push * d->stiffness;
    disc.position[0] = disc.position[1] = 2.0 * RADIUS * sqrt(0.5);
    if (start == DISCS_RINGING) set_ringing(d, &disc);
    TRY(talus_world_add_grain(world, &disc, NULL, &p->error));
    TRY(decay_record(p, world, h, 0.02 * discs_contact_time(d), time, out));
    paper_end_world(p, world);
    return TALUS_OK;
}

talus_status discs_measure(paper* p, const discs* d, discs_start start, double part,
                           double long_for, double* t_r)
{
    decay maxima;
    const double t_c = discs_contact_time(d);
    TRY(discs_run(p, d, start, part * t_c, long_for * t_c, &maxima));
    *t_r = decay_time(&maxima, 0.0, INFINITY) / t_c;
    return TALUS_OK;
}

// ---- t_R against the step ----------------------------------------------------------------------

const char discs_measure_why[] =
    "theory of the linear oscillators; gear5 damps by (3/320)(omega h)^6 a step and parabolas miss "
    "a little of the maxima: up to 1e-3 of t_R at 0.1 t_c, 1.5e-3 where t_R is only 10 t_c";

talus_status discs_sweep_steps(paper* p, discs_sweep* s)
{
    const double t_c = discs_contact_time(&s->d);
    const bool cundall = s->d.elongation == TALUS_ELONGATION_CUNDALL;
    for (int k = 0; k < s->count; k++) {
        // Large steps miss most of the maxima and get more of them.
        const double long_for = decay_steps[k] < 1e-3 ? 10.0 : 20.0; // t_c
        TRY(discs_measure(p, &s->d, DISCS_RINGING, decay_steps[k], long_for, &s->t_r[k]));
        s->theory[k] = discs_relaxation(&s->d, cundall ? decay_steps[k] * t_c : 0.0) / t_c;
    }
    return TALUS_OK;
}

double discs_sweep_error(const discs_sweep* s)
{
    double most = 0.0;
    for (int k = 0; k < s->count; k++) most = fmax(most, fabs(s->t_r[k] / s->theory[k] - 1.0));
    return most;
}

double discs_onset(const discs_sweep* s, double level)
{
    const double limit = discs_relaxation(&s->d, 0.0) / discs_contact_time(&s->d);
    return decay_onset(s->count, decay_steps, s->t_r, limit, level);
}

static double relaxation(const void* what, double part)
{
    const discs* d = what;
    return discs_relaxation(d, part * discs_contact_time(d));
}

double discs_onset_theory(const discs* d, double level)
{
    return decay_onset_theory(relaxation, d, level);
}

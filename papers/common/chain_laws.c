/// The two shock laws in the chain.
#include "chain_laws.h"

#include <math.h>

/// s: what a step leaves of the error of the forces in a mode.
static double error_left(int64_t disks, int sweeps, int64_t mode)
{
    return pow(chain_sweep_factor(chain_wave_number(disks, mode), disks), sweeps);
}

double chain_kept_shrinkage(int64_t disks, int sweeps)
{
    double sum = 0;
    for (int64_t mode = 0; mode < disks; mode++) {
        const double end = chain_mode_velocity(chain_wave_number(disks, mode), disks - 1);
        const double s = error_left(disks, sweeps, mode);
        sum += 2.0 / (double)disks * end * end * s / (1 - s);
    }
    return sum;
}

double chain_growth_theory(int64_t disks, int sweeps, bool plain)
{
    const double s = error_left(disks, sweeps, 0), c = cbrt((1 - s) / s);
    return plain ? 1 / sqrt(1 - c + c * c) : sqrt(s);
}

double chain_growth_threshold(int64_t disks)
{
    const double kd = chain_wave_number(disks, 0);
    return log(2) / (chain_q_random() * kd * kd);
}

/// |l| of x_t = C |l|^t cos(theta t + phi), for which x_{t+2} = b x_{t+1} - |l|^2 x_t: least
/// squares.
static double fit_factor(int count, const double* x)
{
    double yy = 0, zz = 0, yz = 0, xy = 0, xz = 0;
    for (int t = 2; t < count; t++) {
        yy += x[t - 1] * x[t - 1];
        zz += x[t - 2] * x[t - 2];
        yz += x[t - 1] * x[t - 2];
        xy += x[t] * x[t - 1];
        xz += x[t] * x[t - 2];
    }
    return sqrt(fmax(0, (yz * xy - yy * xz) / (yy * zz - yz * yz)));
}

talus_status chain_growth(paper* p, int64_t disks, int sweeps, bool plain, uint64_t seed,
                          double* factor)
{
    enum { STEPS = 48 };
    chain_def chain = chain_default();
    chain.disks = disks;
    chain.force = 1;
    chain.seed = seed;
    chain.overlap = plain ? 0 : 1e-3; // with g+ contacts are linear only while they overlap
    chain.solver = chain_sweeps(sweeps, TALUS_ORDER_RANDOM);
    chain.solver.push_out_overlap = plain;
    talus_world* world = NULL;
    TRY(chain_make(p, &chain, &world));
    TRY(chain_press(p, world, 1));
    const double kd = chain_wave_number(disks, 0);
    for (int64_t i = 0; i < disks; i++) chain_push(world, i, 1e-6 * chain_mode_velocity(kd, i));
    double amplitude[STEPS];
    for (int t = 0; t < STEPS; t++) {
        TRY(talus_world_step(world, 1, NULL, &p->error));
        amplitude[t] = chain_mode_amplitude(world, kd);
    }
    paper_end_world(p, world);
    const int skip = plain ? 8 : 0; // until the real eigenvalue has died out
    *factor = fit_factor(STEPS - skip, amplitude + skip);
    return TALUS_OK;
}

double chain_passes_one(int count, const double* sweeps, const double* factor)
{
    for (int i = 1; i < count; i++) {
        const double a = log(factor[i - 1]), b = log(factor[i]);
        if (a > 0 && b <= 0) return sweeps[i - 1] * pow(sweeps[i] / sweeps[i - 1], a / (a - b));
    }
    return NAN;
}

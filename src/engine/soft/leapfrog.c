/// Leapfrog as drift, kick, drift: positions and velocities both belong to the ends of the step,
/// forces to its middle. The velocity there, which damping needs, is extrapolated by the
/// acceleration of the last middle: an error of h^2 in the force, so that the order stays 2.
#include "soft/integrator.h"
#include "soft/one_rate.h"

static void predict(const coordinates* c, double h, int64_t first, int64_t last)
{
    double *const x = c->x, *const v = c->v;
    const double* const a = c->d[0];
    const double half = 0.5 * h;
    for (int64_t i = first; i < last; i++) {
        LEAPFROG_PREDICT(x[i], v[i], a[i], half);
    }
}

static void correct(const coordinates* c, const double* acceleration, double h, int64_t first,
                    int64_t last)
{
    double *const x = c->x, *const v = c->v, *const a = c->d[0];
    const double half = 0.5 * h;
    for (int64_t i = first; i < last; i++) {
        LEAPFROG_CORRECT(x[i], v[i], a[i], acceleration[i], h, half, 0.5);
    }
}

const integrator leapfrog_integrator = {
    .name = "leapfrog",
    .kept = 1,
    .order = 2,
    .evaluates_at = 0.5,
    .stable = 2.0,
    .stable_rate = 1.0,
    .steady = 2.0,
    .predict = predict,
    .correct = correct,
};

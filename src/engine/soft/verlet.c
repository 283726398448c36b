/// Velocity Verlet. The velocity at the end of the step, which damping needs before its forces are
/// known, is extrapolated by the old acceleration: an error of h^2 in the force, so that the
/// order stays 2; the corrected velocity has the mean of the old and the new acceleration.
#include "soft/integrator.h"
#include "soft/one_rate.h"

static void predict(const coordinates* c, double h, int64_t first, int64_t last)
{
    double *const x = c->x, *const v = c->v;
    const double* const a = c->d[0];
    const double half = 0.5 * h;
    for (int64_t i = first; i < last; i++) {
        VERLET_PREDICT(x[i], v[i], a[i], h, half);
    }
}

static void correct(const coordinates* c, const double* acceleration, double h, int64_t first,
                    int64_t last)
{
    double *const v = c->v, *const a = c->d[0];
    const double half = 0.5 * h;
    for (int64_t i = first; i < last; i++) {
        VERLET_CORRECT(v[i], a[i], acceleration[i], half);
    }
}

const integrator verlet_integrator = {
    .name = "verlet",
    .kept = 1,
    .order = 2,
    .evaluates_at = 1.0,
    .stable = 2.0,
    .stable_rate = 1.0,
    .steady = 2.0,
    .predict = predict,
    .correct = correct,
};

/// Leapfrog as drift, kick, drift: positions and velocities both belong to the ends of the step,
/// forces to its middle. The velocity there, which damping needs, is extrapolated by the
/// acceleration of the last middle: an error of h^2 in the force, so that the order stays 2.
#include "base/parallel.h"
#include "base/vec.h"
#include "soft/integrator.h"

static ALWAYS_INLINE void predict_one(const coordinates* c, double h, int64_t i)
{
    double* const x = c->x;
    double* const v = c->v;
    const double* const a = c->d[0];
    const double half = 0.5 * h;
    x[i] += half * v[i];
    v[i] += half * a[i];
}

static void predict(const coordinates* c, double h, int threads)
{
    if (parallel_is_plain(threads, c->count)) {
        for (int64_t i = 0; i < c->count; i++) predict_one(c, h, i);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, c->count)) schedule(static)
    for (int64_t i = 0; i < c->count; i++) predict_one(c, h, i);
}

static ALWAYS_INLINE void correct_one(const coordinates* c, const double* acceleration, double h,
                                      int64_t i)
{
    double* const x = c->x;
    double* const v = c->v;
    double* const a = c->d[0];
    const double half = 0.5 * h;
    v[i] += h * (acceleration[i] - 0.5 * a[i]);
    x[i] += half * v[i];
    a[i] = acceleration[i];
}

static void correct(const coordinates* c, const double* acceleration, double h, int threads)
{
    if (parallel_is_plain(threads, c->count)) {
        for (int64_t i = 0; i < c->count; i++) correct_one(c, acceleration, h, i);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, c->count)) schedule(static)
    for (int64_t i = 0; i < c->count; i++) correct_one(c, acceleration, h, i);
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

/// Velocity Verlet. The velocity at the end of the step, which damping needs before its forces are
/// known, is extrapolated by the old acceleration: an error of h^2 in the force, so that the
/// order stays 2; the corrected velocity has the mean of the old and the new acceleration.
#include "base/parallel.h"
#include "base/vec.h"
#include "soft/integrator.h"

static ALWAYS_INLINE void predict_one(const coordinates* c, double h, int64_t i)
{
    double* const x = c->x;
    double* const v = c->v;
    const double* const a = c->d[0];
    const double half = 0.5 * h;
    x[i] += h * (v[i] + half * a[i]);
    v[i] += h * a[i];
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
    double* const v = c->v;
    double* const a = c->d[0];
    const double half = 0.5 * h;
    v[i] += half * (acceleration[i] - a[i]);
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

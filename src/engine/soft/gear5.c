/// Gear's predictor-corrector with five derivatives, the coefficients for forces that depend on
/// velocities (PLMH, appendix).
#include "base/parallel.h"
#include "soft/gear.h"

static const double alpha[] = {3.0 / 16.0, 251.0 / 360.0, 1.0, 11.0 / 18.0, 1.0 / 6.0, 1.0 / 60.0};

static void predict(const coordinates* c, double h, int threads)
{
    const int64_t count = c->count;
    if (parallel_is_plain(threads, count)) {
        gear_predict(5, c, h, 0, count);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i += GEAR_BLOCK) {
        gear_predict(5, c, h, i, gear_block_end(i, count));
    }
}

static void correct(const coordinates* c, const double* acceleration, double h, int threads)
{
    const int64_t count = c->count;
    if (parallel_is_plain(threads, count)) {
        gear_correct(5, alpha, c, acceleration, h, 0, count);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i += GEAR_BLOCK) {
        gear_correct(5, alpha, c, acceleration, h, i, gear_block_end(i, count));
    }
}

const integrator gear5_integrator = {
    .name = "gear5",
    .kept = 4,
    .order = 5,
    .evaluates_at = 1.0,
    .stable = 0.79893546193696061, // square root of 30/47
    .stable_rate = 90.0 / 551.0,
    .steady = 0.31297,
    .predict = predict,
    .correct = correct,
};

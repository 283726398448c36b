/// Gear's predictor-corrector with three derivatives (Allen & Tildesley, appendix E: second-order
/// equation, four values).
#include "base/parallel.h"
#include "soft/gear.h"

static const double alpha[] = {1.0 / 6.0, 5.0 / 6.0, 1.0, 1.0 / 3.0};

static void predict(const coordinates* c, double h, int threads)
{
    const int64_t count = c->count;
    if (parallel_is_plain(threads, count)) {
        gear_predict(3, c, h, 0, count);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i += GEAR_BLOCK) {
        gear_predict(3, c, h, i, gear_block_end(i, count));
    }
}

static void correct(const coordinates* c, const double* acceleration, double h, int threads)
{
    const int64_t count = c->count;
    if (parallel_is_plain(threads, count)) {
        gear_correct(3, alpha, c, acceleration, h, 0, count);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i += GEAR_BLOCK) {
        gear_correct(3, alpha, c, acceleration, h, i, gear_block_end(i, count));
    }
}

const integrator gear3_integrator = {
    .name = "gear3",
    .kept = 2,
    .order = 3,
    .evaluates_at = 1.0,
    .stable = 1.4142135623730951, // square root of 2
    .stable_rate = 6.0 / 11.0,
    .steady = 1.4142135623730951,
    .predict = predict,
    .correct = correct,
};

/// Numbers put together from chunks in a fixed order.
#include "base/parallel.h"

#include <assert.h>
#include <math.h>

static double neutral(parallel_merge merge)
{
    return merge == PARALLEL_SUM ? 0.0 : merge == PARALLEL_MIN ? INFINITY : -INFINITY;
}

static double put_together(parallel_merge merge, double x, double y)
{
    if (merge == PARALLEL_SUM) return x + y;
    return merge == PARALLEL_MIN ? fmin(x, y) : fmax(x, y);
}

void parallel_reduce(int threads, int64_t count, parallel_merge merge, int width,
                     parallel_work* work, void* data, double* out)
{
    double partial[PARALLEL_CHUNKS][PARALLEL_WIDTH];
    assert(width <= PARALLEL_WIDTH);
    for (int k = 0; k < width; k++) out[k] = neutral(merge);
    if (count <= PARALLEL_CHUNK) { // out is the only chunk: a sum is not added to zero once more
        work(data, 0, count, out);
        return;
    }
    const int chunks = parallel_chunks(count);
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int c = 0; c < chunks; c++) {
        for (int k = 0; k < width; k++) partial[c][k] = neutral(merge);
        work(data, parallel_first(count, c), parallel_first(count, c + 1), partial[c]);
    }
    for (int c = 0; c < chunks; c++) {
        for (int k = 0; k < width; k++) out[k] = put_together(merge, out[k], partial[c][k]);
    }
}

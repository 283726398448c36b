/// The integrators by the options that ask for them, and their work shared by threads.
#include "soft/integrator.h"

#include "base/parallel.h"

/// Numbers that a thread takes at once.
enum { SHARE = 1024 };

static int64_t share_end(int64_t first, int64_t count)
{
    return count - first < SHARE ? count : first + SHARE;
}

const integrator* integrator_of(talus_integrator kind)
{
    switch (kind) {
    case TALUS_INTEGRATOR_GEAR5: return &gear5_integrator;
    case TALUS_INTEGRATOR_GEAR3: return &gear3_integrator;
    case TALUS_INTEGRATOR_LEAPFROG: return &leapfrog_integrator;
    case TALUS_INTEGRATOR_VERLET: break;
    }
    return &verlet_integrator;
}

void integrator_predict(const integrator* method, const coordinates* c, double h, int threads)
{
    const int64_t count = c->count;
    if (parallel_is_plain(threads, count)) {
        method->predict(c, h, 0, count);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i += SHARE) method->predict(c, h, i, share_end(i, count));
}

void integrator_correct(const integrator* method, const coordinates* c, const double* acceleration,
                        double h, int threads)
{
    const int64_t count = c->count;
    if (parallel_is_plain(threads, count)) {
        method->correct(c, acceleration, h, 0, count);
        return;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i += SHARE) {
        method->correct(c, acceleration, h, i, share_end(i, count));
    }
}

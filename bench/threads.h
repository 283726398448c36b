/// The number of threads of a world's steps, for the benchmarks.
#ifndef TALUS_BENCH_THREADS_H
#define TALUS_BENCH_THREADS_H

#include "world/world.h"

/// All coming steps use so many threads, without trials whether one would be faster
/// (world/pace.h). The public interface fixes the number when a world is made.
static inline void use_threads(talus_world* world, int threads)
{
    world->def.threads = threads;
    world->pace = pace_begin(threads);
    world->pace.left = INT64_MAX;
}

#endif

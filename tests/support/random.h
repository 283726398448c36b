/// Random numbers as the tests want them, from the library's keyed streams.
#ifndef TALUS_TESTS_RANDOM_H
#define TALUS_TESTS_RANDOM_H

#include "base/rng.h"

#include <math.h>

static inline double uniform(rng* r, double low, double high)
{
    return low + (high - low) * rng_uniform(r);
}

/// Uniform in the logarithm: as many below the geometric mean as above.
static inline double log_uniform(rng* r, double low, double high)
{
    return exp(uniform(r, log(low), log(high)));
}

#endif

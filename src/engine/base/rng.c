/// Deviates that need the maths library.
#include "base/rng.h"
#include "base/portable.h"

#include <math.h>

double rng_normal(rng* r)
{
    double radius = sqrt(-2.0 * portable_log(1.0 - rng_uniform(r))); // 1 - u is never zero
    return radius * portable_cos(2.0 * M_PI * rng_uniform(r));
}

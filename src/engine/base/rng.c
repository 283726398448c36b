/// Deviates that need the maths library.
#include "base/rng.h"

#include <math.h>

double rng_normal(rng* r)
{
    double radius = sqrt(-2.0 * log(1.0 - rng_uniform(r))); // 1 - u is never zero
    return radius * cos(2.0 * M_PI * rng_uniform(r));
}

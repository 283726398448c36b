/// The formulas of the integrators that keep one rate beyond the velocity, the acceleration a, for
/// a number or for four at once: x, v and a are changed; h is the step, half of it `half`, and
/// `found` the acceleration at the evaluation, `middle` is 1/2. What they mean: soft/verlet.c,
/// soft/leapfrog.c.
#ifndef TALUS_SOFT_ONE_RATE_H
#define TALUS_SOFT_ONE_RATE_H

#define VERLET_PREDICT(x, v, a, h, half) ((x) += (h) * ((v) + (half) * (a)), (v) += (h) * (a))
#define VERLET_CORRECT(v, a, found, half) ((v) += (half) * ((found) - (a)), (a) = (found))

#define LEAPFROG_PREDICT(x, v, a, half) ((x) += (half) * (v), (v) += (half) * (a))
#define LEAPFROG_CORRECT(x, v, a, found, h, half, middle)                                          \
    ((v) += (h) * ((found) - (middle) * (a)), (x) += (half) * (v), (a) = (found))

#endif

/// Gear's predictor-corrector for second-order equations, for any number of derivatives.
///
/// The prediction is the Taylor series of the kept derivatives. The correction adds multiples of
/// delta = a - (predicted a) to each: with y_k = x^(k) h^k / k! it is y_k += alpha_k delta h^2/2
/// (Allen & Tildesley, Computer Simulation of Liquids, appendix E; PLMH, appendix). `order` is the
/// highest derivative, a compile-time constant where these are used, so that the loops over the
/// derivatives unroll and the loop over the numbers becomes vector code.
#ifndef TALUS_SOFT_GEAR_H
#define TALUS_SOFT_GEAR_H

#include "base/vec.h"
#include "soft/integrator.h"

enum {
    GEAR_ORDER = INTEGRATOR_KEPT + 1, ///< highest derivative
    GEAR_BLOCK = 1024,                ///< numbers that a thread takes at once
};

static inline int64_t gear_block_end(int64_t first, int64_t count)
{
    return count - first < GEAR_BLOCK ? count : first + GEAR_BLOCK;
}

static ALWAYS_INLINE void gear_values(const int order, const coordinates* c, double** at)
{
    at[0] = c->x;
    at[1] = c->v;
    for (int k = 2; k <= order; k++) at[k] = c->d[k - 2];
}

/// Taylor series of the numbers [first, last).
static ALWAYS_INLINE void gear_predict(const int order, const coordinates* c, double h,
                                       int64_t first, int64_t last)
{
    double* at[GEAR_ORDER + 1];
    double part[GEAR_ORDER + 1]; // h/k
    gear_values(order, c, at);
    for (int k = 1; k <= order; k++) part[k] = h / k;
#pragma omp simd
    for (int64_t i = first; i < last; i++) {
#pragma GCC unroll 8
        for (int k = 0; k < order; k++) { // the higher ones are still those of the beginning
            double sum = at[order][i];
#pragma GCC unroll 8
            for (int j = order - 1; j >= k; j--) sum = at[j][i] + part[j + 1 - k] * sum;
            at[k][i] = sum;
        }
    }
}

/// What delta is multiplied by for each derivative.
static ALWAYS_INLINE void gear_factors(const int order, const double* alpha, double h,
                                       double* factor)
{
    double unit = 0.5 * h * h; // of y_k: h^2/2 k!/h^k
    for (int k = 0; k <= order; k++) {
        factor[k] = alpha[k] * unit;
        unit *= (k + 1) / h;
    }
}

/// Correct the numbers [first, last).
static ALWAYS_INLINE void gear_correct(const int order, const double* alpha, const coordinates* c,
                                       const double* acceleration, double h, int64_t first,
                                       int64_t last)
{
    double* at[GEAR_ORDER + 1];
    double factor[GEAR_ORDER + 1];
    gear_values(order, c, at);
    gear_factors(order, alpha, h, factor);
#pragma omp simd
    for (int64_t i = first; i < last; i++) {
        const double delta = acceleration[i] - at[2][i];
        for (int k = 0; k <= order; k++) {
            // alpha_2 = 1: the acceleration is the one that was found, to the bit.
            at[k][i] = k == 2 ? acceleration[i] : at[k][i] + factor[k] * delta;
        }
    }
}

#endif

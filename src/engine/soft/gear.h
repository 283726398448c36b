/// Gear's predictor-corrector for second-order equations, for any number of derivatives.
///
/// The prediction is the Taylor series of the kept derivatives. The correction adds multiples of
/// delta = a - (predicted a) to each: with y_k = x^(k) h^k / k! it is y_k += alpha_k delta h^2/2
/// (Allen & Tildesley, Computer Simulation of Liquids, appendix E; PLMH, appendix). `order` is the
/// highest derivative, a constant to the compiler, so that the loops over the derivatives unroll
/// and the loop over the numbers becomes vector code.
#ifndef TALUS_SOFT_GEAR_H
#define TALUS_SOFT_GEAR_H

#include "base/vec.h"
#include "soft/integrator.h"

/// A function of its own: gcc forgets `restrict` when it puts one into a parallel region. Each file
/// calls it with one order only, which becomes a constant inside.
#define GEAR_KERNEL __attribute__((noinline))

enum {
    GEAR_ORDER = INTEGRATOR_KEPT + 1, ///< highest derivative
    GEAR_BLOCK = 1024,                ///< numbers that a thread takes at once
};

static inline int64_t gear_block_end(int64_t first, int64_t count)
{
    return count - first < GEAR_BLOCK ? count : first + GEAR_BLOCK;
}

/// Taylor series of the numbers [first, last). Values beyond `order` are NULL.
static GEAR_KERNEL void gear_taylor(const int order, double h, int64_t first, int64_t last,
                                    double* restrict y0, double* restrict y1, double* restrict y2,
                                    double* restrict y3, double* restrict y4, double* restrict y5)
{
    double* const at[] = {y0, y1, y2, y3, y4, y5};
    double part[GEAR_ORDER + 1]; // h/k
    for (int k = 1; k <= order; k++) part[k] = h / k;
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

static ALWAYS_INLINE void gear_predict(const int order, const coordinates* c, double h,
                                       int64_t first, int64_t last)
{
    gear_taylor(order, h, first, last, c->x, c->v, c->d[0], c->d[1], c->d[2], c->d[3]);
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

/// Add what the difference of accelerations gives to the numbers [first, last).
static GEAR_KERNEL void gear_add(const int order, const double* factor, int64_t first, int64_t last,
                                 const double* restrict acceleration, double* restrict y0,
                                 double* restrict y1, double* restrict y2, double* restrict y3,
                                 double* restrict y4, double* restrict y5)
{
    double* const at[] = {y0, y1, y2, y3, y4, y5};
    for (int64_t i = first; i < last; i++) {
        const double delta = acceleration[i] - y2[i];
#pragma GCC unroll 8
        for (int k = 0; k <= order; k++) {
            // alpha_2 = 1: the acceleration is the one that was found, to the bit.
            at[k][i] = k == 2 ? acceleration[i] : at[k][i] + factor[k] * delta;
        }
    }
}

static ALWAYS_INLINE void gear_correct(const int order, const double* alpha, const coordinates* c,
                                       const double* acceleration, double h, int64_t first,
                                       int64_t last)
{
    double factor[GEAR_ORDER + 1];
    gear_factors(order, alpha, h, factor);
    gear_add(order, factor, first, last, acceleration, c->x, c->v, c->d[0], c->d[1], c->d[2],
             c->d[3]);
}

#endif

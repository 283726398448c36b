/// Gear's predictor-corrector for second-order equations, with three and with five derivatives.
///
/// The prediction is the Taylor series of the kept derivatives. The correction adds multiples of
/// delta = a - (predicted a) to each: with y_k = x^(k) h^k / k! it is y_k += alpha_k delta h^2/2
/// (Allen & Tildesley, Computer Simulation of Liquids, appendix E; PLMH, appendix). `order` is the
/// highest derivative, a constant where the functions are called: the compiler makes one of each
/// for every order, unrolls the loops over the derivatives and makes vector code of that over the
/// numbers.
#include "soft/integrator.h"

/// A function of its own: gcc forgets `restrict` when it puts one into another.
#define OF_ITS_OWN __attribute__((noinline))

enum { GEAR_ORDER = INTEGRATOR_KEPT + 1 }; ///< highest derivative, at most

/// Taylor series of the numbers [first, last). Values beyond `order` are NULL.
static OF_ITS_OWN void taylor(const int order, double h, int64_t first, int64_t last,
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

/// Add what the difference of accelerations gives to the numbers [first, last).
static OF_ITS_OWN void add_delta(const int order, const double* alpha, double h, int64_t first,
                                 int64_t last, const double* restrict acceleration,
                                 double* restrict y0, double* restrict y1, double* restrict y2,
                                 double* restrict y3, double* restrict y4, double* restrict y5)
{
    double* const at[] = {y0, y1, y2, y3, y4, y5};
    double factor[GEAR_ORDER + 1], unit = 0.5 * h * h; // of y_k: h^2/2 k!/h^k
    for (int k = 0; k <= order; k++) {
        factor[k] = alpha[k] * unit;
        unit *= (k + 1) / h;
    }
    for (int64_t i = first; i < last; i++) {
        const double delta = acceleration[i] - y2[i];
#pragma GCC unroll 8
        for (int k = 0; k <= order; k++) {
            // alpha_2 = 1: the acceleration is the one that was found, to the bit.
            at[k][i] = k == 2 ? acceleration[i] : at[k][i] + factor[k] * delta;
        }
    }
}

// ---- three derivatives -------------------------------------------------------------------------

static void predict_3(const coordinates* c, double h, int64_t first, int64_t last)
{
    taylor(3, h, first, last, c->x, c->v, c->d[0], c->d[1], NULL, NULL);
}

/// Allen & Tildesley, appendix E: second-order equation, four values.
static void correct_3(const coordinates* c, const double* acceleration, double h, int64_t first,
                      int64_t last)
{
    static const double alpha[] = {1.0 / 6.0, 5.0 / 6.0, 1.0, 1.0 / 3.0};
    add_delta(3, alpha, h, first, last, acceleration, c->x, c->v, c->d[0], c->d[1], NULL, NULL);
}

const integrator gear3_integrator = {
    .name = "gear3",
    .kept = 2,
    .order = 3,
    .evaluates_at = 1.0,
    .stable = 1.4142135623730951, // square root of 2
    .stable_rate = 6.0 / 11.0,
    .steady = 1.4142135623730951,
    .predict = predict_3,
    .correct = correct_3,
};

// ---- five derivatives --------------------------------------------------------------------------

static void predict_5(const coordinates* c, double h, int64_t first, int64_t last)
{
    taylor(5, h, first, last, c->x, c->v, c->d[0], c->d[1], c->d[2], c->d[3]);
}

/// The coefficients for forces that depend on velocities (PLMH, appendix).
static void correct_5(const coordinates* c, const double* acceleration, double h, int64_t first,
                      int64_t last)
{
    static const double alpha[] = {3.0 / 16.0,  251.0 / 360.0, 1.0,
                                   11.0 / 18.0, 1.0 / 6.0,     1.0 / 60.0};
    add_delta(5, alpha, h, first, last, acceleration, c->x, c->v, c->d[0], c->d[1], c->d[2],
              c->d[3]);
}

const integrator gear5_integrator = {
    .name = "gear5",
    .kept = 4,
    .order = 5,
    .evaluates_at = 1.0,
    .stable = 0.79893546193696061, // square root of 30/47
    .stable_rate = 90.0 / 551.0,
    .steady = 0.31297,
    .predict = predict_5,
    .correct = correct_5,
};

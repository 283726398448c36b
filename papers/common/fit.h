/// Least squares: straight lines, powers, damped oscillations.
#ifndef TALUS_PAPER_FIT_H
#define TALUS_PAPER_FIT_H

#include <stdbool.h>
#include <stdint.h>

/// y = intercept + slope x. Errors are standard errors from the scatter about the line; 0 for two
/// points.
typedef struct fit_line_result {
    double slope, slope_error;
    double intercept, intercept_error;
} fit_line_result;

/// Fit a straight line through at least two points with different x.
fit_line_result fit_line(int64_t count, const double* x, const double* y);
/// Fit y = exp(intercept) x^slope, as a line through the logarithms: x, y > 0.
fit_line_result fit_power(int64_t count, const double* x, const double* y);

/// Fit b and c of the recursion a(t + 2s) = b a(t + s) - c a(t), which damped waves obey with
/// b = 2 exp(-s/tau) cos(omega s), c = exp(-2s/tau).
void fit_recursion(int64_t count, const double* a, int64_t s, double* b, double* c);

/// Mean of numbers and its standard error; the error of fewer than two numbers is 0.
typedef struct fit_mean_result {
    double mean, error, deviation;
} fit_mean_result;

fit_mean_result fit_mean(int64_t count, const double* x);

/// x(t) = offset + amplitude exp(-t/tau) sin(omega t + phase), UBWK (21).
typedef struct fit_wave {
    double offset, amplitude, tau, omega, phase;
    double tau_error, omega_error; ///< standard errors from the scatter about the curve
    double scatter;                ///< root mean square of what is left
} fit_wave;

/// Fit all five numbers. *wave holds guesses of tau and omega; the others need none. False if the
/// search ends without a minimum.
bool fit_damped_wave(int64_t count, const double* t, const double* x, fit_wave* wave);
/// Fit offset, amplitude and phase with tau and omega held as they are.
void fit_wave_amplitude(int64_t count, const double* t, const double* x, fit_wave* wave);
/// Value of the curve at t.
double fit_wave_at(const fit_wave* wave, double t);

#endif

/// Least squares about the points' mean, so that far origins cost no digits.
///
/// With S = sum of d d^T over the points' horizontal distances d from their mean, the rise is
/// S^-1 sum d top, and its covariance S^-1 times the mean square left over (count less the numbers
/// fitted). The angle is atan |rise|; its error the rise's along the steepest direction, times
/// d angle / d rise = 1/(1 + rise^2).
#include "measure/slope_fit.h"

#include "base/vec.h"

bool slope_fit_make(int64_t count, const double* x, const double* y, const double* top,
                    slope_fit* out)
{
    double mean[3] = {0}, s[3] = {0}, right[2] = {0};
    const int fitted = y ? 3 : 2;
    *out = (slope_fit){.count = count};
    if (count <= fitted) return false;
    for (int64_t i = 0; i < count; i++) {
        mean[0] += x[i] / (double)count;
        mean[1] += y ? y[i] / (double)count : 0.0;
        mean[2] += top[i] / (double)count;
    }
    for (int64_t i = 0; i < count; i++) {
        const double u = x[i] - mean[0], v = y ? y[i] - mean[1] : 0.0, h = top[i] - mean[2];
        s[0] += u * u, s[1] += u * v, s[2] += v * v;
        right[0] += u * h, right[1] += v * h;
    }
    if (!y) s[2] = 1.0; // the second rise is then 0, and independent
    const double det = s[0] * s[2] - s[1] * s[1];
    if (!(s[0] > 0.0) || !(det > 1e-12 * s[0] * s[2])) return false;
    out->rise[0] = (s[2] * right[0] - s[1] * right[1]) / det;
    out->rise[1] = y ? (s[0] * right[1] - s[1] * right[0]) / det : 0.0;
    out->level = mean[2] - out->rise[0] * mean[0] - out->rise[1] * mean[1];
    for (int64_t i = 0; i < count; i++) {
        const double u = x[i] - mean[0], v = y ? y[i] - mean[1] : 0.0;
        const double off = top[i] - mean[2] - out->rise[0] * u - out->rise[1] * v;
        out->squares += off * off;
    }
    const double variance = out->squares / (double)(count - fitted);
    out->covariance[0] = variance * s[2] / det;
    out->covariance[1] = -variance * s[1] / det;
    out->covariance[2] = y ? variance * s[0] / det : 0.0;
    return true;
}

double slope_fit_angle(const slope_fit* fit, double* error)
{
    const double rise = vec_norm(2, fit->rise);
    const double u = rise > 0.0 ? fit->rise[0] / rise : 1.0;
    const double v = rise > 0.0 ? fit->rise[1] / rise : 0.0;
    const double variance =
        u * u * fit->covariance[0] + 2.0 * u * v * fit->covariance[1] + v * v * fit->covariance[2];
    *error = 180.0 / M_PI * sqrt(fmax(variance, 0.0)) / (1.0 + rise * rise);
    return 180.0 / M_PI * atan(rise);
}

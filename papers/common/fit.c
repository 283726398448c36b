/// Least squares. The damped oscillation is linear in three of its five numbers: for given tau and
/// omega the offset and the parts with sine and cosine solve a 3 x 3 system. So MINPACK's
/// Levenberg-Marquardt search has only (ln tau, omega) to find (variable projection), from guesses
/// that need not be good.
#include "fit.h"

#include <cminpack.h>
#include <math.h>
#include <stdlib.h>

fit_line_result fit_line(int64_t count, const double* x, const double* y)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
    for (int64_t i = 0; i < count; i++) {
        mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (int64_t i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    fit_line_result fit = {.slope = xy / xx};
    fit.intercept = mean_y - fit.slope * mean_x;
    for (int64_t i = 0; i < count; i++) {
        double off = y[i] - fit.intercept - fit.slope * x[i];
        rest += off * off;
    }
    double variance = count > 2 ? rest / (double)(count - 2) : 0;
    fit.slope_error = sqrt(variance / xx);
    fit.intercept_error = sqrt(variance * (1 / (double)count + mean_x * mean_x / xx));
    return fit;
}

fit_line_result fit_power(int64_t count, const double* x, const double* y)
{
    fit_line_result fit = {.slope = NAN, .slope_error = NAN, .intercept = NAN};
    double* logs = malloc(2 * (size_t)count * sizeof *logs);
    if (!logs) return fit;
    for (int64_t i = 0; i < count; i++) {
        logs[i] = log(x[i]);
        logs[count + i] = log(y[i]);
    }
    fit = fit_line(count, logs, logs + count);
    free(logs);
    return fit;
}

void fit_recursion(int64_t count, const double* a, int64_t s, double* b, double* c)
{
    double xx = 0.0, xy = 0.0, yy = 0.0, xz = 0.0, yz = 0.0;
    for (int64_t t = 0; t + 2 * s < count; t++) {
        const double x = a[t + s], y = -a[t], z = a[t + 2 * s];
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xz += x * z;
        yz += y * z;
    }
    const double determinant = xx * yy - xy * xy;
    *b = (xz * yy - yz * xy) / determinant;
    *c = (yz * xx - xz * xy) / determinant;
}

fit_mean_result fit_mean(int64_t count, const double* x)
{
    fit_mean_result fit = {0};
    for (int64_t i = 0; i < count; i++) fit.mean += x[i] / (double)count;
    for (int64_t i = 0; i < count; i++) {
        fit.deviation += (x[i] - fit.mean) * (x[i] - fit.mean);
    }
    fit.deviation = count > 1 ? sqrt(fit.deviation / (double)(count - 1)) : 0;
    fit.error = count > 1 ? fit.deviation / sqrt((double)count) : 0;
    return fit;
}

// ---- the damped oscillation --------------------------------------------------------------------

typedef struct wave_data {
    int64_t count;
    const double* t;
    const double* x;
} wave_data;

/// Solve the 3 x 3 system a c = b of the normal equations by elimination with pivots.
static void solve_three(double a[3][4])
{
    for (int k = 0; k < 3; k++) {
        int pivot = k;
        for (int i = k + 1; i < 3; i++) {
            if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
        }
        for (int j = 0; j < 4; j++) {
            double keep = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = keep;
        }
        for (int i = 0; i < 3; i++) {
            if (i == k) continue;
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < 4; j++) a[i][j] -= factor * a[k][j];
        }
    }
    for (int k = 0; k < 3; k++) a[k][3] /= a[k][k];
}

/// Offset and the parts with sine and cosine, for given tau and omega. Times count from the first,
/// or the exponential could leave the range of numbers.
static void linear_part(const wave_data* data, double tau, double omega, double c[3])
{
    double a[3][4] = {{0}};
    for (int64_t i = 0; i < data->count; i++) {
        double t = data->t[i] - data->t[0], envelope = exp(-t / tau);
        double f[3] = {1, envelope * sin(omega * t), envelope * cos(omega * t)};
        for (int k = 0; k < 3; k++) {
            for (int l = 0; l < 3; l++) a[k][l] += f[k] * f[l];
            a[k][3] += f[k] * data->x[i];
        }
    }
    solve_three(a);
    for (int k = 0; k < 3; k++) c[k] = a[k][3];
}

static double value(const double c[3], double tau, double omega, double t)
{
    return c[0] + exp(-t / tau) * (c[1] * sin(omega * t) + c[2] * cos(omega * t));
}

/// What is left of every point, for MINPACK; p = {ln tau, omega}.
static int wave_rest(void* user, int count, int parameters, const double* p, double* rest, int flag)
{
    (void)parameters;
    (void)flag;
    const wave_data* data = user;
    double c[3], tau = exp(p[0]);
    linear_part(data, tau, p[1], c);
    for (int i = 0; i < count; i++) {
        rest[i] = value(c, tau, p[1], data->t[i] - data->t[0]) - data->x[i];
    }
    return 0;
}

void fit_wave_amplitude(int64_t count, const double* t, const double* x, fit_wave* wave)
{
    wave_data data = {count, t, x};
    double c[3], square = 0;
    linear_part(&data, wave->tau, wave->omega, c);
    wave->offset = c[0];
    wave->amplitude = hypot(c[1], c[2]) * exp(t[0] / wave->tau);
    wave->phase = atan2(c[2], c[1]) - wave->omega * t[0];
    for (int64_t i = 0; i < count; i++) {
        double off = value(c, wave->tau, wave->omega, t[i] - t[0]) - x[i];
        square += off * off;
    }
    wave->scatter = sqrt(square / (double)count);
}

bool fit_damped_wave(int64_t count, const double* t, const double* x, fit_wave* wave)
{
    enum { PARAMETERS = 2, EVALUATIONS = 2000 };
    if (count < 8) return false;
    int n = (int)count, evaluations, pivots[PARAMETERS];
    double p[PARAMETERS] = {log(wave->tau), wave->omega}, scale[PARAMETERS], slope[PARAMETERS];
    double w1[PARAMETERS], w2[PARAMETERS], w3[PARAMETERS];
    double* room = malloc((size_t)count * (PARAMETERS + 2) * sizeof *room);
    if (!room) return false;
    double *rest = room, *jacobian = room + count, *w4 = jacobian + PARAMETERS * count;
    wave_data data = {count, t, x};
    int info = lmdif(wave_rest, &data, n, PARAMETERS, p, rest, 1e-12, 1e-12, 0, EVALUATIONS, 0,
                     scale, 1, 1, 0, &evaluations, jacobian, n, pivots, slope, w1, w2, w3, w4);
    wave->tau = exp(p[0]);
    wave->omega = fabs(p[1]);
    fit_wave_amplitude(count, t, x, wave);
    // Standard errors from the covariance of the search's last Jacobian, which covar() makes of R.
    covar(PARAMETERS, jacobian, n, pivots, 1e-14, w1);
    const double variance = wave->scatter * wave->scatter * (double)count / (double)(count - 5);
    wave->tau_error = wave->tau * sqrt(variance * jacobian[0]);
    wave->omega_error = sqrt(variance * jacobian[count + 1]);
    free(room);
    // 1 to 4: a minimum; 6 to 8: as near to it as rounding lets it come.
    return info >= 1 && info != 5 && isfinite(wave->scatter);
}

double fit_wave_at(const fit_wave* wave, double t)
{
    return wave->offset +
           wave->amplitude * exp(-t / wave->tau) * sin(wave->omega * t + wave->phase);
}

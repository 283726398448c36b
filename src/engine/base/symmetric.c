/// Jacobi's method for small symmetric matrices: rotations that make one entry after the other
/// zero, until nothing is left beside the diagonal.
#include "base/symmetric.h"
#include "base/portable.h"

#include <math.h>
#include <string.h>

/// Columns or rows p and q of a matrix, `stride` apart from entry to entry.
static void turn(int n, double* x, double* y, int stride, double c, double s)
{
    for (int k = 0; k < n; k++) {
        double old_x = x[k * stride], old_y = y[k * stride];
        x[k * stride] = c * old_x - s * old_y;
        y[k * stride] = s * old_x + c * old_y;
    }
}

/// One rotation that makes a[p][q] zero.
static void rotate(int n, double* a, double* v, int p, int q)
{
    const double off = a[p * n + q];
    if (off == 0.0) return;
    double theta = 0.5 * (a[q * n + q] - a[p * n + p]) / off;
    double t = copysign(1.0, theta) / (fabs(theta) + portable_hypot(theta, 1.0));
    double c = 1.0 / portable_hypot(t, 1.0), s = t * c;
    turn(n, a + p, a + q, n, c, s);
    turn(n, a + p * n, a + q * n, 1, c, s);
    a[p * n + q] = a[q * n + p] = 0.0;
    turn(n, v + p, v + q, n, c, s);
}

void symmetric_diagonalise(int n, double* a, double* v)
{
    enum { SWEEPS = 16 }; // converges quadratically: five are the rule
    for (int k = 0; k < n * n; k++) v[k] = k % (n + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) rotate(n, a, v, p, q);
        }
    }
}

void symmetric_solve(int n, const double* a, const double* b, double least, double* x)
{
    double d[SYMMETRIC_MOST * SYMMETRIC_MOST], v[SYMMETRIC_MOST * SYMMETRIC_MOST], largest = 0.0;
    memcpy(d, a, sizeof *d * (size_t)(n * n));
    symmetric_diagonalise(n, d, v);
    for (int k = 0; k < n; k++) largest = fmax(largest, fabs(d[k * n + k]));
    for (int k = 0; k < n; k++) x[k] = 0.0;
    for (int k = 0; k < n; k++) {
        if (!(fabs(d[k * n + k]) > least * largest)) continue;
        double part = 0.0;
        for (int i = 0; i < n; i++) part += v[i * n + k] * b[i];
        for (int i = 0; i < n; i++) x[i] += part / d[k * n + k] * v[i * n + k];
    }
}

/// One contact alone; see contact.h.
///
/// Sliding in 3D: r = r_N (1, mu d) with a unit tangent d, u_N = 0 and u_T against d. With a, b, C
/// the normal, mixed and tangential parts of S this is d x (M d - v) = 0,
///     M = mu (f_T b^T - f_N C),   v = f_N b - a f_T,   u_T (a + mu b.d) = M d - v.
#include "rigid/reduced/contact.h"
#include "base/portable.h"

#include "law/coulomb.h"
#include "law/disks.h"

#include <float.h>
#include <string.h>

/// Share of its trace that is added to a block without an inverse, a pivot that is rounding, and
/// the share at which something else is wrong.
static const double REGULAR = 1e-12, DEFINITE = 1e-13, HOPELESS = 1e6;

/// Inverse of a symmetric positive definite matrix by S = L D L^T; false if it has none.
static ALWAYS_INLINE bool invert(const int width, const double* S, double* inverse)
{
    double L[5][5], V[5][5], K[5][5], D[5]; // V = L D without inverses, K = L^-1, D holds 1/D
    for (int i = 0; i < width; i++) {
        double left = S[i * (width + 1)];
        for (int j = 0; j < i; j++) {
            V[i][j] = S[i * width + j];
            for (int k = 0; k < j; k++) V[i][j] -= V[i][k] * L[j][k];
            L[i][j] = V[i][j] * D[j];
            left -= V[i][j] * L[i][j];
        }
        if (!(left > DEFINITE * S[i * (width + 1)])) return false;
        D[i] = 1.0 / left;
    }
    for (int j = 0; j < width; j++) {
        K[j][j] = 1.0;
        for (int i = j + 1; i < width; i++) {
            double sum = -L[i][j];
            for (int k = j + 1; k < i; k++) sum -= L[i][k] * K[k][j];
            K[i][j] = sum;
        }
    }
    for (int i = 0; i < width; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = i; k < width; k++) sum += K[k][i] * D[k] * K[k][j];
            inverse[i * width + j] = inverse[j * width + i] = sum;
        }
    }
    return true;
}

static ALWAYS_INLINE void prepare(const int width, const double* block, double* own)
{
    double* inverse = own + width * width;
    double trace = 0.0;
    for (int i = 0; i < width; i++) {
        for (int j = 0; j < width; j++) {
            own[i * width + j] = 0.5 * (block[i * width + j] + block[j * width + i]);
        }
        trace += fabs(own[i * width + i]);
    }
    if (!(trace > 0.0)) trace = 1.0;
    // A block may be indefinite by the rounding of the file it comes from: add until it is not.
    bool good = invert(width, own, inverse);
    for (double share = REGULAR; !good && share < HOPELESS; share *= 10.0) {
        for (int i = 0; i < width; i++) own[i * width + i] += share * trace;
        good = invert(width, own, inverse);
    }
    if (!good) memset(inverse, 0, sizeof *inverse * (size_t)(width * width)); // not a number
}

void reduced_contact_prepare(int width, const double* block, double* own)
{
    switch (width) {
    case 2: prepare(2, block, own); break;
    case 3: prepare(3, block, own); break;
    default: prepare(5, block, own); break;
    }
}

// ---- sliding in 3D -----------------------------------------------------------------------------

/// Newton's method on the angle of d; false if it did not come to rest.
static bool turn_to_root(const double M[4], const double v[2], double* d)
{
    for (int i = 0; i < 12; i++) {
        double m0 = M[0] * d[0] + M[1] * d[1] - v[0], m1 = M[2] * d[0] + M[3] * d[1] - v[1];
        double F = d[0] * m1 - d[1] * m0;
        double k0 = M[1] * d[0] - M[0] * d[1], k1 = M[3] * d[0] - M[2] * d[1];
        double slope = d[0] * k1 - d[1] * k0 - (d[0] * m0 + d[1] * m1), step = -F / slope;
        if (!(fabs(step) < 1.0)) step = copysign(1.0, F) * (slope > 0.0 ? -1.0 : 1.0);
        double x = d[0] - step * d[1], y = d[1] + step * d[0], length = 1.0 / sqrt(x * x + y * y);
        d[0] = x * length;
        d[1] = y * length;
        if (fabs(step) < 1e-9) return true;
    }
    return false;
}

void reduced_contact_slide_3(const double* own, double mu, const double* free, const double* stick,
                             double* r)
{
    const double *S = own, *inverse = own + 9, *b = S + 1, *fT = free + 1;
    if (!(mu > 0.0)) {
        r[0] = -free[0] / S[0];
        r[1] = r[2] = 0.0;
        return;
    }
    const double M[4] = {mu * (fT[0] * b[0] - free[0] * S[4]), mu * (fT[0] * b[1] - free[0] * S[5]),
                         mu * (fT[1] * b[0] - free[0] * S[7]),
                         mu * (fT[1] * b[1] - free[0] * S[8])};
    const double v[2] = {free[0] * b[0] - S[0] * fT[0], free[0] * b[1] - S[0] * fT[1]};
    const double* start = r[0] > 0.0 && (r[1] != 0.0 || r[2] != 0.0) ? r + 1 : stick + 1;
    double length = vec_norm(2, start), d[2] = {start[0] / length, start[1] / length};
    if (length > 0.0 && turn_to_root(M, v, d)) {
        double response = S[0] + mu * (b[0] * d[0] + b[1] * d[1]);
        double m0 = M[0] * d[0] + M[1] * d[1] - v[0], m1 = M[2] * d[0] + M[3] * d[1] - v[1];
        if (response > 0.0 && m0 * d[0] + m1 * d[1] <= 0.0) {
            r[0] = -free[0] / response;
            r[1] = mu * r[0] * d[0];
            r[2] = mu * r[0] * d[1];
            return;
        }
    }
    const double normal[3] = {1.0, 0.0, 0.0};
    coulomb_block(3, S, inverse, normal, 0.0, mu, free, NULL, r);
    if (!vec_finite(3, r)) memset(r, 0, 3 * sizeof *r);
}

// ---- rolling -----------------------------------------------------------------------------------

/// Times that the parts of a rolling contact are minimised in turn; the sweeps do the rest.
enum { PASSES = 4 };

/// x minimises x.A x/2 + b.x over the disk |x| <= limit, in the principal axes of A [2][2].
static void disk_of_full(const double* A, int row, const double* b, double limit, double* x)
{
    const double a = A[0], c = A[row + 1], off = A[1], spread = portable_hypot(a - c, 2.0 * off);
    double cs = 1.0, sn = 0.0; // of half the angle whose cosine is (a - c)/spread
    if (spread > 0.0 && a >= c) {
        cs = sqrt(0.5 * (1.0 + (a - c) / spread));
        sn = off / (spread * cs);
    } else if (spread > 0.0) {
        sn = sqrt(0.5 * (1.0 + (c - a) / spread));
        cs = off / (spread * sn);
    }
    double w[2] = {0.5 * (a + c + spread), 0.5 * (a + c - spread)}, y[2];
    if (spread == 0.0) w[0] = w[1] = a;
    double turned[2] = {cs * b[0] + sn * b[1], cs * b[1] - sn * b[0]};
    disk_minimise(2, w, turned, limit, y);
    x[0] = cs * y[0] - sn * y[1];
    x[1] = sn * y[0] + cs * y[1];
}

/// Motion of component i without the part of components [skip, skip + m).
static double others(const double* S, const double* free, const double* r, int i, int skip, int m)
{
    double sum = free[i];
    for (int j = 0; j < 5; j++) sum += j >= skip && j < skip + m ? 0.0 : S[i * 5 + j] * r[j];
    return sum;
}

void reduced_contact_rub_5(const double* own, double mu, double mu_r, const double* free, double* r)
{
    const double* S = own;
    for (int pass = 0; pass < PASSES; pass++) {
        double before[5], change = 0.0, size = 0.0;
        vec_copy(5, before, r);
        r[0] = fmax(0.0, -others(S, free, r, 0, 0, 1) / S[0]);
        double b[2] = {others(S, free, r, 1, 1, 2), others(S, free, r, 2, 1, 2)};
        disk_of_full(S + 6, 5, b, mu * r[0], r + 1);
        double c[2] = {others(S, free, r, 3, 3, 2), others(S, free, r, 4, 3, 2)};
        disk_of_full(S + 18, 5, c, mu_r * r[0], r + 3);
        for (int k = 0; k < 5; k++) {
            change += S[k * 6] * (r[k] - before[k]) * (r[k] - before[k]);
            size += S[k * 6] * r[k] * r[k];
        }
        if (change <= DBL_EPSILON * DBL_EPSILON * size) return;
    }
}

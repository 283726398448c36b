/// Velocities of a contact problem without bodies, and the two measures of how well it is solved.
///
/// The error of the FCLIB community is defined in cone.h. The residual without units brings every
/// contact to one unit by the diagonal of its own block: with D_N = W_NN, D_T and D_R the means of
/// W over the tangential and over the rolling components of the contact,
///     t_N = max(0, r_N - u_N/D_N),  t_T = (r_T - u_T/D_T) cut to the length mu t_N,  t_R likewise,
///     residual^2 = sum_c sum_k D_k (r_k - t_k)^2 / max( sum_c sum_k D_k r_k^2, sum_c s_c^2/D_N ),
/// with s_c = max(0, -q_N) the approach without impulses. All sums are energies, so that light and
/// heavy contacts count alike and the result does not change when masses, lengths or times are
/// rescaled. It is zero exactly when the law holds. For a problem of balls that all weigh the same
/// it is the residual of solve/residual.c. 0/0 (nothing pushes anywhere) is 0.
#include "solve/cone_inside.h"

#include <stdlib.h>
#include <string.h>

void cone_free(cone_problem* p)
{
    free(p->first);
    free(p->column);
    free(p->block);
    free(p->q);
    free(p->mu);
    free(p->mu_r);
    *p = (cone_problem){0};
}

int64_t cone_diagonal(const cone_problem* p, int64_t c)
{
    int64_t low = p->first[c], high = p->first[c + 1] - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->column[middle] < c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

cone_scale cone_scale_of(int width, const double* S)
{
    double n = S[0], t = width == 2 ? S[3] : 0.5 * (S[width + 1] + S[2 * width + 2]);
    double r = width == 5 ? 0.5 * (S[18] + S[24]) : 0.0;
    double size = fmax(n, t);
    if (!(size > 0.0)) size = r > 0.0 ? r : 1.0;
    // A component that nothing moves: any unit will do that does not divide by zero.
    return (cone_scale){n > 0.0 ? n : size, t > 0.0 ? t : size, r > 0.0 ? r : size};
}

static ALWAYS_INLINE void velocity(const cone_problem* p, const double* r, double* u)
{
    for (int64_t c = 0; c < p->count; c++) {
        switch (p->width) {
        case 2: cone_row_velocity(2, p, c, r, u + 2 * c); break;
        case 3: cone_row_velocity(3, p, c, r, u + 3 * c); break;
        default: cone_row_velocity(5, p, c, r, u + 5 * c); break;
        }
    }
}

static void velocity_portable(const cone_problem* p, const double* r, double* u)
{
    velocity(p, r, u);
}

CONE_AVX2 static void velocity_avx2(const cone_problem* p, const double* r, double* u)
{
    velocity(p, r, u);
}

void cone_velocity(const cone_problem* p, const double* r, double* u)
{
    if (cone_has_avx2()) {
        velocity_avx2(p, r, u);
    } else {
        velocity_portable(p, r, u);
    }
}

/// Euclidean projection of (n, t, s) on { 0 <= t <= mu n, 0 <= s <= mu_r n }, t and s >= 0 given.
static void project_lengths(double mu, double mu_r, double* n, double* t, double* s)
{
    const double n0 = *n, t0 = *t, s0 = *s;
    if (t0 <= mu * n0 && s0 <= mu_r * n0) return;
    *n = *t = *s = 0.0;
    if (n0 + mu * t0 + mu_r * s0 <= 0.0) return;
    double slide = (n0 + mu * t0) / (1.0 + mu * mu);
    double roll = (n0 + mu_r * s0) / (1.0 + mu_r * mu_r);
    if (t0 >= mu * slide && s0 <= mu_r * slide) {
        *n = slide, *t = mu * slide, *s = s0;
    } else if (s0 >= mu_r * roll && t0 <= mu * roll) {
        *n = roll, *t = t0, *s = mu_r * roll;
    } else {
        *n = (n0 + mu * t0 + mu_r * s0) / (1.0 + mu * mu + mu_r * mu_r);
        *t = mu * *n, *s = mu_r * *n;
    }
}

/// Square of r - P_K(r - (u_N + mu |u_T| + mu_r |u_R|, u_T, u_R)).
static ALWAYS_INLINE double error_square(const int width, double mu, double mu_r, const double* r,
                                         const double* u)
{
    const int m = width == 2 ? 1 : 2;
    double z[5] = {r[0] - u[0] - mu * vec_norm(m, u + 1)}, sum = 0.0;
    if (width == 5) z[0] -= mu_r * vec_norm(2, u + 3);
    for (int k = 1; k < width; k++) z[k] = r[k] - u[k];
    double n = z[0], t0 = vec_norm(m, z + 1), s0 = width == 5 ? vec_norm(2, z + 3) : 0.0;
    double t = t0, s = s0;
    project_lengths(mu, width == 5 ? mu_r : 0.0, &n, &t, &s);
    sum = (r[0] - n) * (r[0] - n);
    for (int k = 1; k < width; k++) {
        double length = k <= m ? t : s, before = k <= m ? t0 : s0;
        double e = r[k] - (before > 0.0 ? z[k] * (length / before) : 0.0);
        sum += e * e;
    }
    return sum;
}

/// Sum of D (r - t)^2 of one contact; see the head of the file.
static ALWAYS_INLINE double residual_square(const int width, const cone_scale* D, double mu,
                                            double mu_r, const double* r, const double* u)
{
    double t[5];
    cone_map(width, D, mu, mu_r, r, u, t);
    double sum = D->n * (r[0] - t[0]) * (r[0] - t[0]);
    for (int k = 1; k < width; k++) {
        sum += (k < 3 ? D->t : D->r) * (r[k] - t[k]) * (r[k] - t[k]);
    }
    return sum;
}

static ALWAYS_INLINE cone_measure measure(const int width, const cone_problem* p,
                                          const int64_t* diagonal, const double* r)
{
    double e2 = 0.0, r2 = 0.0, u2 = 0.0, q2 = 0.0, left = 0.0, energy = 0.0, approach = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        const double *rc = r + c * width, *qc = p->q + c * width;
        const double mu = p->mu[c], mu_r = width == 5 ? p->mu_r[c] : 0.0;
        double u[5];
        cone_row_velocity(width, p, c, r, u);
        const int64_t own = diagonal ? diagonal[c] : cone_diagonal(p, c);
        cone_scale D = cone_scale_of(width, p->block + own * width * width);
        e2 += error_square(width, mu, mu_r, rc, u);
        left += residual_square(width, &D, mu, mu_r, rc, u);
        for (int k = 0; k < width; k++) {
            r2 += rc[k] * rc[k];
            u2 += u[k] * u[k];
            q2 += qc[k] * qc[k];
            energy += (k == 0 ? D.n : (k < 3 ? D.t : D.r)) * rc[k] * rc[k];
        }
        if (qc[0] < 0.0) approach += qc[0] * qc[0] / D.n;
    }
    double size2 = fmax(fmax(r2, u2), q2), scale = fmax(energy, approach);
    return (cone_measure){.error = size2 > 0.0 ? sqrt(e2 / size2) : (e2 > 0.0 ? INFINITY : 0.0),
                          .residual =
                              scale > 0.0 ? sqrt(left / scale) : (left > 0.0 ? INFINITY : 0.0)};
}

static cone_measure measure_portable(const cone_problem* p, const int64_t* diagonal,
                                     const double* r)
{
    switch (p->width) {
    case 2: return measure(2, p, diagonal, r);
    case 3: return measure(3, p, diagonal, r);
    default: return measure(5, p, diagonal, r);
    }
}

CONE_AVX2 static cone_measure measure_avx2(const cone_problem* p, const int64_t* diagonal,
                                           const double* r)
{
    switch (p->width) {
    case 2: return measure(2, p, diagonal, r);
    case 3: return measure(3, p, diagonal, r);
    default: return measure(5, p, diagonal, r);
    }
}

cone_measure cone_measure_of(const cone_problem* p, const int64_t* diagonal, const double* r)
{
    return cone_has_avx2() ? measure_avx2(p, diagonal, r) : measure_portable(p, diagonal, r);
}

double cone_error(const cone_problem* p, const double* r)
{
    return cone_measure_of(p, NULL, r).error;
}

double cone_residual(const cone_problem* p, const double* r)
{
    return cone_measure_of(p, NULL, r).residual;
}

/// Random contact problems without bodies for test_reduced*.c, and the law worked out independently
/// from a dense matrix.
#ifndef TALUS_TESTS_REDUCED_MODEL_H
#define TALUS_TESTS_REDUCED_MODEL_H

#include "support.h"

#include "random.h"
#include "rigid/reduced/reduced.h"

#include <string.h>

enum { MODEL_CONTACTS = 40, MODEL_BODIES = 20, MODEL_UNKNOWNS = 5 * MODEL_CONTACTS };

/// A problem as a full matrix.
typedef struct dense {
    int width, count;
    double W[MODEL_UNKNOWNS][MODEL_UNKNOWNS];
    double q[MODEL_UNKNOWNS], mu[MODEL_CONTACTS], mu_r[MODEL_CONTACTS];
} dense;

static void* fresh(size_t bytes)
{
    void* memory = calloc(1, bytes + 1);
    assert_non_null(memory);
    return memory;
}

/// The sparse problem: blocks that are not zero and the diagonal.
static reduced_problem reduced_of_dense(const dense* d)
{
    const int w = d->width, n = d->count;
    const size_t count = (size_t)n;
    reduced_problem p = {.width = w, .count = n};
    p.first = fresh(sizeof *p.first * (count + 1));
    p.column = fresh(sizeof *p.column * count * count);
    p.block = fresh(sizeof(double) * count * count * (size_t)(w * w));
    p.q = fresh(sizeof(double) * count * (size_t)w);
    p.mu = fresh(sizeof(double) * count);
    p.mu_r = fresh(sizeof(double) * count);
    memcpy(p.q, d->q, sizeof(double) * count * (size_t)w);
    memcpy(p.mu, d->mu, sizeof(double) * count);
    memcpy(p.mu_r, d->mu_r, sizeof(double) * count);
    int64_t blocks = 0;
    for (int c = 0; c < n; c++) {
        for (int e = 0; e < n; e++) {
            double* block = p.block + blocks * w * w;
            bool filled = c == e;
            for (int k = 0; k < w * w; k++) {
                block[k] = d->W[c * w + k / w][e * w + k % w];
                filled = filled || block[k] != 0.0;
            }
            if (filled) p.column[blocks++] = e;
        }
        p.first[c + 1] = blocks;
    }
    return p;
}

// ---- the law, independently --------------------------------------------------------------------

static void dense_velocity(const dense* d, const double* r, double* u)
{
    const int n = d->width * d->count;
    for (int i = 0; i < n; i++) {
        u[i] = d->q[i];
        for (int j = 0; j < n; j++) u[i] += d->W[i][j] * r[j];
    }
}

static double length_of(int m, const double* x)
{
    return m == 1 ? fabs(x[0]) : hypot(x[0], x[1]);
}

/// Half the slope of the squared distance from a point with normal part n and lengths t, s to the
/// point of the cone with normal part x that is nearest to it.
static double slope(double x, double n, double t, double s, double mu, double mu_r)
{
    return x - n - mu * fmax(0.0, t - mu * x) - mu_r * fmax(0.0, s - mu_r * x);
}

/// Normal part of the projection on the cone: the slope rises with it, so halving finds its zero.
static double projected_normal(double n, double t, double s, double mu, double mu_r)
{
    double low = 0.0, high = fabs(n) + mu * t + mu_r * s;
    if (slope(0.0, n, t, s, mu, mu_r) >= 0.0) return 0.0;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        if (slope(middle, n, t, s, mu, mu_r) < 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/// The community's error by its formula.
static double own_error(const dense* d, const double* r)
{
    const int w = d->width, m = w == 2 ? 1 : 2, n = w * d->count;
    double u[MODEL_UNKNOWNS], sum = 0.0, qq = 0.0, rr = 0.0, uu = 0.0;
    dense_velocity(d, r, u);
    for (int c = 0; c < d->count; c++) {
        const double *rc = r + c * w, *uc = u + c * w, mu = d->mu[c];
        const double mu_r = w == 5 ? d->mu_r[c] : 0.0;
        double z[5] = {0.0};
        for (int k = 0; k < w; k++) z[k] = rc[k] - uc[k];
        z[0] -= mu * length_of(m, uc + 1) + (w == 5 ? mu_r * length_of(2, uc + 3) : 0.0);
        double t = length_of(m, z + 1), s = w == 5 ? length_of(2, z + 3) : 0.0;
        double x = projected_normal(z[0], t, s, mu, mu_r);
        sum += (rc[0] - x) * (rc[0] - x);
        for (int k = 1; k < w; k++) {
            double size = k <= m ? t : s, bound = k <= m ? mu * x : mu_r * x;
            double e = rc[k] - (size > bound ? z[k] * bound / size : z[k]);
            sum += e * e;
        }
    }
    for (int i = 0; i < n; i++) qq += d->q[i] * d->q[i], rr += r[i] * r[i], uu += u[i] * u[i];
    return sum > 0.0 ? sqrt(sum / fmax(qq, fmax(rr, uu))) : 0.0;
}

/// The residual without units by the formula at the head of rigid/reduced/reduced.c.
static double own_residual(const dense* d, const double* r)
{
    const int w = d->width, m = w == 2 ? 1 : 2;
    double u[MODEL_UNKNOWNS], sum = 0.0, impulse = 0.0, approach = 0.0;
    dense_velocity(d, r, u);
    for (int c = 0; c < d->count; c++) {
        const int at = c * w;
        double D[5] = {d->W[at][at]}, t[5];
        for (int k = 1; k < w; k++) {
            const int o = k < 3 ? at + 1 : at + 3;
            D[k] = w == 2 ? d->W[o][o] : 0.5 * (d->W[o][o] + d->W[o + 1][o + 1]);
        }
        for (int k = 0; k < w; k++) t[k] = r[at + k] - u[at + k] / D[k];
        if (t[0] < 0.0) t[0] = 0.0;
        for (int o = 1; o < w; o += m) {
            double bound = (o == 1 ? d->mu[c] : d->mu_r[c]) * t[0], size = length_of(m, t + o);
            for (int k = o; k < o + m && size > bound; k++) t[k] *= bound / size;
        }
        for (int k = 0; k < w; k++) {
            sum += D[k] * (r[at + k] - t[k]) * (r[at + k] - t[k]);
            impulse += D[k] * r[at + k] * r[at + k];
        }
        approach += pow(fmin(0.0, d->q[at]), 2) / D[0];
    }
    return sum > 0.0 ? sqrt(sum / fmax(impulse, approach)) : 0.0;
}

/// What of the velocities breaks the law, case by case, over all velocities: the normal one where
/// it closes, or parts while it pushes; the tangential one where it slides though friction could
/// hold it, and else as far as friction is off what it should be. Width 2 and 3.
static double own_velocity(const dense* d, const double* r)
{
    const int w = d->width, m = w - 1, n = w * d->count;
    double u[MODEL_UNKNOWNS], sum = 0.0, qq = 0.0, uu = 0.0;
    dense_velocity(d, r, u);
    for (int c = 0; c < d->count; c++) {
        const int at = c * w;
        const double D = d->W[at][at], press = fmax(0.0, D * r[at] - u[at]);
        const double T =
            m == 1 ? d->W[at + 1][at + 1] : 0.5 * (d->W[at + 1][at + 1] + d->W[at + 2][at + 2]);
        double pull[2] = {0.0};
        for (int k = 0; k < m; k++) pull[k] = T * r[at + 1 + k] - u[at + 1 + k];
        const double bound = d->mu[c] * press * T / D, size = length_of(m, pull);
        sum += pow(fmin(u[at], D * r[at]), 2);
        for (int k = 0; k < m; k++) {
            const double e =
                size > bound ? T * r[at + 1 + k] - pull[k] * bound / size : u[at + 1 + k];
            sum += e * e;
        }
    }
    for (int i = 0; i < n; i++) qq += d->q[i] * d->q[i], uu += u[i] * u[i];
    return sum > 0.0 ? sqrt(sum / fmax(qq, uu)) : 0.0;
}

// ---- given and random problems
// ---------------------------------------------------------------------------

static void normalise(double* x)
{
    double s = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int k = 0; k < 3; k++) x[k] /= s;
}

static void cross(double* out, const double* a, const double* b)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// Rows of a contact: how the velocity (3) and spin (3) of a body move it. In 2D all is in a plane.
static void contact_rows(rng* r, int width, double arm, double J[5][6], double frame[3][3])
{
    double at[3];
    for (int k = 0; k < 3; k++) at[k] = arm * rng_normal(r);
    if (width == 2) at[2] = 0.0;
    memset(J, 0, 5 * sizeof *J);
    for (int i = 0; i < (width == 2 ? 2 : 3); i++) {
        memcpy(J[i], frame[i], 3 * sizeof(double));
        cross(J[i] + 3, at, frame[i]); // f.(w x at) = w.(at x f)
    }
    for (int i = 3; i < width; i++) memcpy(J[i] + 3, frame[i - 2], 3 * sizeof(double));
}

/// Boxes of mass 1 that stand on each other and on the ground, four contacts each, corners at
/// +-0.5, +-0.3, after a kick of gravity of 1 and a push of `side` along x.
static void tower_problem(int boxes, double mu, double side, dense* d)
{
    static double H[MODEL_UNKNOWNS][6 * MODEL_BODIES];
    const double frame[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    const double inertia[6] = {1.0, 1.0, 1.0, 0.2, 0.3, 0.4};
    memset(H, 0, sizeof H);
    memset(d, 0, sizeof *d);
    d->width = 3;
    d->count = 4 * boxes;
    for (int c = 0; c < d->count; c++) {
        d->mu[c] = mu;
        for (int below = 0; below < (c < 4 ? 1 : 2); below++) {
            double at[3] = {c % 2 ? 0.5 : -0.5, c % 4 < 2 ? 0.3 : -0.3, below ? 0.4 : -0.4};
            for (int i = 0; i < 3; i++) {
                double *row = H[3 * c + i] + 6 * (c / 4 - below), turn[3];
                cross(turn, at, frame[i]);
                for (int k = 0; k < 3; k++) {
                    row[k] = below ? -frame[i][k] : frame[i][k];
                    row[3 + k] = below ? -turn[k] : turn[k];
                }
            }
        }
    }
    for (int i = 0; i < 3 * d->count; i++) {
        for (int b = 0; b < boxes; b++) d->q[i] += side * H[i][6 * b] - H[i][6 * b + 2];
        for (int j = 0; j < 3 * d->count; j++) {
            for (int k = 0; k < 6 * boxes; k++) d->W[i][j] += H[i][k] * H[j][k] / inertia[k % 6];
        }
    }
}

static void random_frame(rng* r, int width, double frame[3][3])
{
    double e[3];
    for (int k = 0; k < 3; k++) frame[0][k] = rng_normal(r), e[k] = rng_normal(r);
    if (width == 2) frame[0][2] = e[0] = e[1] = 0.0;
    normalise(frame[0]);
    cross(frame[1], e, frame[0]);
    normalise(frame[1]);
    cross(frame[2], frame[0], frame[1]);
}

/// Bodies of unequal mass that touch each other and the ground at random places, thrown at random:
/// q = H^T v, so that there is a solution. With more contacts than bodies can resist W is singular.
static void random_problem(rng* r, int width, int bodies, int contacts, double arm, dense* d)
{
    static double H[MODEL_UNKNOWNS][6 * MODEL_BODIES];
    double mass[6 * MODEL_BODIES], v[6 * MODEL_BODIES];
    const int n = width * contacts, dofs = 6 * bodies;
    memset(H, 0, sizeof H);
    memset(d, 0, sizeof *d);
    d->width = width;
    d->count = contacts;
    for (int b = 0; b < bodies; b++) {
        double m = log_uniform(r, 0.2, 5.0);
        for (int k = 0; k < 6; k++) mass[6 * b + k] = k < 3 ? m : 0.4 * m;
        for (int k = 0; k < 6; k++) v[6 * b + k] = rng_normal(r);
    }
    for (int c = 0; c < contacts; c++) {
        double frame[3][3], J[5][6];
        int a = (int)rng_below(r, (uint64_t)bodies), b = (int)rng_below(r, (uint64_t)bodies);
        random_frame(r, width, frame);
        d->mu[c] = uniform(r, 0.0, 0.8);
        d->mu_r[c] = uniform(r, 0.0, 0.3);
        for (int side = 0; side < (a == b ? 1 : 2); side++) {
            contact_rows(r, width, arm, J, frame);
            for (int i = 0; i < width; i++) {
                for (int k = 0; k < 6; k++) {
                    H[c * width + i][6 * (side ? b : a) + k] = side ? -J[i][k] : J[i][k];
                }
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < dofs; k++) d->q[i] += H[i][k] * v[k];
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < dofs; k++) sum += H[i][k] * H[j][k] / mass[k];
            d->W[i][j] = d->W[j][i] = sum;
        }
    }
}

#endif

/// What the methods of cone_solve() share: rows of the matrix, units of a contact, the natural map.
#ifndef TALUS_SOLVE_CONE_INSIDE_H
#define TALUS_SOLVE_CONE_INSIDE_H

#include "base/vec.h"
#include "solve/cone.h"

/// Response of a contact to its own impulse: normal, mean tangential, mean rolling; all > 0.
typedef struct cone_scale {
    double n, t, r;
} cone_scale;

/// Both measures at once, for the price of one.
typedef struct cone_measure {
    double error, residual;
} cone_measure;

/// The diagonal block of contact c.
const double* cone_diagonal(const cone_problem* p, int64_t c);
cone_scale cone_scale_of(int width, const double* S);
cone_measure cone_measure_of(const cone_problem* p, const double* r);

static inline bool cone_measure_meets(cone_measure m, double tolerance)
{
    return m.error <= tolerance && m.residual <= tolerance;
}

/// u [width] = velocity of contact c.
static ALWAYS_INLINE void cone_row_velocity(const int width, const cone_problem* p, int64_t c,
                                            const double* r, double* u)
{
    double sum[5];
    for (int i = 0; i < width; i++) sum[i] = p->q[c * width + i];
    for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
        const double* block = p->block + b * width * width;
        const double* x = r + (int64_t)p->column[b] * width;
        for (int i = 0; i < width; i++) {
            for (int j = 0; j < width; j++) sum[i] += block[i * width + j] * x[j];
        }
    }
    for (int i = 0; i < width; i++) u[i] = sum[i];
}

/// Cut x [m] to the length `bound`.
static ALWAYS_INLINE void cone_cut(const int m, double bound, double* x)
{
    double xx = vec_dot(m, x, x);
    if (xx <= bound * bound) return;
    double s = bound / sqrt(xx);
    for (int k = 0; k < m; k++) x[k] *= s;
}

/// The natural map of one contact: the impulse that its own mean responses would make of r and u.
static ALWAYS_INLINE void cone_map(const int width, const cone_scale* D, double mu, double mu_r,
                                   const double* r, const double* u, double* t)
{
    t[0] = r[0] - u[0] / D->n;
    if (!(t[0] > 0.0)) t[0] = 0.0;
    for (int k = 1; k < width; k++) t[k] = r[k] - u[k] / (k < 3 ? D->t : D->r);
    cone_cut(width == 2 ? 1 : 2, mu * t[0], t + 1);
    if (width == 5) cone_cut(2, mu_r * t[0], t + 3);
}

#endif

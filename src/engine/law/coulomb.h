/// Signorini's volume exclusion and Coulomb friction at one contact, exactly.
///
/// With n from body a to body b, u the relative velocity at the contact and p the impulse on b:
///   0 <= p_n  perpendicular to  u_n + bias >= 0,      bias = g+/h (or g/h)          (UK 25-29)
///   |p_t| <= mu p_n,  u_t = 0 or p_t = -mu p_n u_t/|u_t|                            (UK 30-34)
/// For balls the Delassus block is diagonal in (n, t), so the one-contact solution is a projection:
/// each part of the impulse takes the step that would stop its velocity, then is cut back to the
/// cone. The same projection defines the residual (rigid/residual.c).
#ifndef TALUS_LAW_COULOMB_H
#define TALUS_LAW_COULOMB_H

#include "base/vec.h"

#include <stdbool.h>

/// Project a trial impulse q (full vector) on the law's cone: q_n >= 0, |q_t| <= mu q_n, the normal
/// part first. `qn` is q.n.
static ALWAYS_INLINE void coulomb_project(const int dim, const double* n, double mu, double qn,
                                          double* q)
{
    double pn = qn > 0.0 ? qn : 0.0;
    double t[3], tt = 0.0;
    for (int k = 0; k < dim; k++) {
        t[k] = q[k] - qn * n[k];
        tt += t[k] * t[k];
    }
    double bound = mu * pn;
    double cut = tt > bound * bound ? bound / sqrt(tt) : 1.0;
    for (int k = 0; k < dim; k++) q[k] = pn * n[k] + cut * t[k];
}

/// The natural map: p - (mn, mt) (u + bias n), projected. mn and mt are inverse responses (masses).
/// With mn = 1/S_nn, mt = 1/S_tt of a diagonal block it is the exact one-contact solution.
static ALWAYS_INLINE void coulomb_map(const int dim, const double* n, double mn, double mt,
                                      double bias, double mu, const double* u, const double* p,
                                      double* out)
{
    double un = vec_dot(dim, u, n);
    double pn = vec_dot(dim, p, n);
    double qn = pn - mn * (un + bias);
    for (int k = 0; k < dim; k++) {
        out[k] = p[k] - pn * n[k] - mt * (u[k] - un * n[k]) + qn * n[k];
    }
    coulomb_project(dim, n, mu, qn, out);
}

/// Inverse of a symmetric positive definite block [dim][dim]; false if it is not definite to
/// rounding, then `inverse` is filled with zeros.
bool coulomb_block_inverse(int dim, const double* S, double* inverse);

/// Exact one-contact solution for a full block: V = free + S p, S symmetric positive definite
/// [dim][dim] in world axes, `inverse` of coulomb_block_inverse(). `guess` (may be NULL) is an
/// impulse near the answer, such as the last one: it saves time, it does not choose between
/// solutions. Where there are several: open before stick before slide, and of several slips the one
/// that dissipates most. Returns false if no state of the law was found; p is then the best
/// projection.
bool coulomb_block(int dim, const double* S, const double* inverse, const double* n, double bias,
                   double mu, const double* free, const double* guess, double* p);

#endif

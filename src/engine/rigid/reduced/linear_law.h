/// The law of a contact to first order: what Newton's methods on a reduced problem share.
///
/// At impulses r with velocities u the natural map (internal.h) t = P(r - u/D) is smooth but
/// for the change between open, sticking and sliding. One step of Newton's method on r - t = 0 is
/// one linear system, contact by contact G x + Q (W x) = t - r,
///   open      G = 1, Q = 0
///   sticks    G = 0, Q = 1/D
///   slides    N as if it stuck;  with z = r_T - u_T/D_T, d = z/|z|, k = mu t_N/|z|, P = 1 - d d^T:
///             x_T - mu d (x - (W x)/D)_N - k P (x_T - (W x)_T/D_T)
/// and likewise for rolling.
#ifndef TALUS_RIGID_REDUCED_LINEAR_LAW_H
#define TALUS_RIGID_REDUCED_LINEAR_LAW_H

#include "rigid/reduced/internal.h"

typedef struct linear_law {
    double G[5][5], Q[5][5]; ///< [width][width] of each
} linear_law;

/// Sliding or rolling: the components [o, o + m) with the coefficient mu.
static ALWAYS_INLINE void linear_law_of_disk(const double* D, const double* r, const double* u,
                                             const int o, const int m, double mu, linear_law* a)
{
    double z[2] = {0.0, 0.0}, tn = r[0] - u[0] / D[0];
    for (int k = 0; k < m; k++) z[k] = r[o + k] - u[o + k] / D[o + k];
    double length = reduced_length(m, z);
    if (length <= mu * tn) {
        for (int k = o; k < o + m; k++) a->Q[k][k] = 1.0 / D[k];
        return;
    }
    for (int i = 0; i < m; i++) {
        double d = z[i] / length;
        a->G[o + i][0] = -mu * d;
        a->Q[o + i][0] = mu * d / D[0];
        for (int j = 0; j < m; j++) {
            double across = mu * tn / length * ((i == j ? 1.0 : 0.0) - d * z[j] / length);
            a->G[o + i][o + j] = (i == j ? 1.0 : 0.0) - across;
            a->Q[o + i][o + j] = across / D[o + j];
        }
    }
}

/// Does the natural map see the contact open?
static ALWAYS_INLINE bool linear_law_is_open(const double* D, const double* r, const double* u)
{
    return !(r[0] - u[0] / D[0] > 0.0);
}

/// The law at a contact with D [width] by components.
static ALWAYS_INLINE linear_law linear_law_of(const int width, const double* D, double mu,
                                              double mu_r, const double* r, const double* u)
{
    const int m = width == 2 ? 1 : 2;
    linear_law a = {0};
    if (linear_law_is_open(D, r, u)) {
        for (int k = 0; k < width; k++) a.G[k][k] = 1.0;
        return a;
    }
    a.Q[0][0] = 1.0 / D[0];
    linear_law_of_disk(D, r, u, 1, m, mu, &a);
    if (width == 5) linear_law_of_disk(D, r, u, 3, m, mu_r, &a);
    return a;
}

/// D of contact c by components, from its diagonal block.
static ALWAYS_INLINE void linear_law_scale(const int width, const double* block, double* D)
{
    const reduced_scale scale = reduced_scale_of(width, block);
    for (int k = 0; k < width; k++) D[k] = k == 0 ? scale.n : (k < 3 ? scale.t : scale.r);
}

#endif

/// The contact problem of one step as plain arrays: what every solver works on.
///
/// Find impulses p and velocities V = V_free + M^-1 H p such that every contact satisfies its law.
///
/// Body row, [stride] doubles:      v[dim], im, w[spin_dim], kim       (2D: 5, 3D: 8 = one line)
///   w = R omega is the rotational unknown, im = 1/m, kim = R^2/I; both zero for a fixed body.
///   Then u = v_b - v_a - (w_a + w_b) x n, and an impulse p on b changes both bodies' w by
///   -kim (n x p): no lever arms, no tangent frames (shared/spec/solver.md).
/// Contact row, [width] doubles:    n[dim], mn, mt, bias, mu, p[dim]   (2D: 8 = one line, 3D: 10)
///   mn, mt: inverse responses 1/S_nn, 1/S_tt; bias: g+/h, so that u_n + bias >= 0 is the law.
///
/// Rows [0, grains) are the grains; then one row for each mobile wall; then a private row for each
/// contact with a fixed or driven wall, which holds the wall's velocity at that contact.
/// A contact with a mobile wall has a full block: see `block`.
#ifndef TALUS_SOLVE_PROBLEM_H
#define TALUS_SOLVE_PROBLEM_H

#include "base/vec.h"
#include "law/rich.h"

#include <stdint.h>
#include <talus/base.h>

typedef struct problem {
    int dim;
    int64_t rows, row_capacity;
    double* body; ///< [rows][stride] present velocities
    double* free; ///< [rows][stride] the same without contact impulses
    int64_t count, contact_capacity;
    int32_t* pair;   ///< [count][2] body rows a, b; b is never a wall
    double* contact; ///< [count][width]
    int32_t* block;  ///< [count] row of `blocks`, -1 for a diagonal block
    int32_t* rich;   ///< [count] row of `rich_rows`, -1 for plain Coulomb
    int64_t block_count, block_capacity;
    double* blocks; ///< [block_count][2][dim][dim]: S, then the wall's inverse mass matrix
    int64_t rich_count, rich_capacity;
    rich_contact* rich_rows; ///< [rich_count] contacts with more than friction (law/rich.h)
} problem;

/// Doubles in a body row and in a contact row.
static ALWAYS_INLINE int problem_stride(const int dim)
{
    return dim == 2 ? 5 : 8;
}
static ALWAYS_INLINE int problem_width(const int dim)
{
    return dim == 2 ? 8 : 10;
}

// Offsets inside a body row and inside a contact row.
static ALWAYS_INLINE int row_im(const int dim)
{
    return dim;
}
static ALWAYS_INLINE int row_w(const int dim)
{
    return dim + 1;
}
static ALWAYS_INLINE int row_kim(const int dim)
{
    return dim == 2 ? 4 : 7;
}
static ALWAYS_INLINE int contact_mn(const int dim)
{
    return dim;
}
static ALWAYS_INLINE int contact_mt(const int dim)
{
    return dim + 1;
}
static ALWAYS_INLINE int contact_bias(const int dim)
{
    return dim + 2;
}
static ALWAYS_INLINE int contact_mu(const int dim)
{
    return dim + 3;
}
static ALWAYS_INLINE int contact_p(const int dim)
{
    return dim + 4;
}

/// Relative velocity of b against a at the contact.
static ALWAYS_INLINE void contact_velocity(const int dim, const double* a, const double* b,
                                           const double* n, double* u)
{
    const int w = dim + 1;
    if (dim == 2) {
        double s = a[w] + b[w];
        u[0] = b[0] - a[0] + s * n[1];
        u[1] = b[1] - a[1] - s * n[0];
    } else {
        double s[3] = {a[w] + b[w], a[w + 1] + b[w + 1], a[w + 2] + b[w + 2]};
        double sn[3];
        vec_cross(sn, s, n);
        for (int k = 0; k < 3; k++) u[k] = b[k] - a[k] - sn[k];
    }
}

/// Add the impulse dp (on b) to both bodies' velocities.
static ALWAYS_INLINE void contact_apply(const int dim, double* a, double* b, const double* n,
                                        const double* dp)
{
    const int w = dim + 1, kim = row_kim(dim);
    for (int k = 0; k < dim; k++) {
        a[k] -= a[dim] * dp[k];
        b[k] += b[dim] * dp[k];
    }
    if (dim == 2) {
        double m = n[0] * dp[1] - n[1] * dp[0];
        a[w] -= a[kim] * m;
        b[w] -= b[kim] * m;
    } else {
        double m[3];
        vec_cross(m, n, dp);
        for (int k = 0; k < 3; k++) {
            a[w + k] -= a[kim] * m[k];
            b[w + k] -= b[kim] * m[k];
        }
    }
}

/// Add what the impulse dp (on b) does to the mobile wall a with inverse mass matrix `mobility`.
static inline void wall_apply(int dim, double* a, const double* mobility, const double* dp)
{
    for (int i = 0; i < dim; i++) a[i] -= vec_dot(dim, mobility + i * dim, dp);
}

/// Relative spin of b against a at a rich contact, [1 or 3].
static inline void contact_spin(int dim, const double* a, const double* b, const rich_contact* r,
                                double* spin)
{
    const int w = row_w(dim), spin_dim = dim == 2 ? 1 : 3;
    for (int k = 0; k < spin_dim; k++) {
        spin[k] = b[w + k] * r->inv_radius_b - a[w + k] * r->inv_radius_a - r->spin_a[k];
    }
}

/// Add the torque impulse dt (on b) to both bodies' spins.
static inline void torque_apply(int dim, double* a, double* b, const rich_contact* r,
                                const double* dt)
{
    const int w = row_w(dim), kim = row_kim(dim), spin_dim = dim == 2 ? 1 : 3;
    for (int k = 0; k < spin_dim; k++) {
        b[w + k] += b[kim] * r->inv_radius_b * dt[k];
        a[w + k] -= a[kim] * r->inv_radius_a * dt[k];
    }
}

/// Solve a contact that is rich or has a full block, alone, everything else held: new impulse and,
/// if it is rich, torque impulse; u is its present relative velocity. Nothing is changed.
void problem_solve_alone(const problem* p, int64_t contact, const double* u, double* solved,
                         double* torque);
/// Does a rich contact slide (law/rich.h)? `tolerance` is that of the solve.
bool problem_slides(const problem* p, int64_t contact, double tolerance);
/// Let contacts that slide with their static friction slide with the dynamic one from now on. To be
/// called when a solve has converged; true if any changed and the solve must go on.
bool problem_break_loose(problem* p, double tolerance);

void problem_free(problem* p);
/// Empty the problem and make room; counts are zero afterwards, no contact is rich. Grows, never
/// shrinks.
talus_status problem_reset(problem* p, int dim, int64_t rows, int64_t contacts, int64_t blocks,
                           int64_t rich);
/// Recompute body velocities from the free ones and the impulses, forgetting a solver's own sums.
void problem_refresh(problem* p);

#endif

/// The contact problem of one step as plain arrays: what every solver works on.
///
/// Find impulses p and velocities V = V_free + M^-1 H p such that every contact satisfies its law.
///
/// Body row, [stride] doubles:      v[dim], im, w[spin_dim], kim       (2D: 5, 3D: 8 = one line)
///   w = R omega is the rotational unknown, im = 1/m, kim = R^2/I; both zero for a fixed body.
///   Then u = v_b - v_a - (w_a + w_b) x n, and an impulse p on b changes both bodies' w by
///   -kim (n x p): no lever arms, no tangent frames.
/// Contact row, [width] doubles:    n[dim], mn, mt, bias, mu, p[dim]   (2D: 8 = one line, 3D: 10)
///   mn, mt: inverse responses 1/S_nn, 1/S_tt; bias: g+/h, so that u_n + bias >= 0 is the law.
///
/// Rows [0, grains) are the grains; then one row for each mobile wall; then a private row for each
/// contact with a fixed or driven wall, which holds the wall's velocity at that contact.
///
/// A contact of a solid or of a mobile wall has a full block, a row of `blocks` with lever arms:
///   u = v_b + G_b w_b - v_a - G_a w_a;  p changes v by im p (a mobile wall: by its mobility
///   matrix times p) and w by kim G^T p;  S = the sum of all that, and its inverse.
/// w is the rotational unknown in which a body has one mobility (state/grains.h), so an arm is all
/// that a contact needs to know of a tensor of inertia.
#ifndef TALUS_RIGID_PROBLEM_H
#define TALUS_RIGID_PROBLEM_H

#include "base/vec.h"
#include "law/compound.h"

#include <stdint.h>
#include <talus/base.h>

/// How the bodies of a compound contact turn when one of them is a solid: spin = turn w.
typedef struct compound_turn {
    bool used; ///< false: both are balls or walls, and the compound row says it all
    double turn_a[9], turn_b[9]; ///< [3][3]; 2D: [0]
    compound_arms arms;
} compound_turn;

typedef struct problem {
    int dim;
    int64_t rows, row_capacity;
    double* body;    ///< [rows][stride] present velocities
    double* free;    ///< [rows][stride] the same without contact impulses
    uint32_t* curve; ///< [rows] place along a space-filling curve, bodies near in space are near in
                     ///< it (state/morton.h); all zero: no order known
    double curve_cell; ///< width of the curve's cells in mean diameters
    double* cells;     ///< [problem_cells(rows)][dim * dim + 1] room for sums over cells (scales.h)
    int64_t cell_capacity;
    int64_t count, contact_capacity;
    int32_t* pair;     ///< [count][2] body rows a, b; b is never a wall
    double* contact;   ///< [count][width]
    int32_t* block;    ///< [count] row of `blocks`, -1 for a diagonal block; NULL: all diagonal
    int32_t* compound; ///< [count] row of `compound_rows`, -1 for plain Coulomb; NULL: all plain
    int64_t block_index_capacity, compound_index_capacity;
    int64_t block_count, block_capacity;
    double* blocks; ///< [block_count][block_width]: S, its inverse, G_a, G_b
    int64_t compound_count, compound_capacity;
    compound_contact*
        compound_rows; ///< [compound_count] contacts with more than friction (law/compound.h)
    compound_turn* compound_turns; ///< [compound_count] how the solids of a compound contact turn
    int64_t mobile_first, mobile_count, mobile_capacity; ///< rows that are mobile walls
    double* mobility; ///< [mobile_count][dim][dim] inverse mass matrix of each
} problem;

/// Cells of the curve that sums can be made over: little memory for each body, and yet room for the
/// cells of four diameters that a packing and the empty places beside it fill (scales.c).
static inline int64_t problem_cells(int64_t rows)
{
    return rows + 65536;
}

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

// Offsets inside a row of blocks: S [dim][dim] comes first.
static ALWAYS_INLINE int block_inverse(const int dim)
{
    return dim * dim;
}
static ALWAYS_INLINE int block_arm_a(const int dim)
{
    return 2 * dim * dim;
}
static ALWAYS_INLINE int block_arm_b(const int dim)
{
    return dim == 2 ? 10 : 27;
}
static ALWAYS_INLINE int block_width(const int dim)
{
    return dim == 2 ? 12 : 36;
}
/// Number of the mobile wall that a row is, -1 if it is none.
static ALWAYS_INLINE int64_t problem_mobile_wall(const problem* p, int64_t row)
{
    const int64_t wall = row - p->mobile_first;
    return wall >= 0 && wall < p->mobile_count ? wall : -1;
}
/// Can contacts change the velocity of a row?
static ALWAYS_INLINE bool problem_row_moves(const problem* p, int64_t row)
{
    const double* body = p->free + row * problem_stride(p->dim);
    return body[row_im(p->dim)] != 0.0 || body[row_kim(p->dim)] != 0.0 ||
           problem_mobile_wall(p, row) >= 0;
}
/// L [width][width], width 3 or 6, with L L^T the inverse of the mass and inertia of a row.
void problem_root(const problem* p, int64_t row, double* root);
/// Row of a contact in `blocks` and in `compound_rows`, -1 if it has none.
static ALWAYS_INLINE int32_t problem_block_of(const problem* p, int64_t contact)
{
    return p->block ? p->block[contact] : -1;
}
static ALWAYS_INLINE int32_t problem_compound_of(const problem* p, int64_t contact)
{
    return p->compound ? p->compound[contact] : -1;
}
static ALWAYS_INLINE double* problem_block(const problem* p, const int dim, int64_t contact)
{
    return p->blocks + (int64_t)p->block[contact] * block_width(dim);
}

/// Relative velocity of b against a at a contact with a diagonal block.
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

/// Add the impulse dp (on b) of a contact with a diagonal block to both bodies' velocities.
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

/// The same two for a contact with a full block.
static ALWAYS_INLINE void block_velocity(const int dim, const double* block, const double* a,
                                         const double* b, double* u)
{
    const int w = dim + 1, spin_dim = spin_width(dim);
    const double *arm_a = block + block_arm_a(dim), *arm_b = block + block_arm_b(dim);
    for (int i = 0; i < dim; i++) {
        u[i] = b[i] - a[i] + vec_dot(spin_dim, arm_b + i * spin_dim, b + w) -
               vec_dot(spin_dim, arm_a + i * spin_dim, a + w);
    }
}

/// w += s G^T dp
static ALWAYS_INLINE void arm_apply(const int dim, const double* arm, double s, const double* dp,
                                    double* w)
{
    const int spin_dim = spin_width(dim);
    for (int k = 0; k < spin_dim; k++) {
        double sum = 0.0;
        for (int i = 0; i < dim; i++) sum += arm[i * spin_dim + k] * dp[i];
        w[k] += s * sum;
    }
}

static ALWAYS_INLINE void block_apply(const problem* p, const int dim, const double* block,
                                      int32_t a_row, double* a, double* b, const double* dp)
{
    const int w = dim + 1, kim = row_kim(dim);
    const int64_t mobile = problem_mobile_wall(p, a_row);
    for (int k = 0; k < dim; k++) {
        a[k] -= a[dim] * dp[k];
        b[k] += b[dim] * dp[k];
    }
    arm_apply(dim, block + block_arm_a(dim), -a[kim], dp, a + w);
    arm_apply(dim, block + block_arm_b(dim), b[kim], dp, b + w);
    if (mobile >= 0) {
        const double* mobility = p->mobility + mobile * dim * dim;
        for (int i = 0; i < dim; i++) a[i] -= vec_dot(dim, mobility + i * dim, dp);
    }
}

/// Relative velocity at any contact as the bodies move now.
void problem_velocity(const problem* p, int64_t contact, double* u);
/// The same, and the relative spin [1 or 3] at a compound contact, as the bodies would move in
/// `rows` (as `body`).
void problem_velocity_of(const problem* p, const double* rows, int64_t contact, double* u);
void problem_spin_of(const problem* p, const double* rows, int64_t contact, double* spin);
/// Add the torque impulse dt (on b) of a compound contact to both bodies' spins.
void problem_twist(problem* p, int64_t contact, const double* dt);

/// Solve a contact that is compound or has a full block, alone, everything else held: new impulse
/// and, if it is compound, torque impulse; u is its present relative velocity. Nothing is changed.
void problem_solve_alone(const problem* p, int64_t contact, const double* u, double* solved,
                         double* torque);
/// Does a compound contact slide (law/compound.h)? `tolerance` is that of the solve.
bool problem_slides(const problem* p, int64_t contact, double tolerance);
/// The largest impulse of a contact.
double problem_largest_impulse(const problem* p);
/// The largest pull that a bond of the problem bears, 0: there are no bonds.
double problem_strongest_bond(const problem* p);
/// Let contacts that slide with their static friction slide with the dynamic one from now on. To be
/// called when a solve has converged; true if any changed and the solve must go on.
bool problem_break_loose(problem* p, double tolerance);

void problem_free(problem* p);
/// What a problem must have room for.
typedef struct problem_size {
    int64_t rows, contacts, blocks, compound, mobile;
} problem_size;

/// Empty the problem and make room; counts are zero afterwards, no contact is compound or has a
/// block. Grows, never shrinks.
talus_status problem_reset(problem* p, int dim, const problem_size* size);
/// Fill S and its inverse from the arms that are in the block's row and the masses of the bodies;
/// *mn and *mt receive the inverse responses along the normal and, on average, across it.
void problem_fill_block(problem* p, int64_t contact, const double* n, double* mn, double* mt);
/// Fill in the inverse of S, which a block begins with, and the inverse responses along n and, on
/// average, across it.
void problem_responses(int dim, double* block, const double* n, double* mn, double* mt);
/// Add to the velocities of its bodies what the impulses of a contact do.
void problem_apply(problem* p, int64_t contact);
/// Square of the difference of two motions x and y of a body (as rows of `body`) in the metric of
/// its mass: twice the kinetic energy of the difference.
double problem_distance2(const problem* p, int64_t row, const double* x, const double* y);
/// Recompute body velocities from the free ones and the impulses, forgetting a solver's own sums.
void problem_refresh(problem* p);

#endif

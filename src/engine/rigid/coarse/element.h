/// Elements of the coarse grid (coarse.h): cells with a node at each corner, between which a
/// displacement is bilinear. Strain is taken as even in each half of a cell along every axis (a
/// part). For coarse*.c only.
#ifndef TALUS_RIGID_COARSE_ELEMENT_H
#define TALUS_RIGID_COARSE_ELEMENT_H

#include "rigid/coarse/coarse.h"

#include <string.h>

static ALWAYS_INLINE int strains(const int dim)
{
    return dim == 2 ? 3 : 6;
}
static ALWAYS_INLINE int neighbours(const int dim)
{
    return dim == 2 ? 9 : 27;
}
/// Numbers that the contacts of a cell add up to (stiffness.c): a symmetric matrix of
/// strains and one of space.
static ALWAYS_INLINE int moduli(const int dim)
{
    return dim == 2 ? 6 + 3 : 21 + 6;
}

static inline bool moves(const problem* p, int64_t row)
{
    return p->free[row * problem_stride(p->dim) + row_im(p->dim)] > 0.0;
}

static inline bool wall_moves(const problem* p, int64_t wall, int axis)
{
    return p->mobility[(wall * p->dim + axis) * p->dim + axis] > 0.0;
}

static inline double mass_of(const problem* p, int64_t row)
{
    return 1.0 / p->free[row * problem_stride(p->dim) + row_im(p->dim)];
}

static ALWAYS_INLINE int64_t node_at(const coarse_grid* c, const int* at)
{
    int64_t node = 0;
    for (int k = 0; k < c->dim; k++) {
        node = node * c->nodes[k] + (c->wraps[k] ? (at[k] + c->nodes[k]) % c->nodes[k] : at[k]);
    }
    return node;
}

/// Corners of the cell around a place: nodes and weights.
static ALWAYS_INLINE void corners(const coarse_grid* c, const int dim, const double* x,
                                  int64_t* node, double* weight)
{
    int at[3], first[3];
    double part[3];
    for (int k = 0; k < dim; k++) {
        first[k] = (int)x[k];
        part[k] = x[k] - first[k];
    }
    for (int q = 0; q < 1 << dim; q++) {
        weight[q] = 1.0;
        for (int k = 0; k < dim; k++) {
            at[k] = first[k] + (q >> k & 1);
            weight[q] *= q >> k & 1 ? part[k] : 1.0 - part[k];
        }
        node[q] = node_at(c, at);
    }
}

/// The half of a cell along every axis that a place lies in; the parts of a cell follow each other.
static ALWAYS_INLINE int64_t part_at(const coarse_grid* c, const int dim, const double* x)
{
    int64_t cell = 0;
    int half = 0;
    for (int k = 0; k < dim; k++) {
        cell = cell * c->cells[k] + (int)x[k];
        half |= ((int)(2.0 * x[k]) & 1) << k;
    }
    return cell << dim | half;
}

/// The corner q of a cell.
static ALWAYS_INLINE int64_t corner_at(const coarse_grid* c, const int dim, int64_t cell, int q)
{
    int at[3];
    for (int k = dim - 1; k >= 0; k--) {
        at[k] = (int)(cell % c->cells[k]) + (q >> k & 1);
        cell /= c->cells[k];
    }
    return node_at(c, at);
}

/// Index of corner s among the neighbours of corner q.
static ALWAYS_INLINE int offset_of(const int dim, int q, int s)
{
    int index = 0;
    for (int k = 0; k < dim; k++) index = index * 3 + (s >> k & 1) - (q >> k & 1) + 1;
    return index;
}

/// Derivatives, in the middle of a part, of what is 1 at corner q and 0 at the others.
static ALWAYS_INLINE void corner_gradient(const coarse_grid* c, const int dim, int half, int q,
                                          double* g)
{
    for (int k = 0; k < dim; k++) {
        g[k] = q >> k & 1 ? c->scale[k] : -c->scale[k];
        for (int j = 0; j < dim; j++) {
            const double far = half >> j & 1 ? 0.75 : 0.25;
            if (j != k) g[k] *= q >> j & 1 ? far : 1.0 - far;
        }
    }
}

/// What a corner's displacement makes of the strain in the middle of a part, [strains][dim].
/// Strains are xx, yy, xy in the plane, xx, yy, zz, yz, xz, xy in space.
static ALWAYS_INLINE void corner_strain(const coarse_grid* c, const int dim, int half, int q,
                                        double* out)
{
    double g[3] = {0.0, 0.0, 0.0};
    corner_gradient(c, dim, half, q, g);
    const double x = 0.5 * g[0], y = 0.5 * g[1], z = 0.5 * g[2];
    const double plane[6] = {g[0], 0.0, 0.0, g[1], y, x};
    const double space[18] = {g[0], 0.0, 0.0, 0.0, g[1], 0.0, 0.0, 0.0, g[2],
                              0.0,  z,   y,   z,   0.0,  x,   y,   x,   0.0};
    memcpy(out, dim == 2 ? plane : space, sizeof(double) * (size_t)(strains(dim) * dim));
}

/// The matrix that makes strain times l n of a strain, [dim][strains].
static ALWAYS_INLINE void stretch(const int dim, const double* n, double l, double* out)
{
    const double x = l * n[0], y = l * n[1], z = dim == 3 ? l * n[2] : 0.0;
    const double plane[6] = {x, 0.0, y, 0.0, y, x};
    const double space[18] = {x, 0.0, 0.0, 0.0, z,   y, 0.0, y, 0.0,
                              z, 0.0, x,   0.0, 0.0, z, y,   x, 0.0};
    for (int i = 0; i < dim * strains(dim); i++) out[i] = dim == 2 ? plane[i] : space[i];
}

/// Contacts that join the grid to something else, and contacts that the grid does not move.
enum { COARSE_TIE = -1, COARSE_APART = -2 };

/// Part of the bound of friction beyond which a contact is taken to slide.
static const double COARSE_SLIDES = 0.98;

/// Stiffness of a contact as it is now, along the normal and across; false if it bears no load.
/// `whole`: every contact that touches bears load and sticks.
static ALWAYS_INLINE bool stiffness(const int dim, const double* row, bool whole, double* mn,
                                    double* mt)
{
    const double* impulse = row + contact_p(dim);
    const double mu = row[contact_mu(dim)], pn = vec_dot(dim, row, impulse);
    const double tangential2 = vec_dot(dim, impulse, impulse) - pn * pn;
    const double bound = COARSE_SLIDES * mu * pn;
    *mn = row[contact_mn(dim)];
    *mt = mu > 0.0 && (whole || tangential2 < bound * bound) ? row[contact_mt(dim)] : 0.0;
    return pn > 0.0 || (whole && row[contact_bias(dim)] == 0.0);
}

/// A contact that joins the grid to something else.
typedef struct coarse_tie {
    int64_t body; ///< that moves with the grid
    int64_t wall; ///< mobile wall on the other side, -1: none
    double sign;  ///< of the body's velocity in that of b against a
} coarse_tie;

static inline coarse_tie tie_of(const coarse_grid* c, const problem* p, int64_t i)
{
    const int64_t a = p->pair[2 * i], b = p->pair[2 * i + 1];
    if (c->cell_of[b] >= 0) return (coarse_tie){b, problem_mobile_wall(p, a), 1.0};
    return (coarse_tie){a, problem_mobile_wall(p, b), -1.0};
}

/// The cells that a thread makes the sums of. It goes over all contacts or bodies, so each
/// sum is made in their order, whatever the number of threads.
typedef struct coarse_range {
    int64_t first, last;
} coarse_range;

static inline coarse_range range_of(int64_t count, int thread, int threads)
{
    return (coarse_range){count * thread / threads, count * (thread + 1) / threads};
}

/// Find the places of the bodies and lay the grid over them; masses of its nodes. `fits` is false
/// if the packing is too small.
talus_status coarse_lay(coarse_grid* c, const problem* p, bool* fits);
/// Momentum of the bodies on the nodes, into COARSE_FORCE; returns twice its kinetic energy.
double coarse_momentum(coarse_grid* c, const problem* p);
/// K from the contacts as they are now.
void coarse_stiffen(coarse_grid* c, const problem* p);
/// Forces on the nodes of what contacts feel of the bodies' velocities V, P^T K V, into
/// COARSE_FORCE.
void coarse_feel(coarse_grid* c, const problem* p);
/// Solve K move = force.
void coarse_solve(coarse_grid* c);

#endif

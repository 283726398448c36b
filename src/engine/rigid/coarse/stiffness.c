/// Stiffness of the coarse grid (coarse.c): K = sum over contacts of B^T D B, with D = m_n along
/// the normal and m_t across it.
///
/// A contact between two bodies of the grid feels the strain e of the part it lies in: u = Q e, Q
/// linear in the branch vector a = l n. So the contacts of a cell add up to
///     sum (m_n - m_t) N N^T,  N = n^T Q,   and   T = sum m_t a a^T,
/// from which sum m_t Q^T Q follows; these moduli are taken as even in the cell. A contact with a
/// wall, or with a body that does not move, ties the corners around its body to that.
#include "rigid/coarse/element.h"

#include <math.h>

/// Of the stiffness of the softest motion, against what nothing holds: an undetermined motion would
/// be as large as it likes.
static const double ANCHOR = 0.01;

// ---- contacts inside ----------------------------------------------------------------------------

/// Strain of one unit of stretching along the normal: N/l.
static ALWAYS_INLINE void normal_strain(const int dim, const double* n, double* out)
{
    for (int k = 0; k < dim; k++) out[k] = n[k] * n[k];
    if (dim == 2) {
        out[2] = 2.0 * n[0] * n[1];
    } else {
        out[3] = 2.0 * n[1] * n[2];
        out[4] = 2.0 * n[0] * n[2];
        out[5] = 2.0 * n[0] * n[1];
    }
}

/// Sums over the contacts of a range of cells.
static ALWAYS_INLINE void add_contacts(coarse_grid* c, const problem* p, const int dim,
                                       coarse_range range)
{
    const int ns = strains(dim), width = moduli(dim);
    double* sums = c->values[COARSE_MODULI];
    memset(sums + range.first * width, 0,
           sizeof(double) * (size_t)((range.last - range.first) * width));
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t cell = c->part_of[i] < 0 ? -1 : c->part_of[i] >> dim;
        if (cell < range.first || cell >= range.last) continue;
        const double* n = p->contact + i * problem_width(dim);
        const double l = c->length[i];
        double mn, mt, N[6], *sum = sums + cell * width;
        if (!stiffness(dim, n, c->whole, &mn, &mt)) continue;
        normal_strain(dim, n, N);
        for (int j = 0; j < ns; j++) {
            const double scaled = (mn - mt) * l * l * N[j];
            for (int k = j; k < ns; k++) *sum++ += scaled * N[k];
        }
        for (int j = 0; j < dim; j++) {
            for (int k = j; k < dim; k++) *sum++ += mt * l * l * n[j] * n[k];
        }
    }
}

/// C [strains][strains] of a cell from its sums.
static ALWAYS_INLINE void unfold_moduli(const int dim, const double* sum, double* C)
{
    const int ns = strains(dim);
    const double* T = sum + ns * (ns + 1) / 2; // sum m_t Q^T Q follows from it
    if (dim == 2) {
        const double xx = T[0], xy = T[1], yy = T[2];
        const double plane[9] = {xx, 0.0, xy, 0.0, yy, xy, 0.0, 0.0, xx + yy};
        memcpy(C, plane, sizeof plane);
    } else {
        const double xx = T[0], xy = T[1], xz = T[2], yy = T[3], yz = T[4], zz = T[5];
        const double rows[6][6] = {
            {xx, 0.0, 0.0, 0.0, xz, xy},       {0.0, yy, 0.0, yz, 0.0, xy},
            {0.0, 0.0, zz, yz, xz, 0.0},       {0.0, 0.0, 0.0, yy + zz, xy, xz},
            {0.0, 0.0, 0.0, 0.0, xx + zz, yz}, {0.0, 0.0, 0.0, 0.0, 0.0, xx + yy}};
        memcpy(C, rows, sizeof rows);
    }
    for (int j = 0; j < ns; j++) { // above the diagonal, then below
        for (int k = j; k < ns; k++) {
            C[j * ns + k] += *sum++;
            C[k * ns + j] = C[j * ns + k];
        }
    }
}

/// Products of the corners' derivatives, mean over the parts of a cell: all cells are alike.
typedef struct cell_shape {
    double g[8][8][9]; ///< [corner q][corner s][axis of q][axis of s]
} cell_shape;

static cell_shape find_shape(const coarse_grid* c)
{
    const int dim = c->dim, count = 1 << dim;
    cell_shape out = {0};
    for (int half = 0; half < count; half++) {
        double g[8][3];
        for (int q = 0; q < count; q++) corner_gradient(c, dim, half, q, g[q]);
        for (int i = 0; i < count * count * dim * dim; i++) {
            const int jk = i % (dim * dim), q = i / (dim * dim) % count,
                      s = i / (dim * dim) / count;
            out.g[q][s][jk] += g[q][jk / dim] * g[s][jk % dim] / count;
        }
    }
    return out;
}

/// Number of the strain jk.
static ALWAYS_INLINE int strain_of(const int dim, int j, int k)
{
    return j == k ? j : dim == 2 ? 2 : 6 - j - k;
}

/// Moduli as a tensor: stress ja of the strain kb, each half of it from jk and kj.
static ALWAYS_INLINE void find_tensor(const int dim, const double* C, double* out)
{
    for (int a = 0; a < dim; a++) {
        for (int b = 0; b < dim; b++) {
            for (int j = 0; j < dim; j++) {
                for (int k = 0; k < dim; k++) {
                    const double part = (a == j ? 1.0 : 0.5) * (b == k ? 1.0 : 0.5);
                    *out++ = part * C[strain_of(dim, a, j) * strains(dim) + strain_of(dim, b, k)];
                }
            }
        }
    }
}

static ALWAYS_INLINE double* block_at(const coarse_grid* c, const int dim, int64_t node, int q,
                                      int s)
{
    return c->values[COARSE_STENCIL] + (node * neighbours(dim) + offset_of(dim, q, s)) * dim * dim;
}

static ALWAYS_INLINE void add_cell(coarse_grid* c, const int dim, const cell_shape* shape,
                                   int64_t cell)
{
    const int square = dim * dim;
    double C[36], tensor[81];
    int64_t node[8];
    unfold_moduli(dim, c->values[COARSE_MODULI] + cell * moduli(dim), C);
    find_tensor(dim, C, tensor);
    for (int q = 0; q < 1 << dim; q++) node[q] = corner_at(c, dim, cell, q);
    for (int q = 0; q < 1 << dim; q++) {
        for (int s = q; s < 1 << dim; s++) {
            double* A = block_at(c, dim, node[q], q, s);
            double* transposed = block_at(c, dim, node[s], s, q);
            for (int i = 0; i < square; i++) {
                const double k = vec_dot(square, tensor + i * square, shape->g[q][s]);
                A[i] += k;
                if (q != s) transposed[i % dim * dim + i / dim] += k;
            }
        }
    }
}

/// A layer of cells across the first axis.
static void add_layer(coarse_grid* c, const cell_shape* shape, int layer)
{
    const int64_t cells = c->cell_count / c->cells[0];
    for (int64_t cell = layer * cells; cell < (layer + 1) * cells; cell++) {
        if (c->dim == 2) {
            add_cell(c, 2, shape, cell);
        } else {
            add_cell(c, 3, shape, cell);
        }
    }
}

// ---- all ----------------------------------------------------------------------------------------

/// Hold what nothing holds, a little, and invert the diagonal.
static void finish_diagonal(coarse_grid* c)
{
    const int dim = c->dim, count = neighbours(dim);
    double size = 0.0;
    for (int k = 0; k < dim; k++) size = fmax(size, c->cells[k] / c->scale[k]);
    const double* mass = c->values[COARSE_MASS];
    for (int64_t i = 0; i < c->unknowns; i++) {
        const int64_t node = i / dim;
        const int k = (int)(i % dim);
        double* A = node < c->node_count
                        ? c->values[COARSE_STENCIL] + (node * count + count / 2) * dim * dim
                        : c->values[COARSE_OWN] + (node - c->node_count) * dim * dim;
        A[k * dim + k] += ANCHOR / (size * size) * mass[i];
        c->values[COARSE_SCALE][i] =
            mass[i] > 0.0 && A[k * dim + k] > 0.0 ? 1.0 / A[k * dim + k] : 0.0;
    }
}

void coarse_stiffen(coarse_grid* c, const problem* p)
{
    const int dim = c->dim, square = dim * dim;
    const coarse_array cleared[] = {COARSE_STENCIL, COARSE_COUPLING, COARSE_OWN};
    for (int k = 0; k < 3; k++) {
        const size_t bytes = sizeof(double) * (size_t)c->capacity[cleared[k]];
        if (bytes > 0) memset(c->values[cleared[k]], 0, bytes);
    }
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int t = 0; t < c->threads; t++) {
        const coarse_range range = range_of(c->cell_count, t, c->threads);
        if (c->dim == 2) {
            add_contacts(c, p, 2, range);
        } else {
            add_contacts(c, p, 3, range);
        }
    }
    // Layers with one in between share no node, but the last and the first if the axis is periodic.
    const int last = c->cells[0] - 1;
    const bool apart = c->wraps[0] && last % 2 == 0;
    const cell_shape shape = find_shape(c);
    for (int odd = 0; odd < 2; odd++) {
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
        for (int layer = odd; layer < last + !apart; layer += 2) add_layer(c, &shape, layer);
    }
    if (apart) add_layer(c, &shape, last);
    // Ties: contacts between a body of the grid and a wall, or what does not move.
    for (int64_t i = 0; i < p->count; i++) {
        if (c->part_of[i] != COARSE_TIE) continue;
        const double* n = p->contact + i * problem_width(dim);
        double mn, mt, D[9], weight[8];
        int64_t node[8];
        if (!stiffness(dim, n, c->whole, &mn, &mt)) continue;
        const coarse_tie tie = tie_of(c, p, i);
        for (int jk = 0; jk < square; jk++) {
            D[jk] = (mn - mt) * n[jk / dim] * n[jk % dim] + (jk / dim == jk % dim ? mt : 0.0);
        }
        corners(c, dim, c->values[COARSE_PLACE] + tie.body * (dim + 1), node, weight);
        for (int q = 0; q < 1 << dim; q++) {
            for (int s = 0; s < 1 << dim; s++) {
                vec_add_scaled(square, block_at(c, dim, node[q], q, s), weight[q] * weight[s], D);
            }
            if (tie.wall < 0) continue;
            vec_add_scaled(
                square, c->values[COARSE_COUPLING] + (tie.wall * c->node_count + node[q]) * square,
                -weight[q], D);
        }
        if (tie.wall >= 0) {
            vec_add_scaled(square, c->values[COARSE_OWN] + tie.wall * square, 1.0, D);
        }
    }
    finish_diagonal(c);
}

// ---- velocities that contacts feel --------------------------------------------------------------

/// D u at a contact, false if it bears no load.
static bool felt_at(const coarse_grid* c, const problem* p, int64_t i, double* t)
{
    const int dim = c->dim;
    const double* n = p->contact + i * problem_width(dim);
    double mn, mt, u[3];
    if (!stiffness(dim, n, c->whole, &mn, &mt)) return false;
    problem_velocity(p, i, u);
    const double un = vec_dot(dim, u, n);
    for (int k = 0; k < dim; k++) t[k] = mt * u[k] + (mn - mt) * un * n[k];
    return true;
}

/// Stresses in the parts of a range of cells.
static void add_stresses(coarse_grid* c, const problem* p, coarse_range range)
{
    const int dim = c->dim, ns = strains(dim);
    const int64_t first = range.first << dim, last = range.last << dim;
    double* stress = c->values[COARSE_STRAIN];
    memset(stress + first * ns, 0, sizeof(double) * (size_t)((last - first) * ns));
    for (int64_t i = 0; i < p->count; i++) {
        const int32_t part = c->part_of[i];
        double t[3], Q[18];
        if (part < first || part >= last || !felt_at(c, p, i, t)) continue;
        stretch(dim, p->contact + i * problem_width(dim), c->length[i], Q);
        for (int k = 0; k < dim; k++) vec_add_scaled(ns, stress + part * ns, t[k], Q + k * ns);
    }
}

void coarse_feel(coarse_grid* c, const problem* p)
{
    const int dim = c->dim, ns = strains(dim);
    double* f = c->values[COARSE_FORCE];
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int t = 0; t < c->threads; t++) {
        add_stresses(c, p, range_of(c->cell_count, t, c->threads));
    }
    memset(f, 0, sizeof(double) * (size_t)c->unknowns);
    for (int64_t part = 0; part < c->part_count; part++) {
        for (int q = 0; q < 1 << dim; q++) {
            double B[18];
            const int64_t node = corner_at(c, dim, part >> dim, q);
            corner_strain(c, dim, (int)(part & ((1 << dim) - 1)), q, B);
            for (int j = 0; j < ns; j++) {
                vec_add_scaled(dim, f + node * dim, c->values[COARSE_STRAIN][part * ns + j],
                               B + j * dim);
            }
        }
    }
    for (int64_t i = 0; i < p->count; i++) {
        double t[3], weight[8];
        int64_t node[8];
        if (c->part_of[i] != COARSE_TIE || !felt_at(c, p, i, t)) continue;
        const coarse_tie tie = tie_of(c, p, i);
        corners(c, dim, c->values[COARSE_PLACE] + tie.body * (dim + 1), node, weight);
        for (int q = 0; q < 1 << dim; q++) {
            vec_add_scaled(dim, f + node[q] * dim, tie.sign * weight[q], t);
        }
        if (tie.wall >= 0) vec_add_scaled(dim, f + (c->node_count + tie.wall) * dim, -tie.sign, t);
    }
}

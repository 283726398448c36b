/// The coarse grid of a packing: places of the bodies, nodes, masses and momenta (coarse.c).
///
/// Places are known from the space-filling curve, to a grain's diameter (state/morton.h).
#include "rigid/coarse/element.h"

#include "base/array.h"
#include "base/portable.h"
#include "state/morton.h"

#include <math.h>
#include <stdlib.h>

/// Width of a cell in mean diameters: the fewer grains in a cell, the more nodes; 4 to 8 (space)
/// and 8 to 12 (plane) need as many sweeps. Where there would be too many cells along an axis they
/// are wider: the equations of the nodes would cost more than some sweeps.
static const double CELL_PLANE = 10.0, CELL_SPACE = 6.0;
static const double MOST_CELLS_PLANE = 64.0, MOST_CELLS_SPACE = 16.0;

void coarse_free(coarse_grid* c)
{
    for (int k = 0; k < COARSE_ARRAYS; k++) free(c->values[k]);
    free(c->neighbour);
    free(c->cell_of);
    free(c->part_of);
    free(c->length);
    *c = (coarse_grid){0};
}

// ---- grid ---------------------------------------------------------------------------------------

/// Places and radii of all moving bodies, and the box that they fill.
static void find_places(coarse_grid* c, const problem* p, double* low, double* high)
{
    const int dim = p->dim;
    double* place = c->values[COARSE_PLACE];
    int64_t count = 0;
    double mass = 0.0;
    for (int k = 0; k < dim; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int64_t i = 0; i < p->rows; i++) {
        double* x = place + i * (dim + 1);
        x[dim] = 0.0;
        if (!moves(p, i)) continue;
        count++;
        mass += mass_of(p, i);
        for (int k = 0; k < dim; k++) {
            x[k] = morton_coordinate(dim, p->curve[i] >> k) + 0.5;
            if (x[k] - 0.5 < low[k]) low[k] = x[k] - 0.5;
            if (x[k] + 0.5 > high[k]) high[k] = x[k] + 0.5;
        }
    }
    for (int64_t i = 0; i < p->rows; i++) {
        if (!moves(p, i)) continue;
        const double volume = mass_of(p, i) * (double)count / mass;
        place[i * (dim + 1) + dim] = 0.5 * (dim == 2 ? sqrt(volume) : portable_cbrt(volume));
    }
}

/// Along which axes do contacts join both ends?
static void find_wraps(coarse_grid* c, const problem* p, const double* low, const double* high)
{
    const int dim = p->dim;
    const double* place = c->values[COARSE_PLACE];
    for (int k = 0; k < dim; k++) c->wraps[k] = false;
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t a = p->pair[2 * i], b = p->pair[2 * i + 1];
        if (!(place[a * (dim + 1) + dim] > 0.0 && place[b * (dim + 1) + dim] > 0.0)) continue;
        for (int k = 0; k < dim; k++) {
            const double apart = fabs(place[a * (dim + 1) + k] - place[b * (dim + 1) + k]);
            c->wraps[k] |= high[k] - low[k] > 4.0 && apart > 0.5 * (high[k] - low[k]);
        }
    }
}

static void lay_grid(coarse_grid* c, const problem* p, const double* low, const double* high)
{
    const int dim = p->dim;
    const double width = dim == 2 ? CELL_PLANE : CELL_SPACE;
    const double most = dim == 2 ? MOST_CELLS_PLANE : MOST_CELLS_SPACE;
    c->node_count = c->cell_count = c->part_count = 1;
    for (int k = 0; k < dim; k++) {
        const double extent = high[k] - low[k];
        c->cells[k] = (int)fmax(1.0, fmin(most, round(extent / width)));
        c->scale[k] = c->cells[k] / extent;
        c->nodes[k] = c->wraps[k] ? c->cells[k] : c->cells[k] + 1;
        c->node_count *= c->nodes[k];
        c->cell_count *= c->cells[k];
        c->part_count *= 2 * c->cells[k];
    }
    c->wall_count = p->mobile_count;
    c->unknowns = (c->node_count + c->wall_count) * dim;
}

/// Cells of the bodies. Places are in cells afterwards.
static void assign_bodies(coarse_grid* c, const problem* p, const double* low)
{
    const int dim = c->dim;
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int64_t i = 0; i < p->rows; i++) {
        double* x = c->values[COARSE_PLACE] + i * (dim + 1);
        int32_t cell = 0;
        for (int k = 0; k < dim && x[dim] > 0.0; k++) {
            const double last = c->cells[k] * (1.0 - 1e-12);
            x[k] = fmax(0.0, fmin(last, (x[k] - low[k]) * c->scale[k]));
            cell = cell * c->cells[k] + (int32_t)x[k];
        }
        c->cell_of[i] = x[dim] > 0.0 ? cell : -1;
    }
}

/// A contact stretches the part that its second body lies in.
static void assign_contacts(coarse_grid* c, const problem* p)
{
    const int dim = c->dim;
    const double* place = c->values[COARSE_PLACE];
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int64_t i = 0; i < p->count; i++) {
        const double* a = place + p->pair[2 * i] * (dim + 1);
        const double* b = place + p->pair[2 * i + 1] * (dim + 1);
        const bool a_moves = a[dim] > 0.0, b_moves = b[dim] > 0.0;
        c->length[i] = (float)(a[dim] + b[dim]);
        c->part_of[i] = a_moves && b_moves   ? (int32_t)part_at(c, dim, b)
                        : a_moves || b_moves ? COARSE_TIE
                                             : COARSE_APART;
    }
}

// ---- bodies -------------------------------------------------------------------------------------

/// Add what the bodies of a range of cells give to the corners: momentum, or `masses` alone.
static ALWAYS_INLINE void add_bodies(coarse_grid* c, const problem* p, const int dim,
                                     coarse_range range, bool masses)
{
    const int stride = problem_stride(dim), corner_count = 1 << dim;
    double* sums = c->values[COARSE_CORNERS];
    memset(sums + range.first * corner_count * dim, 0,
           sizeof(double) * (size_t)((range.last - range.first) * corner_count * dim));
    for (int64_t i = 0; i < p->rows; i++) {
        const int32_t cell = c->cell_of[i];
        if (cell < range.first || cell >= range.last) continue;
        const double mass = mass_of(p, i);
        double weight[8], given[3];
        int64_t node[8];
        for (int k = 0; k < dim; k++) given[k] = masses ? mass : mass * p->body[i * stride + k];
        corners(c, dim, c->values[COARSE_PLACE] + i * (dim + 1), node, weight);
        for (int q = 0; q < corner_count; q++) {
            vec_add_scaled(dim, sums + (cell * corner_count + q) * dim, weight[q], given);
        }
    }
}

static void sum_bodies(coarse_grid* c, const problem* p, bool masses, double* out)
{
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int t = 0; t < c->threads; t++) {
        const coarse_range range = range_of(c->cell_count, t, c->threads);
        if (c->dim == 2) {
            add_bodies(c, p, 2, range, masses);
        } else {
            add_bodies(c, p, 3, range, masses);
        }
    }
    // Bring the sums of the cells to the nodes.
    const int dim = c->dim;
    memset(out, 0, sizeof(double) * (size_t)c->unknowns);
    for (int64_t cell = 0; cell < c->cell_count; cell++) {
        for (int q = 0; q < 1 << dim; q++) {
            vec_add_scaled(dim, out + corner_at(c, dim, cell, q) * dim, 1.0,
                           c->values[COARSE_CORNERS] + (cell * (1 << dim) + q) * dim);
        }
    }
}

double coarse_momentum(coarse_grid* c, const problem* p)
{
    const int dim = c->dim, stride = problem_stride(dim);
    const double* mass = c->values[COARSE_MASS];
    double *f = c->values[COARSE_FORCE], energy2 = 0.0;
    sum_bodies(c, p, false, f);
    for (int64_t k = 0; k < c->wall_count * dim; k++) {
        const int64_t i = c->node_count * dim + k;
        f[i] = mass[i] * p->body[(p->mobile_first + k / dim) * stride + k % dim];
    }
    for (int64_t i = 0; i < c->unknowns; i++) {
        if (mass[i] > 0.0) energy2 += f[i] * f[i] / mass[i];
    }
    return energy2;
}

// ---- all ----------------------------------------------------------------------------------------

talus_status coarse_lay(coarse_grid* c, const problem* p, bool* fits)
{
    const int dim = p->dim, square = dim * dim, around = neighbours(dim);
    double low[3], high[3], extent = 0.0;
    *fits = false;
    c->dim = dim;
    if (!arrays_renew(&c->capacity[COARSE_PLACE], p->rows * (dim + 1),
                      ARRAY(c->values[COARSE_PLACE]))) {
        return TALUS_ERR_MEMORY;
    }
    find_places(c, p, low, high);
    for (int k = 0; k < p->dim; k++) extent = fmax(extent, high[k] - low[k]);
    if (!(extent >= coarse_least_size(p->dim))) return TALUS_OK;
    find_wraps(c, p, low, high);
    lay_grid(c, p, low, high);
    int64_t needed[COARSE_ARRAYS] = {
        [COARSE_CORNERS] = c->cell_count * (1 << dim) * dim,
        [COARSE_MODULI] = c->cell_count * moduli(dim),
        [COARSE_STRAIN] = c->part_count * strains(dim),
        [COARSE_STENCIL] = c->node_count * around * square,
        [COARSE_COUPLING] = c->wall_count * c->node_count * square,
        [COARSE_OWN] = c->wall_count * square,
    };
    for (int k = COARSE_MASS; k < COARSE_ARRAYS; k++) needed[k] = c->unknowns;
    for (int k = 0; k < COARSE_ARRAYS; k++) {
        if (!arrays_renew(&c->capacity[k], needed[k], ARRAY(c->values[k]))) return TALUS_ERR_MEMORY;
    }
    if (!arrays_renew(&c->neighbour_capacity, c->node_count * around, ARRAY(c->neighbour)) ||
        !arrays_renew(&c->row_capacity, p->rows, ARRAY(c->cell_of)) ||
        !arrays_renew(&c->contact_capacity, p->count, ARRAY(c->length), ARRAY(c->part_of))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t n = 0; n < c->node_count; n++) {
        for (int o = 0; o < around; o++) {
            int at[3];
            int64_t rest = n;
            bool inside = true;
            for (int k = dim - 1, offset = o; k >= 0; k--, offset /= 3) {
                at[k] = (int)(rest % c->nodes[k]) + offset % 3 - 1;
                rest /= c->nodes[k];
                inside = inside && (c->wraps[k] || (at[k] >= 0 && at[k] < c->nodes[k]));
            }
            c->neighbour[n * around + o] = inside ? (int32_t)node_at(c, at) : -1;
        }
    }
    assign_bodies(c, p, low);
    assign_contacts(c, p);
    double* mass = c->values[COARSE_MASS];
    sum_bodies(c, p, true, mass);
    for (int64_t k = 0; k < c->wall_count * dim; k++) {
        const int64_t wall = k / dim;
        const int axis = (int)(k % dim);
        mass[c->node_count * dim + k] =
            wall_moves(p, wall, axis) ? 1.0 / p->mobility[(wall * dim + axis) * dim + axis] : 0.0;
    }
    *fits = true;
    return TALUS_OK;
}

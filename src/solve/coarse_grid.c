/// The coarse grid of a packing: places of the bodies, nodes, masses and stiffness (coarse.c).
#include "solve/coarse_element.h"

#include <math.h>
#include <stdlib.h>

/// Width of a cell in mean diameters, more if there were too many cells along an axis.
static const double CELL_PLANE = 12.0, CELL_SPACE = 5.0;
static const double MOST_CELLS_PLANE = 48.0, MOST_CELLS_SPACE = 16.0;
static const double ANCHOR = 0.01; // of the softest motion's stiffness: holds what nothing holds

void coarse_free(coarse_grid* c)
{
    for (int k = 0; k < COARSE_ARRAYS; k++) free(c->values[k]);
    free(c->neighbour);
    *c = (coarse_grid){0};
}

// ---- grid ---------------------------------------------------------------------------------------

static bool reserve(double** array, int64_t* capacity, int64_t needed)
{
    if (needed <= *capacity) return true;
    free(*array);
    *array = malloc(sizeof(double) * (size_t)(needed + needed / 8));
    *capacity = *array ? needed + needed / 8 : 0;
    return *array != NULL;
}

/// Every second (2D) or third (3D) bit of a key, put together: a coordinate of a cell of the curve.
static uint32_t coordinate(int dim, uint32_t key)
{
    if (dim == 2) {
        key &= 0x55555555u;
        key = (key | key >> 1) & 0x33333333u;
        key = (key | key >> 2) & 0x0f0f0f0fu;
        key = (key | key >> 4) & 0x00ff00ffu;
        return (key | key >> 8) & 0x0000ffffu;
    }
    key &= 0x09249249u;
    key = (key | key >> 2) & 0x030c30c3u;
    key = (key | key >> 4) & 0x0300f00fu;
    key = (key | key >> 8) & 0x030000ffu;
    return (key | key >> 16) & 0x000003ffu;
}

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
            x[k] = coordinate(dim, p->curve[i] >> k) + 0.5;
            if (x[k] - 0.5 < low[k]) low[k] = x[k] - 0.5;
            if (x[k] + 0.5 > high[k]) high[k] = x[k] + 0.5;
        }
    }
    for (int64_t i = 0; i < p->rows; i++) {
        if (!moves(p, i)) continue;
        const double volume = mass_of(p, i) * (double)count / mass;
        place[i * (dim + 1) + dim] = 0.5 * (dim == 2 ? sqrt(volume) : cbrt(volume));
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

static void find_neighbours(coarse_grid* c)
{
    const int dim = c->dim, count = neighbours(dim);
    for (int64_t n = 0; n < c->node_count; n++) {
        for (int o = 0; o < count; o++) {
            int at[3];
            int64_t rest = n;
            bool inside = true;
            for (int k = dim - 1, offset = o; k >= 0; k--, offset /= 3) {
                at[k] = (int)(rest % c->nodes[k]) + offset % 3 - 1;
                rest /= c->nodes[k];
                inside = inside && (c->wraps[k] || (at[k] >= 0 && at[k] < c->nodes[k]));
            }
            c->neighbour[n * count + o] = inside ? (int32_t)node_at(c, at) : -1;
        }
    }
}

/// Lay the grid over the box. Places are in cells afterwards.
static void lay_grid(coarse_grid* c, const problem* p, const double* low, const double* high)
{
    const int dim = p->dim;
    const double width = dim == 2 ? CELL_PLANE : CELL_SPACE;
    const double most = dim == 2 ? MOST_CELLS_PLANE : MOST_CELLS_SPACE;
    c->node_count = c->part_count = 1;
    for (int k = 0; k < dim; k++) {
        const double extent = high[k] - low[k];
        c->cells[k] = (int)fmax(1.0, fmin(most, round(extent / width)));
        c->scale[k] = c->cells[k] / extent;
        c->nodes[k] = c->wraps[k] ? c->cells[k] : c->cells[k] + 1;
        c->node_count *= c->nodes[k];
        c->part_count *= 2 * c->cells[k];
    }
    for (int64_t i = 0; i < p->rows; i++) {
        double* x = c->values[COARSE_PLACE] + i * (dim + 1);
        for (int k = 0; k < dim && x[dim] > 0.0; k++) {
            const double last = c->cells[k] * (1.0 - 1e-12);
            x[k] = fmax(0.0, fmin(last, (x[k] - low[k]) * c->scale[k]));
        }
    }
    c->wall_count = p->mobile_count;
    c->unknowns = (c->node_count + c->wall_count) * dim;
}

static bool reserve_all(coarse_grid* c)
{
    const int dim = c->dim, square = dim * dim;
    int64_t needed[COARSE_ARRAYS] = {
        [COARSE_MODULI] = c->part_count * strains(dim) * strains(dim),
        [COARSE_STRAIN] = c->part_count * strains(dim),
        [COARSE_STENCIL] = c->node_count * neighbours(dim) * square,
        [COARSE_COUPLING] = c->wall_count * c->node_count * square,
        [COARSE_OWN] = c->wall_count * square,
    };
    for (int k = COARSE_MASS; k < COARSE_ARRAYS; k++) needed[k] = c->unknowns;
    for (int k = 0; k < COARSE_ARRAYS; k++) {
        if (!reserve(&c->values[k], &c->capacity[k], needed[k])) return false;
    }
    const int64_t count = c->node_count * neighbours(dim);
    if (count <= c->neighbour_capacity) return true;
    free(c->neighbour);
    c->neighbour = malloc(sizeof *c->neighbour * (size_t)count);
    c->neighbour_capacity = c->neighbour ? count : 0;
    return c->neighbour != NULL;
}

// ---- stiffness ----------------------------------------------------------------------------------

/// A contact with something outside of the grid ties the corners around its
/// body to that.
static ALWAYS_INLINE void add_tie(coarse_grid* c, const int dim, coarse_pair pair, const double* n,
                                  double mn, double mt)
{
    double D[9], weight[8];
    int64_t node[8];
    for (int i = 0; i < dim * dim; i++) {
        D[i] = (mn - mt) * n[i / dim] * n[i % dim] + (i / dim == i % dim ? mt : 0.0);
    }
    corners(c, dim, c->values[COARSE_PLACE] + pair.body * (dim + 1), node, weight);
    for (int q = 0; q < 1 << dim; q++) {
        for (int s = 0; s < 1 << dim; s++) {
            double* A = c->values[COARSE_STENCIL] +
                        (node[q] * neighbours(dim) + offset_of(dim, q, s)) * dim * dim;
            vec_add_scaled(dim * dim, A, weight[q] * weight[s], D);
        }
        if (pair.wall < 0) continue;
        vec_add_scaled(dim * dim,
                       c->values[COARSE_COUPLING] +
                           (pair.wall * c->node_count + node[q]) * dim * dim,
                       -weight[q], D);
    }
    if (pair.wall >= 0) {
        vec_add_scaled(dim * dim, c->values[COARSE_OWN] + pair.wall * dim * dim, 1.0, D);
    }
}

/// Moduli of the parts from the contacts inside, and ties; counts the contacts
/// that bear load.
static ALWAYS_INLINE void add_contacts(coarse_grid* c, const problem* p, const int dim)
{
    const int ns = strains(dim);
    c->bearing = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const double* n = p->contact + i * problem_width(dim);
        double mn, mt, Q[18], normal[6];
        if (!stiffness(dim, n, &mn, &mt)) continue;
        const coarse_pair pair = pair_of(c, p, dim, i);
        if (pair.body < 0) continue;
        c->bearing++;
        if (!pair.inside) {
            add_tie(c, dim, pair, n, mn, mt);
            continue;
        }
        stretch(dim, n, pair.length, Q);
        for (int j = 0; j < ns; j++) {
            normal[j] = 0.0;
            for (int k = 0; k < dim; k++) normal[j] += n[k] * Q[k * ns + j];
        }
        double* C = c->values[COARSE_MODULI] +
                    part_of(c, dim, c->values[COARSE_PLACE] + pair.body * (dim + 1)) * ns * ns;
        for (int j = 0; j < ns; j++) {
            for (int k = j; k < ns; k++) {
                double both = (mn - mt) * normal[j] * normal[k];
                for (int m = 0; m < dim; m++) both += mt * Q[m * ns + j] * Q[m * ns + k];
                C[j * ns + k] += both;
            }
        }
    }
}

/// The elements' stiffness from the moduli.
static void add_parts(coarse_grid* c)
{
    const int dim = c->dim, ns = strains(dim);
    for (int64_t part = 0; part < c->part_count; part++) {
        const double* C = c->values[COARSE_MODULI] + part * ns * ns;
        double B[8][18], CB[8][18];
        int64_t node[8];
        for (int q = 0; q < 1 << dim; q++) {
            node[q] = corner_strain(c, part, q, B[q]);
            for (int j = 0; j < ns; j++) {
                for (int k = 0; k < dim; k++) {
                    double sum = 0.0;
                    for (int m = 0; m < ns; m++) {
                        sum += C[j < m ? j * ns + m : m * ns + j] * B[q][m * dim + k];
                    }
                    CB[q][j * dim + k] = sum;
                }
            }
        }
        for (int pair = 0; pair < 1 << (2 * dim); pair++) {
            const int q = pair >> dim, s = pair & ((1 << dim) - 1);
            double* A = c->values[COARSE_STENCIL] +
                        (node[q] * neighbours(dim) + offset_of(dim, q, s)) * dim * dim;
            for (int j = 0; j < dim; j++) {
                for (int k = 0; k < dim; k++) {
                    for (int m = 0; m < ns; m++) {
                        A[j * dim + k] += B[q][m * dim + j] * CB[s][m * dim + k];
                    }
                }
            }
        }
    }
}

/// Masses of the nodes and the mobile walls.
static void find_masses(coarse_grid* c, const problem* p)
{
    const int dim = c->dim;
    double* mass = c->values[COARSE_MASS];
    memset(mass, 0, sizeof(double) * (size_t)c->unknowns);
    for (int64_t i = 0; i < p->rows; i++) {
        const double* x = c->values[COARSE_PLACE] + i * (dim + 1);
        double weight[8];
        int64_t node[8];
        if (!(x[dim] > 0.0)) continue;
        corners(c, dim, x, node, weight);
        for (int q = 0; q < 1 << dim; q++) {
            for (int k = 0; k < dim; k++) mass[node[q] * dim + k] += weight[q] * mass_of(p, i);
        }
    }
    for (int64_t k = 0; k < c->wall_count * dim; k++) {
        const int64_t wall = k / dim;
        const int axis = (int)(k % dim);
        mass[c->node_count * dim + k] =
            wall_moves(p, wall, axis) ? 1.0 / p->mobility[(wall * dim + axis) * dim + axis] : 0.0;
    }
}

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

talus_status coarse_lay(coarse_grid* c, const problem* p, bool* fits)
{
    double low[3], high[3], extent = 0.0;
    *fits = false;
    c->dim = p->dim;
    if (!reserve(&c->values[COARSE_PLACE], &c->capacity[COARSE_PLACE], p->rows * (p->dim + 1))) {
        return TALUS_ERR_MEMORY;
    }
    find_places(c, p, low, high);
    for (int k = 0; k < p->dim; k++) extent = fmax(extent, high[k] - low[k]);
    if (!(extent >= coarse_least_size(p->dim))) return TALUS_OK;
    find_wraps(c, p, low, high);
    lay_grid(c, p, low, high);
    if (!reserve_all(c)) return TALUS_ERR_MEMORY;
    find_neighbours(c);
    find_masses(c, p);
    *fits = true;
    return TALUS_OK;
}

void coarse_stiffen(coarse_grid* c, const problem* p)
{
    const coarse_array cleared[] = {COARSE_MODULI, COARSE_STENCIL, COARSE_COUPLING, COARSE_OWN};
    for (int k = 0; k < 4; k++) {
        if (c->values[cleared[k]]) {
            memset(c->values[cleared[k]], 0, sizeof(double) * (size_t)c->capacity[cleared[k]]);
        }
    }
    if (c->dim == 2) {
        add_contacts(c, p, 2);
    } else {
        add_contacts(c, p, 3);
    }
    add_parts(c);
    finish_diagonal(c);
}

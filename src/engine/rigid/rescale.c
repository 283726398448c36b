/// Where grains flow every step begins with a load that is wrong on large scales: how hard the
/// grains as a whole press on the floor changes by some ten per cent from one step to the next,
/// with what collides. Sweeps carry that to all contacts by diffusion, since momentum cannot last
/// long there (accelerate.c): in a collapse of 10^4 disks the mean velocity was 9 % off after 64
/// sweeps, and still 5 % after 256.
///
/// Coulomb's cone has no size: impulses that obey it do so times any factor. So all impulses around
/// a place are multiplied by a factor a(x) = 1 + sum_j d_j h_j(x), h_j linear between the nodes of
/// a lattice. At the exact solution contacts that push neither open nor close, p_n (u_n + bias) =
/// 0, each of them and so every sum of them. The factors are those with which this holds in the
/// mean around every node i:
///     sum over contacts of h_i p_n (u_n + bias) = 0,      u = u_now + W (a - 1) p
/// which is a small linear system
///     sum_j A_ij d_j = -sum over contacts of h_i p_n (u_n,now + bias)
///     A_ij = sum over bodies of N_i.F_j / m,   F_j, N_i: impulses h_j p and h_i p_n n on a body.
/// It is not symmetric, as friction counts in F only: where contacts slide the work of friction is
/// no sign of an error. An exact solution stays what it is, whatever A is. A contact lies where its
/// body b lies; then the impulses on a body need no more than the sum of p and of p (x) (way to b):
///     F_j = h_j(x) sum p + (sum p (x) l) grad h_j(x)
/// so that a pass over the contacts and one over the bodies make A.
///
/// The impulses of the last step are rough: contacts have gone, normals have turned. In the first
/// sweeps A is made of roughness, and factors are too small; then they are what is missing. So it
/// is done after FIRST_SWEEPS and again after every half more sweeps, with what sweeps have
/// smoothed.
#include "rigid/rescale.h"

#include "base/array.h"
#include "base/parallel.h"
#include "rigid/ahead.h"
#include "state/morton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Sweeps before impulses are scaled for the first time, and the part of all sweeps until the next
/// time; not in the last quarter of those allowed. Chosen on 8 steps each of collapse, drum, pour,
/// hopper and shear of 10^4 disks (bench/flow), which took 0.58 times the sweeps that they take
/// without (geometric mean). To begin after 8 or 32 sweeps took 0.99 and 1.11 times as many as
/// after 16, a quarter and as many more again 0.99 and 1.10 times those of a half.
enum { FIRST_SWEEPS = 16, LEAST_BUDGET = 100 };
static const double MORE_SWEEPS = 0.5;
/// Spacing of the lattice in mean diameters: in the plane 16, 32 and 64 took 0.97 to 1.02 times the
/// sweeps of each other, a single factor for all 1.33 times. In space errors are shorter: 12 took
/// 0.9 times the sweeps of 24 in shear, as many in a hopper. It is wider where there would be more
/// nodes than the price of a few sweeps; mobile walls join all nodes beside them, which makes the
/// matrix dense.
static const double SPACING_PLANE = 24.0, SPACING_SPACE = 12.0;
/// Extent in diameters below which flows in space gain nothing: 10^3 spheres took 0.85 to 1.16
/// times the sweeps. Steps of a collapse of 10^4, once it had spread to more than 64 diameters,
/// took 0.98 times the sweeps and 1.14 times the time, of 3*10^4 0.88 and 1.22 times: a time that
/// impulses are scaled costs some ten sweeps.
static const double LEAST_SIZE_SPACE = 128.0;
enum { MOST_NODES = 512, MOST_NODES_WALLS = 128, MOST_WALLS = 4 };
/// Parts in which bodies are summed up: the same for any number of threads.
enum { PARTS = 16 };
/// Added to 1 at a node: there may be few contacts around it, and the law is not linear.
static const double LEAST_ADDED = -0.5, MOST_ADDED = 1.0;
/// Where the equations ask for more than this impulses hardly change a velocity: they hold each
/// other, as those of a grain between walls that close in on it, which no impulse solves. To double
/// them time and again would let them run away, in step after step; there they stay as they are. In
/// collapse, drum, plane shear, biaxial and a vibrated box of scenes/ 25 of 258 000 factors were
/// above 30, and 76 above 10.
static const double SENSELESS = 30.0;

void rescaling_free(rescaling* r)
{
    free(r->place);
    free(r->node);
    free(r->weight);
    free(r->times);
    free(r->load);
    free(r->work);
    free(r->wall);
    free(r->matrix);
    free(r->factor);
    *r = (rescaling){0};
}

/// Laws that have a size of their own (bonds, torques) are left alone, and so are solids, whose
/// turning A does not know.
void rescaling_begin(rescaling* r, const problem* p, double size, int64_t budget)
{
    const bool small = p->dim == 3 && size > 0.0 && size < LEAST_SIZE_SPACE;
    bool can =
        budget >= LEAST_BUDGET && !small && p->compound_count == 0 && p->mobile_count <= MOST_WALLS;
    for (int64_t c = 0; can && p->block_count > 0 && c < p->count; c++) {
        can = problem_block_of(p, c) < 0 || problem_mobile_wall(p, p->pair[2 * c]) >= 0;
    }
    if (r->dim != p->dim)
        rescaling_free(r); // capacities count rows, whose width is the dimension's
    r->dim = p->dim;
    r->next = can ? FIRST_SWEEPS : INT64_MAX;
    r->last = budget - budget / 4;
    r->count = 0;
}

bool rescaling_due(const rescaling* r, int64_t sweeps)
{
    return sweeps >= r->next;
}

void rescaling_wait(rescaling* r)
{
    const int64_t more = (int64_t)(MORE_SWEEPS * (double)r->next);
    r->next += more > FIRST_SWEEPS ? more : FIRST_SWEEPS;
    if (r->next > r->last) r->next = INT64_MAX;
}

// ---- lattice ------------------------------------------------------------------------------------

static ALWAYS_INLINE double normal_impulse(const int dim, const double* row)
{
    return vec_dot(dim, row, row + contact_p(dim));
}

/// Number the nodes so that neighbours are near: the shortest axis first.
static void number_nodes(rescaling* r)
{
    r->count = 1;
    r->band = 0;
    bool done[3] = {false, false, false};
    for (int i = 0; i < r->dim; i++) {
        int shortest = -1;
        for (int k = 0; k < r->dim; k++) {
            if (!done[k] && (shortest < 0 || r->nodes[k] < r->nodes[shortest])) shortest = k;
        }
        done[shortest] = true;
        r->far[shortest] = r->count;
        r->band += r->count;
        r->count *= r->nodes[shortest];
    }
}

/// Nodes around a place, and their weights h.
static ALWAYS_INLINE void around(const rescaling* r, const int dim, const double* x, int32_t* node,
                                 double* h)
{
    int64_t first[3];
    double part[3];
    for (int k = 0; k < dim; k++) {
        first[k] = (int64_t)x[k];
        part[k] = x[k] - (double)first[k];
    }
    for (int q = 0; q < 1 << dim; q++) {
        int64_t number = 0;
        h[q] = 1.0;
        for (int k = 0; k < dim; k++) {
            // At the end of an axis, or on one with a single node, both ends are the same node.
            const bool up = q >> k & 1, ends = first[k] + 1 >= r->nodes[k];
            number += (first[k] + (up && !ends)) * r->far[k];
            h[q] *= up ? part[k] : 1.0 - part[k];
        }
        node[q] = (int32_t)number;
    }
}

/// grad h of the nodes around a place, in 1/diameters, by axis.
static ALWAYS_INLINE void slopes(const rescaling* r, const int dim, const double* x,
                                 double gradient[3][8])
{
    double part[3];
    for (int k = 0; k < dim; k++) part[k] = x[k] - (double)(int64_t)x[k];
    for (int k = 0; k < dim; k++) {
        for (int q = 0; q < 1 << dim; q++) {
            double slope = q >> k & 1 ? r->scale : -r->scale;
            for (int j = 0; j < dim; j++) {
                if (j != k) slope *= q >> j & 1 ? part[j] : 1.0 - part[j];
            }
            gradient[k][q] = slope;
        }
    }
}

/// What loops over threads share.
typedef struct rescaling_job {
    rescaling* r;
    problem* p;
    int threads;
} rescaling_job;

/// Where bodies are (known from the curve, to a diameter).
static void place_bodies(const rescaling_job* job)
{
    const problem* p = job->p;
    const int dim = p->dim;
#pragma omp parallel for num_threads(parallel_threads(job->threads, p->rows)) schedule(static)
    for (int64_t i = 0; i < p->rows; i++) {
        for (int k = 0; k < dim; k++) {
            job->r->place[i * dim + k] = p->curve_cell * morton_coordinate(dim, p->curve[i] >> k);
        }
    }
}

/// Where the contacts that push begin and end along each axis: the largest of -x and x.
static void find_extent(void* data, int64_t first, int64_t last, double* out)
{
    const rescaling_job* job = data;
    const problem* p = job->p;
    const int dim = p->dim;
    for (int64_t c = first; c < last; c++) {
        if (!(normal_impulse(dim, p->contact + c * problem_width(dim)) > 0.0)) continue;
        const double* x = job->r->place + p->pair[2 * c + 1] * dim;
        for (int k = 0; k < dim; k++) {
            out[k] = fmax(out[k], -x[k]);
            out[3 + k] = fmax(out[3 + k], x[k]);
        }
    }
}

/// Lay the lattice over all contacts that push, each where its body b is.
static talus_status lay(const rescaling_job* job)
{
    rescaling* r = job->r;
    const problem* p = job->p;
    const int dim = p->dim;
    const int64_t most = p->mobile_count > 0 ? MOST_NODES_WALLS : MOST_NODES;
    double extent[6], low[3];
    const double* high = extent + 3;
    if (!arrays_renew(&r->row_capacity, p->rows, ROWS(r->place, dim), ROWS(r->node, 1 << dim),
                      ROWS(r->weight, 1 << dim), ARRAY(r->times), ARRAY(r->work),
                      ROWS(r->load, 2 * (dim + dim * dim)))) {
        return TALUS_ERR_MEMORY;
    }
    place_bodies(job);
    parallel_reduce(job->threads, p->count, PARALLEL_MAX, 6, find_extent, (void*)job, extent);
    for (int k = 0; k < dim; k++) low[k] = -extent[k];
    if (!(high[0] >= low[0])) return TALUS_OK; // nothing pushes
    double spacing = dim == 2 ? SPACING_PLANE : SPACING_SPACE;
    do {
        r->scale = 1.0 / spacing;
        for (int k = 0; k < dim; k++) r->nodes[k] = 1 + (int)((high[k] - low[k]) / spacing + 0.5);
        number_nodes(r);
        spacing *= 1.1;
    } while (r->count > most);
    if (p->mobile_count > 0) r->band = r->count;
#pragma omp parallel for num_threads(parallel_threads(job->threads, p->rows)) schedule(static)
    for (int64_t i = 0; i < p->rows; i++) {
        for (int k = 0; k < dim; k++) {
            const double x = (r->place[i * dim + k] - low[k]) * r->scale;
            r->place[i * dim + k] = fmin(fmax(x, 0.0), r->nodes[k] - 1.0);
        }
        if (dim == 2) {
            around(r, 2, r->place + 2 * i, r->node + 4 * i, r->weight + 4 * i);
        } else {
            around(r, 3, r->place + 3 * i, r->node + 8 * i, r->weight + 8 * i);
        }
    }
    const bool room =
        arrays_renew(&r->matrix_capacity, PARTS * r->count * r->count, ARRAY(r->matrix)) &&
        arrays_renew(&r->factor_capacity, PARTS * r->count, ARRAY(r->factor)) &&
        arrays_renew(&r->wall_capacity, p->mobile_count * r->count, ROWS(r->wall, 2 * dim));
    return room ? TALUS_OK : TALUS_ERR_MEMORY;
}

// ---- the equations of the nodes -----------------------------------------------------------------

/// Add an impulse p on a body and p (x) l to its load.
static ALWAYS_INLINE void add_load(const int dim, double* load, double sign, const double* p,
                                   const double* l)
{
    for (int k = 0; k < dim; k++) {
        load[k] += sign * p[k];
        if (!l) continue;
        for (int j = 0; j < dim; j++) load[dim + k * dim + j] += sign * p[k] * l[j];
    }
}

/// Add a contact to the loads and the work of those of its bodies that are among [first, last).
static ALWAYS_INLINE void add_contact(rescaling* r, const problem* p, const int dim, int64_t c,
                                      int64_t first, int64_t last)
{
    const int stride = problem_stride(dim), wide = dim + dim * dim;
    const int64_t a = p->pair[2 * c], b = p->pair[2 * c + 1];
    const bool has_a = a >= first && a < last, has_b = b >= first && b < last;
    if (!has_a && !has_b) return;
    const double *row = p->contact + c * problem_width(dim), *impulse = row + contact_p(dim);
    const double pn = normal_impulse(dim, row);
    if (!(pn > 0.0)) return;
    double normal[3], u[3];
    for (int k = 0; k < dim; k++) normal[k] = pn * row[k];
    if (has_a) {
        add_load(dim, r->load + 2 * a * wide, -1.0, impulse, row);
        add_load(dim, r->load + (2 * a + 1) * wide, -1.0, normal, row);
    }
    if (!has_b) return;
    const double *va = p->body + a * stride, *vb = p->body + b * stride;
    if (problem_block_of(p, c) < 0) {
        vec_sub(dim, u, vb, va); // turning has no part in the normal velocity of balls
    } else {
        block_velocity(dim, problem_block(p, dim, c), va, vb, u);
    }
    r->work[b] += pn * (vec_dot(dim, u, row) + row[contact_bias(dim)]);
    add_load(dim, r->load + 2 * b * wide, 1.0, impulse, NULL);
    add_load(dim, r->load + (2 * b + 1) * wide, 1.0, normal, NULL);
}

/// Loads and work of all bodies: a thread has a part of them, and looks at all contacts for theirs.
static void load_bodies(const rescaling_job* job)
{
    rescaling* r = job->r;
    const problem* p = job->p;
    const int wide = p->dim + p->dim * p->dim, parts = parallel_threads(job->threads, p->rows);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const int64_t first = p->rows * part / parts, last = p->rows * (part + 1) / parts;
        const size_t rows = (size_t)(last - first);
        memset(r->load + first * 2 * wide, 0, sizeof(double) * rows * 2 * (size_t)wide);
        memset(r->work + first, 0, sizeof(double) * rows);
        for (int64_t c = 0; c < p->count; c++) {
            const int64_t ahead = body_ahead(p, c);
            if (ahead >= first && ahead < last) { // others are being written by other threads
                __builtin_prefetch(p->body + ahead * problem_stride(p->dim));
                __builtin_prefetch(r->load + 2 * ahead * wide);
                __builtin_prefetch(r->load + (2 * ahead + 1) * wide);
            }
            if (p->dim == 2) {
                add_contact(r, p, 2, c, first, last);
            } else {
                add_contact(r, p, 3, c, first, last);
            }
        }
    }
}

/// Impulses on mobile walls by node.
static void load_walls(rescaling* r, const problem* p)
{
    const int dim = p->dim, nodes = 1 << dim;
    for (int64_t k = 0; k < p->mobile_count * r->count * 2 * dim; k++) r->wall[k] = 0.0;
    for (int64_t c = 0; c < p->count && p->mobile_count > 0; c++) {
        const double *row = p->contact + c * problem_width(dim), *impulse = row + contact_p(dim);
        const int64_t wall = problem_mobile_wall(p, p->pair[2 * c]), b = p->pair[2 * c + 1];
        if (wall < 0) continue;
        const double pn = normal_impulse(dim, row);
        for (int q = 0; q < nodes && pn > 0.0; q++) {
            const double h = r->weight[b * nodes + q];
            double* on_wall = r->wall + (wall * r->count + r->node[b * nodes + q]) * 2 * dim;
            vec_add_scaled(dim, on_wall, -h, impulse);
            vec_add_scaled(dim, on_wall + dim, -h * pn, row);
        }
    }
}

static ALWAYS_INLINE bool is_loaded(const double* load, const int numbers)
{
    for (int k = 0; k < numbers; k++) {
        if (load[k] != 0.0) return true;
    }
    return false;
}

/// What body i adds to A and to the right-hand side of a part.
static ALWAYS_INLINE void add_body(rescaling* r, const problem* p, const int dim, int64_t i,
                                   int part)
{
    const int wide = dim + dim * dim, nodes = 1 << dim;
    double* matrix = r->matrix + part * r->count * r->count;
    double* factor = r->factor + part * r->count;
    for (int q = 0; q < nodes; q++) {
        factor[r->node[i * nodes + q]] -= r->weight[i * nodes + q] * r->work[i];
    }
    const double inverse_mass = p->free[i * problem_stride(dim) + row_im(dim)];
    if (!(inverse_mass > 0.0)) return;
    const double *all = r->load + 2 * i * wide, *normal = all + wide, *h = r->weight + i * nodes;
    if (!is_loaded(all, 2 * wide)) return; // half of the grains of a flow
    const int32_t* node = r->node + i * nodes;
    double gradient[3][8], F[3][8], N[3][8]; // by axis, so that all nodes are done at once
    slopes(r, dim, r->place + i * dim, gradient);
    for (int k = 0; k < dim; k++) {
        for (int q = 0; q < nodes; q++) {
            double by_slope = 0.0, normal_by_slope = 0.0;
            for (int j = 0; j < dim; j++) {
                by_slope += all[dim + k * dim + j] * gradient[j][q];
                normal_by_slope += normal[dim + k * dim + j] * gradient[j][q];
            }
            F[k][q] = h[q] * all[k] + by_slope;
            N[k][q] = h[q] * normal[k] + normal_by_slope;
        }
    }
    double product[8][8];
    for (int q = 0; q < nodes; q++) {
        for (int s = 0; s < nodes; s++) {
            double sum = 0.0;
            for (int k = 0; k < dim; k++) sum += N[k][q] * F[k][s];
            product[q][s] = inverse_mass * sum;
        }
    }
    for (int q = 0; q < nodes; q++) {
        double* of = matrix + node[q] * r->count;
        for (int s = 0; s < nodes; s++) of[node[s]] += product[q][s];
    }
}

static void add_wall(rescaling* r, const problem* p, int64_t wall)
{
    const int dim = p->dim;
    const double* on_wall = r->wall + wall * r->count * 2 * dim;
    for (int64_t j = 0; j < r->count; j++) {
        double v[3];
        for (int k = 0; k < dim; k++) {
            v[k] = vec_dot(dim, p->mobility + (wall * dim + k) * dim, on_wall + j * 2 * dim);
        }
        for (int64_t i = 0; i < r->count; i++) {
            r->matrix[i * r->count + j] += vec_dot(dim, on_wall + (i * 2 + 1) * dim, v);
        }
    }
}

/// A and the right-hand side, in a fixed number of parts.
static void make_equations(const rescaling_job* job)
{
    rescaling* r = job->r;
    const problem* p = job->p;
    const int parts = p->rows < PARALLEL_LEAST ? 1 : PARTS;
    const int64_t count = r->count, square = count * count;
    load_bodies(job);
    load_walls(r, p);
#pragma omp parallel for num_threads(parallel_threads(job->threads, p->rows)) schedule(static)
    for (int part = 0; part < parts; part++) {
        const int64_t first = p->rows * part / parts, last = p->rows * (part + 1) / parts;
        memset(r->matrix + part * square, 0, sizeof(double) * (size_t)square);
        memset(r->factor + part * count, 0, sizeof(double) * (size_t)count);
        if (p->dim == 2) {
            for (int64_t i = first; i < last; i++) add_body(r, p, 2, i, part);
        } else {
            for (int64_t i = first; i < last; i++) add_body(r, p, 3, i, part);
        }
    }
    for (int part = 1; part < parts; part++) {
        for (int64_t k = 0; k < square; k++) r->matrix[k] += r->matrix[part * square + k];
        for (int64_t k = 0; k < count; k++) r->factor[k] += r->factor[part * count + k];
    }
    for (int64_t wall = 0; wall < p->mobile_count; wall++) add_wall(r, p, wall);
}

/// Gauss's elimination with pivots, within the band. A node around which nothing pushes has no
/// equation, and stays as it is.
static void solve_equations(rescaling* r)
{
    const int64_t n = r->count;
    double *A = r->matrix, *b = r->factor;
    for (int64_t i = 0; i < n; i++) {
        const int64_t rows = i + r->band + 1 < n ? i + r->band + 1 : n;
        const int64_t columns = i + 2 * r->band + 1 < n ? i + 2 * r->band + 1 : n;
        int64_t pivot = i;
        for (int64_t k = i + 1; k < rows; k++) {
            if (fabs(A[k * n + i]) > fabs(A[pivot * n + i])) pivot = k;
        }
        for (int64_t k = i; pivot != i && k < columns; k++) {
            const double other = A[pivot * n + k];
            A[pivot * n + k] = A[i * n + k];
            A[i * n + k] = other;
        }
        const double other = b[pivot];
        b[pivot] = b[i];
        b[i] = other;
        if (A[i * n + i] == 0.0) continue;
        for (int64_t k = i + 1; k < rows; k++) {
            const double times = A[k * n + i] / A[i * n + i];
            if (times == 0.0) continue;
            for (int64_t j = i; j < columns; j++) A[k * n + j] -= times * A[i * n + j];
            b[k] -= times * b[i];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        const int64_t columns = i + 2 * r->band + 1 < n ? i + 2 * r->band + 1 : n;
        for (int64_t k = i + 1; k < columns; k++) b[i] -= A[i * n + k] * b[k];
        b[i] = A[i * n + i] == 0.0 ? 0.0 : b[i] / A[i * n + i];
    }
}

/// Multiply impulses with what the nodes around their bodies b say.
static void scale_all(const rescaling_job* job)
{
    rescaling* r = job->r;
    problem* p = job->p;
    const int nodes = 1 << p->dim;
#pragma omp parallel num_threads(parallel_threads(job->threads, p->count))
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < p->rows; i++) {
            r->times[i] = 1.0;
            for (int q = 0; q < nodes; q++) {
                r->times[i] += r->weight[i * nodes + q] * r->factor[r->node[i * nodes + q]];
            }
        }
#pragma omp for schedule(static)
        for (int64_t c = 0; c < p->count; c++) {
            double* impulse = p->contact + c * problem_width(p->dim) + contact_p(p->dim);
            for (int k = 0; k < p->dim; k++) impulse[k] *= r->times[p->pair[2 * c + 1]];
        }
    }
}

talus_status rescale(rescaling* r, problem* p, int threads)
{
    const rescaling_job job = {r, p, threads};
    if (r->count == 0 && lay(&job)) return TALUS_ERR_MEMORY;
    if (r->count == 0) return TALUS_OK;
    make_equations(&job);
    solve_equations(r);
    for (int64_t i = 0; i < r->count; i++) {
        const bool sensible = isfinite(r->factor[i]) && r->factor[i] <= SENSELESS;
        const double added = sensible ? r->factor[i] : 0.0;
        r->factor[i] = fmin(fmax(added, LEAST_ADDED), MOST_ADDED);
    }
    scale_all(&job);
    return TALUS_OK;
}

/// A coarse grid of displacements that stops the slow waves of a jammed packing.
///
/// The softest motions of a packing are waves as long as itself, and sweeps need some L/d turns to
/// stop them. Here the packing is taken for an elastic body with the stiffness D that its contacts
/// have just now: m_n along the normal, m_t across it if the contact sticks, nothing if it bears no
/// load. On a grid of nodes some grains apart (bilinear elements, P takes nodes to bodies) the
/// displacement x is found that takes up all momentum on that scale,
///     K x = P^T M V,   K = sum over contacts of B^T D B,   B x = (strain at the contact) l n,
/// and the impulses change by -D B x: load goes where the stiff contacts are, and where friction
/// has given way none goes. P^T M V is zero then up to what single grains make of it; they give way
/// more than an even strain says, so the step is longer by OVERSTEP. The impulses that come out are
/// rough on the scale of a grain, which a few sweeps smooth; momentum goes on across the step.
/// Minimising the kinetic energy over the same displacements leads nowhere: the roughness outweighs
/// the gain.
///
/// The step only proposes, the sweeps decide. It is right for packings that bear load already. From
/// no impulses at all it is rough, and the sweeps that smooth it are no fewer than those it saves.
/// Where grains flow it would stop the flow, so there must be enough contacts to jam, few of them
/// open or sliding, and they must feel the velocities that are to be stopped. Places of bodies are
/// known from the curve, to a grain's diameter (body/curve.h).
#include "solve/coarse_element.h"

#include <math.h>

/// Sweeps before the first step, because many solves are done by then, and between two steps.
enum {
    FIRST_SWEEPS = 16,
    STEP_SWEEPS = 10,
    MOST_STEPS = 20,
    MOST_WALLS = 4,
    MOST_ITERATIONS = 200
};
static const double OVERSTEP = 1.5;
static const double BEARING = 0.95; // part of the contacts that touch
static const double SLIDING = 0.29; // part of the contacts that bear load, at most
static const double FELT = 0.2;     // part of the velocities that contacts must feel
static const double PROGRESS = 0.9; // of the velocities on the large scale from step to step
static const double ENOUGH = 2.0;   // so much times what matters is gone after one step
static const double ACCURACY = 1e-3;
static const double RESTIFFEN = 0.03; // change of the number of contacts that bear load
/// Velocities on the large scale that are too small to matter, as part of the free ones: that part
/// of the error that a solve may leave, or so much if it is told otherwise when to stop.
static const double NOTICED = 0.5, NOTICED_ANYWAY = 0.01, LEAST_NOTICED = 0.003;

// ---- equations ----------------------------------------------------------------------------------

static ALWAYS_INLINE void multiply_nodes(const coarse_grid* c, const int dim, const double* x,
                                         double* y)
{
    const int count = neighbours(dim);
    for (int64_t n = 0; n < c->node_count; n++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int o = 0; o < count; o++) {
            const int32_t other = c->neighbour[n * count + o];
            if (other < 0) continue;
            const double* A = c->values[COARSE_STENCIL] + (n * count + o) * dim * dim;
            for (int j = 0; j < dim; j++) {
                for (int k = 0; k < dim; k++) sum[j] += A[j * dim + k] * x[other * dim + k];
            }
        }
        for (int j = 0; j < dim; j++) y[n * dim + j] = sum[j];
    }
}

/// y = K x; unknowns that cannot move (scale 0) stay where they are.
static void multiply(const coarse_grid* c, const double* x, double* y)
{
    const int dim = c->dim;
    if (dim == 2) {
        multiply_nodes(c, 2, x, y);
    } else {
        multiply_nodes(c, 3, x, y);
    }
    for (int64_t w = 0; w < c->wall_count; w++) {
        const double* wall = x + (c->node_count + w) * dim;
        double* out = y + (c->node_count + w) * dim;
        for (int j = 0; j < dim; j++) {
            out[j] = vec_dot(dim, c->values[COARSE_OWN] + (w * dim + j) * dim, wall);
        }
        for (int64_t n = 0; n < c->node_count; n++) {
            const double* A = c->values[COARSE_COUPLING] + (w * c->node_count + n) * dim * dim;
            for (int j = 0; j < dim; j++) {
                y[n * dim + j] += vec_dot(dim, A + j * dim, wall);
                vec_add_scaled(dim, out, x[n * dim + j], A + j * dim);
            }
        }
    }
}

/// Solve K move = force by conjugate gradients.
static void solve_equations(coarse_grid* c)
{
    const int64_t n = c->unknowns;
    const double *scale = c->values[COARSE_SCALE], *force = c->values[COARSE_FORCE];
    double *x = c->values[COARSE_MOVE], *r = c->values[COARSE_REST];
    double *d = c->values[COARSE_DIRECTION], *Kd = c->values[COARSE_PRODUCT];
    double rest = 0.0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = 0.0;
        r[i] = force[i];
        d[i] = scale[i] * r[i];
        rest += r[i] * d[i];
    }
    const double enough = ACCURACY * rest;
    for (int turn = 0; turn < MOST_ITERATIONS && rest > enough; turn++) {
        multiply(c, d, Kd);
        double curvature = 0.0, next = 0.0;
        for (int64_t i = 0; i < n; i++) curvature += d[i] * Kd[i];
        if (!(curvature > 0.0)) return;
        for (int64_t i = 0; i < n; i++) {
            x[i] += rest / curvature * d[i];
            r[i] -= rest / curvature * Kd[i];
            next += scale[i] * r[i] * r[i];
        }
        for (int64_t i = 0; i < n; i++) d[i] = scale[i] * r[i] + next / rest * d[i];
        rest = next;
    }
}

/// Momentum of the bodies on the nodes; returns twice its kinetic energy.
static double find_momentum(coarse_grid* c, const problem* p)
{
    const int dim = c->dim, stride = problem_stride(dim);
    double* f = c->values[COARSE_FORCE];
    const double* mass = c->values[COARSE_MASS];
    double energy2 = 0.0;
    memset(f, 0, sizeof(double) * (size_t)c->unknowns);
    for (int64_t i = 0; i < p->rows; i++) {
        const double* x = c->values[COARSE_PLACE] + i * (dim + 1);
        double weight[8];
        int64_t node[8];
        if (!(x[dim] > 0.0)) continue;
        corners(c, dim, x, node, weight);
        for (int q = 0; q < 1 << dim; q++) {
            vec_add_scaled(dim, f + node[q] * dim, weight[q] * mass_of(p, i), p->body + i * stride);
        }
    }
    for (int64_t k = 0; k < c->wall_count * dim; k++) {
        const int64_t i = c->node_count * dim + k;
        f[i] = mass[i] * p->body[(p->mobile_first + k / dim) * stride + k % dim];
    }
    for (int64_t i = 0; i < c->unknowns; i++) {
        if (mass[i] > 0.0) energy2 += f[i] * f[i] / mass[i];
    }
    return energy2;
}

// ---- do contacts feel it? -----------------------------------------------------------------------

/// Forces of the contacts' own velocities on the nodes, P^T K V: only what
/// contacts feel counts.
static void find_felt(coarse_grid* c, const problem* p)
{
    const int dim = c->dim, ns = strains(dim);
    double *stress = c->values[COARSE_STRAIN], *f = c->values[COARSE_FORCE];
    memset(stress, 0, sizeof(double) * (size_t)(c->part_count * ns));
    memset(f, 0, sizeof(double) * (size_t)c->unknowns);
    for (int64_t i = 0; i < p->count; i++) {
        const double* n = p->contact + i * problem_width(dim);
        double mn, mt, u[3], t[3], Q[18], weight[8];
        int64_t node[8];
        const coarse_pair pair = pair_of(c, p, dim, i);
        if (!stiffness(dim, n, &mn, &mt) || pair.body < 0) continue;
        problem_velocity(p, i, u);
        const double un = vec_dot(dim, u, n);
        for (int k = 0; k < dim; k++) t[k] = mt * u[k] + (mn - mt) * un * n[k];
        const double* x = c->values[COARSE_PLACE] + pair.body * (dim + 1);
        if (pair.inside) {
            stretch(dim, n, pair.length, Q);
            for (int k = 0; k < dim; k++) {
                vec_add_scaled(ns, stress + part_of(c, dim, x) * ns, t[k], Q + k * ns);
            }
            continue;
        }
        corners(c, dim, x, node, weight);
        for (int q = 0; q < 1 << dim; q++) {
            vec_add_scaled(dim, f + node[q] * dim, pair.sign * weight[q], t);
        }
        if (pair.wall >= 0)
            vec_add_scaled(dim, f + (c->node_count + pair.wall) * dim, -pair.sign, t);
    }
    for (int64_t part = 0; part < c->part_count; part++) {
        for (int q = 0; q < 1 << dim; q++) {
            double B[18];
            const int64_t node = corner_strain(c, part, q, B);
            for (int j = 0; j < ns; j++) {
                vec_add_scaled(dim, f + node * dim, stress[part * ns + j], B + j * dim);
            }
        }
    }
}

/// Twice the kinetic energy, on the scale of the grid, of the velocities that
/// contacts feel.
static double felt_energy2(coarse_grid* c, const problem* p)
{
    double energy2 = 0.0;
    find_felt(c, p);
    solve_equations(c);
    for (int64_t i = 0; i < c->unknowns; i++) {
        const double v = c->values[COARSE_MOVE][i];
        energy2 += c->values[COARSE_MASS][i] * v * v;
    }
    return energy2;
}

// ---- steps --------------------------------------------------------------------------------------

typedef struct contact_counts {
    int64_t touching; ///< that could bear load
    int64_t bearing;  ///< that do
    int64_t sliding;  ///< of those
} contact_counts;

static contact_counts count_contacts(const problem* p)
{
    const int dim = p->dim;
    contact_counts n = {0};
    for (int64_t i = 0; i < p->count; i++) {
        const double* row = p->contact + i * problem_width(dim);
        double mn, mt;
        const bool bears = stiffness(dim, row, &mn, &mt);
        n.touching += bears || row[contact_bias(dim)] == 0.0;
        n.bearing += bears;
        n.sliding += bears && mt == 0.0 && row[contact_mu(dim)] > 0.0;
    }
    return n;
}

/// Twice the kinetic energy without contacts: the scale of errors.
static double free_energy2(const problem* p)
{
    const int dim = p->dim, stride = problem_stride(dim);
    double energy2 = 0.0;
    for (int64_t i = 0; i < p->rows; i++) {
        const int64_t wall = wall_of(p, i);
        for (int k = 0; k < dim; k++) {
            const double v = p->free[i * stride + k];
            if (moves(p, i)) energy2 += mass_of(p, i) * v * v;
            if (wall >= 0 && wall_moves(p, wall, k)) {
                energy2 += v * v / p->mobility[(wall * dim + k) * dim + k];
            }
        }
    }
    return energy2;
}

/// Could the packing bear load, and does it do so? Friction needs dim + 1 contacts a grain.
static bool may_be_jammed(const problem* p)
{
    const contact_counts n = count_contacts(p);
    int64_t bodies = 0;
    for (int64_t i = 0; i < p->rows; i++) bodies += moves(p, i);
    return 2.0 * (double)n.touching > 0.9 * (p->dim + 1) * (double)bodies &&
           2 * n.bearing >= n.touching;
}

/// After some sweeps all contacts of a jammed packing bear load; where grains flow some open, and
/// where a packing is about to give way many slide.
static bool holds(const contact_counts* n)
{
    return (double)n->bearing >= BEARING * (double)n->touching &&
           (double)n->sliding <= SLIDING * (double)n->bearing;
}

void coarse_begin(coarse_grid* c, const problem* p, const talus_solver_def* options)
{
    const bool can = p->mobile_count <= MOST_WALLS && p->rich_count == 0 && may_be_jammed(p);
    c->next = can ? FIRST_SWEEPS : INT64_MAX;
    c->steps = 0;
    c->noticed = options->stop == TALUS_STOP_RIGID
                     ? fmax(NOTICED * options->tolerance, LEAST_NOTICED)
                     : NOTICED_ANYWAY;
}

bool coarse_due(const coarse_grid* c, int64_t sweeps)
{
    return sweeps >= c->next;
}

static void find_strains(coarse_grid* c)
{
    const int dim = c->dim, ns = strains(dim);
    for (int64_t part = 0; part < c->part_count; part++) {
        double* strain = c->values[COARSE_STRAIN] + part * ns;
        for (int j = 0; j < ns; j++) strain[j] = 0.0;
        for (int q = 0; q < 1 << dim; q++) {
            double B[18];
            const double* move = c->values[COARSE_MOVE] + corner_strain(c, part, q, B) * dim;
            for (int j = 0; j < ns; j++) strain[j] += vec_dot(dim, B + j * dim, move);
        }
    }
}

/// Displacement of b against a at a contact.
static ALWAYS_INLINE void displacement(const coarse_grid* c, const int dim, coarse_pair pair,
                                       const double* n, double* u)
{
    const int ns = strains(dim);
    const double* x = c->values[COARSE_PLACE] + pair.body * (dim + 1);
    double Q[18], weight[8];
    int64_t node[8];
    if (pair.inside) {
        const double* strain = c->values[COARSE_STRAIN] + part_of(c, dim, x) * ns;
        stretch(dim, n, pair.length, Q);
        for (int k = 0; k < dim; k++) u[k] = vec_dot(ns, Q + k * ns, strain);
        return;
    }
    for (int k = 0; k < dim; k++) {
        u[k] = pair.wall < 0
                   ? 0.0
                   : -pair.sign * c->values[COARSE_MOVE][(c->node_count + pair.wall) * dim + k];
    }
    corners(c, dim, x, node, weight);
    for (int q = 0; q < 1 << dim; q++) {
        vec_add_scaled(dim, u, pair.sign * weight[q], c->values[COARSE_MOVE] + node[q] * dim);
    }
}

static ALWAYS_INLINE void change_impulse(const coarse_grid* c, problem* p, const int dim, int64_t i)
{
    double* row = p->contact + i * problem_width(dim);
    double mn, mt, u[3];
    const coarse_pair pair = pair_of(c, p, dim, i);
    if (!stiffness(dim, row, &mn, &mt) || pair.body < 0) return;
    displacement(c, dim, pair, row, u);
    const double un = vec_dot(dim, u, row);
    for (int k = 0; k < dim; k++) {
        row[contact_p(dim) + k] -= OVERSTEP * (mt * u[k] + (mn - mt) * un * row[k]);
    }
}

/// Lay the grid, find the momentum, and see whether contacts feel what is to be stopped.
static talus_status look_first(coarse_grid* c, const problem* p, bool* useful)
{
    const contact_counts n = count_contacts(p);
    *useful = holds(&n);
    if (*useful && coarse_lay(c, p, useful)) return TALUS_ERR_MEMORY;
    if (!*useful) return TALUS_OK;
    c->noticed2 = c->noticed * c->noticed * free_energy2(p);
    c->kinetic2 = find_momentum(c, p);
    *useful = c->kinetic2 > c->noticed2;
    if (!*useful) return TALUS_OK;
    coarse_stiffen(c, p);
    *useful = felt_energy2(c, p) > FELT * FELT * c->kinetic2;
    if (*useful) (void)find_momentum(c, p);
    return TALUS_OK;
}

/// Find the momentum: is there still something to stop, and did the last step help? K follows the
/// contacts.
static bool look_again(coarse_grid* c, const problem* p)
{
    const double before2 = c->kinetic2;
    const contact_counts n = count_contacts(p);
    c->kinetic2 = find_momentum(c, p);
    if (c->kinetic2 > PROGRESS * PROGRESS * before2 || !(c->kinetic2 > c->noticed2)) return false;
    if (!holds(&n)) return false;
    if (fabs((double)(n.bearing - c->bearing)) > RESTIFFEN * (double)c->bearing)
        coarse_stiffen(c, p);
    return true;
}

talus_status coarse_step(coarse_grid* c, problem* p, int threads, bool* changed)
{
    *changed = c->steps < MOST_STEPS;
    if (c->steps == 0 && look_first(c, p, changed)) return TALUS_ERR_MEMORY;
    if (c->steps > 0 && *changed) *changed = look_again(c, p);
    const bool last = !*changed || c->kinetic2 < ENOUGH * ENOUGH * c->noticed2;
    c->next = last ? INT64_MAX : c->next + STEP_SWEEPS;
    if (!*changed) return TALUS_OK;
    c->steps++;
    solve_equations(c);
    find_strains(c);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t i = 0; i < p->count; i++) {
        if (c->dim == 2) {
            change_impulse(c, p, 2, i);
        } else {
            change_impulse(c, p, 3, i);
        }
    }
    return TALUS_OK;
}

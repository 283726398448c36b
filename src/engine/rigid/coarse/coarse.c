/// A coarse grid of displacements that stops the slow waves of a jammed packing.
///
/// The softest motions of a packing are waves as long as itself, and sweeps need some L/d turns to
/// stop them. Here the packing is taken for an elastic body with the stiffness D that its contacts
/// have just now: m_n along the normal, m_t across it if the contact sticks, nothing if it bears no
/// load. On a grid of nodes some grains apart (bilinear elements, P takes nodes to bodies) the
/// displacement x is found that takes up all momentum on that scale,
///     K x = P^T M V,   K = sum over contacts of B^T D B,   B x = (strain at the contact) l n,
/// and the impulses change by -D B x: load goes where the stiff contacts are, and where friction
/// has given way none goes. The impulses that come out are rough on the scale of a grain, and the
/// velocities are larger at first than before by a factor of L/d. But roughness is what sweeps
/// smooth: after s of them what is left of it falls like s^-(d+2)/2, so after some ten the next
/// step finds half of the momentum of the last, whatever the size of the packing. (docs/theory.md)
///
/// The step only proposes, the sweeps decide. Without any impulses to begin with all contacts that
/// touch are taken to bear load and to stick. Where grains flow a step would stop the flow: so
/// there must be enough contacts to jam, few of them open, the impulses of the step before must
/// hold the most of the load, contacts must feel the velocities that are to be stopped, and when a
/// step has not helped there is no other.
#include "rigid/coarse/element.h"

#include "base/parallel.h"
#include "rigid/residual.h"

#include <math.h>

/// Sweeps before the first step, for the contacts to take up what they can by themselves, and
/// between two steps: for the roughness of the last one to fall to a tenth. Later on what is rough
/// on larger scales takes longer: a part of all sweeps is added. There are steps in the first half
/// of the sweeps that a solve may have, so that none ends with a rough solution.
enum { FIRST_SWEEPS = 8, STEP_SWEEPS = 8, GROWTH = 5 };
/// Grains give way more than an even strain says: the moduli of disordered packings are half to two
/// thirds of those.
static const double OVERSTEP = 1.5;
/// Velocities or displacements on the large scale after a step, of those before: steps of firm
/// packings leave half, and more if the packing is about to give way, or does.
static const double PROGRESS = 0.7;
static const double BEARING = 0.95; // part of the contacts that touch
static const double FELT = 0.2;     // part of the velocities that contacts must feel
/// Part of the free velocities that the impulses of the step before leave, on the large scale: all
/// but the change of the load is held in a packing at rest, little where grains move on.
static const double MOVING = 0.5;
/// What friction takes away, of what contacts do (residual.h), before a first step: 0.004 to 0.11
/// in packings of 10^3 to 6.4*10^4 disks and spheres under a lid (bench/scaling), where the largest
/// are warm starts whose load has changed; 0.19 and more in the bed under a rain of disks
/// (bench/flow), where a step made the estimated error ten times as large and 1000 sweeps did not
/// mend that.
static const double SLIDING = 0.15;
/// Velocities on the large scale that are worth a first step: so many times the error that a solve
/// may leave; and those that are too small to matter after a step, but not less than another part
/// of the free velocities.
static const double WORTHWHILE = 2.0, NOTICED = 0.3, LEAST_NOTICED = 1e-3;
enum { MOST_WALLS = 4 };

// ---- is it a packing? ---------------------------------------------------------------------------

typedef struct contact_counts {
    double touching; ///< that could bear load
    double bearing;  ///< that do
} contact_counts;

static void count_some(void* data, int64_t first, int64_t last, double* out)
{
    const problem* p = data;
    const int dim = p->dim;
    for (int64_t i = first; i < last; i++) {
        const double* row = p->contact + i * problem_width(dim);
        const bool bears = vec_dot(dim, row, row + contact_p(dim)) > 0.0;
        out[0] += bears || row[contact_bias(dim)] == 0.0;
        out[1] += bears;
    }
}

static contact_counts count_contacts(const problem* p, int threads)
{
    double out[2];
    parallel_reduce(threads, p->count, PARALLEL_SUM, 2, count_some, (void*)p, out);
    return (contact_counts){out[0], out[1]};
}

/// Twice the kinetic energy without contacts: the scale of errors.
static double free_energy2(const problem* p)
{
    const int dim = p->dim, stride = problem_stride(dim);
    double energy2 = 0.0;
    for (int64_t i = 0; i < p->rows; i++) {
        const int64_t wall = problem_mobile_wall(p, i);
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

/// Could the packing bear load, and does it do so, if there are impulses to tell? Friction needs
/// dim + 1 contacts per grain; some grains have none.
void coarse_begin(coarse_grid* c, const problem* p, double tolerance, int64_t budget)
{
    const contact_counts n = count_contacts(p, 1);
    int64_t bodies = 0;
    for (int64_t i = 0; i < p->rows; i++) bodies += moves(p, i);
    c->whole = n.bearing == 0.0;
    const bool may_be_jammed = 2.0 * n.touching > 0.9 * (p->dim + 1) * (double)bodies &&
                               (c->whole || 2.0 * n.bearing >= n.touching);
    const bool can = p->mobile_count <= MOST_WALLS && p->compound_count == 0 && may_be_jammed;
    c->next = can ? FIRST_SWEEPS : INT64_MAX;
    c->last = budget / 2;
    c->steps = 0;
    c->worthwhile = fmax(WORTHWHILE * tolerance, LEAST_NOTICED);
    c->noticed = fmax(NOTICED * tolerance, LEAST_NOTICED);
}

bool coarse_due(const coarse_grid* c, int64_t sweeps)
{
    return sweeps >= c->next;
}

/// Twice the kinetic energy, on the scale of the grid, of the velocities that contacts feel.
static double felt_energy2(coarse_grid* c, const problem* p)
{
    double energy2 = 0.0;
    coarse_feel(c, p);
    coarse_solve(c);
    for (int64_t i = 0; i < c->unknowns; i++) {
        const double v = c->values[COARSE_MOVE][i];
        energy2 += c->values[COARSE_MASS][i] * v * v;
    }
    return energy2;
}

// ---- steps --------------------------------------------------------------------------------------

/// Displacement of b against a at a contact that ties the grid to something else.
static void tied_displacement(const coarse_grid* c, coarse_tie tie, double* u)
{
    const int dim = c->dim;
    const double* move = c->values[COARSE_MOVE];
    double weight[8];
    int64_t node[8];
    for (int k = 0; k < dim; k++) {
        u[k] = tie.wall < 0 ? 0.0 : -tie.sign * move[(c->node_count + tie.wall) * dim + k];
    }
    corners(c, dim, c->values[COARSE_PLACE] + tie.body * (dim + 1), node, weight);
    for (int q = 0; q < 1 << dim; q++) {
        vec_add_scaled(dim, u, tie.sign * weight[q], move + node[q] * dim);
    }
}

static ALWAYS_INLINE void change_impulse(const coarse_grid* c, problem* p, const int dim, int64_t i)
{
    const int ns = strains(dim);
    const int32_t part = c->part_of[i];
    double* row = p->contact + i * problem_width(dim);
    double mn, mt, u[3];
    if (part == COARSE_APART || !stiffness(dim, row, c->whole, &mn, &mt)) return;
    if (part == COARSE_TIE) {
        tied_displacement(c, tie_of(c, p, i), u);
    } else {
        double Q[18];
        stretch(dim, row, c->length[i], Q);
        for (int k = 0; k < dim; k++) {
            u[k] = vec_dot(ns, Q + k * ns, c->values[COARSE_STRAIN] + part * ns);
        }
    }
    const double un = vec_dot(dim, u, row);
    for (int k = 0; k < dim; k++) {
        row[contact_p(dim) + k] -= OVERSTEP * (mt * u[k] + (mn - mt) * un * row[k]);
    }
}

/// Lay the grid, find the momentum, and see whether contacts feel what is to be stopped.
static talus_status look_first(coarse_grid* c, const problem* p, bool* useful)
{
    const contact_counts n = count_contacts(p, c->threads);
    *useful = c->whole || n.bearing >= BEARING * n.touching;
    if (*useful && coarse_lay(c, p, useful)) return TALUS_ERR_MEMORY;
    if (!*useful) return TALUS_OK;
    c->kinetic2 = coarse_momentum(c, p);
    const double free2 = free_energy2(p), most = c->whole ? 1.0 : MOVING;
    *useful =
        c->kinetic2 > c->worthwhile * c->worthwhile * free2 && c->kinetic2 < most * most * free2;
    if (!*useful) return TALUS_OK;
    coarse_stiffen(c, p);
    *useful = felt_energy2(c, p) > FELT * FELT * c->kinetic2 &&
              residual_measure(p, 1.0, c->threads).flow <= SLIDING;
    if (*useful) (void)coarse_momentum(c, p);
    return TALUS_OK;
}

talus_status coarse_step(coarse_grid* c, problem* p, int threads, bool* changed)
{
    const double before2 = c->kinetic2;
    c->threads = threads > 1 ? threads : 1;
    if (c->steps == 0) {
        if (look_first(c, p, changed)) return TALUS_ERR_MEMORY;
    } else {
        c->whole = false;
        c->kinetic2 = coarse_momentum(c, p);
        *changed =
            c->kinetic2 > c->noticed * c->noticed * free_energy2(p); // is there more to stop?
        if (*changed) coarse_stiffen(c, p);
    }
    if (*changed) {
        // Find the next displacement, and see whether the last one has helped. The first leaves
        // short waves that were not there before, the second may stop these at the cost of long
        // ones.
        const double enough = PROGRESS * PROGRESS, elastic_before2 = c->elastic2;
        coarse_solve(c);
        // Long waves count for more in the energy of the displacement than in the kinetic one.
        c->elastic2 = 0.0;
        for (int64_t i = 0; i < c->unknowns; i++) {
            c->elastic2 += c->values[COARSE_FORCE][i] * c->values[COARSE_MOVE][i];
        }
        *changed = c->steps == 0 || c->kinetic2 < enough * before2 ||
                   c->elastic2 < enough * elastic_before2;
    }
    c->next += STEP_SWEEPS + c->next / GROWTH;
    if (!*changed || c->next > c->last) c->next = INT64_MAX;
    if (!*changed) return TALUS_OK;
    c->steps++;
    // The strain in each part, and what it does to the impulses.
    const int dim = c->dim, ns = strains(dim);
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int64_t part = 0; part < c->part_count; part++) {
        double* strain = c->values[COARSE_STRAIN] + part * ns;
        for (int j = 0; j < ns; j++) strain[j] = 0.0;
        for (int q = 0; q < 1 << dim; q++) {
            double B[18];
            const double* move = c->values[COARSE_MOVE] + corner_at(c, dim, part >> dim, q) * dim;
            corner_strain(c, dim, (int)(part & ((1 << dim) - 1)), q, B);
            for (int j = 0; j < ns; j++) strain[j] += vec_dot(dim, B + j * dim, move);
        }
    }
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int64_t i = 0; i < p->count; i++) {
        if (c->dim == 2) {
            change_impulse(c, p, 2, i);
        } else {
            change_impulse(c, p, 3, i);
        }
    }
    return TALUS_OK;
}

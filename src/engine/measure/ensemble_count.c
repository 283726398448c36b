/// How many ways the equations of motion leave open to the forces of an ensemble.
///
/// Solutions that give the bodies the same velocities differ by a d with M^-1 H d = 0, whether the
/// bodies rest or not. (Coulomb's law may admit more than one motion: velocity_change tells.) d has
/// one component for each way in which the laws let the force of a loaded contact vary: the
/// unknowns. The solutions therefore differ in at most unknowns - rank(H) independent ways. Where
/// equations depend on each other, rank(H) is less than their number: a disk on a single contact
/// may roll, so that the same friction is asked for twice, by its momentum and by its spin.
///
/// Method: each unknown gives a row of a dense matrix, the velocities that a unit of it gives to
/// the two bodies; Gaussian elimination with full pivoting counts the independent rows.
#include "base/error.h"
#include "measure/ensemble.h"
#include "state/drive.h"

#include <math.h>
#include <stdlib.h>

/// Up to so many unknowns the independent equations are counted: 32 MB and a second at most. Time
/// grows as their cube: 10 s for 4800, 50 s for 8300.
enum { MOST_UNKNOWNS = 2000 };
/// What is so small against the largest entry is rounding: of positions a thousand radii from the
/// origin, hence of normals and arms (1e-13), and of the elimination, with room to grow.
static const double ROUNDING = 1e-10;
/// Friction that points the same way in all solutions: one minus the cosine, as that of the bound.
static const double SAME_WAY = 1e-6;

// ---- unknowns ----------------------------------------------------------------------------------

enum { MOST_WAYS = 6 };

/// A way in which the force of a contact may vary: an impulse or a torque impulse.
typedef struct force_way {
    double impulse[3], torque[3];
} force_way;

/// Tangential part of a force at a contact; returns the normal part.
static double split_force(const talus_ensemble* e, int64_t c, const double* force, double* tangent)
{
    const double* n = e->normal + c * e->dim;
    const double normal = vec_dot(e->dim, force, n);
    vec_copy(e->dim, tangent, force);
    vec_add_scaled(e->dim, tangent, -normal, n);
    return normal;
}

/// Is the friction bound reached in every solution, in one direction? Then the normal force decides
/// the rest.
static bool slides_always(const talus_ensemble* e, int64_t c)
{
    double mean[3], own[3];
    if (e->sliding[c] < e->verified) return false;
    split_force(e, c, e->mean + c * e->dim, mean);
    for (int i = 0; i < e->samples; i++) {
        if (!e->sample[i].verified) continue;
        split_force(e, c, e->force + (i * e->contacts + c) * e->dim, own);
        const double sizes = vec_norm(e->dim, own) * vec_norm(e->dim, mean);
        if (vec_dot(e->dim, own, mean) < (1.0 - SAME_WAY) * sizes) return false;
    }
    return true;
}

/// More normal force, and more friction with it as the bound grows.
static void sliding_way(const ensemble_task* task, const talus_ensemble* e, int64_t c,
                        double* impulse)
{
    const int32_t compound = problem_compound_of(&task->problem, c);
    const double bond = compound < 0 ? 0.0 : task->first_compound[compound].bond / task->def->step;
    double tangent[3], normal = split_force(e, c, e->mean + c * e->dim, tangent);
    vec_copy(e->dim, impulse, e->normal + c * e->dim);
    vec_add_scaled(e->dim, impulse, 1.0 / (normal + bond), tangent);
}

/// The ways that the laws leave open at a loaded contact; returns how many.
static int open_ways(const ensemble_task* task, const talus_ensemble* e, int64_t c,
                     force_way ways[MOST_WAYS])
{
    const problem* p = &task->problem;
    const int dim = p->dim;
    const double mu = task->first[c * problem_width(dim) + contact_mu(dim)];
    double frame[3][3];
    int count = 0;
    for (int k = 0; k < MOST_WAYS; k++) ways[k] = (force_way){0};
    vec_frame(dim, e->normal + c * dim, frame);
    if (mu > 0.0 && slides_always(e, c)) {
        sliding_way(task, e, c, ways[count++].impulse);
    } else {
        for (int k = 0; k < (mu > 0.0 ? dim : 1); k++) {
            vec_copy(dim, ways[count++].impulse, frame[k]);
        }
    }
    if (problem_compound_of(p, c) < 0) return count;
    const compound_contact* r = &task->first_compound[problem_compound_of(p, c)];
    if (r->rolling.coefficient > 0.0 && dim == 2) ways[count++].torque[0] = 1.0;
    if (r->rolling.coefficient > 0.0 && dim == 3) {
        vec_copy(3, ways[count++].torque, frame[1]);
        vec_copy(3, ways[count++].torque, frame[2]);
    }
    if (dim == 3 && r->torsion.coefficient > 0.0) vec_copy(3, ways[count++].torque, frame[0]);
    return count;
}

// ---- what an unknown does to the bodies --------------------------------------------------------

/// Velocities and spins, dim + spin_dim numbers, of the two bodies of a contact.
typedef struct answer {
    double of[2][6];
} answer;

/// What a unit of an unknown gives to bodies at rest. The impulses of the contact and the
/// velocities of its bodies are lost.
static answer respond(problem* p, int64_t c, const force_way* way)
{
    const int dim = p->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    answer a = {0};
    double largest = 0.0;
    vec_copy(dim, p->contact + c * problem_width(dim) + contact_p(dim), way->impulse);
    if (problem_compound_of(p, c) >= 0) {
        vec_copy(3, p->compound_rows[problem_compound_of(p, c)].torque, way->torque);
    }
    for (int side = 0; side < 2; side++) {
        double* body = p->body + p->pair[2 * c + side] * stride;
        for (int k = 0; k < dim; k++) body[k] = 0.0;
        for (int k = 0; k < spin_dim; k++) body[row_w(dim) + k] = 0.0;
    }
    problem_apply(p, c);
    for (int side = 0; side < 2; side++) {
        const double* body = p->body + p->pair[2 * c + side] * stride;
        if (!problem_row_moves(p, p->pair[2 * c + side])) continue;
        vec_copy(dim, a.of[side], body);
        vec_copy(spin_dim, a.of[side] + dim, body + row_w(dim));
        for (int k = 0; k < dim + spin_dim; k++) largest = fmax(largest, fabs(a.of[side][k]));
    }
    for (int k = 0; k < 12; k++) {
        double* number = &a.of[k / 6][k % 6];
        if (fabs(*number) <= ROUNDING * largest) *number = 0.0;
    }
    return a;
}

// ---- equations ---------------------------------------------------------------------------------

/// Equations of motion of the bodies marked: bit 1 touched by a loaded contact, bit 2 by one that
/// can turn it.
static int64_t count_equations(const ensemble_task* task, const uint8_t* touched)
{
    const problem* p = &task->problem;
    const walls* w = &task->world->state.walls;
    const int dim = p->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    int64_t row = 0, sum = 0;
    for (; row < task->world->state.grains.count; row++) {
        const double* body = p->free + row * stride;
        if (touched[row] && body[row_im(dim)] > 0.0) sum += dim;
        if ((touched[row] & 2) && body[row_kim(dim)] > 0.0) sum += spin_dim;
    }
    // Rows of mobile walls follow in the order of the walls.
    for (int i = 0; i < (int)w->count; i++) {
        if (!w->present[i] || !wall_is_mobile(w, i)) continue;
        if (!touched[row++]) continue;
        double matrix[9], trace = 0.0; // as many directions as the wall can move in, over its mass
        drive_mobility(w, i, dim, matrix);
        for (int k = 0; k < dim; k++) trace += matrix[k * dim + k];
        sum += lround(trace * w->record[i].drive.mass);
    }
    return sum;
}

/// Count unknowns, equations and loaded contacts; mark the bodies as count_equations() says.
static void count_all(ensemble_task* task, talus_ensemble* e, const uint8_t* loaded,
                      uint8_t* touched)
{
    problem* p = &task->problem;
    const int spin_dim = spin_width(p->dim);
    force_way ways[MOST_WAYS];
    for (int64_t c = 0; c < e->contacts; c++) {
        if (!loaded[c]) continue;
        const int open = open_ways(task, e, c, ways);
        for (int i = 0; i < open; i++) {
            const answer a = respond(p, c, &ways[i]);
            for (int side = 0; side < 2; side++) {
                const bool turns = vec_norm(spin_dim, a.of[side] + p->dim) > 0.0;
                touched[p->pair[2 * c + side]] |= turns ? 3 : 1;
            }
        }
        e->unknowns += open;
        e->loaded++;
    }
    e->equations = count_equations(task, touched);
}

// ---- independent equations ---------------------------------------------------------------------

/// The matrix: a row for each unknown, `width` columns for each body that is touched and moves.
typedef struct equilibrium {
    int64_t rows, columns;
    int width;
    double* entry;  ///< [rows][columns]
    int64_t* place; ///< [bodies] first column of a body, -1: none
    int64_t* peak;  ///< [rows] column of the row's largest entry
} equilibrium;

static void fill(ensemble_task* task, const talus_ensemble* e, const uint8_t* loaded,
                 equilibrium* m)
{
    problem* p = &task->problem;
    force_way ways[MOST_WAYS];
    double* row = m->entry;
    for (int64_t c = 0; c < e->contacts; c++) {
        const int open = loaded[c] ? open_ways(task, e, c, ways) : 0;
        for (int i = 0; i < open; i++, row += m->columns) {
            const answer a = respond(p, c, &ways[i]);
            for (int side = 0; side < 2; side++) {
                const int64_t first = m->place[p->pair[2 * c + side]];
                for (int k = 0; k < m->width && first >= 0; k++) row[first + k] = a.of[side][k];
            }
        }
    }
}

/// Largest entry of `count` numbers that are `step` apart.
static double largest_of(const double* x, int64_t count, int64_t step)
{
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i * step]));
    return largest;
}

/// Let heavy and light bodies, forces and torques count alike: the largest entry of each body, and
/// then of each unknown, becomes 1.
static void scale(equilibrium* m)
{
    for (int64_t first = 0; first < m->columns; first += m->width) {
        double largest = 0.0;
        for (int k = 0; k < m->width; k++) {
            largest = fmax(largest, largest_of(m->entry + first + k, m->rows, m->columns));
        }
        for (int64_t i = 0; i < m->rows && largest > 0.0; i++) {
            for (int k = 0; k < m->width; k++) m->entry[i * m->columns + first + k] /= largest;
        }
    }
    for (int64_t i = 0; i < m->rows; i++) {
        double* row = m->entry + i * m->columns;
        const double largest = largest_of(row, m->columns, 1);
        for (int64_t k = 0; k < m->columns && largest > 0.0; k++) row[k] /= largest;
    }
}

static int64_t peak_of(const double* row, int64_t columns)
{
    int64_t peak = 0;
    for (int64_t k = 1; k < columns; k++) {
        if (fabs(row[k]) > fabs(row[peak])) peak = k;
    }
    return peak;
}

/// Number of independent rows, by Gaussian elimination with full pivoting. The entries are lost.
static int64_t matrix_rank(equilibrium* m)
{
    const int64_t columns = m->columns;
    double* entry = m->entry;
    for (int64_t i = 0; i < m->rows; i++) m->peak[i] = peak_of(entry + i * columns, columns);
    for (int64_t rank = 0; rank < m->rows; rank++) {
        int64_t best = rank;
        for (int64_t i = rank; i < m->rows; i++) {
            if (fabs(entry[i * columns + m->peak[i]]) >
                fabs(entry[best * columns + m->peak[best]])) {
                best = i;
            }
        }
        const int64_t pivot = m->peak[best];
        double *chosen = entry + best * columns, *next = entry + rank * columns;
        if (fabs(chosen[pivot]) <= ROUNDING) return rank;
        for (int64_t k = 0; k < columns && best != rank; k++) {
            const double old = next[k];
            next[k] = chosen[k];
            chosen[k] = old;
        }
        m->peak[best] = m->peak[rank];
        for (int64_t i = rank + 1; i < m->rows; i++) {
            double* row = entry + i * columns;
            const double part = row[pivot] / next[pivot];
            if (part == 0.0) continue;
            for (int64_t k = 0; k < columns; k++) row[k] -= part * next[k];
            row[pivot] = 0.0;
            m->peak[i] = peak_of(row, columns);
        }
    }
    return m->rows;
}

static talus_status count_independent(ensemble_task* task, talus_ensemble* e, const uint8_t* loaded,
                                      const uint8_t* touched)
{
    const problem* p = &task->problem;
    equilibrium m = {.rows = e->unknowns, .width = p->dim + spin_width(p->dim)};
    m.place = malloc(sizeof *m.place * (size_t)(p->rows + 1));
    for (int64_t row = 0; row < p->rows && m.place; row++) {
        const bool counts = touched[row] && problem_row_moves(p, row);
        m.place[row] = counts ? m.columns : -1;
        if (counts) m.columns += m.width;
    }
    m.entry = calloc((size_t)(m.rows * m.columns) + 1, sizeof *m.entry);
    m.peak = malloc(sizeof *m.peak * (size_t)(m.rows + 1));
    const bool good = m.place && m.entry && m.peak;
    if (good && m.columns > 0) {
        fill(task, e, loaded, &m);
        scale(&m);
        e->independent = matrix_rank(&m);
    }
    free(m.place);
    free(m.entry);
    free(m.peak);
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

// ---- the whole ---------------------------------------------------------------------------------

talus_status ensemble_count(ensemble_task* task, talus_ensemble* e, talus_error* error)
{
    if (e->verified < 2) return TALUS_OK;
    uint8_t* loaded = malloc((size_t)e->contacts + 1);
    uint8_t* touched = calloc((size_t)task->problem.rows + 1, 1);
    talus_status status = loaded && touched ? TALUS_OK : TALUS_ERR_MEMORY;
    if (status == TALUS_OK) {
        ensemble_mark_loaded(e, loaded);
        count_all(task, e, loaded, touched);
        if (e->unknowns > MOST_UNKNOWNS) {
            e->independent = -1;
        } else {
            status = count_independent(task, e, loaded, touched);
        }
    }
    free(loaded);
    free(touched);
    return status == TALUS_OK ? TALUS_OK : error_memory(error, "counting unknowns and equations");
}

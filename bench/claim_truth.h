/// The truth about a contact problem: how far velocities are from those that solve it, cluster by
/// cluster, measured against references that are solved far more exactly.
///
/// No reference is believed by itself. Each cluster of bodies is solved alone, from different
/// starts and by different methods, and what the two that agree best differ by is their
/// uncertainty. In steps with sliding the solution need not be unique: references that have
/// converged to the last digits may lie apart. Then each of them is a solution, and the error is
/// the distance to the nearest.
#ifndef TALUS_BENCH_CLAIM_TRUTH_H
#define TALUS_BENCH_CLAIM_TRUTH_H

#include "claim_newton.h"

#include "rigid/reduced/condense.h"
#include "rigid/residual.h"

#include <float.h>

// ---- impulses and velocities -------------------------------------------------------------------

/// Impulses of all contacts, [count][6]: force impulse, torque impulse.
static inline double* impulses_copy(const problem* p)
{
    double* kept = calloc((size_t)p->count * 6 + 1, sizeof *kept);
    claim_ok(kept ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t compound = problem_compound_of(p, c);
        vec_copy(p->dim, kept + 6 * c, p->contact + c * problem_width(p->dim) + contact_p(p->dim));
        if (compound >= 0) vec_copy(3, kept + 6 * c + 3, p->compound_rows[compound].torque);
    }
    return kept;
}

/// Put impulses into the problem, all of them times `factor`; velocities follow.
static inline void impulses_put(problem* p, const double* kept, double factor)
{
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t compound = problem_compound_of(p, c);
        double* impulse = p->contact + c * problem_width(p->dim) + contact_p(p->dim);
        for (int k = 0; k < p->dim; k++) impulse[k] = factor * kept[6 * c + k];
        for (int k = 0; k < 3 && compound >= 0; k++) {
            p->compound_rows[compound].torque[k] = factor * kept[6 * c + 3 + k];
        }
    }
    problem_refresh(p);
}

static inline double* velocities_copy(const problem* p)
{
    const size_t size = sizeof(double) * (size_t)(p->rows * problem_stride(p->dim));
    double* v = malloc(size + 1);
    claim_ok(v ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    memcpy(v, p->body, size);
    return v;
}

// ---- clusters ----------------------------------------------------------------------------------

/// Bodies that are joined by listed contacts. Fixed bodies join nothing.
typedef struct joined {
    int32_t* of;   ///< [rows] cluster of a body, -1: it cannot move
    int64_t count; ///< of clusters, lonely bodies included
} joined;

static inline int32_t joined_root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static inline joined joined_find(const problem* p)
{
    joined j = {.of = malloc(sizeof(int32_t) * (size_t)(p->rows + 1))};
    int32_t* parent = malloc(sizeof(int32_t) * (size_t)(p->rows + 1));
    claim_ok(j.of && parent ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; i < p->rows; i++) parent[i] = i, j.of[i] = -1;
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1];
        if (!problem_row_moves(p, a) || !problem_row_moves(p, b)) continue;
        parent[joined_root(parent, a)] = joined_root(parent, b);
    }
    for (int32_t i = 0; i < p->rows; i++) {
        if (!problem_row_moves(p, i)) continue;
        const int32_t root = joined_root(parent, i);
        if (j.of[root] < 0) j.of[root] = (int32_t)j.count++;
        j.of[i] = j.of[root];
    }
    free(parent);
    return j;
}

/// Cluster of a contact: that of its body b, or of a if b cannot move; -1 if neither can.
static inline int32_t joined_contact(const joined* j, const problem* p, int64_t c)
{
    const int32_t b = j->of[p->pair[2 * c + 1]];
    return b >= 0 ? b : j->of[p->pair[2 * c]];
}

/// Twice the kinetic energy of the difference of two motions of a body: |x - y|_M^2.
static inline double energy_between(const problem* p, int64_t row, const double* x, const double* y)
{
    const int dim = p->dim, w = row_w(dim), kim = row_kim(dim);
    const double* constants = p->free + row * problem_stride(dim);
    const int64_t wall = problem_mobile_wall(p, row);
    double v2 = 0.0, w2 = 0.0, im = constants[row_im(dim)];
    for (int k = 0; k < dim; k++) v2 += (x[k] - y[k]) * (x[k] - y[k]);
    for (int k = w; k < kim; k++) w2 += (x[k] - y[k]) * (x[k] - y[k]);
    if (wall >= 0) { // alike along all axes on which it may move: |mobility|^2 / trace
        const double* mobility = p->mobility + wall * dim * dim;
        double trace = 0.0, square = vec_dot(dim * dim, mobility, mobility);
        for (int k = 0; k < dim; k++) trace += mobility[k * dim + k];
        im = trace > 0.0 ? square / trace : 0.0;
    }
    return (im > 0.0 ? v2 / im : 0.0) + (constants[kim] > 0.0 ? w2 / constants[kim] : 0.0);
}

// ---- one cluster as a problem of its own -------------------------------------------------------

/// Solved by itself a light cluster is as exact as a heavy one: the residual, by which a solve
/// ends, is one of the whole problem.
typedef struct part {
    problem alone;
    int64_t* row;     ///< [moving] rows in the whole problem of the rows of `alone`
    int64_t* contact; ///< [alone.count] likewise its contacts
    int64_t moving;
} part;

static inline void part_free(part* s)
{
    problem_free(&s->alone);
    free(s->row);
    free(s->contact);
    *s = (part){0};
}

/// Does a compound contact do no more than Coulomb's law, now that its friction is settled?
static inline bool is_plain(const problem* p, int64_t c)
{
    const compound_contact* r = &p->compound_rows[p->compound[c]];
    return r->bond == 0.0 && vec_norm(3, r->slip) == 0.0 && r->rolling.coefficient == 0.0 &&
           r->torsion.coefficient == 0.0;
}

/// Copy a contact; `row_of` has the rows of the bodies that move, fixed ones get rows of their own.
static inline void part_add_contact(part* s, const problem* p, int64_t c, const int32_t* row_of)
{
    problem* q = &s->alone;
    const int dim = p->dim, stride = problem_stride(dim), width = problem_width(dim);
    const int64_t at = q->count++;
    s->contact[at] = c;
    memcpy(q->contact + at * width, p->contact + c * width, sizeof(double) * (size_t)width);
    for (int side = 0; side < 2; side++) {
        const int32_t row = p->pair[2 * c + side];
        if (problem_row_moves(p, row)) {
            q->pair[2 * at + side] = row_of[row];
            continue;
        }
        memcpy(q->free + q->rows * stride, p->free + row * stride, sizeof(double) * (size_t)stride);
        q->curve[q->rows] = p->curve[row];
        q->pair[2 * at + side] = (int32_t)q->rows++;
    }
    if (problem_block_of(p, c) >= 0) {
        q->block[at] = (int32_t)q->block_count++;
        memcpy(problem_block(q, dim, at), problem_block(p, dim, c),
               sizeof(double) * (size_t)block_width(dim));
    }
    if (problem_compound_of(p, c) >= 0 && !is_plain(p, c)) {
        q->compound[at] = (int32_t)q->compound_count++;
        q->compound_rows[q->compound[at]] = p->compound_rows[p->compound[c]];
        q->compound_turns[q->compound[at]] = p->compound_turns[p->compound[c]];
    }
}

static inline part part_of(const problem* p, const joined* j, int32_t cluster)
{
    part s = {0};
    const int dim = p->dim, stride = problem_stride(dim);
    int64_t touching = 0, moving = 0;
    for (int64_t c = 0; c < p->count; c++) touching += joined_contact(j, p, c) == cluster;
    for (int64_t i = 0; i < p->rows; i++) moving += j->of[i] == cluster;
    const problem_size size = {.rows = moving + 2 * touching,
                               .contacts = touching,
                               .blocks = p->block ? touching : 0,
                               .compound = p->compound ? touching : 0,
                               .mobile = p->mobile_count};
    int32_t* row_of = malloc(sizeof(int32_t) * (size_t)(p->rows + 1));
    s.row = malloc(sizeof(int64_t) * (size_t)(moving + 1));
    s.contact = malloc(sizeof(int64_t) * (size_t)(touching + 1));
    const bool enough = row_of && s.row && s.contact && !problem_reset(&s.alone, dim, &size);
    claim_ok(enough ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    problem* q = &s.alone;
    q->curve_cell = p->curve_cell;
    for (int64_t i = 0; i < p->rows; i++) { // grains come before mobile walls
        if (j->of[i] != cluster) continue;
        const int64_t wall = problem_mobile_wall(p, i);
        if (wall < 0) q->mobile_first = q->rows + 1;
        if (wall >= 0) {
            memcpy(q->mobility + q->mobile_count++ * dim * dim, p->mobility + wall * dim * dim,
                   sizeof(double) * (size_t)(dim * dim));
        }
        memcpy(q->free + q->rows * stride, p->free + i * stride, sizeof(double) * (size_t)stride);
        q->curve[q->rows] = p->curve[i];
        row_of[i] = (int32_t)q->rows;
        s.row[q->rows++] = i;
    }
    s.moving = q->rows;
    for (int64_t c = 0; c < p->count; c++) {
        if (joined_contact(j, p, c) == cluster) part_add_contact(&s, p, c, row_of);
    }
    free(row_of);
    problem_refresh(q);
    return s;
}

/// Give the part the impulses of the whole, all of them times `factor`.
static inline void part_put(part* s, const double* impulses, double factor)
{
    double* own = calloc((size_t)s->alone.count * 6 + 1, sizeof *own);
    claim_ok(own ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    for (int64_t c = 0; c < s->alone.count; c++) {
        memcpy(own + 6 * c, impulses + 6 * s->contact[c], 6 * sizeof *own);
    }
    impulses_put(&s->alone, own, factor);
    free(own);
}

// ---- references --------------------------------------------------------------------------------

enum { MAX_REFERENCES = 40 };

typedef struct reference {
    const char* how;
    double natural;   ///< residual
    double* velocity; ///< [moving][stride] of the bodies of the cluster
} reference;

/// A cluster and what is known of its solution.
typedef struct cluster_truth {
    int64_t moving, contacts;
    int64_t* row; ///< [moving] of the whole problem
    int tried;    ///< references found
    int count;    ///< those that count, the best one first
    reference found[MAX_REFERENCES];
    double scale;       ///< ||V - V_free||_M of the first reference
    double uncertainty; ///< ||.||_M by which the two references that agree best differ
    double apart;       ///< farthest distance of other solutions from the first one
    bool slides;        ///< something rubs in the first reference
} cluster_truth;

typedef struct truth {
    joined clusters;
    cluster_truth* of; ///< [clusters.count]
} truth;

/// What references are asked for: residuals near rounding. Stiff problems need them to be exact.
static const double REFERENCE_RESIDUAL = 1e-13;
/// Residual from which on a reference counts at all, and from which on it is a solution of its own
/// even if it lies apart from others, where something slides.
static const double REFERENCE_WORST = 1e-6, REFERENCE_WORST_STIFF = 1e-9, REFERENCE_EXACT = 1e-10,
                    REFERENCE_EXACT_STIFF = 1e-12;

/// Sweeps that a reference may take: so many updates of contacts, fewer where these take longer,
/// most of all where solids have rich laws.
static inline int reference_sweeps(const problem* p, talus_solver_method method, double effort)
{
    const double updates = p->compound_count > 0 && p->block_count > 0 ? 1e5
                           : p->compound_count > 0                     ? 1e6
                           : p->block_count > 0                        ? 3e6
                           : method == TALUS_SOLVER_SWEEPS             ? 5e6
                                                                       : 1e7;
    return (int)fmin(fmax(effort * updates / (double)(p->count + 1), 300.0), 1e5);
}

static inline void solve_by(problem* p, talus_solver_method method, talus_stop_rule stop,
                            double tolerance, int sweeps, uint64_t seed)
{
    talus_solver_def options = talus_solver_default();
    options.method = method;
    options.stop = stop;
    options.tolerance = tolerance;
    options.max_sweeps = sweeps;
    solve_workspace ws = {0};
    solve_result result;
    const solve_request request = {
        .options = &options, .h = 1.0, .seed = seed, .key = seed, .threads = 1};
    claim_ok(solver_for(&options)->solve(p, &request, &ws, &result), "out of memory");
    solve_workspace_free(&ws);
}

/// Keep the motion that is in the problem as a reference, if it is one.
static inline void keep_reference(cluster_truth* t, problem* p, const char* how)
{
    const double natural = residual_natural(p);
    const double worst = p->compound_count > 0 ? REFERENCE_WORST_STIFF : REFERENCE_WORST;
    if (!(natural <= worst) || t->count == MAX_REFERENCES) return;
    t->found[t->count++] = (reference){how, natural, velocities_copy(p)};
}

/// The methods for problems without bodies, which know the whole matrix, from the impulses that are
/// in the problem. `method` as in reduced_options. False: not for this problem.
static inline bool reduced_refer(problem* p, const char* method, double effort)
{
    enum { LARGEST = 1500 };
    if (p->compound_count > 0 || p->count > LARGEST) return false;
    reduced_problem reduced = {0};
    talus_error error = {0};
    double* r = NULL;
    reduced_result found;
    const reduced_options options = {.tolerance = REFERENCE_RESIDUAL,
                                     .max_sweeps = (int64_t)(1000.0 * effort),
                                     .method = method};
    const bool posed = reduced_from_problem(p, &reduced, &r, &error) == TALUS_OK;
    if (posed) {
        claim_ok(reduced_solve(&reduced, &options, r, &found), "a reduced problem");
        reduced_to_problem(r, p);
    }
    free(r);
    reduced_free(&reduced);
    return posed;
}

/// Impulses with which nothing moves, if there are any in the problem's cones: where friction can
/// hold a structure that may also fall both are exact, and sweeps reach standstill slowly. They are
/// found by projections, in turn, on the impulses that stop all bodies and on the cones, drawn in
/// by a little so that an answer lies well inside; from the impulses that are in the problem. Gaps
/// that free flight would close in a 1e-5th of the step, 1e-10 to 1e-7 diameters, count as closed.
/// False: none found, or walls move, or the law is a rich one.
static inline bool standstill_refer(problem* p, double effort)
{
    enum { ROUNDS = 3000 };
    const double INSIDE = 1e-6, TOUCHES = 1e-5;
    const int dim = p->dim, width = newton_width(p), stride = problem_stride(dim);
    newton s;
    bool found = false;
    for (int64_t i = 0; i < p->rows; i++) {
        const double* body = p->free + i * stride;
        if (!problem_row_moves(p, i) && vec_dot(dim, body, body) > 0.0) return false;
    }
    if (p->compound_count > 0 || !newton_begin(&s, p, 1e7 * effort)) {
        if (p->compound_count == 0) newton_free(&s);
        return false;
    }
    double fastest = 0.0;
    for (int64_t c = 0; c < p->count; c++) fastest = fmax(fastest, fabs(s.contact[c].u_free[0]));
    for (int64_t c = 0; c < p->count; c++) {
        newton_contact* k = &s.contact[c];
        const bool open =
            p->contact[c * problem_width(dim) + contact_bias(dim)] > TOUCHES * fastest;
        for (int i = 0; i < dim; i++) k->D[i][i] = open ? 0.0 : 1e10;
        for (int i = 0; i < dim && open; i++) k->p[i] = 0.0;
    }
    newton_fill(&s); // 1 + 1e10 A^T A
    newton_factor(&s);
    for (int round = 0; round < ROUNDS && !found; round++) {
        // What is missing to stop all bodies: A^T p + M^1/2 V_free.
        for (int64_t i = 0; i < p->rows; i++) {
            double v[6], root[6];
            if (s.unknown[i] < 0) continue;
            newton_gather(p, p->free + i * stride, v);
            newton_roots(p, i, root);
            for (int j = 0; j < width; j++) {
                s.force[s.unknown[i] + j] = root[j] > 0.0 ? v[j] / root[j] : 0.0;
            }
        }
        for (int64_t c = 0; c < p->count; c++) {
            const newton_contact* k = &s.contact[c];
            for (int e = 0; e < 2 * k->parts; e++) {
                if (k->first[e & 1] < 0) continue;
                vec_add_scaled(width, s.force + k->first[e & 1], k->p[e >> 1],
                               k->row[e >> 1][e & 1]);
            }
        }
        newton_back(&s);
        double outside = 0.0, largest = 0.0;
        for (int64_t c = 0; c < p->count; c++) {
            newton_contact* k = &s.contact[c];
            const double mu = p->contact[c * problem_width(dim) + contact_mu(dim)];
            for (int i = 0; i < dim && k->D[0][0] > 0.0; i++) {
                for (int side = 0; side < 2; side++) {
                    if (k->first[side] < 0) continue;
                    k->p[i] -= 1e10 * vec_dot(width, k->row[i][side], s.step + k->first[side]);
                }
            }
            const double pt = hypot(k->p[1], dim == 3 ? k->p[2] : 0.0);
            outside = fmax(outside, fmax(-k->p[0], pt - mu * k->p[0]));
            largest = fmax(largest, fabs(k->p[0]));
        }
        found = outside <= 1e-16 * largest;
        for (int64_t c = 0; c < p->count && !found; c++) {
            newton_contact* k = &s.contact[c];
            const double mu = (1.0 - INSIDE) * p->contact[c * problem_width(dim) + contact_mu(dim)];
            const double pt = hypot(k->p[1], dim == 3 ? k->p[2] : 0.0);
            if (pt <= mu * k->p[0]) continue;
            const double pn = fmax((k->p[0] + mu * pt) / (1.0 + mu * mu), 0.0);
            for (int i = 1; i < dim; i++) k->p[i] *= pt > 0.0 ? mu * pn / pt : 0.0;
            k->p[0] = pn;
        }
    }
    if (found) newton_put(&s);
    newton_free(&s);
    return found;
}

static inline double reference_distance(const problem* p, int64_t moving, const double* x,
                                        const double* y)
{
    const int stride = problem_stride(p->dim);
    double sum = 0.0;
    for (int64_t i = 0; i < moving; i++) {
        sum += energy_between(p, i, x + i * stride, y + i * stride);
    }
    return sqrt(sum);
}

/// Is a torque at its bound?
static inline bool turns(const problem* p, const compound_contact* r, const double* n, double base)
{
    const double twist = p->dim == 3 ? vec_dot(3, r->torque, n) : 0.0;
    const double all = vec_dot(3, r->torque, r->torque);
    const double roll = sqrt(fmax(all - twist * twist, 0.0));
    const double most_roll = rolling_limit(&r->rolling, base, r->h);
    const double most_twist = rolling_limit(&r->torsion, base, r->h);
    return (most_roll > 0.0 && roll >= (1.0 - 1e-6) * most_roll) ||
           (most_twist > 0.0 && fabs(twist) >= (1.0 - 1e-6) * most_twist);
}

/// Is friction at its bound anywhere, with slip?
static inline bool rubs(const problem* p)
{
    const int dim = p->dim, width = problem_width(dim);
    for (int64_t c = 0; c < p->count; c++) {
        const double *row = p->contact + c * width, *impulse = row + contact_p(dim);
        const double pn = vec_dot(dim, impulse, row), mu = row[contact_mu(dim)];
        const int32_t compound = problem_compound_of(p, c);
        const double base = compound < 0 ? pn : compound_bound(&p->compound_rows[compound], pn);
        const double tangential = sqrt(fmax(vec_dot(dim, impulse, impulse) - pn * pn, 0.0));
        double u[3] = {0.0, 0.0, 0.0};
        problem_velocity(p, c, u);
        const double un = vec_dot(dim, u, row);
        const double slip = sqrt(fmax(vec_dot(dim, u, u) - un * un, 0.0));
        const bool bound = base > 0.0 && mu > 0.0 && tangential >= (1.0 - 1e-6) * mu * base;
        if (bound && slip * row[contact_mt(dim)] > 1e-6 * mu * base) return true;
        if (compound >= 0 && turns(p, &p->compound_rows[compound], row, base)) return true;
    }
    return false;
}

/// May one reference speak for the other? Two of one method may be stuck at the same place.
static inline bool can_witness(const reference* x, const reference* y)
{
    const double enough = 1e-9;
    return strcmp(x->how, y->how) != 0 || fmax(x->natural, y->natural) <= enough;
}

/// Do two references agree so well that no more of them are needed?
static inline bool references_agree(const cluster_truth* t, const problem* p)
{
    for (int i = 0; i < t->count; i++) {
        const double scale = reference_distance(p, t->moving, t->found[i].velocity, p->free);
        for (int j = 0; j < i; j++) {
            const double apart =
                reference_distance(p, t->moving, t->found[i].velocity, t->found[j].velocity);
            if (apart <= 1e-7 * scale && can_witness(&t->found[i], &t->found[j])) return true;
        }
    }
    return false;
}

/// How well the references are known, and which of them count: the better one of the two that agree
/// best; where something slides also others that have converged, for there may be several
/// solutions.
static inline void compare_references(cluster_truth* t, const problem* p)
{
    int best = 0;
    t->uncertainty = INFINITY;
    for (int i = 0; i < t->count; i++) {
        for (int j = 0; j < i; j++) {
            const double apart =
                reference_distance(p, t->moving, t->found[i].velocity, t->found[j].velocity);
            if (!(apart < t->uncertainty) || !can_witness(&t->found[i], &t->found[j])) continue;
            t->uncertainty = apart;
            best = t->found[i].natural < t->found[j].natural ? i : j;
        }
    }
    if (t->count == 0) return;
    t->scale = reference_distance(p, t->moving, t->found[best].velocity, p->free);
    const reference first = t->found[best];
    const double exact = p->compound_count > 0 ? REFERENCE_EXACT_STIFF : REFERENCE_EXACT;
    int kept = 0;
    t->found[best] = t->found[0];
    t->found[0] = first;
    for (int i = 0; i < t->count; i++) {
        const double apart = reference_distance(p, t->moving, first.velocity, t->found[i].velocity);
        if (i > 0 && !(t->slides && t->found[i].natural <= exact)) {
            free(t->found[i].velocity);
            continue;
        }
        t->apart = fmax(t->apart, apart);
        t->found[kept++] = t->found[i];
    }
    t->tried = t->count;
    t->count = kept;
}

/// Ways to a reference, from impulses that are nothing, those of a solution to be judged, or more.
typedef enum reference_way {
    WAY_REDUCED,
    WAY_NEWTON,
    WAY_ACCELERATED,
    WAY_RANDOM,
} reference_way;

static inline void refer_by(cluster_truth* t, part* s, reference_way way, const double* near,
                            double factor, double effort)
{
    static const char* const names[] = {"reduced", "Newton", "accelerated", "random"};
    const talus_solver_method method =
        way == WAY_RANDOM ? TALUS_SOLVER_SWEEPS : TALUS_SOLVER_ACCELERATED;
    problem* p = &s->alone;
    bool made = true;
    part_put(s, near, factor);
    if (way == WAY_REDUCED) made = reduced_refer(p, "auto", effort);
    if (way == WAY_NEWTON) made = newton_refer(p, REFERENCE_RESIDUAL, effort);
    if (way == WAY_ACCELERATED || way == WAY_RANDOM) {
        solve_by(p, method, TALUS_STOP_RESIDUAL, REFERENCE_RESIDUAL,
                 reference_sweeps(p, method, effort), 11);
    }
    t->slides |= made && rubs(p);
    if (made) keep_reference(t, p, names[way]);
}

/// Solve a cluster several times. `near` are the impulses of a solution to be judged. Where nothing
/// slides two methods that agree are enough.
static inline cluster_truth refer(part* s, const double* near, double effort)
{
    const problem* p = &s->alone;
    const bool rich = p->compound_count > 0;
    cluster_truth t = {.moving = s->moving, .contacts = p->count, .row = s->row};
    s->row = NULL; // t's now
    refer_by(&t, s, rich ? WAY_NEWTON : WAY_REDUCED, near, 0.0, effort);
    refer_by(&t, s, WAY_ACCELERATED, near, 1.0, effort);
    if (t.slides || !references_agree(&t, p)) {
        refer_by(&t, s, rich ? WAY_NEWTON : WAY_ACCELERATED, near, rich ? 1.7 : 0.0, effort);
    }
    if (!references_agree(&t, p)) {
        refer_by(&t, s, rich ? WAY_ACCELERATED : WAY_NEWTON, near, 0.0, effort);
    }
    if (!references_agree(&t, p)) refer_by(&t, s, WAY_RANDOM, near, 1.7, effort);
    compare_references(&t, p);
    return t;
}

static inline truth truth_find(const problem* p, const double* near, double effort)
{
    truth t = {.clusters = joined_find(p)};
    t.of = calloc((size_t)t.clusters.count + 1, sizeof *t.of);
    claim_ok(t.of ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    for (int32_t k = 0; k < t.clusters.count; k++) {
        part s = part_of(p, &t.clusters, k);
        if (s.alone.count > 0) t.of[k] = refer(&s, near, effort);
        part_free(&s);
    }
    return t;
}

static inline void truth_free(truth* t)
{
    for (int64_t k = 0; k < t->clusters.count; k++) {
        for (int i = 0; i < t->of[k].count; i++) free(t->of[k].found[i].velocity);
        free(t->of[k].row);
    }
    free(t->of);
    free(t->clusters.of);
    *t = (truth){0};
}

/// Are there two references that agree to a per cent of what contacts do?
static inline bool truth_known(const cluster_truth* t)
{
    return t->tried > 1 && t->uncertainty <= 0.01 * t->scale;
}

/// Distance of a cluster's motion in the problem from the nearest reference.
static inline double truth_error(const cluster_truth* t, const problem* p)
{
    const int stride = problem_stride(p->dim);
    double nearest = INFINITY;
    for (int k = 0; k < t->count; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < t->moving; i++) {
            sum += energy_between(p, t->row[i], p->body + t->row[i] * stride,
                                  t->found[k].velocity + i * stride);
        }
        nearest = fmin(nearest, sqrt(sum));
    }
    return nearest;
}

/// Where something slides there may be a solution near an iterate that no reference has found,
/// stable or not under sweeps: look for it from there, and let it count with the others. Solutions
/// may even fill a line: those of jack 120001 have one velocity that is free within 4e-5 of itself,
/// all with residuals of 1e-14, and each way finds its own. Who has found a solution does not
/// matter, as its residual shows what it is. `impulses` are those of the iterate.
static inline void truth_look_near(truth* t, int32_t cluster, const problem* p,
                                   const double* impulses, double effort)
{
    enum { REDUCED, NEWTON, SWEEPS, DIRECT, STANDSTILL, METHODS };
    static const char* const names[METHODS] = {"from an iterate", "from an iterate",
                                               "from an iterate", "from an iterate", "standstill"};
    cluster_truth* of = &t->of[cluster];
    part s = part_of(p, &t->clusters, cluster);
    problem* alone = &s.alone;
    const double exact = alone->compound_count > 0 ? REFERENCE_EXACT_STIFF : REFERENCE_EXACT;
    for (int method = 0; method < METHODS && of->count < MAX_REFERENCES; method++) {
        bool made = true;
        part_put(&s, impulses, 1.0);
        if (method == REDUCED) made = reduced_refer(alone, "newton", effort);
        if (method == NEWTON) made = newton_refer(alone, REFERENCE_RESIDUAL, effort);
        if (method == SWEEPS || method == DIRECT) {
            const talus_solver_method by =
                method == SWEEPS ? TALUS_SOLVER_ACCELERATED : TALUS_SOLVER_AUTO;
            solve_by(alone, by, TALUS_STOP_RESIDUAL, REFERENCE_RESIDUAL,
                     reference_sweeps(alone, by, effort), 14);
        }
        if (method == STANDSTILL) made = standstill_refer(alone, effort);
        const double natural = residual_natural(alone);
        if (!made || !(method == STANDSTILL || natural <= exact)) continue;
        const reference found = {names[method], natural, velocities_copy(alone)};
        of->found[of->count++] = found;
        of->apart = fmax(of->apart, reference_distance(alone, of->moving, of->found[0].velocity,
                                                       found.velocity));
    }
    part_free(&s);
}

/// ||V - V_free||_M of a cluster: what its contacts do.
static inline double truth_scale(const cluster_truth* t, const problem* p)
{
    const int stride = problem_stride(p->dim);
    double sum = 0.0;
    for (int64_t i = 0; i < t->moving; i++) {
        sum += energy_between(p, t->row[i], p->body + t->row[i] * stride,
                              p->free + t->row[i] * stride);
    }
    return sqrt(sum);
}

#endif

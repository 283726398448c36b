/// One solution of the ensemble: start, solve, verify.
///
/// Each sample is solved to 100 times the tolerance, then on to the tolerance. What the forces
/// still changed in between, divided by the residual in between, is the conditioning: how large an
/// error of the forces goes with a residual. That is the yardstick for differences of solutions.
#include "base/error.h"
#include "base/rng.h"
#include "measure/ensemble.h"
#include "rigid/residual.h"

#include <math.h>
#include <string.h>

/// The first, coarser solve of a sample ends at this many tolerances,
static const double COARSE = 100.0;
/// and after one in so many of its sweeps where updates are limited: these may end before that.
enum { COARSE_SHARE = 4 };
/// The residual after the second solve is below this part of that after the first, or they tell
/// nothing about the conditioning.
static const double PROGRESS = 0.5;
/// Residual that a solution must reach in any case.
static const double LOOSEST = 1e-3;
/// A bound on updates leaves each solution so many sweeps, and the first look at sizes this share.
enum { LEAST_SWEEPS = 100, PREPARE_SHARE = 20 };
/// Updates between two reports of progress: about a tenth of a second.
enum { REPORT_UPDATES = 2000000 };
/// Sets the random starts apart from the sweeps, which draw from the plain seed.
static const uint64_t START_STREAM = 0x7374617274u;

// ---- starts ------------------------------------------------------------------------------------

/// A random direction at right angles to n; in 2D one of the two.
static void random_tangent(rng* r, int dim, const double* n, double* t)
{
    double along;
    for (int k = 0; k < dim; k++) t[k] = rng_normal(r);
    along = vec_dot(dim, t, n);
    vec_add_scaled(dim, t, -along, n);
    double length = vec_norm(dim, t);
    for (int k = 0; k < dim; k++) t[k] /= length > 0.0 ? length : 1.0;
}

static double random_signed(rng* r)
{
    return 2.0 * rng_uniform(r) - 1.0;
}

/// Random torque within the bounds of rolling and torsion for the normal impulse `normal`.
static void random_torque(rng* r, int dim, const double* n, double normal,
                          compound_contact* compound)
{
    double roll = rolling_limit(&compound->rolling, normal, compound->h);
    for (int k = 0; k < 3; k++) compound->torque[k] = 0.0;
    if (dim == 2) {
        compound->torque[0] = roll * random_signed(r);
        return;
    }
    double tangent[3], twist = rolling_limit(&compound->torsion, normal, compound->h);
    random_tangent(r, 3, n, tangent);
    vec_add_scaled(3, compound->torque, roll * rng_uniform(r), tangent);
    vec_add_scaled(3, compound->torque, twist * random_signed(r), n);
}

/// Impulses anywhere in the friction cones, normal parts uniform up to twice the typical one.
static void start_random(ensemble_task* task, int i)
{
    problem* p = &task->problem;
    const int dim = p->dim;
    rng r = rng_make(task->def->seed ^ START_STREAM, (uint64_t)i, 0);
    for (int64_t c = 0; c < p->count; c++) {
        double* row = p->contact + c * problem_width(dim);
        double* impulse = row + contact_p(dim);
        double tangent[3], normal = 2.0 * task->typical * rng_uniform(&r);
        random_tangent(&r, dim, row, tangent);
        double rub = row[contact_mu(dim)] * normal * rng_uniform(&r);
        for (int k = 0; k < dim; k++) impulse[k] = normal * row[k] + rub * tangent[k];
        if (problem_compound_of(p, c) >= 0)
            random_torque(&r, dim, row, normal, &p->compound_rows[problem_compound_of(p, c)]);
    }
}

/// Begin with the kinds of starts in turn, as many as the caller chose.
static unsigned begin_sample(ensemble_task* task, int i)
{
    problem* p = &task->problem;
    const int dim = p->dim;
    unsigned kinds[TALUS_START_COUNT];
    int count = 0;
    for (int k = 0; k < TALUS_START_COUNT; k++) {
        if (task->def->starts & (1u << k)) kinds[count++] = 1u << k;
    }
    const unsigned start = kinds[i % count];
    // The problem as it was posed: warm impulses, static friction.
    const size_t rows = (size_t)(p->count * problem_width(dim));
    if (rows > 0) memcpy(p->contact, task->first, rows * sizeof *task->first);
    if (p->compound_count > 0) {
        memcpy(p->compound_rows, task->first_compound,
               (size_t)p->compound_count * sizeof *task->first_compound);
    }
    if (start == TALUS_START_RANDOM) start_random(task, i);
    if (start != TALUS_START_ZERO) return start;
    for (int64_t c = 0; c < p->count; c++) {
        double* impulse = p->contact + c * problem_width(dim) + contact_p(dim);
        for (int k = 0; k < dim; k++) impulse[k] = 0.0;
    }
    for (int64_t c = 0; c < p->compound_count; c++) {
        for (int k = 0; k < 3; k++) p->compound_rows[c].torque[k] = 0.0;
    }
    return start;
}

// ---- solving -----------------------------------------------------------------------------------

/// Sweeps that a sample may make: its share of the updates that are left. Samples that need less
/// leave theirs to the others.
static int64_t sweeps_allowed(const ensemble_task* task, int64_t sharers)
{
    const talus_ensemble_def* def = task->def;
    const int64_t count = task->problem.count;
    if (def->max_updates == 0 || count == 0) return def->max_sweeps;
    int64_t share = (def->max_updates - task->updates) / (sharers * count);
    if (share < LEAST_SWEEPS) share = LEAST_SWEEPS;
    return share < def->max_sweeps ? share : def->max_sweeps;
}

/// Tells how far the ensemble is while one of its solutions is under way.
typedef struct reporter {
    solve_watch watch;
    const ensemble_task* task;
    int sample;
    int64_t before, allowed; ///< sweeps of this sample before this solve, and in all
} reporter;

static void report(solve_watch* watch, const problem* p, int64_t sweeps)
{
    const reporter* r = (const reporter*)(const void*)watch;
    const talus_ensemble_def* def = r->task->def;
    const double part = (double)(r->before + sweeps) / (double)r->allowed;
    def->progress(def->progress_user, r->sample + fmin(part, 1.0), def->samples);
    watch->next = sweeps + 1 + REPORT_UPDATES / (p->count + 1);
}

/// Go on from the present impulses to `tolerance`, in at most `sweeps` sweeps.
static talus_status descend(ensemble_task* task, uint64_t key, double tolerance, int64_t sweeps,
                            reporter* onlooker, solve_result* result, talus_error* error)
{
    const talus_solver_def options = {.method = TALUS_SOLVER_SWEEPS,
                                      .order = TALUS_ORDER_RANDOM,
                                      .stop = TALUS_STOP_RESIDUAL,
                                      .tolerance = tolerance,
                                      .max_sweeps = (int)sweeps};
    const solve_request request = {.options = &options,
                                   .h = task->def->step,
                                   .seed = task->def->seed,
                                   .key = key,
                                   .watch = task->def->progress ? &onlooker->watch : NULL};
    onlooker->watch = (solve_watch){.next = 1, .look = report};
    if (sweep_solver.solve(&task->problem, &request, &task->workspace, result)) {
        return error_memory(error, "solving the contacts");
    }
    onlooker->before += result->sweeps;
    task->updates += result->sweeps * task->problem.count;
    return TALUS_OK;
}

/// Impulses, and torques over the radius, of all contacts into x [contacts][components].
static void gather(const ensemble_task* task, double* x)
{
    const problem* p = &task->problem;
    const int dim = p->dim, m = task->components;
    for (int64_t c = 0; c < p->count; c++) {
        vec_copy(dim, x + c * m, p->contact + c * problem_width(dim) + contact_p(dim));
        const compound_contact* r =
            problem_compound_of(p, c) >= 0 ? &p->compound_rows[problem_compound_of(p, c)] : NULL;
        for (int k = dim; k < m; k++) {
            x[c * m + k] = r ? r->torque[k - dim] * r->inv_radius_b : 0.0;
        }
    }
}

/// Note the change from `coarse` to `fine` as conditioning, if there was any progress.
static void note_conditioning(ensemble_task* task, const double* coarse, const double* fine,
                              double coarse_residual, double residual)
{
    double change2 = 0.0, size2 = 0.0;
    for (int64_t k = 0; k < task->problem.count * task->components; k++) {
        change2 += (fine[k] - coarse[k]) * (fine[k] - coarse[k]);
        size2 += fine[k] * fine[k];
    }
    if (!(size2 > 0.0) || !(residual < PROGRESS * coarse_residual)) return;
    double conditioning = sqrt(change2 / size2) / coarse_residual;
    if (conditioning > task->conditioning) task->conditioning = conditioning;
}

// ---- writing -----------------------------------------------------------------------------------

/// Is the friction bound reached, within what the tolerance leaves open?
static bool at_bound(const problem* p, int64_t c)
{
    const int dim = p->dim;
    const double* row = p->contact + c * problem_width(dim);
    const double* impulse = row + contact_p(dim);
    const double mu = row[contact_mu(dim)],
                 bond = problem_compound_of(p, c) < 0
                            ? 0.0
                            : p->compound_rows[problem_compound_of(p, c)].bond;
    double pn = vec_dot(dim, impulse, row), tt = vec_dot(dim, impulse, impulse) - pn * pn;
    double bound = mu * (pn + bond) * (1.0 - 1e-6);
    return mu > 0.0 && pn + bond > 0.0 && tt >= bound * bound;
}

static void write_contacts(const ensemble_task* task, int i, bool verified, talus_ensemble* e)
{
    const problem* p = &task->problem;
    const int dim = p->dim, spin_dim = spin_width(dim);
    double* force = e->force + (int64_t)i * p->count * dim;
    double* torque = e->torque + (int64_t)i * p->count * spin_dim;
    for (int64_t c = 0; c < p->count; c++) {
        // The problem exchanges the bodies where b belongs to a mobile wall.
        double sign = p->pair[2 * c + 1] == task->list->b_row[c] ? 1.0 : -1.0;
        double scale = sign / task->def->step;
        const double* impulse = p->contact + c * problem_width(dim) + contact_p(dim);
        for (int k = 0; k < dim; k++) force[c * dim + k] = scale * impulse[k];
        for (int k = 0; k < spin_dim && problem_compound_of(p, c) >= 0; k++) {
            torque[c * spin_dim + k] =
                scale * p->compound_rows[problem_compound_of(p, c)].torque[k];
        }
        e->sliding[c] += verified && at_bound(p, c);
    }
}

/// Running mean and squared deviations of the new velocities (Welford).
static void note_velocities(ensemble_task* task, int count)
{
    const problem* p = &task->problem;
    const int dim = p->dim, stride = problem_stride(dim);
    for (int64_t i = 0; i < task->world->state.grains.count; i++) {
        for (int k = 0; k < dim; k++) {
            double* mean = &task->velocity[i * dim + k];
            double before = p->body[i * stride + k] - *mean;
            *mean += before / count;
            task->velocity2[i] += before * (p->body[i * stride + k] - *mean);
        }
    }
}

// ---- the two entries ---------------------------------------------------------------------------

talus_status ensemble_prepare(ensemble_task* task, talus_error* error)
{
    const problem* p = &task->problem;
    const int dim = p->dim;
    solve_result result;
    // Key 0 is not used by any sample. A size needs no accuracy.
    const int64_t allowed = sweeps_allowed(task, PREPARE_SHARE);
    reporter onlooker = {.task = task, .allowed = INT64_MAX}; // it counts for nothing
    TRY(descend(task, 0, 1e-3, allowed, &onlooker, &result, error));
    double sum = 0.0;
    int64_t count = 0;
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + c * problem_width(dim);
        double pn = vec_dot(dim, row + contact_p(dim), row);
        sum += pn > 0.0 ? pn : 0.0;
        count += pn > 0.0;
    }
    task->typical = count > 0 ? sum / (double)count : 0.0;
    return TALUS_OK;
}

talus_status ensemble_solve(ensemble_task* task, int i, talus_ensemble* out, talus_error* error)
{
    const talus_ensemble_def* def = task->def;
    talus_ensemble_sample* sample = &out->sample[i];
    double* solution = task->solution + (int64_t)i * task->problem.count * task->components;
    const uint64_t key = 2 * (uint64_t)i + 1;
    const int64_t allowed = sweeps_allowed(task, def->samples - i);
    const bool limited = allowed < def->max_sweeps;
    reporter onlooker = {.task = task, .sample = i, .allowed = allowed};
    solve_result coarse, fine = {0};
    sample->start = begin_sample(task, i);
    TRY(descend(task, key, fmin(COARSE * def->tolerance, 1e-2),
                limited ? allowed / COARSE_SHARE : allowed, &onlooker, &coarse, error));
    gather(task, task->scratch);
    if (coarse.sweeps < allowed) {
        TRY(descend(task, key + 1, def->tolerance, allowed - coarse.sweeps, &onlooker, &fine,
                    error));
    }
    gather(task, solution);
    sample->sweeps = coarse.sweeps + fine.sweeps;
    sample->residual = residual_natural(&task->problem); // with velocities summed up anew
    // Where updates ran out the solution is known as well as the way to it showed: it must have
    // come closer since the coarse one.
    const bool usable =
        limited && sample->residual <= LOOSEST && sample->residual < PROGRESS * coarse.residual;
    sample->verified = sample->residual <= def->tolerance || usable;
    note_conditioning(task, task->scratch, solution, coarse.residual, sample->residual);
    write_contacts(task, i, sample->verified, out);
    if (sample->verified) note_velocities(task, ++out->verified);
    return TALUS_OK;
}

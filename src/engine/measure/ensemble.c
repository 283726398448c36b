/// The force ensemble: many solutions of one contact problem (LN 8.4).
///
/// In a packing with more contact forces than equations of motion the contact laws admit a whole
/// convex set of forces; which of them a solver finds depends on its start and on the order of its
/// sweeps. Here the problem of the world's next step is posed once, as plain arrays, and solved
/// again and again; the world itself never moves.
#include "measure/ensemble.h"

#include "base/definition.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void talus_ensemble_default_sized(talus_ensemble_def* def, size_t size)
{
    talus_ensemble_def own = {
        .samples = 30,
        .seed = 1,
        .tolerance = 1e-6,
        .max_sweeps = 200000,
        .starts = TALUS_START_ZERO | TALUS_START_WARM | TALUS_START_RANDOM,
    };
    DEFINITION_GIVE(def, size, own);
}

void talus_ensemble_free(talus_ensemble* e)
{
    free(e->a);
    free(e->b);
    free(e->feature);
    free(e->point);
    free(e->normal);
    free(e->force);
    free(e->torque);
    free(e->mean);
    free(e->spread);
    free(e->sliding);
    free(e->sample);
    free(e->histogram);
    free(e->singular);
    *e = (talus_ensemble){0};
}

static talus_status check_def(const talus_ensemble_def* def, talus_error* error)
{
    if (!(def->step > 0.0) || !isfinite(def->step)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "ensemble: the length of the step must be positive, got %g", def->step);
    }
    if (def->max_updates < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "ensemble: the number of updates must not be negative, got %lld",
                         (long long)def->max_updates);
    }
    if (def->samples < 2 || def->max_sweeps < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "ensemble: at least 2 samples of at least 1 sweep are needed, got %d of "
                         "%d",
                         def->samples, def->max_sweeps);
    }
    if (!(def->tolerance > 0.0 && def->tolerance < 1.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "ensemble: the tolerance must be between 0 and 1, got %g", def->tolerance);
    }
    unsigned all = TALUS_START_ZERO | TALUS_START_WARM | TALUS_START_RANDOM;
    if ((def->starts & all) == 0 || (def->starts & ~all) != 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "ensemble: unknown or no kinds of starts: %u",
                         def->starts);
    }
    if (!(def->volume >= 0.0) || !isfinite(def->volume)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "ensemble: the volume must not be negative, got %g", def->volume);
    }
    return TALUS_OK;
}

// ---- memory ------------------------------------------------------------------------------------

/// Zeroed array of count elements; never NULL for want of elements.
static void* make(int64_t count, size_t size)
{
    return calloc((size_t)count + 1, size);
}

static talus_status make_result(const ensemble_task* task, talus_ensemble* e)
{
    const int64_t n = task->list->count, samples = task->def->samples;
    const int dim = task->list->dim, spin_dim = spin_width(dim);
    e->dim = dim;
    e->samples = (int)samples;
    e->contacts = n;
    e->a = make(n, sizeof *e->a);
    e->b = make(n, sizeof *e->b);
    e->feature = make(n, sizeof *e->feature);
    e->point = make(n * dim, sizeof *e->point);
    e->normal = make(n * dim, sizeof *e->normal);
    e->force = make(samples * n * dim, sizeof *e->force);
    e->torque = make(samples * n * spin_dim, sizeof *e->torque);
    e->mean = make(n * dim, sizeof *e->mean);
    e->spread = make(n, sizeof *e->spread);
    e->sliding = make(n, sizeof *e->sliding);
    e->sample = make(samples, sizeof *e->sample);
    e->histogram = make(samples * TALUS_ENSEMBLE_BINS, sizeof *e->histogram);
    e->singular = make(samples, sizeof *e->singular);
    bool good = e->a && e->b && e->feature && e->point && e->normal && e->force && e->torque &&
                e->mean && e->spread && e->sliding && e->sample && e->histogram && e->singular;
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

static talus_status make_task(ensemble_task* task)
{
    const problem* p = &task->problem;
    const int64_t n = p->count, width = problem_width(p->dim),
                  grain_count = task->world->state.grains.count;
    task->components = p->dim + (p->compound_count == 0 ? 0 : spin_width(p->dim));
    task->first = make(n * width, sizeof *task->first);
    task->first_compound = make(p->compound_count, sizeof *task->first_compound);
    task->solution = make(task->def->samples * n * task->components, sizeof *task->solution);
    task->scratch = make(n * task->components, sizeof *task->scratch);
    task->velocity = make(grain_count * p->dim, sizeof *task->velocity);
    task->velocity2 = make(grain_count, sizeof *task->velocity2);
    bool good = task->first && task->first_compound && task->solution && task->scratch &&
                task->velocity && task->velocity2;
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

// ---- the whole ---------------------------------------------------------------------------------

static talus_status measure(ensemble_task* task, talus_world* world, talus_ensemble* out,
                            talus_error* error)
{
    const talus_ensemble_def* def = task->def;
    TRY(world_pose(world, def->step, &task->problem, &task->list, error));
    if (make_task(task) || make_result(task, out)) return error_memory(error, "making an ensemble");
    const contacts* list = task->list;
    const problem* p = &task->problem;
    const size_t n = (size_t)list->count, dim = (size_t)list->dim;
    if (n > 0) {
        memcpy(out->a, list->a, n * sizeof *out->a);
        memcpy(out->b, list->b, n * sizeof *out->b);
        memcpy(out->feature, list->feature, n * sizeof *out->feature);
        memcpy(out->point, list->point, n * dim * sizeof *out->point);
        memcpy(out->normal, list->normal, n * dim * sizeof *out->normal);
        memcpy(task->first, p->contact, n * (size_t)problem_width(p->dim) * sizeof *task->first);
    }
    if (p->compound_count > 0) {
        memcpy(task->first_compound, p->compound_rows,
               (size_t)p->compound_count * sizeof *task->first_compound);
    }
    TRY(ensemble_prepare(task, error));
    for (int i = 0; i < def->samples; i++) {
        TRY(ensemble_solve(task, i, out, error));
        if (def->progress) def->progress(def->progress_user, i + 1, def->samples);
    }
    ensemble_average(task, out);
    TRY(ensemble_rank(task, out, error));
    TRY(ensemble_count(task, out, error));
    ensemble_verdict(def, out);
    return TALUS_OK;
}

talus_status talus_measure_ensemble(talus_world* world, const talus_ensemble_def* given,
                                    talus_ensemble* out, talus_error* error)
{
    talus_ensemble_def own = talus_ensemble_default();
    const talus_ensemble_def* def = &own;
    *out = (talus_ensemble){0};
    TRY(DEFINITION_TAKE(ensemble, &own, given, error));
    TRY(check_def(def, error));
    ensemble_task task = {.world = world, .def = def};
    talus_status status = measure(&task, world, out, error);
    if (status < 0) talus_ensemble_free(out);
    problem_free(&task.problem);
    solve_workspace_free(&task.workspace);
    free(task.first);
    free(task.first_compound);
    free(task.solution);
    free(task.scratch);
    free(task.velocity);
    free(task.velocity2);
    return status;
}

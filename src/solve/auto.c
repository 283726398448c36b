/// The solver for everything: accelerated sweeps, and for what they leave undone a second method.
///
/// Sweeps are the fastest way for nearly every step. Some small systems stay stubborn: tall stacks,
/// hyperstatic frames, masses that differ by orders of magnitude. Those are posed again without
/// bodies (cone_of_problem.c) and solved by the methods of cone_solve.c, which know the whole
/// matrix. What comes back is measured like any other solution and kept only if it is better.
#include "solve/cone_of_problem.h"
#include "solve/residual.h"
#include "solve/solver.h"

#include <stdlib.h>
#include <string.h>

/// Larger systems are left to the sweeps: the second method's matrices grow faster than n.
enum { SECOND_LARGEST = 400 };
/// What the second method is asked for: far below every rule, where it still converges quickly.
static const double SECOND_TOLERANCE = 1e-10;

/// The impulses of a problem, to go back to.
static double* keep_impulses(const problem* p)
{
    const int dim = p->dim, width = problem_width(dim);
    double* kept = malloc(sizeof(double) * (size_t)(p->count * dim));
    for (int64_t c = 0; kept && c < p->count; c++) {
        vec_copy(dim, kept + c * dim, p->contact + c * width + contact_p(dim));
    }
    return kept;
}

static void put_back(problem* p, const double* kept)
{
    const int dim = p->dim, width = problem_width(dim);
    for (int64_t c = 0; c < p->count; c++) {
        vec_copy(dim, p->contact + c * width + contact_p(dim), kept + c * dim);
    }
    problem_refresh(p);
}

/// Does the rule of this solve like `now` better than `before`?
static bool better(const talus_solver_def* options, const residual_report* now,
                   const solve_result* before)
{
    return options->stop == TALUS_STOP_RIGID ? now->velocity < before->velocity_error
                                             : now->natural < before->residual;
}

/// Judge what the second method left in the problem; go back to `kept` if it is no better.
static void judge(problem* p, const solve_request* request, const double* kept,
                  const cone_result* found, solve_result* out)
{
    const talus_solver_def* options = request->options;
    const residual_report now = residual_measure(p, request->size, request->threads);
    out->second_iterations = found->iterations;
    if (!better(options, &now, out)) {
        put_back(p, kept);
        return;
    }
    out->second_method = found->method;
    out->residual = now.natural;
    out->velocity_error = now.velocity;
    out->converged =
        (options->stop == TALUS_STOP_RIGID ? now.velocity : now.natural) <= options->tolerance;
}

static talus_status solve_again(problem* p, const solve_request* request, cone_problem* cones,
                                double* r, solve_result* out)
{
    cone_options options = {.tolerance = SECOND_TOLERANCE,
                            .max_sweeps = request->options->max_sweeps};
    cone_result found;
    double* kept = keep_impulses(p);
    if (!kept || cone_solve(cones, &options, r, &found)) {
        free(kept);
        return TALUS_ERR_MEMORY;
    }
    cone_to_problem(r, p);
    judge(p, request, kept, &found, out);
    free(kept);
    return TALUS_OK;
}

static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    if (accelerated_solver.solve(p, request, ws, out)) return TALUS_ERR_MEMORY;
    if (out->converged || p->count > SECOND_LARGEST || p->rich_count > 0) return TALUS_OK;
    cone_problem cones = {0};
    double* r = NULL;
    talus_error error = {0};
    talus_status status = cone_of_problem(p, &cones, &r, &error);
    if (status == TALUS_OK) status = solve_again(p, request, &cones, r, out);
    free(r);
    cone_free(&cones);
    return status == TALUS_ERR_MEMORY ? status : TALUS_OK; // what it cannot pose stays as it is
}

const solver_ops auto_solver = {.name = "auto", .solve = solve};

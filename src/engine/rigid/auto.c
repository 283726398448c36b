/// The solver for everything: accelerated sweeps, and for what they leave undone a second method.
///
/// Sweeps are the fastest way for nearly every step. Some small systems stay stubborn: tall stacks,
/// hyperstatic frames, masses that differ by orders of magnitude, and accuracies near rounding,
/// about which momentum circles. When sweeps get no further, or at the latest when there have been
/// enough of them, those are posed again without bodies (reduced/condense.c) and solved by the
/// methods of reduced/solve.c, which know the whole matrix. What comes back is measured like any
/// other solution and kept only if it is good enough or far better, which it is not where nothing
/// solves the step: there its impulses are huge and its velocities as wrong as before. If it is not
/// good enough the sweeps go on from there.
#include "rigid/reduced/condense.h"
#include "rigid/residual.h"
#include "rigid/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Larger systems are left to the sweeps: the second method's matrices grow faster than n.
enum { SECOND_LARGEST = 400 };
/// Sweeps after which it is looked how they get on, and how many times more before the next look.
/// If in between the rule's measure has not fallen to PROGRESS of what it was, they are stuck.
enum { FIRST_LOOK = 2000, NEXT_LOOK = 4 };
static const double PROGRESS = 0.5;
/// What the second method is asked for, where it still converges quickly, and as a share of what
/// the rule asks for if that is less.
static const double SECOND_TOLERANCE = 1e-13, SECOND_SHARE = 0.3;
/// Of a measure: what is far better without being good enough.
static const double FAR_BETTER = 0.1;

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

/// What the rule of this solve looks at.
static double measure_of(const talus_solver_def* options, const solve_result* result)
{
    return options->stop == TALUS_STOP_RIGID ? result->velocity_error : result->residual;
}

/// Is an answer that the rule measures as `now` to take the place of one that it measured as
/// `before`? From 1 on all that contacts do is wrong, and one is as useless as the other.
static bool is_worth(double now, double before, double tolerance)
{
    return now <= tolerance || (now < 1.0 && now < FAR_BETTER * before);
}

/// Judge what the second method left in the problem; go back to `kept` if it is of no use.
static void judge(problem* p, const solve_request* request, const double* kept,
                  const reduced_result* found, solve_result* out)
{
    const talus_solver_def* options = request->options;
    const residual_report now = residual_measure(p, request->size, request->threads);
    out->second_iterations += found->iterations;
    const double measure = options->stop == TALUS_STOP_RIGID ? now.velocity : now.natural;
    if (!is_worth(measure, measure_of(options, out), options->tolerance)) {
        put_back(p, kept);
        return;
    }
    out->second_method = found->method;
    out->residual = now.natural;
    out->velocity_error = now.velocity;
    out->converged = measure <= options->tolerance;
}

static talus_status solve_again(problem* p, const solve_request* request, reduced_problem* reduced,
                                double* r, solve_result* out)
{
    reduced_options options = {
        .tolerance = fmin(SECOND_TOLERANCE, SECOND_SHARE * request->options->tolerance),
        .max_sweeps = out->sweeps}; // it may cost as much again, not more
    reduced_result found;
    double* kept = keep_impulses(p);
    if (!kept || reduced_solve(reduced, &options, r, &found)) {
        free(kept);
        return TALUS_ERR_MEMORY;
    }
    reduced_to_problem(r, p);
    judge(p, request, kept, &found, out);
    free(kept);
    return TALUS_OK;
}

static talus_status second_method(problem* p, const solve_request* request, solve_result* out)
{
    reduced_problem reduced = {0};
    double* r = NULL;
    talus_error error = {0};
    talus_status status = reduced_from_problem(p, &reduced, &r, &error);
    if (status == TALUS_OK) status = solve_again(p, request, &reduced, r, out);
    free(r);
    reduced_free(&reduced);
    return status == TALUS_ERR_MEMORY ? status : TALUS_OK; // what it cannot pose stays as it is
}

/// Sweeps until there have been `limit` of them, those of earlier calls counted.
static talus_status sweep_to(problem* p, const solve_request* request, solve_workspace* ws,
                             int64_t limit, solve_result* out)
{
    const solve_result before = *out;
    talus_solver_def options = *request->options;
    solve_request part = *request;
    options.max_sweeps = (int)(limit - before.sweeps);
    part.options = &options;
    part.goes_on = limit < request->options->max_sweeps;
    if (accelerated_solver.solve(p, &part, ws, out)) return TALUS_ERR_MEMORY;
    out->sweeps += before.sweeps;
    out->updates += before.updates;
    out->single_sweeps += before.single_sweeps;
    out->second_iterations = before.second_iterations;
    return TALUS_OK;
}

/// May the second method come in between? Not where someone looks on, who counts sweeps, nor under
/// rules that do not measure the solution and end after a number of sweeps or when these are small.
static bool may_interrupt(const solve_request* request)
{
    const talus_stop_rule rule = request->options->stop;
    return !request->watch && (rule == TALUS_STOP_RIGID || rule == TALUS_STOP_RESIDUAL);
}

static bool seen_enough(const solve_request* request)
{
    return request->watch && request->watch->enough;
}

static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    const bool small = p->count <= SECOND_LARGEST && p->compound_count == 0;
    const int64_t most = request->options->max_sweeps;
    int64_t look = small && may_interrupt(request) && FIRST_LOOK < most ? FIRST_LOOK : most;
    double before = INFINITY;
    talus_status status = TALUS_OK;
    *out = (solve_result){0};
    do {
        status = sweep_to(p, request, ws, look, out);
        const double now = measure_of(request->options, out);
        const bool stuck = now > PROGRESS * before || out->sweeps >= most;
        if (seen_enough(request)) break;
        if (status == TALUS_OK && small && !out->converged && stuck) {
            status = second_method(p, request, out);
        }
        before = measure_of(request->options, out);
        look = NEXT_LOOK * look < most ? NEXT_LOOK * look : most;
    } while (status == TALUS_OK && !out->converged && out->sweeps < most);
    return status;
}

const solver_ops auto_solver = {.name = "auto", .solve = solve};

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
#include "base/error.h"
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

/// Solve a small problem once more, as one without bodies. It may cost as much again as the sweeps,
/// not more. Its answer takes the place of theirs if it is good enough, or far better without being
/// so; from 1 on all that contacts do is wrong, and one is as useless as the other.
static talus_status second_method(problem* p, const solve_request* request, solve_result* out)
{
    const talus_solver_def* options = request->options;
    const reduced_options second = {.tolerance =
                                        fmin(SECOND_TOLERANCE, SECOND_SHARE * options->tolerance),
                                    .max_sweeps = out->sweeps};
    reduced_problem reduced = {0};
    double *r = NULL, *kept = NULL;
    talus_error error = {0};
    talus_status status = reduced_from_problem(p, &reduced, &r, &error);
    if (status == TALUS_OK) {
        reduced_result found;
        kept = keep_impulses(p);
        status = kept ? reduced_solve(&reduced, &second, r, &found) : TALUS_ERR_MEMORY;
        if (status) status = TALUS_ERR_MEMORY;
        if (status == TALUS_OK) {
            reduced_to_problem(r, p);
            out->second_iterations += found.iterations;
            const residual_report seen = residual_measure(p, request->size, request->threads);
            const bool rigid = options->stop == TALUS_STOP_RIGID;
            const double now = rigid ? seen.velocity : seen.natural;
            const double before = measure_of(options, out);
            if (now <= options->tolerance || (now < 1.0 && now < FAR_BETTER * before)) {
                out->second_method = found.method;
                out->residual = seen.natural;
                out->velocity_error = seen.velocity;
                out->converged = now <= options->tolerance;
            } else {
                put_back(p, kept);
            }
        }
    }
    free(kept);
    free(r);
    reduced_free(&reduced);
    return status == TALUS_ERR_MEMORY ? status : TALUS_OK; // what it cannot pose stays as it is
}

static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    const talus_solver_def* options = request->options;
    const int64_t most = solve_budget(request);
    const bool small = p->count <= SECOND_LARGEST && p->compound_count == 0;
    // The second method does not come in between under rules that do not measure the solution and
    // end after a number of sweeps or when these are small.
    const bool measures = options->stop == TALUS_STOP_RIGID || options->stop == TALUS_STOP_RESIDUAL;
    int64_t look = small && measures && FIRST_LOOK < most ? FIRST_LOOK : most;
    double before = INFINITY;
    *out = (solve_result){0};
    do {
        // Sweeps until there have been `look` of them.
        const solve_result done = *out;
        talus_solver_def part_options = *options;
        solve_request part = *request;
        part_options.max_sweeps = (int)(request->sweeps_before + look);
        part.options = &part_options;
        part.sweeps_before = request->sweeps_before + done.sweeps;
        part.goes_on = look < most;
        TRY(accelerated_solver.solve(p, &part, ws, out));
        out->sweeps += done.sweeps;
        out->updates += done.updates;
        out->single_sweeps += done.single_sweeps;
        out->second_iterations = done.second_iterations;

        if (request->watch && request->watch->enough) break;
        const bool stuck = measure_of(options, out) > PROGRESS * before || out->sweeps >= most;
        if (small && !out->converged && stuck) TRY(second_method(p, request, out));
        before = measure_of(options, out);
        look = NEXT_LOOK * look < most ? NEXT_LOOK * look : most;
    } while (!out->converged && out->sweeps < most);
    return TALUS_OK;
}

const solver_ops auto_solver = {.name = "auto", .solve = solve};

/// Which method solves a cone problem, and the story of it.
#include "base/error.h"
#include "solve/cone_methods.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

double cone_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef talus_status cone_method(const cone_problem* p, cone_run* run, double* r);

static const char* const NAMES[] = {"sweeps", "fast", NULL};
static cone_method* const METHODS[] = {cone_sweep_plain, cone_sweep_fast};

const char* const* cone_methods(void)
{
    return NAMES;
}

talus_status cone_solve(const cone_problem* p, const cone_options* options, double* r,
                        cone_result* out)
{
    int which = 1;
    if (options->method && strcmp(options->method, "auto") != 0) {
        for (which = 0; NAMES[which] && strcmp(NAMES[which], options->method) != 0;) which++;
        if (!NAMES[which]) return TALUS_ERR_ARGUMENT;
    }
    cone_run run = {.tolerance = options->tolerance, .limit = options->max_sweeps};
    if (options->max_seconds > 0.0) run.deadline = cone_seconds() + options->max_seconds;
    TRY(METHODS[which](p, &run, r));
    *out = (cone_result){.converged = cone_measure_meets(run.best, options->tolerance),
                         .error = run.best.error,
                         .residual = run.best.residual,
                         .iterations = run.iterations,
                         .method = NAMES[which]};
    snprintf(out->story, sizeof out->story, "%lld sweeps%s", (long long)run.iterations,
             which == 1 ? " with momentum" : "");
    return TALUS_OK;
}

/// Which method solves a cone problem, and the story of it.
///
/// "auto" begins with accelerated sweeps, which are enough for most problems, and soon asks whether
/// everything sticks, which is one linear system for masonry at rest. Where the sweeps have cost as
/// much as Newton's method usually does it takes over, and where that fails the sweeps go on.
/// Counts of iterations and operations alone decide, no clocks.
#include "base/error.h"
#include "solve/cone_methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM = 4,          ///< sweeps before anything else is tried
    EASY = 100,        ///< sweeps before Newton's method is thought of
    STEPS_NEEDED = 20, ///< steps that Newton's method usually needs
    STEPS_MOST = 1000, ///< steps that it is allowed
    PATIENCE = 4, ///< where it fails so many times more sweeps are made before the next attempt
};

/// The state of one cone_solve().
typedef struct solve {
    cone_work work;
    cone_run run;
    cone_result* out;
    double* r;
} solve;

void cone_keep_better(const cone_work* work, cone_run* run, const double* trial, double* r)
{
    const cone_problem* p = work->p;
    cone_measure m = cone_measure_of(p, work->diagonal, trial);
    if (!(cone_measure_worse(m) < cone_measure_worse(run->best))) return;
    run->best = m;
    memcpy(r, trial, (size_t)(p->count * p->width) * sizeof(double));
}

/// Add a sentence to the story.
static void tell(cone_result* out, const char* name, int64_t count, const char* what)
{
    size_t used = strlen(out->story);
    snprintf(out->story + used, sizeof out->story - used, "%s%lld %s", used ? ", then " : "",
             (long long)count, what);
    out->method = name;
}

/// Sweeps from r.
static talus_status sweeps(solve* s, bool momentum, int64_t limit)
{
    cone_sweeper* sweeper = cone_sweeper_new(&s->work, momentum, s->r);
    if (!sweeper) return TALUS_ERR_MEMORY;
    const int64_t before = s->run.iterations;
    s->run.limit = before + limit;
    cone_sweeper_go(sweeper, &s->run, s->r);
    cone_sweeper_free(sweeper);
    tell(s->out, momentum ? "fast" : "sweeps", s->run.iterations - before,
         momentum ? "sweeps with momentum" : "sweeps");
    return TALUS_OK;
}

static void newton_go(solve* s, cone_newton* newton)
{
    const int64_t before = s->run.iterations;
    s->run.limit = before + STEPS_MOST;
    cone_newton_go(newton, &s->run, s->r);
    tell(s->out, "newton", s->run.iterations - before, "steps of Newton's method");
}

static talus_status newton_alone(solve* s)
{
    cone_newton* newton = cone_newton_new(&s->work);
    if (!newton) return TALUS_ERR_MEMORY;
    newton_go(s, newton);
    cone_newton_free(newton);
    return TALUS_OK;
}

/// Ask whether everything sticks.
static void stick(solve* s)
{
    const bool solved = cone_stick(&s->work, &s->run, s->r);
    s->run.iterations++;
    tell(s->out, "stick", 1,
         solved ? "linear system: everything sticks" : "linear system: not everything sticks");
}

static bool is_over(const solve* s)
{
    return cone_run_is_done(&s->run) || cone_run_is_late(&s->run);
}

static void sweep_to(solve* s, cone_sweeper* sweeper, int64_t limit)
{
    s->run.limit = limit;
    if (!is_over(s)) cone_sweeper_go(sweeper, &s->run, s->r);
}

/// Sweeps, in between the question whether everything sticks, until Newton's method would have cost
/// as much; *newton is made when it comes to that, and stays NULL where memory is too short for it.
/// Returns the number of sweeps.
static int64_t first_methods(solve* s, cone_sweeper* sweeper, int64_t most, cone_newton** newton)
{
    sweep_to(s, sweeper, most < WARM ? most : WARM);
    const int64_t warm = s->run.iterations;
    if (!is_over(s) && cone_stick(&s->work, &s->run, s->r)) {
        tell(s->out, "fast", warm, "sweeps with momentum");
        tell(s->out, "stick", 1, "linear system: everything sticks");
        s->run.iterations++;
        return warm;
    }
    sweep_to(s, sweeper, most < EASY ? most : EASY);
    if (!is_over(s)) {
        *newton = cone_newton_new(&s->work);
        double worth = *newton ? STEPS_NEEDED * cone_newton_step_in_sweeps(*newton) : INFINITY;
        sweep_to(s, sweeper, worth < (double)most ? (int64_t)worth : most);
    }
    tell(s->out, "fast", s->run.iterations, "sweeps with momentum");
    return s->run.iterations;
}

static talus_status automatic(solve* s, int64_t max_sweeps)
{
    cone_newton* newton = NULL;
    cone_sweeper* sweeper = cone_sweeper_new(&s->work, true, s->r);
    if (!sweeper) return TALUS_ERR_MEMORY;
    int64_t swept = first_methods(s, sweeper, max_sweeps, &newton);
    cone_sweeper_free(sweeper);
    talus_status status = TALUS_OK;
    bool momentum = false; // where momentum has failed once plain sweeps may do better
    while (status == TALUS_OK && newton && !is_over(s)) {
        newton_go(s, newton);
        if (is_over(s) || swept >= max_sweeps) break;
        int64_t more =
            PATIENCE * swept < max_sweeps - swept ? PATIENCE * swept : max_sweeps - swept;
        status = sweeps(s, momentum, more);
        momentum = !momentum;
        swept += more;
    }
    cone_newton_free(newton);
    return status;
}

static const char* const NAMES[] = {"sweeps", "fast", "stick", "newton", NULL};

const char* const* cone_methods(void)
{
    return NAMES;
}

static talus_status dispatch(solve* s, const cone_options* o)
{
    const char* name = o->method ? o->method : "auto";
    if (strcmp(name, "auto") == 0) return automatic(s, o->max_sweeps);
    if (strcmp(name, "sweeps") == 0) return sweeps(s, false, o->max_sweeps);
    if (strcmp(name, "fast") == 0) return sweeps(s, true, o->max_sweeps);
    if (strcmp(name, "newton") == 0) return newton_alone(s);
    if (strcmp(name, "stick") != 0) return TALUS_ERR_ARGUMENT;
    stick(s);
    return TALUS_OK;
}

talus_status cone_solve(const cone_problem* p, const cone_options* options, double* r,
                        cone_result* out)
{
    const int64_t own = p->count * cone_own_size(p->width);
    solve s = {.work = {.p = p}, .run = {.tolerance = options->tolerance}, .out = out, .r = r};
    *out = (cone_result){.method = "none"};
    if (options->max_seconds > 0.0) s.run.deadline = clock_seconds() + options->max_seconds;
    s.work.own = malloc((size_t)own * sizeof(double) + (size_t)p->count * sizeof(int64_t) + 1);
    if (!s.work.own) return TALUS_ERR_MEMORY;
    s.work.diagonal = (int64_t*)(s.work.own + own);
    s.work.avx2 = cone_has_avx2();
    for (int64_t c = 0; c < p->count; c++) {
        s.work.diagonal[c] = cone_diagonal(p, c);
        cone_contact_prepare(p->width, p->block + s.work.diagonal[c] * p->width * p->width,
                             s.work.own + c * cone_own_size(p->width));
    }
    s.run.best = cone_measure_of(p, s.work.diagonal, r);
    talus_status status = TALUS_OK;
    if (cone_run_is_done(&s.run)) {
        snprintf(out->story, sizeof out->story, "the first guess is good enough");
    } else {
        status = dispatch(&s, options);
    }
    free(s.work.own);
    out->converged = cone_run_is_done(&s.run);
    out->error = s.run.best.error;
    out->residual = s.run.best.residual;
    out->iterations = s.run.iterations;
    return status;
}

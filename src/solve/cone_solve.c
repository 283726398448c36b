/// Which method solves a cone problem, and the story of it.
///
/// "auto" begins with accelerated sweeps, which are enough for most problems. Where they are slow
/// Newton's method takes over from them, and where that fails the sweeps go on. Counts of
/// iterations alone decide, no clocks.
#include "base/error.h"
#include "solve/cone_methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOW = 4000,   ///< sweeps after which Newton's method takes over
    NEWTON = 1000, ///< steps of Newton's method, at most
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

static talus_status sweeps(solve* s, bool momentum, int64_t limit)
{
    cone_sweeper* sweeper = cone_sweeper_new(&s->work, momentum, s->r);
    if (!sweeper) return TALUS_ERR_MEMORY;
    s->run.limit = s->run.iterations + limit;
    const int64_t before = s->run.iterations;
    cone_sweeper_go(sweeper, &s->run, s->r);
    cone_sweeper_free(sweeper);
    tell(s->out, momentum ? "fast" : "sweeps", s->run.iterations - before,
         momentum ? "sweeps with momentum" : "sweeps");
    return TALUS_OK;
}

static talus_status newton(solve* s)
{
    const int64_t before = s->run.iterations;
    s->run.limit = before + NEWTON;
    TRY(cone_newton(&s->work, &s->run, s->r));
    tell(s->out, "newton", s->run.iterations - before, "steps of Newton's method");
    return TALUS_OK;
}

static talus_status automatic(solve* s, int64_t max_sweeps)
{
    const int64_t first = max_sweeps < SLOW ? max_sweeps : SLOW;
    TRY(sweeps(s, true, first));
    if (cone_run_is_done(&s->run) || cone_run_is_late(&s->run)) return TALUS_OK;
    // Newton's method needs much memory; where it is short the sweeps go on.
    talus_status status = newton(s);
    if (status < 0 && status != TALUS_ERR_MEMORY) return status;
    if (cone_run_is_done(&s->run) || cone_run_is_late(&s->run)) return TALUS_OK;
    return max_sweeps > first ? sweeps(s, true, max_sweeps - first) : TALUS_OK;
}

static const char* const NAMES[] = {"sweeps", "fast", "newton", NULL};

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
    if (strcmp(name, "newton") == 0) return newton(s);
    return TALUS_ERR_ARGUMENT;
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
#ifdef __x86_64__
    s.work.avx2 = __builtin_cpu_supports("avx2");
#endif
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

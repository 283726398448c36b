/// Which method solves a reduced problem, and the story of it.
///
/// "auto" takes a problem that falls apart part by part (islands.c). It begins with accelerated
/// sweeps, which are enough for most problems. A handful of contacts is soon given to a dense
/// Newton's method, and a larger problem is asked whether everything sticks, which is one linear
/// system for masonry at rest. Where the sweeps have cost as much as Newton's method usually does
/// it takes over. What that cannot solve either, hyperstatic piles above all, is brought near its
/// solution by an interior point method, and Newton's method ends it. Where that fails the sweeps
/// go on. Counts of iterations and operations alone decide, no clocks.
#include "base/error.h"
#include "rigid/reduced/islands.h"
#include "rigid/reduced/methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPLIT_LEAST = 16,     ///< contacts from which on it is looked for independent parts
    WARM = 1,             ///< sweeps before anything else is tried
    TRY_AGAIN = 4,        ///< so many times more sweeps before a dense attempt is repeated
    EASY = 100,           ///< sweeps before Newton's method is thought of
    STEPS_NEEDED = 20,    ///< steps that Newton's method usually needs
    STEPS_LEAST = 8,      ///< fewer are not worth a beginning
    SWEEPS_FIRST = 30000, ///< sweeps before it, at most
    STEPS_MOST = 1000,    ///< steps that it is allowed by itself
    STEPS_TRY = 60,       ///< steps that it is allowed before the interior point method
    STEPS_END = 150,      ///< steps that it is allowed after it
    STEPS_BODIES = 2000,  ///< the same where bodies are known and steps cost little, at first; then
                          ///< twice as many each time
    ASTRAY = 1000,        ///< sweeps with momentum after which velocities must be right somehow
    INTERIOR_MOST = 400,  ///< steps that this is allowed
    PATIENCE = 4, ///< where it fails so many times more sweeps are made before the next attempt
};

/// Part of the tolerance that is aimed at by way of the bodies.
static const double MARGIN = 0.99;
/// First proximal terms of Newton's method: far from the solution, and near it.
static const double FAR = 1e-2, NEAR = 1e-5;

/// Velocities that are wrong by more than this part while all else is right, because the impulses
/// are huge: a ball between walls that close in on it has about 1, piles that are nearly solved
/// 1e-6.
static const double HOPELESS = 0.01;

/// The state of one reduced_solve().
typedef struct solve {
    reduced_work work;
    reduced_run run;
    reduced_result* out;
    double* r;
    int64_t lost;    ///< iterations of attempts that came to nothing
    double max_work; ///< in sweeps' worth
    double step;     ///< what a step of Newton's or the interior point method is worth
    double more;     ///< what the steps made so far were worth beyond a sweep each
} solve;

void reduced_keep_better(const reduced_work* work, reduced_run* run, const double* trial, double* r)
{
    const reduced_problem* p = work->p;
    const reduced_sums sums = reduced_fast_sums(p, work->diagonal, trial);
    const reduced_measure m = reduced_measure_of(&sums, run->least);
    if (!(reduced_measure_worse(m) < reduced_measure_worse(run->best))) return;
    run->best = m;
    run->sums = sums;
    memcpy(r, trial, (size_t)(p->count * p->width) * sizeof(double));
}

static char* add_text(char* at, const char* end, const char* text)
{
    while (at < end && *text) *at++ = *text++;
    return at;
}

static char* add_number(char* at, const char* end, int64_t number)
{
    char digits[24], *first = digits + sizeof digits - 1;
    *first = '\0';
    for (int64_t n = number; n > 0 || !*first; n /= 10) *--first = (char)('0' + n % 10);
    return add_text(at, end, first);
}

/// Add "COUNT THINGs REST" to the story. Without snprintf(), which takes longer than a small
/// problem.
static void tell(reduced_result* out, const char* name, int64_t count, const char* thing,
                 const char* rest)
{
    const char* end = out->story + sizeof out->story - 1;
    char* at = out->story + strlen(out->story);
    if (at > out->story) at = add_text(at, end, ", then ");
    at = add_text(add_text(add_number(at, end, count), end, " "), end, thing);
    if (count != 1) at = add_text(at, end, "s");
    *add_text(at, end, rest) = '\0';
    out->method = name;
}

/// Sweeps from r.
static talus_status sweeps(solve* s, bool momentum, int64_t limit)
{
    reduced_sweeper* sweeper = reduced_sweeper_new(&s->work, momentum, s->r);
    if (!sweeper) return TALUS_ERR_MEMORY;
    const int64_t before = s->run.iterations;
    s->run.limit = before + limit;
    reduced_sweeper_go(sweeper, &s->run, s->r);
    reduced_sweeper_free(sweeper);
    tell(s->out, momentum ? "fast" : "sweeps", s->run.iterations - before, "sweep",
         momentum ? " with momentum" : "");
    return TALUS_OK;
}

/// Sweeps' worth of work so far.
static double work_of(const solve* s)
{
    return (double)(s->run.iterations + s->lost) + s->more;
}

/// Allow so many steps more, or as many as the work that is left is good for; false: too few.
static bool allow_steps(solve* s, int64_t most)
{
    const double left = fmax((s->max_work - work_of(s)) / s->step, 0.0);
    const int64_t steps = left < (double)most ? (int64_t)left : most;
    s->run.limit = s->run.iterations + steps;
    return steps >= STEPS_LEAST;
}

static void newton_go(solve* s, reduced_newton* newton, double alpha, int64_t most)
{
    const int64_t before = s->run.iterations;
    if (!allow_steps(s, most)) return;
    const bool patient = alpha == NEAR && s->work.p->bodies.width > 0;
    reduced_newton_go(newton, &s->run, alpha, patient, s->r);
    s->more += (s->step - 1.0) * (double)(s->run.iterations - before);
    tell(s->out, "newton", s->run.iterations - before, "step", " of Newton's method");
}

/// Steps of the interior point method, if the work that is left is good for some; false when memory
/// is short, or if there is rolling.
static bool interior_go(solve* s)
{
    if (!allow_steps(s, INTERIOR_MOST)) return true;
    reduced_interior* interior = reduced_interior_new(&s->work);
    if (!interior) return false;
    const int64_t before = s->run.iterations;
    reduced_interior_go(interior, &s->run, s->r);
    reduced_interior_free(interior);
    s->more += (s->step - 1.0) * (double)(s->run.iterations - before);
    tell(s->out, "interior", s->run.iterations - before, "step", " of an interior point method");
    return true;
}

static bool is_over(const solve* s)
{
    return reduced_run_is_done(&s->run) || reduced_run_is_late(&s->run);
}

static void sweep_to(solve* s, reduced_sweeper* sweeper, int64_t limit)
{
    s->run.limit = limit;
    if (!is_over(s)) reduced_sweeper_go(sweeper, &s->run, s->r);
}

/// A few sweeps, the dense attempt, more sweeps, again; true if that solves it. Small problems
/// only.
static bool small_methods(solve* s, reduced_sweeper* sweeper, int64_t most)
{
    int64_t sweeps = reduced_small_worth(s->work.p);
    for (; sweeps <= most && sweeps <= EASY; sweeps *= TRY_AGAIN) {
        sweep_to(s, sweeper, sweeps);
        const int64_t before = s->run.iterations;
        if (is_over(s)) break;
        if (reduced_small(&s->work, &s->run, s->r)) {
            tell(s->out, "fast", before, "sweep", " with momentum");
            tell(s->out, "small", s->run.iterations - before, "dense step", " of Newton's method");
            return true;
        }
        s->lost += s->run.iterations - before;
        s->run.iterations = before;
    }
    return false;
}

/// A few sweeps and the question whether everything sticks; true if so.
static bool stick_method(solve* s, reduced_sweeper* sweeper, int64_t most)
{
    sweep_to(s, sweeper, most < WARM ? most : WARM);
    const int64_t before = s->run.iterations;
    if (is_over(s) || !reduced_stick(&s->work, &s->run, s->r)) return false;
    tell(s->out, "fast", before, "sweep", " with momentum");
    tell(s->out, "stick", 1, "linear system", ": everything sticks");
    s->run.iterations++;
    return true;
}

/// Sweeps, in between the cheap attempts, until Newton's method would have cost as much; *newton is
/// made when it comes to that, and stays NULL where memory is too short for it. Returns the number
/// of sweeps.
static int64_t first_methods(solve* s, reduced_sweeper* sweeper, int64_t most,
                             reduced_newton** newton)
{
    const bool small = s->work.p->count * s->work.p->width <= REDUCED_SMALL;
    if ((small ? small_methods : stick_method)(s, sweeper, most)) return s->run.iterations;
    sweep_to(s, sweeper, most < EASY ? most : EASY);
    if (!is_over(s)) {
        *newton = reduced_newton_new(&s->work);
        s->step = *newton ? reduced_newton_step_in_sweeps(*newton) : 1.0;
        double worth = *newton ? STEPS_NEEDED * s->step : INFINITY;
        worth = worth < SWEEPS_FIRST ? worth : SWEEPS_FIRST;
        sweep_to(s, sweeper, worth < (double)most ? (int64_t)worth : most);
    }
    tell(s->out, "fast", s->run.iterations, "sweep", " with momentum");
    return s->run.iterations;
}

/// The interior point method, and Newton's from where that comes to, although this may at first be
/// worse than what there was; that comes back if it is so in the end.
static talus_status interior_and_newton(solve* s, reduced_newton* newton, int64_t steps)
{
    const size_t bytes = sizeof(double) * (size_t)(s->work.p->count * s->work.p->width);
    double* kept = malloc(bytes + 1);
    if (!kept) return TALUS_ERR_MEMORY;
    memcpy(kept, s->r, bytes);
    const reduced_run before = s->run;
    s->run.best = (reduced_measure){INFINITY, INFINITY, INFINITY};
    if (interior_go(s) && !is_over(s)) newton_go(s, newton, NEAR, steps);
    if (!(reduced_measure_worse(s->run.best) < reduced_measure_worse(before.best))) {
        memcpy(s->r, kept, bytes);
        s->run.best = before.best;
        s->run.sums = before.sums;
    }
    free(kept);
    return TALUS_OK;
}

/// Momentum can drive the impulses of flows to sizes at which all residuals but that of velocities
/// are small, and no method comes back from there: begin anew, without it.
static talus_status begin_anew(solve* s, int64_t limit)
{
    memset(s->r, 0, sizeof(double) * (size_t)(s->work.p->count * s->work.p->width));
    s->run.best = (reduced_measure){INFINITY, INFINITY, INFINITY};
    return sweeps(s, false, limit);
}

static talus_status automatic(solve* s, int64_t max_sweeps)
{
    reduced_newton* newton = NULL;
    reduced_sweeper* sweeper = reduced_sweeper_new(&s->work, true, s->r);
    if (!sweeper) return TALUS_ERR_MEMORY;
    int64_t swept = first_methods(s, sweeper, max_sweeps, &newton);
    reduced_sweeper_free(sweeper);
    talus_status status = TALUS_OK;
    const bool bodies = s->work.p->bodies.width > 0;
    if (bodies && !is_over(s) && swept >= ASTRAY && s->run.best.velocity > HOPELESS) {
        status = begin_anew(s, swept);
        swept *= 2;
    }
    int64_t steps = bodies ? STEPS_BODIES : STEPS_END;
    bool momentum = false; // where momentum has failed once plain sweeps may do better
    while (status == TALUS_OK && newton && !is_over(s)) {
        newton_go(s, newton, FAR, STEPS_TRY);
        if (!is_over(s)) status = interior_and_newton(s, newton, steps);
        if (bodies) steps *= 2;
        if (status < 0 || is_over(s) || swept >= max_sweeps || work_of(s) >= s->max_work) break;
        int64_t more =
            PATIENCE * swept < max_sweeps - swept ? PATIENCE * swept : max_sweeps - swept;
        status = sweeps(s, momentum, more);
        momentum = !momentum;
        swept += more;
    }
    reduced_newton_free(newton);
    return status;
}

static const char* const NAMES[] = {"sweeps", "fast", "stick", "newton", "interior", NULL};

const char* const* reduced_methods(void)
{
    return NAMES;
}

static bool is_automatic(const reduced_options* o)
{
    return !o->method || strcmp(o->method, "auto") == 0;
}

static talus_status dispatch(solve* s, const reduced_options* o)
{
    if (is_automatic(o)) return automatic(s, o->max_sweeps);
    const char* name = o->method;
    if (strcmp(name, "sweeps") == 0) return sweeps(s, false, o->max_sweeps);
    if (strcmp(name, "fast") == 0) return sweeps(s, true, o->max_sweeps);
    if (strcmp(name, "newton") == 0) {
        reduced_newton* newton = reduced_newton_new(&s->work);
        if (!newton) return TALUS_ERR_MEMORY;
        newton_go(s, newton, FAR, STEPS_MOST);
        reduced_newton_free(newton);
        return TALUS_OK;
    }
    if (strcmp(name, "interior") == 0) {
        // Sweeps tell how large the impulses are.
        const talus_status status = sweeps(s, true, o->max_sweeps < EASY ? o->max_sweeps : EASY);
        if (status < 0 || is_over(s)) return status;
        return interior_go(s) ? TALUS_OK : TALUS_ERR_MEMORY;
    }
    if (strcmp(name, "stick") != 0) return TALUS_ERR_ARGUMENT;
    // Ask whether everything sticks.
    const bool solved = reduced_stick(&s->work, &s->run, s->r);
    s->run.iterations++;
    tell(s->out, "stick", 1, "linear system",
         solved ? ": everything sticks" : ": not everything sticks");
    return TALUS_OK;
}

/// Solve one problem, whole or part; `memory` has room for s->work.
static talus_status solve_one(solve* s, const reduced_problem* p, const reduced_options* options,
                              double* memory)
{
    const int64_t size = reduced_own_size(p->width);
    s->work = (reduced_work){.p = p,
                             .own = memory,
                             .diagonal = (int64_t*)(memory + p->count * size),
                             .avx2 = vector_width_is_there(TALUS_VECTOR_AVX2)};
    for (int64_t c = 0; c < p->count; c++) {
        s->work.diagonal[c] = reduced_diagonal(p, c);
        reduced_contact_prepare(p->width, p->block + s->work.diagonal[c] * p->width * p->width,
                                s->work.own + c * size);
    }
    s->run.best = (reduced_measure){INFINITY, INFINITY, INFINITY};
    // Zero solves nothing that approaches, and what does not the first sweep finds out.
    if (!reduced_is_zero((int)(p->count * p->width), s->r)) {
        s->run.sums = reduced_sums_of(p, s->work.diagonal, s->r);
        s->run.best = reduced_measure_of(&s->run.sums, s->run.least);
    }
    if (!reduced_run_is_done(&s->run)) return dispatch(s, options);
    *add_text(s->out->story, s->out->story + sizeof s->out->story - 1,
              "the first guess is good enough") = '\0';
    return TALUS_OK;
}

/// Does anything push the contacts of a part together? If not, no impulses are the solution.
static bool is_pushed(const reduced_problem* p, reduced_sums* sums)
{
    bool pushed = false;
    double q2 = 0.0, moving = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        const double* q = p->q + c * p->width;
        q2 += vec_dot(p->width, q, q);
        moving += vec_dot(reduced_moving(p->width), q, q);
        pushed |= !(q[0] >= 0.0);
    }
    *sums = (reduced_sums){.u2 = q2, .q2 = q2, .moving = moving, .pushing = moving};
    return pushed;
}

/// The result of the whole is that of the part that took longest, with the sums of all.
static void tell_parts(const islands* parts, const reduced_problem* longest, reduced_result* out)
{
    char story[sizeof out->story];
    memcpy(story, out->story, sizeof story);
    const char* end = out->story + sizeof out->story - 1;
    char* at = add_number(out->story, end, parts->count);
    at = add_text(at, end, " independent parts");
    if (longest) {
        at = add_text(at, end, ", the longest, of ");
        at = add_text(add_number(at, end, longest->count), end,
                      longest->count == 1 ? " contact: " : " contacts: ");
        at = add_text(at, end, story);
    }
    *at = '\0';
}

/// Part by part; r of the whole in and out.
static talus_status solve_parts(solve* s, const reduced_problem* p, const reduced_options* options,
                                const islands* parts, double* memory, double* r)
{
    const int w = p->width;
    reduced_sums without = {0}; // the sums of all contacts without impulses
    for (int64_t c = 0; c < p->count; c++) {
        const double* q = p->q + c * p->width;
        without.q2 += vec_dot(p->width, q, q);
        without.pushing += vec_dot(reduced_moving(p->width), q, q);
        if (!(q[0] < 0.0)) continue;
        const int64_t own = reduced_diagonal(p, c);
        without.approach +=
            q[0] * q[0] / reduced_scale_of(p->width, p->block + own * p->width * p->width).n;
    }
    const reduced_problem* longest = NULL;
    const int64_t* contact = parts->contact;
    reduced_result best = *s->out;
    reduced_sums total = {0};
    talus_status status = TALUS_OK;
    for (int64_t i = 0; i < parts->count && status == TALUS_OK; i++) {
        const reduced_problem* part = &parts->part[i];
        reduced_result out = {.method = "none"};
        solve now = {.run = {.deadline = s->run.deadline},
                     .out = &out,
                     .r = r,
                     .max_work = s->max_work,
                     .step = 1.0};
        const bool pushed = is_pushed(part, &now.run.sums);
        now.run.tolerance = 0.5 * options->tolerance;
        // An island is measured against its share, by contacts, of the sums of the whole without
        // impulses. With half the tolerance for every island the whole then meets its own.
        const double share = (double)part->count / (double)p->count;
        now.run.least =
            (reduced_least){share * without.q2, share * without.approach, share * without.pushing};
        for (int64_t k = 0; k < part->count * w; k++) {
            r[k] = pushed ? s->r[contact[k / w] * w + k % w] : 0.0;
        }
        if (pushed) status = solve_one(&now, part, options, memory);
        for (int64_t k = 0; k < part->count * w; k++) s->r[contact[k / w] * w + k % w] = r[k];
        contact += part->count;
        total = reduced_sums_add(total, now.run.sums);
        now.run.iterations += now.lost;
        if (pushed && (!longest || now.run.iterations > s->run.iterations)) {
            longest = part;
            best = out;
            s->run.iterations = now.run.iterations;
        }
    }
    *s->out = best;
    s->run.sums = total;
    s->run.best = reduced_measure_of(&total, (reduced_least){0});
    tell_parts(parts, longest, s->out);
    return status;
}

/// Why velocities alone are not what they should be, at the end of the story.
static void tell_velocities(reduced_result* out, double tolerance)
{
    static const char none[] =
        "; impulses grow and velocities stay wrong: there may be no solution";
    static const char slow[] = "; the impulses are precise enough, the velocities are not yet";
    if (!(out->error <= tolerance && out->residual <= tolerance)) return;
    const char* text = out->velocity > HOPELESS ? none : slow;
    const size_t most = sizeof out->story - strlen(text) - 1, used = strlen(out->story);
    memcpy(out->story + (used < most ? used : most), text, strlen(text) + 1);
    if (used > most) memcpy(out->story + most - 3, "...", 3);
}

talus_status reduced_solve(const reduced_problem* p, const reduced_options* options, double* r,
                           reduced_result* out)
{
    const size_t own = (size_t)(p->count * reduced_own_size(p->width));
    const size_t contacts = (size_t)p->count, impulses = contacts * (size_t)p->width;
    // Bodies have other rounding errors than W, which has the last word.
    const double tolerance = (p->bodies.width > 0 ? MARGIN : 1.0) * options->tolerance;
    solve s = {.run = {.tolerance = tolerance},
               .out = out,
               .r = r,
               .max_work = options->max_work > 0.0 ? options->max_work : INFINITY,
               .step = 1.0};
    *out = (reduced_result){.method = "none"};
    if (options->max_seconds > 0.0) s.run.deadline = clock_seconds() + options->max_seconds;
    double* memory = malloc((own + impulses) * sizeof(double) + contacts * sizeof(int64_t) + 1);
    if (!memory) return TALUS_ERR_MEMORY;
    islands parts = {0};
    if (is_automatic(options) && p->count >= SPLIT_LEAST) islands_find(p, &parts);
    const talus_status status = parts.count > 1
                                    ? solve_parts(&s, p, options, &parts, memory + impulses, memory)
                                    : solve_one(&s, p, options, memory);
    islands_free(&parts);
    free(memory);
    if (p->bodies.width > 0) { // what counts is W
        const reduced_sums sums = reduced_sums_of(p, NULL, r);
        s.run.tolerance = options->tolerance;
        s.run.best = reduced_measure_of(&sums, (reduced_least){0});
    }
    out->converged = reduced_run_is_done(&s.run);
    out->error = s.run.best.error;
    out->residual = s.run.best.residual;
    out->velocity = s.run.best.velocity;
    if (!out->converged) tell_velocities(out, options->tolerance);
    out->iterations = s.run.iterations + s.lost;
    return status;
}

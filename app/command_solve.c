/// talus solve FILE.hdf5: solve a contact problem in FCLIB format.
#include "app.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/words.h"
#include "record/fclib.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct solve_options {
    reduced_options reduced;
    int solver; ///< place in the list
    bool write, json;
    int64_t repeat;
    const char* file;
} solve_options;

/// The answer and what is told about it.
typedef struct solve_answer {
    double *r, *u, *v; ///< v of global problems only
    reduced_result result;
    double seconds;          ///< condensing and solving, the median of all repetitions
    double seconds_condense; ///< of these
    bool written;
} solve_answer;

enum { ATTEMPTS = 4 }; ///< of solving a global problem to a smaller and smaller tolerance

// ---- command line ------------------------------------------------------------------------------

static const char* solver_word(int index)
{
    return index == 0 ? "auto" : reduced_methods()[index - 1];
}

const value_kind value_solver = {
    .source = VALUE_WORD, .one = "solver", .many = "solvers", .word = solver_word};

static const option_row options[] = {
    {.name = "solver",
     .value = "S",
     .kind = &value_solver,
     .meaning = "auto, or one of the methods that auto chooses from",
     .otherwise = "auto",
     .type = OPTION_WORD,
     .place = offsetof(solve_options, solver)},
    {.name = "tolerance",
     .value = "T",
     .meaning = "on FCLIB's error and on the residual without units",
     .otherwise = "1e-8",
     .type = OPTION_POSITIVE,
     .place = offsetof(solve_options, reduced.tolerance)},
    {.name = "sweeps",
     .value = "N",
     .meaning = "at most N sweeps of the first method",
     .otherwise = "100000",
     .type = OPTION_WHOLE,
     .place = offsetof(solve_options, reduced.max_sweeps),
     .low = 1},
    {.name = "limit",
     .value = "SECONDS",
     .meaning = "give up after this time; 0: never",
     .otherwise = "0",
     .type = OPTION_NUMBER,
     .place = offsetof(solve_options, reduced.max_seconds)},
    {.name = "repeat",
     .value = "N",
     .meaning = "solve N times and print the median time",
     .otherwise = "1",
     .type = OPTION_WHOLE,
     .place = offsetof(solve_options, repeat),
     .low = 1},
    {.name = "write",
     .meaning = "store solution/{r,u} (global: v too) in the file, if it is solved",
     .type = OPTION_FLAG,
     .place = offsetof(solve_options, write)},
    {.name = "json",
     .meaning = "print one JSON object on standard output",
     .type = OPTION_FLAG,
     .place = offsetof(solve_options, json)},
    {0},
};

// ---- solving -----------------------------------------------------------------------------------

/// Velocities and the error of the impulses.
static talus_status judge(const fclib_problem* p, solve_answer* a, talus_error* error)
{
    talus_status status = fclib_velocity(p, a->r, a->u, a->v, error);
    if (status < 0) return status;
    return fclib_error(p, a->r, a->u, a->v, &a->result.error, error);
}

/// Solve from zero, and add the time to *seconds. The error of a global problem is a little more
/// than the solver looks at; if it is too large, the solver goes on to a smaller tolerance.
static talus_status solve_on(const fclib_problem* p, const reduced_options* asked, solve_answer* a,
                             double* seconds, talus_error* error)
{
    reduced_options now = *asked;
    int64_t before = 0;
    memset(a->r, 0, (size_t)(p->reduced.count * p->reduced.width) * sizeof *a->r);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        double start = clock_seconds();
        talus_status status = reduced_solve(&p->reduced, &now, a->r, &a->result);
        *seconds += clock_seconds() - start;
        if (status < 0) {
            snprintf(error->text, sizeof error->text, "the solver failed: %s",
                     talus_status_name(status));
            return status;
        }
        before = a->result.iterations += before;
        status = judge(p, a, error);
        if (status < 0) return status;
        if (!a->result.converged || a->result.error <= asked->tolerance) return TALUS_OK;
        now.tolerance *= 0.5 * asked->tolerance / a->result.error;
    }
    a->result.converged = false;
    size_t used = strlen(a->result.story);
    snprintf(a->result.story + used, sizeof a->result.story - used,
             "; but M v = H r + f holds only to rounding, which is more than the tolerance");
    return TALUS_OK;
}

/// Times of one repetition.
typedef struct solve_time {
    double total, condense;
} solve_time;

static int by_total(const void* a, const void* b)
{
    const double x = ((const solve_time*)a)->total, y = ((const solve_time*)b)->total;
    return (x > y) - (x < y);
}

/// Condense and solve from zero, over and over again, and take the median of the times.
static talus_status solve_often(fclib_problem* p, const solve_options* o, solve_answer* a,
                                talus_error* error)
{
    solve_time* times = malloc(sizeof *times * (size_t)o->repeat);
    if (!times) {
        snprintf(error->text, sizeof error->text, "out of memory for %" PRId64 " repetitions",
                 o->repeat);
        return TALUS_ERR_MEMORY;
    }
    talus_status status = TALUS_OK;
    for (int64_t i = 0; i < o->repeat && status == TALUS_OK; i++) {
        const double start = clock_seconds();
        status = fclib_condense(p, error);
        times[i].total = times[i].condense = p->global ? clock_seconds() - start : 0.0;
        if (status == TALUS_OK) status = solve_on(p, &o->reduced, a, &times[i].total, error);
    }
    if (status == TALUS_OK) {
        qsort(times, (size_t)o->repeat, sizeof *times, by_total);
        a->seconds = times[o->repeat / 2].total;
        a->seconds_condense = times[o->repeat / 2].condense;
    }
    free(times);
    return status;
}

// ---- telling -----------------------------------------------------------------------------------

static void print_json(const solve_options* o, const fclib_problem* p, const solve_answer* a)
{
    json j = json_begin(stdout);
    json_string(&j, "file", o->file);
    json_string(&j, "kind", p->global ? "global" : "local");
    json_bool(&j, "rolling", p->rolling);
    json_integer(&j, "components", p->reduced.width);
    json_integer(&j, "contacts", p->reduced.count);
    if (p->global) json_integer(&j, "degrees_of_freedom", p->dofs);
    json_bool(&j, "converged", a->result.converged);
    json_string(&j, "solver", a->result.method);
    json_integer(&j, "iterations", a->result.iterations);
    json_number(&j, "seconds", a->seconds);
    if (p->global) json_number(&j, "seconds_condense", a->seconds_condense);
    json_number(&j, "error", a->result.error);
    json_number(&j, "residual", a->result.residual);
    json_number(&j, "velocity_residual", a->result.velocity);
    json_number(&j, "tolerance", o->reduced.tolerance);
    json_string(&j, "story", a->result.story);
    json_bool(&j, "written", a->written);
    json_end(&j);
}

static void print_answer(const solve_options* o, const fclib_problem* p, const solve_answer* a)
{
    const reduced_result* result = &a->result;
    printf("%s: %s problem in %s%s, %" PRId64 " contact%s", o->file, p->global ? "global" : "local",
           p->reduced.width == 2 ? "2D" : "3D", p->rolling ? " with rolling friction" : "",
           p->reduced.count, plural(p->reduced.count));
    if (p->global) printf(", %" PRId64 " degrees of freedom", p->dofs);
    printf("\n%s to %.3g by %s: %" PRId64 " iteration%s, %.3g s",
           result->converged ? "solved" : "NOT solved", o->reduced.tolerance, result->method,
           result->iterations, plural(result->iterations), a->seconds);
    if (p->global) printf(", of which %.3g s to condense", a->seconds_condense);
    printf("\n  error as FCLIB takes it  %.3g\n  residual without units   %.3g\n"
           "  residual of velocities   %.3g\n",
           result->error, result->residual, result->velocity);
    print_wrapped(stdout, "  ", 2, result->story);
    if (a->written) printf("stored in solution/{r,u%s}\n", p->global ? ",v" : "");
    if (o->write && !a->written) {
        printf("nothing was stored, because it is not solved\n");
    }
}

// ---- the whole ---------------------------------------------------------------------------------

/// Read, solve and tell; *is_read becomes 1 when the file is read.
static int solve_file(const solve_options* o, volatile char* is_read)
{
    fclib_problem p = {0};
    solve_answer answer = {0};
    talus_error error = {0};
    int status = STATUS_FAILURE;
    talus_status outcome = fclib_read(o->file, &p, &error);
    *is_read = 1;
    const size_t size = (size_t)(p.reduced.count * p.reduced.width) + 1; // calloc(0) may be NULL
    answer.r = calloc(size, sizeof *answer.r);
    answer.u = calloc(size, sizeof *answer.u);
    answer.v = calloc((size_t)p.dofs + 1, sizeof *answer.v);
    if (outcome == TALUS_OK && (!answer.r || !answer.u || !answer.v)) {
        snprintf(error.text, sizeof error.text, "out of memory while solving %s", o->file);
        outcome = TALUS_ERR_MEMORY;
    }
    if (outcome == TALUS_OK && p.reduced.count > 0) {
        outcome = solve_often(&p, o, &answer, &error);
    } else if (outcome == TALUS_OK) {
        answer.result = (reduced_result){.converged = true, .method = "none"};
        snprintf(answer.result.story, sizeof answer.result.story, "there are no contacts");
        outcome = judge(&p, &answer, &error);
    }
    if (outcome == TALUS_OK && o->write && answer.result.converged) {
        outcome = fclib_write_solution(o->file, &p, answer.r, answer.u, answer.v, &error);
        answer.written = outcome == TALUS_OK;
    }
    if (outcome < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
    } else {
        (o->json ? print_json : print_answer)(o, &p, &answer);
        status = answer.result.converged ? STATUS_OK : STATUS_NUMERIC;
    }
    free(answer.r);
    free(answer.u);
    free(answer.v);
    fclib_free(&p);
    return status;
}

/// What became of the child: its own exit status, or the signal that ended it.
static int follow(pid_t child, const char* file, const volatile char* is_read)
{
    int ended = 0;
    while (waitpid(child, &ended, 0) < 0) {
        if (errno != EINTR) return STATUS_FAILURE;
    }
    if (WIFEXITED(ended)) return WEXITSTATUS(ended);
    int number = WTERMSIG(ended);
    bool broke = number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGFPE;
    if (broke && !*is_read) {
        fprintf(stderr, "talus: %s: the file is damaged, so badly that HDF5 broke down over it\n",
                file);
        return STATUS_FAILURE;
    }
    signal(number, SIG_DFL);
    raise(number);
    return STATUS_FAILURE;
}

/// A file from elsewhere is read in a process of its own: HDF5 1.10 reads and writes past the ends
/// of its memory when chunks of a damaged file are shorter than they should be.
static int solve(int argc, char** argv)
{
    solve_options o = {.reduced = {.tolerance = 1e-8, .max_sweeps = 100000}, .repeat = 1};
    int status = options_read(&command_solve, argc, argv, &o);
    if (status != OPTIONS_GOOD) return status;
    o.reduced.method = solver_word(o.solver);
    char* is_read = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (is_read == MAP_FAILED) {
        fprintf(stderr, "talus: out of memory\n");
        return STATUS_FAILURE;
    }
    fflush(NULL);
    const pid_t program = getpid();
    pid_t child = fork();
    if (child > 0) return follow(child, o.file, is_read);
    if (child == 0) { // who ends the program ends the solving too, even before this is asked for
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != program) _exit(STATUS_FAILURE);
    }
    status = solve_file(&o, is_read);
    if (child < 0) return status; // no second process to be had: it goes without
    fflush(NULL);
    _exit(status);
}

const command command_solve = {
    .name = "solve",
    .usage = "solve FILE.hdf5 [--solver S] [--tolerance T] [--write] [options]",
    .summary = "solve a contact problem in FCLIB format",
    .about = "FILE.hdf5 holds a local, global or rolling problem as the FCLIB collection stores "
             "them\n"
             "(docs/fclib.md), in 2D or 3D.\n",
    .options = options,
    .notes = "The exit status is 0 if it is solved to the tolerance, 4 if not.\n",
    .examples = "  talus solve runs/hopper/problems/step-000120.hdf5\n"
                "  talus solve problem.hdf5 --tolerance 1e-10 --write\n",
    .first = {.what = "a file with a contact problem",
              .kind = &value_file,
              .place = offsetof(solve_options, file)},
    .function = solve,
};

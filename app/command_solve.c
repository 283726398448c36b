/// talus solve FILE.hdf5: solve a contact problem in the layout of FCLIB.
#include "app.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/words.h"
#include "record/fclib.h"
#include "scene/reader.h"

#include <errno.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct solve_options {
    reduced_options reduced;
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

enum {
    SOLVERS_MAX = 16,
    ATTEMPTS = 4, ///< of solving a global problem to a smaller and smaller tolerance
};

// ---- command line ------------------------------------------------------------------------------

/// "auto" and all methods; returns how many.
static int list_solvers(const char* names[SOLVERS_MAX])
{
    int count = 0;
    names[count++] = "auto";
    for (const char* const* m = reduced_methods(); *m && count < SOLVERS_MAX; m++) {
        names[count++] = *m;
    }
    return count;
}

static bool read_solver(const char* name, const char** out)
{
    const char* names[SOLVERS_MAX];
    int count = list_solvers(names);
    for (int i = 0; i < count; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = names[i];
        return true;
    }
    const char* near = nearest_name(name, names, count);
    fprintf(stderr, "talus: there is no solver '%s'%s%s%s\n       solvers are:", name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    for (int i = 0; i < count; i++) fprintf(stderr, " %s", names[i]);
    fputc('\n', stderr);
    return false;
}

static bool read_tolerance(double* out)
{
    if (!options_number("--tolerance", optarg, out)) return false;
    if (*out > 0) return true;
    fprintf(stderr, "talus: --tolerance must be above 0: no solution is exact\n");
    return false;
}

static bool read_option(solve_options* o, int choice)
{
    switch (choice) {
    case 's': return read_solver(optarg, &o->reduced.method);
    case 't': return read_tolerance(&o->reduced.tolerance);
    case 'n': return options_integer("--sweeps", optarg, 1, &o->reduced.max_sweeps);
    case 'l': return options_number("--limit", optarg, &o->reduced.max_seconds);
    case 'r': return options_integer("--repeat", optarg, 1, &o->repeat);
    case 'w': return o->write = true;
    case 'j': return o->json = true;
    default: return false;
    }
}

static bool read_options(solve_options* o, int argc, char** argv, int* status)
{
    static const struct option list[] = {
        {"solver", required_argument, NULL, 's'},
        {"tolerance", required_argument, NULL, 't'},
        {"sweeps", required_argument, NULL, 'n'},
        {"limit", required_argument, NULL, 'l'},
        {"repeat", required_argument, NULL, 'r'},
        {"write", no_argument, NULL, 'w'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    *status = STATUS_USAGE;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":h", list)) != -1;) {
        if (choice == 'h') {
            print_command_help(command_find("solve"));
            *status = STATUS_OK;
            return false;
        }
        if (!read_option(o, choice)) return false;
    }
    o->file = options_single(argc, argv, "a file with a contact problem");
    return o->file != NULL;
}

// ---- solving -----------------------------------------------------------------------------------

static bool make_room(const fclib_problem* p, solve_answer* a)
{
    size_t size = (size_t)(p->reduced.count * p->reduced.width) + 1; // calloc(0) may be NULL
    a->r = calloc(size, sizeof *a->r);
    a->u = calloc(size, sizeof *a->u);
    a->v = calloc((size_t)p->dofs + 1, sizeof *a->v);
    return a->r && a->u && a->v;
}

static void answer_free(solve_answer* a)
{
    free(a->r);
    free(a->u);
    free(a->v);
}

/// Velocities and the error of the impulses.
static talus_status judge(const fclib_problem* p, solve_answer* a, talus_error* error)
{
    talus_status status = fclib_velocity(p, a->r, a->u, a->v, error);
    if (status < 0) return status;
    return fclib_error(p, a->r, a->u, a->v, &a->result.error, error);
}

/// Solve from zero, and add the time to *seconds. The error of a global problem is a little more
/// than the solver looks at; if it is too large, the solver goes on to a smaller tolerance.
static talus_status solve_on(const fclib_problem* p, const reduced_options* options,
                             solve_answer* a, double* seconds, talus_error* error)
{
    reduced_options now = *options;
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
        if (!a->result.converged || a->result.error <= options->tolerance) return TALUS_OK;
        now.tolerance *= 0.5 * options->tolerance / a->result.error;
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

/// Condense and solve once, from zero.
static talus_status solve_once(fclib_problem* p, const reduced_options* options, solve_answer* a,
                               solve_time* time, talus_error* error)
{
    double start = clock_seconds();
    talus_status status = fclib_condense(p, error);
    if (status < 0) return status;
    time->condense = p->global ? clock_seconds() - start : 0.0;
    time->total = time->condense;
    return solve_on(p, options, a, &time->total, error);
}

/// Solve over and over again and take the median of the times.
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
        status = solve_once(p, &o->reduced, a, &times[i], error);
    }
    if (status == TALUS_OK) {
        qsort(times, (size_t)o->repeat, sizeof *times, by_total);
        a->seconds = times[o->repeat / 2].total;
        a->seconds_condense = times[o->repeat / 2].condense;
    }
    free(times);
    return status;
}

static talus_status solve(fclib_problem* p, const solve_options* o, solve_answer* a,
                          talus_error* error)
{
    if (p->reduced.count == 0) {
        a->result = (reduced_result){.converged = true, .method = "none"};
        snprintf(a->result.story, sizeof a->result.story, "there are no contacts");
        talus_status status = judge(p, a, error);
        if (status < 0) return status;
    }
    if (p->reduced.count > 0) {
        talus_status status = solve_often(p, o, a, error);
        if (status < 0) return status;
    }
    if (!o->write || !a->result.converged) return TALUS_OK;
    talus_status status = fclib_write_solution(o->file, p, a->r, a->u, a->v, error);
    a->written = status == TALUS_OK;
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
    // A damaged file makes HDF5 leak, of which it would complain at the end of the program.
    H5dont_atexit();
    fclib_problem p = {0};
    solve_answer answer = {0};
    talus_error error = {0};
    int status = STATUS_FAILURE;
    talus_status outcome = fclib_read(o->file, &p, &error);
    *is_read = 1;
    if (outcome == TALUS_OK && !make_room(&p, &answer)) {
        snprintf(error.text, sizeof error.text, "out of memory while solving %s", o->file);
        outcome = TALUS_ERR_MEMORY;
    }
    if (outcome == TALUS_OK) outcome = solve(&p, o, &answer, &error);
    if (outcome < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
    } else {
        (o->json ? print_json : print_answer)(o, &p, &answer);
        status = answer.result.converged ? STATUS_OK : STATUS_NUMERIC;
    }
    answer_free(&answer);
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
int command_solve(int argc, char** argv)
{
    solve_options o = {.reduced = {.tolerance = 1e-8, .max_sweeps = 100000}, .repeat = 1};
    int status;
    if (!read_options(&o, argc, argv, &status)) return status;
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

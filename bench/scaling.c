/// Sweeps and time of one step of a loaded packing, from 10^3 to 10^6 grains, to a velocity error
/// of 1 %: from a cold start, and from the solution for a lid that is 10 % lighter.
///
/// The packings are those of jammed.h: disordered, jammed, as high as wide, under a heavy lid. The
/// velocity error is |v - v_ref|_M / |v_free|_M: M the masses and moments of inertia, v_free the
/// velocities without contacts, v_ref those of the same solver after at least twice the sweeps,
/// when the last half of all sweeps changed less than REFERENCE. Random sweeps, the papers' solver,
/// are followed to the same error or until they have had their time. `estimate` is what the solver
/// itself says about the error of a solve that stops by its own rule, `true` what the error is.
///
/// scaling [--quick] [--loose]: only sizes that take a minute in all; packings made with the
/// friction that they have afterwards, which only just hold. Others were made with a third of it.
#include "jammed.h"

static const double TARGET = 0.01;          // velocity error
static const double REFERENCE = 1e-3;       // change during the last half of the reference's sweeps
static const double LIGHTER = 0.1;          // of the lid's load, before a warm start
static const double PATIENCE = 150.0;       // CPU seconds for a reference
static const int64_t RANDOM_GRAINS = 16000; // beyond: not tried
enum { MAX_SNAPSHOTS = 128, NO_LIMIT = 1 << 30 };

// ---- the solvers -------------------------------------------------------------------------------

static talus_solver_def fast_solver(void)
{
    talus_solver_def out = talus_solver_default();
    out.method = TALUS_SOLVER_ACCELERATED;
    return out;
}

static talus_solver_def random_solver(void)
{
    talus_solver_def out = talus_solver_default();
    out.method = TALUS_SOLVER_SWEEPS;
    out.order = TALUS_ORDER_RANDOM;
    return out;
}

// ---- errors ------------------------------------------------------------------------------------

/// The moving velocities of a problem, packed.
static int64_t packed_size(const problem* p)
{
    return p->rows * (p->dim == 2 ? 3 : 6);
}

static void pack(const problem* p, float* out)
{
    const int dim = p->dim, stride = problem_stride(dim);
    for (int64_t i = 0; i < p->rows; i++) {
        const double* row = p->body + i * stride;
        for (int k = 0; k < dim; k++) *out++ = (float)row[k];
        for (int k = row_w(dim); k < row_kim(dim); k++) *out++ = (float)row[k];
    }
}

/// Square of the mass norm of `rows` (doubles as in a problem, NULL: 0) minus `less` (or NULL).
static double norm2(const problem* p, const double* rows, const float* less)
{
    const int dim = p->dim, stride = problem_stride(dim), spin_dim = dim == 2 ? 1 : 3;
    double sum = 0.0;
    for (int64_t i = 0; i < p->rows; i++) {
        const double* mass = p->free + i * stride;
        const double* row = rows + i * stride;
        const float* other = less ? less + i * (dim + spin_dim) : NULL;
        const int64_t mobile = i - p->mobile_first;
        double inverse = mass[row_im(dim)], part = 0.0;
        if (mobile >= 0 && mobile < p->mobile_count) { // the lid moves along the last axis only
            inverse = p->mobility[(mobile + 1) * dim * dim - 1];
        }
        for (int k = 0; k < dim; k++) {
            const double d = row[k] - (other ? (double)other[k] : 0.0);
            part += d * d;
        }
        if (inverse > 0.0) sum += part / inverse;
        for (int k = 0; k < spin_dim && mass[row_kim(dim)] > 0.0; k++) {
            const double d = row[row_w(dim) + k] - (other ? (double)other[dim + k] : 0.0);
            sum += d * d / mass[row_kim(dim)];
        }
    }
    return sum;
}

static double velocity_error(const problem* p, const float* reference)
{
    return sqrt(norm2(p, p->body, reference) / norm2(p, p->free, NULL));
}

// ---- the course of a solve ---------------------------------------------------------------------

typedef struct moment {
    int64_t sweeps;
    double cpu;      ///< seconds since the solve began, without those spent here
    double error;    ///< against the reference
    float* velocity; ///< snapshot, while the reference is not known
} moment;

typedef struct course {
    solve_watch watch; ///< first: the solver hands it back
    const float* reference;
    double start, spent_here, patience;
    int count;
    moment at[MAX_SNAPSHOTS];
} course;

/// Does the course change no more? What it looked like after half of the sweeps says so.
static bool settled(const course* c, const problem* p)
{
    const moment* now = &c->at[c->count - 1];
    int half = c->count - 1;
    while (half > 0 && 2 * c->at[half].sweeps > now->sweeps) half--;
    return half > 0 && velocity_error(p, c->at[half].velocity) < REFERENCE;
}

static void look(solve_watch* watch, const problem* p, int64_t sweeps)
{
    course* c = (course*)watch;
    const double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    moment* now = &c->at[c->count++];
    *now = (moment){.sweeps = sweeps, .cpu = begin - c->start - c->spent_here};
    if (c->reference) {
        now->error = velocity_error(p, c->reference);
        watch->enough = now->error <= TARGET;
    } else {
        now->velocity = malloc(sizeof(float) * (size_t)packed_size(p));
        bench_ok(!now->velocity, "memory");
        pack(p, now->velocity);
        watch->enough = settled(c, p);
    }
    watch->enough |= now->cpu > c->patience || c->count == MAX_SNAPSHOTS;
    watch->next = sweeps + 1 + sweeps / 12;
    c->spent_here += bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

typedef struct packing {
    problem problem;
    solve_workspace workspace;
    int64_t grains;
    double size;           ///< L/d
    double random_seconds; ///< that random sweeps may take
} packing;

static solve_result run(packing* pk, const talus_solver_def* options, solve_watch* watch)
{
    solve_request request = {
        .options = options, .h = JAMMED_STEP, .seed = 1, .size = pk->size, .watch = watch};
    solve_result result;
    bench_ok(solver_for(options)->solve(&pk->problem, &request, &pk->workspace, &result), "memory");
    return result;
}

/// Follow a solve; with a reference to the target, without until nothing changes.
static void follow(packing* pk, talus_solver_def options, const float* reference, double patience,
                   course* c)
{
    *c = (course){.watch = {.next = 4, .look = look},
                  .reference = reference,
                  .start = bench_clock(CLOCK_PROCESS_CPUTIME_ID),
                  .patience = patience};
    options.stop = TALUS_STOP_SWEEPS;
    options.max_sweeps = NO_LIMIT;
    run(pk, &options, &c->watch);
}

/// Judge the snapshots by the last one, and drop all but that, which the caller owns.
static float* judge_by_last(course* c, packing* pk)
{
    problem* p = &pk->problem;
    const int dim = p->dim, stride = problem_stride(dim), spin_dim = dim == 2 ? 1 : 3;
    float* last = c->at[c->count - 1].velocity;
    double* rows = malloc(sizeof(double) * (size_t)(p->rows * stride));
    bench_ok(!rows, "memory");
    const double scale = norm2(p, p->free, NULL);
    for (int m = 0; m < c->count; m++) {
        const float* from = c->at[m].velocity;
        for (int64_t i = 0; i < p->rows; i++) {
            for (int k = 0; k < dim; k++) rows[i * stride + k] = from[i * (dim + spin_dim) + k];
            for (int k = 0; k < spin_dim; k++) {
                rows[i * stride + row_w(dim) + k] = from[i * (dim + spin_dim) + dim + k];
            }
        }
        c->at[m].error = sqrt(norm2(p, rows, last) / scale);
        if (m < c->count - 1) free(c->at[m].velocity);
    }
    free(rows);
    return last;
}

/// Sweeps of the first moment at which the error is below the target; 0 if there is none.
static int64_t sweeps_to_target(const course* c)
{
    for (int m = 0; m < c->count; m++) {
        if (c->at[m].error <= TARGET) return c->at[m].sweeps;
    }
    return 0;
}

// ---- one packing -------------------------------------------------------------------------------

/// Impulses as they were handed over.
typedef struct start {
    double* impulse; ///< [contacts][dim]
} start;

static start keep_start(const problem* p)
{
    const int dim = p->dim, width = problem_width(dim);
    start out = {malloc(sizeof(double) * (size_t)(p->count * dim))};
    bench_ok(!out.impulse, "memory");
    for (int64_t c = 0; c < p->count; c++) {
        vec_copy(dim, out.impulse + c * dim, p->contact + c * width + contact_p(dim));
    }
    return out;
}

static void set_start(problem* p, const start* s)
{
    const int dim = p->dim, width = problem_width(dim);
    for (int64_t c = 0; c < p->count; c++) {
        vec_copy(dim, p->contact + c * width + contact_p(dim), s->impulse + c * dim);
    }
    problem_refresh(p);
}

typedef struct timed_job {
    packing* pk;
    const start* from;
    talus_solver_def options;
} timed_job;

/// One line of the table; what the fits need comes back.
typedef struct outcome {
    double grains, sweeps, seconds; ///< sweeps 0: not reached
} outcome;

static double median(const double* sorted, int count)
{
    return count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
}

static void end_here(solve_watch* watch, const problem* p, int64_t sweeps)
{
    (void)p;
    (void)sweeps;
    watch->enough = true;
}

/// Time a solve of so many sweeps, several times if it is short. It is ended from outside: with a
/// limit the solver would take its last sweeps differently.
static outcome time_solve(packing* pk, const start* from, talus_solver_def options, int64_t sweeps,
                          const float* reference, const char* name)
{
    double wall[5], cpu[5], true_error = 0.0;
    const int repeats = pk->grains > 100000 ? 1 : pk->grains > 20000 ? 3 : 5;
    options.stop = TALUS_STOP_SWEEPS;
    options.max_sweeps = NO_LIMIT;
    for (int i = 0; i < repeats; i++) {
        solve_watch end = {.next = sweeps, .look = end_here};
        set_start(&pk->problem, from);
        wall[i] = bench_clock(CLOCK_MONOTONIC);
        cpu[i] = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        run(pk, &options, &end);
        wall[i] = bench_clock(CLOCK_MONOTONIC) - wall[i];
        cpu[i] = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu[i];
        true_error = velocity_error(&pk->problem, reference);
    }
    qsort(wall, (size_t)repeats, sizeof *wall, bench_compare);
    qsort(cpu, (size_t)repeats, sizeof *cpu, bench_compare);
    const double time = median(cpu, repeats);
    printf(" %-7s %7lld %9.2e %9.2e %9.2e %9.2e %7.1f %6.2f%%", name, (long long)sweeps, wall[0],
           median(wall, repeats), wall[repeats - 1], time,
           1e-6 * (double)(sweeps * pk->problem.count) / time, 100.0 * true_error);
    return (outcome){(double)pk->grains, (double)sweeps, time};
}

/// The solver by its own rule: what it says about its error, and what is true.
static void print_estimate(packing* pk, const start* from, const float* reference)
{
    talus_solver_def options = fast_solver();
    options.stop = TALUS_STOP_RIGID;
    options.tolerance = TARGET;
    options.max_sweeps = NO_LIMIT;
    set_start(&pk->problem, from);
    const solve_result r = run(pk, &options, NULL);
    printf("  own rule: %lld sweeps, estimate %.2f%%, true %.2f%%\n", (long long)r.sweeps,
           100.0 * r.velocity_error, 100.0 * velocity_error(&pk->problem, reference));
}

/// Random sweeps against the solver's time.
static outcome race_random(packing* pk, const start* from, const float* reference, course* c,
                           double fast)
{
    set_start(&pk->problem, from);
    follow(pk, random_solver(), reference, pk->random_seconds, c);
    const moment* last = &c->at[c->count - 1];
    const bool there = last->error <= TARGET;
    printf("%39s random %s%7lld %29s %s%8.2e %7.1f %6.2f%%  %s%.0f times as long\n", "",
           there ? " " : ">", (long long)last->sweeps, "", there ? " " : ">", last->cpu,
           1e-6 * (double)(last->sweeps * pk->problem.count) / last->cpu, 100.0 * last->error,
           there ? "" : "more than ", last->cpu / fast);
    return (outcome){(double)pk->grains, there ? (double)last->sweeps : 0.0, last->cpu};
}

/// Solve from what the problem holds now: both solvers, times, estimate. Leaves the reference's
/// impulses in the problem.
static void measure_start(packing* pk, const char* how, outcome* fast, outcome* random)
{
    problem* p = &pk->problem;
    course* c = malloc(sizeof *c);
    bench_ok(!c, "memory");
    const start from = keep_start(p);
    follow(pk, fast_solver(), NULL, PATIENCE, c);
    float* reference = judge_by_last(c, pk);
    const bool cut = c->at[c->count - 1].cpu > PATIENCE;
    const start solution = keep_start(p);
    const int64_t sweeps = sweeps_to_target(c);
    printf("%3d %-5s %8lld %8lld %6.1f%c", p->dim, how, (long long)pk->grains, (long long)p->count,
           pk->size, cut ? '~' : ' ');
    *fast = time_solve(pk, &from, fast_solver(), sweeps, reference, "fast");
    print_estimate(pk, &from, reference);
    *random = (outcome){0};
    if (pk->grains <= RANDOM_GRAINS) {
        *random = race_random(pk, &from, reference, c, fast->seconds);
    }
    fflush(stdout);
    set_start(p, &solution);
    free(solution.impulse);
    free(from.impulse);
    free(reference);
    free(c);
}

/// Does the packing hold? Speeds of the solution in units of the lid's free one, and the part of
/// its weight that arrives at the floor.
static void print_state(const packing* pk)
{
    const problem* p = &pk->problem;
    const int dim = p->dim, stride = problem_stride(dim);
    const double* lid = p->body + p->mobile_first * stride;
    const double unit = -p->free[p->mobile_first * stride + dim - 1];
    int64_t moving = 0, slow = 0;
    double floor = 0.0;
    for (int64_t i = 0; i < pk->grains; i++) {
        if (!(p->free[i * stride + row_im(dim)] > 0.0)) continue;
        moving++;
        slow += vec_norm(dim, p->body + i * stride) < 0.01 * unit;
    }
    for (int64_t c = 0; c < p->count; c++) {
        const double up = p->contact[c * problem_width(dim) + contact_p(dim) + dim - 1];
        for (int side = 0; side < 2; side++) {
            const int32_t row = p->pair[2 * c + side];
            const bool fixed = row < p->mobile_first && p->free[row * stride + row_im(dim)] == 0.0;
            if (fixed) floor += side == 0 ? up : -up;
        }
    }
    printf("%39s solution: lid at %.1e, %.1f%% of the grains below 0.01 of its free speed; floor "
           "carries %.2f%%\n",
           "", -lid[dim - 1] / unit, 100.0 * (double)slow / (double)moving,
           100.0 * floor * p->mobility[dim * dim - 1] / unit);
}

/// Cold, then warm with the lid's load raised.
static void measure_packing(const tile* t, int times, double random_seconds, outcome fast[2],
                            outcome random[2])
{
    talus_solver_def one = fast_solver();
    talus_error error = {0};
    packing pk = {.size = t->side * times, .random_seconds = random_seconds};
    const contacts* list;
    one.stop = TALUS_STOP_SWEEPS;
    one.max_sweeps = 1;
    talus_world* world = loaded_packing(t, times, &one);
    pk.grains = world->state.grains.count;
    bench_ok(world_pose(world, JAMMED_STEP, &pk.problem, &list, &error), error.text);
    talus_world_destroy(world);
    measure_start(&pk, "cold", &fast[0], &random[0]);
    print_state(&pk);
    const int dim = t->dim;
    double* lid = pk.problem.free + pk.problem.mobile_first * problem_stride(dim);
    lid[dim - 1] *= 1.0 / (1.0 - LIGHTER);
    measure_start(&pk, "warm", &fast[1], &random[1]);
    solve_workspace_free(&pk.workspace);
    problem_free(&pk.problem);
}

// ---- all ---------------------------------------------------------------------------------------

/// Slope of log(y) over log(n) by least squares, of the outcomes that were reached.
static double exponent(const outcome* o, int count, bool time)
{
    double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    for (int i = 0; i < count; i++) {
        if (!(o[i].sweeps > 0.0)) continue;
        const double lx = log(o[i].grains), ly = log(time ? o[i].seconds : o[i].sweeps);
        n++, x += lx, y += ly, xx += lx * lx, xy += lx * ly;
    }
    return n > 1.0 ? (n * xy - x * y) / (n * xx - x * x) : NAN;
}

typedef struct size_def {
    int64_t grains; ///< of the tile
    int times;
} size_def;

static void measure_dimension(int dim, double friction, double random_seconds,
                              const size_def* sizes, int count)
{
    enum { MOST = 8 };
    outcome fast[2][MOST], random[2][MOST];
    tile t = {0};
    for (int i = 0; i < count; i++) {
        if (t.count != sizes[i].grains) {
            tile_free(&t);
            t = make_tile(dim, sizes[i].grains, friction);
        }
        outcome of_fast[2], of_random[2];
        measure_packing(&t, sizes[i].times, random_seconds, of_fast, of_random);
        for (int w = 0; w < 2; w++) fast[w][i] = of_fast[w], random[w][i] = of_random[w];
    }
    tile_free(&t);
    for (int w = 0; w < 2; w++) {
        printf("%dD %s: sweeps ~ n^%.2f, time ~ n^%.2f (without the smallest: n^%.2f, n^%.2f); "
               "random sweeps ~ n^%.2f, time ~ n^%.2f\n",
               dim, w ? "warm" : "cold", exponent(fast[w], count, false),
               exponent(fast[w], count, true), exponent(fast[w] + 1, count - 1, false),
               exponent(fast[w] + 1, count - 1, true), exponent(random[w], count, false),
               exponent(random[w], count, true));
    }
}

int main(int argc, char** argv)
{
    static const size_def plane[] = {{1000, 1}, {4000, 1}, {4000, 2},
                                     {4000, 4}, {4000, 8}, {4000, 16}};
    static const size_def space[] = {{1000, 1}, {8000, 1}, {8000, 2}, {8000, 3}, {8000, 5}};
    const bool quick = bench_option(argc, argv, "--quick");
    const bool loose = bench_option(argc, argv, "--loose");
    const double random_seconds = quick ? 2.0 : 8.0;
    const double friction = loose ? JAMMED_FRICTION : JAMMED_FRICTION / 3.0;
    printf("A step of a packing under a heavy lid to a velocity error of %g %%, mu = %g, one "
           "thread: seconds\n",
           100.0 * TARGET, JAMMED_FRICTION);
    printf("dim start   grains contacts    L/d  solver   sweeps  wall min    median       max"
           "   cpu med     M/s  error\n");
    fflush(stdout);
    measure_dimension(2, friction, random_seconds, plane, quick ? 3 : 6);
    measure_dimension(3, friction, random_seconds, space, quick ? 2 : 5);
    return 0;
}

/// Steps of 10^4, 10^5 and 10^6 grains, stage by stage: the share of detection with 50 sweeps, two
/// threads against one, and the memory that a million spheres take.
///
/// The packings are those of jammed.h, loaded by their lid. Every step does exactly 50 sweeps, so
/// that the share of the solver is not a matter of convergence. Steps with one and with two threads
/// alternate in the same world, which they may, since they give the same bits. `first` is the first
/// step of a world: nothing is known of neighbours yet, and all arrays are made. The last lines
/// tell of steps of the million spheres that stop by the default rule instead. The bandwidth of
/// memory with one and with two threads comes first: what waits for memory cannot gain more.
///
/// million [--quick]: without the sizes of a million.
#include "jammed.h"
#include "threads.h"

#include "base/keep_memory.h"
#include "base/short_waits.h"

#include <sys/resource.h>

enum { SWEEPS = 50, ROUNDS = 5, MAX_THREADS = 2 };

/// Seconds of a step: by the wall, and of CPU time of all threads.
typedef struct stages {
    double detect, solve, advance, total, cpu;
} stages;

static stages timed_step(talus_world* world, int threads)
{
    talus_error error = {0};
    const talus_totals before = *talus_world_totals(world);
    use_threads(world, threads);
    const double begin = bench_clock(CLOCK_MONOTONIC), cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    bench_ok(talus_world_step(world, JAMMED_STEP, NULL, &error), error.text);
    const double total = bench_clock(CLOCK_MONOTONIC) - begin;
    const talus_totals* t = talus_world_totals(world);
    return (stages){t->seconds_detect - before.seconds_detect,
                    t->seconds_solve - before.seconds_solve,
                    t->seconds_advance - before.seconds_advance, total,
                    bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

static int compare_totals(const void* x, const void* y)
{
    return bench_compare(&((const stages*)x)->total, &((const stages*)y)->total);
}

static void print_stages(const talus_world* world, const char* which, int threads,
                         const stages* sorted, int count, double one)
{
    const stages* s = &sorted[count / 2];
    printf("%3d %9lld %9lld %-6s %7d %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %6.1f%%",
           world->state.grains.dim, (long long)world->state.grains.count,
           (long long)world->state.contacts.count, which, threads, 1e3 * sorted[0].total,
           1e3 * s->total, 1e3 * sorted[count - 1].total, 1e3 * s->cpu, 1e3 * s->detect,
           1e3 * s->solve, 1e3 * s->advance, 100.0 * s->detect / s->total);
    if (one > 0.0) printf("  %.2f times as fast", one / s->total);
    printf("\n");
    fflush(stdout);
}

/// A packing of so many tiles, stepped with fixed sweeps.
static talus_world* measure(int dim, int64_t count, int times)
{
    talus_solver_def solver = talus_solver_default();
    solver.stop = TALUS_STOP_SWEEPS;
    solver.max_sweeps = SWEEPS;
    solver.separate_overlaps = false; // as scenes with this rule choose by themselves
    tile t = make_tile(dim, count, JAMMED_FRICTION / 3.0);
    talus_world* world = loaded_packing(&t, times, &solver);
    tile_free(&t);
    stages s[MAX_THREADS][ROUNDS];
    const stages first = timed_step(world, 1);
    print_stages(world, "first", 1, &first, 1, 0.0);
    for (int i = 0; i < ROUNDS; i++) {
        for (int threads = 1; threads <= MAX_THREADS; threads++) {
            s[threads - 1][i] = timed_step(world, threads);
        }
    }
    for (int threads = 1; threads <= MAX_THREADS; threads++) {
        qsort(s[threads - 1], ROUNDS, sizeof s[0][0], compare_totals);
        print_stages(world, "next", threads, s[threads - 1], ROUNDS,
                     threads > 1 ? s[0][ROUNDS / 2].total : 0.0);
    }
    return world;
}

/// Bytes a second that so many threads read and write back, changing an array in place; the best of
/// some tries.
static double bandwidth_of(double* array, int64_t count, int threads)
{
    double best = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        const double begin = bench_clock(CLOCK_MONOTONIC);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t k = 0; k < count; k++) array[k] *= 0.999;
        best = fmin(best, bench_clock(CLOCK_MONOTONIC) - begin);
    }
    return 16.0 * (double)count / best;
}

static void print_bandwidth(void)
{
    enum { COUNT = 1 << 24 };
    double* array = malloc(sizeof *array * COUNT);
    bench_ok(!array, "memory");
    for (int64_t k = 0; k < COUNT; k++) array[k] = 1.0;
    const double one = bandwidth_of(array, COUNT, 1);
    const double all = bandwidth_of(array, COUNT, MAX_THREADS);
    printf("Memory changed in place, GB/s: %.1f by one thread, %.1f by %d: %.2f times\n",
           1e-9 * one, 1e-9 * all, MAX_THREADS, all / one);
    free(array);
}

/// Memory, and steps by the default rule.
static void measure_default(talus_world* world)
{
    talus_error error = {0};
    const talus_solver_def solver = talus_solver_default();
    bench_ok(talus_world_set_solver(world, &solver, &error), error.text);
    for (int i = 0; i < 3; i++) {
        const stages s = timed_step(world, MAX_THREADS);
        const talus_step_result* r = talus_world_last(world);
        printf(
            "    by the default rule, %d threads: %.2f s (detect %.2f, solve %.2f), %lld sweeps, "
            "%s\n",
            MAX_THREADS, s.total, s.detect, s.solve, (long long)r->sweeps,
            r->converged ? "converged" : "not converged");
        fflush(stdout);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double count = (double)world->state.grains.count;
    const double resident = 1024.0 * (double)usage.ru_maxrss, now = (double)allocated();
    printf("    %.0f MB resident at most, %.0f MB allocated now: %.0f and %.0f bytes a sphere\n",
           1e-6 * resident, 1e-6 * now, resident / count, now / count);
}

int main(int argc, char** argv)
{
    short_waits(argv);
    keep_memory();
    const bool quick = bench_option(argc, argv, "--quick");
    print_bandwidth();
    printf("Steps with %d sweeps, %d rounds: milliseconds by the wall; stages of the median step\n",
           SWEEPS, ROUNDS);
    printf("dim    grains  contacts step   threads       min    median       max       cpu    "
           "detect     solve"
           "   advance  detect\n");
    if (!quick) {
        talus_world* world = measure(3, 8000, 5);
        measure_default(world);
        talus_world_destroy(world);
    }
    talus_world_destroy(measure(3, 800, 5));
    talus_world_destroy(measure(3, 1250, 2));
    if (!quick) talus_world_destroy(measure(2, 2500, 20));
    talus_world_destroy(measure(2, 1000, 10));
    talus_world_destroy(measure(2, 2500, 2));
    return 0;
}

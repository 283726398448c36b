/// Contact updates per second of one core, and what memory has to do with it.
///
/// The contact problem of a packing's next step is solved with few sweeps and with many; the
/// difference is the cost of a sweep alone, without packing, first velocities and final residual.
/// Bytes an update are those that a sweep must bring from memory and, where it writes, take back if
/// nothing stays in a cache. Measured bandwidths of one core, of arrays that are read only and of
/// arrays that are changed in place, make of them the least time that an update can take.
#ifndef TALUS_BENCH_RATE_H
#define TALUS_BENCH_RATE_H

#include "packing.h"

// ---- bandwidth ---------------------------------------------------------------------------------

/// Bytes a second of one core, out of cache.
typedef struct bandwidth {
    double read;   ///< summing an array up
    double change; ///< scaling an array in place: a byte read and written back counts twice
    double triad;  ///< a = b + s c as STREAM counts it: three times the array
} bandwidth;

enum { STREAM_COUNT = 1 << 24 }; // doubles in an array: 128 MB

typedef struct stream_job {
    double *a, *b, *c;
    double sum;
} stream_job;

static inline void stream_read(void* user)
{
    stream_job* job = user;
    double sum[8] = {0.0};
    for (int64_t i = 0; i < STREAM_COUNT; i += 8) {
        for (int k = 0; k < 8; k++) sum[k] += job->a[i + k];
    }
    for (int k = 0; k < 8; k++) job->sum += sum[k];
}

static inline void stream_change(void* user)
{
    double* a = ((stream_job*)user)->a;
    for (int64_t i = 0; i < STREAM_COUNT; i++) a[i] *= 0.999;
}

static inline void stream_triad(void* user)
{
    stream_job* job = user;
    for (int64_t i = 0; i < STREAM_COUNT; i++) job->a[i] = job->b[i] + 0.5 * job->c[i];
}

static inline bandwidth measure_bandwidth(void)
{
    stream_job job = {0};
    double** arrays[3] = {&job.a, &job.b, &job.c};
    for (int k = 0; k < 3; k++) {
        *arrays[k] = malloc(sizeof(double) * STREAM_COUNT);
        bench_ok(!*arrays[k], "memory");
        for (int64_t i = 0; i < STREAM_COUNT; i++) (*arrays[k])[i] = 1.0 + k;
    }
    const double bytes = 8.0 * STREAM_COUNT;
    bandwidth out;
    out.read = bytes / bench_run(stream_read, &job).cpu[0];
    out.change = 2.0 * bytes / bench_run(stream_change, &job).cpu[0];
    out.triad = 3.0 * bytes / bench_run(stream_triad, &job).cpu[0];
    printf("Memory bandwidth of one core, best of %d: read %.1f, change in place %.1f, triad %.1f "
           "GB/s\n",
           BENCH_REPEATS, 1e-9 * out.read, 1e-9 * out.change, 1e-9 * out.triad);
    for (int k = 0; k < 3; k++) free(*arrays[k]);
    return out;
}

// ---- updates -----------------------------------------------------------------------------------

typedef struct solve_job {
    problem problem;
    solve_workspace workspace;
    talus_solver_def options;
    double cpu; ///< seconds of the last solve
} solve_job;

/// A way of sweeping.
typedef struct sweep_kind {
    const char* name;
    talus_solver_method method;
    talus_sweep_order order;
} sweep_kind;

/// Arrays of a sweep in bytes: those that are only read, those that are changed.
typedef struct sweep_bytes {
    double read, change;
} sweep_bytes;

static inline sweep_bytes bytes_of(const solve_job* job)
{
    const problem* p = &job->problem;
    const packed_problem* w = &job->workspace.packed;
    const int dim = p->dim;
    const double batches = (double)w->batch_count, lanes = 8.0 * PACKED_LANES;
    if (job->options.method == TALUS_SOLVER_SWEEPS) {
        return (sweep_bytes){
            8.0 * (double)p->block_count * block_width(dim) + 12.0 * (double)p->count,
            8.0 * (double)(p->rows * problem_stride(dim) + p->count * problem_width(dim))};
    }
    sweep_bytes out = {lanes * batches,
                       lanes * batches * dim + 8.0 * (double)w->row_count * packed_stride(dim)};
    for (int kind = 0; kind < PACKED_KINDS; kind++) {
        const double slots = lanes * (double)w->slots[kind];
        out.read += slots * packed_fields(kind, dim);
        if (packed_has_torques(kind)) out.change += slots * spin_width(dim);
    }
    if (job->options.method == TALUS_SOLVER_ACCELERATED) out.change *= 2.0; // and those before
    return out;
}

static inline void solve_sweeps(solve_job* job, int sweeps)
{
    job->options.stop = TALUS_STOP_SWEEPS;
    job->options.max_sweeps = sweeps;
    solve_request request = {.options = &job->options, .h = STEP, .seed = 1, .threads = 1};
    solve_result result;
    const double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    bench_ok(solver_for(&job->options)->solve(&job->problem, &request, &job->workspace, &result),
             "memory");
    job->cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/// Sweeps that take about `seconds`, by trials; the last one at least has its arrays made.
static inline int sweeps_for(solve_job* job, double seconds)
{
    int sweeps = 2;
    do {
        sweeps *= 2;
        solve_sweeps(job, sweeps);
    } while (job->cpu < 0.2 * seconds);
    solve_sweeps(job, sweeps);
    return (int)fmax(4.0, sweeps * seconds / job->cpu);
}

/// One row of the table; CPU ns an update, median.
static inline double measure_kind(solve_job* job, const sweep_kind* kind, const char* where,
                                  const bandwidth* memory, double reference)
{
    const problem* p = &job->problem;
    enum { FEW = 2 };
    double wall[BENCH_REPEATS], cpu[BENCH_REPEATS];
    job->options.method = kind->method;
    job->options.order = kind->order;
    const int many = sweeps_for(job, 0.3);
    const double scale = 1e9 / (double)(many * p->count);
    for (int i = 0; i < BENCH_REPEATS; i++) {
        solve_sweeps(job, FEW);
        const double few = job->cpu, begin = bench_clock(CLOCK_MONOTONIC);
        solve_sweeps(job, FEW + many);
        wall[i] = scale * (bench_clock(CLOCK_MONOTONIC) - begin - few);
        cpu[i] = scale * (job->cpu - few);
    }
    qsort(wall, BENCH_REPEATS, sizeof *wall, bench_compare);
    qsort(cpu, BENCH_REPEATS, sizeof *cpu, bench_compare);
    const sweep_bytes bytes = bytes_of(job);
    const double traffic = (bytes.read + 2.0 * bytes.change) / (double)p->count;
    const double bound =
        1e9 * (bytes.read / memory->read + 2.0 * bytes.change / memory->change) / (double)p->count;
    const double median = cpu[BENCH_REPEATS / 2];
    printf("%3d %9lld %6.1f %-8s %-11s %7.1f %7.1f %7.1f %7.1f %7.1f %6.2f %7.0f %7.1f\n", p->dim,
           (long long)p->count, 1e-6 * (bytes.read + bytes.change), where, kind->name, wall[0],
           wall[BENCH_REPEATS / 2], wall[BENCH_REPEATS - 1], median, 1e3 / median,
           reference > 0.0 ? reference / median : 1.0, traffic, bound);
    fflush(stdout);
    return median;
}

/// The ways of sweeping from number `first` on; those of the papers come first.
enum { ALL_SWEEPS = 0, PACKED_SWEEPS = 2 };

static inline void measure_updates(talus_world* world, const char* where, const bandwidth* memory,
                                   size_t first)
{
    static const sweep_kind kinds[] = {
        {"random", TALUS_SOLVER_SWEEPS, TALUS_ORDER_RANDOM},
        {"forward", TALUS_SOLVER_SWEEPS, TALUS_ORDER_FORWARD},
        {"coloured", TALUS_SOLVER_COLOURED, TALUS_ORDER_FORWARD},
        {"accelerated", TALUS_SOLVER_ACCELERATED, TALUS_ORDER_FORWARD},
    };
    solve_job job = {.options = talus_solver_default()};
    const contacts* list;
    talus_error error = {0};
    double reference = 0.0;
    bench_ok(world_pose(world, STEP, &job.problem, &list, &error), error.text);
    for (size_t k = first; k < sizeof kinds / sizeof kinds[0]; k++) {
        const double ns = measure_kind(&job, &kinds[k], where, memory, reference);
        if (k == first) reference = ns;
    }
    solve_workspace_free(&job.workspace);
    problem_free(&job.problem);
}

static inline void print_update_head(void)
{
    printf("Contact updates of one core, %d repeats: nanoseconds per update; M/s by median CPU "
           "time; times random sweeps; bytes an update, ns that they take at the bandwidth\n",
           BENCH_REPEATS);
    printf("dim  contacts     MB data     sweeps       wall min  median     max cpu med     M/s  "
           "times   bytes   bound\n");
}

/// Updates in cache and out of it, and memory, of packings in 2D and 3D.
static inline void measure_packings(grain_kind shape, const int side[2], const int high[2],
                                    const int times[2], const int memory_times[2])
{
    const packing_kind kind[2] = {plain_packing(2, shape), plain_packing(3, shape)};
    const bandwidth memory = measure_bandwidth();
    print_update_head();
    talus_world* tile[2];
    double width[2][3];
    for (int d = 0; d < 2; d++) {
        tile[d] = settled_tile(&kind[d], side[d], high[d], width[d]);
        measure_updates(tile[d], "in cache", &memory, ALL_SWEEPS);
        talus_world* large = repeat_tile(tile[d], &kind[d], width[d], times[d]);
        measure_updates(large, "memory", &memory, ALL_SWEEPS);
        talus_world_destroy(large);
    }
    for (int d = 0; d < 2; d++) {
        measure_memory(tile[d], &kind[d], width[d], memory_times[d]);
        print_computed(d + 2, shape);
        talus_world_destroy(tile[d]);
    }
}

#endif

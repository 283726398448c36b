/// Sweeps and whole steps by a graphics card, beside the CPU, with a comparison of the bits.
///
/// The packings are those of jammed.h under their lid, in space of about 10^4, 10^5, 10^6 and, if
/// asked for, 10^7 spheres, in the plane of 10^6 disks. First the sweeps alone: the problem of a
/// step is solved with few sweeps and with fifty more, with momentum, from the same impulses; what
/// the fifty take is the difference. Then whole steps of exactly fifty sweeps, alternately by the
/// CPU and by the card in two worlds that began alike, until their hashes are compared. Times are
/// by the wall, medians. Between both stands what each kernel took of fifty-two sweeps by the
/// card's clock, which adds some microseconds to a launch.
///
/// card [--soft] [--quick] [--large] [--threads N]: soft spheres instead; with up to 10^5 grains;
/// with 10^7, too; threads of the CPU, 16 if not given.
#include "jammed.h"
#include "threads.h"

#include "base/hash.h"
#include "base/keep_memory.h"
#include "base/short_waits.h"
#include "card/card.h"

enum { FEW = 2, SWEEPS = 50, ROUNDS = 5, TILE = 1000 };

typedef struct solve_job {
    problem problem;
    solve_workspace workspace;
    talus_solver_def options;
    int threads;
    card* card; ///< NULL: the CPU
} solve_job;

static uint64_t hash_of(const problem* p)
{
    const uint64_t hash = hash_bytes(HASH_START, p->body,
                                     sizeof(double) * (size_t)(p->rows * problem_stride(p->dim)));
    return hash_bytes(hash, p->contact,
                      sizeof(double) * (size_t)(p->count * problem_width(p->dim)));
}

/// Solve from no impulses; seconds by the wall.
static double solve_sweeps(solve_job* job, int sweeps)
{
    problem* p = &job->problem;
    const int width = problem_width(p->dim), first = contact_p(p->dim);
    for (int64_t c = 0; c < p->count; c++) {
        for (int k = first; k < first + p->dim; k++) p->contact[c * width + k] = 0.0;
    }
    job->options.stop = TALUS_STOP_SWEEPS;
    job->options.max_sweeps = sweeps;
    const solve_request request = {.options = &job->options,
                                   .h = JAMMED_STEP,
                                   .seed = 1,
                                   .threads = job->threads,
                                   .card = job->card};
    solve_result result;
    const double begin = bench_clock(CLOCK_MONOTONIC);
    bench_ok(accelerated_solver.solve(p, &request, &job->workspace, &result), "solving");
    return bench_clock(CLOCK_MONOTONIC) - begin;
}

/// Seconds of fifty sweeps, and of all that comes with a solve of few.
typedef struct sweep_times {
    double fifty, rest;
    uint64_t hash;
} sweep_times;

static sweep_times time_sweeps(solve_job* job)
{
    double fifty[ROUNDS], rest[ROUNDS];
    solve_sweeps(job, FEW); // makes memory, loads kernels
    for (int i = 0; i < ROUNDS; i++) {
        rest[i] = solve_sweeps(job, FEW);
        fifty[i] = solve_sweeps(job, FEW + SWEEPS) - rest[i];
    }
    qsort(fifty, ROUNDS, sizeof *fifty, bench_compare);
    qsort(rest, ROUNDS, sizeof *rest, bench_compare);
    return (sweep_times){fifty[ROUNDS / 2], rest[ROUNDS / 2], hash_of(&job->problem)};
}

static void print_times(card* c)
{
    card_kernel_time t = {0};
    while (card_next_time(c, &t)) {
        printf("        %-14s %-26s %6lld launches %9.2f ms, each %8.1f us\n", t.module, t.name,
               (long long)t.launches, 1e3 * t.seconds, 1e6 * t.seconds / (double)t.launches);
    }
}

/// What each kernel took of a solve with fifty sweeps; it takes longer as a whole then.
static void print_kernels(solve_job* job)
{
    card_time_kernels(job->card, true);
    solve_sweeps(job, FEW + SWEEPS);
    card_time_kernels(job->card, false);
    print_times(job->card);
}

static void compare_sweeps(talus_world* world, int threads, card* c)
{
    solve_job job = {.options = talus_solver_default(), .threads = threads};
    const contacts* list;
    talus_error error = {0};
    bench_ok(world_pose(world, JAMMED_STEP, &job.problem, &list, &error), error.text);
    const double count = (double)job.problem.count;
    const sweep_times cpu = time_sweeps(&job);
    job.card = c;
    const sweep_times gpu = time_sweeps(&job);
    printf("%3d %9lld %9.0f  sweeps  %9.2f %9.2f %7.1f %9.2f   %s\n", world->state.grains.dim,
           (long long)world->state.grains.count, count, 1e3 * cpu.fifty, 1e3 * gpu.fifty,
           cpu.fifty / gpu.fifty, 1e-9 * SWEEPS * count / gpu.fifty,
           cpu.hash == gpu.hash ? "equal" : "DIFFERENT");
    printf("%33s %9.2f %9.2f\n", "else", 1e3 * cpu.rest, 1e3 * gpu.rest);
    print_kernels(&job);
    fflush(stdout);
    solve_workspace_free(&job.workspace);
    problem_free(&job.problem);
}

/// Seconds of a step by the wall, and of its stages.
typedef struct step_times {
    double whole, detect, solve, advance;
} step_times;

static step_times timed_step(talus_world* world)
{
    talus_error error = {0};
    const talus_totals before = *talus_world_totals(world);
    const double begin = bench_clock(CLOCK_MONOTONIC);
    bench_ok(talus_world_step(world, JAMMED_STEP, NULL, &error), error.text);
    const double whole = bench_clock(CLOCK_MONOTONIC) - begin;
    const talus_totals* t = talus_world_totals(world);
    return (step_times){whole, t->seconds_detect - before.seconds_detect,
                        t->seconds_solve - before.seconds_solve,
                        t->seconds_advance - before.seconds_advance};
}

static int compare_whole(const void* x, const void* y)
{
    return bench_compare(&((const step_times*)x)->whole, &((const step_times*)y)->whole);
}

static void print_step(const char* what, double cpu, double gpu)
{
    printf("%33s %9.2f %9.2f %7.1f", what, 1e3 * cpu, 1e3 * gpu, cpu / gpu);
}

static void compare_steps(const tile* t, int times, int threads, const talus_solver_def* solver)
{
    talus_error error = {0};
    talus_world* world[2];
    step_times all[2][ROUNDS];
    for (int k = 0; k < 2; k++) {
        world[k] = loaded_packing(t, times, solver);
        use_threads(world[k], threads);
        if (k == 1) bench_ok(talus_world_set_device(world[k], "gpu", &error), error.text);
        timed_step(world[k]);
        for (int i = 0; i < ROUNDS; i++) all[k][i] = timed_step(world[k]);
        qsort(all[k], ROUNDS, sizeof all[k][0], compare_whole);
    }
    const step_times *cpu = &all[0][ROUNDS / 2], *gpu = &all[1][ROUNDS / 2];
    const bool same = talus_world_hash(world[0]) == talus_world_hash(world[1]);
    print_step("step", cpu->whole, gpu->whole);
    printf(" %9s   %s\n", "", same ? "equal" : "DIFFERENT");
    print_step("search", cpu->detect, gpu->detect);
    print_step("\n                           solve", cpu->solve, gpu->solve);
    print_step("\n                         advance", cpu->advance, gpu->advance);
    printf("\n");
    fflush(stdout);
    for (int k = 0; k < 2; k++) talus_world_destroy(world[k]);
}

// ---- soft spheres ------------------------------------------------------------------------------

/// The tile repeated in a cell that is periodic along every axis, as soft spheres: the restitution
/// is 0.5, and a step a 25th of a contact. Velocities are at random up to `speed` along each axis,
/// in diameters per 500 steps: at 0 no list is made anew.
enum { SOFT_STEPS = 200, SOFT_MANY = 1000 };
static const double SOFT_STIFFNESS = 1000.0, SOFT_H = 0.002;

static talus_world* soft_packing(const tile* t, int times, double speed)
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    talus_world* world = NULL;
    def.dim = 3;
    def.method = TALUS_METHOD_SOFT;
    for (int k = 0; k < 3; k++) {
        def.periodic[k] = true;
        def.cell_high[k] = t->side * times;
    }
    bench_ok(talus_world_create(&def, &world, &error), error.text);
    talus_pair_def law = talus_pair_default();
    law.friction = JAMMED_FRICTION;
    law.restitution = 0.5;
    law.soft.stiffness = SOFT_STIFFNESS;
    bench_ok(talus_world_add_material(world, "stone", &law, NULL, &error), error.text);
    rng r = rng_make(3, (uint64_t)times, 0);
    for (int copy = 0; copy < times * times * times; copy++) {
        const int at[3] = {copy % times, copy / times % times, copy / (times * times)};
        for (int64_t i = 0; i < t->count; i++) {
            talus_grain_def grain = talus_grain_default();
            grain.radius = t->radius[i];
            grain.density = 1.0;
            for (int k = 0; k < 3; k++) {
                grain.position[k] = t->position[i * 3 + k] + t->side * at[k];
                grain.velocity[k] = speed * (2.0 * rng_uniform(&r) - 1.0);
            }
            bench_ok(talus_world_add_grain(world, &grain, NULL, &error), error.text);
        }
    }
    return world;
}

/// Seconds of so many steps in one call.
static double timed_soft_steps(talus_world* world, int64_t steps)
{
    talus_error error = {0};
    const double begin = bench_clock(CLOCK_MONOTONIC);
    bench_ok(talus_world_steps(world, SOFT_H, steps, NULL, &error), error.text);
    return bench_clock(CLOCK_MONOTONIC) - begin;
}

/// Particle-steps a second in a long call: what a call itself takes, there and back, is measured
/// by one of two steps and not counted. The CPU makes a tenth of the steps where there are many
/// spheres, and bits are compared after these.
static void compare_soft(const tile* t, int times, double speed, int threads)
{
    const int64_t count = t->count * times * times * times;
    const int64_t few = count > 100000 ? SOFT_STEPS / 10 : SOFT_STEPS;
    double call[2], rate[2];
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        const int64_t steps = k == 0 ? few : SOFT_MANY;
        talus_error error = {0};
        talus_world* world = soft_packing(t, times, speed);
        use_threads(world, threads);
        if (k == 1) bench_ok(talus_world_set_device(world, "gpu", &error), error.text);
        timed_soft_steps(world, few);
        hash[k] = talus_world_hash(world);
        call[k] = timed_soft_steps(world, 2);
        rate[k] = (double)(steps - 2) * (double)count / (timed_soft_steps(world, steps) - call[k]);
        if (k == 1) {
            card_time_kernels(world->device.open, true);
            timed_soft_steps(world, SOFT_STEPS);
            print_times(world->device.open);
        }
        talus_world_destroy(world);
    }
    printf("soft %8lld spheres, speed %3.1f: %9.1f and %9.1f million particle-steps a second, %.1f "
           "times; a call %.2f and %.2f s; bits %s\n",
           (long long)count, speed, 1e-6 * rate[0], 1e-6 * rate[1], rate[1] / rate[0], call[0],
           call[1], hash[0] == hash[1] ? "equal" : "DIFFERENT");
    fflush(stdout);
}

static void compare_all_soft(int times, int threads)
{
    tile t = make_tile(3, TILE, JAMMED_FRICTION / 3.0);
    for (int speed = 0; speed <= 1; speed++) compare_soft(&t, times, speed, threads);
    tile_free(&t);
}

// ---- both --------------------------------------------------------------------------------------

static void compare(int dim, int times, int threads, card* c)
{
    talus_solver_def solver = talus_solver_default();
    solver.stop = TALUS_STOP_SWEEPS;
    solver.max_sweeps = SWEEPS;
    solver.separate_overlaps = false; // as scenes with this rule choose by themselves
    tile t = make_tile(dim, TILE, JAMMED_FRICTION / 3.0);
    talus_world* world = loaded_packing(&t, times, &solver);
    use_threads(world, threads);
    compare_sweeps(world, threads, c);
    talus_world_destroy(world);
    compare_steps(&t, times, threads, &solver);
    tile_free(&t);
}

int main(int argc, char** argv)
{
    talus_error error = {0};
    card* c = NULL;
    int threads = 16;
    short_waits(argv);
    keep_memory();
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0) threads = atoi(argv[i + 1]);
    }
    if (card_open(0, &c, &error) < 0) {
        printf("No card to measure: %s\n", error.text);
        return 0;
    }
    card_use_threads(c, threads);
    printf("%s beside %d threads of the CPU; %d sweeps with momentum: milliseconds, times, 10^9 "
           "updates a second\n",
           card_facts_of(c)->name, threads, SWEEPS);
    printf("dim    grains  contacts                CPU      card   times      G/s   bits\n");
    const bool quick = bench_option(argc, argv, "--quick"),
               only_soft = bench_option(argc, argv, "--soft");
    if (only_soft) {
        compare_all_soft(4, threads);
        if (!quick) compare_all_soft(10, threads);
        if (bench_option(argc, argv, "--large")) compare_all_soft(21, threads);
        card_close(c);
        return 0;
    }
    compare(3, 2, threads, c);
    compare(3, 4, threads, c);
    if (!quick) {
        compare(3, 10, threads, c);
        compare(2, 32, threads, c);
    }
    if (bench_option(argc, argv, "--large")) compare(3, 21, threads, c);
    card_close(c);
    return 0;
}

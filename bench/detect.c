/// Time of the search for contacts: its stages in settled packings, and that for pairs against the
/// number of balls and their size ratio.
///
/// First packings of balls as in bench/updates.c, for one thread and two, in nanoseconds a contact
/// of CPU time (all threads together) and of the wall: the list of neighbours made, or found still
/// to hold; contacts with the floor; contacts of pairs; match with the last step's; all but the
/// making, which a packing at rest needs once.
///
/// Then balls at random with a volume fraction of 0.6 (overlapping: the search does not mind),
/// sizes with equal volume in every octave, one thread. The `fast` rows give one ball in a thousand
/// a reach of 30 radii. A cost of O(n) shows as a time per ball that grows only with the caches.
#include "packing.h"

#include "base/vec.h"
#include "detect/narrow.h"
#include "detect/neighbours.h"

typedef struct search_job {
    ball_set balls;
    cell cell;
    grid* grid;
    pair_list pairs;
} search_job;

static void search_once(void* user)
{
    search_job* job = user;
    bench_ok(grid_pairs(job->grid, &job->balls, &job->cell, 1, &job->pairs), "grid_pairs");
}

/// Radius in [1, ratio] with number density ~ r^-(dim + 1): equal volume in every octave.
static double random_radius(rng* r, int dim, double ratio)
{
    double x = rng_uniform(r);
    return pow(1.0 - x * (1.0 - pow(ratio, -dim)), -1.0 / dim);
}

static void measure(int dim, int64_t count, double ratio, double fast)
{
    rng r = rng_make(1, (uint64_t)count, (uint64_t)ratio);
    double* reach = malloc(sizeof *reach * (size_t)count);
    double* inv_mass = malloc(sizeof *inv_mass * (size_t)count);
    double* position = malloc(sizeof *position * (size_t)(count * dim));
    bench_ok(!reach || !inv_mass || !position, "memory");
    double volume = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double radius = random_radius(&r, dim, ratio);
        volume += (dim == 2 ? M_PI : 4.0 / 3.0 * M_PI) * pow(radius, dim);
        reach[i] = 1.005 * radius * (rng_uniform(&r) < fast ? 30.0 : 1.0);
        inv_mass[i] = 1.0;
    }
    double side = pow(volume / 0.6, 1.0 / dim);
    for (int64_t i = 0; i < count * dim; i++) position[i] = side * rng_uniform(&r);
    search_job job = {.balls = {dim, count, position, reach, inv_mass}, .grid = grid_create()};
    bench_times t = bench_run(search_once, &job);
    double scale = 1e9 / (double)count;
    printf("%3d %9lld %8g %6s %11.2f %9.0f %9.0f %9.0f %9.0f\n", dim, (long long)count, ratio,
           fast > 0.0 ? "yes" : "no", (double)job.pairs.count / (double)count, scale * t.wall[0],
           scale * t.wall[t.count / 2], scale * t.wall[t.count - 1], scale * t.cpu[t.count / 2]);
    fflush(stdout);
    pair_list_free(&job.pairs);
    grid_destroy(job.grid);
    free(reach);
    free(inv_mass);
    free(position);
}

// ---- packings ----------------------------------------------------------------------------------

enum { STAGE_MAKE, STAGE_HOLD, STAGE_WALLS, STAGE_PAIRS, STAGE_MATCH, STAGES };

/// The search of a step of a world, as Contact Dynamics makes it.
typedef struct contact_job {
    talus_world* world;
    double *margin, *reach, *wall_margin;
    uint8_t* escaped;
    neighbours near;
    contacts found;
    int threads;
    double wall[STAGES][BENCH_REPEATS], cpu[STAGES][BENCH_REPEATS];
} contact_job;

static void run_stage(contact_job* job, int stage)
{
    talus_world* w = job->world;
    grains* g = &w->state.grains;
    const ball_set balls = {g->dim, g->count, g->position, job->reach, g->inv_mass};
    const narrow bodies = {.g = g,
                           .w = &w->state.walls,
                           .periodic = &w->state.cell,
                           .poses = &w->state.poses,
                           .margin = job->margin,
                           .wall_margin = job->wall_margin,
                           .velocity = g->velocity,
                           .spin = g->spin,
                           .h = STEP,
                           .last = &w->state.contacts,
                           .threads = job->threads};
    int status = 0;
    if (stage == STAGE_MAKE) job->near.count = -1;
    if (stage == STAGE_MAKE || stage == STAGE_HOLD) {
        status = neighbours_update(&job->near, &balls, &w->state.cell, job->threads);
    } else if (stage == STAGE_WALLS) {
        job->found.count = 0;
        status = narrow_walls(&bodies, job->escaped, &job->found);
    } else if (stage == STAGE_PAIRS) {
        status = narrow_pairs(&bodies, &job->near.pairs, &job->found);
    } else {
        status = contacts_match(&job->found, &w->state.contacts, g, job->threads);
        contacts_prune(&job->found, job->threads);
    }
    bench_ok(status, "memory");
}

static void measure_stages(talus_world* world, int threads)
{
    const grains* g = &world->state.grains;
    contact_job job = {.world = world, .threads = threads};
    job.margin = calloc((size_t)g->count, sizeof(double));
    job.reach = calloc((size_t)g->count, sizeof(double));
    job.wall_margin = calloc((size_t)world->state.walls.count, sizeof(double));
    job.escaped = calloc((size_t)g->count, 1);
    bench_ok(!job.margin || !job.reach || !job.wall_margin || !job.escaped, "memory");
    bench_ok(neighbours_init(&job.near), "memory");
    contacts_init(&job.found, g->dim);
    for (int64_t i = 0; i < g->count; i++) {
        job.margin[i] = 0.01 * g->radius[i] + STEP * vec_norm(g->dim, g->velocity + i * g->dim);
        job.reach[i] = g->radius[i] + job.margin[i];
    }
    for (int r = -1; r < BENCH_REPEATS; r++) {
        for (int stage = 0; stage < STAGES; stage++) {
            const double wall = bench_clock(CLOCK_MONOTONIC);
            const double cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
            run_stage(&job, stage);
            if (r < 0) continue;
            job.wall[stage][r] = bench_clock(CLOCK_MONOTONIC) - wall;
            job.cpu[stage][r] = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        }
    }
    const double count = (double)job.found.count;
    double total[2] = {0.0, 0.0};
    printf("%3d %9lld %7d %7.2f %7.2f ", g->dim, (long long)g->count, threads,
           count / (double)g->count, (double)job.near.pairs.count / (double)g->count);
    for (int stage = 0; stage < STAGES; stage++) {
        qsort(job.wall[stage], BENCH_REPEATS, sizeof(double), bench_compare);
        qsort(job.cpu[stage], BENCH_REPEATS, sizeof(double), bench_compare);
        const double wall = job.wall[stage][BENCH_REPEATS / 2];
        const double cpu = job.cpu[stage][BENCH_REPEATS / 2];
        printf("%6.1f %6.1f |", 1e9 * cpu / count, 1e9 * wall / count);
        if (stage == STAGE_MAKE) continue;
        total[0] += 1e9 * cpu / count;
        total[1] += 1e9 * wall / count;
    }
    printf("%6.1f %6.1f\n", total[0], total[1]);
    fflush(stdout);
    neighbours_free(&job.near);
    contacts_free(&job.found);
    free(job.margin);
    free(job.reach);
    free(job.wall_margin);
    free(job.escaped);
}

static void measure_packed(void)
{
    const int side[2] = {40, 10}, high[2] = {25, 10}, times[2][3] = {{10, 100, 1000}, {3, 10, 32}};
    printf("Search for contacts, %d repeats: nanoseconds a contact, CPU and wall\n", BENCH_REPEATS);
    printf("dim     balls threads contacts pairs   list made    |  list holds |    walls    |    "
           "pairs    |    match    | all but made\n");
    for (int d = 0; d < 2; d++) {
        double width[3];
        const packing_kind kind = plain_packing(d + 2, GRAIN_BALLS);
        talus_world* tile = settled_tile(&kind, side[d], high[d], width);
        for (int n = 0; n < 3; n++) {
            talus_world* world = repeat_tile(tile, &kind, width, times[d][n]);
            for (int threads = 1; threads <= 2; threads++) measure_stages(world, threads);
            talus_world_destroy(world);
        }
        talus_world_destroy(tile);
    }
}

int main(void)
{
    measure_packed();
    printf("\nSearch for pairs, one thread, %d repeats: nanoseconds per ball\n", BENCH_REPEATS);
    printf("dim     balls    ratio   fast  pairs/ball  wall min    median       max   cpu med\n");
    for (int dim = 2; dim <= 3; dim++) {
        for (int64_t count = 1000; count <= 256000; count *= 4) measure(dim, count, 1.5, 0.0);
        for (int64_t count = 1000; count <= 64000; count *= 4) measure(dim, count, 20.0, 0.0);
        measure(dim, 64000, 5.0, 0.0);
        measure(dim, 64000, 1000.0, 0.0);
        measure(dim, 64000, 1.5, 0.001);
    }
    return 0;
}

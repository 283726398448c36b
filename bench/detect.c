/// Time of the search for pairs, per ball, against the number of balls and their size ratio.
///
/// Balls at random with a volume fraction of 0.6 (overlapping: the search does not mind), sizes
/// with equal volume in every octave, one thread. The `fast` rows give one ball in a thousand a
/// reach of 30 radii. A cost of O(n) shows as a time per ball that grows only with the caches.
#include "bench.h"

#include "base/rng.h"
#include "detect/grid.h"

#include <math.h>

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

int main(void)
{
    printf("Search for pairs, one thread, %d repeats: nanoseconds per ball\n", BENCH_REPEATS);
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

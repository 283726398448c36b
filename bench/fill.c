/// Time to fill a closed box at random (scene/generate_fill.c): disks, spheres, polygons and
/// polyhedra, by one thread and by two: by the wall and of CPU time.
///
/// Balls are within 10 % of each other's size; polygons are regular with five corners, polyhedra
/// are cubes, turned at random. `loose` solids stand in balls that do not overlap, `dense` ones are
/// packed themselves.
///
/// fill [--quick] [KIND [COUNT]]: without the largest sizes; one kind and number only.
#include "bench.h"

#include "base/short_waits.h"
#include "scene/generate.h"

#include <math.h>
#include <string.h>

typedef struct kind {
    const char* name;
    int dim, corners; ///< 0: balls; 3D: cubes
    double fraction;  ///< solid
    int64_t least, most;
} kind;

static const kind KINDS[] = {
    {"disks", 2, 0, 0.78, 10000, 1000000},          {"spheres", 3, 0, 0.58, 10000, 1000000},
    {"pentagons, loose", 2, 5, 0.45, 1000, 100000}, {"pentagons, dense", 2, 5, 0.72, 1000, 10000},
    {"cubes, loose", 3, 8, 0.19, 1000, 100000},     {"cubes, dense", 3, 8, 0.45, 1000, 10000},
};

static void make_solid(const kind* k, shape_table* table)
{
    talus_solid_def def = talus_solid_default();
    talus_error error = {0};
    double points[24];
    def.name = k->name, def.points = points, def.point_count = k->corners;
    for (int i = 0; i < k->corners; i++) {
        const double angle = 2.0 * M_PI * i / k->corners;
        if (k->dim == 2) points[2 * i] = cos(angle), points[2 * i + 1] = sin(angle);
        for (int j = 0; k->dim == 3 && j < 3; j++) points[3 * i + j] = i >> j & 1 ? 0.5 : -0.5;
    }
    bench_ok(solids_add(&table->solids, &def, k->dim, NULL, &error), error.text);
}

/// Fill a box with `count` grains; its seconds by the wall and of CPU time go to time[2].
static grain_list fill_box(const kind* k, int64_t count, int threads, generate_report* report,
                           double time[2])
{
    shape_table table = {0};
    const shape_choice choice = {.table = &table, .count = 1, .any_rotation = true};
    generate_context context = {
        .dim = k->dim, .seed = 1, .threads = threads, .solids = &table.solids};
    fill_def def = fill_default();
    grain_list list = {0};
    const talus_grain_def base = talus_grain_default();
    talus_error error = {0};
    def.count = count;
    def.sizes = (sizes_def){.kind = SIZES_UNIFORM, .min = 0.9, .max = 1.1};
    double volume = (k->dim == 2 ? M_PI : 4.0 / 3.0 * M_PI) * (k->dim == 2 ? 1.0033 : 1.01);
    if (k->corners > 0) {
        make_solid(k, &table);
        def.volume_share = shape_choice_fill(&choice, k->dim);
        volume *= def.volume_share;
    }
    const double side = pow(volume * (double)count / k->fraction, 1.0 / k->dim);
    for (int i = 0; i < k->dim; i++) def.region.high[i] = side;
    time[0] = bench_clock(CLOCK_MONOTONIC), time[1] = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (k->corners > 0) {
        bench_ok(generate_fill_solids(&def, &choice, &context, &base, &list, report, &error),
                 error.text);
    } else {
        bench_ok(generate_fill(&def, &context, &base, &list, report, &error), error.text);
    }
    time[0] = bench_clock(CLOCK_MONOTONIC) - time[0];
    time[1] = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - time[1];
    solids_free(&table.solids);
    return list;
}

static void measure(const kind* k, int64_t count, int threads)
{
    double time[2];
    generate_report report;
    grain_list list = fill_box(k, count, threads, &report, time);
    printf("%-17s %9lld %9lld %8.3f %8d %10.3f %10.3f\n", k->name, (long long)count,
           (long long)report.placed, report.solid_fraction, threads, time[0], time[1]);
    fflush(stdout);
    grain_list_free(&list);
}

int main(int argc, char** argv)
{
    short_waits(argv);
    const bool quick = bench_option(argc, argv, "--quick");
    const char* only = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const int64_t number = only && argc > 2 ? atoll(argv[2]) : 0;
    printf("%-17s %9s %9s %8s %8s %10s %10s\n", "kind", "grains", "placed", "solid", "threads",
           "wall, s", "CPU, s");
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        const kind* k = &KINDS[i];
        if (only && strcmp(only, k->name) != 0) continue;
        const int64_t most = number > 0 ? number : k->most / (quick ? 10 : 1);
        for (int64_t n = number > 0 ? number : k->least; n <= most; n *= 10) {
            for (int threads = 1; threads <= 2; threads++) measure(k, n, threads);
        }
    }
    return 0;
}

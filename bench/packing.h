/// Settled packings for the benchmarks, their contact problem solved again and again, and the bytes
/// they take.
///
/// A loose lattice of grains (sizes within 20 %, mu = 0.3, periodic sideways) falls on a floor and
/// settles; the settled tile is repeated sideways to reach sizes beyond the caches.
#ifndef TALUS_BENCH_PACKING_H
#define TALUS_BENCH_PACKING_H

#include "bench.h"

#include "base/rng.h"
#include "solve/solver.h"
#include "step/assemble.h"
#include "world/world.h"

#include <malloc.h>
#include <math.h>
#include <string.h>
#include <talus/talus.h>

static const double STEP = 0.01;

/// What the grains of a packing are.
typedef enum grain_kind { GRAIN_BALLS, GRAIN_BOXES } grain_kind;

/// Bytes the process has allocated and not freed, mapped blocks included.
static inline int64_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}

// ---- packings ----------------------------------------------------------------------------------

/// A rectangle or cuboid with the edges 1, 0.8 and 0.6.
static inline void add_box_shape(talus_world* world, int dim)
{
    double points[24];
    talus_error error = {0};
    for (int i = 0; i < 8 * dim; i++) {
        points[i] = ((i / dim >> i % dim & 1) - 0.5) * (1.0 - 0.2 * (i % dim));
    }
    talus_solid_def def = talus_solid_default();
    def.name = "box";
    def.points = points;
    def.point_count = 1 << dim;
    bench_ok(talus_world_add_solid(world, &def, NULL, &error), error.text);
}

static inline talus_world* make_world(int dim, grain_kind kind, const double width[3], int sweeps)
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    talus_world* world = NULL;
    def.dim = dim;
    def.gravity[dim - 1] = -9.81;
    for (int k = 0; k < dim - 1; k++) {
        def.periodic[k] = true;
        def.cell_high[k] = width[k];
    }
    def.solver.stop = TALUS_STOP_SWEEPS;
    def.solver.max_sweeps = sweeps;
    bench_ok(talus_world_create(&def, &world, &error), error.text);
    talus_pair_def law = {.friction = 0.3};
    bench_ok(talus_world_add_material(world, "stone", &law, NULL, &error), error.text);
    if (kind == GRAIN_BOXES) add_box_shape(world, dim);
    talus_wall_def floor = talus_wall_default();
    floor.name = "floor";
    floor.shape.normal[dim - 1] = 1.0;
    bench_ok(talus_world_add_wall(world, &floor, NULL, &error), error.text);
    return world;
}

/// A grain of about the diameter or longest edge `size`; `turn` is a rotation vector.
static inline void add_grain(talus_world* world, grain_kind kind, double size, const double* x,
                             const double turn[3], int dim)
{
    talus_grain_def def = talus_grain_default();
    talus_error error = {0};
    def.solid = kind == GRAIN_BOXES ? 0 : -1;
    def.scale = kind == GRAIN_BOXES ? size : 1.0;
    def.radius = 0.5 * size;
    memcpy(def.position, x, sizeof(double) * (size_t)dim);
    memcpy(def.rotation, turn, sizeof def.rotation);
    bench_ok(talus_world_add_grain(world, &def, NULL, &error), error.text);
}

static inline void step_world(talus_world* world, int steps)
{
    talus_error error = {0};
    for (int i = 0; i < steps; i++)
        bench_ok(talus_world_step(world, STEP, NULL, &error), error.text);
}

/// `side` grains along each periodic axis, `high` layers, dropped and settled. Sizes about 1.
static inline talus_world* settled_tile(int dim, grain_kind kind, int side, int high,
                                        double width[3])
{
    rng r = rng_make(1, (uint64_t)dim, 0);
    const bool boxes = kind == GRAIN_BOXES;
    const double spacing = boxes ? (dim == 2 ? 1.45 : 1.6) : 1.15; // free to turn
    for (int k = 0; k < 3; k++) width[k] = spacing * side;
    talus_world* world = make_world(dim, kind, width, 60);
    const int depth = dim == 3 ? side : 1;
    for (int i = 0; i < side * depth * high; i++) {
        const int x = i % side, y = i / side % depth, z = i / (side * depth);
        double place[3] = {spacing * (x + 0.5), spacing * (y + 0.5), spacing * (z + 0.6)};
        double turn[3] = {0.0, 0.0, 0.0};
        if (dim == 2) place[1] = place[2];
        for (int k = 0; k < dim; k++) place[k] += 0.02 * (rng_uniform(&r) - 0.5);
        for (int k = 0; boxes && k < 3; k++) turn[k] = 2.0 * rng_uniform(&r) - 1.0;
        add_grain(world, kind, 1.0 + 0.2 * (rng_uniform(&r) - 0.5), place, turn, dim);
    }
    step_world(world, 300);
    return world;
}

/// Rotation vector of a row of the grains.
static inline void rotation_vector(const talus_grains* g, int64_t i, double turn[3])
{
    const double* q = g->rotation + i * g->rotation_dim;
    turn[0] = turn[1] = 0.0;
    turn[2] = q[0];
    if (g->dim == 2) return;
    const double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double scale = sine > 0.0 ? 2.0 * atan2(sine, q[0]) / sine : 0.0;
    for (int k = 0; k < 3; k++) turn[k] = scale * q[k + 1];
}

/// The tile repeated `times` along each periodic axis, stepped so that impulses are warm.
static inline talus_world* repeat_tile(const talus_world* tile, grain_kind kind,
                                       const double width[3], int times)
{
    const talus_grains g = talus_world_grains(tile);
    const int dim = g.dim;
    double extent[3] = {width[0] * times, width[1] * times, width[2]};
    talus_world* world = make_world(dim, kind, extent, 60);
    for (int y = 0; y < (dim == 3 ? times : 1); y++) {
        for (int x = 0; x < times; x++) {
            for (int64_t i = 0; i < g.count; i++) {
                double place[3] = {0.0, 0.0, 0.0}, turn[3];
                memcpy(place, g.position + i * dim, sizeof(double) * (size_t)dim);
                place[0] += x * width[0];
                if (dim == 3) place[1] += y * width[1];
                rotation_vector(&g, i, turn);
                const double size = kind == GRAIN_BOXES ? g.scale[i] : 2.0 * g.radius[i];
                add_grain(world, kind, size, place, turn, dim);
            }
        }
    }
    step_world(world, 3);
    return world;
}

// ---- updates -----------------------------------------------------------------------------------

typedef struct solve_job {
    problem problem;
    solve_workspace workspace;
    talus_solver_def options;
    int64_t updates;
} solve_job;

static inline void solve_once(void* user)
{
    solve_job* job = user;
    solve_request request = {.options = &job->options, .h = STEP, .seed = 1};
    solve_result result;
    bench_ok(sweep_solver.solve(&job->problem, &request, &job->workspace, &result), "memory");
    job->updates = result.updates;
}

/// The contact problem of the world's next step, as the stepper builds it.
static inline void build_problem(talus_world* world, problem* out)
{
    grains* g = &world->grains;
    const int dim = g->dim;
    double* velocity = malloc(sizeof *velocity * (size_t)(g->count * dim));
    bench_ok(!velocity, "memory");
    for (int64_t i = 0; i < g->count * dim; i++) {
        velocity[i] = g->velocity[i] + STEP * world->def.gravity[i % dim];
    }
    assembly as = {0};
    step_context ctx = {.def = &world->def,
                        .cell = &world->cell,
                        .materials = &world->materials,
                        .grains = g,
                        .walls = &world->walls,
                        .h = STEP,
                        .threads = 1};
    bench_ok(assemble(&as, &ctx, &world->contacts, velocity, g->spin, out), "memory");
    assembly_free(&as);
    free(velocity);
}

static inline void measure_updates(talus_world* world, const char* where)
{
    const int dim = world->grains.dim;
    solve_job job = {.options = talus_solver_default()};
    build_problem(world, &job.problem);
    job.options.stop = TALUS_STOP_SWEEPS;
    job.options.max_sweeps = (int)fmax(20.0, 1e7 / (double)job.problem.count);
    double bytes = 8.0 * (double)(job.problem.rows * problem_stride(dim) +
                                  job.problem.count * problem_width(dim) +
                                  job.problem.block_count * block_width(dim));
    bytes += 20.0 * (double)job.problem.count;
    for (int order = TALUS_ORDER_RANDOM; order <= TALUS_ORDER_FORWARD; order++) {
        job.options.order = (talus_sweep_order)order;
        bench_times t = bench_run(solve_once, &job);
        double scale = 1e9 / (double)job.updates;
        printf("%3d %8lld %9lld %7.1f %-8s %-8s %8.1f %7.1f %7.1f %8.1f %8.1f\n", dim,
               (long long)world->grains.count, (long long)job.problem.count, 1e-6 * bytes, where,
               order == TALUS_ORDER_RANDOM ? "random" : "forward", scale * t.wall[0],
               scale * t.wall[t.count / 2], scale * t.wall[t.count - 1], scale * t.cpu[t.count / 2],
               1e3 / (scale * t.cpu[t.count / 2]));
        fflush(stdout);
    }
    solve_workspace_free(&job.workspace);
    problem_free(&job.problem);
}

// ---- memory ------------------------------------------------------------------------------------

static inline int64_t row_bytes(const column* cols, int count, int dim)
{
    int64_t bytes = 0;
    for (int c = 0; c < count; c++) {
        bytes += (int64_t)column_element_size(&cols[c]) * column_row_width(&cols[c], dim);
    }
    return bytes;
}

/// What the arrays need without room to grow: the table itself and the solver's rows. With a full
/// block a contact has a row more.
static inline void print_computed(int dim, grain_kind kind)
{
    int grain_columns, contact_columns;
    const column* of_grains = grains_columns(&grain_columns);
    const column* of_contacts = contacts_columns(&contact_columns);
    const int block = kind == GRAIN_BOXES ? 8 * block_width(dim) : 0;
    printf("%dD computed: a grain %lld (table) + %d (solver rows); a contact %lld (table) + %d "
           "(solver row; pair, block, rich, order) + %d (full block)\n",
           dim, (long long)row_bytes(of_grains, grain_columns, dim), 2 * 8 * problem_stride(dim),
           (long long)row_bytes(of_contacts, contact_columns, dim), 8 * problem_width(dim) + 5 * 4,
           block);
}

/// Bytes a grain from grains that touch nothing; bytes a contact from what a packing takes above.
static inline void measure_memory(const talus_world* tile, grain_kind kind, const double width[3],
                                  int times)
{
    const int dim = tile->grains.dim;
    int64_t before = allocated();
    talus_world* world = repeat_tile(tile, kind, width, times);
    const int64_t packed = allocated() - before, count = world->grains.count;
    const int64_t contact_count = world->contacts.count;
    talus_world_destroy(world);

    before = allocated();
    double extent[3] = {8.0 * (double)count, 8.0, 8.0};
    const double turn[3] = {0.0, 0.0, 0.0};
    world = make_world(dim, kind, extent, 1);
    for (int64_t i = 0; i < count; i++) {
        double place[3] = {8.0 * ((double)i + 0.5), 4.0, 4.0};
        add_grain(world, kind, 1.0, place, turn, dim);
    }
    step_world(world, 3);
    const int64_t loose = allocated() - before;
    talus_world_destroy(world);
    printf(
        "%dD measured: %lld bytes a grain (%lld grains that touch nothing), %lld bytes a contact "
        "(%lld grains, %lld contacts), room to grow included\n",
        dim, (long long)(loose / count), (long long)count,
        (long long)((packed - loose) / contact_count), (long long)count, (long long)contact_count);
}

/// Updates in cache and out of it, and memory, of packings in 2D and 3D.
static inline void measure_packings(grain_kind kind, const int side[2], const int high[2],
                                    const int times[2], const int memory_times[2])
{
    printf(
        "Contact updates of one core, %d repeats: nanoseconds per update; M/s by median CPU time\n",
        BENCH_REPEATS);
    printf("dim   grains  contacts      MB data     order    wall min  median     max  cpu med"
           "      M/s\n");
    talus_world* tile[2];
    double width[2][3];
    for (int d = 0; d < 2; d++) {
        tile[d] = settled_tile(d + 2, kind, side[d], high[d], width[d]);
        measure_updates(tile[d], "in cache");
        talus_world* large = repeat_tile(tile[d], kind, width[d], times[d]);
        measure_updates(large, "memory");
        talus_world_destroy(large);
    }
    for (int d = 0; d < 2; d++) {
        measure_memory(tile[d], kind, width[d], memory_times[d]);
        print_computed(d + 2, kind);
        talus_world_destroy(tile[d]);
    }
}

#endif

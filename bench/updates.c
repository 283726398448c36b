/// Contact updates per second of one core, and bytes per grain and per contact.
///
/// A loose lattice of grains (radii within 20 %, mu = 0.3, periodic sideways) falls on a floor and
/// settles; the settled tile is repeated sideways to reach sizes beyond the caches. The contact
/// problem of the next step is then solved with a fixed number of sweeps from its warm start. The
/// time counted is that of the solver alone: sweeps, the two refreshes and the final residual,
/// which together cost about three sweeps.
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

/// Bytes the process has allocated and not freed, mapped blocks included.
static int64_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}

// ---- packings ----------------------------------------------------------------------------------

static talus_world* make_world(int dim, const double width[3], int sweeps)
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
    talus_wall_def floor = talus_wall_default();
    floor.name = "floor";
    floor.shape.normal[dim - 1] = 1.0;
    bench_ok(talus_world_add_wall(world, &floor, NULL, &error), error.text);
    return world;
}

static void add_grain(talus_world* world, double radius, const double* x, int dim)
{
    talus_grain_def def = talus_grain_default();
    talus_error error = {0};
    def.radius = radius;
    memcpy(def.position, x, sizeof(double) * (size_t)dim);
    bench_ok(talus_world_add_grain(world, &def, NULL, &error), error.text);
}

static void step_world(talus_world* world, int steps)
{
    talus_error error = {0};
    for (int i = 0; i < steps; i++)
        bench_ok(talus_world_step(world, STEP, NULL, &error), error.text);
}

/// `side` grains along each periodic axis, `high` layers, dropped and settled. Diameters about 1.
static talus_world* settled_tile(int dim, int side, int high, double width[3])
{
    rng r = rng_make(1, (uint64_t)dim, 0);
    const double spacing = 1.15;
    for (int k = 0; k < 3; k++) width[k] = spacing * side;
    talus_world* world = make_world(dim, width, 60);
    const int depth = dim == 3 ? side : 1;
    for (int z = 0; z < high; z++) {
        for (int y = 0; y < depth; y++) {
            for (int x = 0; x < side; x++) {
                double place[3] = {spacing * (x + 0.5), spacing * (y + 0.5), spacing * (z + 0.6)};
                if (dim == 2) place[1] = place[2];
                for (int k = 0; k < dim; k++) place[k] += 0.02 * (rng_uniform(&r) - 0.5);
                add_grain(world, 0.5 + 0.1 * (rng_uniform(&r) - 0.5), place, dim);
            }
        }
    }
    step_world(world, 300);
    return world;
}

/// The tile repeated `times` along each periodic axis, stepped so that impulses are warm.
static talus_world* repeat_tile(const talus_world* tile, const double width[3], int times)
{
    const talus_grains g = talus_world_grains(tile);
    const int dim = g.dim;
    double wide[3] = {width[0] * times, width[1] * times, width[2]};
    talus_world* world = make_world(dim, wide, 60);
    for (int y = 0; y < (dim == 3 ? times : 1); y++) {
        for (int x = 0; x < times; x++) {
            for (int64_t i = 0; i < g.count; i++) {
                double place[3] = {0.0, 0.0, 0.0};
                memcpy(place, g.position + i * dim, sizeof(double) * (size_t)dim);
                place[0] += x * width[0];
                if (dim == 3) place[1] += y * width[1];
                add_grain(world, g.radius[i], place, dim);
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

static void solve_once(void* user)
{
    solve_job* job = user;
    solve_request request = {.options = &job->options, .h = STEP, .seed = 1};
    solve_result result;
    bench_ok(sweep_solver.solve(&job->problem, &request, &job->workspace, &result), "memory");
    job->updates = result.updates;
}

/// The contact problem of the world's next step, as the stepper builds it.
static void build_problem(talus_world* world, problem* out)
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

static void measure_updates(talus_world* world, const char* where)
{
    const int dim = world->grains.dim;
    solve_job job = {.options = talus_solver_default()};
    build_problem(world, &job.problem);
    job.options.stop = TALUS_STOP_SWEEPS;
    job.options.max_sweeps = (int)fmax(20.0, 1e7 / (double)job.problem.count);
    double bytes = 8.0 * (double)(job.problem.rows * problem_stride(dim) +
                                  job.problem.count * problem_width(dim));
    bytes += 12.0 * (double)job.problem.count;
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

static int64_t row_bytes(const column* cols, int count, int dim)
{
    int64_t bytes = 0;
    for (int c = 0; c < count; c++) {
        bytes += (int64_t)column_element_size(&cols[c]) * column_row_width(&cols[c], dim);
    }
    return bytes;
}

/// What the arrays need without room to grow: the table itself and the solver's rows.
static void print_computed(int dim)
{
    int grain_columns, contact_columns;
    const column* of_grains = grains_columns(&grain_columns);
    const column* of_contacts = contacts_columns(&contact_columns);
    printf("%dD computed: a grain %lld (table) + %d (solver rows); a contact %lld (table) + %d "
           "(solver row; pair, block, rich, order)\n",
           dim, (long long)row_bytes(of_grains, grain_columns, dim), 2 * 8 * problem_stride(dim),
           (long long)row_bytes(of_contacts, contact_columns, dim), 8 * problem_width(dim) + 5 * 4);
}

/// Bytes a grain from grains that touch nothing; bytes a contact from what a packing takes above.
static void measure_memory(const talus_world* tile, const double width[3], int times)
{
    const int dim = tile->grains.dim;
    int64_t before = allocated();
    talus_world* world = repeat_tile(tile, width, times);
    const int64_t packed = allocated() - before, count = world->grains.count;
    const int64_t contact_count = world->contacts.count;
    talus_world_destroy(world);

    before = allocated();
    double wide[3] = {8.0 * (double)count, 8.0, 8.0};
    world = make_world(dim, wide, 1);
    for (int64_t i = 0; i < count; i++) {
        double place[3] = {8.0 * ((double)i + 0.5), 4.0, 4.0};
        add_grain(world, 0.5, place, dim);
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

int main(void)
{
    printf(
        "Contact updates of one core, %d repeats: nanoseconds per update; M/s by median CPU time\n",
        BENCH_REPEATS);
    printf("dim   grains  contacts      MB data     order    wall min  median     max  cpu med"
           "      M/s\n");
    talus_world* tile[2];
    double width[2][3];
    for (int d = 0; d < 2; d++) {
        tile[d] = settled_tile(d + 2, d == 0 ? 40 : 10, d == 0 ? 25 : 10, width[d]);
        measure_updates(tile[d], "in cache");
        talus_world* large = repeat_tile(tile[d], width[d], d == 0 ? 300 : 16);
        measure_updates(large, "memory");
        talus_world_destroy(large);
    }
    for (int d = 0; d < 2; d++) {
        measure_memory(tile[d], width[d], d == 0 ? 30 : 6);
        print_computed(d + 2);
        talus_world_destroy(tile[d]);
    }
    return 0;
}

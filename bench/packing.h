/// Settled packings for the benchmarks, and the bytes they take.
///
/// A loose lattice of grains (sizes within 20 %, mu = 0.3, periodic sideways) falls on a floor and
/// settles; the settled tile is repeated sideways to reach sizes beyond the caches.
#ifndef TALUS_BENCH_PACKING_H
#define TALUS_BENCH_PACKING_H

#include "bench.h"

#include "base/rng.h"
#include "rigid/solver.h"
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

/// What the grains of a packing are, and what their contacts do.
typedef struct packing_kind {
    int dim;
    grain_kind grains;
    talus_pair_def law;
} packing_kind;

/// Contacts that only rub.
static inline packing_kind plain_packing(int dim, grain_kind shape)
{
    packing_kind kind = {dim, shape, talus_pair_default()};
    kind.law.friction = 0.3;
    return kind;
}

static inline talus_world* make_world(const packing_kind* packing, const double width[3],
                                      int sweeps)
{
    const int dim = packing->dim;
    const grain_kind kind = packing->grains;
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
    bench_ok(talus_world_add_material(world, "stone", &packing->law, NULL, &error), error.text);
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
    def.solid = (talus_solid_id){kind == GRAIN_BOXES ? 0 : -1};
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
static inline talus_world* settled_tile(const packing_kind* packing, int side, int high,
                                        double width[3])
{
    const int dim = packing->dim;
    const grain_kind kind = packing->grains;
    rng r = rng_make(1, (uint64_t)dim, 0);
    const bool boxes = kind == GRAIN_BOXES;
    const double spacing = boxes ? (dim == 2 ? 1.45 : 1.6) : 1.15; // free to turn
    for (int k = 0; k < 3; k++) width[k] = spacing * side;
    talus_world* world = make_world(packing, width, 60);
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
static inline talus_world* repeat_tile(const talus_world* tile, const packing_kind* packing,
                                       const double width[3], int times)
{
    const talus_grains g = talus_world_grains(tile);
    const int dim = g.dim;
    const grain_kind kind = packing->grains;
    double extent[3] = {width[0] * times, width[1] * times, width[2]};
    talus_world* world = make_world(packing, extent, 60);
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
           "(solver row; pair, block, compound, order) + %d (full block)\n",
           dim, (long long)row_bytes(of_grains, grain_columns, dim), 2 * 8 * problem_stride(dim),
           (long long)row_bytes(of_contacts, contact_columns, dim), 8 * problem_width(dim) + 5 * 4,
           block);
}

/// Bytes a grain from grains that touch nothing; bytes a contact from what a packing takes above.
static inline void measure_memory(const talus_world* tile, const packing_kind* packing,
                                  const double width[3], int times)
{
    const int dim = packing->dim;
    int64_t before = allocated();
    talus_world* world = repeat_tile(tile, packing, width, times);
    const int64_t filled = allocated() - before, count = world->state.grains.count;
    const int64_t contact_count = world->state.contacts.count;
    talus_world_destroy(world);

    before = allocated();
    double extent[3] = {8.0 * (double)count, 8.0, 8.0};
    const double turn[3] = {0.0, 0.0, 0.0};
    world = make_world(packing, extent, 1);
    for (int64_t i = 0; i < count; i++) {
        double place[3] = {8.0 * ((double)i + 0.5), 4.0, 4.0};
        add_grain(world, packing->grains, 1.0, place, turn, dim);
    }
    step_world(world, 3);
    const int64_t loose = allocated() - before;
    talus_world_destroy(world);
    printf(
        "%dD measured: %lld bytes a grain (%lld grains that touch nothing), %lld bytes a contact "
        "(%lld grains, %lld contacts), room to grow included\n",
        dim, (long long)(loose / count), (long long)count,
        (long long)((filled - loose) / contact_count), (long long)count, (long long)contact_count);
}

#endif

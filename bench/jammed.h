/// Dense disordered packings under a heavy lid, of any size, for the benchmarks.
///
/// A tile that is periodic along every axis (tile.h) is repeated along every axis, each grain
/// displaced a little at random, so that height and width grow alike with the number of grains.
/// The grains of the lowest diameter are fixed, those of the highest belong to a lid that moves up
/// and down and is as heavy as all free grains together. Only the lid has weight: then grains
/// without load stay where they are, as they do in a packing at rest, and the velocities that solve
/// the step are unique, zero if the packing holds. Units: mean diameter, gravity, density.
#ifndef TALUS_BENCH_JAMMED_H
#define TALUS_BENCH_JAMMED_H

#include "packing.h"
#include "tile.h"

static const double JAMMED_FRICTION = 0.3;
static const double JAMMED_STEP = 0.01;  // free fall in a step: 1e-4 diameters
static const double JAMMED_SHIFT = 1e-5; // of each grain, in diameters: less than the overlaps

/// A world without gravity; `periodic` axes from 0 to `side`.
static inline talus_world* open_world(int dim, int periodic, double side,
                                      const talus_solver_def* solver)
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    talus_world* world = NULL;
    def.dim = dim;
    def.solver = *solver;
    for (int k = 0; k < periodic; k++) {
        def.periodic[k] = true;
        def.cell_high[k] = side;
    }
    bench_ok(talus_world_create(&def, &world, &error), error.text);
    talus_pair_def law = talus_pair_default();
    law.friction = JAMMED_FRICTION;
    bench_ok(talus_world_add_material(world, "stone", &law, NULL, &error), error.text);
    return world;
}

/// The lid: a wall that nothing reaches; the grains glued to it are what touches.
static inline talus_wall_id add_lid(talus_world* world, double height, double mass)
{
    const int dim = world->state.grains.dim;
    talus_error error = {0};
    talus_wall_def lid = talus_wall_default();
    talus_wall_id index;
    lid.name = "lid";
    lid.shape.normal[dim - 1] = -1.0;
    lid.position[dim - 1] = height + 3.0;
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.mass = mass;
    lid.drive.free_axes[dim - 1] = true;
    lid.drive.force[dim - 1] = -mass;
    bench_ok(talus_world_add_wall(world, &lid, &index, &error), error.text);
    return index;
}

/// The tile repeated `times` along every axis, between floor and lid.
static inline talus_world* loaded_packing(const tile* t, int times, const talus_solver_def* solver)
{
    const int dim = t->dim;
    const double height = t->side * times;
    rng r = rng_make(2, (uint64_t)dim, (uint64_t)times);
    talus_error error = {0};
    talus_world* world = open_world(dim, dim - 1, height, solver);
    double mass = 0.0;
    for (int64_t i = 0; i < t->count; i++) mass += ball_volume(dim, t->radius[i]);
    mass *= pow(times, dim) * (1.0 - 2.0 / height); // without those of floor and lid
    const talus_wall_id lid = add_lid(world, height, mass);
    const int64_t copies = dim == 2 ? times * times : times * times * times;
    for (int64_t copy = 0; copy < copies; copy++) {
        const int64_t at[3] = {copy % times, copy / times % times, copy / (times * times)};
        for (int64_t i = 0; i < t->count; i++) {
            talus_grain_def def = talus_grain_default();
            def.radius = t->radius[i];
            def.density = 1.0;
            for (int k = 0; k < dim; k++) {
                def.position[k] = t->position[i * dim + k] + t->side * (double)at[k] +
                                  JAMMED_SHIFT * (rng_uniform(&r) - 0.5);
            }
            def.fixed = def.position[dim - 1] < 1.0;
            def.glued_to = def.position[dim - 1] > height - 1.0 ? lid : TALUS_NO_WALL;
            bench_ok(talus_world_add_grain(world, &def, NULL, &error), error.text);
        }
    }
    return world;
}

#endif

/// Worlds for bench/claim: what all kinds of problems are built with.
///
/// Everything is drawn from one stream of random numbers, so a kind and a seed name a problem. The
/// mean grain has the diameter 1 and the density 1, gravity is 1 or 0: a mass is about 0.8 in the
/// plane and 0.5 in space, and a grain falls its diameter in a time of 1.4.
#ifndef TALUS_BENCH_CLAIM_BUILD_H
#define TALUS_BENCH_CLAIM_BUILD_H

#include "base/rng.h"
#include "rigid/solver.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/talus.h>

static const double CLAIM_PI = 3.14159265358979323846;

/// A world being made.
typedef struct draft {
    rng r;
    int dim;
    int64_t most; ///< grains at most
    double h;     ///< length of the step whose contact problem is posed
    talus_pair_def law;
    talus_world* world;
    int solids; ///< shapes of grains there are; 0: balls
} draft;

static inline void claim_ok(talus_status status, const char* text)
{
    if (status >= 0) return;
    fprintf(stderr, "claim: %s\n", text);
    exit(2);
}

// ---- random numbers ----------------------------------------------------------------------------

static inline double between(draft* d, double low, double high)
{
    return low + (high - low) * rng_uniform(&d->r);
}

/// Every order of magnitude alike.
static inline double log_between(draft* d, double low, double high)
{
    return low * pow(high / low, rng_uniform(&d->r));
}

static inline int whole(draft* d, int low, int high)
{
    return low + (int)rng_below(&d->r, (uint64_t)(high - low + 1));
}

static inline bool chance(draft* d, double p)
{
    return rng_uniform(&d->r) < p;
}

/// So many grains, small numbers as often as large ones.
static inline int grain_number(draft* d, double low, double high)
{
    return (int)log_between(d, low, fmin(high, (double)d->most) + 0.99);
}

// ---- worlds ------------------------------------------------------------------------------------

/// How worlds are brought into the state whose problem is posed: not exactly, but quickly.
static inline talus_solver_def rough_solver(void)
{
    talus_solver_def solver = talus_solver_default();
    solver.method = TALUS_SOLVER_ACCELERATED;
    solver.tolerance = 0.1;
    solver.max_sweeps = 60;
    return solver;
}

/// An empty world with the law of the draft, periodic along the axes whose width is given.
static inline void begin_periodic(draft* d, double gravity, const double width[3])
{
    talus_world_def def = talus_world_default();
    talus_error error = {0};
    def.dim = d->dim;
    def.gravity[d->dim - 1] = -gravity;
    def.solver = rough_solver();
    def.on_escape = TALUS_POLICY_ACCEPT;
    for (int k = 0; k < d->dim; k++) {
        def.periodic[k] = width[k] > 0.0;
        def.cell_high[k] = width[k];
    }
    claim_ok(talus_world_create(&def, &d->world, &error), error.text);
    claim_ok(talus_world_add_material(d->world, "stone", &d->law, NULL, &error), error.text);
}

static inline void begin_world(draft* d, double gravity)
{
    const double open[3] = {0.0, 0.0, 0.0};
    begin_periodic(d, gravity, open);
}

static inline void set_gravity(draft* d, double x, double up)
{
    double gravity[3] = {x, 0.0, 0.0};
    talus_error error = {0};
    gravity[d->dim - 1] = up;
    claim_ok(talus_world_set_gravity(d->world, gravity, &error), error.text);
}

static inline void run(draft* d, double h, int steps)
{
    talus_error error = {0};
    for (int i = 0; i < steps; i++) {
        claim_ok(talus_world_step(d->world, h, NULL, &error), error.text);
    }
}

static inline talus_wall_id add_wall(draft* d, const talus_wall_def* def)
{
    talus_wall_id id;
    talus_error error = {0};
    claim_ok(talus_world_add_wall(d->world, def, &id, &error), error.text);
    return id;
}

/// A half-space through (x, up) with the normal (nx, nup) in the plane of x and gravity.
static inline talus_wall_def plane_at(draft* d, const char* name, double x, double up, double nx,
                                      double nup)
{
    talus_wall_def wall = talus_wall_default();
    wall.name = name;
    wall.position[0] = x;
    wall.position[d->dim - 1] = up;
    wall.shape.normal[0] = nx;
    wall.shape.normal[d->dim - 1] = nup;
    return wall;
}

static inline talus_wall_id add_plane(draft* d, const char* name, double x, double up, double nx,
                                      double nup)
{
    const talus_wall_def wall = plane_at(d, name, x, up, nx, nup);
    return add_wall(d, &wall);
}

static inline talus_wall_id add_floor(draft* d)
{
    return add_plane(d, "floor", 0.0, 0.0, 0.0, 1.0);
}

static inline void remove_wall(draft* d, talus_wall_id wall)
{
    talus_error error = {0};
    claim_ok(talus_world_remove_wall(d->world, wall, &error), error.text);
}

// ---- grains ------------------------------------------------------------------------------------

static inline double ball_mass(const draft* d, double diameter)
{
    return CLAIM_PI * pow(diameter, d->dim) / (d->dim == 2 ? 4.0 : 6.0);
}

static inline int64_t add_grain_def(draft* d, const talus_grain_def* def)
{
    int64_t id;
    talus_error error = {0};
    claim_ok(talus_world_add_grain(d->world, def, &id, &error), error.text);
    return id;
}

static inline talus_grain_def ball_at(draft* d, double diameter, double mass, double x, double up)
{
    talus_grain_def def = talus_grain_default();
    def.radius = 0.5 * diameter;
    def.mass = mass;
    def.position[0] = x;
    def.position[d->dim - 1] = up;
    return def;
}

static inline int64_t add_ball(draft* d, double diameter, double mass, double x, double up)
{
    const talus_grain_def def = ball_at(d, diameter, mass, x, up);
    return add_grain_def(d, &def);
}

static inline talus_grains grains_of(const draft* d)
{
    return talus_world_grains(d->world);
}

/// Push a grain.
static inline void load_grain(draft* d, int64_t id, double x, double up)
{
    double force[3] = {x, 0.0, 0.0};
    const double torque[3] = {0.0, 0.0, 0.0};
    talus_error error = {0};
    force[d->dim - 1] = up;
    claim_ok(talus_world_set_grain_force(d->world, id, force, torque, &error), error.text);
}

/// The highest point of all grains.
static inline double top_of(const draft* d)
{
    const talus_grains g = grains_of(d);
    double top = 0.0;
    for (int64_t i = 0; i < g.count; i++) {
        top = fmax(top, g.position[i * g.dim + g.dim - 1] + g.radius[i]);
    }
    return top;
}

static inline double mass_of(const draft* d)
{
    const talus_grains g = grains_of(d);
    double mass = 0.0;
    for (int64_t i = 0; i < g.count; i++) mass += g.mass[i];
    return mass;
}

static inline talus_solid_id add_solid(draft* d, const double* points, int count)
{
    char name[32];
    talus_solid_id id;
    talus_error error = {0};
    snprintf(name, sizeof name, "shape %d", d->solids++);
    talus_solid_def def = talus_solid_default();
    def.name = name;
    def.points = points;
    def.point_count = count;
    claim_ok(talus_world_add_solid(d->world, &def, &id, &error), error.text);
    return id;
}

/// A rectangle or cuboid with these edges.
static inline talus_solid_id add_box(draft* d, double x, double y, double up)
{
    const double edge[3] = {x, d->dim == 2 ? up : y, up};
    double points[24];
    for (int i = 0; i < (1 << d->dim) * d->dim; i++) {
        points[i] = ((i / d->dim >> i % d->dim & 1) - 0.5) * edge[i % d->dim];
    }
    return add_solid(d, points, 1 << d->dim);
}

/// A polygon or polyhedron with corners at random on a circle or sphere of the diameter 1.
static inline talus_solid_id add_random_solid(draft* d)
{
    double points[36];
    const int count = d->dim == 2 ? whole(d, 3, 7) : whole(d, 6, 12);
    for (int i = 0; i < count; i++) {
        if (d->dim == 2) {
            const double angle = 2.0 * CLAIM_PI * (i + between(d, -0.3, 0.3)) / count;
            points[2 * i] = 0.5 * cos(angle), points[2 * i + 1] = 0.5 * sin(angle);
            continue;
        }
        const double z = 1.0 - (2.0 * i + 1.0) / count, rho = sqrt(1.0 - z * z); // a spiral
        const double angle = 2.4 * i + between(d, -0.3, 0.3);
        points[3 * i] = 0.5 * rho * cos(angle), points[3 * i + 1] = 0.5 * rho * sin(angle);
        points[3 * i + 2] = 0.5 * z;
    }
    return add_solid(d, points, count);
}

// ---- piles -------------------------------------------------------------------------------------

typedef enum mass_order {
    MASS_LIKE_SIZE, ///< one density
    MASS_RANDOM,
    MASS_HEAVY_ABOVE,
    MASS_LIGHT_ABOVE,
} mass_order;

/// Grains dropped from a loose lattice.
typedef struct pile {
    int count, wide; ///< grains, and how many of them side by side
    double spread;   ///< largest over smallest diameter
    double masses;   ///< heaviest over lightest, other than by size
    mass_order order;
} pile;

static inline pile pile_of(draft* d, int count)
{
    const double side = d->dim == 2 ? sqrt(count) : cbrt(count);
    return (pile){.count = count,
                  .wide = (int)fmax(1.0, ceil(side * between(d, 0.4, 1.1))),
                  .spread = between(d, 1.02, 1.5),
                  .masses = 1.0};
}

/// Width of the lattice that a pile is dropped from; grains turn, rods more than others.
static inline double pile_width(const pile* p)
{
    return 1.08 * p->wide;
}

static inline void drop_grain(draft* d, const pile* p, int i, double left)
{
    const int deep = d->dim == 3 ? p->wide : 1, layer = i / (p->wide * deep);
    const double size = log_between(d, 1.0 / p->spread, 1.0), high = (double)i / p->count;
    const double exponent = p->order == MASS_RANDOM        ? rng_uniform(&d->r)
                            : p->order == MASS_HEAVY_ABOVE ? high
                            : p->order == MASS_LIGHT_ABOVE ? 1.0 - high
                                                           : 0.0;
    talus_grain_def def = ball_at(d, size, ball_mass(d, size) * pow(p->masses, exponent),
                                  left + 1.08 * (i % p->wide + 0.5), 1.08 * (layer + 0.5));
    if (d->dim == 3) def.position[1] = 1.08 * (i / p->wide % deep + 0.5);
    for (int k = 0; k < d->dim; k++) def.position[k] += between(d, -0.02, 0.02);
    for (int k = 0; k < 3; k++) def.rotation[k] = between(d, -2.0, 2.0);
    if (d->solids > 0) {
        def.solid.index = whole(d, 0, d->solids - 1);
        def.scale = size;
    }
    add_grain_def(d, &def);
}

static inline void drop_pile(draft* d, const pile* p, double left)
{
    for (int i = 0; i < p->count; i++) drop_grain(d, p, i, left);
}

/// Floor and side walls about a pile that is dropped between them. Returns the wall at high x.
static inline talus_wall_id add_container(draft* d, const pile* p)
{
    const double width = pile_width(p);
    add_floor(d);
    add_plane(d, "left", 0.0, 0.0, 1.0, 0.0);
    const talus_wall_id right = add_plane(d, "right", width, 0.0, -1.0, 0.0);
    if (d->dim == 3) {
        talus_wall_def wall = plane_at(d, "front", 0.0, 0.0, 0.0, 0.0);
        wall.shape.normal[1] = 1.0;
        add_wall(d, &wall);
        wall.name = "back";
        wall.shape.normal[1] = -1.0;
        wall.position[1] = width;
        add_wall(d, &wall);
    }
    return right;
}

/// Steps in which a lattice falls and comes nearly to rest.
static inline void settle(draft* d)
{
    run(d, 0.05, whole(d, 40, 90));
}

/// A world with a container and a pile at rest in it. Returns the wall at high x.
static inline talus_wall_id settled_pile(draft* d, const pile* p)
{
    begin_world(d, 1.0);
    const talus_wall_id right = add_container(d, p);
    drop_pile(d, p, 0.0);
    settle(d);
    return right;
}

/// A lid on top of the grains: a plane that moves up and down, with a mass and a force.
static inline talus_wall_id add_lid(draft* d, double mass, double force)
{
    talus_wall_def lid = plane_at(d, "lid", 0.0, top_of(d), 0.0, -1.0);
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.mass = mass;
    lid.drive.free_axes[d->dim - 1] = true;
    lid.drive.force[d->dim - 1] = -force;
    return add_wall(d, &lid);
}

/// A law of bonds that carry moments. `load` is about the force that bears on the weakest of them:
/// strengths go from too weak to far stronger than needed.
static inline void bonded_law(draft* d, double load)
{
    d->law.rolling = log_between(d, 0.02, 0.5);
    d->law.torsion = d->law.rolling;
    d->law.cohesion_force = load * log_between(d, 0.3, 1e3) / d->law.rolling;
    d->law.cohesion_energy = 0.01 * d->law.cohesion_force;
}

/// Bonds are made in a step in which grains touch: one without weight.
static inline void bond(draft* d)
{
    run(d, 1e-6, 1);
}

#endif

/// Small worlds for the physics tests: one call each for a world, a grain, a wall, a step, a
/// number.
///
/// Everything goes through the public interface. Helpers end the running test when a call fails, so
/// the tests read as physics. Worlds are solved to a residual of 1e-13 unless a test says
/// otherwise: then what is left in a small system is roundoff.
#ifndef TALUS_TESTS_PHYSICS_H
#define TALUS_TESTS_PHYSICS_H

#include "support.h"

#include <float.h>
#include <string.h>
#include <talus/workshop.h>

/// A small deterministic generator, so that the tests' packings do not hang on the library's own.
typedef struct dice {
    uint64_t state;
} dice;

static inline double dice_roll(dice* d) // uniform in [0, 1)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(d->state >> 11) * 0x1p-53;
}

static inline talus_world_def physics_def(int dim)
{
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.solver.stop = TALUS_STOP_RESIDUAL;
    def.solver.tolerance = 1e-13;
    def.solver.max_sweeps = 200000;
    return def;
}

/// A world with one material of friction mu.
static inline talus_world* physics_world(const talus_world_def* def, double mu)
{
    talus_error error;
    talus_world* world;
    check_ok(talus_world_create(def, &world, &error), error);
    talus_pair_def pair = talus_pair_default();
    pair.friction = mu;
    check_ok(talus_world_add_material(world, "stone", &pair, NULL, &error), error);
    return world;
}

/// A world with one material of this law.
static inline talus_world* physics_world_pair(const talus_world_def* def,
                                              const talus_pair_def* pair)
{
    talus_error error;
    talus_world* world = physics_world(def, 0.0);
    check_ok(
        talus_world_set_pair(world, (talus_material_id){0}, (talus_material_id){0}, pair, &error),
        error);
    return world;
}

/// A world of friction mu with gravity (gx, gy, gz).
static inline talus_world* physics_world_g(int dim, double mu, double gx, double gy, double gz)
{
    talus_world_def def = physics_def(dim);
    def.gravity[0] = gx, def.gravity[1] = gy, def.gravity[2] = gz;
    return physics_world(&def, mu);
}

static inline talus_grain_def physics_ball(double radius, double mass, double x, double y, double z)
{
    talus_grain_def def = talus_grain_default();
    def.radius = radius;
    def.mass = mass;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

static inline int64_t physics_add(talus_world* world, const talus_grain_def* def)
{
    talus_error error;
    int64_t id;
    check_ok(talus_world_add_grain(world, def, &id, &error), error);
    return id;
}

static inline talus_wall_id physics_wall(talus_world* world, const talus_wall_def* def)
{
    talus_error error;
    talus_wall_id id;
    check_ok(talus_world_add_wall(world, def, &id, &error), error);
    return id;
}

static inline talus_wall_def physics_plane_def(const char* name, double nx, double ny, double nz)
{
    talus_wall_def def = talus_wall_default();
    def.name = name;
    def.shape.kind = TALUS_SHAPE_PLANE;
    def.shape.normal[0] = nx, def.shape.normal[1] = ny, def.shape.normal[2] = nz;
    return def;
}

/// A fixed plane through the origin.
static inline talus_wall_id physics_plane(talus_world* world, const char* name, double nx,
                                          double ny, double nz)
{
    talus_wall_def def = physics_plane_def(name, nx, ny, nz);
    return physics_wall(world, &def);
}

/// A fixed plane through (x, y, z).
static inline talus_wall_id physics_plane_at(talus_world* world, const char* name, double nx,
                                             double ny, double nz, double x, double y, double z)
{
    talus_wall_def def = physics_plane_def(name, nx, ny, nz);
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return physics_wall(world, &def);
}

static inline talus_step_result physics_step(talus_world* world, double h)
{
    talus_error error;
    talus_step_result result;
    check_ok(talus_world_step(world, h, &result, &error), error);
    return result;
}

static inline void physics_steps(talus_world* world, double h, int count)
{
    talus_error error;
    check_ok(talus_world_steps(world, h, count, NULL, &error), error);
}

// Components of a grain's state by id; a spin of a 2D world is the one number there is.

/// The arrays of the grains, to be written.
static inline talus_editable_grains physics_edit(talus_world* world)
{
    talus_error error;
    talus_editable_grains out;
    check_ok(talus_world_edit_grains(world, &out, &error), error);
    return out;
}

static inline double grain_x(const talus_world* world, int64_t id, int k)
{
    talus_grains g = talus_world_grains(world);
    return g.position[talus_world_grain_index(world, id) * g.dim + k];
}

static inline double grain_v(const talus_world* world, int64_t id, int k)
{
    talus_grains g = talus_world_grains(world);
    return g.velocity[talus_world_grain_index(world, id) * g.dim + k];
}

static inline double grain_w(const talus_world* world, int64_t id, int k)
{
    talus_grains g = talus_world_grains(world);
    return g.spin[talus_world_grain_index(world, id) * g.spin_dim + (g.dim == 2 ? 0 : k)];
}

static inline talus_wall_state wall_state(const talus_world* world, talus_wall_id wall)
{
    talus_error error;
    talus_wall_state state;
    check_ok(talus_world_wall(world, wall, &state, &error), error);
    return state;
}

static inline double wall_force(const talus_world* world, talus_wall_id wall, int k)
{
    return wall_state(world, wall).force[k];
}

/// Index of the contact between a (grain id or -1 - wall) and b, -1 if there is none.
static inline int64_t find_contact(const talus_world* world, int64_t a, int64_t b)
{
    talus_contacts c = talus_world_contacts(world);
    for (int64_t i = 0; i < c.count; i++) {
        if ((c.a[i] == a && c.b[i] == b) || (c.a[i] == b && c.b[i] == a)) return i;
    }
    return -1;
}

/// State of that contact; OPEN when there is none.
static inline int contact_state_of(const talus_world* world, int64_t a, int64_t b)
{
    int64_t c = find_contact(world, a, b);
    return c < 0 ? TALUS_CONTACT_OPEN : talus_world_contacts(world).state[c];
}

/// Normal force of that contact; 0 when there is none.
static inline double contact_normal_force(const talus_world* world, int64_t a, int64_t b)
{
    talus_contacts c = talus_world_contacts(world);
    int64_t i = find_contact(world, a, b);
    double sum = 0.0;
    for (int k = 0; k < c.dim && i >= 0; k++)
        sum += c.force[i * c.dim + k] * c.normal[i * c.dim + k];
    return sum;
}

/// An open-topped container: a box seen from inside around the origin, up is the last axis.
static inline talus_wall_id physics_container(talus_world* world, int dim, double half_width,
                                              double height)
{
    talus_wall_def def = talus_wall_default();
    def.name = "container";
    def.shape.kind = TALUS_SHAPE_BOX;
    def.shape.inside = true;
    for (int k = 0; k < 3; k++) def.shape.half_size[k] = k == dim - 1 ? 0.5 * height : half_width;
    def.position[dim - 1] = 0.5 * height;
    return physics_wall(world, &def);
}

/// Grains of radius r (1 +- spread) on a loose jittered lattice inside |x| < half_width, from the
/// height r up, layer by layer; density 1. None overlap.
static inline void physics_fill(talus_world* world, int dim, int count, double half_width, double r,
                                double spread, dice* d)
{
    const double spacing = 2.2 * r * (1 + spread), jitter = 0.1 * r;
    const int across = (int)(2 * half_width / spacing);
    const double pitch = 2 * half_width / across;
    for (int i = 0; i < count; i++) {
        int layer = dim == 2 ? i / across : i / (across * across);
        double x[3] = {0, 0, 0};
        x[0] = -half_width + pitch * (i % across + 0.5);
        if (dim == 3) x[1] = -half_width + pitch * (i / across % across + 0.5);
        x[dim - 1] = spacing * (layer + 0.5);
        for (int k = 0; k < dim; k++) x[k] += jitter * (dice_roll(d) - 0.5);
        talus_grain_def def =
            physics_ball(r * (1 + spread * (2 * dice_roll(d) - 1)), 0, x[0], x[1], x[2]);
        def.density = 1.0;
        physics_add(world, &def);
    }
}

/// Energy of translation and rotation of all balls.
static inline double physics_kinetic_energy(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    double sum = 0.0;
    for (int64_t i = 0; i < g.count; i++) {
        for (int k = 0; k < g.dim; k++) sum += 0.5 * g.mass[i] * pow(g.velocity[i * g.dim + k], 2);
        for (int k = 0; k < g.spin_dim; k++) {
            sum += 0.5 * g.inertia[i] * pow(g.spin[i * g.spin_dim + k], 2);
        }
    }
    return sum;
}

static inline double physics_total_mass(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    double sum = 0.0;
    for (int64_t i = 0; i < g.count; i++)
        sum += g.glued_to[i].index == TALUS_GRAIN_FREE ? g.mass[i] : 0.0;
    return sum;
}

/// m R^2 / I of a disk (2) or a sphere (5/2).
static inline double roll_kappa(int dim)
{
    return dim == 2 ? 2.0 : 2.5;
}

static inline const char* dim_name(int dim)
{
    return dim == 2 ? "disk" : "sphere";
}

// ---- solids ------------------------------------------------------------------------------------

/// A shape from the corners of one convex part.
static inline talus_solid_id physics_solid(talus_world* world, const char* name,
                                           const double* points, int count)
{
    talus_error error;
    talus_solid_id id;
    talus_solid_def def = talus_solid_default();
    def.name = name;
    def.points = points;
    def.point_count = count;
    check_ok(talus_world_add_solid(world, &def, &id, &error), error);
    return id;
}

/// A rectangle a x b (2D) or a box a x b x c (3D), `up` is the last of the world's axes.
static inline talus_solid_id physics_box_solid(talus_world* world, const char* name, int dim,
                                               double a, double b, double c)
{
    double points[24];
    const double half[3] = {0.5 * a, 0.5 * b, 0.5 * c};
    const int count = dim == 2 ? 4 : 8;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < dim; k++) points[i * dim + k] = (i >> k & 1) ? half[k] : -half[k];
    }
    return physics_solid(world, name, points, count);
}

/// A grain of that shape with density 1; its centre of mass is at (x, y, z).
static inline talus_grain_def physics_block(talus_solid_id shape, double x, double y, double z)
{
    talus_grain_def def = talus_grain_default();
    def.solid = shape;
    def.density = 1.0;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

/// Orientation of a grain: the angle in 2D, component k of the quaternion in 3D.
static inline double grain_q(const talus_world* world, int64_t id, int k)
{
    talus_grains g = talus_world_grains(world);
    return g.rotation[talus_world_grain_index(world, id) * g.rotation_dim + (g.dim == 2 ? 0 : k)];
}

static inline talus_solid_state solid_state(const talus_world* world, talus_solid_id shape)
{
    talus_error error;
    talus_solid_state state;
    check_ok(talus_world_solid(world, shape, &state, &error), error);
    return state;
}

/// Tensor of inertia of the grain in row i, in the world's axes; in 2D only [8] counts.
static inline void physics_inertia(const talus_world* world, int64_t i, double tensor[9])
{
    talus_grains g = talus_world_grains(world);
    for (int k = 0; k < 9; k++) tensor[k] = 0.0;
    if (g.dim == 2 || g.solid[i].index < 0) {
        tensor[0] = tensor[4] = tensor[8] = g.inertia[i];
        return;
    }
    const double* q = g.rotation + 4 * i;
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    talus_solid_state s = solid_state(world, g.solid[i]);
    const double m = g.mass[i] * g.scale[i] * g.scale[i];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    tensor[3 * a + b] += m * r[3 * a + c] * s.inertia[3 * c + d] * r[3 * b + d];
}

#endif

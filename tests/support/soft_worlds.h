/// Small worlds of soft grains for the tests: definitions, shapes, and sums over the grains.
#ifndef TALUS_TESTS_SOFT_WORLDS_H
#define TALUS_TESTS_SOFT_WORLDS_H

#include "physics.h"

static const char* const soft_integrator_names[] = {"gear5", "gear3", "verlet", "leapfrog"};
static const char* const soft_elongation_names[] = {"geometric", "cundall"};

static inline talus_world_def soft_def(int dim, talus_integrator integrator,
                                       talus_elongation elongation)
{
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.method = TALUS_METHOD_SOFT;
    def.soft.integrator = integrator;
    def.soft.bound = TALUS_BOUND_ELASTIC;
    def.soft.elongation = elongation;
    def.soft.bound = TALUS_BOUND_ELASTIC;
    return def;
}

/// The law of one material: stiffness, restitution, friction.
static inline talus_pair_def soft_pair(double stiffness, double restitution, double friction)
{
    talus_pair_def pair = talus_pair_default();
    pair.soft.stiffness = stiffness;
    pair.restitution = restitution;
    pair.friction = friction;
    return pair;
}

/// A rectangle a x b about its centre.
static inline talus_solid_id soft_rectangle(talus_world* world, const char* name, double a,
                                            double b)
{
    const double points[8] = {-0.5 * a, -0.5 * b, 0.5 * a,  -0.5 * b,
                              0.5 * a,  0.5 * b,  -0.5 * a, 0.5 * b};
    return physics_solid(world, name, points, 4);
}

/// A regular polygon with this radius of its corners.
static inline talus_solid_id soft_regular(talus_world* world, const char* name, int sides,
                                          double radius)
{
    double points[64];
    for (int k = 0; k < sides; k++) {
        points[2 * k] = radius * cos(2.0 * M_PI * k / sides);
        points[2 * k + 1] = radius * sin(2.0 * M_PI * k / sides);
    }
    return physics_solid(world, name, points, sides);
}

/// A grain of a shape with mass 1.
static inline talus_grain_def soft_grain(talus_solid_id shape, double x, double y, double angle)
{
    talus_grain_def def = talus_grain_default();
    def.solid = shape;
    def.mass = 1.0;
    def.position[0] = x, def.position[1] = y;
    def.rotation[2] = angle;
    return def;
}

static inline double grain_angle(const talus_world* world, int64_t id)
{
    return talus_world_grains(world).rotation[talus_world_grain_index(world, id)];
}

/// Momentum (two numbers) and angular momentum about the origin of all grains, 2D.
static inline void soft_momenta(const talus_world* world, double out[3])
{
    const talus_grains g = talus_world_grains(world);
    out[0] = out[1] = out[2] = 0.0;
    for (int64_t i = 0; i < g.count; i++) {
        const double *x = g.position + 2 * i, *v = g.velocity + 2 * i, m = g.mass[i];
        out[0] += m * v[0];
        out[1] += m * v[1];
        out[2] += m * (x[0] * v[1] - x[1] * v[0]) + g.inertia[i] * g.spin[i];
    }
}

#endif

/// Restitution (Newton's law with Moreau's handling of contacts that persist).
///
/// A contact that closes in the step, judged by its velocity u before it (g + h u_n <= 0, u_n < 0),
/// separates with at least -e u_n. A contact that persists has u_n = 0 before the step and so asks
/// for nothing but u_n >= 0: grains come to rest, and the infinitely many bounces of a dropped ball
/// are passed when they become shorter than a step. Before the step means for a wall too the
/// velocity that it had in the last one: a grain that rests on an accelerated wall or under a
/// piston does not collide with it, and a wall that sets out with a jump pushes what touches it.
///
/// Most impacts happen before all that, one after the other (rigid/impacts.h). What comes here is
/// what is too slow for them, and what compound laws do.
///
/// Between balls normal and tangential impulses do not mix and no impact gains energy, whatever e,
/// e_t, friction and spins. Rolling friction mixes slip and spin: with e_t = 0 it only takes energy
/// away, together with e_t > 0 an impact may gain some (tests/physics/test_physics_restitution.c).
/// Solids whose impulses across change the velocity along the normal may gain energy (Kane 1984);
/// with e_t = e they do not (Moreau 1988; derived in tests/physics/test_physics_solid_impact.c).
#ifndef TALUS_LAW_RESTITUTION_H
#define TALUS_LAW_RESTITUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <talus/world.h>

/// What keeps the impacts of a pair that bounces from being worked out one after the other, in
/// words; NULL if nothing does, or it does not bounce.
static inline const char* restitution_at_once(const talus_pair_def* pair)
{
    if (pair->restitution == 0.0) return NULL;
    return pair->cohesion_force > 0.0 ? "cohesion"
           : pair->rolling > 0.0      ? "rolling friction"
           : pair->torsion > 0.0      ? "torsion friction"
                                      : NULL;
}

/// Does a contact with this gap and normal velocity before the step collide in it?
static inline bool restitution_collides(double gap, double normal_velocity, double h)
{
    return normal_velocity < 0.0 && gap + h * normal_velocity <= 0.0;
}

/// Bias of the exclusion u_n + bias >= 0: that of the gap, or the rebound if it asks for more.
static inline double restitution_bias(const talus_pair_def* pair, double gap_bias, double gap,
                                      double normal_velocity, double h)
{
    if (pair->restitution == 0.0 || !restitution_collides(gap, normal_velocity, h)) return gap_bias;
    double rebound = pair->restitution * normal_velocity;
    return rebound < gap_bias ? rebound : gap_bias;
}

#endif

/// Numbers read off a world.
#ifndef TALUS_MEASURE_H
#define TALUS_MEASURE_H

#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Coordination of the packing, from contacts that carry a force.
typedef struct talus_coordination {
    double all;       ///< mean contacts a grain, all free grains
    double backbone;  ///< the same without rattlers
    int64_t rattlers; ///< grains removed, in turn, for having fewer than dim + 1 contacts
                      ///< (2 contacts suffice in 2D with friction; see `frictional`)
} talus_coordination;

/// Count contacts whose force exceeds `threshold` times the mean contact force [e.g. 1e-6]. A
/// contact with a wall or glued grain counts once, between two free grains once for each.
/// `frictional` lowers the contacts a grain needs from dim + 1 to 2.
TALUS_API talus_status talus_measure_coordination(const talus_world* world, double threshold,
                                                  bool frictional, talus_coordination* out,
                                                  talus_error* error);

/// Only the `all` of talus_measure_coordination(), in two passes over the contacts.
TALUS_API double talus_measure_contacts_per_grain(const talus_world* world, double threshold);

/// Total momentum of the free grains and mobile walls; 3 doubles.
TALUS_API void talus_measure_momentum(const talus_world* world, double momentum[3]);

/// Potential energy -m g.x of the free grains, J.
TALUS_API double talus_measure_potential_energy(const talus_world* world);

#ifdef __cplusplus
}
#endif
#endif

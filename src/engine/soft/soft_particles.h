/// Soft particles: springs and dashpots, explicit steps (PLMH).
#ifndef TALUS_SOFT_SOFT_PARTICLES_H
#define TALUS_SOFT_SOFT_PARTICLES_H

#include "detect/physical_state.h"

/// The workspace of the method. It keeps lists and histories from step to step, as long as nobody
/// else changes the state (physical_state.revision).
typedef struct soft_particles soft_particles;

talus_status soft_particles_create(soft_particles** out, int dim, talus_error* error);
void soft_particles_destroy(soft_particles* s);

/// Why no graphics card can do steps of such a world; NULL: one can.
const char* soft_particles_why_no_card(const talus_world_def* options, const physical_state* state);
/// Grains from which on one is faster than the CPU: less than half of the smallest packing that was
/// measured, which was 12 times as fast on an H200 as on 16 cores (docs/gpu.md).
enum { SOFT_PARTICLES_CARD_WORTH = 30000 };

/// Take a step, all of it but the time. It cannot be undone: whoever wants to go back after a
/// failure, or a grain that went NaN, keeps a copy of the state (soft/snapshot.h). The
/// state's contacts are left behind (soft_particles_publish).
talus_status soft_particles_step(soft_particles* s, const step_order* order, step_outcome* out,
                                 talus_error* error);
/// Bring the contacts of the state up to date after steps.
talus_status soft_particles_publish(soft_particles* s, const step_order* order);
/// Energies after steps that were published.
talus_soft_energy soft_particles_energy(const soft_particles* s, const step_order* order);
/// Times of the stiffest pair, for the choice of a step (soft/times.c).
talus_status soft_particles_times(const physical_state* state, const talus_world_def* options,
                                  talus_soft_times* out, talus_error* error);

#endif

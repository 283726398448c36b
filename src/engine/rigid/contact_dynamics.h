/// Contact Dynamics: rigid grains, implicit steps with all contacts solved together.
#ifndef TALUS_RIGID_CONTACT_DYNAMICS_H
#define TALUS_RIGID_CONTACT_DYNAMICS_H

#include "detect/physical_state.h"

struct problem; // rigid/problem.h

/// The workspace of the method; nothing in it matters from one step to the next.
typedef struct contact_dynamics contact_dynamics;

talus_status contact_dynamics_create(contact_dynamics** out, int dim, talus_error* error);
void contact_dynamics_destroy(contact_dynamics* s);

/// Why no graphics card can do steps of such a world; NULL: one can.
const char* contact_dynamics_why_no_card(const talus_world_def* options,
                                         const physical_state* state);
/// Grains from which on one is faster than the CPU: on an H200 a step of 6.4e4 spheres took 1.2
/// times as long as on 16 cores, one of 1e6 0.8 times (docs/gpu.md).
enum { CONTACT_DYNAMICS_CARD_WORTH = 500000 };

/// Find the contacts of a step and the new velocities. Then either accept() commits them
/// (velocities, positions, contact forces, wall forces), or reject() leaves all as it was before;
/// after a failure, too.
talus_status contact_dynamics_attempt(contact_dynamics* s, const step_order* order,
                                      step_outcome* out, talus_error* error);
void contact_dynamics_accept(contact_dynamics* s, const step_order* order);
/// [grains] Share of each grain in the error of the step attempted last (rigid/certificate.h); NULL
/// if there was none. Valid until the next attempt.
const double* contact_dynamics_errors(const contact_dynamics* s);
/// After accept(): the length of that step, and how far a grain (or a wall, numbered on from the
/// grains) may still be moved without meeting anybody that was not looked for. Only as long as no
/// grain was removed.
double contact_dynamics_length(const contact_dynamics* s);
double contact_dynamics_room(const contact_dynamics* s, const physical_state* state, int64_t body);
/// Likewise: may contact c of the state overlap? Not if it was apart and stayed open, unless
/// impacts took its bodies on ways with corners.
bool contact_dynamics_may_overlap(const contact_dynamics* s, const physical_state* state,
                                  int64_t c);
void contact_dynamics_reject(contact_dynamics* s, const step_order* order);
/// Between attempt() and reject(): pose the contact problem that was attempted once more in *out,
/// from the impulses of the last step. *list receives its contacts, row by row, valid until the
/// next attempt.
talus_status contact_dynamics_pose(contact_dynamics* s, const step_order* order,
                                   struct problem* out, const contacts** list, talus_error* error);

#endif

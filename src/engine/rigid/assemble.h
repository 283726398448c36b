/// From bodies and contacts to the plain arrays of the contact problem, and back.
#ifndef TALUS_RIGID_ASSEMBLE_H
#define TALUS_RIGID_ASSEMBLE_H

#include "detect/physical_state.h"
#include "rigid/impacts.h"
#include "rigid/problem.h"

/// What assembly adds to the contact list: memory reused from step to step.
typedef struct assembly {
    int8_t* sign; ///< [contacts] -1 where the problem has a and b exchanged
    int64_t sign_capacity;
    int32_t* wall_row; ///< [walls] problem row of a mobile wall, -1 otherwise
    int64_t wall_capacity;
    double* turning; ///< [grains][9] of solids: grain_turning()
    int64_t grain_capacity;
    const double* wall_before; ///< [walls][9] velocity and spin before the step, and 3 more
    const impacts* impacts;    ///< of the step, whose bodies have paths with corners
} assembly;

void assembly_free(assembly* as);

/// Build the problem of `list`, in which bonds stretched beyond their range are broken.
/// free_velocity [grains][dim] and free_spin [grains][1 or 3] are the grains' velocities without
/// contacts; walls already have theirs. Impulses start at force * h.
talus_status assemble(assembly* as, const step_order* order, contacts* list,
                      const double* free_velocity, const double* free_spin, problem* out);

/// Gap of contact c of `list`, which need not be in the problem, after a step with the velocities
/// of the problem's bodies. If it is not below 0 the contact's law holds without an impulse. Of
/// contacts that bounce, stick together or have memory it is not known: -INFINITY.
double assembly_gap_after(const assembly* as, const step_order* order, const problem* p,
                          const contacts* list, int64_t c);

/// Matrix G [dim][1 or 3] of a body of a contact: velocity at the contact = v + G w. `side` is 1
/// for body b and -1 for a; the normal points to b. A ball's arm is its radius along n; a solid's
/// reaches to the contact point, and `turning` is its grain_turning(). `body` < 0: it does not
/// turn.
void contact_arm(const physical_state* state, int32_t body, double side, const double* n,
                 const double* point, const double* turning, double* arm);

/// Velocity at a contact point of a wall that moves with `velocity` and `spin`.
void surface_velocity(const physical_state* state, int wall, const double* velocity,
                      const double* spin, const double* point, double v[3]);

/// Write the solved impulses back to the list as forces and torques, with each contact's state.
void disassemble(const assembly* as, const step_order* order, const problem* p, double tolerance,
                 contacts* list);

#endif

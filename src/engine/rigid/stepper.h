/// Ways of stepping time, one file each, behind one interface.
#ifndef TALUS_RIGID_STEPPER_H
#define TALUS_RIGID_STEPPER_H

#include "detect/contacts.h"
#include "detect/poses.h"
#include "state/cell.h"
#include "state/grains.h"
#include "state/materials.h"
#include "state/walls.h"

#include <talus/world.h>

/// What a step works on. The world owns all of it; a stepper never sees the world itself.
typedef struct step_context {
    const talus_world_def* def;
    const cell* cell;
    const materials* materials;
    grains* grains;
    walls* walls;
    contacts* contacts; ///< in: of the last step; out: of this one
    poses* poses;       ///< the solids in place; a search brings them up to date
    double time;        ///< at the start of the step
    double h;
    double size;          ///< L/d, extent of the system in mean diameters
    uint64_t key;         ///< number of this solve in the run: key of its random numbers
    talus_totals* totals; ///< stage seconds are added here
    int threads;
    int64_t step;      ///< steps done before this one
    uint64_t revision; ///< another one whenever somebody else has changed grains, contacts or laws
} step_context;

/// What drag leaves of a grain's velocity and of every impulse on it: taken implicitly,
/// v' = v + h (F - drag v')/m + p/m gives v' = slowing * (v + h F/m + p/m).
static inline double step_slowing(const step_context* ctx, double inv_mass)
{
    return 1.0 / (1.0 + ctx->h * ctx->def->drag * inv_mass);
}

/// Outcome of one attempt.
typedef struct step_outcome {
    int64_t sweeps, updates, contacts, active;
    bool converged;
    double residual;
    double velocity_error;  ///< estimate (rigid/residual.c) for a system of the context's size
    bool second;            ///< a second method was needed and found the solution
    int64_t nan_grain;      ///< row of the first grain whose new velocity is not finite, -1 if none
    int64_t escaped_grain;  ///< row of the first grain out of bounds or behind a wall, -1 if none
    const uint8_t* escaped; ///< [grains] 1 for every such grain; valid until the next attempt
    double overlap_max;     ///< method soft: largest overlap of the step, m
} step_outcome;

typedef struct stepper stepper;
struct problem; // rigid/problem.h

/// A way of stepping time. `attempt` computes the new velocities; then either `accept` commits them
/// (velocities, positions, contact forces, wall forces) or `reject` leaves all as it was before. A
/// method that publishes cannot undo an attempt: the world takes back what fails (snapshot.h).
typedef struct stepper_ops {
    const char* name;
    talus_status (*create)(stepper** out, int dim, talus_error* error);
    void (*destroy)(stepper* s);
    talus_status (*attempt)(stepper* s, const step_context* ctx, step_outcome* out,
                            talus_error* error);
    void (*accept)(stepper* s, const step_context* ctx);
    void (*reject)(stepper* s, const step_context* ctx);
    /// Between `attempt` and `reject`: pose the contact problem that was attempted once more in
    /// *out, from the impulses of the last step. *list receives its contacts, row by row, valid
    /// until the next attempt.
    talus_status (*pose)(stepper* s, const step_context* ctx, struct problem* out,
                         const contacts** list, talus_error* error);
    /// Bring ctx->contacts up to date after an accepted step; NULL: they are.
    talus_status (*publish)(stepper* s, const step_context* ctx);
    /// Energies after a step that was published; NULL: the method has none.
    void (*energy)(const stepper* s, const step_context* ctx, talus_soft_energy* out);
} stepper_ops;

extern const stepper_ops contact_dynamics_stepper, soft_particles_stepper;

/// The way of stepping that the options ask for.
const stepper_ops* stepper_for(const talus_world_def* def);

#endif

/// Inside of the force ensemble: what its files share. The public side is talus/ensemble.h.
#ifndef TALUS_MEASURE_ENSEMBLE_H
#define TALUS_MEASURE_ENSEMBLE_H

#include "rigid/solver.h"
#include "world/world.h"

#include <talus/ensemble.h>

/// A contact counts as loaded above this part of the mean force.
#define ENSEMBLE_LOADED 1e-6

/// The problem that is solved again and again, and its solutions in the problem's own form.
typedef struct ensemble_task {
    const talus_world* world;
    const talus_ensemble_def* def;
    problem problem;
    const contacts* list; ///< contacts of the problem, row by row
    double* first;        ///< [contacts][width] rows as posed: warm impulses, static friction
    compound_contact* first_compound; ///< [compound_count] likewise
    solve_workspace workspace;
    double typical;    ///< mean normal impulse of the loaded contacts, size of random starts
    int components;    ///< of a contact: impulse [dim] and, if any law has torques, torque / radius
    double* solution;  ///< [samples][contacts][components] impulses on the problem's body b
    double* scratch;   ///< [contacts][components]
    double* velocity;  ///< [grains][dim] mean new velocity over the verified samples
    double* velocity2; ///< [grains] sum of squared deviations from it
    double conditioning; ///< largest so far
    int64_t updates;     ///< of contacts so far
} ensemble_task;

// ---- ensemble_solve.c --------------------------------------------------------------------------

/// Find the size of the impulses, from one solution.
talus_status ensemble_prepare(ensemble_task* task, talus_error* error);
/// Make sample number i: solve from its start, verify, write force, torque and sliding.
talus_status ensemble_solve(ensemble_task* task, int i, talus_ensemble* out, talus_error* error);

// ---- ensemble_average.c ------------------------------------------------------------------------

/// Means and spreads of forces, stress and histogram over the verified samples.
void ensemble_average(const ensemble_task* task, talus_ensemble* e);
/// Mark the contacts whose mean force counts as loaded, [contacts].
void ensemble_mark_loaded(const talus_ensemble* e, uint8_t* loaded);

// ---- ensemble_rank.c ---------------------------------------------------------------------------

/// Singular values of the centred samples, and how many of them stand out of the solver's error.
talus_status ensemble_rank(const ensemble_task* task, talus_ensemble* e, talus_error* error);

// ---- ensemble_count.c --------------------------------------------------------------------------

/// Unknowns, equations, and how many of these are independent. The impulses of the problem are lost
/// over it.
talus_status ensemble_count(ensemble_task* task, talus_ensemble* e, talus_error* error);

// ---- ensemble_verdict.c ------------------------------------------------------------------------

/// Say in plain words what was found.
void ensemble_verdict(const talus_ensemble_def* def, talus_ensemble* e);

#endif

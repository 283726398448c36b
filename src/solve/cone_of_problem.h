/// The contact problem of a step (solve/problem.h) as one without bodies (solve/cone.h), and back.
#ifndef TALUS_SOLVE_CONE_OF_PROBLEM_H
#define TALUS_SOLVE_CONE_OF_PROBLEM_H

#include "solve/cone.h"
#include "solve/problem.h"

/// W = H^T M^-1 H by blocks and q from the free velocities, in the frames of the contacts: normal,
/// then tangents (base/vec.h). The bias is in q_N. *guess receives the impulses of the problem in
/// these frames, [count][dim], to be freed by the caller. Contacts with richer laws than Coulomb's
/// are an error, TALUS_ERR_ARGUMENT.
talus_status cone_of_problem(const problem* p, cone_problem* out, double** guess,
                             talus_error* error);
/// Put the impulses r of such a problem into `p`; the velocities of its bodies follow.
void cone_to_problem(const double* r, problem* p);

#endif

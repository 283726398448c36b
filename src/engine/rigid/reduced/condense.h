/// The contact problem of a step (rigid/problem.h) as one without bodies (rigid/reduced/reduced.h),
/// and back.
#ifndef TALUS_RIGID_REDUCED_CONDENSE_H
#define TALUS_RIGID_REDUCED_CONDENSE_H

#include "rigid/problem.h"
#include "rigid/reduced/reduced.h"

/// W = H^T M^-1 H by blocks and q from the free velocities, in the frames of the contacts: normal,
/// then tangents (base/vec.h). The bias is in q_N. *guess receives the impulses of the problem in
/// these frames, [count][dim], to be freed by the caller. Contacts with richer laws than Coulomb's
/// are an error, TALUS_ERR_ARGUMENT.
talus_status reduced_from_problem(const problem* p, reduced_problem* out, double** guess,
                                  talus_error* error);
/// Add the bodies to a problem made so.
talus_status reduced_add_bodies(const problem* p, reduced_problem* out, talus_error* error);
/// Put the impulses r of such a problem into `p`; the velocities of its bodies follow.
void reduced_to_problem(const double* r, problem* p);

#endif

/// A cluster of a contact problem as a problem of its own, and its solution back.
#ifndef TALUS_RIGID_DIRECT_EXTRACT_H
#define TALUS_RIGID_DIRECT_EXTRACT_H

#include "rigid/problem.h"

/// Fill `out` with the contacts `number` [count], ascending, and their bodies.
talus_status problem_extract(const problem* p, const int64_t* number, int64_t count, problem* out);
/// Put the impulses of such a problem, its torques and friction coefficients back into `p`, and the
/// velocities of its bodies.
void problem_return(const problem* part, const int64_t* number, problem* p);

#endif

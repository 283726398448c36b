/// The direct methods. Each improves impulses p [components] of a cluster and leaves them admissible.
#ifndef TALUS_RIGID_DIRECT_METHODS_H
#define TALUS_RIGID_DIRECT_METHODS_H

#include "rigid/direct/cluster.h"

typedef struct direct_budget {
    double tolerance;        ///< change of |y| over |y| at which it is enough
    int64_t factorisations;  ///< at most
} direct_budget;

/// Augmented Lagrangian: lagrange.c.
bool direct_lagrange(direct_cluster* s, const direct_budget* budget, double* p);
/// Interior point: interior.c.
bool direct_interior(direct_cluster* s, const direct_budget* budget, double* p);
bool direct_polish(direct_cluster* s, const direct_budget* budget, double* p);

#endif

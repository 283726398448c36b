/// The direct methods. Each improves admissible impulses p [components] of a cluster and leaves
/// admissible ones, better or not: whoever calls judges them.
#ifndef TALUS_RIGID_DIRECT_METHODS_H
#define TALUS_RIGID_DIRECT_METHODS_H

#include "rigid/direct/cluster.h"

/// Augmented Lagrangian (lagrange.c): for bonds and for what sticks. At most so many
/// factorisations; true if it ended by itself. False with p as it was when memory is short.
bool direct_lagrange(direct_cluster* s, int64_t factorisations, double* p);
/// The same with bounds of friction that follow the normal impulses: it converges from nearby only,
/// then to the last digit.
bool direct_polish(direct_cluster* s, int64_t factorisations, double* p);
/// Interior point (interior.c): for contacts that open, close and slide.
bool direct_interior(direct_cluster* s, int64_t factorisations, double* p);

/// Interior point in the cones of friction (cone.c), for contacts that do no more than push, slide
/// and hold. It is let go on in rounds.
typedef struct direct_cones direct_cones;
bool direct_has_cones(const direct_cluster* s);
/// From impulses p; `trust` is the largest part of the derivative of sliding that it uses. NULL if
/// there are contacts of another kind, or memory is short.
direct_cones* direct_cones_new(direct_cluster* s, const double* p, double trust);
void direct_cones_free(direct_cones* t);
/// At most so many factorisations more; p receives the best impulses so far. False if it has come
/// to its end, good or bad.
bool direct_cones_go(direct_cones* t, int64_t factorisations, double* p);

#endif

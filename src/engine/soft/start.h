/// Starting values of an integrator: the derivatives that a run begun from x and v does not know.
#ifndef TALUS_SOFT_START_H
#define TALUS_SOFT_START_H

#include "soft/integrator.h"

#include <talus/base.h>

/// The forces, by their owner. They may remember their past (friction's elongations).
typedef struct start_forces {
    void* user;
    /// Accelerations at the present x and v of the coordinates, `time` after the start.
    talus_status (*evaluate)(void* user, double time, double* acceleration);
    /// Keep what the forces remember; called once, after the evaluation at time 0. NULL if they
    /// remember nothing.
    talus_status (*save)(void* user);
    /// Bring back what was kept; NULL as above.
    talus_status (*restore)(void* user);
} start_forces;

/// Fill c->d for a run with steps of h; x and v stay as they are, and so does what the forces
/// remember after their evaluation at the start. Gear 5 costs 10 evaluations, Gear 3 two, the
/// others one. A failed evaluation is passed on; then the derivatives are undefined.
talus_status start_derivatives(const integrator* kind, const coordinates* c, double h, int threads,
                               const start_forces* forces, talus_error* error);

#endif

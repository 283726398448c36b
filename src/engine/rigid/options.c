/// Defaults of the solver's options.
#include "base/definition.h"

#include <talus/solver.h>

void talus_solver_default_sized(talus_solver_def* def, size_t size)
{
    talus_solver_def own = {.method = TALUS_SOLVER_AUTO,
                            .order = TALUS_ORDER_RANDOM,
                            .stop = TALUS_STOP_RIGID,
                            .tolerance = 0.0,
                            .max_sweeps = 1000,
                            .warm_start = true,
                            .separate_overlaps = true};
    DEFINITION_GIVE(def, size, own);
}

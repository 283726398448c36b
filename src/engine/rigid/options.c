/// Defaults of the solver's options.
#include <talus/solver.h>

talus_solver_def talus_solver_default(void)
{
    return (talus_solver_def){.method = TALUS_SOLVER_AUTO,
                              .order = TALUS_ORDER_RANDOM,
                              .stop = TALUS_STOP_RIGID,
                              .tolerance = 1e-2,
                              .max_sweeps = 1000,
                              .warm_start = true};
}

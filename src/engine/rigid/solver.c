/// The list of solvers: which one the options ask for.
#include "rigid/solver.h"

const solver_ops* solver_for(const talus_solver_def* options)
{
    switch (options->method) {
    case TALUS_SOLVER_SWEEPS: return &sweep_solver;
    case TALUS_SOLVER_ACCELERATED:
    case TALUS_SOLVER_COLOURED: return &accelerated_solver;
    case TALUS_SOLVER_AUTO: break;
    }
    return &auto_solver;
}

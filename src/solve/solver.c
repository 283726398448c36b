/// The list of solvers: which one the options ask for.
#include "solve/solver.h"

const solver_ops* solver_for(const talus_solver_def* options)
{
    return options->method == TALUS_SOLVER_SWEEPS ? &sweep_solver : &accelerated_solver;
}

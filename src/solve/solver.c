/// The list of solvers: which one the options ask for.
#include "solve/solver.h"

const solver_ops* solver_for(const talus_solver_def* options)
{
    (void)options; // every order and rule there is belongs to the sweeps
    return &sweep_solver;
}

/// How far a step is from satisfying the laws: the only definition of "converged".
#ifndef TALUS_SOLVE_RESIDUAL_H
#define TALUS_SOLVE_RESIDUAL_H

#include "solve/problem.h"

/// Natural-map residual of the impulses in the problem; residual.c has the formula. Velocities are
/// recomputed from the impulses first (problem_refresh), never taken from a solver.
double residual_natural(problem* p);

#endif

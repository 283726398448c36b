/// How far a step is from satisfying the laws: the only definition of "converged".
#ifndef TALUS_RIGID_RESIDUAL_H
#define TALUS_RIGID_RESIDUAL_H

#include "rigid/problem.h"
#include "rigid/residual_terms.h"
#include "rigid/scales.h"

#include <math.h>

/// Two measures of the same errors e_c.
typedef struct residual_report {
    double natural;  ///< local: how well each contact satisfies its law
    double velocity; ///< global: estimate of ||V - V_exact||_M / ||V - V_free||_M
    double length;   ///< on which the errors vary, in diameters: the root mean square over scales
    double flow;     ///< how much the grains slide past each other (residual.c): 0 where contacts
                     ///< only hold them, about 1 where they flow
} residual_report;

/// Do contacts do no more than hold the grains?
static inline bool residual_rests(const residual_report* seen)
{
    return seen->flow <= 0.1;
}

/// Do grains flow, and not only seem to because the solution is not yet known? An error makes no
/// more flow than itself (residual.c).
static inline bool residual_flows(const residual_report* seen)
{
    return !residual_rests(seen) && seen->flow > 0.5 * seen->velocity;
}

/// Measure the impulses in the problem; `size` is L/d of the largest cluster that carries force, 0
/// if unknown (then as many as there are moving bodies: the longest chain they could make).
/// Velocities must agree with the impulses (problem_refresh).
residual_report residual_measure(const problem* p, double size, int threads);

/// The contacts of a problem are added up in so many parts, one after the other in each; a part
/// begins with this contact.
int residual_parts(int64_t count);
static inline int64_t residual_part_first(int64_t count, int part, int parts)
{
    return count * part / parts;
}
/// The measures from the sums of the parts and from those over cells.
residual_report residual_conclude(const problem* p, double size,
                                  double part[SCALES_PARTS][RESIDUAL_SUMS], scales* by_scale,
                                  int threads);

/// Natural-map residual of the impulses in the problem; residual.c has the formula. Velocities are
/// recomputed from the impulses first (problem_refresh), never taken from a solver.
double residual_natural(problem* p);

#endif

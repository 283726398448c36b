/// The stopping rules of the papers (UK 35-37) and the residual rule.
#ifndef TALUS_SOLVE_STOP_H
#define TALUS_SOLVE_STOP_H

#include "solve/solver.h"

/// What one sweep tells about itself.
typedef struct sweep_stats {
    double change2;    ///< sum of |dp|^2
    double impulse2;   ///< sum of |p|^2 after the update
    double impulse;    ///< sum of |p|, kept for the local and global rules only
    int64_t unsettled; ///< contacts with |dp| > eps |p| + delta, kept for the local rule only
} sweep_stats;

/// State of a rule during one solve.
typedef struct stop_state {
    talus_stop_rule rule;
    double tolerance;
    double cutoff;      ///< delta of the local rule as an impulse, 0: relative to the mean
    double last_mean;   ///< <|p|> after the previous sweep, < 0 at first
    int64_t next_check; ///< sweep from which the residual may be looked at again
    double residual;    ///< last one computed, < 0 if none
} stop_state;

stop_state stop_begin(const solve_request* request);
/// The delta below which a contact's change does not matter, for the coming sweep.
double stop_cutoff(const stop_state* s);
/// Decide after sweep number `sweep` (from 1) whether the solve is finished.
bool stop_reached(stop_state* s, problem* p, int64_t sweep, const sweep_stats* stats);

#endif

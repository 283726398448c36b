/// The stopping rules of the papers (UK 35-37), the residual rule and the rule for rigid grains.
#ifndef TALUS_RIGID_STOP_H
#define TALUS_RIGID_STOP_H

#include "rigid/residual.h"
#include "rigid/solver.h"

/// What one sweep tells about itself.
typedef struct sweep_stats {
    double change2;    ///< sum of |dp|^2, or weighted with the contacts' responses
    double impulse2;   ///< sum of |p|^2 after the update, weighted likewise
    double impulse;    ///< sum of |p|, kept for the local and global rules only
    int64_t unsettled; ///< contacts with |dp| > eps |p| + delta, kept for the local rule only
} sweep_stats;

/// State of a rule during one solve.
typedef struct stop_state {
    const solve_request* request;
    talus_stop_rule rule;
    double tolerance; ///< as far as the solution is known
    double cutoff;    ///< delta of the local rule as an impulse, 0: relative to the mean
    double last_mean; ///< <|p|> after the previous sweep, < 0 at first
    double size;      ///< L/d of the system, 0: unknown
    int threads;
    int64_t last_check;   ///< sweep after which they were looked at
    int64_t next_check;   ///< sweep from which the measures may be looked at again
    double per_change;    ///< the rule's measure over the relative change of a sweep, as last seen
    residual_report seen; ///< last one computed
} stop_state;

/// What the rule of a solve asks for: the tolerance of the options, or, if they leave it to the
/// step, 1 % at rest and up to 10 % where grains flow, as what was `seen` of the solution says.
/// NULL: nothing yet.
double solve_tolerance(const solve_request* request, const residual_report* seen);
stop_state stop_begin(const solve_request* request);
/// The delta below which a contact's change does not matter, for the coming sweep.
double stop_cutoff(const stop_state* s);
/// Is it worth while to measure the solution after sweep number `sweep` (from 1)? Only the rules
/// that measure it ever say so.
bool stop_due(const stop_state* s, int64_t sweep, const sweep_stats* stats);
/// Measure the problem, whose velocities are refreshed; true if the rule is met.
bool stop_look(stop_state* s, problem* p, int64_t sweep, const sweep_stats* stats);
/// The same with a report that somebody else has made.
bool stop_judge(stop_state* s, const residual_report* seen, int64_t sweep,
                const sweep_stats* stats);
/// Do the papers' local and global rules end the solve after this sweep?
bool stop_settled(stop_state* s, const problem* p, const sweep_stats* stats);
/// Does a report meet the rule, if the rule is one that measures?
bool stop_meets(const stop_state* s, const residual_report* report);
/// Will whoever watches look after so many sweeps of this solve?
bool solve_is_watched(const solve_request* request, int64_t sweeps);
/// Let whoever watches look, if it is the time; true if the solve shall end.
bool solve_watched(const solve_request* request, const problem* p, int64_t sweeps);
/// Is this the sweep of a solve after which static friction may give way? It does so only when all
/// forces are known: when the rule is `reached`, or, with a fixed number of sweeps, after the first
/// half of those that the solve has, which is taken to have found them.
bool solve_knows_forces(const solve_request* request, bool reached, int64_t sweeps);
/// Fill the result of a solve that ended after out->sweeps, its rule `reached` or not; the
/// problem's velocities are refreshed. The last sweep allowed may have met the rule between two
/// looks at it.
void solve_conclude(const stop_state* s, const problem* p, bool reached, solve_result* out);
/// Does the rule measure the solution, or does it look at the sweeps only?
bool stop_measures(const stop_state* s);

#endif

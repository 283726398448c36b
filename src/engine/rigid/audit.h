/// An audit: is what a step claims about its accuracy true?
///
/// The step's own problem is solved once more, by another method and far more exactly, and the
/// velocities that the step has are compared with those, cluster by cluster.
#ifndef TALUS_RIGID_AUDIT_H
#define TALUS_RIGID_AUDIT_H

#include "rigid/solver.h"

typedef struct audit_result {
    bool answered;   ///< a solution was found that is exact enough to judge by
    double ratio;    ///< largest true error over claim of all certified clusters; 0: none moved
    double error;    ///< true error of that cluster
    double claim;    ///< and what was claimed of it
    int64_t row;     ///< the first of its bodies
    int64_t judged;  ///< bodies of all clusters of which something was claimed,
    int64_t of;      ///< of so many that touch anything,
    int64_t largest; ///< and of the largest of these clusters
    int64_t updates; ///< contact updates' worth of work
} audit_result;

/// Is anything claimed that could be judged? Clusters that are not certified claim nothing.
bool audit_worthwhile(const certificate_work* claims);
/// Judge the impulses and velocities that are in `p`, for which `claims` was made. `asked` is how
/// the step was solved, `tolerance` what it was asked for; the audit may spend about
/// `most_updates`. The problem is the same afterwards, to the bit.
talus_status audit_solution(problem* p, const certificate_work* claims, const solve_request* asked,
                            double tolerance, int64_t most_updates, solve_workspace* ws,
                            audit_result* out);

#endif

/// The methods of cone_solve(), each from a guess in r, each leaving its best impulses there.
#ifndef TALUS_SOLVE_CONE_METHODS_H
#define TALUS_SOLVE_CONE_METHODS_H

#include "solve/cone_inside.h"

/// What a method is allowed and what it did.
typedef struct cone_run {
    double tolerance;
    int64_t limit;      ///< iterations
    double deadline;    ///< on the clock of cone_seconds(); 0: none
    bool gives_up;      ///< stop early when it sees that it will be slow
    int64_t iterations; ///< out
    cone_measure best;  ///< out: of the impulses left in r
} cone_run;

/// Monotonic clock.
double cone_seconds(void);
static inline bool cone_run_is_late(const cone_run* run)
{
    return run->deadline > 0.0 && cone_seconds() > run->deadline;
}

/// Sweeps of exact one-contact solutions, plain or with momentum (cone_sweep.c).
talus_status cone_sweep_plain(const cone_problem* p, cone_run* run, double* r);
talus_status cone_sweep_fast(const cone_problem* p, cone_run* run, double* r);

#endif

/// The methods of cone_solve(). Each starts from impulses r and leaves its best ones there.
#ifndef TALUS_SOLVE_CONE_METHODS_H
#define TALUS_SOLVE_CONE_METHODS_H

#include "base/clock.h"
#include "solve/cone_contact.h"

/// What all methods need to know of the contacts, prepared once.
typedef struct cone_work {
    const cone_problem* p;
    int64_t* diagonal; ///< [count] the block on the diagonal
    double* own;       ///< [count][cone_own_size] cone_contact_prepare()
    bool avx2;         ///< the machine has it; the results are the same without
} cone_work;

/// What a method is allowed and what it did.
typedef struct cone_run {
    double tolerance;
    int64_t limit;      ///< iterations that are allowed, all calls together
    double deadline;    ///< on the clock of clock_seconds(); 0: none
    cone_least least;   ///< of the whole that this is a part of; 0: it is the whole
    int64_t iterations; ///< out: all calls together
    cone_measure best;  ///< of the impulses in r: in and out
    cone_sums sums;     ///< out: what that is made of
} cone_run;

static inline bool cone_run_is_late(const cone_run* run)
{
    return run->deadline > 0.0 && clock_seconds() > run->deadline;
}

static inline bool cone_run_is_done(const cone_run* run)
{
    return cone_measure_meets(run->best, run->tolerance);
}

/// Measure `trial`; if it is better than r it becomes r.
void cone_keep_better(const cone_work* work, cone_run* run, const double* trial, double* r);

/// Sweeps of exact one-contact solutions (cone_sweep.c). They can be stopped and go on later.
typedef struct cone_sweeper cone_sweeper;
/// NULL when memory is short.
cone_sweeper* cone_sweeper_new(const cone_work* work, bool momentum, const double* r);
void cone_sweeper_free(cone_sweeper* s);
/// Go on until run->limit or run->tolerance.
void cone_sweeper_go(cone_sweeper* s, cone_run* run, double* r);

/// Does everything stick? One linear system (cone_stick.c). True if that solves the problem; r is
/// changed only if it became better.
bool cone_stick(const cone_work* work, cone_run* run, double* r);

/// Impulses, count times width, up to which cone_small() can be asked.
enum { CONE_SMALL = 48 };
/// A few steps of Newton's method from r, dense (cone_small.c). True if that solves the problem; r
/// is changed only if it became better.
/// Sweeps to make before that.
int64_t cone_small_worth(const cone_problem* p);
bool cone_small(const cone_work* work, cone_run* run, double* r);

/// Newton's method with a vanishing proximal term (cone_newton.c).
typedef struct cone_newton cone_newton;
/// NULL when memory is short.
cone_newton* cone_newton_new(const cone_work* work);
void cone_newton_free(cone_newton* s);
/// About how many sweeps take the time of one step.
double cone_newton_step_in_sweeps(const cone_newton* s);
/// From r until run->limit or run->tolerance, or until it fails.
void cone_newton_go(cone_newton* s, cone_run* run, double* r);

#endif

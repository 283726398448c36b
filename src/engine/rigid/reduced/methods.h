/// The methods of reduced_solve(). Each starts from impulses r and leaves its best ones there.
#ifndef TALUS_RIGID_REDUCED_METHODS_H
#define TALUS_RIGID_REDUCED_METHODS_H

#include "base/clock.h"
#include "rigid/reduced/contact.h"

/// What all methods need to know of the contacts, prepared once.
typedef struct reduced_work {
    const reduced_problem* p;
    int64_t* diagonal; ///< [count] the block on the diagonal
    double* own;       ///< [count][reduced_own_size] reduced_contact_prepare()
    bool avx2;         ///< the machine has it; the results are the same without
} reduced_work;

/// What a method is allowed and what it did.
typedef struct reduced_run {
    double tolerance;
    int64_t limit;        ///< iterations that are allowed, all calls together
    double deadline;      ///< on the clock of clock_seconds(); 0: none
    reduced_least least;  ///< of the whole that this is a part of; 0: it is the whole
    int64_t iterations;   ///< out: all calls together
    reduced_measure best; ///< of the impulses in r: in and out
    reduced_sums sums;    ///< out: what that is made of
} reduced_run;

static inline bool reduced_run_is_late(const reduced_run* run)
{
    return run->deadline > 0.0 && clock_seconds() > run->deadline;
}

static inline bool reduced_run_is_done(const reduced_run* run)
{
    return reduced_measure_meets(run->best, run->tolerance);
}

/// Measure `trial`; if it is better than r it becomes r.
void reduced_keep_better(const reduced_work* work, reduced_run* run, const double* trial,
                         double* r);

/// Sweeps of exact one-contact solutions (sweep.c). They can be stopped and go on later.
typedef struct reduced_sweeper reduced_sweeper;
/// NULL when memory is short.
reduced_sweeper* reduced_sweeper_new(const reduced_work* work, bool momentum, const double* r);
void reduced_sweeper_free(reduced_sweeper* s);
/// Go on until run->limit or run->tolerance.
void reduced_sweeper_go(reduced_sweeper* s, reduced_run* run, double* r);

/// Does everything stick? One linear system (stick.c). True if that solves the problem; r
/// is changed only if it became better.
bool reduced_stick(const reduced_work* work, reduced_run* run, double* r);

/// Impulses, count times width, up to which reduced_small() can be asked.
enum { REDUCED_SMALL = 48 };
/// A few steps of Newton's method from r, dense (small.c). True if that solves the problem;
/// r is changed only if it became better. Sweeps to make before that.
int64_t reduced_small_worth(const reduced_problem* p);
bool reduced_small(const reduced_work* work, reduced_run* run, double* r);

/// Newton's method with a vanishing proximal term (newton.c).
typedef struct reduced_newton reduced_newton;
/// NULL when memory is short.
reduced_newton* reduced_newton_new(const reduced_work* work);
void reduced_newton_free(reduced_newton* s);
/// About how many sweeps take the time of one step.
double reduced_newton_step_in_sweeps(const reduced_newton* s);
/// From r until run->limit or run->tolerance, or until it fails. `alpha` is the first proximal
/// term: the smaller, the nearer r has to be. `patient`: slow progress is worth it.
void reduced_newton_go(reduced_newton* s, reduced_run* run, double alpha, bool patient, double* r);

/// An interior point method (interior.c).
typedef struct reduced_interior reduced_interior;
/// NULL when memory is short, and of problems with rolling.
reduced_interior* reduced_interior_new(const reduced_work* work);
void reduced_interior_free(reduced_interior* s);
/// Until run->limit or run->tolerance, or until it gains nothing more. Of r only the size counts.
void reduced_interior_go(reduced_interior* s, reduced_run* run, double* r);

#endif

/// Time integrators of the soft method: one step of x'' = a(x, x', t) for many plain numbers.
///
/// Each of them takes the state to a time of evaluation (predict), has the accelerations found
/// there by the caller, once a step, and finishes the step (correct). A step may be negative, and
/// its length may change from step to step: derivatives are kept in their own units. No number sees
/// another one, so that the bits depend neither on threads nor on vector width.
#ifndef TALUS_SOFT_INTEGRATOR_H
#define TALUS_SOFT_INTEGRATOR_H

#include <stdint.h>
#include <talus/soft.h>

enum { INTEGRATOR_KEPT = 4 }; ///< derivatives beyond the first that an integrator keeps, at most

/// Coordinates that an integrator moves: plain numbers, each for itself.
typedef struct coordinates {
    int64_t count;
    double* x;                  ///< [count] positions, or turns since the step began
    double* v;                  ///< [count] their rates
    double* d[INTEGRATOR_KEPT]; ///< [count] second to fifth time derivative, as many as the
                                ///< integrator keeps; the rest NULL
} coordinates;

typedef struct integrator {
    const char* name;    ///< as in scenes: "gear5", "gear3", "verlet", "leapfrog"
    int kept;            ///< derivatives beyond v that are state: 4, 2, 1, 1
    int order;           ///< of the error after a given time, for smooth forces that depend on
                         ///< positions and velocities
    double evaluates_at; ///< time of the force evaluation in steps: 1 (end of the step) or 0.5
    /// A step h of an oscillator of angular frequency omega, damped at the rate r
    /// (x'' = -omega^2 x - r x'), does not blow up while (omega h/stable)^2 + r h/stable_rate < 1:
    /// there an eigenvalue of the step's matrix passes -1. Exact, see docs/soft.md.
    double stable, stable_rate;
    /// Largest omega h at which an oscillation without damping does not grow. Where it is less than
    /// `stable`, the growth between both is slow and stopped by a little damping.
    double steady;
    /// Move x, v and the derivatives of the numbers [first, last) to their prediction at the time
    /// of evaluation.
    void (*predict)(const coordinates* c, double h, int64_t first, int64_t last);
    /// With the accelerations found there: the state at the end of the step.
    void (*correct)(const coordinates* c, const double* acceleration, double h, int64_t first,
                    int64_t last);
} integrator;

extern const integrator gear5_integrator, gear3_integrator, verlet_integrator, leapfrog_integrator;

/// The integrator that the options ask for.
const integrator* integrator_of(talus_integrator kind);

#endif

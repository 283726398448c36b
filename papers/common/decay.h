/// How fast an oscillation dies out: the maxima of the kinetic energy, the time t_R of their decay
/// exp(-t/t_R) (PLMH 12), and the step T_t below which it no longer depends on the step (PLMH 13).
#ifndef TALUS_PAPER_DECAY_H
#define TALUS_PAPER_DECAY_H

#include "paper.h"

#include <complex.h>

/// A kinetic energy at all times at which it was looked at, and its maxima, in the order of time.
typedef struct decay {
    int64_t looks;
    double *look_time, *look_energy;
    int64_t count; ///< of maxima
    double *time, *energy;
} decay;

/// Step a world by steps h until the time `end` and note its kinetic energy and the maxima of it.
/// It is looked at every `look` (or every step, if h is longer); a parabola through three values
/// gives a maximum. Memory belongs to the frame.
talus_status decay_record(paper* p, talus_world* world, double h, double look, double end,
                          decay* out);

/// t_R from the maxima between two times: the straight line through their logarithms. NaN if there
/// are fewer than two.
double decay_time(const decay* d, double from, double to);

/// Keep every `stride`-th look only, for a drawing, with times in units of `unit`.
void decay_thin(decay* d, int64_t stride, double unit);

// ---- t_R against the step ----------------------------------------------------------------------

enum { DECAY_STEPS = 13 };
extern const double decay_steps[DECAY_STEPS]; ///< 0.1 to 1e-5, in t_c

/// The step at which t_R is below its limit by the part `level`: between measured points, for
/// descending steps, on a straight line of logarithms. NaN if they are all on one side.
double decay_onset(int count, const double* step, const double* t_r, double limit, double level);

/// t_R of theory for a step of `part` t_c; 0: exact.
typedef double decay_theory(const void* what, double part);
/// The step, in t_c, at which t_R of theory is below its limit by the part `level`.
double decay_onset_theory(decay_theory* t_r, const void* what, double level);

/// beta = nu/(2 sqrt(k m_r)) for a restitution (PLMH 8).
double decay_damping(double restitution);
/// Elongation that Cundall's sum of v h (PLMH 7) has, over the slip, in a motion exp(z t): z h/(1 -
/// exp(-z h)), which is 1 + z h/2 for small steps: a spring k_t then acts like a spring with a
/// dashpot k_t h/2. h = 0: 1.
double complex decay_carried(double complex z, double h);

#endif

/// How fast an oscillation dies out: the maxima of the kinetic energy, and the time t_R of their
/// decay exp(-t/t_R) (PLMH 12).
#ifndef TALUS_PAPER_DECAY_H
#define TALUS_PAPER_DECAY_H

#include "paper.h"

/// Maxima of a kinetic energy, in the order of time.
typedef struct decay {
    int64_t count;
    double* time;
    double* energy;
} decay;

/// Step a world by steps h until the time `end` and note the maxima of its kinetic energy. It is
/// looked at every `look` (or every step, if h is longer); a parabola through three values gives a
/// maximum. Memory belongs to the frame.
talus_status decay_record(paper* p, talus_world* world, double h, double look, double end,
                          decay* out);

/// t_R from the maxima between two times: the straight line through their logarithms. NaN if there
/// are fewer than two.
double decay_time(const decay* d, double from, double to);

/// The step at which t_R is below its limit by the part `level`: between measured points, for
/// descending steps, on a straight line of logarithms. NaN if they are all on one side.
double decay_onset(int count, const double* step, const double* t_r, double limit, double level);

#endif

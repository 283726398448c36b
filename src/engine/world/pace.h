/// How many of its threads a world's steps use: all of them, or one.
///
/// On a machine that others use too, the thread that has work waits for one that has no core:
/// beside one other process a step of 10^4 disks took two threads 72 ms, and one thread 43. The
/// bits do not depend on threads, so a clock may decide. Now and then a few steps are made in turn
/// by all threads and by one; whoever takes less time for the same work makes the steps until the
/// next trial.
#ifndef TALUS_WORLD_PACE_H
#define TALUS_WORLD_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct thread_pace {
    int allowed;                ///< threads, by the user
    int threads;                ///< that the coming step is to use: `allowed` or 1
    bool alone;                 ///< one thread was faster in the last trial
    int64_t pause;              ///< steps between two trials
    int64_t left;               ///< of the pause, steps
    int tried;                  ///< steps of the trial that is on
    double seconds[2], work[2]; ///< in the trial, by all threads and by one
} thread_pace;

/// All threads, until a first trial.
thread_pace pace_begin(int allowed);
/// A step is done that took so long for so much work, in any unit: sets the threads of the next
/// one.
void pace_step(thread_pace* p, double seconds, double work);

#endif

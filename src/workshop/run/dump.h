/// Hard steps of a run as contact problems in the layout of FCLIB (--dump-problems).
#ifndef TALUS_RUN_DUMP_H
#define TALUS_RUN_DUMP_H

#include "base/log.h"

#include <talus/world.h>

typedef struct dump {
    int64_t most;          ///< files to be written at most; 0: nothing is dumped
    const char* directory; ///< of the run
    const char* title;     ///< of the scene
    bool reduced_units;
    log_sink log;
    int64_t step;     ///< being done, counted from 1
    int64_t attempt;  ///< how many solves this step has had
    int64_t sweeps;   ///< most sweeps of a problem that was looked at
    int64_t stubborn; ///< solves that did not converge
    int64_t written;  ///< files
    int64_t richer;   ///< problems with laws that FCLIB has no words for
    int64_t larger;   ///< problems too large for a file
} dump;

/// Look at every solve of the world from now on. `d` must stay where it is.
void dump_begin(dump* d, talus_world* world);
/// A new step begins.
void dump_step(dump* d, int64_t step);
/// A sentence for the verdict; false if nothing was to be dumped.
bool dump_verdict(const dump* d, char* text, size_t size);

#endif

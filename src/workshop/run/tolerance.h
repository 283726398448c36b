/// What a looser or a tighter tolerance of the contact solver would cost.
#ifndef TALUS_RUN_TOLERANCE_H
#define TALUS_RUN_TOLERANCE_H

#include <talus/world.h>

enum { TOLERANCE_COUNT = 3, TOLERANCE_WORDS = 400 };

/// Sweeps of one step, as the solver is set and with other tolerances.
typedef struct tolerance_cost {
    bool known; ///< tolerances matter: there are contacts, the rule is `rigid`, and the world is
                ///< not too large to try
    int64_t sweeps;                ///< as it is set
    int64_t with[TOLERANCE_COUNT]; ///< with those of tolerance_tried()
    bool reached[TOLERANCE_COUNT]; ///< within max_sweeps
} tolerance_cost;

/// The tolerances that are tried, the loosest first.
double tolerance_tried(int index);
/// Take the step of length h that would come next, on copies of the world; the world is left alone.
tolerance_cost tolerance_measure(const talus_world* world, double h);
/// "solver.tolerance 0.1 takes 40 sweeps, 0.01 takes 79 (as set), ..."
void tolerance_words(const tolerance_cost* cost, char out[TOLERANCE_WORDS]);
/// The tightest of those tried that costs at most twice what is set now; 0: none is tighter.
double tolerance_worth(const tolerance_cost* cost);

#endif

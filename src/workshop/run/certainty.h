/// How exact the steps of a run were, in words that claim no more than is known (method contact).
///
/// A step has an estimate of the error of its velocities and a certificate, an upper bound on it
/// (docs/theory.md). What is said of a run is said of its certificates; the estimate is named as
/// such. A step without a bound below 100 % is not certified: nothing is proved of its error.
/// A step that did not meet its stopping rule is not called rigid.
#ifndef TALUS_RUN_CERTAINTY_H
#define TALUS_RUN_CERTAINTY_H

#include <talus/world.h>

/// What counts as certain of a run.
typedef struct certainty {
    double level;  ///< smallest of talus_certified_level() that nearly all steps are within; 1 if
                   ///< none below infinity is
    int64_t steps; ///< that are within it
    bool most;     ///< these are nearly all steps
} certainty;

certainty certainty_of(const talus_totals* totals);

/// Who speaks, and of what world.
typedef struct certainty_speech {
    int dim;
    bool reduced_units; ///< times without their unit
} certainty_speech;

/// "certified within 3.1 %" or "not certified", of one step.
void certainty_of_step(const talus_rigidity* step, char* text, size_t size);
/// "estimated 0.8 %", "estimated 100 % or more", of talus_rigidity.velocity_error.
void certainty_estimate(double velocity_error, char* text, size_t size);
/// "cluster of 200 grains near (0.1, 0.2), grain 17": the worst one of a step; empty if nothing
/// touches.
void certainty_cluster(const certainty_speech* speech, const talus_rigidity* step, char* text,
                       size_t size);

/// Lines of the verdict. "Exactness: ...": what is certified, what is only estimated and why, and
/// whether the run was rigid;
void certainty_tell_exactness(const certainty_speech* speech, const talus_totals* totals,
                              char* text, size_t size);
/// "Audits: ...": what they found; empty if there were none. *failed tells that a claim did not
/// hold.
void certainty_tell_audits(const talus_totals* totals, bool* failed, char* text, size_t size);

#endif

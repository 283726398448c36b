#include "run/certainty.h"

#include "base/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Nearly all steps of a run.
static const double NEARLY_ALL = 0.95;
/// A run is rigid if all its steps are certified within this, half of the estimate from which on
/// steps are called yielding (world/diagnose.c).
static const double RIGID = 0.1;
/// Audits that judged less than this part of the grains that touch say little of a run.
static const double MUCH = 0.5;

static int64_t steps_within(const talus_totals* t, double level)
{
    int64_t sum = 0;
    for (int k = 0; k < TALUS_CERTIFIED_LEVELS && talus_certified_level(k) <= level; k++) {
        sum += t->certified[k];
    }
    return sum;
}

/// The smallest level that at least so many steps are within, infinite if none is.
static double level_of(const talus_totals* t, double steps)
{
    int k = 0;
    while (k < TALUS_CERTIFIED_LEVELS - 1 &&
           (double)steps_within(t, talus_certified_level(k)) < steps) {
        k++;
    }
    return talus_certified_level(k);
}

certainty certainty_of(const talus_totals* t)
{
    const double level = fmin(level_of(t, NEARLY_ALL * (double)t->steps), 1.0);
    const int64_t steps = steps_within(t, level);
    return (certainty){level, steps, (double)steps >= NEARLY_ALL * (double)t->steps};
}

void certainty_of_step(const talus_rigidity* step, char* text, size_t size)
{
    char bound[BOUND_WORDS];
    bound_words(step->certified, bound);
    const bool certified = step->certified <= 1.0;
    snprintf(text, size, certified ? "certified within %s" : "not certified", bound);
}

enum { ESTIMATE_WORDS = 20 };

/// "8 %", "100 % or more".
static void estimate_words(double velocity_error, char text[ESTIMATE_WORDS])
{
    const double percent = 100.0 * velocity_error;
    snprintf(text, ESTIMATE_WORDS, percent < 99.5 ? "%.2g %%" : "100 %% or more", percent);
}

void certainty_estimate(double velocity_error, char* text, size_t size)
{
    char percent[ESTIMATE_WORDS];
    estimate_words(velocity_error, percent);
    snprintf(text, size, "estimated %s", percent);
}

static void name_cluster(const certainty_speech* speech, int64_t grains, int64_t grain,
                         const double place[3], char* text, size_t size)
{
    char near[96] = "";
    if (grain >= 0 && speech->dim == 2) {
        snprintf(near, sizeof near, " near (%.4g, %.4g), grain %" PRId64, place[0], place[1],
                 grain);
    } else if (grain >= 0) {
        snprintf(near, sizeof near, " near (%.4g, %.4g, %.4g), grain %" PRId64, place[0], place[1],
                 place[2], grain);
    }
    text[0] = '\0';
    if (grains > 0) {
        snprintf(text, size, "cluster of %" PRId64 " grain%s%s", grains, plural(grains), near);
    }
}

void certainty_cluster(const certainty_speech* speech, const talus_rigidity* step, char* text,
                       size_t size)
{
    name_cluster(speech, step->cluster_grains, step->cluster_grain, step->cluster_place, text,
                 size);
}

/// Append to what is said of a run.
static void add_words(char* text, size_t size, const char* format, ...) TALUS_PRINTF(3, 4);
static void add_words(char* text, size_t size, const char* format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/// Steps in which an audit found a claim to be false.
static int64_t audits_failed(const talus_totals* t)
{
    return t->audits - t->audits_unanswered - t->audits_held;
}

/// Rigid is a run that is known to be: nothing unmet, nothing uncertain, no claim found false.
static bool was_rigid(const talus_totals* t)
{
    return t->unconverged == 0 && audits_failed(t) == 0 && steps_within(t, RIGID) == t->steps;
}

/// "t = 0.062 s, cluster of 12 grains": the largest bound, or the first step without one.
static void name_worst(const certainty_speech* speech, const talus_totals* t, char* text,
                       size_t size)
{
    char cluster[160];
    name_cluster(speech, t->worst_grains, t->worst_grain, t->worst_place, cluster, sizeof cluster);
    snprintf(text, size, "t = %.6g%s%s%s", t->worst_time, speech->reduced_units ? "" : " s",
             cluster[0] ? ", " : "", cluster);
}

/// Of a run in which nearly all steps have a bound.
static void tell_levels(const talus_totals* t, const certainty* known, const char* where,
                        char* text, size_t size)
{
    char level[BOUND_WORDS], worst[BOUND_WORDS], estimate[32];
    bound_words(known->level, level);
    bound_words(t->worst_certified, worst);
    certainty_estimate(t->worst_estimate, estimate, sizeof estimate);
    if (known->steps == t->steps) {
        add_words(text, size, "velocities are certified within %s in all steps (%s at most).",
                  level, estimate);
        return;
    }
    add_words(text, size,
              "velocities are certified within %s in %" PRId64 " of %" PRId64
              " steps (%s at most); the worst, %s, at %s.",
              level, known->steps, t->steps, estimate,
              t->worst_certified <= 1.0 ? worst : "not certified", where);
}

/// Of a run in which many steps have no bound: the estimate, and whether that is as it should be.
/// What slides has a bound only if it is solved far better than anybody needs; what does not, and
/// has none, is solved badly.
static void tell_unproved(const talus_totals* t, const char* where, char* text, size_t size)
{
    const int64_t unproved = t->certified[TALUS_CERTIFIED_LEVELS - 1];
    const int64_t stuck = unproved - t->unproved_sliding;
    char estimate[ESTIMATE_WORDS], level[BOUND_WORDS];
    estimate_words(t->worst_estimate, estimate);
    add_words(text, size, "velocities are estimated to be off by %s at most, and certified ",
              estimate);
    if (unproved < t->steps) {
        bound_words(level_of(t, (double)(t->steps - unproved)), level);
        add_words(text, size, "within %s in %" PRId64 " of %" PRId64 " steps.", level,
                  t->steps - unproved, t->steps);
    } else {
        add_words(text, size, "in no step.");
    }
    if (t->unproved_sliding > 0) {
        add_words(text, size,
                  " In %" PRId64
                  " uncertified steps contacts slide: there, as in most flows, proofs are rare.",
                  t->unproved_sliding);
    }
    if (stuck > 0) {
        add_words(
            text, size,
            " In %" PRId64
            " uncertified steps nothing slides: these are solved too coarsely for a proof, and "
            "the estimate may be far too small. The first uncertified step is at %s.",
            stuck, where);
    }
}

void certainty_tell_exactness(const certainty_speech* speech, const talus_totals* t, char* text,
                              size_t size)
{
    snprintf(text, size, "Exactness: ");
    if (t->worst_certified == 0.0) {
        add_words(text, size, "contacts left no error in any step.");
        return;
    }
    const certainty known = certainty_of(t);
    char where[224];
    name_worst(speech, t, where, sizeof where);
    add_words(text, size, "relative to what contacts do, ");
    if (known.most) {
        tell_levels(t, &known, where, text, size);
    } else {
        tell_unproved(t, where, text, size);
    }
    const int64_t frozen = t->frozen_friction - t->unproved_sliding;
    if (frozen > 0) {
        add_words(text, size,
                  " Contacts slid in %" PRId64
                  " certified step%s: there the bound is for the friction bounds of the step.",
                  frozen, plural(frozen));
    }
    if (t->yielding > 0) {
        add_words(text, size,
                  " The run was yielding in %.3g %% of its steps: estimated to be off by more than "
                  "20 %%, as if the grains gave way.",
                  100.0 * (double)t->yielding / (double)t->steps);
    } else if (was_rigid(t)) {
        add_words(text, size, " The run was rigid in all its steps.");
    }
}

/// How much of the run audits could judge: what is certified, and in a flow these may be a few
/// grains in flight.
static void tell_judged(const talus_totals* t, char* text, size_t size)
{
    const double share =
        t->audit_touching > 0 ? (double)t->audit_grains / (double)t->audit_touching : 0.0;
    if (share < MUCH) {
        add_words(text, size,
                  " But only clusters of up to %" PRId64
                  " grain%s could be judged, %.2g %% of the grains that touch.",
                  t->audit_largest, plural(t->audit_largest), 100.0 * share);
    } else {
        add_words(text, size, " %.3g %% of the grains that touch were judged.", 100.0 * share);
    }
}

void certainty_tell_audits(const talus_totals* t, bool* failed, char* text, size_t size)
{
    const int64_t judged = t->audits - t->audits_unanswered;
    *failed = audits_failed(t) > 0;
    text[0] = '\0';
    if (t->audits == 0) return;
    if (*failed) {
        add_words(text, size,
                  "an audit failed: of %" PRId64
                  " step%s solved again by an independent method %" PRId64
                  " had a larger error than was claimed, up to %.3g times the claim. The "
                  "certificate of this run cannot be relied on, though later steps were solved to "
                  "a smaller tolerance.",
                  judged, plural(judged), audits_failed(t), t->audit_most);
    } else if (judged > 0) {
        add_words(text, size,
                  "Audits: %" PRId64
                  " step%s solved again by an independent method; the claim held in all",
                  judged, plural(judged));
        if (t->audit_most > 0.0) {
            add_words(text, size, ", and the true error was %.2g of it at most", t->audit_most);
        }
        add_words(text, size, ".");
        tell_judged(t, text, size);
    } else {
        add_words(text, size, "Audits: the independent method found no answer exact enough.");
    }
    if (judged > 0 && t->audits_unanswered > 0) {
        add_words(text, size, " %" PRId64 " more %s too hard for that method.",
                  t->audits_unanswered, t->audits_unanswered == 1 ? "was" : "were");
    }
}

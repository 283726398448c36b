#include "run/certainty.h"

#include "base/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

/// The smallest level that at least this part of all steps is within, infinite if none is.
static double level_of(const talus_totals* t, double part)
{
    int k = 0;
    while (k < TALUS_CERTIFIED_LEVELS - 1 &&
           (double)steps_within(t, talus_certified_level(k)) < part * (double)t->steps) {
        k++;
    }
    return talus_certified_level(k);
}

certainty certainty_of(const talus_totals* t)
{
    const double level = fmin(level_of(t, NEARLY_ALL), 1.0);
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

void certainty_estimate(double velocity_error, char* text, size_t size)
{
    const double percent = 100.0 * velocity_error;
    snprintf(text, size, percent < 99.5 ? "estimated %.2g %%" : "estimated 100 %% or more",
             percent);
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

/// "certified within 5 % in 149 of 150 steps, worst 5.3 % at t = 0.062 s, cluster of 12 grains".
static void tell_levels(const talus_totals* t, const certainty* known, const char* where,
                        char* text, size_t size)
{
    char level[BOUND_WORDS], worst[BOUND_WORDS] = "without a bound";
    bound_words(known->level, level);
    if (t->worst_certified <= 1.0) bound_words(t->worst_certified, worst);
    snprintf(text, size,
             "velocities are certified within %s in %" PRId64 " of %" PRId64 " step%s, worst %s%s",
             level, known->steps, t->steps, plural(t->steps), worst, where);
}

/// What is said where many steps have no bound: how many, and whether that is as it should be. What
/// slides has one only if it is solved far better than anybody needs; what does not, and has none,
/// is solved badly.
static void tell_unproved(const talus_totals* t, const char* where, char* text, size_t size)
{
    const int64_t unproved = t->certified[TALUS_CERTIFIED_LEVELS - 1];
    const int64_t doubtful = unproved - t->unproved_sliding;
    char some[96] = "no step is certified", slides[128] = "", stuck[160] = "", level[BOUND_WORDS];
    if (unproved < t->steps) {
        bound_words(level_of(t, (double)(t->steps - unproved) / (double)t->steps), level);
        snprintf(some, sizeof some,
                 "velocities are certified within %s in %" PRId64 " of %" PRId64 " steps only",
                 level, t->steps - unproved, t->steps);
    }
    if (t->unproved_sliding > 0) {
        snprintf(slides, sizeof slides,
                 "; in %" PRId64
                 " without a bound contacts slide, where it is rarely proved, as in most flows",
                 t->unproved_sliding);
    }
    if (doubtful > 0) {
        snprintf(stuck, sizeof stuck,
                 "; in %" PRId64
                 " without a bound nothing slides: these are solved too coarsely, and estimates of "
                 "them may be far too small",
                 doubtful);
    }
    snprintf(text, size, "%s%s%s; the first one%s", some, slides, stuck, where);
}

void certainty_tell_bounds(const certainty_speech* speech, const talus_totals* t, char* text,
                           size_t size)
{
    if (t->worst_certified == 0.0) {
        snprintf(text, size, "Certificate: contacts left no error in any step.");
        return;
    }
    const certainty known = certainty_of(t);
    char cluster[160] = "", where[224], words[512], estimate[32], frozen[128] = "";
    name_cluster(speech, t->worst_grains, t->worst_grain, t->worst_place, cluster, sizeof cluster);
    snprintf(where, sizeof where, " at t = %.6g%s%s%s", t->worst_time,
             speech->reduced_units ? "" : " s", cluster[0] ? ", " : "", cluster);
    if (known.most) {
        tell_levels(t, &known, where, words, sizeof words);
    } else {
        tell_unproved(t, where, words, sizeof words);
    }
    if (t->frozen_friction > t->unproved_sliding) {
        const int64_t sliding = t->frozen_friction - t->unproved_sliding;
        snprintf(frozen, sizeof frozen,
                 " Contacts slid in the worst clusters of %" PRId64
                 " certified step%s: there it is for the friction bounds of the step.",
                 sliding, plural(sliding));
    }
    certainty_estimate(t->worst_estimate, estimate, sizeof estimate);
    snprintf(text, size, "Certificate: relative to what contacts do, %s; %s at worst.%s", words,
             estimate, frozen);
}

/// Steps in which an audit found a claim to be false.
static int64_t audits_failed(const talus_totals* t)
{
    return t->audits - t->audits_unanswered - t->audits_held;
}

void certainty_tell_rigidity(const talus_totals* t, char* text, size_t size)
{
    char level[BOUND_WORDS];
    const int64_t doubtful = t->steps - steps_within(t, RIGID), failed = audits_failed(t);
    if (t->unconverged == 0 && doubtful == 0 && failed == 0) {
        bound_words(level_of(t, 1.0), level);
        snprintf(text, size,
                 "Rigidity: this run was rigid in all its steps: each met its stopping rule and is "
                 "certified within %s.",
                 level);
        return;
    }
    if (t->yielding > 0) {
        snprintf(
            text, size,
            "Rigidity: this run was yielding in %.3g %% of its steps: their velocities are "
            "estimated to be off by more than 20 %% of what the contacts do to them, as if the "
            "grains gave way.",
            100.0 * (double)t->yielding / (double)t->steps);
        return;
    }
    char unmet[64] = "", unsure[64] = "", false_claim[64] = "";
    const bool several = (t->unconverged > 0) + (doubtful > 0) + (failed > 0) > 1;
    if (t->unconverged > 0) {
        snprintf(unmet, sizeof unmet, " %" PRId64 " did not meet the stopping rule%s",
                 t->unconverged, several ? "," : "");
    }
    if (doubtful > 0) {
        snprintf(unsure, sizeof unsure, " %" PRId64 " %s not certified within 10 %%%s", doubtful,
                 doubtful == 1 ? "is" : "are", failed > 0 ? "," : "");
    }
    if (failed > 0)
        snprintf(false_claim, sizeof false_claim, " %" PRId64 " failed an audit", failed);
    snprintf(
        text, size,
        "Rigidity: no step is estimated to be off by more than 20 %%, but%s%s%s. Such steps do "
        "not count as rigid.",
        unmet, unsure, false_claim);
}

/// "true error 0.1 to 0.6 of it", and how much of the run that is said of: audits judge clusters
/// that are certified, and in a flow these may be a few grains in flight.
static void tell_judged(const talus_totals* t, char* text, size_t size)
{
    const double share =
        t->audit_touching > 0 ? (double)t->audit_grains / (double)t->audit_touching : 0.0;
    char errors[64] = "without an error beyond rounding", which[128];
    if (t->audit_most > 0.0) {
        snprintf(errors, sizeof errors, "true error %.2g to %.2g of it", t->audit_least,
                 t->audit_most);
    }
    if (share < MUCH) {
        snprintf(which, sizeof which,
                 "; but only clusters of up to %" PRId64
                 " grain%s could be judged, %.2g %% of the grains that touch",
                 t->audit_largest, plural(t->audit_largest), 100.0 * share);
    } else {
        snprintf(which, sizeof which, "; %.3g %% of the grains that touch were judged",
                 100.0 * share);
    }
    snprintf(text, size, "%s%s", errors, which);
}

void certainty_tell_audits(const talus_totals* t, bool* failed, char* text, size_t size)
{
    const int64_t judged = t->audits - t->audits_unanswered;
    char open[96] = "", errors[224];
    *failed = audits_failed(t) > 0;
    text[0] = '\0';
    if (t->audits == 0) return;
    if (t->audits_unanswered > 0) {
        snprintf(open, sizeof open, "; %" PRId64 " more %s too hard to be judged",
                 t->audits_unanswered, t->audits_unanswered == 1 ? "was" : "were");
    }
    tell_judged(t, errors, sizeof errors);
    if (*failed) {
        snprintf(text, size,
                 "an audit failed: of %" PRId64
                 " step%s solved again by an independent method %" PRId64
                 " had a larger error than was claimed, up to %.3g times the claim%s. The "
                 "certificate of this run cannot be relied on, though later steps were solved to a "
                 "smaller tolerance.",
                 judged, plural(judged), audits_failed(t), t->audit_most, open);
    } else if (judged == 0) {
        snprintf(text, size,
                 "Audits: none of the %" PRId64
                 " steps that were solved again by an independent method could be judged.",
                 t->audits);
    } else {
        snprintf(text, size,
                 "Audits: audited %" PRId64
                 " step%s by an independent method: claim held in %" PRId64 ", %s%s.",
                 judged, plural(judged), t->audits_held, errors, open);
    }
}

/// What a run says of its exactness, from made-up totals: never more than is known.
#include "support.h"

#include "base/words.h"
#include "run/certainty.h"

#include <math.h>
#include <string.h>

enum { WITHIN_1 = 3, WITHIN_2 = 4, WITHIN_5 = 5, WITHIN_10 = 6, WITHIN_100 = 9, BEYOND = 10 };

static const certainty_speech in_space = {.dim = 3}, in_the_plane = {.dim = 2};

/// Steps by level; the worst of them is somewhere in the highest level that has any.
static talus_totals made(const int64_t by_level[TALUS_CERTIFIED_LEVELS])
{
    talus_totals t = {.worst_estimate = 0.0061,
                      .worst_time = 0.25,
                      .worst_grains = 12,
                      .worst_grain = 7,
                      .worst_place = {0.1, -0.2, 0.3}};
    for (int k = 0; k < TALUS_CERTIFIED_LEVELS; k++) {
        t.certified[k] = by_level[k];
        t.steps += by_level[k];
        if (by_level[k] > 0) t.worst_certified = fmin(0.999 * talus_certified_level(k), 3.1);
    }
    return t;
}

static void check_has(const char* text, const char* words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" lacks \"%s\"", text, words);
}

static void check_lacks(const char* text, const char* words)
{
    if (strstr(text, words)) fail_msg("\"%s\" has \"%s\"", text, words);
}

// ---- bounds in words ---------------------------------------------------------------------------

/// What is printed is never below the bound, and above it by less than a tenth.
static void test_bounds_are_rounded_up(void** state)
{
    (void)state;
    char text[BOUND_WORDS];
    for (double bound = 1.07e-6; bound <= 10.0; bound *= 1.0371) {
        bound_words(bound, text);
        const double said = strtod(text, NULL) / 100.0;
        // 1e-8: the slack for numbers that are round but for rounding, and six digits of print.
        assert_true(said >= bound * (1.0 - 1e-8));
        assert_true(said <= bound * 1.1 + 1e-7);
        assert_non_null(strstr(text, " %"));
    }
    static const struct {
        double bound;
        const char* words;
    } cases[] = {{0.0, "0 %"},          {0.02, "2 %"},          {0.0304, "3.1 %"},
                 {0.31, "31 %"},        {1.0, "100 %"},         {1.01, "110 %"},
                 {10.1, "over 1000 %"}, {INFINITY, "no bound"}, {NAN, "no bound"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bound_words(cases[i].bound, text);
        assert_string_equal(text, cases[i].words);
    }
}

// ---- the level ---------------------------------------------------------------------------------

static void test_level_holds_nearly_all_steps(void** state)
{
    (void)state;
    // 95 of 100 within 1 %: that is the level. 94: it is not, and the next one is.
    talus_totals t =
        made((int64_t[TALUS_CERTIFIED_LEVELS]){[0] = 50, [WITHIN_1] = 45, [BEYOND] = 5});
    certainty c = certainty_of(&t);
    assert_true(c.most && c.level == 0.01 && c.steps == 95);
    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){
        [0] = 50, [WITHIN_1] = 44, [WITHIN_2] = 1, [WITHIN_100] = 5});
    c = certainty_of(&t);
    assert_true(c.most && c.level == 0.02 && c.steps == 95);
    // All in one level, and one step alone.
    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[WITHIN_5] = 1});
    c = certainty_of(&t);
    assert_true(c.most && c.level == 0.05 && c.steps == 1);
    // Not even 100 % holds for 95 of 100.
    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[0] = 90, [WITHIN_100] = 4, [BEYOND] = 6});
    c = certainty_of(&t);
    assert_true(!c.most && c.level == 1.0 && c.steps == 94);
}

static void test_exactness_of_a_run(void** state)
{
    (void)state;
    char text[800];
    talus_totals t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[WITHIN_2] = 98, [WITHIN_5] = 2});
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    assert_string_equal(
        text, "Exactness: relative to what contacts do, velocities are certified within 2 % in 98 "
              "of 100 steps (estimated 0.61 % at most); the worst, 5 %, at t = 0.25 s, cluster of "
              "12 grains near (0.1, -0.2, 0.3), grain 7. The run was rigid in all its steps.");
    certainty_tell_exactness(&(certainty_speech){.dim = 2, .reduced_units = true}, &t, text,
                             sizeof text);
    check_has(text, "5 %, at t = 0.25, cluster of 12 grains near (0.1, -0.2), grain 7.");
    // A cluster of which only a mobile wall could be named.
    t.worst_grain = -1;
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_has(text, "cluster of 12 grains. The");
    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[WITHIN_2] = 100});
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_has(text, "within 2 % in all steps (estimated 0.61 % at most). The run");
}

static void test_steps_beyond_all_bounds(void** state)
{
    (void)state;
    char text[800];
    // A flow: that bounds are rare is said, and no more is made of it than the estimate.
    talus_totals t =
        made((int64_t[TALUS_CERTIFIED_LEVELS]){[WITHIN_1] = 50, [WITHIN_5] = 10, [BEYOND] = 40});
    t.worst_certified = INFINITY;
    t.unproved_sliding = 40;
    t.frozen_friction = 43;
    t.worst_estimate = 0.096;
    certainty_tell_exactness(&in_the_plane, &t, text, sizeof text);
    assert_string_equal(
        text, "Exactness: relative to what contacts do, velocities are estimated to be off by "
              "9.6 % at most, and certified within 5 % in 60 of 100 steps. In 40 uncertified steps "
              "contacts "
              "slide: there, as in most flows, proofs are rare. Contacts slid in 3 certified "
              "steps: there the bound is for the friction bounds of the step.");
    // A few steps without a bound among many that have one.
    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[WITHIN_1] = 98, [BEYOND] = 2});
    certainty_tell_exactness(&in_the_plane, &t, text, sizeof text);
    check_has(text, "98 of 100 steps (estimated 0.61 % at most); the worst, not certified, at t =");
    check_lacks(text, "rigid");
    // The level is that of all steps that have one, whatever 28/400 times 400 is.
    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[WITHIN_1] = 28, [BEYOND] = 372});
    certainty_tell_exactness(&in_the_plane, &t, text, sizeof text);
    check_has(text, "certified within 1 % in 28 of 400 steps.");
    // A beam: where nothing slides there should be bounds, and estimates are not to be relied on.
    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[BEYOND] = 40});
    t.worst_certified = INFINITY;
    t.worst_estimate = 0.02;
    certainty_tell_exactness(&in_the_plane, &t, text, sizeof text);
    check_has(
        text,
        "estimated to be off by 2 % at most, and certified in no step. In 40 "
        "uncertified steps nothing "
        "slides: these are solved too coarsely for a proof, and the estimate may be far too small. "
        "The first uncertified step is at t = 0.25 s, cluster");
    check_lacks(text, "certified within");
    check_lacks(text, "flows");
    // Both, and all of it fits.
    t.unproved_sliding = 15;
    t.frozen_friction = 20;
    t.yielding = 7;
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_has(text, "In 15 uncertified steps contacts slide");
    check_has(text, "In 25 uncertified steps nothing slides");
    check_has(text, "as if the grains gave way.");
    // Of a step beyond 100 % no number is claimed, however good its estimate.
    char words[64];
    certainty_of_step(&(talus_rigidity){.certified = 1.01, .velocity_error = 1e-3}, words,
                      sizeof words);
    assert_string_equal(words, "not certified");
    certainty_of_step(&(talus_rigidity){.certified = NAN}, words, sizeof words);
    assert_string_equal(words, "not certified");
}

static void test_no_contacts(void** state)
{
    (void)state;
    char text[640];
    talus_totals t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[0] = 30});
    t.worst_certified = 0.0;
    t.worst_grains = 0;
    t.worst_grain = -1;
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    assert_string_equal(text, "Exactness: contacts left no error in any step.");
    certainty_cluster(&in_space, &(talus_rigidity){.cluster_grain = -1}, text, sizeof text);
    assert_string_equal(text, "");
}

static void test_sliding_is_said(void** state)
{
    (void)state;
    char text[640];
    talus_totals t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[WITHIN_10] = 100});
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_lacks(text, "friction");
    t.frozen_friction = 31;
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_has(text,
              "Contacts slid in 31 certified steps: there the bound is for the friction bounds "
              "of the step.");
}

// ---- rigidity ----------------------------------------------------------------------------------

static void test_rigid_needs_all_of_it(void** state)
{
    (void)state;
    static const char claim[] = "The run was rigid in all its steps.";
    char text[640];
    const talus_totals good = made((int64_t[TALUS_CERTIFIED_LEVELS]){[0] = 90, [WITHIN_10] = 10});
    certainty_tell_exactness(&in_space, &good, text, sizeof text);
    check_has(text, claim);

    talus_totals t = good; // one step without convergence is enough
    t.unconverged = 1;
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_lacks(text, claim);

    t = made((int64_t[TALUS_CERTIFIED_LEVELS]){[0] = 99, [WITHIN_10 + 1] = 1});
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_lacks(text, claim);

    t = good; // a claim that was found to be false
    t.audits = 5;
    t.audits_held = 4;
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_lacks(text, claim);

    t.yielding = 25;
    certainty_tell_exactness(&in_space, &t, text, sizeof text);
    check_lacks(text, claim);
    check_has(text, "yielding in 25 % of its steps: estimated to be off by more than 20 %");
}

// ---- audits ------------------------------------------------------------------------------------

static void test_audits(void** state)
{
    (void)state;
    bool failed = true;
    char text[640];
    talus_totals t = {.steps = 1000};
    certainty_tell_audits(&t, &failed, text, sizeof text);
    assert_string_equal(text, "");
    assert_false(failed);

    t.audits = t.audits_held = 37;
    t.audit_least = 0.1;
    t.audit_most = 0.6;
    t.audit_grains = 360;
    t.audit_touching = 370;
    t.audit_largest = 10;
    certainty_tell_audits(&t, &failed, text, sizeof text);
    assert_string_equal(text, "Audits: 37 steps solved again by an independent method; the claim "
                              "held in all, and the true error was 0.6 of it at most. 97.3 % of "
                              "the grains that touch were judged.");
    assert_false(failed);

    // Little is said where little was judged, and nothing of an error that there is not.
    talus_totals few = t;
    few.audit_least = few.audit_most = 0.0;
    few.audit_grains = 5;
    few.audit_touching = 37000;
    few.audit_largest = 3;
    certainty_tell_audits(&few, &failed, text, sizeof text);
    assert_string_equal(text, "Audits: 37 steps solved again by an independent method; the claim "
                              "held in all. But only clusters of up to 3 grains could be judged, "
                              "0.014 % of the grains that touch.");

    t.audits = 39;
    t.audits_unanswered = 2;
    certainty_tell_audits(&t, &failed, text, sizeof text);
    check_has(text, "Audits: 37 steps");
    check_has(text, "2 more were too hard for that method.");
    assert_false(failed);

    t.audits_held = 36;
    t.audit_most = 1.33;
    certainty_tell_audits(&t, &failed, text, sizeof text);
    assert_true(failed);
    check_has(text, "an audit failed: of 37 steps");
    check_has(text, "1 had a larger error than was claimed, up to 1.33 times the claim");

    t = (talus_totals){.steps = 10, .audits = 4, .audits_unanswered = 4};
    certainty_tell_audits(&t, &failed, text, sizeof text);
    assert_string_equal(text, "Audits: the independent method found no answer exact enough.");
    assert_false(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_are_rounded_up),
        cmocka_unit_test(test_level_holds_nearly_all_steps),
        cmocka_unit_test(test_exactness_of_a_run),
        cmocka_unit_test(test_steps_beyond_all_bounds),
        cmocka_unit_test(test_no_contacts),
        cmocka_unit_test(test_sliding_is_said),
        cmocka_unit_test(test_rigid_needs_all_of_it),
        cmocka_unit_test(test_audits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// The certificate of a step (rigid/certificate.c) against the truth, on problems of bench/claim
/// with seeds of their own: three of every kind.
///
/// The references are solved to residuals near rounding and have to agree with each other
/// (bench/claim_truth.h); no tolerance besides: a claim holds or it does not.
#include "support.h"

#include "claim_judge.h"

/// Smaller problems than those of the bench, so that all of them take some seconds.
static const claim_effort SHORT = {.grains = 60, .references = 0.3, .stages = 4};
enum { FIRST_SEED = 70001, PROBLEMS = 3 };

static void no_certificate_is_below_the_truth(void** state)
{
    (void)state;
    claim_score all = {0};
    for (int kind = 0; kind < CLAIM_KIND_COUNT; kind++) {
        claim_score score = {0};
        for (int i = 0; i < PROBLEMS; i++) {
            judge_problem(kind, FIRST_SEED + (uint64_t)i, &SHORT, false, &score);
        }
        const claim_tally* c = &score.tally[CLAIM_CERTIFICATE];
        if (c->exceeded > 0) {
            print_message("%s: true/claimed %g, seed %llu\n", CLAIM_KINDS[kind].name, c->worst,
                          (unsigned long long)c->worst_seed);
        }
        score_add(&all, &score);
        score_free(&score);
    }
    const claim_tally* c = &all.tally[CLAIM_CERTIFICATE];
    print_message("%d problems, %d of them without a truth; %lld iterates, %lld certified, worst "
                  "true/claimed %g\n",
                  all.problems, all.without_truth, (long long)c->iterates, (long long)c->count,
                  c->worst);
    assert_int_equal(c->exceeded, 0);
    // A test that judges nothing would not fail either.
    assert_in_range(all.problems, CLAIM_KIND_COUNT * (PROBLEMS - 1), CLAIM_KIND_COUNT * PROBLEMS);
    assert_in_range(all.without_truth, 0, all.problems / 10);
    assert_in_range(c->count, 2 * all.problems, INT32_MAX);
    score_free(&all);
}

/// Problems whose claims were once below the truth, by up to 34 (docs/theory.md, "Coulomb's hole"):
/// light bodies that lift heavy ones, rollers that bear nothing, wedges that lock, masonry that may
/// stand or fall, or that fits to 5e-11 diameters.
static void old_holes_are_closed(void** state)
{
    (void)state;
    static const struct {
        const char* kind;
        uint64_t seed;
    } holes[] = {{"masses", 20004}, {"clump", 100},     {"rollers", 115}, {"rollers", 122},
                 {"rollers", 803},  {"rollers", 8017},  {"jack", 7001},   {"masonry", 7016},
                 {"jack", 103},     {"jack", 113},      {"jack", 114},    {"jack", 120},
                 {"jack", 803},     {"jack", 6015},     {"masonry", 110}, {"masonry", 800},
                 {"jack", 9101},    {"jack", 31000},    {"jack", 71016},  {"jack", 71065},
                 {"masonry", 9108}, {"masonry", 71048}, {"jack", 99037},  {"wedge", 99034}};
    const int problems = sizeof holes / sizeof *holes;
    int judged = 0;
    for (int i = 0; i < problems; i++) {
        int kind = 0;
        while (strcmp(CLAIM_KINDS[kind].name, holes[i].kind) != 0) kind++;
        claim_score score = {0};
        judge_problem(kind, holes[i].seed, &CLAIM_FULL_EFFORT, false, &score);
        const claim_tally* c = &score.tally[CLAIM_CERTIFICATE];
        if (c->exceeded > 0 || c->iterates == 0)
            print_message("%s %llu: %s\n", holes[i].kind, (unsigned long long)holes[i].seed,
                          c->exceeded > 0 ? "below the truth" : "no truth");
        judged += c->iterates > 0;
        assert_int_equal(c->exceeded, 0);
        score_free(&score);
    }
    // Solutions of some fill lines, and references may end too far apart on these to be a truth:
    // those of three do at present. Which ones is a matter of the last bits.
    assert_in_range(judged, problems - 4, problems);
}

/// The judge sees a claim that is too small: the estimate fails where it is known to.
static void a_false_claim_is_seen(void** state)
{
    (void)state;
    claim_score score = {0};
    for (int i = 0; i < 8; i++) judge_problem(0, FIRST_SEED + (uint64_t)i, &SHORT, false, &score);
    assert_string_equal(CLAIM_KINDS[0].name, "beam");
    assert_in_range(score.tally[CLAIM_ESTIMATE].exceeded, 1, INT32_MAX);
    score_free(&score);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_certificate_is_below_the_truth),
                                       cmocka_unit_test(old_holes_are_closed),
                                       cmocka_unit_test(a_false_claim_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Is what a step says about its own accuracy true? Several hundred contact problems of many kinds,
/// drawn from seeds, made to break it: claim against truth.
///
/// Every problem is solved to different degrees: a few sweeps, many sweeps, what the default solver
/// returns. For each of these iterates each cluster of bodies has a claim, an upper bound on
/// ||V - V*||_M / ||V - V_free||_M, and a truth (claim_truth.h). true/claimed above 1 is a false
/// word, and the program ends with 1. Columns of the table, by kind:
///
///     no truth          problems with a cluster whose references do not agree to 1 %: not judged
///     several answers   problems with solutions that lie apart: the nearest one counts
///     iterates          with an error to speak of; certified: of these with a claim below 100 %
///     unsure            claims that would be false but for the uncertainty of the references
///     worst, median     of true/claimed, clusters that are worst; >1: false claims
///     inverse           median of claimed/true: how sharp the certificate is
///
///     bench/claim [--kind NAME] [--seed FIRST] [--count PROBLEMS OF A KIND] [--quick] [--verbose]
///     bench/claim --list
#include "claim_judge.h"

#include <time.h>

typedef struct claim_options {
    const char* kind; ///< NULL: all
    uint64_t seed;
    int count;
    bool verbose;
    claim_effort effort;
} claim_options;

static int usage(void)
{
    fprintf(stderr,
            "claim [--kind NAME] [--seed FIRST] [--count N] [--quick] [--verbose] [--list]\n");
    return 2;
}

static void print_head(void)
{
    printf("%-14s %8s %5s %7s | %8s %9s %6s | %-36s | %s\n", "", "", "no", "several", "", "", "",
           "certificate, true/claimed", "estimate, true/claimed");
    printf("%-14s %8s %5s %7s | %8s %9s %6s | %-16s %6s %3s %8s | %-16s %6s %4s\n", "kind",
           "problems", "truth", "answers", "iterates", "certified", "unsure", "worst (seed)",
           "median", ">1", "inverse", "worst (seed)", "median", ">1");
}

static void print_score(const char* name, const claim_score* s)
{
    const claim_tally *c = &s->tally[CLAIM_CERTIFICATE], *e = &s->tally[CLAIM_ESTIMATE];
    printf("%-14s %8d %5d %7d | %8lld %9lld %6lld | %8.3g (%5llu) %6.2g %3lld %8.3g | "
           "%8.3g (%5llu) %6.2g %4lld%s%s\n",
           name, s->problems, s->without_truth, s->several, (long long)c->iterates,
           (long long)c->count, (long long)c->unsure, c->worst, (unsigned long long)c->worst_seed,
           tally_median(c, false), (long long)c->exceeded, tally_median(c, true), e->worst,
           (unsigned long long)e->worst_seed, tally_median(e, false), (long long)e->exceeded,
           s->unknown[0] ? "  no truth:" : "", s->unknown);
    fflush(stdout);
}

static int parse(int argc, char** argv, claim_options* o)
{
    for (int i = 1; i < argc; i++) {
        const char* next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            o->count = 3;
        } else if (strcmp(argv[i], "--verbose") == 0) {
            o->verbose = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            for (int k = 0; k < CLAIM_KIND_COUNT; k++) printf("%s\n", CLAIM_KINDS[k].name);
            exit(0);
        } else if (next && strcmp(argv[i], "--kind") == 0) {
            o->kind = argv[++i];
        } else if (next && strcmp(argv[i], "--seed") == 0) {
            o->seed = strtoull(argv[++i], NULL, 10);
        } else if (next && strcmp(argv[i], "--count") == 0) {
            o->count = atoi(argv[++i]);
        } else {
            return usage();
        }
    }
    return 0;
}

int main(int argc, char** argv)
{
    claim_options o = {.seed = 1, .count = 16, .effort = CLAIM_FULL_EFFORT};
    if (parse(argc, argv, &o)) return 2;
    claim_score all = {0};
    bool known = false;
    print_head();
    for (int kind = 0; kind < CLAIM_KIND_COUNT; kind++) {
        if (o.kind && strcmp(o.kind, CLAIM_KINDS[kind].name) != 0) continue;
        claim_score score = {0};
        known = true;
        for (int i = 0; i < o.count; i++) {
            judge_problem(kind, o.seed + (uint64_t)i, &o.effort, o.verbose, &score);
        }
        print_score(CLAIM_KINDS[kind].name, &score);
        score_add(&all, &score);
        score_free(&score);
    }
    if (!known) return usage();
    print_score("all", &all);
    const bool held = all.tally[CLAIM_CERTIFICATE].exceeded == 0;
    printf("%s; %.0f s of CPU time\n",
           held ? "no certificate was below the truth" : "certificates were below the truth",
           (double)clock() / CLOCKS_PER_SEC);
    score_free(&all);
    return held ? 0 : 1;
}

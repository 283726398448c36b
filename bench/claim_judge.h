/// Claim against truth for one problem of bench/claim, and the score of many.
#ifndef TALUS_BENCH_CLAIM_JUDGE_H
#define TALUS_BENCH_CLAIM_JUDGE_H

#include "claim_kinds.h"
#include "claim_truth.h"

#include "rigid/witness.h"

/// What is claimed: the certificate, and beside it the estimate that ends a solve.
enum { CLAIM_CERTIFICATE, CLAIM_ESTIMATE, CLAIM_COUNT };

/// How much is spent on a problem.
typedef struct claim_effort {
    int64_t grains;    ///< at most
    double references; ///< factor of the sweeps that references may take
    int stages;        ///< iterates after 3, 10, 30, ... sweeps
} claim_effort;

static const claim_effort CLAIM_FULL_EFFORT = {.grains = 500, .references = 1.0, .stages = 6};

// ---- score -------------------------------------------------------------------------------------

/// What one kind of claim came to.
typedef struct claim_tally {
    int64_t iterates;        ///< that have an error to speak of
    int64_t count, capacity; ///< of these with a claim for every cluster
    double* ratio;           ///< [count] true/claimed of the worst cluster of an iterate
    double* sharp;           ///< [count] claimed/true, both of the cluster that is worst in it
    int64_t exceeded;        ///< ratios above 1
    int64_t unsure;          ///< ratios above 1 that the references' uncertainty may explain
    double worst;
    uint64_t worst_seed;
} claim_tally;

typedef struct claim_score {
    int problems;
    int without_truth; ///< problems with a cluster without two references that agree
    char unknown[200]; ///< their seeds
    int several;       ///< problems with solutions that lie apart
    claim_tally tally[CLAIM_COUNT];
} claim_score;

static inline void tally_push(claim_tally* t, double ratio, double sharp)
{
    if (t->count == t->capacity) {
        t->capacity = 2 * t->capacity + 64;
        t->ratio = realloc(t->ratio, sizeof(double) * (size_t)t->capacity);
        t->sharp = realloc(t->sharp, sizeof(double) * (size_t)t->capacity);
        claim_ok(t->ratio && t->sharp ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    }
    t->ratio[t->count] = ratio;
    t->sharp[t->count++] = sharp;
}

static inline int compare_numbers(const void* x, const void* y)
{
    const double a = *(const double*)x, b = *(const double*)y;
    return (a > b) - (a < b);
}

static inline double tally_median(const claim_tally* t, bool sharpness)
{
    if (t->count == 0) return 0.0;
    const size_t size = sizeof(double) * (size_t)t->count;
    double* sorted = malloc(size);
    claim_ok(sorted ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    memcpy(sorted, sharpness ? t->sharp : t->ratio, size);
    qsort(sorted, (size_t)t->count, sizeof *sorted, compare_numbers);
    const double median = sorted[t->count / 2];
    free(sorted);
    return median;
}

static inline void score_add(claim_score* all, const claim_score* s)
{
    all->problems += s->problems;
    all->without_truth += s->without_truth;
    all->several += s->several;
    for (int k = 0; k < CLAIM_COUNT; k++) {
        claim_tally* to = &all->tally[k];
        const claim_tally* from = &s->tally[k];
        for (int64_t i = 0; i < from->count; i++) tally_push(to, from->ratio[i], from->sharp[i]);
        to->iterates += from->iterates;
        to->exceeded += from->exceeded;
        to->unsure += from->unsure;
        if (from->worst > to->worst) to->worst = from->worst, to->worst_seed = from->worst_seed;
    }
}

static inline void score_free(claim_score* s)
{
    for (int k = 0; k < CLAIM_COUNT; k++) {
        free(s->tally[k].ratio);
        free(s->tally[k].sharp);
    }
    *s = (claim_score){0};
}

// ---- iterates ----------------------------------------------------------------------------------

enum { MAX_ITERATES = 16 };

/// Impulses at some stage of a solve.
typedef struct iterate {
    char name[40];
    double* impulses;
} iterate;

typedef struct iterates {
    int count;
    iterate at[MAX_ITERATES];
} iterates;

static inline void iterates_add(iterates* all, problem* p, const char* start,
                                talus_solver_method method, talus_stop_rule stop, double tolerance,
                                int sweeps)
{
    static const char* const names[] = {"default", "accelerated", "coloured", "random"};
    iterate* i = &all->at[all->count++];
    solve_by(p, method, stop, tolerance, sweeps, 1);
    i->impulses = impulses_copy(p);
    if (stop == TALUS_STOP_SWEEPS) {
        snprintf(i->name, sizeof i->name, "%s, %d %s sweeps", start, sweeps, names[method]);
    } else {
        snprintf(i->name, sizeof i->name, "%s, %s to %g", start, names[method], tolerance);
    }
}

static inline iterates iterates_make(problem* p, const double* start, bool warm, int stages)
{
    iterates all = {0};
    const double factor = warm ? 1.0 : 0.0;
    const char* name = warm ? "warm" : "cold";
    for (int k = 0, sweeps = 3; k < stages; k++, sweeps = k % 2 ? sweeps * 10 / 3 : sweeps * 3) {
        impulses_put(p, start, factor);
        iterates_add(&all, p, name, TALUS_SOLVER_ACCELERATED, TALUS_STOP_SWEEPS, 0.01, sweeps);
        if (k % 2) continue;
        impulses_put(p, start, factor);
        iterates_add(&all, p, name, TALUS_SOLVER_SWEEPS, TALUS_STOP_SWEEPS, 0.01, sweeps);
    }
    for (double tolerance = 0.1; tolerance > 0.005; tolerance *= 0.1) {
        impulses_put(p, start, factor);
        iterates_add(&all, p, name, TALUS_SOLVER_AUTO, TALUS_STOP_RIGID, tolerance, 1000);
    }
    return all;
}

static inline void iterates_free(iterates* all)
{
    for (int i = 0; i < all->count; i++) free(all->at[i].impulses);
    *all = (iterates){0};
}

// ---- claims ------------------------------------------------------------------------------------

/// What is claimed of a cluster: its error is at most bound times scale.
typedef struct claim_of {
    double bound, scale;
} claim_of;

/// [clusters] what is claimed of each cluster for the motion that is in the problem.
static inline void claim_make(const problem* p, const truth* t, int claim, claim_of* claimed)
{
    certificate_work work = {0};
    witness_work witnesses = {0};
    certificate worst;
    const double estimate = residual_measure(p, 0.0, 1).velocity; // one number for all of them
    claim_ok(certificate_find(&work, p, 1, &worst), "out of memory");
    claim_ok(witness_claims(&work, p, 1, &witnesses, &worst), "out of memory");
    for (int64_t k = 0; k < t->clusters.count; k++) {
        claimed[k] = (claim_of){0.0, 0.0};
        if (t->of[k].contacts == 0) continue;
        const cluster_certificate* of = &work.of[work.clusters.of_row[t->of[k].row[0]]];
        claimed[k].scale = of->scale;
        claimed[k].bound = claim == CLAIM_CERTIFICATE ? of->bound : estimate;
    }
    certificate_free(&work);
    witness_free(&witnesses);
}

// ---- judgement ---------------------------------------------------------------------------------

/// Errors that rounding makes are none.
static const double ROUNDING_ERROR = 1e-8;
/// true/claimed from which on a claim is false. Where the answer is standstill the certificate is
/// exact, and both differ by rounding.
static const double FALSE_WORD = 1.0 + 1e-6;

/// Errors of one iterate against what is claimed of it, in the worst cluster.
typedef struct verdict {
    bool any;       ///< there is an error to speak of, and a truth
    double ratio;   ///< true/claimed
    double surely;  ///< the same, less what the references' uncertainty may explain
    double claimed; ///< largest claim, and largest error
    double wrong;
} verdict;

/// Judge what is claimed of one iterate, whose impulses are in the problem. Where that would be a
/// false word it is first looked for a solution nearer by.
static inline verdict judge_iterate(const problem* p, truth* t, int claim, const iterate* i,
                                    double effort)
{
    verdict v = {0};
    claim_of* claimed = malloc(sizeof *claimed * (size_t)(t->clusters.count + 1));
    claim_ok(claimed ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    claim_make(p, t, claim, claimed);
    for (int32_t k = 0; k < t->clusters.count; k++) {
        const cluster_truth* of = &t->of[k];
        if (of->contacts == 0 || !truth_known(of)) continue;
        const double bound = claimed[k].bound * claimed[k].scale;
        double error = truth_error(of, p);
        if (error <= ROUNDING_ERROR * fmax(claimed[k].scale, of->scale)) continue;
        if (error - of->uncertainty > FALSE_WORD * bound && claim == CLAIM_CERTIFICATE) {
            truth_look_near(t, k, p, i->impulses, effort);
            error = truth_error(of, p);
        }
        v.any = true;
        v.ratio = fmax(v.ratio, error / bound);
        v.surely = fmax(v.surely, (error - of->uncertainty) / bound);
        v.wrong = fmax(v.wrong, error / claimed[k].scale);
        v.claimed = fmax(v.claimed, claimed[k].bound);
    }
    free(claimed);
    return v;
}

static inline void tally_verdict(claim_tally* tally, const verdict* v, uint64_t seed)
{
    if (!v->any) return;
    const bool exceeded = v->surely > FALSE_WORD;
    tally->iterates++;
    if (isfinite(v->claimed)) tally_push(tally, v->ratio, v->claimed / v->wrong);
    tally->exceeded += exceeded;
    tally->unsure += v->ratio > FALSE_WORD && !exceeded;
    const double worst = v->ratio > FALSE_WORD ? v->surely : v->ratio;
    if (worst > tally->worst) tally->worst = worst, tally->worst_seed = seed;
}

/// What static friction has given way in this step stays so: iterates and references have one law.
static inline void settle_friction(problem* p, const double* start)
{
    solve_by(p, TALUS_SOLVER_AUTO, TALUS_STOP_RIGID, 0.01, 1000, 1);
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t compound = problem_compound_of(p, c);
        if (compound < 0) continue;
        p->compound_rows[compound].sliding_mu =
            p->contact[c * problem_width(p->dim) + contact_mu(p->dim)];
    }
    impulses_put(p, start, 1.0);
}

static inline void print_problem(const problem* p, const truth* t, int kind, uint64_t seed)
{
    printf("%s %llu: %dD, %lld rows, %lld contacts, %lld clusters\n", CLAIM_KINDS[kind].name,
           (unsigned long long)seed, p->dim, (long long)p->rows, (long long)p->count,
           (long long)t->clusters.count);
    for (int64_t k = 0; k < t->clusters.count; k++) {
        const cluster_truth* of = &t->of[k];
        if (of->contacts < 2) continue;
        printf("  cluster of %lld bodies, %lld contacts: references known to %.1e, at most %.1e "
               "apart%s;",
               (long long)of->moving, (long long)of->contacts, of->uncertainty / of->scale,
               of->apart / of->scale, of->slides ? ", slides" : "");
        for (int i = 0; i < of->count; i++) {
            printf(" %s %.0e%s", of->found[i].how, of->found[i].natural,
                   i + 1 < of->count ? "," : "\n");
        }
        if (of->count == 0) printf("\n");
    }
}

static inline void print_verdict(const verdict* v, int claim, const iterate* i)
{
    if (!v->any) return;
    printf("  %s %-36s claimed %-10.3g true %-10.3g true/claimed %.3g%s\n",
           claim == CLAIM_CERTIFICATE ? "certificate" : "estimate   ", i->name, v->claimed,
           v->wrong, v->ratio, v->surely > FALSE_WORD ? "  BELOW THE TRUTH" : "");
}

/// Draw a problem, solve it, judge what is claimed at every stage.
static inline void judge_problem(int kind, uint64_t seed, const claim_effort* effort, bool verbose,
                                 claim_score* score)
{
    draft d = claim_draw(kind, seed, effort->grains);
    problem p = {0};
    const contacts* list;
    talus_error error = {0};
    claim_ok(world_pose(d.world, d.h, &p, &list, &error), error.text);
    if (p.count > 0) {
        double* start = impulses_copy(&p);
        problem_refresh(&p);
        settle_friction(&p, start);
        iterates all = iterates_make(&p, start, chance(&d, 0.5), effort->stages);
        truth t = truth_find(&p, all.at[all.count - 1].impulses, effort->references);
        score->problems++;
        bool without = false, several = false;
        for (int64_t k = 0; k < t.clusters.count; k++) {
            const cluster_truth* of = &t.of[k];
            if (of->contacts == 0) continue;
            without |= !truth_known(of);
            several |= of->apart > fmax(1e-3 * of->scale, 10.0 * of->uncertainty);
        }
        score->without_truth += without;
        const size_t used = strlen(score->unknown);
        if (without) {
            snprintf(score->unknown + used, sizeof score->unknown - used, " %llu",
                     (unsigned long long)seed);
        }
        score->several += several;
        if (verbose) print_problem(&p, &t, kind, seed);
        for (int i = 0; i < all.count; i++) {
            impulses_put(&p, all.at[i].impulses, 1.0);
            for (int claim = 0; claim < CLAIM_COUNT; claim++) {
                const verdict v = judge_iterate(&p, &t, claim, &all.at[i], effort->references);
                tally_verdict(&score->tally[claim], &v, seed);
                if (verbose) print_verdict(&v, claim, &all.at[i]);
            }
        }
        truth_free(&t);
        iterates_free(&all);
        free(start);
    }
    problem_free(&p);
    talus_world_destroy(d.world);
}

#endif

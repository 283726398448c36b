/// The solver for everything: accelerated sweeps, and for what they leave undone direct methods.
///
/// Sweeps are the fastest way for nearly every step. Some clusters of touching bodies stay stubborn
/// (bonded beams, tall stacks, hyperstatic frames, masses that differ by orders of magnitude), and
/// there the rule that ends the sweeps is most easily deceived. So the certificate decides: from
/// the first look on, and when the sweeps have ended, every cluster is certified, and those whose
/// bound is above what is normal are solved by themselves (direct/direct.h). The answer takes the
/// place of the sweeps' if its bound is smaller. The rest of the problem stays as it is, and if the
/// rule is not met the sweeps go on from there.
///
/// Direct methods may cost as much as thousands of sweeps, and where contacts slide they may fail.
/// Their work is counted in updates of contacts, so that a step in which they fail takes hardly
/// longer. No number is kept from step to step: what is too dear for every step is tried in a part
/// of them, drawn by the key of the step, so that on average it costs no more than its share.
#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"
#include "rigid/direct/direct.h"
#include "rigid/direct/extract.h"
#include "rigid/residual.h"
#include "rigid/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Sweeps after which it is looked how they get on, and how many times more before the next look.
enum { FIRST_LOOK = 200, NEXT_LOOK = 4 };
/// Work for direct methods: for clusters in which nothing slides, which they nearly always solve,
/// as a part of all sweeps that the solve may make; for the others of the sweeps made so far.
static const double SHARE_AT_REST = 1.0, SHARE_SLIDING = 0.1;
/// Bound over tolerance that is normal where the rule is met: the certificate is sharp at rest and
/// pessimistic in flows (docs/theory.md). Bonds are made to hold, and their clusters are cheap to
/// solve: those are asked for more. Below ROUNDING a bound is the root of rounded sums.
static const double NORMAL_AT_REST = 2.0, NORMAL_SLIDING = 50.0, NORMAL_BONDED = 0.01;
static const double ROUNDING = 1e-5;
/// Updates of each contact that may be spent on a cluster with sliding contacts, by chance.
static const double DEAR = 2000.0;
/// Times that friction may break loose in a cluster.
enum { MOST_LOOSENINGS = 4 };

/// The clusters of a problem with their contacts.
typedef struct cluster_list {
    int64_t* first;   ///< [clusters + 1]
    int64_t* contact; ///< [contacts], those of a cluster ascending
    bool* bonded;     ///< [clusters]
} cluster_list;

static void list_free(cluster_list* list)
{
    free(list->first);
    free(list->contact);
    free(list->bonded);
}

static talus_status list_contacts(const body_clusters* clusters, const problem* p,
                                  cluster_list* list)
{
    const int64_t n = clusters->count;
    list->first = calloc((size_t)n + 2, sizeof *list->first);
    list->contact = malloc(sizeof *list->contact * (size_t)(p->count + 1));
    list->bonded = calloc((size_t)n + 1, sizeof *list->bonded);
    if (!list->first || !list->contact || !list->bonded) return TALUS_ERR_MEMORY;
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t k = body_clusters_of_contact(clusters, p, c);
        if (k >= 0) list->first[k + 2]++;
    }
    for (int64_t k = 0; k < n; k++) list->first[k + 2] += list->first[k + 1];
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t k = body_clusters_of_contact(clusters, p, c);
        const int32_t compound = problem_compound_of(p, c);
        if (k < 0) continue;
        list->contact[list->first[k + 1]++] = c;
        list->bonded[k] |= compound >= 0 && p->compound_rows[compound].bond > 0.0;
    }
    return TALUS_OK;
}

/// Direct methods within one solve.
typedef struct direct_phase {
    problem* p;
    const solve_request* request;
    solve_workspace* ws;
    solve_result* out;
    cluster_list list;
    problem part;
    certificate_work judge;
    double work_at_rest, work_sliding; ///< done
    uint64_t draws;
    bool changed;
} direct_phase;

/// Is the bound of cluster k more than the sweeps should leave?
static bool stubborn(const direct_phase* d, int64_t k)
{
    const cluster_certificate* of = &d->ws->certificate.of[k];
    const double tolerance = d->request->options->tolerance;
    if (of->contacts > direct_largest(d->p->dim)) return false;
    if (!d->out->converged) return of->bound > tolerance;
    const double normal = of->sliding > 0     ? NORMAL_SLIDING
                          : d->list.bonded[k] ? NORMAL_BONDED
                                              : NORMAL_AT_REST;
    return of->bound > fmax(normal * tolerance, ROUNDING);
}

/// Work that is left for a cluster. Where that is too little for one with sliding contacts, it is
/// sometimes more.
static double work_for(direct_phase* d, const cluster_certificate* of)
{
    const double count = (double)d->p->count;
    if (of->sliding == 0) {
        return SHARE_AT_REST * (double)solve_budget(d->request) * count - d->work_at_rest;
    }
    const double left = SHARE_SLIDING * (double)d->out->sweeps * count - d->work_sliding;
    const double dear = DEAR * (double)of->contacts;
    rng r = rng_make(d->request->seed, d->request->key, ++d->draws);
    return left >= dear || dear * rng_uniform(&r) >= left ? left : dear;
}

static talus_status solve_cluster(direct_phase* d, int64_t k)
{
    const cluster_certificate* of = &d->ws->certificate.of[k];
    const int64_t* contact = d->list.contact + d->list.first[k];
    direct_request request = {.bound = of->bound,
                              .sliding = of->sliding > 0,
                              .tolerance = d->request->options->tolerance,
                              .work = work_for(d, of)};
    direct_result found = {.loosened = true};
    bool better = false;
    TRY(problem_extract(d->p, contact, of->contacts, &d->part));
    for (int i = 0; i < MOST_LOOSENINGS && found.loosened; i++) {
        TRY(direct_solve(&d->part, &request, &d->judge, &found));
        d->out->second_iterations += found.factorisations;
        if (request.sliding) {
            d->work_sliding += found.work;
        } else {
            d->work_at_rest += found.work;
        }
        if (found.method) d->out->second_method = found.method;
        better |= found.method || found.loosened;
        request.bound = found.loosened ? INFINITY : found.bound;
        request.work -= found.work;
    }
    if (better) problem_return(&d->part, contact, d->p);
    d->changed |= better;
    return TALUS_OK;
}

/// What the rule of this solve looks at.
static void measure_again(const direct_phase* d)
{
    const talus_solver_def* options = d->request->options;
    const residual_report seen = residual_measure(d->p, d->request->size, d->request->threads);
    const bool rigid = options->stop == TALUS_STOP_RIGID;
    d->out->residual = seen.natural;
    d->out->velocity_error = seen.velocity;
    d->out->converged = (rigid ? seen.velocity : seen.natural) <= options->tolerance;
}

/// Certify all clusters and solve those that are stubborn. A step whose bound is within the
/// tolerance meets the rule for rigid grains, whatever its estimate is.
static talus_status direct_look(direct_phase* d)
{
    const talus_solver_def* options = d->request->options;
    certificate found;
    TRY(certificate_find(&d->ws->certificate, d->p, d->request->threads, &found));
    list_free(&d->list);
    d->list = (cluster_list){0};
    TRY(list_contacts(&d->ws->certificate.clusters, d->p, &d->list));
    d->changed = false;
    for (int64_t k = 0; k < d->ws->certificate.clusters.count; k++) {
        if (stubborn(d, k)) TRY(solve_cluster(d, k));
    }
    if (d->changed) {
        measure_again(d);
        TRY(certificate_find(&d->ws->certificate, d->p, d->request->threads, &found));
    }
    if (options->stop == TALUS_STOP_RIGID && found.bound <= options->tolerance) {
        d->out->converged = true;
    }
    d->out->certified = true;
    d->out->certificate = found;
    return TALUS_OK;
}

/// Sweep until there have been `look` of them in this solve.
static talus_status sweep_to(problem* p, const solve_request* request, solve_workspace* ws,
                             int64_t look, solve_result* out)
{
    const solve_result done = *out;
    talus_solver_def part_options = *request->options;
    solve_request part = *request;
    part_options.max_sweeps = (int)(request->sweeps_before + look);
    part.options = &part_options;
    part.sweeps_before = request->sweeps_before + done.sweeps;
    part.goes_on = look < solve_budget(request);
    TRY(accelerated_solver.solve(p, &part, ws, out));
    out->sweeps += done.sweeps;
    out->updates += done.updates;
    out->single_sweeps += done.single_sweeps;
    out->second_iterations = done.second_iterations;
    return TALUS_OK;
}

static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    const talus_solver_def* options = request->options;
    const int64_t most = solve_budget(request);
    // Direct methods do not come in between under rules that do not measure the solution and end
    // after a number of sweeps or when these are small.
    const bool measures = options->stop == TALUS_STOP_RIGID || options->stop == TALUS_STOP_RESIDUAL;
    direct_phase d = {.p = p, .request = request, .ws = ws, .out = out};
    int64_t look = measures && FIRST_LOOK < most ? FIRST_LOOK : most;
    talus_status status = TALUS_OK;
    *out = (solve_result){0};
    do {
        status = sweep_to(p, request, ws, look, out);
        if (status || !measures || (request->watch && request->watch->enough)) break;
        status = direct_look(&d);
        look = NEXT_LOOK * look < most ? NEXT_LOOK * look : most;
    } while (!status && !out->converged && out->sweeps < most);
    list_free(&d.list);
    problem_free(&d.part);
    certificate_free(&d.judge);
    return status;
}

const solver_ops auto_solver = {.name = "auto", .solve = solve};

/// Claim against truth.
///
/// What takes the place of the truth is a solution to a hundredth of the tolerance, by direct
/// methods cluster by cluster where these are small enough, and by sweeps where they are not. It
/// has a certificate of its own, and counts only if that is well below the claim: sweeps that stall
/// say nothing. It starts from the step's own impulses: where contacts slide there are several
/// exact solutions some per cent apart, and the nearest is the one to compare with.
#include "rigid/audit.h"

#include "base/error.h"
#include "rigid/direct/direct.h"
#include "rigid/direct/extract.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

/// How much more exact the other solution has to be: than what was asked for, by the solver's own
/// rule, and than what was claimed, by its certificate.
static const double SHARPER = 0.01, DECISIVE = 0.5;
/// Part of the work that direct methods may take.
static const double DIRECT = 0.7;
/// Errors below this part of what contacts do are rounding and are not compared.
static const double ROUNDING = 1e-9;

/// What a solve changes.
typedef struct kept_solution {
    double *body, *contact;
    compound_contact* compound;
} kept_solution;

static void kept_free(kept_solution* kept)
{
    free(kept->body);
    free(kept->contact);
    free(kept->compound);
}

static bool keep(const problem* p, kept_solution* out)
{
    const size_t rows = sizeof(double) * (size_t)(p->rows * problem_stride(p->dim));
    const size_t contacts = sizeof(double) * (size_t)(p->count * problem_width(p->dim));
    const size_t compound = sizeof *p->compound_rows * (size_t)p->compound_count;
    *out = (kept_solution){malloc(rows + 1), malloc(contacts + 1), malloc(compound + 1)};
    if (!out->body || !out->contact || !out->compound) {
        kept_free(out);
        return false;
    }
    memcpy(out->body, p->body, rows);
    memcpy(out->contact, p->contact, contacts);
    if (compound > 0) memcpy(out->compound, p->compound_rows, compound);
    return true;
}

static void put_back(const kept_solution* kept, problem* p)
{
    memcpy(p->body, kept->body, sizeof(double) * (size_t)(p->rows * problem_stride(p->dim)));
    memcpy(p->contact, kept->contact, sizeof(double) * (size_t)(p->count * problem_width(p->dim)));
    if (p->compound_count > 0) {
        memcpy(p->compound_rows, kept->compound,
               sizeof *p->compound_rows * (size_t)p->compound_count);
    }
}

/// How much of the step is judged.
static void count_judged(const certificate_work* claims, audit_result* out)
{
    for (int64_t k = 0; k < claims->clusters.count; k++) {
        const cluster_certificate* of = &claims->of[k];
        if (of->contacts == 0) continue;
        out->of += of->bodies;
        if (isinf(of->bound)) continue;
        out->judged += of->bodies;
        out->largest = of->bodies > out->largest ? of->bodies : out->largest;
    }
}

/// The largest error over claim of all clusters; the velocities of the step are in `kept`, the true
/// ones in the problem, with their certificates in `truth`. Clusters are the same in both.
static talus_status compare(const problem* p, const certificate_work* claims,
                            const certificate_work* truth, const kept_solution* kept,
                            audit_result* out)
{
    const int stride = problem_stride(p->dim);
    const int64_t clusters = claims->clusters.count;
    double* error2 = calloc((size_t)clusters + 1, sizeof *error2);
    if (!error2) return TALUS_ERR_MEMORY;
    for (int64_t i = 0; i < p->rows; i++) {
        const int32_t k = claims->clusters.of_row[i];
        if (k < 0) continue;
        error2[k] += problem_distance2(p, i, p->body + i * stride, kept->body + i * stride);
    }
    int64_t worst = -1;
    count_judged(claims, out);
    for (int64_t k = 0; k < clusters; k++) {
        const double scale = claims->of[k].scale, claim = claims->of[k].bound;
        const double error = scale > 0.0 ? sqrt(error2[k]) / scale : 0.0;
        if (!(error > ROUNDING) || isinf(claim)) continue; // nothing was claimed of it
        // The truth is known to its own bound only: a claim is false if it is exceeded by more.
        const double known_to = truth->of[k].bound * truth->of[k].scale / scale;
        const double at_least = fmax(error - known_to, fmin(error, claim));
        const double ratio = at_least == 0.0 ? 0.0 : claim > 0.0 ? at_least / claim : INFINITY;
        // An error that the truth's own bound exceeds is none that could be told.
        out->answered &= !(known_to > DECISIVE * claim && known_to > error);
        if (worst >= 0 && !(ratio > out->ratio)) continue;
        worst = k;
        out->ratio = ratio;
        out->error = error;
        out->claim = claim;
    }
    free(error2);
    for (out->row = 0; worst >= 0 && claims->clusters.of_row[out->row] != worst;) out->row++;
    return TALUS_OK;
}

/// Solve by direct methods every cluster that is small enough for them, with at most `work`
/// updates' worth; *done receives what it took. These methods have nothing in common with sweeps
/// but the problem.
static talus_status solve_directly(problem* p, const certificate_work* claims, double tolerance,
                                   double work, certificate_work* judge, double* done)
{
    int64_t *first = NULL, *contact = NULL;
    problem part = {0};
    talus_status status = body_clusters_contacts(&claims->clusters, p, &first, &contact);
    for (int64_t k = 0; k < claims->clusters.count && status == TALUS_OK && *done < work; k++) {
        const cluster_certificate* of = &claims->of[k];
        if (of->bound == 0.0 || of->contacts > direct_largest(p->dim)) continue;
        const direct_request request = {.bound = of->bound,
                                        .frozen = of->frozen,
                                        .sliding = of->sliding > 0,
                                        .tolerance = tolerance,
                                        .work = work - *done};
        direct_result found;
        status = problem_extract(p, contact + first[k], of->contacts, &part);
        if (status == TALUS_OK) status = direct_solve(&part, &request, judge, &found);
        if (status) break;
        *done += found.work;
        if (found.method) problem_return(&part, contact + first[k], p);
    }
    problem_free(&part);
    free(first);
    free(contact);
    return status;
}

/// A far more exact solution in place of the present one: direct methods first, then sweeps for
/// what these left, and for clusters that are too large for them.
static talus_status find_truth(problem* p, const certificate_work* claims,
                               const solve_request* asked, double tolerance, int64_t most_updates,
                               solve_workspace* ws, audit_result* out)
{
    double direct = 0.0;
    TRY(solve_directly(p, claims, SHARPER * tolerance, DIRECT * (double)most_updates,
                       &ws->certificate, &direct));
    out->updates = (int64_t)direct;
    const int64_t sweeps = (most_updates - out->updates) / p->count;
    if (sweeps < 1) return TALUS_OK;
    talus_solver_def options = *asked->options;
    options.method = TALUS_SOLVER_AUTO;
    options.stop = TALUS_STOP_RIGID;
    options.precision = TALUS_PRECISION_DOUBLE;
    options.tolerance = SHARPER * tolerance;
    options.max_sweeps = (int)(sweeps < INT32_MAX ? sweeps : INT32_MAX);
    solve_request request = *asked;
    request.options = &options;
    solve_result found;
    certificate judged;
    TRY(solver_for(&options)->solve(p, &request, ws, &found));
    out->updates += found.updates;
    out->answered = found.converged;
    return certificate_find(&ws->certificate, p, asked->threads, &judged);
}

/// Has no contact broken loose that held in the step? At its bound either is right, and what
/// follows is another motion.
static bool holds_as_before(const problem* p, const kept_solution* kept)
{
    const int64_t width = problem_width(p->dim);
    for (int64_t c = 0; c < p->count; c++) {
        const int64_t mu = c * width + contact_mu(p->dim);
        if (p->contact[mu] != kept->contact[mu]) return false;
    }
    return true;
}

bool audit_worthwhile(const certificate_work* claims)
{
    for (int64_t k = 0; k < claims->clusters.count; k++) {
        if (claims->of[k].contacts > 0 && isfinite(claims->of[k].bound)) return true;
    }
    return false;
}

talus_status audit_solution(problem* p, const certificate_work* claims, const solve_request* asked,
                            double tolerance, int64_t most_updates, solve_workspace* ws,
                            audit_result* out)
{
    *out = (audit_result){0};
    kept_solution kept;
    if (p->count == 0 || !keep(p, &kept)) return p->count == 0 ? TALUS_OK : TALUS_ERR_MEMORY;
    talus_status status = find_truth(p, claims, asked, tolerance, most_updates, ws, out);
    out->answered = out->answered && holds_as_before(p, &kept);
    if (status == TALUS_OK && out->answered) {
        status = compare(p, claims, &ws->certificate, &kept, out);
    }
    put_back(&kept, p);
    kept_free(&kept);
    return status;
}

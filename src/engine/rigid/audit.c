/// Claim against truth.
///
/// What takes the place of the truth is a solution to a hundredth of the tolerance, by direct
/// methods cluster by cluster where these are small enough, and by sweeps where they are not. It
/// has a certificate of its own, and counts only if that is well below the claim: sweeps that stall
/// say nothing. It starts from the step's own impulses: where contacts slide there are several
/// exact solutions some per cent apart, and the nearest is the one to compare with.
#include "rigid/audit.h"

#include "base/error.h"
#include "rigid/residual.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

/// How much more exact the other solution has to be: than what was asked for, by the solver's own
/// rule, and than what was claimed, by its certificate.
static const double SHARPER = 0.01, DECISIVE = 0.5;
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
    if (!out->body || !out->contact || !out->compound) return false;
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
    for (int64_t k = 0; k < clusters; k++) {
        const double scale = claims->of[k].scale, claim = claims->of[k].bound;
        const double error = scale > 0.0 ? sqrt(error2[k]) / scale : 0.0;
        if (!(error > ROUNDING)) continue;
        const double ratio = claim > 0.0 ? error / claim : INFINITY;
        // An error that the truth's own bound exceeds is none that could be told.
        out->answered &= !(truth->of[k].bound > DECISIVE * claim && truth->of[k].bound > error);
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

talus_status audit_solution(problem* p, const certificate_work* claims, const solve_request* asked,
                            double tolerance, int64_t most_updates, solve_workspace* ws,
                            audit_result* out)
{
    *out = (audit_result){0};
    const int64_t sweeps = p->count > 0 ? most_updates / p->count : 0;
    kept_solution kept;
    if (!keep(p, &kept)) {
        kept_free(&kept);
        return TALUS_ERR_MEMORY;
    }
    talus_solver_def options = *asked->options;
    options.method = TALUS_SOLVER_AUTO;
    options.stop = TALUS_STOP_RIGID;
    options.precision = TALUS_PRECISION_DOUBLE;
    options.tolerance = SHARPER * tolerance;
    options.max_sweeps = (int)(sweeps < INT32_MAX ? sweeps : INT32_MAX);
    solve_request request = *asked;
    request.options = &options;
    solve_result found = {0};
    talus_status status =
        sweeps > 0 ? solver_for(&options)->solve(p, &request, ws, &found) : TALUS_OK;
    if (status == TALUS_OK && sweeps > 0) {
        certificate of_truth;
        out->updates = found.updates;
        out->answered = found.converged;
        status = certificate_find(&ws->certificate, p, asked->threads, &of_truth);
        if (!status && out->answered) status = compare(p, claims, &ws->certificate, &kept, out);
    }
    put_back(&kept, p);
    kept_free(&kept);
    return status;
}

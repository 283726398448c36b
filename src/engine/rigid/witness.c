/// Clusters of few contacts, solved to the last digits.
///
/// With V' the velocities of the witness, e' what is certified of them and V* exact ones
///     ||V - V*|| <= ||V - V'|| + ||V' - V*|| <= ||V - V'|| + e'
/// and that takes the place of what was claimed. e' has all the assumptions of the certificate
/// still, but about an answer whose contacts fulfil their laws to rounding, not to some per cent.
/// Where contacts slide there may be other exact solutions; one is enough to be near to.
///
/// The witness begins at the present impulses: sweeps first, over all such clusters at once, then
/// direct methods for those that they do not end in. Nothing is claimed of clusters for which no
/// witness is found.
#include "rigid/witness.h"

#include "base/error.h"
#include "rigid/direct/direct.h"
#include "rigid/direct/extract.h"
#include "rigid/residual.h"
#include "rigid/solver.h"

#include <math.h>
#include <stdlib.h>

/// Most contacts of a cluster that has to have a witness.
enum { FEW_CONTACTS = 100 };
/// Sweeps that look for it, and the residual at which they end. All laws have to be fulfilled to
/// rounding, SOLVED: wedges that hardly hold are off by 3.5 % of what contacts do where their
/// residual is 9e-11, certified within 2.2 % (jack of bench/claim, seed 31000), and others (9101)
/// by 0.8 % where it is 5e-13.
enum { SWEEPS = 300 };
static const double RESIDUAL = 1e-13, SOLVED = 1e-13;
/// Work of direct methods for it, in sweeps, and the bound that they are asked for.
static const double DIRECT_WORK = 5000.0, DIRECT_TOLERANCE = 1e-6;
/// Bounds are roots of rounded sums: below this claims need no witness.
static const double EXACT = 1e-4;
/// Direct methods go on from what sweeps have solved if what is certified of it is more than this
/// part of what was claimed.
static const double SHARP = 0.2;
/// Where few contacts slide exact solutions may lie close together, and whoever looks for one finds
/// another: three wedges (jack, 71016) have some that differ by 1 % of their distance from an
/// iterate, others (99037) by 1e-4 of what contacts do, all with residuals of rounding. So
/// distances count a little more, and EXACT is added.
static const double SEVERAL = 1.1;

void witness_free(witness_work* work)
{
    problem_free(&work->part);
    problem_free(&work->alone);
    certificate_free(&work->judge);
    certificate_free(&work->direct_judge);
    *work = (witness_work){0};
}

/// Does what is claimed of a cluster ask for a witness? And what is not claimed, if `all`.
static bool in_question(const cluster_certificate* of, bool all)
{
    if (of->contacts > FEW_CONTACTS || of->bound <= EXACT) return false;
    return isfinite(of->bound) ? of->assumed : all;
}

/// Would the step be certified if all small clusters were?
static bool large_are_certified(const certificate_work* claims)
{
    for (int64_t k = 0; k < claims->clusters.count; k++) {
        if (claims->of[k].contacts > FEW_CONTACTS && isinf(claims->of[k].bound)) return false;
    }
    return true;
}

/// The law of a solution is that of the step: friction that has held goes on to hold.
static void keep_law(problem* part)
{
    for (int64_t c = 0; c < part->count; c++) {
        const int32_t compound = problem_compound_of(part, c);
        if (compound < 0) continue;
        part->compound_rows[compound].sliding_mu =
            part->contact[c * problem_width(part->dim) + contact_mu(part->dim)];
    }
}

static talus_status sweep(problem* part)
{
    talus_solver_def options = talus_solver_default();
    options.method = TALUS_SOLVER_ACCELERATED;
    options.stop = TALUS_STOP_RESIDUAL;
    options.tolerance = RESIDUAL;
    options.max_sweeps = SWEEPS;
    const solve_request request = {.options = &options, .h = 1.0, .threads = 1};
    solve_workspace ws = {0};
    solve_result swept;
    const talus_status status = accelerated_solver.solve(part, &request, &ws, &swept);
    solve_workspace_free(&ws);
    return status;
}

/// Solve by direct methods the clusters of the part that sweeps have not solved. claimed [contacts]
/// is what is claimed of the cluster of each contact; exact [clusters] receives whether the laws of
/// all their contacts are fulfilled in the end.
static talus_status solve_directly(witness_work* work, const double* claimed, bool* exact)
{
    int64_t *first = NULL, *contact = NULL;
    problem *part = &work->part, *alone = &work->alone;
    const body_clusters* clusters = &work->judge.clusters;
    talus_status status = body_clusters_contacts(clusters, part, &first, &contact);
    for (int64_t k = 0; k < clusters->count && status == TALUS_OK; k++) {
        const cluster_certificate* of = &work->judge.of[k];
        const int64_t* list = contact + first[k];
        if (of->contacts == 0) continue;
        status = problem_extract(part, list, of->contacts, alone);
        if (status) break;
        const direct_request request = {.bound = of->plain,
                                        .frozen = of->frozen,
                                        .sliding = of->sliding > 0 && !of->resting,
                                        .tolerance = DIRECT_TOLERANCE,
                                        .work = DIRECT_WORK * (double)of->contacts};
        direct_result found = {0};
        const double left = of->bound * of->scale;
        const bool vague = of->bound > EXACT && left > SHARP * claimed[list[0]];
        if (vague || residual_natural(alone) > SOLVED) {
            status = direct_solve(alone, &request, &work->direct_judge, &found);
        }
        if (status == TALUS_OK && found.method) problem_return(alone, list, part);
        exact[k] = residual_natural(alone) <= SOLVED;
    }
    free(first);
    free(contact);
    return status;
}

/// Add up the squared distance of each cluster of the problem from its witness in the part, whose
/// contacts are `number` of the problem; `seen` [rows of the part] is memory.
static void add_distances(const problem* p, const certificate_work* claims, const problem* part,
                          const int64_t* number, bool* seen, double* distance2)
{
    const int stride = problem_stride(p->dim);
    for (int64_t c = 0; c < part->count; c++) {
        const int32_t k = body_clusters_of_contact(&claims->clusters, p, number[c]);
        for (int side = 0; side < 2; side++) {
            const int64_t there = part->pair[2 * c + side], here = p->pair[2 * number[c] + side];
            if (seen[there] || claims->clusters.of_row[here] < 0) continue;
            seen[there] = true;
            distance2[k] +=
                problem_distance2(p, here, p->body + here * stride, part->body + there * stride);
        }
    }
}

/// Find the witnesses and correct the claims by them. number [count]: the contacts of clusters in
/// question, ascending.
static talus_status question(certificate_work* claims, const problem* p, const int64_t* number,
                             int64_t count, witness_work* work)
{
    problem* part = &work->part;
    certificate found;
    TRY(problem_extract(p, number, count, part));
    keep_law(part);
    double* claimed = calloc((size_t)(count + claims->clusters.count + 1), sizeof *claimed);
    bool* seen = calloc((size_t)(2 * part->rows) + 1, sizeof *seen);
    bool* exact = seen + part->rows; // no more clusters than bodies
    double* distance2 = claimed + count;
    talus_status status = claimed && seen ? sweep(part) : TALUS_ERR_MEMORY;
    for (int64_t c = 0; c < count && status == TALUS_OK; c++) {
        const cluster_certificate* of =
            &claims->of[body_clusters_of_contact(&claims->clusters, p, number[c])];
        claimed[c] = fmin(of->bound, 1.0) * of->scale;
    }
    if (status == TALUS_OK) status = certificate_find(&work->judge, part, 1, &found);
    if (status == TALUS_OK) status = solve_directly(work, claimed, exact);
    if (status == TALUS_OK) status = certificate_find(&work->judge, part, 1, &found);
    if (status == TALUS_OK) add_distances(p, claims, part, number, seen, distance2);
    for (int64_t c = 0; c < count && status == TALUS_OK; c++) {
        const int32_t k = body_clusters_of_contact(&claims->clusters, p, number[c]);
        const int32_t there = body_clusters_of_contact(&work->judge.clusters, part, c);
        const cluster_certificate* of = &work->judge.of[there];
        const double error = SEVERAL * sqrt(distance2[k]) + (of->bound + EXACT) * of->scale;
        certificate_correct(claims, k, exact[there] ? error : INFINITY);
    }
    free(claimed);
    free(seen);
    return status;
}

talus_status witness_claims(certificate_work* claims, const problem* p, int threads,
                            witness_work* work, certificate* out)
{
    int64_t* number = malloc(sizeof *number * (size_t)(p->count + 1));
    const bool all = large_are_certified(claims);
    int64_t count = 0;
    if (!number) return TALUS_ERR_MEMORY;
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t k = claims->of_contact[c];
        if (k >= 0 && in_question(&claims->of[k], all)) number[count++] = c;
    }
    const talus_status status = count > 0 ? question(claims, p, number, count, work) : TALUS_OK;
    free(number);
    if (status == TALUS_OK) certificate_worst(claims, p, threads, out);
    return status;
}

/// The choice among direct methods: each tries, the certificate decides.
///
/// Which one succeeds cannot be told beforehand. The augmented Lagrangian is quick and exact where
/// contacts keep their states, the interior point method where they change them; sliding tells
/// which to try first. Each begins from the best impulses so far.
///
/// When the sweeps of a step are used up an answer will do that meets its rule by the estimate, as
/// it would from sweeps. Then the method of cones comes first, and whatever a method finds is swept
/// clean.
#include "rigid/direct/direct.h"

#include "base/error.h"
#include "base/portable.h"
#include "base/vector_width.h"
#include "rigid/direct/methods.h"
#include "rigid/reduced/condense.h"
#include "rigid/residual.h"
#include "rigid/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Time of a product of blocks and of the rest of a factorisation for each contact (matrix,
/// searches along a line, right-hand sides) in times of an update in a packed sweep, by dimension.
/// Measured on packings of 900 disks (2641 contacts: 3.1 ms for 326 000 products and the rest, an
/// update 6.4 ns) and 1000 spheres (5379 contacts: 190 ms for 6.5 million products, an update 10
/// ns), and on bonded chains of 1000 (0.4 ms and 0.8 ms for 3000 products).
static const double PRODUCT[] = {1.3, 2.9}, CONTACT[] = {50.0, 80.0};
/// Products a contact: first c^power where c contacts are more than a chain of the bodies would
/// have (the packings above, and one of 100 disks: 24.5, 124 and 1210 for c = 181, 1741 and 4379).
static const double FILL[] = {0.97, 0.28}, FILL_POWER[] = {0.65, 1.0};
/// Factorisations that a method is given at most, and below which it does not begin.
enum { MOST_FACTORISATIONS = 80, LEAST_FACTORISATIONS = 8 };
/// So many are enough for most clusters: the first method leaves the rest to the second, or half of
/// them if that is more.
enum { FAIR_FACTORISATIONS = 32 };
/// An answer is good enough when its certificate is this part of what is asked for, or no more than
/// what is left of it, a root of rounded sums, where impulses are exact.
static const double GOOD = 0.1, ROUNDING = 1e-6;
/// A bound that says nothing. Bonded clusters in motion have no other, however exact: their bonds
/// may bear far more than they do. There the estimated error decides (residual.h): it has to fall
/// to CLEARLY of what it was, by impulses that are no more than TOO_LARGE times what bonds bear,
/// and is good enough at CLEAR of what is asked for.
static const double USELESS = 0.5, CLEARLY = 0.1, TOO_LARGE = 10.0, CLEAR = 1e-3;
/// The third method has dense matrices. So many sweeps' worth of work it is given in any case.
enum { REDUCED_LARGEST = 400 };
static const double REDUCED_WORK = 2000.0;
static const double REDUCED_TOLERANCE = 1e-13;

/// Sweeps that clean the answer of a method, and the part of what is asked of the estimate that
/// they have to reach: a step's tolerance follows its flow.
enum { CLEANING_SWEEPS = 100 };
static const double CLEAN_MARGIN = 0.8;
/// Sweeps with which a last chance begins: momentum starts anew, and the error wanders. Of 15 last
/// chances in polydisperse and drum of scenes/ they were enough for 11, after 52 to 976 of them; a
/// path in the cones takes 2000 to 12000 sweeps' worth.
enum { AGAIN_SWEEPS = 1000 };
/// Factorisations of the method of cones before its answer is first cleaned, without which it does
/// not begin, at most, and at most between two answers that are cleaned; the share of the work that
/// cleaning may take.
enum { CONES_FIRST = 8, CONES_LEAST = 20, CONES_MOST = 120, CONES_ROUND = 10 };
static const double CLEANING_SHARE = 0.25;
/// Factorisations after which a path is left whose error after cleaning has not come below
/// CONES_PROGRESS of its best: it goes to and fro, and another may be better. In drums of scenes/
/// (five runs) 16, 24, 40 and no limit solved 34 of 37, 37 of 41, 46 of 48 and 50 of 55 last
/// chances, by 23, 25, 20 and 28 factorisations in the mean.
enum { CONES_STALLED = 40 };
static const double CONES_PROGRESS = 0.8;
/// The largest part of the derivative of sliding that a path has: the first one, and one that is
/// tried after it. Of 35 last chances in drum, masonry and ballast the first solved 31, by 30
/// factorisations in the mean, the second 29, by 46; in bonded-cluster 2 and 4 of 5. Clusters with
/// bonds begin with the second. Two steps of a drum that neither solved, nor both from their
/// nearest answer, were solved by others: which way round a corner leads on nobody can tell
/// beforehand.
static const double CONES_TRUST[] = {1.0, 0.25}, CONES_OTHER[] = {0.7, 0.5};
/// Price of a step of it in factorisations: 1.15 times that of the other interior point method on
/// steps of drum, biaxial, masonry, ballast and polydisperse of scenes/.
static const double CONES_PRICE = 1.3;

/// A solve on its way.
typedef struct attempt {
    problem* part;
    const direct_request* request;
    certificate_work* judge;
    direct_cluster cluster;
    double *p, *best;     ///< impulses at hand, and the best ones
    residual_report left; ///< of the best ones
    double frozen;        ///< what is proved of these for friction as it is
    double strongest;     ///< bond of the cluster, 0: it has none
    double largest;       ///< impulse that was there
    double price;         ///< of a factorisation
    bool first;           ///< the method at hand is the first
    bool last;            ///< it is the last chance: an answer by the estimate will do
    bool met;             ///< there is such an answer
    double* nearest;      ///< impulses with the least estimate, of answers that do not meet it
    const char* whose;    ///< method that they are from, NULL: nothing was nearer than the sweeps
    double error;         ///< that estimate, by the measure of the rule
    direct_result* out;
} attempt;

/// Judge the impulses in the problem; true if they are the best. Bounds are relative to what the
/// contacts do, and huge impulses that are all wrong have a bound near 1: from USELESS on one
/// answer is as useless as the other. Below the rounding of the certificate the residual tells them
/// apart. In a flow sweeps that are right to some per cent often have no bound at all, and a bad
/// answer may have one: there it has to be within what the best ones are estimated to be off by, or
/// be estimated no worse. (In a drum an answer certified within 31 %, estimated at 52 %, took the
/// place of sweeps that met the rule at 2.6 %.) At rest the bound alone decides, as bending hides
/// from the estimate; but where contacts slide all the same it says little of what was there, and
/// what is proved for friction as it is may not get worse for it.
static talus_status judge(attempt* a, bool* better)
{
    certificate found;
    TRY(certificate_find(a->judge, a->part, 1, &found));
    const residual_report left = residual_measure(a->part, 0.0, 1);
    const double now = fmax(found.plain, ROUNDING), before = fmax(a->out->bound, ROUNDING);
    if (now < USELESS) {
        const bool nearer = now <= a->left.velocity || left.velocity <= a->left.velocity;
        *better = now < before || (now == before && left.natural < a->left.natural);
        const bool proves = before < USELESS || a->judge->of[0].frozen <= a->frozen;
        *better = *better && (nearer || (!a->request->sliding && proves));
    } else {
        *better = before >= USELESS && left.velocity < CLEARLY * a->left.velocity &&
                  problem_largest_impulse(a->part) < TOO_LARGE * a->strongest;
    }
    if (*better) {
        a->out->bound = found.plain;
        a->frozen = a->judge->of[0].frozen;
        a->left = left;
    }
    return TALUS_OK;
}

/// Is enough proved of impulses for friction as it is, and is their estimated error as small? It
/// does where contacts slide, as they have no other bound.
static bool proved(const attempt* a, double frozen, double error)
{
    return frozen <= a->request->proof && error <= CLEAN_MARGIN * a->request->proof;
}

/// Sweep over the cluster. Impulses of a method are right on all scales but the smallest, and a few
/// sweeps are good at that. If its estimated error is then well within what is asked for these are
/// the best impulses, also where a certificate says nothing: the estimate decides as it does about
/// sweeps. *error receives it, by the measure of the rule, if it is not NULL.
static talus_status sweep_more(attempt* a, const char* name, int sweeps, double* error)
{
    talus_solver_def options = talus_solver_default();
    options.method = TALUS_SOLVER_ACCELERATED;
    options.stop = a->request->stop;
    options.tolerance = CLEAN_MARGIN * a->request->estimate;
    options.max_sweeps = sweeps;
    const solve_request request = {
        .options = &options, .h = 1.0, .size = a->request->size, .threads = 1};
    solve_workspace ws = {0};
    solve_result swept = {0};
    certificate found;
    const talus_status status = accelerated_solver.solve(a->part, &request, &ws, &swept);
    solve_workspace_free(&ws);
    const bool rigid = options.stop == TALUS_STOP_RIGID;
    const double left = rigid ? swept.velocity_error : swept.residual;
    a->out->work += (double)swept.updates;
    if (error) *error = left;
    if (status) return status;
    if (swept.converged || a->request->proof > 0.0) {
        TRY(certificate_find(a->judge, a->part, 1, &found));
    }
    const bool met =
        swept.converged || (a->request->proof > 0.0 && proved(a, a->judge->of[0].frozen, left));
    if (!met && !(left < a->error)) return TALUS_OK;
    // Where nothing solves a cluster huge impulses deceive the estimate.
    if (problem_largest_impulse(a->part) > TOO_LARGE * fmax(a->largest, a->strongest))
        return TALUS_OK;
    if (!met) {
        a->error = left;
        a->whose = name;
        direct_read(&a->cluster, a->part, a->nearest);
        return TALUS_OK;
    }
    a->met = true;
    a->out->bound = found.bound;
    a->out->method = name;
    direct_read(&a->cluster, a->part, a->best);
    return TALUS_OK;
}

typedef bool direct_method(direct_cluster* s, int64_t factorisations, double* p);

/// Let a method improve the best impulses, if there is work left for it.
static talus_status try_method(attempt* a, const char* name, direct_method* method)
{
    direct_cluster* s = &a->cluster;
    const double left = (a->request->work - a->out->work) / a->price;
    const double share = a->first ? fmax(0.5 * left, fmin(left, FAIR_FACTORISATIONS)) : left;
    const int64_t most = share < MOST_FACTORISATIONS ? (int64_t)share : MOST_FACTORISATIONS;
    if (most < LEAST_FACTORISATIONS) return TALUS_OK;
    const size_t bytes = sizeof(double) * (size_t)s->components;
    const int64_t before = s->factorisations;
    memcpy(a->p, a->best, bytes);
    method(s, most, a->p);
    a->out->work += a->price * (double)(s->factorisations - before);
    a->out->factorisations += s->factorisations - before;
    bool better = false;
    if (!vec_finite((int)s->components, a->p)) return TALUS_OK;
    direct_put_back(s, a->p, a->part);
    if (a->last) {
        TRY(sweep_more(a, name, CLEANING_SWEEPS, NULL));
        if (a->met) return TALUS_OK;
        direct_put_back(s, a->p, a->part);
    }
    TRY(judge(a, &better));
    if (!better) return TALUS_OK;
    a->out->method = name;
    memcpy(a->best, a->p, bytes);
    return TALUS_OK;
}

/// Without bodies (rigid/reduced): for few contacts, of which many slide.
static talus_status try_reduced(attempt* a)
{
    problem* part = a->part;
    if (part->count > REDUCED_LARGEST || part->compound_count > 0) return TALUS_OK;
    const double left = a->request->work - a->out->work;
    const reduced_options options = {.tolerance = REDUCED_TOLERANCE,
                                     .max_sweeps = (int64_t)(0.5 * left / (double)part->count),
                                     .max_work = fmax(left / (double)part->count, REDUCED_WORK)};
    reduced_problem reduced = {0};
    double* r = NULL;
    talus_error error = {0};
    if (options.max_sweeps < 1) return TALUS_OK;
    direct_put_back(&a->cluster, a->best, part);
    talus_status status = reduced_from_problem(part, &reduced, &r, &error);
    if (status == TALUS_OK) {
        reduced_result found;
        bool better = false;
        status = reduced_solve(&reduced, &options, r, &found);
        const bool finite = vec_finite((int)part->count * part->dim, r);
        reduced_to_problem(r, part);
        // Without an iteration the answer is the one that was there.
        if (status == TALUS_OK && finite && found.iterations > 0) status = judge(a, &better);
        a->out->factorisations += found.iterations;
        // A step counts as a sweep although it is worth more: else audits of small problems, whose
        // steps cost next to nothing, would be out of the question.
        a->out->work += (double)(found.iterations * part->count);
        if (better) {
            a->out->method = found.method;
            direct_read(&a->cluster, part, a->best);
        }
    }
    free(r);
    reduced_free(&reduced);
    return status;
}

/// Follow a path of the interior point method in the cones of friction, until a few sweeps more
/// meet the rule.
static talus_status follow_cones(attempt* a, double trust)
{
    direct_cluster* s = &a->cluster;
    const double price = CONES_PRICE * a->price;
    const double left = (a->request->work - a->out->work) / price;
    const double cleaning = CLEANING_SWEEPS * (double)a->part->count;
    const double between = fmin(fmax(cleaning / (CLEANING_SHARE * price), 1.0), CONES_ROUND);
    const int64_t first = s->factorisations;
    const int64_t last = first + (left < CONES_MOST ? (int64_t)left : CONES_MOST);
    if (last - first < CONES_LEAST) return TALUS_OK;
    direct_cones* cones = direct_cones_new(s, a->best, trust);
    talus_status status = TALUS_OK;
    bool more = cones != NULL;
    double error = INFINITY, best = INFINITY;
    int64_t best_at = first;
    while (more && !a->met && status == TALUS_OK && s->factorisations < last) {
        const bool begins = s->factorisations == first;
        more = direct_cones_go(cones, begins ? CONES_FIRST : (int64_t)between, a->p);
        if (!vec_finite((int)s->components, a->p)) break;
        direct_put_back(s, a->p, a->part);
        status = sweep_more(a, "cones of friction", CLEANING_SWEEPS, &error);
        if (error < CONES_PROGRESS * best) best = error, best_at = s->factorisations;
        more = more && s->factorisations - best_at < CONES_STALLED;
    }
    direct_cones_free(cones);
    a->out->work += price * (double)(s->factorisations - first);
    a->out->factorisations += s->factorisations - first;
    return status;
}

/// With all of the derivative of sliding a path is the shortest, but it may turn back; with less of
/// it another may be followed to its end.
static talus_status try_cones(attempt* a)
{
    const int first = a->strongest > 0.0 ? 1 : 0;
    TRY(follow_cones(a, CONES_TRUST[first]));
    return a->met ? TALUS_OK : follow_cones(a, CONES_TRUST[1 - first]);
}

static bool good_enough(const attempt* a)
{
    const double asked = a->request->tolerance;
    return a->met || a->out->bound <= fmax(GOOD * asked, ROUNDING) ||
           (a->out->bound >= USELESS && a->strongest > 0.0 && a->left.velocity <= CLEAR * asked);
}

/// How far the cluster, as it was, is from the rule by itself.
static double error_of(const attempt* a)
{
    const residual_report seen = residual_measure(a->part, a->request->size, 1);
    return a->request->stop == TALUS_STOP_RIGID ? seen.velocity : seen.natural;
}

/// Sweep over the cluster once more, from the best impulses.
static talus_status sweep_again(attempt* a)
{
    const double most = a->request->work / (double)a->part->count;
    direct_put_back(&a->cluster, a->best, a->part);
    return sweep_more(a, "sweeps again", most < AGAIN_SWEEPS ? (int)most : AGAIN_SWEEPS, NULL);
}

static talus_status try_all(attempt* a)
{
    const bool sliding = a->request->sliding, cones = a->last && direct_has_cones(&a->cluster);
    if (a->last && sliding) {
        a->error = error_of(a);
        // In a flow what is wrong is elsewhere, and nothing better can be certified.
        if (a->error <= CLEAN_MARGIN * a->request->estimate) return TALUS_OK;
        TRY(sweep_again(a));
    }
    if (a->last && a->request->proof > 0.0 && proved(a, a->frozen, error_of(a))) return TALUS_OK;
    if (cones && !a->met) TRY(try_cones(a));
    if (cones && sliding) { // what that does not solve the other methods do not either
        if (!a->met && a->whose) {
            memcpy(a->best, a->nearest, sizeof(double) * (size_t)a->cluster.components);
            TRY(sweep_again(a));
            if (!a->met) TRY(try_cones(a));
        }
        const int others = sizeof CONES_OTHER / sizeof *CONES_OTHER;
        for (int i = 0; i < others && !a->met; i++) TRY(follow_cones(a, CONES_OTHER[i]));
        return TALUS_OK;
    }
    for (int turn = 0; turn < 2 && !good_enough(a); turn++) {
        a->first = turn == 0;
        if (sliding == (turn == 0)) {
            TRY(try_method(a, "interior point", direct_interior));
            if (!good_enough(a)) TRY(try_method(a, "interior point", direct_polish));
        } else {
            TRY(try_method(a, "augmented Lagrangian", direct_lagrange));
        }
    }
    if (!good_enough(a)) TRY(try_reduced(a));
    // At rest direct methods come first: they nearly always give more than the estimate asks for.
    return a->last && !sliding && !good_enough(a) ? sweep_again(a) : TALUS_OK;
}

/// The nearest answer of a last chance that none has met: better than what the sweeps have left,
/// and it may do, as it had to get below what was asked for by a margin.
static talus_status keep_nearest(attempt* a)
{
    certificate found;
    if (a->met || !a->whose) return TALUS_OK;
    direct_put_back(&a->cluster, a->nearest, a->part);
    TRY(certificate_find(a->judge, a->part, 1, &found));
    a->out->bound = found.bound;
    a->out->method = a->whose;
    memcpy(a->best, a->nearest, sizeof(double) * (size_t)a->cluster.components);
    return TALUS_OK;
}

/// May friction break loose in this problem? Sweeps would let it, and what comes after them would
/// not know.
static bool has_static_friction(const problem* p)
{
    for (int64_t c = 0; c < p->count && p->compound_count > 0; c++) {
        const int32_t compound = problem_compound_of(p, c);
        const double mu = p->contact[c * problem_width(p->dim) + contact_mu(p->dim)];
        if (compound >= 0 && p->compound_rows[compound].sliding_mu < mu) return true;
    }
    return false;
}

double direct_least_work(const cluster_certificate* of, int64_t links, int dim)
{
    const int d = dim - 2;
    const double more = fmax((double)(links - of->bodies), 0.0);
    const double products = FILL[d] * portable_pow(more, FILL_POWER[d]);
    return LEAST_FACTORISATIONS * (PRODUCT[d] * products + CONTACT[d]) * (double)of->contacts;
}

talus_status direct_solve(problem* part, const direct_request* request, certificate_work* judge,
                          direct_result* out)
{
    attempt a = {.part = part, .request = request, .judge = judge, .out = out};
    const int d = part->dim - 2;
    a.left = residual_measure(part, 0.0, 1);
    a.frozen = request->frozen;
    a.strongest = problem_strongest_bond(part);
    a.largest = problem_largest_impulse(part);
    a.last = request->spent && !has_static_friction(part);
    *out = (direct_result){.bound = request->bound};
    TRY(direct_cluster_new(part, vector_width_is_there(TALUS_VECTOR_AVX2), &a.cluster));
    talus_status status = TALUS_ERR_MEMORY;
    a.price = PRODUCT[d] * direct_products(&a.cluster) + CONTACT[d] * (double)part->count;
    a.best = malloc(sizeof(double) * (size_t)(3 * a.cluster.components + 1));
    if (a.best) {
        a.p = a.best + a.cluster.components;
        a.nearest = a.p + a.cluster.components;
        memcpy(a.best, a.cluster.p, sizeof(double) * (size_t)a.cluster.components);
        status = try_all(&a);
        if (status == TALUS_OK) status = keep_nearest(&a);
        direct_put_back(&a.cluster, a.best, part);
        out->loosened =
            out->bound <= request->tolerance && problem_break_loose(part, request->tolerance);
    }
    free(a.best);
    direct_cluster_free(&a.cluster);
    return status;
}

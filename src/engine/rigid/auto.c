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
/// longer. What is too dear for every step is tried in a part of them, drawn by the key of the
/// step, so that on average it costs no more than its share. Only the last chance of clusters in
/// flow, when the sweeps are used up, is limited by what the run has spent on such chances so far.
#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"
#include "rigid/direct/direct.h"
#include "rigid/direct/extract.h"
#include "rigid/residual.h"
#include "rigid/solver.h"
#include "rigid/stop.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Sweeps after which it is looked how they get on, and how many times more before the next look.
enum { FIRST_LOOK = 200, NEXT_LOOK = 4 };
/// Sweeps after which direct methods are tried for the last digits, too.
enum { LATE = 3000 };
/// Work for direct methods, in sweeps: for clusters at rest, which they nearly always solve, so
/// many times the sweeps made so far but no less than LEAST, and no more than the solve may make;
/// for those in which contacts slide a share of the sweeps made so far, and more when these were
/// many and did not do. Bonded clusters in which sweeps get stuck are given SHARE_HARD times the
/// sweeps made: what is left there is what sweeps cannot see, and direct methods solve it. Those
/// that resist bending have LEAST_BENDING from the beginning: trees of 150 to 400 bonded balls, of
/// which sweeps see next to nothing, take 30 to 80 factorisations of some 90 sweeps.
static const double MORE_AT_REST = 3.0, LEAST_AT_REST = 1000.0, LEAST_BENDING = 8000.0;
static const double SHARE_IN_FLOW = 0.1, SHARE_UNDONE = 0.6, SHARE_HARD = 12.0;
/// Bound over tolerance that is normal where the rule is met: the certificate is sharp at rest and
/// pessimistic in flows (docs/theory.md). Bonds are made to hold, and their clusters are cheap to
/// solve: those are asked for more. Below ROUNDING a bound is the root of rounded sums.
static const double NORMAL_AT_REST = 2.0, NORMAL_IN_FLOW = 50.0, NORMAL_BONDED = 0.01;
static const double ROUNDING = 1e-5;
/// Where a cluster whose bonds resist bending holds still or moves as a whole, and its bound says
/// nothing, the estimate has to be this part of the tolerance, over the root of the ratio of its
/// masses: bending hides errors from it, and so do light links between heavy bodies. Trees of 60
/// bonded disks with masses of 1 to 1e9 were in free fall at estimates of 1e-7 to 9e-3.
/// Impulses that are exact to rounding get no better: there a tenth of the tolerance will do.
/// (Clusters in flight, whose bonds strain against each other and move nothing, had estimates of
/// 1e-5 to 1e-4 at residuals of 1e-16 to 6e-15.)
static const double USELESS = 0.5, SURE_OF_BONDS = 1e-3, SURE_OF_EXACT = 0.1, EXACT = 1e-14;
/// Bonds that bear less than this part of their strength do nothing: a tree that had come to rest
/// was looked after in vain whose grains moved by 1e-31 m/s, with 1e-32 of it (cohesive-compaction
/// of scenes/). Some bonds are made 1e20 times as strong as they need to be, so it does not tell
/// all that do nothing: nor do those that change velocities by less than ROUNDED last digits of the
/// fastest one, or of a gap, in a step (as in residual_terms.h). The same tree, at rest, strained
/// against itself by 7e-13 of its strength, and moved by 1e-13 m/s for that.
static const double NOTHING = 1e-26, ROUNDED = 16.0;
/// Work that may be spent on a cluster by chance, in parts of the least that solves any; on a hard
/// one, which takes as much.
static const double DEAR = 4.0, DEAR_HARD = 15.0;
/// Chances below one in so many are not taken: a step that is hundreds of times as long as the
/// others would surprise more than its answer is worth.
static const double MOST_LUCK = 100.0;
/// Clusters of so few contacts cost nothing to solve, and the rule does not see them in a flow of
/// thousands: they are asked for what is normal at rest.
enum { TINY = 50 };
/// Most contacts of a cluster in flow that gets a last chance when the sweeps are used up, and the
/// work for it, and for clusters at rest, in terms of the sweeps made; for those in flow the run as
/// a whole sets a limit, too (world/step_rigid.c). Of 79 such steps of the ready-made scenes half
/// take 30 factorisations or fewer, 3000 to 8000 sweeps' worth. A wall of 120 bricks that is about
/// to give way, at rest in 60 steps of 300 sweeps, has 7 last chances: with 12 times the sweeps 3
/// of them are solved, with 20 all but one. Two steps of a drum that neither of two paths solves
/// take 33 and 55 times.
enum { LAST_LARGEST = 10000 };
static const double SHARE_LAST = 60.0;
/// How much more is asked of the sweeps each time that bonds do not hold after them.
static const double STRICTER = 10.0;
/// Times that friction may break loose in a cluster.
enum { MOST_LOOSENINGS = 4 };
/// Times that an answer of a last chance may be asked for more because it flows less.
enum { MOST_TOLERANCES = 3 };

/// The clusters of a problem with their contacts.
typedef struct cluster_list {
    int64_t* first;   ///< [clusters + 1]
    int64_t* contact; ///< [contacts], those of a cluster ascending
    int64_t* links;   ///< [clusters] pairs of bodies that move and touch
    bool* bonded;     ///< [clusters]
    bool* bends;      ///< [clusters] its bonds resist bending, by torques or between solids
    double* work;     ///< [clusters] for direct methods; 0: they are not tried
} cluster_list;

static void list_free(cluster_list* list)
{
    free(list->first);
    free(list->contact);
    free(list->links);
    free(list->bonded);
    free(list->bends);
    free(list->work);
    *list = (cluster_list){0};
}

static talus_status list_contacts(const body_clusters* clusters, const problem* p,
                                  cluster_list* list)
{
    const size_t n = (size_t)clusters->count + 1;
    TRY(body_clusters_contacts(clusters, p, &list->first, &list->contact));
    list->links = calloc(n, sizeof *list->links);
    list->bonded = calloc(n, sizeof *list->bonded);
    list->bends = calloc(n, sizeof *list->bends);
    list->work = calloc(n, sizeof *list->work);
    if (!list->links || !list->bonded || !list->bends || !list->work) return TALUS_ERR_MEMORY;
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t k = body_clusters_of_contact(clusters, p, c);
        const int32_t compound = problem_compound_of(p, c);
        const int32_t *pair = p->pair + 2 * c, *of_row = clusters->of_row;
        // The contacts of a pair follow each other.
        const bool same = c > 0 && pair[0] == pair[-2] && pair[1] == pair[-1];
        if (k < 0) continue;
        const compound_contact* law = compound >= 0 ? &p->compound_rows[compound] : NULL;
        const bool bond = law && law->bond > 0.0;
        list->bonded[k] |= bond;
        list->bends[k] |= bond && (law->rolling.coefficient > 0.0 || problem_block_of(p, c) >= 0);
        list->links[k] += of_row[pair[0]] >= 0 && of_row[pair[1]] >= 0 && !same;
    }
    return TALUS_OK;
}

/// Direct methods within one solve.
typedef struct direct_phase {
    problem* p;
    const solve_request* request;
    solve_workspace* ws;
    solve_result* out;
    int64_t sweeps;   ///< made when it was last looked
    bool converged;   ///< by the rule
    double tolerance; ///< that it asks of the step, and of clusters in flow
    certificate found;
    cluster_list list;
    problem part;
    certificate_work judge;
    double work_at_rest, work_in_flow; ///< done
    double strictness; ///< the sweeps' own rule is so much stricter: they had met the other, but
                       ///< bonds do not hold
    uint64_t draws;
    bool changed;
} direct_phase;

/// Do contacts of a cluster slide because it moves, and not only because it is not solved yet?
static bool in_flow(const cluster_certificate* of)
{
    return of->sliding > 0 && !of->resting;
}

/// What is asked of a cluster: those at rest in a flow are asked as much as any other at rest.
static double tolerance_for(const direct_phase* d, const cluster_certificate* of)
{
    return in_flow(of) ? d->tolerance : fmin(d->tolerance, solve_tolerance(d->request, NULL));
}

/// Have all sweeps been made without meeting the rule?
static bool last_chance(const direct_phase* d)
{
    return !d->converged && d->sweeps >= solve_budget(d->request);
}

/// Is it that for a cluster in flow that may then cost more than its share? The last digits are not
/// worth it.
static bool gets_last_chance(const direct_phase* d, const cluster_certificate* of)
{
    return last_chance(d) && in_flow(of) && d->request->last_chance &&
           of->contacts <= LAST_LARGEST && d->tolerance >= ROUNDING;
}

/// Is the bound of cluster k more than the sweeps should leave?
static bool stubborn(const direct_phase* d, int64_t k)
{
    const cluster_certificate* of = &d->ws->certificate.of[k];
    const double tolerance = tolerance_for(d, of);
    if (of->contacts > direct_largest(d->p->dim) && !gets_last_chance(d, of)) return false;
    if (!d->converged)
        return of->plain > (d->sweeps < LATE ? fmax(tolerance, ROUNDING) : tolerance);
    const double normal = !in_flow(of) && d->list.bonded[k]      ? NORMAL_BONDED
                          : !in_flow(of) || of->contacts <= TINY ? NORMAL_AT_REST
                                                                 : NORMAL_IN_FLOW;
    return of->plain > fmax(normal * tolerance, ROUNDING);
}

/// Work for cluster k, which takes at least so much. Where too little is left it is sometimes more.
static double work_for(direct_phase* d, int64_t k, double least)
{
    const cluster_certificate* of = &d->ws->certificate.of[k];
    const double count = (double)d->p->count;
    const int64_t most = solve_budget(d->request);
    const bool last = last_chance(d), stuck = last || d->sweeps >= NEXT_LOOK * FIRST_LOOK;
    const bool undone = stuck && !d->converged;
    const bool at_end = last && !in_flow(of);
    const bool hard = undone && (d->list.bonded[k] || at_end);
    const double share = gets_last_chance(d, of) || at_end ? SHARE_LAST
                         : hard                            ? SHARE_HARD
                         : undone                          ? SHARE_UNDONE
                                                           : SHARE_IN_FLOW;
    const double dear = (hard ? DEAR_HARD : DEAR) * least;
    const double by_sweeps =
        fmin((double)most, fmax(LEAST_AT_REST, MORE_AT_REST * (double)d->sweeps));
    const double at_rest = d->list.bends[k] ? fmax(by_sweeps, LEAST_BENDING) : by_sweeps;
    const int64_t before = gets_last_chance(d, of) ? d->request->sweeps_before : 0;
    const double in_motion = share * (double)(before + d->sweeps);
    const double left = !in_flow(of)
                            ? fmax(at_rest, hard ? in_motion : 0.0) * count - d->work_at_rest
                            : in_motion * count - d->work_in_flow;
    rng r = rng_make(d->request->seed, d->request->key, ++d->draws);
    if (dear > MOST_LUCK * left) return left;
    return left >= dear || dear * rng_uniform(&r) >= left ? left : dear;
}

/// Mass of the heaviest body over that of the lightest, of those that move.
static double mass_ratio(const problem* p)
{
    double least = INFINITY, most = 0.0; // of inverse masses
    for (int64_t i = 0; i < p->rows; i++) {
        const double im = p->free[i * problem_stride(p->dim) + row_im(p->dim)];
        if (im > 0.0) least = fmin(least, im), most = fmax(most, im);
    }
    return most > 0.0 ? most / least : 1.0;
}

/// What is asked of the estimate of a cluster, `part`, whose bonds resist bending and which does
/// not flow. It is what was asked for, not what the sweeps were asked for beyond that.
static double estimate_that_holds(const direct_phase* d, const problem* part)
{
    const double asked = fmin(d->strictness * d->tolerance, solve_tolerance(d->request, NULL));
    return SURE_OF_BONDS * asked / sqrt(mass_ratio(part));
}

static talus_status solve_cluster(direct_phase* d, int64_t k)
{
    const cluster_certificate* of = &d->ws->certificate.of[k];
    const int64_t* contact = d->list.contact + d->list.first[k];
    direct_request request = {.bound = of->plain,
                              .frozen = of->frozen,
                              .sliding = in_flow(of),
                              .tolerance = tolerance_for(d, of),
                              .work = d->list.work[k],
                              .spent = last_chance(d),
                              .stop = d->request->options->stop,
                              .size = d->request->size};
    direct_result found = {.loosened = true};
    bool better = false;
    TRY(problem_extract(d->p, contact, of->contacts, &d->part));
    const bool hides = d->list.bends[k] && !in_flow(of);
    request.estimate = hides ? estimate_that_holds(d, &d->part) : request.tolerance;
    request.proof = hides ? d->strictness * d->tolerance : 0.0;
    for (int i = 0; i < MOST_LOOSENINGS && found.loosened; i++) {
        TRY(direct_solve(&d->part, &request, &d->judge, &found));
        d->out->second_iterations += found.factorisations;
        if (gets_last_chance(d, of)) d->out->last_updates += (int64_t)found.work;
        if (request.sliding) {
            d->work_in_flow += found.work;
        } else {
            d->work_at_rest += found.work;
        }
        if (found.method) d->out->second_method = found.method;
        better |= found.method || found.loosened;
        request.bound = found.loosened ? INFINITY : found.bound;
        request.work -= found.work;
    }
    d->list.work[k] = request.work;
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
    d->out->flows = !residual_rests(&seen);
    d->out->tolerance = solve_tolerance(d->request, &seen);
    d->out->converged = (rigid ? seen.velocity : seen.natural) <= d->out->tolerance;
}

/// Certify all clusters and decide for which of them direct methods are tried; *any: for some.
static talus_status plan(direct_phase* d, int64_t sweeps, bool converged, double tolerance,
                         bool* any)
{
    d->sweeps = sweeps;
    d->converged = converged;
    d->tolerance = tolerance;
    *any = false;
    TRY(certificate_find(&d->ws->certificate, d->p, d->request->threads, &d->found));
    list_free(&d->list);
    TRY(list_contacts(&d->ws->certificate.clusters, d->p, &d->list));
    for (int64_t k = 0; k < d->ws->certificate.clusters.count; k++) {
        if (!stubborn(d, k)) continue;
        const cluster_certificate* of = &d->ws->certificate.of[k];
        const double least = direct_least_work(of, d->list.links[k], d->p->dim);
        const double work = work_for(d, k, least);
        // At the end the price is found out: it is far less than estimated where a pile is loose.
        const bool enough = work >= least || (work > 0.0 && gets_last_chance(d, of));
        d->list.work[k] = enough ? work : 0.0;
        *any |= enough;
    }
    return TALUS_OK;
}

/// Solve the clusters that were decided on, and see what has come of the whole.
static talus_status solve_clusters(direct_phase* d)
{
    d->changed = false;
    for (int64_t k = 0; k < d->ws->certificate.clusters.count; k++) {
        if (d->list.work[k] > 0.0) TRY(solve_cluster(d, k));
    }
    if (!d->changed) return TALUS_OK;
    measure_again(d);
    return certificate_find(&d->ws->certificate, d->p, d->request->threads, &d->found);
}

/// The same, with what is left of the work once more if the answer flows less than the sweeps did
/// and is asked for more: else a last chance may meet what was asked and not what is. A step whose
/// bound is within the tolerance meets the rule for rigid grains, whatever its estimate is.
static talus_status carry_out(direct_phase* d)
{
    const talus_solver_def* options = d->request->options;
    TRY(solve_clusters(d));
    for (int i = 0; i < MOST_TOLERANCES && d->changed && last_chance(d); i++) {
        if (d->out->converged || !(d->out->tolerance < d->tolerance)) break;
        d->tolerance = d->out->tolerance;
        TRY(solve_clusters(d));
    }
    if (options->stop == TALUS_STOP_RIGID && d->found.plain <= d->out->tolerance) {
        d->out->converged = true;
    }
    d->out->certified = true;
    d->out->certificate = d->found;
    return TALUS_OK;
}

/// The fastest that a body would move without its contacts.
static double fastest_speed(const problem* p)
{
    double most = 0.0; // squared
    for (int64_t i = 0; i < p->rows; i++) {
        const double* v = p->free + i * problem_stride(p->dim);
        most = fmax(most, vec_dot(p->dim, v, v));
    }
    return sqrt(most);
}

/// Do the contacts of a cluster, `part`, nothing, if speeds are rounded by so much?
static bool does_nothing(const problem* part, double rounding)
{
    double mass = 0.0, effect2 = 0.0; // effect2: ||V - V_free||_M^2
    for (int64_t i = 0; i < part->rows; i++) {
        const int64_t at = i * problem_stride(part->dim);
        const double im = part->free[at + row_im(part->dim)];
        effect2 += problem_distance2(part, i, part->body + at, part->free + at);
        if (im > 0.0) mass += 1.0 / im;
    }
    return problem_largest_impulse(part) <= NOTHING * problem_strongest_bond(part) ||
           sqrt(effect2) <= rounding * sqrt(mass);
}

/// Is the rule met by all clusters whose bonds resist bending, each by itself, as far as can be
/// told? Where contacts slide or roll bounds say nothing, because friction may follow the normal
/// impulses, and these are a hundred times what they do where bonds strain against each other. But
/// that bending hides nothing is told by the bound for friction as it is, a theorem for bonds: then
/// the estimate decides as it does in any flow.
static talus_status bonds_hold(direct_phase* d, bool* hold)
{
    const double gaps = d->request->farthest / d->request->h;
    const double rounding = ROUNDED * DBL_EPSILON * fmax(fastest_speed(d->p), gaps);
    *hold = true;
    for (int64_t k = 0; k < d->ws->certificate.clusters.count && *hold; k++) {
        const cluster_certificate* of = &d->ws->certificate.of[k];
        if (!d->list.bends[k] || in_flow(of) || of->plain < USELESS) continue;
        if (of->sliding > 0 && of->frozen <= d->strictness * d->tolerance) continue;
        TRY(problem_extract(d->p, d->list.contact + d->list.first[k], of->contacts, &d->part));
        if (does_nothing(&d->part, rounding)) continue;
        const residual_report left = residual_measure(&d->part, 0.0, 1);
        const double share = left.natural <= EXACT ? SURE_OF_EXACT / SURE_OF_BONDS : 1.0;
        *hold = left.velocity <= share * estimate_that_holds(d, &d->part);
    }
    return TALUS_OK;
}

/// Sweeps that were asked for more because of bonds and have not met that: have they met the rule
/// itself, with bonds that hold by now?
static talus_status hold_after_all(direct_phase* d)
{
    measure_again(d);
    d->tolerance = d->out->tolerance;
    d->strictness = 1.0;
    return d->out->converged ? bonds_hold(d, &d->out->converged) : TALUS_OK;
}

// ---- sweeps ------------------------------------------------------------------------------------

/// Looks on while the sweeps go on, and ends them when direct methods shall be tried. Whoever
/// watches the solve looks on, too.
typedef struct own_watch {
    solve_watch watch; ///< first: the sweeps know this
    solve_watch* outer;
    direct_phase* d;
    int64_t next; ///< own look, in sweeps of the step
    bool wanted;
    talus_status status;
} own_watch;

static void set_next(own_watch* w)
{
    const int64_t outer = w->outer ? w->outer->next : INT64_MAX;
    w->watch.next = outer < w->next ? outer : w->next;
}

static void look(solve_watch* watch, const problem* p, int64_t sweeps)
{
    own_watch* w = (own_watch*)watch;
    const int64_t before = w->d->request->sweeps_before;
    if (w->outer && w->outer->next == sweeps) {
        w->outer->look(w->outer, p, sweeps);
        watch->enough = w->outer->enough;
    }
    if (w->next == sweeps && !watch->enough) {
        const residual_report seen =
            residual_measure(p, w->d->request->size, w->d->request->threads);
        const double tolerance = solve_tolerance(w->d->request, &seen);
        w->status = plan(w->d, sweeps - before, false, tolerance, &w->wanted);
        w->next = before + NEXT_LOOK * (sweeps - before);
        watch->enough = w->wanted || w->status != TALUS_OK;
    }
    set_next(w);
}

/// Sweep until the rule is met, the sweeps are used up or one of the watches has seen enough.
static talus_status sweep(direct_phase* d, own_watch* w)
{
    const solve_result done = *d->out;
    solve_request request = *d->request;
    request.sweeps_before += done.sweeps;
    request.watch = &w->watch;
    request.strictness = fmax(request.strictness, 1.0) * d->strictness;
    request.plain |= done.blew_up;
    w->wanted = w->watch.enough = false;
    set_next(w);
    TRY(accelerated_solver.solve(d->p, &request, d->ws, d->out));
    d->out->sweeps += done.sweeps;
    d->out->updates += done.updates;
    d->out->single_sweeps += done.single_sweeps;
    d->out->second_iterations = done.second_iterations;
    d->out->last_updates = done.last_updates;
    return w->status;
}

/// Direct methods do not come in between under rules that do not measure the solution and end after
/// a number of sweeps or when these are small.
static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    const talus_stop_rule rule = request->options->stop;
    if (rule != TALUS_STOP_RIGID && rule != TALUS_STOP_RESIDUAL) {
        return accelerated_solver.solve(p, request, ws, out);
    }
    direct_phase d = {.p = p, .request = request, .ws = ws, .out = out, .strictness = 1.0};
    own_watch w = {.watch = {.look = look},
                   .outer = request->watch,
                   .d = &d,
                   .next = request->sweeps_before + FIRST_LOOK};
    talus_status status = TALUS_OK;
    *out = (solve_result){0};
    do {
        bool any = true;
        status = sweep(&d, &w);
        if (status || (w.outer && w.outer->enough)) break;
        if (!w.wanted) status = plan(&d, out->sweeps, out->converged, out->tolerance, &any);
        if (!status) status = carry_out(&d);
        if (!status && out->converged && rule == TALUS_STOP_RIGID) {
            status = bonds_hold(&d, &out->converged);
            d.strictness *= STRICTER;
        }
    } while (!status && !out->converged && out->sweeps < solve_budget(request));
    if (!status && !out->converged && d.strictness > 1.0) status = hold_after_all(&d);
    list_free(&d.list);
    problem_free(&d.part);
    certificate_free(&d.judge);
    return status;
}

const solver_ops auto_solver = {.name = "auto", .solve = solve};

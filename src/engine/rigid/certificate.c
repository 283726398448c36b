/// The duality gap of a step, cluster by cluster.
///
/// With the bounds of friction frozen at s = mu (p_n + B), B the strength of a bond, and those of
/// rolling and torsion likewise, a step is a convex minimum problem: its velocities minimise
///     1/2 ||V - V_free||_M^2 + sum over contacts of psi(u),
///     psi(u) = s |u_t + slip| + B (u_n + closing)^+ + L |spin|,     where u_n + bias >= 0,
/// and the impulses p, with V = V_free + M^-1 H^T p, maximise the dual of it. Both are strongly
/// convex in V, so for any admissible impulses and any motion V^ that excludes overlap
///     ||V - V*||_M^2 + ||V^ - V*||_M^2 <= G = ||V^ - V||_M^2 + 2 sum (psi(u^) + psi*(-p) + p.u^)
/// with the exact velocities V*. Each bracket is 0 where p and u^ fulfil the law together, else
/// positive: p_n (u^_n + bias), and s |u^_t| + p_t.u^_t. With d = ||V^ - V|| the triangle
/// inequality gives
///     ||V - V*|| <= (d + sqrt(2 G - d^2)) / 2.
/// Any V^ will do, and the best of some is taken: the solver's own velocities (in motion), and
/// rest, that is the mean velocity of the walls that the cluster touches, or its own if it touches
/// none. At rest the bound is exact when the answer is standstill.
///
/// A motion V^ may overlap a little where it should not, by v = (u^_n + bias)^-. The bracket there
/// is at most (p*_n - p_n) v with the exact impulse p*, which is not known. What is missing has to
/// end the violations: p* - p = W^-1 v, and for waves of the length l diameters W^-1 is about
/// (C l)^2 m_n (residual.c); a heavy body, a lid or a boulder, that sinks into a chain of L light
/// ones by v at each contact asks for L M v. So p* is taken to exceed p by no more than
///     VIOLATION p_n + (WAVE L)^2 m_n v + SINKING L M v,
/// L the extent of the cluster in mean diameters, M its heaviest body. Where all that contacts do
/// is wrong it may exceed it by far more: from CERTAIN on nothing is certified. So this is a
/// theorem for V^ without violations and contacts that do not slide.
///
/// Where they slide V* is that of the frozen bounds. Those of the law follow the normal impulses,
/// and the bound lacks sum mu (p*_n - p_n)(|u_t| - |u*_t|). If the normal impulses of the sliding
/// contacts are known to a part k, that is at most k F ||V - V*||, F what their friction does to
/// the velocities; so the error is at most k F larger than the bound. k has no bound: bricks that
/// slide over each other on four corners each were 29 % off where the frozen bounds said 2 %. It is
/// taken to be at most UNKNOWN, and less the smaller the bound itself is; with a factor on top.
///
/// Where v > 0 and the contact slips the impulse that is missing brings friction with it, and mu
/// (p*_n - p_n) |u_t| is part of what is dropped: it is paid for as well, with L = LEAST_LENGTH,
/// for that is a matter of the contact's neighbours. And a light body that heavy ones squeeze may
/// bring them to a quite different motion, once it holds them off: mu M v, relative to what is so
/// light, is added to the error. So is, where contacts are few, the friction of those that may not
/// bear, and of those that bear nothing but may come to. bench/claim tries to break all that.
///
/// It still fails now and then where contacts are few: there the word is left to witnesses
/// (witness.c), of which the terms for few contacts only say how exact they are themselves.
///
/// Cost: two passes over the contacts, about four sweeps' worth.
#include "rigid/certificate.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "rigid/ahead.h"
#include "rigid/certificate_parts.h"
#include "state/morton.h"

#include <math.h>
#include <stdlib.h>

/// From this bound on nothing is certified. It is relative to what the contacts do, and impulses
/// that are huge and all wrong have a bound near 1; by comparison with their own motion a lower
/// one: grains that bounce in a box and lock each other (bounce, 1104) were 226 % off where 46 %
/// was claimed, and 79 % with all that is paid for now.
static const double CERTAIN = 0.9, CERTAIN_IN_MOTION = 0.5;
/// For clusters in motion in which contacts slide: a factor, and the part k of their friction that
/// is not known, at most UNKNOWN and at most BY_ROOT sqrt(bound). Fitted to 5266 clusters with
/// sliding of 416 problems of bench/claim (seeds 1 to 16), which need k = 0.22 at a bound of 2 %
/// and 0.045 at 0.4 %, and tried on 2319 others (seeds 1000 to 1009), one of which needs 0.19 at
/// 0.8 %. With the factor alone 33 and 17 of them were worse than claimed, by up to 12. Where up to
/// FEW contacts slide nothing averages out: any of them may open, which is k = 1, and the second
/// pair of numbers adds to the first; with more it falls like the root of their number. Rollers
/// (seed 122) need k = 0.70 at 4 % with 2 sliding contacts, clumps (100) 0.57 at 2.6 % with 3,
/// wedges (jack, 113) 0.52 at 0.2 % with 2.
static const double SLIDING = 1.5, UNKNOWN = 0.3, BY_ROOT = 3.0, FEW = 4.0, UNKNOWN_OF_FEW = 0.7,
                    BY_ROOT_OF_FEW = 9.0;
/// For clusters with friction in which nothing slides. Grains may wedge, and then hardly any
/// violation goes with a large impulse: a ring of nine in a drum, mu = 1.09, was 0.69 % off where
/// the bound said 0.08 %, so WEDGED
/// sqrt(bound) is added in motion. And the exact motion may slide or roll where the present one
/// does not: bonded rows on the floor with rolling friction were 23.2 % off, the bound against
/// rest 22.5 %; without torques it was exceeded once, by 0.015 %. So that bound is raised by this
/// part of itself, relative as it is: not where it is small.
static const double WEDGED = 0.3, MAY_TURN = 0.3, MAY_SLIDE = 0.01;
/// Violated contacts whose m_n is less than LIGHT of the heaviest body: so many times mu M v. A
/// ball of 800 kg under one of 10^6 kg rolls over one of 0.5 kg that sinks by 1.5e-4 (masses,
/// 20004). It was certified within 3 %; exactly it is lifted, loses the floor's friction and is
/// squeezed out, 97 % away. With 1, and not against rest, it was certified within 72 %.
static const double MAY_GRIP = 1.5;
/// Where contacts are few their friction is lost if they do not bear: of all that do not slide, as
/// far as their impulse is smaller than what the largest normal speed of a bearing contact asks
/// for. A slab on six rollers of nearly one size (rollers, 803) rests on two of them, 43 % from
/// the motion in which five bore it, which was certified within 14 %. In parts FEW_BEAR over all
/// contacts: in packings such things average out. So does the opposite, friction that comes: normal
/// speeds are known no better than to that largest one, and a contact that opens more slowly may
/// bear, or one that slides may bear more. A light body counts as if it were LIGHT of the heaviest:
/// what it lacks is no more than the imbalance of its own impulses, and may be all that a heavy one
/// weighs. A slab on three rollers (rollers, 8017) rests on one of a 60000th of its mass, which
/// sinks by 2e-4 of the speed; 9 % away from what was certified within 6 %. Three wedges
/// (jack, 803) leave the floor at 0.07 m/s, and it rubs them at 22: exactly it holds them, 2.42 %
/// away from what was certified within 2.36 %. In 7001 it bears a seventeenth of what it should.
/// All that took 43 of 677 certificates away (seeds 900 to 905).
static const double FEW_BEAR = 16.0;
/// And against rest, where few contacts slide: bodies that are squeezed may stand on impulses that
/// are too large. Masonry between walls (7016), ten sliding contacts of 79, was 3.0 % off where the
/// bound against rest says 0.93 %, certified within 1.4 %; it needs 1.0 times this root, with the
/// part that few contacts have.
static const double MAY_SLIP = 1.2;
/// Below this bound both roots go over into straight lines, 300 (few contacts: 1200) and 30 times
/// the bound: impulses of
/// an answer that is nearly right are off in proportion to its velocities. None of 97 clusters
/// below it, of 364 problems solved to 1e-6 (seeds 1 to 14), needs anything; above it 58 times the
/// bound is the most. With roots down to rounding, exact answers had bounds of 0.1 %.
static const double NEARLY_RIGHT = 1e-4;
/// A cluster whose bound against rest is larger than this may slide in the exact motion though
/// nothing slides yet: a ball in a trough (wedge, 99034) after three sweeps was 66.0 % off where
/// that bound, with MAY_SLIDE, is 65.1 %.
static const double STANDS = 0.1;
/// What contacts do to a cluster counts at least as this part of its free velocities, which is
/// rounding, as this part of what its contacts would do one by one, which is rounding where they
/// hold each other, and as this part of what contacts do in the mean to a mass as large as it.
static const double ROUNDING = 1e-9, LEAST_EFFECT = 1e-6;
/// The same for a single body against the mean of its cluster.
static const double LEAST_ROW_EFFECT = 1e-2;

/// Terms of a contact, the first for both motions.
enum { RUBBING = MOTIONS, UNSETTLED, UNSURE, GRIPPING, LACKING, LACKING_AT_REST, TERMS };

static const cluster_sums NO_SUMS = {.low = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};

void certificate_free(certificate_work* work)
{
    body_clusters_free(&work->clusters);
    free(work->rest);
    free(work->terms);
    free(work->of_contact);
    free(work->sums);
    free(work->of);
    free(work->row_error);
    *work = (certificate_work){0};
}

// ---- masses ------------------------------------------------------------------------------------

static double mass_of(const problem* p, int64_t row)
{
    const int dim = p->dim;
    const double im = p->free[row * problem_stride(dim) + row_im(dim)];
    const int64_t wall = problem_mobile_wall(p, row);
    double largest = im;
    for (int i = 0; i < dim && wall >= 0; i++) {
        largest = fmax(largest, p->mobility[(wall * dim + i) * dim + i]);
    }
    return largest > 0.0 ? 1.0 / largest : 0.0;
}

// ---- clusters ----------------------------------------------------------------------------------

/// Extent of a cluster in mean diameters, at most that of a row of its bodies; and that where all
/// lie in one cell, which is so where no order along the curve is known.
static double extent_of(const cluster_sums* s, int dim, double cell)
{
    const double bodies = (double)s->bodies;
    double extent = 0.0;
    for (int k = 0; k < dim; k++) {
        if (s->high[k] > s->low[k]) extent = fmax(extent, s->high[k] - s->low[k] + 1.0);
    }
    return extent > 0.0 ? fmin(extent * cell, bodies) : bodies;
}

/// What is worked out of each contact before it is summed up, in the room of the later terms: what
/// it would do alone, and if it bears its normal speed and impulse; else these are -1.
enum { SINGLE, SPEED, BEARS };

/// And of each body, in the room of its motion at rest.
enum { EFFECT, FREE, MASS };

/// Work these out, on all threads: sums are made in the order of contacts and bodies.
static void weigh_all(certificate_work* work, const problem* p, int threads)
{
    const int dim = p->dim, stride = problem_stride(dim);
    static const double nothing[8] = {0.0};
#pragma omp parallel num_threads(parallel_threads(threads, p->count))
    {
#pragma omp for schedule(static) nowait
        for (int64_t c = 0; c < p->count; c++) {
            const double* contact = p->contact + c * problem_width(dim);
            const double* impulse = contact + contact_p(dim);
            double* out = work->terms + TERMS * c;
            look_ahead(p, dim, c, p->body);
            const double pn = vec_dot(dim, impulse, contact);
            out[SINGLE] = vec_dot(dim, impulse, impulse) / contact[contact_mn(dim)];
            out[SPEED] = out[BEARS] = -1.0;
            if (!(pn > 0.0)) continue;
            double u[3];
            problem_velocity_of(p, p->body, c, u);
            out[SPEED] = fabs(vec_dot(dim, u, contact) + contact[contact_bias(dim)]);
            out[BEARS] = pn;
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < p->rows; i++) {
            const double* of_free = p->free + i * stride;
            double* out = work->rest + i * stride;
            if (work->clusters.of_row[i] < 0) continue;
            out[EFFECT] = problem_distance2(p, i, p->body + i * stride, of_free);
            out[FREE] = problem_distance2(p, i, of_free, nothing);
            out[MASS] = mass_of(p, i);
        }
    }
}

/// Items, which are contacts or bodies, that are added to the sums of their clusters.
typedef struct cluster_pass {
    certificate_work* work;
    const problem* p;
    const int32_t* cluster; ///< [items] -1: none
    int64_t items;
    void (*add)(const certificate_work* work, const problem* p, int64_t item, cluster_sums* s);
} cluster_pass;

/// Put sums over later items to those over earlier ones.
static void join_sums(cluster_sums* to, const cluster_sums* part)
{
    for (int m = 0; m < MOTIONS; m++) {
        to->gap[m] += part->gap[m];
        to->lacking[m] += part->lacking[m];
    }
    to->distance2 += part->distance2;
    to->effect2 += part->effect2;
    to->free2 += part->free2;
    to->single2 += part->single2;
    to->rubbing2 += part->rubbing2;
    to->unsettled2 += part->unsettled2;
    to->unsure2 += part->unsure2;
    to->gripping2 += part->gripping2;
    to->stray = fmax(to->stray, part->stray);
    to->light_stray = fmax(to->light_stray, part->light_stray);
    to->strongest = fmax(to->strongest, part->strongest);
    to->mass += part->mass;
    to->heaviest = fmax(to->heaviest, part->heaviest);
    to->friction |= part->friction;
    to->rolling |= part->rolling;
    to->contacts += part->contacts;
    to->sliding += part->sliding;
    to->walls += part->walls;
    for (int k = 0; k < 3; k++) {
        to->low[k] = part->low[k] < to->low[k] ? part->low[k] : to->low[k];
        to->high[k] = part->high[k] > to->high[k] ? part->high[k] : to->high[k];
        to->wall_velocity[k] += part->wall_velocity[k];
        to->momentum[k] += part->momentum[k];
    }
}

/// Add up the items of the largest cluster, to which nearly all of a packing belong: in parts that
/// depend on the number of items alone.
static void add_to_largest(const cluster_pass* pass, int threads)
{
    const certificate_work* work = pass->work;
    const int parts = parallel_chunks(pass->items);
    cluster_sums part[PARALLEL_CHUNKS];
#pragma omp parallel for num_threads(parallel_threads(threads, pass->items)) schedule(static)
    for (int k = 0; k < parts; k++) {
        const int64_t last = parallel_first(pass->items, k + 1);
        part[k] = NO_SUMS;
        for (int64_t i = parallel_first(pass->items, k); i < last; i++) {
            if (pass->cluster[i] == work->largest) pass->add(work, pass->p, i, &part[k]);
        }
    }
    for (int k = 0; k < parts; k++) join_sums(&work->sums[work->largest], &part[k]);
}

/// Add up the items of the others, each cluster's in their order: every thread looks at all items,
/// and takes those of its own clusters.
static void add_to_others(const cluster_pass* pass, int threads)
{
    const certificate_work* work = pass->work;
    const int64_t clusters = work->clusters.count;
    const int team = parallel_threads(threads, pass->items);
#pragma omp parallel for num_threads(team) schedule(static, 1)
    for (int t = 0; t < team; t++) {
        const int64_t first = clusters * t / team, last = clusters * (t + 1) / team;
        for (int64_t i = 0; i < pass->items; i++) {
            const int32_t k = pass->cluster[i];
            if (k < first || k >= last || k == work->largest) continue;
            pass->add(work, pass->p, i, &work->sums[k]);
        }
    }
}

static void add_by_cluster(const cluster_pass* pass, int threads)
{
    if (pass->work->clusters.count > 0) add_to_largest(pass, threads);
    if (pass->work->clusters.count > 1) add_to_others(pass, threads);
}

/// The clusters of the contacts, which are asked for again and again.
static void find_clusters(certificate_work* work, const problem* p, int threads)
{
#pragma omp parallel for num_threads(parallel_threads(threads, p->count)) schedule(static)
    for (int64_t c = 0; c < p->count; c++) {
        work->of_contact[c] = body_clusters_of_contact(&work->clusters, p, c);
    }
}

/// Count the bodies of each cluster, and find the one that has most.
static void count_bodies(certificate_work* work, const problem* p)
{
    for (int64_t i = 0; i < p->rows; i++) {
        const int32_t k = work->clusters.of_row[i];
        if (k >= 0) work->sums[k].bodies++;
    }
    work->largest = -1;
    for (int32_t k = 0; k < work->clusters.count; k++) {
        const bool larger =
            work->largest < 0 || work->sums[k].bodies > work->sums[work->largest].bodies;
        if (larger) work->largest = k;
    }
}

static void add_contact(const certificate_work* work, const problem* p, int64_t c, cluster_sums* s)
{
    const int dim = p->dim;
    const double* contact = p->contact + c * problem_width(dim);
    const double* weighed = work->terms + TERMS * c;
    const int32_t compound = problem_compound_of(p, c);
    for (int side = 0; side < 2; side++) {
        const int32_t row = p->pair[2 * c + side];
        if (work->clusters.of_row[row] >= 0) continue;
        vec_add_scaled(dim, s->wall_velocity, 1.0, p->free + (int64_t)row * problem_stride(dim));
        s->walls++;
    }
    s->single2 += weighed[SINGLE];
    if (weighed[BEARS] > 0.0) {
        s->stray = fmax(s->stray, weighed[SPEED]);
        s->light_stray = fmax(s->light_stray, weighed[SPEED] / contact[contact_mn(dim)]);
        s->strongest = fmax(s->strongest, weighed[BEARS]);
    }
    s->contacts++;
    s->friction |= contact[contact_mu(dim)] > 0.0;
    s->rolling |= compound >= 0 && p->compound_rows[compound].rolling.coefficient > 0;
}

static void add_body(const certificate_work* work, const problem* p, int64_t i, cluster_sums* s)
{
    const int dim = p->dim, stride = problem_stride(dim);
    const double *weighed = work->rest + i * stride, mass = weighed[MASS];
    s->effect2 += weighed[EFFECT];
    s->free2 += weighed[FREE];
    s->mass += mass;
    s->heaviest = fmax(s->heaviest, mass);
    vec_add_scaled(dim, s->momentum, mass, p->free + i * stride);
    for (int j = 0; j < dim && problem_mobile_wall(p, i) < 0; j++) {
        const uint32_t cell = morton_coordinate(dim, p->curve[i] >> j);
        s->low[j] = cell < s->low[j] ? cell : s->low[j];
        s->high[j] = cell > s->high[j] ? cell : s->high[j];
    }
}

/// What contacts and bodies say: effects, masses, extents, and the velocity of rest.
static void add_bodies(certificate_work* work, const problem* p, int threads)
{
    const int dim = p->dim;
    const cluster_pass contacts = {work, p, work->of_contact, p->count, add_contact},
                       bodies = {work, p, work->clusters.of_row, p->rows, add_body};
    weigh_all(work, p, threads);
    add_by_cluster(&contacts, threads);
    add_by_cluster(&bodies, threads);
    for (int64_t k = 0; k < work->clusters.count; k++) {
        cluster_sums* s = &work->sums[k];
        const double* sum = s->walls > 0 ? s->wall_velocity : s->momentum;
        const double divisor = s->walls > 0 ? (double)s->walls : s->mass;
        for (int i = 0; i < dim; i++) s->velocity[i] = sum[i] / (divisor > 0.0 ? divisor : 1.0);
        s->length = extent_of(s, dim, p->curve_cell);
        s->stray = fmax(s->stray, LIGHT * s->heaviest * s->light_stray);
    }
}

/// Row i of the motion "rest": all bodies of a cluster move alike and none turns, as far as they
/// are free to do so. Returns how far it is from the present motion.
static double set_rest_of(certificate_work* work, const problem* p, int64_t i)
{
    const int dim = p->dim, stride = problem_stride(dim);
    const double* of_free = p->free + i * stride;
    double* rest = work->rest + i * stride;
    const int32_t k = work->clusters.of_row[i];
    vec_copy(stride, rest, of_free);
    if (k < 0) return 0.0;
    const cluster_sums* s = &work->sums[k];
    const int64_t wall = problem_mobile_wall(p, i);
    if (of_free[row_im(dim)] > 0.0) vec_copy(dim, rest, s->velocity);
    if (wall >= 0) {
        // The projector of its mobility times the difference.
        const double* mobility = p->mobility + wall * dim * dim;
        double change[3];
        vec_sub(dim, change, s->velocity, of_free);
        const double mass = mass_of(p, i);
        for (int j = 0; j < dim; j++) {
            rest[j] += mass * vec_dot(dim, mobility + j * dim, change);
        }
    }
    for (int j = row_w(dim); j < row_kim(dim) && of_free[row_kim(dim)] > 0.0; j++) {
        rest[j] = 0.0;
    }
    return problem_distance2(p, i, rest, p->body + i * stride);
}

static void add_distance(const certificate_work* work, const problem* p, int64_t i, cluster_sums* s)
{
    (void)p;
    s->distance2 += work->row_error[i];
}

/// The motion "rest" and its distance, cluster by cluster.
static void set_rest(certificate_work* work, const problem* p, int threads)
{
    double* distance2 = work->row_error; // until errors are known
#pragma omp parallel for num_threads(parallel_threads(threads, p->rows)) schedule(static)
    for (int64_t i = 0; i < p->rows; i++) distance2[i] = set_rest_of(work, p, i);
    add_by_cluster(&(cluster_pass){work, p, work->clusters.of_row, p->rows, add_distance}, threads);
}

static void add_terms(const certificate_work* work, const problem* p, int64_t c, cluster_sums* s)
{
    const double* terms = work->terms + TERMS * c;
    (void)p;
    s->sliding += terms[RUBBING] > 0.0;
    s->rubbing2 += terms[RUBBING];
    s->unsettled2 += terms[UNSETTLED];
    s->unsure2 += terms[UNSURE];
    s->gripping2 += terms[GRIPPING];
    s->lacking[IN_MOTION] += terms[LACKING];
    s->lacking[AT_REST] += terms[LACKING_AT_REST];
    s->gap[IN_MOTION] += terms[IN_MOTION];
    s->gap[AT_REST] += terms[AT_REST];
}

/// The brackets of all contacts for both motions, and their sums.
static void add_brackets(certificate_work* work, const problem* p, int threads)
{
#pragma omp parallel for num_threads(parallel_threads(threads, p->count)) schedule(static)
    for (int64_t c = 0; c < p->count; c++) {
        friction_work in_motion, at_rest;
        double* terms = work->terms + TERMS * c;
        const int32_t k = work->of_contact[c];
        look_ahead(p, p->dim, c, p->body);
        look_ahead(p, p->dim, c, work->rest);
        if (k < 0) continue;
        terms[IN_MOTION] = certificate_bracket(p, c, &work->sums[k], p->body, &in_motion);
        terms[RUBBING] = in_motion.rubbing;
        terms[UNSETTLED] = in_motion.unsettled;
        terms[UNSURE] = in_motion.unsure;
        terms[GRIPPING] = in_motion.gripping;
        terms[LACKING] = in_motion.lacking;
        terms[AT_REST] = certificate_bracket(p, c, &work->sums[k], work->rest, &at_rest);
        terms[LACKING_AT_REST] = at_rest.lacking;
    }
    add_by_cluster(&(cluster_pass){work, p, work->of_contact, p->count, add_terms}, threads);
}

/// (d + sqrt(2 G - d^2)) / 2 of G = d^2 + gap.
static double error_of(double distance2, double gap)
{
    return 0.5 * (sqrt(distance2) + sqrt(distance2 + 2.0 * gap));
}

/// The root of a bound, which goes over into a straight line where it is small.
static double root_of(double bound)
{
    return sqrt(bound) * fmin(1.0, sqrt(bound / NEARLY_RIGHT));
}

/// Errors by comparison with both motions. `few`: what is unknown of the friction of few sliding
/// contacts counts in full.
static void errors_of(const cluster_sums* s, double scale, double few, const double gap[MOTIONS],
                      double error[MOTIONS])
{
    double moving = error_of(0.0, gap[IN_MOTION]), resting = error_of(s->distance2, gap[AT_REST]);
    if (s->sliding > 0) {
        const double unknown = fmin(UNKNOWN + few * UNKNOWN_OF_FEW,
                                    (BY_ROOT + few * BY_ROOT_OF_FEW) * root_of(moving / scale));
        moving = SLIDING * moving + unknown * sqrt(s->rubbing2);
        resting *= SLIDING;
    } else if (scale > 0.0) {
        const double may_yield = s->rolling ? MAY_TURN : s->friction ? MAY_SLIDE : 0.0;
        if (s->friction) moving += WEDGED * root_of(moving / scale) * scale;
        resting *= 1.0 + may_yield * resting / scale;
    }
    error[IN_MOTION] = moving;
    error[AT_REST] = resting;
}

static double bound_of(double error, double scale)
{
    return error == 0.0 ? 0.0 : error < CERTAIN * scale ? error / scale : INFINITY;
}

/// `mean2` is what contacts do to all bodies, for their mass.
static void judge_cluster(cluster_sums* s, double mean2, cluster_certificate* out)
{
    *out =
        (cluster_certificate){.bodies = s->bodies, .contacts = s->contacts, .sliding = s->sliding};
    const double least2 = ROUNDING * ROUNDING * (s->free2 + s->single2) +
                          LEAST_EFFECT * LEAST_EFFECT * mean2 * s->mass;
    const double scale = sqrt(fmax(s->effect2, least2));
    double error[MOTIONS];
    errors_of(s, scale, 0.0, s->gap, error);
    out->scale = scale;
    out->resting = error[AT_REST] < error[IN_MOTION];
    out->plain = bound_of(fmin(error[IN_MOTION], error[AT_REST]), scale);
    out->frozen = bound_of(
        fmin(error_of(0.0, s->gap[IN_MOTION]), error_of(s->distance2, s->gap[AT_REST])), scale);

    const double few = out->sliding > 0 ? fmin(1.0, sqrt(FEW / (double)out->sliding)) : 0.0;
    const double all[MOTIONS] = {s->gap[IN_MOTION] + s->lacking[IN_MOTION],
                                 s->gap[AT_REST] + s->lacking[AT_REST]};
    const double resting = error_of(s->distance2, all[AT_REST]);
    errors_of(s, scale, few, all, error);
    error[IN_MOTION] +=
        fmin(1.0, FEW_BEAR / (double)out->contacts) * (sqrt(s->unsure2) + sqrt(s->gripping2));
    if (out->sliding > 0) {
        error[AT_REST] += few * MAY_SLIP * root_of(resting / scale) * sqrt(s->rubbing2);
    }
    for (int m = 0; m < MOTIONS; m++) error[m] += MAY_GRIP * sqrt(s->unsettled2);
    if (error[IN_MOTION] >= CERTAIN_IN_MOTION * scale && error[IN_MOTION] > 0.0) {
        error[IN_MOTION] = INFINITY;
    }
    s->best = error[IN_MOTION] <= error[AT_REST] ? IN_MOTION : AT_REST;
    out->bound = bound_of(error[s->best], scale);
    out->assumed = s->friction && (s->best == IN_MOTION || out->sliding > 0 || out->bound > STANDS);
}

static void judge_clusters(certificate_work* work, int threads)
{
    const int64_t clusters = work->clusters.count;
    double effect2 = 0.0, mass = 0.0;
    for (int64_t k = 0; k < clusters; k++) {
        effect2 += work->sums[k].effect2;
        mass += work->sums[k].mass;
    }
    const double mean2 = mass > 0.0 ? effect2 / mass : 0.0;
#pragma omp parallel for num_threads(parallel_threads(threads, clusters)) schedule(static)
    for (int64_t k = 0; k < clusters; k++) judge_cluster(&work->sums[k], mean2, &work->of[k]);
}

void certificate_correct(certificate_work* work, int64_t k, double error)
{
    work->of[k].bound = bound_of(error, work->of[k].scale);
    work->of[k].witnessed = isfinite(error);
}

/// Sum up the gaps of the contacts of the bodies [first, last), in the order of contacts.
static void share_gaps_of(certificate_work* work, const problem* p, int64_t first, int64_t last)
{
    const int32_t* of_row = work->clusters.of_row;
    for (int64_t i = first; i < last; i++) work->row_error[i] = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1];
        const bool takes_a = a >= first && a < last && of_row[a] >= 0,
                   takes_b = b >= first && b < last && of_row[b] >= 0;
        if (!takes_a && !takes_b) continue;
        const int32_t k = of_row[takes_a ? a : b];
        const double term = work->terms[TERMS * c + work->sums[k].best];
        const double share = of_row[a] >= 0 && of_row[b] >= 0 ? 0.5 * term : term;
        if (takes_a) work->row_error[a] += share;
        if (takes_b) work->row_error[b] += share;
    }
}

/// Every thread looks at all contacts, and takes those of its own bodies.
static void share_gaps(certificate_work* work, const problem* p, int threads)
{
    const int team = parallel_threads(threads, p->rows);
#pragma omp parallel for num_threads(team) schedule(static, 1)
    for (int k = 0; k < team; k++) {
        share_gaps_of(work, p, p->rows * k / team, p->rows * (k + 1) / team);
    }
}

/// Share of each body in the gap of its cluster, relative to what contacts do to it.
static void judge_rows(certificate_work* work, const problem* p, int threads)
{
    const int stride = problem_stride(p->dim);
    const int32_t* of_row = work->clusters.of_row;
    share_gaps(work, p, threads);
#pragma omp parallel for num_threads(parallel_threads(threads, p->rows)) schedule(static)
    for (int64_t i = 0; i < p->rows; i++) {
        const int32_t k = of_row[i];
        if (k < 0) continue;
        const cluster_sums* s = &work->sums[k];
        const double *body = p->body + i * stride, *of_free = p->free + i * stride;
        const double least2 = s->mass > 0.0 ? LEAST_ROW_EFFECT * LEAST_ROW_EFFECT * s->effect2 *
                                                  mass_of(p, i) / s->mass
                                            : 0.0;
        const double distance2 =
            s->best == AT_REST ? problem_distance2(p, i, work->rest + i * stride, body) : 0.0;
        const double effect2 = fmax(problem_distance2(p, i, body, of_free), least2);
        const double error = error_of(distance2, work->row_error[i]);
        work->row_error[i] = error == 0.0 ? 0.0 : effect2 > 0.0 ? error / sqrt(effect2) : INFINITY;
    }
}

/// The worst body of the worst cluster, and of all: rows, -1: none.
typedef struct worst_rows {
    int64_t of_cluster, of_all;
} worst_rows;

static worst_rows worst_of(const certificate_work* work, int64_t cluster, int64_t first,
                           int64_t last)
{
    const double* error = work->row_error;
    worst_rows worst = {-1, -1};
    for (int64_t i = first; i < last; i++) {
        const int32_t k = work->clusters.of_row[i];
        if (k < 0) continue;
        if (k == cluster && (worst.of_cluster < 0 || error[i] > error[worst.of_cluster])) {
            worst.of_cluster = i;
        }
        if (worst.of_all < 0 || error[i] > error[worst.of_all]) worst.of_all = i;
    }
    return worst;
}

void certificate_worst(const certificate_work* work, const problem* p, int threads,
                       certificate* out)
{
    const double* error = work->row_error;
    *out = (certificate){.cluster = -1, .row = -1, .worst_row = -1};
    for (int64_t k = 0; k < work->clusters.count; k++) {
        // Of those without a bound the largest is the one to know of.
        const cluster_certificate* of = &work->of[k];
        const bool larger = isinf(of->bound) && of->bodies > out->cluster_bodies;
        out->plain = fmax(out->plain, of->plain);
        if (out->cluster >= 0 && !(of->bound > out->bound || larger)) continue;
        out->cluster = k;
        out->bound = of->bound;
        out->cluster_bodies = of->bodies;
    }
    if (out->cluster < 0) return;
    out->sliding = work->of[out->cluster].sliding > 0 && !work->of[out->cluster].witnessed;
    const int parts = parallel_chunks(p->rows);
    worst_rows part[PARALLEL_CHUNKS];
#pragma omp parallel for num_threads(parallel_threads(threads, p->rows)) schedule(static)
    for (int k = 0; k < parts; k++) {
        part[k] = worst_of(work, out->cluster, parallel_first(p->rows, k),
                           parallel_first(p->rows, k + 1));
    }
    for (int k = 0; k < parts; k++) {
        const int64_t row = part[k].of_cluster, any = part[k].of_all;
        if (row >= 0 && (out->row < 0 || error[row] > error[out->row])) out->row = row;
        if (any >= 0 && (out->worst_row < 0 || error[any] > out->row_error)) {
            out->row_error = error[any];
            out->worst_row = any;
        }
    }
}

talus_status certificate_find(certificate_work* work, const problem* p, int threads,
                              certificate* out)
{
    TRY(body_clusters_find(&work->clusters, p, threads));
    const int64_t clusters = work->clusters.count;
    if (!arrays_renew(&work->row_capacity, p->rows, ROWS(work->rest, problem_stride(p->dim)),
                      ARRAY(work->row_error)) ||
        !arrays_renew(&work->contact_capacity, p->count, ROWS(work->terms, TERMS),
                      ARRAY(work->of_contact)) ||
        !arrays_renew(&work->cluster_capacity, clusters, ARRAY(work->sums), ARRAY(work->of))) {
        return TALUS_ERR_MEMORY;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, clusters)) schedule(static)
    for (int64_t k = 0; k < clusters; k++) work->sums[k] = NO_SUMS;
    count_bodies(work, p);
    find_clusters(work, p, threads);
    add_bodies(work, p, threads);
    set_rest(work, p, threads);
    add_brackets(work, p, threads);
    judge_clusters(work, threads);
    judge_rows(work, p, threads);
    certificate_worst(work, p, threads, out);
    return TALUS_OK;
}

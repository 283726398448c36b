/// Coloured sweeps with Nesterov momentum: sweeps grow like L/d instead of (L/d)^2.
///
/// From y one forward sweep, always in the same order, gives x (packed/packed.h). Then
///     y' = x + beta (x - x_old),   theta' = (-theta^2 + theta sqrt(theta^2 + 4))/2,
///     beta = theta (1 - theta)/(theta^2 + theta')                                 (Nesterov)
/// for impulses and velocities alike; y may leave the cone, the next sweep projects it back, so
/// what is converged to is the exact law. Momentum starts anew when it points the wrong way, that
/// is when sum w (x - y).(x - x_old) < 0 (O'Donoghue and Candes). There is no proof for friction:
/// in flows, where many contacts slide, that alone falls into cycles. So the change of a sweep is
/// watched over windows. Where it grows, momentum starts anew and the window ends; where a window
/// was no better than the one before, momentum gets a limit: theta stays at that of the limit's
/// age. The first limit is what the errors' own length asks for (residual.h: a wave crosses that
/// length while momentum lasts, and flicker needs hardly any), then it is halved, and doubled again
/// where it pays.
/// Where grains flow (residual.h) errors are short, some 4 to 10 diameters whatever the size of the
/// system, and contacts that flip to and fro spoil what old momentum has gained. So there momentum
/// has a limit in proportion to that length from the start, and single contacts that turn back
/// with far more than their share are held (packed/sums.h).
///
/// In a large jammed packing the first sweeps alternate with steps on a coarse grid (coarse.h).
/// What short momentum does not reach in a flow, the load on large scales, is put right from time
/// to time by scaling impulses region by region (rescale.h).
#include "base/error.h"
#include "rigid/coarse/coarse.h"
#include "rigid/packed/on_card.h"
#include "rigid/residual.h"
#include "rigid/residual_card.h"
#include "rigid/solver.h"
#include "rigid/stop.h"

#include <math.h>

/// Sweeps of a window, at least; if the change of a window's best sweep is not below PROGRESS of
/// the last window's, momentum is cut short.
enum { WINDOW = 50 };
static const double PROGRESS = 0.8, GOOD_PROGRESS = 0.4;
/// Limits of momentum are not below SHORTEST; in a large packing at rest, where errors are waves,
/// not below half of its size or LONG_ENOUGH, whichever is less. Else a few contacts that flicker
/// take momentum from all: a cold start of 16 000 disks, 124 across, took 1747 sweeps with a limit
/// of 8, 886 with 30, 671 with 60 and 596 with 120.
enum { SHORTEST = 8, LONG_ENOUGH = 60 };
/// Growth of the squared change over the smallest one of a window that ends the window at once:
/// before there is a limit, and afterwards. Waves in a packing at rest stay below the first, flows
/// do not.
static const double GROWTH = 2.0, DIVERGENCE = 1e6;
/// Squared change over the largest of the first sweeps from which on momentum is taken to blow the
/// solution up, as torques of rolling can make it: plain sweeps never do.
static const double BLOW_UP = 1e3;
enum { FIRST_SWEEPS = 8 };
/// Sweeps in which a wave crosses a diameter of a packing, with some room: until it has crossed the
/// whole packing the change need not become smaller.
static const double CROSSING = 3.0;
/// The first limit in lengths of the errors: there and back, with some room.
static const double REACH = 10.0;
/// The same for flows, in the plane and in space; the growth that ends a window, and the change of
/// a single contact, in means over all, that makes it an outlier. Chosen on 20 steps of collapses
/// of spheres and disks, hoppers, silos, shear and drums, the limit in the plane on steps of 10^4
/// disks: 1.5 and 5 lengths took 1.1 and 1.2 times the updates of 2.5 there. In space 2.5, 3.5 and
/// 7 lengths took 1.0 to 1.4 times those of 5. No limit took 1.7 times, no outliers 1.05 (10 %) to
/// 1.4 times (1 %). Windows are shorter in space, where errors are: 0.7 times the updates in a drum
/// of 10^4 spheres, 0.8 in a collapse of 10^5, as many elsewhere; in the plane it took 1.1 times.
static const double FLOW_REACH_PLANE = 2.5, FLOW_REACH_SPACE = 5.0;
enum { FLOW_WINDOW_SPACE = 25 };
static const double FLOW_GROWTH = 10.0, OUTLIER = 100.0;

typedef struct momentum {
    double theta, beta;
    int64_t limit;       ///< age at which momentum grows no more; INT64_MAX: none yet
    double best;         ///< smallest change in this window
    double last_best;    ///< and in the one before
    int64_t sweeps;      ///< of this window
    int64_t window;      ///< length of a window while momentum has no limit
    double size;         ///< of the packing, in diameters
    double length;       ///< on which the errors vary, in diameters
    double first;        ///< largest change of the first sweeps
    int64_t age;         ///< sweeps of the solve
    bool off;            ///< momentum made the changes grow without end: there is none any more
    bool rests;          ///< grains rest, as far as the last look could tell
    bool flows;          ///< or they flow: if neither is sure yet, both are false
    double flow_reach;   ///< limit where they flow, in lengths of the errors
    int64_t flow_window; ///< length of a window where they flow, 0: as elsewhere
    double outlier;      ///< change above which a contact that turns back is held
} momentum;

static momentum momentum_start(int dim, double size)
{
    return (momentum){.theta = 1.0,
                      .limit = INT64_MAX,
                      .best = INFINITY,
                      .last_best = INFINITY,
                      .window = WINDOW + (int64_t)(CROSSING * size),
                      .outlier = INFINITY,
                      .size = size,
                      .flow_reach = dim == 2 ? FLOW_REACH_PLANE : FLOW_REACH_SPACE,
                      .flow_window = dim == 2 ? 0 : FLOW_WINDOW_SPACE,
                      .length = size > 0.0 ? size : WINDOW / REACH};
}

/// Keep going, but judge windows as at the start: floats held up the last ones.
static void momentum_judge_anew(momentum* m)
{
    m->limit = INT64_MAX;
    m->best = m->last_best = INFINITY;
    m->sweeps = 0;
}

/// Impulses were changed other than by sweeps: changes of later sweeps cannot be compared with
/// those before.
static void momentum_compare_anew(momentum* m)
{
    m->best = m->last_best = INFINITY;
    m->first = 0.0;
    m->age = 0;
    m->sweeps = 0;
}

static void restart(momentum* m)
{
    m->theta = 1.0;
    m->beta = 0.0;
}

/// At the end of a window: less momentum where it does not help, more where it does.
static void judge_window(momentum* m)
{
    const double ratio = m->best / m->last_best;
    const bool unlimited = m->limit == INT64_MAX;
    if (!(ratio < PROGRESS)) {
        const int64_t shorter = unlimited ? (int64_t)(REACH * m->length) : m->limit / 2;
        const double waves = m->rests ? fmin(0.5 * m->size, LONG_ENOUGH) : 0.0;
        m->limit = (int64_t)fmax((double)shorter, fmax(waves, SHORTEST));
    } else if (ratio < GOOD_PROGRESS && !unlimited) {
        m->limit *= 2;
    }
    m->last_best = m->best;
    m->best = INFINITY;
    m->sweeps = 0;
}

/// Decide from the sums of a sweep over `contacts` how far the next one is extrapolated.
static void momentum_next(momentum* m, const packed_sums* s, int64_t contacts)
{
    const double allowed = m->flows ? FLOW_GROWTH : m->limit == INT64_MAX ? GROWTH : DIVERGENCE;
    const bool diverges = !(s->change <= allowed * m->best);
    const int64_t window = m->flows && m->flow_window > 0 ? m->flow_window
                           : m->limit == INT64_MAX        ? m->window
                           : m->limit > 2 * WINDOW        ? m->limit / 2
                                                          : WINDOW;
    m->best = fmin(m->best, s->change);
    if (m->age++ < FIRST_SWEEPS) m->first = fmax(m->first, s->change);
    m->off |= !(s->change <= BLOW_UP * m->first);
    m->outlier = m->flows ? OUTLIER * s->change / (double)contacts : INFINITY;
    if (++m->sweeps >= window || diverges) judge_window(m);
    if (diverges || m->off || s->turning < 0.0) {
        restart(m);
        return;
    }
    const double t = m->theta, t2 = t * t;
    double limit = (double)m->limit;
    if (m->flows) limit = fmin(limit, fmax(m->flow_reach * m->length, SHORTEST));
    // After k sweeps theta is about 2/k.
    m->theta = fmax(0.5 * (sqrt(t2 * (t2 + 4.0)) - t2), 2.0 / limit);
    m->beta = t * (1.0 - t) / (t2 + m->theta);
}

/// Fewer contacts are quick to sweep over, and few sweeps do not smooth what a coarse step leaves.
enum { COARSE_CONTACTS = 3000, COARSE_SWEEPS = 100 };

static bool may_step_coarsely(const problem* p, const solve_request* request)
{
    const talus_solver_def* options = request->options;
    return options->method != TALUS_SOLVER_COLOURED && solve_budget(request) >= COARSE_SWEEPS &&
           options->precision != TALUS_PRECISION_SINGLE && p->count >= COARSE_CONTACTS &&
           (request->size == 0.0 || request->size >= coarse_least_size(p->dim));
}

/// Whether what the packed problem has given back counts: nothing does that comes from a card which
/// has failed, and nobody may go on from it.
static talus_status arrived(const packed_problem* w)
{
    return w->on_card ? packed_card_state(w, NULL) : TALUS_OK;
}

/// What the problem knows of the impulses and velocities that are packed.
typedef enum knowledge {
    BEHIND,    ///< sweeps have been made since
    REFRESHED, ///< nothing, but the packed velocities were refreshed (packed_refresh)
    CURRENT    ///< all
} knowledge;

static talus_status bring_back(packed_problem* w, const packed_kernels* kernels, int threads,
                               knowledge* known)
{
    if (*known == BEHIND) packed_give_back(w, kernels, threads);
    if (*known == REFRESHED) packed_write(w, threads);
    *known = CURRENT;
    return arrived(w);
}

/// Measure the solution where it is known: in the problem, or on the card if nobody else wants to
/// see it. *reached: the rule is met.
static talus_status look(stop_state* stop, solve_workspace* ws, problem* p, knowledge known,
                         int64_t sweep, const sweep_stats* stats, bool* reached)
{
    if (known == CURRENT) {
        *reached = stop_look(stop, p, sweep, stats);
        return TALUS_OK;
    }
    residual_report seen;
    TRY(residual_card_measure(ws->residual_card, &ws->packed, stop->size, stop->threads, &seen));
    *reached = stop_judge(stop, &seen, sweep, stats);
    return TALUS_OK;
}

/// Change the impulses on a coarse grid. The first step stops the wave that momentum has begun to
/// follow. At later ones x and what came before it move alike, so momentum stays what it was.
static talus_status step_coarsely(coarse_grid* c, packed_problem* w, const packed_kernels* kernels,
                                  int threads, knowledge* known, momentum* m)
{
    bool changed;
    if (*known == BEHIND && c->steps > 0) {
        packed_show(w, threads);
        TRY(arrived(w));
    } else {
        TRY(bring_back(w, kernels, threads, known));
    }
    if (coarse_step(c, w->problem, packed_threads(w->count, threads), &changed)) {
        return TALUS_ERR_MEMORY;
    }
    if (!changed) return TALUS_OK;
    packed_shift(w, kernels, threads);
    if (c->steps == 1) restart(m);
    momentum_compare_anew(m);
    return TALUS_OK;
}

/// Scale the impulses region by region. As x and what came before it move alike momentum stays what
/// it was.
static talus_status scale_impulses(rescaling* r, packed_problem* w, const packed_kernels* kernels,
                                   int threads, knowledge* known, momentum* m)
{
    TRY(bring_back(w, kernels, threads, known));
    if (rescale(r, w->problem, packed_threads(w->count, threads))) return TALUS_ERR_MEMORY;
    packed_shift(w, kernels, threads);
    momentum_compare_anew(m);
    return TALUS_OK;
}

/// The change of a sweep in windows, to see when floats have done what they can. Then doubles go on
/// from where floats are: so the rule that ends a solve is the same.
typedef struct progress {
    double best, last_best; ///< smallest change in this window and in the one before
    int64_t sweeps, window; ///< of this window, and its length
} progress;

/// Relative change of a sweep that is hardly more than rounding to floats.
static const double SINGLE_ROUNDING = 0x1p-20;
/// Sweeps in single precision after which velocities are computed anew from the impulses.
enum { SINGLE_REFRESH = 64 };

static bool single_is_spent(progress* g, const packed_sums* s)
{
    if (!(s->change > SINGLE_ROUNDING * SINGLE_ROUNDING * s->impulse)) return true;
    g->best = fmin(g->best, s->change);
    if (++g->sweeps < g->window) return false;
    const bool stuck = !(g->best < PROGRESS * g->last_best);
    *g = (progress){.best = INFINITY, .last_best = g->best, .window = g->window};
    return stuck;
}

/// Let the request's card make the sweeps of a packed problem, if it can. The bits are the same.
static talus_status move_to_card(packed_problem* w, const solve_request* request, solve_result* out)
{
    if (!request->card) return TALUS_OK;
    out->why_no_card = packed_card_why_not(w);
    if (out->why_no_card) return TALUS_OK;
    card_use_threads(request->card, packed_threads(w->count, request->threads));
    return packed_to_card(w, request->card);
}

/// Open contacts are looked at once in so many sweeps.
enum { FULL_SWEEPS = 8 };

static talus_status solve(problem* p, const solve_request* request, solve_workspace* ws,
                          solve_result* out)
{
    const talus_solver_def* options = request->options;
    const packed_kernels* kernels = packed_kernels_for(options->vector);
    const bool accelerated = options->method != TALUS_SOLVER_COLOURED;
    const int64_t budget = solve_budget(request);
    packed_problem* w = &ws->packed;
    *out = (solve_result){.converged = true, .tolerance = solve_tolerance(request, NULL)};
    if (p->count == 0) {
        problem_refresh(p);
        return TALUS_OK;
    }
    if (packed_pack(w, p, request->threads)) return TALUS_ERR_MEMORY;
    if (options->precision == TALUS_PRECISION_DOUBLE) TRY(move_to_card(w, request, out));
    residual_card_begin(ws->residual_card);
    packed_apply(w, kernels, request->threads);
    if (options->precision == TALUS_PRECISION_SINGLE && packed_use_single(w, request->threads)) {
        return TALUS_ERR_MEMORY;
    }
    ws->coarse.next = INT64_MAX;
    stop_state stop = stop_begin(request);
    if (may_step_coarsely(p, request)) coarse_begin(&ws->coarse, p, stop.tolerance, budget);
    ws->rescaling.next = INT64_MAX;
    if (accelerated && stop_measures(&stop) && !w->single) {
        rescaling_begin(&ws->rescaling, p, request->size, budget);
    }
    bool reached = false;
    momentum m = momentum_start(p->dim, request->size);
    m.off = request->plain;
    progress in_single = {.best = INFINITY, .last_best = INFINITY, .window = m.window};
    knowledge known = BEHIND;
    int64_t skipped = 0;
    if (accelerated) packed_remember(w, request->threads);
    while (out->sweeps < budget && !reached) {
        if (coarse_due(&ws->coarse, out->sweeps)) {
            TRY(step_coarsely(&ws->coarse, w, kernels, request->threads, &known, &m));
        }
        if (rescaling_due(&ws->rescaling, out->sweeps)) {
            const bool loads_change = !m.rests && ws->coarse.next == INT64_MAX;
            if (loads_change) {
                TRY(scale_impulses(&ws->rescaling, w, kernels, request->threads, &known, &m));
            }
            rescaling_wait(&ws->rescaling);
        }
        const packed_manner manner = {.momentum = accelerated,
                                      .beta = m.beta,
                                      .skip = out->sweeps % FULL_SWEEPS != 0,
                                      .outlier = m.outlier};
        const packed_sums sums = packed_sweep(w, kernels, &manner, request->threads);
        TRY(arrived(w));
        skipped += sums.skipped;
        const sweep_stats stats = {.change2 = sums.change, .impulse2 = sums.impulse};
        const bool spent = w->single && single_is_spent(&in_single, &sums);
        out->sweeps++;
        out->single_sweeps += w->single;
        if (accelerated) momentum_next(&m, &sums, p->count);
        // What does not converge ends with plain sweeps: they leave small errors, momentum may
        // leave large ones.
        if (budget - out->sweeps <= budget / 8) restart(&m);
        const bool watched = solve_is_watched(request, out->sweeps);
        const bool due = stop_due(&stop, out->sweeps, &stats);
        const bool halfway =
            p->compound_count > 0 && solve_knows_forces(request, false, out->sweeps);
        known = BEHIND;
        if (!(watched || due || halfway || spent)) {
            if (w->single && out->sweeps % SINGLE_REFRESH == 0) {
                packed_refresh_single(w, kernels, request->threads);
            }
            continue;
        }
        if (!watched && !halfway && residual_card_can(&ws->residual_card, w)) {
            packed_refresh(w, kernels, request->threads);
            known = REFRESHED;
        } else {
            TRY(bring_back(w, kernels, request->threads, &known));
        }
        if (spent) {
            w->single = false;
            momentum_judge_anew(&m);
        }
        if (watched && solve_watched(request, p, out->sweeps)) break;
        if (due) {
            TRY(look(&stop, ws, p, known, out->sweeps, &stats, &reached));
            m.length = stop.seen.length;
            m.flows = residual_flows(&stop.seen);
            m.rests = residual_rests(&stop.seen);
        }
        if (solve_knows_forces(request, reached, out->sweeps) &&
            problem_break_loose(p, stop.tolerance)) {
            packed_refresh_friction(w);
            reached = false;
            stop.next_check = out->sweeps + 1;
        }
    }
    packed_forget(w); // what was before the last sweep need not be refreshed
    TRY(bring_back(w, kernels, request->threads, &known));
    packed_leave_card(w);
    out->blew_up = m.off;
    solve_conclude(&stop, p, reached, out);
    out->updates -= skipped;
    return TALUS_OK;
}

const solver_ops accelerated_solver = {.name = "accelerated", .solve = solve};

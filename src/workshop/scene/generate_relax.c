/// Push-apart relaxation of overlapping balls.
///
/// In a sweep each ball is pushed, along the lines of centres, by a share of what it lacks to a
/// small margin beyond touching, and goes on with a part of its last step: descent with momentum
/// (Polyak 1964) on the squares of what pairs lack. All balls see where the others stood before the
/// sweep, so that neither their order nor the number of threads matters. A ball is pulled back into
/// the region; where a wall forbids the spot it tries random steps of the same length.
///
/// The margin lets pressure spread before balls touch, so that crowded places drain; it shrinks
/// from sweep to sweep, because a dense packing has no room for it. When it is at its end and
/// overlaps do not get fewer there are too many balls: some are taken out, the deepest first, and
/// the others go on.
///
/// Lists say which balls are near which (generate_near.h); they last until a ball has left its
/// leeway around its anchor, the place where it was when they were made.
#include "scene/generate_relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vec.h"
#include "scene/generate_near.h"
#include "scene/generate_region.h"

/// Margin in units of the smaller diameter of a pair: at the first sweep, its factor from sweep to
/// sweep, and the least.
static const double MARGIN_FIRST = 0.08, MARGIN_FACTOR = 0.97, MARGIN_LAST = 0.0005;
/// As little margin keeps balls clear of each other whatever the rounding of wrapped positions.
static const double MARGIN_NONE = 1e-9;
/// Part of what a pair lacks by which each of the two is pushed, and of its last step that a ball
/// makes once more. Sweeps needed by 10^5 disks at 0.80, 10^4 at 0.83, 10^4 spheres at 0.58, 0.62:
/// 358, 500 and more, 66, 120 with 0.5 and 0.8; 86, 129, 66, 93 with these; no fewer with 0.95.
static const double SHARE = 0.7, MOMENTUM = 0.9;
/// Pushes of as many balls of its own size are not made weaker.
static const double CROWDED = 8.0;
/// Longest step in units of the ball's radius.
static const double LONGEST_STEP = 0.15;
/// Leeway in units of the geometric mean of a ball's radius and the typical one, so that large
/// balls, which are pushed by many, do not end lists more often than small ones.
static const double LEEWAY = 0.5;
/// How far walls are from most balls at least, in units of the leeway.
static const double OFF_WALLS = 4.0;
/// Once the margin is at its end an eighth of the balls that overlap must have come free in so many
/// sweeps. Else a part of them is taken out: at least one of THINNED, twice as many the next time,
/// and so on up to one of MOST_THINNED.
enum { PATIENCE = 25, THINNED = 512, MOST_THINNED = 4 };
enum { WALL_TRIES = 4 };

typedef struct place {
    double centre[3]; ///< not wrapped
    double radius;
} place;

/// A ball that moves, apart from its place.
typedef struct mover {
    double step[3];   ///< the last one
    double anchor[3]; ///< where it was when lists were made
    double leeway;
    double overlap; ///< with the one that it overlaps most, in units of its own diameter
    double off[3];  ///< where it was when walls were asked for `room`
    double room;    ///< so far around walls are away; 0: they are asked at each step
    int64_t handle; ///< in the grid
} mover;

typedef struct crowd {
    packing* p;
    int64_t count, all; ///< balls that move, and with those that stay
    place *at, *next;   ///< [all] before and after a sweep
    mover* movers;      ///< [count]
    near_ball* reach;   ///< [all]
    near_lists lists;
    double period[3]; ///< a difference is its nearest image if it is below half of it
    uint64_t key;     ///< of random steps at walls
} crowd;

// ---- neighbours --------------------------------------------------------------------------------

static bool find_neighbours(crowd* c, double margin)
{
    const double gap = c->p->def->gap;
    for (int64_t i = 0; i < c->all; i++) {
        const place* b = &c->at[i];
        vec_copy(3, c->reach[i].centre, b->centre);
        c->reach[i].reach = (1.0 + margin) * b->radius + 0.5 * gap;
        if (i >= c->count) continue;
        c->reach[i].reach += c->movers[i].leeway;
        vec_copy(3, c->movers[i].anchor, b->centre);
    }
    return near_find(&c->lists, c->reach, c->count, c->all);
}

// ---- pushes ------------------------------------------------------------------------------------

/// What the others do to a ball.
typedef struct push {
    double sum[3]; ///< of what is lacking, away from them
    double weight; ///< of those that push
    double overlap;
} push;

/// Difference of two centres, nearest image.
static inline void apart(const crowd* c, const place* a, const place* b, double delta[3])
{
    bool far = false;
    for (int k = 0; k < 3; k++) {
        delta[k] = b->centre[k] - a->centre[k];
        far |= fabs(delta[k]) > 0.49 * c->period[k];
    }
    if (far) cell_nearest(&c->p->context->cell, c->p->context->dim, delta);
}

static inline double smaller_diameter(const place* a, const place* b)
{
    return 2.0 * (a->radius < b->radius ? a->radius : b->radius);
}

/// Add the push of one ball on another. Around a ball there is room for so many others of its size
/// or, in as many times more, smaller ones: these weigh as much less.
static inline void push_by(const crowd* c, int64_t self, int64_t by, double margin, push* q)
{
    const place *own = &c->at[self], *other = &c->at[by];
    double delta[3];
    apart(c, own, other, delta);
    const double distance = sqrt(vec_dot(3, delta, delta)), smaller = smaller_diameter(own, other);
    const double touching = own->radius + other->radius + c->p->def->gap + MARGIN_NONE * smaller;
    const double ratio = fmin(1.0, other->radius / own->radius);
    const double weight = c->p->context->dim == 2 ? ratio : ratio * ratio;
    const double lack = weight * (touching + margin * smaller - distance);
    const double length = by < c->count ? lack : 2.0 * lack; // that one stays: the whole way
    // Balls on the same spot have no line of centres: let it be the x axis.
    if (distance > 0.0)
        vec_add_scaled(3, q->sum, -length / distance, delta);
    else
        q->sum[0] += by < self ? length : -length;
    q->weight += weight;
    q->overlap = fmax(q->overlap, 0.5 * (touching - distance) / own->radius);
}

static push find_push(const crowd* c, int64_t self, double margin)
{
    enum { TOGETHER = 32 };
    const place* own = &c->at[self];
    const double gap = c->p->def->gap;
    const int64_t end = c->lists.first[self + 1];
    push q = {0};
    for (int64_t from = c->lists.first[self]; from < end; from += TOGETHER) {
        // Half of those on the list push, at random: they are told apart without a branch.
        int32_t pushing[TOGETHER];
        int count = 0;
        for (int64_t k = from; k < end && k < from + TOGETHER; k++) {
            const int32_t by = c->lists.near[k];
            const place* other = &c->at[by];
            double delta[3];
            apart(c, own, other, delta);
            const double wanted = own->radius + other->radius + gap +
                                  (margin + MARGIN_NONE) * smaller_diameter(own, other);
            pushing[count] = by;
            count += vec_dot(3, delta, delta) < wanted * wanted;
        }
        for (int k = 0; k < count; k++) push_by(c, self, pushing[k], margin, &q);
    }
    return q;
}

// ---- moves -------------------------------------------------------------------------------------

/// Whether walls allow a ball at `x`; asks them only where they can be near.
static bool walls_allow(const crowd* c, mover* m, const double x[3], double radius)
{
    const generate_context* context = c->p->context;
    double way[3];
    vec_sub(3, way, x, m->off);
    const double moved = vec_norm(3, way);
    if (moved < m->room) return true;
    if (m->room > 0.0 || moved > m->leeway) {
        m->room = 0.0;
        vec_copy(3, m->off, x);
        if (generate_allowed(context, x, radius + OFF_WALLS * m->leeway))
            m->room = OFF_WALLS * m->leeway;
        else if (generate_allowed(context, x, radius + m->leeway))
            m->room = m->leeway;
        if (m->room > 0.0) return true;
    }
    return generate_allowed(context, x, radius);
}

/// Move a ball by `step`, or by random steps as long where walls forbid that. Returns whether it is
/// in its leeway then.
static bool move(crowd* c, int64_t i, int sweep, double step[3])
{
    const packing* p = c->p;
    const place* before = &c->at[i];
    place* b = &c->next[i];
    mover* m = &c->movers[i];
    const int dim = p->context->dim;
    const double norm = vec_norm(3, step), length = fmin(norm, LONGEST_STEP * b->radius);
    for (int k = 0; norm > 0.0 && k < 3; k++) step[k] *= length / norm;
    rng r = {{0}};
    for (int try = 0; try < WALL_TRIES; try++) {
        vec_copy(3, b->centre, before->centre);
        vec_add_scaled(3, b->centre, 1.0, step);
        region_pull_in(&p->def->region, &p->context->cell, dim, b->radius, b->centre);
        if (walls_allow(c, m, b->centre, b->radius)) {
            double way[3];
            vec_sub(3, m->step, b->centre, before->centre);
            vec_sub(3, way, b->centre, m->anchor);
            return vec_dot(3, way, way) < m->leeway * m->leeway;
        }
        if (try == 0) r = rng_make(c->key, (uint64_t)m->handle, (uint64_t)sweep);
        for (int k = 0; k < dim; k++) step[k] = length * (2.0 * rng_uniform(&r) - 1.0);
    }
    vec_copy(3, b->centre, before->centre);
    memset(m->step, 0, sizeof m->step);
    return true;
}

/// One round over all balls, from c->at to c->next. Returns how many had overlaps; *off_anchors
/// says whether any has left its leeway.
static int64_t relax_sweep(crowd* c, int sweep, double margin, bool* off_anchors)
{
    int64_t touching = 0;
    bool off = false;
#pragma omp parallel for num_threads(parallel_threads(c->lists.threads, c->count))                 \
    schedule(static) reduction(+ : touching) reduction(|| : off)
    for (int64_t i = 0; i < c->count; i++) {
        mover* m = &c->movers[i];
        const push q = find_push(c, i, margin);
        const double share = SHARE * fmin(1.0, CROWDED / fmax(q.weight, 1.0));
        double step[3];
        for (int k = 0; k < 3; k++) step[k] = share * q.sum[k] + MOMENTUM * m->step[k];
        m->overlap = q.overlap;
        touching += q.overlap > 0.0;
        vec_copy(3, c->next[i].centre, c->at[i].centre);
        if (vec_dot(3, step, step) > 0.0) off = !move(c, i, sweep, step) || off;
    }
    *off_anchors = off;
    return touching;
}

// ---- too many ----------------------------------------------------------------------------------

static int deepest_first(const void* pa, const void* pb)
{
    const mover *a = *(mover*const*)pa, *b = *(mover*const*)pb;
    if (a->overlap != b->overlap) return a->overlap > b->overlap ? -1 : 1;
    return a->handle < b->handle ? -1 : a->handle > b->handle;
}

/// Take out so many of the balls that overlap that the others get the room that they lack, but at
/// least one of `least`. Returns how many, -1 when memory is short. Lists have to be made anew
/// then.
static int64_t thin_out(crowd* c, int64_t touching, int64_t least)
{
    mover** order = malloc((size_t)touching * sizeof(mover*));
    if (!order) return -1;
    int64_t found = 0;
    double lack = 0.0; // of volume, in units of a ball's
    for (int64_t i = 0; i < c->count; i++) {
        if (!(c->movers[i].overlap > 0.0)) continue;
        order[found++] = &c->movers[i];
        lack += c->p->context->dim * c->movers[i].overlap;
    }
    qsort(order, (size_t)found, sizeof(mover*), deepest_first);
    const int64_t wanted = (int64_t)fmax(lack, (double)((found + least - 1) / least));
    const int64_t removed = wanted < found ? wanted : found;
    for (int64_t k = 0; k < removed; k++) {
        ball_grid_remove(&c->p->grid, order[k]->handle);
        order[k]->handle = -1;
    }
    free(order);
    int64_t kept = 0;
    for (int64_t i = 0; i < c->all; i++) { // those that stay follow
        if (i < c->count && c->movers[i].handle < 0) continue;
        if (i < c->count) c->movers[kept] = c->movers[i];
        c->at[kept++] = c->at[i];
    }
    c->count -= removed;
    c->all -= removed;
    memcpy(c->next, c->at, (size_t)c->all * sizeof *c->at);
    return removed;
}

static bool other_than(void* user, int64_t ball, const double delta[3], double distance)
{
    (void)delta, (void)distance;
    return ball == *(const int64_t*)user; // goes on
}

/// Take out of the grid, where all balls stand now, whatever overlaps.
static int64_t take_out_overlapping(const crowd* c)
{
    packing* p = c->p;
    int64_t removed = 0;
    for (int64_t i = c->count - 1; i >= 0; i--) {
        const place* b = &c->at[i];
        const int64_t handle = c->movers[i].handle;
        int64_t self = handle;
        if (ball_grid_visit(&p->grid, b->centre, b->radius, p->def->gap, other_than, &self))
            continue;
        ball_grid_remove(&p->grid, handle);
        removed++;
    }
    return removed;
}

// ---- the whole ---------------------------------------------------------------------------------

static bool crowd_make(crowd* c, packing* p)
{
    const generate_context* context = p->context;
    *c =
        (crowd){.p = p,
                .count = p->grid.count - p->fixed,
                .all = p->grid.count,
                .key = rng_next(&p->r),
                .lists = {.dim = context->dim, .threads = context->threads, .cell = context->cell}};
    const size_t all = (size_t)c->all + 1;
    c->at = malloc(all * sizeof *c->at);
    c->next = malloc(all * sizeof *c->next);
    c->movers = calloc((size_t)c->count + 1, sizeof *c->movers);
    c->reach = malloc(all * sizeof *c->reach);
    if (!c->at || !c->next || !c->movers || !c->reach) return false;
    for (int k = 0; k < 3; k++) {
        const bool periodic = k < context->dim && context->cell.periodic[k];
        c->period[k] = periodic ? context->cell.length[k] : INFINITY;
    }
    for (int64_t i = 0; i < c->all; i++) { // those that stay come last here
        const int64_t handle = i < c->count ? p->fixed + i : i - c->count;
        place* b = &c->at[i];
        b->radius = p->grid.balls[handle].radius;
        vec_copy(3, b->centre, i < c->count ? p->centre + 3 * i : p->grid.balls[handle].centre);
        if (i >= c->count) continue;
        mover* m = &c->movers[i];
        m->handle = handle;
        m->leeway = LEEWAY * sqrt(b->radius * p->typical_radius);
        m->off[0] = INFINITY; // far from where walls were asked
    }
    memcpy(c->next, c->at, (size_t)c->all * sizeof *c->at);
    return true;
}

static void crowd_free(crowd* c)
{
    free(c->at);
    free(c->next);
    free(c->movers);
    free(c->reach);
    near_free(&c->lists);
}

int64_t packing_relax(packing* p, int* sweeps)
{
    crowd c;
    bool good = crowd_make(&c, p), clear = false;
    double margin = MARGIN_FIRST;
    int64_t removed = 0, last = c.count;
    bool off_anchors = true;
    int at_end = 0; // sweeps with the least margin
    int64_t least = THINNED;
    for (int i = 1; good && !clear && *sweeps > 0; i++) {
        if (off_anchors) good = find_neighbours(&c, margin);
        if (!good) break;
        const int64_t touching = relax_sweep(&c, i, margin, &off_anchors);
        --*sweeps;
        clear = touching == 0;
        if (clear) break; // where they were before
        at_end += margin <= MARGIN_LAST;
        margin = fmax(MARGIN_FACTOR * margin, MARGIN_LAST);
        if (at_end > 0 && at_end % PATIENCE == 0) {
            if (touching > last - (last + 7) / 8) {
                const int64_t thinned = thin_out(&c, touching, least);
                least = least / 2 > MOST_THINNED ? least / 2 : MOST_THINNED;
                good = thinned >= 0;
                removed += thinned;
                off_anchors = true;
                last = c.count;
                continue;
            }
            last = touching;
        }
        place* at = c.at;
        c.at = c.next;
        c.next = at;
    }
    for (int64_t i = 0; i < c.count && good; i++) {
        const mover* m = &c.movers[i];
        vec_copy(3, p->centre + 3 * (m->handle - p->fixed), c.at[i].centre);
        ball_grid_move(&p->grid, m->handle, c.at[i].centre);
    }
    if (good && !clear) removed += take_out_overlapping(&c);
    crowd_free(&c);
    return good ? removed : -1;
}

/// Push-apart relaxation of overlapping balls (Gauss-Seidel on the pair overlaps).
///
/// Each ball in turn moves along the lines of centres by half of what it lacks to a small margin
/// beyond touching (the whole when the other is fixed) and is pulled back into the region; where a
/// wall forbids the spot it tries random steps of the same length. The margin lets pressure spread
/// before balls touch, so that crowded places drain; it shrinks from sweep to sweep, because a
/// dense packing has no room for it. Far below random close packing this settles in some tens of
/// sweeps, beyond the density where random sequential addition saturates (0.38 for equal spheres,
/// 0.55 for equal disks).
///
/// A ball keeps a list of those that can come near it while neither moves farther than the leeway
/// from its anchor, the place where the grid has it. One that does is anchored anew and joins the
/// lists of those it finds there. With the anchor it is also asked whether walls are that far away;
/// if so, they need not be asked again before the next one.
#include "scene/generate_relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "scene/generate_region.h"

/// Margin in units of the smaller diameter of a pair: at the first sweep, its factor from sweep to
/// sweep, and the least.
static const double MARGIN_FIRST = 0.08, MARGIN_FACTOR = 0.99, MARGIN_LAST = 0.002;
/// As little margin keeps balls clear of each other whatever the rounding of wrapped positions.
static const double MARGIN_NONE = 1e-9;
/// How far a ball may go from its anchor, in units of the typical radius.
static const double LEEWAY = 0.2;
/// Every so many sweeps an eighth of the balls that overlap must have come free, one at least: with
/// less, hundreds of sweeps more would not be enough (measured with 10^4 spheres at solid fractions
/// around 0.6), and a ball caught between fixed ones never comes free.
enum { PATIENCE = 50 };
enum { WALL_TRIES = 4 };

/// A movable ball.
typedef struct mover {
    double centre[3]; ///< not wrapped
    double radius;
    double moved[3]; ///< from its anchor
    int64_t first;   ///< of its list of neighbours
    int32_t count, room;
    bool off_walls; ///< as long as it keeps to its leeway
    bool restless;  ///< moved or pushed since it was last looked at
} mover;

typedef struct crowd {
    packing* p;
    mover* movers;
    int64_t count;
    int32_t* near; ///< lists of handles
    int64_t near_count, near_capacity;
    double leeway;
    bool short_of_memory;
} crowd;

// ---- neighbours --------------------------------------------------------------------------------

typedef struct collection {
    crowd* c;
    int64_t self;
} collection;

static bool collect_one(void* user, int64_t ball, const double delta[3], double distance)
{
    (void)delta;
    const collection* of = user;
    crowd* c = of->c;
    if (ball == of->self) return true;
    const ball_grid* grid = &c->p->grid;
    const double one = grid->balls[of->self].radius, two = grid->balls[ball].radius;
    const double margin = 2.0 * MARGIN_FIRST * fmin(one, two);
    if (distance >= one + two + c->p->def->gap + margin + 2.0 * c->leeway) return true;
    if (!arrays_grow(&c->near_capacity, c->near_count + 1, ARRAY(c->near))) {
        c->short_of_memory = true;
        return false;
    }
    c->near[c->near_count++] = (int32_t)ball;
    return true;
}

/// Make the list of a ball anew, with room for some more, at the end of all lists.
static void collect_neighbours(crowd* c, int64_t ball)
{
    mover* m = &c->movers[ball - c->p->fixed];
    collection of = {c, ball};
    m->first = c->near_count;
    ball_grid_visit(&c->p->grid, c->p->grid.balls[ball].centre, m->radius,
                    c->p->def->gap + 2.0 * (MARGIN_FIRST * m->radius + c->leeway), collect_one,
                    &of);
    m->count = (int32_t)(c->near_count - m->first);
    m->room = m->count + m->count / 4 + 2;
    if (!arrays_grow(&c->near_capacity, m->first + m->room, ARRAY(c->near))) {
        c->short_of_memory = true;
        m->room = m->count;
    }
    c->near_count = m->first + m->room;
}

static void join_list(crowd* c, mover* host, int64_t host_ball, int64_t guest)
{
    for (int32_t i = 0; i < host->count; i++) {
        if (c->near[host->first + i] == guest) return;
    }
    if (host->count == host->room)
        collect_neighbours(c, host_ball);
    else
        c->near[host->first + host->count++] = (int32_t)guest;
}

/// Let the grid have a ball where it stands now.
static void set_anchor(crowd* c, int64_t ball)
{
    packing* p = c->p;
    mover* m = &c->movers[ball - p->fixed];
    ball_grid_move(&p->grid, ball, m->centre);
    memset(m->moved, 0, sizeof m->moved);
    m->off_walls = generate_allowed(p->context, m->centre, m->radius + c->leeway);
}

static void anchor_anew(crowd* c, int64_t ball)
{
    set_anchor(c, ball);
    collect_neighbours(c, ball);
    const mover* m = &c->movers[ball - c->p->fixed];
    for (int32_t i = 0; i < m->count && !c->short_of_memory; i++) {
        const int64_t other = c->near[m->first + i];
        if (other >= c->p->fixed) join_list(c, &c->movers[other - c->p->fixed], other, ball);
    }
}

// ---- pushes ------------------------------------------------------------------------------------

typedef struct push {
    double step[3];
    bool touching; ///< it overlaps another ball
} push;

/// Sum up the pushes on a ball; who gives them is restless then.
static push find_push(const crowd* c, const mover* m, double margin)
{
    const packing* p = c->p;
    push q = {0};
    for (int32_t i = 0; i < m->count; i++) {
        const int64_t ball = c->near[m->first + i];
        mover* other = ball < p->fixed ? NULL : &c->movers[ball - p->fixed];
        const double* centre = other ? other->centre : p->grid.balls[ball].centre;
        const double radius = other ? other->radius : p->grid.balls[ball].radius;
        const double smaller = 2.0 * fmin(m->radius, radius);
        const double apart = m->radius + radius + p->def->gap, wanted = apart + margin * smaller;
        double delta[3];
        vec_sub(3, delta, centre, m->centre);
        cell_nearest(&p->context->cell, p->context->dim, delta);
        const double squared = vec_dot(3, delta, delta);
        if (squared >= wanted * wanted) continue;
        const double distance = sqrt(squared), lack = wanted - distance;
        q.touching |= distance < apart + MARGIN_NONE * smaller;
        if (other) other->restless = true;
        const double length = other ? 0.5 * lack : lack;
        // Balls on the same spot have no line of centres: let the x axis be it.
        if (distance > 0.0)
            vec_add_scaled(3, q.step, -length / distance, delta);
        else
            q.step[0] -= length;
    }
    return q;
}

/// Move a ball by `step`, or by random steps as long where walls forbid that.
static void try_move(crowd* c, int64_t ball, double step[3])
{
    packing* p = c->p;
    mover* m = &c->movers[ball - p->fixed];
    const int dim = p->context->dim;
    const double norm = vec_norm(3, step), length = fmin(norm, m->radius);
    for (int k = 0; norm > 0.0 && k < 3; k++) step[k] *= length / norm;
    for (int i = 0; i < WALL_TRIES; i++) {
        double x[3], moved[3];
        vec_copy(3, x, m->centre);
        vec_add_scaled(3, x, 1.0, step);
        region_pull_in(&p->def->region, &p->context->cell, dim, m->radius, x);
        for (int k = 0; k < 3; k++) moved[k] = m->moved[k] + (x[k] - m->centre[k]);
        const bool in_leeway = vec_dot(3, moved, moved) < c->leeway * c->leeway;
        if ((in_leeway && m->off_walls) || generate_allowed(p->context, x, m->radius)) {
            vec_copy(3, m->centre, x);
            vec_copy(3, m->moved, moved);
            if (!in_leeway) anchor_anew(c, ball);
            return;
        }
        for (int k = 0; k < dim; k++) step[k] = length * (2.0 * rng_uniform(&p->r) - 1.0);
    }
}

/// One round over the balls that moved or were pushed; returns how many had overlaps.
static int64_t relax_sweep(crowd* c, double margin, int64_t* pushes)
{
    int64_t touching = 0;
    for (int64_t i = 0; i < c->count; i++) {
        mover* m = &c->movers[i];
        if (!m->restless) continue;
        m->restless = false;
        push q = find_push(c, m, margin);
        if (!q.touching && !(vec_dot(3, q.step, q.step) > 0.0)) continue;
        try_move(c, c->p->fixed + i, q.step);
        m->restless = true; // it may have moved onto others
        touching += q.touching;
        ++*pushes;
    }
    return touching;
}

/// Whether any restless ball overlaps another. Balls at rest were seen free of overlaps, and one
/// that moved onto them since is restless.
static bool any_overlap(const crowd* c)
{
    for (int64_t i = 0; i < c->count; i++) {
        if (c->movers[i].restless && find_push(c, &c->movers[i], MARGIN_NONE).touching) return true;
    }
    return false;
}

// ---- the whole ---------------------------------------------------------------------------------

static bool other_than(void* user, int64_t ball, const double delta[3], double distance)
{
    (void)delta, (void)distance;
    return ball == *(const int64_t*)user; // goes on
}

/// Take out of the grid, where all balls stand now, what overlaps; the last inserted first.
static int64_t take_out_overlapping(const crowd* c)
{
    packing* p = c->p;
    int64_t removed = 0;
    for (int64_t i = p->grid.count - 1; i >= p->fixed; i--) {
        const mover* m = &c->movers[i - p->fixed];
        if (!m->restless ||
            ball_grid_visit(&p->grid, m->centre, m->radius, p->def->gap, other_than, &i))
            continue;
        ball_grid_remove(&p->grid, i);
        removed++;
    }
    return removed;
}

int64_t packing_relax(packing* p, int64_t most, int64_t* pushes)
{
    crowd c = {.p = p, .count = p->grid.count - p->fixed, .leeway = LEEWAY * p->typical_radius};
    c.movers = calloc((size_t)c.count + 1, sizeof *c.movers);
    if (!c.movers) return -1;
    for (int64_t i = 0; i < c.count; i++) {
        mover* m = &c.movers[i];
        m->radius = p->grid.balls[p->fixed + i].radius;
        m->restless = true;
        vec_copy(3, m->centre, p->centre + 3 * i);
        set_anchor(&c, p->fixed + i);
    }
    for (int64_t i = 0; i < c.count && !c.short_of_memory; i++)
        collect_neighbours(&c, p->fixed + i);
    double margin = MARGIN_FIRST;
    int64_t last = c.count;
    for (int i = 1; *pushes < most && !c.short_of_memory; i++) {
        // The sweep's own count is from before its last moves, so zero must be looked at again.
        const int64_t touching = relax_sweep(&c, margin, pushes);
        if (touching == 0 && !any_overlap(&c)) break;
        margin = fmax(MARGIN_FACTOR * margin, MARGIN_LAST);
        if (i % PATIENCE != 0) continue;
        if (touching > last - (last + 7) / 8) break;
        last = touching;
    }
    for (int64_t i = 0; i < c.count; i++) {
        vec_copy(3, p->centre + 3 * i, c.movers[i].centre);
        ball_grid_move(&p->grid, p->fixed + i, c.movers[i].centre);
    }
    const int64_t removed = c.short_of_memory ? -1 : take_out_overlapping(&c);
    free(c.movers);
    free(c.near);
    return removed;
}

/// Push-apart relaxation of overlapping balls (Gauss-Seidel on the pair overlaps).
///
/// Each ball in turn moves along the lines of centres by half of what it lacks to a small margin
/// beyond touching (the whole when the other is fixed) and is pulled back into the region; where a
/// wall forbids the spot it tries random steps of the same length. The margin lets pressure spread
/// before balls touch, so that crowded places drain; it shrinks from sweep to sweep, because a
/// dense packing has no room for it. Far below random close packing this settles in some tens of
/// sweeps, beyond the density where random sequential addition saturates (0.38 for equal spheres,
/// 0.55 for equal disks).
#include "scene/generate_relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "scene/generate_region.h"

/// Margin in units of the smaller diameter of a pair: at the first sweep and at the last.
static const double MARGIN_FIRST = 0.08, MARGIN_LAST = 0.005;
enum { WALL_TRIES = 4 };

typedef struct push {
    const packing* p;
    int64_t self; ///< the ball being pushed
    double radius;
    double margin;
    double step[3];
    int64_t touching;  ///< balls it overlaps
    uint8_t* restless; ///< of the movable balls
} push;

static bool add_push(void* user, int64_t ball, const double delta[3], double distance)
{
    push* q = user;
    const packing* p = q->p;
    if (ball == q->self) return true;
    double other = p->grid.balls[ball].radius;
    double overlap = q->radius + other + p->def->gap - distance;
    double lack = overlap + 2.0 * q->margin * fmin(q->radius, other);
    if (lack <= 0.0) return true;
    bool fixed = ball < p->fixed;
    if (overlap > 0.0) q->touching++;
    if (!fixed) q->restless[ball - p->fixed] = 1;
    double length = fixed ? lack : 0.5 * lack;
    // Balls on the same spot have no line of centres: let the x axis be it.
    if (distance > 0.0)
        vec_add_scaled(3, q->step, -length / distance, delta);
    else
        q->step[0] -= length;
    return true;
}

/// Move a ball by `step`, or by random steps as long where walls forbid that.
static void try_move(packing* p, int64_t ball, double radius, double step[3])
{
    int dim = p->context->dim;
    double* centre = p->centre + 3 * (ball - p->fixed);
    double norm = vec_norm(3, step), length = fmin(norm, radius);
    for (int k = 0; norm > 0.0 && k < 3; k++) step[k] *= length / norm;
    for (int i = 0; i < WALL_TRIES; i++) {
        double x[3];
        vec_copy(3, x, centre);
        vec_add_scaled(3, x, 1.0, step);
        region_pull_in(&p->def->region, &p->context->cell, dim, radius, x);
        if (generate_allowed(p->context, x, radius)) {
            vec_copy(3, centre, x);
            ball_grid_move(&p->grid, ball, x);
            return;
        }
        for (int k = 0; k < dim; k++) step[k] = length * (2.0 * rng_uniform(&p->r) - 1.0);
    }
}

/// Sum up the pushes on a ball.
static push find_push(const packing* p, int64_t ball, double margin, uint8_t* restless)
{
    push q = {.p = p, .self = ball, .margin = margin, .restless = restless};
    q.radius = p->grid.balls[ball].radius;
    ball_grid_visit(&p->grid, p->centre + 3 * (ball - p->fixed), q.radius,
                    p->def->gap + 2.0 * margin * q.radius, add_push, &q);
    return q;
}

/// One round over the balls that moved or were pushed; returns how many had overlaps.
static int64_t relax_sweep(packing* p, double margin, uint8_t* restless, int64_t* pushes)
{
    int64_t touching = 0;
    for (int64_t i = p->fixed; i < p->grid.count; i++) {
        uint8_t* mine = &restless[i - p->fixed];
        if (!*mine) continue;
        *mine = 0;
        push q = find_push(p, i, margin, restless);
        if (q.touching == 0 && !(vec_dot(3, q.step, q.step) > 0.0)) continue;
        try_move(p, i, q.radius, q.step);
        *mine = 1; // it may have moved onto others
        touching += q.touching > 0;
        ++*pushes;
    }
    return touching;
}

/// Whether any restless ball overlaps another. Balls at rest were seen free of overlaps, and one
/// that moved onto them since is restless.
static bool any_overlap(const packing* p, uint8_t* restless)
{
    for (int64_t i = p->fixed; i < p->grid.count; i++) {
        if (restless[i - p->fixed] && find_push(p, i, 0.0, restless).touching > 0) return true;
    }
    return false;
}

int64_t packing_relax(packing* p, int rounds, int64_t* pushes)
{
    int64_t movable = p->grid.count - p->fixed;
    uint8_t* restless = malloc((size_t)movable + 1);
    if (!restless) return -1;
    memset(restless, 1, (size_t)movable + 1);
    for (int i = 0; i < rounds; i++) {
        double margin = MARGIN_FIRST + (MARGIN_LAST - MARGIN_FIRST) * i / rounds;
        // The sweep's own count is from before its last moves, so zero must be looked at again.
        int64_t touching = relax_sweep(p, margin, restless, pushes);
        if (touching == 0 && !any_overlap(p, restless)) break;
    }
    int64_t removed = 0;
    for (int64_t i = p->grid.count - 1; i >= p->fixed; i--) {
        if (!restless[i - p->fixed] || find_push(p, i, 0.0, restless).touching == 0) continue;
        ball_grid_remove(&p->grid, i);
        removed++;
    }
    free(restless);
    return removed;
}

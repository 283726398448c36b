/// Push-apart relaxation of overlapping balls (Gauss-Seidel on the pair overlaps).
///
/// Each ball in turn moves by half of every overlap it has (the whole when the other is fixed),
/// plus a little, along the line of centres, and is pulled back into the region; where a wall
/// forbids the spot it tries random steps of the same length. Far below random close packing this
/// settles in some tens of sweeps, beyond the density where random sequential addition saturates
/// (0.38 for equal spheres, 0.55 for equal disks).
#include "scene/generate_relax.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "scene/generate_region.h"

/// Pushed a little further than touching, in units of the radius, so that pairs do come free.
static const double OVERSHOOT = 0.01;
enum { WALL_TRIES = 4 };

typedef struct push {
    const packing* p;
    int64_t self;      ///< the ball being pushed
    double radius;
    double step[3];
    int64_t overlaps;
    uint8_t* restless; ///< of the movable balls
} push;

static bool add_push(void* user, int64_t ball, const double delta[3], double distance)
{
    push* q = user;
    const packing* p = q->p;
    if (ball == q->self) return true;
    double overlap = q->radius + p->grid.balls[ball].radius + p->def->gap - distance;
    bool fixed = ball < p->fixed;
    double length = (fixed ? overlap : 0.5 * overlap) + OVERSHOOT * q->radius;
    q->overlaps++;
    if (!fixed) q->restless[ball - p->fixed] = 1;
    // Balls on the same spot have no line of centres: let the x axis be it.
    if (distance > 0.0) vec_add_scaled(3, q->step, -length / distance, delta);
    else q->step[0] -= length;
    return true;
}

/// Move a ball by `step`, or by random steps as long where walls forbid that.
static void try_move(packing* p, int64_t ball, double radius, double step[3])
{
    int dim = p->context->dim;
    double* centre = p->centre + 3 * (ball - p->fixed);
    double length = fmin(vec_norm(3, step), radius), norm = vec_norm(3, step);
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

/// Sum up the pushes on a ball; returns the number of its overlaps.
static int64_t find_push(const packing* p, int64_t ball, uint8_t* restless, double step[3])
{
    push q = {.p = p, .self = ball, .restless = restless};
    q.radius = p->grid.balls[ball].radius;
    ball_grid_visit(&p->grid, p->centre + 3 * (ball - p->fixed), q.radius, p->def->gap, add_push,
                    &q);
    vec_copy(3, step, q.step);
    return q.overlaps;
}

/// One round over the balls that moved or were touched; returns how many had overlaps.
static int64_t relax_sweep(packing* p, uint8_t* restless)
{
    int64_t moved = 0;
    for (int64_t i = p->fixed; i < p->grid.count; i++) {
        uint8_t* mine = &restless[i - p->fixed];
        double step[3];
        if (!*mine) continue;
        *mine = 0;
        if (find_push(p, i, restless, step) == 0) continue;
        try_move(p, i, p->grid.balls[i].radius, step);
        *mine = 1; // it may have moved onto others
        moved++;
    }
    return moved;
}

int64_t packing_relax(packing* p)
{
    int64_t movable = p->grid.count - p->fixed;
    uint8_t* restless = malloc((size_t)movable + 1);
    if (!restless) return -1;
    for (int64_t i = 0; i < movable; i++) restless[i] = 1;
    for (int s = 0; s < p->def->sweeps; s++) {
        if (relax_sweep(p, restless) == 0) break;
    }
    int64_t removed = 0;
    for (int64_t i = p->grid.count - 1; i >= p->fixed; i--) {
        double step[3];
        if (!restless[i - p->fixed] || find_push(p, i, restless, step) == 0) continue;
        ball_grid_remove(&p->grid, i);
        removed++;
    }
    free(restless);
    return removed;
}

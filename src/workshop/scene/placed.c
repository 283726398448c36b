/// Solids turned and scaled into convex bodies.
#include "scene/placed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "detect/poses.h"

bool placed_make(placed* p, const solids* all, int dim, const talus_grain_def* g,
                 const double frame[4])
{
    memset(p, 0, sizeof *p);
    if (g->solid.index < 0) {
        p->part_count = 1;
        p->ball = convex_ball(dim, g->radius);
        p->part = &p->ball;
        return true;
    }
    const solid* of = &all->row[g->solid.index];
    int64_t numbers = 0;
    for (int i = 0; i < of->part_count; i++) numbers += convex_size(&of->part[i]);
    p->buffer = malloc(sizeof(double) * (size_t)numbers);
    p->part = calloc((size_t)of->part_count, sizeof *p->part);
    if (!p->buffer || !p->part) {
        placed_free(p);
        return false;
    }
    double q[4], axes[9], back[4] = {frame[0], -frame[1], -frame[2], -frame[3]};
    quat_from_rotation(q, g->rotation);
    quat_multiply(q, back, q);
    quat_matrix(axes, q);
    double* at = p->buffer;
    p->part_count = of->part_count;
    for (int i = 0; i < of->part_count; i++) {
        p->part[i] = convex_of_solid(of, i, axes, g->scale, at);
        at += convex_size(&of->part[i]);
    }
    return true;
}

void placed_free(placed* p)
{
    free(p->buffer);
    if (p->part != &p->ball) free(p->part);
    memset(p, 0, sizeof *p);
}

double placed_distance(const placed* a, const placed* b, const double delta[3])
{
    double least = INFINITY, normal[3];
    for (int i = 0; i < a->part_count; i++) {
        for (int j = 0; j < b->part_count; j++) {
            least = fmin(least, convex_distance(&a->part[i], &b->part[j], delta, normal));
        }
    }
    return least;
}

double placed_reach(const solid* of, int dim, const talus_grain_def* g, const double direction[3])
{
    double q[4], local[3], most = -INFINITY;
    quat_from_rotation(q, g->rotation);
    quat_rotate_back(local, q, direction);
    for (int i = 0; i < of->part_count; i++) {
        const polytope* p = &of->part[i];
        for (int v = 0; v < p->vertex_count; v++) {
            most = fmax(most, vec_dot(dim, p->vertex + v * dim, local));
        }
    }
    return g->scale * (most + of->skin);
}

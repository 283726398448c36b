/// The error of second order, contact by contact.
///
/// Two bodies: s^2 / (2 L), where s is how far they slide past each other and L the length on which
/// their surfaces bend: the distance of the centres of two balls, the thickness of the thinner
/// body if one is a solid, for its corners and edges. The spin of a ball moves nothing.
///
/// Walls: what slides along a plane, or along the inside of a box, makes no error. A wall that
/// turns by an angle while a body slides along it by s makes that angle times s, and a solid that
/// turns on it half the angle squared times its arm. A cylinder bends with its own radius, and its
/// turning moves nothing. Others have edges: L is the thickness of the grain.
#include "rigid/coarseness.h"

#include "base/parallel.h"
#include "base/vec.h"

#include <math.h>

typedef struct coarse_loop {
    const step_order* order;
    const contacts* list;
    const double *velocity, *spin;
} coarse_loop;

/// Spin of a grain as a vector.
static void grain_spin(const coarse_loop* loop, int64_t row, double out[3])
{
    const int dim = loop->list->dim;
    out[0] = out[1] = out[2] = 0.0;
    if (loop->order->state->grains.solid[row] < 0) return; // a ball's turning moves nothing
    if (dim == 3)
        vec_copy(3, out, loop->spin + 3 * row);
    else
        out[2] = loop->spin[row];
}

/// Velocity of a grain at `arm` from its centre.
static void velocity_at(const coarse_loop* loop, int64_t row, const double arm[3], double out[3])
{
    double spin[3], turn[3];
    grain_spin(loop, row, spin);
    vec_cross(out, spin, arm);
    vec_copy(3, turn, out);
    for (int k = 0; k < 3; k++) {
        out[k] = turn[k] + (k < loop->list->dim ? loop->velocity[row * loop->list->dim + k] : 0.0);
    }
}

/// From a body's place to the point of a contact.
static void arm_to(const coarse_loop* loop, int64_t c, const double* place, double arm[3])
{
    const int dim = loop->list->dim;
    arm[2] = 0.0;
    vec_sub(dim, arm, loop->list->point + c * dim, place);
    cell_nearest(&loop->order->state->cell, dim, arm);
}

/// How far `u` goes across the normal in the step.
static double slide(const coarse_loop* loop, int64_t c, const double u[3])
{
    const int dim = loop->list->dim;
    const double* n = loop->list->normal + c * dim;
    const double along = vec_dot(dim, u, n), all = vec_dot(dim, u, u);
    return loop->order->h * sqrt(fmax(all - along * along, 0.0));
}

/// Whether a contact closes in the step, to what is allowed: else it does not matter.
static bool closes(const coarse_loop* loop, int64_t c, const double u[3], double thickness)
{
    const int dim = loop->list->dim;
    const double approach = vec_dot(dim, u, loop->list->normal + c * dim);
    return loop->list->gap[c] + loop->order->h * approach <= TALUS_COARSE * thickness;
}

static double wall_error(const coarse_loop* loop, int64_t c)
{
    const physical_state* state = loop->order->state;
    const grains* g = &state->grains;
    const int dim = loop->list->dim, wall = -1 - loop->list->a_row[c];
    const int64_t row = loop->list->b_row[c];
    const talus_shape_def* shape = &state->walls.record[wall].shape;
    const double *velocity = state->walls.velocity + 3 * wall,
                 *turning = state->walls.spin + 3 * wall;
    const double h = loop->order->h, thickness = grain_thinnest(g, row);
    const bool ball = g->solid[row] < 0;
    const bool flat =
        shape->kind == TALUS_SHAPE_PLANE || (shape->kind == TALUS_SHAPE_BOX && shape->inside);
    double arm[3], own[3], u[3], moved[3];
    arm_to(loop, c, g->position + row * dim, arm);
    velocity_at(loop, row, arm, u);
    vec_sub(3, u, u, velocity);
    if (ball && shape->kind == TALUS_SHAPE_CYLINDER) {
        if (!closes(loop, c, u, thickness)) return 0.0;
        const double s = slide(loop, c, u);
        const double bend =
            shape->inside ? shape->radius - g->radius[row] : shape->radius + g->radius[row];
        return s * s / (2.0 * fmax(bend, g->radius[row])) / thickness;
    }
    arm_to(loop, c, state->walls.position + 3 * wall, own);
    vec_cross(moved, turning, own);
    vec_sub(3, u, u, moved);
    if (!closes(loop, c, u, thickness)) return 0.0;
    const double s = slide(loop, c, u);
    if (!flat) return s * s / (2.0 * thickness) / thickness;
    double spin[3];
    grain_spin(loop, row, spin);
    const double own_turn = h * vec_norm(3, spin), wall_turn = h * vec_norm(3, turning);
    return (0.5 * own_turn * own_turn * (ball ? 0.0 : vec_norm(3, arm)) +
            wall_turn * (s + 0.5 * wall_turn * vec_norm(3, own))) /
           thickness;
}

static double pair_error(const coarse_loop* loop, int64_t c)
{
    const grains* g = &loop->order->state->grains;
    const int dim = loop->list->dim;
    const int64_t a = loop->list->a_row[c], b = loop->list->b_row[c];
    const double thickness = fmin(grain_thinnest(g, a), grain_thinnest(g, b));
    double arm[3], u[3], v[3];
    arm_to(loop, c, g->position + a * dim, arm);
    velocity_at(loop, a, arm, v);
    arm_to(loop, c, g->position + b * dim, arm);
    velocity_at(loop, b, arm, u);
    vec_sub(3, u, u, v);
    if (!closes(loop, c, u, thickness)) return 0.0;
    const bool balls = g->solid[a] < 0 && g->solid[b] < 0;
    const double bend = balls ? g->radius[a] + g->radius[b] : thickness;
    const double s = slide(loop, c, u);
    return s * s / (2.0 * bend) / thickness;
}

static void find_worst(void* data, int64_t first, int64_t last, double* least)
{
    const coarse_loop* loop = data;
    for (int64_t c = first; c < last; c++) {
        const double error = loop->list->a_row[c] < 0 ? wall_error(loop, c) : pair_error(loop, c);
        *least = fmin(*least, -error);
    }
}

double coarseness_find(const step_order* order, const contacts* list, const double* velocity,
                       const double* spin)
{
    coarse_loop loop = {order, list, velocity, spin};
    double least;
    parallel_reduce(order->threads, list->count, PARALLEL_MIN, 1, find_worst, &loop, &least);
    return list->count > 0 ? -least : 0.0;
}

/// What is done with rows of grains before and after their forces, for the vector width that the
/// including file is compiled with: rows of the bodies, accelerations, turns. The order of sums is
/// written here, so that all widths give the same bits.
#ifndef TALUS_SOFT_MOTION_KERNEL_H
#define TALUS_SOFT_MOTION_KERNEL_H

#include "base/vec.h"
#include "soft/kernels.h"
#include "soft/one_rate.h"

#include <math.h>

/// Four numbers anywhere in memory.
typedef double row4 __attribute__((vector_size(32), aligned(8), may_alias));

// ---- rows of the bodies ------------------------------------------------------------------------

static ALWAYS_INLINE void fill_row(const int dim, const bool moving, const grains* g, int64_t i,
                                   double* out)
{
    vec_copy(dim, out, g->position + i * dim);
    out[dim] = g->radius[i];
    vec_copy(dim, out + 4, g->velocity + i * dim);
    vec_copy(spin_width(dim), out + (dim == 2 ? 6 : 8), g->spin + i * spin_width(dim));
    if (!moving) return;
    double* motion = out + soft_row_motion(dim);
    vec_copy(dim, motion, g->moved + i * dim);
    vec_copy(spin_width(dim), motion + (dim == 2 ? 2 : 4), g->turned + i * spin_width(dim));
}

/// Half of the shortest period: whoever seems to have moved farther has come round.
static ALWAYS_INLINE double half_round(const cell* periodic, const int dim)
{
    double half = INFINITY;
    for (int k = 0; k < dim; k++) {
        if (periodic->periodic[k]) half = fmin(half, 0.499 * periodic->length[k]);
    }
    return half;
}

/// The larger of `far2` and the squared distance of a grain from its place in the list.
static ALWAYS_INLINE double farther(const grains* g, const soft_bodies* b, const soft_places* o,
                                    const cell* periodic, const int dim, double half, int64_t i,
                                    double far2)
{
    double d[3];
    for (int k = 0; k < dim; k++) {
        d[k] = g->position[i * dim + k] - b->listed[soft_lane(o->place_of[i], dim, k)];
    }
    double moved = vec_dot(dim, d, d);
    if (moved > half * half) {
        cell_nearest(periodic, dim, d);
        moved = vec_dot(dim, d, d);
    }
    return moved > far2 ? moved : far2;
}

/// The row of a grain. Rows, and positions in the list, may be anywhere: the memory is told so many
/// grains before.
enum { ROWS_AHEAD = 32 };

static ALWAYS_INLINE double* row_of_grain(const soft_bodies* b, const soft_places* o,
                                          const int length, int64_t i, int64_t count)
{
    const int64_t ahead = o->place_of[i + ROWS_AHEAD < count ? i + ROWS_AHEAD : i];
    for (int k = 0; k < length; k += 8) __builtin_prefetch(b->row + ahead * length + k, 1);
    for (int k = 0; k < b->dim; k++) __builtin_prefetch(b->listed + soft_lane(ahead, b->dim, k));
    return b->row + o->place_of[i] * length;
}

static ALWAYS_INLINE double fill_some(const soft_bodies* b, const int dim, const bool moving,
                                      const grains* g, const soft_places* o, const cell* periodic,
                                      int64_t first, int64_t last)
{
    const int length = soft_row(dim, moving);
    const double half = half_round(periodic, dim);
    double far2 = 0.0;
    for (int64_t i = first; i < last; i++) {
        fill_row(dim, moving, g, i, row_of_grain(b, o, length, i, g->count));
        far2 = farther(g, b, o, periodic, dim, half, i, far2);
    }
    return sqrt(far2);
}

static double fill_bodies(const soft_bodies* b, const grains* g, const soft_places* o,
                          const cell* periodic, int64_t first, int64_t last)
{
    if (b->dim == 2) {
        return b->moving ? fill_some(b, 2, true, g, o, periodic, first, last)
                         : fill_some(b, 2, false, g, o, periodic, first, last);
    }
    return b->moving ? fill_some(b, 3, true, g, o, periodic, first, last)
                     : fill_some(b, 3, false, g, o, periodic, first, last);
}

// ---- accelerations -----------------------------------------------------------------------------

/// Moment of inertia that a torque meets: 1/I, 0 of a grain that cannot turn.
static ALWAYS_INLINE double turns_by(const grains* g, int64_t i)
{
    return g->spin_mobility[i] > 0.0 ? 1.0 / g->inertia[i] : 0.0;
}

/// Powers of what is not contacts, component by component: so many grains have the same sums
/// whoever makes them.
typedef struct powers {
    double force[3], torque[3]; ///< W
    double squares[3];          ///< of velocities
} powers;

/// Force and torque on a free grain make accelerations.
static ALWAYS_INLINE void accelerate_grain(const accelerate_task* t, const int dim, int64_t i,
                                           const double* sum, powers* out)
{
    const grains* g = t->g;
    const int width = spin_width(dim);
    const double im = g->inv_mass[i], inertia = turns_by(g, i);
    double *a = t->acceleration + i * dim, *alpha = t->angular + i * width;
    const double *v = g->velocity + i * dim, *spin = g->spin + i * width;
    for (int k = 0; k < dim; k++) {
        double force = g->mass[i] * t->gravity[k];
        if (g->force) force += g->force[i * dim + k];
        out->force[k] += force * v[k];
        out->squares[k] += v[k] * v[k];
        a[k] = im * (sum[k] + (force - t->drag * v[k]));
        if (g->locked && g->locked[i] >> k & 1) a[k] = 0.0;
    }
    for (int k = 0; k < width; k++) {
        const double torque = g->torque ? g->torque[i * width + k] : 0.0;
        if (g->torque) out->torque[k] += torque * spin[k];
        alpha[k] = inertia * (sum[(dim == 2 ? 5 : 3) + k] + torque);
    }
}

/// What is done to a grain that does not move freely flows out of the system.
static ALWAYS_INLINE double power_of_holding(const grains* g, const int dim, int64_t i,
                                             const double* sum)
{
    const int width = spin_width(dim);
    double power = 0.0;
    for (int k = 0; k < dim; k++) power -= sum[k] * g->velocity[i * dim + k];
    for (int k = 0; k < width; k++) {
        power -= sum[(dim == 2 ? 5 : 3) + k] * g->spin[i * width + k];
    }
    return power;
}

/// Sums are read in the order of rows, which may be any: the memory is told so many rows before.
enum { SUMS_AHEAD = 48 };

static ALWAYS_INLINE const double* sum_of_row(const accelerate_task* t, int64_t i)
{
    const int64_t ahead = i + SUMS_AHEAD < t->g->count ? i + SUMS_AHEAD : i;
    __builtin_prefetch(t->sum + SOFT_SUM * (int64_t)t->place[ahead]);
    return t->sum + SOFT_SUM * (int64_t)t->place[i];
}

static ALWAYS_INLINE void accelerate_some(const accelerate_task* t, const int dim, int64_t first,
                                          int64_t last, double* flow)
{
    const int width = spin_width(dim);
    powers sums = {.force = {0.0}};
    for (int64_t i = first; i < last; i++) {
        const double* sum = sum_of_row(t, i);
        flow[FLOW_LOSS] += sum[6];
        flow[FLOW_DASHPOTS] += sum[7];
        if (t->g->inv_mass[i] > 0.0) {
            accelerate_grain(t, dim, i, sum, &sums);
            continue;
        }
        flow[FLOW_INPUT] += power_of_holding(t->g, dim, i, sum);
        for (int k = 0; k < dim; k++) t->acceleration[i * dim + k] = 0.0;
        for (int k = 0; k < width; k++) t->angular[i * width + k] = 0.0;
    }
    flow[FLOW_DRAG] += t->drag * (sums.squares[0] + sums.squares[1] + sums.squares[2]);
    flow[FLOW_INPUT] += sums.force[0] + sums.force[1] + sums.force[2];
    flow[FLOW_INPUT] += sums.torque[0] + sums.torque[1] + sums.torque[2];
}

static void accelerate_rows(const accelerate_task* t, int64_t first, int64_t last, double* flow)
{
    for (int k = 0; k < FLOW_COUNT; k++) flow[k] = 0.0;
    if (t->g->dim == 2) {
        accelerate_some(t, 2, first, last, flow);
    } else {
        accelerate_some(t, 3, first, last, flow);
    }
}

// ---- turns -------------------------------------------------------------------------------------

/// Turn a quaternion by a small vector: (1, turn/2) q, of unit length. The angle is 2
/// atan(|turn|/2), less than |turn| by |turn|^3/12: nothing that spheres feel depends on it.
static ALWAYS_INLINE void turn_by(row4* rotation, const row4* turn)
{
    const double a = 0.5 * (*turn)[0], b = 0.5 * (*turn)[1], c = 0.5 * (*turn)[2];
    row4 q = *rotation; // w, x, y, z
    const row4 along = __builtin_shufflevector(q, q, 1, 0, 0, 0);
    const row4 ahead = __builtin_shufflevector(q, q, 2, 3, 1, 2);
    const row4 aside = __builtin_shufflevector(q, q, 3, 2, 3, 1);
    q = q + (row4){-a, a, b, c} * along;
    q = q + (row4){-b, b, c, a} * ahead;
    q = q - (row4){c, c, a, b} * aside;
    const row4 square = q * q;
    const double scale = 1.5 - 0.5 * (square[0] + square[1] + square[2] + square[3]);
    *rotation = scale * q;
}

static void turn_rows(double* rotation, const double* turn, const int32_t* glued_to, int64_t first,
                      int64_t last)
{
    for (int64_t i = first; i < last; i++) {
        if (glued_to[i] >= 0) continue;
        const row4 by = {turn[3 * i], turn[3 * i + 1], turn[3 * i + 2], 0.0};
        turn_by((row4*)(rotation + 4 * i), &by);
    }
}

#endif

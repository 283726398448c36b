/// Forces between balls, some pairs at once, for the vector width that the including file is
/// compiled with, also a card's, which is one: geometry from the rows of the bodies, the law
/// (law_kernel.h), forces and torques of both.
#ifndef TALUS_SOFT_BALL_PART_H
#define TALUS_SOFT_BALL_PART_H

#include "soft/kernels.h"
#include "soft/law_kernel.h"

/// The bodies of some pairs.
typedef struct ball_lanes {
    lanes x[3], v[3], spin[3], radius;
    lanes moved[3], turned[3];
} ball_lanes;

static ALWAYS_INLINE void load_ball(const int dim, const bool moving, const soft_bodies* b,
                                    const int32_t* who, ball_lanes* o)
{
    lanes t[4];
    lanes_load_rows(b->row, 1, 0, who, t);
    o->x[0] = t[0], o->x[1] = t[1];
    if (dim == 2) {
        o->radius = t[2];
        lanes_load_rows(b->row, 1, 4, who, t);
        o->v[0] = t[0], o->v[1] = t[1], o->spin[0] = t[2];
    } else {
        o->x[2] = t[2], o->radius = t[3];
        lanes_load_rows(b->row, 1, 4, who, t);
        o->v[0] = t[0], o->v[1] = t[1], o->v[2] = t[2];
        lanes_load_rows(b->row, 1, 8, who, t);
        o->spin[0] = t[0], o->spin[1] = t[1], o->spin[2] = t[2];
    }
    if (!moving) return;
    const int at = soft_row_motion(dim);
    lanes_load_rows(b->row, 1, at, who, t);
    o->moved[0] = t[0], o->moved[1] = t[1];
    if (dim == 2) {
        o->turned[0] = t[2];
    } else {
        o->moved[2] = t[2];
        lanes_load_rows(b->row, 1, at + 4, who, t);
        o->turned[0] = t[0], o->turned[1] = t[1], o->turned[2] = t[2];
    }
}

static ALWAYS_INLINE void lanes_cross(lanes out[3], const lanes a[3], const lanes b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// out = b - a - (arm_a turn_a + arm_b turn_b) x n: how the surfaces move against each other at the
/// contact when the centres move by a and b and the balls turn.
static ALWAYS_INLINE void at_contact(const int dim, const lanes* a, const lanes* b, lanes arm_a,
                                     lanes arm_b, const lanes* turn_a, const lanes* turn_b,
                                     const lanes* n, lanes* out)
{
    lanes turn[3], sweep[3];
    for (int k = 0; k < spin_width(dim); k++) turn[k] = arm_a * turn_a[k] + arm_b * turn_b[k];
    if (dim == 2) {
        sweep[0] = -(turn[0] * n[1]);
        sweep[1] = turn[0] * n[0];
    } else {
        lanes_cross(sweep, turn, n);
    }
    for (int k = 0; k < dim; k++) out[k] = b[k] - a[k] - sweep[k];
}

/// 1/|last| and |last| of last = d - step, from those of d: series in e = (|last|/|d|)^2 - 1, which
/// is small in any step that follows a contact; off by e^5.
static ALWAYS_INLINE void last_length(const int dim, const lanes* d, const lanes* step,
                                      lanes distance, lanes inverse, lanes* length, lanes* one_over)
{
    const lanes one = lanes_set(1.0), two = lanes_set(2.0);
    const lanes change = soft_dot(dim, step, step) - two * soft_dot(dim, d, step);
    const lanes e = change * (inverse * inverse);
    *one_over =
        inverse *
        (one - e * (lanes_set(0.5) - e * (lanes_set(0.375) -
                                          e * (lanes_set(0.3125) - e * lanes_set(35.0 / 128.0)))));
    *length =
        distance *
        (one + e * (lanes_set(0.5) -
                    e * (lanes_set(0.125) - e * (lanes_set(0.0625) - e * lanes_set(5.0 / 128.0)))));
}

/// Centres apart: d = x_b - x_a.
typedef struct ball_gap {
    lanes d[3], distance, inverse;
} ball_gap;

/// The normal at the last evaluation and, by increments of positions and angles, how the surfaces
/// have moved since: with the middle of both normals and overlaps, right to second order.
static ALWAYS_INLINE void geometric_motion(const int dim, const ball_lanes* a, const ball_lanes* b,
                                           const ball_gap* gap, law_in* in)
{
    lanes step[3], middle[3], length, one_over;
    const lanes half = lanes_set(0.5);
    for (int k = 0; k < dim; k++) step[k] = b->moved[k] - a->moved[k];
    last_length(dim, gap->d, step, gap->distance, gap->inverse, &length, &one_over);
    for (int k = 0; k < dim; k++) {
        in->last_n[k] = (gap->d[k] - step[k]) * one_over;
        middle[k] = in->last_n[k] + in->n[k];
    }
    const lanes unit = soft_middle(dim, in->n, in->last_n);
    for (int k = 0; k < dim; k++) middle[k] = middle[k] * unit;
    const lanes was = a->radius + b->radius - length;
    const lanes quarter = lanes_set(0.25) * (in->overlap + was);
    at_contact(dim, a->moved, b->moved, a->radius - quarter, b->radius - quarter, a->turned,
               b->turned, middle, in->moved);
    if (dim == 3) {
        in->twist = half * (soft_dot(3, a->turned, in->n) + soft_dot(3, b->turned, in->n));
    }
}

/// The same by velocity times step. In 3D the turn of the pair since then, of its line of centres
/// and about it, goes to `turn`: elongations are turned before the law sees them.
static ALWAYS_INLINE void cundall_motion(const int dim, const ball_lanes* a, const ball_lanes* b,
                                         const ball_gap* gap, lanes h, law_in* in, lanes turn[3])
{
    for (int k = 0; k < dim; k++) in->moved[k] = in->velocity[k] * h, in->last_n[k] = in->n[k];
    if (dim == 2) return; // the slip is a number along the tangent, wherever that points
    lanes apart[3], about;
    for (int k = 0; k < 3; k++) apart[k] = b->v[k] - a->v[k];
    lanes_cross(turn, in->n, apart);
    about = lanes_set(0.0);
    for (int k = 0; k < 3; k++) about = about + (a->spin[k] + b->spin[k]) * in->n[k];
    const lanes across = gap->inverse * h, along = lanes_set(0.5) * about * h;
    for (int k = 0; k < 3; k++) turn[k] = across * turn[k] + along * in->n[k];
}

/// Turn a vector by a small rotation: x + t x (x + t x x/2), off by the third power of the angle.
static ALWAYS_INLINE void turn_slightly(const lanes turn[3], lanes x[3])
{
    const lanes half = lanes_set(0.5);
    lanes once[3], sum[3];
    lanes_cross(once, turn, x);
    for (int k = 0; k < 3; k++) sum[k] = x[k] + half * once[k];
    lanes_cross(once, turn, sum);
    for (int k = 0; k < 3; k++) x[k] = x[k] + once[k];
}

/// What the kernels are compiled for, beside the law.
typedef struct ball_kind {
    int dim;
    bool hertz, total, compound, geometric;
} ball_kind;

/// The nearest image of a difference of positions that are both in the cell, or hardly outside.
static ALWAYS_INLINE void nearest_image(const int dim, const ball_task* task, lanes* d)
{
    for (int k = 0; k < dim; k++) {
        const double length = task->length[k];
        const lanes half = lanes_set(length > 0.0 ? 0.5 * length : INFINITY);
        const lanes zero = lanes_set(0.0), whole = lanes_set(length);
        const lanes back = lanes_if_greater(d[k], half, whole, zero);
        const lanes forth = lanes_if_greater(zero - half, d[k], whole, zero);
        d[k] = d[k] - back + forth;
    }
}

/// Geometry of a part of a batch; false if none of its pairs touch or did so (`live`).
static ALWAYS_INLINE bool meet_balls(const ball_kind kind, const ball_task* task,
                                     const int32_t* who, bool images, unsigned live, law_in* in,
                                     lanes arm[2], lanes turn[3])
{
    const int dim = kind.dim;
    const lanes half = lanes_set(0.5), h = lanes_set(task->h);
    ball_lanes a, b;
    ball_gap gap;
    lanes* const d = gap.d;
    load_ball(dim, kind.geometric, task->bodies, who, &a);
    load_ball(dim, kind.geometric, task->bodies, who + SOFT_LANES, &b);
    for (int k = 0; k < dim; k++) d[k] = b.x[k] - a.x[k];
    if (images) nearest_image(dim, task, d);
    const lanes square = soft_dot(dim, d, d), reach = a.radius + b.radius;
    in->touching = lanes_more(reach * reach, square);
    if (mask_bits(in->touching) == 0 && live == 0) return false;
    gap.distance = lanes_sqrt(square);
    gap.inverse = lanes_set(1.0) / gap.distance;
    for (int k = 0; k < dim; k++) in->n[k] = d[k] * gap.inverse;
    in->overlap = reach - gap.distance;
    in->curvature = lanes_set(1.0);
    if (kind.hertz || kind.compound) in->curvature = reach / (a.radius * b.radius);
    arm[0] = a.radius - half * in->overlap;
    arm[1] = b.radius - half * in->overlap;
    at_contact(dim, a.v, b.v, arm[0], arm[1], a.spin, b.spin, in->n, in->velocity);
    if (kind.geometric) {
        geometric_motion(dim, &a, &b, &gap, in);
    } else {
        cundall_motion(dim, &a, &b, &gap, h, in, turn);
    }
    for (int k = 0; k < spin_width(dim) && kind.compound; k++) {
        in->spin[k] = b.spin[k] - a.spin[k];
        in->turned[k] = kind.geometric ? b.turned[k] - a.turned[k] : in->spin[k] * h;
    }
    return true;
}

/// What the law says of a part of a batch that meets so; `law`: its rows of constants, NULL if all
/// pairs have one.
static ALWAYS_INLINE void answer_balls(const ball_kind kind, const ball_task* task,
                                       const int32_t* law, const lanes turn[3], const law_in* in,
                                       law_history* history, law_out* out)
{
    lanes c[SOFT_CONSTANTS];
    load_constants(kind.compound, task->constants, law, c);
    if (kind.dim == 3 && !kind.geometric) {
        turn_slightly(turn, history->slip);
        if (kind.compound) turn_slightly(turn, history->roll);
    }
    soft_law_turning(kind.dim, kind.geometric, kind.hertz, kind.total, kind.compound, c, task->h,
                     in, history, out);
}

/// Force on b, and torques on a and b.
static ALWAYS_INLINE void forces_of_part(const ball_kind kind, const law_in* in, const law_out* out,
                                         const lanes arm[2], lanes force[3], lanes torque[2][3])
{
    const lanes zero = lanes_set(0.0);
    lanes turn[3] = {zero, zero, zero};
    force[0] = force[1] = force[2] = zero;
    for (int k = 0; k < kind.dim; k++) force[k] = out->force[k];
    if (kind.dim == 2) {
        turn[2] = in->n[1] * force[0] - in->n[0] * force[1];
    } else {
        lanes_cross(turn, force, in->n);
    }
    for (int k = 0; k < 3; k++) {
        torque[0][k] = arm[0] * turn[k];
        torque[1][k] = arm[1] * turn[k];
    }
    for (int k = 0; k < spin_width(kind.dim) && kind.compound; k++) {
        const int axis = kind.dim == 2 ? 2 : k;
        torque[0][axis] = torque[0][axis] - out->torque[k];
        torque[1][axis] = torque[1][axis] + out->torque[k];
    }
}

#endif

/// The law of a soft contact in lanes: springs and dashpots, normal and tangential, and with
/// `compound` rolling, torsion, bonds and two friction coefficients (docs/laws/soft.md).
///
/// All flags are constants where soft_law() is called, so each kind of law is compiled by itself;
/// energies that a caller does not use are not computed. The plain linear law takes one root and
/// one division for each contact in space, one division in the plane.
#ifndef TALUS_SOFT_LAW_KERNEL_H
#define TALUS_SOFT_LAW_KERNEL_H

#include "soft/law_roll.h"

/// Rows of constants in lanes; `law` NULL: the first row for all.
static ALWAYS_INLINE void load_constants(const bool compound, const double* constants,
                                         const int32_t* law, lanes c[SOFT_CONSTANTS])
{
    const int count = compound ? SOFT_CONSTANTS : 8;
    if (!law) {
        for (int k = 0; k < count; k++) c[k] = lanes_set(constants[k]);
        return;
    }
    for (int k = 0; k < count; k += 4) lanes_load_rows(constants, SOFT_CONSTANTS, k, law, c + k);
}

/// Springs at the present overlap, and the normal force and motion.
typedef struct soft_push {
    soft_spring spring; ///< tangential
    lanes yield;        ///< 1/spring.k
    lanes base;         ///< elastic normal force without the pull of bonds
    lanes damping;      ///< nu_n; 0 where nothing touches
    lanes speed;        ///< v_n
    lanes stored;       ///< energy of the normal spring
} soft_push;

/// Hertz and Mindlin: springs grow with the contact's radius a = sqrt(r* overlap). When that grows
/// the tangential force is kept, when it shrinks the elongation is, so no energy is made (as
/// mindlin_rescale/force of LAMMPS). The last overlap is this one and the normal displacement.
static ALWAYS_INLINE void soft_hertz(const int dim, const lanes c[SOFT_CONSTANTS],
                                     const soft_turn* turn, const law_in* in, lanes depth,
                                     soft_push* out, lanes* stiffness)
{
    const lanes radius = lanes_set(1.0) / in->curvature;
    const lanes opened = soft_dot(dim, turn->sum, in->moved) * turn->half;
    const lanes a = lanes_sqrt(radius * depth);
    const lanes last = lanes_sqrt(radius * lanes_max0(in->overlap + opened));
    *stiffness = c[SOFT_STIFFNESS] * a;
    out->spring.k = c[SOFT_TANGENTIAL] * a;
    out->spring.last = c[SOFT_TANGENTIAL] * last;
    out->spring.keep = lanes_if_greater(a, last, last / a, lanes_set(1.0));
    out->yield = lanes_if_greater(a, lanes_set(0.0), c[SOFT_TANGENTIAL_YIELD] / a, lanes_set(0.0));
}

static ALWAYS_INLINE soft_push soft_push_of(const int dim, const bool hertz,
                                            const lanes c[SOFT_CONSTANTS], const soft_turn* turn,
                                            const law_in* in)
{
    const lanes depth = lanes_max0(in->overlap);
    lanes stiffness = c[SOFT_STIFFNESS];
    soft_push out = {.spring = {.k = c[SOFT_TANGENTIAL], .last = c[SOFT_TANGENTIAL]},
                     .yield = c[SOFT_TANGENTIAL_YIELD]};
    out.spring.keep = lanes_set(1.0);
    if (hertz) soft_hertz(dim, c, turn, in, depth, &out, &stiffness);
    out.base = stiffness * depth;
    out.stored = lanes_set(hertz ? 0.4 : 0.5) * out.base * depth;
    lanes damping = c[SOFT_DAMPING] * in->root_mass;
    if (hertz) damping = damping * lanes_sqrt(stiffness);
    out.damping = lanes_pick(in->touching, damping, lanes_set(0.0));
    out.speed = soft_dot(dim, in->n, in->velocity);
    return out;
}

/// Spring within its bound, dashpot on top (PLMH 6-7). x: elongation, cut here; `force` against it.
static ALWAYS_INLINE lane_mask soft_grip_elastic(const int m, lanes k, lanes damping, lanes stick,
                                                 lanes slide, const lanes* velocity, lanes* x,
                                                 lanes* force, lanes* power)
{
    const lane_mask sliding = soft_cut(m, k, stick, slide, x);
    for (int i = 0; i < m; i++) force[i] = k * x[i] + damping * velocity[i];
    *power = damping * soft_dot(m, velocity, velocity);
    return sliding;
}

/// Spring and dashpot together within the bound; the elongation becomes what makes their sum the
/// bound (gran/hooke/history of LAMMPS).
static ALWAYS_INLINE lane_mask soft_grip_total(const int m, lanes k, lanes yield, lanes damping,
                                               lanes stick, lanes slide, const lanes* velocity,
                                               lanes* x, lanes* force, lanes* power)
{
    lanes rest[3];
    for (int i = 0; i < m; i++) force[i] = k * x[i] + damping * velocity[i];
    const lane_mask sliding = soft_cut(m, lanes_set(1.0), stick, slide, force);
    for (int i = 0; i < m && mask_bits(sliding) != 0; i++) {
        x[i] = lanes_pick(sliding, (force[i] - damping * velocity[i]) * yield, x[i]);
    }
    for (int i = 0; i < m; i++) rest[i] = force[i] - k * x[i];
    *power = soft_dot(m, rest, velocity);
    return sliding;
}

/// Velocity across the normal and the elongation that the motion makes of the carried one; in 2D
/// numbers along (-n_y, n_x).
static ALWAYS_INLINE void soft_slide(const int dim, const soft_turn* turn, const law_in* in,
                                     lanes speed, lanes* velocity, lanes* x)
{
    if (dim == 2) {
        const lanes* n = in->n;
        velocity[0] = n[0] * in->velocity[1] - n[1] * in->velocity[0];
        const lanes step = turn->sum[0] * in->moved[1] - turn->sum[1] * in->moved[0];
        x[0] = x[0] + step * turn->half;
        return;
    }
    for (int i = 0; i < 3; i++) velocity[i] = in->velocity[i] - speed * in->n[i];
    soft_advance(turn, in->n, in->moved, x);
}

/// Bonds: made by touching, broken beyond their range. Energy counts from separated bodies, so a
/// bond that is made loses what it binds. Returns the pull.
static ALWAYS_INLINE lanes soft_bond(const lanes c[SOFT_CONSTANTS], const law_in* in,
                                     law_history* history, law_out* out)
{
    const lanes zero = lanes_set(0.0), pull = c[SOFT_COHESION], range = c[SOFT_RANGE];
    const lane_mask old =
        mask_but(mask_and(history->bonded, in->touched), lanes_more(zero - range, in->overlap));
    const lane_mask bonded = mask_and(mask_or(in->touching, old), lanes_more(pull, zero));
    out->loss = out->loss + lanes_pick(mask_but(bonded, old), pull * range, zero);
    out->elastic = out->elastic - lanes_pick(bonded, pull * (range + in->overlap), zero);
    out->active = mask_or(in->touching, bonded);
    history->bonded = bonded;
    return lanes_pick(bonded, pull, zero);
}

/// Rolling and torsion; their energies are added to those in `out`.
static ALWAYS_INLINE void soft_roll(const int dim, const bool hertz, const lanes c[SOFT_CONSTANTS],
                                    const soft_turn* turn, const soft_push* push, lanes damping,
                                    const law_in* in, law_history* history, law_out* out)
{
    const int m = spin_width(dim);
    const lanes zero = lanes_set(0.0), radius = lanes_set(1.0) / in->curvature;
    const lanes square = radius * radius;
    const soft_spring spring = soft_spring_times(&push->spring, square);
    const lanes base = soft_roll_base(dim, c[SOFT_ROLLING_ARM], radius, push->base);
    soft_resistance r;
    for (int i = 0; i < m; i++) history->roll[i] = lanes_pick(in->touched, history->roll[i], zero);
    if (dim == 2) {
        soft_roll_2d(hertz, &spring, damping * square, c[SOFT_ROLLING] * base, in, history->roll,
                     &r);
    } else {
        soft_roll_3d(hertz, turn, &spring, damping * square, c[SOFT_ROLLING] * base,
                     c[SOFT_TORSION] * base, in, history->roll, &r);
    }
    for (int i = 0; i < m; i++) {
        history->roll[i] = lanes_pick(in->touching, history->roll[i], zero);
        out->torque[i] = lanes_pick(in->touching, r.torque[i], zero);
    }
    out->elastic = out->elastic + r.elastic;
    out->loss = out->loss + r.loss;
    out->power = out->power + r.power;
}

/// Force on b from the normal force and the tangential one against the elongation.
static ALWAYS_INLINE void soft_force(const int dim, const law_in* in, lanes normal,
                                     const lanes* against, law_out* out)
{
    const lanes zero = lanes_set(0.0), *n = in->n;
    if (dim == 2) {
        out->force[0] = normal * n[0] + against[0] * n[1];
        out->force[1] = normal * n[1] - against[0] * n[0];
    } else {
        for (int i = 0; i < 3; i++) out->force[i] = normal * n[i] - against[i];
    }
    for (int i = 0; i < dim; i++) out->force[i] = lanes_pick(out->active, out->force[i], zero);
}

/// The law of LANE_WIDTH contacts; h is the time since the last evaluation. With `total` spring and
/// dashpot share the bound of friction; without `turns` last_n and twist are not read; without
/// `compound` only the first constants are read, and of the history the slip.
static ALWAYS_INLINE void soft_law_turning(const int dim, const bool turns, const bool hertz,
                                           const bool total, const bool compound,
                                           const lanes c[SOFT_CONSTANTS], double h,
                                           const law_in* in, law_history* history, law_out* out)
{
    const int m = spin_width(dim);
    const lanes zero = lanes_set(0.0);
    lanes before[3], kept[3], trial[3], velocity[3], against[3], *x = history->slip;
    const soft_turn turn = soft_turn_of(dim, turns, in);
    const soft_push push = soft_push_of(dim, hertz, c, &turn, in);
    const lanes *n = in->n, damping = push.damping * c[SOFT_TANGENTIAL_DAMPING];

    for (int i = 0; i < m; i++) before[i] = lanes_pick(in->touched, x[i], zero);
    soft_carry(dim, &turn, n, before);
    for (int i = 0; i < m; i++) trial[i] = before[i] * push.spring.keep;
    soft_slide(dim, &turn, in, push.speed, velocity, trial);
    soft_twist(dim, &turn, n, before, before);
    for (int i = 0; i < m; i++) kept[i] = before[i] * push.spring.keep;

    lanes normal = push.base - push.damping * push.speed;
    const lanes load = total ? lanes_abs(normal) : push.base;
    const lanes slide = load * (compound ? c[SOFT_SLIDING_FRICTION] : c[SOFT_FRICTION]);
    const lanes stick =
        compound ? lanes_pick(history->slid, slide, load * c[SOFT_FRICTION]) : slide;
    for (int i = 0; i < m; i++) x[i] = trial[i];
    const lane_mask beyond = total ? soft_grip_total(m, push.spring.k, push.yield, damping, stick,
                                                     slide, velocity, x, against, &out->power)
                                   : soft_grip_elastic(m, push.spring.k, damping, stick, slide,
                                                       velocity, x, against, &out->power);

    out->active = in->touching;
    out->sliding = mask_and(beyond, in->touching);
    out->power = out->power + push.damping * (push.speed * push.speed);
    out->elastic = push.stored + lanes_set(0.5) * push.spring.k * soft_dot(m, x, x);
    out->loss = soft_spring_loss(m, hertz, &push.spring, before, kept, trial, x);
    if (compound) {
        normal = normal - soft_bond(c, in, history, out);
        soft_roll(dim, hertz, c, &turn, &push, damping, in, history, out);
        history->slid = out->sliding;
    }
    soft_force(dim, in, normal, against, out);

    out->power = lanes_pick(in->touching, out->power, zero);
    out->elastic = lanes_pick(out->active, out->elastic, zero);
    out->loss =
        lanes_pick(mask_or(in->touched, out->active), out->loss, zero) + lanes_set(h) * out->power;
    for (int i = 0; i < m; i++) x[i] = lanes_pick(in->touching, x[i], zero);
}

/// The law of contacts whose turning is followed.
static ALWAYS_INLINE void soft_law(const int dim, const bool hertz, const bool total,
                                   const bool compound, const lanes c[SOFT_CONSTANTS], double h,
                                   const law_in* in, law_history* history, law_out* out)
{
    soft_law_turning(dim, true, hertz, total, compound, c, h, in, history, out);
}

#endif

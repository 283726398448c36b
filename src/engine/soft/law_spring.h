/// Springs of a soft contact that lie in its tangent plane: how an elongation is carried along when
/// the contact turns, what bounds it, what it loses. For sliding (elongation: slip) and rolling
/// (elongation: angle) alike; in lanes.
///
/// An elongation at right angles to the last normal l is carried to the normal n by the rotation
/// that takes l to n the short way, x - (n.x)/(1 + n.l) (n + l), and then turned about n by the
/// mean turn of both bodies: a pair that moves as one rigid body sees its elongation turn with it.
#ifndef TALUS_SOFT_LAW_SPRING_H
#define TALUS_SOFT_LAW_SPRING_H

#include "soft/law_lanes.h"

/// a.b of `m` components
static ALWAYS_INLINE lanes soft_dot(const int m, const lanes* a, const lanes* b)
{
    lanes sum = a[0] * b[0];
    for (int i = 1; i < m; i++) sum = sum + a[i] * b[i];
    return sum;
}

static ALWAYS_INLINE lanes soft_length(const int m, const lanes* a)
{
    return m == 1 ? lanes_abs(a[0]) : lanes_sqrt(soft_dot(m, a, a));
}

/// How the contact has turned since the last evaluation. If it is not asked (`turns` false: last n
/// is n and the twist 0, Cundall's way) elongations are projected on the tangent plane only.
typedef struct soft_turn {
    bool turns;     ///< a constant of the kernel
    lanes sum[3];   ///< n + last n
    lanes fit;      ///< 3D: 1/(1 + n.l)
    lanes half;     ///< 1/|n + l|
    lanes cos, sin; ///< 3D: of the turn about n
} soft_turn;

/// 1/|n + l| for unit vectors that hardly differ: a series in rest = 1 - n.l, half the square of
/// the angle between them.
static ALWAYS_INLINE lanes soft_middle(const int dim, const lanes* n, const lanes* l)
{
    const lanes rest = lanes_set(1.0) - soft_dot(dim, n, l);
    return lanes_set(0.5) + rest * (lanes_set(0.125) +
                                    rest * (lanes_set(3.0 / 64.0) + rest * lanes_set(5.0 / 256.0)));
}

/// Turns in a step are small: their functions are series, off by less than the eighth power of the
/// angle, and no division is made.
static ALWAYS_INLINE soft_turn soft_turn_of(const int dim, const bool turns, const law_in* in)
{
    const lanes one = lanes_set(1.0), two = lanes_set(2.0), half = lanes_set(0.5);
    soft_turn out = {.turns = turns};
    out.fit = out.half = half, out.cos = one, out.sin = lanes_set(0.0);
    if (!turns) {
        for (int i = 0; i < dim; i++) out.sum[i] = two * in->n[i];
        return out;
    }
    for (int i = 0; i < dim; i++) out.sum[i] = in->n[i] + in->last_n[i];
    out.half = soft_middle(dim, in->n, in->last_n);
    if (dim == 2) return out;
    // 1/(1 + n.l) = (1/2)/(1 - part)
    const lanes part = half * (one - soft_dot(dim, in->n, in->last_n));
    out.fit = half * (one + part * (one + part * (one + part)));
    const lanes angle = in->twist, square = angle * angle;
    out.cos =
        one - square * (half - square * (lanes_set(1.0 / 24.0) - square * lanes_set(1.0 / 720.0)));
    out.sin = angle *
              (one - square * (lanes_set(1.0 / 6.0) - square * (lanes_set(1.0 / 120.0) -
                                                                square * lanes_set(1.0 / 5040.0))));
    return out;
}

/// Carry an elongation from the last tangent plane to the present one, not yet turned about n; in
/// 2D it is a number that stays as it is.
static ALWAYS_INLINE void soft_carry(const int dim, const soft_turn* turn, const lanes n[3],
                                     lanes x[3])
{
    if (dim == 2 || !turn->turns) return;
    const lanes tilt = soft_dot(3, n, x) * turn->fit;
    for (int i = 0; i < 3; i++) x[i] = x[i] - tilt * turn->sum[i];
}

/// x turned about n; where y is not x, by what y would turn.
static ALWAYS_INLINE void soft_twist(const int dim, const soft_turn* turn, const lanes n[3],
                                     const lanes* y, lanes x[3])
{
    if (dim == 2 || !turn->turns) return;
    const lanes side[3] = {n[1] * y[2] - n[2] * y[1], n[2] * y[0] - n[0] * y[2],
                           n[0] * y[1] - n[1] * y[0]};
    for (int i = 0; i < 3; i++) x[i] = turn->cos * x[i] + turn->sin * side[i];
}

/// x (3D), carried here, turned about n, and the part of `step` across the middle normal, turned
/// half as much, added to it. Nothing along n is left over.
static ALWAYS_INLINE void soft_advance(const soft_turn* turn, const lanes n[3], const lanes step[3],
                                       lanes x[3])
{
    if (turn->turns) {
        const lanes half = lanes_set(0.5);
        const lanes along = soft_dot(3, turn->sum, step) * (half * turn->fit);
        lanes across[3], y[3];
        for (int i = 0; i < 3; i++) {
            across[i] = step[i] - along * turn->sum[i];
            y[i] = x[i] + half * across[i];
        }
        soft_twist(3, turn, n, y, x);
        for (int i = 0; i < 3; i++) x[i] = x[i] + across[i];
    } else {
        for (int i = 0; i < 3; i++) x[i] = x[i] + step[i];
    }
    const lanes rest = soft_dot(3, n, x);
    for (int i = 0; i < 3; i++) x[i] = x[i] - rest * n[i];
}

/// Stiffness of a tangential spring now and at the last evaluation; they differ with Hertz only.
typedef struct soft_spring {
    lanes k, last;
    lanes keep; ///< factor of the elongation: a spring that has become stiffer keeps its force
} soft_spring;

static ALWAYS_INLINE soft_spring soft_spring_times(const soft_spring* s, lanes factor)
{
    return (soft_spring){.k = s->k * factor, .last = s->last * factor, .keep = s->keep};
}

/// Cut x to the length where the spring's force is `slide`, if it is beyond `stick`.
static ALWAYS_INLINE lane_mask soft_cut(const int m, lanes k, lanes stick, lanes slide, lanes* x)
{
    lanes force[3];
    for (int i = 0; i < m; i++) force[i] = k * x[i];
    const lanes size = soft_length(m, force);
    const lane_mask beyond = lanes_more(size, stick);
    if (mask_bits(beyond) == 0)
        return beyond; // what follows need not wait for a root and a division
    const lanes factor = lanes_pick(beyond, slide / size, lanes_set(1.0));
    for (int i = 0; i < m; i++) x[i] = x[i] * factor;
    return beyond;
}

/// Energy that a spring lost: mean force times displacement less what it stores. `before` is the
/// elongation carried here, `kept` the part of it with the force of before, `trial` that and the
/// displacement, `now` what the bound has left.
static ALWAYS_INLINE lanes soft_spring_loss(const int m, const bool hertz, const soft_spring* s,
                                            const lanes* before, const lanes* kept,
                                            const lanes* trial, const lanes* now)
{
    lanes mean[3], cut[3];
    if (!hertz) { // the same, written so that sticking loses nothing
        for (int i = 0; i < m; i++) {
            mean[i] = kept[i] + now[i];
            cut[i] = trial[i] - now[i];
        }
        return lanes_set(0.5) * s->k * soft_dot(m, mean, cut);
    }
    for (int i = 0; i < m; i++) {
        mean[i] = s->last * before[i] + s->k * now[i];
        cut[i] = trial[i] - kept[i];
    }
    return lanes_set(0.5) * (soft_dot(m, mean, cut) + s->last * soft_dot(m, before, before) -
                             s->k * soft_dot(m, now, now));
}

#endif

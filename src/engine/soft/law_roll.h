/// Rolling and torsion resistance of a soft contact, in lanes: the rigid law (law/rolling.h) with a
/// spring and a dashpot where that one sticks.
///
/// The relative turn is followed like the slip, across the normal (rolling) and along it (torsion).
/// Springs and dashpots are those of sliding times r*^2, so rolling is never stiffer than sliding.
/// The spring is cut to the bound, then spring and dashpot together: |T| never passes it.
#ifndef TALUS_SOFT_LAW_ROLL_H
#define TALUS_SOFT_LAW_ROLL_H

#include "soft/law_spring.h"

/// Cube root of x >= 0: a power with roots only, x^(5/16), then Halley's iteration, which ends at
/// rounding for x from 1e-60 to 1e60.
static ALWAYS_INLINE lanes soft_cube_root(lanes x)
{
    const lanes two = lanes_set(2.0);
    const lanes fourth = lanes_sqrt(lanes_sqrt(x));
    lanes y = fourth * lanes_sqrt(lanes_sqrt(fourth));
    for (int k = 0; k < 6; k++) {
        const lanes cube = y * y * y;
        y = y * ((cube + two * x) / (two * cube + x));
    }
    return lanes_if_greater(x, lanes_set(0.0), y, lanes_set(0.0));
}

/// What a coefficient of rolling is to be multiplied with for a bound: 1, r* or a power of the
/// contact force, times that force.
static ALWAYS_INLINE lanes soft_roll_base(const int dim, lanes kind, lanes radius, lanes base)
{
    lanes arm = lanes_if_greater(kind, lanes_set(0.5), radius, lanes_set(1.0));
    const lane_mask hertz = lanes_more(kind, lanes_set(1.5));
    if (mask_bits(hertz) != 0) {
        const lanes x = radius * base;
        arm = lanes_pick(hertz, dim == 2 ? lanes_sqrt(x) : soft_cube_root(x), arm);
    }
    return arm * base;
}

/// Energies and torques of a spring with dashpot; x is the elongation, in: carried to the present
/// normal, out: with the `step` and cut.
typedef struct soft_resistance {
    lanes torque[3];
    lanes elastic, loss, power;
} soft_resistance;

static ALWAYS_INLINE soft_resistance soft_resist(const int m, const bool hertz,
                                                 const soft_spring* s, lanes damping, lanes bound,
                                                 const lanes* before, const lanes* kept,
                                                 const lanes* spin, lanes* x)
{
    soft_resistance out;
    lanes trial[3], all[3], rest[3];
    for (int i = 0; i < m; i++) trial[i] = x[i];
    soft_cut(m, s->k, bound, bound, x);
    for (int i = 0; i < m; i++) all[i] = s->k * x[i] + damping * spin[i];
    soft_cut(m, lanes_set(1.0), bound, bound, all);
    for (int i = 0; i < m; i++) {
        out.torque[i] = lanes_set(0.0) - all[i];
        rest[i] = all[i] - s->k * x[i];
    }
    out.elastic = lanes_set(0.5) * s->k * soft_dot(m, x, x);
    out.loss = soft_spring_loss(m, hertz, s, before, kept, trial, x);
    out.power = soft_dot(m, rest, spin);
    return out;
}

/// Rolling in the plane.
static ALWAYS_INLINE void soft_roll_2d(const bool hertz, const soft_spring* s, lanes damping,
                                       lanes bound, const law_in* in, lanes* roll,
                                       soft_resistance* out)
{
    const lanes before = roll[0], kept = before * s->keep;
    roll[0] = kept + in->turned[0];
    *out = soft_resist(1, hertz, s, damping, bound, &before, &kept, in->spin, roll);
}

/// Rolling and torsion in space.
static ALWAYS_INLINE void soft_roll_3d(const bool hertz, const soft_turn* turn,
                                       const soft_spring* s, lanes damping, lanes bound,
                                       lanes torsion_bound, const law_in* in, lanes* roll,
                                       soft_resistance* out)
{
    const lanes spin_along = soft_dot(3, in->n, in->spin);
    const lanes twisted = soft_dot(3, in->last_n, roll);
    const lanes twisted_kept = twisted * s->keep;
    lanes before[3], kept[3], spin[3];
    for (int i = 0; i < 3; i++) before[i] = roll[i] - twisted * in->last_n[i];
    soft_carry(3, turn, in->n, before);
    for (int i = 0; i < 3; i++) {
        roll[i] = before[i] * s->keep;
        spin[i] = in->spin[i] - spin_along * in->n[i];
    }
    soft_advance(turn, in->n, in->turned, roll);
    soft_twist(3, turn, in->n, before, before);
    for (int i = 0; i < 3; i++) kept[i] = before[i] * s->keep;
    *out = soft_resist(3, hertz, s, damping, bound, before, kept, spin, roll);
    lanes twist = twisted_kept + soft_dot(3, turn->sum, in->turned) * turn->half;
    const soft_resistance torsion = soft_resist(1, hertz, s, damping, torsion_bound, &twisted,
                                                &twisted_kept, &spin_along, &twist);
    for (int i = 0; i < 3; i++) {
        roll[i] = roll[i] + twist * in->n[i];
        out->torque[i] = out->torque[i] + torsion.torque[0] * in->n[i];
    }
    out->elastic = out->elastic + torsion.elastic;
    out->loss = out->loss + torsion.loss;
    out->power = out->power + torsion.power;
}

#endif

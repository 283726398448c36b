/// Cohesion with a strength and an energy (BUW 1.8).
///
/// A bond of strength F_C and energy E_C holds up to the gap d_C = E_C/F_C. The normal force as a
/// graph over the normal velocity V, at a gap 0 <= g <= d_C:
///     V > 0            R = -F_C            opening, against the full strength
///     V = 0            -F_C <= R <= 0      the width is kept
///     -g/h < V < 0     R = 0               pushed together, closing without resistance
///     V = -g/h         R >= 0              closed
/// A bond is made when the gap first reaches zero and is broken for good beyond d_C.
#ifndef TALUS_LAW_COHESION_H
#define TALUS_LAW_COHESION_H

#include <stdbool.h>
#include <talus/world.h>

/// Normal impulse for the free normal velocity u, response w, exclusion u + bias >= 0 and a bond
/// that bears the impulse `bond` = F_C h (0: none). The width is kept at u = -closing, the motion
/// by which turning bodies come nearer or apart (rigid/curvature.h).
static inline double cohesion_normal(double u, double w, double bias, double bond, double closing)
{
    double push = -(u + bias) / w, hold = -(u + closing) / w;
    double least = hold < 0.0 ? (hold > -bond ? hold : -bond) : 0.0;
    return push > least ? push : least;
}

/// Does a bond that held in the last step still hold at this gap? `length` is the size of the
/// grains: gaps that rounding makes do not break a bond of zero range.
bool cohesion_holds(const talus_pair_def* pair, bool bonded, double gap, double length);
/// Is there a bond after a step that began with this gap and had this normal impulse?
bool cohesion_bonds(const talus_pair_def* pair, bool bonded, double gap, double normal_impulse,
                    double length);
/// Largest pull of a holding bond in a step of h, as an impulse: F_C times the time that the bond
/// stays in its range at its present opening velocity, at most h. So the step that leaves the range
/// takes no more energy than is left, to second order in h; known before the solve, so the law's
/// graph stays monotonic.
double cohesion_impulse(const talus_pair_def* pair, double gap, double opening, double length,
                        double h);

#endif

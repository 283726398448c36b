/// Life of a cohesive bond; the force is in cohesion.h.
#include "law/cohesion.h"

#include "state/materials.h"

#include <math.h>

/// Gaps below this part of a grain's size are rounding, not opening.
static const double ROUNDING_GAP = 1e-9;

static double range_of(const talus_pair_def* pair, double length)
{
    return fmax(pair_bond_range(pair), ROUNDING_GAP * length);
}

bool cohesion_holds(const talus_pair_def* pair, bool bonded, double gap, double length)
{
    return bonded && gap <= range_of(pair, length);
}

bool cohesion_bonds(const talus_pair_def* pair, bool bonded, double gap, double normal_impulse,
                    double length)
{
    if (pair->cohesion_force == 0.0) return false;
    return bonded || normal_impulse > 0.0 || gap <= ROUNDING_GAP * length;
}

double cohesion_impulse(const talus_pair_def* pair, double gap, double opening, double length,
                        double h)
{
    const double left = range_of(pair, length) - fmax(gap, 0.0);
    return pair->cohesion_force * (opening * h > left ? left / opening : h);
}

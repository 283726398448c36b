/// Constants of the soft law from what a pair of materials says (soft/law.h); docs/laws/soft.md has
/// the formulas and where they come from.
#include "soft/law.h"

#include <math.h>

static void linear_springs(const talus_pair_def* pair, double row[SOFT_CONSTANTS])
{
    row[SOFT_STIFFNESS] = pair->soft.stiffness;
    row[SOFT_TANGENTIAL] = pair->soft.stiffness * pair->soft.stiffness_ratio;
    row[SOFT_DAMPING] = 2.0 * pair_damping(pair) * sqrt(pair->soft.stiffness);
    row[SOFT_TANGENTIAL_DAMPING] = pair->soft.damping_ratio;
}

/// Two equal bodies with the pair's moduli. Both dashpots are 2 sqrt(5/6) beta sqrt(S m_r) with the
/// slopes S_n = 2 E* a and S_t = 8 G* a, a the contact's radius; the kernels multiply with
/// sqrt(4/3 E* a m_r).
static void hertz_springs(const talus_pair_def* pair, double row[SOFT_CONSTANTS])
{
    const double p = pair->soft.poisson, shear = pair->soft.young / (2.0 * (1.0 + p));
    const double young_star = pair->soft.young / (2.0 * (1.0 - p * p));
    const double shear_star = shear / (2.0 * (2.0 - p));
    row[SOFT_STIFFNESS] = 4.0 / 3.0 * young_star;
    row[SOFT_TANGENTIAL] = 8.0 * shear_star;
    row[SOFT_DAMPING] = sqrt(5.0) * pair_damping(pair);
    row[SOFT_TANGENTIAL_DAMPING] = young_star > 0.0 ? sqrt(4.0 * shear_star / young_star) : 0.0;
}

void soft_constants(const talus_pair_def* pair, const talus_soft_def* soft, int dim,
                    double row[SOFT_CONSTANTS])
{
    if (soft->law == TALUS_SOFT_HERTZ) {
        hertz_springs(pair, row);
    } else {
        linear_springs(pair, row);
    }
    // Without friction nothing may drag, not even a dashpot.
    if (pair->friction == 0.0) row[SOFT_TANGENTIAL_DAMPING] = 0.0;
    const double tangential = row[SOFT_TANGENTIAL];
    row[SOFT_TANGENTIAL_YIELD] = tangential > 0.0 ? 1.0 / tangential : 0.0;
    row[SOFT_FRICTION] = pair->friction;
    row[SOFT_SLIDING_FRICTION] = pair_sliding_friction(pair);
    row[SOFT_ROLLING] = pair->rolling;
    row[SOFT_TORSION] = dim == 3 ? pair->torsion : 0.0;
    row[SOFT_COHESION] = pair->cohesion_force;
    row[SOFT_RANGE] = pair_bond_range(pair);
    row[SOFT_ROLLING_ARM] = pair->rolling_kind;
}

bool soft_pair_is_compound(const talus_pair_def* pair)
{
    return pair->rolling > 0.0 || pair->torsion > 0.0 || pair->cohesion_force > 0.0 ||
           pair_sliding_friction(pair) != pair->friction;
}

/// Constants of the soft law from what a pair of materials says (soft/law.h); docs/laws/soft.md has
/// the formulas and where they come from.
#include "soft/law.h"

#include "base/array.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

void soft_constants(const talus_pair_def* pair, const talus_soft_def* soft, int dim,
                    double row[SOFT_CONSTANTS])
{
    if (soft->law == TALUS_SOFT_HERTZ) {
        // Two equal bodies with the pair's moduli. Both dashpots are 2 sqrt(5/6) beta sqrt(S m_r)
        // with the slopes S_n = 2 E* a and S_t = 8 G* a, a the contact's radius; the kernels
        // multiply with sqrt(4/3 E* a m_r).
        const double p = pair->soft.poisson, shear = pair->soft.young / (2.0 * (1.0 + p));
        const double young_star = pair->soft.young / (2.0 * (1.0 - p * p));
        const double shear_star = shear / (2.0 * (2.0 - p));
        row[SOFT_STIFFNESS] = 4.0 / 3.0 * young_star;
        row[SOFT_TANGENTIAL] = 8.0 * shear_star;
        row[SOFT_DAMPING] = sqrt(5.0) * pair_damping(pair);
        row[SOFT_TANGENTIAL_DAMPING] = young_star > 0.0 ? sqrt(4.0 * shear_star / young_star) : 0.0;
    } else {
        row[SOFT_STIFFNESS] = pair->soft.stiffness;
        row[SOFT_TANGENTIAL] = pair->soft.stiffness * pair->soft.stiffness_ratio;
        row[SOFT_DAMPING] = 2.0 * pair_damping(pair) * sqrt(pair->soft.stiffness);
        row[SOFT_TANGENTIAL_DAMPING] = pair->soft.damping_ratio;
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

// ---- all pairs of materials
// ------------------------------------------------------------------------

void soft_laws_free(soft_laws* l)
{
    free(l->constants);
    free(l->area_constants);
    free(l->law_of);
    *l = (soft_laws){0};
}

/// Does a pair of materials have what the law needs?
static talus_status check_pair(const materials* m, int a, int b, talus_soft_law law,
                               talus_error* error)
{
    const talus_pair_def* pair = materials_pair(m, a, b);
    if (law == TALUS_SOFT_HERTZ ? pair->soft.young > 0.0 : pair->soft.stiffness > 0.0)
        return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "materials '%s' and '%s': the method soft needs %s",
                     m->name[a], m->name[b],
                     law == TALUS_SOFT_HERTZ ? "a Young's modulus (young > 0) for its law of Hertz"
                                             : "a stiffness > 0");
}

talus_status soft_laws_make(soft_laws* l, const materials* m, const talus_soft_def* soft, int dim,
                            bool polygons, talus_error* error)
{
    const int64_t pairs = (int64_t)m->count * m->count;
    if (!arrays_renew(&l->capacity, pairs, ROWS(l->constants, SOFT_CONSTANTS),
                      ROWS(l->area_constants, SOFT_CONSTANTS), ARRAY(l->law_of))) {
        return error_memory(error, "the laws of the materials");
    }
    talus_soft_def area = *soft;
    area.law = TALUS_SOFT_AREA;
    l->materials = m->count;
    l->uniform = m->count == 1;
    l->range = materials_bond_range(m);
    l->kind = (soft_kind){.dim = dim, .law = soft->law, .total = soft->bound == TALUS_BOUND_TOTAL};
    for (int a = 0; a < m->count; a++) {
        for (int b = 0; b < m->count; b++) {
            const int row = a * m->count + b;
            TRY(check_pair(m, a, b, soft->law, error));
            if (polygons) TRY(check_pair(m, a, b, TALUS_SOFT_AREA, error));
            soft_constants(materials_pair(m, a, b), soft, dim, l->constants + row * SOFT_CONSTANTS);
            soft_constants(materials_pair(m, a, b), &area, dim,
                           l->area_constants + row * SOFT_CONSTANTS);
            l->law_of[row] = row;
            l->kind.compound = l->kind.compound || soft_pair_is_compound(materials_pair(m, a, b));
        }
    }
    return TALUS_OK;
}

/// Materials and the law between each pair of them.
#ifndef TALUS_STATE_MATERIALS_H
#define TALUS_STATE_MATERIALS_H

#include <stdint.h>
#include <talus/world.h>

typedef struct materials {
    int count;
    char** name;          ///< [count]
    talus_pair_def* pair; ///< [count][count], symmetric
} materials;

void materials_free(materials* m);
/// Fill an empty table with copies of those of another one.
talus_status materials_copy(materials* to, const materials* from);
talus_status materials_add(materials* m, const char* name, const talus_pair_def* self, int* index,
                           talus_error* error);
/// Whether there are two such materials.
talus_status materials_check_pair(const materials* m, int a, int b, talus_error* error);
talus_status materials_set_pair(materials* m, int a, int b, const talus_pair_def* pair,
                                talus_error* error);

/// Law between unlike materials until the user sets one: the smaller of every coefficient, the
/// larger damping, springs in series.
talus_pair_def pair_mixture(const talus_pair_def* a, const talus_pair_def* b);

/// Part beta of the critical damping: the pair's own, or the one that makes a head-on collision
/// rebound with its restitution, the inverse of e = exp(-pi beta/sqrt(1 - beta^2)) (PLMH 8). That
/// holds for the springs of Hertz too, with the damping of Tsuji et al. (Antypov and Elliott, EPL
/// 2011).
double pair_damping(const talus_pair_def* pair);

/// Friction coefficient of a sliding contact.
static inline double pair_sliding_friction(const talus_pair_def* pair)
{
    return pair->dynamic_friction > 0.0 ? pair->dynamic_friction : pair->friction;
}

/// Gap up to which a bond of this pair holds: d_C = E_C/F_C.
static inline double pair_bond_range(const talus_pair_def* pair)
{
    return pair->cohesion_force > 0.0 ? pair->cohesion_energy / pair->cohesion_force : 0.0;
}

/// Longest range of a bond between any two materials.
double materials_bond_range(const materials* m);

static inline const talus_pair_def* materials_pair(const materials* m, int a, int b)
{
    return &m->pair[a * m->count + b];
}

#endif

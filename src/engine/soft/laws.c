/// Rows of constants of all pairs of materials; see laws.h.
#include "soft/laws.h"

#include "base/error.h"

#include <stdlib.h>

void soft_laws_free(soft_laws* l)
{
    free(l->constants);
    free(l->area_constants);
    free(l->law_of);
    *l = (soft_laws){0};
}

static talus_status reserve(soft_laws* l, int count)
{
    if (count <= l->capacity) return TALUS_OK;
    const size_t pairs = (size_t)count * (size_t)count;
    const size_t bytes = pairs * SOFT_CONSTANTS * sizeof *l->constants;
    soft_laws_free(l);
    l->constants = aligned_alloc(64, (bytes + 63) / 64 * 64);
    l->area_constants = aligned_alloc(64, (bytes + 63) / 64 * 64);
    l->law_of = malloc(pairs * sizeof *l->law_of);
    if (!l->constants || !l->area_constants || !l->law_of) return TALUS_ERR_MEMORY;
    l->capacity = count;
    return TALUS_OK;
}

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
    if (reserve(l, m->count)) return error_memory(error, "the laws of the materials");
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

/// Materials and the symmetric table of pair laws.
#include "body/materials.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void materials_free(materials* m)
{
    for (int i = 0; i < m->count; i++) free(m->name[i]);
    free(m->name);
    free(m->pair);
    *m = (materials){0};
}

static talus_status pair_check(const talus_pair_def* pair, talus_error* error)
{
    if (!(pair->friction >= 0.0) || !isfinite(pair->friction)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "material: friction must be a number >= 0, got %g", pair->friction);
    }
    return TALUS_OK;
}

/// Law between unlike materials until the user sets one: the weaker friction.
static talus_pair_def weaker(const talus_pair_def* a, const talus_pair_def* b)
{
    return a->friction <= b->friction ? *a : *b;
}

talus_status materials_add(materials* m, const char* name, const talus_pair_def* self, int* index,
                           talus_error* error)
{
    TRY(pair_check(self, error));
    const int n = m->count;
    const size_t wider = (size_t)n + 1;
    char** names = realloc(m->name, wider * sizeof *names);
    if (!names) return error_memory(error, "adding a material");
    m->name = names;
    talus_pair_def* table = malloc(wider * wider * sizeof *table);
    char* copy = strdup(name ? name : "");
    if (!table || !copy) {
        free(table);
        free(copy);
        return error_memory(error, "adding a material");
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) table[a * (n + 1) + b] = m->pair[a * n + b];
        talus_pair_def mixed = weaker(&m->pair[a * n + a], self);
        table[a * (n + 1) + n] = table[n * (n + 1) + a] = mixed;
    }
    table[n * (n + 1) + n] = *self;
    free(m->pair);
    m->pair = table;
    m->name[n] = copy;
    m->count = n + 1;
    if (index) *index = n;
    return TALUS_OK;
}

talus_status materials_set_pair(materials* m, int a, int b, const talus_pair_def* pair,
                                talus_error* error)
{
    if (a < 0 || b < 0 || a >= m->count || b >= m->count) {
        return error_set(error, TALUS_ERR_ARGUMENT, "material: there is no pair (%d, %d)", a, b);
    }
    TRY(pair_check(pair, error));
    m->pair[a * m->count + b] = m->pair[b * m->count + a] = *pair;
    return TALUS_OK;
}

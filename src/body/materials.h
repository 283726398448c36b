/// Materials and the law between each pair of them.
#ifndef TALUS_BODY_MATERIALS_H
#define TALUS_BODY_MATERIALS_H

#include <stdint.h>
#include <talus/world.h>

typedef struct materials {
    int count;
    char** name;          ///< [count]
    talus_pair_def* pair; ///< [count][count], symmetric
} materials;

void materials_free(materials* m);
talus_status materials_add(materials* m, const char* name, const talus_pair_def* self, int* index,
                           talus_error* error);
talus_status materials_set_pair(materials* m, int a, int b, const talus_pair_def* pair,
                                talus_error* error);

static inline const talus_pair_def* materials_pair(const materials* m, int a, int b)
{
    return &m->pair[a * m->count + b];
}

#endif

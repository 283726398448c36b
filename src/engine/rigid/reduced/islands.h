/// Islands: the parts of a reduced problem that do not know each other.
#ifndef TALUS_RIGID_REDUCED_ISLANDS_H
#define TALUS_RIGID_REDUCED_ISLANDS_H

#include "rigid/reduced/reduced.h"

typedef struct islands {
    int64_t count;         ///< 0 or 1: the problem is one
    reduced_problem* part; ///< [count] each like a problem of its own; all arrays belong to islands
    int64_t* contact;      ///< [contacts] of the problem, part by part
} islands;

/// Split p; where memory is short it stays one. `*parts` must be freed with islands_free().
void islands_find(const reduced_problem* p, islands* parts);
void islands_free(islands* parts);

#endif

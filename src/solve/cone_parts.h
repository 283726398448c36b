/// The parts of a cone problem that do not know each other.
#ifndef TALUS_SOLVE_CONE_PARTS_H
#define TALUS_SOLVE_CONE_PARTS_H

#include "solve/cone.h"

typedef struct cone_parts {
    int64_t count;      ///< 0 or 1: the problem is one
    cone_problem* part; ///< [count] each like a problem of its own; all arrays belong to cone_parts
    int64_t* contact;   ///< [contacts] of the problem, part by part
} cone_parts;

/// Split p; where memory is short it stays one. `*parts` must be freed with cone_parts_free().
void cone_parts_find(const cone_problem* p, cone_parts* parts);
void cone_parts_free(cone_parts* parts);

#endif

/// Who may touch whom: a hierarchical grid of balls.
///
/// Every ball has a reach (radius plus how far it may move in the step). It is filed once, in the
/// level whose cells are just larger than its diameter of reach, and looks for partners in its own
/// and in all coarser levels. The cost stays O(n) for any mixture of sizes and for a few fast
/// balls, which simply count as large. Cells are hashed, so the extent of the system is free.
#ifndef TALUS_DETECT_GRID_H
#define TALUS_DETECT_GRID_H

#include "state/cell.h"

#include <stdint.h>
#include <talus/base.h>

/// Pairs of balls, a < b, sorted by (a, b).
typedef struct pair_list {
    int64_t count, capacity;
    int32_t* a;
    int32_t* b;
} pair_list;

void pair_list_free(pair_list* list);

/// The balls a search works on; nothing is owned.
typedef struct ball_set {
    int dim;
    int64_t count;
    const double* position; ///< [count][dim], finite
    const double* reach;    ///< [count] > 0
    const double* inv_mass; ///< [count] pairs of two immobile balls (0, 0) are left out
} ball_set;

typedef struct grid grid;

grid* grid_create(void);
void grid_destroy(grid* g);

/// Find every pair with |x_i - x_j| <= reach_i + reach_j (nearest image). The result does not
/// depend on `threads`. Needs 2 (reach_i + reach_j) < length for every periodic axis.
talus_status grid_pairs(grid* g, const ball_set* balls, const cell* periodic, int threads,
                        pair_list* out);
/// Give the memory of the last search back, some 100 to 150 bytes a ball, if it is much: the next
/// one may be far off.
void grid_give_back(grid* g);

#endif

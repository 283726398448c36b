/// Who may touch whom, kept from step to step (after Verlet, Phys. Rev. 159, 98, 1967).
///
/// The list is made with more reach than is asked for, and serves as long as no ball has used up
/// its room. It always holds every pair in reach, and some that are not: who is in contact is
/// decided from the positions alone, so results do not depend on when a list was made, and a
/// restart gives the same bits.
#ifndef TALUS_DETECT_NEIGHBOURS_H
#define TALUS_DETECT_NEIGHBOURS_H

#include "detect/grid.h"

typedef struct neighbours {
    grid* grid;
    pair_list pairs; ///< sorted, as of grid_pairs()
    int dim;
    int64_t count, capacity; ///< balls of the list; -1: there is none
    double* position;        ///< [count][dim] where they were when it was made
    double* room;            ///< [count] reach with which it was made
    uint8_t* mobile;         ///< [count]
    cell cell;
    int64_t uses, made; ///< times the list served since it was made; lists made so far
} neighbours;

talus_status neighbours_init(neighbours* n);
void neighbours_free(neighbours* n);

/// Let n->pairs hold every pair that grid_pairs() would find for these balls.
talus_status neighbours_update(neighbours* n, const ball_set* balls, const cell* periodic,
                               int threads);

#endif

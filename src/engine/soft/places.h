/// The order in which the soft method works on the grains: along a curve in space, so that grains
/// that touch are near each other in memory.
///
/// Sums of forces depend on the order of their terms. The order is therefore state (the column
/// grains.place, kept in checkpoints) and made anew only at steps whose numbers say so, never
/// because of how a run was cut into pieces.
#ifndef TALUS_SOFT_PLACES_H
#define TALUS_SOFT_PLACES_H

#include "state/grains.h"

typedef struct soft_places {
    int64_t count, capacity;
    int32_t* row_of;   ///< [count] row of the grain at each place
    int32_t* place_of; ///< [count] place of the grain in each row
} soft_places;

void soft_places_free(soft_places* o);
/// Let the order follow the column `place`: ascending, ties (new grains) by row. With `sort` the
/// column is first made anew from the positions.
talus_status soft_places_make(soft_places* o, grains* g, bool sort, int threads);

#endif

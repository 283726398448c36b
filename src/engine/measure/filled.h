/// The part of a domain that grains fill, as g(r) needs it: without what is empty above a free
/// surface.
#ifndef TALUS_MEASURE_FILLED_H
#define TALUS_MEASURE_FILLED_H

#include "measure/domain.h"

typedef struct filled_part {
    uint8_t* open; ///< [grains] 1: at a free surface, or alone
    double volume; ///< of the domain without the cells of these
} filled_part;

/// Find the grains whose Voronoi cells reach far out. The caller owns *out: filled_part_free().
talus_status filled_part_find(const domain* d, int threads, filled_part* out, talus_error* error);
void filled_part_free(filled_part* f);

#endif

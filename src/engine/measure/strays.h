/// Grains that have left the others for good: a box or a picture that held them would be about
/// empty space.
#ifndef TALUS_MEASURE_STRAYS_H
#define TALUS_MEASURE_STRAYS_H

#include "state/grains.h"

#include <talus/base.h>

/// Mark the strays, stray[i] = 1, and leave the other entries as they are. Returns how many there
/// are in *count.
talus_status measure_strays(const grains* g, uint8_t* stray, int64_t* count, talus_error* error);

#endif

/// The part of a world in which something is measured.
#ifndef TALUS_MEASURE_REGION_H
#define TALUS_MEASURE_REGION_H

#include "world/world.h"

#include <talus/measure.h>

/// Bins of a histogram, profile or distribution, at most.
enum { MEASURE_MOST_BINS = 100000 };

/// A region of a world. Along a periodic axis positions are compared with their nearest image above
/// the region's low end, so that a region may reach across the edge of the cell.
typedef struct measure_box {
    int dim;
    bool limited[3];        ///< along this axis not everything is inside
    double low[3], high[3]; ///< inside is low <= x < high; infinite where nothing limits
    double period[3];       ///< 0 along axes that do not wrap
} measure_box;

talus_status measure_box_set(const talus_world* world, const talus_region* region, measure_box* out,
                             talus_error* error);
/// The same from the periodic cell alone.
talus_status measure_box_in_cell(int dim, const cell* periodic, const talus_region* region,
                                 measure_box* out, talus_error* error);
bool measure_box_holds(const measure_box* box, const double* x);
/// Is this a free grain with its centre inside?
static inline bool measure_box_holds_grain(const measure_box* box, const grains* g, int64_t row)
{
    return g->glued_to[row] == GRAIN_FREE && measure_box_holds(box, g->position + row * g->dim);
}
/// Close sides that nothing limits at the box around the free grains if some have strayed from it
/// (measure/strays.h), so that these are outside.
talus_status measure_box_leave_strays(const talus_world* world, measure_box* box,
                                      talus_error* error);
/// Replace a box around all grains by that around those that have not strayed.
talus_status measure_box_of_gathered(const grains* g, double low[3], double high[3],
                                     talus_error* error);
/// Volume (2D: area). A side that nothing limits is that of the cell, or of the box around the free
/// grains; without any grains it is 0.
double measure_box_volume(const talus_world* world, const measure_box* box);

/// Stretch a box to hold a grain.
void measure_box_stretch(const grains* g, int64_t row, double* low, double* high);

#endif

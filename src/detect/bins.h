/// Points in bins, to find all that are within a distance of a place, periodic images included.
///
/// Unlike the grid of grid.h, which lists pairs of balls that touch, a search may reach as far as
/// it likes, over several images of a small periodic cell.
#ifndef TALUS_DETECT_BINS_H
#define TALUS_DETECT_BINS_H

#include "body/cell.h"

#include <stdint.h>
#include <talus/base.h>

typedef struct bins {
    int dim;
    const double* x; ///< [any][dim] the caller's points, those on periodic axes in the cell
    cell cell;
    double low[3], length[3]; ///< box around the points; the cell along periodic axes
    int64_t number[3];
    int64_t* first; ///< [bins + 1] where a bin begins in `item`
    int32_t* item;  ///< indices of the points in the order of the bins
} bins;

/// Put the points `item` [count] of x into bins. The caller owns *out: bins_free().
talus_status bins_make(int dim, const double* x, const int32_t* item, int64_t count,
                       const cell* periodic, bins* out);
void bins_free(bins* b);

/// A point near a place.
typedef struct near_point {
    double delta[3]; ///< from the place to this image of the point; 2D: the third is 0
    double distance;
    double key; ///< the caller's
    int32_t item;
} near_point;

typedef struct near_list {
    int64_t count, capacity;
    near_point* point;
} near_list;

void near_list_free(near_list* l);
/// Add all points, and images of points, within `reach` of `place` [dim] to a list, in an order
/// that depends on the points alone.
talus_status bins_near(const bins* b, const double* place, double reach, near_list* out);

#endif

/// Points in bins, to find all that are within a distance of a place, periodic images included.
///
/// Unlike the grid of grid.h, which lists pairs of balls that touch, a search may reach as far as
/// it likes, over several images of a small periodic cell.
#ifndef TALUS_DETECT_BINS_H
#define TALUS_DETECT_BINS_H

#include "state/cell.h"

#include <stdint.h>
#include <talus/base.h>

typedef struct bins {
    int dim, stride;
    const double* x; ///< [any][stride] the caller's points, along periodic axes in the cell
    cell cell;
    double low[3], length[3]; ///< box around the points; the cell along periodic axes
    double width;             ///< of a bin, about: as many bins as points
    int64_t number[3];
    int64_t* first; ///< [bins + 1] where a bin begins in `item`
    int32_t* item;  ///< indices of the points in the order of the bins
} bins;

/// Width of bins that are about as many as `count` points in a box: their spacing. A box thinner
/// than that has one layer of them: of the spacings along the longest edge, over the largest face
/// and in the whole box the largest counts, since an edge longer than the spacing without it
/// enlarges it and a shorter one does not. The bins are never more than the points.
double bins_width(int dim, const double length[3], int64_t count);
/// Put the points `item` [count] of x [any][stride] into bins; `item` NULL: the first `count`. The
/// caller owns *out: bins_free().
talus_status bins_make(int dim, const double* x, int stride, const int32_t* item, int64_t count,
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

/// Polygons and lines that show solids and walls in the world, for exports.
#ifndef TALUS_RECORD_SURFACE_H
#define TALUS_RECORD_SURFACE_H

#include "record/files.h"
#include "record/frame_read.h"
#include "record/shapes.h"

/// Lines, then polygons. The buffers hold plain arrays. The faces of a part share its corners.
typedef struct surface {
    text_buffer point;  ///< double [points][3]
    text_buffer corner; ///< int64_t [corners] points of the cells, one cell after the other
    text_buffer end;    ///< int64_t [cells] corners up to the end of a cell
    text_buffer owner;  ///< int64_t [cells] row of the grain or wall
    text_buffer part;   ///< int32_t [cells] part of its shape
    int64_t points, corners, cells, lines;
} surface;

void surface_free(surface* s);

/// All faces of all grains that are solids, without their rounding.
talus_status surface_grains(surface* s, const shapes* all, const frame_table* grains,
                            talus_error* error);
/// All walls that are present. What is infinite is cut off at the box around the grains.
talus_status surface_walls(surface* s, const shapes* all, const frame_data* frame,
                           talus_error* error);

#endif

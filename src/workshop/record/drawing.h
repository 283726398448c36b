/// What a frame holds for programs that draw, beside its tables: walls and solids as surfaces where
/// they are, with the numbers that their cells are coloured by.
///
/// A dataset that is the same as in the frame before is not written again: a frame says where each
/// of its datasets is. Walls that rest, and all that does not change while the grains stay the same
/// (cells, ids, ...), are thus in the file once.
#ifndef TALUS_RECORD_DRAWING_H
#define TALUS_RECORD_DRAWING_H

#include "record/frame.h"
#include "record/h5.h"
#include "record/shapes.h"

/// The group of a frame that holds it.
#define DRAWING_GROUP "drawing"

/// Its datasets. Those of solids are there if the run has shapes of solids, those of walls if it
/// has walls.
typedef enum drawn_index {
    DRAWN_WALL_POINTS,
    DRAWN_WALL_CELLS,
    DRAWN_WALL_FIELDS, ///< from here on: on cells
    DRAWN_SOLID_POINTS = DRAWN_WALL_FIELDS + 1,
    DRAWN_SOLID_CELLS,
    DRAWN_SOLID_FIELDS,
    DRAWN_RADIUS = DRAWN_SOLID_FIELDS + 5, ///< of grains
    DRAWN_SETS,
} drawn_index;

typedef struct drawn_set {
    const char* name;
    const char* field; ///< as ParaView shows it, NULL: no field
    column_type type;
    column_width width;
    const char *unit, *doc;
} drawn_set;

extern const drawn_set drawn_sets[DRAWN_SETS];
/// Numbers in a row.
int drawn_width(drawn_index set, int dim);

/// Where the dataset of a frame is.
typedef struct drawn_place {
    int64_t frame; ///< that holds it, -1: there is none
    int64_t rows;
} drawn_place;

/// The datasets as they were written last.
typedef struct drawn_memory {
    drawn_place place;
    void* data;
} drawn_memory;

/// Add the drawing to the group of frame `number`, and tell where its datasets are. False if HDF5
/// failed or memory is short: nothing is remembered then.
bool drawing_write(hid_t frame, int64_t number, const shapes* all, const frame_data* d, int threads,
                   bool reduced_units, drawn_memory last[DRAWN_SETS], drawn_place out[DRAWN_SETS]);
/// Where the datasets of frame `number` are. Frames of older versions have none.
bool drawing_find(hid_t frame, int64_t number, drawn_place out[DRAWN_SETS]);
/// Remember a dataset of a file; false if it cannot be read.
bool drawing_recall(hid_t file, drawn_index set, int dim, drawn_place place, drawn_memory* last);
void drawing_forget(drawn_memory last[DRAWN_SETS]);

#endif

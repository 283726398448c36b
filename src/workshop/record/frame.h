/// A frame: what a world looks like at one moment, as tables of named fields.
///
/// There is one model of it. A frame is made from a world (below) or read from
/// a file (frame_read.h); it is written to files (frames.h), exported, shown in
/// the browser, or put into a world again. Nothing here knows HDF5.
#ifndef TALUS_RECORD_FRAME_H
#define TALUS_RECORD_FRAME_H

#include "base/columns.h"

#include <talus/world.h>

/// Name of the field of contacts that is no column of the world: [count][6],
/// both ends of the line from the centre of a (on a wall: the contact point) to
/// the centre of b.
#define FRAME_SEGMENT "segment"

/// One number, or row of numbers, for each body or contact.
typedef struct frame_field {
    char name[64];
    column_type type;
    int64_t rows;
    int width;
    const void* data; ///< [rows][width]; NULL: only the rest was read
    void* own;        ///< the same if it belongs to the field, NULL if it is lent by a
                      ///< world
    char unit[32];    ///< "" if none, "reduced" if the numbers are not SI
    char doc[256];    ///< one line
} frame_field;

typedef struct frame_table {
    int64_t count; ///< rows of all fields; -1: not recorded
    int field_count;
    int64_t field_capacity;
    frame_field* field;
} frame_table;

typedef struct frame_data {
    int dim;
    double time;
    int64_t step;
    int64_t phase; ///< of the run, from 0; -1: not known
    uint8_t periodic[3];
    double cell_low[3], cell_high[3];
    frame_table grains, contacts, walls;
    char** wall_name; ///< [walls.count], may be NULL
} frame_data;

enum { FRAME_TABLES = 3 };
/// "grains", "contacts", "walls".
extern const char* const frame_table_names[FRAME_TABLES];

/// Free all that the frame owns.
void frame_data_free(frame_data* d);
/// The table of that name, NULL if there is none.
frame_table* frame_table_of(frame_data* d, const char* name);
/// The field of this name, NULL if there is none.
const frame_field* frame_find(const frame_table* t, const char* name);
/// The numbers of a field if they are of this type and width, with a row for
/// each of the table; NULL if not.
const void* frame_numbers(const frame_table* t, const char* name, column_type type, int width);
/// Add a field, which then belongs to the table; false when memory is short,
/// and it does not.
bool frame_add(frame_table* t, const frame_field* field);
/// Bytes of one number.
size_t frame_element_size(const frame_field* field);
/// Fill in unit and description of a field of this table if Talus records it,
/// and say whether.
bool frame_describe(const char* table, bool reduced_units, frame_field* field);

/// What frames hold.
typedef struct frames_options {
    bool contacts;      ///< record contacts too
    bool reduced_units; ///< numbers are not SI: no field claims a unit
    bool soft;          ///< of the method soft: no columns that say how contacts were solved
} frames_options;

/// Whether frames have this column.
bool frame_records(const column* col, frames_options options);
/// The present state of a world, whose columns are lent: the frame is good
/// until the world changes. The caller ends it with frame_data_free(), also
/// after a failure: false when memory is short.
bool frame_of_world(const talus_world* world, frames_options options, int64_t phase,
                    frame_data* out);
/// Copy what is lent: the frame stays good while the world goes on. False when memory is short.
bool frame_keep(frame_data* d);
/// Let a world have the grains, walls and contacts of a frame. It must have the
/// shapes, materials and walls of the one that the frame was made from. What
/// frames do not hold is zero or follows from the rest. `path` is where the
/// frame comes from, for messages. After a failure the world has no grains and
/// no contacts.
talus_status frame_into_world(const frame_data* d, const char* path, talus_world* world,
                              talus_error* error);

#endif

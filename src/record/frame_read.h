/// Reading recorded frames back, whatever fields they have. For exports and tests.
#ifndef TALUS_RECORD_FRAME_READ_H
#define TALUS_RECORD_FRAME_READ_H

#include "record/h5.h"

/// One dataset of a frame.
typedef struct frame_field {
    char name[64];
    column_type type;
    int64_t rows;
    int width;
    void* data; ///< [rows][width], owned
} frame_field;

/// One group of a frame: grains, contacts or walls.
typedef struct frame_table {
    int64_t count; ///< as the frame says; -1: not recorded
    int field_count;
    frame_field* field;
} frame_table;

typedef struct frame_data {
    double time;
    int64_t step;
    uint8_t periodic[3];
    double cell_low[3], cell_high[3];
    frame_table grains, contacts, walls;
} frame_data;

/// An open frames.h5, with links or whole.
typedef struct frame_reader {
    char* path;
    hid_t file;
    int64_t count;
    int dim;
} frame_reader;

talus_status frame_reader_open(const char* directory, frame_reader* out, talus_error* error);
void frame_reader_close(frame_reader* r);
/// Read frame `index`; the caller ends it with frame_data_free().
talus_status frame_read(const frame_reader* r, int64_t index, frame_data* out, talus_error* error);
void frame_data_free(frame_data* d);
/// The field of this name, NULL if there is none.
const frame_field* frame_find(const frame_table* t, const char* name);

#endif

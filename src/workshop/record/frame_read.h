/// Reading recorded frames back, whatever fields they have. For exports, the viewer and tests.
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

/// What a file says about one dataset of a frame.
typedef struct frame_column {
    char name[64];
    column_type type;
    int64_t rows;
    int width;
    char unit[32]; ///< "" if none, "reduced" if the numbers are not SI
    char doc[256]; ///< one line
} frame_column;

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
/// Phase of the run in which a frame was written, from 0; -1 if the frame does not say.
int64_t frame_phase(const frame_reader* r, int64_t index);
/// Open the file anew if it still has the frames that it had: a run that ends gathers its files
/// into one and removes the others, and who reads at that moment looks again. False: it stays as it
/// is.
bool frame_reader_again(frame_reader* r);
/// Read frame `index`, looking again if need be; the caller ends it with frame_data_free().
talus_status frame_read(frame_reader* r, int64_t index, frame_data* out, talus_error* error);
void frame_data_free(frame_data* d);
/// Read what frame_read() reads, but none of the fields.
talus_status frame_read_head(const frame_reader* r, int64_t index, frame_data* out,
                             talus_error* error);
/// Add one field of the table "grains", "contacts" or "walls" to a frame whose head was read.
/// TALUS_ERR_ARGUMENT if the frame has no such table or field.
talus_status frame_read_field(const frame_reader* r, int64_t index, const char* table,
                              const char* name, frame_data* frame, talus_error* error);
/// The fields of a table in the order of their names, none if it is not recorded; the caller frees
/// *out.
talus_status frame_columns(const frame_reader* r, int64_t index, const char* table,
                           frame_column** out, int* count, talus_error* error);
/// Texts of a dataset of a table with `count` of them, such as the walls' names; the caller frees
/// each and the list. NULL if there are none or memory is short.
char** frame_texts(const frame_reader* r, int64_t index, const char* table, const char* name,
                   int64_t count);
/// The table of that name, NULL if there is none.
frame_table* frame_table_of(frame_data* d, const char* name);
/// The field of this name, NULL if there is none.
const frame_field* frame_find(const frame_table* t, const char* name);

#endif

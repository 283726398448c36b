/// Recorded frames read back from a run's frames.h5, whatever fields they have.
#ifndef TALUS_RECORD_FRAME_READ_H
#define TALUS_RECORD_FRAME_READ_H

#include "record/frame.h"
#include "record/h5.h"

/// An open frames.h5, with links or whole.
typedef struct frame_reader {
    char* path;
    hid_t file;
    int64_t count;
    int dim;
    bool reduced_units;
    double* time;  ///< [count]
    int64_t* step; ///< [count]
} frame_reader;

/// The caller ends it with frame_reader_close(), also after a failure.
talus_status frame_reader_open(const char* directory, frame_reader* out, talus_error* error);
void frame_reader_close(frame_reader* r);

/// How much of a frame is read.
typedef enum frame_amount {
    FRAME_HEAD,   ///< time, cell and counts
    FRAME_LIST,   ///< what fields there are, without their numbers, and the walls' names
    FRAME_STATE,  ///< the fields that a world takes
    FRAME_FIELDS, ///< all fields
} frame_amount;

/// Read frame `index`; the caller ends it with frame_data_free(). A run that ends gathers its files
/// into one and removes the others: if reading fails the file is opened anew.
talus_status frame_read(frame_reader* r, int64_t index, frame_amount amount, frame_data* out,
                        talus_error* error);
/// Add one field of the table "grains", "contacts" or "walls" to a frame whose head was read.
/// TALUS_ERR_ARGUMENT if the frame has no such table or field.
talus_status frame_read_field(const frame_reader* r, int64_t index, const char* table,
                              const char* name, frame_data* frame, talus_error* error);

/// Read what the attributes of a frame's group tell; false if one is missing.
bool frame_read_head(hid_t frame, frame_data* out);
/// Open a group of the frames.h5 at `path`, be it in another file of the same run; -1 if it cannot
/// be. Links that lead elsewhere are not followed. The caller closes it.
hid_t frame_open_group(hid_t where, const char* name, const char* path);

#endif

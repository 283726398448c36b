/// Writing GSD files: the file layer, version 2.0 of its specification (gsd.readthedocs.io, "File
/// layer"): a header, chunks of data one after the other, their names and their index.
#ifndef TALUS_RECORD_GSD_H
#define TALUS_RECORD_GSD_H

#include "record/files.h"

#include <stdio.h>

/// Types of data, as the index counts them.
typedef enum gsd_type {
    GSD_UINT8 = 1,
    GSD_UINT32 = 3,
    GSD_UINT64 = 4,
    GSD_INT8 = 5,
    GSD_INT32 = 7,
    GSD_INT64 = 8,
    GSD_FLOAT = 9,
    GSD_DOUBLE = 10,
} gsd_type;

/// A file in the making.
typedef struct gsd_writer {
    const char* path;
    FILE* file;
    uint64_t end;       ///< of what is written
    uint64_t frame;     ///< present one
    text_buffer index;  ///< gsd_entry[], by frame and name
    size_t frame_index; ///< bytes of `index` before the present frame
    text_buffer names;  ///< each ends with a zero
} gsd_writer;

/// Begin a file; the path must outlive the writer.
talus_status gsd_begin(gsd_writer* w, const char* path, talus_error* error);
/// A chunk of rows x width numbers of the present frame; each name once a frame.
talus_status gsd_put(gsd_writer* w, const char* name, gsd_type type, int64_t rows, int width,
                     const void* data, talus_error* error);
/// End the present frame.
void gsd_end_frame(gsd_writer* w);
/// Write names, index and header, and close. To be called once after gsd_begin(), also after a
/// failure; `status` is returned if it is one.
talus_status gsd_finish(gsd_writer* w, const char* schema, uint32_t schema_version,
                        talus_status status, talus_error* error);

#endif

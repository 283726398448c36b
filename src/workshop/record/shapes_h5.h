/// The group /shapes of frames.h5.
#ifndef TALUS_RECORD_SHAPES_H5_H
#define TALUS_RECORD_SHAPES_H5_H

#include "record/h5.h"
#include "record/shapes.h"

#define SHAPES_GROUP "shapes"

/// Write shapes that were made from a world as group SHAPES_GROUP of `file`, in place of the one
/// that is there; false if HDF5 failed.
bool shapes_write(hid_t file, const shapes* s, bool reduced_units);

/// Read the shapes of a frames file. One without them gives none. The caller ends them with
/// shapes_free(), also after a failure.
talus_status shapes_read(hid_t file, const char* path, int dim, shapes* out, talus_error* error);

#endif

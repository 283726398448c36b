/// Structs as HDF5 datasets of a compound type: a member for each field, under its name.
#ifndef TALUS_RECORD_FIELDS_H5_H
#define TALUS_RECORD_FIELDS_H5_H

#include "record/fields.h"

#include <hdf5.h>
#include <talus/base.h>

/// Write `rows` structs as dataset `name` of a group; false if HDF5 failed.
bool fields_write(hid_t group, const char* name, const stored_fields* list, int64_t rows,
                  const void* data);
/// Whether the dataset has these fields, each of its type and no others, and this many rows. The
/// error names the field that is missing, of another type or not known; `where` is the group's name
/// and `path` the file's.
talus_status fields_check(hid_t group, const char* name, const stored_fields* list, int64_t rows,
                          const char* where, const char* path, talus_error* error);
/// Read a dataset that was checked; bytes of `data` between the fields stay as they are. False, and
/// nothing is changed, if HDF5 failed.
bool fields_read(hid_t group, const char* name, const stored_fields* list, int64_t rows,
                 void* data);

#endif

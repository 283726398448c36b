/// Does HDF5 survive a file? All that is in it is read by another process first (record/apart.h).
///
/// For files that may come from elsewhere and are small enough to be read twice: checkpoints, saved
/// worlds and problems of FCLIB. What HDF5 refuses with an error passes here: whoever reads it gets
/// that error again.
#ifndef TALUS_RECORD_H5_TRIAL_H
#define TALUS_RECORD_H5_TRIAL_H

#include "record/h5.h"

/// TALUS_ERR_FORMAT if HDF5 crashes on the bytes of a file or never ends; `path` is for the
/// message.
talus_status h5_try_image(const void* data, size_t size, const char* path, talus_error* error);
/// The same for a file on the disk.
talus_status h5_try_file(const char* path, talus_error* error);

#endif

/// What a world is made of, in a file: options, materials, shapes of grains, walls.
///
/// With the state of a checkpoint it is the whole world. It is kept as it stands in memory, number
/// by number, so that a world made from it goes on with the same bits.
#ifndef TALUS_RECORD_DEFINITION_H
#define TALUS_RECORD_DEFINITION_H

#include <hdf5.h>
#include <talus/world.h>

/// Write the definition of a world into a file; false if HDF5 failed or memory is short.
bool definition_write(hid_t file, const talus_world* world);
/// Whether a file has one.
bool definition_is_in(hid_t file);
/// Make the world of the definition in a file, without grains and contacts. `options` (may be NULL)
/// gives log and, if > 0, threads; `path` is for messages. The caller owns *out.
talus_status definition_read(hid_t file, const char* path, const talus_world_def* options,
                             talus_world** out, talus_error* error);

#endif

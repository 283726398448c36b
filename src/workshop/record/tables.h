/// The field tables of a world, read back from groups of an HDF5 file: of a checkpoint (the columns
/// of the state) or of a frame (the recorded ones).
#ifndef TALUS_RECORD_TABLES_H
#define TALUS_RECORD_TABLES_H

#include "record/h5.h"

#include <talus/world.h>

/// A field table of a world and where its sizes are.
typedef struct world_table {
    const char* name;
    const column* cols;
    int col_count;
    void* table;
    int64_t* count;
    int64_t* capacity;
} world_table;

enum { TABLE_GRAINS, TABLE_WALLS, TABLE_CONTACTS, WORLD_TABLES };

void world_tables(talus_world* world, world_table out[WORLD_TABLES]);

/// Whether the group holds every column with this flag (COLUMN_FRAME, COLUMN_STATE), `count` rows
/// each and as wide as they should be, in the file itself. Rare columns may be missing. If not,
/// `why` says which one and why not.
enum { TABLE_WHY_BYTES = 192 };
bool table_fits(hid_t group, const world_table* t, unsigned flag, int dim, int64_t count,
                char why[TABLE_WHY_BYTES]);
/// Make room for `count` rows, and for the rare columns that the group holds; false if memory is
/// short.
bool table_reserve(hid_t group, const world_table* t, unsigned flag, int dim, int64_t count);
/// Read columns that fit into arrays that have room, and set the table's count. Columns that the
/// group does not hold become zero. False if HDF5 failed.
bool table_read(hid_t group, const world_table* t, unsigned flag, int dim, int64_t count);

#endif

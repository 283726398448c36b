/// The field tables of a world, for frames and checkpoints.
#ifndef TALUS_RECORD_TABLES_H
#define TALUS_RECORD_TABLES_H

#include "base/columns.h"

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

#endif

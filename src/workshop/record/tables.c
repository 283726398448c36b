/// The field tables of a world.
#include "record/tables.h"

#include "world/world.h"

void world_tables(talus_world* w, world_table out[WORLD_TABLES])
{
    int n;
    const column* cols = grains_columns(&n);
    out[TABLE_GRAINS] = (world_table){
        "grains", cols, n, &w->state.grains, &w->state.grains.count, &w->state.grains.capacity};
    cols = walls_columns(&n);
    out[TABLE_WALLS] = (world_table){
        "walls", cols, n, &w->state.walls, &w->state.walls.count, &w->state.walls.capacity};
    cols = contacts_columns(&n);
    out[TABLE_CONTACTS] = (world_table){"contacts",
                                        cols,
                                        n,
                                        &w->state.contacts,
                                        &w->state.contacts.count,
                                        &w->state.contacts.capacity};
}

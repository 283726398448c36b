/// The field tables of a world, read back from groups of an HDF5 file.
///
/// In three steps, so that a world is changed only when all of a file is known to fit and all
/// memory is there: do the columns fit, make room, read.
#include "record/tables.h"

#include "world/world.h"

#include <stdio.h>
#include <string.h>

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

/// Whether a column is to be read from the group.
static bool is_there(hid_t group, const column* col, unsigned flag)
{
    if (!(col->flags & flag)) return false;
    return !(col->flags & COLUMN_RARE) || h5_has(group, col->name);
}

bool table_fits(hid_t group, const world_table* t, unsigned flag, int dim, int64_t count,
                char why[TABLE_WHY_BYTES])
{
    for (int c = 0; c < t->col_count; c++) {
        const column* col = &t->cols[c];
        if (!is_there(group, col, flag)) continue;
        int64_t rows = 0;
        int width = 0;
        const char* wrong = NULL;
        if (!h5_has(group, col->name)) {
            wrong = "is missing";
        } else if (!h5_is_inside(group, col->name) ||
                   !h5_shape(group, col->name, col->type, &rows, &width)) {
            wrong = "is of another type";
        } else if (rows != count || width != column_row_width(col, dim)) {
            wrong = "has another number of rows or columns";
        }
        if (wrong) {
            snprintf(why, TABLE_WHY_BYTES, "%s/%s %s", t->name, col->name, wrong);
            return false;
        }
    }
    return true;
}

bool table_reserve(hid_t group, const world_table* t, unsigned flag, int dim, int64_t count)
{
    if (columns_reserve(t->table, t->cols, t->col_count, dim, count, t->capacity) != TALUS_OK) {
        return false;
    }
    for (int c = 0; c < t->col_count; c++) {
        const column* col = &t->cols[c];
        if (!(col->flags & COLUMN_RARE) || !is_there(group, col, flag)) continue;
        if (column_need(col, t->table, dim, *t->capacity) != TALUS_OK) return false;
    }
    return true;
}

bool table_read(hid_t group, const world_table* t, unsigned flag, int dim, int64_t count)
{
    bool good = true;
    for (int c = 0; good && c < t->col_count && count > 0; c++) {
        const column* col = &t->cols[c];
        void* data = column_data(col, t->table);
        const size_t row = column_element_size(col) * (size_t)column_row_width(col, dim);
        if (is_there(group, col, flag)) {
            good = h5_read(group, col->name, col->type, data);
        } else if (data) {
            memset(data, 0, row * (size_t)count);
        }
    }
    *t->count = count;
    return good;
}

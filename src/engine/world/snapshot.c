/// Copying the tables of a world by their lists of columns; see snapshot.h.
#include "world/snapshot.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { TABLES = 3 };

/// A table, with its list of columns.
typedef struct table_view {
    const column* cols;
    int col_count;
    void* table;
    int64_t* count;
} table_view;

static void views_of(talus_world* w, table_view out[TABLES])
{
    int n;
    const column* cols = grains_columns(&n);
    out[0] = (table_view){cols, n, &w->state.grains, &w->state.grains.count};
    cols = walls_columns(&n);
    out[1] = (table_view){cols, n, &w->state.walls, &w->state.walls.count};
    cols = contacts_columns(&n);
    out[2] = (table_view){cols, n, &w->state.contacts, &w->state.contacts.count};
}

static size_t row_bytes(const column* col, int dim)
{
    return column_element_size(col) * (size_t)column_row_width(col, dim);
}

/// Bytes of all columns that a table has.
static size_t bytes_of(const table_view* t, int dim)
{
    size_t bytes = 0;
    for (int c = 0; c < t->col_count; c++) {
        if (column_data(&t->cols[c], t->table)) bytes += row_bytes(&t->cols[c], dim);
    }
    return bytes * (size_t)*t->count;
}

static bool reserve(world_snapshot* s, size_t bytes)
{
    if (bytes <= s->capacity) return true;
    free(s->data);
    s->data = malloc(bytes + bytes / 8);
    s->capacity = s->data ? bytes + bytes / 8 : 0;
    return s->data != NULL;
}

talus_status snapshot_take(talus_world* w)
{
    world_snapshot* s = &w->snapshot;
    table_view views[TABLES];
    size_t bytes = 0;
    views_of(w, views);
    for (int t = 0; t < TABLES; t++) bytes += bytes_of(&views[t], w->def.dim);
    if (!reserve(s, bytes)) return TALUS_ERR_MEMORY;
    char* at = s->data;
    for (int t = 0; t < TABLES; t++) {
        s->count[t] = *views[t].count;
        s->columns[t] = 0;
        for (int c = 0; c < views[t].col_count; c++) {
            const column* col = &views[t].cols[c];
            const void* from = column_data(col, views[t].table);
            const size_t size = row_bytes(col, w->def.dim) * (size_t)s->count[t];
            if (!from) continue;
            s->columns[t] |= UINT64_C(1) << c;
            if (size > 0) memcpy(at, from, size);
            at += size;
        }
    }
    s->time = w->state.time;
    s->step = w->state.step;
    s->solves = w->solves;
    s->next_id = w->state.grains.next_id;
    s->totals = w->totals;
    s->last = w->last;
    return TALUS_OK;
}

/// Tables only grow: there is room for the rows that were there. A rare column made since goes
/// again: whether it is there tells whether a soft run has begun.
void snapshot_restore(talus_world* w)
{
    const world_snapshot* s = &w->snapshot;
    table_view views[TABLES];
    const char* at = s->data;
    views_of(w, views);
    for (int t = 0; t < TABLES; t++) {
        *views[t].count = s->count[t];
        for (int c = 0; c < views[t].col_count; c++) {
            const column* col = &views[t].cols[c];
            void* to = column_data(col, views[t].table);
            const size_t size = row_bytes(col, w->def.dim) * (size_t)s->count[t];
            const bool kept = s->columns[t] >> c & 1;
            if (to && size > 0 && kept) memcpy(to, at, size);
            if (to && !kept) column_drop(col, views[t].table);
            if (kept) at += size;
        }
    }
    w->state.time = s->time;
    w->state.step = s->step;
    w->solves = s->solves;
    w->state.grains.next_id = s->next_id;
    w->totals = s->totals;
    w->last = s->last;
    w->state.revision++;
}

void snapshot_free(world_snapshot* s)
{
    free(s->data);
    *s = (world_snapshot){0};
}

/// Copying the tables of a state by their lists of columns; see snapshot.h.
#include "soft/snapshot.h"

#include "base/array.h"
#include "base/columns.h"

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

static void views_of(physical_state* state, table_view out[TABLES])
{
    int n;
    const column* cols = grains_columns(&n);
    out[0] = (table_view){cols, n, &state->grains, &state->grains.count};
    cols = walls_columns(&n);
    out[1] = (table_view){cols, n, &state->walls, &state->walls.count};
    cols = contacts_columns(&n);
    out[2] = (table_view){cols, n, &state->contacts, &state->contacts.count};
}

/// Bytes of the rows of a column.
static size_t column_bytes(const column* col, int dim, int64_t rows)
{
    return column_element_size(col) * (size_t)column_row_width(col, dim) * (size_t)rows;
}

talus_status snapshot_take(state_snapshot* s, physical_state* state)
{
    const int dim = state->grains.dim;
    table_view views[TABLES];
    size_t bytes = 0;
    views_of(state, views);
    for (int t = 0; t < TABLES; t++) {
        s->count[t] = *views[t].count;
        s->columns[t] = 0;
        for (int c = 0; c < views[t].col_count; c++) {
            const column* col = &views[t].cols[c];
            if (!column_data(col, views[t].table)) continue;
            s->columns[t] |= UINT64_C(1) << c;
            bytes += column_bytes(col, dim, s->count[t]);
        }
    }
    if (!arrays_renew(&s->capacity, (int64_t)bytes, ARRAY(s->data))) return TALUS_ERR_MEMORY;
    char* at = s->data;
    for (int t = 0; t < TABLES; t++) {
        for (int c = 0; c < views[t].col_count; c++) {
            const column* col = &views[t].cols[c];
            const size_t size = column_bytes(col, dim, s->count[t]);
            if (!(s->columns[t] >> c & 1) || size == 0) continue;
            memcpy(at, column_data(col, views[t].table), size);
            at += size;
        }
    }
    s->time = state->time;
    s->step = state->step;
    s->next_id = state->grains.next_id;
    return TALUS_OK;
}

/// Tables only grow: there is room for the rows that were there. A rare column made since goes
/// again: whether it is there tells whether a soft run has begun.
void snapshot_restore(const state_snapshot* s, physical_state* state)
{
    table_view views[TABLES];
    const char* at = s->data;
    views_of(state, views);
    for (int t = 0; t < TABLES; t++) {
        *views[t].count = s->count[t];
        for (int c = 0; c < views[t].col_count; c++) {
            const column* col = &views[t].cols[c];
            void* to = column_data(col, views[t].table);
            const size_t size = column_bytes(col, state->grains.dim, s->count[t]);
            const bool kept = s->columns[t] >> c & 1;
            if (to && size > 0 && kept) memcpy(to, at, size);
            if (to && !kept) column_drop(col, views[t].table);
            if (kept) at += size;
        }
    }
    state->time = s->time;
    state->step = s->step;
    state->grains.next_id = s->next_id;
    state->revision++;
}

void snapshot_free(state_snapshot* s)
{
    free(s->data);
    *s = (state_snapshot){0};
}

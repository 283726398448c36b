/// Arrays that outlive the world's next change: a table's columns go to the caller, and the table
/// goes on with copies of them. The copies have the table's capacity, so nothing else notices.
#include "base/error.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

struct talus_arrays {
    int count;
    void* array[]; ///< room for every column of both tables
};

void talus_arrays_free(talus_arrays* arrays)
{
    if (!arrays) return;
    for (int i = 0; i < arrays->count; i++) free(arrays->array[i]);
    free(arrays);
}

/// Move the columns of a table into `out`, which after a failure has those moved so far: they are
/// the caller's like the others, and the table is whole.
static talus_status detach_table(talus_arrays* out, void* table, const column* cols, int col_count,
                                 int dim, int64_t capacity)
{
    for (int c = 0; c < col_count; c++) {
        void* old = column_data(&cols[c], table);
        if (!old) continue;
        void* fresh = column_copy(&cols[c], table, dim, capacity);
        if (!fresh) return TALUS_ERR_MEMORY;
        memcpy((char*)table + cols[c].offset, &fresh, sizeof fresh);
        out->array[out->count++] = old;
    }
    return TALUS_OK;
}

talus_status talus_world_detach(talus_world* world, bool keep_grains, bool keep_contacts,
                                talus_arrays** out, talus_error* error)
{
    const int dim = world->def.dim;
    int grain_count, contact_count;
    const column* grain_cols = grains_columns(&grain_count);
    const column* contact_cols = contacts_columns(&contact_count);
    *out = calloc(1, sizeof **out + sizeof(void*) * (size_t)(grain_count + contact_count));
    talus_status status = *out ? TALUS_OK : TALUS_ERR_MEMORY;
    if (keep_grains && status == TALUS_OK) {
        status = detach_table(*out, &world->state.grains, grain_cols, grain_count, dim,
                              world->state.grains.capacity);
    }
    if (keep_contacts && status == TALUS_OK) {
        status = detach_table(*out, &world->state.contacts, contact_cols, contact_count, dim,
                              world->state.contacts.capacity);
    }
    return status == TALUS_OK ? status : error_memory(error, "detaching arrays");
}

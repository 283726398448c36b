/// Sorting grains along the curve of state/morton.h; see places.h.
#include "soft/places.h"

#include "base/array.h"
#include "state/morton.h"

#include <stdlib.h>

void soft_places_free(soft_places* o)
{
    free(o->row_of);
    free(o->place_of);
    *o = (soft_places){0};
}

/// A grain to be sorted.
typedef struct sortable {
    uint32_t key;
    int32_t row;
} sortable;

static int compare(const void* x, const void* y)
{
    const sortable *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

talus_status soft_places_make(soft_places* o, grains* g, bool sort, int threads)
{
    const int64_t n = g->count;
    sortable* list = malloc(sizeof *list * (size_t)(n + 1));
    uint32_t* key = malloc(sizeof *key * (size_t)(n + 1));
    const bool good =
        list && key && arrays_renew(&o->capacity, n, ARRAY(o->row_of), ARRAY(o->place_of));
    if (good) {
        if (sort) (void)morton_keys(g, threads, key);
        for (int64_t i = 0; i < n; i++) {
            list[i] = (sortable){sort ? key[i] : (uint32_t)g->place[i], (int32_t)i};
        }
        qsort(list, (size_t)n, sizeof *list, compare);
        for (int64_t p = 0; p < n; p++) {
            o->row_of[p] = list[p].row;
            o->place_of[list[p].row] = (int32_t)p;
            if (sort) g->place[list[p].row] = (int32_t)p;
        }
        o->count = n;
    }
    free(list);
    free(key);
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

/// Room for the packed rows; see bodies.h.
#include "soft/bodies.h"

#include "base/array.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void soft_bodies_free(soft_bodies* b)
{
    free(b->row);
    free(b->own);
    free(b->listed);
    *b = (soft_bodies){0};
}

/// So many rounded up to eight.
static int64_t soft_full(int64_t count)
{
    return (count + SOFT_LANES - 1) / SOFT_LANES * SOFT_LANES;
}

talus_status soft_bodies_reserve(soft_bodies* b, const grains* g, bool moving, int own)
{
    b->dim = g->dim;
    b->moving = moving;
    b->count = g->count;
    const bool good =
        arrays_renew(&b->capacity, (g->count + 2) * soft_row(g->dim, moving), ARRAY(b->row)) &&
        arrays_renew(&b->own_capacity, soft_full(g->count) * own, ARRAY(b->own));
    return good ? TALUS_OK : TALUS_ERR_MEMORY;
}

talus_status soft_bodies_list(soft_bodies* b, const grains* g, const soft_places* places,
                              bool moving)
{
    const int dim = g->dim, row = soft_row(dim, moving);
    if (soft_bodies_reserve(b, g, moving, 0) ||
        !arrays_renew(&b->listed_capacity, soft_full(g->count), ROWS(b->listed, dim))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t p = 0; p < soft_full(g->count); p++) { // the last one stands for who is not there
        const int64_t i = places->row_of[p < g->count ? p : g->count - 1];
        for (int k = 0; k < dim; k++) b->listed[soft_lane(p, dim, k)] = g->position[i * dim + k];
    }
    // The two rows of the pairs that are not there.
    double* nobody = b->row + b->count * row;
    memset(nobody, 0, sizeof(double) * (size_t)(2 * row));
    nobody[row] = 1.0;
    return TALUS_OK;
}

#include "measure/strays.h"

#include "base/error.h"
#include "base/vec.h"

#include <stdlib.h>

/// A stray is this many times as far from the middle as nine grains in ten are.
static const double FAR = 4.0;

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double distance(const grains* g, int64_t i, const double middle[3])
{
    double away[3];
    vec_sub(g->dim, away, g->position + g->dim * i, middle);
    return vec_norm(g->dim, away);
}

talus_status measure_strays(const grains* g, uint8_t* stray, int64_t* count, talus_error* error)
{
    *count = 0;
    if (g->count == 0) return TALUS_OK;
    double middle[3] = {0}, *sorted = malloc(sizeof *sorted * (size_t)g->count);
    if (!sorted) return error_memory(error, "measuring");
    for (int k = 0; k < g->dim; k++) { // medians: means would go after the strays
        for (int64_t i = 0; i < g->count; i++) sorted[i] = g->position[g->dim * i + k];
        qsort(sorted, (size_t)g->count, sizeof *sorted, ascending);
        middle[k] = sorted[g->count / 2];
    }
    for (int64_t i = 0; i < g->count; i++) sorted[i] = distance(g, i, middle);
    qsort(sorted, (size_t)g->count, sizeof *sorted, ascending);
    const double most = FAR * sorted[g->count * 9 / 10];
    free(sorted);
    for (int64_t i = 0; i < g->count; i++) {
        if (!(distance(g, i, middle) > most)) continue;
        stray[i] = 1;
        ++*count;
    }
    return TALUS_OK;
}

/// Grains at a free surface, by their Voronoi cells.
///
/// Among other grains a cell reaches about as far as the spacing l, which is the root of the median
/// cell's volume; even among points at random 2.5 l is out of reach (in 3D the chance that a ball
/// of this radius is empty is e^-65, of an eighth of it in a corner of the domain e^-8). A cell
/// that reaches farther has empty space beside it.
#include "measure/filled.h"

#include "base/error.h"
#include "measure/voronoi.h"

#include <stdlib.h>
#include <string.h>

static const double FAR = 2.5;

void filled_part_free(filled_part* f)
{
    free(f->open);
    *f = (filled_part){0};
}

/// Sizes of the cells.
typedef struct cell_sizes {
    double *volume, *radius; ///< [count]
} cell_sizes;

static talus_status note_size(void* data, int chunk, int64_t row, const convex_cell* c)
{
    const cell_sizes* sizes = data;
    (void)chunk;
    if (convex_cell_is_empty(c)) return TALUS_OK;
    sizes->volume[row] = convex_cell_volume(c, NULL);
    sizes->radius[row] = convex_cell_radius(c);
    return TALUS_OK;
}

static int by_size(const void* pa, const void* pb)
{
    const double a = *(const double*)pa, b = *(const double*)pb;
    return a < b ? -1 : a > b;
}

talus_status filled_part_find(const domain* d, int threads, filled_part* out, talus_error* error)
{
    voronoi_sites s;
    *out = (filled_part){0};
    TRY(voronoi_sites_make(d, &s, error));
    const int64_t count = s.count;
    double* number = calloc(3 * (size_t)count + 1, sizeof *number);
    double *volume = number, *radius = number + count, *sorted = number + 2 * count;
    out->open = calloc((size_t)count + 1, sizeof *out->open);
    talus_status status = TALUS_ERR_MEMORY;
    cell_sizes sizes = {volume, radius};
    if (number && out->open) status = voronoi_each_cell(&s, threads, note_size, &sizes);
    voronoi_sites_free(&s);
    if (status == TALUS_OK) {
        int64_t kept = 0;
        for (int64_t i = 0; i < count; i++) {
            if (volume[i] > 0.0) sorted[kept++] = volume[i];
        }
        if (kept > 1) qsort(sorted, (size_t)kept, sizeof *sorted, by_size);
        const double median = kept > 0 ? sorted[kept / 2] : 0.0;
        const double far = FAR * (d->dim == 2 ? sqrt(median) : cbrt(median));
        for (int64_t i = 0; i < count; i++) {
            out->open[i] = radius[i] > far;
            out->volume += out->open[i] ? 0.0 : volume[i];
        }
        if (!(out->volume > 0.0)) { // a few grains in a large space: all of it is theirs
            memset(out->open, 0, (size_t)count);
            out->volume = d->volume;
        }
    }
    free(number);
    if (status == TALUS_OK) return TALUS_OK;
    filled_part_free(out);
    return error_memory(error, "finding the free surface");
}

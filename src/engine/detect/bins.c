/// Filling bins by counting, and searching them; see bins.h.
#include "detect/bins.h"

#include "base/array.h"
#include "base/error.h"
#include "base/portable.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void bins_free(bins* b)
{
    free(b->first);
    free(b->item);
    *b = (bins){0};
}

void near_list_free(near_list* l)
{
    free(l->point);
    *l = (near_list){0};
}

double bins_width(int dim, const double length[3], int64_t count)
{
    double sorted[3], product = 1.0, width = 0.0;
    for (int k = 0; k < dim; k++) {
        int at = k;
        for (; at > 0 && sorted[at - 1] < length[k]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = length[k];
    }
    for (int k = 0; k < dim && sorted[0] > 0.0; k++) {
        product *= sorted[k] / sorted[0];
        width = fmax(width, sorted[0] * portable_pow(product / (double)count, 1.0 / (k + 1)));
    }
    return width;
}

/// Bin along an axis; beyond the ends of one that wraps the numbers go on.
static int64_t bin_along(const bins* b, int k, double x)
{
    const double number = (double)b->number[k];
    const double bin = b->length[k] > 0.0 ? floor((x - b->low[k]) / b->length[k] * number) : 0.0;
    return (int64_t)(b->cell.periodic[k] ? bin : fmin(fmax(bin, 0.0), number - 1.0));
}

/// The bin of a point that is filed: rounding at an edge must not put it into the next cell.
static int64_t bin_of(const bins* b, const double* x)
{
    int64_t bin = 0;
    for (int k = b->dim - 1; k >= 0; k--) {
        const int64_t last = b->number[k] - 1, along = bin_along(b, k, x[k]);
        bin = bin * b->number[k] + (along < 0 ? 0 : along > last ? last : along);
    }
    return bin;
}

/// Coordinates of the i-th of the points to be filed, and its index.
static const double* filed_point(const bins* b, const int32_t* item, int64_t i, int32_t* index)
{
    *index = item ? item[i] : (int32_t)i;
    return b->x + (int64_t)*index * b->stride;
}

talus_status bins_make(int dim, const double* x, int stride, const int32_t* item, int64_t count,
                       const cell* periodic, bins* out)
{
    *out = (bins){.dim = dim, .stride = stride, .x = x, .cell = *periodic};
    int32_t index;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < count && k < dim; i++) {
            const double at = filed_point(out, item, i, &index)[k];
            low = fmin(low, at);
            high = fmax(high, at);
        }
        const bool wraps = k < dim && periodic->periodic[k];
        out->low[k] = wraps ? periodic->low[k] : low;
        out->length[k] = wraps ? periodic->length[k] : high > low ? high - low : 0.0;
        out->number[k] = 1;
    }
    const double width = bins_width(dim, out->length, count);
    for (int k = 0; k < dim && width > 0.0; k++) {
        out->number[k] = (int64_t)fmax(1.0, floor(out->length[k] / width));
    }
    const int64_t all = out->number[0] * out->number[1] * out->number[2];
    out->first = calloc((size_t)all + 2, sizeof *out->first);
    out->item = malloc(sizeof *out->item * ((size_t)count + 1));
    if (!out->first || !out->item) {
        bins_free(out);
        return TALUS_ERR_MEMORY;
    }
    // Counted one place further, so that filling moves first[bin + 1] to the end of its bin.
    for (int64_t i = 0; i < count; i++) {
        out->first[bin_of(out, filed_point(out, item, i, &index)) + 2]++;
    }
    for (int64_t i = 2; i <= all; i++) out->first[i] += out->first[i - 1];
    for (int64_t i = 0; i < count; i++) {
        const int64_t bin = bin_of(out, filed_point(out, item, i, &index));
        out->item[out->first[bin + 1]++] = index;
    }
    return TALUS_OK;
}

/// Add the points of one bin, shifted by whole cells.
static talus_status search_bin(const bins* b, int64_t bin, const double shift[3],
                               const double* place, double reach, near_list* out)
{
    const int64_t begin = b->first[bin], end = b->first[bin + 1];
    if (!arrays_grow(&out->capacity, out->count + end - begin, ARRAY(out->point))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t i = begin; i < end; i++) {
        near_point* p = &out->point[out->count];
        const double* x = b->x + (int64_t)b->item[i] * b->stride;
        p->delta[2] = 0.0;
        for (int k = 0; k < b->dim; k++) p->delta[k] = x[k] + shift[k] - place[k];
        p->distance = vec_norm(3, p->delta);
        p->item = b->item[i];
        out->count += p->distance <= reach;
    }
    return TALUS_OK;
}

talus_status bins_near(const bins* b, const double* place, double reach, near_list* out)
{
    int64_t from[3] = {0}, to[3] = {0}, at[3];
    for (int k = 0; k < b->dim; k++) {
        from[k] = bin_along(b, k, place[k] - reach);
        to[k] = bin_along(b, k, place[k] + reach);
    }
    for (at[2] = from[2]; at[2] <= to[2]; at[2]++) {
        for (at[1] = from[1]; at[1] <= to[1]; at[1]++) {
            for (at[0] = from[0]; at[0] <= to[0]; at[0]++) {
                double shift[3];
                int64_t bin = 0;
                for (int k = 2; k >= 0; k--) {
                    const int64_t turns = (int64_t)floor((double)at[k] / (double)b->number[k]);
                    bin = bin * b->number[k] + at[k] - turns * b->number[k];
                    shift[k] = (double)turns * b->length[k];
                }
                TRY(search_bin(b, bin, shift, place, reach, out));
            }
        }
    }
    return TALUS_OK;
}

/// Histograms: edges first, then counts, then densities.
#include "measure/histogram.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

void talus_histogram_free(talus_histogram* h)
{
    free(h->edge);
    free(h->density);
    *h = (talus_histogram){0};
}

talus_status histogram_make(int bins, double low, double high, bool logarithmic,
                            talus_histogram* out, talus_error* error)
{
    *out = (talus_histogram){.bins = bins,
                             .edge = calloc((size_t)bins + 1, sizeof *out->edge),
                             .density = calloc((size_t)bins, sizeof *out->density)};
    if (!out->edge || !out->density) {
        talus_histogram_free(out);
        return error_memory(error, "making a histogram");
    }
    for (int k = 0; k <= bins; k++) {
        const double part = (double)k / bins;
        out->edge[k] = logarithmic ? low * pow(high / low, part) : low + (high - low) * part;
    }
    out->edge[bins] = high;
    return TALUS_OK;
}

void histogram_count(talus_histogram* h, double value)
{
    int low = 0, high = h->bins;
    h->total++;
    if (!(value >= h->edge[0])) {
        h->below++;
        return;
    }
    if (value > h->edge[h->bins]) {
        h->above++;
        return;
    }
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (value >= h->edge[middle])
            low = middle;
        else
            high = middle;
    }
    h->density[low] += 1.0;
}

void histogram_finish(talus_histogram* h)
{
    for (int k = 0; k < h->bins && h->total > 0; k++) {
        h->density[k] /= (double)h->total * (h->edge[k + 1] - h->edge[k]);
    }
}

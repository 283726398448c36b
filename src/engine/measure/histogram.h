/// Histograms that know how much lies beyond their ends.
#ifndef TALUS_MEASURE_HISTOGRAM_H
#define TALUS_MEASURE_HISTOGRAM_H

#include <talus/measure.h>

/// Empty bins of equal width from low to high, in value or in its logarithm.
talus_status histogram_make(int bins, double low, double high, bool logarithmic,
                            talus_histogram* out, talus_error* error);
/// Count a value; one at the upper end is in the last bin. histogram_finish() makes densities.
void histogram_count(talus_histogram* h, double value);
void histogram_finish(talus_histogram* h);

#endif

/// Sorting numbers by keys that are small integers, by any number of threads with the same result.
#ifndef TALUS_BASE_COUNTING_SORT_H
#define TALUS_BASE_COUNTING_SORT_H

#include <stdint.h>

/// Put the numbers 0 to count - 1 into `order`, by key[i], which is below `keys`; those of one key
/// stay in order. Those of key k begin at start[k]; start is [keys + 1].
void counting_sort(const int32_t* key, int64_t count, int64_t keys, int threads, int32_t* start,
                   int32_t* order);

#endif

#include "base/counting_sort.h"

#include <string.h>

/// Each thread has a range of keys and looks at all numbers for those that have one of them: to
/// look takes a fraction of a nanosecond, to count and to place some nanoseconds.
enum { MOST_RANGES = 64 };

/// Keys of a range, and how many numbers have one of the ranges before it.
typedef struct key_range {
    int64_t low, high, before;
} key_range;

static int64_t count_range(const int32_t* key, int64_t count, const key_range* range,
                           int32_t* start)
{
    int64_t found = 0;
    memset(start + range->low, 0, sizeof *start * (size_t)(range->high - range->low));
    for (int64_t i = 0; i < count; i++) {
        if (key[i] < range->low || key[i] >= range->high) continue;
        start[key[i]]++;
        found++;
    }
    return found;
}

static void place_range(const int32_t* key, int64_t count, const key_range* range, int32_t* start,
                        int32_t* order)
{
    int32_t sum = (int32_t)range->before;
    for (int64_t k = range->low; k < range->high; k++) {
        const int32_t here = start[k];
        start[k] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++) {
        if (key[i] >= range->low && key[i] < range->high) order[start[key[i]]++] = (int32_t)i;
    }
    // Each start has moved on to the next one's.
    for (int64_t k = range->high - 1; k > range->low; k--) start[k] = start[k - 1];
    if (range->high > range->low) start[range->low] = (int32_t)range->before;
}

void counting_sort(const int32_t* key, int64_t count, int64_t keys, int threads, int32_t* start,
                   int32_t* order)
{
    const int ranges = threads < 1 ? 1 : threads > MOST_RANGES ? MOST_RANGES : threads;
    key_range range[MOST_RANGES];
    int64_t found[MOST_RANGES], before = 0;
#pragma omp parallel for num_threads(ranges) if (ranges > 1) schedule(static, 1)
    for (int t = 0; t < ranges; t++) {
        range[t] = (key_range){keys * t / ranges, keys * (t + 1) / ranges, 0};
        found[t] = count_range(key, count, &range[t], start);
    }
    for (int t = 0; t < ranges; t++) {
        range[t].before = before;
        before += found[t];
    }
#pragma omp parallel for num_threads(ranges) if (ranges > 1) schedule(static, 1)
    for (int t = 0; t < ranges; t++) place_range(key, count, &range[t], start, order);
    start[keys] = (int32_t)count;
}

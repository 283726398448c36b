/// Where the ticks of an axis are, and what is written beside them.
#ifndef TALUS_PICTURE_TICKS_H
#define TALUS_PICTURE_TICKS_H

#include <stdbool.h>

enum { TICKS_MAX = 24, TICKS_MINOR_MAX = 256, TICKS_TEXT = 40 };

typedef struct ticks {
    int count;
    double at[TICKS_MAX]; ///< ascending, within the axis
    char label[TICKS_MAX][TICKS_TEXT];
    int minor_count;
    double minor[TICKS_MINOR_MAX];
    char factor[TICKS_TEXT]; ///< common factor of the labels such as "×10^{6}"; empty: none
} ticks;

/// Ticks of an axis from `low` to `high` (finite, low < high; both positive if `log`), about
/// `wanted` of them (at least 2).
void ticks_make(double low, double high, bool log, int wanted, ticks* out);

#endif

/// Words about counts.
#ifndef TALUS_BASE_WORDS_H
#define TALUS_BASE_WORDS_H

#include <stdint.h>

/// What the word after a count ends with: "1 grain", "2 grains".
static inline const char* plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

#endif

/// Words about counts, words that were meant, and letters of texts.
#ifndef TALUS_BASE_WORDS_H
#define TALUS_BASE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/// What the word after a count ends with: "1 grain", "2 grains".
static inline const char* plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/// The nearest of `names` to `word`, NULL if none is near enough to be a typo.
const char* nearest_name(const char* word, const char* const* names, int count);

/// Room for the words of an upper bound.
enum { BOUND_WORDS = 24 };
/// An upper bound as per cent, "3.1 %": two digits, rounded up, so that what is said holds. Above
/// 1000 % it is "over 1000 %", and "no bound" if it is not finite.
void bound_words(double bound, char text[BOUND_WORDS]);

/// Bytes of the UTF-8 character at the beginning of a text, 0 if there is no valid one.
static inline size_t utf8_length(const char* text)
{
    const unsigned char* at = (const unsigned char*)text;
    size_t length = at[0] < 0x80                    ? 1
                    : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                    : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                    : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                    : 0;
    for (size_t k = 1; k < length; k++) {
        if ((at[k] & 0xc0) != 0x80) return 0;
    }
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    if (length == 3 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))) {
        return 0;
    }
    if (length == 4 && ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))) {
        return 0;
    }
    return length;
}

#endif

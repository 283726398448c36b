/// Which known word somebody may have meant, and bounds in words.
#include "base/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NEAREST_MAX = 48 };

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/// Edit distance with swaps of neighbours (optimal string alignment), letters in any case.
static int edit_distance(const char* a, const char* b)
{
    int m = (int)strlen(a), n = (int)strlen(b);
    if (m > NEAREST_MAX || n > NEAREST_MAX) return NEAREST_MAX;
    int d[NEAREST_MAX + 1][NEAREST_MAX + 1];
    for (int i = 0; i <= m; i++) d[i][0] = i;
    for (int j = 0; j <= n; j++) d[0][j] = j;
    for (int i = 1; i <= m; i++) {
        for (int j = 1; j <= n; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && d[i - 2][j - 2] + 1 < d[i][j]) {
                d[i][j] = d[i - 2][j - 2] + 1;
            }
        }
    }
    return d[m][n];
}

const char* nearest_name(const char* word, const char* const* names, int count)
{
    const char* best = NULL;
    // A third of the letters may be wrong, but never all: 'colour' is not a typo of 'cone'.
    int length = (int)strlen(word), limit = length / 3;
    int best_distance = least(length, (limit < 1 ? 1 : limit) + 1, NEAREST_MAX);
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = names[i];
    }
    return best;
}

void bound_words(double bound, char text[BOUND_WORDS])
{
    const double percent = 100.0 * bound;
    if (!isfinite(bound) || bound > 10.0) {
        snprintf(text, BOUND_WORDS, isfinite(bound) ? "over 1000 %%" : "no bound");
        return;
    }
    // A unit of the second digit; numbers that are round but for rounding stay as they are.
    const double unit = pow(10.0, floor(log10(fmax(percent, 1e-4) * (1.0 + 1e-9))) - 1.0);
    snprintf(text, BOUND_WORDS, "%.6g %%", unit * ceil(percent / unit * (1.0 - 1e-9)));
}

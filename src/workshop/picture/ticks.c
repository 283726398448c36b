/// Ticks at round numbers: 1, 2 or 5 times a power of ten apart, or at powers of ten.
#include "picture/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MINUS "\xe2\x88\x92" // U+2212
#define TIMES "\xc3\x97"     // U+00D7

/// Slack, in steps, for ticks at the very ends of an axis.
#define SLACK 1e-9

/// A number with this many decimals, its minus as long as a plus; no minus before a zero.
static void write_number(double value, int decimals, char out[TICKS_TEXT])
{
    char digits[TICKS_TEXT - 4];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(value));
    const bool zero = strspn(digits, "0.") == strlen(digits);
    snprintf(out, TICKS_TEXT, "%s%s", value < 0.0 && !zero ? MINUS : "", digits);
}

/// A power of ten behind `front`, which says by what it is multiplied.
static void write_power(const char* front, int exponent, char out[TICKS_TEXT])
{
    snprintf(out, TICKS_TEXT, "%s10^{%s%d}", front, exponent < 0 ? MINUS : "",
             exponent < 0 ? -exponent : exponent);
}

// ---- linear ------------------------------------------------------------------------------------

/// A step of 1, 2 or 5 times 10^exponent.
typedef struct tick_step {
    double length;
    int mantissa, exponent;
} tick_step;

/// The smallest step that makes no more than about `wanted` ticks.
static tick_step step_for(double range, int wanted)
{
    const double least = range / wanted;
    int exponent = (int)floor(log10(least));
    const double rest = least / pow(10.0, exponent);
    int mantissa = rest <= 1.0 + SLACK ? 1 : rest <= 2.0 + SLACK ? 2 : rest <= 5.0 + SLACK ? 5 : 10;
    if (mantissa == 10) {
        mantissa = 1;
        exponent++;
    }
    return (tick_step){mantissa * pow(10.0, exponent), mantissa, exponent};
}

static void make_linear(double low, double high, int wanted, ticks* out)
{
    tick_step step = step_for(high - low, wanted);
    double first = ceil(low / step.length - SLACK), last = floor(high / step.length + SLACK);
    // One tick alone says nothing about the scale.
    while (last - first < 1.0 && wanted < TICKS_MAX) {
        step = step_for(high - low, ++wanted);
        first = ceil(low / step.length - SLACK);
        last = floor(high / step.length + SLACK);
    }
    for (double k = first; k <= last && out->count < TICKS_MAX; k++) {
        out->at[out->count++] = k * step.length;
    }
    const int parts = step.mantissa == 2 ? 4 : 5;
    const double small = step.length / parts;
    const double small_last = floor(high / small + SLACK);
    for (double k = ceil(low / small - SLACK);
         k <= small_last && out->minor_count < TICKS_MINOR_MAX; k++) {
        if (fmod(k, parts) != 0.0) out->minor[out->minor_count++] = k * small;
    }
    // Labels are plain numbers, or have a common power of ten if these would be long.
    double largest = 0.0;
    for (int i = 0; i < out->count; i++) largest = fmax(largest, fabs(out->at[i]));
    int factor = 0;
    if (largest >= 0.99e5 || (largest > 0.0 && largest < 1e-3)) {
        factor = (int)floor(log10(largest) + SLACK);
        write_power(TIMES, factor, out->factor);
    }
    const int decimals = step.exponent < factor ? factor - step.exponent : 0;
    for (int i = 0; i < out->count; i++) {
        write_number(out->at[i] / pow(10.0, factor), decimals < 15 ? decimals : 15, out->label[i]);
    }
}

// ---- logarithmic -------------------------------------------------------------------------------

/// Two to nine times every power of ten, as minor ticks.
static void add_between(double low, double high, ticks* out)
{
    const int last = (int)floor(log10(high));
    for (int e = (int)floor(log10(low)); e <= last; e++) {
        for (int m = 2; m <= 9 && out->minor_count < TICKS_MINOR_MAX; m++) {
            const double at = m * pow(10.0, e);
            if (at >= low * (1.0 - SLACK) && at <= high * (1.0 + SLACK)) {
                out->minor[out->minor_count++] = at;
            }
        }
    }
}

/// Multiples of powers of ten that have a label.
typedef struct mantissas {
    int count;
    int value[3];
    const char* front[3]; ///< what stands before the power of ten
} mantissas;

static void add_labelled(double low, double high, const mantissas* use, ticks* out)
{
    const int last = (int)floor(log10(high) + SLACK);
    for (int e = (int)floor(log10(low) + SLACK); e <= last; e++) {
        for (int m = 0; m < use->count; m++) {
            const double at = use->value[m] * pow(10.0, e);
            if (at < low * (1.0 - SLACK) || at > high * (1.0 + SLACK)) continue;
            if (out->count == TICKS_MAX) return;
            char* label = out->label[out->count];
            if (e >= -3 && e <= 3) {
                write_number(at, e < 0 ? -e : 0, label);
            } else {
                write_power(use->front[m], e, label);
            }
            out->at[out->count++] = at;
        }
    }
}

/// An axis of one to two decades: powers of ten alone would be too few, so that multiples of them
/// have labels too; as many as are wanted, but not fewer than two labels in all.
static void make_short_log(double low, double high, int wanted, ticks* out)
{
    static const mantissas choice[] = {
        {1, {1}, {""}}, {2, {1, 3}, {"", "3" TIMES}}, {3, {1, 2, 5}, {"", "2" TIMES, "5" TIMES}}};
    for (int k = 2; k >= 0; k--) {
        ticks coarser = {0};
        add_labelled(low, high, &choice[k], &coarser);
        if (coarser.count < 2) break;
        *out = coarser;
        if (coarser.count <= wanted) break;
    }
    add_between(low, high, out);
}

static void make_log(double low, double high, int wanted, ticks* out)
{
    const int first = (int)ceil(log10(low) - SLACK), last = (int)floor(log10(high) + SLACK);
    const double decades = log10(high) - log10(low);
    if (decades < 0.7) {
        make_linear(low, high, wanted, out);
        return;
    }
    if (decades < 2.0) {
        make_short_log(low, high, wanted, out);
        return;
    }
    int stride = 1;
    while ((last - first) / stride + 1 > wanted) stride++;
    // Powers of ten, every `stride`-th with a label.
    for (int e = first; e <= last; e++) {
        const double at = pow(10.0, e);
        if (((e % stride) + stride) % stride == 0 && out->count < TICKS_MAX) {
            write_power("", e, out->label[out->count]);
            out->at[out->count++] = at;
        } else if (out->minor_count < TICKS_MINOR_MAX) {
            out->minor[out->minor_count++] = at;
        }
    }
    if (decades < 12.0) add_between(low, high, out);
}

void ticks_make(double low, double high, bool log, int wanted, ticks* out)
{
    *out = (ticks){0};
    if (wanted < 2) wanted = 2;
    if (log) {
        make_log(low, high, wanted, out);
    } else {
        make_linear(low, high, wanted, out);
    }
}

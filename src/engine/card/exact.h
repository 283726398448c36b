/// The exact functions of math.h for device code, where there is no C library: made of bits, so
/// that they give what the C library gives. tests/card/test_card_exact.c compares them. phases.h
/// puts them in the place of the names of math.h.
///
/// Square root, absolute value and rounding are instructions of the card, exact as they are.
#ifndef TALUS_CARD_EXACT_H
#define TALUS_CARD_EXACT_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t exact_bits(double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double exact_double(uint64_t bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/// The larger; the other one if one is no number. Of two zeros the second, as the C library does it
/// on x86.
static inline double exact_fmax(double x, double y)
{
    return x > y || y != y ? x : y;
}
static inline double exact_fmin(double x, double y)
{
    return x < y || y != y ? x : y;
}

/// x = m 2^*exponent with 1/2 <= |m| < 1.
static inline double exact_frexp(double x, int* exponent)
{
    const uint64_t bits = exact_bits(x);
    const int stored = (int)(bits >> 52 & 0x7ff);
    *exponent = 0;
    if (x == 0.0 || stored == 0x7ff) return x;
    if (stored == 0) { // subnormal
        const double m = exact_frexp(x * 0x1p64, exponent);
        *exponent -= 64;
        return m;
    }
    *exponent = stored - 1022;
    return exact_double((bits & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x3fe0000000000000));
}

/// x 2^n, rounded once: steps downwards leave all digits above the smallest normal number until the
/// last one.
static inline double exact_ldexp(double x, int n)
{
    for (int k = 0; k < 2 && n > 1023; k++, n -= 1023) x *= 0x1p1023;
    for (int k = 0; k < 2 && n < -1022; k++, n += 969) x *= 0x1p-969;
    n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
    return x * exact_double((uint64_t)(n + 1023) << 52);
}

/// |x| modulo |y| by long division, and whether the quotient is odd; NaN for what has no remainder.
static inline double exact_modulo(double x, double y, bool* odd)
{
    x = __builtin_fabs(x), y = __builtin_fabs(y);
    *odd = false;
    if (!(x <= 0x1.fffffffffffffp1023) || !(y > 0.0)) return x - x + (y - y) / (y - y);
    if (x < y) return x;
    int of_x, of_y;
    uint64_t a = (uint64_t)exact_ldexp(exact_frexp(x, &of_x), 53);
    const uint64_t b = (uint64_t)exact_ldexp(exact_frexp(y, &of_y), 53);
    for (int k = of_x - of_y;; k--) {
        *odd = a >= b;
        if (*odd) a -= b;
        if (k == 0) break;
        a <<= 1;
    }
    return exact_ldexp((double)a, of_y - 53);
}

static inline double exact_fmod(double x, double y)
{
    bool odd;
    if (__builtin_fabs(x) < __builtin_fabs(y)) return x;
    return __builtin_copysign(exact_modulo(x, y, &odd), x);
}

/// x - n y for the whole number n next to x/y, the even one of two.
static inline double exact_remainder(double x, double y)
{
    bool odd;
    const double size = __builtin_fabs(y);
    double r = exact_modulo(x, y, &odd);
    if (r > size - r || (r == size - r && odd)) r -= size;
    if (r == 0.0) return __builtin_copysign(0.0, x);
    return __builtin_signbit(x) ? -r : r;
}

#endif

/// Polynomials and reductions are those of fdlibm (K. C. Ng, Sun Microsystems 1993) and of
/// FreeBSD's cbrt (B. D. Evans 2008), whose coefficients are minimax fits on the reduced intervals;
/// powers are worked out in pairs of doubles. tests/base/test_portable.c compares with long
/// doubles.
#include "base/portable.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// ---- pairs of doubles --------------------------------------------------------------------------

/// A number as the sum of two doubles, the second below half a unit in the last place of the first:
/// 106 bits.
typedef struct pair {
    double high, low;
} pair;

/// Exact sum of two doubles (Knuth).
static pair exact_sum(double a, double b)
{
    const double sum = a + b, of_b = sum - a;
    return (pair){sum, (a - (sum - of_b)) + (b - of_b)};
}

/// Exact product of two doubles below 1e300 (Dekker): each is cut into halves of 26 bits.
static pair exact_product(double a, double b)
{
    const double cut = 134217729.0; // 2^27 + 1
    const double ca = cut * a, cb = cut * b;
    const double ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    const double product = a * b;
    return (pair){product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

static pair pair_sum(pair a, pair b)
{
    const pair s = exact_sum(a.high, b.high);
    return exact_sum(s.high, s.low + (a.low + b.low));
}

static pair pair_product(pair a, pair b)
{
    const pair p = exact_product(a.high, b.high);
    return exact_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static pair pair_quotient(pair a, pair b)
{
    const double first = a.high / b.high;
    const pair back = pair_product((pair){first, 0.0}, b);
    const pair rest = pair_sum(a, (pair){-back.high, -back.low});
    return exact_sum(first, rest.high / b.high);
}

// ---- angles ------------------------------------------------------------------------------------

/// sin(x + low) for |x| <= pi/4.
static double sine_near_0(double x, double low)
{
    static const double S[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                               -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                               -2.50507602534068634195e-08, 1.58969099521155010221e-10};
    const double z = x * x, v = z * x;
    const double r = S[1] + z * (S[2] + z * (S[3] + z * (S[4] + z * S[5])));
    return x - ((z * (0.5 * low - v * r) - low) - v * S[0]);
}

/// cos(x + low) for |x| <= pi/4.
static double cosine_near_0(double x, double low)
{
    static const double C[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                               2.48015872894767294178e-05, -2.75573143513906633035e-07,
                               2.08757232129817482790e-09, -1.13596475577881948265e-11};
    const double z = x * x;
    const double r = z * (C[0] + z * (C[1] + z * (C[2] + z * (C[3] + z * (C[4] + z * C[5])))));
    const double half = 0.5 * z, w = 1.0 - half;
    return w + (((1.0 - w) - half) + (z * r - x * low));
}

/// x = n pi/2 + *part, |part| <= pi/4; returns n modulo 4. Pi/2 is a sum of four doubles, the first
/// three of 25 bits, so that their products with n are exact.
static int reduce(double x, pair* part)
{
    static const double P1 = 0x1.921fb50000000p+0, P2 = 0x1.110b460000000p-26,
                        P3 = 0x1.1a62630000000p-54, P4 = 0x1.8a2e03707344ap-81;
    static const double FAR = 2e8;
    if (fabs(x) <= M_PI_4) {
        *part = (pair){x, 0.0};
        return 0;
    }
    if (fabs(x) > FAR) x = remainder(x, 2.0 * M_PI);
    const double n = rint(x * M_2_PI);
    pair sum = exact_sum(x, -n * P1);
    sum = pair_sum(sum, (pair){-n * P2, 0.0});
    sum = pair_sum(sum, (pair){-n * P3, 0.0});
    *part = pair_sum(sum, (pair){-n * P4, 0.0});
    return (int)((int64_t)n & 3);
}

double portable_sin(double x)
{
    if (!isfinite(x)) return NAN;
    pair part;
    const int quarter = reduce(x, &part);
    const double value =
        quarter & 1 ? cosine_near_0(part.high, part.low) : sine_near_0(part.high, part.low);
    return quarter & 2 ? -value : value;
}

double portable_cos(double x)
{
    if (!isfinite(x)) return NAN;
    pair part;
    const int quarter = reduce(x, &part);
    const double value =
        quarter & 1 ? sine_near_0(part.high, part.low) : cosine_near_0(part.high, part.low);
    return quarter == 1 || quarter == 2 ? -value : value;
}

double portable_tan(double x)
{
    return portable_sin(x) / portable_cos(x);
}

/// atan(x) for x >= 0.
static double arc_tangent(double x)
{
    static const double A[] = {
        3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
        -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
        6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
        -3.65315727442169155270e-02, 1.62858201153657823623e-02};
    // atan of 1/2, 1, 3/2 and infinity
    static const pair at[] = {{4.63647609000806093515e-01, 2.26987774529616870924e-17},
                              {7.85398163397448278999e-01, 3.06161699786838301793e-17},
                              {9.82793723247329054082e-01, 1.39033110312309984516e-17},
                              {1.57079632679489655800e+00, 6.12323399573676603587e-17}};
    int near = -1;
    if (x >= 0x1p66) return at[3].high + at[3].low;
    if (x >= 2.4375) {
        near = 3;
        x = -1.0 / x;
    } else if (x >= 1.1875) {
        near = 2;
        x = (x - 1.5) / (1.0 + 1.5 * x);
    } else if (x >= 0.6875) {
        near = 1;
        x = (x - 1.0) / (x + 1.0);
    } else if (x >= 0.4375) {
        near = 0;
        x = (2.0 * x - 1.0) / (2.0 + x);
    }
    const double z = x * x, w = z * z;
    const double odd = z * (A[0] + w * (A[2] + w * (A[4] + w * (A[6] + w * (A[8] + w * A[10])))));
    const double even = w * (A[1] + w * (A[3] + w * (A[5] + w * (A[7] + w * A[9]))));
    if (near < 0) return x - x * (odd + even);
    return at[near].high - ((x * (odd + even) - at[near].low) - x);
}

double portable_atan2(double y, double x)
{
    if (isnan(x) || isnan(y)) return NAN;
    const double pi_low = 1.2246467991473531772e-16;
    const bool left = signbit(x);
    double angle;
    if (y == 0.0) {
        angle = left ? M_PI : 0.0;
    } else if (isinf(x) && isinf(y)) {
        angle = left ? 3.0 * M_PI_4 : M_PI_4;
    } else if (x == 0.0) {
        angle = M_PI_2;
    } else {
        const double first = arc_tangent(fabs(y) / fabs(x));
        angle = left ? M_PI - (first - pi_low) : first;
    }
    return copysign(angle, y);
}

double portable_asin(double x)
{
    return fabs(x) <= 1.0 ? portable_atan2(x, sqrt((1.0 - x) * (1.0 + x))) : NAN;
}

double portable_acos(double x)
{
    return fabs(x) <= 1.0 ? portable_atan2(sqrt((1.0 - x) * (1.0 + x)), x) : NAN;
}

// ---- exponentials ------------------------------------------------------------------------------

static const pair LN_2 = {6.93147180369123816490e-01, 1.90821492927058770002e-10};

/// e^(x + low) times a power of two, for |low| below a unit in the last place of x.
static double exponential(double x, double low)
{
    static const double P[] = {1.66666666666666019037e-01, -2.77777777770155933842e-03,
                               6.61375632143793436117e-05, -1.65339022054652515390e-06,
                               4.13813679705723846039e-08};
    if (x > 710.0) return INFINITY;
    if (x < -746.0) return 0.0;
    const double n = rint(x * M_LOG2E);
    const double high = x - n * LN_2.high, rest = n * LN_2.low - low;
    const double r = high - rest, z = r * r;
    const double c = r - z * (P[0] + z * (P[1] + z * (P[2] + z * (P[3] + z * P[4]))));
    return ldexp(1.0 - ((rest - r * c / (2.0 - c)) - high), (int)n);
}

double portable_exp(double x)
{
    return isnan(x) ? NAN : exponential(x, 0.0);
}

/// x = 2^n m with m in [sqrt(1/2), sqrt(2)), for finite x > 0.
static double mantissa(double x, int* n)
{
    double m = frexp(x, n);
    if (m < M_SQRT1_2) {
        m *= 2.0;
        --*n;
    }
    return m;
}

double portable_log(double x)
{
    static const double L[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                               2.857142874366239149e-01, 2.222219843214978396e-01,
                               1.818357216161805012e-01, 1.531383769920937332e-01,
                               1.479819860511658591e-01};
    if (isnan(x) || x < 0.0) return NAN;
    if (x == 0.0) return -INFINITY;
    if (isinf(x)) return x;
    int n;
    const double f = mantissa(x, &n) - 1.0;
    const double s = f / (2.0 + f), z = s * s, w = z * z;
    const double even = w * (L[1] + w * (L[3] + w * L[5]));
    const double odd = z * (L[0] + w * (L[2] + w * (L[4] + w * L[6])));
    const double half = 0.5 * f * f;
    const double small = s * (half + (odd + even)) + n * LN_2.low;
    return n * LN_2.high - ((half - small) - f);
}

double portable_log10(double x)
{
    static const double LOG10_2 = 3.01029995663981195214e-01;
    if (!(x > 0.0) || isinf(x)) return portable_log(x);
    int n;
    const double m = mantissa(x, &n);
    return n * LOG10_2 + M_LOG10E * portable_log(m);
}

static const pair LN_2_PAIR = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/// Natural logarithm of a positive number to some 70 bits: of m = (1 + s)/(1 - s) it is
/// 2 (s + s^3/3 + s^5/5 + ...), s^2 < 0.0295. Terms that are small beside the first are summed as
/// plain doubles.
static pair logarithm(double x)
{
    enum { PAIRS = 3, TERMS = 16 };
    int n;
    const double m = mantissa(x, &n);
    const pair s = pair_quotient(exact_sum(m, -1.0), exact_sum(m, 1.0));
    const pair z = pair_product(s, s);
    double small = 0.0;
    for (int k = TERMS; k > PAIRS; k--) small = (small + 1.0 / (2.0 * k + 1.0)) * z.high;
    pair sum = {small, 0.0};
    for (int k = PAIRS; k >= 1; k--) {
        const pair term = pair_quotient((pair){1.0, 0.0}, (pair){2.0 * k + 1.0, 0.0});
        sum = pair_product(pair_sum(sum, term), z);
    }
    sum = pair_product(pair_sum(sum, (pair){1.0, 0.0}), (pair){2.0 * s.high, 2.0 * s.low});
    return pair_sum(pair_product((pair){n, 0.0}, LN_2_PAIR), sum);
}

/// e^x for |x| < 746: 1 + r (1 + r/2 (1 + r/3 (...))), |r| < 0.35, the inner terms as plain
/// doubles.
static double exponential_of_pair(pair x)
{
    enum { PAIRS = 6, TERMS = 18 };
    const double n = rint(x.high * M_LOG2E);
    const pair r = pair_sum(x, pair_product((pair){-n, 0.0}, LN_2_PAIR));
    double inner = 1.0;
    for (int k = TERMS; k > PAIRS; k--) inner = 1.0 + r.high / k * inner;
    pair sum = {inner, 0.0};
    for (int k = PAIRS; k >= 1; k--) {
        const pair share = k > 1 ? pair_quotient(r, (pair){k, 0.0}) : r;
        sum = pair_sum((pair){1.0, 0.0}, pair_product(share, sum));
    }
    return ldexp(sum.high + sum.low, (int)n);
}

double portable_pow(double x, double y)
{
    if (y == 0.0 || x == 1.0) return 1.0;
    if (isnan(x) || isnan(y)) return NAN;
    const bool whole = floor(y) == y, odd = whole && fabs(y) < 0x1p53 && fmod(y, 2.0) != 0.0;
    const bool grows = (fabs(x) > 1.0) == (y > 0.0);
    if (x < 0.0 && !whole && isfinite(x)) return NAN;
    double size;
    if (x == 0.0 || isinf(x)) {
        size = (x == 0.0) == (y > 0.0) ? 0.0 : INFINITY;
    } else if (x == -1.0) {
        size = 1.0;
    } else if (isinf(y) || fabs(y) > 1e20) {
        size = grows ? INFINITY : 0.0;
    } else {
        const pair product = pair_product(logarithm(fabs(x)), (pair){y, 0.0});
        size = product.high > 710.0    ? INFINITY
               : product.high < -746.0 ? 0.0
                                       : exponential_of_pair(product);
    }
    return signbit(x) && odd ? -size : size;
}

double portable_cbrt(double x)
{
    static const double P[] = {1.87595182427177009643, -1.88497979543377169875,
                               1.621429720105354466140, -0.758397934778766047437,
                               0.145996192886612446982};
    if (x == 0.0 || !isfinite(x)) return x;
    const uint64_t size = bits_of(fabs(x));
    if (size < UINT64_C(1) << 52) return 0x1p-18 * portable_cbrt(0x1p54 * x); // denormal
    // The exponent divided by three is good to 5 %, the polynomial to 2^-23; 23 bits, so that the
    // square is exact, and a step of Newton's.
    double t = of_bits((uint64_t)((uint32_t)(size >> 32) / 3 + 715094163) << 32);
    double r = (t * t) * (t / fabs(x));
    t = t * ((P[0] + r * (P[1] + r * P[2])) + ((r * r) * r) * (P[3] + r * P[4]));
    t = of_bits((bits_of(t) + UINT64_C(0x80000000)) & UINT64_C(0xffffffffc0000000));
    r = fabs(x) / (t * t);
    t += t * ((r - t) / (2.0 * t + r));
    return copysign(t, x);
}

double portable_hypot(double x, double y)
{
    const double largest = fmax(fabs(x), fabs(y));
    if (isnan(x) || isnan(y)) return NAN;
    if (largest == 0.0 || isinf(largest)) return largest;
    int n;
    (void)frexp(largest, &n);
    const double a = ldexp(x, -n), b = ldexp(y, -n);
    return ldexp(sqrt(a * a + b * b), n);
}

double portable_power_of_ten(int n)
{
    double power = 1.0, ten = 10.0;
    for (int left = n < 0 ? -n : n; left > 0; left >>= 1, ten *= ten) {
        if (left & 1) power *= ten;
    }
    return n < 0 ? 1.0 / power : power;
}

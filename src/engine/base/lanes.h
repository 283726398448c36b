/// Arithmetic on LANE_WIDTH numbers at once: doubles 8 (AVX-512), 4 (AVX2) or 1 (any machine);
/// floats 8 or 1.
///
/// Each operation does to every number what plain C does to one, so all widths give the same bits;
/// + - * / work on the type itself. Bodies are read and written as whole rows and turned into lanes
/// by transposing 4 x 4 tiles in registers: gathers gain nothing over plain loads
/// (docs/decisions.md), rows and shuffles do.
#ifndef TALUS_BASE_LANES_H
#define TALUS_BASE_LANES_H

#include "base/real.h"
#include "base/vec.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined SINGLE_PRECISION && defined __AVX2__
#include "base/lanes_single.h"

#elif defined __AVX512F__ && defined __AVX512DQ__
#include <immintrin.h>
#define LANE_WIDTH 8
typedef __m512d lanes;
typedef __mmask8 lane_mask; ///< true or false for each lane

static ALWAYS_INLINE lanes lanes_set(double x)
{
    return _mm512_set1_pd(x);
}
static ALWAYS_INLINE lanes lanes_load(const real* x)
{
    return _mm512_load_pd(x);
}
static ALWAYS_INLINE void lanes_store(real* to, lanes x)
{
    _mm512_store_pd(to, x);
}
static ALWAYS_INLINE lanes lanes_max0(lanes x)
{
    return _mm512_max_pd(x, _mm512_setzero_pd());
}
static ALWAYS_INLINE lanes lanes_sqrt(lanes x)
{
    return _mm512_sqrt_pd(x);
}
static ALWAYS_INLINE lanes lanes_abs(lanes x)
{
    return _mm512_abs_pd(x);
}
/// Where a > b; false where either is no number.
static ALWAYS_INLINE lane_mask lanes_more(lanes a, lanes b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
}
static ALWAYS_INLINE lane_mask mask_and(lane_mask a, lane_mask b)
{
    return a & b;
}
static ALWAYS_INLINE lane_mask mask_or(lane_mask a, lane_mask b)
{
    return a | b;
}
/// a and not b
static ALWAYS_INLINE lane_mask mask_but(lane_mask a, lane_mask b)
{
    return (lane_mask)(a & ~b);
}
/// Bit k is set if lane k is in the mask.
static ALWAYS_INLINE unsigned mask_bits(lane_mask a)
{
    return a;
}
/// Lane k is in the mask if bit k is set.
static ALWAYS_INLINE lane_mask mask_of_bits(unsigned bits)
{
    return (lane_mask)bits;
}
/// x where the mask is set, else y.
static ALWAYS_INLINE lanes lanes_pick(lane_mask mask, lanes x, lanes y)
{
    return _mm512_mask_blend_pd(mask, y, x);
}

static ALWAYS_INLINE __m512d lanes_two_rows(const double* low, const double* high)
{
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(low)), _mm256_load_pd(high), 1);
}

/// Four columns, from `at`, of the rows who[0], who[1], ...; each row has `stride` numbers.
static ALWAYS_INLINE void lanes_load_rows(const real* rows, const int stride, const int at,
                                          const int32_t* who, lanes out[4])
{
    const double* r[8];
    for (int k = 0; k < 8; k++) r[k] = rows + (int64_t)who[k] * stride + at;
    const __m512d x0 = lanes_two_rows(r[0], r[2]), x1 = lanes_two_rows(r[1], r[3]);
    const __m512d x2 = lanes_two_rows(r[4], r[6]), x3 = lanes_two_rows(r[5], r[7]);
    const __m512d t0 = _mm512_unpacklo_pd(x0, x1), t1 = _mm512_unpackhi_pd(x0, x1);
    const __m512d t2 = _mm512_unpacklo_pd(x2, x3), t3 = _mm512_unpackhi_pd(x2, x3);
    out[0] = _mm512_shuffle_f64x2(t0, t2, 0x88);
    out[1] = _mm512_shuffle_f64x2(t1, t3, 0x88);
    out[2] = _mm512_shuffle_f64x2(t0, t2, 0xdd);
    out[3] = _mm512_shuffle_f64x2(t1, t3, 0xdd);
}

static ALWAYS_INLINE void lanes_put_rows(double* low, double* high, __m512d x)
{
    _mm256_store_pd(low, _mm512_castpd512_pd256(x));
    _mm256_store_pd(high, _mm512_extractf64x4_pd(x, 1));
}

static ALWAYS_INLINE void lanes_store_rows(real* rows, const int stride, const int at,
                                           const int32_t* who, const lanes in[4])
{
    double* r[8];
    for (int k = 0; k < 8; k++) r[k] = rows + (int64_t)who[k] * stride + at;
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i odd = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512d t0 = _mm512_unpacklo_pd(in[0], in[1]), t1 = _mm512_unpackhi_pd(in[0], in[1]);
    const __m512d t2 = _mm512_unpacklo_pd(in[2], in[3]), t3 = _mm512_unpackhi_pd(in[2], in[3]);
    lanes_put_rows(r[0], r[2], _mm512_permutex2var_pd(t0, even, t2));
    lanes_put_rows(r[1], r[3], _mm512_permutex2var_pd(t1, even, t3));
    lanes_put_rows(r[4], r[6], _mm512_permutex2var_pd(t0, odd, t2));
    lanes_put_rows(r[5], r[7], _mm512_permutex2var_pd(t1, odd, t3));
}

/// Eight columns as rows of eight numbers.
static ALWAYS_INLINE void lanes_to_rows(const lanes in[8], __m512d out[8])
{
    __m512d t[8];
    for (int k = 0; k < 8; k += 2) {
        t[k] = _mm512_unpacklo_pd(in[k], in[k + 1]);
        t[k + 1] = _mm512_unpackhi_pd(in[k], in[k + 1]);
    }
    for (int k = 0; k < 2; k++) {
        const __m512d low = _mm512_shuffle_f64x2(t[k], t[2 + k], 0x88);
        const __m512d high = _mm512_shuffle_f64x2(t[k], t[2 + k], 0xdd);
        const __m512d low2 = _mm512_shuffle_f64x2(t[4 + k], t[6 + k], 0x88);
        const __m512d high2 = _mm512_shuffle_f64x2(t[4 + k], t[6 + k], 0xdd);
        out[k] = _mm512_shuffle_f64x2(low, low2, 0x88);
        out[2 + k] = _mm512_shuffle_f64x2(high, high2, 0x88);
        out[4 + k] = _mm512_shuffle_f64x2(low, low2, 0xdd);
        out[6 + k] = _mm512_shuffle_f64x2(high, high2, 0xdd);
    }
}

/// Add eight columns to rows of eight numbers, which begin at the numbers of_a and of_b: lane after
/// lane a, then b, so that sums have one order for every width.
static ALWAYS_INLINE void lanes_add_rows(real* rows, const int32_t* of_a, const lanes a[8],
                                         const int32_t* of_b, const lanes b[8])
{
    __m512d on_a[8], on_b[8];
    lanes_to_rows(a, on_a);
    lanes_to_rows(b, on_b);
    for (int k = 0; k < 8; k++) {
        double* row = rows + of_a[k];
        _mm512_store_pd(row, _mm512_load_pd(row) + on_a[k]);
        row = rows + of_b[k];
        _mm512_store_pd(row, _mm512_load_pd(row) + on_b[k]);
    }
}

#elif defined __AVX2__
#include <immintrin.h>
#define LANE_WIDTH 4
typedef __m256d lanes;
typedef __m256d lane_mask;

static ALWAYS_INLINE lanes lanes_set(double x)
{
    return _mm256_set1_pd(x);
}
static ALWAYS_INLINE lanes lanes_load(const real* x)
{
    return _mm256_load_pd(x);
}
static ALWAYS_INLINE void lanes_store(real* to, lanes x)
{
    _mm256_store_pd(to, x);
}
static ALWAYS_INLINE lanes lanes_max0(lanes x)
{
    return _mm256_max_pd(x, _mm256_setzero_pd());
}
static ALWAYS_INLINE lanes lanes_sqrt(lanes x)
{
    return _mm256_sqrt_pd(x);
}
static ALWAYS_INLINE lanes lanes_abs(lanes x)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}
static ALWAYS_INLINE lane_mask lanes_more(lanes a, lanes b)
{
    return _mm256_cmp_pd(a, b, _CMP_GT_OQ);
}
static ALWAYS_INLINE lane_mask mask_and(lane_mask a, lane_mask b)
{
    return _mm256_and_pd(a, b);
}
static ALWAYS_INLINE lane_mask mask_or(lane_mask a, lane_mask b)
{
    return _mm256_or_pd(a, b);
}
static ALWAYS_INLINE lane_mask mask_but(lane_mask a, lane_mask b)
{
    return _mm256_andnot_pd(b, a);
}
static ALWAYS_INLINE unsigned mask_bits(lane_mask a)
{
    return (unsigned)_mm256_movemask_pd(a);
}
static ALWAYS_INLINE lane_mask mask_of_bits(unsigned bits)
{
    const __m256i own = _mm256_setr_epi64x(1, 2, 4, 8);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi64x((long long)bits), own);
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, own));
}
static ALWAYS_INLINE lanes lanes_pick(lane_mask mask, lanes x, lanes y)
{
    return _mm256_blendv_pd(y, x, mask);
}

static ALWAYS_INLINE void lanes_transpose(lanes x[4])
{
    const __m256d t0 = _mm256_unpacklo_pd(x[0], x[1]), t1 = _mm256_unpackhi_pd(x[0], x[1]);
    const __m256d t2 = _mm256_unpacklo_pd(x[2], x[3]), t3 = _mm256_unpackhi_pd(x[2], x[3]);
    x[0] = _mm256_permute2f128_pd(t0, t2, 0x20);
    x[1] = _mm256_permute2f128_pd(t1, t3, 0x20);
    x[2] = _mm256_permute2f128_pd(t0, t2, 0x31);
    x[3] = _mm256_permute2f128_pd(t1, t3, 0x31);
}

static ALWAYS_INLINE void lanes_load_rows(const real* rows, const int stride, const int at,
                                          const int32_t* who, lanes out[4])
{
    for (int k = 0; k < 4; k++) out[k] = _mm256_load_pd(rows + (int64_t)who[k] * stride + at);
    lanes_transpose(out);
}

static ALWAYS_INLINE void lanes_store_rows(real* rows, const int stride, const int at,
                                           const int32_t* who, const lanes in[4])
{
    lanes x[4] = {in[0], in[1], in[2], in[3]};
    lanes_transpose(x);
    for (int k = 0; k < 4; k++) _mm256_store_pd(rows + (int64_t)who[k] * stride + at, x[k]);
}

static ALWAYS_INLINE void lanes_add_rows(real* rows, const int32_t* of_a, const lanes a[8],
                                         const int32_t* of_b, const lanes b[8])
{
    lanes on_a[8], on_b[8];
    for (int k = 0; k < 8; k++) on_a[k] = a[k], on_b[k] = b[k];
    for (int k = 0; k < 8; k += 4) lanes_transpose(on_a + k), lanes_transpose(on_b + k);
    for (int k = 0; k < 4; k++) {
        for (int half = 0; half < 8; half += 4) {
            double* row = rows + of_a[k] + half;
            _mm256_store_pd(row, _mm256_load_pd(row) + on_a[half + k]);
        }
        for (int half = 0; half < 8; half += 4) {
            double* row = rows + of_b[k] + half;
            _mm256_store_pd(row, _mm256_load_pd(row) + on_b[half + k]);
        }
    }
}

#else
#define LANE_WIDTH 1
typedef real lanes;
typedef bool lane_mask;

static ALWAYS_INLINE lanes lanes_set(double x)
{
    return (real)x;
}
static ALWAYS_INLINE lanes lanes_load(const real* x)
{
    return *x;
}
static ALWAYS_INLINE void lanes_store(real* to, lanes x)
{
    *to = x;
}
static ALWAYS_INLINE lanes lanes_max0(lanes x)
{
    return x > (real)0 ? x : (real)0;
}
static ALWAYS_INLINE lanes lanes_sqrt(lanes x)
{
    return (real)sqrt((double)x); // of a float: rounded twice, the same bits
}
static ALWAYS_INLINE lanes lanes_abs(lanes x)
{
    return (real)fabs((double)x);
}
static ALWAYS_INLINE lane_mask lanes_more(lanes a, lanes b)
{
    return a > b;
}
static ALWAYS_INLINE lane_mask mask_and(lane_mask a, lane_mask b)
{
    return a && b;
}
static ALWAYS_INLINE lane_mask mask_or(lane_mask a, lane_mask b)
{
    return a || b;
}
static ALWAYS_INLINE lane_mask mask_but(lane_mask a, lane_mask b)
{
    return a && !b;
}
static ALWAYS_INLINE unsigned mask_bits(lane_mask a)
{
    return a;
}
static ALWAYS_INLINE lane_mask mask_of_bits(unsigned bits)
{
    return bits & 1;
}
static ALWAYS_INLINE lanes lanes_pick(lane_mask mask, lanes x, lanes y)
{
    return mask ? x : y;
}
/// Parts of rows lie at multiples of four numbers: vectors are read so, and a card reads two of
/// them at a time if it knows.
static ALWAYS_INLINE const real* four_aligned(const real* part)
{
#ifdef CARD_EMULATED
    assert((uintptr_t)part % (4 * sizeof *part) == 0);
#endif
    return (const real*)__builtin_assume_aligned(part, 4 * sizeof *part);
}
static ALWAYS_INLINE void lanes_load_rows(const real* rows, const int stride, const int at,
                                          const int32_t* who, lanes out[4])
{
    const real* four = four_aligned(rows + (int64_t)who[0] * stride + at);
    for (int k = 0; k < 4; k++) out[k] = four[k];
}
static ALWAYS_INLINE void lanes_store_rows(real* rows, const int stride, const int at,
                                           const int32_t* who, const lanes in[4])
{
    real* four = (real*)four_aligned(rows + (int64_t)who[0] * stride + at);
    for (int k = 0; k < 4; k++) four[k] = in[k];
}
static ALWAYS_INLINE void lanes_add_rows(real* rows, const int32_t* of_a, const lanes a[8],
                                         const int32_t* of_b, const lanes b[8])
{
    for (int k = 0; k < 8; k++) rows[of_a[0] + k] += a[k];
    for (int k = 0; k < 8; k++) rows[of_b[0] + k] += b[k];
}
#endif

/// Unroll the loop that follows, so that an array of lanes in it can be registers.
#if defined __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/// a > b ? x : y
static ALWAYS_INLINE lanes lanes_if_greater(lanes a, lanes b, lanes x, lanes y)
{
    return lanes_pick(lanes_more(a, b), x, y);
}

/// The larger of two; b if either is no number.
static ALWAYS_INLINE lanes lanes_larger(lanes a, lanes b)
{
    return lanes_if_greater(a, b, a, b);
}

#endif

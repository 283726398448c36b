/// Eight floats at once: the operations of lanes.h, which includes this, for single precision. One
/// 256-bit register holds a whole batch, with AVX2 as with AVX-512.
#ifndef TALUS_BASE_LANES_SINGLE_H
#define TALUS_BASE_LANES_SINGLE_H

#include <immintrin.h>
#define LANE_WIDTH 8
typedef __m256 lanes;
typedef __m256 lane_mask;

static ALWAYS_INLINE lanes lanes_set(double x)
{
    return _mm256_set1_ps((float)x);
}
static ALWAYS_INLINE lanes lanes_load(const real* x)
{
    return _mm256_load_ps(x);
}
static ALWAYS_INLINE void lanes_store(real* to, lanes x)
{
    _mm256_store_ps(to, x);
}
static ALWAYS_INLINE lanes lanes_max0(lanes x)
{
    return _mm256_max_ps(x, _mm256_setzero_ps());
}
static ALWAYS_INLINE lanes lanes_sqrt(lanes x)
{
    return _mm256_sqrt_ps(x);
}
static ALWAYS_INLINE lanes lanes_abs(lanes x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}
static ALWAYS_INLINE lane_mask lanes_more(lanes a, lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}
static ALWAYS_INLINE lane_mask mask_and(lane_mask a, lane_mask b)
{
    return _mm256_and_ps(a, b);
}
static ALWAYS_INLINE lane_mask mask_or(lane_mask a, lane_mask b)
{
    return _mm256_or_ps(a, b);
}
static ALWAYS_INLINE lane_mask mask_but(lane_mask a, lane_mask b)
{
    return _mm256_andnot_ps(b, a);
}
static ALWAYS_INLINE unsigned mask_bits(lane_mask a)
{
    return (unsigned)_mm256_movemask_ps(a);
}
static ALWAYS_INLINE lane_mask mask_of_bits(unsigned bits)
{
    const __m256i own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi32((int)bits), own);
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, own));
}
static ALWAYS_INLINE lanes lanes_pick(lane_mask mask, lanes x, lanes y)
{
    return _mm256_blendv_ps(y, x, mask);
}

/// Transpose the two 4 x 4 tiles of the register halves.
static ALWAYS_INLINE void lanes_transpose(lanes x[4])
{
    const __m256 t0 = _mm256_unpacklo_ps(x[0], x[1]), t1 = _mm256_unpackhi_ps(x[0], x[1]);
    const __m256 t2 = _mm256_unpacklo_ps(x[2], x[3]), t3 = _mm256_unpackhi_ps(x[2], x[3]);
    x[0] = _mm256_shuffle_ps(t0, t2, 0x44);
    x[1] = _mm256_shuffle_ps(t0, t2, 0xee);
    x[2] = _mm256_shuffle_ps(t1, t3, 0x44);
    x[3] = _mm256_shuffle_ps(t1, t3, 0xee);
}

static ALWAYS_INLINE void lanes_load_rows(const real* rows, const int stride, const int at,
                                          const int32_t* who, lanes out[4])
{
    for (int k = 0; k < 4; k++) {
        const __m128 low = _mm_load_ps(rows + (int64_t)who[k] * stride + at);
        const __m128 high = _mm_load_ps(rows + (int64_t)who[k + 4] * stride + at);
        out[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
    }
    lanes_transpose(out);
}

static ALWAYS_INLINE void lanes_store_rows(real* rows, const int stride, const int at,
                                           const int32_t* who, const lanes in[4])
{
    lanes x[4] = {in[0], in[1], in[2], in[3]};
    lanes_transpose(x);
    for (int k = 0; k < 4; k++) {
        _mm_store_ps(rows + (int64_t)who[k] * stride + at, _mm256_castps256_ps128(x[k]));
        _mm_store_ps(rows + (int64_t)who[k + 4] * stride + at, _mm256_extractf128_ps(x[k], 1));
    }
}

#endif

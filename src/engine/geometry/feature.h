/// The name of a contact between two bodies: which features touch. It stays the same as long as
/// they do, so that impulses can be carried over from step to step.
///
/// From the top: image of a wall (5 bits), part of a (8), part of b (8), kind (2), feature of a
/// (20), feature of b (16). A contact between balls has the name 0.
#ifndef TALUS_GEOMETRY_FEATURE_H
#define TALUS_GEOMETRY_FEATURE_H

#include <stdint.h>

typedef enum feature_kind {
    FEATURE_SURFACE = 0, ///< balls and analytic walls: feature of a wall, corner of b
    FEATURE_VERTEX_FACE, ///< corner of a on a face of b
    FEATURE_FACE_VERTEX, ///< face of a under a corner of b
    FEATURE_EDGE_EDGE,   ///< also where corners meet corners or edges: see the file that made it
} feature_kind;

enum { FEATURE_B_BITS = 16, FEATURE_A_BITS = 20, FEATURE_KIND_BITS = 2, FEATURE_PART_BITS = 8 };

static inline int64_t feature_make(feature_kind kind, int64_t of_a, int64_t of_b)
{
    return ((int64_t)kind << (FEATURE_A_BITS + FEATURE_B_BITS)) | (of_a << FEATURE_B_BITS) | of_b;
}

/// The same contact between part `a` and part `b` of two solids.
static inline int64_t feature_of_parts(int64_t feature, int a, int b)
{
    const int shift = FEATURE_A_BITS + FEATURE_B_BITS + FEATURE_KIND_BITS;
    return feature | ((int64_t)a << (shift + FEATURE_PART_BITS)) | ((int64_t)b << shift);
}

/// The same contact with an image of a wall; image 0 is the nearest.
static inline int64_t feature_of_image(int64_t feature, int image)
{
    const int shift = FEATURE_A_BITS + FEATURE_B_BITS + FEATURE_KIND_BITS + 2 * FEATURE_PART_BITS;
    return feature | ((int64_t)image << shift);
}

static inline int64_t feature_bits(int64_t feature, int shift, int bits)
{
    return (feature >> shift) & ((INT64_C(1) << bits) - 1);
}
static inline int feature_b(int64_t feature)
{
    return (int)feature_bits(feature, 0, FEATURE_B_BITS);
}
static inline int feature_a(int64_t feature)
{
    return (int)feature_bits(feature, FEATURE_B_BITS, FEATURE_A_BITS);
}
static inline feature_kind feature_kind_of(int64_t feature)
{
    return (feature_kind)feature_bits(feature, FEATURE_A_BITS + FEATURE_B_BITS, FEATURE_KIND_BITS);
}
static inline int feature_part_b(int64_t feature)
{
    return (int)feature_bits(feature, FEATURE_A_BITS + FEATURE_B_BITS + FEATURE_KIND_BITS,
                             FEATURE_PART_BITS);
}
static inline int feature_part_a(int64_t feature)
{
    const int shift = FEATURE_A_BITS + FEATURE_B_BITS + FEATURE_KIND_BITS + FEATURE_PART_BITS;
    return (int)feature_bits(feature, shift, FEATURE_PART_BITS);
}
static inline int feature_image(int64_t feature)
{
    const int shift = FEATURE_A_BITS + FEATURE_B_BITS + FEATURE_KIND_BITS + 2 * FEATURE_PART_BITS;
    return (int)feature_bits(feature, shift, 5);
}
/// The name without image and parts.
static inline int64_t feature_bare(int64_t feature)
{
    return feature_bits(feature, 0, FEATURE_A_BITS + FEATURE_B_BITS + FEATURE_KIND_BITS);
}

#endif

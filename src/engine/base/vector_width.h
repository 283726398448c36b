/// Which instruction sets this machine has: the one place that asks it.
///
/// Kernels exist once for each width, or functions in several copies. All give the same bits.
#ifndef TALUS_BASE_VECTOR_WIDTH_H
#define TALUS_BASE_VECTOR_WIDTH_H

#include <stdbool.h>
#include <talus/solver.h>

/// Can this machine compute with this width?
bool vector_width_is_there(talus_vector_width width);

/// Of three sets of kernels the one of a width; the widest that there is for TALUS_VECTOR_BEST.
/// NULL if the machine does not have the width or the set is NULL.
const void* vector_width_pick(talus_vector_width width, const void* portable, const void* avx2,
                              const void* avx512);

/// The same for sets called name_portable, name_avx2 and name_avx512; the last two exist only where
/// TALUS_X86_KERNELS is defined (CMakeLists.txt).
#ifdef TALUS_X86_KERNELS
#define VECTOR_WIDTH_PICK(width, name)                                                             \
    vector_width_pick(width, &name##_portable, &name##_avx2, &name##_avx512)
#else
#define VECTOR_WIDTH_PICK(width, name) vector_width_pick(width, &name##_portable, NULL, NULL)
#endif

/// Copies of a function for machines with AVX2 and with AVX-512.
#ifdef __x86_64__
#define FOR_AVX2 __attribute__((target("avx2")))
#define FOR_AVX512 __attribute__((target("avx2,avx512f")))
#else
#define FOR_AVX2
#define FOR_AVX512
#endif

#endif

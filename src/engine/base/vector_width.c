/// Which instruction sets this machine has.
#include "base/vector_width.h"

#include <stddef.h>

bool vector_width_is_there(talus_vector_width width)
{
    switch (width) {
#ifdef __x86_64__
    case TALUS_VECTOR_AVX2: return __builtin_cpu_supports("avx2");
    case TALUS_VECTOR_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
    case TALUS_VECTOR_AVX2:
    case TALUS_VECTOR_AVX512: return false;
#endif
    default: return true;
    }
}

const void* vector_width_pick(talus_vector_width width, const void* portable, const void* avx2,
                              const void* avx512)
{
    if (!vector_width_is_there(TALUS_VECTOR_AVX2)) avx2 = NULL;
    if (!vector_width_is_there(TALUS_VECTOR_AVX512)) avx512 = NULL;
    switch (width) {
    case TALUS_VECTOR_PORTABLE: return portable;
    case TALUS_VECTOR_AVX2: return avx2;
    case TALUS_VECTOR_AVX512: return avx512;
    case TALUS_VECTOR_BEST: break;
    }
    return avx512 ? avx512 : avx2 ? avx2 : portable;
}

/// Which vector width a solve uses: the widest that this machine has, or the one asked for.
#include "rigid/packed/packed.h"

extern const packed_kernels packed_kernels_portable;
#ifdef TALUS_X86_KERNELS
extern const packed_kernels packed_kernels_avx2, packed_kernels_avx512;

const packed_kernels* packed_kernels_for(talus_vector_width width)
{
    const bool avx2 = __builtin_cpu_supports("avx2");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    switch (width) {
    case TALUS_VECTOR_PORTABLE: return &packed_kernels_portable;
    case TALUS_VECTOR_AVX2: return avx2 ? &packed_kernels_avx2 : NULL;
    case TALUS_VECTOR_AVX512: return avx512 ? &packed_kernels_avx512 : NULL;
    case TALUS_VECTOR_BEST: break;
    }
    return avx512 ? &packed_kernels_avx512 : avx2 ? &packed_kernels_avx2 : &packed_kernels_portable;
}
#else
const packed_kernels* packed_kernels_for(talus_vector_width width)
{
    return width == TALUS_VECTOR_BEST || width == TALUS_VECTOR_PORTABLE ? &packed_kernels_portable
                                                                        : NULL;
}
#endif

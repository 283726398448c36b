/// Which vector width a solve uses: the widest that this machine has, or the one asked for.
#include "base/vector_width.h"
#include "rigid/packed/packed.h"

extern const packed_kernels packed_kernels_portable, packed_kernels_avx2, packed_kernels_avx512;

const packed_kernels* packed_kernels_for(talus_vector_width width)
{
    return VECTOR_WIDTH_PICK(width, packed_kernels);
}

/// Which vector width the soft method uses: the widest that this machine has, or the one asked for.
#include "base/vector_width.h"
#include "soft/kernels.h"

extern const soft_kernels soft_kernels_portable, soft_kernels_avx2, soft_kernels_avx512;

const soft_kernels* soft_kernels_for(talus_vector_width width)
{
    return VECTOR_WIDTH_PICK(width, soft_kernels);
}

/// The packed sweeps in single precision for AVX-512; compiled with that instruction set
/// (CMakeLists.txt).
#define SINGLE_PRECISION
#include "rigid/packed/kernel.h"

void packed_sweep_single_avx512(packed_problem* packed, int64_t block, const packed_manner* manner,
                                packed_sums* sums)
{
    sweep_any(packed, block, manner, sums);
}

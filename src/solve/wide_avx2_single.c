/// The packed sweeps in single precision for AVX2; compiled with that instruction set
/// (CMakeLists.txt).
#define WIDE_SINGLE
#include "solve/wide_kernel.h"

void wide_sweep_single_avx2(wide* w, int64_t block, bool momentum, double beta, wide_sums* sums)
{
    sweep_any(w, block, momentum, beta, sums);
}

/// The packed sweeps for AVX2; compiled with that instruction set (CMakeLists.txt).
#include "solve/wide_apply.h"
#include "solve/wide_kernel.h"

const wide_kernels wide_kernels_avx2 = {
    .name = "avx2", .sweep = sweep_any, .sweep_single = wide_sweep_single_avx2, .apply = apply_any};

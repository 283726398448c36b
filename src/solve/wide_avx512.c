/// The packed sweeps for AVX-512; compiled with that instruction set (CMakeLists.txt).
#include "solve/wide_apply.h"
#include "solve/wide_kernel.h"

const wide_kernels wide_kernels_avx512 = {.name = "avx512",
                                          .sweep = sweep_any,
                                          .sweep_single = wide_sweep_single_avx512,
                                          .apply = apply_any};

/// The packed sweeps for AVX-512; compiled with that instruction set (CMakeLists.txt).
#include "rigid/packed/apply.h"
#include "rigid/packed/kernel.h"

const packed_kernels packed_kernels_avx512 = {.name = "avx512",
                                              .sweep = sweep_any,
                                              .sweep_single = packed_sweep_single_avx512,
                                              .apply = apply_any};

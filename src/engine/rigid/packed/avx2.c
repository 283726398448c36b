/// The packed sweeps for AVX2; compiled with that instruction set (CMakeLists.txt).
#include "rigid/packed/apply.h"
#include "rigid/packed/kernel.h"

const packed_kernels packed_kernels_avx2 = {.name = "avx2",
                                            .sweep = sweep_any,
                                            .sweep_single = packed_sweep_single_avx2,
                                            .apply = apply_any};

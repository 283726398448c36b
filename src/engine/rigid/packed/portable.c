/// The packed sweeps for any machine; no special instructions.
#include "rigid/packed/apply.h"
#include "rigid/packed/kernel.h"

const packed_kernels packed_kernels_portable = {.name = "portable",
                                                .sweep = sweep_any,
                                                .sweep_single = packed_sweep_single_portable,
                                                .apply = apply_any};

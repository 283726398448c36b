/// The packed sweeps for any machine; no special instructions.
#include "solve/wide_apply.h"
#include "solve/wide_kernel.h"

const wide_kernels wide_kernels_portable = {.name = "portable",
                                            .sweep = sweep_any,
                                            .sweep_single = wide_sweep_single_portable,
                                            .apply = apply_any};

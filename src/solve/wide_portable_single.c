/// The packed sweeps in single precision for any machine; no special instructions.
#define WIDE_SINGLE
#include "solve/wide_kernel.h"

void wide_sweep_single_portable(wide* w, int64_t block, bool momentum, double beta, wide_sums* sums)
{
    sweep_any(w, block, momentum, beta, sums);
}

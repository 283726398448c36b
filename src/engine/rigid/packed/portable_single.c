/// The packed sweeps in single precision for any machine; no special instructions.
#define PACKED_SINGLE
#include "rigid/packed/kernel.h"

void packed_sweep_single_portable(packed* w, int64_t block, bool momentum, double beta,
                                  packed_sums* sums)
{
    sweep_any(w, block, momentum, beta, sums);
}

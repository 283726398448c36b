/// Batches that may be left out of sweeps because all of their contacts are open.
#ifndef TALUS_RIGID_PACKED_SKIP_H
#define TALUS_RIGID_PACKED_SKIP_H

#include "rigid/packed/lanes.h"

/// Numbers of all lanes are looked at together: nobody waits for memory at each of them.
static ALWAYS_INLINE bool all_zero(const real* x, const real* z, int count)
{
    for (int i = 0; i < count; i += PACKED_LANES) {
        int used = 0;
        UNROLLED for (int k = i; k < i + PACKED_LANES; k++) used |= (x[k] != 0) | (z[k] != 0);
        if (used) return false;
    }
    return true;
}

/// Contacts of a batch if none of them has an impulse or had one in the sweep before, else 0: then
/// momentum does nothing to them either, and the batch may be left out until it is looked at again.
/// Laws that are solved one by one keep torques elsewhere; they are always looked at.
static ALWAYS_INLINE uint8_t stays_open(const packed_problem* packed, const int dim, int64_t batch)
{
    const int kind = packed->batches[batch].kind, numbers = dim * PACKED_LANES;
    const int torques = spin_width(dim) * PACKED_LANES;
    const int64_t at = batch * numbers;
    if (kind == PACKED_SCALAR || !all_zero(values_of(packed, PACKED_IMPULSE) + at,
                                           values_of(packed, PACKED_OLD_IMPULSE) + at, numbers)) {
        return 0;
    }
    if (packed_has_torques(kind)) {
        const int64_t torque = packed_torque_at(packed, dim, batch);
        if (!all_zero(values_of(packed, PACKED_TORQUE) + torque,
                      values_of(packed, PACKED_OLD_TORQUE) + torque, torques)) {
            return 0;
        }
    }
    int contacts = 0;
    for (int i = 0; i < PACKED_LANES; i++) {
        contacts += packed->source[batch * PACKED_LANES + i] >= 0;
    }
    return (uint8_t)contacts;
}

#endif

/// The arrays that the packed sweeps work on, of the precision that the including file chose
/// (base/real.h).
#ifndef TALUS_RIGID_PACKED_REAL_H
#define TALUS_RIGID_PACKED_REAL_H

#include "base/real.h"
#include "rigid/packed/packed.h"

static ALWAYS_INLINE real* values_of(const packed* w, const packed_array array)
{
#ifdef PACKED_SINGLE
    return w->narrow[array];
#else
    return w->values[array];
#endif
}

/// Constants of a batch.
static ALWAYS_INLINE real* constants_of(const packed* w, const int kind, const int dim,
                                        int64_t batch)
{
    return values_of(w, packed_array_of(kind)) + packed_constants_at(w, kind, dim, batch);
}

/// Update a contact of a batch by itself, whatever its law (packed_update_scalar()).
static ALWAYS_INLINE real update_alone(packed* w, int64_t batch, int lane, bool momentum,
                                       double beta, const real* y, real* x)
{
#ifdef PACKED_SINGLE
    return packed_update_scalar_single(w, batch, lane, momentum, beta, y, x);
#else
    return packed_update_scalar(w, batch, lane, momentum, beta, y, x);
#endif
}

/// A constant that is `exact` in double precision and `coarse` in single.
#define BY_PRECISION(exact, coarse) (sizeof(real) == sizeof(double) ? (exact) : (coarse))

#endif

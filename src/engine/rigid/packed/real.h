/// The arrays that the packed sweeps work on, of the precision that the including file chose
/// (base/real.h).
#ifndef TALUS_RIGID_PACKED_REAL_H
#define TALUS_RIGID_PACKED_REAL_H

#include "base/real.h"
#include "rigid/packed/packed.h"

static ALWAYS_INLINE real* values_of(const packed_problem* packed, const packed_array array)
{
#ifdef SINGLE_PRECISION
    return packed->floats[array];
#else
    return packed->values[array];
#endif
}

/// Constants of a batch.
static ALWAYS_INLINE real* constants_of(const packed_problem* packed, const int kind, const int dim,
                                        int64_t batch)
{
    return values_of(packed, packed_array_of(kind)) + packed_constants_at(packed, kind, dim, batch);
}

/// Update a contact of a batch by itself, whatever its law (packed_update_scalar()).
static ALWAYS_INLINE real update_alone(packed_problem* packed, int64_t batch, int lane,
                                       bool momentum, double beta, const real* y, real* x)
{
#ifdef SINGLE_PRECISION
    return packed_update_scalar_single(packed, batch, lane, momentum, beta, y, x);
#else
    return packed_update_scalar(packed, batch, lane, momentum, beta, y, x);
#endif
}

/// A constant that is `exact` in double precision and `coarse` in single.
#define BY_PRECISION(exact, coarse) (sizeof(real) == sizeof(double) ? (exact) : (coarse))

#endif

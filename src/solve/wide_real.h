/// The numbers that the packed sweeps work on: double, or float in the files that define
/// WIDE_SINGLE before they include the kernels. Every kernel is written once, in terms of `real`.
#ifndef TALUS_SOLVE_WIDE_REAL_H
#define TALUS_SOLVE_WIDE_REAL_H

#include "solve/wide.h"

#ifdef WIDE_SINGLE
typedef float real;
#else
typedef double real;
#endif

static ALWAYS_INLINE real* values_of(const wide* w, const wide_array array)
{
#ifdef WIDE_SINGLE
    return w->narrow[array];
#else
    return w->values[array];
#endif
}

/// Constants of a batch.
static ALWAYS_INLINE real* constants_of(const wide* w, const int kind, const int dim, int64_t batch)
{
    return values_of(w, wide_array_of(kind)) + wide_constants_at(w, kind, dim, batch);
}

/// Update a contact of a batch by itself, whatever its law (wide_update_scalar()).
static ALWAYS_INLINE real update_alone(wide* w, int64_t batch, int lane, bool momentum, double beta,
                                       const real* y, real* x)
{
#ifdef WIDE_SINGLE
    return wide_update_scalar_single(w, batch, lane, momentum, beta, y, x);
#else
    return wide_update_scalar(w, batch, lane, momentum, beta, y, x);
#endif
}

/// A constant that is `exact` in double precision and `coarse` in single.
#define BY_PRECISION(exact, coarse) (sizeof(real) == sizeof(double) ? (exact) : (coarse))

#endif

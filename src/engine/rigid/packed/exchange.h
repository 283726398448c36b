/// What goes from a problem into batches and back, for those who pack (pack.c), sweep over what is
/// packed (packed.c) and solve contacts one by one (alone.c).
#ifndef TALUS_RIGID_PACKED_EXCHANGE_H
#define TALUS_RIGID_PACKED_EXCHANGE_H

#include "rigid/packed/unpack.h"

/// Constants of a batch.
static ALWAYS_INLINE double* packed_constants(const packed_problem* packed, int kind, int dim,
                                              int64_t batch)
{
    return packed->values[packed_array_of(kind)] + packed_constants_at(packed, kind, dim, batch);
}

/// Torque impulse of a lane of a batch that has torques, [1 or 3] with a stride of lanes.
static ALWAYS_INLINE double* packed_torque(const packed_problem* packed, int64_t batch, int lane)
{
    return packed->values[PACKED_TORQUE] + packed_torque_at(packed, packed->dim, batch) + lane;
}

/// Normal and tangent of a contact in the plane.
static ALWAYS_INLINE void pack_impulse(const packed_problem* packed, const double* row,
                                       const double* p, double* out)
{
    if (packed->dim == 3) {
        for (int k = 0; k < 3; k++) out[k * PACKED_LANES] = p[k];
        return;
    }
    out[0] = row[0] * p[0] + row[1] * p[1];
    out[PACKED_LANES] = row[0] * p[1] - row[1] * p[0];
}

/// Contacts lie in the problem in another order than in batches: the memory is told so many batches
/// before one needs its rows.
enum { BATCHES_AHEAD = 3 };

static ALWAYS_INLINE void tell_memory(const packed_problem* packed, int64_t batch, bool write)
{
    const int width = problem_width(packed->dim);
    const int64_t next = batch + BATCHES_AHEAD;
    if (next >= packed->batch_count) return;
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        const int64_t c = packed->source[next * PACKED_LANES + lane];
        const double* row = packed->problem->contact + (c < 0 ? 0 : c) * width;
        if (write) {
            __builtin_prefetch(row + width - 1, 1); // impulses come last
        } else {
            __builtin_prefetch(row);
            __builtin_prefetch(row + width - 1);
        }
    }
}

/// Take the free velocity of a packed row from the problem.
void packed_take_row(packed_problem* packed, int64_t r);
/// The torque of a lane of a batch that has torques, as the problem has it.
void packed_unpack_torque(const packed_problem* packed, int64_t c, int64_t batch, int lane,
                          double* out);

#endif

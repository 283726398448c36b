/// From packed impulses and velocities back to those of the problem, for the CPU and for cards.
#ifndef TALUS_RIGID_PACKED_UNPACK_H
#define TALUS_RIGID_PACKED_UNPACK_H

#include "rigid/packed/packed.h"

/// The impulse of a lane, `in` with the stride of lanes, along the axes; `row` is the contact's.
static ALWAYS_INLINE void unpack_impulse(const int dim, const double* row, const double* in,
                                         double* p)
{
    if (dim == 3) {
        for (int k = 0; k < 3; k++) p[k] = in[k * PACKED_LANES];
        return;
    }
    const double pn = in[0], pt = in[PACKED_LANES];
    p[0] = pn * row[0] - pt * row[1];
    p[1] = pn * row[1] + pt * row[0];
}

/// A packed row as a row of the problem p.
static ALWAYS_INLINE void unpack_row(const packed_problem* packed, const problem* p, const int dim,
                                     int64_t r, double* body)
{
    const double* row = packed->values[PACKED_ROW] + r * packed_stride(dim);
    const double* source = p->free + (int64_t)packed->body_of[r] * problem_stride(dim);
    if (dim == 3) {
        for (int k = 0; k < 8; k++) body[k] = row[k];
        return;
    }
    vec_copy(2, body, row);
    body[row_im(2)] = row[3];
    body[row_w(2)] = row[2] / packed->values[PACKED_SPIN_SCALE][r];
    body[row_kim(2)] = source[row_kim(2)];
}

#endif

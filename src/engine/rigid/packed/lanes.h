/// What all kinds of batches share: their bodies as lanes, and momentum.
#ifndef TALUS_RIGID_PACKED_LANES_H
#define TALUS_RIGID_PACKED_LANES_H

#include "base/lanes.h"
#include "rigid/packed/real.h"

enum { PARTS = PACKED_LANES / LANE_WIDTH }; ///< vectors in a batch

/// The two bodies of a contact as lanes. 3D: v, im, w, kim; 2D: v, w, im.
typedef struct packed_bodies {
    lanes a[8], b[8];
} packed_bodies;

static ALWAYS_INLINE void load_bodies(const int dim, const real* rows, const int32_t* who,
                                      packed_bodies* x)
{
    const int stride = packed_stride(dim);
    lanes_load_rows(rows, stride, 0, who, x->a);
    lanes_load_rows(rows, stride, 0, who + PACKED_LANES, x->b);
    if (dim == 3) {
        lanes_load_rows(rows, stride, 4, who, x->a + 4);
        lanes_load_rows(rows, stride, 4, who + PACKED_LANES, x->b + 4);
    }
}

static ALWAYS_INLINE void store_bodies(const int dim, real* rows, const int32_t* who,
                                       const packed_bodies* x)
{
    const int stride = packed_stride(dim);
    lanes_store_rows(rows, stride, 0, who, x->a);
    lanes_store_rows(rows, stride, 0, who + PACKED_LANES, x->b);
    if (dim == 3) {
        lanes_store_rows(rows, stride, 4, who, x->a + 4);
        lanes_store_rows(rows, stride, 4, who + PACKED_LANES, x->b + 4);
    }
}

/// Field i of the constants that k points to, at the lane where the vector begins.
static ALWAYS_INLINE lanes field(const real* k, const int i)
{
    return lanes_load(k + i * PACKED_LANES);
}

/// Product of a symmetric matrix, given by the fields of its upper triangle, with x.
static ALWAYS_INLINE void symmetric_times(const int dim, const real* upper, const lanes* x,
                                          lanes* out)
{
    const lanes m0 = field(upper, 0), m1 = field(upper, 1), m2 = field(upper, 2);
    if (dim == 2) {
        out[0] = m0 * x[0] + m1 * x[1];
        out[1] = m1 * x[0] + m2 * x[1];
        return;
    }
    const lanes m3 = field(upper, 3), m4 = field(upper, 4), m5 = field(upper, 5);
    out[0] = m0 * x[0] + m1 * x[1] + m2 * x[2];
    out[1] = m1 * x[0] + m3 * x[1] + m4 * x[2];
    out[2] = m2 * x[0] + m4 * x[1] + m5 * x[2];
}

static ALWAYS_INLINE lanes dot3(const lanes* x, const lanes* y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/// Mobility of a body's translation.
static ALWAYS_INLINE lanes body_im(const lanes* body)
{
    return body[3]; // in both layouts
}

/// How a vector of contacts is swept: packed_manner for lanes.
typedef struct lane_manner {
    bool momentum;
    lanes beta, outlier;
} lane_manner;

/// y = x + beta (x - z), z = x, for numbers of a vector of contacts; `now` receives x. All are read
/// before any is written: a card waits for memory once then.
static ALWAYS_INLINE void extrapolate(const int count, const real* x, real* z,
                                      const lane_manner manner, lanes* now, lanes* y)
{
    for (int i = 0; i < count; i++) {
        now[i] = lanes_load(x + i * PACKED_LANES);
        y[i] = manner.momentum ? lanes_load(z + i * PACKED_LANES) : now[i];
    }
    for (int i = 0; i < count && manner.momentum; i++) {
        y[i] = now[i] + manner.beta * (now[i] - y[i]);
        lanes_store(z + i * PACKED_LANES, now[i]);
    }
}

#endif

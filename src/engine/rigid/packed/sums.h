/// What the contacts do in a sweep: the sums that steer momentum, and contacts that are held.
///
/// Where grains flow a few contacts flip between their states sweep after sweep, thrown over by
/// momentum each time. Half of all change may sit in two contacts of thirty thousand: they keep
/// their neighbours from settling, and as the largest terms of the sums they restart the momentum
/// of everybody. Such a contact is held: its impulse of the sweep before is taken to be the present
/// one, with all that follows for the velocities of its bodies then, so that momentum finds nothing
/// to extrapolate. It is held for 32 sweeps, the next times for 64, 128 and 256.
#ifndef TALUS_RIGID_PACKED_SUMS_H
#define TALUS_RIGID_PACKED_SUMS_H

#include "rigid/packed/lanes.h"

#include <string.h>

/// The sums of packed_sums over the contacts of a vector, lane by lane.
typedef enum sum_of { SUM_CHANGE, SUM_STEP, SUM_TURNING, SUM_IMPULSE, SUMS } sum_of;
typedef struct lane_sums {
    lanes of[SUMS];
} lane_sums;

/// The byte of a contact: eights of sweeps that it is still held, and above these bits how often it
/// has been held, at most HELD_TIMES.
enum { HELD_LEFT = 0x3f, HELD_SHIFT = 6, HELD_TIMES = 3, HELD_FIRST = 4 };

/// Is any contact of a batch held?
static ALWAYS_INLINE bool any_held(const packed_problem* packed, int64_t batch)
{
    uint64_t all;
    memcpy(&all, packed->held + batch * PACKED_LANES, sizeof all);
    return (all & UINT64_C(0x3f3f3f3f3f3f3f3f)) != 0;
}

/// Contacts from `lane` on, of a vector, that are held; none are without momentum.
static ALWAYS_INLINE unsigned held_bits(const packed_problem* packed, int64_t batch, int lane,
                                        const lane_manner manner)
{
    const uint8_t* held = packed->held + batch * PACKED_LANES + lane;
    unsigned bits = 0;
    if (!manner.momentum || (LANE_WIDTH > 1 && !any_held(packed, batch))) return 0;
    for (int i = 0; i < LANE_WIDTH; i++) bits |= (unsigned)((held[i] & HELD_LEFT) > 0) << i;
    return bits;
}

static inline void begin_to_hold(packed_problem* packed, int64_t batch, int lane, unsigned bits)
{
    for (; bits; bits &= bits - 1) {
        uint8_t* held = packed->held + batch * PACKED_LANES + lane + __builtin_ctz(bits);
        const int times = *held >> HELD_SHIFT, next = times < HELD_TIMES ? times + 1 : times;
        *held = (uint8_t)(next << HELD_SHIFT | HELD_FIRST << times);
    }
}

/// Eight more sweeps are over.
static ALWAYS_INLINE void count_held(packed_problem* packed, int64_t batch)
{
    uint8_t* held = packed->held + batch * PACKED_LANES;
    if (!any_held(packed, batch)) return;
    for (int i = 0; i < PACKED_LANES; i++) {
        if ((held[i] & HELD_LEFT) > 0) held[i]--;
    }
}

/// Add what the contacts of a vector, from `lane` on, did; z is the impulse before, without
/// extrapolation. Returns those that are held from now on, besides those that are `held` already.
static ALWAYS_INLINE lane_mask add_to_sums(packed_problem* packed, const int dim, int64_t batch,
                                           int lane, const lane_manner manner, unsigned held,
                                           lanes wn, const lanes* x, const lanes* y, const lanes* z,
                                           lane_sums* sums)
{
    const lanes zero = lanes_set(0.0);
    lanes change = zero, step = zero, turning = zero, impulse = zero;
    lane_mask hold = mask_of_bits(0);
    for (int k = 0; k < dim; k++) {
        const lanes dy = x[k] - y[k], dz = x[k] - z[k];
        change = change + dy * dy;
        step = step + dz * dz;
        turning = turning + dy * dz;
        impulse = impulse + x[k] * x[k];
    }
    change = wn * change;
    turning = wn * turning;
    if (manner.momentum) {
        const lane_mask outliers =
            mask_and(lanes_more(change, manner.outlier), lanes_more(zero, turning));
        const unsigned bits = mask_bits(outliers);
        hold = mask_or(outliers, mask_of_bits(held));
        if (bits != 0) begin_to_hold(packed, batch, lane, bits);
        turning = lanes_pick(hold, zero, turning);
    }
    lanes* sum = sums->of;
    sum[SUM_CHANGE] = sum[SUM_CHANGE] + change;
    sum[SUM_STEP] = sum[SUM_STEP] + wn * step;
    sum[SUM_TURNING] = sum[SUM_TURNING] + turning;
    sum[SUM_IMPULSE] = sum[SUM_IMPULSE] + wn * impulse;
    return hold;
}

/// Make the impulses before, z, of held contacts the present ones, x; dx receives the change, which
/// the velocities before have to follow.
static ALWAYS_INLINE void hold_impulses(const int width, lane_mask hold, const lanes* x,
                                        const lanes* before, real* z, lanes* dx)
{
    for (int i = 0; i < width; i++) {
        dx[i] = lanes_pick(hold, x[i] - before[i], lanes_set(0.0));
        lanes_store(z + i * PACKED_LANES, lanes_pick(hold, x[i], before[i]));
    }
}

#endif

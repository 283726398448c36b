/// The velocities that the impulses of a block make, for the vector width that the including file
/// is compiled with; in double precision only.
#ifndef TALUS_RIGID_PACKED_APPLY_H
#define TALUS_RIGID_PACKED_APPLY_H

#include "rigid/packed/ball.h"
#include "rigid/packed/compound.h"
#include "rigid/packed/roll.h"
#include "rigid/packed/solid.h"

/// Add the impulses of a vector of contacts, `part` of a batch, to the velocities.
static ALWAYS_INLINE void apply_part(packed_problem* packed, const int dim, int64_t batch, int part)
{
    const int kind = packed->batches[batch].kind, lane = part * LANE_WIDTH;
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    const real* p = values_of(packed, PACKED_IMPULSE) + batch * dim * PACKED_LANES + lane;
    const real* k = constants_of(packed, kind, dim, batch) + lane;
    lanes n[3], dp[3];
    packed_bodies o;
    load_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    for (int i = 0; i < dim; i++) {
        n[i] = field(k, i);
        dp[i] = field(p, i);
    }
    if (kind == PACKED_SOLID_BOND) {
        apply_compounds(packed, PACKED_SOLID_BOND, dim, batch, lane, &o);
    } else if (kind == PACKED_SOLID_ROLL) {
        apply_compounds(packed, PACKED_SOLID_ROLL, dim, batch, lane, &o);
    } else if (kind == PACKED_SOLID) {
        const real* arm_a = k + packed_solid_arms(dim) * PACKED_LANES;
        apply_solids(dim, n, arm_a, arm_a + (dim == 2 ? 2 : 9) * PACKED_LANES, dp, &o);
    } else {
        apply_balls(packed, dim, n, dp, &o);
    }
    if (kind == PACKED_ROLL) apply_torques(packed, dim, batch, lane, k, &o);
    store_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
}

static ALWAYS_INLINE void apply_batch(packed_problem* packed, const int dim, int64_t batch)
{
    for (int part = 0; part < PARTS; part++) apply_part(packed, dim, batch, part);
}

/// The velocities that the impulses of a block make, added to those of the blocks before it.
static void apply_any(packed_problem* packed, int64_t number)
{
    const packed_block* block = &packed->blocks[number];
    for (int64_t k = block->first; k < block->last; k++) {
        if (packed->batches[k].kind == PACKED_SCALAR) {
            packed_apply_scalar(packed, k);
        } else if (packed->dim == 2) {
            apply_batch(packed, 2, k);
        } else {
            apply_batch(packed, 3, k);
        }
    }
}

#endif

/// Batches of contacts with full blocks: solids with lever arms (law/coulomb_block.c for lanes).
///
/// Open and stick are one step each; what slides is solved by slide.h. Lanes for which that
/// is not sure to be the answer (a block that is singular to rounding, friction that may wedge the
/// bodies) are left to the scalar law, one by one.
#ifndef TALUS_RIGID_PACKED_SOLID_H
#define TALUS_RIGID_PACKED_SOLID_H

#include "law/coulomb.h"
#include "rigid/packed/slide.h"
#include "rigid/packed/sums.h"

/// Relative velocity at a contact with the fields of its arms; in the plane along normal and
/// tangent.
static ALWAYS_INLINE void solid_velocity(const int dim, const lanes* n, const real* arm_a,
                                         const real* arm_b, const packed_bodies* o, lanes* u)
{
    const lanes *a = o->a, *b = o->b;
    if (dim == 2) {
        const lanes ux = b[0] - a[0], uy = b[1] - a[1];
        u[0] = ux * n[0] + uy * n[1] + field(arm_b, 0) * b[2] - field(arm_a, 0) * a[2];
        u[1] = uy * n[0] - ux * n[1] + field(arm_b, 1) * b[2] - field(arm_a, 1) * a[2];
        return;
    }
    for (int i = 0; i < 3; i++) {
        const lanes turn_a = field(arm_a, 3 * i) * a[4] + field(arm_a, 3 * i + 1) * a[5] +
                             field(arm_a, 3 * i + 2) * a[6];
        const lanes turn_b = field(arm_b, 3 * i) * b[4] + field(arm_b, 3 * i + 1) * b[5] +
                             field(arm_b, 3 * i + 2) * b[6];
        u[i] = b[i] - a[i] + turn_b - turn_a;
    }
}

/// Change of the packed spin by dp, component i: G^T dp.
static ALWAYS_INLINE lanes arm_moment(const int dim, const real* arm, const int i, const lanes* dp)
{
    if (dim == 2) return field(arm, 0) * dp[0] + field(arm, 1) * dp[1];
    return field(arm, i) * dp[0] + field(arm, 3 + i) * dp[1] + field(arm, 6 + i) * dp[2];
}

static ALWAYS_INLINE void apply_solids(const int dim, const lanes* n, const real* arm_a,
                                       const real* arm_b, const lanes* dp, packed_bodies* o)
{
    lanes *a = o->a, *b = o->b;
    if (dim == 2) {
        const lanes dx = dp[0] * n[0] - dp[1] * n[1], dy = dp[0] * n[1] + dp[1] * n[0];
        a[0] = a[0] - a[3] * dx;
        a[1] = a[1] - a[3] * dy;
        a[2] = a[2] - a[3] * arm_moment(2, arm_a, 0, dp);
        b[0] = b[0] + b[3] * dx;
        b[1] = b[1] + b[3] * dy;
        b[2] = b[2] + b[3] * arm_moment(2, arm_b, 0, dp);
        return;
    }
    for (int i = 0; i < 3; i++) {
        a[i] = a[i] - a[3] * dp[i];
        b[i] = b[i] + b[3] * dp[i];
        a[4 + i] = a[4 + i] - a[7] * arm_moment(3, arm_a, i, dp);
        b[4 + i] = b[4 + i] + b[7] * arm_moment(3, arm_b, i, dp);
    }
}

/// Solve one lane with the exact scalar law.
static void solve_lane_alone(const int dim, const real* constants, int lane, const real* alone,
                             const real* guess, real* x)
{
    double f[36], S[9], inverse[9], n[3] = {1.0, 0.0, 0.0}, free[3], from[3], solved[3];
    for (int i = 0; i < packed_fields(PACKED_SOLID, dim); i++)
        f[i] = (double)constants[i * PACKED_LANES + lane];
    const double *upper = f + dim + 3, *upper_inverse = upper + (dim == 2 ? 3 : 6);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            const int low = i < j ? i : j, high = i < j ? j : i;
            const int at = low * dim - low * (low + 1) / 2 + high;
            S[i * dim + j] = upper[at];
            inverse[i * dim + j] = upper_inverse[at];
        }
        if (dim == 3) n[i] = f[i]; // in the plane the axes are normal and tangent already
        free[i] = (double)alone[i * PACKED_LANES + lane];
        from[i] = (double)guess[i * PACKED_LANES + lane];
    }
    coulomb_block(dim, S, inverse, n, f[dim + 1], f[dim + 2], free, from, solved);
    for (int i = 0; i < dim; i++) x[i * PACKED_LANES + lane] = (real)solved[i];
}

/// Hand the lanes of the mask to the scalar law.
static ALWAYS_INLINE void solve_lanes_alone(const int dim, const real* constants, lane_mask mask,
                                            const lanes* alone, const lanes* y, lanes* x)
{
    _Alignas(64) real solved[3 * PACKED_LANES], guess[3 * PACKED_LANES], left[3 * PACKED_LANES];
    for (int i = 0; i < dim; i++) {
        lanes_store(solved + i * PACKED_LANES, x[i]);
        lanes_store(guess + i * PACKED_LANES, y[i]);
        lanes_store(left + i * PACKED_LANES, alone[i]);
    }
    for (unsigned bits = mask_bits(mask); bits; bits &= bits - 1) {
        solve_lane_alone(dim, constants, __builtin_ctz(bits), left, guess, solved);
    }
    for (int i = 0; i < dim; i++) x[i] = lanes_load(solved + i * PACKED_LANES);
}

/// Exact update of a full block: open, stick, slide.
static ALWAYS_INLINE void solve_solids(const int dim, const real* k, const lanes* axis,
                                       const lanes* u, const lanes* y, lanes* x)
{
    const real* upper = k + (dim + 3) * PACKED_LANES;
    const real* inverse = upper + (dim == 2 ? 3 : 6) * PACKED_LANES;
    const lanes bias = field(k, dim + 1), mu = field(k, dim + 2), zero = lanes_set(0.0);
    lanes n[3], own[3], alone[3], target[3], step[3], free_n = bias, pn = zero, tt = zero;
    for (int i = 0; i < dim; i++) n[i] = dim == 3 ? axis[i] : lanes_set(i == 0 ? 1.0 : 0.0);
    symmetric_times(dim, upper, y, own);
    for (int i = 0; i < dim; i++) {
        alone[i] = u[i] - own[i];
        target[i] = u[i] + bias * n[i];
        free_n = free_n + alone[i] * n[i];
    }
    symmetric_times(dim, inverse, target, step);
    for (int i = 0; i < dim; i++) {
        x[i] = y[i] - step[i];
        pn = pn + x[i] * n[i];
    }
    for (int i = 0; i < dim; i++) tt = tt + (x[i] - pn * n[i]) * (x[i] - pn * n[i]);
    const lane_mask closing = lanes_more(zero, free_n),
                    regular = lanes_more(field(inverse, 0), zero);
    const lane_mask holds = mask_and(lanes_more(pn, zero), lanes_more(mu * mu * pn * pn, tt));
    const lane_mask slides = mask_but(closing, mask_and(regular, holds));
    for (int i = 0; i < dim; i++) x[i] = lanes_pick(closing, x[i], zero);
    if (mask_bits(slides) == 0) return;
    const solid_contact contact = {n, upper, mu, free_n, alone};
    const lane_mask wanted = mask_and(slides, regular);
    const lane_mask solved =
        dim == 2 ? slide_2d(&contact, wanted, x) : slide_3d(&contact, wanted, y, x);
    const lane_mask left = mask_but(slides, solved);
    if (mask_bits(left) != 0) solve_lanes_alone(dim, k, left, alone, y, x);
}

static ALWAYS_INLINE void sweep_solids(packed_problem* packed, const int dim, int64_t batch,
                                       int part, const lane_manner manner, lane_sums* sums)
{
    const int arms = packed_solid_arms(dim), arm_size = dim == 2 ? 2 : 9;
    const real* constants = constants_of(packed, PACKED_SOLID, dim, batch);
    real* p = values_of(packed, PACKED_IMPULSE) + batch * dim * PACKED_LANES;
    real* z = values_of(packed, PACKED_OLD_IMPULSE) + batch * dim * PACKED_LANES;
    const int lane = part * LANE_WIDTH;
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    const real* k = constants + lane;
    const real *arm_a = k + arms * PACKED_LANES, *arm_b = arm_a + arm_size * PACKED_LANES;
    lanes n[3], u[3], x[3], y[3], before[3], dp[3];
    packed_bodies o;
    load_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    for (int i = 0; i < dim; i++) n[i] = field(k, i);
    const unsigned held = held_bits(packed, batch, lane, manner);
    extrapolate(dim, p + lane, z + lane, manner, before, y);
    solid_velocity(dim, n, arm_a, arm_b, &o, u);
    solve_solids(dim, k, n, u, y, x);
    for (int i = 0; i < dim; i++) {
        dp[i] = x[i] - y[i];
        lanes_store(p + i * PACKED_LANES + lane, x[i]);
    }
    apply_solids(dim, n, arm_a, arm_b, dp, &o);
    store_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    const lane_mask hold =
        add_to_sums(packed, dim, batch, lane, manner, held, field(k, dim), x, y, before, sums);
    if (mask_bits(hold) != 0) {
        packed_bodies old;
        load_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
        hold_impulses(dim, hold, x, before, z + lane, dp);
        apply_solids(dim, n, arm_a, arm_b, dp, &old);
        store_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
    }
}

#endif

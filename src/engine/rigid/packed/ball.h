/// Batches of contacts of balls: diagonal blocks, so the exact update is a projection
/// (law/coulomb.h). Compound contacts without torques (BOND: cohesion, tangential restitution, two
/// coefficients of friction) only shift it: the normal impulse may pull up to the bond's strength,
/// which also adds to the friction bound, and sticking means u_t + slip = 0 (law/compound.c).
///
/// Cost of an update of two balls in 3D: 2 rows of 64 bytes read and written, mostly in cache; 49
/// bytes of constants and indices read, 24 bytes of impulse read and written, with momentum as much
/// again; about 80 flops, 8 shuffles, two divisions, one more and a square root if a lane slides.
#ifndef TALUS_RIGID_PACKED_BALL_H
#define TALUS_RIGID_PACKED_BALL_H

#include "rigid/packed/sums.h"

/// Add an impulse (normal, tangential) to the velocities of two disks.
static ALWAYS_INLINE void apply_disks(const lanes* n, lanes spin_arm, const lanes* dp,
                                      packed_bodies* o)
{
    lanes *a = o->a, *b = o->b;
    const lanes dx = dp[0] * n[0] - dp[1] * n[1], dy = dp[0] * n[1] + dp[1] * n[0];
    const lanes turn = spin_arm * dp[1];
    a[0] = a[0] - a[3] * dx;
    a[1] = a[1] - a[3] * dy;
    a[2] = a[2] - a[3] * turn;
    b[0] = b[0] + b[3] * dx;
    b[1] = b[1] + b[3] * dy;
    b[2] = b[2] - b[3] * turn;
}

/// 1/x, and 0 for an idle lane.
static ALWAYS_INLINE lanes inverse_of(lanes x)
{
    const lane_mask used = lanes_more(x, lanes_set(0.0));
    return lanes_pick(used, lanes_set(1.0) / x, lanes_set(0.0));
}

/// Normal impulse and what friction is in proportion to, for the impulse y and the velocity u along
/// the normal; `bond` points to bond and closing, NULL: there is none.
typedef struct packed_normal {
    lanes p, base;
} packed_normal;

static ALWAYS_INLINE packed_normal normal_impulse(lanes mn, lanes bias, const lanes* bond, lanes y,
                                                  lanes u)
{
    const lanes push = y - mn * (u + bias);
    if (!bond) return (packed_normal){lanes_max0(push), lanes_max0(push)};
    const lanes zero = lanes_set(0.0), hold = y - mn * (u + bond[1]);
    const lanes pull = lanes_larger(zero - bond[0], hold);
    const lanes p = lanes_larger(push, lanes_if_greater(zero, hold, pull, zero));
    return (packed_normal){p, lanes_max0(p + bond[0])};
}

/// Exact impulse in the plane; impulses are (normal, tangential).
static ALWAYS_INLINE void solve_disks(const int kind, const lanes* k, lanes spin_arm,
                                      const lanes* y, lanes* x, const packed_bodies* o)
{
    const lanes nx = k[0], ny = k[1], mn = k[2], mt = k[3], bias = k[4], mu = k[5];
    const lanes *a = o->a, *b = o->b, *bond = kind == PACKED_BALL ? NULL : k + 6;
    const lanes ux = b[0] - a[0], uy = b[1] - a[1];
    const lanes un = ux * nx + uy * ny;
    lanes ut = uy * nx - ux * ny - spin_arm * (a[2] + b[2]);
    if (bond) ut = ut + bond[2];
    const packed_normal normal = normal_impulse(mn, bias, bond, y[0], un);
    const lanes bound = mu * normal.base, low = lanes_set(0.0) - bound;
    lanes pt = y[1] - mt * ut;
    pt = lanes_if_greater(pt, bound, bound, pt);
    pt = lanes_if_greater(low, pt, low, pt);
    x[0] = normal.p;
    x[1] = pt;
}

/// Cut the tangential part t back to the bound; sliding is rare enough to be asked for first.
static ALWAYS_INLINE void cut_to_bound(lanes bound, lanes* t)
{
    const lanes tt = t[0] * t[0] + t[1] * t[1] + t[2] * t[2], bound2 = bound * bound;
    const lane_mask slides = lanes_more(tt, bound2);
    if (mask_bits(slides) == 0) return;
    const lanes one = lanes_set(1.0);
    const lanes cut = bound / lanes_sqrt(lanes_pick(slides, tt, one));
    const lanes factor = lanes_pick(slides, cut, one);
    for (int k = 0; k < 3; k++) t[k] = t[k] * factor;
}

/// Add an impulse to the velocities of two spheres.
static ALWAYS_INLINE void apply_spheres(const lanes* n, const lanes* dp, packed_bodies* o)
{
    lanes *a = o->a, *b = o->b, m[3];
    m[0] = n[1] * dp[2] - n[2] * dp[1];
    m[1] = n[2] * dp[0] - n[0] * dp[2];
    m[2] = n[0] * dp[1] - n[1] * dp[0];
    for (int i = 0; i < 3; i++) {
        a[i] = a[i] - a[3] * dp[i];
        b[i] = b[i] + b[3] * dp[i];
        a[4 + i] = a[4 + i] - a[7] * m[i];
        b[4 + i] = b[4 + i] - b[7] * m[i];
    }
}

/// Relative velocity of two spheres at their contact.
static ALWAYS_INLINE void sphere_velocity(const lanes* n, const packed_bodies* o, lanes* u)
{
    const lanes *a = o->a, *b = o->b;
    const lanes s0 = a[4] + b[4], s1 = a[5] + b[5], s2 = a[6] + b[6];
    u[0] = b[0] - a[0] - (s1 * n[2] - s2 * n[1]);
    u[1] = b[1] - a[1] - (s2 * n[0] - s0 * n[2]);
    u[2] = b[2] - a[2] - (s0 * n[1] - s1 * n[0]);
}

/// Exact impulse in space: law/coulomb.h for lanes.
static ALWAYS_INLINE void solve_spheres(const int kind, const lanes* k, const lanes* y, lanes* x,
                                        const packed_bodies* o)
{
    const lanes *n = k, mn = k[3], mt = k[4], bias = k[5], mu = k[6];
    const lanes* bond = kind == PACKED_BALL ? NULL : k + 7;
    lanes u[3], t[3];
    sphere_velocity(n, o, u);
    const lanes un = dot3(u, n), yn = dot3(y, n);
    const packed_normal normal = normal_impulse(mn, bias, bond, yn, un);
    const lanes shift = mt * un - yn; // takes the normal part of y - mt u away
    for (int i = 0; i < 3; i++) {
        t[i] = y[i] - mt * u[i] + shift * n[i];
        if (bond) t[i] = t[i] - mt * bond[2 + i];
    }
    cut_to_bound(mu * normal.base, t);
    for (int i = 0; i < 3; i++) x[i] = normal.p * n[i] + t[i];
}

static ALWAYS_INLINE void apply_balls(const packed_problem* packed, const int dim, const lanes* n,
                                      const lanes* dp, packed_bodies* o)
{
    if (dim == 2) {
        apply_disks(n, lanes_set(packed->spin_arm), dp, o);
    } else {
        apply_spheres(n, dp, o);
    }
}

/// The constants of a vector of contacts in the order of a contact's row; of two spheres the
/// responses come from their own rows.
static ALWAYS_INLINE void load_constants(const int kind, const int dim, const real* constants,
                                         lanes wn, const packed_bodies* o, lanes* k)
{
    const int fields = packed_fields(kind, dim);
    const bool plain = kind == PACKED_BALL && dim == 3;
    const int first = plain ? 3 : fields;
    for (int i = 0; i < first; i++) k[i] = field(constants, i);
    for (int i = first; i < fields; i++) k[i + 2] = field(constants, i);
    if (!plain) return;
    k[3] = inverse_of(wn);
    k[4] = inverse_of(wn + o->a[7] + o->b[7]);
}

/// Sweep over a vector of contacts, `part` of a batch; `kind`: PACKED_BALL or PACKED_BOND.
static ALWAYS_INLINE void sweep_balls(packed_problem* packed, const int kind, const int dim,
                                      int64_t batch, int part, const lane_manner manner,
                                      lane_sums* sums)
{
    const real* constants = constants_of(packed, kind, dim, batch);
    real* p = values_of(packed, PACKED_IMPULSE) + batch * dim * PACKED_LANES;
    real* z = values_of(packed, PACKED_OLD_IMPULSE) + batch * dim * PACKED_LANES;
    const int lane = part * LANE_WIDTH;
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    lanes k[12], x[3], y[3], before[3], dp[3];
    packed_bodies o;
    load_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    lanes wn = body_im(o.a) + body_im(o.b);
    load_constants(kind, dim, constants + lane, wn, &o, k);
    const unsigned held = held_bits(packed, batch, lane, manner);
    extrapolate(dim, p + lane, z + lane, manner, before, y);
    if (kind == PACKED_BOND) wn = inverse_of(k[dim]);
    if (dim == 2) {
        solve_disks(kind, k, lanes_set(packed->spin_arm), y, x, &o);
    } else {
        solve_spheres(kind, k, y, x, &o);
    }
    for (int i = 0; i < dim; i++) {
        dp[i] = x[i] - y[i];
        lanes_store(p + i * PACKED_LANES + lane, x[i]);
    }
    apply_balls(packed, dim, k, dp, &o);
    store_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    const lane_mask hold =
        add_to_sums(packed, dim, batch, lane, manner, held, wn, x, y, before, sums);
    if (mask_bits(hold) != 0) {
        packed_bodies old;
        load_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
        hold_impulses(dim, hold, x, before, z + lane, dp);
        apply_balls(packed, dim, k, dp, &old);
        store_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
    }
}

#endif

/// Batches of compound contacts of balls with rolling and torsion friction: law/rolling.c for
/// lanes.
///
/// With q = n x T and y = n x (relative spin) sliding and rolling couple by
///     u = u_free + wt p + c q,     y = y_free + c p + wr q,     |p| <= slide,  |q| <= roll.
/// First q is left free: p feels wt - c^2/wr. If q is within its bound that is the answer. In the
/// plane the answer is else at the bound of q that was passed, because what is left when p has been
/// minimised out is convex in q. In space p is left free in turn. If both reach their bounds they
/// are drags, u = -s p and y = -t q with s, t > 0, and the s and t at which |p| and |q| are the
/// bounds are found by Newton's method: the inverse lengths are nearly linear in them. Lanes that
/// are not at rest after some steps are left to exact minimisation over p and q in turn.
#ifndef TALUS_RIGID_PACKED_ROLL_H
#define TALUS_RIGID_PACKED_ROLL_H

#include "base/portable.h"
#include "rigid/packed/ball.h"

/// Rounds of alternation at most, and the relative change that is rounding.
enum { ROLL_ROUNDS = 400 };
static const double ROLL_REST = BY_PRECISION(0x1p-50, 0x1p-21);
/// Newton's steps at most, and the part of a bound whose square is rounding.
enum { BOTH_STEPS = 10 };
static const double BOTH_REST = BY_PRECISION(1e-8, 3e-4);

/// Constants behind those of a BOND; packed.c puts them in this order.
typedef struct roll_constants {
    lanes ia, ib;    ///< spin of a packed w; 2D: with the spin arm
    lanes c, wt, wr; ///< coupling and responses
    lanes g, mr;     ///< c/wr, 1/wr
    lanes mp, mq;    ///< inverse responses of p with q free, 1/(wt - c^2/wr), and of q with p free
    lanes roll, roll_power;       ///< bound of |q|: base (roll + roll_power base^e)
    lanes torsion, torsion_power; ///< 3D: bound of torsion
    lanes spin[3];                ///< of a wall
} roll_constants;

static ALWAYS_INLINE roll_constants roll_constants_of(const int dim, const real* k)
{
    const real* f = k + packed_fields(PACKED_BOND, dim) * PACKED_LANES;
    roll_constants r = {.ia = field(f, 0),
                        .ib = field(f, 1),
                        .c = field(f, 2),
                        .wt = field(f, 3),
                        .wr = field(f, 4),
                        .g = field(f, 5),
                        .mr = field(f, 6),
                        .mp = field(f, 7),
                        .mq = field(f, 8),
                        .roll = field(f, 9),
                        .roll_power = field(f, 10)};
    if (dim == 3) r.torsion = field(f, 11), r.torsion_power = field(f, 12);
    for (int i = 0; i < spin_width(dim); i++) r.spin[i] = field(f, (dim == 2 ? 11 : 13) + i);
    return r;
}

static ALWAYS_INLINE lanes clamp(lanes x, lanes limit)
{
    const lanes low = lanes_set(0.0) - limit;
    x = lanes_if_greater(x, limit, limit, x);
    return lanes_if_greater(low, x, low, x);
}

/// Add a change of the torque to the spins.
static ALWAYS_INLINE void twist(const int dim, const roll_constants* r, const lanes* dt,
                                packed_bodies* o)
{
    const int spin = dim == 2 ? 2 : 4, mobility = dim == 2 ? 3 : 7;
    for (int i = 0; i < spin_width(dim); i++) {
        o->a[spin + i] = o->a[spin + i] - o->a[mobility] * r->ia * dt[i];
        o->b[spin + i] = o->b[spin + i] + o->b[mobility] * r->ib * dt[i];
    }
}

/// Add the torques of a batch to the spins.
static ALWAYS_INLINE void apply_torques(const packed_problem* packed, const int dim, int64_t batch,
                                        int lane, const real* k, packed_bodies* o)
{
    const int turns = spin_width(dim);
    const real* t = values_of(packed, PACKED_TORQUE) + packed_torque_at(packed, dim, batch) + lane;
    const roll_constants r = roll_constants_of(dim, k);
    lanes torque[3];
    for (int i = 0; i < turns; i++) torque[i] = field(t, i);
    twist(dim, &r, torque, o);
}

/// Exact impulse x and torque in the plane; `torque` holds the present one.
static ALWAYS_INLINE void solve_rolling_disks(const lanes* k, const roll_constants* r,
                                              lanes spin_arm, const lanes* y, lanes* x,
                                              lanes* torque, const packed_bodies* o)
{
    const lanes *a = o->a, *b = o->b, mt = k[3], mu = k[5], zero = lanes_set(0.0);
    const lanes ux = b[0] - a[0], uy = b[1] - a[1], q_now = zero - torque[0];
    const packed_normal normal = normal_impulse(k[2], k[4], k + 6, y[0], ux * k[0] + uy * k[1]);
    const lanes slide = mu * normal.base;
    const lanes roll = normal.base * (r->roll + r->roll_power * lanes_sqrt(normal.base));
    const lanes ut = uy * k[0] - ux * k[1] - spin_arm * (a[2] + b[2]) + k[8];
    const lanes spin = r->ib * b[2] - r->ia * a[2] - r->spin[0];
    const lanes u = ut - r->wt * y[1] - r->c * q_now;
    const lanes v = zero - spin - r->c * y[1] - r->wr * q_now;
    const lanes alone = clamp((r->g * v - u) * r->mp, slide);
    const lanes q = clamp((zero - (v + r->c * alone)) * r->mr, roll);
    x[0] = normal.p;
    x[1] = clamp((zero - (u + r->c * q)) * mt, slide);
    torque[0] = zero - q;
}

static ALWAYS_INLINE void cross(const lanes* x, const lanes* y, lanes* out)
{
    out[0] = x[1] * y[2] - x[2] * y[1];
    out[1] = x[2] * y[0] - x[0] * y[2];
    out[2] = x[0] * y[1] - x[1] * y[0];
}

static ALWAYS_INLINE lane_mask longer(const lanes* x, lanes limit)
{
    return lanes_more(dot3(x, x), limit * limit);
}

/// out = -(x + c y) m, cut to the bound.
static ALWAYS_INLINE void minimise(const lanes* x, lanes c, const lanes* y, lanes m, lanes bound,
                                   lanes* out)
{
    for (int i = 0; i < 3; i++) out[i] = lanes_set(0.0) - (x[i] + c * y[i]) * m;
    cut_to_bound(bound, out);
}

/// Sliding and rolling at their bounds in the lanes of `moving`, by Newton's method on the drags s
/// and t. Returns those that were solved.
static ALWAYS_INLINE lane_mask drag_both(const roll_constants* r, const lanes* u, const lanes* v,
                                         lanes slide, lanes roll, lane_mask moving, lanes* p,
                                         lanes* q)
{
    const lanes zero = lanes_set(0.0), one = lanes_set(1.0), c = r->c;
    const lanes uu = dot3(u, u), uv = dot3(u, v), vv = dot3(v, v);
    lanes s = zero, t = zero;
    lane_mask solved = mask_but(moving, moving);
    moving = mask_and(moving, mask_and(lanes_more(slide, zero), lanes_more(roll, zero)));
    for (int step = 0; step < BOTH_STEPS && mask_bits(moving) != 0; step++) {
        // p = (c v - b u)/det, q = (c u - a v)/det
        const lanes a = r->wt + s, b = r->wr + t, i = one / (a * b - c * c), cc = c * c, ii = i * i;
        const lanes pp = ii * (cc * vv - lanes_set(2.0) * c * b * uv + b * b * uu);
        const lanes qq = ii * (cc * uu - lanes_set(2.0) * c * a * uv + a * a * vv);
        const lanes pq = ii * ((cc + a * b) * uv - c * (a * vv + b * uu));
        const lanes p_off = lanes_sqrt(pp) - slide, q_off = lanes_sqrt(qq) - roll;
        // J (ds, dt) = det (p_off, q_off) is how the lengths fall, weighted so that steps are those
        // on bound/length.
        const lanes J11 = slide * b, J22 = roll * a, cross_part = zero - c * pq;
        const lanes J12 = slide * cross_part / pp, J21 = roll * cross_part / qq;
        const lanes scale = one / (i * (J11 * J22 - J12 * J21));
        const lanes ds = (J22 * p_off - J12 * q_off) * scale;
        const lanes dt = (J11 * q_off - J21 * p_off) * scale;
        const lane_mask rests = mask_and(lanes_more(lanes_set(BOTH_REST) * slide, lanes_abs(p_off)),
                                         lanes_more(lanes_set(BOTH_REST) * roll, lanes_abs(q_off)));
        const lane_mask now = mask_and(moving, rests);
        if (mask_bits(now) != 0) { // the last step, to first order
            for (int k = 0; k < 3; k++) {
                const lanes pk = i * (c * v[k] - b * u[k]), qk = i * (c * u[k] - a * v[k]);
                p[k] = lanes_pick(now, pk + i * (c * qk * dt - b * pk * ds), p[k]);
                q[k] = lanes_pick(now, qk + i * (c * pk * ds - a * qk * dt), q[k]);
            }
        }
        solved = mask_or(solved, now);
        moving = mask_but(moving, now);
        s = lanes_max0(s + ds);
        t = lanes_max0(t + dt);
    }
    return solved;
}

/// The same by turns, in as many rounds as it takes.
static ALWAYS_INLINE void alternate(const roll_constants* r, lanes mt, const lanes* u,
                                    const lanes* v, lanes slide, lanes roll, lane_mask moving,
                                    lanes* p, lanes* q)
{
    for (int round = 0; round < ROLL_ROUNDS && mask_bits(moving) != 0; round++) {
        lanes next[3], turned[3], change[3];
        minimise(u, r->c, q, mt, slide, next);
        minimise(v, r->c, next, r->mr, roll, turned);
        for (int i = 0; i < 3; i++) {
            change[i] = next[i] - p[i];
            p[i] = lanes_pick(moving, next[i], p[i]);
            q[i] = lanes_pick(moving, turned[i], q[i]);
        }
        const lanes rest = lanes_set(ROLL_REST * ROLL_REST) * dot3(next, next);
        moving = mask_and(moving, lanes_more(dot3(change, change), rest));
    }
}

/// The coupled problem in space for the free motions u and v.
static ALWAYS_INLINE void slide_and_roll(const roll_constants* r, lanes mt, const lanes* u,
                                         const lanes* v, lanes slide, lanes roll, lanes* p,
                                         lanes* q)
{
    const lanes zero = lanes_set(0.0);
    lanes p_free[3], q_bound[3];
    minimise(u, zero - r->g, v, r->mp, slide, p);
    for (int i = 0; i < 3; i++) q[i] = zero - (v[i] + r->c * p[i]) * r->mr;
    const lane_mask beyond = longer(q, roll);
    if (mask_bits(beyond) == 0) return;
    minimise(v, zero - r->c * mt, u, r->mq, roll, q_bound);
    for (int i = 0; i < 3; i++) {
        p_free[i] = zero - (u[i] + r->c * q_bound[i]) * mt;
        p[i] = lanes_pick(beyond, p_free[i], p[i]);
        q[i] = lanes_pick(beyond, q_bound[i], q[i]);
    }
    const lane_mask both = mask_and(beyond, longer(p_free, slide));
    if (mask_bits(both) == 0) return;
    const lane_mask solved = drag_both(r, u, v, slide, roll, both, p, q);
    alternate(r, mt, u, v, slide, roll, mask_but(both, solved), p, q);
}

static ALWAYS_INLINE lanes cube_roots(lanes x)
{
    _Alignas(64) real each[LANE_WIDTH];
    lanes_store(each, x);
    for (int lane = 0; lane < LANE_WIDTH; lane++)
        each[lane] = (real)portable_cbrt((double)each[lane]);
    return lanes_load(each);
}

/// Cube roots of the normal impulses if any bound wants them (hertzian contacts).
static ALWAYS_INLINE lanes root_for(const roll_constants* r, lanes base)
{
    const lanes zero = lanes_set(0.0);
    if (mask_bits(lanes_more(r->roll_power + r->torsion_power, zero)) == 0) return zero;
    return cube_roots(base);
}

/// Exact impulse x and torque in space; `torque` holds the present one.
static ALWAYS_INLINE void solve_rolling_spheres(const lanes* k, const roll_constants* r,
                                                const lanes* y, lanes* x, lanes* torque,
                                                const packed_bodies* o)
{
    const lanes *n = k, *bond = k + 7, mt = k[4];
    lanes u[3], v[3], spin[3], q_now[3], p[3], q[3], bend[3];
    sphere_velocity(n, o, u);
    const lanes un = dot3(u, n), yn = dot3(y, n);
    const packed_normal normal = normal_impulse(k[3], k[5], bond, yn, un);
    for (int i = 0; i < 3; i++) spin[i] = r->ib * o->b[4 + i] - r->ia * o->a[4 + i] - r->spin[i];
    cross(n, torque, q_now);
    cross(n, spin, v);
    for (int i = 0; i < 3; i++) {
        const lanes yt = y[i] - yn * n[i];
        u[i] = u[i] - un * n[i] + bond[2 + i] - r->wt * yt - r->c * q_now[i];
        v[i] = v[i] - r->c * yt - r->wr * q_now[i];
    }
    const lanes base = normal.base, root = root_for(r, base);
    const lanes roll = base * (r->roll + r->roll_power * root);
    const lanes bound = base * (r->torsion + r->torsion_power * root);
    slide_and_roll(r, mt, u, v, k[6] * base, roll, p, q);
    const lanes torsion = clamp(dot3(torque, n) - r->mr * dot3(spin, n), bound);
    cross(n, q, bend);
    for (int i = 0; i < 3; i++) {
        x[i] = normal.p * n[i] + p[i];
        torque[i] = torsion * n[i] - bend[i];
    }
}

static ALWAYS_INLINE void sweep_rolls(packed_problem* packed, const int dim, int64_t batch,
                                      int part, const lane_manner manner, lane_sums* sums)
{
    const int fields = packed_fields(PACKED_BOND, dim), turns = spin_width(dim);
    const int64_t torques = packed_torque_at(packed, dim, batch);
    const real* constants = constants_of(packed, PACKED_ROLL, dim, batch);
    real* p = values_of(packed, PACKED_IMPULSE) + batch * dim * PACKED_LANES;
    real* z = values_of(packed, PACKED_OLD_IMPULSE) + batch * dim * PACKED_LANES;
    real* t = values_of(packed, PACKED_TORQUE) + torques;
    real* old_t = values_of(packed, PACKED_OLD_TORQUE) + torques;
    const int lane = part * LANE_WIDTH;
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    lanes k[12], x[3], y[3], before[3], dp[3], torque[3], dt[3], torque_before[3];
    packed_bodies o;
    load_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    for (int i = 0; i < fields; i++) k[i] = field(constants + lane, i);
    const roll_constants r = roll_constants_of(dim, constants + lane);
    const unsigned held = held_bits(packed, batch, lane, manner);
    extrapolate(dim, p + lane, z + lane, manner, before, y);
    extrapolate(turns, t + lane, old_t + lane, manner, torque_before, torque);
    for (int i = 0; i < turns; i++) dt[i] = torque[i];
    const lanes wn = inverse_of(k[dim]);
    if (dim == 2) {
        solve_rolling_disks(k, &r, lanes_set(packed->spin_arm), y, x, torque, &o);
    } else {
        solve_rolling_spheres(k, &r, y, x, torque, &o);
    }
    for (int i = 0; i < dim; i++) {
        dp[i] = x[i] - y[i];
        lanes_store(p + i * PACKED_LANES + lane, x[i]);
    }
    for (int i = 0; i < turns; i++) {
        dt[i] = torque[i] - dt[i];
        lanes_store(t + i * PACKED_LANES + lane, torque[i]);
    }
    apply_balls(packed, dim, k, dp, &o);
    twist(dim, &r, dt, &o);
    store_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    const lane_mask hold =
        add_to_sums(packed, dim, batch, lane, manner, held, wn, x, y, before, sums);
    if (mask_bits(hold) != 0) {
        packed_bodies old;
        load_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
        hold_impulses(dim, hold, x, before, z + lane, dp);
        hold_impulses(turns, hold, torque, torque_before, old_t + lane, dt);
        apply_balls(packed, dim, k, dp, &old);
        twist(dim, &r, dt, &old);
        store_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
    }
}

#endif

/// The sweeps over a block, for the vector width that the including file is compiled with.
///
/// Cost of an update of two balls in 3D: 2 rows of 64 bytes read and written, mostly in cache; 80
/// bytes of constants and indices read, 24 bytes of impulse read and written, with momentum as much
/// again; about 80 flops, 8 shuffles, one square root and one division if any of the lanes slides.
#ifndef TALUS_SOLVE_WIDE_KERNEL_H
#define TALUS_SOLVE_WIDE_KERNEL_H

#include "law/coulomb.h"
#include "solve/lanes.h"
#include "solve/wide.h"

enum { PARTS = WIDE_LANES / LANE_WIDTH }; ///< vectors in a batch

/// The two bodies of a contact as lanes. 3D: v, im, w, kim; 2D: v, w, im.
typedef struct wide_bodies {
    lanes a[8], b[8];
} wide_bodies;

/// Sums of a sweep, one for each lane of a batch.
typedef struct lane_sums {
    lanes change[PARTS], step[PARTS], turning[PARTS], impulse[PARTS];
} lane_sums;

static ALWAYS_INLINE void load_bodies(const int dim, const double* rows, const int32_t* who,
                                      wide_bodies* x)
{
    const int stride = wide_stride(dim);
    lanes_load_rows(rows, stride, 0, who, x->a);
    lanes_load_rows(rows, stride, 0, who + WIDE_LANES, x->b);
    if (dim == 3) {
        lanes_load_rows(rows, stride, 4, who, x->a + 4);
        lanes_load_rows(rows, stride, 4, who + WIDE_LANES, x->b + 4);
    }
}

static ALWAYS_INLINE void store_bodies(const int dim, double* rows, const int32_t* who,
                                       const wide_bodies* x)
{
    const int stride = wide_stride(dim);
    lanes_store_rows(rows, stride, 0, who, x->a);
    lanes_store_rows(rows, stride, 0, who + WIDE_LANES, x->b);
    if (dim == 3) {
        lanes_store_rows(rows, stride, 4, who, x->a + 4);
        lanes_store_rows(rows, stride, 4, who + WIDE_LANES, x->b + 4);
    }
}

/// Mobility of a body's translation.
static ALWAYS_INLINE lanes body_im(const lanes* body)
{
    return body[3]; // in both layouts
}

/// y = x + beta (x - z), z = x.
static ALWAYS_INLINE lanes extrapolate(double* x, double* z, bool momentum, lanes beta,
                                       lanes* before)
{
    const lanes now = lanes_load(x);
    *before = now;
    if (!momentum) return now;
    const lanes y = now + beta * (now - lanes_load(z));
    lanes_store(z, now);
    return y;
}

static ALWAYS_INLINE void add_to_sums(const int dim, lane_sums* sums, int part, lanes wn,
                                      const lanes* x, const lanes* y, const lanes* z)
{
    lanes change = lanes_set(0.0), step = change, turning = change, impulse = change;
    for (int k = 0; k < dim; k++) {
        const lanes dy = x[k] - y[k], dz = x[k] - z[k];
        change = change + dy * dy;
        step = step + dz * dz;
        turning = turning + dy * dz;
        impulse = impulse + x[k] * x[k];
    }
    sums->change[part] = sums->change[part] + wn * change;
    sums->step[part] = sums->step[part] + wn * step;
    sums->turning[part] = sums->turning[part] + wn * turning;
    sums->impulse[part] = sums->impulse[part] + wn * impulse;
}

// ---- balls -------------------------------------------------------------------------------------

/// Add an impulse (normal, tangential) to the velocities of two disks.
static ALWAYS_INLINE void apply_disks(const lanes* n, lanes spin_arm, const lanes* dp,
                                      wide_bodies* o)
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

/// Exact impulse in the plane; impulses are (normal, tangential).
static ALWAYS_INLINE void solve_disks(const lanes* k, lanes spin_arm, const lanes* y, lanes* x,
                                      const wide_bodies* o)
{
    const lanes nx = k[0], ny = k[1], mn = k[2], mt = k[3], bias = k[4], mu = k[5];
    const lanes *a = o->a, *b = o->b;
    const lanes ux = b[0] - a[0], uy = b[1] - a[1];
    const lanes un = ux * nx + uy * ny;
    const lanes ut = uy * nx - ux * ny - spin_arm * (a[2] + b[2]);
    const lanes pn = lanes_max0(y[0] - mn * (un + bias));
    const lanes bound = mu * pn, low = lanes_set(0.0) - bound;
    lanes pt = y[1] - mt * ut;
    pt = lanes_if_greater(pt, bound, bound, pt);
    pt = lanes_if_greater(low, pt, low, pt);
    x[0] = pn;
    x[1] = pt;
}

/// Cut the tangential part t back to the bound; sliding is rare enough to be asked for first.
static ALWAYS_INLINE void cut_to_bound(lanes bound, lanes* t)
{
    const lanes tt = t[0] * t[0] + t[1] * t[1] + t[2] * t[2], bound2 = bound * bound;
    if (lanes_greater(tt, bound2) == 0) return;
    const lanes one = lanes_set(1.0);
    const lanes cut = bound / lanes_sqrt(lanes_if_greater(tt, bound2, tt, one));
    const lanes factor = lanes_if_greater(tt, bound2, cut, one);
    for (int k = 0; k < 3; k++) t[k] = t[k] * factor;
}

/// Add an impulse to the velocities of two spheres.
static ALWAYS_INLINE void apply_spheres(const lanes* n, const lanes* dp, wide_bodies* o)
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

/// Exact impulse in space: law/coulomb.h for lanes.
static ALWAYS_INLINE void solve_spheres(const lanes* k, const lanes* y, lanes* x,
                                        const wide_bodies* o)
{
    const lanes *n = k, mn = k[3], mt = k[4], bias = k[5], mu = k[6];
    const lanes *a = o->a, *b = o->b;
    lanes u[3], t[3];
    const lanes s0 = a[4] + b[4], s1 = a[5] + b[5], s2 = a[6] + b[6];
    u[0] = b[0] - a[0] - (s1 * n[2] - s2 * n[1]);
    u[1] = b[1] - a[1] - (s2 * n[0] - s0 * n[2]);
    u[2] = b[2] - a[2] - (s0 * n[1] - s1 * n[0]);
    const lanes un = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
    const lanes yn = y[0] * n[0] + y[1] * n[1] + y[2] * n[2];
    const lanes pn = lanes_max0(yn - mn * (un + bias));
    const lanes shift = mt * un - yn; // takes the normal part of y - mt u away
    for (int i = 0; i < 3; i++) t[i] = y[i] - mt * u[i] + shift * n[i];
    cut_to_bound(mu * pn, t);
    for (int i = 0; i < 3; i++) x[i] = pn * n[i] + t[i];
}

static ALWAYS_INLINE void apply_balls(const wide* w, const int dim, const lanes* n, const lanes* dp,
                                      wide_bodies* o)
{
    if (dim == 2) {
        apply_disks(n, lanes_set(w->spin_arm), dp, o);
    } else {
        apply_spheres(n, dp, o);
    }
}

static ALWAYS_INLINE void sweep_balls(wide* w, const int dim, int64_t batch, bool momentum,
                                      lanes beta, lane_sums* sums)
{
    const int fields = wide_ball_fields(dim);
    const int64_t slot = w->batches[batch].slot;
    const double* constants = w->values[WIDE_BALLS] + slot * fields * WIDE_LANES;
    double* p = w->values[WIDE_P] + batch * dim * WIDE_LANES;
    double* z = w->values[WIDE_OLD_P] + batch * dim * WIDE_LANES;
    for (int part = 0; part < PARTS; part++) {
        const int lane = part * LANE_WIDTH;
        const int32_t* who = w->who + 2 * batch * WIDE_LANES + lane;
        lanes k[7], x[3], y[3], before[3], dp[3];
        wide_bodies o;
        load_bodies(dim, w->values[WIDE_ROW], who, &o);
        for (int i = 0; i < fields; i++) k[i] = lanes_load(constants + i * WIDE_LANES + lane);
        for (int i = 0; i < dim; i++) {
            const int at = i * WIDE_LANES + lane;
            y[i] = extrapolate(p + at, z + at, momentum, beta, &before[i]);
        }
        const lanes wn = body_im(o.a) + body_im(o.b);
        if (dim == 2) {
            solve_disks(k, lanes_set(w->spin_arm), y, x, &o);
        } else {
            solve_spheres(k, y, x, &o);
        }
        for (int i = 0; i < dim; i++) {
            dp[i] = x[i] - y[i];
            lanes_store(p + i * WIDE_LANES + lane, x[i]);
        }
        apply_balls(w, dim, k, dp, &o);
        store_bodies(dim, w->values[WIDE_ROW], who, &o);
        add_to_sums(dim, sums, part, wn, x, y, before);
    }
}

// ---- full blocks -------------------------------------------------------------------------------

/// Product of a symmetric matrix, given by its upper triangle, with x.
static ALWAYS_INLINE void symmetric_times(const int dim, const lanes* upper, const lanes* x,
                                          lanes* out)
{
    if (dim == 2) {
        out[0] = upper[0] * x[0] + upper[1] * x[1];
        out[1] = upper[1] * x[0] + upper[2] * x[1];
        return;
    }
    out[0] = upper[0] * x[0] + upper[1] * x[1] + upper[2] * x[2];
    out[1] = upper[1] * x[0] + upper[3] * x[1] + upper[4] * x[2];
    out[2] = upper[2] * x[0] + upper[4] * x[1] + upper[5] * x[2];
}

/// Relative velocity at a contact with arms; in the plane along normal and tangent.
static ALWAYS_INLINE void full_velocity(const int dim, const lanes* n, const lanes* arm_a,
                                        const lanes* arm_b, const wide_bodies* o, lanes* u)
{
    const lanes *a = o->a, *b = o->b;
    if (dim == 2) {
        const lanes ux = b[0] - a[0], uy = b[1] - a[1];
        u[0] = ux * n[0] + uy * n[1] + arm_b[0] * b[2] - arm_a[0] * a[2];
        u[1] = uy * n[0] - ux * n[1] + arm_b[1] * b[2] - arm_a[1] * a[2];
        return;
    }
    for (int i = 0; i < 3; i++) {
        const lanes turn_a =
            arm_a[3 * i] * a[4] + arm_a[3 * i + 1] * a[5] + arm_a[3 * i + 2] * a[6];
        const lanes turn_b =
            arm_b[3 * i] * b[4] + arm_b[3 * i + 1] * b[5] + arm_b[3 * i + 2] * b[6];
        u[i] = b[i] - a[i] + turn_b - turn_a;
    }
}

static ALWAYS_INLINE void full_apply(const int dim, const lanes* n, const lanes* arm_a,
                                     const lanes* arm_b, const lanes* dp, wide_bodies* o)
{
    lanes *a = o->a, *b = o->b;
    if (dim == 2) {
        const lanes dx = dp[0] * n[0] - dp[1] * n[1], dy = dp[0] * n[1] + dp[1] * n[0];
        a[0] = a[0] - a[3] * dx;
        a[1] = a[1] - a[3] * dy;
        a[2] = a[2] - a[3] * (arm_a[0] * dp[0] + arm_a[1] * dp[1]);
        b[0] = b[0] + b[3] * dx;
        b[1] = b[1] + b[3] * dy;
        b[2] = b[2] + b[3] * (arm_b[0] * dp[0] + arm_b[1] * dp[1]);
        return;
    }
    for (int i = 0; i < 3; i++) {
        a[i] = a[i] - a[3] * dp[i];
        b[i] = b[i] + b[3] * dp[i];
        a[4 + i] =
            a[4 + i] - a[7] * (arm_a[i] * dp[0] + arm_a[3 + i] * dp[1] + arm_a[6 + i] * dp[2]);
        b[4 + i] =
            b[4 + i] + b[7] * (arm_b[i] * dp[0] + arm_b[3 + i] * dp[1] + arm_b[6 + i] * dp[2]);
    }
}

/// Solve one lane that slides (or whose block is not definite) with the exact scalar law.
static ALWAYS_INLINE void slide_lane(const int dim, const double* constants, int lane,
                                     const double* alone, const double* guess, double* x)
{
    double f[36], S[9], inverse[9], n[3] = {1.0, 0.0, 0.0}, free[3], from[3], solved[3];
    for (int i = 0; i < wide_full_fields(dim); i++) f[i] = constants[i * WIDE_LANES + lane];
    const double *upper = f + dim + 3, *upper_inverse = upper + (dim == 2 ? 3 : 6);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            const int low = i < j ? i : j, high = i < j ? j : i;
            const int at = low * dim - low * (low + 1) / 2 + high;
            S[i * dim + j] = upper[at];
            inverse[i * dim + j] = upper_inverse[at];
        }
        if (dim == 3) n[i] = f[i]; // in the plane the axes are normal and tangent already
        free[i] = alone[i * WIDE_LANES + lane];
        from[i] = guess[i * WIDE_LANES + lane];
    }
    coulomb_block(dim, S, inverse, n, f[dim + 1], f[dim + 2], free, from, solved);
    for (int i = 0; i < dim; i++) x[i * WIDE_LANES + lane] = solved[i];
}

/// Exact update of a full block: open, stick, and by itself what slides.
static ALWAYS_INLINE void solve_full(const int dim, const double* constants, int lane,
                                     const lanes* k, const lanes* u, const lanes* y, lanes* x)
{
    const lanes *upper = k + dim + 3, *inverse = upper + (dim == 2 ? 3 : 6);
    const lanes bias = k[dim + 1], mu = k[dim + 2], zero = lanes_set(0.0);
    lanes own[3], alone[3], target[3], step[3], free_n = bias, pn = zero, pp = zero;
    symmetric_times(dim, upper, y, own);
    for (int i = 0; i < dim; i++) {
        const lanes n = dim == 3 ? k[i] : lanes_set(i == 0 ? 1.0 : 0.0);
        alone[i] = u[i] - own[i];
        target[i] = u[i] + bias * n;
        free_n = free_n + alone[i] * n;
    }
    symmetric_times(dim, inverse, target, step);
    for (int i = 0; i < dim; i++) {
        const lanes n = dim == 3 ? k[i] : lanes_set(i == 0 ? 1.0 : 0.0);
        x[i] = y[i] - step[i];
        pn = pn + x[i] * n;
        pp = pp + x[i] * x[i];
    }
    // |p_t|^2 = pp - pn^2 loses digits near mu = 0: a little inside the cone, the rest is solved. A
    // block that is not definite to rounding has an inverse of zeros.
    const lanes room = lanes_set(0.999999) * mu * mu * pn * pn - (pp - pn * pn);
    const unsigned closing = lanes_greater(zero, free_n);
    const unsigned sticks =
        lanes_greater(inverse[0], zero) & lanes_greater(pn, zero) & lanes_greater(room, zero);
    for (int i = 0; i < dim; i++) x[i] = lanes_if_greater(zero, free_n, x[i], zero);
    unsigned slides = closing & ~sticks;
    if (slides == 0) return;
    _Alignas(64) double solved[3 * WIDE_LANES], guess[3 * WIDE_LANES], left[3 * WIDE_LANES];
    for (int i = 0; i < dim; i++) {
        lanes_store(solved + i * WIDE_LANES, x[i]);
        lanes_store(guess + i * WIDE_LANES, y[i]);
        lanes_store(left + i * WIDE_LANES, alone[i]);
    }
    for (; slides; slides &= slides - 1) {
        const int one = __builtin_ctz(slides);
        slide_lane(dim, constants + lane, one, left, guess, solved);
    }
    for (int i = 0; i < dim; i++) x[i] = lanes_load(solved + i * WIDE_LANES);
}

static ALWAYS_INLINE void sweep_full(wide* w, const int dim, int64_t batch, bool momentum,
                                     lanes beta, lane_sums* sums)
{
    const int fields = wide_full_fields(dim), arms = wide_full_arms(dim);
    const int64_t slot = w->batches[batch].slot;
    const double* constants = w->values[WIDE_FULL] + slot * fields * WIDE_LANES;
    double* p = w->values[WIDE_P] + batch * dim * WIDE_LANES;
    double* z = w->values[WIDE_OLD_P] + batch * dim * WIDE_LANES;
    for (int part = 0; part < PARTS; part++) {
        const int lane = part * LANE_WIDTH;
        const int32_t* who = w->who + 2 * batch * WIDE_LANES + lane;
        lanes k[36], u[3], x[3], y[3], before[3], dp[3];
        wide_bodies o;
        load_bodies(dim, w->values[WIDE_ROW], who, &o);
        for (int i = 0; i < fields; i++) k[i] = lanes_load(constants + i * WIDE_LANES + lane);
        for (int i = 0; i < dim; i++) {
            const int at = i * WIDE_LANES + lane;
            y[i] = extrapolate(p + at, z + at, momentum, beta, &before[i]);
        }
        const lanes *arm_a = k + arms, *arm_b = arm_a + (dim == 2 ? 2 : 9);
        full_velocity(dim, k, arm_a, arm_b, &o, u);
        solve_full(dim, constants, lane, k, u, y, x);
        for (int i = 0; i < dim; i++) {
            dp[i] = x[i] - y[i];
            lanes_store(p + i * WIDE_LANES + lane, x[i]);
        }
        full_apply(dim, k, arm_a, arm_b, dp, &o);
        store_bodies(dim, w->values[WIDE_ROW], who, &o);
        add_to_sums(dim, sums, part, k[dim], x, y, before);
    }
}

// ---- every other law ---------------------------------------------------------------------------

static ALWAYS_INLINE void sweep_scalar(wide* w, const int dim, int64_t batch, bool momentum,
                                       double beta, lane_sums* sums)
{
    double* p = w->values[WIDE_P] + batch * dim * WIDE_LANES;
    double* z = w->values[WIDE_OLD_P] + batch * dim * WIDE_LANES;
    _Alignas(64) double x[3 * WIDE_LANES], y[3 * WIDE_LANES], before[3 * WIDE_LANES];
    _Alignas(64) double wn[WIDE_LANES] = {0};
    for (int i = 0; i < dim * WIDE_LANES; i++) {
        before[i] = p[i];
        x[i] = y[i] = momentum ? p[i] + beta * (p[i] - z[i]) : p[i];
        if (momentum) z[i] = p[i];
    }
    for (int lane = 0; lane < WIDE_LANES; lane++) {
        if (w->source[batch * WIDE_LANES + lane] < 0) continue;
        wn[lane] = wide_update_scalar(w, batch, lane, momentum, beta, y + lane, x + lane);
    }
    for (int i = 0; i < dim * WIDE_LANES; i++) p[i] = x[i];
    for (int part = 0; part < PARTS; part++) {
        lanes nx[3], ny[3], nz[3];
        for (int i = 0; i < dim; i++) {
            const int at = i * WIDE_LANES + part * LANE_WIDTH;
            nx[i] = lanes_load(x + at), ny[i] = lanes_load(y + at), nz[i] = lanes_load(before + at);
        }
        add_to_sums(dim, sums, part, lanes_load(wn + part * LANE_WIDTH), nx, ny, nz);
    }
}

// ---- a block -----------------------------------------------------------------------------------

/// Extrapolate the velocities of the block's own rows.
static ALWAYS_INLINE void extrapolate_rows(wide* w, const int dim, const wide_block* block,
                                           double beta)
{
    const int stride = wide_stride(dim);
    double* x = w->values[WIDE_ROW];
    double* z = w->values[WIDE_OLD_ROW];
    for (int64_t k = block->row_first * stride; k < block->row_last * stride; k++) {
        const double now = x[k];
        x[k] = now + beta * (now - z[k]);
        z[k] = now;
    }
}

static double add_lanes(const lanes* sums)
{
    _Alignas(64) double each[WIDE_LANES];
    double sum = 0.0;
    for (int part = 0; part < PARTS; part++) lanes_store(each + part * LANE_WIDTH, sums[part]);
    for (int lane = 0; lane < WIDE_LANES; lane++) sum += each[lane];
    return sum;
}

static ALWAYS_INLINE void sweep_block(wide* w, const int dim, int64_t number, bool momentum,
                                      double beta, wide_sums* out)
{
    const wide_block* block = &w->blocks[number];
    const lanes beta_lanes = lanes_set(beta);
    lane_sums sums;
    for (int part = 0; part < PARTS; part++) {
        sums.change[part] = sums.step[part] = lanes_set(0.0);
        sums.turning[part] = sums.impulse[part] = lanes_set(0.0);
    }
    if (momentum) extrapolate_rows(w, dim, block, beta);
    for (int64_t k = block->first; k < block->last; k++) {
        switch (w->batches[k].kind) {
        case WIDE_BALL: sweep_balls(w, dim, k, momentum, beta_lanes, &sums); break;
        case WIDE_BLOCK: sweep_full(w, dim, k, momentum, beta_lanes, &sums); break;
        default: sweep_scalar(w, dim, k, momentum, beta, &sums); break;
        }
    }
    *out = (wide_sums){.change = add_lanes(sums.change),
                       .step = add_lanes(sums.step),
                       .turning = add_lanes(sums.turning),
                       .impulse = add_lanes(sums.impulse)};
}

/// Add the impulses of a batch of balls or full blocks to the velocities.
static ALWAYS_INLINE void apply_batch(wide* w, const int dim, int64_t batch)
{
    const bool ball = w->batches[batch].kind == WIDE_BALL;
    const int fields = ball ? wide_ball_fields(dim) : wide_full_fields(dim);
    const double* constants = w->values[ball ? WIDE_BALLS : WIDE_FULL] +
                              w->batches[batch].slot * (int64_t)fields * WIDE_LANES;
    const double* p = w->values[WIDE_P] + batch * dim * WIDE_LANES;
    const int arms = wide_full_arms(dim), arm_size = dim == 2 ? 2 : 9;
    for (int part = 0; part < PARTS; part++) {
        const int lane = part * LANE_WIDTH;
        const int32_t* who = w->who + 2 * batch * WIDE_LANES + lane;
        lanes k[36], dp[3];
        wide_bodies o;
        load_bodies(dim, w->values[WIDE_ROW], who, &o);
        for (int i = 0; i < dim; i++) dp[i] = lanes_load(p + i * WIDE_LANES + lane);
        for (int i = 0; i < fields; i++) k[i] = lanes_load(constants + i * WIDE_LANES + lane);
        if (ball) {
            apply_balls(w, dim, k, dp, &o);
        } else {
            full_apply(dim, k, k + arms, k + arms + arm_size, dp, &o);
        }
        store_bodies(dim, w->values[WIDE_ROW], who, &o);
    }
}

/// The velocities that the impulses of a block make, added to those of the blocks before it.
static void apply_any(wide* w, int64_t number)
{
    const wide_block* block = &w->blocks[number];
    for (int64_t k = block->first; k < block->last; k++) {
        if (w->batches[k].kind == WIDE_SCALAR) {
            wide_apply_scalar(w, k);
        } else if (w->dim == 2) {
            apply_batch(w, 2, k);
        } else {
            apply_batch(w, 3, k);
        }
    }
}

/// Pick the instance for this dimension and for sweeps with or without momentum.
static void sweep_any(wide* w, int64_t block, bool momentum, double beta, wide_sums* sums)
{
    if (w->dim == 2) {
        if (momentum) {
            sweep_block(w, 2, block, true, beta, sums);
        } else {
            sweep_block(w, 2, block, false, 0.0, sums);
        }
    } else if (momentum) {
        sweep_block(w, 3, block, true, beta, sums);
    } else {
        sweep_block(w, 3, block, false, 0.0, sums);
    }
}

#endif

/// Batches of compound contacts with full blocks: solids with cohesion, tangential restitution and
/// two coefficients of friction (SOLID_BOND), with rolling and torsion friction, too (SOLID_ROLL).
/// law/compound.c for lanes.
///
/// All is in the axes of the contact: z lists the torque impulses (in space about t1, t2 and n, in
/// units of a length that makes their responses like those of impulses), the impulses along the
/// tangents and, last, along n. The motion is w = f + A z. Of its own accord each kind of friction
/// would stop its part of w. Where it has reached its bound it is a drag instead,
///     w_i = -lambda_i z_i,   |z_i| = bound_i(p_n),   lambda_i > 0.
/// For given drags everything is linear but the normal law, whose p_n comes from the last pivot of
/// A + lambda = L D L^T. What is left is one equation for each drag. bound_i/|z_i| is linear in
/// lambda_i where A answers alike in all directions of z_i, whatever it couples to the normal
/// impulse, so Newton's method on it needs a few steps from no drag, and one or two from the drag
/// of the last sweep. Lanes that are not at rest after DRAG_STEPS of them, or whose block is
/// singular to rounding, are left to the scalar law, one by one.
#ifndef TALUS_RIGID_PACKED_COMPOUND_H
#define TALUS_RIGID_PACKED_COMPOUND_H

#include "law/compound.h"
#include "rigid/packed/ball.h"
#include "rigid/packed/roll.h"

#include <float.h>

enum { DRAG_STEPS = 12, LAW_SIZE = 6, LAW_BLOCKS = 3 };
/// Part of a bound by which friction may miss it before a last step, which squares that; a pivot
/// below this part of its diagonal element is rounding; a drag that lets nothing through.
static const double DRAG_REST = BY_PRECISION(1e-8, 3e-4), REGULAR = BY_PRECISION(1e-12, 1e-5),
                    STOPPED = BY_PRECISION(1e100, 1e20), NOTHING = BY_PRECISION(1e-300, 1e-37);

// ---- what is where -----------------------------------------------------------------------------

/// Numbers of z, and of them torques.
static ALWAYS_INLINE int law_turns(const int kind, const int dim)
{
    return kind == PACKED_SOLID_BOND ? 0 : spin_width(dim);
}
static ALWAYS_INLINE int law_size(const int kind, const int dim)
{
    return dim + law_turns(kind, dim);
}
/// Kinds of friction: rolling, in space torsion, and last sliding; the first of z that each has.
static ALWAYS_INLINE int law_blocks(const int kind, const int dim)
{
    return kind == PACKED_SOLID_BOND ? 1 : dim;
}
static ALWAYS_INLINE int law_first(const int kind, const int dim, const int block)
{
    const int slide = law_blocks(kind, dim) - 1;
    return block == slide ? law_turns(kind, dim) : block == 0 ? 0 : 2;
}
static ALWAYS_INLINE int law_end(const int kind, const int dim, const int block)
{
    return block + 1 < law_blocks(kind, dim) ? law_first(kind, dim, block + 1)
                                             : law_size(kind, dim) - 1;
}
/// Place of element (i, j) of an upper triangle.
static ALWAYS_INLINE int upper_at(const int size, const int i, const int j)
{
    return i < j ? i * size - i * (i + 1) / 2 + j : j * size - j * (j + 1) / 2 + i;
}

/// Constants of a vector of contacts; packed.c puts them in this order, those of torques last.
typedef struct compound_fields {
    const real *n, *slip, *upper, *arm_a, *arm_b; ///< several fields each
    lanes wn, bias, mu, bond, closing;
    const real* first_tangent; ///< in space
    const real *length, *bounds, *spin, *turn_a, *turn_b;
} compound_fields;

static ALWAYS_INLINE compound_fields compound_fields_of(const int kind, const int dim,
                                                        const real* k)
{
    const int size = law_size(kind, dim), turns = spin_width(dim), lane = PACKED_LANES;
    compound_fields c = {.n = k};
    const real* at = k + dim * lane;
    c.wn = field(at, 0);
    c.bias = field(at, 1);
    c.mu = field(at, 2);
    c.bond = field(at, 3);
    c.closing = field(at, 4);
    c.first_tangent = at + 5 * lane;
    c.slip = c.first_tangent + (dim == 2 ? 0 : 3) * lane;
    c.upper = c.slip + (dim - 1) * lane;
    c.arm_a = c.upper + size * (size + 1) / 2 * lane;
    c.arm_b = c.arm_a + dim * turns * lane;
    c.length = c.arm_b + dim * turns * lane;
    c.bounds = c.length + lane;
    c.spin = c.bounds + 2 * (dim - 1) * lane;
    c.turn_a = c.spin + turns * lane;
    c.turn_b = c.turn_a + turns * turns * lane;
    return c;
}

/// Tangents, and n last.
typedef struct contact_axes {
    lanes of[3][3];
} contact_axes;

static ALWAYS_INLINE contact_axes contact_axes_of(const int dim, const compound_fields* c)
{
    contact_axes e;
    for (int i = 0; i < dim; i++) e.of[dim - 1][i] = field(c->n, i);
    const lanes* n = e.of[dim - 1];
    if (dim == 2) {
        e.of[0][0] = lanes_set(0.0) - n[1];
        e.of[0][1] = n[0];
        return e;
    }
    for (int i = 0; i < 3; i++) e.of[0][i] = field(c->first_tangent, i);
    cross(n, e.of[0], e.of[1]);
    return e;
}

static ALWAYS_INLINE lanes dot_axis(const int dim, const lanes* axis, const lanes* x)
{
    const lanes sum = axis[0] * x[0] + axis[1] * x[1];
    if (dim == 2) return sum;
    return sum + axis[2] * x[2];
}

// ---- motion and impulses -----------------------------------------------------------------------

/// Add what a [rows][turns] matrix makes of the spins of a body, with a sign.
static ALWAYS_INLINE void add_turned(const int rows, const int turns, const real* m, const lanes* w,
                                     bool minus, lanes* out)
{
    for (int i = 0; i < rows; i++) {
        lanes sum = field(m, i * turns) * w[0];
        for (int k = 1; k < turns; k++) sum = sum + field(m, i * turns + k) * w[k];
        out[i] = minus ? out[i] - sum : out[i] + sum;
    }
}

/// Motion w of the contact as its bodies move now.
static ALWAYS_INLINE void compound_motion(const int kind, const int dim, const compound_fields* c,
                                          const contact_axes* e, const packed_bodies* o, lanes* w)
{
    const int turns = law_turns(kind, dim), spin = dim == 2 ? 2 : 4, all = spin_width(dim);
    lanes v[3];
    for (int i = 0; i < dim; i++) v[i] = o->b[i] - o->a[i];
    for (int i = 0; i < turns; i++) w[i] = lanes_set(0.0) - field(c->spin, i);
    for (int i = 0; i < dim; i++) w[turns + i] = dot_axis(dim, e->of[i], v);
    add_turned(turns, all, c->turn_b, o->b + spin, false, w);
    add_turned(turns, all, c->turn_a, o->a + spin, true, w);
    add_turned(dim, all, c->arm_b, o->b + spin, false, w + turns);
    add_turned(dim, all, c->arm_a, o->a + spin, true, w + turns);
}

/// Sum of the columns of a [rows][turns] matrix with the weights x, component k.
static ALWAYS_INLINE lanes column_sum(const int rows, const int turns, const real* m, const int k,
                                      const lanes* x)
{
    lanes sum = field(m, k) * x[0];
    for (int i = 1; i < rows; i++) sum = sum + field(m, i * turns + k) * x[i];
    return sum;
}

/// Add z to the velocities.
static ALWAYS_INLINE void push_bodies(const int kind, const int dim, const compound_fields* c,
                                      const contact_axes* e, const lanes* z, packed_bodies* o)
{
    const int turns = law_turns(kind, dim), all = spin_width(dim), spin = dim == 2 ? 2 : 4;
    const int mobility = dim == 2 ? 3 : 7;
    const lanes* p = z + turns;
    lanes *a = o->a, *b = o->b;
    for (int i = 0; i < dim; i++) {
        lanes d = e->of[0][i] * p[0];
        for (int k = 1; k < dim; k++) d = d + e->of[k][i] * p[k];
        a[i] = a[i] - a[3] * d;
        b[i] = b[i] + b[3] * d;
    }
    for (int k = 0; k < all; k++) {
        lanes on_a = column_sum(dim, all, c->arm_a, k, p);
        lanes on_b = column_sum(dim, all, c->arm_b, k, p);
        if (turns > 0) {
            on_a = on_a + column_sum(turns, all, c->turn_a, k, z);
            on_b = on_b + column_sum(turns, all, c->turn_b, k, z);
        }
        a[spin + k] = a[spin + k] - a[mobility] * on_a;
        b[spin + k] = b[spin + k] + b[mobility] * on_b;
    }
}

/// Impulses as they are stored, in the plane (normal, tangential), to those along the axes and
/// back.
static ALWAYS_INLINE void impulse_in_axes(const int dim, const contact_axes* e, const lanes* p,
                                          lanes* out)
{
    for (int i = 0; i < dim; i++) {
        out[i] = p[1 - (dim == 2 ? i : 1)];
        if (dim == 3) out[i] = dot3(e->of[i], p);
    }
}

static ALWAYS_INLINE void impulse_of_axes(const int dim, const contact_axes* e, const lanes* z,
                                          lanes* out)
{
    for (int i = 0; i < dim; i++) {
        out[i] = z[dim == 2 ? 1 - i : 0];
        if (dim == 3) out[i] = e->of[0][i] * z[0] + e->of[1][i] * z[1] + e->of[2][i] * z[2];
    }
}

// ---- the law -----------------------------------------------------------------------------------

/// What friction may reach: limit + power times a power of what all bounds grow with.
typedef struct friction_bounds {
    lanes limit[LAW_BLOCKS], power[LAW_BLOCKS];
} friction_bounds;

static ALWAYS_INLINE friction_bounds friction_bounds_of(const int kind, const int dim,
                                                        const compound_fields* c)
{
    const int slide = law_blocks(kind, dim) - 1;
    friction_bounds f;
    for (int i = 0; i < slide; i++) {
        f.limit[i] = field(c->bounds, 2 * i);
        f.power[i] = field(c->bounds, 2 * i + 1);
    }
    f.limit[slide] = c->mu;
    f.power[slide] = lanes_set(0.0);
    return f;
}

/// base^(1/2) in the plane and base^(1/3) in space, if any bound wants it; 0 of what is negative.
static ALWAYS_INLINE lanes base_root(const int dim, const int slide, const friction_bounds* f,
                                     lanes base)
{
    const lanes zero = lanes_set(0.0);
    lanes wanted = zero;
    for (int i = 0; i < slide; i++) wanted = wanted + f->power[i];
    if (slide == 0 || mask_bits(lanes_more(wanted, zero)) == 0) return zero;
    return dim == 2 ? lanes_sqrt(lanes_max0(base)) : cube_roots(lanes_max0(base));
}

/// A + drag = L D L^T, L below the diagonal of `low`, 1/D in `inverse`. Returns the lanes in which
/// it is definite to rounding.
static ALWAYS_INLINE lane_mask factor_block(const int kind, const int dim, const real* upper,
                                            const lanes* drag, lanes low[LAW_SIZE][LAW_SIZE],
                                            lanes* inverse)
{
    const int size = law_size(kind, dim), blocks = law_blocks(kind, dim);
    const lanes one = lanes_set(1.0), rounding = lanes_set(REGULAR);
    lane_mask regular = lanes_more(one, lanes_set(0.0));
    lanes diagonal[LAW_SIZE];
    UNROLLED for (int i = 0; i < size; i++)
    {
        UNROLLED for (int j = 0; j <= i; j++) low[i][j] = field(upper, upper_at(size, j, i));
    }
    UNROLLED for (int k = 0; k < blocks; k++)
    {
        const int first = law_first(kind, dim, k), end = law_end(kind, dim, k);
        UNROLLED for (int i = first; i < end; i++) low[i][i] = low[i][i] + drag[k];
    }
    UNROLLED for (int i = 0; i < size; i++) diagonal[i] = rounding * low[i][i];
    UNROLLED for (int j = 0; j < size; j++)
    {
        regular = mask_and(regular, lanes_more(low[j][j], diagonal[j]));
        inverse[j] = one / low[j][j];
        UNROLLED for (int i = j + 1; i < size; i++)
        {
            const lanes part = low[i][j] * inverse[j];
            UNROLLED for (int k = j + 1; k <= i; k++) low[i][k] = low[i][k] - part * low[k][j];
        }
        UNROLLED for (int i = j + 1; i < size; i++) low[i][j] = low[i][j] * inverse[j];
    }
    return regular;
}

/// x receives L^-1 x, whose first entries up to `from` are zero.
static ALWAYS_INLINE void forward(const int size, const int from, lanes low[LAW_SIZE][LAW_SIZE],
                                  lanes* x)
{
    UNROLLED for (int i = from + 1; i < size; i++)
    {
        UNROLLED for (int k = from; k < i; k++) x[i] = x[i] - low[i][k] * x[k];
    }
}

/// z = -(L D)^-T x above the last entry of z, which is given.
static ALWAYS_INLINE void backward(const int size, lanes low[LAW_SIZE][LAW_SIZE],
                                   const lanes* inverse, const lanes* x, lanes* z)
{
    UNROLLED for (int k = size - 2; k >= 0; k--)
    {
        z[k] = lanes_set(0.0) - x[k] * inverse[k];
        UNROLLED for (int i = k + 1; i < size; i++) z[k] = z[k] - low[i][k] * z[i];
    }
}

/// The normal impulse where the rest responds with u_n = u + p_n/inverse (law/cohesion.h), but
/// without an end of the bond's strength; `fixed`: where it does not change with u.
typedef struct normal_answer {
    lanes p;
    lane_mask fixed;
} normal_answer;

static ALWAYS_INLINE normal_answer normal_answer_of(const compound_fields* c, lanes u,
                                                    lanes inverse)
{
    const lanes zero = lanes_set(0.0), push = zero - (u + c->bias) * inverse,
                hold = zero - (u + c->closing) * inverse;
    const lane_mask bonded = lanes_more(c->bond, zero), pulls = lanes_more(zero, hold);
    const lanes least = lanes_pick(pulls, hold, zero);
    const lane_mask kept = mask_but(bonded, lanes_more(push, least));
    return (normal_answer){lanes_pick(kept, least, push), mask_but(kept, pulls)};
}

/// What the contact does under given drags.
typedef struct drag_trial {
    lanes low[LAW_SIZE][LAW_SIZE], inverse[LAW_SIZE]; ///< L and 1/D
    lane_mask regular, fixed; ///< A is definite; the normal impulse stays what it is
    lanes z[LAW_SIZE];
    // of each kind of friction: |z|^2, its bound and what that grows by with p_n, |z| - bound, and
    // where the drag has to change until that is zero
    lanes square[LAW_BLOCKS], bound[LAW_BLOCKS], slope[LAW_BLOCKS], excess[LAW_BLOCKS];
    lane_mask active[LAW_BLOCKS];
} drag_trial;

static ALWAYS_INLINE lanes square_of(const int first, const int end, const lanes* z)
{
    lanes sum = z[first] * z[first];
    for (int i = first + 1; i < end; i++) sum = sum + z[i] * z[i];
    return sum;
}

/// Solve J x = r by elimination, in place of r; J[i][i] > 0 where things go well.
static ALWAYS_INLINE void eliminate_drags(const int blocks, lanes J[LAW_BLOCKS][LAW_BLOCKS],
                                          lanes* r)
{
    lanes inverse[LAW_BLOCKS];
    UNROLLED for (int j = 0; j < blocks; j++)
    {
        inverse[j] = lanes_set(1.0) / J[j][j];
        UNROLLED for (int i = j + 1; i < blocks; i++)
        {
            const lanes factor = J[i][j] * inverse[j];
            UNROLLED for (int k = j + 1; k < blocks; k++) J[i][k] = J[i][k] - factor * J[j][k];
            r[i] = r[i] - factor * r[j];
        }
    }
    UNROLLED for (int i = blocks - 1; i >= 0; i--)
    {
        UNROLLED for (int k = i + 1; k < blocks; k++) r[i] = r[i] - J[i][k] * r[k];
        r[i] = r[i] * inverse[i];
    }
}

/// The drags that the present motion and impulses speak of: only where an impulse is near its bound
/// and against its motion.
static ALWAYS_INLINE void guess_drags(const int kind, const int dim, const compound_fields* c,
                                      const friction_bounds* bounds, const lanes* w, const lanes* z,
                                      lanes* drag)
{
    const int size = law_size(kind, dim), blocks = law_blocks(kind, dim), slide = blocks - 1;
    const lanes zero = lanes_set(0.0), base = lanes_max0(z[size - 1] + c->bond);
    const lanes root = base_root(dim, slide, bounds, base);
    for (int k = 0; k < blocks; k++) {
        const int first = law_first(kind, dim, k), end = law_end(kind, dim, k);
        const lanes bound = base * (bounds->limit[k] + bounds->power[k] * root);
        const lanes square = square_of(first, end, z);
        lanes against = zero;
        for (int i = first; i < end; i++) against = against - w[i] * z[i];
        const lane_mask at_bound =
            mask_and(lanes_more(square, lanes_set(0.8) * bound * bound), lanes_more(square, zero));
        const lanes guess = against / lanes_pick(at_bound, square, lanes_set(1.0));
        const lanes most = lanes_set(1e4) * field(c->upper, upper_at(size, first, first));
        drag[k] =
            lanes_pick(at_bound, lanes_if_greater(guess, most, most, lanes_max0(guess)), zero);
        const lane_mask some = lanes_more(bounds->limit[k] + bounds->power[k], zero);
        drag[k] = lanes_pick(some, drag[k], lanes_set(STOPPED));
    }
}

static ALWAYS_INLINE void try_drags(const int kind, const int dim, const compound_fields* c,
                                    const friction_bounds* bounds, const lanes* f,
                                    const lanes* drag, drag_trial* t)
{
    const int size = law_size(kind, dim), blocks = law_blocks(kind, dim);
    const lanes power = lanes_set(dim == 2 ? 1.5 : 4.0 / 3.0), zero = lanes_set(0.0);
    lanes x[LAW_SIZE];
    t->regular = factor_block(kind, dim, c->upper, drag, t->low, t->inverse);
    for (int i = 0; i < size; i++) x[i] = f[i];
    forward(size, 0, t->low, x);
    const normal_answer normal = normal_answer_of(c, x[size - 1], t->inverse[size - 1]);
    t->fixed = normal.fixed;
    t->z[size - 1] = normal.p;
    backward(size, t->low, t->inverse, x, t->z);
    const lanes base = normal.p + c->bond, root = base_root(dim, blocks - 1, bounds, base);
    UNROLLED for (int k = 0; k < blocks; k++)
    {
        const lanes growth = bounds->power[k] * root;
        t->square[k] = square_of(law_first(kind, dim, k), law_end(kind, dim, k), t->z);
        t->bound[k] = base * (bounds->limit[k] + growth);
        t->slope[k] = bounds->limit[k] + power * growth;
        t->excess[k] = lanes_sqrt(t->square[k]) - t->bound[k];
        t->active[k] = mask_and(mask_or(lanes_more(drag[k], zero), lanes_more(t->excess[k], zero)),
                                lanes_more(lanes_set(STOPPED), drag[k]));
    }
}

/// Newton's step on bound/|z| = 1: `change` receives that of the drags, and the impulses of the
/// trial follow it to first order in the lanes of `any`.
static ALWAYS_INLINE void change_drags(const int kind, const int dim, lane_mask any, drag_trial* t,
                                       lanes* change)
{
    const int size = law_size(kind, dim), blocks = law_blocks(kind, dim), normal = size - 1;
    const lanes zero = lanes_set(0.0), one = lanes_set(1.0), tiny = lanes_set(NOTHING);
    lanes dz[LAW_BLOCKS][LAW_SIZE], J[LAW_BLOCKS][LAW_BLOCKS]; // by the drags; of -|z| (bound/|z|)
    UNROLLED for (int k = 0; k < blocks; k++)
    {
        const int first = law_first(kind, dim, k), end = law_end(kind, dim, k);
        lanes x[LAW_SIZE];
        for (int i = 0; i < size; i++) x[i] = i >= first && i < end ? t->z[i] : zero;
        forward(size, first, t->low, x);
        dz[k][normal] = lanes_pick(t->fixed, zero, zero - x[normal] * t->inverse[normal]);
        backward(size, t->low, t->inverse, x, dz[k]);
    }
    UNROLLED for (int k = 0; k < blocks; k++)
    {
        const int first = law_first(kind, dim, k), end = law_end(kind, dim, k);
        const lanes part = t->bound[k] / lanes_larger(t->square[k], tiny);
        UNROLLED for (int j = 0; j < blocks; j++)
        {
            lanes along = t->z[first] * dz[j][first];
            for (int i = first + 1; i < end; i++) along = along + t->z[i] * dz[j][i];
            const lanes slope = t->slope[k] * dz[j][normal] - part * along;
            const lane_mask both = mask_and(t->active[k], t->active[j]);
            J[k][j] = lanes_pick(both, slope, k == j ? one : zero);
        }
        change[k] = lanes_pick(t->active[k], t->excess[k], zero);
    }
    eliminate_drags(blocks, J, change);
    UNROLLED for (int i = 0; i < size; i++)
    {
        lanes moved = t->z[i];
        UNROLLED for (int k = 0; k < blocks; k++) moved = moved + change[k] * dz[k][i];
        t->z[i] = lanes_pick(any, moved, t->z[i]);
    }
}

/// A drag after a step. Where the step would end it though the impulse is beyond its bound (far
/// from the answer all impulses together may pull the bodies apart, and bounds be negative), it
/// grows by what its own response asks for.
static ALWAYS_INLINE lanes next_drag(lanes own, lanes drag, lanes change, lanes excess, lanes bound)
{
    const lanes zero = lanes_set(0.0), most = lanes_set(1e3);
    const lanes next = lanes_max0(drag + change), part = excess / lanes_abs(bound);
    const lanes grown = drag + own * lanes_if_greater(part, most, most, part);
    const lane_mask lost = mask_but(lanes_more(excess, zero), lanes_more(next, zero));
    return lanes_pick(lost, grown, next);
}

/// Solve the lanes of `wanted` from the drags given; returns those that were. f is the motion
/// without the contact's own impulses.
static ALWAYS_INLINE lane_mask solve_drags(const int kind, const int dim, const compound_fields* c,
                                           const friction_bounds* bounds, const lanes* f,
                                           lane_mask wanted, lanes* drag, lanes* z)
{
    const int size = law_size(kind, dim), blocks = law_blocks(kind, dim);
    const lanes zero = lanes_set(0.0);
    const lane_mask none = mask_but(wanted, wanted);
    lane_mask moving = wanted, solved = none;
    for (int step = 0; step < DRAG_STEPS && mask_bits(moving) != 0; step++) {
        drag_trial t;
        lanes change[LAW_BLOCKS];
        lane_mask rests = moving, any = none;
        try_drags(kind, dim, c, bounds, f, drag, &t);
        UNROLLED for (int k = 0; k < blocks; k++)
        {
            const lanes rest = lanes_set(DRAG_REST) * (t.excess[k] + t.bound[k]);
            const lane_mask misses =
                mask_but(t.active[k], lanes_more(rest, lanes_abs(t.excess[k])));
            any = mask_or(any, mask_and(moving, t.active[k]));
            rests = mask_but(rests, misses);
        }
        if (mask_bits(any) != 0) {
            change_drags(kind, dim, any, &t, change);
            UNROLLED for (int k = 0; k < blocks; k++)
            {
                const int first = law_first(kind, dim, k);
                const lanes own = field(c->upper, upper_at(size, first, first));
                const lanes next = next_drag(own, drag[k], change[k], t.excess[k], t.bound[k]);
                drag[k] = lanes_pick(t.active[k], next, drag[k]);
            }
        }
        rests = mask_and(rests, t.regular);
        for (int i = 0; i < size; i++) z[i] = lanes_pick(rests, t.z[i], z[i]);
        solved = mask_or(solved, rests);
        moving = mask_but(moving, rests);
    }
    for (int k = 0; k < blocks; k++) {
        const lane_mask stopped = mask_but(solved, lanes_more(lanes_set(STOPPED), drag[k]));
        for (int i = law_first(kind, dim, k); i < law_end(kind, dim, k); i++) {
            z[i] = lanes_pick(stopped, zero, z[i]);
        }
    }
    return solved;
}

// ---- one by one --------------------------------------------------------------------------------

/// The bound of a torque as the scalar law has it, for steps of length 1.
static ALWAYS_INLINE rolling_bound bound_of_fields(const int dim, const real* bounds, int lane)
{
    const double limit = (double)bounds[lane], power = (double)bounds[PACKED_LANES + lane];
    rolling_bound bound = {limit, 0.0};
    if (power > 0.0) bound.coefficient = power, bound.exponent = dim == 2 ? 0.5 : 1.0 / 3.0;
    return bound;
}

/// Solve one lane by the scalar law, in the axes of the contact; [size][lane].
static inline void solve_compound_alone(const int kind, const int dim, const compound_fields* c,
                                        int lane, const real* f, real* z)
{
    const int size = law_size(kind, dim), turns = law_turns(kind, dim), all = spin_width(dim);
    double S[9], n[3] = {0.0, 0.0, 0.0}, u[3], spin[3] = {0.0, 0.0, 0.0}, p[3], torque[3];
    compound_arms arms;
    compound_contact contact;
    compound_problem alone;
    memset(&arms, 0, sizeof arms);
    memset(&contact, 0, sizeof contact);
    memset(&alone, 0, sizeof alone);
    n[dim - 1] = 1.0;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            const int at = upper_at(size, turns + i, turns + j);
            S[i * dim + j] = (double)c->upper[at * PACKED_LANES + lane];
        }
        u[i] = (double)f[(turns + i) * PACKED_LANES + lane];
    }
    for (int i = 0; i < turns; i++) {
        for (int j = 0; j < dim; j++) {
            const int at = upper_at(size, i, turns + j);
            arms.coupling[i * dim + j] = (double)c->upper[at * PACKED_LANES + lane];
        }
        for (int j = 0; j < turns; j++) {
            const int at = upper_at(size, i, j);
            arms.response[i * all + j] = (double)c->upper[at * PACKED_LANES + lane];
        }
        spin[i] = (double)f[i * PACKED_LANES + lane];
    }
    const real* own = c->n + dim * PACKED_LANES + lane; // wn, bias, mu, bond, closing
    contact.h = 1.0;
    contact.bond = (double)own[3 * PACKED_LANES];
    contact.closing = (double)own[4 * PACKED_LANES];
    if (turns > 0) contact.rolling = bound_of_fields(dim, c->bounds, lane);
    if (turns > 1) contact.torsion = bound_of_fields(3, c->bounds + 2 * PACKED_LANES, lane);
    alone.dim = dim;
    alone.n = n;
    alone.S = S;
    alone.arms = &arms;
    alone.bias = (double)own[PACKED_LANES];
    alone.mu = (double)own[2 * PACKED_LANES];
    alone.contact = &contact;
    alone.u = u;
    alone.spin = spin;
    compound_solve(&alone, p, torque);
    for (int i = 0; i < turns; i++) z[i * PACKED_LANES + lane] = (real)torque[i];
    for (int i = 0; i < dim; i++) z[(turns + i) * PACKED_LANES + lane] = (real)p[i];
}

/// Hand the lanes of the mask to the scalar law.
static ALWAYS_INLINE void solve_compounds_alone(const int kind, const int dim,
                                                const compound_fields* c, lane_mask mask,
                                                const lanes* f, lanes* z)
{
    const int size = law_size(kind, dim);
    _Alignas(64) real solved[LAW_SIZE * PACKED_LANES], left[LAW_SIZE * PACKED_LANES];
    for (int i = 0; i < size; i++) {
        lanes_store(solved + i * PACKED_LANES, z[i]);
        lanes_store(left + i * PACKED_LANES, f[i]);
    }
    for (unsigned bits = mask_bits(mask); bits; bits &= bits - 1) {
        solve_compound_alone(kind, dim, c, __builtin_ctz(bits), left, solved);
    }
    for (int i = 0; i < size; i++) z[i] = lanes_load(solved + i * PACKED_LANES);
}

// ---- a sweep -----------------------------------------------------------------------------------

/// Exact impulses z in the axes of the contact; they hold the present ones, w is the present
/// motion.
static ALWAYS_INLINE void solve_compounds(const int kind, const int dim, const compound_fields* c,
                                          const lanes* w, lanes* z)
{
    const int size = law_size(kind, dim), turns = law_turns(kind, dim);
    const lanes zero = lanes_set(0.0), pull = zero - c->bond;
    lanes slipping[LAW_SIZE], f[LAW_SIZE], drag[LAW_BLOCKS];
    for (int i = 0; i < size; i++) {
        slipping[i] = w[i];
        if (i >= turns && i < size - 1) slipping[i] = w[i] + field(c->slip, i - turns);
        f[i] = slipping[i];
        for (int j = 0; j < size; j++) f[i] = f[i] - field(c->upper, upper_at(size, i, j)) * z[j];
    }
    // Open: the bodies part against all that the bond can bear, and nothing rubs.
    const lane_mask bonded = lanes_more(c->bond, zero);
    const lanes kept =
        lanes_pick(bonded, lanes_if_greater(c->closing, c->bias, c->bias, c->closing), c->bias);
    const lanes parting = f[size - 1] + c->wn * pull + kept;
    const lane_mask wanted = lanes_more(zero, parting);
    const friction_bounds bounds = friction_bounds_of(kind, dim, c);
    if (mask_bits(wanted) != 0) guess_drags(kind, dim, c, &bounds, slipping, z, drag);
    for (int i = 0; i < size; i++) z[i] = i < size - 1 ? zero : pull;
    if (mask_bits(wanted) == 0) return;
    const lane_mask solved = solve_drags(kind, dim, c, &bounds, f, wanted, drag, z);
    const lane_mask left = mask_but(wanted, solved);
    if (mask_bits(left) != 0) solve_compounds_alone(kind, dim, c, left, f, z);
}

static ALWAYS_INLINE void sweep_compounds(packed_problem* packed, const int kind, const int dim,
                                          int64_t batch, int part, const lane_manner manner,
                                          lane_sums* sums)
{
    const int turns = law_turns(kind, dim), size = law_size(kind, dim), lane = part * LANE_WIDTH;
    const int32_t* who = packed->who + 2 * batch * PACKED_LANES + lane;
    const int64_t torques = packed_torque_at(packed, dim, batch) + lane;
    const compound_fields c =
        compound_fields_of(kind, dim, constants_of(packed, kind, dim, batch) + lane);
    const contact_axes axes = contact_axes_of(dim, &c);
    real* p = values_of(packed, PACKED_IMPULSE) + batch * dim * PACKED_LANES + lane;
    real* z = values_of(packed, PACKED_OLD_IMPULSE) + batch * dim * PACKED_LANES + lane;
    real* t = values_of(packed, PACKED_TORQUE) + torques;
    real* old_t = values_of(packed, PACKED_OLD_TORQUE) + torques;
    lanes x[3], y[3], before[3], torque_before[3], w[LAW_SIZE], now[LAW_SIZE], dz[LAW_SIZE];
    packed_bodies o;
    load_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    const unsigned held = held_bits(packed, batch, lane, manner);
    extrapolate(dim, p, z, manner, before, y);
    extrapolate(turns, t, old_t, manner, torque_before, now);
    impulse_in_axes(dim, &axes, y, now + turns);
    for (int i = 0; i < size; i++) dz[i] = now[i];
    compound_motion(kind, dim, &c, &axes, &o, w);
    solve_compounds(kind, dim, &c, w, now);
    for (int i = 0; i < size; i++) dz[i] = now[i] - dz[i];
    impulse_of_axes(dim, &axes, now + turns, x);
    for (int i = 0; i < dim; i++) lanes_store(p + i * PACKED_LANES, x[i]);
    for (int i = 0; i < turns; i++) lanes_store(t + i * PACKED_LANES, now[i]);
    push_bodies(kind, dim, &c, &axes, dz, &o);
    store_bodies(dim, values_of(packed, PACKED_ROW), who, &o);
    const lane_mask hold =
        add_to_sums(packed, dim, batch, lane, manner, held, c.wn, x, y, before, sums);
    if (mask_bits(hold) != 0) {
        packed_bodies old;
        lanes dp[3];
        load_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
        hold_impulses(dim, hold, x, before, z, dp);
        impulse_in_axes(dim, &axes, dp, dz + turns);
        hold_impulses(turns, hold, now, torque_before, old_t, dz);
        push_bodies(kind, dim, &c, &axes, dz, &old);
        store_bodies(dim, values_of(packed, PACKED_OLD_ROW), who, &old);
    }
}

/// Add the impulses and torques of a vector of contacts to the velocities.
static ALWAYS_INLINE void apply_compounds(const packed_problem* packed, const int kind,
                                          const int dim, int64_t batch, int lane, packed_bodies* o)
{
    const int turns = law_turns(kind, dim);
    const compound_fields c =
        compound_fields_of(kind, dim, constants_of(packed, kind, dim, batch) + lane);
    const contact_axes axes = contact_axes_of(dim, &c);
    const real* p = values_of(packed, PACKED_IMPULSE) + batch * dim * PACKED_LANES + lane;
    const real* t = values_of(packed, PACKED_TORQUE) + packed_torque_at(packed, dim, batch) + lane;
    lanes y[3], z[LAW_SIZE];
    for (int i = 0; i < turns; i++) z[i] = field(t, i);
    for (int i = 0; i < dim; i++) y[i] = field(p, i);
    impulse_in_axes(dim, &axes, y, z + turns);
    push_bodies(kind, dim, &c, &axes, z, o);
}

#endif

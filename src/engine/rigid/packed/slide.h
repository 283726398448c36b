/// Sliding of contacts with full blocks, all lanes at once: the formulas of law/coulomb_block.c.
///
/// In 2D the two directions are judged as there. In 3D the slip is known to be unique in most
/// lanes; there the angle of d is found by Newton's method on
///     F = d x (M d - v) = e0 + e1 cos 2a + e2 sin 2a + v0 sin a - v1 cos a
/// from the direction of the last impulse. A step turns d by 2 atan(-F/2s), which is Newton's for
/// small steps, needs one division and keeps |d| = 1; s is the slope, or |F| if that is larger, so
/// that d goes down F and never to a root with a falling slope. A lane that has come to rest keeps
/// its value while others go on: the answer of a lane does not depend on its neighbours. It counts
/// only if it fulfils the law to rounding.
#ifndef TALUS_RIGID_PACKED_SLIDE_H
#define TALUS_RIGID_PACKED_SLIDE_H

#include "rigid/packed/lanes.h"

/// Newton steps at most, and the turn after which the next one would be rounding.
enum { TURNS = 12 };
static const double LAST_TURN = BY_PRECISION(1e-8, 3e-4);
/// As in law/coulomb_block.c: velocities relative to |f| + |S||p| that are rounding, and that are
/// good enough to choose between two slips; a normal response that has lost digits.
static const double SHARP = BY_PRECISION(1e-14, 2e-6), GOOD = BY_PRECISION(1e-12, 2e-5),
                    CANCELLED = 1e-3;

/// What the law needs to know of such contacts.
typedef struct solid_contact {
    const lanes* n;    ///< [dim]
    const real* upper; ///< S, fields of its upper triangle
    lanes mu;
    lanes free_n;       ///< normal velocity without the contact's own impulse, with the bias
    const lanes* alone; ///< [dim] velocity without the contact's own impulse
} solid_contact;

// ---- in the plane ------------------------------------------------------------------------------

/// Sliding towards d = 1 or -1: impulse, dissipation, and whether it fulfils the law.
typedef struct slip_2d {
    lanes r, power;
    lane_mask good;
} slip_2d;

static ALWAYS_INLINE slip_2d judge_2d(const solid_contact* c, double d)
{
    const lanes S[3] = {field(c->upper, 0), field(c->upper, 1), field(c->upper, 2)};
    const lanes zero = lanes_set(0.0), mu_d = c->mu * lanes_set(d);
    const lanes r = (zero - c->free_n) / (S[0] + mu_d * S[1]);
    const lanes along = lanes_set(d) * (c->alone[1] + r * (S[1] + mu_d * S[2]));
    const lanes size = lanes_abs(c->free_n) + lanes_abs(c->alone[1]) +
                       (S[0] + S[2]) * r * (lanes_set(1.0) + c->mu);
    const lane_mask good = mask_and(lanes_more(r, zero), lanes_more(lanes_set(GOOD) * size, along));
    return (slip_2d){r, (zero - along) * r, good};
}

/// Solve the lanes of `wanted`; returns those that were.
static ALWAYS_INLINE lane_mask slide_2d(const solid_contact* c, lane_mask wanted, lanes* x)
{
    const slip_2d left = judge_2d(c, -1.0), right = judge_2d(c, 1.0);
    const lane_mask more =
        mask_or(lanes_more(left.power, right.power), mask_but(wanted, right.good));
    const lane_mask to_left = mask_and(left.good, more);
    const lane_mask solved = mask_and(wanted, mask_or(left.good, right.good));
    const lanes r = lanes_pick(to_left, left.r, right.r), pt = c->mu * r;
    x[0] = lanes_pick(solved, r, x[0]);
    x[1] = lanes_pick(solved, lanes_pick(to_left, lanes_set(0.0) - pt, pt), x[1]);
    return solved;
}

// ---- in space ----------------------------------------------------------------------------------

/// The block in the axes n, t1, t2: a = S_nn, b and C the other parts, f the free velocity.
typedef struct slip_frame {
    lanes t1[3], t2[3];
    lanes a, b[2], c11, c12, c22, f[2];
} slip_frame;

/// Two tangents of n without a case to tell apart but its sign (Duff et al. 2017).
static ALWAYS_INLINE void tangents_of(const lanes* n, lanes* t1, lanes* t2)
{
    const lanes one = lanes_set(1.0), zero = lanes_set(0.0);
    const lanes sign = lanes_if_greater(zero, n[2], lanes_set(-1.0), one);
    const lanes a = lanes_set(-1.0) / (sign + n[2]), b = n[0] * n[1] * a;
    t1[0] = one + sign * n[0] * n[0] * a;
    t1[1] = sign * b;
    t1[2] = zero - sign * n[0];
    t2[0] = b;
    t2[1] = sign + n[1] * n[1] * a;
    t2[2] = zero - n[1];
}

static ALWAYS_INLINE slip_frame slip_frame_of(const solid_contact* c)
{
    slip_frame s;
    lanes Sn[3], S1[3], S2[3];
    tangents_of(c->n, s.t1, s.t2);
    symmetric_times(3, c->upper, c->n, Sn);
    symmetric_times(3, c->upper, s.t1, S1);
    symmetric_times(3, c->upper, s.t2, S2);
    s.a = dot3(c->n, Sn);
    s.b[0] = dot3(s.t1, Sn);
    s.b[1] = dot3(s.t2, Sn);
    s.c11 = dot3(s.t1, S1);
    s.c12 = dot3(s.t1, S2);
    s.c22 = dot3(s.t2, S2);
    s.f[0] = dot3(s.t1, c->alone);
    s.f[1] = dot3(s.t2, c->alone);
    return s;
}

/// Coefficients of F, and half the trace of M.
typedef struct slip_angle {
    lanes e0, e1, e2, half, v[2];
} slip_angle;

static ALWAYS_INLINE slip_angle slip_angle_of(const solid_contact* c, const slip_frame* s)
{
    const lanes half = lanes_set(0.5), fn = c->free_n;
    const lanes M00 = c->mu * (s->f[0] * s->b[0] - fn * s->c11);
    const lanes M01 = c->mu * (s->f[0] * s->b[1] - fn * s->c12);
    const lanes M10 = c->mu * (s->f[1] * s->b[0] - fn * s->c12);
    const lanes M11 = c->mu * (s->f[1] * s->b[1] - fn * s->c22);
    return (slip_angle){.e0 = half * (M10 - M01),
                        .e1 = half * (M10 + M01),
                        .e2 = half * (M11 - M00),
                        .half = half * (M11 + M00),
                        .v = {fn * s->b[0] - s->a * s->f[0], fn * s->b[1] - s->a * s->f[1]}};
}

/// Those lanes of `wanted` that surely have one slip only. See the head of law/coulomb_block.c;
/// |M|^2/2 is the sum of the squares of the coefficients.
static ALWAYS_INLINE lane_mask slip_is_unique(const slip_angle* s, lane_mask wanted)
{
    const lanes radius2 = s->e1 * s->e1 + s->e2 * s->e2, half2 = s->half * s->half;
    const lane_mask definite =
        mask_and(lanes_more(s->half, lanes_set(0.0)), lanes_more(half2, radius2));
    if (mask_bits(mask_but(wanted, definite)) == 0) return wanted;
    const lanes M2 = lanes_set(2.0) * (radius2 + half2 + s->e0 * s->e0);
    const lanes v = lanes_sqrt(s->v[0] * s->v[0] + s->v[1] * s->v[1]);
    const lanes least = s->half - lanes_sqrt(radius2);
    return mask_and(wanted, mask_or(definite, lanes_more(v, lanes_sqrt(M2) - least)));
}

/// One step of Newton's method for the lanes of `moving`; returns those that must go on.
static ALWAYS_INLINE lane_mask turn(const slip_angle* s, lane_mask moving, lanes* d)
{
    const lanes two = lanes_set(2.0);
    const lanes cos2 = d[0] * d[0] - d[1] * d[1], sin2 = two * d[0] * d[1];
    const lanes F = s->e0 + s->e1 * cos2 + s->e2 * sin2 + (s->v[0] * d[1] - s->v[1] * d[0]);
    const lanes slope = two * (s->e2 * cos2 - s->e1 * sin2) + (s->v[0] * d[0] + s->v[1] * d[1]);
    const lanes size = lanes_abs(F), D = two * lanes_larger(slope, size);
    const lanes FF = F * F, DD = D * D, inverse = lanes_set(1.0) / (DD + FF);
    const lanes cosine = (DD - FF) * inverse, sine = two * F * D * inverse;
    const lanes x = cosine * d[0] + sine * d[1], y = cosine * d[1] - sine * d[0];
    d[0] = lanes_pick(moving, x, d[0]);
    d[1] = lanes_pick(moving, y, d[1]);
    return mask_and(moving, lanes_more(size, lanes_set(0.5 * LAST_TURN) * D));
}

/// Unit vector along the tangential part of y; any if there is none.
static ALWAYS_INLINE void start_direction(const slip_frame* s, const lanes* y, lanes* d)
{
    const lanes zero = lanes_set(0.0), one = lanes_set(1.0);
    const lanes y1 = dot3(s->t1, y), y2 = dot3(s->t2, y), yy = y1 * y1 + y2 * y2;
    const lane_mask there = lanes_more(yy, zero);
    const lanes scale = one / lanes_sqrt(lanes_pick(there, yy, one));
    d[0] = lanes_pick(there, y1 * scale, one);
    d[1] = lanes_pick(there, y2 * scale, zero);
}

/// Solve the lanes of `wanted` from the impulse y; returns those that were.
static ALWAYS_INLINE lane_mask slide_3d(const solid_contact* c, lane_mask wanted, const lanes* y,
                                        lanes* x)
{
    const lanes zero = lanes_set(0.0), one = lanes_set(1.0), mu = c->mu;
    const slip_frame s = slip_frame_of(c);
    const slip_angle angle = slip_angle_of(c, &s);
    lanes d[2];
    start_direction(&s, y, d);
    wanted = slip_is_unique(&angle, wanted);
    lane_mask moving = wanted;
    for (int i = 0; i < TURNS && mask_bits(moving) != 0; i++) moving = turn(&angle, moving, d);
    const lanes stretch = lanes_set(1.5) - lanes_set(0.5) * (d[0] * d[0] + d[1] * d[1]);
    d[0] = d[0] * stretch;
    d[1] = d[1] * stretch;

    const lanes trace = s.a + s.c11 + s.c22, with_mu = one + mu;
    const lanes D = s.a + mu * (s.b[0] * d[0] + s.b[1] * d[1]), r = (zero - c->free_n) / D;
    const lanes u1 = s.f[0] + r * (s.b[0] + mu * (s.c11 * d[0] + s.c12 * d[1]));
    const lanes u2 = s.f[1] + r * (s.b[1] + mu * (s.c12 * d[0] + s.c22 * d[1]));
    const lanes along = d[0] * u1 + d[1] * u2, across = lanes_abs(d[0] * u2 - d[1] * u1);
    const lanes size =
        lanes_abs(c->free_n) + lanes_abs(s.f[0]) + lanes_abs(s.f[1]) + trace * r * with_mu;
    const lanes rounding = lanes_set(SHARP) * size;
    const lane_mask fits = mask_and(lanes_more(rounding, across), lanes_more(rounding, along));
    const lane_mask sure = lanes_more(D, lanes_set(CANCELLED) * trace * with_mu);
    const lane_mask solved = mask_and(wanted, mask_and(fits, sure));
    for (int i = 0; i < 3; i++) {
        const lanes p = r * (c->n[i] + mu * (d[0] * s.t1[i] + d[1] * s.t2[i]));
        x[i] = lanes_pick(solved, p, x[i]);
    }
    return solved;
}

#endif

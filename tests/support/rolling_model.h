/// Two bodies in contact written out in full, for the tests of contacts with torques.
///
/// Nothing here knows the engine's reduced variables: H is the 12x6 matrix of lever arms that turns
/// the contact's force and torque into impulses on both bodies, M the masses and inertia tensors,
/// W = H^T M^-1 H the 6x6 block of BUW 1.7, and z = (p, T) the impulse and torque impulse on b:
///     (V, Omega) = (V, Omega)_free + W z.
/// A disk is a body whose z translation and x, y rotations have no mobility (3x3 in 2D).
/// The law is checked condition by condition on that motion; a dense solve of the 6 unknowns by
/// projected fixed-point iteration gives the solution itself.
#ifndef TALUS_TESTS_ROLLING_MODEL_H
#define TALUS_TESTS_ROLLING_MODEL_H

#include "support.h"

#include <string.h>
#include <talus/world.h>

typedef struct model_body {
    double mobility[3][3]; ///< inverse mass matrix
    double turning[3][3];  ///< inverse inertia tensor
    double radius;         ///< arm from the centre to the contact
    double v[3], w[3];     ///< free velocity and spin
} model_body;

/// Law of the contact. Coefficients of torques are as the user gives them.
typedef struct model_law {
    int dim;
    double h, bias, mu, bond; ///< bond: F_C h, 0: none
    double slip[3];           ///< sticking means V_t + slip = 0
    talus_rolling_kind kind;
    double rolling, torsion, reduced_radius;
} model_law;

typedef struct model {
    double n[3];
    double W[6][6], free[6];
} model;

static inline void model_cross(double* out, const double* a, const double* b)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double model_dot(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double model_norm(const double* a)
{
    return sqrt(model_dot(a, a));
}

/// A free grain: mass and inertia of a disk or sphere; 0 for either: it does not move that way.
static inline model_body model_grain(int dim, double radius, double mass, double inertia)
{
    model_body b = {.radius = radius};
    for (int k = 0; k < dim; k++) b.mobility[k][k] = mass > 0.0 ? 1.0 / mass : 0.0;
    for (int k = dim == 2 ? 2 : 0; k < 3; k++)
        b.turning[k][k] = inertia > 0.0 ? 1.0 / inertia : 0.0;
    return b;
}

/// Rows 0-2 of H: force, 3-5: torque, of body a or b, for a unit of component j of z.
static inline void model_column(double sign, const double* arm, int j, double* out)
{
    double unit[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0};
    unit[j % 3] = sign;
    if (j < 3) model_cross(torque, arm, unit);
    for (int k = 0; k < 3; k++) {
        out[k] = j < 3 ? unit[k] : 0.0;
        out[3 + k] = j < 3 ? torque[k] : unit[k];
    }
}

/// M^-1 times an impulse of one body.
static inline void model_move(const model_body* b, const double* impulse, double* motion)
{
    for (int k = 0; k < 3; k++) {
        motion[k] = model_dot(b->mobility[k], impulse);
        motion[3 + k] = model_dot(b->turning[k], impulse + 3);
    }
}

/// The block and the free motion of the contact with normal n from a to b.
static inline model model_make(const double* n, const model_body* a, const model_body* b)
{
    model m;
    double arm_a[3], arm_b[3], H[12][6];
    for (int k = 0; k < 3; k++) {
        m.n[k] = n[k];
        arm_a[k] = a->radius * n[k];
        arm_b[k] = -b->radius * n[k];
    }
    for (int j = 0; j < 6; j++) {
        double part[6];
        model_column(-1.0, arm_a, j, part);
        for (int k = 0; k < 6; k++) H[k][j] = part[k];
        model_column(1.0, arm_b, j, part);
        for (int k = 0; k < 6; k++) H[6 + k][j] = part[k];
    }
    for (int j = 0; j < 6; j++) {
        double impulse[12], motion[12];
        for (int k = 0; k < 12; k++) impulse[k] = H[k][j];
        model_move(a, impulse, motion);
        model_move(b, impulse + 6, motion + 6);
        for (int i = 0; i < 6; i++) {
            m.W[i][j] = 0.0;
            for (int k = 0; k < 12; k++) m.W[i][j] += H[k][i] * motion[k];
        }
        m.free[j] = 0.0;
        for (int k = 0; k < 3; k++) {
            m.free[j] += H[k][j] * a->v[k] + H[3 + k][j] * a->w[k];
            m.free[j] += H[6 + k][j] * b->v[k] + H[9 + k][j] * b->w[k];
        }
    }
    return m;
}

/// Motion at the contact for z.
static inline void model_motion(const model* m, const double* z, double* motion)
{
    for (int i = 0; i < 6; i++) {
        motion[i] = m->free[i];
        for (int j = 0; j < 6; j++) motion[i] += m->W[i][j] * z[j];
    }
}

/// Largest torque impulse for a normal impulse: BUW 1.41-1.45.
static inline double model_torque_bound(const model_law* law, double coefficient, double normal)
{
    double base = normal + law->bond;
    if (!(base > 0.0) || coefficient == 0.0) return 0.0;
    double N = base / law->h, arm = coefficient;
    if (law->kind == TALUS_ROLLING_RADIUS) arm = coefficient * law->reduced_radius;
    if (law->kind == TALUS_ROLLING_HERTZ) {
        double contact = law->reduced_radius * N;
        arm = coefficient * (law->dim == 2 ? sqrt(contact) : cbrt(contact));
    }
    return arm * N * law->h;
}

static inline double model_slide_bound(const model_law* law, double normal)
{
    double base = normal + law->bond;
    return base > 0.0 ? law->mu * base : 0.0;
}

// ---- the law, condition by condition -----------------------------------------------------------

/// How far the velocities and impulses are to be measured in.
typedef struct model_scale {
    double velocity, impulse, length;
} model_scale;

static inline double model_segment_distance(double x, double y, double x0, double y0, double x1,
                                            double y1)
{
    double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
    double t = length2 > 0.0 ? ((x - x0) * dx + (y - y0) * dy) / length2 : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return hypot(x - x0 - t * dx, y - y0 - t * dy);
}

/// Distance of (V_n, p_n), in units of the scale, from the graph of exclusion and cohesion.
static inline double model_normal_violation(const model_law* law, model_scale s, double un,
                                            double pn)
{
    const double x = un / s.velocity, y = pn / s.impulse, far = 1e3;
    const double bond = law->bond / s.impulse, wall = -law->bias / s.velocity;
    if (wall > 0.0) {
        double best = model_segment_distance(x, y, wall, -bond, wall + far, -bond);
        return fmin(best, model_segment_distance(x, y, wall, -bond, wall, far));
    }
    double best = model_segment_distance(x, y, 0.0, -bond, far, -bond);
    best = fmin(best, model_segment_distance(x, y, 0.0, -bond, 0.0, 0.0));
    best = fmin(best, model_segment_distance(x, y, 0.0, 0.0, wall, 0.0));
    return fmin(best, model_segment_distance(x, y, wall, 0.0, wall, far));
}

/// |x| <= bound; below it the motion v is zero; else x is against v. `motion` and `impulse` are the
/// scales. The direction counts with the weight of the motion, whose rounding turns a small one.
static inline double model_disk_violation(const double* x, const double* v, double bound,
                                          double motion, double impulse)
{
    double size = model_norm(x), speed = model_norm(v), against[3];
    double worst = (size - bound) / impulse;
    worst = fmax(worst, fmin((bound - size) / impulse, speed / motion));
    if (speed == 0.0) return worst;
    for (int k = 0; k < 3; k++) against[k] = x[k] + bound * v[k] / speed;
    return fmax(worst, speed / motion * model_norm(against) / impulse);
}

static inline void model_split(const double* n, const double* x, double* along, double* across)
{
    *along = model_dot(x, n);
    for (int k = 0; k < 3; k++) across[k] = x[k] - *along * n[k];
}

/// Size of the velocities and impulses of a contact.
static inline model_scale model_scales(const model* m, const model_law* law, const double* z)
{
    double wt = (m->W[0][0] + m->W[1][1] + m->W[2][2]) / law->dim;
    double wr = (m->W[3][3] + m->W[4][4] + m->W[5][5]) / (law->dim == 2 ? 1 : 3);
    double L = wr > 0.0 ? sqrt(wt / wr) : 1.0;
    double speed =
        model_norm(m->free) + L * model_norm(m->free + 3) + fabs(law->bias) + model_norm(law->slip);
    speed += wt * (model_norm(z) + model_norm(z + 3) / L + law->bond);
    return (model_scale){speed, speed / wt, L};
}

/// Largest violation of the law by z = (p, T), relative to the scales of the contact.
static inline double model_violation(const model* m, const model_law* law, const double* z)
{
    model_scale s = model_scales(m, law, z);
    double motion[6], pn, un, tn, wn, pt[3], ut[3], tt[3], wt[3];
    model_motion(m, z, motion);
    model_split(m->n, z, &pn, pt);
    model_split(m->n, motion, &un, ut);
    model_split(m->n, z + 3, &tn, tt);
    model_split(m->n, motion + 3, &wn, wt);
    double slip_n, slip[3];
    model_split(m->n, law->slip, &slip_n, slip);
    for (int k = 0; k < 3; k++) ut[k] += slip[k];
    double worst = model_normal_violation(law, s, un, pn);
    worst = fmax(worst,
                 model_disk_violation(pt, ut, model_slide_bound(law, pn), s.velocity, s.impulse));
    if (m->W[5][5] == 0.0) return worst; // nothing turns: no torque is asked for
    const double spin = s.velocity / s.length, torque = s.impulse * s.length;
    worst = fmax(worst, model_disk_violation(tt, wt, model_torque_bound(law, law->rolling, pn),
                                             spin, torque));
    double twist[3] = {tn, 0.0, 0.0}, turn[3] = {wn, 0.0, 0.0};
    return fmax(worst, model_disk_violation(twist, turn, model_torque_bound(law, law->torsion, pn),
                                            spin, torque));
}

/// Size of the difference of two solutions relative to the impulses of the contact.
static inline double model_difference(const model* m, const model_law* law, const double* x,
                                      const double* y)
{
    model_scale scale = model_scales(m, law, x);
    double worst = 0.0;
    for (int k = 0; k < 3; k++) {
        worst = fmax(worst, fabs(x[k] - y[k]) / scale.impulse);
        worst = fmax(worst, fabs(x[3 + k] - y[3 + k]) / (scale.impulse * scale.length));
    }
    return worst;
}

/// Which of the cases a solution is in, for the proof that all were met.
typedef struct model_cases {
    int open, held, pressed, slid, rolled, both, twisted;
} model_cases;

static inline void model_count_case(const model* m, const model_law* law, const double* z,
                                    model_cases* seen)
{
    double pn, tn, pt[3], tt[3];
    model_split(m->n, z, &pn, pt);
    model_split(m->n, z + 3, &tn, tt);
    const double slide = model_slide_bound(law, pn), almost = 1.0 - 1e-9;
    const double roll = model_torque_bound(law, law->rolling, pn);
    const double twist = model_torque_bound(law, law->torsion, pn);
    bool slid = slide > 0.0 && model_norm(pt) >= almost * slide;
    bool rolled = roll > 0.0 && model_norm(tt) >= almost * roll;
    seen->open += pn + law->bond <= 0.0;
    seen->held += pn < 0.0 && pn > -law->bond;
    seen->pressed += pn > 0.0;
    seen->slid += slid && !rolled;
    seen->rolled += rolled && !slid;
    seen->both += rolled && slid;
    seen->twisted += twist > 0.0 && fabs(tn) >= almost * twist;
}

/// Every case must have been met often enough to count as tested.
static inline void model_check_cases(const model_cases* seen, int dim, const char* what, int count)
{
    printf("%dD, %s: %d open, %d held, %d pressed; %d slide, %d roll, %d both, %d twist\n", dim,
           what, seen->open, seen->held, seen->pressed, seen->slid, seen->rolled, seen->both,
           seen->twisted);
    assert_true(seen->open > count / 20 && seen->held > count / 100);
    assert_true(seen->pressed > count / 10 && seen->slid > count / 20);
    assert_true(seen->rolled > count / 20 && seen->both > count / 20);
    assert_true(dim == 2 || seen->twisted > count / 20);
}

// ---- dense solve -------------------------------------------------------------------------------

/// Normal impulse on the graph when V_n = v + w p_n: the branches are tried in turn.
static inline double model_normal_solve(const model_law* law, double v, double w)
{
    double open = v - w * law->bond;
    if (open >= fmax(0.0, -law->bias)) return -law->bond;                    // gives way
    if (law->bias >= 0.0 && -v / w >= -law->bond && v >= 0.0) return -v / w; // held
    if (law->bias >= 0.0 && v <= 0.0 && v >= -law->bias) return 0.0;         // closes freely
    return (-law->bias - v) / w;                                             // closed
}

static inline void model_shorten(double* x, double bound)
{
    double size = model_norm(x);
    for (int k = 0; k < 3 && size > bound; k++) x[k] *= bound / size;
}

/// z <- P(z - rho (W z + free)) until nothing changes by more than rounding makes (2e-15 of the
/// size of the contact's impulses); false if it does not settle. Torques are measured in the length
/// of the scale, so that one rho serves all.
static inline bool model_solve(const model* m, const model_law* law, double* z)
{
    const double zero[6] = {0.0};
    const model_scale scale = model_scales(m, law, zero);
    const double L = scale.length;
    const bool turns = m->W[5][5] > 0.0; // else torques do nothing and are left zero
    double rho = 0.0, change = 1.0, size = 0.0;
    for (int i = 0; i < 6; i++) {
        double row = 0.0;
        for (int j = 0; j < 6; j++) row += fabs(m->W[i][j]) * (i < 3 ? 1 : L) * (j < 3 ? 1 : L);
        rho = fmax(rho, row);
    }
    rho = 1.0 / rho;
    for (int k = 0; k < 6; k++) z[k] = 0.0;
    for (int i = 0; i < 200000 && change > 2e-15 * (size + scale.impulse); i++) {
        double u[6], next[6], pn, un, tn, pt[3], tt[3], slip_n, slip[3];
        model_motion(m, z, u);
        double normal = model_dot(z, m->n);
        un = model_dot(u, m->n);
        pn = model_normal_solve(law, un - normal / rho, 1.0 / rho);
        model_split(m->n, law->slip, &slip_n, slip);
        for (int k = 0; k < 3; k++) {
            next[k] = z[k] - rho * (u[k] + slip[k]);
            next[3 + k] = z[3 + k] - rho * L * L * u[3 + k];
        }
        model_split(m->n, next, &un, pt);
        model_split(m->n, next + 3, &tn, tt);
        model_shorten(pt, model_slide_bound(law, pn));
        model_shorten(tt, turns ? model_torque_bound(law, law->rolling, pn) : 0.0);
        double limit = turns ? model_torque_bound(law, law->torsion, pn) : 0.0;
        tn = fmax(-limit, fmin(limit, tn));
        change = size = 0.0;
        for (int k = 0; k < 3; k++) {
            next[k] = pn * m->n[k] + pt[k];
            next[3 + k] = tn * m->n[k] + tt[k];
            change += fabs(next[k] - z[k]) + fabs(next[3 + k] - z[3 + k]) / L;
            size += fabs(next[k]) + fabs(next[3 + k]) / L;
        }
        memcpy(z, next, sizeof next);
    }
    return change <= 2e-15 * (size + scale.impulse);
}

#endif

/// The soft contact law once more, for one contact, in plain C with the functions of libm: what
/// tests compare the kernels with. Written from docs/laws/soft.md: rotations by axis and angle,
/// damping from the restitution by solving PLMH 8, energies as work less what springs store.
#ifndef TALUS_TESTS_SOFT_LAW_MODEL_H
#define TALUS_TESTS_SOFT_LAW_MODEL_H

#include "random.h"

#include "base/vec.h"
#include "soft/law.h"

#include <string.h>

typedef struct model_contact {
    int dim;
    double overlap, n[3], l[3], v[3], moved[3], spin[3], turned[3], twist, inv_mass, curvature;
    bool touched, bonded, slid;
    double slip[3], roll[3];
    double force[3], torque[3], elastic, loss, power;
    talus_contact_state state;
} model_contact;

static inline void model_scale(double factor, double* x)
{
    for (int i = 0; i < 3; i++) x[i] *= factor;
}

/// One lane of a batch.
static inline model_contact model_of(int dim, const soft_meetings* m, int k)
{
    model_contact c = {.dim = dim,
                       .overlap = m->overlap[k],
                       .twist = dim == 3 ? m->twist[k] : 0.0,
                       .inv_mass = m->inv_mass[k],
                       .curvature = m->curvature[k],
                       .touched = m->touched[k],
                       .bonded = m->bonded[k],
                       .slid = m->slid[k]};
    for (int i = 0; i < dim; i++) {
        c.n[i] = m->normal[i][k], c.l[i] = m->last_normal[i][k];
        c.v[i] = m->velocity[i][k], c.moved[i] = m->moved[i][k];
    }
    for (int i = 0; i < (dim == 2 ? 1 : 3); i++) {
        // in the plane spins are about z, and slip is along z x n
        c.spin[dim == 2 ? 2 : i] = m->spin[i][k], c.turned[dim == 2 ? 2 : i] = m->turned[i][k];
        c.roll[dim == 2 ? 2 : i] = m->roll[i][k];
        c.slip[i] = m->slip[i][k];
    }
    if (dim == 2) {
        const double s = c.slip[0];
        c.slip[0] = -s * c.l[1], c.slip[1] = s * c.l[0];
    }
    return c;
}

static inline void model_cross(const double* a, const double* b, double* out)
{
    const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                         a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof c);
}

/// Turn x about a unit axis (Rodrigues).
static inline void model_rotate(const double* axis, double angle, double* x)
{
    double side[3];
    model_cross(axis, x, side);
    const double along = vec_dot(3, axis, x) * (1.0 - cos(angle));
    for (int i = 0; i < 3; i++) x[i] = x[i] * cos(angle) + side[i] * sin(angle) + axis[i] * along;
}

/// Turn x as the last normal is turned to the present one, then about that.
static inline void model_carry(const model_contact* c, double* x)
{
    double axis[3];
    model_cross(c->l, c->n, axis);
    const double size = vec_norm(3, axis);
    if (size > 0.0) {
        for (int i = 0; i < 3; i++) axis[i] /= size;
        model_rotate(axis, atan2(size, vec_dot(3, c->l, c->n)), x);
    }
    model_rotate(c->n, c->twist, x);
}

static inline void model_across(const double* n, const double* x, double* out)
{
    const double along = vec_dot(3, n, x);
    for (int i = 0; i < 3; i++) out[i] = x[i] - along * n[i];
}

static inline void model_middle(const model_contact* c, double* middle)
{
    for (int i = 0; i < 3; i++) middle[i] = c->n[i] + c->l[i];
    const double size = vec_norm(3, middle);
    for (int i = 0; i < 3; i++) middle[i] /= size;
}

/// Stiffnesses of a contact.
typedef struct model_springs {
    double normal, tangential, last; ///< forces per length; `last` tangential, at the last overlap
    double damping, tangential_damping;
} model_springs;

static inline model_springs model_springs_of(const model_contact* c, const talus_pair_def* p,
                                             bool hertz)
{
    model_springs s = {.normal = p->soft.stiffness};
    const double mass = 1.0 / c->inv_mass, e = p->restitution, depth = fmax(c->overlap, 0.0);
    // PLMH 8: e = exp(-pi/sqrt(4 m k/nu^2 - 1))
    const double part = e > 0.0 ? 1.0 / sqrt(1.0 + pow(M_PI / log(e), 2.0)) : 1.0;
    s.damping = 2.0 * part * sqrt(mass * p->soft.stiffness);
    s.tangential = s.last = p->soft.stiffness * p->soft.stiffness_ratio;
    s.tangential_damping = s.damping * p->soft.damping_ratio;
    if (hertz) {
        double middle[3];
        model_middle(c, middle);
        const double young = p->soft.young / (2.0 * (1.0 - p->soft.poisson * p->soft.poisson));
        const double shear =
            p->soft.young / (2.0 * (1.0 + p->soft.poisson)) / (2.0 * (2.0 - p->soft.poisson));
        const double a = sqrt(depth / c->curvature);
        const double before = fmax(c->overlap + vec_dot(3, middle, c->moved), 0.0);
        s.normal = 4.0 / 3.0 * young * a;
        s.tangential = 8.0 * shear * a;
        s.last = 8.0 * shear * sqrt(before / c->curvature);
        s.damping = 2.0 * sqrt(5.0 / 6.0) * part * sqrt(2.0 * young * a * mass);
        s.tangential_damping = 2.0 * sqrt(5.0 / 6.0) * part * sqrt(s.tangential * mass);
    }
    if (c->overlap <= 0.0) s.damping = s.tangential_damping = 0.0;
    if (p->friction == 0.0) s.tangential_damping = 0.0;
    return s;
}

/// The spring was `before` (carried) with the stiffness `last`; now it is x with k after `step`.
static inline double model_loss(double last, const double* before, double k, const double* x,
                                const double* step)
{
    double work = 0.0;
    for (int i = 0; i < 3; i++) work += 0.5 * (last * before[i] + k * x[i]) * step[i];
    return work - 0.5 * k * vec_dot(3, x, x) + 0.5 * last * vec_dot(3, before, before);
}

/// Elongation after the step; `before` is carried, `step` is what has been added.
static inline void model_move(const model_contact* c, const double* moved, double k, double last,
                              double* before, double* step, double* x)
{
    double middle[3];
    model_middle(c, middle);
    if (!c->touched) memset(before, 0, 3 * sizeof *before);
    model_carry(c, before);
    model_across(middle, moved, step);
    const double size = vec_norm(3, step);
    model_across(c->n, step, step);
    double side[3]; // half the twist, which the law takes to first order
    model_cross(c->n, step, side);
    for (int i = 0; i < 3; i++) step[i] += 0.5 * sin(c->twist) * side[i];
    // in the plane the step is turned along with the tangent, in space it is projected
    if (c->dim == 2 && size > 0.0) model_scale(size / vec_norm(3, step), step);
    const double keep = k > last ? last / k : 1.0;
    for (int i = 0; i < 3; i++) x[i] = keep * before[i] + step[i];
}

static inline void model_slide(model_contact* c, const talus_pair_def* p, const model_springs* s,
                               bool total, bool compound, double normal)
{
    double before[3], step[3], x[3], v[3], rest[3];
    memcpy(before, c->slip, sizeof before);
    model_move(c, c->moved, s->tangential, s->last, before, step, x);
    model_across(c->n, c->v, v);
    const double load = total ? fabs(normal) : s->normal * fmax(c->overlap, 0.0);
    const double slide = load * (compound ? pair_sliding_friction(p) : p->friction);
    const double stick = compound && c->slid ? slide : load * p->friction;
    const double k = s->tangential, nu = s->tangential_damping;
    double force[3];
    for (int i = 0; i < 3; i++) force[i] = k * x[i] + (total ? nu * v[i] : 0.0);
    const double size = vec_norm(3, force);
    c->slid = size > stick;
    if (c->slid) model_scale(slide / size, force);
    for (int i = 0; i < 3; i++) {
        if (c->slid)
            x[i] = total ? k > 0.0 ? (force[i] - nu * v[i]) / k : 0.0 : x[i] * slide / size;
        if (!total) force[i] += nu * v[i];
        rest[i] = force[i] - k * x[i];
        c->force[i] -= force[i];
    }
    c->elastic += 0.5 * k * vec_dot(3, x, x);
    c->loss += model_loss(s->last, before, k, x, step);
    c->power += vec_dot(3, rest, v);
    memcpy(c->slip, x, sizeof x);
}

/// A torque against one kind of turning; x is the elastic turn after the step.
static inline void model_resist(model_contact* c, double k, double last, double nu, double bound,
                                const double* before, const double* step, const double* spin,
                                double* x)
{
    double all[3], rest[3];
    const double size = k * vec_norm(3, x);
    if (size > bound) model_scale(bound / size, x);
    for (int i = 0; i < 3; i++) all[i] = k * x[i] + nu * spin[i];
    if (vec_norm(3, all) > bound) model_scale(bound / vec_norm(3, all), all);
    for (int i = 0; i < 3; i++) {
        rest[i] = all[i] - k * x[i];
        c->torque[i] -= all[i];
    }
    c->elastic += 0.5 * k * vec_dot(3, x, x);
    c->loss += model_loss(last, before, k, x, step);
    c->power += vec_dot(3, rest, spin);
}

static inline void model_roll(model_contact* c, const talus_pair_def* p, const model_springs* s)
{
    const double r = 1.0 / c->curvature, load = s->normal * fmax(c->overlap, 0.0);
    const double arm = p->rolling_kind == TALUS_ROLLING_LENGTH   ? 1.0
                       : p->rolling_kind == TALUS_ROLLING_RADIUS ? r
                       : c->dim == 2                             ? sqrt(r * load)
                                                                 : cbrt(r * load);
    const double k = s->tangential * r * r, last = s->last * r * r;
    const double nu = s->tangential_damping * r * r, keep = k > last ? last / k : 1.0;
    double middle[3], twist[3], roll[3], step[3], x[3], spin[3], z[3];
    if (c->dim == 2) { // all turning is rolling, about z
        memcpy(roll, c->roll, sizeof roll);
        if (!c->touched) model_scale(0.0, roll);
        for (int i = 0; i < 3; i++) x[i] = keep * roll[i] + c->turned[i];
        model_resist(c, k, last, nu, p->rolling * arm * load, roll, c->turned, c->spin, x);
        memcpy(c->roll, x, sizeof x);
        return;
    }
    model_middle(c, middle);
    model_across(c->l, c->roll, roll);
    const double before = c->touched ? vec_dot(3, c->l, c->roll) : 0.0;
    model_move(c, c->turned, k, last, roll, step, x);
    model_across(c->n, c->spin, spin);
    model_resist(c, k, last, nu, p->rolling * arm * load, roll, step, spin, x);
    const double more = vec_dot(3, middle, c->turned), along = vec_dot(3, c->n, c->spin);
    double add[3];
    for (int i = 0; i < 3; i++) {
        twist[i] = before * c->n[i], add[i] = more * c->n[i], spin[i] = along * c->n[i];
        z[i] = keep * twist[i] + add[i];
    }
    model_resist(c, k, last, nu, p->torsion * arm * load, twist, add, spin, z);
    for (int i = 0; i < 3; i++) c->roll[i] = x[i] + z[i];
}

/// The law; history and answers in *c.
static inline void model_law(const soft_kind* kind, const talus_pair_def* p, double h,
                             model_contact* c)
{
    const bool touching = c->overlap > 0.0;
    const model_springs s = model_springs_of(c, p, kind->law == TALUS_SOFT_HERTZ);
    const double depth = fmax(c->overlap, 0.0), speed = vec_dot(3, c->n, c->v);
    double normal = s.normal * depth - s.damping * speed;
    c->elastic = (kind->law == TALUS_SOFT_HERTZ ? 0.4 : 0.5) * s.normal * depth * depth;
    c->power = s.damping * speed * speed;
    model_slide(c, p, &s, kind->total, kind->compound, normal);
    c->slid = c->slid && touching;
    bool bonded = false;
    if (kind->compound) {
        model_roll(c, p, &s);
        const bool held = c->bonded && c->touched && -c->overlap <= pair_bond_range(p);
        bonded = (touching || held) && p->cohesion_force > 0.0;
        if (bonded) {
            normal -= p->cohesion_force;
            c->elastic -= p->cohesion_force * (pair_bond_range(p) + c->overlap);
            if (!held) c->loss += p->cohesion_energy;
        }
    }
    c->bonded = bonded;
    for (int i = 0; i < 3; i++) c->force[i] += normal * c->n[i];
    c->loss += h * c->power;
    c->state = c->slid              ? TALUS_CONTACT_SLIDE
               : touching || bonded ? TALUS_CONTACT_STICK
                                    : TALUS_CONTACT_OPEN;
    if (!touching && !bonded) c->elastic = 0.0;
    if (!touching && !bonded && !c->touched) c->loss = 0.0;
    if (!touching) memset(c->slip, 0, sizeof c->slip), memset(c->roll, 0, sizeof c->roll);
}

#endif

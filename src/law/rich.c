/// The laws of one contact combined; see rich.h and the files of the single laws.
///
/// With a diagonal block the normal impulse does not depend on the others: it comes first, fixes
/// all bounds, then torsion and the coupled pair of sliding and rolling follow, each exactly. With
/// a full block (mobile walls) the parts are solved in turn until none changes.
#include "law/rich.h"

#include "base/vec.h"
#include "body/materials.h"
#include "law/cohesion.h"

#include <float.h>

bool rich_pair(const talus_pair_def* pair)
{
    return pair_sliding_friction(pair) < pair->friction || pair->tangential_restitution > 0.0 ||
           pair->rolling > 0.0 || pair->torsion > 0.0 || pair->cohesion_force > 0.0;
}

// ---- rolling variables -------------------------------------------------------------------------

/// Tangential vectors have one component along t = (-n_y, n_x) in 2D and are full vectors in 3D.
static int tangent_size(int dim)
{
    return dim == 2 ? 1 : 3;
}

static void to_tangent(int dim, const double* n, const double* v, double* t)
{
    if (dim == 2) {
        t[0] = n[0] * v[1] - n[1] * v[0];
        return;
    }
    double vn = vec_dot(3, v, n);
    for (int k = 0; k < 3; k++) t[k] = v[k] - vn * n[k];
}

static void add_tangent(int dim, const double* n, const double* t, double* v)
{
    if (dim == 2) {
        v[0] -= n[1] * t[0];
        v[1] += n[0] * t[0];
    } else {
        vec_add_scaled(3, v, 1.0, t);
    }
}

/// n x w for an axial vector w, as a tangential vector.
static void turn_to_tangent(int dim, const double* n, const double* w, double* t)
{
    if (dim == 2) {
        t[0] = -w[0];
    } else {
        vec_cross(t, n, w);
    }
}

/// The axial vector whose turned image is q: inverse of turn_to_tangent on the tangent plane.
static void turn_back(int dim, const double* n, const double* q, double* w)
{
    if (dim == 2) {
        w[0] = -q[0];
        return;
    }
    vec_cross(w, n, q);
    for (int k = 0; k < 3; k++) w[k] = -w[k];
}

// ---- parts -------------------------------------------------------------------------------------

static double clamp(double x, double limit)
{
    return x > limit ? limit : x < -limit ? -limit : x;
}

/// Torsion: the part of the torque along n. In 2D there is none.
static double torsion_impulse(const rich_problem* r, double normal)
{
    const rich_contact* c = r->contact;
    if (r->dim == 2 || c->response == 0.0) return 0.0;
    double limit = rolling_limit(&c->torsion, normal, c->h);
    return clamp(-vec_dot(3, r->spin, r->n) / c->response, limit);
}

/// Sliding and rolling for the free tangential velocity `ut` (slip not yet added).
static void slide_and_roll(const rich_problem* r, double wt, const double* ut, double normal,
                           double* p, double* q)
{
    const rich_contact* c = r->contact;
    const int m = tangent_size(r->dim);
    double u[3], y[3], slip[3];
    to_tangent(r->dim, r->n, c->slip, slip);
    for (int k = 0; k < m; k++) u[k] = ut[k] + slip[k];
    turn_to_tangent(r->dim, r->n, r->spin, y);
    rolling_problem coupled = {.m = m,
                               .wt = wt,
                               .wr = c->response,
                               .c = c->coupling,
                               .slide_limit = r->mu * normal,
                               .roll_limit = rolling_limit(&c->rolling, normal, c->h),
                               .u = u,
                               .y = y};
    rolling_solve(&coupled, p, q);
}

/// What all bounds grow with: the normal impulse and the strength of the bond.
static double bound_base(const rich_problem* r, double pn)
{
    double base = pn + r->contact->bond;
    return base > 0.0 ? base : 0.0;
}

static void compose(const rich_problem* r, double pn, double torsion, const double* pt,
                    const double* q, double* p, double* torque)
{
    for (int k = 0; k < r->dim; k++) p[k] = pn * r->n[k];
    add_tangent(r->dim, r->n, pt, p);
    turn_back(r->dim, r->n, q, torque);
    if (r->dim == 3) vec_add_scaled(3, torque, torsion, r->n);
}

static void solve_diagonal(const rich_problem* r, double* p, double* torque)
{
    double ut[3], pt[3], q[3];
    double pn = cohesion_normal(vec_dot(r->dim, r->u, r->n), r->wn, r->bias, r->contact->bond);
    double base = bound_base(r, pn);
    to_tangent(r->dim, r->n, r->u, ut);
    slide_and_roll(r, r->wt, ut, base, pt, q);
    compose(r, pn, torsion_impulse(r, base), pt, q, p, torque);
}

// ---- full blocks -------------------------------------------------------------------------------

/// Velocity u + S p of the full block.
static void full_velocity(const rich_problem* r, const double* p, double* u)
{
    for (int k = 0; k < r->dim; k++) u[k] = r->u[k] + vec_dot(r->dim, r->S + k * r->dim, p);
}

/// One round: normal, then tangential and rolling, given the rest. Returns the change of p.
static double full_round(const rich_problem* r, double step_n, double wt, double* p, double* torque)
{
    const int dim = r->dim;
    double u[3], ut[3], pt[3], q[3], before[3];
    vec_copy(dim, before, p);

    full_velocity(r, p, u);
    double pn = vec_dot(dim, p, r->n), un = vec_dot(dim, u, r->n);
    double solved = cohesion_normal(un - step_n * pn, step_n, r->bias, r->contact->bond);
    for (int k = 0; k < dim; k++) p[k] += (solved - pn) * r->n[k];

    // The tangential block is replaced by wt times the identity, not smaller than it: a step that
    // never overshoots, and exact at the fixed point.
    full_velocity(r, p, u);
    to_tangent(dim, r->n, u, ut);
    to_tangent(dim, r->n, p, pt);
    for (int k = 0; k < tangent_size(dim); k++) ut[k] -= wt * pt[k];
    double base = bound_base(r, solved);
    slide_and_roll(r, wt, ut, base, pt, q);
    compose(r, solved, torsion_impulse(r, base), pt, q, p, torque);
    vec_sub(dim, before, p, before);
    return vec_norm(dim, before);
}

static void solve_full(const rich_problem* r, double* p, double* torque)
{
    const int dim = r->dim;
    double normal_response = 0.0, trace = 0.0;
    for (int i = 0; i < dim; i++) {
        normal_response += r->n[i] * vec_dot(dim, r->S + i * dim, r->n);
        trace += r->S[i * dim + i];
    }
    const double wt = trace - normal_response; // at least the largest tangential eigenvalue
    for (int i = 0; i < 2000; i++) {
        double change = full_round(r, normal_response, wt, p, torque);
        if (change <= 4.0 * DBL_EPSILON * vec_norm(dim, p)) return;
    }
}

void rich_solve(const rich_problem* r, double* p, double* torque)
{
    if (r->S) {
        solve_full(r, p, torque);
    } else {
        solve_diagonal(r, p, torque);
    }
}

// ---- static and dynamic friction ---------------------------------------------------------------

bool rich_break_loose(int dim, const double* n, const rich_contact* contact, const double* p,
                      double* mu)
{
    if (!(contact->sliding_mu < *mu)) return false;
    double pn = vec_dot(dim, p, n), tt = vec_dot(dim, p, p) - pn * pn;
    double base = pn + contact->bond;
    double bound = *mu * (base > 0.0 ? base : 0.0) * (1.0 - 1e-9);
    if (base <= 0.0 || tt < bound * bound) return false;
    *mu = contact->sliding_mu;
    return true;
}

/// The laws of one contact combined; see rich.h and the files of the single laws.
///
/// With a diagonal block the normal impulse does not depend on the others: it comes first, fixes
/// all bounds, then torsion and the coupled pair of sliding and rolling follow, each exactly. With
/// a full block (mobile walls) the same is done for a trial normal impulse, whose right value is
/// the root of one equation: exact for every positive definite block.
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
                               .wt = {wt, wt, wt},
                               .wr = c->response,
                               .c = c->coupling,
                               .slide_limit = r->mu * normal,
                               .roll_limit = rolling_limit(&c->rolling, normal, c->h),
                               .u = u,
                               .y = y};
    rolling_solve(&coupled, p, q);
}

/// What all bounds grow with: the normal impulse and the strength of the bond.
double rich_bound(const rich_contact* contact, double pn)
{
    double base = pn + contact->bond;
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
    const rich_contact* c = r->contact;
    double pn = cohesion_normal(vec_dot(r->dim, r->u, r->n), r->wn, r->bias, c->bond, c->closing);
    double base = rich_bound(r->contact, pn);
    to_tangent(r->dim, r->n, r->u, ut);
    slide_and_roll(r, r->wt, ut, base, pt, q);
    compose(r, pn, torsion_impulse(r, base), pt, q, p, torque);
}

// ---- full blocks -------------------------------------------------------------------------------

/// A full block in the frame of n and the principal axes of its tangential part.
typedef struct frame_block {
    const rich_problem* problem;
    double frame[3][3]; ///< rows: n, then tangents
    double wn;          ///< S_nn
    double wnt[2];      ///< coupling of the normal to each tangent
    double wt[2];       ///< responses of the tangential part
    double un, ut[2];   ///< free velocity; slip is added to the tangential part
    double y[2];        ///< free rolling velocity
} frame_block;

/// a.S b
static double block_product(const rich_problem* r, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < r->dim; i++) sum += a[i] * vec_dot(r->dim, r->S + i * r->dim, b);
    return sum;
}

/// Turn the tangents into the principal axes of the tangential part.
static void turn_to_principal(const rich_problem* r, double frame[3][3])
{
    if (r->dim == 2) return;
    double *t1 = frame[1], *t2 = frame[2];
    double across = block_product(r, t1, t2);
    double angle = 0.5 * atan2(2.0 * across, block_product(r, t1, t1) - block_product(r, t2, t2));
    double c = cos(angle), s = sin(angle);
    for (int k = 0; k < 3; k++) {
        double first = t1[k], second = t2[k];
        t1[k] = c * first + s * second;
        t2[k] = c * second - s * first;
    }
}

static frame_block frame_of(const rich_problem* r)
{
    const int dim = r->dim;
    frame_block f = {.problem = r};
    double y[3] = {0.0, 0.0, 0.0};
    vec_frame(dim, r->n, f.frame);
    turn_to_principal(r, f.frame);
    f.wn = block_product(r, r->n, r->n);
    f.un = vec_dot(dim, r->u, r->n);
    turn_to_tangent(dim, r->n, r->spin, y);
    for (int k = 0; k < dim - 1; k++) {
        const double* t = f.frame[k + 1];
        f.wt[k] = block_product(r, t, t);
        f.wnt[k] = block_product(r, r->n, t);
        f.ut[k] = vec_dot(dim, r->u, t) + vec_dot(dim, r->contact->slip, t);
        f.y[k] = dim == 2 ? y[0] : vec_dot(3, y, t);
    }
    return f;
}

/// Sliding and rolling p, q [dim - 1] for a given normal impulse; returns the normal velocity.
static double respond(const frame_block* f, double pn, double* p, double* q)
{
    const rich_contact* c = f->problem->contact;
    const int m = f->problem->dim - 1;
    double u[2], base = rich_bound(f->problem->contact, pn);
    for (int k = 0; k < m; k++) u[k] = f->ut[k] + f->wnt[k] * pn;
    rolling_problem coupled = {.m = m,
                               .wt = {f->wt[0], f->wt[1]},
                               .wr = c->response,
                               .c = c->coupling,
                               .slide_limit = f->problem->mu * base,
                               .roll_limit = rolling_limit(&c->rolling, base, c->h),
                               .u = u,
                               .y = f->y};
    rolling_solve(&coupled, p, q);
    return f->un + f->wn * pn + vec_dot(m, f->wnt, p);
}

/// p_n minus what the normal law asks for when the rest has responded to p_n: zero at a solution.
static double mismatch(const frame_block* f, double pn, double* p, double* q)
{
    const rich_problem* r = f->problem;
    double un = respond(f, pn, p, q);
    return pn -
           cohesion_normal(un - f->wn * pn, f->wn, r->bias, r->contact->bond, r->contact->closing);
}

/// The normal impulse at which everything fits. The mismatch is continuous, not positive at the
/// bond's strength and positive for a strong push, because S is positive definite and friction is
/// never on the side of the slip: so a root is always bracketed. Regula falsi (Illinois), with a
/// bisection whenever it did not halve the bracket.
static double find_normal(const frame_block* f, double* p, double* q)
{
    const rich_problem* r = f->problem;
    double low = -r->contact->bond, f_low = mismatch(f, low, p, q);
    if (f_low >= 0.0) return low;
    double step = (vec_norm(r->dim, r->u) + fabs(r->bias)) / f->wn + r->contact->bond;
    double high = low + step, f_high = mismatch(f, high, p, q);
    while (f_high < 0.0 && step < HUGE_VAL) {
        low = high, f_low = f_high;
        step *= 2.0, high += step;
        f_high = mismatch(f, high, p, q);
    }
    bool halve = false;
    int side = 0; // which end the last steps moved
    for (int i = 0; i < 200 && high - low > DBL_EPSILON * (fabs(low) + fabs(high)); i++) {
        double width = high - low, middle = low + width * (-f_low / (f_high - f_low));
        if (halve || !(middle > low && middle < high)) middle = low + 0.5 * width;
        if (middle == low || middle == high) break;
        double f_middle = mismatch(f, middle, p, q);
        if (f_middle == 0.0) return middle;
        if (f_middle < 0.0) {
            low = middle, f_low = f_middle;
            if (side < 0) f_high *= 0.5;
            side = -1;
        } else {
            high = middle, f_high = f_middle;
            if (side > 0) f_low *= 0.5;
            side = 1;
        }
        halve = high - low > 0.5 * width;
    }
    return high;
}

static void solve_full(const rich_problem* r, double* p, double* torque)
{
    const int dim = r->dim;
    frame_block f = frame_of(r);
    double pt[2], q[2], world_p[3] = {0.0, 0.0, 0.0}, world_q[3] = {0.0, 0.0, 0.0};
    double pn = find_normal(&f, pt, q);
    respond(&f, pn, pt, q);
    if (dim == 2) {
        world_p[0] = pt[0];
        world_q[0] = q[0];
    }
    for (int k = 0; k < dim - 1 && dim == 3; k++) {
        vec_add_scaled(3, world_p, pt[k], f.frame[k + 1]);
        vec_add_scaled(3, world_q, q[k], f.frame[k + 1]);
    }
    compose(r, pn, torsion_impulse(r, rich_bound(r->contact, pn)), world_p, world_q, p, torque);
}

void rich_solve(const rich_problem* r, double* p, double* torque)
{
    if (r->S) {
        solve_full(r, p, torque);
    } else {
        solve_diagonal(r, p, torque);
    }
}

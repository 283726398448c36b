/// The laws of one contact combined; see compound.h and the files of the single laws.
///
/// With a diagonal block the normal impulse does not depend on the others: it comes first, fixes
/// all bounds, then torsion and the coupled pair of sliding and rolling follow, each exactly. With
/// a full block (mobile walls, solids with lever arms) sliding, rolling and torsion are solved
/// together for a trial normal impulse (law/disks.h), whose right value is the root of one
/// equation: exact for every positive definite block.
#include "law/compound.h"

#include "base/portable.h"
#include "base/vec.h"
#include "law/cohesion.h"
#include "law/disks.h"
#include "state/materials.h"

#include <float.h>

bool compound_pair(const talus_pair_def* pair)
{
    return pair_sliding_friction(pair) < pair->friction || pair->tangential_restitution > 0.0 ||
           pair->rolling > 0.0 || pair->torsion > 0.0 || pair->cohesion_force > 0.0;
}

// ---- rolling variables -------------------------------------------------------------------------

/// Tangential vectors have one component along t = (-n_y, n_x) in 2D and are full vectors in 3D: as
/// many as a spin, spin_width().
static void to_tangent(int dim, const double* n, const double* v, double* t)
{
    if (dim == 2) {
        t[0] = n[0] * v[1] - n[1] * v[0];
        return;
    }
    double vn = vec_dot(3, v, n);
    for (int k = 0; k < 3; k++) t[k] = v[k] - vn * n[k];
}

// ---- parts -------------------------------------------------------------------------------------

/// What all bounds grow with: the normal impulse and the strength of the bond.
double compound_bound(const compound_contact* contact, double normal_impulse)
{
    double base = normal_impulse + contact->bond;
    return base > 0.0 ? base : 0.0;
}

/// The normal impulse first, which fixes all bounds; then torsion, and sliding together with
/// rolling.
static void solve_diagonal(const compound_problem* r, double* p, double* torque)
{
    const compound_contact* c = r->contact;
    const int m = spin_width(r->dim);
    double u[3], y[3], slip[3], pt[3], q[3], torsion = 0.0;
    double pn = cohesion_normal(vec_dot(r->dim, r->u, r->n), r->wn, r->bias, c->bond, c->closing);
    double base = compound_bound(c, pn);
    to_tangent(r->dim, r->n, r->u, u);
    to_tangent(r->dim, r->n, c->slip, slip);
    for (int k = 0; k < m; k++) u[k] += slip[k];
    if (r->dim == 2) { // n x spin, as a tangential vector
        y[0] = -r->spin[0];
    } else {
        vec_cross(y, r->n, r->spin);
    }
    rolling_problem coupled = {.m = m,
                               .wt = r->wt,
                               .wr = c->response,
                               .c = c->coupling,
                               .slide_limit = r->mu * base,
                               .roll_limit = rolling_limit(&c->rolling, base, c->h),
                               .u = u,
                               .y = y};
    rolling_solve(&coupled, pt, q);
    if (r->dim == 3 && c->response != 0.0) {
        const double limit = rolling_limit(&c->torsion, base, c->h);
        const double held = -vec_dot(3, r->spin, r->n) / c->response;
        torsion = held > limit ? limit : held < -limit ? -limit : held;
    }
    for (int k = 0; k < r->dim; k++) p[k] = pn * r->n[k];
    if (r->dim == 2) {
        p[0] -= r->n[1] * pt[0];
        p[1] += r->n[0] * pt[0];
        torque[0] = -q[0];
        return;
    }
    vec_add_scaled(3, p, 1.0, pt);
    vec_cross(torque, r->n, q); // of the torque that q = n x torque stands for
    for (int k = 0; k < 3; k++) torque[k] = torsion * r->n[k] - torque[k];
}

// ---- full blocks -------------------------------------------------------------------------------

/// A way to act on a contact: a unit of impulse or of torque impulse, never both.
typedef struct action {
    double p[3], torque[3];
} action;

/// A full block in the frame of n and the principal axes of its tangential parts. Torques are
/// counted in units of a length that makes their responses like those of impulses.
typedef struct frame_block {
    const compound_problem* problem;
    action normal, other[DISKS_SIZE]; ///< sliding, then rolling, then torsion
    double wn, wx[DISKS_SIZE];        ///< response of u_n to a unit of each
    double un, ux[DISKS_SIZE];        ///< free motion; slip is added to the tangential part
    double length;                    ///< unit of torques
    disks rest;           ///< sliding, rolling, torsion; b and limits are those of a trial
    double x[DISKS_SIZE]; ///< answer of the last trial
} frame_block;

/// c n x T turns and -c n x p spins.
compound_arms compound_ball_arms(int dim, const double* n, const compound_contact* contact)
{
    const double c = contact->coupling;
    compound_arms arms = {.response = {contact->response}};
    if (dim == 2) {
        arms.coupling[0] = c * n[1];
        arms.coupling[1] = -c * n[0];
        return arms;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        arms.coupling[3 * i + j] = c * n[k];
        arms.coupling[3 * i + k] = -c * n[j];
        arms.response[4 * i] = contact->response;
    }
    return arms;
}

/// Change of the relative velocity and spin by an action.
static void act(const compound_problem* r, const compound_arms* arms, const action* a, double* u,
                double* spin)
{
    const int dim = r->dim, turns = spin_width(dim);
    for (int i = 0; i < dim; i++) {
        u[i] = vec_dot(dim, r->S + i * dim, a->p);
        for (int j = 0; j < turns; j++) u[i] += arms->coupling[j * dim + i] * a->torque[j];
    }
    for (int i = 0; i < turns; i++) {
        spin[i] = vec_dot(dim, arms->coupling + i * dim, a->p) +
                  vec_dot(turns, arms->response + i * turns, a->torque);
    }
}

/// What an action does work on: its share in a velocity and a spin.
static double share(int dim, const action* a, const double* u, const double* spin)
{
    return vec_dot(dim, a->p, u) + vec_dot(spin_width(dim), a->torque, spin);
}

/// Turn the tangents t1, t2 into the principal axes of the tangential part of a [3][3] matrix.
static void turn_to_principal(const double* matrix, double* t1, double* t2)
{
    double m1[3], m2[3];
    for (int i = 0; i < 3; i++) {
        m1[i] = vec_dot(3, matrix + 3 * i, t1);
        m2[i] = vec_dot(3, matrix + 3 * i, t2);
    }
    double angle =
        0.5 * portable_atan2(2.0 * vec_dot(3, t1, m2), vec_dot(3, t1, m1) - vec_dot(3, t2, m2));
    double c = portable_cos(angle), s = portable_sin(angle);
    for (int k = 0; k < 3; k++) {
        double first = t1[k], second = t2[k];
        t1[k] = c * first + s * second;
        t2[k] = c * second - s * first;
    }
}

/// The actions of a contact; torques only where something resists them.
static void choose_actions(frame_block* f, const compound_arms* arms, bool torques)
{
    const compound_problem* r = f->problem;
    const int dim = r->dim, m = dim - 1;
    double slide[3][3], roll[3][3];
    vec_frame(dim, r->n, slide);
    vec_frame(dim, r->n, roll);
    if (dim == 3) {
        turn_to_principal(r->S, slide[1], slide[2]);
        turn_to_principal(arms->response, roll[1], roll[2]);
    }
    vec_copy(dim, f->normal.p, r->n);
    for (int k = 0; k < m; k++) vec_copy(dim, f->other[k].p, slide[k + 1]);
    f->rest = (disks){.blocks = torques ? dim : 1, .begin = {0, m, 2 * m, 2 * m + 1}};
    for (int k = 0; k < m && torques; k++) {
        double* torque = f->other[m + k].torque;
        if (dim == 2) torque[0] = f->length;
        for (int j = 0; j < 3 && dim == 3; j++) torque[j] = f->length * roll[k + 1][j];
    }
    for (int j = 0; j < 3 && torques && dim == 3; j++) {
        f->other[2 * m].torque[j] = f->length * r->n[j];
    }
}

static frame_block frame_of(const compound_problem* r)
{
    const int dim = r->dim, turns = spin_width(dim);
    const compound_contact* c = r->contact;
    const compound_arms arms = r->arms ? *r->arms : compound_ball_arms(dim, r->n, c);
    frame_block f = {.problem = r};
    double push = 0.0, turn = 0.0, u[3], spin[3], slipping[3];
    for (int k = 0; k < dim; k++) push += r->S[k * dim + k], slipping[k] = r->u[k] + c->slip[k];
    for (int k = 0; k < turns; k++) turn += arms.response[k * turns + k];
    f.length = turn > 0.0 ? sqrt(push / turn) : 1.0;
    bool resisted = c->rolling.coefficient > 0.0 || c->torsion.coefficient > 0.0;
    choose_actions(&f, &arms, resisted && turn > 0.0);

    const int size = f.rest.begin[f.rest.blocks];
    act(r, &arms, &f.normal, u, spin);
    f.wn = share(dim, &f.normal, u, spin);
    f.un = vec_dot(dim, r->n, r->u);
    for (int i = 0; i < size; i++) {
        f.wx[i] = share(dim, &f.other[i], u, spin);
        f.ux[i] = share(dim, &f.other[i], slipping, r->spin);
    }
    for (int i = 0; i < size; i++) {
        act(r, &arms, &f.other[i], u, spin);
        for (int j = 0; j < size; j++) f.rest.A[j][i] = share(dim, &f.other[j], u, spin);
    }
    return f;
}

/// Sliding, rolling and torsion for a given normal impulse; returns the normal velocity.
static double respond(frame_block* f, double pn)
{
    const compound_contact* c = f->problem->contact;
    const int size = f->rest.begin[f->rest.blocks];
    const double base = compound_bound(c, pn);
    for (int k = 0; k < size; k++) f->rest.b[k] = f->ux[k] + f->wx[k] * pn;
    f->rest.limit[0] = f->problem->mu * base;
    f->rest.limit[1] = rolling_limit(&c->rolling, base, c->h) / f->length;
    f->rest.limit[2] = rolling_limit(&c->torsion, base, c->h) / f->length;
    disks_solve(&f->rest, f->x);
    return f->un + f->wn * pn + vec_dot(size, f->wx, f->x);
}

/// p_n minus what the normal law asks for when the rest has responded to p_n: zero at a solution.
static double mismatch(frame_block* f, double pn)
{
    const compound_problem* r = f->problem;
    double un = respond(f, pn);
    return pn -
           cohesion_normal(un - f->wn * pn, f->wn, r->bias, r->contact->bond, r->contact->closing);
}

/// The normal impulse at which everything fits. The mismatch is continuous, not positive at the
/// bond's strength and positive for a strong push, because S is positive definite and friction is
/// never on the side of the slip: so a root is always bracketed. Regula falsi (Illinois), with a
/// bisection whenever it did not halve the bracket.
static double find_normal(frame_block* f)
{
    const compound_problem* r = f->problem;
    double low = -r->contact->bond, f_low = mismatch(f, low);
    if (f_low >= 0.0) return low;
    double step = (vec_norm(r->dim, r->u) + fabs(r->bias)) / f->wn + r->contact->bond;
    double high = low + step, f_high = mismatch(f, high);
    while (f_high < 0.0 && step < HUGE_VAL) {
        low = high, f_low = f_high;
        step *= 2.0, high += step;
        f_high = mismatch(f, high);
    }
    bool halve = false;
    int side = 0; // which end the last steps moved
    for (int i = 0; i < 200 && high - low > DBL_EPSILON * (fabs(low) + fabs(high)); i++) {
        double width = high - low, middle = low + width * (-f_low / (f_high - f_low));
        if (halve || !(middle > low && middle < high)) middle = low + 0.5 * width;
        if (middle == low || middle == high) break;
        double f_middle = mismatch(f, middle);
        if (fabs(f_middle) <= 2.0 * DBL_EPSILON * fabs(middle)) return middle; // rounding
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

static void solve_full(const compound_problem* r, double* p, double* torque)
{
    const int dim = r->dim, turns = spin_width(dim);
    frame_block f = frame_of(r);
    double pn = find_normal(&f);
    respond(&f, pn);
    for (int k = 0; k < dim; k++) p[k] = pn * r->n[k];
    for (int k = 0; k < turns; k++) torque[k] = 0.0;
    for (int k = 0; k < f.rest.begin[f.rest.blocks]; k++) {
        vec_add_scaled(dim, p, f.x[k], f.other[k].p);
        vec_add_scaled(turns, torque, f.x[k], f.other[k].torque);
    }
}

void compound_solve(const compound_problem* r, double* p, double* torque)
{
    if (r->S) {
        solve_full(r, p, torque);
    } else {
        solve_diagonal(r, p, torque);
    }
}

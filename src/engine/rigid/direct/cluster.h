/// A contact problem (problem.h), best that of a single cluster, in the form that direct methods
/// take.
///
/// Bodies: the unknown of a body is y with V = V_free + L y and L L^T = M^-1, so that |y| is the
/// kinetic norm ||V - V_free||_M and the equations of motion are y = J^T p. Bodies that cannot move
/// have no unknown; where only some of a body's freedoms can, L has columns of zeros.
///
/// Contacts: an impulse has components, each with a velocity w = w_free + J y of its own.
///     push    w = u_n + bias,        0 <= p, w >= 0, p w = 0
///     slide   w = u_t + slip,        |p| <= mu base,          against w
///     roll    w = l spin_t,          |p| <= L_r(base)/l,      against w
///     twist   w = l spin_n,          |p| <= L_n(base)/l,      against w
///     hold    w = u_n + closing,     |p + bond/2| <= bond/2,  against w
/// base is the normal impulse, push + hold, plus the strength of the bond; l is a length. Push is
/// always there and comes first, the others where the contact has them; in 3D slide and roll have
/// two components. A bond's pull, between 0 and its strength, is one more bounded force against a
/// velocity, about the centre -bond/2.
#ifndef TALUS_RIGID_DIRECT_CLUSTER_H
#define TALUS_RIGID_DIRECT_CLUSTER_H

#include "rigid/problem.h"
#include "rigid/reduced/factor.h"

/// The bounded forces of a contact.
enum { SLIDE, ROLL, TWIST, HOLD, BOUNDED };
/// Most components of a contact, and of a body.
enum { MOST_COMPONENTS = 7, MOST_FREEDOMS = 6 };

/// The order in which to work them out: the others' bounds depend on the hold.
static const int direct_order[BOUNDED] = {HOLD, SLIDE, ROLL, TWIST};

typedef struct direct_part {
    int first, count; ///< components of the contact; count 0: the contact has no such force
} direct_part;

typedef struct direct_contact {
    int32_t body[2]; ///< -1: cannot move
    int64_t first;   ///< of its components in the arrays of all
    int count;       ///< components
    int64_t square;  ///< where its block is among the blocks [count][count] of all contacts
    direct_part part[BOUNDED];
    double mu, bond, length, h;
    rolling_bound rolling, torsion;
    double mass[MOST_COMPONENTS]; ///< 1/(J J^T) of a component, the same in all of a part
    int64_t place[4];             ///< blocks aa, ab, ba, bb in the matrix; -1: none
} direct_contact;

typedef struct direct_cluster {
    int dim, width; ///< width: unknowns of a body, 3 or 6
    int64_t bodies, count, components;
    int64_t squares; ///< numbers in the blocks of all contacts
    int32_t* row;    ///< [bodies] in the problem
    double* root;    ///< [bodies][width][width] L
    direct_contact* contact;
    double* J;              ///< [components][2][width]
    double* w_free;         ///< [components]
    double* p;              ///< [components]
    reduced_problem matrix; ///< pattern and blocks of a matrix over the bodies
    reduced_factor* factor;
    int64_t factorisations;
} direct_cluster;

/// From a problem with its impulses as they are; at each of its contacts a body can move.
talus_status direct_cluster_new(const problem* p, bool avx2, direct_cluster* s);
/// From a problem without bodies that has kept them, for what it is to its matrix: it has no rows,
/// roots and impulses, and contacts without friction have all components, too.
talus_status direct_cluster_of_reduced(const reduced_problem* p, bool avx2, direct_cluster* s);
void direct_cluster_free(direct_cluster* s);
/// Read the impulses of the problem into q [components].
void direct_read(const direct_cluster* s, const problem* p, double* q);
/// Put impulses q [components] into the problem; the velocities of its bodies follow.
void direct_put_back(const direct_cluster* s, const double* q, problem* p);

/// y = J^T p
void direct_motion(const direct_cluster* s, const double* p, double* y);
/// w = w_free + J y
void direct_velocities(const direct_cluster* s, const double* y, double* w);
/// J dy of the components of contact c.
void direct_velocity_change(const direct_cluster* s, const direct_contact* c, const double* dy,
                            double* dw);
/// What the bounds of a contact grow with, from its impulses p; never negative.
double direct_base(const direct_contact* c, const double* p);
/// Bound of a part at this base, and how fast it grows with it.
double direct_limit(const direct_contact* c, int part, double base, double* slope);
/// Where the impulses of a part have their centre.
static inline double direct_centre(const direct_contact* c, int part)
{
    return part == HOLD ? -0.5 * c->bond : 0.0;
}

/// Factorise 1 + J^T D J with a block D of every contact; false if that cannot be done.
bool direct_factorise(direct_cluster* s, const double* D, bool symmetric);
/// Products of blocks that one factorisation takes.
double direct_products(const direct_cluster* s);

static inline double direct_dot(int64_t count, const double* a, const double* b)
{
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

#endif

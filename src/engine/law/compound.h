/// A contact that does more than exclude and rub: rolling, torsion, cohesion, rebound, two friction
/// coefficients, all combined. Each law is a file of its own; here they meet in one contact.
///
/// Plain Coulomb contacts have no compound row and stay in the solvers' fast path.
#ifndef TALUS_LAW_COMPOUND_H
#define TALUS_LAW_COMPOUND_H

#include "law/rolling.h"

#include <stdbool.h>
#include <talus/world.h>

/// What a compound contact has beside its row in the problem. Vectors have dim components; spins
/// and torques 3, in 2D only [0] is used, for the component about z.
typedef struct compound_contact {
    double h;
    double bond;       ///< F_C h while a bond holds, else 0
    double closing;    ///< a bond keeps its width at u_n = -closing (law/cohesion.h)
    double sliding_mu; ///< friction once the contact slides, <= mu
    double slip[3];    ///< sticking means u_t + slip = 0 (tangential restitution)
    rolling_bound rolling, torsion;
    double inv_radius_a; ///< 0 for a wall
    double inv_radius_b;
    double spin_a[3]; ///< angular velocity of a wall, else 0
    double coupling;  ///< c of rolling.h
    double response;  ///< w_r of rolling.h
    double torque[3]; ///< torque impulse on b
} compound_contact;

/// How impulses turn the bodies of a contact with lever arms: where a ball has numbers, a solid has
/// matrices. An impulse p and a torque impulse t change the relative velocity by S p + coupling^T t
/// and the relative spin by coupling p + response t; both together are symmetric positive definite.
/// Matrices are [3][3]; 2D: coupling is [0..1], response [0].
typedef struct compound_arms {
    double coupling[9];
    double response[9];
} compound_arms;

/// One contact as the law sees it: its constants, its responses and its free motion.
typedef struct compound_problem {
    int dim;
    const double* n;
    double wn, wt;             ///< responses of a diagonal block
    const double* S;           ///< full block [dim][dim] of the force part, or NULL
    const compound_arms* arms; ///< of a contact of solids, then S is given too; or NULL
    double bias, mu;
    const compound_contact* contact;
    const double* u;    ///< [dim] free relative velocity
    const double* spin; ///< [1 or 3] free relative spin
} compound_problem;

/// Does this pair need more than the plain Coulomb row?
bool compound_pair(const talus_pair_def* pair);

/// Exact solution of one contact: impulse p [dim] and torque impulse [1 or 3].
void compound_solve(const compound_problem* r, double* p, double* torque);

/// The matrices of a ball, whose law is in numbers: coupling and response.
compound_arms compound_ball_arms(int dim, const double* n, const compound_contact* contact);
/// What all friction bounds of a contact grow with: its normal impulse and the strength of its
/// bond.
double compound_bound(const compound_contact* contact, double normal_impulse);

#endif

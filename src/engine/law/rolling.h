/// Rolling and torsion friction (BUW 1.7).
///
/// A contact torque T on body b (-T on a) acts against the relative spin W = omega_b - omega_a:
/// |T_t| <= L_r, |T_n| <= L_n, each sticking (no relative spin) or at its bound against it. The
/// bounds grow with the normal force N (plus the strength of a bond):
///     length mu_r N;   r* mu N;   k (r* N)^(1/3) N for spheres, k (r* N)^(1/2) N for disks.
/// For unequal bodies rolling couples to sliding. With q = n x T_t and y = n x W_t,
///     u_t = u_free + w_t p_t + c q,      y = y_free + c p_t + w_r q,
///     c = kim_b/R_b - kim_a/R_a,         w_r = kim_b/R_b^2 + kim_a/R_a^2,
/// while the normal force and torsion stay uncoupled: the 6x6 block of BUW in disguise.
#ifndef TALUS_LAW_ROLLING_H
#define TALUS_LAW_ROLLING_H

#include <talus/world.h>

/// Bound of a contact torque as a function of the normal force.
typedef struct rolling_bound {
    double coefficient; ///< length, or k r*^exponent
    double exponent;    ///< of the normal force in the coefficient: 0, 1/3 or 1/2
} rolling_bound;

/// Bound for a coefficient of a pair of bodies with reduced radius r*.
rolling_bound rolling_bound_of(int dim, talus_rolling_kind kind, double coefficient,
                               double reduced_radius);
/// Largest torque impulse when the normal impulse is `normal` in a step of h.
double rolling_limit(const rolling_bound* bound, double normal, double h);

/// The coupled tangential and rolling problem of one contact, in `m` components.
typedef struct rolling_problem {
    int m;              ///< components: 1 in 2D, 3 in 3D (vectors at right angles to n)
    double wt, wr, c;   ///< responses to sliding and rolling and their coupling
    double slide_limit; ///< |p| <= this
    double roll_limit;  ///< |q| <= this
    const double* u;    ///< [m] free tangential velocity
    const double* y;    ///< [m] free rolling velocity
} rolling_problem;

/// Solve it exactly: p, q [m] minimise the dissipation potential, that is Coulomb for both.
void rolling_solve(const rolling_problem* r, double* p, double* q);

#endif

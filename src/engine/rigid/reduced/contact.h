/// One contact of a reduced problem alone, everything else held: its exact impulse.
///
/// u = free + S r with a symmetric positive definite block S. Tried in the order open, stick,
/// slide. In 2D all three are closed formulas. In 3D the direction of sliding is found by Newton's
/// method on its angle; where that does not come to rest, law/coulomb_block.c isolates all roots.
/// With rolling (width 5) the normal, sliding and rolling parts are minimised in turn, a few times:
/// not exact but for sticking contacts, and the exact solution stays as it is.
#ifndef TALUS_RIGID_REDUCED_CONTACT_H
#define TALUS_RIGID_REDUCED_CONTACT_H

#include "rigid/reduced/internal.h"

/// Doubles that reduced_contact_prepare() fills: S, then its inverse.
static ALWAYS_INLINE int reduced_own_size(const int width)
{
    return 2 * width * width;
}

/// The symmetric part of a diagonal block, made definite where it is not (by 1e-12 of its trace),
/// and its inverse. Methods that take `free` as u - S r with the same S have the exact law of the
/// problem as their fixed point all the same.
void reduced_contact_prepare(int width, const double* block, double* own);

/// The contact that neither parts nor sticks. r holds the last impulse and receives the new one;
/// `stick` is the impulse that would stop it.
void reduced_contact_slide_3(const double* own, double mu, const double* free, const double* stick,
                             double* r);
void reduced_contact_rub_5(const double* own, double mu, double mu_r, const double* free,
                           double* r);

static ALWAYS_INLINE void reduced_contact_slide_2(const double* S, double mu, const double* free,
                                                  const double* stick, double* r)
{
    // Against the sign of the sticking impulse only where friction overcomes the normal response.
    double side = stick[1] < 0.0 ? -mu : mu;
    if (!(stick[0] > 0.0)) side = free[1] > 0.0 ? -mu : mu;
    double response = S[0] + side * S[1];
    if (!(response > 0.0)) {
        side = -side;
        response = S[0] + side * S[1];
    }
    double n = -free[0] / response;
    if (side * (free[1] + n * (S[2] + side * S[3])) > 0.0) { // slips the other way
        double other = S[0] - side * S[1], m = -free[0] / other;
        if (other > 0.0 && -side * (free[1] + m * (S[2] - side * S[3])) <= 0.0) {
            side = -side;
            n = m;
        }
    }
    r[0] = n;
    r[1] = side * n;
}

/// New impulse of a contact; r holds the last one.
static ALWAYS_INLINE void reduced_contact(const int width, const double* own, double mu,
                                          double mu_r, const double* free, double* r)
{
    if (!(free[0] < 0.0)) {
        for (int k = 0; k < width; k++) r[k] = 0.0;
        return;
    }
    const double* inverse = own + width * width;
    double stick[5];
    for (int i = 0; i < width; i++) stick[i] = -vec_dot(width, inverse + i * width, free);
    const int m = width == 2 ? 1 : 2;
    double bound = mu * stick[0], roll = mu_r * stick[0];
    if (stick[0] > 0.0 && vec_dot(m, stick + 1, stick + 1) <= bound * bound &&
        (width < 5 || vec_dot(2, stick + 3, stick + 3) <= roll * roll)) {
        vec_copy(width, r, stick);
        return;
    }
    if (width == 2) {
        reduced_contact_slide_2(own, mu, free, stick, r);
    } else if (width == 3) {
        reduced_contact_slide_3(own, mu, free, stick, r);
    } else {
        reduced_contact_rub_5(own, mu, mu_r, free, r);
    }
}

#endif

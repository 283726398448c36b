/// Static friction above dynamic friction.
///
/// A sticking contact holds up to mu_s times the normal force; once it slides mu_d <= mu_s counts,
/// until it sticks again. Which of the two a contact has is settled inside the step, but not from
/// sweep to sweep: a solve converges with the coefficients it began with, then contacts that really
/// slip with the static one break loose, and the solve goes on.
#ifndef TALUS_LAW_STATIC_FRICTION_H
#define TALUS_LAW_STATIC_FRICTION_H

#include "law/compound.h"

/// Does a solved contact slide: is it at its friction bound with the slip u [dim] + contact->slip?
/// Contacts of a row or a packing may rest at their bound, loaded by their neighbours; they stick.
/// `mt` is the inverse tangential response; a slip that `slack` times the bound could stop is what
/// the solver has left over and no slip.
bool static_friction_slides(int dim, const double* n, const compound_contact* contact, double mu,
                            double mt, const double* p, const double* u, double slack);

/// Friction breaks loose at a contact that slides with its static coefficient: from now on, in this
/// step, the dynamic one counts. Decided after a solve has converged, never from sweep to sweep,
/// and only in this direction, so nothing chatters. Returns whether the contact changed; *mu is its
/// coefficient.
bool static_friction_breaks(int dim, const double* n, const compound_contact* contact, double mt,
                            const double* p, const double* u, double slack, double* mu);

#endif

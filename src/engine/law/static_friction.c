/// When a contact slides, and when it breaks loose; see static_friction.h.
#include "law/static_friction.h"

#include "base/vec.h"

bool static_friction_slides(int dim, const double* n, const compound_contact* contact, double mu,
                            double mt, const double* p, const double* u, double slack)
{
    double pn = vec_dot(dim, p, n), tt = vec_dot(dim, p, p) - pn * pn;
    double bound = mu * compound_bound(contact, pn) * (1.0 - 1e-9); // rounding of the projection
    if (!(bound > 0.0) || tt < bound * bound) return false;
    double moved[3];
    for (int k = 0; k < dim; k++) moved[k] = u[k] + contact->slip[k];
    double un = vec_dot(dim, moved, n);
    vec_add_scaled(dim, moved, -un, n);
    return mt * vec_norm(dim, moved) > slack * bound;
}

bool static_friction_breaks(int dim, const double* n, const compound_contact* contact, double mt,
                            const double* p, const double* u, double slack, double* mu)
{
    if (!(contact->sliding_mu < *mu)) return false;
    if (!static_friction_slides(dim, n, contact, *mu, mt, p, u, slack)) return false;
    *mu = contact->sliding_mu;
    return true;
}

/// Bounds of contact torques and the coupled slide-and-roll problem; see rolling.h.
///
/// With fixed bounds the problem is the minimum of a strictly convex quadratic over two disks, so
/// the solution is unique. The three cases with at most one bound reached are solved at once; when
/// both are reached, exact minimisation over p and q in turn converges at least with the factor
/// c^2/(w_t w_r), which is below 2.5/3.5 for spheres.
#include "law/rolling.h"

#include "base/portable.h"
#include "base/vec.h"
#include "law/disks.h"

#include <float.h>

rolling_bound rolling_bound_of(int dim, talus_rolling_kind kind, double coefficient,
                               double reduced_radius)
{
    rolling_bound bound = {.coefficient = coefficient};
    if (kind == TALUS_ROLLING_RADIUS) bound.coefficient *= reduced_radius;
    if (kind == TALUS_ROLLING_HERTZ) {
        bound.exponent = dim == 2 ? 0.5 : 1.0 / 3.0;
        bound.coefficient *= portable_pow(reduced_radius, bound.exponent);
    }
    return bound;
}

double rolling_limit(const rolling_bound* bound, double normal, double h)
{
    if (!(normal > 0.0) || bound->coefficient == 0.0) return 0.0;
    double length = bound->coefficient;
    if (bound->exponent > 0.0) length *= portable_pow(normal / h, bound->exponent);
    return length * normal;
}

/// The problem with `other` free to stick: x feels w - c^2/w_other and the velocity u - c
/// y/w_other.
static void eliminate(int m, const double* u, const double* y, const double* w,
                      const double* w_other, double c, double limit, double* x, double* other)
{
    double reduced[3] = {0.0}, b[3] = {0.0};
    for (int k = 0; k < m; k++) {
        reduced[k] = w[k] - c * c / w_other[k];
        b[k] = u[k] - c / w_other[k] * y[k];
    }
    disk_minimise(m, reduced, b, limit, x);
    for (int k = 0; k < m; k++) other[k] = -(y[k] + c * x[k]) / w_other[k];
}

/// One half of an alternation: x for a given `other`.
static void minimise_given(int m, const double* w, const double* u, double c, const double* other,
                           double limit, double* x)
{
    double b[3] = {0.0};
    for (int k = 0; k < m; k++) b[k] = u[k] + c * other[k];
    disk_minimise(m, w, b, limit, x);
}

void rolling_solve(const rolling_problem* r, double* p, double* q)
{
    const int m = r->m;
    const double wt[3] = {r->wt, r->wt, r->wt}, wr[3] = {r->wr, r->wr, r->wr};
    for (int k = 0; k < m; k++) p[k] = q[k] = 0.0;
    if (r->wr == 0.0 || r->roll_limit == 0.0) { // nothing rolls, or nothing resists it
        disk_minimise(m, wt, r->u, r->slide_limit, p);
        return;
    }
    eliminate(m, r->u, r->y, wt, wr, r->c, r->slide_limit, p, q);
    if (vec_norm(m, q) <= r->roll_limit) return;
    eliminate(m, r->y, r->u, wr, wt, r->c, r->roll_limit, q, p);
    if (vec_norm(m, p) <= r->slide_limit) return;
    double before[3], change = 1.0, size = 1.0;
    for (int i = 0; i < 400 && change > 4.0 * DBL_EPSILON * size; i++) {
        vec_copy(r->m, before, p);
        minimise_given(r->m, wt, r->u, r->c, q, r->slide_limit, p);
        minimise_given(r->m, wr, r->y, r->c, p, r->roll_limit, q);
        vec_sub(r->m, before, p, before);
        change = vec_norm(r->m, before);
        size = vec_norm(r->m, p);
    }
}

/// Bounds of contact torques and the coupled slide-and-roll problem; see rolling.h.
///
/// With fixed bounds the problem is the minimum of a strictly convex quadratic over two disks, so
/// the solution is unique. The three cases with at most one bound reached are solved in closed
/// form; when both are reached, exact minimisation over p and q in turn converges at least with the
/// factor c^2/(w_t w_r) < 1.
#include "law/rolling.h"

#include "base/vec.h"

#include <float.h>

rolling_bound rolling_bound_of(int dim, talus_rolling_kind kind, double coefficient,
                               double reduced_radius)
{
    rolling_bound bound = {.coefficient = coefficient};
    if (kind == TALUS_ROLLING_RADIUS) bound.coefficient *= reduced_radius;
    if (kind == TALUS_ROLLING_HERTZ) {
        bound.exponent = dim == 2 ? 0.5 : 1.0 / 3.0;
        bound.coefficient *= pow(reduced_radius, bound.exponent);
    }
    return bound;
}

double rolling_limit(const rolling_bound* bound, double normal, double h)
{
    if (!(normal > 0.0) || bound->coefficient == 0.0) return 0.0;
    double length = bound->coefficient;
    if (bound->exponent > 0.0) length *= pow(normal / h, bound->exponent);
    return length * normal;
}

/// x = -(a + s b)/w, shortened to `limit`; returns whether it had to be.
static bool cut(int m, const double* a, double s, const double* b, double w, double limit,
                double* x)
{
    for (int k = 0; k < m; k++) x[k] = -(a[k] + s * b[k]) / w;
    double length = vec_norm(m, x);
    if (length <= limit) return false;
    for (int k = 0; k < m; k++) x[k] *= limit / length;
    return true;
}

/// The problem with q free to stick: p feels w_t - c^2/w_r and the velocity u - (c/w_r) y.
static void eliminate(int m, const double* u, const double* y, double w, double w_other, double c,
                      double limit, double* x, double* other)
{
    cut(m, u, -c / w_other, y, w - c * c / w_other, limit, x);
    for (int k = 0; k < m; k++) other[k] = -(y[k] + c * x[k]) / w_other;
}

static void alternate(const rolling_problem* r, double* p, double* q)
{
    double before[3], change = 1.0, size = 1.0;
    for (int i = 0; i < 400 && change > 4.0 * DBL_EPSILON * size; i++) {
        vec_copy(r->m, before, p);
        cut(r->m, r->u, r->c, q, r->wt, r->slide_limit, p);
        cut(r->m, r->y, r->c, p, r->wr, r->roll_limit, q);
        vec_sub(r->m, before, p, before);
        change = vec_norm(r->m, before);
        size = vec_norm(r->m, p);
    }
}

void rolling_solve(const rolling_problem* r, double* p, double* q)
{
    const int m = r->m;
    for (int k = 0; k < m; k++) p[k] = q[k] = 0.0;
    if (r->wr == 0.0 || r->roll_limit == 0.0) { // nothing rolls, or nothing resists it
        cut(m, r->u, 0.0, r->u, r->wt, r->slide_limit, p);
        return;
    }
    eliminate(m, r->u, r->y, r->wt, r->wr, r->c, r->slide_limit, p, q);
    if (vec_norm(m, q) <= r->roll_limit) return;
    eliminate(m, r->y, r->u, r->wr, r->wt, r->c, r->roll_limit, q, p);
    if (vec_norm(m, p) <= r->slide_limit) return;
    alternate(r, p, q);
}

/// The natural-map residual, dimensionless.
///
/// For contact c with impulse p, relative velocity u (recomputed from all impulses) and inverse
/// responses (m_n, m_t):
///     e_c = p - P( p - m_n (u_n + bias) n - m_t u_t )
/// where P projects on Coulomb's cone (the normal part to >= 0 first, then the tangential part to
/// mu times it: law/coulomb.h). e_c = 0 exactly when the law holds at c. With a diagonal block e_c
/// is the impulse by which the contact would change if it were solved alone; that is also what e_c
/// is for the richer laws, whose torque error is added divided by the radius.
///     residual = sqrt(sum |e_c|^2) / max( sqrt(sum |p_c|^2), sqrt(sum s_c^2) )
/// with s_c = m_n max(0, -(u_free,n + bias)) the impulse that would stop the free approach at c
/// alone: the scale when impulses are still zero. 0/0 (nothing pushes anywhere) is 0.
/// The quantity has no unit and does not change when masses, lengths or times are rescaled.
/// An e_c that rounding of the velocities alone can make is no error and counts as 0: else grains
/// that only just touch, without any push, would have the residual 0/0 made of rounding.
///
/// It measures local satisfaction. Errors on the scale L of the system are seen only with weight
/// (d/L)^2 (shared/spec/solver.md, finding 1); the rigidity diagnostics multiply it back.
#include "solve/residual.h"

#include "law/coulomb.h"

#include <float.h>

/// Impulse at a contact that rounding of the two bodies' velocities can make. A velocity is the sum
/// of the free one and of the impulses' effects; 16 epsilon covers a body with a dozen contacts.
static ALWAYS_INLINE double rounding(const int dim, const double* a, const double* b, double mn,
                                     double bias)
{
    const int w = row_w(dim), kim = row_kim(dim);
    double speed = fabs(bias);
    for (int k = 0; k < dim; k++) speed += fabs(a[k]) + fabs(b[k]);
    for (int k = w; k < kim; k++) speed += fabs(a[k]) + fabs(b[k]);
    return 16.0 * DBL_EPSILON * mn * speed;
}

/// Square of a rich contact's torque error, as an impulse at the radius of body b.
static double torque_error(const problem* p, int64_t c, const double* torque)
{
    if (problem_rich_of(p, c) < 0) return 0.0;
    const rich_contact* r = &p->rich_rows[problem_rich_of(p, c)];
    double e[3];
    vec_sub(3, e, torque, r->torque);
    return vec_dot(3, e, e) * r->inv_radius_b * r->inv_radius_b;
}

static ALWAYS_INLINE double residual(const problem* p, const int dim)
{
    const int stride = problem_stride(dim), width = problem_width(dim);
    double error = 0.0, impulse = 0.0, stopping = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + c * width;
        const double mn = row[contact_mn(dim)], bias = row[contact_bias(dim)];
        const int64_t a = p->pair[2 * c], b = p->pair[2 * c + 1];
        double u[3], u_free[3], e[3], mapped[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0};
        if (problem_block_of(p, c) < 0) {
            contact_velocity(dim, p->body + a * stride, p->body + b * stride, row, u);
            contact_velocity(dim, p->free + a * stride, p->free + b * stride, row, u_free);
        } else {
            const double* block = problem_block(p, dim, c);
            block_velocity(dim, block, p->body + a * stride, p->body + b * stride, u);
            block_velocity(dim, block, p->free + a * stride, p->free + b * stride, u_free);
        }
        if (problem_rich_of(p, c) < 0) {
            coulomb_map(dim, row, mn, row[contact_mt(dim)], bias, row[contact_mu(dim)], u,
                        row + contact_p(dim), mapped);
        } else {
            problem_solve_alone(p, c, u, mapped, torque);
        }
        vec_sub(dim, e, row + contact_p(dim), mapped);
        double approach = -(vec_dot(dim, u_free, row) + bias);
        double stop = approach > 0.0 ? mn * approach : 0.0;
        double noise = rounding(dim, p->free + a * stride, p->free + b * stride, mn, bias);
        double e2 = vec_dot(dim, e, e) + torque_error(p, c, torque);
        error += e2 <= noise * noise ? 0.0 : e2;
        impulse += vec_dot(dim, row + contact_p(dim), row + contact_p(dim));
        stopping += stop * stop;
    }
    double scale = impulse > stopping ? impulse : stopping;
    return scale > 0.0 ? sqrt(error / scale) : (error > 0.0 ? INFINITY : 0.0);
}

double residual_natural(problem* p)
{
    problem_refresh(p);
    return p->dim == 2 ? residual(p, 2) : residual(p, 3);
}

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
/// (d/L)^2 (docs/theory.md). The velocity error makes up for that: if the law at
/// the contacts is linear near the solution, an error r of the relative velocities comes from an
/// error dp = W^-1 r of the impulses, whose kinetic energy is
///     ||dV||_M^2 = r.W^-1 r <= (C l)^2 sum |r_c|^2 / w_c
/// if r is a wave of length l diameters: for a row of l grains that leans on one wall C =
/// sqrt(8)/pi = 0.9, exactly. Disordered packings are softer (SOFTNESS). r_c = w_c e_c, w_c =
/// 1/m_n, and how much of sum |e_c|^2 / m_n varies on which length is what scales.h finds out:
/// where single contacts flicker the velocities are nearly right, where a whole region creeps they
/// are not.
///     velocity error = C sqrt(sum over scales of l^2 energy_l) / ||V - V_free||_M
/// and ||V - V_free||_M^2 = p.W p = sum p_c.(u_c - u_free,c): what all contacts together do.
///
/// Do grains flow, or do contacts only hold them? Held grains do not slide: sum p_c.u_c = 0. Where
/// they flow friction takes -sum p_c.u_c > 0 away, and of that
///     flow = -sum p_c.u_c / ||V - V_free||_M^2
/// is the ratio to what the contacts do. Both are energies of relative motion, the same in every
/// frame of reference. Where the exact answer is rest an error e of the velocities makes a flow of
/// at most e, as the sum is (V_free - V).M V. Steps of collapses, silos, shear and fast drums have
/// 0.4 to 1.7, a drum that turns slowly 0.03 to 0.14, packings at rest below 0.01.
#include "rigid/residual.h"

#include "base/parallel.h"
#include "law/coulomb.h"
#include "rigid/scales.h"

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

/// Square of a compound contact's torque error, as an impulse at the radius of body b.
static double torque_error(const problem* p, int64_t c, const double* torque)
{
    if (problem_compound_of(p, c) < 0) return 0.0;
    const compound_contact* r = &p->compound_rows[problem_compound_of(p, c)];
    double e[3];
    vec_sub(3, e, torque, r->torque);
    return vec_dot(3, e, e) * r->inv_radius_b * r->inv_radius_b;
}

/// What all contacts do together counts at least as this part of what they would do one by one:
/// where bonds hold grains under stress that is rounding.
static const double ROUNDED = 1e-9;

/// C above: bench/scaling and docs/performance.md compare with the true error. In the plane errors
/// reach less far where grains flow than where they rest: in 42 iterates of collapses, pours,
/// drums, silos and shear of disks that were 8 to 50 % off by SOFTNESS, the true error was 0.36 of
/// that in the (geometric) mean, in 53 of spheres 0.84. So there C falls to its half as the flow
/// comes to FULL_FLOW.
static const double SOFTNESS = 6.0, FULL_FLOW = 0.4;

/// Bonds carry errors as far in motion as at rest.
static double softness(const problem* p, double flow)
{
    if (p->dim == 3 || problem_strongest_bond(p) > 0.0) return SOFTNESS;
    return SOFTNESS / (1.0 + fmin(flow / FULL_FLOW, 1.0));
}

/// Sums over contacts that both measures are made of.
typedef struct error_sums {
    double error, impulse, stopping, energy, single, work, lost;
} error_sums;

/// Normal relative velocity of two balls; their turning has no part in it.
static ALWAYS_INLINE double opening(const int dim, const double* n, const double* a,
                                    const double* b)
{
    double sum = 0.0;
    for (int k = 0; k < dim; k++) sum += (b[k] - a[k]) * n[k];
    return sum;
}

/// Add a contact of balls that carries nothing and opens, and so satisfies its law: in flows most
/// contacts do. False if it is another.
static ALWAYS_INLINE bool add_open(const problem* p, const int dim, int64_t c, error_sums* sums)
{
    const int stride = problem_stride(dim);
    const double* row = p->contact + c * problem_width(dim);
    const double *impulse = row + contact_p(dim), bias = row[contact_bias(dim)];
    const int64_t a = p->pair[2 * c] * (int64_t)stride, b = p->pair[2 * c + 1] * (int64_t)stride;
    for (int k = 0; k < dim; k++) {
        if (impulse[k] != 0.0) return false;
    }
    if (problem_block_of(p, c) >= 0 || problem_compound_of(p, c) >= 0) return false;
    if (!(opening(dim, row, p->body + a, p->body + b) + bias >= 0.0)) return false;
    const double approach = -(opening(dim, row, p->free + a, p->free + b) + bias);
    const double stop = approach > 0.0 ? row[contact_mn(dim)] * approach : 0.0;
    sums->stopping += stop * stop;
    return true;
}

/// What the torque of a compound contact does, and takes away.
static void add_torque_work(const problem* p, int64_t c, error_sums* sums)
{
    const int32_t compound = problem_compound_of(p, c);
    if (compound < 0) return;
    const double* torque = p->compound_rows[compound].torque;
    const int spin_dim = spin_width(p->dim);
    double spin[3], free_spin[3];
    problem_spin_of(p, p->body, c, spin);
    problem_spin_of(p, p->free, c, free_spin);
    sums->work += vec_dot(spin_dim, torque, spin) - vec_dot(spin_dim, torque, free_spin);
    sums->lost -= vec_dot(spin_dim, torque, spin);
}

static ALWAYS_INLINE void add_contact(const problem* p, const int dim, int64_t c, int part,
                                      const scales* by_scale, error_sums* sums)
{
    if (add_open(p, dim, c, sums)) return;
    const int stride = problem_stride(dim), width = problem_width(dim);
    const double* row = p->contact + c * width;
    const double mn = row[contact_mn(dim)], bias = row[contact_bias(dim)];
    const double* impulse = row + contact_p(dim);
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
    if (problem_compound_of(p, c) < 0) {
        coulomb_map(dim, row, mn, row[contact_mt(dim)], bias, row[contact_mu(dim)], u, impulse,
                    mapped);
    } else {
        problem_solve_alone(p, c, u, mapped, torque);
    }
    vec_sub(dim, e, impulse, mapped);
    const double approach = -(vec_dot(dim, u_free, row) + bias);
    const double stop = approach > 0.0 ? mn * approach : 0.0;
    const double noise = rounding(dim, p->free + a * stride, p->free + b * stride, mn, bias);
    const double impulse2 = vec_dot(dim, impulse, impulse);
    double e2 = vec_dot(dim, e, e) + torque_error(p, c, torque);
    e2 = e2 <= noise * noise ? 0.0 : e2;
    sums->error += e2;
    sums->impulse += impulse2;
    sums->stopping += stop * stop;
    sums->energy += e2 / mn;
    sums->single += impulse2 / mn;
    const double on_motion = vec_dot(dim, impulse, u); // below 0: friction takes energy away
    sums->work += on_motion - vec_dot(dim, impulse, u_free);
    sums->lost -= on_motion;
    add_torque_work(p, c, sums);
    if (impulse2 > 0.0 || e2 > 0.0) scales_add(by_scale, p, dim, part, c, e, mn);
}

static error_sums add_part(const problem* p, int part, int parts, const scales* by_scale)
{
    const int64_t first = p->count * part / parts, last = p->count * (part + 1) / parts;
    error_sums sums = {0};
    if (p->dim == 2) {
        for (int64_t c = first; c < last; c++) add_contact(p, 2, c, part, by_scale, &sums);
    } else {
        for (int64_t c = first; c < last; c++) add_contact(p, 3, c, part, by_scale, &sums);
    }
    return sums;
}

/// Ratio of an error to its scale; nothing in nothing is no error, and what is not a number is an
/// infinite one.
static double relative(double error2, double scale2)
{
    if (error2 == 0.0) return 0.0;
    return error2 < INFINITY && scale2 > 0.0 ? sqrt(error2 / scale2) : INFINITY;
}

residual_report residual_measure(const problem* p, double size, int threads)
{
    const int parts = p->count >= PARALLEL_LEAST ? SCALES_PARTS : 1;
    double length = fmax(size, 1.0);
    if (!(size > 0.0)) { // the longest chain that the bodies could make
        const int stride = problem_stride(p->dim);
        int64_t moving = p->mobile_count;
        for (int64_t i = 0; i < p->rows; i++) moving += p->free[i * stride + row_im(p->dim)] > 0.0;
        length = (double)moving;
    }
    scales by_scale = scales_begin(p, parts);
    error_sums part[SCALES_PARTS], sums = {0};
#pragma omp parallel for num_threads(parallel_threads(threads, p->count)) if (parts > 1)
    for (int k = 0; k < parts; k++) part[k] = add_part(p, k, parts, &by_scale);
    for (int k = 0; k < parts; k++) {
        sums.error += part[k].error;
        sums.impulse += part[k].impulse;
        sums.stopping += part[k].stopping;
        sums.energy += part[k].energy;
        sums.single += part[k].single;
        sums.work += part[k].work;
        sums.lost += part[k].lost;
    }
    const double weighed = scales_weigh(&by_scale, sums.energy, length);
    const double length2 = weighed / sums.energy;
    const double scale2 = fmax(sums.work, ROUNDED * ROUNDED * sums.single);
    const double flow = sums.lost > 0.0 && sums.work > 0.0 ? sums.lost / sums.work : 0.0;
    return (residual_report){.natural = relative(sums.error, fmax(sums.impulse, sums.stopping)),
                             .velocity = softness(p, flow) * relative(weighed, scale2),
                             .length = isfinite(length2) ? sqrt(length2) : length,
                             .flow = flow};
}

double residual_natural(problem* p)
{
    problem_refresh(p);
    return residual_measure(p, 1.0, 1).natural;
}

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
#include "rigid/ahead.h"
#include "rigid/residual_terms.h"
#include "rigid/scales.h"

#include <string.h>

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

/// C above: bench/scaling and docs/benchmarks.md compare with the true error. In the plane errors
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

/// What the torque of a compound contact does, and takes away.
static void add_torque_work(const problem* p, int64_t c, double* sums)
{
    const int32_t compound = problem_compound_of(p, c);
    if (compound < 0) return;
    const double* torque = p->compound_rows[compound].torque;
    const int spin_dim = spin_width(p->dim);
    double spin[3], free_spin[3];
    problem_spin_of(p, p->body, c, spin);
    problem_spin_of(p, p->free, c, free_spin);
    sums[RESIDUAL_WORK] += vec_dot(spin_dim, torque, spin) - vec_dot(spin_dim, torque, free_spin);
    sums[RESIDUAL_LOST] -= vec_dot(spin_dim, torque, spin);
}

static ALWAYS_INLINE void add_contact(const problem* p, const int dim, int64_t c, int part,
                                      const scales* by_scale, double* sums)
{
    double stopping, e[3], mapped[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0};
    double terms[RESIDUAL_SUMS];
    residual_motion u;
    if (residual_is_open(p, dim, c, &stopping)) {
        sums[RESIDUAL_STOPPING] += stopping;
        return;
    }
    residual_moves(p, dim, c, &u);
    if (problem_compound_of(p, c) < 0) {
        residual_map(p, dim, c, &u, mapped);
    } else {
        problem_solve_alone(p, c, u.now, mapped, torque);
    }
    const bool counts = residual_terms(p, dim, c, &u, mapped, torque_error(p, c, torque), e, terms);
    for (int k = 0; k < RESIDUAL_SUMS; k++) sums[k] += terms[k];
    add_torque_work(p, c, sums);
    if (counts) scales_add(by_scale, p, dim, part, c, e);
}

static void add_part(const problem* p, int part, int parts, const scales* by_scale, double* out)
{
    const int64_t first = residual_part_first(p->count, part, parts),
                  last = residual_part_first(p->count, part + 1, parts);
    double sums[RESIDUAL_SUMS] = {0.0}; // of its own: `out` lies in a cache line with other parts'
    scales_clear(by_scale, part);
    for (int64_t c = first; c < last; c++) {
        look_ahead(p, p->dim, c, p->body);
        look_ahead(p, p->dim, c, p->free);
        if (p->dim == 2) {
            add_contact(p, 2, c, part, by_scale, sums);
        } else {
            add_contact(p, 3, c, part, by_scale, sums);
        }
    }
    memcpy(out, sums, sizeof sums);
}

/// Ratio of an error to its scale; nothing in nothing is no error, and what is not a number is an
/// infinite one.
static double relative(double error2, double scale2)
{
    if (error2 == 0.0) return 0.0;
    return error2 < INFINITY && scale2 > 0.0 ? sqrt(error2 / scale2) : INFINITY;
}

/// Parts that contacts are added up in, whatever the number of threads. More of them are more cells
/// to empty and to join: they are for problems so large that many threads work on them.
enum { FEW_PARTS = 4, CONTACTS_FOR_PARTS = 200000 };

int residual_parts(int64_t count)
{
    return count < PARALLEL_LEAST ? 1 : count < CONTACTS_FOR_PARTS ? FEW_PARTS : SCALES_PARTS;
}

residual_report residual_conclude(const problem* p, double size,
                                  double part[SCALES_PARTS][RESIDUAL_SUMS], scales* by_scale,
                                  int threads)
{
    const int parts = residual_parts(p->count);
    double length = fmax(size, 1.0), sums[RESIDUAL_SUMS] = {0.0};
    if (!(size > 0.0)) { // the longest chain that the bodies could make
        const int stride = problem_stride(p->dim);
        int64_t moving = p->mobile_count;
        for (int64_t i = 0; i < p->rows; i++) moving += p->free[i * stride + row_im(p->dim)] > 0.0;
        length = (double)moving;
    }
    for (int k = 0; k < parts; k++) {
        for (int i = 0; i < RESIDUAL_SUMS; i++) sums[i] += part[k][i];
    }
    const double energy = sums[RESIDUAL_ENERGY], work = sums[RESIDUAL_WORK];
    const double lost = sums[RESIDUAL_LOST];
    const double weighed = scales_weigh(by_scale, energy, length, threads);
    const double length2 = weighed / energy;
    const double scale2 = fmax(work, ROUNDED * ROUNDED * sums[RESIDUAL_SINGLE]);
    const double flow = lost > 0.0 && work > 0.0 ? lost / work : 0.0;
    return (residual_report){
        .natural =
            relative(sums[RESIDUAL_ERROR], fmax(sums[RESIDUAL_IMPULSE], sums[RESIDUAL_STOPPING])),
        .velocity = softness(p, flow) * relative(weighed, scale2),
        .length = isfinite(length2) ? sqrt(length2) : length,
        .flow = flow};
}

residual_report residual_measure(const problem* p, double size, int threads)
{
    const int parts = residual_parts(p->count);
    scales by_scale = scales_begin(p, parts);
    double part[SCALES_PARTS][RESIDUAL_SUMS] = {{0.0}};
#pragma omp parallel for num_threads(parallel_threads(threads, p->count)) if (parts > 1)
    for (int k = 0; k < parts; k++) add_part(p, k, parts, &by_scale, part[k]);
    return residual_conclude(p, size, part, &by_scale, threads);
}

double residual_natural(problem* p)
{
    problem_refresh(p);
    return residual_measure(p, 1.0, 1).natural;
}

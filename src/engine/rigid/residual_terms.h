/// What a contact adds to the sums of residual.c, for the CPU and for cards.
#ifndef TALUS_RIGID_RESIDUAL_TERMS_H
#define TALUS_RIGID_RESIDUAL_TERMS_H

#include "law/coulomb.h"
#include "rigid/problem.h"

#include <float.h>

/// Sums over contacts that both measures are made of.
typedef enum residual_sum {
    RESIDUAL_ERROR,    ///< |e|^2
    RESIDUAL_IMPULSE,  ///< |p|^2
    RESIDUAL_STOPPING, ///< s^2
    RESIDUAL_ENERGY,   ///< |e|^2/m
    RESIDUAL_SINGLE,   ///< |p|^2/m
    RESIDUAL_WORK,     ///< p.(u - u_free)
    RESIDUAL_LOST,     ///< -p.u
    RESIDUAL_SUMS
} residual_sum;

/// Impulse at a contact that rounding of the two bodies' velocities can make. A velocity is the sum
/// of the free one and of the impulses' effects; 16 epsilon covers a body with a dozen contacts.
static ALWAYS_INLINE double residual_rounding(const int dim, const double* a, const double* b,
                                              double mn, double bias)
{
    const int w = row_w(dim), kim = row_kim(dim);
    double speed = fabs(bias);
    for (int k = 0; k < dim; k++) speed += fabs(a[k]) + fabs(b[k]);
    for (int k = w; k < kim; k++) speed += fabs(a[k]) + fabs(b[k]);
    return 16.0 * DBL_EPSILON * mn * speed;
}

/// Normal relative velocity of two balls; their turning has no part in it.
static ALWAYS_INLINE double residual_opening(const int dim, const double* n, const double* a,
                                             const double* b)
{
    double sum = 0.0;
    for (int k = 0; k < dim; k++) sum += (b[k] - a[k]) * n[k];
    return sum;
}

/// A contact of balls that carries nothing and opens satisfies its law: in flows most contacts do.
/// All that it adds is *stopping. False if it is another.
static ALWAYS_INLINE bool residual_is_open(const problem* p, const int dim, int64_t c,
                                           double* stopping)
{
    const int stride = problem_stride(dim);
    const double* row = p->contact + c * problem_width(dim);
    const double *impulse = row + contact_p(dim), bias = row[contact_bias(dim)];
    const int64_t a = p->pair[2 * c] * (int64_t)stride, b = p->pair[2 * c + 1] * (int64_t)stride;
    for (int k = 0; k < dim; k++) {
        if (impulse[k] != 0.0) return false;
    }
    if (problem_block_of(p, c) >= 0 || problem_compound_of(p, c) >= 0) return false;
    if (!(residual_opening(dim, row, p->body + a, p->body + b) + bias >= 0.0)) return false;
    const double approach = -(residual_opening(dim, row, p->free + a, p->free + b) + bias);
    const double stop = approach > 0.0 ? row[contact_mn(dim)] * approach : 0.0;
    *stopping = stop * stop;
    return true;
}

/// Relative velocities of a contact, present and free.
typedef struct residual_motion {
    double now[3], free[3];
} residual_motion;

static ALWAYS_INLINE void residual_moves(const problem* p, const int dim, int64_t c,
                                         residual_motion* u)
{
    const int stride = problem_stride(dim);
    const double* row = p->contact + c * problem_width(dim);
    const int64_t a = p->pair[2 * c] * (int64_t)stride, b = p->pair[2 * c + 1] * (int64_t)stride;
    if (problem_block_of(p, c) < 0) {
        contact_velocity(dim, p->body + a, p->body + b, row, u->now);
        contact_velocity(dim, p->free + a, p->free + b, row, u->free);
    } else {
        const double* block = problem_block(p, dim, c);
        block_velocity(dim, block, p->body + a, p->body + b, u->now);
        block_velocity(dim, block, p->free + a, p->free + b, u->free);
    }
}

/// The impulse that the law of a contact without more than friction asks for.
static ALWAYS_INLINE void residual_map(const problem* p, const int dim, int64_t c,
                                       const residual_motion* u, double* mapped)
{
    const double* row = p->contact + c * problem_width(dim);
    coulomb_map(dim, row, row[contact_mn(dim)], row[contact_mt(dim)], row[contact_bias(dim)],
                row[contact_mu(dim)], u->now, row + contact_p(dim), mapped);
}

/// All terms of a contact from the impulse that its law asks for; `torque2` is what the torques of
/// a compound contact add to |e|^2. e receives the error of the impulse. True if the contact has a
/// part in the cells of scales.h.
static ALWAYS_INLINE bool residual_terms(const problem* p, const int dim, int64_t c,
                                         const residual_motion* u, const double* mapped,
                                         double torque2, double* e, double terms[RESIDUAL_SUMS])
{
    const int stride = problem_stride(dim);
    const double* row = p->contact + c * problem_width(dim);
    const double mn = row[contact_mn(dim)], bias = row[contact_bias(dim)];
    const double* impulse = row + contact_p(dim);
    const int64_t a = p->pair[2 * c] * (int64_t)stride, b = p->pair[2 * c + 1] * (int64_t)stride;
    vec_sub(dim, e, impulse, mapped);
    const double approach = -(vec_dot(dim, u->free, row) + bias);
    const double stop = approach > 0.0 ? mn * approach : 0.0;
    const double noise = residual_rounding(dim, p->free + a, p->free + b, mn, bias);
    const double impulse2 = vec_dot(dim, impulse, impulse);
    double e2 = vec_dot(dim, e, e) + torque2;
    e2 = e2 <= noise * noise ? 0.0 : e2;
    const double on_motion = vec_dot(dim, impulse, u->now); // below 0: friction takes energy away
    terms[RESIDUAL_ERROR] = e2;
    terms[RESIDUAL_IMPULSE] = impulse2;
    terms[RESIDUAL_STOPPING] = stop * stop;
    terms[RESIDUAL_ENERGY] = e2 / mn;
    terms[RESIDUAL_SINGLE] = impulse2 / mn;
    terms[RESIDUAL_WORK] = on_motion - vec_dot(dim, impulse, u->free);
    terms[RESIDUAL_LOST] = -on_motion;
    return impulse2 > 0.0 || e2 > 0.0;
}

#endif

/// One contact solved exactly, all other impulses at their latest values: the step that every sweep
/// is made of.
#ifndef TALUS_RIGID_UPDATE_H
#define TALUS_RIGID_UPDATE_H

#include "law/coulomb.h"
#include "rigid/problem.h"

/// Exact update of a compound contact.
static inline void update_compound(problem* p, int64_t c, double* a, double* b, double* dp)
{
    const int dim = p->dim;
    double* row = p->contact + c * problem_width(dim);
    double* impulse = row + contact_p(dim);
    double solved[3] = {0.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.0}, dt[3];
    compound_contact* r = &p->compound_rows[problem_compound_of(p, c)];
    double u[3];
    problem_velocity(p, c, u);
    problem_solve_alone(p, c, u, solved, torque);
    vec_sub(dim, dp, solved, impulse);
    vec_copy(dim, impulse, solved);
    if (problem_block_of(p, c) < 0) {
        contact_apply(dim, a, b, row, dp);
    } else {
        block_apply(p, dim, problem_block(p, dim, c), p->pair[2 * c], a, b, dp);
    }
    vec_sub(3, dt, torque, r->torque);
    vec_copy(3, r->torque, torque);
    problem_twist(p, c, dt);
}

/// The sticking solution, if it is inside the friction cone and the contact would close when left
/// alone (law/coulomb_block.c takes open before stick where both are possible).
static ALWAYS_INLINE bool stick_update(const int dim, const double* block, const double* row,
                                       const double* u, const double* impulse, double* solved)
{
    const double *S = block, *inverse = block + block_inverse(dim), *n = row;
    double target[3], pn = 0.0, pp = 0.0, free_n = row[contact_bias(dim)];
    for (int k = 0; k < dim; k++) {
        target[k] = u[k] + row[contact_bias(dim)] * n[k];
        free_n += n[k] * (u[k] - vec_dot(dim, S + k * dim, impulse));
    }
    for (int k = 0; k < dim; k++) {
        solved[k] = impulse[k] - vec_dot(dim, inverse + k * dim, target);
        pn += solved[k] * n[k];
        pp += solved[k] * solved[k];
    }
    const double mu = row[contact_mu(dim)];
    // |p_t|^2 = pp - pn^2 loses digits near mu = 0: a little inside the cone, the rest is solved.
    // A block that is not definite to rounding has an inverse of zeros.
    return inverse[0] > 0.0 && free_n < 0.0 && pn > 0.0 &&
           pp - pn * pn < 0.999999 * mu * mu * pn * pn;
}

/// Does a contact without an impulse stay open?
static ALWAYS_INLINE bool stays_open(const int dim, const double* row, const double* u)
{
    const double* impulse = row + contact_p(dim);
    double un = row[contact_bias(dim)];
    for (int k = 0; k < dim; k++) {
        if (impulse[k] != 0.0) return false;
        un += row[k] * u[k];
    }
    return un >= 0.0;
}

/// Exact update of a Coulomb contact with a full block. Most of them stay open, or stick: then the
/// impulse takes the one step S^-1 (u + bias n) that stops the slip and closes the gap.
static ALWAYS_INLINE void update_block(problem* p, const int dim, int64_t c, double* a, double* b,
                                       double* u, double* dp)
{
    double* row = p->contact + c * problem_width(dim);
    double* impulse = row + contact_p(dim);
    const double* block = problem_block(p, dim, c);
    double solved[3], torque[3];
    block_velocity(dim, block, a, b, u);
    if (stays_open(dim, row, u)) {
        for (int k = 0; k < dim; k++) dp[k] = 0.0;
        return;
    }
    if (!stick_update(dim, block, row, u, impulse, solved)) {
        problem_solve_alone(p, c, u, solved, torque);
    }
    vec_sub(dim, dp, solved, impulse);
    vec_copy(dim, impulse, solved);
    block_apply(p, dim, block, p->pair[2 * c], a, b, dp);
}

/// Exact update of a Coulomb contact with a diagonal block: the hot path.
static ALWAYS_INLINE void update_coulomb(const int dim, double* row, double* a, double* b,
                                         const double* u, double* dp)
{
    double* impulse = row + contact_p(dim);
    double solved[3];
    coulomb_map(dim, row, row[contact_mn(dim)], row[contact_mt(dim)], row[contact_bias(dim)],
                row[contact_mu(dim)], u, impulse, solved);
    vec_sub(dim, dp, solved, impulse);
    vec_copy(dim, impulse, solved);
    contact_apply(dim, a, b, row, dp);
}

/// Give contact c, between the rows a and b, its exact impulse and the rows the velocities that go
/// with it; dp receives the change.
static ALWAYS_INLINE void update_contact(problem* p, const int dim, int64_t c, double* a, double* b,
                                         double* dp)
{
    double* row = p->contact + c * problem_width(dim);
    double u[3];
    if (problem_compound_of(p, c) >= 0) {
        update_compound(p, c, a, b, dp);
    } else if (problem_block_of(p, c) < 0) {
        contact_velocity(dim, a, b, row, u);
        update_coulomb(dim, row, a, b, u, dp);
    } else {
        update_block(p, dim, c, a, b, u, dp);
    }
}

#endif

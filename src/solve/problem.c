/// Memory of a contact problem, and velocities from impulses.
#include "solve/problem.h"

#include "law/coulomb.h"
#include "law/static_friction.h"

#include <stdlib.h>
#include <string.h>

void problem_free(problem* p)
{
    free(p->body);
    free(p->free);
    free(p->pair);
    free(p->contact);
    free(p->block);
    free(p->rich);
    free(p->rich_rows);
    free(p->blocks);
    *p = (problem){0};
}

/// Grow without keeping the contents: a problem is built anew every step.
static bool regrow(void** array, size_t bytes)
{
    free(*array);
    *array = aligned_alloc(64, (bytes + 63) / 64 * 64);
    return *array != NULL;
}

static talus_status reserve_rows(problem* p, int64_t rows)
{
    if (rows <= p->row_capacity) return TALUS_OK;
    int64_t grown = rows + rows / 4 + 16;
    size_t bytes = sizeof(double) * (size_t)(grown * problem_stride(p->dim));
    p->row_capacity = 0;
    if (!regrow((void**)&p->body, bytes) || !regrow((void**)&p->free, bytes)) {
        return TALUS_ERR_MEMORY;
    }
    p->row_capacity = grown;
    return TALUS_OK;
}

static talus_status reserve_contacts(problem* p, int64_t contacts)
{
    if (contacts <= p->contact_capacity) return TALUS_OK;
    int64_t grown = contacts + contacts / 4 + 16;
    p->contact_capacity = 0;
    if (!regrow((void**)&p->contact, sizeof(double) * (size_t)(grown * problem_width(p->dim))) ||
        !regrow((void**)&p->pair, sizeof(int32_t) * 2 * (size_t)grown) ||
        !regrow((void**)&p->block, sizeof(int32_t) * (size_t)grown) ||
        !regrow((void**)&p->rich, sizeof(int32_t) * (size_t)grown)) {
        return TALUS_ERR_MEMORY;
    }
    p->contact_capacity = grown;
    return TALUS_OK;
}

static talus_status reserve_blocks(problem* p, int64_t blocks)
{
    if (blocks <= p->block_capacity) return TALUS_OK;
    int64_t grown = blocks + blocks / 4 + 16;
    p->block_capacity = 0;
    if (!regrow((void**)&p->blocks, sizeof(double) * (size_t)(grown * 2 * p->dim * p->dim))) {
        return TALUS_ERR_MEMORY;
    }
    p->block_capacity = grown;
    return TALUS_OK;
}

static talus_status reserve_rich(problem* p, int64_t rich)
{
    if (rich <= p->rich_capacity) return TALUS_OK;
    int64_t grown = rich + rich / 4 + 16;
    p->rich_capacity = 0;
    if (!regrow((void**)&p->rich_rows, sizeof(rich_contact) * (size_t)grown)) {
        return TALUS_ERR_MEMORY;
    }
    p->rich_capacity = grown;
    return TALUS_OK;
}

talus_status problem_reset(problem* p, int dim, int64_t rows, int64_t contacts, int64_t blocks,
                           int64_t rich)
{
    p->dim = dim;
    p->rows = p->count = p->block_count = p->rich_count = 0;
    if (reserve_rows(p, rows) || reserve_contacts(p, contacts) || reserve_blocks(p, blocks) ||
        reserve_rich(p, rich)) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t c = 0; c < contacts; c++) p->rich[c] = -1;
    return TALUS_OK;
}

static ALWAYS_INLINE void refresh(problem* p, const int dim)
{
    const int stride = problem_stride(dim), width = problem_width(dim);
    if (p->rows > 0) memcpy(p->body, p->free, sizeof(double) * (size_t)(p->rows * stride));
    for (int64_t c = 0; c < p->count; c++) {
        const double* row = p->contact + c * width;
        double* a = p->body + (int64_t)p->pair[2 * c] * stride;
        double* b = p->body + (int64_t)p->pair[2 * c + 1] * stride;
        contact_apply(dim, a, b, row, row + contact_p(dim));
        if (p->block[c] >= 0) {
            const double* mobility = p->blocks + ((int64_t)p->block[c] * 2 + 1) * dim * dim;
            wall_apply(dim, a, mobility, row + contact_p(dim));
        }
        if (p->rich[c] >= 0) {
            const rich_contact* r = &p->rich_rows[p->rich[c]];
            torque_apply(dim, a, b, r, r->torque);
        }
    }
}

void problem_refresh(problem* p)
{
    if (p->dim == 2) {
        refresh(p, 2);
    } else {
        refresh(p, 3);
    }
}

/// What a rich contact's own impulses p and torque t do to its velocity and spin.
static void own_response(int dim, const double* n, double wn, double wt, const double* S,
                         const rich_contact* r, const double* p, double* du, double* dspin)
{
    const double* t = r->torque;
    const double pn = vec_dot(dim, p, n);
    for (int k = 0; k < dim; k++) {
        du[k] = S ? vec_dot(dim, S + k * dim, p) : wt * p[k] + (wn - wt) * pn * n[k];
    }
    if (dim == 2) {
        du[0] += r->coupling * t[0] * n[1];
        du[1] -= r->coupling * t[0] * n[0];
        dspin[0] = r->response * t[0] - r->coupling * (n[0] * p[1] - n[1] * p[0]);
        return;
    }
    double nt[3], np[3];
    vec_cross(nt, n, t);
    vec_cross(np, n, p);
    for (int k = 0; k < 3; k++) {
        du[k] += r->coupling * nt[k];
        dspin[k] = r->response * t[k] - r->coupling * np[k];
    }
}

/// Solve a rich contact: take its own effect out of the motion, then ask the laws.
static void solve_rich(const problem* p, int64_t c, const double* row, const double* S,
                       const double* u, double* solved, double* torque)
{
    const int dim = p->dim, stride = problem_stride(dim), spin_dim = dim == 2 ? 1 : 3;
    const rich_contact* r = &p->rich_rows[p->rich[c]];
    const double* impulse = row + contact_p(dim);
    const double wn = 1.0 / row[contact_mn(dim)], wt = 1.0 / row[contact_mt(dim)];
    double free_u[3] = {0.0, 0.0, 0.0}, free_spin[3] = {0.0, 0.0, 0.0}, du[3], dspin[3];
    contact_spin(dim, p->body + (int64_t)p->pair[2 * c] * stride,
                 p->body + (int64_t)p->pair[2 * c + 1] * stride, r, free_spin);
    own_response(dim, row, wn, wt, S, r, impulse, du, dspin);
    vec_sub(dim, free_u, u, du);
    vec_add_scaled(spin_dim, free_spin, -1.0, dspin);
    rich_problem alone = {.dim = dim,
                          .n = row,
                          .wn = wn,
                          .wt = wt,
                          .S = S,
                          .bias = row[contact_bias(dim)],
                          .mu = row[contact_mu(dim)],
                          .contact = r,
                          .u = free_u,
                          .spin = free_spin};
    vec_copy(dim, solved, impulse);
    vec_copy(3, torque, r->torque);
    rich_solve(&alone, solved, torque);
}

void problem_solve_alone(const problem* p, int64_t c, const double* u, double* solved,
                         double* torque)
{
    const int dim = p->dim;
    const double* row = p->contact + c * problem_width(dim);
    const double* S = p->block[c] < 0 ? NULL : p->blocks + (int64_t)p->block[c] * 2 * dim * dim;
    if (p->rich[c] >= 0) {
        solve_rich(p, c, row, S, u, solved, torque);
        return;
    }
    double alone[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < dim; k++) {
        alone[k] = u[k] - vec_dot(dim, S + k * dim, row + contact_p(dim));
    }
    coulomb_block(dim, S, row, row[contact_bias(dim)], row[contact_mu(dim)], alone, solved);
}

/// Relative velocity at a contact as the bodies move now.
static void present_velocity(const problem* p, int64_t c, double* u)
{
    const int dim = p->dim, stride = problem_stride(dim);
    const double* a = p->body + (int64_t)p->pair[2 * c] * stride;
    const double* b = p->body + (int64_t)p->pair[2 * c + 1] * stride;
    contact_velocity(dim, a, b, p->contact + c * problem_width(dim), u);
}

/// Slips that an unfinished solve leaves at resting contacts, relative to what friction could stop.
/// Errors across the system are larger than the local tolerance by up to (L/d)^2 (residual.h), for
/// which the number of contacts stands here. Never more than a hundredth: a contact that really
/// slips gains that much within a few steps.
static double slip_slack(const problem* p, double tolerance)
{
    return fmin(10.0 * tolerance * (double)p->count, 0.01);
}

bool problem_slides(const problem* p, int64_t c, double tolerance)
{
    const int dim = p->dim;
    const double* row = p->contact + c * problem_width(dim);
    double u[3] = {0.0, 0.0, 0.0};
    present_velocity(p, c, u);
    return static_friction_slides(dim, row, &p->rich_rows[p->rich[c]], row[contact_mu(dim)],
                                  row[contact_mt(dim)], row + contact_p(dim), u,
                                  slip_slack(p, tolerance));
}

bool problem_break_loose(problem* p, double tolerance)
{
    const int dim = p->dim;
    const double slack = slip_slack(p, tolerance);
    bool changed = false;
    for (int64_t c = 0; c < p->count && p->rich_count > 0; c++) {
        if (p->rich[c] < 0) continue;
        double* row = p->contact + c * problem_width(dim);
        double u[3] = {0.0, 0.0, 0.0};
        present_velocity(p, c, u);
        changed |= static_friction_breaks(dim, row, &p->rich_rows[p->rich[c]], row[contact_mt(dim)],
                                          row + contact_p(dim), u, slack, &row[contact_mu(dim)]);
    }
    return changed;
}

/// Memory of a contact problem, velocities from impulses, and one contact solved alone.
#include "rigid/problem.h"

#include "base/array.h"
#include "law/coulomb.h"
#include "law/static_friction.h"

#include <stdlib.h>
#include <string.h>

void problem_free(problem* p)
{
    free(p->body);
    free(p->free);
    free(p->curve);
    free(p->cells);
    free(p->pair);
    free(p->contact);
    free(p->block);
    free(p->compound);
    free(p->compound_rows);
    free(p->compound_turns);
    free(p->blocks);
    free(p->mobility);
    *p = (problem){0};
}

/// An index of the contacts that have a block or a compound row is there only if some do.
static bool make_index(int32_t** index, int64_t* capacity, bool wanted, int64_t contacts)
{
    if (!wanted) {
        free(*index);
        *index = NULL;
        *capacity = 0;
        return true;
    }
    if (!arrays_renew(capacity, contacts, ARRAY(*index))) return false;
    for (int64_t c = 0; c < contacts; c++) (*index)[c] = -1;
    return true;
}

talus_status problem_reset(problem* p, int dim, const problem_size* size)
{
    if (p->dim != dim) problem_free(p); // capacities count rows, whose width is the dimension's
    const int stride = problem_stride(dim), square = dim * dim;
    p->dim = dim;
    p->rows = p->count = p->block_count = p->compound_count = p->mobile_count = 0;
    p->mobile_first = 0;
    p->curve_cell = 1.0;
    if (!arrays_renew(&p->row_capacity, size->rows, ROWS(p->body, stride), ROWS(p->free, stride),
                      ARRAY(p->curve)) ||
        !arrays_renew(&p->cell_capacity, problem_cells(size->rows), ROWS(p->cells, square + 1)) ||
        !arrays_renew(&p->contact_capacity, size->contacts, ROWS(p->contact, problem_width(dim)),
                      ROWS(p->pair, 2)) ||
        !make_index(&p->block, &p->block_index_capacity, size->blocks > 0, size->contacts) ||
        !make_index(&p->compound, &p->compound_index_capacity, size->compound > 0,
                    size->contacts) ||
        !arrays_renew(&p->block_capacity, size->blocks, ROWS(p->blocks, block_width(dim))) ||
        !arrays_renew(&p->compound_capacity, size->compound, ARRAY(p->compound_rows),
                      ARRAY(p->compound_turns)) ||
        !arrays_renew(&p->mobile_capacity, size->mobile, ROWS(p->mobility, square))) {
        return TALUS_ERR_MEMORY;
    }
    if (size->rows > 0) memset(p->curve, 0, sizeof *p->curve * (size_t)size->rows);
    return TALUS_OK;
}

// ---- full blocks -------------------------------------------------------------------------------

/// S += im 1 + kim G G^T
static ALWAYS_INLINE void add_response(const int dim, const double* row, const double* arm,
                                       double* S)
{
    const int spin_dim = spin_width(dim);
    const double kim = row[row_kim(dim)];
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            S[i * dim + j] += kim * vec_dot(spin_dim, arm + i * spin_dim, arm + j * spin_dim);
        }
        S[i * dim + i] += row[row_im(dim)];
    }
}

static ALWAYS_INLINE void responses(const int dim, double* block, const double* n, double* mn,
                                    double* mt)
{
    const double* S = block;
    coulomb_block_inverse(dim, S, block + block_inverse(dim));
    double normal_response = 0.0, trace = 0.0;
    for (int i = 0; i < dim; i++) {
        normal_response += n[i] * vec_dot(dim, S + i * dim, n);
        trace += S[i * dim + i];
    }
    *mn = 1.0 / normal_response;
    *mt = (dim - 1) / (trace - normal_response);
}

void problem_responses(int dim, double* block, const double* n, double* mn, double* mt)
{
    if (dim == 2) {
        responses(2, block, n, mn, mt);
    } else {
        responses(3, block, n, mn, mt);
    }
}

static ALWAYS_INLINE void fill_block(problem* p, const int dim, int64_t c, const double* n,
                                     double* mn, double* mt)
{
    const int stride = problem_stride(dim);
    double* S = problem_block(p, dim, c);
    const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1];
    const int64_t mobile = problem_mobile_wall(p, a);
    for (int k = 0; k < dim * dim; k++) S[k] = 0.0;
    add_response(dim, p->free + (int64_t)a * stride, S + block_arm_a(dim), S);
    add_response(dim, p->free + (int64_t)b * stride, S + block_arm_b(dim), S);
    if (mobile >= 0) {
        vec_add_scaled(dim * dim, S, 1.0, p->mobility + mobile * dim * dim);
    }
    responses(dim, S, n, mn, mt);
}

void problem_fill_block(problem* p, int64_t c, const double* n, double* mn, double* mt)
{
    if (p->dim == 2) {
        fill_block(p, 2, c, n, mn, mt);
    } else {
        fill_block(p, 3, c, n, mn, mt);
    }
}

static ALWAYS_INLINE void velocity_of(const problem* p, const int dim, const double* rows,
                                      int64_t c, double* u)
{
    const int stride = problem_stride(dim);
    const double* a = rows + (int64_t)p->pair[2 * c] * stride;
    const double* b = rows + (int64_t)p->pair[2 * c + 1] * stride;
    if (problem_block_of(p, c) < 0) {
        contact_velocity(dim, a, b, p->contact + c * problem_width(dim), u);
    } else {
        block_velocity(dim, problem_block(p, dim, c), a, b, u);
    }
}

void problem_velocity_of(const problem* p, const double* rows, int64_t c, double* u)
{
    if (p->dim == 2) {
        velocity_of(p, 2, rows, c, u);
    } else {
        velocity_of(p, 3, rows, c, u);
    }
}

void problem_velocity(const problem* p, int64_t c, double* u)
{
    problem_velocity_of(p, p->body, c, u);
}

// ---- spins and torques -------------------------------------------------------------------------

void problem_spin_of(const problem* p, const double* rows, int64_t c, double* spin)
{
    const int dim = p->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    const double* a = rows + (int64_t)p->pair[2 * c] * stride + row_w(dim);
    const double* b = rows + (int64_t)p->pair[2 * c + 1] * stride + row_w(dim);
    const compound_contact* r = &p->compound_rows[problem_compound_of(p, c)];
    const compound_turn* t = &p->compound_turns[problem_compound_of(p, c)];
    for (int k = 0; k < spin_dim; k++) {
        spin[k] = t->used ? vec_dot(spin_dim, t->turn_b + 3 * k, b) -
                                vec_dot(spin_dim, t->turn_a + 3 * k, a)
                          : b[k] * r->inv_radius_b - a[k] * r->inv_radius_a;
        spin[k] -= r->spin_a[k];
    }
}

/// w += s turn^T dt
static void twist(int spin_dim, const double turn[9], double s, const double* dt, double* w)
{
    for (int k = 0; k < spin_dim; k++) {
        for (int i = 0; i < spin_dim; i++) w[k] += s * turn[3 * i + k] * dt[i];
    }
}

void problem_twist(problem* p, int64_t c, const double* dt)
{
    const int dim = p->dim, stride = problem_stride(dim), spin_dim = spin_width(dim);
    const int w = row_w(dim), kim = row_kim(dim);
    double* a = p->body + (int64_t)p->pair[2 * c] * stride;
    double* b = p->body + (int64_t)p->pair[2 * c + 1] * stride;
    const compound_contact* r = &p->compound_rows[problem_compound_of(p, c)];
    const compound_turn* t = &p->compound_turns[problem_compound_of(p, c)];
    if (t->used) {
        twist(spin_dim, t->turn_b, b[kim], dt, b + w);
        twist(spin_dim, t->turn_a, -a[kim], dt, a + w);
        return;
    }
    for (int k = 0; k < spin_dim; k++) {
        b[w + k] += b[kim] * r->inv_radius_b * dt[k];
        a[w + k] -= a[kim] * r->inv_radius_a * dt[k];
    }
}

// ---- all contacts ------------------------------------------------------------------------------

/// Add what a contact's impulses do to its bodies' velocities.
static ALWAYS_INLINE void apply(problem* p, const int dim, int64_t c)
{
    const int stride = problem_stride(dim);
    const double* row = p->contact + c * problem_width(dim);
    double* a = p->body + (int64_t)p->pair[2 * c] * stride;
    double* b = p->body + (int64_t)p->pair[2 * c + 1] * stride;
    const int32_t compound = problem_compound_of(p, c);
    if (problem_block_of(p, c) < 0) {
        contact_apply(dim, a, b, row, row + contact_p(dim));
    } else {
        block_apply(p, dim, problem_block(p, dim, c), p->pair[2 * c], a, b, row + contact_p(dim));
    }
    if (compound >= 0) problem_twist(p, c, p->compound_rows[compound].torque);
}

void problem_apply(problem* p, int64_t c)
{
    if (p->dim == 2) {
        apply(p, 2, c);
    } else {
        apply(p, 3, c);
    }
}

static ALWAYS_INLINE void refresh(problem* p, const int dim)
{
    const int64_t numbers = p->rows * problem_stride(dim);
    if (p->rows > 0) memcpy(p->body, p->free, sizeof(double) * (size_t)numbers);
    for (int64_t c = 0; c < p->count; c++) apply(p, dim, c);
}

void problem_refresh(problem* p)
{
    if (p->dim == 2) {
        refresh(p, 2);
    } else {
        refresh(p, 3);
    }
}

/// The mobility of a wall is a projector over a mass (state/drive.c), and its velocities differ
/// along free directions only.
double problem_distance2(const problem* p, int64_t row, const double* x, const double* y)
{
    const int dim = p->dim;
    const double* body = p->free + row * problem_stride(dim);
    const int64_t wall = problem_mobile_wall(p, row);
    double dv[3], dw[3], sum = 0.0;
    vec_sub(dim, dv, x, y);
    const double vv = vec_dot(dim, dv, dv);
    if (wall >= 0 && vv > 0.0) {
        double mobile = 0.0;
        for (int i = 0; i < dim; i++) {
            mobile += dv[i] * vec_dot(dim, p->mobility + (wall * dim + i) * dim, dv);
        }
        sum += mobile > 0.0 ? vv * vv / mobile : 0.0;
    }
    if (body[row_im(dim)] > 0.0) sum += vv / body[row_im(dim)];
    if (body[row_kim(dim)] > 0.0) {
        vec_sub(spin_width(dim), dw, x + row_w(dim), y + row_w(dim));
        sum += vec_dot(spin_width(dim), dw, dw) / body[row_kim(dim)];
    }
    return sum;
}

// ---- one contact alone -------------------------------------------------------------------------

/// The same through the matrices of a contact of solids.
static void own_response_of_arms(int dim, const double* S, const compound_arms* arms,
                                 const double* p, const double* t, double* du, double* dspin)
{
    const int spin_dim = spin_width(dim);
    for (int k = 0; k < dim; k++) {
        du[k] = vec_dot(dim, S + k * dim, p);
        for (int i = 0; i < spin_dim; i++) du[k] += arms->coupling[i * dim + k] * t[i];
    }
    for (int i = 0; i < spin_dim; i++) {
        dspin[i] = vec_dot(dim, arms->coupling + i * dim, p) +
                   vec_dot(spin_dim, arms->response + i * spin_dim, t);
    }
}

/// What a compound contact's own impulses p and torque t do to its velocity and spin.
static void own_response(int dim, const double* n, double wn, double wt, const double* S,
                         const compound_contact* r, const double* p, double* du, double* dspin)
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

/// Solve a compound contact: take its own effect out of the motion, then ask the laws.
static void solve_compound(const problem* p, int64_t c, const double* row, const double* S,
                           const double* u, double* solved, double* torque)
{
    const int dim = p->dim, spin_dim = spin_width(dim);
    const compound_contact* r = &p->compound_rows[problem_compound_of(p, c)];
    const compound_turn* t = &p->compound_turns[problem_compound_of(p, c)];
    const double* impulse = row + contact_p(dim);
    const double wn = 1.0 / row[contact_mn(dim)], wt = 1.0 / row[contact_mt(dim)];
    double free_u[3] = {0.0, 0.0, 0.0}, free_spin[3] = {0.0, 0.0, 0.0}, du[3], dspin[3];
    problem_spin_of(p, p->body, c, free_spin);
    if (t->used) {
        own_response_of_arms(dim, S, &t->arms, impulse, r->torque, du, dspin);
    } else {
        own_response(dim, row, wn, wt, S, r, impulse, du, dspin);
    }
    vec_sub(dim, free_u, u, du);
    vec_add_scaled(spin_dim, free_spin, -1.0, dspin);
    compound_problem alone = {.dim = dim,
                              .n = row,
                              .wn = wn,
                              .wt = wt,
                              .S = S,
                              .arms = t->used ? &t->arms : NULL,
                              .bias = row[contact_bias(dim)],
                              .mu = row[contact_mu(dim)],
                              .contact = r,
                              .u = free_u,
                              .spin = free_spin};
    vec_copy(dim, solved, impulse);
    vec_copy(3, torque, r->torque);
    compound_solve(&alone, solved, torque);
}

void problem_solve_alone(const problem* p, int64_t c, const double* u, double* solved,
                         double* torque)
{
    const int dim = p->dim;
    const double* row = p->contact + c * problem_width(dim);
    const double* S = problem_block_of(p, c) < 0 ? NULL : problem_block(p, dim, c);
    if (problem_compound_of(p, c) >= 0) {
        solve_compound(p, c, row, S, u, solved, torque);
        return;
    }
    const double* impulse = row + contact_p(dim);
    double alone[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < dim; k++) alone[k] = u[k] - vec_dot(dim, S + k * dim, impulse);
    coulomb_block(dim, S, S + block_inverse(dim), row, row[contact_bias(dim)], row[contact_mu(dim)],
                  alone, impulse, solved);
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
    problem_velocity(p, c, u);
    return static_friction_slides(dim, row, &p->compound_rows[problem_compound_of(p, c)],
                                  row[contact_mu(dim)], row[contact_mt(dim)], row + contact_p(dim),
                                  u, slip_slack(p, tolerance));
}

double problem_largest_impulse(const problem* p)
{
    const int dim = p->dim;
    double most = 0.0;
    for (int64_t c = 0; c < p->count; c++) {
        most = fmax(most, vec_norm(dim, p->contact + c * problem_width(dim) + contact_p(dim)));
    }
    return most;
}

double problem_strongest_bond(const problem* p)
{
    double most = 0.0;
    for (int64_t k = 0; k < p->compound_count; k++) most = fmax(most, p->compound_rows[k].bond);
    return most;
}

bool problem_break_loose(problem* p, double tolerance)
{
    const int dim = p->dim;
    const double slack = slip_slack(p, tolerance);
    bool changed = false;
    for (int64_t c = 0; c < p->count && p->compound_count > 0; c++) {
        if (problem_compound_of(p, c) < 0) continue;
        double* row = p->contact + c * problem_width(dim);
        double u[3] = {0.0, 0.0, 0.0};
        problem_velocity(p, c, u);
        changed |= static_friction_breaks(dim, row, &p->compound_rows[problem_compound_of(p, c)],
                                          row[contact_mt(dim)], row + contact_p(dim), u, slack,
                                          &row[contact_mu(dim)]);
    }
    return changed;
}

/// L with L L^T = the mobility [dim][dim] of a mobile wall, which may be singular.
static void root_of_mobility(int dim, int width, const double* mobility, double* root)
{
    double largest = 0.0;
    for (int i = 0; i < dim; i++) largest = fmax(largest, mobility[i * dim + i]);
    for (int j = 0; j < dim; j++) {
        double left = mobility[j * dim + j];
        for (int k = 0; k < j; k++) left -= root[j * width + k] * root[j * width + k];
        if (!(left > 1e-12 * largest)) continue; // does not move that way
        root[j * width + j] = sqrt(left);
        for (int i = j + 1; i < dim; i++) {
            double sum = mobility[i * dim + j];
            for (int k = 0; k < j; k++) sum -= root[i * width + k] * root[j * width + k];
            root[i * width + j] = sum / root[j * width + j];
        }
    }
}

void problem_root(const problem* p, int64_t row, double* root)
{
    const int dim = p->dim, width = dim + spin_width(dim);
    const double* body = p->free + row * problem_stride(dim);
    const int64_t wall = problem_mobile_wall(p, row);
    memset(root, 0, sizeof(double) * (size_t)(width * width));
    for (int k = 0; k < width; k++) {
        root[k * width + k] = sqrt(body[k < dim ? row_im(dim) : row_kim(dim)]);
    }
    if (wall >= 0) root_of_mobility(dim, width, p->mobility + wall * dim * dim, root);
}

/// A reference for bench/claim that knows nothing of sweeps: an augmented Lagrangian with Newton's
/// method in the space of the bodies, for every law.
///
/// With y = M^1/2 (V - V_free) a step is y = A^T p, u = u_free + A y, and the law between p and u
/// at each contact. The law is softened: with the impulses p' of the last round and a stiffness r
/// each component is the answer of a contact with the response 1/r to the velocity u - p'/r. What
/// Newton's method solves is then  y = A^T p(y),  with the matrix 1 + A^T D A, D = -dp/du, positive
/// definite while the bounds of friction are held. p becomes p', the bounds follow, and so on: at a
/// fixed point the law holds exactly. A is read off the problem by applying unit impulses, so that
/// blocks, arms, walls and torques need not be known here.
#ifndef TALUS_BENCH_CLAIM_NEWTON_H
#define TALUS_BENCH_CLAIM_NEWTON_H

#include "claim_build.h"

#include "law/cohesion.h"
#include "rigid/residual.h"

/// Components of a contact: normal, two tangential, two of rolling, torsion.
enum { NEWTON_PARTS = 6, NEWTON_ENTRIES = 12 };

typedef struct newton_contact {
    int parts;
    int64_t first[2];                           ///< unknowns of both bodies, -1: it does not move
    double along[NEWTON_PARTS][6];              ///< direction: impulse [3], torque impulse [3]
    double row[NEWTON_PARTS][2][6];             ///< of A, for both bodies
    double u_free[NEWTON_PARTS];                ///< slip included
    double p[NEWTON_PARTS], last[NEWTON_PARTS]; ///< impulses, and those of the last round
    double response[NEWTON_PARTS];              ///< own response: sum of row^2
    double D[NEWTON_PARTS][NEWTON_PARTS];       ///< -dp/du
    double limit[3];                            ///< of sliding, rolling, torsion
} newton_contact;

typedef struct newton {
    problem* p;
    int64_t unknowns;
    int64_t* unknown; ///< [rows] first of a body, -1
    newton_contact* contact;
    double *y, *trial, *force, *step;
    int64_t *begin, *at; ///< rows of the lower triangle: first column, and where the row is
    double* matrix;
    double stiffness;
    double work; ///< operations of a factorisation
} newton;

static inline int newton_width(const problem* p)
{
    return p->dim + spin_width(p->dim);
}

/// Square roots of the inverse masses that belong to the unknowns of a body.
static inline void newton_roots(const problem* p, int64_t row, double* root)
{
    const int dim = p->dim;
    const double* body = p->free + row * problem_stride(dim);
    const int64_t wall = problem_mobile_wall(p, row);
    double im = body[row_im(dim)];
    if (wall >= 0) {
        const double* mobility = p->mobility + wall * dim * dim;
        double trace = 0.0;
        for (int k = 0; k < dim; k++) trace += mobility[k * dim + k];
        im = vec_dot(dim * dim, mobility, mobility) / trace;
    }
    for (int k = 0; k < newton_width(p); k++) root[k] = sqrt(k < dim ? im : body[row_kim(dim)]);
}

/// The unknowns' part of a body row: v, w.
static inline void newton_gather(const problem* p, const double* body, double* v)
{
    vec_copy(p->dim, v, body);
    vec_copy(spin_width(p->dim), v + p->dim, body + row_w(p->dim));
}

/// Directions of a contact's components.
static inline void newton_directions(const problem* p, int64_t c, newton_contact* k)
{
    const int dim = p->dim, m = dim - 1;
    const double* n = p->contact + c * problem_width(dim);
    double frame[3][3];
    vec_frame(dim, n, frame);
    for (int i = 0; i < dim; i++) vec_copy(dim, k->along[i], frame[i]);
    k->parts = dim;
    if (problem_compound_of(p, c) < 0) return;
    if (dim == 2) {
        k->along[k->parts++][3] = 1.0;
        return;
    }
    for (int i = 0; i < m; i++) vec_copy(3, k->along[k->parts++] + 3, frame[i + 1]);
    vec_copy(3, k->along[k->parts++] + 3, n);
}

/// Read a contact off the problem: what unit impulses do to its bodies.
static inline void newton_read(newton* s, int64_t c)
{
    problem* p = s->p;
    const int dim = p->dim, stride = problem_stride(dim), width = newton_width(p);
    newton_contact* k = &s->contact[c];
    double* impulse = p->contact + c * problem_width(dim) + contact_p(dim);
    const int32_t compound = problem_compound_of(p, c);
    double* torque = compound >= 0 ? p->compound_rows[compound].torque : NULL;
    double u[3] = {0.0, 0.0, 0.0}, spin[3] = {0.0, 0.0, 0.0}, kept[3], kept_torque[3] = {0.0};
    newton_directions(p, c, k);
    vec_copy(dim, kept, impulse);
    if (torque) vec_copy(3, kept_torque, torque);
    memcpy(p->body, p->free, sizeof(double) * (size_t)(p->rows * stride));
    problem_velocity(p, c, u);
    if (torque) vec_add_scaled(dim, u, 1.0, p->compound_rows[compound].slip);
    if (torque) vec_add_scaled(3, spin, -1.0, p->compound_rows[compound].spin_a);
    for (int i = 0; i < k->parts; i++) {
        k->u_free[i] = vec_dot(dim, k->along[i], u) + vec_dot(3, k->along[i] + 3, spin);
        if (i == 0 && torque)
            k->u_free[0] -= vec_dot(dim, k->along[0], p->compound_rows[compound].slip);
        vec_copy(dim, impulse, k->along[i]);
        if (torque) vec_copy(3, torque, k->along[i] + 3);
        const double sign_kept =
            vec_dot(dim, kept, k->along[i]) + vec_dot(3, kept_torque, k->along[i] + 3);
        k->p[i] = k->last[i] = sign_kept;
        problem_apply(p, c);
        for (int side = 0; side < 2; side++) {
            const int64_t row = p->pair[2 * c + side];
            double moved[6], before[6], root[6];
            k->first[side] = s->unknown[row];
            newton_gather(p, p->body + row * stride, moved);
            newton_gather(p, p->free + row * stride, before);
            memcpy(p->body + row * stride, p->free + row * stride, sizeof(double) * (size_t)stride);
            if (k->first[side] < 0) continue;
            newton_roots(p, row, root);
            for (int j = 0; j < width; j++) {
                const double a = root[j] > 0.0 ? (moved[j] - before[j]) / root[j] : 0.0;
                k->row[i][side][j] = a;
                k->response[i] += a * a;
                // The spin of the free motion is what torques do work on.
                if (i >= dim && root[j] > 0.0) k->u_free[i] += a / root[j] * before[j];
            }
        }
    }
    vec_copy(dim, impulse, kept);
    if (torque) vec_copy(3, torque, kept_torque);
}

/// Bounds of friction from the normal impulse of the last round.
static inline void newton_bounds(newton* s, int64_t c)
{
    const problem* p = s->p;
    newton_contact* k = &s->contact[c];
    const double mu = p->contact[c * problem_width(p->dim) + contact_mu(p->dim)];
    const int32_t compound = problem_compound_of(p, c);
    if (compound < 0) {
        k->limit[0] = mu * fmax(k->last[0], 0.0);
        return;
    }
    const compound_contact* r = &p->compound_rows[compound];
    const double base = compound_bound(r, k->last[0]);
    k->limit[0] = mu * base;
    k->limit[1] = rolling_limit(&r->rolling, base, r->h);
    k->limit[2] = rolling_limit(&r->torsion, base, r->h);
}

/// Components [o, o + m) held within a disk; q is what would hold them still.
static inline void newton_disk(newton_contact* k, int o, int m, double limit, const double* stiff,
                               const double* q)
{
    const double length = m == 1 ? fabs(q[0]) : hypot(q[0], q[1]);
    for (int i = 0; i < m; i++) {
        const double cut = length > limit ? limit / length : 1.0;
        k->p[o + i] = cut * q[i];
        for (int j = 0; j < m; j++) {
            const double turned = length > limit ? q[i] * q[j] / (length * length) : 0.0;
            k->D[o + i][o + j] = cut * stiff[0] * ((i == j ? 1.0 : 0.0) - turned);
        }
    }
}

/// Impulses of a contact and their derivative at the motion y.
static inline void newton_answer(newton* s, int64_t c, const double* y)
{
    const problem* p = s->p;
    newton_contact* k = &s->contact[c];
    const int dim = p->dim, m = dim - 1, width = newton_width(p);
    const double* row = p->contact + c * problem_width(dim);
    const int32_t compound = problem_compound_of(p, c);
    double u[NEWTON_PARTS], q[NEWTON_PARTS], stiff[NEWTON_PARTS];
    memset(k->D, 0, sizeof k->D);
    for (int i = 0; i < k->parts; i++) {
        // Tangential components share one stiffness, so that a disk stays one.
        const int first = i == 0 ? 0 : i < dim ? 1 : i < dim + m ? dim : i;
        u[i] = k->u_free[i];
        for (int side = 0; side < 2; side++) {
            if (k->first[side] < 0) continue;
            u[i] += vec_dot(width, k->row[i][side], y + k->first[side]);
        }
        stiff[i] = k->response[first] > 0.0 ? s->stiffness / k->response[first] : 0.0;
        q[i] = k->last[i] - stiff[i] * u[i];
    }
    const double bond = compound >= 0 ? p->compound_rows[compound].bond : 0.0;
    const double closing = compound >= 0 ? p->compound_rows[compound].closing : 0.0;
    const double w = 1.0 / stiff[0], bias = row[contact_bias(dim)];
    const double push = q[0] - bias * stiff[0], hold = q[0] - closing * stiff[0];
    k->p[0] = cohesion_normal(u[0] - k->last[0] * w, w, bias, bond, closing);
    k->D[0][0] =
        push > fmin(fmax(hold, -bond), 0.0) || (hold < 0.0 && hold > -bond) ? stiff[0] : 0.0;
    newton_disk(k, 1, m, k->limit[0], stiff + 1, q + 1);
    if (k->parts > dim) newton_disk(k, dim, m, k->limit[1], stiff + dim, q + dim);
    if (k->parts == 6) newton_disk(k, 5, 1, k->limit[2], stiff + 5, q + 5);
}

/// |y - A^T p(y)|, the vector in s->force.
static inline double newton_mismatch(newton* s, const double* y)
{
    const int width = newton_width(s->p);
    memcpy(s->force, y, sizeof(double) * (size_t)s->unknowns);
    for (int64_t c = 0; c < s->p->count; c++) {
        newton_answer(s, c, y);
        const newton_contact* k = &s->contact[c];
        for (int i = 0; i < k->parts; i++) {
            for (int side = 0; side < 2; side++) {
                if (k->first[side] < 0) continue;
                vec_add_scaled(width, s->force + k->first[side], -k->p[i], k->row[i][side]);
            }
        }
    }
    return sqrt(vec_dot((int)s->unknowns, s->force, s->force));
}

static inline void newton_fill(newton* s)
{
    const int width = newton_width(s->p);
    for (int64_t i = 0; i < s->at[s->unknowns]; i++) s->matrix[i] = 0.0;
    for (int64_t i = 0; i < s->unknowns; i++) s->matrix[s->at[i] + i - s->begin[i]] = 1.0;
    for (int64_t c = 0; c < s->p->count; c++) {
        const newton_contact* k = &s->contact[c];
        for (int i = 0; i < k->parts; i++) {
            for (int j = 0; j < k->parts; j++) {
                if (k->D[i][j] == 0.0) continue;
                for (int e = 0; e < 4 * width * width; e++) {
                    const int a = e & 1, b = e >> 1 & 1, x = (e >> 2) / width, z = (e >> 2) % width;
                    if (k->first[a] < 0 || k->first[b] < 0) continue;
                    const int64_t low = k->first[a] + x, left = k->first[b] + z;
                    if (left > low) continue;
                    s->matrix[s->at[low] + left - s->begin[low]] +=
                        k->D[i][j] * k->row[i][a][x] * k->row[j][b][z];
                }
            }
        }
    }
}

/// Cholesky's factors in place, row by row within the profile.
static inline void newton_factor(newton* s)
{
    for (int64_t i = 0; i < s->unknowns; i++) {
        double* row = s->matrix + s->at[i] - s->begin[i];
        for (int64_t j = s->begin[i]; j <= i; j++) {
            const double* other = s->matrix + s->at[j] - s->begin[j];
            const int64_t from = s->begin[i] > s->begin[j] ? s->begin[i] : s->begin[j];
            const double sum = row[j] - vec_dot((int)(j - from), row + from, other + from);
            row[j] = j < i ? sum / other[j] : sqrt(fmax(sum, 1e-300));
        }
    }
}

/// step = matrix^-1 force.
static inline void newton_back(newton* s)
{
    for (int64_t i = 0; i < s->unknowns; i++) {
        const double* row = s->matrix + s->at[i] - s->begin[i];
        const int64_t from = s->begin[i];
        s->step[i] = (s->force[i] - vec_dot((int)(i - from), row + from, s->step + from)) / row[i];
    }
    for (int64_t i = s->unknowns - 1; i >= 0; i--) {
        const double* row = s->matrix + s->at[i] - s->begin[i];
        s->step[i] /= row[i];
        for (int64_t j = s->begin[i]; j < i; j++) s->step[j] -= row[j] * s->step[i];
    }
}

/// One round: the softened problem solved. Returns the steps taken.
static inline int newton_round(newton* s)
{
    enum { STEPS = 40, HALVINGS = 12 };
    double now = newton_mismatch(s, s->y);
    int steps = 0;
    for (; steps < STEPS; steps++) {
        const double size = sqrt(vec_dot((int)s->unknowns, s->y, s->y));
        if (now <= 1e-15 * size) break;
        newton_fill(s);
        newton_factor(s);
        newton_back(s);
        double share = 1.0, best = INFINITY;
        for (int half = 0; half < HALVINGS; half++, share *= 0.5) {
            for (int64_t i = 0; i < s->unknowns; i++) s->trial[i] = s->y[i] - share * s->step[i];
            best = newton_mismatch(s, s->trial);
            if (best < (1.0 - 0.1 * share) * now) break;
        }
        if (!(best < now)) {
            newton_mismatch(s, s->y);
            break;
        }
        memcpy(s->y, s->trial, sizeof(double) * (size_t)s->unknowns);
        now = best;
    }
    return steps;
}

static inline void newton_put(const newton* s)
{
    problem* p = s->p;
    const int dim = p->dim;
    for (int64_t c = 0; c < p->count; c++) {
        const newton_contact* k = &s->contact[c];
        const int32_t compound = problem_compound_of(p, c);
        double* impulse = p->contact + c * problem_width(dim) + contact_p(dim);
        for (int j = 0; j < dim; j++) impulse[j] = 0.0;
        if (compound >= 0) memset(p->compound_rows[compound].torque, 0, 3 * sizeof(double));
        for (int i = 0; i < k->parts; i++) {
            vec_add_scaled(dim, impulse, k->p[i], k->along[i]);
            if (compound < 0) continue;
            vec_add_scaled(3, p->compound_rows[compound].torque, k->p[i], k->along[i] + 3);
        }
    }
    problem_refresh(p);
}

static inline void newton_free(newton* s)
{
    free(s->unknown);
    free(s->contact);
    free(s->y);
    free(s->trial);
    free(s->force);
    free(s->step);
    free(s->begin);
    free(s->at);
    free(s->matrix);
}

/// False if the matrix would take more than `most` operations to factorise.
static inline bool newton_begin(newton* s, problem* p, double most)
{
    const int width = newton_width(p);
    *s = (newton){.p = p, .stiffness = 100.0};
    s->unknown = malloc(sizeof(int64_t) * (size_t)(p->rows + 1));
    s->contact = calloc((size_t)p->count + 1, sizeof *s->contact);
    claim_ok(s->unknown && s->contact ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    for (int64_t i = 0; i < p->rows; i++) {
        s->unknown[i] = problem_row_moves(p, i) ? s->unknowns : -1;
        if (s->unknown[i] >= 0) s->unknowns += width;
    }
    const size_t size = (size_t)s->unknowns + 1;
    s->y = calloc(size, sizeof(double)), s->trial = calloc(size, sizeof(double));
    s->force = calloc(size, sizeof(double)), s->step = calloc(size, sizeof(double));
    s->begin = calloc(size, sizeof(int64_t)), s->at = calloc(size + 1, sizeof(int64_t));
    const bool enough = s->y && s->trial && s->force && s->step && s->begin && s->at;
    claim_ok(enough ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    for (int64_t i = 0; i < s->unknowns; i++) s->begin[i] = i / width * width;
    for (int64_t c = 0; c < p->count; c++) {
        const int64_t a = s->unknown[p->pair[2 * c]], b = s->unknown[p->pair[2 * c + 1]];
        if (a < 0 || b < 0) continue;
        const int64_t low = a > b ? a : b, left = a > b ? b : a;
        for (int k = 0; k < width; k++) {
            if (left < s->begin[low + k]) s->begin[low + k] = left;
        }
    }
    for (int64_t i = 0; i < s->unknowns; i++) {
        const double long_row = (double)(i - s->begin[i] + 1);
        s->at[i + 1] = s->at[i] + i - s->begin[i] + 1;
        s->work += long_row * long_row;
    }
    if (s->work > most) return false;
    s->matrix = malloc(sizeof(double) * (size_t)(s->at[s->unknowns] + 1));
    claim_ok(s->matrix ? TALUS_OK : TALUS_ERR_MEMORY, "out of memory");
    for (int64_t c = 0; c < p->count; c++) newton_read(s, c);
    return true;
}

/// Solve the problem from the impulses that are in it, as well as it goes; the best impulses found
/// are left in it. False if it is too large for that.
static inline bool newton_refer(problem* p, double tolerance, double effort)
{
    enum { ROUNDS = 80, WAIT = 12, LEAST_STEPS = 50 };
    const double SLOW = 0.1; // progress of a round that asks for more stiffness
    const double SOFTEST = 100.0, STIFFEST = 1e9;
    newton s;
    const double work = 1e9 * effort; // operations of all factorisations
    const bool fits = newton_begin(&s, p, work / LEAST_STEPS);
    newton_contact* best = fits ? malloc(sizeof *best * (size_t)(p->count + 1)) : NULL;
    double least = INFINITY;
    int waited = 0, steps = 0;
    for (int round = 0; best && round < ROUNDS && least > tolerance && waited < WAIT; round++) {
        if (steps * s.work > work) break;
        for (int64_t c = 0; c < p->count; c++) {
            memcpy(s.contact[c].last, s.contact[c].p, sizeof s.contact[c].p);
            newton_bounds(&s, c);
        }
        steps += newton_round(&s);
        newton_put(&s);
        const double natural = residual_natural(p);
        waited = natural < 0.7 * least ? 0 : waited + 1;
        if (natural > least) {
            s.stiffness = fmax(0.1 * s.stiffness, SOFTEST); // rounding
        } else if (natural > SLOW * least) {
            s.stiffness = fmin(10.0 * s.stiffness, STIFFEST);
        }
        if (!(natural < least)) continue;
        least = natural;
        memcpy(best, s.contact, sizeof *best * (size_t)p->count);
    }
    if (best && isfinite(least)) {
        memcpy(s.contact, best, sizeof *best * (size_t)p->count);
        newton_put(&s);
    }
    free(best);
    newton_free(&s);
    return fits;
}

#endif

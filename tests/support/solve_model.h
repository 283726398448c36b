/// Models of contact problems for test_solve.c, and their mechanics worked out independently.
///
/// A `model` holds balls with velocities, spins, radii and moments of inertia, and touches with
/// normals and impulses. The model's own residual moves the balls with explicit lever arms,
/// V = v_b + omega_b x l_b - v_a - omega_a x l_a with l_a = R_a n, l_b = -R_b n, always in three
/// components; the engine's problem is filled from the same model in its own layout.
#ifndef TALUS_TESTS_SOLVE_MODEL_H
#define TALUS_TESTS_SOLVE_MODEL_H

#include "support.h"

#include "base/rng.h"
#include "law/coulomb.h"
#include "rigid/problem.h"
#include "rigid/residual.h"
#include "rigid/solver.h"

#include <float.h>
#include <string.h>

enum { MAX_BALLS = 300, MAX_TOUCHES = 900, FIXED_WALL = -1, MOBILE_WALL = -2 };

typedef struct touch {
    int a, b;    ///< a: a ball, FIXED_WALL or MOBILE_WALL
    double n[3]; ///< from a to b
    double bias, mu;
    double surface[3]; ///< velocity of a fixed wall's surface
    double p[3];       ///< impulse on b
} touch;

typedef struct model {
    int dim, balls, touches;
    double v[MAX_BALLS][3], omega[MAX_BALLS][3], R[MAX_BALLS], m[MAX_BALLS], I[MAX_BALLS];
    double wall_v[3], mobility[9];
    bool has_wall;
    touch t[MAX_TOUCHES];
} model;

// ---- the engine's layout -----------------------------------------------------------------------

static void fill_body_rows(const model* m, problem* p)
{
    const int dim = m->dim, stride = problem_stride(dim);
    for (int i = 0; i < m->balls; i++) {
        double* row = p->free + i * stride;
        vec_copy(dim, row, m->v[i]);
        row[row_im(dim)] = 1.0 / m->m[i];
        for (int k = 0; k < (dim == 2 ? 1 : 3); k++) {
            row[row_w(dim) + k] = m->R[i] * m->omega[i][dim == 2 ? 2 : k];
        }
        row[row_kim(dim)] = m->R[i] * m->R[i] / m->I[i];
    }
    p->rows = m->balls;
    if (!m->has_wall) return;
    memset(p->free + p->rows * stride, 0, sizeof(double) * (size_t)stride);
    vec_copy(dim, p->free + p->rows++ * stride, m->wall_v);
}

/// Response of a touch to an impulse, by what both sides give: S = sum of im I + R^2/I (I - n n),
/// W.
static void response(const model* m, const touch* t, double S[9])
{
    const int dim = m->dim;
    double im = 1.0 / m->m[t->b], kim = m->R[t->b] * m->R[t->b] / m->I[t->b];
    if (t->a >= 0) {
        im += 1.0 / m->m[t->a];
        kim += m->R[t->a] * m->R[t->a] / m->I[t->a];
    }
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            S[i * dim + j] = (i == j ? im + kim : 0.0) - kim * t->n[i] * t->n[j];
            if (t->a == MOBILE_WALL) S[i * dim + j] += m->mobility[i * dim + j];
        }
    }
}

/// Inverse responses along the normal and, on average, across it.
static void inverse_responses(const model* m, const touch* t, double* mn, double* mt)
{
    const int dim = m->dim;
    double S[9], normal = 0.0, trace = 0.0;
    response(m, t, S);
    for (int i = 0; i < dim; i++) {
        trace += S[i * dim + i];
        for (int j = 0; j < dim; j++) normal += t->n[i] * S[i * dim + j] * t->n[j];
    }
    *mn = 1.0 / normal;
    *mt = (dim - 1) / (trace - normal);
}

/// Arms of a ball b at a wall a: the wall does not turn, the ball's arm is -n (in radii).
static void ball_arm(int dim, const double* n, double* block)
{
    double* arm = block + block_arm_b(dim);
    memset(block + block_arm_a(dim), 0, sizeof(double) * (dim == 2 ? 2 : 9));
    for (int k = 0; k < (dim == 2 ? 1 : 3); k++) {
        double w[3] = {0.0, 0.0, 0.0}, at[3] = {n[0], n[1], dim == 3 ? n[2] : 0.0}, v[3];
        w[dim == 2 ? 2 : k] = 1.0;
        vec_cross(v, at, w); // w x (-n)
        for (int i = 0; i < dim; i++) arm[i * (dim == 2 ? 1 : 3) + k] = v[i];
    }
}

static void build(const model* m, problem* p)
{
    const int dim = m->dim, stride = problem_stride(dim);
    const problem_size size = {.rows = m->balls + 1 + m->touches,
                               .contacts = m->touches,
                               .blocks = m->touches,
                               .mobile = 1};
    assert_int_equal(problem_reset(p, dim, &size), 0);
    fill_body_rows(m, p);
    const int32_t wall_row = m->balls;
    p->mobile_first = wall_row;
    p->mobile_count = m->has_wall ? 1 : 0;
    memcpy(p->mobility, m->mobility, sizeof(double) * (size_t)(dim * dim));
    for (int c = 0; c < m->touches; c++) {
        const touch* t = &m->t[c];
        double* row = p->contact + c * problem_width(dim);
        p->pair[2 * c] = t->a >= 0 ? t->a : t->a == MOBILE_WALL ? wall_row : (int32_t)p->rows;
        p->pair[2 * c + 1] = t->b;
        p->block[c] = -1;
        if (t->a == FIXED_WALL) {
            memset(p->free + p->rows * stride, 0, sizeof(double) * (size_t)stride);
            vec_copy(dim, p->free + p->rows++ * stride, t->surface);
        } else if (t->a == MOBILE_WALL) {
            p->block[c] = (int32_t)p->block_count++;
            double* S = problem_block(p, dim, c);
            response(m, t, S);
            assert_true(coulomb_block_inverse(dim, S, S + block_inverse(dim)));
            ball_arm(dim, t->n, S);
        }
        vec_copy(dim, row, t->n);
        inverse_responses(m, t, &row[contact_mn(dim)], &row[contact_mt(dim)]);
        row[contact_bias(dim)] = t->bias;
        row[contact_mu(dim)] = t->mu;
        vec_copy(dim, row + contact_p(dim), t->p);
    }
    p->count = m->touches;
}

static inline void read_impulses(const problem* p, model* m)
{
    for (int c = 0; c < m->touches; c++) {
        vec_copy(m->dim, m->t[c].p, p->contact + c * problem_width(m->dim) + contact_p(m->dim));
    }
}

// ---- the model's own mechanics -----------------------------------------------------------------

/// Velocities after all impulses.
typedef struct motion {
    double v[MAX_BALLS][3], omega[MAX_BALLS][3], wall_v[3];
} motion;

static void push(const model* m, motion* now, int ball, const double* arm, const double* p,
                 double sign)
{
    double moment[3];
    vec_cross(moment, arm, p);
    for (int k = 0; k < 3; k++) {
        now->v[ball][k] += sign * p[k] / m->m[ball];
        now->omega[ball][k] += sign * moment[k] / m->I[ball];
    }
}

static void apply_impulses(const model* m, motion* now)
{
    memcpy(now->v, m->v, sizeof now->v);
    memcpy(now->omega, m->omega, sizeof now->omega);
    memcpy(now->wall_v, m->wall_v, sizeof now->wall_v);
    for (int c = 0; c < m->touches; c++) {
        const touch* t = &m->t[c];
        double arm[3];
        for (int k = 0; k < 3; k++) arm[k] = -m->R[t->b] * t->n[k];
        push(m, now, t->b, arm, t->p, 1.0);
        if (t->a >= 0) {
            for (int k = 0; k < 3; k++) arm[k] = m->R[t->a] * t->n[k];
            push(m, now, t->a, arm, t->p, -1.0);
        }
        for (int i = 0; i < m->dim && t->a == MOBILE_WALL; i++) {
            for (int j = 0; j < m->dim; j++) {
                now->wall_v[i] -= m->mobility[i * m->dim + j] * t->p[j];
            }
        }
    }
}

static void slip_velocity(const model* m, const motion* now, const touch* t, double V[3])
{
    double arm[3], turn[3];
    for (int k = 0; k < 3; k++) arm[k] = -m->R[t->b] * t->n[k];
    vec_cross(turn, now->omega[t->b], arm);
    for (int k = 0; k < 3; k++) V[k] = now->v[t->b][k] + turn[k];
    if (t->a >= 0) {
        for (int k = 0; k < 3; k++) arm[k] = m->R[t->a] * t->n[k];
        vec_cross(turn, now->omega[t->a], arm);
        for (int k = 0; k < 3; k++) V[k] -= now->v[t->a][k] + turn[k];
    } else {
        for (int k = 0; k < 3; k++) V[k] -= t->a == MOBILE_WALL ? now->wall_v[k] : t->surface[k];
    }
}

/// The residual by its formula (head of rigid/residual.c), written out anew.
static inline double own_residual(const model* m)
{
    static motion now, free_motion;
    model* without = malloc(sizeof *without);
    *without = *m;
    for (int c = 0; c < m->touches; c++) memset(without->t[c].p, 0, sizeof without->t[c].p);
    apply_impulses(m, &now);
    apply_impulses(without, &free_motion);
    free(without);
    double error = 0.0, impulse = 0.0, stopping = 0.0;
    for (int c = 0; c < m->touches; c++) {
        const touch* t = &m->t[c];
        double V[3], V_free[3], mn, mt, q[3], q_n = 0.0, Vn, pn, rub = 0.0;
        slip_velocity(m, &now, t, V);
        slip_velocity(m, &free_motion, t, V_free);
        inverse_responses(m, t, &mn, &mt);
        Vn = vec_dot(3, V, t->n);
        pn = vec_dot(3, t->p, t->n);
        q_n = fmax(0.0, pn - mn * (Vn + t->bias));
        for (int k = 0; k < 3; k++) {
            q[k] = t->p[k] - pn * t->n[k] - mt * (V[k] - Vn * t->n[k]);
            rub += q[k] * q[k];
        }
        double cut = sqrt(rub) > t->mu * q_n ? t->mu * q_n / sqrt(rub) : 1.0;
        for (int k = 0; k < 3; k++) {
            double e = t->p[k] - q_n * t->n[k] - cut * q[k];
            error += e * e;
            impulse += t->p[k] * t->p[k];
        }
        stopping += pow(mn * fmax(0.0, -vec_dot(3, V_free, t->n) - t->bias), 2);
    }
    return sqrt(error) / sqrt(fmax(impulse, stopping));
}

// ---- models ------------------------------------------------------------------------------------

static void set_ball(model* m, int i, double radius, double mass)
{
    m->R[i] = radius;
    m->m[i] = mass;
    m->I[i] = (m->dim == 2 ? 0.5 : 0.4) * mass * radius * radius;
    memset(m->v[i], 0, sizeof m->v[i]);
    memset(m->omega[i], 0, sizeof m->omega[i]);
}

static void random_vector(rng* r, int dim, double size, double* v)
{
    v[2] = 0.0;
    for (int k = 0; k < dim; k++) v[k] = size * rng_normal(r);
}

/// Balls and touches with no geometry behind them: the algebra does not need any.
static void random_model(rng* r, int dim, int balls, int touches, bool wall, model* m)
{
    memset(m, 0, sizeof *m);
    m->dim = dim;
    m->balls = balls;
    m->touches = touches;
    m->has_wall = wall;
    for (int i = 0; i < balls; i++) {
        set_ball(m, i, 0.5 + rng_uniform(r), exp(2.0 * rng_normal(r)));
        random_vector(r, dim, 1.0, m->v[i]);
        random_vector(r, 3, 1.0, m->omega[i]);
        if (dim == 2) m->omega[i][0] = m->omega[i][1] = 0.0;
    }
    random_vector(r, dim, 1.0, m->wall_v);
    for (int k = 0; k < dim; k++) m->mobility[k * dim + k] = k == 0 ? 0.0 : 0.7;
    for (int c = 0; c < touches; c++) {
        touch* t = &m->t[c];
        t->b = (int)rng_below(r, (uint64_t)balls);
        do {
            t->a = (int)rng_below(r, (uint64_t)balls);
        } while (t->a == t->b);
        double kind = rng_uniform(r);
        if (kind < 0.1) t->a = FIXED_WALL;
        if (wall && kind > 0.9) t->a = MOBILE_WALL;
        random_vector(r, dim, 1.0, t->n);
        double length = vec_norm(3, t->n);
        for (int k = 0; k < 3; k++) t->n[k] /= length;
        t->bias = rng_uniform(r) < 0.5 ? 0.0 : rng_uniform(r);
        t->mu = rng_uniform(r);
        random_vector(r, dim, 0.5, t->surface);
        random_vector(r, dim, 1.0, t->p);
    }
}

/// N equal balls standing on a floor under a kick of gravity in the step: p_k = (N - k) m g h.
static inline void stack_model(int dim, int count, double mu, model* m)
{
    memset(m, 0, sizeof *m);
    m->dim = dim;
    m->balls = m->touches = count;
    for (int i = 0; i < count; i++) {
        set_ball(m, i, 0.5, 1.0);
        m->v[i][1] = -1.0;
        m->t[i] = (touch){.a = i - 1, .b = i, .n = {0.0, 1.0, 0.0}, .mu = mu};
    }
    m->t[0].a = FIXED_WALL;
}

/// Hexagonal pile of disks, `breadth` in the lowest row, on a floor between two side walls.
static inline void pile_model(rng* r, int breadth, int rows, double mu, model* m)
{
    memset(m, 0, sizeof *m);
    m->dim = 2;
    int first[32], length[32];
    for (int row = 0; row < rows; row++) {
        first[row] = m->balls;
        length[row] = breadth - row;
        for (int i = 0; i < length[row]; i++) {
            set_ball(m, m->balls, 0.5, 1.0 + 0.2 * rng_uniform(r));
            m->v[m->balls][0] = 0.1 * rng_normal(r);
            m->v[m->balls++][1] = -1.0;
        }
    }
    const double c = 0.5, s = sqrt(0.75);
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < length[row]; i++) {
            int b = first[row] + i;
            if (row == 0) {
                m->t[m->touches++] = (touch){.a = FIXED_WALL, .b = b, .n = {0, 1, 0}, .mu = mu};
            } else {
                int left = first[row - 1] + i;
                m->t[m->touches++] = (touch){.a = left, .b = b, .n = {c, s, 0}, .mu = mu};
                m->t[m->touches++] = (touch){.a = left + 1, .b = b, .n = {-c, s, 0}, .mu = mu};
            }
            if (i > 0) m->t[m->touches++] = (touch){.a = b - 1, .b = b, .n = {1, 0, 0}, .mu = mu};
        }
    }
    int right = length[0] - 1;
    m->t[m->touches++] = (touch){.a = FIXED_WALL, .b = 0, .n = {1, 0, 0}, .mu = mu};
    m->t[m->touches++] = (touch){.a = FIXED_WALL, .b = right, .n = {-1, 0, 0}, .mu = mu};
}

static inline talus_solver_def options(talus_sweep_order order, talus_stop_rule stop,
                                       double tolerance, int max_sweeps)
{
    talus_solver_def o = talus_solver_default();
    o.method = TALUS_SOLVER_SWEEPS;
    o.order = order;
    o.stop = stop;
    o.tolerance = tolerance;
    o.max_sweeps = max_sweeps;
    return o;
}

/// Solve the model from its impulses and leave the new ones in it.
static inline solve_result solve_model(model* m, const talus_solver_def* o, uint64_t key)
{
    problem p = {0};
    solve_workspace ws = {0};
    solve_result result;
    build(m, &p);
    solve_request request = {.options = o, .h = 1.0, .seed = 5, .key = key};
    assert_int_equal(sweep_solver.solve(&p, &request, &ws, &result), TALUS_OK);
    read_impulses(&p, m);
    solve_workspace_free(&ws);
    problem_free(&p);
    return result;
}

#endif

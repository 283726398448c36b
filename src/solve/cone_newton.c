/// Newton's method with a vanishing proximal term: for problems on which sweeps are slow.
///
/// At impulses r with velocities u the natural map (cone_inside.h) t = P(r - u/D) is smooth but for
/// the change between open, sticking and sliding. One step of Newton's method on r - t = 0 is one
/// sparse linear system, contact by contact G x + Q (W x) = t - r,
///   open      G = 1, Q = 0
///   sticks    G = 0, Q = 1/D
///   slides    N as if it stuck;  with z = r_T - u_T/D_T, d = z/|z|, k = mu t_N/|z|, P = 1 - d d^T:
///             x_T - mu d (x - (W x)/D)_N - k P (x_T - (W x)_T/D_T)
/// and likewise for rolling. It is singular where the forces are not unique and then throws r far
/// away. So the problem is solved with u + alpha D (r - r_k) in place of u, r_k the last solution,
/// for smaller and smaller alpha: each is a step of the proximal point method, r moves only as far
/// as it must, and the limit fulfils the law exactly. Steps are halved until |r - t| falls.
#include "solve/cone_methods.h"

#include <klu.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 24,    ///< values of alpha, at most
    STEPS = 40,     ///< of Newton's method for one of them, at most
    HALVINGS = 10,  ///< of one step, at most
    POOR_STEPS = 8, ///< steps in a row that hardly gain: then the next alpha is tried
};
/// The first alpha, what it is multiplied with, the last; what is added where it fails.
static const double FIRST_ALPHA = 1e-2, NEXT_ALPHA = 0.1, LAST_ALPHA = 1e-10;
/// A step that leaves more than this of |r - t| is poor.
static const double POOR = 0.95;

typedef struct newton {
    const cone_work* work;
    int64_t n;
    double alpha;
    double* scale;         ///< [n] D by components
    double* last;          ///< [n] r_k
    double *r, *u, *t, *x; ///< impulses, velocities with the proximal term, map, step
    double* trial;         ///< [n]
    // The matrix by rows, which is its transpose by columns.
    int64_t *start, *index;
    double* value;
    klu_l_symbolic* symbolic;
    klu_l_common common;
} newton;

// ---- the linear system -------------------------------------------------------------------------

/// The pattern of W by components.
static void fill_pattern(newton* s)
{
    const cone_problem* p = s->work->p;
    const int w = p->width;
    int64_t k = 0;
    for (int64_t c = 0; c < p->count; c++) {
        for (int i = 0; i < w; i++) {
            s->start[c * w + i] = k;
            for (int64_t b = p->first[c]; b < p->first[c + 1]; b++) {
                for (int j = 0; j < w; j++) s->index[k++] = (int64_t)p->column[b] * w + j;
            }
        }
    }
    s->start[s->n] = k;
}

/// How a contact answers to first order: G and Q of the head of the file.
typedef struct answer {
    double G[5][5], Q[5][5];
} answer;

/// Sliding or rolling: the components [o, o + m) with the coefficient mu.
static void answer_of_disk(const newton* s, int64_t at, int o, int m, double mu, answer* a)
{
    const double *D = s->scale + at, *r = s->r + at, *u = s->u + at;
    double z[2] = {0.0, 0.0}, tn = r[0] - u[0] / D[0];
    for (int k = 0; k < m; k++) z[k] = r[o + k] - u[o + k] / D[o + k];
    double length = vec_norm(m, z);
    if (length <= mu * tn) {
        for (int k = o; k < o + m; k++) a->Q[k][k] = 1.0 / D[k];
        return;
    }
    for (int i = 0; i < m; i++) {
        double d = z[i] / length;
        a->G[o + i][0] = -mu * d;
        a->Q[o + i][0] = mu * d / D[0];
        for (int j = 0; j < m; j++) {
            double across = mu * tn / length * ((i == j ? 1.0 : 0.0) - d * z[j] / length);
            a->G[o + i][o + j] = (i == j ? 1.0 : 0.0) - across;
            a->Q[o + i][o + j] = across / D[o + j];
        }
    }
}

static answer answer_of(const newton* s, int64_t c)
{
    const cone_problem* p = s->work->p;
    const int w = p->width, m = w == 2 ? 1 : 2;
    const int64_t at = c * w;
    answer a = {0};
    if (!(s->r[at] - s->u[at] / s->scale[at] > 0.0)) {
        for (int k = 0; k < w; k++) a.G[k][k] = 1.0;
        return a;
    }
    a.Q[0][0] = 1.0 / s->scale[at];
    answer_of_disk(s, at, 1, m, p->mu[c], &a);
    if (w == 5) answer_of_disk(s, at, 3, m, p->mu_r[c], &a);
    return a;
}

static void fill_matrix(newton* s)
{
    const cone_problem* p = s->work->p;
    const int w = p->width;
    for (int64_t c = 0; c < p->count; c++) {
        const answer a = answer_of(s, c);
        for (int i = 0; i < w; i++) {
            double* out = s->value + s->start[c * w + i];
            for (int64_t b = p->first[c]; b < p->first[c + 1]; b++, out += w) {
                const double* block = p->block + b * w * w;
                for (int j = 0; j < w; j++) {
                    out[j] = 0.0;
                    for (int k = 0; k < w; k++) out[j] += a.Q[i][k] * block[k * w + j];
                    if (p->column[b] != c) continue;
                    out[j] += a.G[i][j] + a.Q[i][j] * s->alpha * s->scale[c * w + j];
                }
            }
        }
    }
}

/// x = the step; false if the matrix is singular.
static bool find_step(newton* s)
{
    fill_matrix(s);
    klu_l_numeric* numeric = klu_l_factor(s->start, s->index, s->value, s->symbolic, &s->common);
    if (!numeric) return false;
    for (int64_t k = 0; k < s->n; k++) s->x[k] = s->t[k] - s->r[k];
    bool good = klu_l_tsolve(s->symbolic, numeric, s->n, 1, s->x, &s->common) != 0;
    klu_l_free_numeric(&numeric, &s->common);
    for (int64_t k = 0; good && k < s->n; k++) good = isfinite(s->x[k]);
    return good;
}

// ---- the law with the proximal term ------------------------------------------------------------

/// Put u and t for the impulses r; returns the energy of r - t.
static double evaluate(newton* s, const double* r)
{
    const cone_problem* p = s->work->p;
    const int w = p->width;
    double sum = 0.0;
    cone_velocity(p, r, s->u);
    for (int64_t k = 0; k < s->n; k++) s->u[k] += s->alpha * s->scale[k] * (r[k] - s->last[k]);
    for (int64_t c = 0; c < p->count; c++) {
        const double* D = s->scale + c * w;
        cone_scale scale = {D[0], D[1], w == 5 ? D[3] : 0.0};
        const double mu_r = w == 5 ? p->mu_r[c] : 0.0;
        double* t = s->t + c * w;
        cone_map(w, &scale, p->mu[c], mu_r, r + c * w, s->u + c * w, t);
        for (int k = 0; k < w; k++) sum += D[k] * (r[c * w + k] - t[k]) * (r[c * w + k] - t[k]);
    }
    return sum;
}

static double energy(const newton* s, const double* r)
{
    double sum = 0.0;
    for (int64_t k = 0; k < s->n; k++) sum += s->scale[k] * r[k] * r[k];
    return sum;
}

/// Shorten the step until the energy falls below `before`; returns the new one.
static double search(newton* s, double before)
{
    double share = 1.0, after = INFINITY;
    for (int i = 0; i < HALVINGS; i++, share *= 0.5) {
        for (int64_t k = 0; k < s->n; k++) s->trial[k] = s->r[k] + share * s->x[k];
        after = evaluate(s, s->trial);
        if (after < (1.0 - 1e-4 * share) * before) break;
    }
    memcpy(s->r, s->trial, (size_t)s->n * sizeof(double));
    return after;
}

/// Newton's method for one alpha from r = r_k.
static void solve_proximal(newton* s, cone_run* run)
{
    double left = evaluate(s, s->r), size = energy(s, s->r);
    // Precise enough for the next alpha, and at the end for the tolerance.
    double enough = fmax(1e-6 * left, 1e-2 * run->tolerance * run->tolerance * size);
    for (int step = 0, poor = 0; step < STEPS && left > enough; step++) {
        if (run->iterations >= run->limit || cone_run_is_late(run)) return;
        if (!find_step(s)) return;
        double after = search(s, left);
        run->iterations++;
        poor = after > POOR * POOR * left ? poor + 1 : 0;
        left = after;
        if (poor == POOR_STEPS) return;
    }
}

// ---- the method --------------------------------------------------------------------------------

static bool newton_start(newton* s, const cone_work* work, const double* r)
{
    const cone_problem* p = work->p;
    const int w = p->width;
    const int64_t n = p->count * w, entries = p->first[p->count] * w * w;
    *s = (newton){.work = work, .n = n};
    klu_l_defaults(&s->common);
    s->scale = malloc((size_t)(7 * n + entries) * sizeof(double));
    s->start = malloc((size_t)(n + 1 + entries) * sizeof(int64_t));
    if (!s->scale || !s->start) return false;
    s->index = s->start + n + 1;
    s->last = s->scale + n, s->r = s->last + n, s->u = s->r + n, s->t = s->u + n;
    s->x = s->t + n, s->trial = s->x + n, s->value = s->trial + n;
    for (int64_t c = 0; c < p->count; c++) {
        cone_scale D = cone_scale_of(w, p->block + work->diagonal[c] * w * w);
        for (int k = 0; k < w; k++) s->scale[c * w + k] = k == 0 ? D.n : (k < 3 ? D.t : D.r);
    }
    memcpy(s->r, r, (size_t)n * sizeof(double));
    fill_pattern(s);
    s->symbolic = klu_l_analyze(n, s->start, s->index, &s->common);
    return s->symbolic != NULL;
}

static void newton_end(newton* s)
{
    klu_l_free_symbolic(&s->symbolic, &s->common);
    free(s->scale);
    free(s->start);
}

talus_status cone_newton(const cone_work* work, cone_run* run, double* r)
{
    newton s;
    if (!newton_start(&s, work, r)) {
        newton_end(&s);
        return TALUS_ERR_MEMORY;
    }
    s.alpha = FIRST_ALPHA;
    for (int round = 0; round < ROUNDS && !cone_run_is_done(run); round++) {
        if (run->iterations >= run->limit || cone_run_is_late(run)) break;
        memcpy(s.last, s.r, (size_t)s.n * sizeof(double));
        solve_proximal(&s, run);
        s.alpha = fmax(s.alpha * NEXT_ALPHA, LAST_ALPHA);
        double alpha = s.alpha;
        s.alpha = 0.0; // t becomes the map of the law itself, which is inside the cone
        evaluate(&s, s.r);
        s.alpha = alpha;
        cone_keep_better(work, run, s.t, r);
    }
    newton_end(&s);
    return TALUS_OK;
}

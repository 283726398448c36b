/// Linear systems over contacts or over bodies; see system.h.
///
/// Over the bodies the blocks B^-1 A are stiffnesses of contacts, of all sizes: what a contact that
/// is nearly rigid does is the product of a large number and a small motion, and right to few
/// digits. What the solution leaves in the equations of the contacts is worked out and solved for
/// once more, which makes up for it.
#include "rigid/reduced/system.h"

#include "rigid/direct/cluster.h"

#include <stdlib.h>
#include <string.h>

struct reduced_system {
    const reduced_work* work;
    int width;
    direct_cluster bodies;  ///< of width 0 if they are not known
    reduced_factor* factor; ///< over the contacts, otherwise
    double *A, *B;          ///< [count][width][width]
    double *inverse, *D;    ///< [count][width][width] B^-1 and B^-1 A
    double *b, *left, *p;   ///< [count][width]
    double* z;              ///< [bodies]
};

static void multiply(int w, const double* A, const double* B, double* C)
{
    for (int i = 0; i < w; i++) {
        for (int j = 0; j < w; j++) {
            double sum = 0.0;
            for (int k = 0; k < w; k++) sum += A[i * w + k] * B[k * w + j];
            C[i * w + j] = sum;
        }
    }
}

/// Inverse of A [w][w] by Gauss and Jordan with exchange of rows; false if it has none.
static bool invert(int w, const double* A, double* inverse)
{
    double M[5][10];
    for (int i = 0; i < w; i++) {
        for (int j = 0; j < w; j++) M[i][j] = A[i * w + j], M[i][w + j] = i == j ? 1.0 : 0.0;
    }
    for (int c = 0; c < w; c++) {
        int best = c;
        for (int i = c + 1; i < w; i++) best = fabs(M[i][c]) > fabs(M[best][c]) ? i : best;
        if (!(fabs(M[best][c]) > 0.0)) return false;
        for (int j = 0; j < 2 * w && best != c; j++) {
            const double keep = M[c][j];
            M[c][j] = M[best][j], M[best][j] = keep;
        }
        for (int i = 0; i < w; i++) {
            if (i == c) continue;
            const double f = M[i][c] / M[c][c];
            for (int j = c; j < 2 * w && f != 0.0; j++) M[i][j] -= f * M[c][j];
        }
    }
    for (int i = 0; i < w; i++) {
        for (int j = 0; j < w; j++) inverse[i * w + j] = M[i][w + j] / M[i][i];
    }
    return true;
}

reduced_system* reduced_system_new(const reduced_work* work)
{
    const reduced_problem* p = work->p;
    const int w = p->width;
    const int64_t n = p->count * w;
    reduced_system* s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (reduced_system){.work = work, .width = w};
    bool good;
    if (p->bodies.width > 0) {
        good = direct_cluster_of_reduced(p, work->avx2, &s->bodies) == TALUS_OK;
    } else {
        good = (s->factor = reduced_factor_new(p, work->avx2)) != NULL;
    }
    const int64_t z = s->bodies.bodies * s->bodies.width;
    if (good) s->A = malloc(sizeof(double) * (size_t)(4 * n * w + 3 * n + z + 1));
    if (!s->A) {
        reduced_system_free(s);
        return NULL;
    }
    s->B = s->A + n * w, s->inverse = s->B + n * w, s->D = s->inverse + n * w;
    s->b = s->D + n * w, s->left = s->b + n, s->p = s->left + n, s->z = s->p + n;
    return s;
}

void reduced_system_free(reduced_system* s)
{
    if (!s) return;
    if (s->bodies.width > 0) direct_cluster_free(&s->bodies);
    reduced_factor_free(s->factor);
    free(s->A);
    free(s);
}

bool reduced_system_has_bodies(const reduced_system* s)
{
    return s->bodies.width > 0;
}

double reduced_system_in_sweeps(const reduced_system* s)
{
    const reduced_problem* p = s->work->p;
    const double blocks = (double)p->first[p->count], contacts = (double)p->count;
    const double sweep = 4.0 * blocks + 90.0 * contacts;
    if (s->bodies.width > 0) {
        return (200.0 * direct_products(&s->bodies) + 2000.0 * contacts) / sweep;
    }
    return (30.0 * reduced_factor_products(s->factor) + 60.0 * blocks + 900.0 * contacts) / sweep;
}

static void matrix_row(const void* data, int64_t c, double* out)
{
    const reduced_system* s = data;
    const reduced_problem* p = s->work->p;
    const int w = s->width;
    const double *A = s->A + c * w * w, *B = s->B + c * w * w;
    for (int64_t b = p->first[c]; b < p->first[c + 1]; b++, out += w * w) {
        multiply(w, A, p->block + b * w * w, out);
        for (int k = 0; k < w * w && p->column[b] == c; k++) out[k] += B[k];
    }
}

bool reduced_system_make(reduced_system* s, reduced_system_blocks* blocks, const void* data)
{
    const int w = s->width;
    const bool bodies = s->bodies.width > 0;
    for (int64_t c = 0; c < s->work->p->count; c++) {
        const int64_t at = c * w * w;
        blocks(data, c, s->A + at, s->B + at);
        if (!bodies) continue;
        if (!invert(w, s->B + at, s->inverse + at)) return false;
        multiply(w, s->inverse + at, s->A + at, s->D + at);
    }
    return bodies ? direct_factorise(&s->bodies, s->D, false)
                  : reduced_factor_make(s->factor, false, matrix_row, s);
}

/// out = A x of contact c
static inline void times(int w, const double* A, const double* x, double* out)
{
    for (int i = 0; i < w; i++) out[i] = vec_dot(w, A + i * w, x);
}

/// x: right-hand side in, solution out
static void solve_once(reduced_system* s, double* x)
{
    const int w = s->width;
    if (s->bodies.width == 0) {
        reduced_factor_solve(s->factor, x);
        return;
    }
    const direct_cluster* k = &s->bodies;
    for (int64_t c = 0; c < k->count; c++)
        times(w, s->inverse + c * w * w, x + c * w, s->p + c * w);
    direct_motion(k, s->p, s->z);
    reduced_factor_solve(k->factor, s->z);
    for (int64_t c = 0; c < k->count; c++) {
        double dw[MOST_COMPONENTS], change[MOST_COMPONENTS];
        direct_velocity_change(k, &k->contact[c], s->z, dw);
        times(w, s->D + c * w * w, dw, change);
        for (int i = 0; i < w; i++) x[c * w + i] = s->p[c * w + i] - change[i];
    }
}

/// left = b - B x - A W x
static void find_left(reduced_system* s, const double* x)
{
    const int w = s->width;
    const reduced_problem* p = s->work->p;
    if (s->bodies.width > 0) {
        direct_motion(&s->bodies, x, s->z);
    } else {
        reduced_fast_velocity(p, x, s->p);
    }
    for (int64_t c = 0; c < p->count; c++) {
        double u[MOST_COMPONENTS], one[MOST_COMPONENTS], two[MOST_COMPONENTS];
        if (s->bodies.width > 0) {
            direct_velocity_change(&s->bodies, &s->bodies.contact[c], s->z, u);
        } else {
            for (int i = 0; i < w; i++) u[i] = s->p[c * w + i] - p->q[c * w + i];
        }
        times(w, s->A + c * w * w, u, one);
        times(w, s->B + c * w * w, x + c * w, two);
        for (int i = 0; i < w; i++) s->left[c * w + i] = s->b[c * w + i] - one[i] - two[i];
    }
}

void reduced_system_solve(reduced_system* s, int improve, double* x)
{
    const int64_t n = s->work->p->count * s->width;
    memcpy(s->b, x, sizeof(double) * (size_t)n);
    solve_once(s, x);
    const int times_more = improve + (s->bodies.width > 0 ? 1 : 0);
    for (int i = 0; i < times_more; i++) {
        find_left(s, x);
        solve_once(s, s->left);
        for (int64_t k = 0; k < n; k++) x[k] += s->left[k];
    }
}

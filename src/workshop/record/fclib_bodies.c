/// The bodies of a global problem, where it has rigid ones.
///
/// FCLIB's files do not say what is a body. Programs number the degrees of freedom of one after the
/// other's; so bodies are taken to be three of them in 2D and six in 3D that follow each other, if
/// M couples no more than these and no contact touches more than two.
#include "record/fclib_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 6 };
/// W of the file and of the bodies may differ by so much, relative to the block on the diagonal.
static const double ALIKE = 1e-6;

/// C [bodies][n][n] with M = C C^T; false if M is more or less than that.
static bool find_roots(const fclib_matrix* m, int n, double* root)
{
    for (int64_t j = 0; j < m->columns; j++) {
        for (int64_t k = m->first[j]; k < m->first[j + 1]; k++) {
            const int64_t i = m->row[k];
            if (m->value[k] == 0.0) continue;
            if (i / n != j / n) return false;
            root[(j / n * n + i % n) * n + j % n] = m->value[k];
        }
    }
    for (int64_t b = 0; b < m->columns / n; b++) {
        double* A = root + b * n * n;
        for (int j = 0; j < n; j++) {
            for (int i = j; i < n; i++) {
                if (fabs(A[i * n + j] - A[j * n + i]) > ALIKE * fabs(A[j * n + j]) && i > j) {
                    return false;
                }
                double sum = A[i * n + j];
                for (int k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
                if (i == j && !(sum > 0.0)) return false;
                A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
            }
        }
    }
    return true;
}

/// Bodies of the contacts and J = H^T C^-T; false if one touches more than two.
static bool find_touched(const fclib_matrix* h, int n, const double* root, int width,
                         reduced_bodies* out)
{
    for (int64_t row = 0; row < h->columns; row++) {
        int32_t* of = out->of + 2 * (row / width);
        for (int64_t k = h->first[row]; k < h->first[row + 1]; k++) {
            const int32_t body = h->row[k] / n;
            if (h->value[k] == 0.0) continue;
            const int side = of[0] < 0 || of[0] == body ? 0 : 1;
            if (side == 1 && of[1] >= 0 && of[1] != body) return false;
            of[side] = body;
            out->J[(2 * row + side) * n + h->row[k] % n] = h->value[k];
        }
        for (int side = 0; side < 2; side++) {
            double* y = out->J + (2 * row + side) * n;
            const double* C = root + (int64_t)(of[side] < 0 ? 0 : of[side]) * n * n;
            for (int i = 0; i < n; i++) {
                for (int k = 0; k < i; k++) y[i] -= C[i * n + k] * y[k];
                y[i] /= C[i * n + i];
            }
        }
    }
    return true;
}

/// Do the bodies make the blocks on the diagonal of W?
static bool make_diagonal(const reduced_problem* p, const reduced_bodies* bodies)
{
    const int w = p->width, n = bodies->width;
    for (int64_t c = 0; c < p->count; c++) {
        int64_t own = p->first[c];
        while (p->column[own] != c) own++;
        double largest = 0.0, off = 0.0;
        for (int k = 0; k < w * w; k++) {
            const double* a = bodies->J + 2 * (c * w + k / w) * n;
            const double* b = bodies->J + 2 * (c * w + k % w) * n;
            double sum = 0.0;
            for (int i = 0; i < 2 * n; i++) sum += a[i] * b[i];
            largest = fmax(largest, fabs(sum));
            off = fmax(off, fabs(sum - p->block[own * w * w + k]));
        }
        if (!(off <= ALIKE * largest)) return false;
    }
    return true;
}

talus_status fclib_find_bodies(const fclib_matrix* m, const fclib_matrix* h, reduced_problem* p)
{
    const int n = p->width == 2 ? 3 : WIDEST;
    const int64_t dofs = m->columns, rows = p->count * p->width;
    if (p->width == 5 || dofs == 0 || dofs % n != 0 || h->columns != rows) return TALUS_OK;
    reduced_bodies bodies = {.width = n, .count = dofs / n};
    double* root = calloc((size_t)(dofs * n), sizeof *root);
    bodies.of = malloc((size_t)(2 * p->count + 1) * sizeof *bodies.of);
    bodies.J = calloc((size_t)(2 * rows * n + 1), sizeof *bodies.J);
    const bool room = root && bodies.of && bodies.J;
    if (room) memset(bodies.of, -1, (size_t)(2 * p->count) * sizeof *bodies.of);
    const bool good = room && find_roots(m, n, root) &&
                      find_touched(h, n, root, p->width, &bodies) && make_diagonal(p, &bodies);
    free(root);
    free(p->bodies.of);
    free(p->bodies.J);
    p->bodies = (reduced_bodies){0};
    if (good) {
        p->bodies = bodies;
    } else {
        free(bodies.of);
        free(bodies.J);
    }
    return room ? TALUS_OK : TALUS_ERR_MEMORY;
}

/// The equations of the coarse grid (coarse.c), K move = force, by conjugate gradients.
///
/// The rows of K are made in parallel, each by itself; sums over all unknowns are made in order:
/// there are some ten thousand of them at most.
#include "rigid/coarse/element.h"

/// The squared rest that is left, as part of the squared force, both in the scale of the diagonal:
/// the step is rough anyway. Waves cross the grid in some two iterations a cell.
static const double ACCURACY = 1e-3;
enum { MOST_ITERATIONS = 200 };

static ALWAYS_INLINE void multiply_node(const coarse_grid* c, const int dim, const double* x,
                                        double* y, int64_t n)
{
    const int count = neighbours(dim);
    double sum[3] = {0.0, 0.0, 0.0};
    for (int o = 0; o < count; o++) {
        const int32_t other = c->neighbour[n * count + o];
        if (other < 0) continue;
        const double* A = c->values[COARSE_STENCIL] + (n * count + o) * dim * dim;
        for (int j = 0; j < dim; j++) {
            for (int k = 0; k < dim; k++) sum[j] += A[j * dim + k] * x[other * dim + k];
        }
    }
    for (int j = 0; j < dim; j++) y[n * dim + j] = sum[j];
}

/// y = K x
static void multiply(const coarse_grid* c, const double* x, double* y)
{
#pragma omp parallel for num_threads(c->threads) if (c->threads > 1) schedule(static)
    for (int64_t n = 0; n < c->node_count; n++) {
        if (c->dim == 2) {
            multiply_node(c, 2, x, y, n);
        } else {
            multiply_node(c, 3, x, y, n);
        }
    }
    const int dim = c->dim;
    for (int64_t w = 0; w < c->wall_count; w++) {
        const double* wall = x + (c->node_count + w) * dim;
        double* out = y + (c->node_count + w) * dim;
        for (int j = 0; j < dim; j++) {
            out[j] = vec_dot(dim, c->values[COARSE_OWN] + (w * dim + j) * dim, wall);
        }
        for (int64_t n = 0; n < c->node_count; n++) {
            const double* A = c->values[COARSE_COUPLING] + (w * c->node_count + n) * dim * dim;
            for (int j = 0; j < dim; j++) {
                y[n * dim + j] += vec_dot(dim, A + j * dim, wall);
                vec_add_scaled(dim, out, x[n * dim + j], A + j * dim);
            }
        }
    }
}

/// Unknowns that cannot move (scale 0) stay where they are.
void coarse_solve(coarse_grid* c)
{
    const int64_t n = c->unknowns;
    const double *scale = c->values[COARSE_SCALE], *force = c->values[COARSE_FORCE];
    double *x = c->values[COARSE_MOVE], *r = c->values[COARSE_REST];
    double *d = c->values[COARSE_DIRECTION], *Kd = c->values[COARSE_PRODUCT];
    double rest = 0.0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = 0.0;
        r[i] = force[i];
        d[i] = scale[i] * r[i];
        rest += r[i] * d[i];
    }
    const double enough = ACCURACY * rest;
    for (int turn = 0; turn < MOST_ITERATIONS && rest > enough; turn++) {
        multiply(c, d, Kd);
        double curvature = 0.0, next = 0.0;
        for (int64_t i = 0; i < n; i++) curvature += d[i] * Kd[i];
        if (!(curvature > 0.0)) return;
        for (int64_t i = 0; i < n; i++) {
            x[i] += rest / curvature * d[i];
            r[i] -= rest / curvature * Kd[i];
            next += scale[i] * r[i] * r[i];
        }
        for (int64_t i = 0; i < n; i++) d[i] = scale[i] * r[i] + next / rest * d[i];
        rest = next;
    }
}

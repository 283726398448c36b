/// In how many independent ways the solutions of an ensemble differ.
///
/// The centred samples (impulses and torques over radii) as rows of a matrix: its singular values,
/// divided by sqrt(samples - 1) and by the norm of the mean solution, are the relative sizes of the
/// independent differences. Those that stand out of the solver's own error are counted. The rank
/// cannot exceed samples - 1, nor the dimension of the set of solutions.
///
/// Method: modified Gram-Schmidt reduces the matrix to a small triangle, one-sided Jacobi rotations
/// (Hestenes 1958) then make its rows orthogonal; their lengths are the singular values. Small ones
/// are exact to rounding of the largest, which forming the Gram matrix would spoil.
#include "base/error.h"
#include "measure/ensemble.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A singular value counts if it exceeds the estimated error of the forces so many times: the
/// estimate is a largest value over samples, but each is known within a small factor only.
static const double SAFETY = 10.0;

static double dot(int64_t n, const double* x, const double* y)
{
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}

// ---- singular values ---------------------------------------------------------------------------

/// Rows of the verified samples minus their mean into `rows`; returns the norm of the mean.
static double centre(const ensemble_task* task, const talus_ensemble* e, double* rows, double* mean)
{
    const int64_t n = e->contacts * task->components;
    int row = 0;
    for (int64_t k = 0; k < n; k++) mean[k] = 0.0;
    for (int i = 0; i < e->samples; i++) {
        const double* x = task->solution + (int64_t)i * n;
        for (int64_t k = 0; k < n && e->sample[i].verified; k++) mean[k] += x[k] / e->verified;
    }
    for (int i = 0; i < e->samples; i++) {
        if (!e->sample[i].verified) continue;
        const double* x = task->solution + (int64_t)i * n;
        for (int64_t k = 0; k < n; k++) rows[row * n + k] = x[k] - mean[k];
        row++;
    }
    return sqrt(dot(n, mean, mean));
}

/// Orthonormalise `count` rows of length n in place; triangle [count][count] has what they were:
/// row i of the triangle holds the components along direction i, column j those of old row j.
static void triangularise(int count, int64_t n, double* rows, double* triangle)
{
    memset(triangle, 0, sizeof *triangle * (size_t)count * (size_t)count);
    for (int i = 0; i < count; i++) {
        double* q = rows + i * n;
        double length = sqrt(dot(n, q, q));
        triangle[i * count + i] = length;
        for (int64_t k = 0; k < n && length > 0.0; k++) q[k] /= length;
        for (int j = i + 1; j < count && length > 0.0; j++) {
            double* x = rows + j * n;
            double part = dot(n, q, x);
            triangle[i * count + j] = part;
            for (int64_t k = 0; k < n; k++) x[k] -= part * q[k];
        }
    }
}

/// Turn two rows to be orthogonal; false if they were.
static bool turn_rows(int n, double* x, double* y)
{
    double xx = dot(n, x, x), yy = dot(n, y, y), xy = dot(n, x, y);
    if (fabs(xy) <= 8.0 * DBL_EPSILON * sqrt(xx * yy)) return false;
    double zeta = (yy - xx) / (2.0 * xy);
    double t = (zeta < 0.0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
    for (int k = 0; k < n; k++) {
        double old = x[k];
        x[k] = c * old - s * y[k];
        y[k] = s * old + c * y[k];
    }
    return true;
}

static int descending(const void* x, const void* y)
{
    double a = *(const double*)x, b = *(const double*)y;
    return a < b ? 1 : a > b ? -1 : 0;
}

/// Singular values of an n x n matrix, which is destroyed.
static void singular_values(int n, double* matrix, double* values)
{
    bool turned = true;
    for (int round = 0; round < 60 && turned; round++) {
        turned = false;
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < n; j++) {
                if (turn_rows(n, matrix + i * n, matrix + j * n)) turned = true;
            }
        }
    }
    for (int i = 0; i < n; i++) values[i] = sqrt(dot(n, matrix + i * n, matrix + i * n));
    qsort(values, (size_t)n, sizeof *values, descending);
}

static talus_status decompose(const ensemble_task* task, talus_ensemble* e)
{
    const int64_t n = e->contacts * task->components;
    double* rows = malloc(sizeof *rows * (size_t)(n * e->verified + 1));
    double* triangle = malloc(sizeof *triangle * (size_t)e->verified * (size_t)e->verified);
    double* mean = malloc(sizeof *mean * (size_t)(n + 1));
    talus_status status = rows && triangle && mean ? TALUS_OK : TALUS_ERR_MEMORY;
    if (status == TALUS_OK) {
        double norm = centre(task, e, rows, mean);
        triangularise(e->verified, n, rows, triangle);
        singular_values(e->verified, triangle, e->singular);
        double unit = norm * sqrt(e->verified - 1.0);
        for (int i = 0; i < e->verified; i++) e->singular[i] /= unit > 0.0 ? unit : 1.0;
    }
    free(rows);
    free(triangle);
    free(mean);
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------

talus_status ensemble_rank(const ensemble_task* task, talus_ensemble* e, talus_error* error)
{
    if (e->verified < 2) return TALUS_OK;
    if (decompose(task, e)) return error_memory(error, "comparing the solutions");
    double residual = 0.0;
    for (int i = 0; i < e->samples; i++) {
        if (e->sample[i].verified) residual = fmax(residual, e->sample[i].residual);
    }
    e->conditioning = task->conditioning;
    // Rounding of sums over a grain's contacts is always there.
    e->force_error = fmax(e->conditioning * residual, 64.0 * DBL_EPSILON);
    for (int i = 0; i < e->verified; i++) e->rank += e->singular[i] > SAFETY * e->force_error;
    return TALUS_OK;
}

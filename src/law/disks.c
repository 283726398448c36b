/// Minimum of a quadratic over a product of disks; see disks.h.
///
/// Exact minimisation over one block after the other never fails but is slow where blocks couple
/// strongly: a long lever arm ties rolling to sliding. So after each sweep the guess at which
/// limits are reached is tried: Newton's method on A x + b + lambda_i x_i = 0, |x_i| = limit_i. Its
/// answer is taken if it fulfils all conditions, which make it the minimum, else the sweeps go on.
#include "law/disks.h"

#include "base/vec.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SYSTEM = DISKS_SIZE + DISKS_BLOCKS };

/// Conditions of the minimum hold to this part of the terms in them.
static const double EXACT = 1e-14;

/// x_k = -b_k/(w_k + lambda), where lambda makes |x| = limit. Newton's method on 1/|x|, which is
/// linear in lambda for equal w and concave else, approaches lambda from below and never overshoots
/// (More and Sorensen).
void disk_minimise(int m, const double* w, const double* b, double limit, double* x)
{
    double lambda = 0.0, length = 0.0;
    for (int i = 0; i < 60; i++) {
        double slope = 0.0;
        for (int k = 0; k < m; k++) {
            x[k] = -b[k] / (w[k] + lambda);
            slope += x[k] * x[k] / (w[k] + lambda);
        }
        length = vec_norm(m, x);
        if (length <= limit * (1.0 + DBL_EPSILON) || limit == 0.0) break;
        lambda += length * length / slope * (length / limit - 1.0);
    }
    for (int k = 0; k < m && length > limit; k++) x[k] *= limit / length;
}

static int size_of(const disks* d)
{
    return d->begin[d->blocks];
}

/// Motion A x + b of component i.
static double motion(const disks* d, const double* x, int i)
{
    return d->b[i] + vec_dot(size_of(d), d->A[i], x);
}

/// What roundings of the motion of component i are measured in.
static double motion_size(const disks* d, const double* x, int i)
{
    double sum = fabs(d->b[i]);
    for (int j = 0; j < size_of(d); j++) sum += fabs(d->A[i][j] * x[j]);
    return sum;
}

/// One block after the other; returns the largest change relative to the limit of its block.
static double sweep(const disks* d, double* x)
{
    double largest = 0.0;
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        double w[2], b[2], before[2];
        for (int k = 0; k < m; k++) {
            const int i = first + k;
            w[k] = d->A[i][i];
            b[k] = motion(d, x, i) - w[k] * x[i];
            before[k] = x[i];
        }
        if (d->limit[block] > 0.0) {
            disk_minimise(m, w, b, d->limit[block], x + first);
            vec_sub(m, before, x + first, before);
            largest = fmax(largest, vec_norm(m, before) / d->limit[block]);
        } else {
            for (int k = 0; k < m; k++) x[first + k] = 0.0;
        }
    }
    return largest;
}

/// Gaussian elimination with row pivots; false if a pivot vanishes.
static bool eliminate(int size, double M[SYSTEM][SYSTEM], double* y)
{
    for (int c = 0; c < size; c++) {
        int pivot = c;
        for (int i = c + 1; i < size; i++) {
            if (fabs(M[i][c]) > fabs(M[pivot][c])) pivot = i;
        }
        if (!(fabs(M[pivot][c]) > 0.0)) return false;
        for (int j = c; j < size && pivot != c; j++) {
            double keep = M[c][j];
            M[c][j] = M[pivot][j], M[pivot][j] = keep;
        }
        double keep = y[c];
        y[c] = y[pivot], y[pivot] = keep;
        for (int i = c + 1; i < size; i++) {
            double factor = M[i][c] / M[c][c];
            if (factor == 0.0) continue;
            for (int j = c + 1; j < size; j++) M[i][j] -= factor * M[c][j];
            y[i] -= factor * y[c];
        }
    }
    for (int i = size - 1; i >= 0; i--) {
        for (int j = i + 1; j < size; j++) y[i] -= M[i][j] * y[j];
        y[i] /= M[i][i];
    }
    return true;
}

typedef enum block_state { FREE, AT_LIMIT, CLOSED } block_state;

/// A trial: which limits are reached, and the multipliers of those.
typedef struct trial {
    double x[DISKS_SIZE];
    double lambda[DISKS_BLOCKS];
    block_state state[DISKS_BLOCKS];
} trial;

static trial trial_of(const disks* d, const double* x)
{
    trial t = {.lambda = {0.0}};
    vec_copy(size_of(d), t.x, x);
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        const double limit = d->limit[block];
        bool reached = vec_norm(m, x + first) >= limit * (1.0 - 1e-9);
        t.state[block] = !(limit > 0.0) ? CLOSED : reached ? AT_LIMIT : FREE;
        if (t.state[block] != AT_LIMIT) continue;
        double against = 0.0;
        for (int k = first; k < first + m; k++) against -= motion(d, x, k) * x[k];
        t.lambda[block] = against / (limit * limit);
    }
    return t;
}

/// One step of Newton's method on all conditions at once, in x and lambda |x|. Returns the largest
/// violation before the step, HUGE_VAL if there is no step.
static double newton(const disks* d, trial* t)
{
    const int size = size_of(d);
    double M[SYSTEM][SYSTEM], y[SYSTEM], largest = 0.0;
    int rows = size, border[DISKS_BLOCKS];
    memset(M, 0, sizeof M);
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        const double length = vec_norm(m, t->x + first), limit = d->limit[block];
        const bool at_limit = t->state[block] == AT_LIMIT;
        border[block] = at_limit ? rows++ : -1;
        for (int i = first; i < first + m; i++) {
            if (t->state[block] == CLOSED) {
                M[i][i] = 1.0, y[i] = 0.0;
                continue;
            }
            vec_copy(size, M[i], d->A[i]);
            M[i][i] += t->lambda[block];
            y[i] = -motion(d, t->x, i) - t->lambda[block] * t->x[i];
            largest = fmax(largest, fabs(y[i]) / motion_size(d, t->x, i));
            if (at_limit) M[i][border[block]] = M[border[block]][i] = t->x[i] / length;
        }
        if (!at_limit) continue;
        y[border[block]] = limit - length;
        largest = fmax(largest, fabs(limit - length) / limit);
    }
    if (!eliminate(rows, M, y)) return HUGE_VAL;
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        const double length = vec_norm(m, t->x + first);
        if (border[block] >= 0) t->lambda[block] += y[border[block]] / length;
    }
    for (int k = 0; k < size; k++) t->x[k] += y[k];
    return largest;
}

/// Does a trial that Newton's method has settled lie within all limits, with friction against the
/// motion where it is at one?
static bool holds(const disks* d, const trial* t)
{
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        if (t->state[block] == CLOSED) continue;
        if (!(vec_norm(m, t->x + first) <= d->limit[block] * (1.0 + EXACT))) return false;
        if (t->state[block] == AT_LIMIT && !(t->lambda[block] >= 0.0)) return false;
    }
    return true;
}

static bool finish(const disks* d, double* x)
{
    trial t = trial_of(d, x);
    for (int i = 0; i < 8; i++) {
        double violation = newton(d, &t);
        if (!(violation < HUGE_VAL)) return false;
        if (violation > EXACT && !(i == 7 && violation < 100.0 * EXACT)) continue;
        if (!holds(d, &t)) return false;
        vec_copy(size_of(d), x, t.x);
        return true;
    }
    return false;
}

void disks_solve(const disks* d, double* x)
{
    for (int i = 0; i < 2000; i++) {
        double change = sweep(d, x);
        if (change <= 4.0 * DBL_EPSILON || finish(d, x)) return;
    }
}

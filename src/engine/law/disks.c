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

/// Put a block on its limit, with the multiplier that fits best.
static void press_to_limit(const disks* d, int block, trial* t)
{
    const int first = d->begin[block], m = d->begin[block + 1] - first;
    const double limit = d->limit[block], length = vec_norm(m, t->x + first);
    double against = 0.0;
    for (int k = first; k < first + m; k++) t->x[k] *= limit / length;
    for (int k = first; k < first + m; k++) against -= motion(d, t->x, k) * t->x[k];
    t->state[block] = AT_LIMIT;
    t->lambda[block] = fmax(0.0, against / (limit * limit));
}

/// Largest violation of the conditions that Newton's method works on, relative to their terms.
static double violation_of(const disks* d, const trial* t)
{
    double largest = 0.0;
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        const double limit = d->limit[block];
        if (t->state[block] == CLOSED) continue;
        for (int i = first; i < first + m; i++) {
            double left = fabs(motion(d, t->x, i) + t->lambda[block] * t->x[i]);
            largest = fmax(largest, left / motion_size(d, t->x, i));
        }
        if (t->state[block] == AT_LIMIT) {
            largest = fmax(largest, fabs(limit - vec_norm(m, t->x + first)) / limit);
        }
    }
    return largest;
}

/// One step of Newton's method on all conditions at once, in x and lambda |x|; false if there is
/// none.
static bool newton(const disks* d, trial* t)
{
    double M[SYSTEM][SYSTEM], y[SYSTEM], length[DISKS_BLOCKS];
    int place[DISKS_SIZE], rows = 0, border[DISKS_BLOCKS]; // where components and multipliers are
    for (int block = 0; block < d->blocks; block++) {
        for (int i = d->begin[block]; i < d->begin[block + 1]; i++) {
            place[i] = t->state[block] == CLOSED ? -1 : rows++;
        }
    }
    const int size = rows;
    for (int block = 0; block < d->blocks; block++) {
        border[block] = t->state[block] == AT_LIMIT ? rows++ : -1;
    }
    memset(M, 0, sizeof M);
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], next = d->begin[block + 1];
        length[block] = vec_norm(next - first, t->x + first);
        for (int i = first; i < next && place[i] >= 0; i++) {
            double* row = M[place[i]];
            for (int j = 0; j < size_of(d); j++) {
                if (place[j] >= 0) row[place[j]] = d->A[i][j];
            }
            row[place[i]] += t->lambda[block];
            y[place[i]] = -motion(d, t->x, i) - t->lambda[block] * t->x[i];
            if (border[block] < 0) continue;
            row[border[block]] = M[border[block]][place[i]] = t->x[i] / length[block];
        }
        if (border[block] >= 0) y[border[block]] = d->limit[block] - length[block];
    }
    if (size == 0 || !eliminate(rows, M, y)) return size == 0;
    for (int block = 0; block < d->blocks; block++) {
        if (border[block] >= 0) t->lambda[block] += y[border[block]] / length[block];
    }
    for (int i = 0; i < size_of(d); i++) t->x[i] += place[i] >= 0 ? y[place[i]] : 0.0;
    return true;
}

/// Let go of limits whose friction would be along the motion, by more than rounding, and press what
/// is beyond a limit to it; true if nothing was to be done.
static bool keeps_its_limits(const disks* d, trial* t)
{
    bool kept = true;
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        if (t->state[block] == CLOSED) continue;
        if (t->state[block] == FREE) {
            if (vec_norm(m, t->x + first) <= d->limit[block]) continue;
            press_to_limit(d, block, t);
            kept = false;
            continue;
        }
        double size = 0.0;
        for (int i = first; i < first + m; i++) size = fmax(size, motion_size(d, t->x, i));
        if (t->lambda[block] * d->limit[block] >= -100.0 * EXACT * size) continue;
        t->state[block] = FREE;
        t->lambda[block] = 0.0;
        kept = false;
    }
    return kept;
}

/// Newton's method from x with changing limits; true if it found the minimum.
static bool finish(const disks* d, double* x)
{
    trial t = {.lambda = {0.0}};
    vec_copy(size_of(d), t.x, x);
    for (int block = 0; block < d->blocks; block++) {
        const int first = d->begin[block], m = d->begin[block + 1] - first;
        const double limit = d->limit[block];
        t.state[block] = limit > 0.0 ? FREE : CLOSED;
        if (limit > 0.0 && vec_norm(m, x + first) >= limit * (1.0 - 1e-9)) {
            press_to_limit(d, block, &t);
        }
    }
    for (int i = 0; i < 8; i++) {
        double violation = violation_of(d, &t);
        for (int step = 0; step < 25 && violation > EXACT; step++) {
            if (!newton(d, &t)) return false;
            violation = violation_of(d, &t);
        }
        if (!(violation <= 100.0 * EXACT)) return false;
        if (!keeps_its_limits(d, &t)) continue;
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

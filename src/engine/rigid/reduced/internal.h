/// What the methods of reduced_solve() share: rows of the matrix, units of a contact, the natural
/// map.
#ifndef TALUS_RIGID_REDUCED_INTERNAL_H
#define TALUS_RIGID_REDUCED_INTERNAL_H

#include "base/vec.h"
#include "base/vector_width.h"
#include "rigid/reduced/reduced.h"

#include <string.h>

/// Response of a contact to its own impulse: normal, mean tangential, mean rolling; all > 0.
typedef struct reduced_scale {
    double n, t, r;
} reduced_scale;

/// All measures at once, for the price of one.
typedef struct reduced_measure {
    double error, residual;
    double velocity; ///< 0 where it is no more than rounding
} reduced_measure;

/// What they are made of. Those of parts that do not know each other add up.
typedef struct reduced_sums {
    double e2, r2, u2, q2;         ///< squares of the error's numerator, of r, u and q
    double left, energy, approach; ///< of the residual: reduced.c
    double wrong, moving, pushing; ///< of the velocities: those that break the law, u, and q
} reduced_sums;

/// Sums that stand for a larger whole: below them nothing counts.
typedef struct reduced_least {
    double size2, energy, pushing;
} reduced_least;

/// Components that are velocities; the others are rates of rolling.
static inline int reduced_moving(int width)
{
    return width == 5 ? 3 : width;
}

/// Where the diagonal block of contact c is.
int64_t reduced_diagonal(const reduced_problem* p, int64_t c);
reduced_scale reduced_scale_of(int width, const double* S);
/// `diagonal` [count] may be NULL: it saves time.
reduced_sums reduced_sums_of(const reduced_problem* p, const int64_t* diagonal, const double* r);
/// The same, and u = W r + q, by way of the bodies where they are known: W has far more numbers.
reduced_sums reduced_fast_sums(const reduced_problem* p, const int64_t* diagonal, const double* r);
void reduced_fast_velocity(const reduced_problem* p, const double* r, double* u);
reduced_measure reduced_measure_of(const reduced_sums* sums, reduced_least least);

static inline reduced_sums reduced_sums_add(reduced_sums a, reduced_sums b)
{
    return (reduced_sums){a.e2 + b.e2,
                          a.r2 + b.r2,
                          a.u2 + b.u2,
                          a.q2 + b.q2,
                          a.left + b.left,
                          a.energy + b.energy,
                          a.approach + b.approach,
                          a.wrong + b.wrong,
                          a.moving + b.moving,
                          a.pushing + b.pushing};
}

/// The largest of them: what methods make small.
static inline double reduced_measure_worse(reduced_measure m)
{
    return fmax(fmax(m.error, m.residual), m.velocity);
}

static inline bool reduced_measure_meets(reduced_measure m, double tolerance)
{
    return m.error <= tolerance && m.residual <= tolerance && m.velocity <= tolerance;
}

/// Four numbers that are computed together. Every lane is computed alike in any vector width, so
/// that the bits do not depend on it.
typedef double reduced_lanes __attribute__((vector_size(32)));

/// Eight of them, where the machine has registers of that width.
typedef double reduced_lanes_8 __attribute__((vector_size(64)));
typedef double reduced_loose_8 __attribute__((vector_size(64), aligned(8), may_alias));

/// The same four anywhere in memory.
typedef double reduced_loose __attribute__((vector_size(32), aligned(8), may_alias));

/// Rows of 3x3 blocks times a vector, each row in lanes of its own; the fourth lane is waste. The
/// very last block is left out because its last row ends before the fourth lane does.
static ALWAYS_INLINE void reduced_add_blocks_3(const reduced_problem* p, int64_t from, int64_t to,
                                               const double* r, double* u)
{
    reduced_lanes sum0 = {0.0}, sum1 = {0.0}, sum2 = {0.0};
    for (int64_t b = from; b < to; b++) {
        const double *block = p->block + b * 9, *x = r + (int64_t)p->column[b] * 3;
        const reduced_lanes v = {x[0], x[1], x[2], 0.0};
        sum0 += *(const reduced_loose*)(block)*v;
        sum1 += *(const reduced_loose*)(block + 3) * v;
        sum2 += *(const reduced_loose*)(block + 6) * v;
    }
    u[0] += sum0[0] + sum0[1] + sum0[2];
    u[1] += sum1[0] + sum1[1] + sum1[2];
    u[2] += sum2[0] + sum2[1] + sum2[2];
}

static ALWAYS_INLINE void reduced_add_blocks_2(const reduced_problem* p, int64_t from, int64_t to,
                                               const double* r, double* u)
{
    reduced_lanes sum = {0.0};
    for (int64_t b = from; b < to; b++) {
        const double* x = r + (int64_t)p->column[b] * 2;
        const reduced_lanes v = {x[0], x[1], x[0], x[1]};
        sum += *(const reduced_loose*)(p->block + b * 4) * v;
    }
    u[0] += sum[0] + sum[1];
    u[1] += sum[2] + sum[3];
}

/// u [width] += the blocks [from, to) of one row times r.
static ALWAYS_INLINE void reduced_add_blocks(const int width, const reduced_problem* p,
                                             int64_t from, int64_t to, const double* r, double* u)
{
    if (width == 2) {
        reduced_add_blocks_2(p, from, to, r, u);
        return;
    }
    if (width == 3) {
        const int64_t end = p->first[p->count] - 1, last = to < end ? to : end;
        reduced_add_blocks_3(p, from, last, r, u);
        if (last > from) from = last;
    }
    for (int64_t b = from; b < to; b++) {
        const double* x = r + (int64_t)p->column[b] * width;
        for (int i = 0; i < width; i++) {
            u[i] += vec_dot(width, p->block + (b * width + i) * width, x);
        }
    }
}

/// u [width] = velocity of contact c.
static ALWAYS_INLINE void reduced_row_velocity(const int width, const reduced_problem* p, int64_t c,
                                               const double* r, double* u)
{
    for (int i = 0; i < width; i++) u[i] = p->q[c * width + i];
    reduced_add_blocks(width, p, p->first[c], p->first[c + 1], r, u);
}

/// Length of the one or two tangential components.
static ALWAYS_INLINE double reduced_length(const int m, const double* x)
{
    return m == 1 ? fabs(x[0]) : vec_norm(m, x);
}

static ALWAYS_INLINE bool reduced_is_zero(const int width, const double* r)
{
    bool zero = true;
    for (int k = 0; k < width; k++) zero &= r[k] == 0.0;
    return zero;
}

/// Cut x [m] to the length `bound`.
static ALWAYS_INLINE void reduced_cut(const int m, double bound, double* x)
{
    if (m == 1) {
        x[0] = x[0] > bound ? bound : x[0] < -bound ? -bound : x[0];
        return;
    }
    double xx = vec_dot(m, x, x);
    if (xx <= bound * bound) return;
    double s = bound / sqrt(xx);
    for (int k = 0; k < m; k++) x[k] *= s;
}

/// The natural map of one contact: the impulse that its own mean responses would make of r and u.
static ALWAYS_INLINE void reduced_map(const int width, const reduced_scale* D, double mu,
                                      double mu_r, const double* r, const double* u, double* t)
{
    const double n = r[0] - u[0] / D->n;
    t[0] = n > 0.0 ? n : 0.0; // also where n is not a number
    for (int k = 1; k < width; k++) t[k] = r[k] - u[k] / (k < 3 ? D->t : D->r);
    reduced_cut(width == 2 ? 1 : 2, mu * t[0], t + 1);
    if (width == 5) reduced_cut(2, mu_r * t[0], t + 3);
}

#endif

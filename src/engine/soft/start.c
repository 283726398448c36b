/// Derivatives at the start by collocation: the acceleration is taken as a polynomial in time
/// through its values at 0, h/2, h, ..., and these values are found on the path that the polynomial
/// itself gives, by sweeps over the times.
///
/// A sweep takes the values of the last one, wrong by h^n, to an error of h^(n+1), because the
/// velocity is an integral of the acceleration; so as many sweeps as there are times reach the
/// polynomial's own error, and the derivative of order k is found up to h^(kept+2-k), what a Gear
/// integrator needs for its full order. Each sweep goes forward in time from the same past:
/// friction that slides is never run backwards, as it is by the better known steps forth and back,
/// which also need four steps each way before they give Gear 5 its order (docs/soft.md).
#include "soft/start.h"

#include "base/error.h"
#include "base/parallel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { START_TIMES = INTEGRATOR_KEPT - 1 }; ///< after the start, at most

typedef struct start {
    const coordinates* c;
    double* x0; ///< [count]
    double* v0;
    double* at[START_TIMES]; ///< [count] accelerations at the times after the start
    int times;
    int threads;
    double gap; ///< between the times
} start;

/// Put x and v where the Taylor series has them at `time`.
static void move_to(const start* s, double time)
{
    const coordinates* c = s->c;
#pragma omp parallel for num_threads(parallel_threads(s->threads, c->count)) schedule(static)
    for (int64_t i = 0; i < c->count; i++) {
        double shift = 0.0, change = 0.0;
        for (int k = s->times; k >= 0; k--) {
            shift = c->d[k][i] + time / (k + 3) * shift;
            change = c->d[k][i] + time / (k + 2) * change;
        }
        c->v[i] = s->v0[i] + time * change;
        c->x[i] = s->x0[i] + time * (s->v0[i] + 0.5 * time * shift);
    }
}

/// Derivatives of the polynomial through the accelerations, from their forward differences.
static void fit(const start* s)
{
    const coordinates* c = s->c;
    const double per = 1.0 / s->gap;
#pragma omp parallel for num_threads(parallel_threads(s->threads, c->count)) schedule(static)
    for (int64_t i = 0; i < c->count; i++) {
        const double a0 = c->d[0][i], a1 = s->at[0][i];
        if (s->times == 1) {
            c->d[1][i] = per * (a1 - a0);
            continue;
        }
        const double a2 = s->at[1][i], a3 = s->at[2][i];
        const double first = a1 - a0, second = (a2 - a1) - first;
        const double third = ((a3 - a2) - (a2 - a1)) - second;
        c->d[1][i] = per * (first - second / 2.0 + third / 3.0);
        c->d[2][i] = per * per * (second - third);
        c->d[3][i] = per * per * per * third;
    }
}

talus_status start_derivatives(const integrator* kind, const coordinates* c, double h, int threads,
                               const start_forces* forces, talus_error* error)
{
    const size_t count = (size_t)c->count, bytes = count * sizeof(double);
    start s = {.c = c, .times = kind->kept - 1, .threads = threads, .gap = 0.5 * h};
    assert(s.times == 0 || s.times == 1 || s.times == 3);
    TRY(forces->evaluate(forces->user, 0.0, c->d[0]));
    if (s.times == 0 || count == 0) return TALUS_OK;
    if (forces->save) TRY(forces->save(forces->user));
    double* memory = calloc(count * (size_t)(2 + s.times), sizeof *memory);
    if (!memory) return error_memory(error, "the starting values of the integrator");
    s.x0 = memory;
    s.v0 = memory + count;
    for (int k = 0; k < s.times; k++) s.at[k] = memory + count * (size_t)(2 + k);
    memcpy(s.x0, c->x, bytes);
    memcpy(s.v0, c->v, bytes);

    // The sweeps, from constant acceleration. x, v and the forces' past are the given ones after
    // each.
    talus_status status = TALUS_OK;
    for (int k = 1; k <= s.times; k++) memset(c->d[k], 0, bytes);
    for (int sweep = 0; sweep < s.times && status >= 0; sweep++) {
        for (int k = 0; k < s.times && status >= 0; k++) {
            const double time = (k + 1) * s.gap;
            move_to(&s, time);
            status = forces->evaluate(forces->user, time, s.at[k]);
        }
        if (status >= 0) fit(&s);
        memcpy(c->x, s.x0, bytes);
        memcpy(c->v, s.v0, bytes);
        if (forces->restore) forces->restore(forces->user);
    }
    free(memory);
    return status;
}

/// Sweeps of exact one-contact solutions over a reduced problem, with momentum.
///
/// From y one forward sweep, the same order every time, gives x; then y = x + beta (x - x_old) with
/// Nesterov's beta and a restart whenever the last step went against the sweep's own direction,
///     sum_c D_c (x - y).(x - x_old) < 0.
/// y may leave the cone, the next sweep brings it back. Restarts by that rule alone can fall into
/// cycles: when |x - y| has not dropped for a while, a restart also comes when the steps shrink.
/// Contacts that are open and were so in the sweep before are left out, but for every eighth sweep:
/// in a flow they are most of all. What is left out stays zero, so that nothing else changes.
#include "rigid/reduced/methods.h"

#include <stdlib.h>
#include <string.h>

/// Without a drop of |x - y|^2 by 20 % in so many sweeps there is a cycle; then momentum that is
/// not young any more ends with the first step that is shorter than the one before.
enum { STALL = 150, YOUNG = 30 };
/// Sweeps between two looks at the clock.
enum { CLOCK_EVERY = 64 };
/// Every so many sweeps, and in the first ones, all contacts are swept, open or not.
enum { ALL_EVERY = 8, ALL_FIRST = 3 };

/// Energies of a sweep: sums of D |.|^2.
typedef struct sweep_sums {
    double moved; ///< x - y
    double size;  ///< x
    double along; ///< the product of x - y and x - x_old
    double step;  ///< x - x_old
} sweep_sums;

struct reduced_sweeper {
    const reduced_work* work;
    bool momentum;
    double *x, *y, *old; ///< after the sweep, before it, after the last one; x = y between sweeps
    int64_t* list;       ///< [listed] contacts that are swept; of all others x, y and old are zero
    int64_t listed;
    bool all; ///< the next sweep is over all contacts
    sweep_sums sums;
    double theta;      ///< of Nesterov's sequence
    double last_step;  ///< sums.step of the last sweep
    int64_t age;       ///< sweeps since the last restart
    double look_below; ///< size of a move, relative, below which the true measures are worth a look
    double lowest;     ///< sums.moved after its last clear drop
    int64_t lowest_at; ///< sweep of that
    int64_t count;     ///< sweeps so far
    bool cautious;
};

reduced_sweeper* reduced_sweeper_new(const reduced_work* work, bool momentum, const double* r)
{
    const size_t n = (size_t)(work->p->count * work->p->width);
    const size_t count = (size_t)work->p->count;
    reduced_sweeper* s = malloc(sizeof *s + 3 * n * sizeof(double) + count * sizeof(int64_t));
    if (!s) return NULL;
    double* numbers = (double*)(s + 1);
    *s = (reduced_sweeper){.work = work,
                           .momentum = momentum,
                           .x = numbers,
                           .y = numbers + n,
                           .old = numbers + 2 * n,
                           .list = (int64_t*)(numbers + 3 * n),
                           .all = true,
                           .theta = 1.0,
                           .last_step = INFINITY,
                           .look_below = INFINITY,
                           .lowest = INFINITY};
    memcpy(s->x, r, n * sizeof(double));
    memcpy(s->y, r, n * sizeof(double));
    memcpy(s->old, r, n * sizeof(double));
    return s;
}

void reduced_sweeper_free(reduced_sweeper* s)
{
    free(s);
}

/// A new impulse for contact c, and its share of the sums.
static ALWAYS_INLINE void sweep_contact(const int width, const reduced_sweeper* s, int64_t c,
                                        sweep_sums* sums)
{
    const reduced_problem* p = s->work->p;
    const double* own = s->work->own + c * reduced_own_size(width);
    const double *y = s->y + c * width, *old = s->old + c * width;
    double* x = s->x + c * width;
    double u[5], free[5];
    reduced_row_velocity(width, p, c, s->x, u);
    if (u[0] >= 0.0 && reduced_is_zero(width, x) && reduced_is_zero(width, old)) return;
    for (int i = 0; i < width; i++) free[i] = u[i] - vec_dot(width, own + i * width, x);
    reduced_contact(width, own, p->mu[c], width == 5 ? p->mu_r[c] : 0.0, free, x);
    for (int k = 0; k < width; k++) {
        const double D = own[k * (width + 1)], move = x[k] - y[k], step = x[k] - old[k];
        sums->moved += D * move * move;
        sums->size += D * x[k] * x[k];
        sums->along += D * move * step;
        sums->step += D * step * step;
    }
}

/// One forward sweep from y to x and the sums that steer the momentum.
static ALWAYS_INLINE void sweep_of(const int width, reduced_sweeper* s)
{
    sweep_sums sums = {0};
    if (s->all) {
        s->listed = 0;
        for (int64_t c = 0; c < s->work->p->count; c++) {
            sweep_contact(width, s, c, &sums);
            s->list[s->listed] = c;
            s->listed += !(reduced_is_zero(width, s->x + c * width) &&
                           reduced_is_zero(width, s->old + c * width) &&
                           reduced_is_zero(width, s->y + c * width));
        }
    } else {
        for (int64_t k = 0; k < s->listed; k++) sweep_contact(width, s, s->list[k], &sums);
    }
    s->sums = sums;
}

static ALWAYS_INLINE void sweep_any(reduced_sweeper* s)
{
    switch (s->work->p->width) {
    case 2: sweep_of(2, s); break;
    case 3: sweep_of(3, s); break;
    default: sweep_of(5, s); break;
    }
}

FOR_AVX2 static void sweep_avx2(reduced_sweeper* s)
{
    sweep_any(s);
}

void reduced_sweeper_go(reduced_sweeper* s, reduced_run* run, double* r)
{
    while (!reduced_run_is_done(run)) {
        if (run->iterations >= run->limit ||
            (s->count % CLOCK_EVERY == CLOCK_EVERY - 1 && reduced_run_is_late(run))) {
            reduced_keep_better(s->work, run, s->old, r);
            return;
        }
        if (s->work->avx2) {
            sweep_avx2(s);
        } else {
            sweep_any(s);
        }
        run->iterations++;
        s->count++;
        // The true measures are worth a look when a sweep moves x by no more than the tolerance,
        // and then again whenever it moves by much less.
        const double limit = fmin(s->look_below, run->tolerance);
        const double size = fmax(s->sums.size, run->least.energy);
        const bool due = !(s->sums.moved > limit * limit * size);
        if (due) {
            s->look_below = size > 0.0 ? 0.3 * sqrt(s->sums.moved / size) : 0.0;
            reduced_keep_better(s->work, run, s->x, r);
        }
        s->all = due || s->count < ALL_FIRST || s->count % ALL_EVERY == 0;
        if (s->sums.moved < 0.8 * s->lowest) { // is there a cycle?
            s->lowest = s->sums.moved;
            s->lowest_at = s->count;
        } else if (s->count - s->lowest_at > STALL) {
            s->cautious = true;
        }
        // Put y for the next sweep, x and what momentum adds, and begin it.
        const int width = s->work->p->width;
        const double theta = s->theta, next = 0.5 * theta * (sqrt(theta * theta + 4.0) - theta);
        bool restart = s->sums.along < 0.0 ||
                       (s->cautious && s->age > YOUNG && s->sums.step < s->last_step) ||
                       !s->momentum;
        double beta = restart ? 0.0 : theta * (1.0 - theta) / (theta * theta + next);
        double* keep = s->old;
        for (int64_t i = 0; i < s->listed; i++) {
            for (int64_t k = s->list[i] * width, end = k + width; k < end; k++) {
                keep[k] = s->y[k] = s->x[k] + beta * (s->x[k] - keep[k]);
            }
        }
        s->old = s->x;
        s->x = keep;
        s->last_step = s->sums.step;
        s->age = restart ? 0 : s->age + 1;
        s->theta = restart ? 1.0 : next;
    }
}

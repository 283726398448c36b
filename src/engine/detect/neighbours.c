/// Keeping a list of pairs while it holds; see neighbours.h.
///
/// With d_i how far ball i has moved since the list was made, beyond a motion common to all, a pair
/// in reach now was at most reach_i + d_i + reach_j + d_j apart then. So the list holds it if
/// reach_i + d_i <= room_i for every ball. Periodic cells change nothing in this.
///
/// How much room? A list that serves for k steps costs B/k a step for making it and, to first
/// order, C k m for looking at the pairs that k steps of motion m a step add; k = sqrt(B/(C m)) is
/// the best. Every ball gets room for its own motion in so many steps.
#include "detect/neighbours.h"

#include "base/array.h"
#include "base/parallel.h"
#include "base/vec.h"

#include <float.h>
#include <stdlib.h>

/// B/C above with motions in reaches: measured for spheres, and flat enough for all.
static const double COST_RATIO = 4.0;
/// Least and most room beyond the reach, in reaches, and that of balls not seen before.
static const double LEAST_ROOM = 0.03, MOST_ROOM = 1.0, FIRST_ROOM = 0.06;
/// Most steps to make room for; motions change.
static const double MOST_STEPS = 50.0;
/// Uses of a list after which the memory of searches is given back: what flows needs it in each
/// step.
enum { REST_AFTER = 3 };
/// Room that is left to roundings, in reaches.
static const double ROUNDING = 1e-7;

talus_status neighbours_init(neighbours* n)
{
    *n = (neighbours){.grid = grid_create(), .count = -1};
    return n->grid ? TALUS_OK : TALUS_ERR_MEMORY;
}

void neighbours_free(neighbours* n)
{
    grid_destroy(n->grid);
    pair_list_free(&n->pairs);
    free(n->position);
    free(n->room);
    free(n->mobile);
    *n = (neighbours){.count = -1};
}

static bool same_cell(const cell* x, const cell* y, int dim)
{
    for (int k = 0; k < dim; k++) {
        if (x->periodic[k] != y->periodic[k]) return false;
        if (x->periodic[k] && (x->length[k] != y->length[k] || x->low[k] != y->low[k])) {
            return false;
        }
    }
    return true;
}

/// How ball i has moved since the list was made.
static ALWAYS_INLINE void moved(const neighbours* n, const ball_set* balls, const int dim,
                                int64_t i, double d[3])
{
    vec_sub(dim, d, balls->position + i * dim, n->position + i * dim);
    cell_nearest(&n->cell, dim, d);
}

/// A motion that all balls may share, from a sample of them: a pile that falls or travels as a
/// whole keeps its list. None if some are immobile.
static void common_motion(const neighbours* n, const ball_set* balls, double common[3])
{
    enum { SAMPLE = 64 };
    const int dim = balls->dim;
    const int64_t stride = balls->count / SAMPLE + 1;
    double count = 0.0;
    bool all_mobile = true;
    for (int k = 0; k < 3; k++) common[k] = 0.0;
    for (int64_t i = 0; i < balls->count; i += stride, count++) {
        double d[3];
        all_mobile = all_mobile && balls->inv_mass[i] > 0.0;
        moved(n, balls, dim, i, d);
        vec_add_scaled(dim, common, 1.0, d);
    }
    for (int k = 0; k < dim; k++) common[k] = all_mobile && count > 0.0 ? common[k] / count : 0.0;
}

/// What the chunks of balls work on.
typedef struct room_task {
    const neighbours* n;
    const ball_set* balls;
    double common[3];
    double error; ///< of nearest images
} room_task;

/// How many of the balls [first, last) have left their room.
static ALWAYS_INLINE int64_t count_outside(const room_task* task, const int dim, int64_t first,
                                           int64_t last)
{
    const neighbours* n = task->n;
    const ball_set* balls = task->balls;
    int64_t outside = 0;
    for (int64_t i = first; i < last; i++) {
        double d[3];
        moved(n, balls, dim, i, d);
        vec_sub(dim, d, d, task->common);
        const double left = n->room[i] - (1.0 + ROUNDING) * balls->reach[i] - task->error;
        outside += !(left >= 0.0 && vec_dot(dim, d, d) <= left * left);
        outside += n->mobile[i] != (balls->inv_mass[i] > 0.0);
    }
    return outside;
}

static void add_outside(void* data, int64_t first, int64_t last, double* outside)
{
    const room_task* task = data;
    *outside += (double)(task->balls->dim == 2 ? count_outside(task, 2, first, last)
                                               : count_outside(task, 3, first, last));
}

/// Whether the list still holds every pair in reach.
static bool still_holds(const neighbours* n, const ball_set* balls, const cell* periodic,
                        int threads)
{
    const int dim = balls->dim;
    if (n->count != balls->count || n->dim != dim || !same_cell(&n->cell, periodic, dim)) {
        return false;
    }
    double longest = 0.0, outside;
    room_task task = {.n = n, .balls = balls};
    common_motion(n, balls, task.common);
    for (int k = 0; k < dim; k++) {
        if (periodic->periodic[k]) longest = fmax(longest, periodic->length[k]);
    }
    task.error = 16.0 * DBL_EPSILON * longest;
    parallel_reduce(threads, balls->count, PARALLEL_SUM, 1, add_outside, &task, &outside);
    return outside == 0.0;
}

/// Set n->room of the balls [first, last) to their motions a step while the last list served, in
/// reaches, -1 if it did not have the ball.
static void find_motions(void* data, int64_t first, int64_t last, double sums[2])
{
    const room_task* task = data;
    const neighbours* n = task->n;
    const ball_set* balls = task->balls;
    for (int64_t i = first; i < last; i++) {
        n->room[i] = -1.0;
        if (i >= n->count || n->dim != balls->dim) continue;
        double d[3];
        moved(n, balls, balls->dim, i, d);
        vec_sub(balls->dim, d, d, task->common);
        n->room[i] = vec_norm(balls->dim, d) / (balls->reach[i] * (double)(n->uses + 1));
        sums[0] += n->room[i];
        sums[1]++;
    }
}

static void find_fastest(void* data, int64_t first, int64_t last, double* most)
{
    const room_task* task = data;
    for (int64_t i = first; i < last; i++) *most = fmax(*most, task->n->room[i]);
}

/// Fill n->room with the reach of each ball and room to move. None if some ball is so fast that no
/// list can serve it.
static void make_room(neighbours* n, const ball_set* balls, int threads)
{
    double* room = n->room;
    double sums[2], most;
    room_task task = {.n = n, .balls = balls};
    if (n->count == balls->count && n->dim == balls->dim) common_motion(n, balls, task.common);
    parallel_reduce(threads, balls->count, PARALLEL_SUM, 2, find_motions, &task, sums);
    parallel_reduce(threads, balls->count, PARALLEL_MAX, 1, find_fastest, &task, &most);
    const double mean = sums[0] / (sums[1] + 1.0), best = sqrt(COST_RATIO / (mean + DBL_MIN));
    const double steps = most > MOST_ROOM ? 0.0 : fmin(best, MOST_STEPS);
#pragma omp parallel for num_threads(parallel_threads(threads, balls->count)) schedule(static)
    for (int64_t i = 0; i < balls->count; i++) {
        const double extra =
            room[i] < 0.0 ? FIRST_ROOM : fmin(LEAST_ROOM + steps * room[i], MOST_ROOM);
        room[i] = (1.0 + extra) * balls->reach[i];
    }
}

talus_status neighbours_update(neighbours* n, const ball_set* balls, const cell* periodic,
                               int threads)
{
    if (still_holds(n, balls, periodic, threads)) {
        n->uses++;
        if (n->uses == REST_AFTER) grid_give_back(n->grid);
        return TALUS_OK;
    }
    if (balls->dim != n->dim) n->capacity = 0;
    if (balls->count > n->capacity) n->count = -1; // where they were is lost
    n->dim = balls->dim;
    if (!arrays_renew(&n->capacity, balls->count, ROWS(n->position, n->dim), ARRAY(n->room),
                      ARRAY(n->mobile))) {
        return TALUS_ERR_MEMORY;
    }
    n->cell = *periodic;
    make_room(n, balls, threads);
    n->count = -1; // until it is made
    const ball_set roomy = {balls->dim, balls->count, balls->position, n->room, balls->inv_mass};
    if (grid_pairs(n->grid, &roomy, periodic, threads, &n->pairs)) return TALUS_ERR_MEMORY;
#pragma omp parallel for num_threads(parallel_threads(threads, balls->count)) schedule(static)
    for (int64_t i = 0; i < balls->count; i++) {
        vec_copy(balls->dim, n->position + i * balls->dim, balls->position + i * balls->dim);
        n->mobile[i] = balls->inv_mass[i] > 0.0;
    }
    n->count = balls->count;
    n->uses = 0;
    n->made++;
    return TALUS_OK;
}

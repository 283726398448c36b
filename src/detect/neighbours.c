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

#include "base/vec.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/// Balls that one thread looks at together. Nothing depends on it.
enum { BALL_CHUNK = 4096 };
/// B/C above with motions in reaches: measured for spheres, and flat enough for all.
static const double COST_RATIO = 4.0;
/// Least and most room beyond the reach, in reaches, and that of balls not seen before.
static const double LEAST_ROOM = 0.03, MOST_ROOM = 1.0, FIRST_ROOM = 0.06;
/// Most steps to make room for; motions change.
static const double MOST_STEPS = 50.0;
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

static bool reserve(neighbours* n, int64_t count, int dim)
{
    if (count <= n->capacity && dim == n->dim) return true;
    const int64_t grown = count + count / 10 + 16;
    free(n->position);
    free(n->room);
    free(n->mobile);
    n->position = malloc(sizeof *n->position * (size_t)(grown * dim));
    n->room = malloc(sizeof *n->room * (size_t)grown);
    n->mobile = malloc((size_t)grown);
    const bool good = n->position && n->room && n->mobile;
    n->capacity = good ? grown : 0;
    n->dim = dim;
    return good;
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

static ALWAYS_INLINE bool within_room(const neighbours* n, const ball_set* balls, const int dim,
                                      const double common[3], double error, int64_t first,
                                      int64_t end)
{
    int64_t outside = 0;
    for (int64_t i = first; i < end; i++) {
        double d[3];
        moved(n, balls, dim, i, d);
        vec_sub(dim, d, d, common);
        const double left = n->room[i] - (1.0 + ROUNDING) * balls->reach[i] - error;
        outside += !(left >= 0.0 && vec_dot(dim, d, d) <= left * left);
        outside += n->mobile[i] != (balls->inv_mass[i] > 0.0);
    }
    return outside == 0;
}

/// Whether the list still holds every pair in reach.
static bool still_holds(const neighbours* n, const ball_set* balls, const cell* periodic,
                        int threads)
{
    const int dim = balls->dim;
    const int64_t chunks = (balls->count + BALL_CHUNK - 1) / BALL_CHUNK;
    if (n->count != balls->count || n->dim != dim || !same_cell(&n->cell, periodic, dim)) {
        return false;
    }
    double common[3], longest = 0.0;
    common_motion(n, balls, common);
    for (int k = 0; k < dim; k++) {
        if (periodic->periodic[k]) longest = fmax(longest, periodic->length[k]);
    }
    const double error = 16.0 * DBL_EPSILON * longest; // of nearest images
    int64_t broken = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : broken) if (chunks > 1)
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t first = c * BALL_CHUNK, last = first + BALL_CHUNK;
        const int64_t end = last < balls->count ? last : balls->count;
        broken += dim == 2 ? !within_room(n, balls, 2, common, error, first, end)
                           : !within_room(n, balls, 3, common, error, first, end);
    }
    return broken == 0;
}

/// Motion of ball i a step while the last list served, in reaches; negative if it was not there.
static double motion_of(const neighbours* n, const ball_set* balls, int64_t i,
                        const double common[3])
{
    double d[3];
    if (i >= n->count || n->dim != balls->dim) return -1.0;
    moved(n, balls, balls->dim, i, d);
    vec_sub(balls->dim, d, d, common);
    return vec_norm(balls->dim, d) / (balls->reach[i] * (double)(n->uses + 1));
}

/// Fill `room` with the reach of each ball and room to move. None if some ball is so fast that no
/// list can serve it.
static void make_room(const neighbours* n, const ball_set* balls, double* room)
{
    double common[3] = {0.0, 0.0, 0.0}, sum = 0.0, most = 0.0, seen = 0.0;
    if (n->count == balls->count && n->dim == balls->dim) common_motion(n, balls, common);
    for (int64_t i = 0; i < balls->count; i++) {
        const double motion = room[i] = motion_of(n, balls, i, common);
        if (motion < 0.0) continue;
        most = motion > most ? motion : most;
        sum += motion;
        seen++;
    }
    const double mean = sum / (seen + 1.0), best = sqrt(COST_RATIO / (mean + DBL_MIN));
    const double steps = most > MOST_ROOM ? 0.0 : fmin(best, MOST_STEPS);
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
        return TALUS_OK;
    }
    if (balls->count > n->capacity || balls->dim != n->dim) n->count = -1;
    if (!reserve(n, balls->count, balls->dim)) return TALUS_ERR_MEMORY;
    n->cell = *periodic;
    make_room(n, balls, n->room);
    n->count = -1; // until it is made
    const ball_set roomy = {balls->dim, balls->count, balls->position, n->room, balls->inv_mass};
    if (grid_pairs(n->grid, &roomy, periodic, threads, &n->pairs)) return TALUS_ERR_MEMORY;
    const size_t numbers = (size_t)(balls->count * balls->dim);
    if (numbers > 0) memcpy(n->position, balls->position, sizeof(double) * numbers);
    for (int64_t i = 0; i < balls->count; i++) n->mobile[i] = balls->inv_mass[i] > 0.0;
    n->count = balls->count;
    n->uses = 0;
    n->made++;
    return TALUS_OK;
}

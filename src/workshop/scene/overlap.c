/// Overlapping pairs: balls enter a grid from large to small, each asking those already there.
///
/// A ball so meets only its equals and larger ones, of which few fit near it, and each pair is seen
/// once. Sorting makes it O(n log n) with a small factor.
#include "scene/overlap.h"

#include <stdlib.h>

#include "base/error.h"
#include "scene/generate_grid.h"

typedef struct ranked {
    double radius;
    int64_t row;
} ranked;

typedef struct search {
    const ranked* order;
    int64_t self; ///< position in `order` of the ball that asks
    double tolerance;
    overlap_exact_fn* exact;
    const void* user;
    overlap_pair* pairs;
    int64_t capacity, found;
} search;

static int by_radius(const void* pa, const void* pb)
{
    const ranked *a = pa, *b = pb;
    if (a->radius != b->radius) return a->radius > b->radius ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool pair_before(const overlap_pair* p, const overlap_pair* q)
{
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static bool on_overlap(void* user, int64_t ball, const double delta[3], double distance)
{
    search* s = user;
    const ranked *me = &s->order[s->self], *other = &s->order[ball];
    double sum = me->radius + other->radius;
    overlap_pair pair = {.a = me->row, .b = other->row, .depth = sum - distance};
    if (pair.depth <= s->tolerance * sum) return true;
    if (s->exact) pair.depth = s->exact(s->user, me->row, other->row, delta);
    if (pair.depth <= s->tolerance * sum) return true;
    if (pair.b < pair.a) pair = (overlap_pair){pair.b, pair.a, pair.depth};
    // Keep the first `capacity` pairs in order.
    int64_t kept = s->found < s->capacity ? s->found : s->capacity;
    s->found++;
    if (kept == s->capacity) {
        if (kept == 0 || !pair_before(&pair, &s->pairs[kept - 1])) return true;
        kept--;
    }
    for (; kept > 0 && pair_before(&pair, &s->pairs[kept - 1]); kept--) {
        s->pairs[kept] = s->pairs[kept - 1];
    }
    s->pairs[kept] = pair;
    return true;
}

talus_status overlaps_find(const double* positions, const double* radii, int64_t n, int dim,
                           const cell* c, double tolerance, overlap_exact_fn* exact,
                           const void* user, overlap_pair* pairs, int64_t capacity, int64_t* found,
                           talus_error* error)
{
    *found = 0;
    if (n == 0) return TALUS_OK;
    ranked* order = malloc((size_t)n * sizeof *order);
    if (!order) return error_memory(error, "overlap search");
    for (int64_t i = 0; i < n; i++) order[i] = (ranked){radii[i], i};
    qsort(order, (size_t)n, sizeof *order, by_radius);

    search s = {.order = order,
                .tolerance = tolerance,
                .exact = exact,
                .user = user,
                .pairs = pairs,
                .capacity = capacity};
    ball_grid grid;
    talus_status status = ball_grid_init(&grid, dim, c, order[0].radius, error);
    for (; status == TALUS_OK && s.self < n; s.self++) {
        const ranked* me = &order[s.self];
        const double* centre = positions + me->row * dim;
        ball_grid_visit(&grid, centre, me->radius, 0.0, on_overlap, &s);
        status = ball_grid_add(&grid, centre, me->radius, error);
    }
    ball_grid_free(&grid);
    free(order);
    *found = s.found;
    return status;
}

/// Filling the packed rows; see bodies.h.
#include "soft/bodies.h"

#include "base/array.h"
#include "base/parallel.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void soft_bodies_free(soft_bodies* b)
{
    free(b->row);
    free(b->step);
    free(b->listed);
    *b = (soft_bodies){0};
}

talus_status soft_bodies_list(soft_bodies* b, const grains* g, const soft_places* o)
{
    const int dim = g->dim;
    if (!arrays_renew(&b->capacity, g->count + 2, ROWS(b->row, soft_row(dim)),
                      ROWS(b->step, soft_step(dim)), ROWS(b->listed, dim))) {
        return TALUS_ERR_MEMORY;
    }
    b->dim = dim;
    b->count = g->count;
    for (int64_t p = 0; p < g->count; p++) {
        vec_copy(dim, b->listed + p * dim, g->position + o->row_of[p] * dim);
    }
    return TALUS_OK;
}

/// What the chunks of grains work on.
typedef struct fill_task {
    soft_bodies* b;
    const grains* g;
    const soft_places* o;
    const cell* periodic;
    bool moving;
} fill_task;

static ALWAYS_INLINE void fill_row(const fill_task* t, const int dim, int64_t p, double* far2)
{
    const grains* g = t->g;
    const int64_t row = t->o->row_of[p];
    const int stride = soft_row(dim);
    double* out = t->b->row + p * stride;
    const double* x = g->position + row * dim;
    double d[3];
    vec_sub(dim, d, x, t->b->listed + p * dim);
    cell_nearest(t->periodic, dim, d);
    const double moved = vec_dot(dim, d, d);
    *far2 = moved > *far2 ? moved : *far2;
    vec_copy(dim, out, x);
    out[dim] = g->radius[row];
    if (dim == 2) {
        out[3] = 0.0;
        vec_copy(2, out + 4, g->velocity + 2 * row);
        out[6] = g->spin[row];
        out[7] = 0.0;
    } else {
        vec_copy(3, out + 4, g->velocity + 3 * row);
        out[7] = 0.0;
        vec_copy(3, out + 8, g->spin + 3 * row);
        out[11] = 0.0;
    }
    if (!t->moving) return;
    double* step = t->b->step + p * soft_step(dim);
    vec_copy(dim, step, g->moved + row * dim);
    if (dim == 2) {
        step[2] = g->turned[row];
        step[3] = 0.0;
    } else {
        step[3] = step[7] = 0.0;
        vec_copy(3, step + 4, g->turned + 3 * row);
    }
}

/// Rows may be anywhere: the memory is told so many places before.
enum { AHEAD = 16 };

static ALWAYS_INLINE double fill_some(const fill_task* t, const int dim, int64_t first,
                                      int64_t last)
{
    const grains* g = t->g;
    double farthest = 0.0;
    for (int64_t p = first; p < last; p++) {
        const int64_t ahead = t->o->row_of[p + AHEAD < last ? p + AHEAD : last - 1];
        __builtin_prefetch(g->position + ahead * dim);
        __builtin_prefetch(g->velocity + ahead * dim);
        __builtin_prefetch(g->spin + ahead * spin_width(dim));
        __builtin_prefetch(g->radius + ahead);
        fill_row(t, dim, p, &farthest);
    }
    return farthest;
}

static void fill_rows(void* data, int64_t first, int64_t last, double* far2)
{
    const fill_task* t = data;
    *far2 = t->g->dim == 2 ? fill_some(t, 2, first, last) : fill_some(t, 3, first, last);
}

void soft_bodies_fill(soft_bodies* b, const grains* g, const soft_places* o, const cell* periodic,
                      bool moving, int threads, double* farthest)
{
    fill_task task = {b, g, o, periodic, moving};
    double far2;
    parallel_reduce(threads, b->count, PARALLEL_MAX, 1, fill_rows, &task, &far2);
    // The two rows of the pairs that are not there.
    const int row = soft_row(b->dim), step = soft_step(b->dim);
    double* nobody = b->row + b->count * row;
    memset(nobody, 0, sizeof(double) * (size_t)(2 * row));
    nobody[row] = 1.0;
    memset(b->step + b->count * step, 0, sizeof(double) * (size_t)(2 * step));
    *farthest = sqrt(fmax(far2, 0.0));
}

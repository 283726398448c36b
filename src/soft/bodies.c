/// Filling the packed rows; see bodies.h.
#include "soft/bodies.h"

#include "base/parallel.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void soft_bodies_free(soft_bodies* b)
{
    free(b->row);
    free(b->step);
    free(b->ghost);
    free(b->listed);
    free(b->image);
    *b = (soft_bodies){0};
}

talus_status soft_bodies_list(soft_bodies* b, const grains* g, const soft_order* o)
{
    const int dim = g->dim;
    if (g->count > b->listed_capacity) {
        const int64_t room = capacity_for(g->count);
        free(b->listed);
        free(b->image);
        b->listed = malloc(sizeof *b->listed * (size_t)(room * dim));
        b->image = malloc(sizeof *b->image * (size_t)(room * dim));
        b->listed_capacity = b->listed && b->image ? room : 0;
        if (b->listed_capacity == 0) return TALUS_ERR_MEMORY;
    }
    b->dim = dim;
    b->count = g->count;
    b->ghost_count = 0;
    for (int64_t p = 0; p < g->count; p++) {
        const int64_t row = o->row_of[p];
        vec_copy(dim, b->listed + p * dim, g->position + row * dim);
        for (int k = 0; k < dim; k++) b->image[p * dim + k] = g->image[row * dim + k];
    }
    return TALUS_OK;
}

int64_t soft_bodies_ghost(soft_bodies* b, int32_t place, const int8_t shift[3])
{
    if (shift[0] == 0 && shift[1] == 0 && shift[2] == 0) return place;
    // Pairs come by ascending first body: the same ghost is often among the last made.
    enum { LOOK_BACK = 32 };
    for (int64_t k = 1; k <= LOOK_BACK && k <= b->ghost_count; k++) {
        const soft_ghost* old = &b->ghost[b->ghost_count - k];
        if (old->place == place && memcmp(old->shift, shift, 3) == 0) {
            return b->count + b->ghost_count - k;
        }
    }
    if (b->ghost_count == b->ghost_capacity) {
        const int64_t room = capacity_for(b->ghost_count + 1);
        soft_ghost* grown = realloc(b->ghost, sizeof *grown * (size_t)room);
        if (!grown) return -1;
        b->ghost = grown;
        b->ghost_capacity = room;
    }
    soft_ghost* made = &b->ghost[b->ghost_count];
    *made = (soft_ghost){.place = place, .shift = {shift[0], shift[1], shift[2]}};
    return b->count + b->ghost_count++;
}

static bool reserve(soft_bodies* b, int64_t rows)
{
    if (rows <= b->capacity) return true;
    const int64_t room = capacity_for(rows);
    free(b->row);
    free(b->step);
    b->row = aligned_alloc(64, sizeof(double) * (size_t)(room * SOFT_ROW_3D + 8) / 64 * 64);
    b->step = aligned_alloc(64, sizeof(double) * (size_t)(room * SOFT_STEP_3D + 8) / 64 * 64);
    b->capacity = b->row && b->step ? room : 0;
    return b->capacity > 0;
}

/// What the chunks of grains work on.
typedef struct fill_task {
    soft_bodies* b;
    const grains* g;
    const soft_order* o;
    const cell* periodic;
    bool moving;
} fill_task;

/// Position of a grain that goes on across the borders of the cell.
static ALWAYS_INLINE void unwrapped(const fill_task* t, const int dim, int64_t p, int64_t row,
                                    double x[3])
{
    const cell* c = t->periodic;
    for (int k = 0; k < dim; k++) {
        x[k] = t->g->position[row * dim + k];
        if (!c->periodic[k]) continue;
        x[k] += c->length[k] * (double)(t->g->image[row * dim + k] - t->b->image[p * dim + k]);
    }
}

static ALWAYS_INLINE void fill_row(const fill_task* t, const int dim, int64_t p, double* far2)
{
    const grains* g = t->g;
    const int64_t row = t->o->row_of[p];
    const int stride = dim == 2 ? SOFT_ROW_2D : SOFT_ROW_3D;
    double* out = t->b->row + p * stride;
    double x[3], d[3];
    unwrapped(t, dim, p, row, x);
    vec_sub(dim, d, x, t->b->listed + p * dim);
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
    double* step = t->b->step + p * (dim == 2 ? SOFT_STEP_2D : SOFT_STEP_3D);
    vec_copy(dim, step, g->moved + row * dim);
    if (dim == 2) {
        step[2] = g->turned[row];
        step[3] = 0.0;
    } else {
        step[3] = step[7] = 0.0;
        vec_copy(3, step + 4, g->turned + 3 * row);
    }
}

static void fill_rows(void* data, int64_t first, int64_t last, double* far2)
{
    const fill_task* t = data;
    double farthest = 0.0;
    if (t->g->dim == 2) {
        for (int64_t p = first; p < last; p++) fill_row(t, 2, p, &farthest);
    } else {
        for (int64_t p = first; p < last; p++) fill_row(t, 3, p, &farthest);
    }
    *far2 = farthest;
}

static void fill_ghosts(const fill_task* t)
{
    soft_bodies* b = t->b;
    const int dim = b->dim, row = soft_row(dim), step = soft_step(dim);
    for (int64_t i = 0; i < b->ghost_count; i++) {
        const soft_ghost* ghost = &b->ghost[i];
        double* out = b->row + (b->count + i) * row;
        memcpy(out, b->row + (int64_t)ghost->place * row, sizeof(double) * (size_t)row);
        for (int k = 0; k < dim; k++) {
            if (ghost->shift[k] != 0) out[k] += ghost->shift[k] * t->periodic->length[k];
        }
        if (!t->moving) continue;
        memcpy(b->step + (b->count + i) * step, b->step + (int64_t)ghost->place * step,
               sizeof(double) * (size_t)step);
    }
    double* nobody = b->row + (b->count + b->ghost_count) * row;
    memset(nobody, 0, sizeof(double) * (size_t)(2 * row));
    nobody[row] = 1.0;
    memset(b->step + (b->count + b->ghost_count) * step, 0, sizeof(double) * (size_t)(2 * step));
}

talus_status soft_bodies_fill(soft_bodies* b, const grains* g, const soft_order* o,
                              const cell* periodic, bool moving, int threads, double* farthest)
{
    if (!reserve(b, b->count + b->ghost_count + 2)) return TALUS_ERR_MEMORY;
    fill_task task = {b, g, o, periodic, moving};
    double far2;
    parallel_reduce(threads, b->count, PARALLEL_MAX, 1, fill_rows, &task, &far2);
    fill_ghosts(&task);
    *farthest = sqrt(fmax(far2, 0.0));
    return TALUS_OK;
}

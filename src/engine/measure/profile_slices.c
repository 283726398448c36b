/// Slices across an axis: exact parts of grains, shares of branch vectors.
#include "base/error.h"
#include "base/vec.h"
#include "measure/profile.h"
#include "measure/tensor.h"

#include <stdlib.h>
#include <string.h>

talus_status profile_slices_make(profile_task* t, double* volume)
{
    const domain* d = t->domain;
    const int count = d->count + 2;
    t->side = calloc((size_t)t->bins * (size_t)count, sizeof *t->side);
    t->space = calloc((size_t)t->bins, sizeof *t->space);
    if (!t->side || !t->space) return TALUS_ERR_MEMORY;
    for (int b = 0; b < t->bins; b++) {
        half_space* side = t->side + (int64_t)b * count;
        memcpy(side, d->side, sizeof *side * (size_t)d->count);
        side[d->count].normal[t->axis] = -1.0;
        side[d->count].offset = -(t->low + b * t->width);
        side[d->count + 1].normal[t->axis] = 1.0;
        side[d->count + 1].offset = t->low + (b + 1) * t->width;
        TRY(convex_cell_copy(&t->space[b], &d->space));
        for (int i = d->count; i < count; i++) {
            TRY(convex_cell_cut(&t->space[b], side[i].normal, side[i].offset, -1));
        }
        volume[b] =
            convex_cell_is_empty(&t->space[b]) ? 0.0 : convex_cell_volume(&t->space[b], NULL);
    }
    return TALUS_OK;
}

/// Slices that the interval from..to touches.
static void slices_of(const profile_task* t, double from, double to, int* first, int* last)
{
    *first = (int)fmin(fmax(0.0, floor((from - t->low) / t->width)), t->bins);
    *last = (int)fmax(fmin(t->bins - 1.0, floor((to - t->low) / t->width)), -1.0);
}

/// One image of a grain: where no other side cuts a ball, its parts are differences of caps.
static talus_status add_image(const profile_task* t, int64_t row, const double shift[3],
                              clip_memory* memory, profile_sum* sums)
{
    const domain* d = t->domain;
    const grains* g = d->grains;
    const double r = g->radius[row];
    const clip_space whole = {d, d->side, d->count, &d->space};
    double x[3] = {0};
    int first, last;
    for (int k = 0; k < t->dim; k++) x[k] = g->position[row * t->dim + k] + shift[k];
    const double height = x[t->axis];
    const bool plain = g->solid[row] < 0 && ball_is_within(&whole, x, r);
    slices_of(t, height - r, height + r, &first, &last);
    for (int b = first; b <= last; b++) {
        const double from = t->low + b * t->width - height;
        double part;
        if (plain) {
            part = ball_below(t->dim, r, from + t->width) - ball_below(t->dim, r, from);
        } else {
            const int sides = d->count + 2;
            const clip_space slice = {d, t->side + (int64_t)b * sides, sides, &t->space[b]};
            TRY(grain_clipped_volume(g, row, shift, &slice, memory, &part));
        }
        if (part > 0.0) {
            profile_add(t, row, part, g->velocity + row * t->dim,
                        g->spin + row * spin_width(t->dim), &sums[b]);
        }
    }
    return TALUS_OK;
}

talus_status profile_slice_grain(const profile_task* t, int64_t row, clip_memory* memory,
                                 profile_sum* sums)
{
    const domain* d = t->domain;
    const double* x = d->grains->position + row * t->dim;
    const image_range range = domain_images(d, x, d->grains->radius[row], t->box_low, t->box_high);
    int at[3];
    if (!image_first(&range, at)) return TALUS_OK;
    do {
        double shift[3];
        image_shift(d, at, shift);
        TRY(add_image(t, row, shift, memory, sums));
    } while (image_next(&range, at));
    return TALUS_OK;
}

/// Share of a branch in each slice.
void profile_slice_branch(const profile_task* t, const profile_branch* p, const double* force,
                          double* stress)
{
    const double height = p->start[t->axis], rise = p->branch[t->axis];
    const double from = height + rise * p->from, to = height + rise * p->to;
    int first, last;
    slices_of(t, fmin(from, to), fmax(from, to), &first, &last);
    for (int b = first; b <= last; b++) {
        const double low = t->low + b * t->width, high = low + t->width;
        const double part = fmin(fmax(from, to), high) - fmax(fmin(from, to), low);
        double share = p->to - p->from;
        // A branch along the slices is all in one.
        if (from != to) share *= fmax(part, 0.0) / fabs(to - from);
        tensor_add(t->dim, stress + 9 * b, share, force, p->branch);
    }
}

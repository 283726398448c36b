/// Regions: what is inside, and how large they are.
#include "measure/region.h"

#include "base/error.h"
#include "base/vec.h"
#include "measure/strays.h"

#include <math.h>
#include <stdlib.h>

talus_region talus_region_default(void)
{
    return (talus_region){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
}

talus_status measure_box_in_cell(int dim, const cell* periodic, const talus_region* region,
                                 measure_box* out, talus_error* error)
{
    *out = (measure_box){.dim = dim};
    for (int k = 0; k < out->dim; k++) {
        const double low = region->low[k], high = region->high[k];
        if (!(low < high)) { // or one of them is NaN
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "region: along %c it must end above its beginning, got %g to %g",
                             axis_letter(k), low, high);
        }
        out->low[k] = low;
        out->high[k] = high;
        out->limited[k] = isfinite(low) || isfinite(high);
        if (!periodic->periodic[k]) continue;
        // A periodic axis is finite: an end that is not given is that of the cell.
        const double start = periodic->low[k], length = periodic->length[k];
        out->period[k] = length;
        if (!isfinite(out->low[k])) out->low[k] = start;
        if (!isfinite(out->high[k])) out->high[k] = start + length;
        out->limited[k] = out->high[k] - out->low[k] < length;
        if (!out->limited[k]) out->high[k] = out->low[k] + length;
    }
    return TALUS_OK;
}

talus_status measure_box_set(const talus_world* world, const talus_region* region, measure_box* out,
                             talus_error* error)
{
    return measure_box_in_cell(world->state.grains.dim, &world->state.cell, region, out, error);
}

bool measure_box_holds(const measure_box* box, const double* x)
{
    for (int k = 0; k < box->dim; k++) {
        if (!box->limited[k]) continue;
        const double period = box->period[k];
        double y = x[k];
        if (period > 0.0) y -= period * floor((y - box->low[k]) / period);
        if (!(y >= box->low[k] && y < box->high[k])) return false;
    }
    return true;
}

// ---- sizes -------------------------------------------------------------------------------------

static void stretch(double x, double reach, double* low, double* high)
{
    *low = fmin(*low, x - reach);
    *high = fmax(*high, x + reach);
}

void measure_box_stretch(const grains* g, int64_t row, double* low, double* high)
{
    const int dim = g->dim;
    const double* centre = g->position + row * dim;
    if (g->solid[row] < 0) {
        for (int k = 0; k < dim; k++) stretch(centre[k], g->radius[row], &low[k], &high[k]);
        return;
    }
    const solid* s = grain_solid(g, row);
    const double scale = g->scale[row];
    double axes[9];
    grain_axes(g, row, axes);
    for (int part = 0; part < s->part_count; part++) {
        for (int v = 0; v < s->part[part].vertex_count; v++) {
            const double* corner = s->part[part].vertex + v * dim;
            for (int k = 0; k < dim; k++) {
                const double x = centre[k] + scale * vec_dot(dim, axes + 3 * k, corner);
                stretch(x, scale * s->skin, &low[k], &high[k]);
            }
        }
    }
}

/// Box around the grains that have not strayed, of `only_free` ones alone if that is so, in low and
/// high; these stay as they are if no grain has.
static talus_status box_of_gathered(const grains* g, bool only_free, double low[3], double high[3],
                                    talus_error* error)
{
    int64_t strays;
    uint8_t* stray = calloc((size_t)g->count + 1, sizeof *stray);
    const talus_status status =
        stray ? measure_strays(g, stray, &strays, error) : error_memory(error, "measuring");
    if (status == TALUS_OK && strays > 0) {
        for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
        for (int64_t i = 0; i < g->count; i++) {
            const bool counts = !only_free || g->glued_to[i] == GRAIN_FREE;
            if (counts && !stray[i]) measure_box_stretch(g, i, low, high);
        }
    }
    free(stray);
    return status;
}

talus_status measure_box_of_gathered(const grains* g, double low[3], double high[3],
                                     talus_error* error)
{
    return box_of_gathered(g, false, low, high, error);
}

talus_status measure_box_leave_strays(const talus_world* world, measure_box* box,
                                      talus_error* error)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    TRY(box_of_gathered(&world->state.grains, true, low, high, error));
    if (!(low[0] < high[0])) return TALUS_OK; // none has strayed
    for (int k = 0; k < box->dim; k++) {
        if (!isfinite(box->low[k])) box->low[k] = low[k];
        if (!isfinite(box->high[k])) box->high[k] = high[k];
        // Grains and contacts beyond a region that was given stay beyond it.
        if (box->period[k] == 0.0) box->limited[k] = true;
    }
    return TALUS_OK;
}

double measure_box_volume(const talus_world* world, const measure_box* box)
{
    const grains* g = &world->state.grains;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    bool open = false;
    for (int k = 0; k < box->dim; k++) open |= !isfinite(box->low[k]) || !isfinite(box->high[k]);
    for (int64_t i = 0; i < g->count && open; i++) {
        if (g->glued_to[i] == GRAIN_FREE) measure_box_stretch(g, i, low, high);
    }
    double volume = 1.0;
    for (int k = 0; k < box->dim; k++) {
        const double from = isfinite(box->low[k]) ? box->low[k] : low[k];
        const double to = isfinite(box->high[k]) ? box->high[k] : high[k];
        volume *= fmax(to - from, 0.0);
    }
    return volume;
}

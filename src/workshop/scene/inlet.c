/// Pouring through a box at a rate: the debt grows with time, grains are placed while it lasts.
///
/// Grain number p has its size from the random key (seed, source, 2p) and draw number a its spot
/// from (seed, source, 2a + 1): the state is three numbers, and a grain that waits keeps its size.
#include "scene/inlet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "scene/generate_grid.h"
#include "scene/generate_region.h"

struct inlet {
    inlet_def def;
    generate_context context;
    region_def box;
    sizes* sizes;
};

inlet_def inlet_default(void)
{
    return (inlet_def){
        .limit = -1, .tries = 200, .sizes = sizes_default(), .grain = talus_grain_default()};
}

static talus_status check_inlet(const inlet* in, talus_error* error)
{
    const inlet_def* d = &in->def;
    TRY(region_check(&in->box, in->context.dim, error));
    if (!(isfinite(d->rate) && d->rate > 0.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "inlet: rate must be a number > 0, not %g",
                         d->rate);
    }
    if (d->tries < 1 || d->limit < -1) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "inlet: tries must be 1 or more and limit -1 (none) or more");
    }
    double largest = sizes_largest(in->sizes), centre[3];
    rng r = rng_make(0, 0, 0);
    if (!region_draw(&in->box, &in->context.cell, in->context.dim, largest, &r, centre)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "inlet: the box is too small for the largest grain (diameter %g)",
                         2.0 * largest);
    }
    return TALUS_OK;
}

talus_status inlet_create(const inlet_def* def, const generate_context* context, inlet** out,
                          talus_error* error)
{
    inlet* in = calloc(1, sizeof *in);
    if (!in) return error_memory(error, "inlet");
    in->def = *def;
    in->context = *context;
    in->box.kind = REGION_BOX;
    vec_copy(3, in->box.low, def->low);
    vec_copy(3, in->box.high, def->high);
    talus_status status = sizes_create(&def->sizes, context->dim, &in->sizes, error);
    if (status == TALUS_OK) status = check_inlet(in, error);
    if (status == TALUS_OK)
        *out = in;
    else
        inlet_destroy(in);
    return status;
}

void inlet_destroy(inlet* in)
{
    if (in) sizes_destroy(in->sizes);
    free(in);
}

/// The next grain, all but its place, and what it costs in units of the rate.
static talus_grain_def next_grain(const inlet* in, const inlet_state* state, double* cost)
{
    const generate_context* c = &in->context;
    uint64_t number = (uint64_t)state->poured;
    rng r = rng_make(c->seed, c->source, 2 * number);
    talus_grain_def g = in->def.grain;
    g.radius = sizes_draw(in->sizes, &r);
    shape_choice_apply(&in->def.shape, c->dim, c->seed, c->source, number, &g);
    double volume = shape_volume(in->def.shape.table, c->dim, &g);
    *cost = in->def.by_mass ? (g.mass > 0.0 ? g.mass : g.density * volume) : 1.0;
    return g;
}

/// Whether a grain touches the inlet's box, in any of its periodic images.
static bool near_box(const inlet* in, const double* x, double radius)
{
    for (int k = 0; k < in->context.dim; k++) {
        double middle = 0.5 * (in->box.low[k] + in->box.high[k]);
        double half = 0.5 * (in->box.high[k] - in->box.low[k]);
        double delta = x[k] - middle;
        if (in->context.cell.periodic[k]) {
            delta -= in->context.cell.length[k] * rint(delta / in->context.cell.length[k]);
        }
        if (fabs(delta) > half + radius) return false;
    }
    return true;
}

static bool find_spot(const inlet* in, const generate_context* context, const ball_grid* grid,
                      double radius, inlet_state* state, double x[3])
{
    for (int64_t i = 0; i < in->def.tries; i++) {
        uint64_t draw = (uint64_t)state->attempts++;
        rng r = rng_make(context->seed, context->source, 2 * draw + 1);
        region_draw(&in->box, &context->cell, context->dim, radius, &r, x);
        if (ball_grid_clear(grid, x, radius, 0.0) && generate_allowed(context, x, radius)) {
            return true;
        }
    }
    return false;
}

static bool is_due(const inlet* in, const inlet_state* state, double cost)
{
    return state->owed >= cost && (in->def.limit < 0 || state->poured < in->def.limit);
}

/// Place grains until the debt is paid or one finds no spot.
static talus_status pour_due(const inlet* in, const generate_context* context, ball_grid* grid,
                             inlet_state* state, grain_list* out, inlet_report* report,
                             talus_error* error)
{
    double cost, x[3];
    talus_grain_def grain = next_grain(in, state, &cost);
    while (is_due(in, state, cost)) {
        report->due++;
        if (!find_spot(in, context, grid, grain.radius, state, x)) {
            report->blocked = true;
            snprintf(report->reason, sizeof report->reason,
                     "inlet blocked: no free spot for a grain of diameter %g in %lld tries",
                     2.0 * grain.radius, (long long)in->def.tries);
            return TALUS_OK;
        }
        TRY(ball_grid_add(grid, x, grain.radius, error));
        vec_copy(3, grain.position, grid->balls[grid->count - 1].centre);
        TRY(grain_list_add(out, &grain, error));
        state->owed -= cost;
        state->poured++;
        report->placed++;
        grain = next_grain(in, state, &cost);
    }
    return TALUS_OK;
}

talus_status inlet_pour(const inlet* in, double h, const double* positions, const double* radii,
                        int64_t n, generate_allowed_fn* allowed, const void* allowed_user,
                        inlet_state* state, grain_list* out, inlet_report* report,
                        talus_error* error)
{
    inlet_report unused, *facts = report ? report : &unused;
    memset(facts, 0, sizeof *facts);
    if (in->def.limit >= 0 && state->poured >= in->def.limit) return TALUS_OK;
    state->owed += in->def.rate * h;
    double cost;
    next_grain(in, state, &cost);
    if (!is_due(in, state, cost)) return TALUS_OK;

    generate_context context = in->context;
    context.allowed = allowed;
    context.allowed_user = allowed_user;
    ball_grid grid;
    talus_status status =
        ball_grid_init(&grid, context.dim, &context.cell, sizes_largest(in->sizes), error);
    for (int64_t i = 0; status == TALUS_OK && i < n; i++) {
        const double* x = positions + i * context.dim;
        if (near_box(in, x, radii[i])) status = ball_grid_add(&grid, x, radii[i], error);
    }
    if (status == TALUS_OK) {
        status = pour_due(in, &context, &grid, state, out, facts, error);
    }
    ball_grid_free(&grid);
    return status;
}

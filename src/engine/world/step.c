/// Stepping a world: its method, and steps of either.
///
/// A step attempt ends in one of three ways (after SUNDIALS): go on, try again with a smaller step,
/// fail. Numerical outcomes are facts in the result; which of them fails the step is the user's
/// choice.
#include "base/clock.h"
#include "base/error.h"
#include "detect/passage.h"
#include "world/steps.h"

#include <math.h>

// ---- the method --------------------------------------------------------------------------------

talus_status world_make_method(talus_world* w, talus_error* error)
{
    switch (w->def.method) {
    case TALUS_METHOD_SOFT:
        w->why_no_card = soft_particles_why_no_card;
        w->card_worth = SOFT_PARTICLES_CARD_WORTH;
        return soft_particles_create(&w->soft, w->def.dim, error);
    default:
        w->why_no_card = contact_dynamics_why_no_card;
        w->card_worth = CONTACT_DYNAMICS_CARD_WORTH;
        return contact_dynamics_create(&w->rigid, w->def.dim, error);
    }
}

void world_free_method(talus_world* w)
{
    soft_particles_destroy(w->soft);
    contact_dynamics_destroy(w->rigid);
}

talus_status world_renew_method(talus_world* w, talus_error* error)
{
    contact_dynamics* rigid = w->rigid;
    soft_particles* soft = w->soft;
    const talus_status status = world_make_method(w, error);
    if (status < 0) {
        w->rigid = rigid;
        w->soft = soft;
        return status;
    }
    contact_dynamics_destroy(rigid);
    soft_particles_destroy(soft);
    return TALUS_OK;
}

bool world_cpu_takes_over(talus_world* w, const talus_error* failure)
{
    if (!device_may_give_up(&w->device) || world_renew_method(w, NULL) < 0) return false;
    device_give_up(&w->device, w->state.time, failure, &w->log);
    return true;
}

step_order world_order_step(talus_world* w, double h)
{
    return (step_order){.state = &w->state,
                        .options = &w->def,
                        .h = h,
                        .threads = w->pace.threads,
                        .card = w->device.now,
                        .totals = &w->totals};
}

// ---- steps -------------------------------------------------------------------------------------

double talus_world_safe_step(const talus_world* world)
{
    return passage_safe_step(&world->state);
}

/// What a step of rigid grains costs, in updates of contacts: all that is not sweeps is worth some
/// eighty of them (docs/performance-internals.md, What a step is made of).
static double work_of(const talus_world* w, const talus_step_result* r)
{
    enum { SWEEPS_WORTH = 80 };
    const double each = (double)(SWEEPS_WORTH * r->contacts + w->state.grains.count);
    return (double)r->updates + (double)r->substeps * each;
}

talus_status talus_world_steps(talus_world* world, double h, int64_t count,
                               talus_step_result* result, talus_error* error)
{
    if (!(h > 0.0) || !isfinite(h)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "the time step must be positive, got %g", h);
    }
    if (count < 1) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "the number of steps must be at least 1, got %lld", (long long)count);
    }
    const card_use use = {world->why_no_card(&world->def, &world->state), world->card_worth};
    talus_status status = device_prepare(&world->device, &world->state, use, &world->log, error);
    talus_step_result r = OUTCOME_NONE;
    double deepest = 0.0, thickest = 0.0;
    if (status < 0) return status;
    if (world->method->undoable) {
        int64_t substeps = 0;
        for (int64_t i = 0; i < count && status == TALUS_OK; i++) {
            r = OUTCOME_NONE;
            const double start = clock_seconds(), end = world->state.time + h;
            status = world_step_rigid(world, h, &r, error);
            if (status == TALUS_OK) world->state.time = end; // its parts round otherwise
            if (status == TALUS_OK) status = world_conclude_rigid(world, h, &r, error);
            if (status == TALUS_OK) {
                deepest = fmax(deepest, r.overlap_max);
                thickest = fmax(thickest, r.overlap_thickness_max);
            }
            substeps += r.substeps;
            pace_step(&world->pace, clock_seconds() - start, work_of(world, &r));
        }
        r.substeps = substeps;
        r.overlap_thickness_max = thickest;
    } else {
        const double start = clock_seconds();
        status = world_steps_soft(world, h, count, &r, &deepest, error);
        pace_step(&world->pace, clock_seconds() - start,
                  (double)count * (double)world->state.grains.count);
    }
    r.overlap_max = deepest;
    if (result) *result = r;
    return status;
}

talus_status talus_world_step(talus_world* world, double h, talus_step_result* result,
                              talus_error* error)
{
    return talus_world_steps(world, h, 1, result, error);
}

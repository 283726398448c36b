/// Steps of soft particles: several in a row, taken back together if one of them fails.
#include "base/clock.h"
#include "base/error.h"
#include "rigid/separate.h"
#include "world/steps.h"

#include <math.h>

/// With `more` another one follows at once.
static talus_status soft_step(talus_world* w, double h, bool more, talus_step_result* result,
                              talus_error* error)
{
    step_order order = world_order_step(w, h);
    order.more = more && w->def.on_escape != TALUS_POLICY_REMOVE; // who may ask for the grains
    step_outcome outcome;
    char why[200] = "";
    TRY(soft_particles_step(w->soft, &order, &outcome, error));
    const talus_policy policy = outcome_judge(w, &outcome, h, result, why, sizeof why);
    outcome_add(w, &outcome, result);
    if (policy != TALUS_POLICY_ACCEPT) return error_set(error, TALUS_ERR_NUMERIC, "%s", why);
    // Whoever removes grains needs the contacts that go with them.
    if (outcome.escaped_grain >= 0 && w->def.on_escape == TALUS_POLICY_REMOVE &&
        soft_particles_publish(w->soft, &order)) {
        return error_memory(error, "writing down the contacts");
    }
    return outcome_go_on(w, &order, &outcome, result, error);
}

/// Steps one after the other; *result is that of the last, *done counts those that were done and
/// *deepest is the largest overlap of all.
static talus_status soft_steps(talus_world* w, double h, int64_t count, talus_step_result* result,
                               int64_t* done, double* deepest, talus_error* error)
{
    *deepest = 0.0;
    for (*done = 0; *done < count; ++*done) {
        result->overlap_max = 0.0;
        TRY(soft_step(w, h, *done + 1 < count, result, error));
        w->state.step++;
        *deepest = fmax(*deepest, result->overlap_max);
    }
    return TALUS_OK;
}

/// Contacts, overlaps and energies of steps that were done. The method gave the largest overlap in
/// metres.
static talus_status conclude_soft(talus_world* w, double h, talus_step_result* result,
                                  talus_error* error)
{
    const double start = clock_seconds();
    const step_order order = world_order_step(w, h);
    const contacts* list = &w->state.contacts;
    outcome_conclude(w, result);
    if (soft_particles_publish(w->soft, &order)) {
        return error_memory(error, "writing down the contacts");
    }
    const double diameter = grains_mean_diameter(&w->state.grains, w->pace.threads);
    result->contacts = list->count; // candidates depend on when the list was last made
    double sum = 0.0;
    result->overlap_thickness_max = 0.0;
    for (int64_t c = 0; c < list->count; c++) {
        const double overlap = fmax(-list->gap[c], 0.0);
        const double thickness = overlap_thickness(&w->state.grains, list, c);
        sum += overlap;
        result->overlap_thickness_max = fmax(result->overlap_thickness_max, overlap / thickness);
    }
    result->overlap_mean = list->count > 0 ? sum / (double)list->count / diameter : 0.0;
    result->overlap_max /= diameter;
    talus_soft_energy* e = &result->energy;
    *e = soft_particles_energy(w->soft, &order);
    e->error = result->kinetic_energy + e->elastic + e->dissipated - e->start - e->input;
    outcome_add_to_totals(&w->totals.shown, result);
    w->totals.shown.seconds_advance += clock_seconds() - start;
    w->last = *result;
    return TALUS_OK;
}

talus_status world_steps_soft(talus_world* w, double h, int64_t count, talus_step_result* result,
                              double* deepest, talus_error* error)
{
    int64_t done;
    const running_totals totals = w->totals;
    if (snapshot_take(&w->snapshot, &w->state))
        return error_memory(error, "keeping the state before steps");
    talus_error failure = {0};
    talus_status status = soft_steps(w, h, count, result, &done, deepest, &failure);
    if (status == TALUS_ERR_DEVICE && world_cpu_takes_over(w, &failure)) {
        snapshot_restore(&w->snapshot, &w->state);
        w->totals = totals;
        *result = OUTCOME_NONE;
        status = soft_steps(w, h, count, result, &done, deepest, &failure);
    }
    if (status < 0 && error) *error = failure;
    talus_step_result good = *result;
    if (status < 0) {
        snapshot_restore(&w->snapshot, &w->state);
        w->totals = totals;
        good = OUTCOME_NONE;
        int64_t again;
        if (done == 0 || status == TALUS_ERR_DEVICE) return status; // nobody is there to do them
        if (soft_steps(w, h, done, &good, &again, deepest, NULL) < 0) {
            snapshot_restore(&w->snapshot, &w->state);
            w->totals = totals;
            return status;
        }
    }
    // What is kept is the last step's own: it must not depend on how steps are cut into calls.
    TRY(conclude_soft(w, h, &good, error));
    *deepest /= grains_mean_diameter(&w->state.grains, w->pace.threads);
    if (status == TALUS_OK) *result = good;
    return status;
}

talus_status talus_world_soft_times(const talus_world* world, talus_soft_times* out,
                                    talus_error* error)
{
    return soft_particles_times(&world->state, &world->def, out, error);
}

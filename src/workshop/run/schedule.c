/// When phases end and records are due, decided by counting steps.
///
/// A phase of duration T with steps h lasts ceil(T/h) steps, T/h counted as whole when it is so to
/// 1e-6. A record with interval D is due at the step whose end is nearest to a multiple of D: the
/// mark floor((t + h/2)/D) changes there, half a step away from any roundoff in t. Both depend only
/// on the state in a checkpoint, so a resumed run decides as the unbroken one.
///
/// The method soft is stepped in batches. These end where something is looked at or done, which is
/// decided by counting steps too; how long they are besides (about a fifth of a second) changes
/// nothing, for many steps at once give the bits of one after the other.
#include "run/run.h"

#include <math.h>

enum {
    SOFT_ENERGY_STEPS = 100, ///< some collisions long
    SOFT_ROWS = 1000,        ///< rows of the series in a phase, about
    SOFT_ROW_STEPS = 10000,  ///< steps from row to row at most
    SOFT_FREE_STEPS = 1000,  ///< the same in a phase without a limit
    SOFT_BATCH = 1 << 20,
};

double schedule_step_length(const run* r)
{
    // Whoever steps a world as long as he likes does so with steps of his own.
    const bool open = !scene_phase_has_end(r->scene, (int)r->state.phase);
    if (open && r->state.step_length > 0) return r->state.step_length;
    return scene_phase_step(r->scene, (int)r->state.phase);
}

/// Steps that a duration needs; -1: no duration.
static int64_t duration_steps(double duration, double h)
{
    if (duration < 0) return -1;
    double steps = ceil(duration / h - 1e-6);
    return steps < 9e18 ? (int64_t)steps : INT64_MAX;
}

int64_t schedule_phase_limit(const run* r, int phase)
{
    const phase_end* end = scene_phase_end(r->scene, phase);
    int64_t by_time = duration_steps(end->duration, scene_phase_step(r->scene, phase));
    if (by_time < 0) return end->steps;
    return end->steps >= 0 && end->steps < by_time ? end->steps : by_time;
}

int64_t schedule_phase_steps(const run* r)
{
    return r->state.step - r->phases[r->state.phase].start_step;
}

phase_reason schedule_phase_over(const run* r)
{
    const run_state* s = &r->state;
    if (s->extended_to > 0) return s->step >= s->extended_to ? PHASE_STEPS : PHASE_NOT_ENDED;

    const phase_end* end = scene_phase_end(r->scene, (int)s->phase);
    double h = schedule_step_length(r);
    int64_t done = schedule_phase_steps(r);
    int64_t by_time = duration_steps(end->duration, h);
    if (by_time >= 0 && done >= by_time) return PHASE_DURATION;
    if (end->steps >= 0 && done >= end->steps) return PHASE_STEPS;
    if (end->kinetic_energy >= 0 && s->held >= 0 && s->held >= duration_steps(end->hold, h)) {
        return PHASE_ENERGY;
    }
    return PHASE_NOT_ENDED;
}

void schedule_note_energy(run* r)
{
    run_state* s = &r->state;
    // The energy is looked at every so many steps, counted from the phase's beginning.
    const int64_t every = method_of(scene_method(r->scene))->short_steps ? SOFT_ENERGY_STEPS : 1;
    if (schedule_phase_steps(r) % every != 0) return;
    double bound = scene_phase_end(r->scene, (int)s->phase)->kinetic_energy;
    double energy = s->last.kinetic_energy;
    if (bound >= 0) {
        const talus_grains g = talus_world_grains(r->world);
        int64_t free_grains = 0;
        for (int64_t i = 0; i < g.count; i++) {
            free_grains += g.glued_to[i].index == TALUS_GRAIN_FREE;
        }
        bool below = energy < bound * (double)free_grains;
        // Grains let go from rest are slow too: energy that still grows does not start the count.
        bool starts = energy <= s->energy;
        if (!below) {
            s->held = -1;
        } else if (s->held >= 0) {
            s->held += every;
        } else if (starts) {
            s->held = 0;
        }
    }
    s->energy = energy;
}

int64_t schedule_mark(double time, double h, double interval)
{
    return (int64_t)floor((time + 0.5 * h) / interval);
}

int64_t schedule_steps_left(const run* r, bool* at_most, double* time_left)
{
    const run_state* s = &r->state;
    *at_most = false;
    *time_left = 0;
    int64_t cap = r->def->max_steps >= 0 ? r->def->max_steps - s->step : INT64_MAX;
    if (s->extended_to > 0) {
        int64_t more = s->extended_to - s->step;
        *time_left = (double)more * schedule_step_length(r);
        return more;
    }
    int64_t left = 0;
    int phase_count = scene_phase_count(r->scene);
    for (int p = (int)s->phase; p < phase_count && left < cap; p++) {
        *at_most |= scene_phase_end(r->scene, p)->kinetic_energy >= 0;
        int64_t limit = schedule_phase_limit(r, p);
        if (limit < 0 && cap == INT64_MAX) return -1;
        int64_t steps = limit < 0 ? cap - left : limit;
        if (p == (int)s->phase) steps -= limit < 0 ? 0 : s->step - r->phases[p].start_step;
        if (steps > cap - left) steps = cap - left;
        left += steps;
        *time_left += (double)steps * scene_phase_step(r->scene, p);
    }
    return left;
}

int64_t schedule_series_steps(const run* r)
{
    if (!method_of(scene_method(r->scene))->short_steps) return 1;
    const int64_t limit = schedule_phase_limit(r, (int)r->state.phase);
    if (limit < 0) return SOFT_FREE_STEPS;
    const int64_t steps = limit / SOFT_ROWS;
    return steps < 1 ? 1 : steps > SOFT_ROW_STEPS ? SOFT_ROW_STEPS : steps;
}

int64_t schedule_pour_steps(const run* r)
{
    const int phase = (int)r->state.phase;
    const int64_t every = scene_pour_steps(r->scene, phase, schedule_step_length(r));
    const int64_t done = schedule_phase_steps(r);
    if (every == 0 || done % every != 0) return 0;
    const int64_t limit = schedule_phase_limit(r, phase);
    const int64_t left = limit >= 0 ? limit - done : every;
    return left > 0 && left < every ? left : every;
}

static int64_t at_most(int64_t steps, int64_t bound)
{
    return bound < steps ? (bound > 1 ? bound : 1) : steps;
}

/// Steps up to the next multiple of `every`.
static int64_t up_to_multiple(int64_t done, int64_t every)
{
    return every - done % every;
}

/// Steps up to the one before that in which a record comes due. The last is left alone: whether it
/// is due is decided by the time that then is, never by one that was foreseen with other rounding.
static int64_t up_to_mark(const run* r, double interval, int64_t mark)
{
    const double h = schedule_step_length(r);
    const double left = (double)(mark + 1) * interval - 0.5 * h - talus_world_time(r->world);
    return left / h < (double)SOFT_BATCH ? (int64_t)ceil(left / h) - 1 : SOFT_BATCH;
}

int64_t schedule_batch(const run* r)
{
    if (!method_of(scene_method(r->scene))->short_steps) return 1;
    const run_state* s = &r->state;
    const scene_output* out = scene_outputs(r->scene);
    const int phase = (int)s->phase;
    const int64_t done = schedule_phase_steps(r), limit = schedule_phase_limit(r, phase);
    int64_t n = at_most(SOFT_BATCH, (int64_t)r->pace);
    if (s->extended_to > 0)
        n = at_most(n, s->extended_to - s->step);
    else if (limit >= 0)
        n = at_most(n, limit - done);
    if (r->def->max_steps >= 0) n = at_most(n, r->def->max_steps - s->step);
    if (scene_phase_end(r->scene, phase)->kinetic_energy >= 0) {
        n = at_most(n, up_to_multiple(done, SOFT_ENERGY_STEPS));
    }
    const int64_t pour = scene_pour_steps(r->scene, phase, schedule_step_length(r));
    if (pour > 0) n = at_most(n, up_to_multiple(done, pour));
    if (out->series_interval > 0)
        n = at_most(n, up_to_mark(r, out->series_interval, s->series_mark));
    else
        n = at_most(n, up_to_multiple(done, schedule_series_steps(r)));
    if (out->frame_interval > 0) n = at_most(n, up_to_mark(r, out->frame_interval, s->frame_mark));
    return n;
}

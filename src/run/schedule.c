/// When phases end and records are due, decided by counting steps.
///
/// A phase of duration T with steps h lasts ceil(T/h) steps, T/h counted as whole when it is so to
/// 1e-6. A record with interval D is due at the step whose end is nearest to a multiple of D: the
/// mark floor((t + h/2)/D) changes there, half a step away from any roundoff in t. Both depend only
/// on the state in a checkpoint, so a resumed run decides as the unbroken one.
#include "run/run.h"

#include <math.h>

double schedule_step_length(const run* r)
{
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

phase_reason schedule_phase_over(const run* r)
{
    const run_state* s = &r->state;
    if (s->extended_to > 0) return s->step >= s->extended_to ? PHASE_STEPS : PHASE_NOT_ENDED;

    const phase_end* end = scene_phase_end(r->scene, (int)s->phase);
    double h = schedule_step_length(r);
    int64_t done = s->step - r->phases[s->phase].start_step;
    int64_t by_time = duration_steps(end->duration, h);
    if (by_time >= 0 && done >= by_time) return PHASE_DURATION;
    if (end->steps >= 0 && done >= end->steps) return PHASE_STEPS;
    if (end->kinetic_energy >= 0 && s->held >= 0 && s->held >= duration_steps(end->hold, h)) {
        return PHASE_ENERGY;
    }
    return PHASE_NOT_ENDED;
}

static int64_t free_grains(const talus_world* world)
{
    talus_grains g = talus_world_grains(world);
    int64_t count = 0;
    for (int64_t i = 0; i < g.count; i++) count += g.glued_to[i] == -1;
    return count;
}

void schedule_note_energy(run* r)
{
    run_state* s = &r->state;
    double bound = scene_phase_end(r->scene, (int)s->phase)->kinetic_energy;
    double energy = s->last.kinetic_energy;
    if (bound >= 0) {
        bool below = energy < bound * (double)free_grains(r->world);
        // Grains let go from rest are slow too: energy that still grows does not start the count.
        bool starts = energy <= s->energy;
        if (!below) {
            s->held = -1;
        } else if (s->held >= 0 || starts) {
            s->held++;
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

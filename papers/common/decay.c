/// Maxima of the kinetic energy of a world that oscillates.
#include "decay.h"

#include <math.h>

talus_status decay_record(paper* p, talus_world* world, double h, double look, double end,
                          decay* out)
{
    const int64_t stride = h < look ? llround(look / h) : 1;
    const double spacing = (double)stride * h;
    // a maximum needs two looks at least
    const size_t looks = (size_t)((end - talus_world_time(world)) / spacing) + 3;
    const size_t maxima = looks / 2 + 1;
    double* room = paper_alloc(p, 2 * (looks + maxima), sizeof *room);
    if (!room) return TALUS_ERR_MEMORY;
    *out = (decay){.look_time = room,
                   .look_energy = room + looks,
                   .time = room + 2 * looks,
                   .energy = room + 2 * looks + maxima};
    while (talus_world_time(world) < end && (size_t)out->looks < looks) {
        talus_step_result result;
        TRY(talus_world_steps(world, h, stride, &result, &p->error));
        out->look_time[out->looks] = result.time;
        out->look_energy[out->looks++] = result.kinetic_energy;
        if (out->looks < 3) continue;
        const double* e = out->look_energy + out->looks - 3;
        if (!(e[1] > e[0] && e[1] >= e[2])) continue;
        // The maximum of the parabola through the three.
        const double slope = 0.5 * (e[2] - e[0]), bend = e[0] - 2.0 * e[1] + e[2];
        out->time[out->count] = result.time - spacing * (1.0 + slope / bend);
        out->energy[out->count++] = e[1] - 0.5 * slope * slope / bend;
    }
    return TALUS_OK;
}

double decay_time(const decay* d, double from, double to)
{
    double sum[5] = {0.0}; // of 1, t, ln E, t^2, t ln E
    for (int64_t i = 0; i < d->count; i++) {
        const double t = d->time[i], level = log(d->energy[i]);
        if (t < from || t > to) continue;
        const double add[5] = {1.0, t, level, t * t, t * level};
        for (int k = 0; k < 5; k++) sum[k] += add[k];
    }
    if (sum[0] < 2.0) return NAN;
    return -(sum[0] * sum[3] - sum[1] * sum[1]) / (sum[0] * sum[4] - sum[1] * sum[2]);
}

void decay_thin(decay* d, int64_t stride, double unit)
{
    d->looks /= stride;
    for (int64_t i = 0; i < d->looks; i++) {
        d->look_time[i] = d->look_time[stride * i] / unit;
        d->look_energy[i] = d->look_energy[stride * i];
    }
}

// ---- t_R against the step ----------------------------------------------------------------------

const double decay_steps[DECAY_STEPS] = {1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3,
                                         5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5};

double decay_onset(int count, const double* step, const double* t_r, double limit, double level)
{
    for (int k = count - 1; k > 0; k--) {
        const double near = 1.0 - t_r[k] / limit, far = 1.0 - t_r[k - 1] / limit;
        if (near > level || far < level) continue;
        const double part = log(level / near) / log(far / near);
        return step[k] * pow(step[k - 1] / step[k], part);
    }
    return NAN;
}

double decay_onset_theory(decay_theory* t_r, const void* what, double level)
{
    const double near = (1.0 - level) * t_r(what, 0.0);
    double low = 1e-7, high = 1.0;
    for (int i = 0; i < 60; i++) {
        const double middle = sqrt(low * high);
        *(t_r(what, middle) > near ? &low : &high) = middle;
    }
    return low;
}

double decay_damping(double restitution)
{
    const double loss = log(restitution);
    return -loss / sqrt(M_PI * M_PI + loss * loss);
}

double complex decay_carried(double complex z, double h)
{
    return h > 0.0 ? z * h / (1.0 - cexp(-z * h)) : 1.0;
}

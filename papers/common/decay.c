/// Maxima of the kinetic energy of a world that oscillates.
#include "decay.h"

#include "fit.h"

#include <math.h>

static void note_maximum(decay* out, const double e[3], double time, double spacing)
{
    const double slope = 0.5 * (e[2] - e[0]), bend = e[0] - 2.0 * e[1] + e[2];
    out->time[out->count] = time - spacing * (1.0 + slope / bend);
    out->energy[out->count++] = e[1] - 0.5 * slope * slope / bend;
}

talus_status decay_record(paper* p, talus_world* world, double h, double look, double end,
                          decay* out)
{
    const int64_t stride = h < look ? llround(look / h) : 1;
    const double spacing = (double)stride * h;
    // a maximum needs two looks at least
    const size_t room = (size_t)((end - talus_world_time(world)) / spacing / 2.0) + 2;
    *out = (decay){.time = paper_alloc(p, room, sizeof *out->time),
                   .energy = paper_alloc(p, room, sizeof *out->energy)};
    if (!out->time || !out->energy) return TALUS_ERR_MEMORY;
    double e[3] = {0.0, 0.0, 0.0};
    for (int64_t looks = 1; talus_world_time(world) < end; looks++) {
        talus_step_result result;
        TRY(talus_world_steps(world, h, stride, &result, &p->error));
        e[0] = e[1], e[1] = e[2], e[2] = result.kinetic_energy;
        if (looks >= 3 && e[1] > e[0] && e[1] >= e[2]) note_maximum(out, e, result.time, spacing);
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

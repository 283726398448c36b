/// Stopping rules: fixed number (UK 37), local (UK 35), global (UK 36), natural-map residual.
#include "solve/stop.h"

#include "solve/residual.h"

#include <math.h>

/// Cutoff of the local rule when the user gives none, relative to the mean impulse: forces this
/// small carry nothing, and without a cutoff one of them can keep a whole packing iterating (UK).
static const double DEFAULT_CUTOFF = 1e-6;

stop_state stop_begin(const solve_request* request)
{
    const talus_solver_def* o = request->options;
    return (stop_state){.rule = o->stop,
                        .tolerance = o->tolerance,
                        .cutoff = o->cutoff * request->h,
                        .last_mean = -1.0,
                        .next_check = 1,
                        .residual = -1.0};
}

double stop_cutoff(const stop_state* s)
{
    if (s->cutoff > 0.0) return s->cutoff;
    return s->last_mean > 0.0 ? DEFAULT_CUTOFF * s->last_mean : 0.0;
}

/// The residual costs a sweep or more, so it is looked at only when the sweep's own change
/// says that it may be small, and after a failure not again before an eighth more sweeps. Where
/// no contact pushes, change and impulse are both rounding and say nothing: so it is also looked at
/// after 4, 8, 16, ... sweeps.
static bool residual_reached(stop_state* s, problem* p, int64_t sweep, const sweep_stats* stats)
{
    bool promising = stats->change2 <= s->tolerance * s->tolerance * stats->impulse2;
    bool due = sweep >= 4 && (sweep & (sweep - 1)) == 0;
    if (!due && (!promising || sweep < s->next_check)) return false;
    s->residual = residual_natural(p);
    s->next_check = sweep + (sweep >= 16 ? sweep / 8 : 2);
    return s->residual <= s->tolerance;
}

bool stop_reached(stop_state* s, problem* p, int64_t sweep, const sweep_stats* stats)
{
    const double mean = p->count > 0 ? stats->impulse / (double)p->count : 0.0;
    const double before = s->last_mean;
    s->last_mean = mean;
    switch (s->rule) {
    case TALUS_STOP_SWEEPS: return false; // the cap on sweeps ends it
    case TALUS_STOP_LOCAL: return stats->unsettled == 0;
    case TALUS_STOP_GLOBAL: return before >= 0.0 && fabs(mean - before) <= s->tolerance * mean;
    case TALUS_STOP_RESIDUAL: return residual_reached(s, p, sweep, stats);
    }
    return true;
}

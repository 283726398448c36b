/// Stopping rules: fixed number (UK 37), local (UK 35), global (UK 36), natural-map residual, and
/// the estimated velocity error, which is the rule for rigid grains (residual.c).
#include "rigid/stop.h"

#include <math.h>

/// Cutoff of the local rule when the user gives none, relative to the mean impulse: forces this
/// small carry nothing, and without a cutoff one of them can keep a whole packing iterating (UK).
static const double DEFAULT_CUTOFF = 1e-6;

stop_state stop_begin(const solve_request* request)
{
    const talus_solver_def* o = request->options;
    const bool rigid = o->stop == TALUS_STOP_RIGID;
    return (stop_state){.rule = o->stop,
                        .tolerance = o->tolerance,
                        .cutoff = o->cutoff * request->h,
                        .last_mean = -1.0,
                        .size = request->size,
                        .threads = request->threads,
                        .next_check = 1,
                        .per_change = rigid ? fmax(request->size, 1.0) : 1.0};
}

double stop_cutoff(const stop_state* s)
{
    if (s->cutoff > 0.0) return s->cutoff;
    return s->last_mean > 0.0 ? DEFAULT_CUTOFF * s->last_mean : 0.0;
}

bool stop_measures(const stop_state* s)
{
    return s->rule == TALUS_STOP_RIGID || s->rule == TALUS_STOP_RESIDUAL;
}

bool stop_meets(const stop_state* s, const residual_report* report)
{
    const double measure = s->rule == TALUS_STOP_RIGID ? report->velocity : report->natural;
    return stop_measures(s) && measure <= s->tolerance;
}

/// To measure costs some sweeps, so it is done only when the sweep's own change, by the ratio seen
/// the last time, says that the measure may be small, and after a failure not again before an
/// eighth more sweeps. Where no contact pushes, change and impulse are both rounding and say
/// nothing: so it is also done after 4, 8, 16, ... sweeps.
bool stop_due(const stop_state* s, int64_t sweep, const sweep_stats* stats)
{
    if (!stop_measures(s)) return false;
    const double promised = s->tolerance / s->per_change;
    const bool promising = stats->change2 <= promised * promised * stats->impulse2;
    const bool doubled = sweep >= 4 && (sweep & (sweep - 1)) == 0;
    return doubled || (promising && sweep >= s->next_check);
}

bool stop_look(stop_state* s, problem* p, int64_t sweep, const sweep_stats* stats)
{
    s->seen = residual_measure(p, s->size, s->threads);
    s->next_check = sweep + (sweep >= 16 ? sweep / 8 : 2);
    const double change = sqrt(stats->change2 / stats->impulse2);
    const double measure = s->rule == TALUS_STOP_RIGID ? s->seen.velocity : s->seen.natural;
    if (change > 0.0 && isfinite(measure / change)) s->per_change = measure / change;
    return stop_meets(s, &s->seen);
}

bool stop_settled(stop_state* s, const problem* p, const sweep_stats* stats)
{
    const double mean = p->count > 0 ? stats->impulse / (double)p->count : 0.0;
    const double before = s->last_mean;
    s->last_mean = mean;
    if (s->rule == TALUS_STOP_LOCAL) return stats->unsettled == 0;
    return s->rule == TALUS_STOP_GLOBAL && before >= 0.0 &&
           fabs(mean - before) <= s->tolerance * mean;
}

bool solve_is_watched(const solve_request* request, int64_t sweeps)
{
    return request->watch && request->watch->next == request->sweeps_before + sweeps;
}

bool solve_watched(const solve_request* request, const problem* p, int64_t sweeps)
{
    if (!solve_is_watched(request, sweeps)) return false;
    request->watch->look(request->watch, p, request->sweeps_before + sweeps);
    return request->watch->enough;
}

bool solve_knows_forces(const solve_request* request, bool reached, int64_t sweeps)
{
    const bool counted = request->options->stop == TALUS_STOP_SWEEPS;
    return reached || (counted && sweeps == (solve_budget(request) + 1) / 2);
}

void solve_conclude(const stop_state* s, const problem* p, bool reached, solve_result* out)
{
    const residual_report report = residual_measure(p, s->size, s->threads);
    out->updates = out->sweeps * p->count;
    out->residual = report.natural;
    out->velocity_error = report.velocity;
    out->converged = reached || s->rule == TALUS_STOP_SWEEPS || stop_meets(s, &report);
}

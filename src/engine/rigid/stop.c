/// Stopping rules: fixed number (UK 37), local (UK 35), global (UK 36), natural-map residual, and
/// the estimated velocity error, which is the rule for rigid grains (residual.c).
#include "rigid/stop.h"
#include "base/portable.h"

#include <math.h>

/// Cutoff of the local rule when the user gives none, relative to the mean impulse: forces this
/// small carry nothing, and without a cutoff one of them can keep a whole packing iterating (UK).
static const double DEFAULT_CUTOFF = 1e-6;

/// What is asked for by those who leave it to the step: at rest, and at most where grains flow; and
/// the error that a flow allows in between, as a share of the flow itself. In flows means over time
/// of run-outs, discharges, slopes and energies do not depend on tolerances up to IN_FLOW, and a
/// step of 10^4 grains cannot be solved to AT_REST at any price. As the share is below 1 no error
/// passes for a flow: at rest the flow is at most the error itself (residual.c).
static const double AT_REST = 1e-2, IN_FLOW = 0.1, FLOW_SHARE = 0.5;

double solve_tolerance(const solve_request* request, const residual_report* seen)
{
    const talus_solver_def* o = request->options;
    double asked = o->tolerance > 0.0 ? o->tolerance : AT_REST;
    if (!(o->tolerance > 0.0) && o->stop == TALUS_STOP_RIGID && seen) {
        asked = fmin(portable_hypot(AT_REST, FLOW_SHARE * seen->flow), IN_FLOW);
    }
    return request->strictness > 1.0 ? asked / request->strictness : asked;
}

stop_state stop_begin(const solve_request* request)
{
    const talus_solver_def* o = request->options;
    const bool rigid = o->stop == TALUS_STOP_RIGID;
    return (stop_state){.request = request,
                        .rule = o->stop,
                        .tolerance = solve_tolerance(request, NULL),
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
    return stop_measures(s) && measure <= solve_tolerance(s->request, report);
}

/// Sweeps from which on a flow is looked at more often.
enum { LONG_FLOW = 64 };

/// To measure costs some sweeps, so it is done only when the sweep's own change, by the ratio seen
/// the last time, says that the measure may be small, and after a failure not again before an
/// eighth more sweeps. Where no contact pushes, change and impulse are both rounding and say
/// nothing: so it is also done after 4, 16, 64, ... sweeps. Where grains flow errors become local
/// and the ratio changes: from LONG_FLOW sweeps on it is done there after every quarter more, and
/// also while it is not sure whether they flow. Momentum has no limit until that is known, and in a
/// collapse of 60 000 disks it was not before the look after 256 sweeps.
bool stop_due(const stop_state* s, int64_t sweep, const sweep_stats* stats)
{
    if (!stop_measures(s)) return false;
    const double promised = s->tolerance / s->per_change;
    const bool promising = stats->change2 <= promised * promised * stats->impulse2;
    const bool power_of_four =
        sweep >= 4 && (sweep & (sweep - 1)) == 0 && (sweep & INT64_C(0x5555555555555555)) != 0;
    const bool overdue = !residual_rests(&s->seen) && sweep >= LONG_FLOW &&
                         sweep >= s->last_check + s->last_check / 4;
    return power_of_four || overdue || (promising && sweep >= s->next_check);
}

bool stop_look(stop_state* s, problem* p, int64_t sweep, const sweep_stats* stats)
{
    const residual_report seen = residual_measure(p, s->size, s->threads);
    return stop_judge(s, &seen, sweep, stats);
}

bool stop_judge(stop_state* s, const residual_report* seen, int64_t sweep, const sweep_stats* stats)
{
    s->seen = *seen;
    s->tolerance = solve_tolerance(s->request, &s->seen);
    s->last_check = sweep;
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
    // What has just met a rule that measures was measured for that.
    const residual_report report =
        reached && stop_measures(s) ? s->seen : residual_measure(p, s->size, s->threads);
    out->updates = out->sweeps * p->count;
    out->residual = report.natural;
    out->velocity_error = report.velocity;
    out->flows = !residual_rests(&report);
    out->tolerance = solve_tolerance(s->request, &report);
    out->converged = reached || s->rule == TALUS_STOP_SWEEPS || stop_meets(s, &report);
}

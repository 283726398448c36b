/// A run from step to step: phase changes, inlets, step, records, checkpoints, until the last phase
/// ends, the step limit is reached, the caller says stop, or a step fails.
///
/// Every end but an interruption writes a checkpoint first and the closing records after it, so a
/// run that goes on later drops those again and records what an unbroken run would have.
#include "run/run.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/words.h"
#include "run/certainty.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/// Wall time after which a batch of steps of the method soft ends, so that the user hears of it.
#define BATCH_SECONDS 1.0
/// A batch may have so many times the steps of the one before: the first ones are short, since
/// nobody knows yet how long a step takes, but what ends a batch takes as long as some steps.
#define MOST_FASTER 10

// ---- the loop ----------------------------------------------------------------------------------

/// What comes up in step after step is said the first time and at every doubling of its count.
static bool worth_saying(int64_t count)
{
    return (count & (count - 1)) == 0;
}

/// "step 12, t = 0.3 s: words", and how often so far if not for the first time.
static void say_of_step(run* r, int64_t count, const char* words)
{
    char times[64] = "";
    if (count > 1) snprintf(times, sizeof times, " (%" PRId64 " times so far)", count);
    log_write(&r->log, TALUS_LOG_WARNING, "step %" PRId64 ", t = %.6g%s: %s%s", r->state.step,
              r->state.last.time, summary_time_unit(r), words, times);
}

/// The remark on the step just done, with what is certain of it and where it is worst. What
/// yielding means is explained the first time only.
static void remark_words(const run* r, char* text, size_t size)
{
    const talus_step_result* last = &r->state.last;
    const certainty_speech speech = {talus_world_options(r->world)->dim,
                                     scene_outputs(r->scene)->reduced_units};
    char known[64], estimate[32], cluster[160];
    certainty_of_step(&last->rigidity, known, sizeof known);
    certainty_estimate(last->rigidity.velocity_error, estimate, sizeof estimate);
    certainty_cluster(&speech, &last->rigidity, cluster, sizeof cluster);
    if (r->state.remarks == 1) {
        snprintf(text, size, "%s; %s, %s", last->remark, known, cluster);
    } else {
        snprintf(text, size, "%s%s, %s, %s", last->rigidity.yielding ? "yielding: " : "", known,
                 estimate, cluster);
    }
}

/// Log what the step just done has to say: yielding, missing convergence, an accepted escape.
static void note_step(run* r)
{
    run_state* s = &r->state;
    const talus_step_result* last = &s->last;
    char words[sizeof last->remark + SHORTER_STEP_WORDS];
    if (last->remark[0] && worth_saying(++s->remarks)) {
        remark_words(r, words, sizeof words);
        say_of_step(r, s->remarks, words);
    }
    int64_t unconverged = talus_world_totals(r->world)->unconverged;
    if (!last->converged && worth_saying(unconverged)) {
        char shorter[SHORTER_STEP_WORDS];
        summary_resolved_step(r, shorter, sizeof shorter);
        snprintf(
            words, sizeof words,
            "ended without meeting the stopping rule, residual %.2g after %" PRId64 " sweep%s%s%s",
            last->residual, last->sweeps, plural(last->sweeps), shorter[0] ? "; " : "", shorter);
        say_of_step(r, unconverged, words);
    }
    const talus_totals* totals = talus_world_totals(r->world);
    if (last->coarseness > TALUS_TOO_COARSE && worth_saying(totals->coarse)) {
        char off[64];
        summary_coarseness(last->coarseness, off, sizeof off);
        snprintf(words, sizeof words,
                 "the step is too long: grains slide past each other so far that straight paths "
                 "are off by %s; %.2g%s would do, or step: auto",
                 off, totals->step_needed, summary_time_unit(r));
        say_of_step(r, totals->coarse, words);
    }
    // Grains that were removed are in the log already: the world names them.
    if (last->escaped_grain >= 0 && last->removed == 0 && worth_saying(++s->escapes)) {
        snprintf(words, sizeof words, "grain %" PRId64 " is out of the domain or behind a wall",
                 last->escaped_grain);
        say_of_step(r, s->escapes, words);
    }
}

static void tell_progress(run* r)
{
    if (!r->def->progress) return;
    const run_state* s = &r->state;
    // Steps a second over the last two to four seconds.
    const double now = clock_seconds();
    if (now - r->speed_clock[1] > 2) {
        r->speed_clock[0] = r->speed_clock[1];
        r->speed_step[0] = r->speed_step[1];
        r->speed_clock[1] = now;
        r->speed_step[1] = s->step;
    }
    const double elapsed = now - r->speed_clock[0];
    talus_progress p = {
        .last = &s->last,
        .phase = scene_phase_name(r->scene, (int)s->phase),
        .phase_index = (int)s->phase,
        .phase_count = scene_phase_count(r->scene),
        .reduced_units = scene_outputs(r->scene)->reduced_units,
        .method = scene_method(r->scene),
        .end_time = -1,
        .steps_per_second = elapsed > 0 ? (double)(s->step - r->speed_step[0]) / elapsed : 0,
        .eta_seconds = -1,
    };
    double time_left;
    int64_t left = schedule_steps_left(r, &p.at_most, &time_left);
    if (left >= 0) {
        p.end_time = s->last.time + time_left;
        if (p.steps_per_second > 0) p.eta_seconds = (double)left / p.steps_per_second;
    }
    r->def->progress(r->def->progress_user, &p);
}

/// One step, or several of the method soft. If one of these fails, those before it are done.
static talus_status take_steps(run* r, double h, int64_t count, talus_step_result* out,
                               talus_error* error)
{
    run_state* s = &r->state;
    talus_step_result result = {0};
    if (!method_of(scene_method(r->scene))->short_steps) {
        TRY(talus_world_step(r->world, h, &result, error));
        s->last = result;
        s->worst_overlap_thickness = fmax(s->worst_overlap_thickness, result.overlap_thickness_max);
        s->step++;
    } else {
        const double began = clock_seconds();
        talus_status status = talus_world_steps(r->world, h, count, &result, error);
        // The world's own result is that of its last step, whatever the length of the batch.
        s->last = *talus_world_last(r->world);
        count = s->last.step - s->step;
        s->step = s->last.step;
        if (count > 0) s->poured = 0, s->step_length = h;
        TRY(status);
        const double seconds = fmax(clock_seconds() - began, 1e-9);
        r->pace = fmin(fmax(BATCH_SECONDS * (double)count / seconds, 1), MOST_FASTER * r->pace + 1);
    }
    s->poured = 0;
    s->step_length = h;
    s->grain_steps += (double)count * (double)s->last.grains;
    s->worst_overlap = fmax(s->worst_overlap, result.overlap_max);
    if (out) *out = result;
    return TALUS_OK;
}

talus_status run_take_steps(run* r, double h, int64_t count, talus_step_result* result,
                            talus_error* error)
{
    TRY(take_steps(r, h, count, result, error));
    schedule_note_energy(r);
    note_step(r);
    return TALUS_OK;
}

talus_status run_steps(run* r, talus_error* error)
{
    run_state* s = &r->state;
    const double h = schedule_step_length(r);
    const int64_t pours = s->poured ? 0 : schedule_pour_steps(r);
    if (pours > 0) {
        TRY(scene_pour(r->scene, (int)s->phase, r->inlets, r->world, (double)pours * h, error));
    }
    s->poured = 1;
    dump_step(&r->dump, s->step + 1);
    return run_take_steps(r, h, r->steered ? 1 : schedule_batch(r), NULL, error);
}

talus_status run_advance_phase(run* r, bool* finished, talus_error* error)
{
    run_state* s = &r->state;
    phase_reason reason;
    while ((reason = schedule_phase_over(r)) != PHASE_NOT_ENDED) {
        phase_log* log = &r->phases[s->phase];
        log->reason = (int64_t)reason;
        log->end_step = s->step;
        log->end_time = talus_world_time(r->world);
        if (s->phase + 1 == scene_phase_count(r->scene)) {
            *finished = true;
            return TALUS_OK;
        }
        TRY(run_phase_begin(r, (int)s->phase + 1, error));
    }
    return TALUS_OK;
}

talus_status run_look_ahead(run* r, talus_error* error)
{
    bool finished = false;
    TRY(run_advance_phase(r, &finished, error));
    if (finished) {
        r->end = END_FINISHED;
    } else if (r->def->max_steps >= 0 && r->state.step >= r->def->max_steps) {
        r->end = END_LIMIT;
    } else if (r->def->stop && *r->def->stop) {
        r->end = END_INTERRUPTED;
    }
    return TALUS_OK;
}

talus_status run_go_on(run* r, talus_error* error)
{
    const talus_status status = run_steps(r, &r->failure);
    if (status == TALUS_ERR_NUMERIC) {
        r->end = END_NUMERIC;
    } else if (status == TALUS_ERR_DEVICE) {
        r->end = END_DEVICE;
    } else if (status < 0) {
        if (error) *error = r->failure;
        return status;
    }
    return TALUS_OK;
}

talus_status run_record(run* r, talus_error* error)
{
    TRY(output_due(r, error));
    TRY(output_publish(r, error));
    tell_progress(r);
    if (!output_checkpoint_due(r)) return TALUS_OK;
    // Who steers a run may end the process, or look at the folder, at once.
    return r->steered || r->owned ? output_checkpoint(r, error)
                                  : output_checkpoint_behind(r, error);
}

static talus_status run_loop(run* r, talus_error* error)
{
    for (;;) {
        TRY(run_look_ahead(r, error));
        if (r->end == END_NOT_YET) TRY(run_go_on(r, error));
        if (r->end != END_NOT_YET) return TALUS_OK;
        TRY(run_record(r, error));
    }
}

// ---- ends --------------------------------------------------------------------------------------

/// Checkpoint, closing records and summary.
static talus_status run_close(run* r, talus_summary* summary, talus_error* error)
{
    const run_end end = r->end;
    r->interrupted = end == END_INTERRUPTED;
    r->state.finished = end == END_FINISHED || end == END_STOPPED;
    TRY(output_checkpoint(r, error));
    if (end != END_INTERRUPTED) TRY(output_finish(r, error));

    char outcome[sizeof summary->outcome];
    switch (end) {
    case END_NOT_YET:
    case END_BEFORE:
    case END_FINISHED: snprintf(outcome, sizeof outcome, "finished"); break;
    case END_STOPPED: snprintf(outcome, sizeof outcome, "finished: %s", r->stopped_by); break;
    case END_LIMIT:
        snprintf(outcome, sizeof outcome, "stopped at the limit of %" PRId64 " step%s",
                 r->def->max_steps, plural(r->def->max_steps));
        break;
    case END_INTERRUPTED: snprintf(outcome, sizeof outcome, "interrupted"); break;
    case END_NUMERIC:
        snprintf(outcome, sizeof outcome, "numerical stop: %.480s", r->failure.text);
        break;
    case END_DEVICE:
        snprintf(outcome, sizeof outcome, "the device failed: %.480s", r->failure.text);
        break;
    }
    talus_summary local;
    if (!summary) summary = &local;
    summary_fill(r, outcome, summary);
    const bool failed = end == END_NUMERIC || end == END_DEVICE;
    log_write(&r->log, failed ? TALUS_LOG_WARNING : TALUS_LOG_INFO,
              "%s after %" PRId64 " step%s at t = %.6g%s, %" PRId64 " frame%s", outcome,
              summary->steps, plural(summary->steps), summary->time, summary_time_unit(r),
              summary->frames, plural(summary->frames));
    // The verdict line by line, warnings as such.
    char words[sizeof summary->verdict];
    memcpy(words, summary->verdict, sizeof words);
    char* rest = NULL;
    for (char* line = strtok_r(words, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const size_t head = sizeof VERDICT_WARNING - 1;
        const bool warning = strncmp(line, VERDICT_WARNING, head) == 0;
        log_write(&r->log, warning ? TALUS_LOG_WARNING : TALUS_LOG_INFO, "%s",
                  warning ? line + head : line);
    }
    return summary_write(r, summary, error);
}

void run_prepare(run* r)
{
    if (r->def->dump_problems <= 0) return;
    r->dump = (dump){.most = r->def->dump_problems,
                     .directory = r->def->directory,
                     .title = talus_scene_title(r->scene),
                     .reduced_units = scene_outputs(r->scene)->reduced_units,
                     .log = r->log};
    dump_begin(&r->dump, r->world);
}

talus_status run_conclude(run* r, talus_summary* summary, talus_error* error)
{
    if (r->end == END_NUMERIC) {
        // The number of the step before what the world said of it: grain, time and reason.
        char words[sizeof r->failure.text];
        memcpy(words, r->failure.text, sizeof words);
        snprintf(r->failure.text, sizeof r->failure.text, "step %" PRId64 ": %.1900s",
                 r->state.step + 1, words);
    }
    TRY(run_close(r, summary, error));
    if (r->end == END_NUMERIC || r->end == END_DEVICE) {
        if (error) *error = r->failure;
        return r->failure.status;
    }
    return r->end == END_INTERRUPTED ? TALUS_INTERRUPTED : TALUS_OK;
}

talus_status run_failed(run* r, talus_status status, const talus_error* failure, talus_error* error)
{
    log_write(&r->log, TALUS_LOG_WARNING, "failed: %s", failure->text);
    if (error) *error = *failure;
    return status;
}

talus_status run_look_back(run* r, talus_summary* summary)
{
    if (summary) {
        summary_fill(r, r->state.finished ? "finished" : "step limit already reached", summary);
        summary->nothing_to_do = true;
    }
    return TALUS_OK;
}

talus_status run_carry_out(run* r, talus_summary* summary, talus_error* error)
{
    talus_error failure = {0};
    if (r->end == END_BEFORE) return run_look_back(r, summary);
    run_prepare(r);
    const talus_status status = run_loop(r, &failure);
    if (status < 0) return run_failed(r, status, &failure, error);
    return run_conclude(r, summary, error);
}

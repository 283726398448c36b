/// Carrying out a run for `run` and `resume`: signals, progress, the ending, the exit status.
#include "app.h"

#include <inttypes.h>
#include <string.h>

/// Set by SIGINT and SIGTERM. A signal handler can reach nothing but a static.
static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = request_stop};
    // The second signal of a kind has its usual effect: whoever insists is obeyed.
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int exit_status(talus_status status)
{
    switch (status) {
    case TALUS_OK: return STATUS_OK;
    case TALUS_INTERRUPTED: return STATUS_INTERRUPTED;
    case TALUS_ERR_SCENE: return STATUS_SCENE;
    case TALUS_ERR_NUMERIC: return STATUS_NUMERIC;
    default: return STATUS_FAILURE;
    }
}

static void print_done(const talus_run_def* def, talus_status status, const talus_summary* summary,
                       carry_options options)
{
    FILE* out = options.json ? stderr : stdout;
    if (options.quiet || options.brief) return;
    if (summary->nothing_to_do) {
        fprintf(out, "%s: nothing to do, %s at step %" PRId64 "; --steps N asks for more\n",
                def->directory, summary->outcome, summary->steps);
    } else if (status == TALUS_INTERRUPTED) {
        fprintf(out, "interrupted at step %" PRId64 ", t = %.6g%s; go on with: talus resume %s\n",
                summary->steps, summary->time, summary->reduced_units ? "" : " s", def->directory);
    } else {
        ending_print(out, def->directory, summary);
    }
}

int carry_out(talus_run_def* def, bool resume, carry_options options)
{
    live l = live_begin(options.quiet);
    talus_summary summary = {0};
    talus_report report = {0};
    talus_error error = {0};
    catch_signals();
    def->stop = &stop_requested;
    def->progress = live_progress;
    def->progress_user = &l;
    def->log = live_log;
    def->log_user = &l;

    talus_status status = resume ? talus_run_resume(def, &summary, &report, &error)
                                 : talus_run_start(def, &summary, &report, &error);
    live_clear(&l);
    bool has_summary = status >= 0 || status == TALUS_ERR_NUMERIC;
    if (has_summary && summary.outcome[0]) print_done(def, status, &summary, options);
    if (status < 0) print_problems(&report, &error);
    talus_report_clear(&report);
    if (options.json && has_summary && !ending_print_json(def->directory)) return STATUS_FAILURE;
    return exit_status(status);
}

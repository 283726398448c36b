/// Carrying out a run for `run`, `resume` and `ensemble`: signals, progress, what is said at the
/// end, the exit status.
#include "app.h"

#include "base/clock.h"
#include "base/words.h"
#include "run/certainty.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- progress ----------------------------------------------------------------------------------

#define REDRAW_SECONDS 0.1
#define PLAIN_SECONDS 5.0

enum { FIELD_COUNT = 11, FIELD_SIZE = 128 };

/// Fields in the order in which a narrow terminal gives them up, first to go first.
static const int dropped_first[] = {9, 7, 6, 4, 3, 8, 5, 2, 0};

/// The live line on a terminal, or plain lines now and then.
typedef struct live {
    bool quiet;
    bool terminal;  ///< stderr is one
    bool utf8;      ///< the terminal understands more than ASCII
    bool shown;     ///< a live line stands on the terminal
    double printed; ///< clock of the last print
    int phase;      ///< of the last print, -1 before the first
} live;

/// "certified within 3.1 %", "not certified, estimated 8 %, not converged"; nothing where nothing
/// touches.
static void certificate_words(const talus_step_result* last, char text[FIELD_SIZE])
{
    const talus_rigidity* of = &last->rigidity;
    char known[BOUND_WORDS + 32], estimate[32];
    text[0] = '\0';
    if (of->cluster_grains == 0) return;
    certainty_of_step(of, known, sizeof known);
    certainty_estimate(of->velocity_error, estimate, sizeof estimate);
    const bool certified = of->certified <= 1.0;
    snprintf(text, FIELD_SIZE, "%s%s%s%s", known, certified ? "" : ", ", certified ? "" : estimate,
             last->converged ? "" : ", not converged");
}

static void fill_fields(const live* l, const talus_progress* p, char field[][FIELD_SIZE])
{
    const talus_step_result* last = p->last;
    snprintf(field[0], FIELD_SIZE, "%.30s %d/%d", p->phase, p->phase_index + 1, p->phase_count);
    snprintf(field[1], FIELD_SIZE, "step %" PRId64, last->step);
    snprintf(field[2], FIELD_SIZE, "t %.4g%s", last->time, p->reduced_units ? "" : " s");
    snprintf(field[3], FIELD_SIZE, "%" PRId64 " grain%s", last->grains, plural(last->grains));
    snprintf(field[4], FIELD_SIZE, "%" PRId64 " contact%s", last->contacts, plural(last->contacts));
    if (p->method == TALUS_METHOD_SOFT) {
        field[5][0] = '\0';
        snprintf(field[6], FIELD_SIZE, "energy error %.1e%s", last->energy.error,
                 p->reduced_units ? "" : " J");
    } else {
        snprintf(field[5], FIELD_SIZE, "%" PRId64 " sweep%s", last->sweeps, plural(last->sweeps));
        certificate_words(last, field[6]);
    }
    snprintf(field[7], FIELD_SIZE, "overlap %.2g %%", 100 * last->overlap_max);
    snprintf(field[8], FIELD_SIZE, "Ekin %.2e%s", last->kinetic_energy,
             p->reduced_units ? "" : " J");
    snprintf(field[9], FIELD_SIZE, "%.3g steps/s", p->steps_per_second);
    char left[32] = "?";
    const char* bound = !p->at_most || p->eta_seconds < 0 ? "" : l->utf8 ? "\u2264 " : "<= ";
    if (p->eta_seconds >= 0) format_duration(p->eta_seconds, left, sizeof left);
    snprintf(field[10], FIELD_SIZE, "ETA %s%s", bound, left);
}

/// Join the fields, leaving out the least important ones until the line fits `width` columns.
static void join_fields(char field[][FIELD_SIZE], size_t width, char* line, size_t size)
{
    size_t drop = 0, drops = sizeof dropped_first / sizeof *dropped_first;
    for (;;) {
        line[0] = '\0';
        size_t used = 0;
        for (int f = 0; f < FIELD_COUNT; f++) {
            if (!field[f][0]) continue;
            used += (size_t)snprintf(line + used, size - used, "%s%s", used ? "  " : "", field[f]);
        }
        if (columns_of(line) <= width || drop == drops) return;
        field[dropped_first[drop++]][0] = '\0';
    }
}

static void live_progress(void* user, const talus_progress* progress)
{
    live* l = user;
    if (l->quiet) return;
    double now = clock_seconds();
    bool changed = progress->phase_index != l->phase;
    if (!changed && now - l->printed < (l->terminal ? REDRAW_SECONDS : PLAIN_SECONDS)) return;
    l->printed = now;
    l->phase = progress->phase_index;

    char field[FIELD_COUNT][FIELD_SIZE], line[FIELD_COUNT * (FIELD_SIZE + 2)];
    fill_fields(l, progress, field);
    join_fields(field, l->terminal ? terminal_width(STDERR_FILENO) : sizeof line, line,
                sizeof line);
    if (l->terminal) {
        fprintf(stderr, "\r%s\033[K", line);
        l->shown = true;
    } else {
        fprintf(stderr, "%s\n", line);
    }
    fflush(stderr);
}

/// Take the live line off the terminal.
static void live_clear(live* l)
{
    if (l->shown) fputs("\r\033[K", stderr);
    l->shown = false;
}

static void live_log(void* user, talus_log_level level, const char* text)
{
    live* l = user;
    if (l->quiet || level != TALUS_LOG_WARNING) return;
    live_clear(l);
    print_wrapped(stderr, "warning: ", 2, text);
}

// ---- the end -----------------------------------------------------------------------------------

static void print_stage(FILE* out, const char* name, double seconds, double total)
{
    fprintf(out, "  %-10s %10.2f s  %5.1f %%\n", name, seconds,
            total > 0 ? 100 * seconds / total : 0.0);
}

static void print_times(FILE* out, const talus_summary* s)
{
    double total = s->seconds_total;
    double named = s->seconds_detect + s->seconds_solve + s->seconds_advance + s->seconds_record;
    fprintf(out, "time by stage\n");
    print_stage(out, "detect", s->seconds_detect, total);
    print_stage(out, "solve", s->seconds_solve, total);
    print_stage(out, "advance", s->seconds_advance, total);
    print_stage(out, "record", s->seconds_record, total);
    print_stage(out, "other", total > named ? total - named : 0, total);
    print_stage(out, "total", total, total);
    double working = s->seconds_detect + s->seconds_solve + s->seconds_advance;
    if (s->method == TALUS_METHOD_SOFT) {
        fprintf(out, "  %.3g grains times steps a second, %.3g MB of memory at most\n",
                working > 0 ? s->grain_steps / working : 0.0, (double)s->peak_memory_bytes / 1e6);
    } else if (s->seconds_solve > 0) {
        fprintf(out, "  %.3g contact updates a second while solving, %.3g MB of memory at most\n",
                (double)s->contact_updates / s->seconds_solve, (double)s->peak_memory_bytes / 1e6);
    }
}

/// Where the time went, what to think of the numbers, where the files are and how to look at them.
static void ending_print(FILE* out, const char* directory, const talus_summary* s)
{
    fprintf(out, "%s: %" PRId64 " step%s, t = %.6g%s, %" PRId64 " grain%s, %" PRId64 " frame%s\n\n",
            s->outcome, s->steps, plural(s->steps), s->time, s->reduced_units ? "" : " s",
            s->grains, plural(s->grains), s->frames, plural(s->frames));
    print_times(out, s);
    fputc('\n', out);
    print_verdict(out, s->verdict);
    char quoted[QUOTED_SIZE];
    quote_path(directory, quoted);
    fprintf(out,
            "\nresults are in %s: summary.json, series.csv, frames.h5, log.txt\n"
            "  browser:   %s view %s\n"
            "  ParaView:  paraview --script=%s/show-in-paraview.py\n"
            "  OVITO:     %s export %s, then open %s/export/grains.dump\n"
            "  numpy:     import h5py\n"
            "             f = h5py.File('%s/frames.h5')\n"
            "             x = f['frames/%06" PRId64 "/grains/position'][:]\n",
            directory, program(), quoted, quoted, program(), quoted, directory, directory,
            s->frames - 1);
}

/// Copy directory/summary.json to stdout; false, with a message, if it cannot be read.
static bool ending_print_json(const char* directory)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/summary.json", directory);
    FILE* file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "talus: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) fwrite(block, 1, n, stdout);
    fclose(file);
    return fflush(stdout) == 0;
}

/// Say how to go on with the run that is in a directory, if there is one.
static void hint_resume(const char* directory)
{
    char path[PATH_SIZE], quoted[QUOTED_SIZE];
    snprintf(path, sizeof path, "%s/run.json", directory);
    if (access(path, R_OK) != 0) return;
    quote_path(directory, quoted);
    fprintf(stderr, "go on with it: %s resume %s\n", program(), quoted);
}

// ---- the run -----------------------------------------------------------------------------------

/// Set by signals. A signal handler can reach nothing but statics.
static volatile sig_atomic_t stop_requested;
static double stop_requested_at;

/// Whoever insists is obeyed: a later signal has its usual effect. One that comes with the first is
/// no other request: `timeout` and job managers send it to a program and to its group.
static void request_stop(int signal_number)
{
    static const double AT_ONCE = 0.5; // seconds
    if (!stop_requested) {
        stop_requested_at = clock_seconds();
        stop_requested = 1;
    } else if (clock_seconds() - stop_requested_at > AT_ONCE) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); // when the handler has returned
    }
}

/// Whoever interrupts a run, closes its terminal or lets its time run out gets a checkpoint. A file
/// that has become too large, or a reader of the output that has gone, is an error of a write as
/// any other. What the caller ignores (nohup) stays ignored.
static void heed_signals(void)
{
    static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    static const int harmless[] = {SIGXFSZ, SIGPIPE};
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++) {
        const bool known = sigaction(stopping[i], NULL, &before) == 0;
        const bool ignored = known && before.sa_handler == SIG_IGN;
        if (stopping[i] == SIGHUP && ignored) continue;
        sigaction(stopping[i], &action, NULL);
    }
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) signal(harmless[i], SIG_IGN);
}

int carry_out(talus_run_def* def, bool resume, carry_options options)
{
    live l = {
        .quiet = options.quiet,
        .terminal = isatty(STDERR_FILENO) == 1,
        .utf8 = MB_CUR_MAX > 1,
        .printed = clock_seconds(),
        .phase = -1,
    };
    talus_summary summary = {0};
    talus_report report = {0};
    talus_error error = {0};
    heed_signals();
    def->stop = &stop_requested;
    def->progress = live_progress;
    def->progress_user = &l;
    def->log = live_log;
    def->log_user = &l;
    def->write_behind = true;

    talus_status status = resume ? talus_run_resume(def, &summary, &report, &error)
                                 : talus_run_start(def, &summary, &report, &error);
    live_clear(&l);
    const bool has_summary = status >= 0 || status == TALUS_ERR_NUMERIC;
    FILE* out = options.json ? stderr : stdout;
    if (!has_summary || !summary.outcome[0] || options.quiet || options.brief) {
        // nothing to tell
    } else if (summary.nothing_to_do) {
        fprintf(out, "%s: nothing to do, %s at step %" PRId64 "; --steps N asks for more\n",
                def->directory, summary.outcome, summary.steps);
    } else if (status == TALUS_INTERRUPTED) {
        char quoted[QUOTED_SIZE];
        quote_path(def->directory, quoted);
        fprintf(out, "interrupted at step %" PRId64 ", t = %.6g%s; go on with: %s resume %s\n",
                summary.steps, summary.time, summary.reduced_units ? "" : " s", program(), quoted);
    } else {
        ending_print(out, def->directory, &summary);
    }
    if (status < 0) print_problems(&report, &error);
    if (status == TALUS_ERR_EXISTS && !def->force) hint_resume(def->directory);
    talus_report_clear(&report);
    if (options.json && has_summary && !ending_print_json(def->directory)) return STATUS_FAILURE;
    switch (status) {
    case TALUS_OK: return STATUS_OK;
    case TALUS_INTERRUPTED: return STATUS_INTERRUPTED;
    case TALUS_ERR_SCENE: return STATUS_SCENE;
    case TALUS_ERR_NUMERIC: return STATUS_NUMERIC;
    default: return STATUS_FAILURE;
    }
}

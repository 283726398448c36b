/// The runs of a study, several at a time, each in a process of its own.
///
/// A worker is a copy of this process that runs the program for one folder: `run` or `resume`, then
/// `measure`, then the page of the viewer. Whoever stops this process, with Ctrl-C, a signal or a
/// kill, stops its workers, and these their runs, which write a checkpoint. The same command goes
/// on.
#include "sweep.h"

#include "base/clock.h"
#include "base/words.h"
#include "run/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.2
#define PLAIN_SECONDS 10.0
#define ENDING_SECONDS 60.0 ///< that a run of a study which was killed gets for its checkpoint

enum { MOST_WORDS = 256 };

/// A command line in the making.
typedef struct words {
    char* word[MOST_WORDS + 1];
    int count;
} words;

static void add(words* w, const char* word)
{
    if (w->count < MOST_WORDS) w->word[w->count++] = (char*)(uintptr_t)word;
}

/// The program that a worker has called; a signal handler can reach nothing but a static.
static volatile pid_t called;
static volatile sig_atomic_t stop_requested; ///< set by SIGINT and SIGTERM

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

/// In a worker: let the run end, and wait for it.
static void pass_on(int signal_number)
{
    stop_requested = 1;
    if (called > 0) kill(called, signal_number);
}

/// Run this program with these words; its exit status.
static int call(const words* w, const char* said)
{
    if (stop_requested) return STATUS_INTERRUPTED;
    const pid_t child = called = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        const int file = open(said, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (file >= 0) {
            dup2(file, STDOUT_FILENO);
            dup2(file, STDERR_FILENO);
        }
        execv("/proc/self/exe", w->word);
        _exit(STATUS_FAILURE);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    called = 0;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILURE;
}

/// Quantities of `talus measure` in which a measure of the study is, each once.
static void add_quantities(const sweep* s, words* w, char (*quantity)[64])
{
    for (int m = 0; m < s->measure_count; m++) {
        const char* column;
        if (sweep_of_series(s->measure[m], &column)) continue;
        snprintf(quantity[m], sizeof quantity[m], "%.*s", (int)strcspn(s->measure[m], "."),
                 s->measure[m]);
        bool there = false;
        for (int i = 0; i < w->count; i++) there = there || strcmp(w->word[i], quantity[m]) == 0;
        if (!there) add(w, quantity[m]);
    }
}

/// A run whose study was killed still writes its checkpoint. Whoever starts the study again at once
/// waits for it, instead of being told that another talus is running there.
static void wait_for_ending_run(const char* directory)
{
    const double began = clock_seconds();
    while (!stop_requested && clock_seconds() - began < ENDING_SECONDS &&
           directory_is_locked(directory)) {
        usleep(50000);
    }
}

/// All that belongs to a run, in a process of its own. Returns its exit status.
static int work(const sweep* s, const sweep_run* r, const char* directory)
{
    char said[PATH_SIZE + 16], threads[16], steps[32], seed[32], csv[PATH_SIZE + 16],
        page[PATH_SIZE + 16];
    char set[SWEEP_KEYS][2 * SWEEP_TEXT], quantity[SWEEP_MEASURES][64];
    snprintf(said, sizeof said, "%s.log", directory);
    snprintf(threads, sizeof threads, "%d", s->threads);
    snprintf(steps, sizeof steps, "%lld", (long long)s->steps);
    snprintf(csv, sizeof csv, "%s.csv", directory);
    snprintf(page, sizeof page, "%s.html", directory);
    unlink(said);
    wait_for_ending_run(directory);
    const bool begun = directory_has(directory, "scene.yaml");
    words run = {0};
    add(&run, "talus");
    add(&run, begun ? "resume" : "run");
    if (begun) {
        add(&run, directory);
    } else {
        add(&run, s->scene);
        add(&run, "--output");
        add(&run, directory);
        for (int i = 0; i < s->sets.count; i++) add(&run, "--set"), add(&run, s->sets.items[i]);
        for (int k = 0; k < s->key_count; k++) {
            snprintf(set[k], sizeof set[k], "%s=%s", s->key[k].path, sweep_value(s, r->point, k));
            add(&run, "--set");
            add(&run, set[k]);
        }
        if (r->seed > 0) {
            snprintf(seed, sizeof seed, "seed=%d", r->seed);
            add(&run, "--set");
            add(&run, seed);
        }
    }
    add(&run, "--threads");
    add(&run, threads);
    if (s->device) add(&run, "--device"), add(&run, s->device);
    if (s->steps >= 0) add(&run, "--steps"), add(&run, steps);
    add(&run, "--quiet");
    int status = call(&run, said);
    if (status != STATUS_OK) return status;

    words measure = {0};
    const char* const head[] = {"talus",   "measure", directory, "--frame",
                                s->frames, "--csv",   csv,       "--force"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) add(&measure, head[i]);
    const int before = measure.count;
    add_quantities(s, &measure, quantity);
    if (measure.count > before) status = call(&measure, said);
    words view = {0};
    const char* const export[] = {"talus", "view", directory, "--export", page, "--force"};
    for (size_t i = 0; i < sizeof export / sizeof *export; i++) add(&view, export[i]);
    if (status == STATUS_OK && s->pages) status = call(&view, said);
    if (status == STATUS_OK) unlink(said);
    return status;
}

// ---- all of them -------------------------------------------------------------------------------

/// What the progress line tells.
typedef struct tally {
    int done, found, failed, running;
    double seconds; ///< of the runs that were done just now
    double printed;
    bool terminal;
} tally;

/// Seconds until all are done, from those that took their time just now; negative: not known yet.
/// Runs that are under way count with what they have left of the mean.
static double seconds_left(const sweep* s, const tally* t)
{
    if (t->done == t->found) return -1;
    const double mean = t->seconds / (t->done - t->found), now = clock_seconds();
    double work = 0, longest = 0;
    for (int i = 0; i < s->run_count; i++) {
        const sweep_run* r = &s->run[i];
        if (r->state == SWEEP_WAITING) work += mean;
        if (r->state != SWEEP_RUNNING) continue;
        const double left = mean > now - r->began ? mean - (now - r->began) : 0;
        work += left;
        if (left > longest) longest = left;
    }
    work /= s->jobs;
    return work > longest ? work : longest;
}

static void tell(const sweep* s, tally* t, bool always)
{
    const double now = clock_seconds();
    if (s->quiet || (!always && now - t->printed < (t->terminal ? REDRAW_SECONDS : PLAIN_SECONDS)))
        return;
    t->printed = now;
    char left[32] = "?", failed[48] = "";
    const double seconds = seconds_left(s, t);
    if (seconds >= 0) format_duration(seconds, left, sizeof left);
    if (t->failed > 0) snprintf(failed, sizeof failed, "  %d failed", t->failed);
    fprintf(stderr, "%s%d of %d runs done  %d running%s  ETA about %s%s", t->terminal ? "\r" : "",
            t->done, s->run_count, t->running, failed, left, t->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

static void begin(const sweep* s, sweep_run* r, tally* t)
{
    char directory[PATH_SIZE];
    snprintf(directory, sizeof directory, "%s/%s", s->folder, r->name);
    r->began = clock_seconds();
    fflush(NULL);
    r->process = fork();
    if (r->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGINT, SIG_IGN); // from a terminal the run hears it too
        signal(SIGTERM, pass_on);
        _exit(work(s, r, directory));
    }
    r->state = r->process > 0 ? SWEEP_RUNNING : SWEEP_FAILED;
    t->running += r->process > 0;
    t->failed += r->process < 0;
}

/// A worker has ended.
static void end(sweep_run* r, int status, tally* t)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_INTERRUPTED;
    t->running--;
    r->state = code == STATUS_OK            ? SWEEP_DONE
               : code == STATUS_INTERRUPTED ? SWEEP_INTERRUPTED
                                            : SWEEP_FAILED;
    t->done += r->state == SWEEP_DONE;
    t->failed += r->state == SWEEP_FAILED;
    if (r->state == SWEEP_DONE) t->seconds += clock_seconds() - r->began;
}

/// Whether the table of a run has all measures: others may have been asked for before.
static bool is_measured(const sweep* s, const sweep_run* r)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.csv", s->folder, r->name);
    FILE* file = fopen(path, "r");
    char* line = NULL;
    size_t size = 0;
    if (!file || getline(&line, &size, file) < 0) size = 0;
    bool all = true;
    for (int m = 0; m < s->measure_count; m++) {
        const char* column;
        all = all && (sweep_of_series(s->measure[m], &column) ||
                      (size > 0 && strstr(line, s->measure[m])));
    }
    free(line);
    if (file) fclose(file);
    return all;
}

/// Whether a run and all that is made of it are there. A page may have been left out before.
static bool is_done(const sweep* s, const sweep_run* r)
{
    char directory[PATH_SIZE], file[SWEEP_NAME + 8];
    snprintf(directory, sizeof directory, "%s/%s", s->folder, r->name);
    snprintf(file, sizeof file, "%s.log", r->name);
    if (!directory_has(directory, "summary.json") || directory_has(s->folder, file)) return false;
    if (!is_measured(s, r)) return false;
    snprintf(file, sizeof file, "%s.html", r->name);
    return !s->pages || directory_has(s->folder, file);
}

static int conclude(const sweep* s, const tally* t)
{
    if (t->terminal && !s->quiet) fputs("\r\033[K", stderr);
    for (int i = 0; i < s->run_count; i++) {
        if (s->run[i].state != SWEEP_FAILED) continue;
        fprintf(stderr, "talus: %s failed: see %s/%s.log\n", s->run[i].name, s->folder,
                s->run[i].name);
    }
    if (stop_requested) {
        fprintf(stderr, "interrupted: %d of %d runs are done; the same command goes on\n", t->done,
                s->run_count);
        return STATUS_INTERRUPTED;
    }
    return t->failed > 0 ? STATUS_FAILURE : STATUS_OK;
}

int sweep_carry_out(sweep* s)
{
    tally t = {.terminal = isatty(STDERR_FILENO) == 1, .printed = clock_seconds()};
    struct sigaction action = {.sa_handler = request_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (int i = 0; i < s->run_count; i++) {
        if (!is_done(s, &s->run[i])) continue;
        s->run[i].state = SWEEP_DONE;
        t.found = ++t.done;
    }
    if (t.found > 0 && !s->quiet) {
        fprintf(stderr, "%d of %d runs were done before\n", t.found, s->run_count);
    }
    bool passed_on = false;
    for (int next = 0;;) {
        while (next < s->run_count && !stop_requested && t.running < s->jobs) {
            if (s->run[next].state == SWEEP_WAITING) begin(s, &s->run[next], &t);
            next++;
        }
        if (t.running == 0) break;
        for (int i = 0; stop_requested && !passed_on && i < s->run_count; i++) {
            if (s->run[i].state == SWEEP_RUNNING) kill(s->run[i].process, SIGTERM);
        }
        passed_on = stop_requested;
        tell(s, &t, false);
        int status;
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended <= 0) {
            usleep(20000);
            continue;
        }
        for (int i = 0; i < s->run_count; i++) {
            if (s->run[i].state != SWEEP_RUNNING || s->run[i].process != ended) continue;
            end(&s->run[i], status, &t);
            tell(s, &t, t.terminal);
        }
    }
    return conclude(s, &t);
}

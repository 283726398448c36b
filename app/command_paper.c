/// talus paper: the published experiments of papers/, one after the other.
#include "app.h"
#include "base/words.h"

#include "base/clock.h"
#include "list.h"
#include "results.h"
#include "scene/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXPERIMENTS_AT_MOST = 64 };

// ---- the live line -----------------------------------------------------------------------------

/// What the live line needs to know.
typedef struct paper_live {
    bool shown; ///< on a terminal and not quiet
    int index, count;
    double begun, printed; ///< clock of this experiment's begin, of the last print
} paper_live;

static void show_progress(void* user, const paper_experiment* experiment, double done)
{
    paper_live* l = user;
    double now = clock_seconds();
    if (!l->shown || now - l->printed < 0.2) return;
    l->printed = now;
    char left[32] = "unknown";
    double spent = now - l->begun;
    if (done > 0.01 && spent > 1) { // before that an estimate is a guess
        format_duration(spent * (1 - done) / done, left, sizeof left);
    }
    fprintf(stderr, "\r\033[K[%d/%d] %s  %.0f %%  ETA %s", l->index + 1, l->count, experiment->name,
            100 * done, left);
}

static void begin_progress(paper_live* l, int index, const paper_experiment* experiment)
{
    l->index = index;
    l->begun = clock_seconds();
    l->printed = 0;
    show_progress(l, experiment, 0);
}

static void clear_progress(const paper_live* l)
{
    if (l->shown) fputs("\r\033[K", stderr);
}

// ---- the table ---------------------------------------------------------------------------------

static void print_padded(const char* text, size_t width)
{
    size_t columns = columns_of(text);
    printf("%s%*s", text, columns < width ? (int)(width - columns) : 1, "");
}

static void print_row(const paper_row* row, size_t wide)
{
    char measured[32], expected[64], deviation[32];
    snprintf(measured, sizeof measured, "%.5g", row->measured);
    paper_expected_words(row, expected, sizeof expected);
    paper_deviation_words(row, deviation, sizeof deviation);
    printf("  ");
    print_padded(row->quantity, wide + 2);
    print_padded(measured, 12);
    print_padded(expected, 22);
    print_padded(deviation, 12);
    printf("%s\n", paper_verdict_words(row->verdict));
    if (row->why[0]) print_wrapped(stdout, "      ", 6, row->why);
}

static void print_results(const paper_results* r)
{
    printf("\n%s: %s\n  %s%s\n", r->experiment->name, r->experiment->title, r->experiment->source,
           r->options->brief ? " (short version)" : "");
    size_t wide = columns_of("quantity");
    for (int i = 0; i < r->row_count; i++) {
        size_t width = columns_of(r->rows[i].quantity);
        if (width > wide) wide = width;
    }
    printf("\n  %-*s%-12s%-22s%-12sverdict\n", (int)wide + 2, "quantity", "measured", "expected",
           "deviation");
    for (int i = 0; i < r->row_count; i++) print_row(&r->rows[i], wide);
    if (r->note_count > 0) printf("\n");
    for (int i = 0; i < r->note_count; i++) print_wrapped(stdout, "  - ", 4, r->notes[i]);
    printf("\n  %d rows, %d disagree; %.1f s (%.1f s of processor time)\n", r->row_count,
           paper_disagreements(r), r->seconds, r->cpu_seconds);
    fflush(stdout);
}

/// Say on stderr why an experiment did not succeed.
static void complain(const paper_results* r)
{
    const char* name = r->experiment->name;
    if (r->status < 0) {
        fprintf(stderr, "talus: %s did not finish: %s\n", name, r->error.text);
    } else if (paper_disagreements(r) > 0) {
        fprintf(stderr, "talus: %s: %d of %d rows disagree\n", name, paper_disagreements(r),
                r->row_count);
    } else {
        fprintf(stderr, "talus: %s ended without a table, without data or without a figure\n",
                name);
    }
}

// ---- the command -------------------------------------------------------------------------------

typedef struct paper_command {
    const paper_experiment* chosen[EXPERIMENTS_AT_MOST];
    int count;
    const char* output;
    bool quiet;
    paper_options options;
} paper_command;

static int print_list(void)
{
    for (const paper_experiment* const* e = paper_list(); *e; e++) {
        printf("%-16s %s\n%-16s %s\n", (*e)->name, (*e)->title, "", (*e)->source);
    }
    printf("\nCarry one out with: talus paper NAME; all with: talus paper all\n");
    return STATUS_OK;
}

static void choose(paper_command* c, const paper_experiment* experiment)
{
    for (int i = 0; i < c->count; i++) {
        if (c->chosen[i] == experiment) return;
    }
    c->chosen[c->count++] = experiment;
}

/// Take an argument: the name of an experiment, or "all".
static bool choose_name(paper_command* c, const char* name)
{
    const char* names[EXPERIMENTS_AT_MOST];
    int count = 0;
    bool found = false;
    for (const paper_experiment* const* e = paper_list(); *e; e++) {
        names[count++] = (*e)->name;
        if (strcmp(name, (*e)->name) != 0 && strcmp(name, "all") != 0) continue;
        choose(c, *e);
        found = true;
    }
    if (found) return true;
    const char* near = nearest_name(name, names, count);
    fprintf(stderr, "talus: there is no experiment '%s'%s%s%s `talus paper` lists them\n", name,
            near ? "; did you mean '" : ";", near ? near : "", near ? "'?" : "");
    return false;
}

static bool read_option(paper_command* c, int choice)
{
    int64_t number;
    switch (choice) {
    case 'o': c->output = optarg; return true;
    case 's': return c->options.brief = true;
    case 'q': return c->quiet = true;
    case 't':
        if (!options_integer("--threads", optarg, 1, &number)) return false;
        c->options.threads = number < 4096 ? (int)number : 4096;
        return true;
    case 'r':
        if (!options_integer("--seed", optarg, 0, &number)) return false;
        c->options.seed = (uint64_t)number;
        return true;
    default: return false;
    }
}

/// Read the command line; false, with the exit status in *status, when there is nothing to run.
static bool read_options(paper_command* c, int argc, char** argv, int* status)
{
    static const struct option list[] = {
        {"output", required_argument, NULL, 'o'},
        {"short", no_argument, NULL, 's'},
        {"threads", required_argument, NULL, 't'},
        {"seed", required_argument, NULL, 'r'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    *status = STATUS_USAGE;
    optind = 1;
    for (int choice; (choice = options_next(argc, argv, ":o:h", list)) != -1;) {
        if (choice == 'h') {
            print_command_help(command_find("paper"));
            *status = STATUS_OK;
            return false;
        }
        if (!read_option(c, choice)) return false;
    }
    if (optind == argc) {
        *status = print_list();
        return false;
    }
    for (int i = optind; i < argc; i++) {
        if (!choose_name(c, argv[i])) return false;
    }
    return true;
}

static int is_entry(const struct dirent* entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/// Make the folder; one that is there already must be empty, so that nothing is overwritten.
static bool make_output(const char* path)
{
    if (mkdir(path, 0777) == 0) return true;
    if (errno != EEXIST) {
        fprintf(stderr, "talus: cannot make the folder %s: %m\n", path);
        return false;
    }
    struct dirent** entries;
    int count = scandir(path, &entries, is_entry, NULL);
    if (count < 0) {
        fprintf(stderr, "talus: cannot write into %s: %m\n", path);
        return false;
    }
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    if (count == 0) return true;
    fprintf(stderr, "talus: the folder %s is not empty; name another with -o\n", path);
    return false;
}

/// Run what was chosen; the exit status.
static int run_chosen(const paper_command* c, paper_results* results)
{
    paper_live line = {.shown = !c->quiet && isatty(STDERR_FILENO) == 1, .count = c->count};
    paper_options options = c->options;
    options.progress = show_progress;
    options.progress_user = &line;
    bool finished = true, agree = true;
    for (int i = 0; i < c->count; i++) {
        begin_progress(&line, i, c->chosen[i]);
        paper_carry_out(c->chosen[i], &options, &results[i]);
        clear_progress(&line);
        if (!c->quiet) print_results(&results[i]);
        if (paper_succeeded(&results[i])) continue;
        complain(&results[i]);
        if (results[i].status < 0) finished = false;
        agree = false;
    }
    talus_error error;
    if (paper_write_page(options.directory, results, c->count, &error) < 0) {
        fprintf(stderr, "talus: %s\n", error.text);
        return STATUS_FAILURE;
    }
    if (!c->quiet) printf("\nAll of it: %s/index.html\n", options.directory);
    if (!finished) return STATUS_FAILURE;
    return agree ? STATUS_OK : STATUS_NUMERIC;
}

int command_paper(int argc, char** argv)
{
    paper_command c = {.options = {.threads = 1, .seed = 1}};
    int status;
    if (!read_options(&c, argc, argv, &status)) return status;
    char path[PATH_SIZE], name[64];
    snprintf(name, sizeof name, "paper-%s", c.count == 1 ? c.chosen[0]->name : "all");
    if (c.output) {
        if (!make_output(c.output)) return STATUS_FAILURE;
    } else if (!make_fresh_directory(name, path)) {
        return STATUS_FAILURE;
    }
    c.options.directory = c.output ? c.output : path;
    paper_results* results = calloc((size_t)c.count, sizeof *results);
    if (!results) {
        fprintf(stderr, "talus: no memory\n");
        return STATUS_FAILURE;
    }
    status = run_chosen(&c, results);
    for (int i = 0; i < c.count; i++) paper_results_free(&results[i]);
    free(results);
    return status;
}

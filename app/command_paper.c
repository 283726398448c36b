/// talus paper: the published experiments of papers/, one after the other.
#include "app.h"

#include "base/clock.h"
#include "list.h"
#include "results.h"

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

// ---- the command -------------------------------------------------------------------------------

typedef struct paper_choice {
    const paper_experiment* chosen[EXPERIMENTS_AT_MOST];
    int count;
    argument_list names;
    const char* output;
    bool quiet;
    paper_options options;
} paper_choice;

static const char* paper_word(int index)
{
    const paper_experiment* const* list = paper_list();
    int count = 0;
    while (list[count]) count++;
    return index < count ? list[index]->name : index == count ? "all" : NULL;
}

const value_kind value_paper = {.source = VALUE_WORD,
                                .one = "experiment",
                                .many = "papers",
                                .word = paper_word,
                                .listed_by = "`talus paper`"};

/// Choose the experiments that were named, each once; false, with a message, if one is unknown.
static bool choose(paper_choice* c)
{
    const paper_experiment* const* list = paper_list();
    for (int i = 0; i < c->names.count; i++) {
        const int found = value_find(&value_paper, c->names.items[i]);
        if (found < 0) return false;
        const bool all = strcmp(c->names.items[i], "all") == 0;
        for (int e = all ? 0 : found; all ? list[e] != NULL : e == found; e++) {
            bool chosen = false;
            for (int k = 0; k < c->count; k++) chosen |= c->chosen[k] == list[e];
            if (!chosen) c->chosen[c->count++] = list[e];
        }
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
static int run_chosen(const paper_choice* c, paper_results* results)
{
    paper_live line = {.shown = !c->quiet && isatty(STDERR_FILENO) == 1, .count = c->count};
    paper_options options = c->options;
    options.progress = show_progress;
    options.progress_user = &line;
    bool finished = true, agree = true;
    for (int i = 0; i < c->count; i++) {
        line.index = i;
        line.begun = clock_seconds();
        line.printed = 0;
        show_progress(&line, c->chosen[i], 0);
        paper_carry_out(c->chosen[i], &options, &results[i]);
        if (line.shown) fputs("\r\033[K", stderr);
        if (!c->quiet) print_results(&results[i]);
        if (paper_succeeded(&results[i])) continue;
        const char* name = c->chosen[i]->name;
        const int wrong = paper_disagreements(&results[i]);
        if (results[i].status < 0)
            fprintf(stderr, "talus: %s did not finish: %s\n", name, results[i].error.text);
        else if (wrong > 0)
            fprintf(stderr, "talus: %s: %d of %d rows disagree\n", name, wrong,
                    results[i].row_count);
        else
            fprintf(stderr, "talus: %s ended without a table, without data or without a figure\n",
                    name);
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

static const option_row options[] = {
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .kind = &value_folder,
     .meaning = "a folder that is empty or does not exist",
     .otherwise = "runs/paper-NAME, ...",
     .type = OPTION_TEXT,
     .place = offsetof(paper_choice, output)},
    {.name = "short",
     .meaning = "the versions of the test suite: some seconds each",
     .type = OPTION_FLAG,
     .place = offsetof(paper_choice, options.brief)},
    {.name = "threads",
     .value = "N",
     .meaning = "threads to simulate with; only times depend on it",
     .otherwise = "1",
     .type = OPTION_COUNT,
     .place = offsetof(paper_choice, options.threads),
     .low = 1,
     .high = 4096},
    {.name = "seed",
     .value = "S",
     .meaning = "seed of all random numbers",
     .otherwise = "1",
     .type = OPTION_WHOLE,
     .place = offsetof(paper_choice, options.seed)},
    {.name = "quiet",
     .meaning = "print nothing but errors",
     .type = OPTION_FLAG,
     .place = offsetof(paper_choice, quiet)},
    {0},
};

static int carry_out_papers(int argc, char** argv)
{
    paper_choice c = {.options = {.threads = 1, .seed = 1}};
    int status = options_read(&command_paper, argc, argv, &c);
    if (status != OPTIONS_GOOD) return status;
    if (c.names.count == 0) {
        for (const paper_experiment* const* e = paper_list(); *e; e++) {
            printf("%-16s %s\n%-16s %s\n", (*e)->name, (*e)->title, "", (*e)->source);
        }
        print_as_called(stdout,
                        "\nCarry one out with: talus paper NAME; all with: talus paper all\n");
        return STATUS_OK;
    }
    if (!choose(&c)) return STATUS_USAGE;
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

const command command_paper = {
    .name = "paper",
    .usage = "paper [NAME...|all] [-o DIR] [--short] [options]",
    .summary = "repeat published experiments and compare the numbers",
    .about =
        "Without a NAME, lists the experiments. Each prints a table of what was measured "
        "against\n"
        "what was published or predicted, and writes NAME.csv, NAME.png, NAME.svg (some more of "
        "each),\n"
        "NAME-table.csv, and index.html with everything. The exit status is 4 if a number\n"
        "disagrees.\n",
    .options = options,
    .examples = "  talus paper\n"
                "  talus paper chain --short -o chain-results\n",
    .rest = {.what = "experiments", .kind = &value_paper, .place = offsetof(paper_choice, names)},
    .function = carry_out_papers,
};

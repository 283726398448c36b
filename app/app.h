/// The talus program: what its files share.
#ifndef TALUS_APP_H
#define TALUS_APP_H

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <talus/talus.h>

/// Exit statuses; docs/running.md and `talus help` list them.
enum {
    STATUS_OK = 0,
    STATUS_FAILURE = 1,      ///< a file, memory, the machine
    STATUS_USAGE = 2,        ///< the command line
    STATUS_SCENE = 3,        ///< the scene has errors
    STATUS_NUMERIC = 4,      ///< a policy of the scene stopped the run
    STATUS_INTERRUPTED = 75, ///< stopped by a signal, can be resumed (EX_TEMPFAIL)
};

enum { PATH_SIZE = 4096 };

// ---- main.c ------------------------------------------------------------------------------------

/// A subcommand: `talus NAME ...`.
typedef struct command {
    const char* name;
    const char* usage;   ///< after "talus "
    const char* summary; ///< one line
    const char* help;    ///< the rest of `talus help NAME`
    int (*function)(int argc, char** argv);
} command;

const command* command_list(int* count);
/// The command of that name, NULL (and a suggestion on stderr) if there is none.
const command* command_find(const char* name);

int command_run(int argc, char** argv);
int command_resume(int argc, char** argv);
int command_check(int argc, char** argv);
int command_advise(int argc, char** argv);
int command_scenes(int argc, char** argv);
int command_export(int argc, char** argv);
int command_measure(int argc, char** argv);
int command_import(int argc, char** argv);
int command_ensemble(int argc, char** argv);
int command_solve(int argc, char** argv);
int command_paper(int argc, char** argv);
int command_render(int argc, char** argv);
int command_plot(int argc, char** argv);
int command_view(int argc, char** argv);
int command_new(int argc, char** argv);
int command_schema(int argc, char** argv);
int command_completion(int argc, char** argv);
int command_help(int argc, char** argv);
int command_version(int argc, char** argv);
/// Name of the i-th format of `talus import`, NULL behind the last.
const char* import_format_name(int index);
/// Print the help of one command to stdout.
void print_command_help(const command* c);

// ---- help_text.c and manual.c ------------------------------------------------------------------

/// An option as a help text lists it.
typedef struct help_option {
    char letter;         ///< of -o, '\0' if there is none
    char names[4][32];   ///< of --output; several that are explained together
    int count;           ///< of names
    char value[32];      ///< "DIR", empty if it has none
    bool value_may_lack; ///< --dump-problems[=N]
    char text[480];      ///< what it does
} help_option;

/// Whether an option begins at this line of a help text.
bool help_is_option(const char* line);
/// Read the option that begins at `line`; returns the line behind it.
const char* help_read_option(const char* line, help_option* out);
/// Go on from *at to the next option; false at the end.
bool help_next_option(const char** at, help_option* out);
/// Write the man page as roff.
void manual_write(FILE* out);

// ---- options.c ---------------------------------------------------------------------------------

/// getopt_long() that explains what is wrong on stderr, with a suggestion for a mistyped option.
/// Returns '?' then; otherwise as getopt_long(). `brief` must begin with ':'. Set optind to 1
/// first.
int options_next(int argc, char** argv, const char* brief, const struct option* list);
/// Read a whole number >= low; false, with a message on stderr, if the text is not one.
bool options_integer(const char* option, const char* text, int64_t low, int64_t* out);
/// Read a finite number >= 0 likewise.
bool options_number(const char* option, const char* text, double* out);
/// Read a number from low to high likewise.
bool options_between(const char* option, const char* text, double low, double high, double* out);
/// The one argument left after the options; NULL, with a message, if there are none or several.
const char* options_single(int argc, char** argv, const char* what);
/// The values of a repeatable option: pointers into argv, at most argc of them. free() `items`.
typedef struct option_values {
    const char** items;
    int count;
} option_values;
bool option_values_add(option_values* values, int argc, const char* value);

#ifndef TALUS_SCENES_FROM_PROGRAM
#define TALUS_SCENES_FROM_PROGRAM "../share/talus/scenes"
#endif

// ---- locate.c ----------------------------------------------------------------------------------

/// Path of a scene given as a path or as the name of a ready-made one; false, with a message.
bool locate_scene(const char* scene, char path[PATH_SIZE]);
/// Directories with ready-made scenes, in the order they are searched; calls `visit` for each that
/// exists until it returns true.
bool locate_directories(bool (*visit)(const char* directory, void* user), void* user);
/// Name of a scene file without directory and ".yaml".
void scene_name(const char* path, char* out, size_t size);

// ---- command_run.c -----------------------------------------------------------------------------

/// Take --dump-problems[=N] into the definition; false, with a message, if N is no good.
bool options_dump(talus_run_def* def);

/// Make the first of runs/NAME, runs/NAME-2, ... that does not exist; false, with a message.
/// mkdir() decides, so two processes never get the same one.
bool make_fresh_directory(const char* scene, char path[PATH_SIZE]);

// ---- carry.c -----------------------------------------------------------------------------------

/// What `run`, `resume` and `ensemble` have in common.
typedef struct carry_options {
    bool quiet, json;
    bool brief; ///< progress, but nothing about the end
} carry_options;

/// Start or resume with signals caught, progress shown and the ending told. Returns exit status.
int carry_out(talus_run_def* def, bool resume, carry_options options);

// ---- live.c ------------------------------------------------------------------------------------

/// The live line on a terminal, or plain lines now and then.
typedef struct live {
    bool quiet;
    bool terminal;  ///< stderr is one
    bool utf8;      ///< the terminal understands more than ASCII
    bool shown;     ///< a live line stands on the terminal
    double printed; ///< clock of the last print
    int phase;      ///< of the last print, -1 before the first
} live;

live live_begin(bool quiet);
/// talus_progress_fn and talus_log_fn; `user` is the live.
void live_progress(void* user, const talus_progress* progress);
void live_log(void* user, talus_log_level level, const char* text);
/// Take the live line off the terminal.
void live_clear(live* l);
/// Print `head`, a text and a newline. Where `out` is a terminal, lines break between words, and
/// all but the first begin with `indent` blanks.
void print_wrapped(FILE* out, const char* head, int indent, const char* text);
/// Columns that a text takes on a terminal: bytes that are not UTF-8 continuations.
size_t columns_of(const char* text);
/// "12s", "1m20s", "2h05m" into `out`.
void format_duration(double seconds, char* out, size_t size);

// ---- ensemble_files.c --------------------------------------------------------------------------

/// Numbers that stand in ensemble.json beside those of the ensemble itself.
typedef struct ensemble_source {
    const char* from; ///< directory of the run
    const talus_world* world;
    bool finished;
    const talus_ensemble_def* def;
} ensemble_source;

/// Write ensemble.json, contacts.csv, samples.csv and histogram.csv; false, with a message.
bool ensemble_write_files(const char* directory, const ensemble_source* source,
                          const talus_ensemble* e);
/// Write what ensemble.json holds to an open file.
void ensemble_write_json(FILE* file, const ensemble_source* source, const talus_ensemble* e);

// ---- ending.c ----------------------------------------------------------------------------------

/// "verdict" and its lines, indented.
void print_verdict(FILE* out, const char* verdict);
/// Timing table, verdict, and where the files are.
void ending_print(FILE* out, const char* directory, const talus_summary* summary);
/// Copy directory/summary.json to stdout; false, with a message, if it cannot be read.
bool ending_print_json(const char* directory);
/// Lines of a scene report to stderr, or the error's text if there are none.
void print_problems(const talus_report* report, const talus_error* error);

#endif

/// The talus program: what its files share.
#ifndef TALUS_APP_H
#define TALUS_APP_H

#include "options.h"

#include <signal.h>
#include <stdio.h>
#include <talus/workshop.h>

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

// ---- commands ----------------------------------------------------------------------------------

extern const command command_run, command_resume, command_check, command_advise, command_scenes,
    command_sweep, command_export, command_measure, command_render, command_plot, command_import,
    command_ensemble, command_solve, command_paper, command_view, command_new, command_schema,
    command_completion, command_help, command_version;

/// All commands in the order in which they are listed, NULL behind the last (main.c).
const command* const* command_list(void);
/// What `talus help` says (command_help.c).
void print_overview(FILE* out);

#ifndef TALUS_SCENES_FROM_PROGRAM
#define TALUS_SCENES_FROM_PROGRAM "../share/talus/scenes"
#endif

// ---- crash.c -----------------------------------------------------------------------------------

/// Make a crash within HDF5 an error with a message; before anything else uses HDF5.
void expect_crashes(void);

// ---- locate.c ----------------------------------------------------------------------------------

/// Path of a scene given as a path or as the name of a ready-made one; false, with a message.
bool locate_scene(const char* scene, char path[PATH_SIZE]);
/// Directories with ready-made scenes, in the order they are searched; calls `visit` for each that
/// exists until it returns true.
bool locate_directories(bool (*visit)(const char* directory, void* user), void* user);
/// Name of a scene file without directory and ".yaml".
void scene_name(const char* path, char* out, size_t size);

// ---- command_run.c -----------------------------------------------------------------------------

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

// ---- program.c ---------------------------------------------------------------------------------

/// Room for a path of which every letter is a quote.
enum { QUOTED_SIZE = 4 * PATH_SIZE + 8 };

/// The program in commands for the reader: as it was called, and `talus` where the shell finds it.
/// Every command that is told begins with it.
const char* program(void);
/// Tell how it was called, once.
void program_called(const char* argv0);
/// A path as a shell takes it: in single quotes if it has more than plain letters.
void quote_path(const char* path, char out[QUOTED_SIZE]);
/// Print a text in which each `talus COMMAND` becomes the program as it was called.
void print_as_called(FILE* out, const char* text);

// ---- terminal.c --------------------------------------------------------------------------------

/// Print `head`, a text and a newline. Where `out` is a terminal, lines break between words, and
/// all but the first begin with `indent` blanks.
void print_wrapped(FILE* out, const char* head, int indent, const char* text);
/// Columns that can be used without wrapping around; `file` is a terminal's.
size_t terminal_width(int file);
/// Columns that a text takes on a terminal: bytes that are not UTF-8 continuations.
size_t columns_of(const char* text);
/// "12s", "1m20s", "2h05m" into `out`.
void format_duration(double seconds, char* out, size_t size);
/// "verdict" and its lines, indented.
void print_verdict(FILE* out, const char* verdict);
/// Lines of a scene report to stderr, or the error's text if there are none.
void print_problems(const talus_report* report, const talus_error* error);

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

#endif

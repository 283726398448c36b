/// A study: one scene with other values of some keys, each with several seeds, run side by side.
#ifndef TALUS_APP_SWEEP_H
#define TALUS_APP_SWEEP_H

#include "app.h"

#include <sys/types.h>

enum {
    SWEEP_KEYS = 8,
    SWEEP_MEASURES = 32,
    SWEEP_RUNS = 100000,
    SWEEP_NAME = 200,
    SWEEP_TEXT = 256, ///< letters of a key or of a value
    SWEEP_SETS = 64,  ///< values of --set
};

/// A key and the values that it takes, as YAML.
typedef struct sweep_key {
    char path[SWEEP_TEXT];
    char** value; ///< [count]
    int count;
} sweep_key;

typedef enum sweep_state {
    SWEEP_WAITING,
    SWEEP_RUNNING,
    SWEEP_DONE,
    SWEEP_FAILED,
    SWEEP_INTERRUPTED,
} sweep_state;

/// One run of the study.
typedef struct sweep_run {
    int point;             ///< combination of values, counted with the last key fastest
    int seed;              ///< 0: the scene's own
    char name[SWEEP_NAME]; ///< of its folder in the study's
    sweep_state state;
    pid_t process;
    double began;                 ///< clock
    double value[SWEEP_MEASURES]; ///< what was measured, NaN: nothing
} sweep_run;

typedef struct sweep {
    const char* scene; ///< path
    const char* folder;
    option_sets sets;
    sweep_key key[SWEEP_KEYS];
    int key_count;
    int seeds;       ///< runs of each combination
    bool seeds_said; ///< seeds 1, 2, ... instead of the scene's own
    char* measure[SWEEP_MEASURES];
    int measure_count;
    const char* frames; ///< of `talus measure`
    int threads, jobs;
    const char* device; ///< NULL: as the scene says
    int64_t steps;
    bool pages, quiet;
    sweep_run* run; ///< [run_count]
    int run_count, point_count;
} sweep;

// ---- sweep_plan.c ------------------------------------------------------------------------------

/// Values of `--vary key=SPEC`: a,b,c or low:high:count or low:high:count:log. False, with a
/// message.
bool sweep_add_key(sweep* s, const char* text);
/// Names of measures separated by commas; false, with a message.
bool sweep_add_measures(sweep* s, const char* text);
/// The value of a key in a combination.
const char* sweep_value(const sweep* s, int point, int key);
/// Check all values with the scene, and list the runs. Returns an exit status.
int sweep_plan(sweep* s);
void sweep_free(sweep* s);

// ---- sweep_runs.c ------------------------------------------------------------------------------

/// Carry out what is not done yet, several runs at a time. Returns an exit status.
int sweep_carry_out(sweep* s);

// ---- sweep_table.c -----------------------------------------------------------------------------

/// Whether a measure is the mean of a column of the series, and not one of `talus measure`.
bool sweep_of_series(const char* measure, const char** column);
/// Read what was measured in the runs that are done, and write runs.csv, table.csv, sweep.png and
/// index.html. False, with a message.
bool sweep_report(sweep* s);

#endif

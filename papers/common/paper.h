/// A published experiment: what the files in papers/ share.
///
/// An experiment is a function that simulates with the public API, states what it measured against
/// what was published or predicted (paper_within() and its sisters: one row of the table each),
/// writes its data (paper_csv()) and its figures (paper_figure()). `talus paper NAME` calls it.
#ifndef TALUS_PAPER_H
#define TALUS_PAPER_H

#include <talus/workshop.h>

/// Leave the function with the status of a failed call.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        talus_status try_status = (call);                                                          \
        if (try_status < 0) return try_status;                                                     \
    } while (0)

typedef struct paper_results paper_results;

/// One run of an experiment, as its function sees it.
typedef struct paper {
    bool brief;        ///< the short version, of the test suite: a few seconds on one core
    int threads;       ///< to simulate with
    uint64_t seed;     ///< from which all random numbers of the experiment come
    talus_error error; ///< hand &p->error to every call
    paper_results* results;
} paper;

/// An experiment. papers/common/list.c has them all.
typedef struct paper_experiment {
    const char* name;   ///< as in `talus paper NAME`
    const char* title;  ///< one line
    const char* source; ///< paper and figure
    const char* about;  ///< what is done and what is to be seen, for the page: one paragraph
    talus_status (*run)(paper* p);
} paper_experiment;

// ---- the table ---------------------------------------------------------------------------------

/// State that a number agrees with an expected one: |measured - expected| <= tolerance. `why` says
/// where the expectation and the tolerance come from. If it does not, the run fails.
void paper_within(paper* p, const char* quantity, double measured, double expected,
                  double tolerance, const char* why);
/// State that a number lies in [low, high]; -INFINITY and INFINITY are bounds too.
void paper_between(paper* p, const char* quantity, double measured, double low, double high,
                   const char* why);
/// Report a published number that is missed for a known reason; never fails.
void paper_differs(paper* p, const char* quantity, double measured, double published,
                   const char* reason);
/// Add a remark under the table, printf-like: choices that the paper leaves open, what depends on
/// them.
void paper_note(paper* p, const char* format, ...) TALUS_PRINTF(2, 3);

// ---- files -------------------------------------------------------------------------------------

/// A column of a CSV file.
typedef struct paper_column {
    const char* name; ///< with its unit, such as "t/h"
    const double* values;
} paper_column;

/// Write columns of equal length as NAME.csv, or NAME-SUFFIX.csv if suffix is not NULL.
talus_status paper_csv(paper* p, const char* suffix, int64_t rows, int column_count,
                       const paper_column* columns);
/// Make a figure, which is destroyed when the experiment ends.
talus_status paper_new_figure(paper* p, const talus_figure_def* def, talus_figure** out);
/// Write a figure as NAME[-SUFFIX].png and .svg, and show it on the page with its caption.
talus_status paper_figure(paper* p, const char* suffix, const talus_figure* figure,
                          const char* caption);

// ---- while it runs -----------------------------------------------------------------------------

/// Tell how much of the experiment is done, 0 to 1: for the live line and its ETA.
void paper_progress(paper* p, double done);
/// Processor seconds of this process so far, for costs.
double paper_seconds(void);
/// Fail with a text, printf-like, as the library's calls do.
talus_status paper_fail(paper* p, const char* format, ...) TALUS_PRINTF(2, 3);
/// What the experiments solve with unless they say otherwise: the library's defaults, with a
/// velocity error of 1 % in every step. `tolerance: auto`, which asks less of a flow, came after
/// them.
talus_solver_def paper_solver_default(void);
/// A world's defaults, with that solver.
talus_world_def paper_world_default(void);
/// Make a world, which is destroyed when the experiment ends, if not before.
talus_status paper_world(paper* p, const talus_world_def* def, talus_world** out);
/// Destroy such a world now.
void paper_end_world(paper* p, talus_world* world);
/// Memory that lives until the experiment ends; zeroed. NULL, with p->error set, if there is none.
void* paper_alloc(paper* p, size_t count, size_t size);

#endif

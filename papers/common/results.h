/// What an experiment has brought so far: rows of its table, remarks, files. The frame's own
/// header; experiments see only paper.h.
#ifndef TALUS_PAPER_RESULTS_H
#define TALUS_PAPER_RESULTS_H

#include "paper.h"

#include <stdio.h>

typedef enum paper_verdict {
    PAPER_AGREES = 0,
    PAPER_DISAGREES,
    PAPER_DIFFERS, ///< from the paper, for a reason that is stated
} paper_verdict;

/// A row of the table. Texts belong to it.
typedef struct paper_row {
    char* quantity;
    double measured;
    double low, high; ///< interval of agreement
    double expected;  ///< NaN: only the interval is known
    paper_verdict verdict;
    char* why;
} paper_row;

typedef struct paper_picture {
    char* file; ///< without its ending
    char* caption;
} paper_picture;

/// Called when an experiment tells how far it is.
typedef void paper_progress_fn(void* user, const paper_experiment* experiment, double done);

/// How experiments are to be run.
typedef struct paper_options {
    const char* directory; ///< that exists; files go there
    bool brief;
    int threads;
    uint64_t seed;
    paper_progress_fn* progress; ///< may be NULL
    void* progress_user;
} paper_options;

struct paper_results {
    const paper_experiment* experiment;
    const paper_options* options;
    paper_row* rows;
    int row_count;
    char** notes;
    int note_count;
    paper_picture* pictures;
    int picture_count;
    char** tables; ///< names of CSV files
    int table_count;
    void** memory; ///< of paper_alloc()
    int memory_count;
    talus_world** worlds; ///< of paper_world()
    int world_count;
    talus_figure** figures; ///< of paper_new_figure()
    int figure_count;
    bool short_of_memory; ///< a row or remark was lost: the run fails
    double seconds;       ///< wall time
    double cpu_seconds;
    talus_status status; ///< of the experiment's function
    talus_error error;
};

/// Run an experiment. *out is filled even if it fails; end it with paper_results_free().
talus_status paper_carry_out(const paper_experiment* experiment, const paper_options* options,
                             paper_results* out);
void paper_results_free(paper_results* results);
/// Rows that disagree.
int paper_disagreements(const paper_results* results);
/// It went through, brought a table, data and a figure, and no row disagrees.
bool paper_succeeded(const paper_results* results);

/// "agrees", "disagrees" or "differs, see why". Static text.
const char* paper_verdict_words(paper_verdict verdict);
/// What a row was expected to be ("0.5 +- 0.01", "at most 3") and how far off it is ("+0.3 %").
void paper_expected_words(const paper_row* row, char* out, size_t size);
void paper_deviation_words(const paper_row* row, char* out, size_t size);

/// Write the table as NAME-table.csv.
talus_status paper_write_table(const paper_results* results, talus_error* error);
/// Write index.html with all tables, remarks and figures; it needs no other file.
talus_status paper_write_page(const char* directory, const paper_results* results, int count,
                              talus_error* error);

/// Write a cell of text, in quotes where CSV (RFC 4180) needs them, and what separates it from the
/// next.
void paper_write_text(FILE* file, const char* text, char end);
/// Open DIRECTORY/NAME for writing; NULL, with the error filled, if that fails.
FILE* paper_open(const char* directory, const char* name, talus_error* error);
/// Close it; an error if not all has reached the disk.
talus_status paper_close(FILE* file, const char* name, talus_error* error);
/// Fill an error and return its status, printf-like.
talus_status paper_error(talus_error* error, talus_status status, const char* format, ...)
    TALUS_PRINTF(3, 4);

#endif

/// The frame of the experiments: rows and remarks are collected here, and judged.
#include "results.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double paper_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static talus_status fill_error(talus_error* error, talus_status status, const char* format,
                               va_list arguments)
{
    if (!error) return status;
    error->status = status;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    return status;
}

talus_status paper_error(talus_error* error, talus_status status, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, status, format, arguments);
    va_end(arguments);
    return status;
}

talus_status paper_fail(paper* p, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill_error(&p->error, TALUS_ERR_STATE, format, arguments);
    va_end(arguments);
    return TALUS_ERR_STATE;
}

/// Make room for one more item of a list; the new one is zero. NULL if there is no memory.
static void* grow(paper_results* r, void* list, int* count, size_t size)
{
    void** items = list;
    char* more = realloc(*items, (size_t)(*count + 1) * size);
    if (!more) {
        r->short_of_memory = true;
        return NULL;
    }
    *items = more;
    return memset(more + (size_t)(*count)++ * size, 0, size);
}

static char* copy(paper_results* r, const char* text)
{
    char* out = strdup(text ? text : "");
    if (!out) r->short_of_memory = true;
    return out;
}

// ---- the table ---------------------------------------------------------------------------------

static void add_row(paper* p, const paper_row* row)
{
    paper_results* r = p->results;
    paper_row* own = grow(r, &r->rows, &r->row_count, sizeof *own);
    if (!own) return;
    *own = *row;
    own->quantity = copy(r, row->quantity);
    own->why = copy(r, row->why);
    if (own->quantity && own->why) return;
    free(own->quantity);
    free(own->why);
    r->row_count--;
}

/// NaN is in no interval.
static paper_verdict judge(double measured, double low, double high)
{
    return measured >= low && measured <= high ? PAPER_AGREES : PAPER_DISAGREES;
}

void paper_within(paper* p, const char* quantity, double measured, double expected,
                  double tolerance, const char* why)
{
    double low = expected - tolerance, high = expected + tolerance;
    add_row(p, &(paper_row){.quantity = (char*)quantity,
                            .measured = measured,
                            .low = low,
                            .high = high,
                            .expected = expected,
                            .verdict = judge(measured, low, high),
                            .why = (char*)why});
}

void paper_between(paper* p, const char* quantity, double measured, double low, double high,
                   const char* why)
{
    add_row(p, &(paper_row){.quantity = (char*)quantity,
                            .measured = measured,
                            .low = low,
                            .high = high,
                            .expected = NAN,
                            .verdict = judge(measured, low, high),
                            .why = (char*)why});
}

void paper_differs(paper* p, const char* quantity, double measured, double published,
                   const char* reason)
{
    add_row(p, &(paper_row){.quantity = (char*)quantity,
                            .measured = measured,
                            .low = published,
                            .high = published,
                            .expected = published,
                            .verdict = PAPER_DIFFERS,
                            .why = (char*)reason});
}

void paper_note(paper* p, const char* format, ...)
{
    paper_results* r = p->results;
    char** note = grow(r, &r->notes, &r->note_count, sizeof *note);
    if (!note) return;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(note, format, arguments) < 0) {
        r->note_count--;
        r->short_of_memory = true;
    }
    va_end(arguments);
}

// ---- files -------------------------------------------------------------------------------------

static void file_name(const paper* p, const char* suffix, char* out, size_t size)
{
    snprintf(out, size, "%s%s%s", p->results->experiment->name, suffix ? "-" : "",
             suffix ? suffix : "");
}

talus_status paper_csv(paper* p, const char* suffix, int64_t rows, int column_count,
                       const paper_column* columns)
{
    paper_results* r = p->results;
    char base[128], name[160];
    file_name(p, suffix, base, sizeof base);
    snprintf(name, sizeof name, "%s.csv", base);
    FILE* file = paper_open(r->options->directory, name, &p->error);
    if (!file) return p->error.status;
    for (int c = 0; c < column_count; c++) {
        paper_write_text(file, columns[c].name, c + 1 < column_count ? ',' : '\n');
    }
    for (int64_t i = 0; i < rows; i++) {
        for (int c = 0; c < column_count; c++) {
            fprintf(file, "%.12g%c", columns[c].values[i], c + 1 == column_count ? '\n' : ',');
        }
    }
    TRY(paper_close(file, name, &p->error));
    char** own = grow(r, &r->tables, &r->table_count, sizeof *own);
    if (own && !(*own = copy(r, name))) r->table_count--;
    return TALUS_OK;
}

talus_status paper_new_figure(paper* p, const talus_figure_def* def, talus_figure** out)
{
    paper_results* r = p->results;
    talus_figure** own = grow(r, &r->figures, &r->figure_count, sizeof *own);
    if (!own) return paper_error(&p->error, TALUS_ERR_MEMORY, "no memory for a figure");
    TRY(talus_figure_create(def, own, &p->error));
    *out = *own;
    return TALUS_OK;
}

talus_status paper_figure(paper* p, const char* suffix, const talus_figure* figure,
                          const char* caption)
{
    enum { DOTS = 144 }; // two dots a point: sharp on a screen of today
    paper_results* r = p->results;
    char base[128], path[4096];
    file_name(p, suffix, base, sizeof base);
    static const char* const endings[] = {"png", "svg"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", r->options->directory, base, endings[i]);
        TRY(talus_figure_write(figure, path, DOTS, &p->error));
    }
    paper_picture* picture = grow(r, &r->pictures, &r->picture_count, sizeof *picture);
    if (!picture) return TALUS_OK; // the run fails at its end
    picture->file = copy(r, base);
    picture->caption = copy(r, caption);
    if (picture->file && picture->caption) return TALUS_OK;
    free(picture->file);
    free(picture->caption);
    r->picture_count--;
    return TALUS_OK;
}

FILE* paper_open(const char* directory, const char* name, talus_error* error)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    errno = ENAMETOOLONG;
    FILE* file = length < (int)sizeof path ? fopen(path, "w") : NULL;
    if (!file) paper_error(error, TALUS_ERR_IO, "cannot write %s: %m", path);
    return file;
}

talus_status paper_close(FILE* file, const char* name, talus_error* error)
{
    bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return TALUS_OK;
    return paper_error(error, TALUS_ERR_IO, "cannot write all of %s: %m", name);
}

// ---- while it runs -----------------------------------------------------------------------------

void paper_progress(paper* p, double done)
{
    const paper_options* options = p->results->options;
    if (options->progress) {
        options->progress(options->progress_user, p->results->experiment, done);
    }
}

void* paper_alloc(paper* p, size_t count, size_t size)
{
    paper_results* r = p->results;
    void** own = grow(r, &r->memory, &r->memory_count, sizeof *own);
    if (own) *own = calloc(count ? count : 1, size);
    if (!own || !*own) {
        paper_error(&p->error, TALUS_ERR_MEMORY, "no memory for %zu items of %zu bytes", count,
                    size);
        return NULL;
    }
    return *own;
}

talus_solver_def paper_solver_default(void)
{
    talus_solver_def solver = talus_solver_default();
    solver.tolerance = 0.01;
    solver.separate_overlaps =
        false; // the published method lets overlaps be, or has them pushed out
    return solver;
}

talus_world_def paper_world_default(void)
{
    talus_world_def def = talus_world_default();
    def.solver = paper_solver_default();
    return def;
}

talus_status paper_world(paper* p, const talus_world_def* def, talus_world** out)
{
    paper_results* r = p->results;
    talus_world** own = grow(r, &r->worlds, &r->world_count, sizeof *own);
    if (!own) return paper_error(&p->error, TALUS_ERR_MEMORY, "no memory for a world");
    const talus_status status = talus_world_create(def, own, &p->error);
    if (status < 0) r->world_count--;
    *out = status < 0 ? NULL : *own;
    return status;
}

void paper_end_world(paper* p, talus_world* world)
{
    paper_results* r = p->results;
    int i = r->world_count - 1; // mostly the last one
    while (i >= 0 && r->worlds[i] != world) i--;
    if (i < 0) return;
    r->worlds[i] = r->worlds[--r->world_count];
    talus_world_destroy(world);
}

static void free_memory(paper_results* r)
{
    for (int i = 0; i < r->memory_count; i++) free(r->memory[i]);
    for (int i = 0; i < r->world_count; i++) talus_world_destroy(r->worlds[i]);
    for (int i = 0; i < r->figure_count; i++) talus_figure_destroy(r->figures[i]);
    free(r->memory);
    free(r->worlds);
    free(r->figures);
    r->memory = NULL;
    r->worlds = NULL;
    r->figures = NULL;
    r->memory_count = r->world_count = r->figure_count = 0;
}

talus_status paper_carry_out(const paper_experiment* experiment, const paper_options* options,
                             paper_results* out)
{
    *out = (paper_results){.experiment = experiment, .options = options};
    paper p = {.brief = options->brief,
               .threads = options->threads,
               .seed = options->seed,
               .results = out};
    double wall = seconds_of(CLOCK_MONOTONIC), cpu = paper_seconds();
    out->status = experiment->run(&p);
    out->error = p.error;
    out->seconds = seconds_of(CLOCK_MONOTONIC) - wall;
    out->cpu_seconds = paper_seconds() - cpu;
    free_memory(out);
    if (out->status >= 0 && out->short_of_memory) {
        out->status = paper_error(&out->error, TALUS_ERR_MEMORY, "no memory for the table");
    }
    if (out->status >= 0) out->status = paper_write_table(out, &out->error);
    return out->status;
}

void paper_results_free(paper_results* r)
{
    for (int i = 0; i < r->row_count; i++) {
        free(r->rows[i].quantity);
        free(r->rows[i].why);
    }
    for (int i = 0; i < r->note_count; i++) free(r->notes[i]);
    for (int i = 0; i < r->picture_count; i++) {
        free(r->pictures[i].file);
        free(r->pictures[i].caption);
    }
    for (int i = 0; i < r->table_count; i++) free(r->tables[i]);
    free(r->rows);
    free(r->notes);
    free(r->pictures);
    free(r->tables);
    free_memory(r);
    *r = (paper_results){0};
}

int paper_disagreements(const paper_results* r)
{
    int count = 0;
    for (int i = 0; i < r->row_count; i++) count += r->rows[i].verdict == PAPER_DISAGREES;
    return count;
}

bool paper_succeeded(const paper_results* r)
{
    return r->status >= 0 && r->row_count > 0 && r->picture_count > 0 && r->table_count > 0 &&
           paper_disagreements(r) == 0;
}

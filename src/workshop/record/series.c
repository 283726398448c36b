/// series.csv: one row a step, one column a number, the first line names them.
///
/// The names have no units, which depend on the scene (SI or reduced): run.json says which, and
/// docs/files.md lists those of SI. A line of units of its own would stop
/// numpy.genfromtxt(names=True) and pandas from reading the file as it is. Numbers have 17 digits:
/// they read back as the same doubles.
#include "record/record.h"

#include "base/error.h"
#include "record/files.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/measure.h>
#include <unistd.h>

typedef enum cell_kind { CELL_COUNT, CELL_NUMBER, CELL_FLAG } cell_kind;

/// Methods whose runs have a column.
typedef enum column_method { IN_BOTH = 0, IN_CONTACT, IN_SOFT } column_method;

typedef struct series_column {
    const char* name;
    cell_kind kind;
    size_t offset; ///< in talus_step_result
    column_method method;
} series_column;

#define IN_RESULT(member) offsetof(talus_step_result, member)

static const series_column step_table[] = {
    {"step", CELL_COUNT, IN_RESULT(step), IN_BOTH},
    {"time", CELL_NUMBER, IN_RESULT(time), IN_BOTH},
    {"grains", CELL_COUNT, IN_RESULT(grains), IN_BOTH},
    {"contacts", CELL_COUNT, IN_RESULT(contacts), IN_BOTH},
    {"active", CELL_COUNT, IN_RESULT(active), IN_BOTH},
    {"sweeps", CELL_COUNT, IN_RESULT(sweeps), IN_CONTACT},
    {"converged", CELL_FLAG, IN_RESULT(converged), IN_CONTACT},
    {"residual", CELL_NUMBER, IN_RESULT(residual), IN_CONTACT},
    {"overlap_mean", CELL_NUMBER, IN_RESULT(overlap_mean), IN_BOTH},
    {"overlap_max", CELL_NUMBER, IN_RESULT(overlap_max), IN_BOTH},
    {"kinetic_energy", CELL_NUMBER, IN_RESULT(kinetic_energy), IN_BOTH},
    {"system_size", CELL_NUMBER, IN_RESULT(rigidity.system_size), IN_CONTACT},
    {"diffusion_length", CELL_NUMBER, IN_RESULT(rigidity.diffusion_length), IN_CONTACT},
    {"stiffness", CELL_NUMBER, IN_RESULT(rigidity.stiffness), IN_CONTACT},
    {"velocity_error", CELL_NUMBER, IN_RESULT(rigidity.velocity_error), IN_CONTACT},
    {"sweeps_for_rigid", CELL_NUMBER, IN_RESULT(rigidity.sweeps_for_rigid), IN_CONTACT},
    {"yielding", CELL_FLAG, IN_RESULT(rigidity.yielding), IN_CONTACT},
    {"second", CELL_FLAG, IN_RESULT(second), IN_CONTACT},
    {"elastic_energy", CELL_NUMBER, IN_RESULT(energy.elastic), IN_SOFT},
    {"dissipated", CELL_NUMBER, IN_RESULT(energy.dissipated), IN_SOFT},
    {"input_work", CELL_NUMBER, IN_RESULT(energy.input), IN_SOFT},
    {"energy_error", CELL_NUMBER, IN_RESULT(energy.error), IN_SOFT},
};
enum { STEP_COLUMNS = sizeof step_table / sizeof step_table[0], BUFFER_BYTES = 1 << 16 };

/// A contact counts for the coordination when its force exceeds this share of the mean.
#define STRONG_CONTACT 1e-6

struct series {
    char* path;
    int file;
    int64_t bytes;       ///< that are in the file for good
    int64_t walls;       ///< that have columns: those declared when the file was begun
    text_buffer pending; ///< rows not yet written
};

// ---- rows --------------------------------------------------------------------------------------

static bool has_column(const talus_world* world, const series_column* col)
{
    return col->method == IN_BOTH ||
           col->method == (world->method->solves_contacts ? IN_CONTACT : IN_SOFT);
}

static void add_header(text_buffer* t, const talus_world* world, int64_t wall_count)
{
    for (int c = 0; c < STEP_COLUMNS; c++) {
        if (has_column(world, &step_table[c])) text_add(t, "%s,", step_table[c].name);
    }
    text_add(t, "removed,step_length,coordination");
    for (int64_t w = 0; w < wall_count; w++) {
        for (int q = 0; q < 2; q++) {
            for (int k = 0; k < world->def.dim; k++) {
                text_add(t, ",");
                // numpy drops or joins at other characters, and a comma would shift the columns.
                text_add_word(t, world->state.walls.record[w].name);
                text_add(t, "_%s_%c", q == 0 ? "force" : "position", 'x' + k);
            }
        }
    }
    text_add(t, "\n");
}

static void add_row(text_buffer* t, const talus_world* world, double h, int64_t wall_count)
{
    for (int c = 0; c < STEP_COLUMNS; c++) {
        const series_column* col = &step_table[c];
        const char* at = (const char*)&world->last + col->offset;
        if (!has_column(world, col)) continue;
        switch (col->kind) {
        case CELL_COUNT: text_add(t, "%lld,", (long long)*(const int64_t*)at); break;
        case CELL_NUMBER: text_add(t, "%.17g,", *(const double*)at); break;
        case CELL_FLAG: text_add(t, "%d,", (int)*(const bool*)at); break;
        }
    }
    text_add(t, "%lld,%.17g,%.17g", (long long)world->totals.removed, h,
             talus_measure_contacts_per_grain(world, STRONG_CONTACT));
    for (int64_t w = 0; w < wall_count; w++) {
        const double* row[2] = {world->state.walls.force + 3 * w,
                                world->state.walls.position + 3 * w};
        for (int q = 0; q < 2; q++) {
            for (int k = 0; k < world->def.dim; k++) text_add(t, ",%.17g", row[q][k]);
        }
    }
    text_add(t, "\n");
}

// ---- the file ----------------------------------------------------------------------------------

static talus_status flush(series* s, talus_error* error)
{
    if (s->pending.failed) return error_memory(error, "rows of series.csv");
    size_t done = 0;
    while (done < s->pending.size) {
        ssize_t written = pwrite(s->file, s->pending.data + done, s->pending.size - done,
                                 (off_t)(s->bytes + (int64_t)done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            // Cut half a row off again: what is in the file can always be read.
            talus_status status = files_error(error, "write", s->path);
            if (ftruncate(s->file, (off_t)s->bytes) != 0) errno = 0;
            return status;
        }
        done += (size_t)written;
    }
    s->bytes += (int64_t)done;
    s->pending.size = 0;
    return TALUS_OK;
}

/// Find how many walls the present header names and cut the file where the checkpoint was.
static talus_status continue_file(series* s, const talus_world* world, int64_t bytes,
                                  talus_error* error)
{
    unsigned char* data = NULL;
    size_t size = 0;
    TRY(files_read(s->path, &data, &size, error));
    bool found = false;
    for (int64_t named = world->state.walls.count; named >= 0 && !found; named--) {
        text_buffer header = {0};
        add_header(&header, world, named);
        found =
            !header.failed && size >= header.size && memcmp(data, header.data, header.size) == 0;
        s->walls = named;
        text_free(&header);
    }
    bool at_row = (int64_t)size >= bytes && data[bytes - 1] == '\n';
    free(data);
    if (!found || !at_row) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s is not the series this checkpoint belongs to: %s", s->path,
                         found ? "rows are missing" : "its first line differs");
    }
    if (ftruncate(s->file, (off_t)bytes) != 0) return files_error(error, "cut", s->path);
    s->bytes = bytes;
    return TALUS_OK;
}

talus_status series_open(const char* directory, int64_t bytes, const talus_world* world,
                         series** out, talus_error* error)
{
    *out = NULL;
    series* s = calloc(1, sizeof *s);
    if (!s) return error_memory(error, "the series");
    talus_status status = TALUS_OK;
    s->path = files_text("%s/series.csv", directory);
    s->file = s->path ? open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (!s->path) {
        status = error_memory(error, "a file name");
    } else if (s->file < 0) {
        status = files_error(error, "open", s->path);
    } else if (bytes > 0) {
        status = continue_file(s, world, bytes, error);
    } else if (ftruncate(s->file, 0) != 0) {
        status = files_error(error, "empty", s->path);
    } else {
        s->walls = world->state.walls.count;
        add_header(&s->pending, world, s->walls);
        status = flush(s, error);
    }
    if (status == TALUS_OK) {
        *out = s;
    } else {
        s->pending.size = 0;
        series_close(s);
    }
    return status;
}

talus_status series_write(series* s, const talus_world* world, double h, talus_error* error)
{
    add_row(&s->pending, world, h, s->walls);
    return s->pending.size > BUFFER_BYTES || s->pending.failed ? flush(s, error) : TALUS_OK;
}

talus_status series_flush(series* s, talus_error* error)
{
    return flush(s, error);
}

talus_status series_sync(series* s, int64_t* bytes, talus_error* error)
{
    TRY(flush(s, error));
    if (fsync(s->file) != 0) return files_error(error, "sync", s->path);
    if (bytes) *bytes = s->bytes;
    return TALUS_OK;
}

void series_close(series* s)
{
    if (!s) return;
    if (s->file >= 0) {
        flush(s, NULL);
        close(s->file);
    }
    text_free(&s->pending);
    free(s->path);
    free(s);
}

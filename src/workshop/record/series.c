/// series.csv: one row a step, one column a number, the first line names them.
///
/// The names have no units, which depend on the scene (SI or reduced): run.json says which, and
/// docs/files.md lists those of SI. A line of units of its own would stop
/// numpy.genfromtxt(names=True) and pandas from reading the file as it is. Numbers have 17 digits:
/// they read back as the same doubles.
#include "record/record.h"

#include "base/error.h"
#include "record/files.h"
#include "record/series_row.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

struct series {
    char* path;
    int file;
    int64_t bytes;       ///< that are in the file for good
    int64_t walls;       ///< that have columns: those declared when the file was begun
    double* row;         ///< [series_width()]
    text_buffer pending; ///< rows not yet written
};

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
        series_names(world, named, &header);
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
        series_names(world, s->walls, &s->pending);
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
    const int width = series_width(world, s->walls);
    if (!s->row) s->row = calloc((size_t)width, sizeof *s->row);
    if (!s->row) return error_memory(error, "rows of series.csv");
    series_row(world, h, s->walls, s->row);
    // Counts, too, are printed as what they are: none has more than 17 digits.
    for (int c = 0; c < width; c++) {
        text_add(&s->pending, "%.17g%c", s->row[c], c + 1 < width ? ',' : '\n');
    }
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
    free(s->row);
    free(s->path);
    free(s);
}

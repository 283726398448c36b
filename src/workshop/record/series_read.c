/// series.csv read back as columns of numbers.
///
/// Only whole lines count: the run may be writing the next one.
#include "base/error.h"
#include "base/plain.h"
#include "record/files.h"

#include <stdlib.h>
#include <string.h>
#include <talus/recording.h>

/// End the lines of a text by zeros and count them; one that is not ended yet does not count.
static int64_t cut_lines(char* text, size_t size)
{
    int64_t lines = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n') continue;
        text[i] = '\0';
        lines++;
    }
    return lines;
}

static int count_cells(const char* line)
{
    int cells = 1;
    for (; *line; line++) cells += *line == ',';
    return cells;
}

static bool take_names(char* line, talus_series* out)
{
    out->columns = count_cells(line);
    out->name = calloc((size_t)out->columns, sizeof *out->name);
    out->data = calloc((size_t)out->columns, sizeof *out->data);
    if (!out->name || !out->data) return false;
    for (int c = 0; c < out->columns; c++) {
        char* comma = strchr(line, ',');
        if (comma) *comma = '\0';
        out->name[c] = strdup(line);
        out->data[c] = malloc(sizeof **out->data * ((size_t)out->rows + 1));
        if (!out->name[c] || !out->data[c]) return false;
        line = comma ? comma + 1 : line;
    }
    return true;
}

/// The numbers of a line into row `row`; false if they are not as many as there are names.
static bool take_row(const char* line, int64_t row, talus_series* out)
{
    for (int c = 0; c < out->columns; c++) {
        char* end;
        out->data[c][row] = strtod(line, &end);
        if (end == line || *end != (c + 1 < out->columns ? ',' : '\0')) return false;
        line = end + 1;
    }
    return true;
}

static talus_status parse(const char* path, char* text, size_t size, talus_series* out,
                          talus_error* error)
{
    const int64_t lines = cut_lines(text, size);
    if (lines == 0) return error_set(error, TALUS_ERR_FORMAT, "%s is empty", path);
    out->rows = lines - 1;
    char* next = text + strlen(text) + 1;
    if (!take_names(text, out)) return error_memory(error, "the series");
    for (int64_t row = 0; row < out->rows; row++) {
        const char* line = next;
        next += strlen(line) + 1;
        if (take_row(line, row, out)) continue;
        return error_set(error, TALUS_ERR_FORMAT, "%s:%lld: expected %d numbers", path,
                         (long long)row + 2, out->columns);
    }
    return TALUS_OK;
}

talus_status talus_series_read(const char* directory, talus_series* out, talus_error* error)
{
    *out = (talus_series){0};
    unsigned char* data = NULL;
    size_t size = 0;
    char* path = files_text("%s/series.csv", directory);
    if (!path) return error_memory(error, "a file name");
    talus_status status = files_read(path, &data, &size, error);
    if (status == TALUS_OK && memchr(data, '\0', size)) {
        status = error_set(error, TALUS_ERR_FORMAT, "%s is not a text", path);
    }
    plain_numbers numbers = plain_numbers_begin();
    if (status == TALUS_OK) status = parse(path, (char*)data, size, out, error);
    plain_numbers_end(numbers);
    if (status != TALUS_OK) talus_series_free(out);
    free(data);
    free(path);
    return status;
}

const double* talus_series_column(const talus_series* series, const char* name)
{
    for (int c = 0; c < series->columns; c++) {
        if (strcmp(series->name[c], name) == 0) return series->data[c];
    }
    return NULL;
}

void talus_series_free(talus_series* series)
{
    for (int c = 0; c < series->columns; c++) {
        if (series->name) free(series->name[c]);
        if (series->data) free(series->data[c]);
    }
    free(series->name);
    free(series->data);
    *series = (talus_series){0};
}

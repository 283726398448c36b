/// series.csv read back as columns of numbers.
///
/// Only whole lines count: the run may be writing the next one.
#include "base/error.h"
#include "base/plain.h"
#include "record/files.h"

#include <stdlib.h>
#include <string.h>
#include <talus/recording.h>

/// The first line are names, the others rows of as many numbers.
static talus_status parse(const char* path, char* text, size_t size, talus_series* out,
                          talus_error* error)
{
    int64_t lines = 0;
    for (size_t i = 0; i < size; i++) { // a line that is not ended yet does not count
        if (text[i] != '\n') continue;
        text[i] = '\0';
        lines++;
    }
    if (lines == 0) return error_set(error, TALUS_ERR_FORMAT, "%s is empty", path);
    out->rows = lines - 1;
    out->columns = 1;
    for (const char* c = text; *c; c++) out->columns += *c == ',';
    out->name = calloc((size_t)out->columns, sizeof *out->name);
    out->data = calloc((size_t)out->columns, sizeof *out->data);
    if (!out->name || !out->data) return error_memory(error, "the series");
    char* next = text + strlen(text) + 1;
    for (int c = 0; c < out->columns; c++) {
        char* comma = strchr(text, ',');
        if (comma) *comma = '\0';
        out->name[c] = strdup(text);
        out->data[c] = malloc(sizeof **out->data * ((size_t)out->rows + 1));
        if (!out->name[c] || !out->data[c]) return error_memory(error, "the series");
        if (comma) text = comma + 1;
    }
    for (int64_t row = 0; row < out->rows; row++) {
        const char* at = next;
        next += strlen(at) + 1;
        for (int c = 0; c < out->columns; c++) {
            char* end;
            out->data[c][row] = strtod(at, &end);
            if (end == at || *end != (c + 1 < out->columns ? ',' : '\0')) {
                return error_set(error, TALUS_ERR_FORMAT, "%s:%lld: expected %d numbers", path,
                                 (long long)row + 2, out->columns);
            }
            at = end + 1;
        }
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

/// talus view --export: the page with the frames inside, one file that needs no server.
///
/// The data is one JSON object in a script element that is not run: under each path that the page
/// would ask the server for stands its answer. Arrays are deflated (zlib) and written in base64;
/// numbers of 64 bits are rounded to 32, which a screen cannot tell.
#include "view.h"

#include "app.h"
#include "base/error.h"
#include "base/json.h"
#include "base/words.h"
#include "record/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/// Browsers begin to struggle with a page above this.
#define LARGE_BYTES 200e6

typedef struct exporter {
    view_run* run;
    frame_range range;
    FILE* out;
    bool any; ///< something stands before the next entry
} exporter;

// ---- pieces of the file ------------------------------------------------------------------------

/// The key of the next entry and what stands before its value.
static void put_path(exporter* e, const char* path)
{
    fprintf(e->out, "%s\n\"%s\":", e->any ? "," : "", path);
    e->any = true;
}

static talus_status put_array(exporter* e, const char* path, frame_field* field, talus_error* error)
{
    const bool shorter = field->type == COLUMN_F64;
    const int64_t count = field->rows * field->width;
    for (int64_t i = 0; shorter && i < count; i++) { // in place
        const float rounded = (float)((const double*)field->own)[i];
        memcpy((float*)field->own + i, &rounded, sizeof rounded);
    }
    const size_t element = shorter ? sizeof(float) : frame_element_size(field);
    const uLong size = (uLong)count * (uLong)element;
    uLongf packed_size = compressBound(size);
    unsigned char* packed = malloc(packed_size);
    text_buffer letters = {0};
    const bool good = packed && compress(packed, &packed_size, field->data, size) == Z_OK;
    if (good) text_add_base64(&letters, packed, packed_size);
    free(packed);
    if (!good || letters.failed) {
        text_free(&letters);
        return error_memory(error, "an array of the page");
    }
    put_path(e, path);
    fprintf(e->out, "{\"type\":\"%s\",\"width\":%d,\"data\":\"",
            shorter ? "f32" : view_type_name(field->type), field->width);
    fwrite(letters.data, 1, letters.size, e->out);
    fputs("\"}", e->out);
    text_free(&letters);
    return TALUS_OK;
}

// ---- entries -----------------------------------------------------------------------------------

/// A document of the page: written to memory, then into the file.
typedef enum document { DOCUMENT_RUN, DOCUMENT_SHAPES, DOCUMENT_SERIES, DOCUMENT_SURFACE } document;

/// A run that is going on may be gathered into one file while it is read: then look again.
static bool look_again(exporter* e)
{
    view_run_forget(e->run);
    return view_run_refresh(e->run, NULL) == TALUS_OK && e->run->head_count > e->range.last;
}

static talus_status put_document(exporter* e, const char* path, document which, int64_t frame,
                                 talus_error* error)
{
    char* text = NULL;
    size_t size = 0;
    talus_status status = TALUS_OK;
    for (int attempt = 0; attempt < 2; attempt++) {
        free(text);
        text = NULL;
        FILE* memory = open_memstream(&text, &size);
        if (!memory) return error_memory(error, "the page");
        char* series = NULL;
        size_t length = 0;
        switch (which) {
        case DOCUMENT_RUN: status = view_write_run(e->run, &e->range, true, memory, error); break;
        case DOCUMENT_SHAPES: status = view_write_shapes(e->run, memory, error); break;
        case DOCUMENT_SURFACE: status = view_write_surface(e->run, frame, memory, error); break;
        case DOCUMENT_SERIES:
            status = view_read_series(e->run, &series, &length, error);
            if (status != TALUS_OK) break;
            series[length] = '\0'; // files_read() leaves room
            json_quote(memory, series);
            free(series);
            break;
        }
        if (fclose(memory) != 0) status = error_memory(error, "the page");
        if (status == TALUS_OK || !look_again(e)) break;
    }
    if (status == TALUS_OK) {
        put_path(e, path);
        // In a script element: `<` appears in texts only, and could end the element.
        for (size_t i = 0; i < size; i++) {
            if (text[i] == '<')
                fputs("\\u003c", e->out);
            else
                fputc(text[i], e->out);
        }
    }
    free(text);
    return status;
}

static talus_status put_field(exporter* e, int64_t frame, int64_t number, const char* table,
                              const char* name, talus_error* error)
{
    frame_field field = {0};
    talus_status status = view_read_field(e->run, frame, table, name, &field, error);
    // A field that only newer frames have.
    if (status == TALUS_ERR_ARGUMENT) return TALUS_OK;
    if (status != TALUS_OK && look_again(e)) {
        status = view_read_field(e->run, frame, table, name, &field, error);
    }
    if (status != TALUS_OK) return status;
    char path[160];
    snprintf(path, sizeof path, "api/frame/%lld/%s/%s", (long long)number, table, name);
    status = put_array(e, path, &field, error);
    free(field.own);
    return status;
}

static talus_status put_frame(exporter* e, int64_t frame, int64_t number, talus_error* error)
{
    for (int t = 0; t < FRAME_TABLES; t++) {
        const frame_table* list = frame_table_of(&e->run->newest, frame_table_names[t]);
        for (int i = 0; i < list->field_count; i++) {
            char name[sizeof list->field[i].name]; // looking again frees the list
            memcpy(name, list->field[i].name, sizeof name);
            TRY(put_field(e, frame, number, frame_table_names[t], name, error));
        }
    }
    char path[64];
    snprintf(path, sizeof path, "api/frame/%lld/surface.json", (long long)number);
    return put_document(e, path, DOCUMENT_SURFACE, frame, error);
}

// ---- the file ----------------------------------------------------------------------------------

static talus_status put_page(exporter* e, talus_error* error)
{
    size_t size = 0;
    const char* page = view_page(&size);
    const size_t length = sizeof VIEW_DATA_MARK - 1;
    const char* mark = memmem(page, size, VIEW_DATA_MARK, length);
    if (!mark) return error_set(error, TALUS_ERR_FORMAT, "the page has no place for data");
    fwrite(page, 1, (size_t)(mark - page), e->out);
    fputs("<script type=\"application/json\" id=\"talus-data\">{", e->out);
    TRY(put_document(e, "api/run.json", DOCUMENT_RUN, 0, error));
    TRY(put_document(e, "api/shapes.json", DOCUMENT_SHAPES, 0, error));
    TRY(put_document(e, "api/series.csv", DOCUMENT_SERIES, 0, error));
    for (int64_t number = 0; number < e->range.count; number++) {
        TRY(put_frame(e, e->range.first + number * e->range.stride, number, error));
        if (ferror(e->out)) break;
    }
    fputs("\n}</script>", e->out);
    const char* rest = mark + length;
    fwrite(rest, 1, size - (size_t)(rest - page), e->out);
    return TALUS_OK;
}

/// The page under a name of its own until it is whole.
static talus_status write_file(exporter* e, const char* path, talus_error* error)
{
    char* part = files_text("%s.tmp", path);
    if (!part) return error_memory(error, "a file name");
    e->out = fopen(part, "we");
    talus_status status = e->out ? put_page(e, error) : files_error(error, "write", part);
    if (e->out) {
        const bool failed = ferror(e->out);
        if ((fclose(e->out) != 0 || failed) && status == TALUS_OK) {
            status = files_error(error, "write", part);
        }
        if (status == TALUS_OK) status = files_rename(part, path, error);
        if (status != TALUS_OK) unlink(part);
    }
    free(part);
    return status;
}

int view_export(view_run* v, const char* path, const frame_choice* choice, bool force)
{
    if (!output_free(path, force)) return STATUS_FAILURE;
    talus_error error = {0};
    h5_quiet quiet;
    h5_silence(&quiet);
    exporter e = {.run = v};
    talus_status status = view_run_refresh(v, &error);
    const bool fits = status == TALUS_OK && frames_within(v->head_count, choice, true, &e.range);
    if (fits) status = write_file(&e, path, &error);
    h5_loud(&quiet);
    if (status != TALUS_OK) fprintf(stderr, "talus: %s\n", error.text);
    if (status != TALUS_OK || !fits) return STATUS_FAILURE;

    const double bytes = (double)files_size(path);
    const bool small = bytes < 1e6;
    printf("%s: %lld frame%s, %.*f %s\n", path, (long long)e.range.count, plural(e.range.count),
           small ? 0 : 1, bytes / (small ? 1e3 : 1e6), small ? "kB" : "MB");
    if (bytes > LARGE_BYTES) {
        fprintf(stderr, "talus: a page of this size is slow to open; --frame A:B or --every N make "
                        "it smaller\n");
    }
    return STATUS_OK;
}

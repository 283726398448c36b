/// Writing GSD files: header, chunks, then the list of names and the index.
///
/// The header has 256 bytes and tells where list and index are; it is written last. An entry of the
/// index has 32 bytes and tells a chunk's frame, rows, place, width, name and type. Entries are
/// ordered by frame, then by name; one with place 0 ends them. All numbers are little-endian, as
/// all records are (deflate.c insists on it).
#include "record/gsd.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <talus/base.h>

#define GSD_MAGIC 0x65DF65DF65DF65DFull
enum { GSD_VERSION = 2 << 16, NAME_BLOCK = 64 };

typedef struct gsd_header {
    uint64_t magic;
    uint64_t index_location, index_entries;
    uint64_t names_location, names_blocks; ///< of 64 bytes
    uint32_t schema_version, gsd_version;
    char application[64], schema[64], reserved[80];
} gsd_header;
_Static_assert(sizeof(gsd_header) == 256, "the header of a GSD file has 256 bytes");

typedef struct gsd_entry {
    uint64_t frame, rows;
    int64_t location;
    uint32_t width;
    uint16_t name;
    uint8_t type, flags;
} gsd_entry;
_Static_assert(sizeof(gsd_entry) == 32, "an entry of the index has 32 bytes");

static talus_status write_bytes(gsd_writer* w, const void* data, size_t size, talus_error* error)
{
    if (size > 0 && fwrite(data, 1, size, w->file) != size) {
        return files_error(error, "write", w->path);
    }
    w->end += size;
    return TALUS_OK;
}

talus_status gsd_begin(gsd_writer* w, const char* path, talus_error* error)
{
    *w = (gsd_writer){.path = path};
    w->file = fopen(path, "wbe");
    if (!w->file) return files_error(error, "create", path);
    const gsd_header empty = {0};
    return write_bytes(w, &empty, sizeof empty, error);
}

talus_status gsd_put(gsd_writer* w, const char* name, gsd_type type, int64_t rows, int width,
                     const void* data, talus_error* error)
{
    uint16_t number = 0; // of the name, which is added if it is new
    size_t at = 0;
    while (at < w->names.size && strcmp(w->names.data + at, name) != 0) {
        at += strlen(w->names.data + at) + 1;
        number++;
    }
    const bool known = at < w->names.size || text_append(&w->names, name, strlen(name) + 1);
    const gsd_entry entry = {.frame = w->frame,
                             .rows = (uint64_t)rows,
                             .location = (int64_t)w->end,
                             .width = (uint32_t)width,
                             .name = number,
                             .type = (uint8_t)type};
    if (!known || !text_append(&w->index, &entry, sizeof entry)) {
        return error_memory(error, "the index of a GSD file");
    }
    static const size_t sizes[] = {
        [GSD_UINT8] = 1, [GSD_UINT32] = 4, [GSD_UINT64] = 8, [GSD_INT8] = 1,
        [GSD_INT32] = 4, [GSD_INT64] = 8,  [GSD_FLOAT] = 4,  [GSD_DOUBLE] = 8};
    return write_bytes(w, data, (size_t)rows * (size_t)width * sizes[type], error);
}

static int compare_names(const void* a, const void* b)
{
    return (int)((const gsd_entry*)a)->name - (int)((const gsd_entry*)b)->name;
}

void gsd_end_frame(gsd_writer* w)
{
    const size_t bytes = w->index.size - w->frame_index;
    if (bytes > 0) {
        qsort(w->index.data + w->frame_index, bytes / sizeof(gsd_entry), sizeof(gsd_entry),
              compare_names);
    }
    w->frame_index = w->index.size;
    w->frame++;
}

/// Names and index behind the data, and the header in front that tells where they are.
static talus_status write_ends(gsd_writer* w, const char* schema, uint32_t schema_version,
                               talus_error* error)
{
    static const char zeros[NAME_BLOCK] = {0};
    const gsd_entry last = {0};
    gsd_header header = {.magic = GSD_MAGIC,
                         .schema_version = schema_version,
                         .gsd_version = GSD_VERSION,
                         .names_location = w->end,
                         .names_blocks = w->names.size / NAME_BLOCK + 1,
                         .index_entries = w->index.size / sizeof last + 1};
    snprintf(header.application, sizeof header.application, "Talus %s", talus_version());
    snprintf(header.schema, sizeof header.schema, "%s", schema);
    TRY(write_bytes(w, w->names.data, w->names.size, error));
    TRY(write_bytes(w, zeros, NAME_BLOCK - w->names.size % NAME_BLOCK, error));
    header.index_location = w->end;
    TRY(write_bytes(w, w->index.data, w->index.size, error));
    TRY(write_bytes(w, &last, sizeof last, error));
    if (fseek(w->file, 0, SEEK_SET) != 0) return files_error(error, "write", w->path);
    return write_bytes(w, &header, sizeof header, error);
}

talus_status gsd_finish(gsd_writer* w, const char* schema, uint32_t schema_version,
                        talus_status status, talus_error* error)
{
    if (status == TALUS_OK) status = write_ends(w, schema, schema_version, error);
    if (w->file && fclose(w->file) != 0 && status == TALUS_OK) {
        status = files_error(error, "write", w->path);
    }
    text_free(&w->index);
    text_free(&w->names);
    return status;
}

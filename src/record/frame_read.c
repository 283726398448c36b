/// Reading recorded frames back, whatever fields they have.
///
/// Fields are taken from the file, in the order of their names, so that an export knows no list of
/// its own. Datasets of other types than a column can have (the walls' names) are passed over.
#include "record/frame_read.h"

#include "base/error.h"
#include "record/files.h"
#include "record/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

talus_status frame_reader_open(const char* directory, frame_reader* out, talus_error* error)
{
    *out = (frame_reader){.file = -1};
    out->path = files_text("%s/frames.h5", directory);
    if (!out->path) return error_memory(error, "a file name");
    if (files_size(out->path) < 0) return files_error(error, "open", out->path);
    out->file = H5Fopen(out->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (out->file < 0 || !h5_text_is(out->file, "format", FRAMES_FORMAT)) {
        return error_set(error, TALUS_ERR_FORMAT, "%s is not a frames file of Talus", out->path);
    }
    int32_t version = 0, dim = 0;
    if (!h5_get_numbers(out->file, "format_version", COLUMN_I32, 1, &version) ||
        !h5_get_numbers(out->file, "dimension", COLUMN_I32, 1, &dim) ||
        !h5_get_numbers(out->file, "frame_count", COLUMN_I64, 1, &out->count)) {
        return h5_error(error, TALUS_ERR_FORMAT, "cannot read", out->path);
    }
    if (version != FRAMES_VERSION) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s has frames format %d, this program reads format %d", out->path,
                         (int)version, FRAMES_VERSION);
    }
    out->dim = dim;
    return TALUS_OK;
}

void frame_reader_close(frame_reader* r)
{
    if (r->file >= 0) H5Fclose(r->file);
    free(r->path);
    *r = (frame_reader){.file = -1};
}

static bool read_field(hid_t group, const char* name, frame_field* out)
{
    static const column_type types[] = {COLUMN_F64, COLUMN_I64, COLUMN_I32, COLUMN_U8};
    *out = (frame_field){0};
    for (int i = 0; i < 4; i++) {
        if (!h5_shape(group, name, types[i], &out->rows, &out->width)) continue;
        snprintf(out->name, sizeof out->name, "%s", name);
        out->type = types[i];
        column probe = {.type = types[i]};
        out->data =
            malloc((size_t)out->rows * (size_t)out->width * column_element_size(&probe) + 1);
        return out->data && h5_read(group, name, out->type, out->data);
    }
    return true;
}

static bool read_fields(hid_t group, frame_table* out)
{
    H5G_info_t facts;
    if (H5Gget_info(group, &facts) < 0) return false;
    out->field = calloc((size_t)facts.nlinks + 1, sizeof *out->field);
    if (!out->field) return false;
    for (hsize_t i = 0; i < facts.nlinks; i++) {
        char name[64];
        if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                               H5P_DEFAULT) < 0) {
            return false;
        }
        frame_field* field = &out->field[out->field_count];
        bool good = read_field(group, name, field);
        if (field->data) out->field_count++;
        if (!good) return false;
    }
    return true;
}

static bool read_table(hid_t frame, const char* name, frame_table* out)
{
    if (out->count < 0) return true;
    hid_t group = H5Gopen2(frame, name, H5P_DEFAULT);
    if (group < 0) return false;
    bool good = read_fields(group, out);
    H5Gclose(group);
    return good;
}

static bool read_frame(hid_t frame, frame_data* out)
{
    frame_entry entry = {0};
    if (!frame_entry_read(frame, &entry)) return false;
    out->time = entry.time;
    out->step = entry.step;
    out->grains.count = entry.grains;
    out->contacts.count = entry.contacts;
    out->walls.count = entry.walls;
    return h5_get_numbers(frame, "periodic", COLUMN_U8, 3, out->periodic) &&
           h5_get_numbers(frame, "cell_low", COLUMN_F64, 3, out->cell_low) &&
           h5_get_numbers(frame, "cell_high", COLUMN_F64, 3, out->cell_high) &&
           read_table(frame, "grains", &out->grains) &&
           read_table(frame, "contacts", &out->contacts) && read_table(frame, "walls", &out->walls);
}

talus_status frame_read(const frame_reader* r, int64_t index, frame_data* out, talus_error* error)
{
    char name[64], what[128];
    *out = (frame_data){0};
    snprintf(name, sizeof name, "/frames/%06lld", (long long)index);
    hid_t frame = H5Gopen2(r->file, name, H5P_DEFAULT);
    bool good = frame >= 0 && read_frame(frame, out);
    if (frame >= 0) H5Gclose(frame);
    if (good) return TALUS_OK;
    frame_data_free(out);
    snprintf(what, sizeof what, "cannot read frame %lld of", (long long)index);
    return h5_error(error, TALUS_ERR_FORMAT, what, r->path);
}

static void free_table(frame_table* t)
{
    for (int i = 0; i < t->field_count; i++) free(t->field[i].data);
    free(t->field);
    *t = (frame_table){0};
}

void frame_data_free(frame_data* d)
{
    free_table(&d->grains);
    free_table(&d->contacts);
    free_table(&d->walls);
}

const frame_field* frame_find(const frame_table* t, const char* name)
{
    for (int i = 0; i < t->field_count; i++) {
        if (strcmp(t->field[i].name, name) == 0) return &t->field[i];
    }
    return NULL;
}

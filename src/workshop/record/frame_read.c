/// Reading recorded frames back, whatever fields they have.
///
/// Fields are taken from the file, in the order of their names, so that an export knows no list of
/// its own. Datasets of other types than a column can have (the walls' names) are passed over.
#include "record/frame_read.h"

#include "base/error.h"
#include "record/files.h"
#include "record/frames.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// HDF5's question whether to follow a link into another file. frames.h5 has such links to the
/// files of a run that goes on; any other would lead to what is none of this run.
static herr_t follow_link(const char* parent, const char* group, const char* child,
                          const char* object, unsigned* flags, hid_t access, void* user)
{
    (void)group, (void)object, (void)flags, (void)access;
    const char* master = user;
    int end = 0;
    sscanf(child, "frames/segment-%*[0-9].h5%n", &end);
    const bool known = strcmp(child, "frames/base.h5") == 0 || (end > 0 && child[end] == '\0');
    if (!known || strcmp(parent, master) != 0) {
        h5_refuse("it has a link to \"%s\"", child);
        return -1;
    }
    // HDF5 would also look in the working directory.
    char* path = files_text("%.*s%s", (int)(strrchr(master, '/') - master + 1), master, child);
    struct stat facts;
    const bool there = path && lstat(path, &facts) == 0 && S_ISREG(facts.st_mode);
    free(path);
    if (!there) h5_refuse("there is no file %s", child);
    return there ? 0 : -1;
}

hid_t frame_open_group(hid_t where, const char* name, const char* path)
{
    hid_t access = H5Pcreate(H5P_GROUP_ACCESS);
    hid_t group = -1;
    // The property wants a mutable pointer, follow_link() does not.
    void* master = (void*)(uintptr_t)path;
    if (H5Pset_elink_cb(access, follow_link, master) >= 0) group = H5Gopen2(where, name, access);
    H5Pclose(access);
    return group;
}

/// Whether there are as many times and steps as frames.
static bool count_is_sound(const frame_reader* r)
{
    int64_t times = 0, steps = 0;
    int width[2] = {0};
    if (r->count == 0) return true;
    if (!h5_is_inside(r->file, "time") || !h5_is_inside(r->file, "step")) return false;
    return h5_shape(r->file, "time", COLUMN_F64, &times, &width[0]) && times == r->count &&
           h5_shape(r->file, "step", COLUMN_I64, &steps, &width[1]) && steps == r->count &&
           width[0] == 1 && width[1] == 1;
}

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
    const bool empty = dim == 0 && out->count == 0; // no frame has told it yet
    if (dim != 2 && dim != 3 && !empty) {
        return error_set(error, TALUS_ERR_FORMAT,
                         "%s is damaged: it says that it has %d dimensions", out->path, (int)dim);
    }
    if (!count_is_sound(out)) {
        return error_set(
            error, TALUS_ERR_FORMAT,
            "%s is damaged: it says that it has %lld frames, but has not so many times", out->path,
            (long long)out->count);
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

/// Times of all frames, on the heap; NULL if they cannot be had.
static double* times_of(const frame_reader* r)
{
    double* time = malloc(sizeof *time * (size_t)(r->count + 1));
    if (time && r->count > 0 && !h5_read(r->file, "time", COLUMN_F64, time)) {
        free(time);
        return NULL;
    }
    return time;
}

bool frame_reader_again(frame_reader* r)
{
    frame_reader now;
    char* directory = files_text("%.*s", (int)(strrchr(r->path, '/') - r->path), r->path);
    if (!directory) return false;
    bool good = frame_reader_open(directory, &now, NULL) == TALUS_OK;
    free(directory);
    double* before = good ? times_of(r) : NULL;
    double* after = good ? times_of(&now) : NULL;
    good = good && before && after && now.dim == r->dim && now.count >= r->count &&
           memcmp(before, after, sizeof *before * (size_t)r->count) == 0;
    if (good) {
        const hid_t old = r->file;
        r->file = now.file;
        now.file = old;
    }
    free(before);
    free(after);
    frame_reader_close(&now);
    return good;
}

/// Type and shape of a dataset; false if it is not one of numbers.
static bool read_shape(hid_t group, const char* name, column_type* type, int64_t* rows, int* width)
{
    static const column_type types[] = {COLUMN_F64, COLUMN_I64, COLUMN_I32, COLUMN_U8};
    if (!h5_is_inside(group, name)) return false;
    for (int i = 0; i < 4; i++) {
        *type = types[i];
        if (h5_shape(group, name, types[i], rows, width)) return true;
    }
    return false;
}

/// Whether a dataset has a row for each of `count`, or two as the ends of lines.
static bool rows_fit(const char* name, int64_t rows, int64_t count)
{
    const bool ends = strcmp(name, FRAMES_SEGMENT) == 0 || strcmp(name, FRAMES_CONNECTIVITY) == 0;
    return rows == count || (ends && rows % 2 == 0 && rows / 2 == count);
}

static bool read_field(hid_t group, const char* name, int64_t count, frame_field* out)
{
    *out = (frame_field){0};
    if (!read_shape(group, name, &out->type, &out->rows, &out->width)) return true;
    if (!rows_fit(name, out->rows, count)) {
        h5_refuse("\"%s\" has %lld rows in a table of %lld", name, (long long)out->rows,
                  (long long)count);
        return false;
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    column probe = {.type = out->type};
    out->data = malloc((size_t)out->rows * (size_t)out->width * column_element_size(&probe) + 1);
    return out->data && h5_read(group, name, out->type, out->data);
}

/// Name of the entry `i` of a group; false if HDF5 failed.
static bool entry_name(hid_t group, hsize_t i, char* name, size_t size)
{
    return H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, size, H5P_DEFAULT) >=
           0;
}

static bool read_fields(hid_t group, frame_table* out)
{
    H5G_info_t facts;
    if (H5Gget_info(group, &facts) < 0) return false;
    out->field = calloc((size_t)facts.nlinks + 1, sizeof *out->field);
    if (!out->field) return false;
    for (hsize_t i = 0; i < facts.nlinks; i++) {
        char name[64];
        if (!entry_name(group, i, name, sizeof name)) return false;
        frame_field* field = &out->field[out->field_count];
        bool good = read_field(group, name, out->count, field);
        if (field->data) out->field_count++;
        if (!good) return false;
    }
    return true;
}

static bool read_table(const frame_reader* r, hid_t frame, const char* name, frame_table* out)
{
    if (out->count < 0) return true;
    hid_t group = frame_open_group(frame, name, r->path);
    if (group < 0) return false;
    bool good = read_fields(group, out);
    H5Gclose(group);
    return good;
}

static bool read_head(const frame_reader* r, hid_t frame, frame_data* out)

{
    (void)r;
    frame_entry entry = {0};
    if (!frame_entry_read(frame, &entry)) return false;
    out->time = entry.time;
    out->step = entry.step;
    out->grains.count = entry.grains;
    out->contacts.count = entry.contacts;
    out->walls.count = entry.walls;
    return h5_get_numbers(frame, "periodic", COLUMN_U8, 3, out->periodic) &&
           h5_get_numbers(frame, "cell_low", COLUMN_F64, 3, out->cell_low) &&
           h5_get_numbers(frame, "cell_high", COLUMN_F64, 3, out->cell_high);
}

static bool read_frame(const frame_reader* r, hid_t frame, frame_data* out)
{
    return read_head(r, frame, out) && read_table(r, frame, "grains", &out->grains) &&
           read_table(r, frame, "contacts", &out->contacts) &&
           read_table(r, frame, "walls", &out->walls);
}

static hid_t open_frame(const frame_reader* r, int64_t index)
{
    char name[64];
    snprintf(name, sizeof name, "/frames/%06lld", (long long)index);
    return frame_open_group(r->file, name, r->path);
}

int64_t frame_phase(const frame_reader* r, int64_t index)
{
    int64_t phase = -1;
    hid_t frame = open_frame(r, index);
    if (frame < 0) return -1;
    if (H5Aexists(frame, "phase") <= 0 || !h5_get_numbers(frame, "phase", COLUMN_I64, 1, &phase)) {
        phase = -1;
    }
    H5Gclose(frame);
    return phase;
}

static talus_status frame_error(const frame_reader* r, int64_t index, talus_error* error)
{
    char what[128];
    snprintf(what, sizeof what, "cannot read frame %lld of", (long long)index);
    return h5_error(error, TALUS_ERR_FORMAT, what, r->path);
}

/// Read a frame by `reader`, which takes as much of it as is wanted.
static talus_status read_by(const frame_reader* r, int64_t index,
                            bool (*reader)(const frame_reader* r, hid_t frame, frame_data* out),
                            frame_data* out, talus_error* error)
{
    *out = (frame_data){0};
    hid_t frame = open_frame(r, index);
    bool good = frame >= 0 && reader(r, frame, out);
    if (frame >= 0) H5Gclose(frame);
    if (good) return TALUS_OK;
    frame_data_free(out);
    return frame_error(r, index, error);
}

talus_status frame_read(frame_reader* r, int64_t index, frame_data* out, talus_error* error)
{
    talus_status status = read_by(r, index, read_frame, out, error);
    if (status == TALUS_OK || !frame_reader_again(r)) return status;
    return read_by(r, index, read_frame, out, error);
}

talus_status frame_read_head(const frame_reader* r, int64_t index, frame_data* out,
                             talus_error* error)
{
    return read_by(r, index, read_head, out, error);
}

frame_table* frame_table_of(frame_data* d, const char* name)
{
    if (strcmp(name, "grains") == 0) return &d->grains;
    if (strcmp(name, "contacts") == 0) return &d->contacts;
    return strcmp(name, "walls") == 0 ? &d->walls : NULL;
}

/// The group of a table, -1 if it cannot be opened.
static hid_t open_table(const frame_reader* r, int64_t index, const char* table)
{
    hid_t frame = open_frame(r, index);
    if (frame < 0) return -1;
    hid_t group = frame_open_group(frame, table, r->path);
    H5Gclose(frame);
    return group;
}

talus_status frame_read_field(const frame_reader* r, int64_t index, const char* table,
                              const char* name, frame_data* frame, talus_error* error)
{
    frame_table* t = frame_table_of(frame, table);
    if (!t || t->count < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "frame %lld of %s has no table %s",
                         (long long)index, r->path, table);
    }
    frame_field* longer = realloc(t->field, sizeof *longer * (size_t)(t->field_count + 1));
    if (!longer) return error_memory(error, "a field");
    t->field = longer;
    hid_t group = open_table(r, index, table);
    if (group < 0) return frame_error(r, index, error);
    frame_field* field = &t->field[t->field_count];
    *field = (frame_field){0};
    const bool there = h5_has(group, name);
    const bool good = !there || read_field(group, name, t->count, field);
    H5Gclose(group);
    if (!good) free(field->data);
    if (!good) return frame_error(r, index, error);
    if (!field->data) {
        return error_set(error, TALUS_ERR_ARGUMENT, "frame %lld of %s has no %s of %s",
                         (long long)index, r->path, name, table);
    }
    t->field_count++;
    return TALUS_OK;
}

/// The column of this name in the tables that frames are written from; NULL if it is in none.
static const column* column_called(const char* table, const char* name)
{
    int count = 0;
    const column* cols = strcmp(table, "grains") == 0     ? grains_columns(&count)
                         : strcmp(table, "contacts") == 0 ? contacts_columns(&count)
                                                          : walls_columns(&count);
    for (int c = 0; c < count; c++) {
        if (strcmp(cols[c].name, name) == 0) return &cols[c];
    }
    return NULL;
}

/// Unit and description of a dataset. Of columns that this program knows they are not read: HDF5
/// crashes on texts of variable length in a file that is damaged where they stand.
static bool describe(hid_t group, const char* table, bool reduced, frame_column* out)
{
    const column* known = column_called(table, out->name);
    if (known) {
        const char* unit = reduced && known->unit[0] ? "reduced" : known->unit;
        snprintf(out->unit, sizeof out->unit, "%s", unit);
        snprintf(out->doc, sizeof out->doc, "%s", known->doc);
        return true;
    }
    hid_t set = H5Dopen2(group, out->name, H5P_DEFAULT);
    if (set < 0) return false;
    h5_get_text(set, "unit", out->unit, sizeof out->unit);
    h5_get_text(set, "description", out->doc, sizeof out->doc);
    H5Dclose(set);
    return true;
}

static bool read_column(hid_t group, const char* table, bool reduced, const char* name,
                        frame_column* out)
{
    *out = (frame_column){0};
    if (!read_shape(group, name, &out->type, &out->rows, &out->width)) return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    return describe(group, table, reduced, out);
}

static bool read_columns(hid_t group, const char* table, bool reduced, frame_column** out,
                         int* count)
{
    H5G_info_t facts;
    if (H5Gget_info(group, &facts) < 0) return false;
    *out = calloc((size_t)facts.nlinks + 1, sizeof **out);
    if (!*out) return false;
    for (hsize_t i = 0; i < facts.nlinks; i++) {
        char name[64];
        if (!entry_name(group, i, name, sizeof name)) return false;
        if (read_column(group, table, reduced, name, &(*out)[*count])) ++*count;
    }
    return true;
}

talus_status frame_columns(const frame_reader* r, int64_t index, const char* table,
                           frame_column** out, int* count, talus_error* error)
{
    *out = NULL;
    *count = 0;
    hid_t frame = open_frame(r, index);
    if (frame < 0) return frame_error(r, index, error);
    const bool there = h5_has(frame, table);
    H5Gclose(frame);
    if (!there) return TALUS_OK;
    hid_t group = open_table(r, index, table);
    const bool reduced = h5_text_is(r->file, "units", "reduced");
    const bool good = group >= 0 && read_columns(group, table, reduced, out, count);
    if (group >= 0) H5Gclose(group);
    if (good) return TALUS_OK;
    free(*out);
    *out = NULL;
    return frame_error(r, index, error);
}

char** frame_texts(const frame_reader* r, int64_t index, const char* table, const char* name,
                   int64_t count)
{
    hid_t group = open_table(r, index, table);
    if (group < 0) return NULL;
    char** texts = h5_is_inside(group, name) ? h5_read_texts(group, name, count) : NULL;
    H5Gclose(group);
    return texts;
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

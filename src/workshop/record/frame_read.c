/// Reading recorded frames back, whatever fields they have.
///
/// Fields are taken from the file, in the order of their names, so that an export knows no list of
/// its own. Datasets of other types than a column can have are passed over.
#include "record/frame_read.h"

#include "base/error.h"
#include "record/files.h"
#include "record/frames.h"

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

static hid_t open_frame(const frame_reader* r, int64_t index)
{
    char name[64];
    snprintf(name, sizeof name, "/frames/%06lld", (long long)index);
    return frame_open_group(r->file, name, r->path);
}

// ---- the file ----------------------------------------------------------------------------------

/// Times and steps of all frames; there must be as many as frames.
static talus_status read_times(frame_reader* r, talus_error* error)
{
    int64_t times = 0, steps = 0;
    int width[2] = {1, 1};
    const bool sound =
        r->count == 0 ||
        (h5_is_inside(r->file, "time") && h5_is_inside(r->file, "step") &&
         h5_shape(r->file, "time", COLUMN_F64, &times, &width[0]) && times == r->count &&
         h5_shape(r->file, "step", COLUMN_I64, &steps, &width[1]) && steps == r->count &&
         width[0] == 1 && width[1] == 1);
    if (!sound) {
        return error_set(
            error, TALUS_ERR_FORMAT,
            "%s is damaged: it says that it has %lld frames, but has not so many times", r->path,
            (long long)r->count);
    }
    r->time = calloc((size_t)r->count + 1, sizeof *r->time);
    r->step = calloc((size_t)r->count + 1, sizeof *r->step);
    if (!r->time || !r->step) return error_memory(error, "the times of frames");
    if (r->count == 0 || (h5_read(r->file, "time", COLUMN_F64, r->time) &&
                          h5_read(r->file, "step", COLUMN_I64, r->step))) {
        return TALUS_OK;
    }
    return h5_error(error, TALUS_ERR_FORMAT, "cannot read the times in", r->path);
}

talus_status frame_reader_open(const char* directory, frame_reader* out, talus_error* error)
{
    *out = (frame_reader){.file = -1};
    out->path = files_text("%s/frames.h5", directory);
    if (!out->path) return error_memory(error, "a file name");
    if (files_size(out->path) < 0) return files_error(error, "open", out->path);
    TRY(files_check(out->path, error));
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
    out->dim = dim;
    out->reduced_units = h5_text_is(out->file, "units", "reduced");
    return read_times(out, error);
}

void frame_reader_close(frame_reader* r)
{
    if (r->file >= 0) H5Fclose(r->file);
    free(r->path);
    free(r->time);
    free(r->step);
    *r = (frame_reader){.file = -1};
}

/// Open the file anew if it still has the frames that it had; false: it stays as it is.
static bool open_again(frame_reader* r)
{
    frame_reader now;
    char* directory = files_text("%.*s", (int)(strrchr(r->path, '/') - r->path), r->path);
    if (!directory) return false;
    bool good = frame_reader_open(directory, &now, NULL) == TALUS_OK;
    free(directory);
    good = good && now.dim == r->dim && now.count >= r->count &&
           memcmp(r->time, now.time, sizeof *r->time * (size_t)r->count) == 0;
    if (good) {
        const hid_t old = r->file;
        r->file = now.file;
        now.file = old;
    }
    frame_reader_close(&now);
    return good;
}

// ---- fields ------------------------------------------------------------------------------------

/// Name, type and shape of a dataset; false if it is not one of numbers that belong to the frame.
/// Both ends of a line are rows of their own in the file, and one row of the field.
static bool read_shape(hid_t group, const char* name, frame_field* out)
{
    static const column_type types[] = {COLUMN_F64, COLUMN_I64, COLUMN_I32, COLUMN_U8};
    *out = (frame_field){0};
    // Older files have point numbers for XDMF beside the fields.
    if (strcmp(name, "connectivity") == 0 || !h5_is_inside(group, name)) return false;
    bool found = false;
    for (int i = 0; i < 4 && !found; i++) {
        out->type = types[i];
        found = h5_shape(group, name, types[i], &out->rows, &out->width);
    }
    if (strcmp(name, FRAME_SEGMENT) == 0 && out->rows % 2 == 0) {
        out->rows /= 2;
        out->width *= 2;
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    return found;
}

static bool read_numbers(hid_t group, int64_t count, frame_field* out)
{
    if (out->rows != count) {
        h5_refuse("\"%s\" has %lld rows in a table of %lld", out->name, (long long)out->rows,
                  (long long)count);
        return false;
    }
    out->own = malloc((size_t)out->rows * (size_t)out->width * frame_element_size(out) + 1);
    out->data = out->own;
    return out->own && h5_read(group, out->name, out->type, out->own);
}

/// What the file says of a field that this program does not record. Of others it is not read: HDF5
/// crashes on texts of variable length in a file that is damaged where they stand.
static void read_words(hid_t group, frame_field* out)
{
    hid_t set = H5Dopen2(group, out->name, H5P_DEFAULT);
    if (set < 0) return;
    h5_get_text(set, "unit", out->unit, sizeof out->unit);
    h5_get_text(set, "description", out->doc, sizeof out->doc);
    H5Dclose(set);
}

static bool read_table(const frame_reader* r, hid_t frame, const char* name, frame_amount amount,
                       frame_data* out)
{
    frame_table* t = frame_table_of(out, name);
    if (t->count < 0) return true;
    H5G_info_t facts = {0};
    hid_t group = frame_open_group(frame, name, r->path);
    bool good = group >= 0 && H5Gget_info(group, &facts) >= 0;
    for (hsize_t i = 0; good && i < facts.nlinks; i++) {
        frame_field field;
        char entry[sizeof field.name];
        good = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, entry, sizeof entry,
                                  H5P_DEFAULT) >= 0;
        if (!good || !read_shape(group, entry, &field)) continue;
        const bool known = frame_describe(name, r->reduced_units, &field);
        const bool drawn = strcmp(entry, FRAME_SEGMENT) == 0;
        if (amount == FRAME_STATE && (!known || drawn)) continue;
        if (amount == FRAME_LIST && !known) read_words(group, &field);
        good =
            (amount == FRAME_LIST || read_numbers(group, t->count, &field)) && frame_add(t, &field);
        if (!good) free(field.own);
    }
    if (good && amount != FRAME_STATE && t == &out->walls && h5_is_inside(group, "name")) {
        out->wall_name = h5_read_texts(group, "name", t->count);
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

// ---- frames ------------------------------------------------------------------------------------

bool frame_read_head(hid_t frame, frame_data* out)
{
    *out = (frame_data){.phase = -1};
    out->contacts.count = -1;
    if (H5Aexists(frame, "phase") > 0 &&
        !h5_get_numbers(frame, "phase", COLUMN_I64, 1, &out->phase)) {
        out->phase = -1;
    }
    if (H5Aexists(frame, "contacts") > 0 &&
        !h5_get_numbers(frame, "contacts", COLUMN_I64, 1, &out->contacts.count)) {
        return false;
    }
    return h5_get_numbers(frame, "time", COLUMN_F64, 1, &out->time) &&
           h5_get_numbers(frame, "step", COLUMN_I64, 1, &out->step) &&
           h5_get_numbers(frame, "grains", COLUMN_I64, 1, &out->grains.count) &&
           h5_get_numbers(frame, "walls", COLUMN_I64, 1, &out->walls.count) &&
           out->grains.count >= 0 && out->walls.count >= 0 &&
           h5_get_numbers(frame, "periodic", COLUMN_U8, 3, out->periodic) &&
           h5_get_numbers(frame, "cell_low", COLUMN_F64, 3, out->cell_low) &&
           h5_get_numbers(frame, "cell_high", COLUMN_F64, 3, out->cell_high);
}

static talus_status frame_error(const frame_reader* r, int64_t index, talus_error* error)
{
    char what[128];
    snprintf(what, sizeof what, "cannot read frame %lld of", (long long)index);
    return h5_error(error, TALUS_ERR_FORMAT, what, r->path);
}

static talus_status read_once(const frame_reader* r, int64_t index, frame_amount amount,
                              frame_data* out, talus_error* error)
{
    *out = (frame_data){0};
    hid_t frame = open_frame(r, index);
    bool good = frame >= 0 && frame_read_head(frame, out);
    out->dim = r->dim;
    for (int t = 0; good && amount != FRAME_HEAD && t < FRAME_TABLES; t++) {
        good = read_table(r, frame, frame_table_names[t], amount, out);
    }
    if (frame >= 0) H5Gclose(frame);
    if (good) return TALUS_OK;
    frame_data_free(out);
    return frame_error(r, index, error);
}

talus_status frame_read(frame_reader* r, int64_t index, frame_amount amount, frame_data* out,
                        talus_error* error)
{
    talus_status status = read_once(r, index, amount, out, error);
    if (status == TALUS_OK || !open_again(r)) return status;
    return read_once(r, index, amount, out, error);
}

talus_status frame_read_field(const frame_reader* r, int64_t index, const char* table,
                              const char* name, frame_data* frame, talus_error* error)
{
    frame_table* t = frame_table_of(frame, table);
    if (!t || t->count < 0) {
        return error_set(error, TALUS_ERR_ARGUMENT, "frame %lld of %s has no table %s",
                         (long long)index, r->path, table);
    }
    hid_t group = -1, opened = open_frame(r, index);
    if (opened >= 0) {
        group = frame_open_group(opened, table, r->path);
        H5Gclose(opened);
    }
    if (group < 0) return frame_error(r, index, error);
    frame_field field = {0};
    const bool there = h5_has(group, name) && read_shape(group, name, &field);
    const bool good = !there || (read_numbers(group, t->count, &field) && frame_add(t, &field));
    H5Gclose(group);
    if (!good) free(field.own);
    if (!good) return frame_error(r, index, error);
    if (there) return TALUS_OK;
    return error_set(error, TALUS_ERR_ARGUMENT, "frame %lld of %s has no %s of %s",
                     (long long)index, r->path, name, table);
}

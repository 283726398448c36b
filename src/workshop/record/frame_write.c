/// One frame as a group of an HDF5 file: /frames/NNNNNN/{grains,contacts,walls}/<field>.
///
/// The ends of a contact's line are two rows: points, as programs that draw want them.
#include "record/frames.h"

#include <string.h>

bool frame_put_words(hid_t group, const char* name, const char* unit, const char* doc)
{
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set < 0) return false;
    bool good = h5_put_text(set, "unit", unit) && h5_put_text(set, "description", doc);
    H5Dclose(set);
    return good;
}

/// A table's group, without one if it is not recorded.
static bool write_table(hid_t frame, const char* name, const frame_table* t, int threads,
                        char* const* texts)
{
    if (t->count < 0) return true;
    hid_t group = H5Gcreate2(frame, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int i = 0; good && i < t->field_count; i++) {
        const frame_field* f = &t->field[i];
        const int rows = strcmp(f->name, FRAME_SEGMENT) == 0 ? 2 : 1;
        good = h5_write_packed(group, f->name, f->type, f->rows * rows, f->width / rows, f->data,
                               threads) &&
               frame_put_words(group, f->name, f->unit, f->doc);
    }
    if (texts) {
        good = good && h5_write_texts(group, "name", t->count, texts) &&
               frame_put_words(group, "name", "", "name in the scene");
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

bool frame_write_group(hid_t frames_group, const char* name, const frame_data* d, int threads)
{
    hid_t frame = H5Gcreate2(frames_group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (frame < 0) return false;
    const bool contacts = d->contacts.count >= 0;
    bool good =
        h5_put_numbers(frame, "time", COLUMN_F64, 1, &d->time) &&
        h5_put_numbers(frame, "step", COLUMN_I64, 1, &d->step) &&
        h5_put_numbers(frame, "phase", COLUMN_I64, 1, &d->phase) &&
        h5_put_numbers(frame, "grains", COLUMN_I64, 1, &d->grains.count) &&
        h5_put_numbers(frame, "walls", COLUMN_I64, 1, &d->walls.count) &&
        (!contacts || h5_put_numbers(frame, "contacts", COLUMN_I64, 1, &d->contacts.count)) &&
        h5_put_numbers(frame, "periodic", COLUMN_U8, 3, d->periodic) &&
        h5_put_numbers(frame, "cell_low", COLUMN_F64, 3, d->cell_low) &&
        h5_put_numbers(frame, "cell_high", COLUMN_F64, 3, d->cell_high) &&
        write_table(frame, "grains", &d->grains, threads, NULL) &&
        write_table(frame, "walls", &d->walls, threads, d->wall_name) &&
        write_table(frame, "contacts", &d->contacts, threads, NULL);
    H5Gclose(frame);
    // Half a frame must not be found by a later reader of the segment.
    if (!good) H5Ldelete(frames_group, name, H5P_DEFAULT);
    return good;
}

/// One frame: the field tables of grains, contacts and walls as HDF5 datasets.
///
/// /frames/NNNNNN/{grains,contacts,walls}/<column>, straight from the tables of the rooms that own
/// the data. Beside them stand end points and connectivity, which let ParaView draw the grains as
/// points and the contacts as lines without any conversion.
#include "record/frames.h"

#include "base/parallel.h"
#include "world/world.h"

#include <stdlib.h>

frame_entry frame_entry_of(const talus_world* world, bool with_contacts, int64_t segment)
{
    return (frame_entry){
        .time = world->state.time,
        .step = world->state.step,
        .grains = world->state.grains.count,
        .walls = world->state.walls.count,
        .contacts = with_contacts ? world->state.contacts.count : -1,
        .segment = segment,
    };
}

bool frame_entry_read(hid_t frame, frame_entry* entry)
{
    entry->contacts = -1;
    const bool good = h5_get_numbers(frame, "time", COLUMN_F64, 1, &entry->time) &&
                      h5_get_numbers(frame, "step", COLUMN_I64, 1, &entry->step) &&
                      h5_get_numbers(frame, "grains", COLUMN_I64, 1, &entry->grains) &&
                      h5_get_numbers(frame, "walls", COLUMN_I64, 1, &entry->walls) &&
                      entry->grains >= 0 && entry->walls >= 0;
    if (H5Aexists(frame, "contacts") <= 0) return good;
    return good && h5_get_numbers(frame, "contacts", COLUMN_I64, 1, &entry->contacts);
}

bool frame_describe(hid_t group, const char* name, const char* unit, const char* doc)
{
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set < 0) return false;
    bool good = h5_put_text(set, "unit", unit) && h5_put_text(set, "description", doc);
    H5Dclose(set);
    return good;
}

/// `unit` is that of SI; in reduced units a field that has one says so and no more.
static bool describe(hid_t group, const char* name, const char* unit, bool reduced, const char* doc)
{
    return frame_describe(group, name, reduced && unit[0] ? "reduced" : unit, doc);
}

/// A rare column that was never needed is all zero: *zeros receives such a one. NULL if memory is
/// short.
static const void* column_or_zeros(const column* col, const void* table, int dim, int64_t rows,
                                   void** zeros)
{
    const void* data = column_data(col, table);
    if (data || !(col->flags & COLUMN_RARE)) return data;
    const size_t row = column_element_size(col) * (size_t)column_row_width(col, dim);
    return *zeros = calloc((size_t)rows + 1, row);
}

static bool write_table(hid_t group, const column* cols, int col_count, const void* table,
                        int64_t rows, const talus_world* world, bool reduced)
{
    const int dim = world->def.dim;
    for (int c = 0; c < col_count; c++) {
        if (!(cols[c].flags & COLUMN_FRAME)) continue;
        void* zeros = NULL;
        const void* data = column_or_zeros(&cols[c], table, dim, rows, &zeros);
        const bool good =
            (data || rows == 0) &&
            h5_write_packed(group, cols[c].name, cols[c].type, rows,
                            column_row_width(&cols[c], dim), data, world->def.threads);
        free(zeros);
        if (!good) return false;
        if (!describe(group, cols[c].name, cols[c].unit, reduced, cols[c].doc)) return false;
    }
    return true;
}

static bool write_connectivity(hid_t group, int64_t count, int threads)
{
    int64_t* index = malloc(sizeof *index * (size_t)(count + 1));
    if (!index) return false;
    for (int64_t i = 0; i < count; i++) index[i] = i;
    bool good = h5_write_packed(group, FRAMES_CONNECTIVITY, COLUMN_I64, count, 1, index, threads) &&
                describe(group, FRAMES_CONNECTIVITY, "", false, "point numbers, for drawing");
    free(index);
    return good;
}

/// End points of contact i: from the centre of a (the contact point on a wall) to the centre of b.
static void contact_line(const talus_world* world, int64_t i, double line[2][3])
{
    const contacts* list = &world->state.contacts;
    const grains* g = &world->state.grains;
    int dim = list->dim;
    int64_t b = grains_find(g, list->b[i]);
    int64_t a = list->a[i] < 0 ? -1 : grains_find(g, list->a[i]);
    const double* point = list->point + i * dim;
    const double* start = a >= 0 ? g->position + a * dim : point;
    const double* end = b >= 0 ? g->position + b * dim : point;
    double delta[3];
    for (int k = 0; k < dim; k++) delta[k] = end[k] - start[k];
    cell_nearest(&world->state.cell, dim, delta);
    for (int k = 0; k < dim; k++) {
        // One end stays where it is drawn anyway: at grain a, or at the grain beside a wall.
        line[0][k] = a >= 0 ? start[k] : end[k] - delta[k];
        line[1][k] = a >= 0 ? start[k] + delta[k] : end[k];
    }
}

static bool write_lines(hid_t group, const talus_world* world, bool reduced)
{
    int64_t count = world->state.contacts.count;
    double(*line)[2][3] = calloc((size_t)count + 1, sizeof *line);
    if (!line) return false;
    const int threads = world->def.threads;
#pragma omp parallel for num_threads(parallel_threads(threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i++) contact_line(world, i, line[i]);
    bool good = h5_write_packed(group, FRAMES_SEGMENT, COLUMN_F64, 2 * count, 3, line, threads) &&
                describe(group, FRAMES_SEGMENT, "m", reduced,
                         "ends of the line: centre of a (contact point on a wall), centre of b") &&
                write_connectivity(group, 2 * count, threads);
    free(line);
    return good;
}

static bool write_wall_names(hid_t group, const walls* w)
{
    char** names = malloc(sizeof *names * (size_t)(w->count + 1));
    if (!names) return false;
    for (int64_t i = 0; i < w->count; i++) names[i] = w->record[i].name;
    bool good = h5_write_texts(group, "name", w->count, names) &&
                describe(group, "name", "", false, "name in the scene");
    free(names);
    return good;
}

static bool write_attributes(hid_t frame, const talus_world* world, bool with_contacts,
                             int64_t phase)
{
    uint8_t periodic[3];
    double high[3];
    for (int k = 0; k < 3; k++) {
        periodic[k] = world->state.cell.periodic[k];
        high[k] = world->state.cell.low[k] + world->state.cell.length[k];
    }
    frame_entry entry = frame_entry_of(world, with_contacts, 0);
    return h5_put_numbers(frame, "time", COLUMN_F64, 1, &entry.time) &&
           h5_put_numbers(frame, "step", COLUMN_I64, 1, &entry.step) &&
           h5_put_numbers(frame, "phase", COLUMN_I64, 1, &phase) &&
           h5_put_numbers(frame, "grains", COLUMN_I64, 1, &entry.grains) &&
           h5_put_numbers(frame, "walls", COLUMN_I64, 1, &entry.walls) &&
           (!with_contacts || h5_put_numbers(frame, "contacts", COLUMN_I64, 1, &entry.contacts)) &&
           h5_put_numbers(frame, "periodic", COLUMN_U8, 3, periodic) &&
           h5_put_numbers(frame, "cell_low", COLUMN_F64, 3, world->state.cell.low) &&
           h5_put_numbers(frame, "cell_high", COLUMN_F64, 3, high);
}

static bool write_tables(hid_t frame, const talus_world* world, frames_options options)
{
    bool reduced = options.reduced_units;
    int count;
    hid_t group = H5Gcreate2(frame, "grains", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const column* cols = grains_columns(&count);
    bool good = write_table(group, cols, count, &world->state.grains, world->state.grains.count,
                            world, reduced) &&
                write_connectivity(group, world->state.grains.count, world->def.threads);
    H5Gclose(group);

    group = H5Gcreate2(frame, "walls", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cols = walls_columns(&count);
    good = good &&
           write_table(group, cols, count, &world->state.walls, world->state.walls.count, world,
                       reduced) &&
           write_wall_names(group, &world->state.walls);
    H5Gclose(group);
    if (!options.contacts) return good;

    group = H5Gcreate2(frame, "contacts", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cols = contacts_columns(&count);
    good = good &&
           write_table(group, cols, count, &world->state.contacts, world->state.contacts.count,
                       world, reduced) &&
           write_lines(group, world, reduced);
    H5Gclose(group);
    return good;
}

bool frame_write_group(hid_t frames_group, const char* name, const talus_world* world,
                       const frames* f)
{
    hid_t frame = H5Gcreate2(frames_group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (frame < 0) return false;
    bool good = write_attributes(frame, world, f->options.contacts, f->phase) &&
                write_tables(frame, world, f->options);
    H5Gclose(frame);
    // Half a frame must not be found by a later reader of the segment.
    if (!good) H5Ldelete(frames_group, name, H5P_DEFAULT);
    return good;
}

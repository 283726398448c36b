/// Frames: what is read is what was written, bit for bit, linked and whole, after resumes, with a
/// full disk and with no folder. `test_record_frames --write DIR DIM` makes data for Python tests.
#include "record/frame_read.h"
#include "record/h5.h"
#include "record/record.h"
#include "record/shapes_h5.h"
#include "record_world.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <talus/exchange.h>

static void check_field(const frame_table* t, const char* name, column_type type, int64_t rows,
                        int width, const void* data)
{
    const frame_field* field = frame_find(t, name);
    column probe = {.type = type};
    assert_non_null(field);
    assert_int_equal(field->type, type);
    assert_int_equal(field->rows, rows);
    assert_int_equal(field->width, width);
    size_t bytes = column_element_size(&probe) * (size_t)rows * (size_t)width;
    const bool same = sample_equal_column((const unsigned char*)field->data, data, bytes);
    if (!same) print_message("%s differs\n", name);
    assert_true(same);
}

static void check_table(const frame_table* t, const column* cols, int n, int dim, const void* table,
                        int64_t rows)
{
    assert_int_equal(t->count, rows);
    for (int c = 0; c < n; c++) {
        if (!(cols[c].flags & COLUMN_FRAME)) continue;
        check_field(t, cols[c].name, cols[c].type, rows, column_row_width(&cols[c], dim),
                    column_data(&cols[c], table));
    }
}

/// The frame holds the world's present state, and its lines end at the right centres.
static void check_data(const frame_data* d, const talus_world* w)
{
    int n, dim = w->def.dim;
    assert_int_equal(d->dim, dim);
    assert_true(d->time == w->state.time && d->step == w->state.step);
    assert_true(d->periodic[0] && !d->periodic[1] && d->cell_low[0] == -1.0 &&
                d->cell_high[0] == 1.5);
    const column* cols = grains_columns(&n);
    check_table(&d->grains, cols, n, dim, &w->state.grains, w->state.grains.count);
    cols = contacts_columns(&n);
    check_table(&d->contacts, cols, n, dim, &w->state.contacts, w->state.contacts.count);
    cols = walls_columns(&n);
    check_table(&d->walls, cols, n, dim, &w->state.walls, w->state.walls.count);

    const double* line = frame_find(&d->contacts, "segment")->data;
    for (int64_t i = 0; i < w->state.contacts.count; i++, line += 6) {
        bool wall = w->state.contacts.a[i] < 0;
        const double* b = w->state.grains.position + dim * (w->state.contacts.b[i] / 3);
        const double* start = wall ? w->state.contacts.point + dim * i
                                   : w->state.grains.position + dim * (w->state.contacts.a[i] / 3);
        for (int k = 0; k < dim; k++) {
            double length = line[3 + k] - line[k];
            double periods = k == 0 ? (length - (b[k] - start[k])) / 2.5 : 0.0;
            // A difference of numbers below 3, twice rounded->
            assert_true(fabs(length - (b[k] - start[k]) - 2.5 * rint(periods)) < 1e-14);
            if (k == 0) assert_true(fabs(length) <= 1.25 + 1e-14);
            assert_true(wall ? line[3 + k] == b[k] : line[k] == start[k]);
        }
    }
}

static void check_frame(frame_reader* reader, int64_t index, const talus_world* w)
{
    talus_error error = {0};
    frame_data d;
    check_ok(frame_read(reader, index, FRAME_FIELDS, &d, &error), error);
    check_data(&d, w);
    frame_data_free(&d);
}

/// Part `p` of the flat arrays is the world's part: same corners, same loops.
static void check_part(const shapes* all, int32_t p, const polytope* part)
{
    const int dim = part->dim;
    int32_t base = all->vertex_first[p];
    assert_int_equal(all->vertex_first[p + 1] - base, part->vertex_count);
    assert_memory_equal(all->vertex + base * dim, part->vertex,
                        sizeof(double) * (size_t)(part->vertex_count * dim));
    int32_t face = all->face_first[p];
    assert_int_equal(all->face_first[p + 1] - face, dim == 2 ? 1 : part->face_count);
    for (int f = 0; f < (dim == 2 ? 1 : part->face_count); f++) {
        int first = dim == 2 ? 0 : part->face_first[f];
        int last = dim == 2 ? part->vertex_count : part->face_first[f + 1];
        const int32_t* loop = all->loop + all->loop_first[face + f];
        assert_int_equal(all->loop_first[face + f + 1] - all->loop_first[face + f], last - first);
        for (int c = first; c < last; c++) {
            assert_int_equal(loop[c - first] - base, dim == 2 ? c : part->face_vertex[c]);
        }
    }
}

/// The file holds the first `solid_count` solids of the world and all its walls' shapes.
static void check_shapes(const frame_reader* reader, const talus_world* w, int solid_count)
{
    talus_error error = {0};
    shapes all;
    check_ok(shapes_read(reader->file, reader->path, reader->dim, &all, &error), error);
    assert_int_equal(all.solid_count, solid_count);
    for (int i = 0; i < solid_count; i++) {
        const solid* s = &w->state.solids.row[i];
        assert_string_equal(all.name[i], s->name);
        assert_true(all.radius[i] == s->radius);
        assert_int_equal(all.part_first[i + 1] - all.part_first[i], s->part_count);
        for (int p = 0; p < s->part_count; p++) {
            check_part(&all, all.part_first[i] + p, &s->part[p]);
        }
    }
    assert_int_equal(all.wall_count, w->state.walls.count);
    for (int i = 0; i < all.wall_count; i++) {
        talus_shape_def mine = w->state.walls.record[i].shape, theirs = all.wall[i];
        assert_int_equal(mine.kind, theirs.kind);
        assert_int_equal(mine.inside, theirs.inside);
        assert_int_equal(mine.open_faces, theirs.open_faces);
        assert_int_equal(mine.triangle_count, theirs.triangle_count);
        assert_memory_equal(mine.normal, theirs.normal, sizeof mine.normal);
        assert_memory_equal(mine.half_size, theirs.half_size, sizeof mine.half_size);
        assert_memory_equal(mine.axis, theirs.axis, sizeof mine.axis);
        assert_true(mine.radius == theirs.radius && mine.radius_high == theirs.radius_high &&
                    mine.half_length == theirs.half_length && mine.skin == theirs.skin &&
                    mine.solid.index == theirs.solid.index);
        size_t bytes = sizeof(double) * 9 * (size_t)mine.triangle_count;
        if (bytes) assert_memory_equal(mine.triangles, theirs.triangles, bytes);
    }
    shapes_free(&all);
}

static void check_frames(const char* folder, talus_world* w, int64_t count)
{
    talus_error error = {0};
    frame_reader reader;
    check_ok(frame_reader_open(folder, &reader, &error), error);
    assert_int_equal(reader.count, count);
    for (int64_t i = 0; i < count; i++) {
        sample_state(w, (uint64_t)i);
        check_frame(&reader, i, w);
    }
    if (count > 0) check_shapes(&reader, w, 2);
    frame_reader_close(&reader);
}

static void write_some(frames* f, talus_world* w, int64_t from, int64_t to)
{
    talus_error error = {0};
    for (int64_t i = from; i < to; i++) {
        sample_state(w, (uint64_t)i);
        check_ok(frames_write(f, w, &error), error);
    }
}

static frames_position begin(frames** f, const char* folder, frames_position at)
{
    talus_error error = {0};
    check_ok(frames_open(folder, at, (frames_options){.contacts = true}, f, &error), error);
    return at;
}

static int64_t size_of(const char* folder, const char* name)
{
    char* path = sample_path(folder, name);
    struct stat facts;
    int64_t size = stat(path, &facts) == 0 ? (int64_t)facts.st_size : -1;
    free(path);
    return size;
}

static void round_trip(int dim)
{
    char* folder = sample_folder();
    talus_world* w = sample_world(dim, 1);
    talus_error error = {0};
    frames* f = NULL;
    begin(&f, folder, (frames_position){0});
    check_frames(folder, w, 0);
    write_some(f, w, 0, 4);
    check_frames(folder, w, 0);
    frames_position at = {0};
    check_ok(frames_commit(f, &at, &error), error);
    assert_int_equal(at.frames, 4);
    assert_int_equal(at.segments, 1);
    check_frames(folder, w, 4);
    write_some(f, w, 4, 11);
    check_ok(frames_commit(f, &at, &error), error);
    check_frames(folder, w, 11);
    check_ok(frames_finish(f, &error), error);
    frames_close(f);
    check_frames(folder, w, 11);
    assert_int_equal(size_of(folder, "frames"), -1);
    talus_world_destroy(w);
    sample_remove(folder);
}

static void test_round_trip_2d(void** state)
{
    (void)state;
    round_trip(2);
}

static void test_round_trip_3d(void** state)
{
    (void)state;
    round_trip(3);
}

/// Frames after the position of a checkpoint vanish, those before stay; also after a finish.
static void test_resume(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_world* w = sample_world(2, 1);
    talus_error error = {0};
    frames* f = NULL;
    frames_position at = {0}, later = {0}, end = {0};
    begin(&f, folder, at);
    write_some(f, w, 0, 3);
    check_ok(frames_commit(f, &at, &error), error);
    write_some(f, w, 3, 6);
    check_ok(frames_commit(f, &later, &error), error);
    write_some(f, w, 6, 7); // lost, as by a kill
    frames_close(f);

    begin(&f, folder, at);
    check_frames(folder, w, 3);
    write_some(f, w, 3, 8);
    check_ok(frames_commit(f, &end, &error), error);
    check_ok(frames_finish(f, &error), error);
    frames_close(f);
    check_frames(folder, w, 8);

    // The run was killed after the finish and before its last checkpoint: go on at `end`, twice.
    end.frames = 6;
    begin(&f, folder, end);
    check_frames(folder, w, 6);
    write_some(f, w, 6, 9);
    check_ok(frames_commit(f, &later, &error), error);
    frames_close(f);
    begin(&f, folder, later);
    check_frames(folder, w, 9);
    write_some(f, w, 9, 10);
    check_ok(frames_finish(f, &error), error);
    frames_close(f);
    check_frames(folder, w, 10);
    assert_int_equal(size_of(folder, "frames"), -1);

    // A new run in the same folder starts from nothing; one whose files are missing goes on from
    // there, and says so.
    begin(&f, folder, (frames_position){0});
    check_frames(folder, w, 0);
    assert_null(frames_loss(f));
    frames_close(f);
    begin(&f, folder, later);
    assert_non_null(frames_loss(f));
    assert_non_null(strstr(frames_loss(f), "the frames from 0 to 8 of"));
    check_frames(folder, w, 0);
    frames_close(f);
    talus_world_destroy(w);
    sample_remove(folder);
}

static void check_solid_count(const char* folder, const talus_world* w, int count)
{
    talus_error error = {0};
    frame_reader reader;
    check_ok(frame_reader_open(folder, &reader, &error), error);
    check_shapes(&reader, w, count);
    frame_reader_close(&reader);
}

/// Shapes added while the run goes on are there with the first frame after it, through a commit,
/// a kill, a resume and the end.
static void test_shapes_added(void** state)
{
    (void)state;
    static const double triangle[] = {0, 0, 1, 0, 0, 1};
    static const int size = 3;
    char* folder = sample_folder();
    talus_world* w = sample_world(2, 1);
    talus_error error = {0};
    frames* f = NULL;
    frames_position at = {0}, later = {0};
    begin(&f, folder, at);
    write_some(f, w, 0, 2);
    check_ok(frames_commit(f, &at, &error), error);
    write_some(f, w, 2, 3);
    sample_solid(w, "third", triangle, &size, 1);
    write_some(f, w, 3, 4);
    check_solid_count(folder, w, 2);
    check_ok(frames_commit(f, &later, &error), error);
    check_solid_count(folder, w, 3);
    sample_solid(w, "fourth", triangle, &size, 1);
    write_some(f, w, 4, 5);
    frames_close(f); // as by a kill: frame 4 and the fourth shape were never committed
    check_solid_count(folder, w, 3);

    begin(&f, folder, at); // back to the time before the third
    check_solid_count(folder, w, 2);
    frames_close(f);
    begin(&f, folder, at);
    write_some(f, w, 2, 6);
    check_ok(frames_finish(f, &error), error);
    frames_close(f);
    check_solid_count(folder, w, 4);

    begin(&f, folder, (frames_position){6, 2}); // a finished run that goes on
    check_solid_count(folder, w, 4);
    sample_solid(w, "fifth", triangle, &size, 1);
    write_some(f, w, 6, 7);
    check_ok(frames_finish(f, &error), error);
    frames_close(f);
    check_solid_count(folder, w, 5);
    talus_world_destroy(w);
    sample_remove(folder);
}

static void test_without_contacts(void** state)
{
    (void)state;
    char* folder = sample_folder();
    char* out = sample_path(folder, "vtk");
    talus_world* w = sample_world(3, 1);
    talus_error error = {0};
    frames* f = NULL;
    check_ok(frames_open(folder, (frames_position){0}, (frames_options){0}, &f, &error), error);
    write_some(f, w, 0, 2);
    check_ok(frames_commit(f, NULL, &error), error);
    frame_reader reader;
    frame_data d;
    check_ok(frame_reader_open(folder, &reader, &error), error);
    check_ok(frames_finish(f, &error), error); // removes what the open file has links to
    frames_close(f);
    check_ok(frame_read(&reader, 1, FRAME_FIELDS, &d, &error), error);
    assert_int_equal(d.contacts.count, -1);
    frame_data_free(&d);
    frame_reader_close(&reader);
    check_ok(talus_export(folder, out, TALUS_EXPORT_VTK, &error), error);
    assert_true(size_of(out, "grains_000001.vtp") > 0);
    assert_int_equal(size_of(out, "contacts_000001.vtp"), -1);
    char* grid = sample_path(folder, "grid.vtkhdf");
    check_ok(talus_export(folder, grid, TALUS_EXPORT_VTKHDF, &error), error);
    hid_t file = H5Fopen(grid, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(h5_has(file, "VTKHDF/grains/Points"));
    assert_false(h5_has(file, "VTKHDF/contacts"));
    H5Fclose(file);
    free(grid);
    free(out);
    talus_world_destroy(w);
    sample_remove(folder);
}

/// Large enough for several segments and several chunks a dataset: nothing waits in memory.
static void test_large(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_world* w = sample_world(3, 1);
    talus_error error = {0};
    frames* f = NULL;
    begin(&f, folder, (frames_position){0});
    int64_t n = 60000;
    for (uint64_t i = 0; i < 5; i++) {
        sample_fill(w, i, n, 2 * n);
        check_ok(frames_write(f, w, &error), error);
    }
    frames_position at;
    check_ok(frames_commit(f, &at, &error), error);
    assert_true(at.segments >= 2);
    check_ok(frames_finish(f, &error), error);
    frames_close(f);
    frame_reader reader;
    check_ok(frame_reader_open(folder, &reader, &error), error);
    for (uint64_t i = 0; i < 5; i++) {
        sample_fill(w, i, n, 2 * n);
        check_frame(&reader, (int64_t)i, w);
    }
    frame_reader_close(&reader);
    talus_world_destroy(w);
    sample_remove(folder);
}

// ---- failures ----------------------------------------------------------------------------------

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/// A full disk at a commit or at the consolidation: an error with a reason, all committed frames
/// still there, and when there is room again nothing is missing.
static void test_disk_full(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_world* w = sample_world(3, 1);
    talus_error error = {0};
    frames* f = NULL;
    begin(&f, folder, (frames_position){0});
    write_some(f, w, 0, 3);
    check_ok(frames_commit(f, NULL, &error), error);

    write_some(f, w, 3, 5);
    limit_file_size(4096);
    assert_int_equal(frames_commit(f, NULL, &error), TALUS_ERR_IO);
    print_message("commit: %s\n", error.text);
    assert_non_null(strstr(error.text, "File too large"));
    assert_non_null(strstr(error.text, folder));
    limit_file_size(RLIM_INFINITY);
    check_frames(folder, w, 3);
    assert_int_equal(size_of(folder, "frames/segment-000001.h5"), -1);
    assert_int_equal(size_of(folder, "frames/segment-000001.h5.tmp"), -1);
    write_some(f, w, 5, 7);
    check_ok(frames_commit(f, NULL, &error), error);
    check_frames(folder, w, 7);

    limit_file_size((rlim_t)size_of(folder, "frames/segment-000000.h5") + 2000);
    assert_int_equal(frames_finish(f, &error), TALUS_ERR_IO);
    print_message("finish: %s\n", error.text);
    assert_non_null(strstr(error.text, "File too large"));
    assert_non_null(strstr(error.text, "complete and good"));
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(size_of(folder, "frames.h5.tmp"), -1);
    check_frames(folder, w, 7);
    check_ok(frames_finish(f, &error), error);
    frames_close(f);
    check_frames(folder, w, 7);

    char* out = sample_path(folder, "vtk");
    char* dump = sample_path(folder, "dump.lammpstrj");
    limit_file_size(1000);
    assert_int_equal(talus_export(folder, out, TALUS_EXPORT_VTK, &error), TALUS_ERR_IO);
    assert_int_equal(talus_export(folder, dump, TALUS_EXPORT_LAMMPS, &error), TALUS_ERR_IO);
    print_message("export: %s\n", error.text);
    char* grid = sample_path(folder, "grid.vtkhdf");
    assert_int_equal(talus_export(folder, grid, TALUS_EXPORT_VTKHDF, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "File too large"));
    char* gsd = sample_path(folder, "run.gsd");
    assert_int_equal(talus_export(folder, gsd, TALUS_EXPORT_GSD, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "File too large"));
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(size_of(folder, "run.gsd"), -1);
    assert_int_equal(size_of(folder, "run.gsd.tmp"), -1);
    free(gsd);
    assert_int_equal(size_of(folder, "grid.vtkhdf"), -1);
    assert_int_equal(size_of(folder, "grid.vtkhdf.tmp"), -1);
    free(grid);
    assert_int_equal(size_of(out, "grains_000000.vtp"), -1);
    assert_int_equal(size_of(folder, "dump.lammpstrj"), -1);
    assert_int_equal(size_of(folder, "dump.lammpstrj.tmp"), -1);
    free(out);
    free(dump);
    talus_world_destroy(w);
    sample_remove(folder);
}

static herr_t own_handler(hid_t stack, void* user)
{
    (void)stack;
    ++*(int*)user;
    return 0;
}

/// A missing folder, a foreign frames.h5; HDF5 stays silent and the host's handler is put back.
static void test_refusals(void** state)
{
    (void)state;
    int called = 0;
    H5Eset_auto2(H5E_DEFAULT, own_handler, &called);
    talus_error error = {0};
    frames* f = NULL;
    assert_int_equal(
        frames_open("/nowhere/run", (frames_position){0}, (frames_options){0}, &f, &error),
        TALUS_ERR_IO);
    assert_null(f);
    assert_string_equal(error.text,
                        "cannot make the folder /nowhere/run/frames: No such file or directory");
    assert_int_equal(talus_export("/nowhere/run", "/tmp", TALUS_EXPORT_VTK, &error), TALUS_ERR_IO);

    char* folder = sample_folder();
    char* path = sample_path(folder, "frames.h5");
    FILE* file = fopen(path, "w");
    fputs("this is not HDF5", file);
    fclose(file);
    assert_int_equal(talus_export(folder, "/tmp/none", TALUS_EXPORT_LAMMPS, &error),
                     TALUS_ERR_FORMAT);
    assert_non_null(strstr(error.text, "is not a frames file of Talus"));
    free(path);
    sample_remove(folder);

    H5E_auto2_t function = NULL;
    void* user = NULL;
    H5Eget_auto2(H5E_DEFAULT, &function, &user);
    assert_true(function == own_handler && user == &called);
    assert_int_equal(called, 0);
    H5Eset_auto2(H5E_DEFAULT, (H5E_auto2_t)(uintptr_t)H5Eprint2, stderr);
}

/// Write one number of a dataset of `folder`/frames.h5; with NULL, remove the group instead.
static void tamper(const char* folder, const char* group, const char* set, int32_t value)
{
    char* path = sample_path(folder, "frames.h5");
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t where = H5Gopen2(file, set ? group : "/", H5P_DEFAULT);
    if (set) {
        int32_t data[512];
        int64_t rows;
        int width;
        assert_true(h5_shape(where, set, COLUMN_I32, &rows, &width) && rows <= 512);
        assert_true(h5_read(where, set, COLUMN_I32, data));
        data[1] = value;
        hid_t old = H5Dopen2(where, set, H5P_DEFAULT);
        assert_true(H5Dwrite(old, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
        H5Dclose(old);
    } else {
        assert_true(H5Ldelete(where, group, H5P_DEFAULT) >= 0);
    }
    H5Gclose(where);
    H5Fclose(file);
    free(path);
}

/// Shapes that do not fit together are told, and frames of an older Talus have none.
static void test_bad_shapes(void** state)
{
    (void)state;
    static const char* const sets[] = {"loop", "part_first", "vertex_first", "loop_first"};
    talus_error error = {0};
    for (int i = 0; i < 5; i++) {
        char* folder = sample_folder();
        char* out = sample_path(folder, "vtk");
        char* dump = sample_path(folder, "dump");
        talus_world* w = sample_world(3, 1);
        frames* f = NULL;
        begin(&f, folder, (frames_position){0});
        write_some(f, w, 0, 1);
        check_ok(frames_finish(f, &error), error);
        frames_close(f);
        tamper(folder, i < 4 ? "shapes/solids" : "shapes", i < 4 ? sets[i] : NULL, 100000);
        talus_status expected = i < 4 ? TALUS_ERR_FORMAT : TALUS_OK;
        assert_int_equal(talus_export(folder, out, TALUS_EXPORT_VTK, &error), expected);
        assert_int_equal(talus_export(folder, dump, TALUS_EXPORT_LAMMPS, &error), expected);
        if (i < 4) assert_non_null(strstr(error.text, "cannot read the shapes"));
        assert_int_equal(size_of(out, "walls.pvd"), -1);
        assert_int_equal(size_of(out, "solids.pvd"), -1);
        assert_int_equal(size_of(folder, "dump.shapes"), -1);
        free(out);
        free(dump);
        talus_world_destroy(w);
        sample_remove(folder);
    }
}

// ---- data for the Python tests -----------------------------------------------------------------

static int write_sample(const char* folder, int dim)
{
    char* whole = sample_path(folder, "whole");
    char* linked = sample_path(folder, "linked");
    const char* folders[2] = {whole, linked};
    talus_world* w = sample_world(dim, 1);
    talus_error error = {0};
    for (int i = 0; i < 2; i++) {
        frames* f = NULL;
        series* s = NULL;
        mkdir(folders[i], 0777);
        begin(&f, folders[i], (frames_position){0});
        check_ok(series_open(folders[i], 0, w, &s, &error), error);
        for (int64_t k = 0; k < 6; k++) {
            write_some(f, w, k, k + 1);
            check_ok(series_write(s, w, 1e-3, &error), error);
            if (k == 2) check_ok(frames_commit(f, NULL, &error), error);
        }
        check_ok(i == 0 ? frames_finish(f, &error) : frames_commit(f, NULL, &error), error);
        frames_close(f);
        series_close(s);
        char* vtk = sample_path(folders[i], "vtk");
        char* dump = sample_path(folders[i], "dump.lammpstrj");
        check_ok(talus_export(folders[i], vtk, TALUS_EXPORT_VTK, &error), error);
        check_ok(talus_export(folders[i], dump, TALUS_EXPORT_LAMMPS, &error), error);
        char* grid = sample_path(folders[i], "run.vtkhdf");
        check_ok(talus_export(folders[i], grid, TALUS_EXPORT_VTKHDF, &error), error);
        free(grid);
        char* gsd = sample_path(folders[i], "run.gsd");
        check_ok(talus_export(folders[i], gsd, TALUS_EXPORT_GSD, &error), error);
        free(gsd);
        free(vtk);
        free(dump);
    }
    talus_world_destroy(w);
    free(whole);
    free(linked);
    return 0;
}

/// What failed is said even if HDF5 was called again before it is told, as to close something; and
/// short memory is said, of which HDF5 knows nothing.
static void test_reasons(void** state)
{
    (void)state;
    talus_error error = {0};
    h5_quiet quiet;
    h5_silence(&quiet);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    assert_true(H5Fopen("/nowhere/at/all.h5", H5F_ACC_RDONLY, list) < 0);
    H5Pclose(list);
    errno = 0;
    assert_int_equal(h5_error(&error, TALUS_ERR_IO, "cannot read", "it"), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "No such file or directory"));
    errno = ENOMEM;
    h5_error(&error, TALUS_ERR_IO, "cannot record", "it");
    assert_string_equal(error.text, "cannot record it: out of memory");
    h5_loud(&quiet);
}

/// A frame of a world holds what one in a file does, and a world made of it is the same again.
static void test_of_world(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world *w = sample_world(dim, 1), *back = sample_world(dim, 1);
        for (uint64_t key = 0; key < 6; key++) {
            sample_state(w, key);
            for (int64_t i = 0; i < w->state.grains.count; i++) { // such as frames may refer to
                w->state.grains.mass[i] = 1.0 + w->state.grains.radius[i];
                w->state.grains.solid[i] = (int32_t)(i % 3) - 1;
                w->state.grains.glued_to[i] = -1;
            }
            // Contacts with a wall that was removed are not shown.
            for (int64_t i = 0; i < w->state.walls.count; i++) w->state.walls.present[i] = 1;
            frame_data d;
            assert_true(frame_of_world(w, (frames_options){.contacts = true}, 4, &d));
            check_data(&d, w);
            assert_int_equal(d.phase, 4);
            assert_string_equal(d.wall_name[1], "left wall");
            assert_string_equal(frame_find(&d.grains, "mass")->unit, "kg");
            talus_error error = {0};
            check_ok(frame_into_world(&d, "here", back, &error), error);
            check_data(&d, back);
            frame_data_free(&d);
            assert_true(frame_of_world(w, (frames_options){.reduced_units = true}, 0, &d));
            assert_int_equal(d.contacts.count, -1);
            assert_string_equal(frame_find(&d.grains, "mass")->unit, "reduced");
            frame_data_free(&d);
        }
        talus_world_destroy(w);
        talus_world_destroy(back);
    }
}

/// A frame written by a thread of its own is that of the moment when it was asked for, byte for
/// byte, although the world goes on at once; a failure is told by the next call.
static void test_written_behind(void** state)
{
    (void)state;
    char *plain = sample_folder(), *behind = sample_folder(), command[600];
    talus_world* w = sample_world(3, 1);
    talus_error error = {0};
    frames *f = NULL, *g = NULL;
    begin(&f, plain, (frames_position){0});
    begin(&g, behind, (frames_position){0});
    for (uint64_t i = 0; i < 6; i++) {
        sample_state(w, i);
        check_ok(frames_write(f, w, &error), error);
        check_ok(frames_write_behind(g, w, &error), error);
        sample_state(w, 100 + i);
        if (i == 2) check_ok(frames_commit(f, NULL, &error), error);
        if (i == 2) check_ok(frames_commit_behind(g, &error), error);
    }
    frames_position at = {0}, there = {0};
    check_ok(frames_commit(f, &at, &error), error);
    check_ok(frames_commit(g, &there, &error), error);
    assert_false(frames_are_busy(g));
    assert_memory_equal(&at, &there, sizeof at);
    snprintf(command, sizeof command, "diff -r %s/frames %s/frames", plain, behind);
    assert_int_equal(system(command), 0);

    sample_state(w, 6);
    check_ok(frames_write_behind(g, w, &error), error);
    limit_file_size(4096);
    check_ok(frames_commit_behind(g, &error), error);
    sample_state(w, 7);
    assert_int_equal(frames_write_behind(g, w, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "File too large"));
    limit_file_size(RLIM_INFINITY);
    check_ok(frames_write_behind(g, w, &error), error);
    check_ok(frames_finish(g, &error), error);
    frames_close(f);
    frames_close(g);
    check_frames(behind, w, 8);
    talus_world_destroy(w);
    sample_remove(plain);
    sample_remove(behind);
}

int main(int argc, char** argv)
{
    if (argc == 4 && strcmp(argv[1], "--write") == 0) return write_sample(argv[2], atoi(argv[3]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_2d), cmocka_unit_test(test_round_trip_3d),
        cmocka_unit_test(test_resume),        cmocka_unit_test(test_without_contacts),
        cmocka_unit_test(test_large),         cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_of_world),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_shapes_added),  cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_reasons),       cmocka_unit_test(test_written_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

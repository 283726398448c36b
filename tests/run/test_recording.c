/// Recordings: a recorded frame shown as a world is the world that was recorded.
#include "made_run.h"

#include <hdf5.h>
#include <string.h>
#include <sys/stat.h>
#include <talus/workshop.h>
#include <unistd.h>

static const char scene_text[] =
    "title: three piles\n"
    "dimension: 2\n"
    "step: 1e-3\n"
    "gravity: [0, -10]\n"
    "periodic: {x: [0, 0.2]}\n"
    "materials:\n"
    "  glass: {density: 2500, friction: 0.3}\n"
    "shapes:\n"
    "  brick: {box: [0.02, 0.01]}\n"
    "walls:\n"
    "  - {name: floor, type: plane, point: [0, 0], normal: [0, 1]}\n"
    "  - {name: lid, type: plane, point: [0, 1], normal: [0, -1]}\n"
    "grains:\n"
    "  - {type: lattice, low: [0, 0.01], high: [0.2, 0.15], radius: 0.01}\n"
    "  - {type: list, items: [{shape: brick, position: [0.1, 0.3], "
    "rotation: 10}]}\n"
    "phases:\n"
    "  - {name: down, until: {time: 0.1}}\n"
    "  - {name: up, gravity: [1, -5], remove: [lid], "
    "until: {time: 0.1}}\n"
    "output: {frames: 0.02, series: 0.01}\n";

static int make_run(void** state)
{
    (void)state;
    return make_run_of(scene_text);
}

static talus_recording* open_run(void)
{
    talus_error error = {0};
    talus_recording* rec = NULL;
    check_ok(talus_recording_open(run_folder, &rec, NULL, &error), error);
    return rec;
}

static void test_times(void** state)
{
    (void)state;
    talus_recording* rec = open_run();
    assert_int_equal(talus_recording_frame_count(rec), 11);
    for (int i = 0; i < 11; i++) {
        check_close("time of a frame", talus_recording_times(rec)[i], 0.02 * i, 1e-12,
                    "0.001 summed up to 200 times");
        assert_int_equal(talus_recording_steps(rec)[i], 20 * i);
    }
    assert_int_equal(talus_recording_nearest(rec, 0.049), 2);
    assert_int_equal(talus_recording_nearest(rec, -1), 0);
    assert_int_equal(talus_recording_nearest(rec, 7), 10);
    assert_string_equal(talus_recording_title(rec), "three piles");
    assert_false(talus_recording_reduced_units(rec));
    talus_recording_close(rec);
}

#define SAME(x, y, n) assert_memory_equal(x, y, sizeof *(x) * (size_t)(n))

/// The last frame has the state of the run's last checkpoint, bit for bit.
static void test_last_frame_is_the_checkpoint(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_recording* rec = open_run();
    const talus_world* shown = NULL;
    check_ok(talus_recording_show(rec, 10, &shown, &error), error);
    talus_run_def def = talus_run_default();
    def.directory = run_folder;
    talus_loaded loaded;
    check_ok(talus_run_load(&def, &loaded, NULL, &error), error);

    const talus_grains g = talus_world_grains(shown), h = talus_world_grains(loaded.world);
    assert_int_equal(g.count, h.count);
    assert_true(g.count > 60);
    SAME(g.id, h.id, g.count);
    SAME(g.position, h.position, 2 * g.count);
    SAME(g.velocity, h.velocity, 2 * g.count);
    SAME(g.rotation, h.rotation, g.count);
    SAME(g.spin, h.spin, g.count);
    SAME(g.radius, h.radius, g.count);
    SAME(g.mass, h.mass, g.count);
    SAME(g.inertia, h.inertia, g.count);
    SAME(g.solid, h.solid, g.count);
    SAME(g.image, h.image, 2 * g.count);
    const talus_contacts c = talus_world_contacts(shown), d = talus_world_contacts(loaded.world);
    assert_int_equal(c.count, d.count);
    assert_true(c.count > 60);
    SAME(c.a, d.a, c.count);
    SAME(c.b, d.b, c.count);
    SAME(c.force, d.force, 2 * c.count);
    SAME(c.point, d.point, 2 * c.count);
    SAME(c.state, d.state, c.count);
    assert_true(talus_world_hash(shown) == talus_world_hash(loaded.world));

    // What is measured off both is the same, too.
    talus_coordination one, two;
    check_ok(talus_measure_coordination(shown, 1e-6, true, NULL, &one, &error), error);
    check_ok(talus_measure_coordination(loaded.world, 1e-6, true, NULL, &two, &error), error);
    assert_true(one.all == two.all && one.backbone == two.backbone && one.rattlers == two.rattlers);
    const talus_measure_def plain = talus_measure_default();
    talus_energy energy, again;
    check_ok(talus_measure_energy(shown, &plain, &energy, &error), error);
    check_ok(talus_measure_energy(loaded.world, &plain, &again, &error), error);
    assert_true(energy.potential == again.potential && energy.kinetic == again.kinetic);
    assert_true(talus_world_last(shown)->kinetic_energy ==
                talus_world_last(loaded.world)->kinetic_energy);
    assert_int_equal(talus_world_last(shown)->active, talus_world_last(loaded.world)->active);
    talus_world_destroy(loaded.world);
    talus_recording_close(rec);
}

/// Frames in any order: each has the gravity and the walls of its phase.
static void check_phases(const char* directory)
{
    static const struct {
        int frame;
        double gravity;
        bool lid;
    } expected[] = {
        {0, -10, true}, {5, -10, true}, {6, -5, false}, {10, -5, false}, {3, -10, true}};
    talus_error error = {0};
    talus_recording* rec = NULL;
    check_ok(talus_recording_open(directory, &rec, NULL, &error), error);
    for (int i = 0; i < 5; i++) {
        const talus_world* world = NULL;
        check_ok(talus_recording_show(rec, expected[i].frame, &world, &error), error);
        talus_wall_state lid;
        check_ok(talus_world_wall(world, talus_world_find_wall(world, "lid"), &lid, &error), error);
        assert_true(talus_world_options(world)->gravity[1] == expected[i].gravity);
        assert_true(lid.present == expected[i].lid);
        assert_true(talus_world_time(world) == talus_recording_times(rec)[expected[i].frame]);
    }
    talus_recording_close(rec);
}

static void test_phases(void** state)
{
    (void)state;
    check_phases(run_folder);
}

/// A copy of the run's scene, frames and checkpoints in another folder.
static void copy_run(const char* name, char copy[200])
{
    char command[700];
    snprintf(copy, 200, "%.100s/%s", folder, name);
    snprintf(command, sizeof command, "mkdir %s && cp %.100s/scene.yaml %.100s/*.h5 %s", copy,
             run_folder, run_folder, copy);
    assert_int_equal(system(command), 0);
}

/// Open the copy's frames to change them.
static hid_t change_frames(const char* copy)
{
    char path[250];
    snprintf(path, sizeof path, "%s/frames.h5", copy);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

/// A run that was killed soon after its second phase began has no checkpoint that knows of it.
static void test_phases_without_a_checkpoint(void** state)
{
    (void)state;
    char copy[200], path[250];
    copy_run("killed", copy);
    snprintf(path, sizeof path, "%s/checkpoint.h5", copy);
    assert_int_equal(remove(path), 0);
    snprintf(path, sizeof path, "%s/checkpoint.previous.h5", copy);
    remove(path);
    check_phases(copy);
}

/// Frames that do not say their phase, as of older versions: the checkpoint knows.
static void test_phases_of_older_frames(void** state)
{
    (void)state;
    char copy[200], name[32];
    copy_run("older", copy);
    hid_t file = change_frames(copy);
    for (int i = 0; i < 11; i++) {
        snprintf(name, sizeof name, "/frames/%06d", i);
        assert_true(H5Adelete_by_name(file, name, "phase", H5P_DEFAULT) >= 0);
    }
    H5Fclose(file);
    check_phases(copy);
}

/// The run is gathered into one file, and the others removed, while somebody looks at it.
static void test_gathered_meanwhile(void** state)
{
    (void)state;
    char copy[200], command[700];
    talus_recording* rec = NULL;
    talus_error error = {0};
    const talus_world* world = NULL;
    copy_run("gathered", copy);
    snprintf(command, sizeof command,
             "cd %s && mkdir frames && cp frames.h5 whole.h5 && cp frames.h5 "
             "frames/segment-000000.h5",
             copy);
    assert_int_equal(system(command), 0);
    hid_t file = change_frames(copy);
    assert_true(H5Ldelete(file, "/frames/000001", H5P_DEFAULT) >= 0 &&
                H5Lcreate_external("frames/segment-000000.h5", "/frames/000001", file,
                                   "/frames/000001", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    assert_int_equal(talus_recording_open(copy, &rec, NULL, &error), TALUS_OK);
    assert_int_equal(talus_recording_show(rec, 1, &world, &error), TALUS_OK);
    snprintf(command, sizeof command, "cd %s && mv whole.h5 frames.h5 && rm -r frames", copy);
    assert_int_equal(system(command), 0);
    assert_int_equal(talus_recording_show(rec, 1, &world, &error), TALUS_OK);
    assert_true(talus_world_time(world) == talus_recording_times(rec)[1]);
    talus_recording_close(rec);
}

static void check_text(const talus_error* error, const char* part)
{
    if (!strstr(error->text, part)) {
        printf("'%s' is not in '%s'\n", part, error->text);
        fail();
    }
}

static void test_errors(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_recording* rec = open_run();
    const talus_world* world = NULL;
    assert_int_equal(talus_recording_show(rec, 11, &world, &error), TALUS_ERR_ARGUMENT);
    check_text(&error, "no frame 11");
    assert_null(world);
    assert_int_equal(talus_recording_show(rec, -1, &world, &error), TALUS_ERR_ARGUMENT);
    talus_recording_close(rec);
    assert_int_equal(talus_recording_open("/nowhere", &rec, NULL, &error), TALUS_ERR_STATE);
    check_text(&error, "no such directory");
    assert_int_equal(talus_recording_open(folder, &rec, NULL, &error), TALUS_ERR_STATE);
    check_text(&error, "no frames.h5");
    assert_null(rec);
}

/// Damage frames.h5 of a copy of the run.
typedef void damage_fn(hid_t file);

static void damage_count(hid_t file)
{
    const int64_t count = -5;
    hid_t attribute = H5Aopen(file, "frame_count", H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, &count) >= 0);
    H5Aclose(attribute);
}

static void damage_phase(hid_t file)
{
    const int64_t phase = 7;
    hid_t frame = H5Gopen2(file, "/frames/000000", H5P_DEFAULT);
    hid_t attribute = H5Aopen(frame, "phase", H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, &phase) >= 0);
    H5Aclose(attribute);
    H5Gclose(frame);
}

/// Replace a column of the grains by a dataset of the same shape with one number throughout.
static void replace(hid_t file, const char* name, double value, hid_t list)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    H5Dclose(set);
    H5Ldelete(file, name, H5P_DEFAULT);
    set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    double* data = malloc(sizeof *data * (size_t)count);
    for (hssize_t i = 0; i < count; i++) data[i] = value;
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    free(data);
    H5Dclose(set);
    H5Sclose(space);
}

static void damage_mass(hid_t file)
{
    replace(file, "/frames/000000/grains/mass", NAN, H5P_DEFAULT);
}

static void damage_radius(hid_t file)
{
    replace(file, "/frames/000000/grains/radius", -1.0, H5P_DEFAULT);
}

/// Numbers that are in another file: not to be read, whatever that is.
static void damage_outside(hid_t file)
{
    char path[200];
    snprintf(path, sizeof path, "%s/elsewhere", folder);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(list, path, 0, H5F_UNLIMITED);
    replace(file, "/frames/000000/grains/radius", 0.01, list);
    H5Pclose(list);
}

static void damage_missing(hid_t file)
{
    assert_true(H5Ldelete(file, "/frames/000000", H5P_DEFAULT) >= 0);
}

/// Damaged numbers are told, and other frames can still be seen.
static void test_damaged_frames(void** state)
{
    (void)state;
    static const struct {
        const char *name, *words;
        damage_fn* damage;
        bool opens;
    } cases[] = {
        {"count", "-5 frames", damage_count, false},
        {"phase", "of phase 8, but there are 2", damage_phase, true},
        {"mass", "is damaged", damage_mass, true},
        {"radius", "is damaged", damage_radius, true},
        {"outside", "cannot read a frame", damage_outside, true},
        {"missing", "cannot read frame 0", damage_missing, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char copy[200];
        talus_error error = {0};
        talus_recording* rec = NULL;
        const talus_world* world = NULL;
        copy_run(cases[i].name, copy);
        hid_t file = change_frames(copy);
        cases[i].damage(file);
        H5Fclose(file);
        talus_status status = talus_recording_open(copy, &rec, NULL, &error);
        assert_int_equal(status, cases[i].opens ? TALUS_OK : TALUS_ERR_FORMAT);
        if (rec) {
            assert_int_equal(talus_recording_show(rec, 0, &world, &error), TALUS_ERR_FORMAT);
            assert_null(world);
        }
        check_text(&error, cases[i].words);
        if (rec) check_ok(talus_recording_show(rec, 1, &world, &error), error);
        talus_recording_close(rec);
    }
}

/// Frames beside a scene that is not theirs: told, not followed.
static void test_frames_of_another_scene(void** state)
{
    (void)state;
    static const struct {
        const char *scene, *words;
    } cases[] = {
        {"dimension: 3\nstep: 1\nuntil: {time: 1}\n", "is of dimension 2"},
        {"dimension: 2\nstep: 1\nuntil: {time: 1}\n", "has 2 walls"},
        {"dimension: 2\nstep: 1\nuntil: {time: 1}\nmaterials: {m: {density: 1}}\nwalls:\n"
         "  - {name: floor, type: plane, normal: [0, 1]}\n"
         "  - {name: lid, type: plane, normal: [0, 1]}\n",
         "something that is not there"}, // the brick
    };
    char command[600];
    snprintf(command, sizeof command, "mkdir %.100s/other && cp %.100s/frames.h5 %.100s/other",
             folder, run_folder, folder);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 3; i++) {
        char other[200];
        talus_error error = {0};
        talus_recording* rec = NULL;
        const talus_world* world = NULL;
        snprintf(other, sizeof other, "%.100s/other/scene.yaml", folder);
        FILE* file = fopen(other, "w");
        fputs(cases[i].scene, file);
        fclose(file);
        snprintf(other, sizeof other, "%.100s/other", folder);
        check_ok(talus_recording_open(other, &rec, NULL, &error), error);
        assert_int_equal(talus_recording_show(rec, 0, &world, &error), TALUS_ERR_FORMAT);
        check_text(&error, cases[i].words);
        assert_null(world);
        talus_recording_close(rec);
    }
}

static void test_series(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_series s;
    check_ok(talus_series_read(run_folder, &s, &error), error);
    assert_int_equal(s.rows, 20);
    const double* time = talus_series_column(&s, "time");
    const double* step = talus_series_column(&s, "step");
    assert_non_null(talus_series_column(&s, "floor_force_y"));
    assert_null(talus_series_column(&s, "nothing"));
    for (int i = 0; i < 20; i++) {
        assert_true(step[i] == 10 * (i + 1));
        check_close("time of a row", time[i], 0.01 * (i + 1), 1e-12, "0.001 summed up");
    }
    talus_series_free(&s);
}

/// A line that is being written does not count; one with too few numbers is told by its number.
static void test_series_in_the_making(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_series s;
    char path[200];
    snprintf(path, sizeof path, "%s/series.csv", folder);
    FILE* file = fopen(path, "w");
    fputs("a,b\n1,2\n3,nan\n5,", file);
    fclose(file);
    check_ok(talus_series_read(folder, &s, &error), error);
    assert_int_equal(s.rows, 2);
    assert_true(s.data[0][1] == 3 && isnan(s.data[1][1]));
    talus_series_free(&s);
    file = fopen(path, "w");
    fputs("a,b\n1,2\n3\n", file);
    fclose(file);
    assert_int_equal(talus_series_read(folder, &s, &error), TALUS_ERR_FORMAT);
    check_text(&error, "series.csv:3: expected 2 numbers");
    file = fopen(path, "w");
    fclose(file);
    assert_int_equal(talus_series_read(folder, &s, &error), TALUS_ERR_FORMAT);
    check_text(&error, "is empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_last_frame_is_the_checkpoint),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_phases_without_a_checkpoint),
        cmocka_unit_test(test_phases_of_older_frames),
        cmocka_unit_test(test_gathered_meanwhile),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_damaged_frames),
        cmocka_unit_test(test_frames_of_another_scene),
        cmocka_unit_test(test_series),
        cmocka_unit_test(test_series_in_the_making),
    };
    return cmocka_run_group_tests(tests, make_run, remove_run);
}

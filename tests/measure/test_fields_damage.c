/// Damaged frames are refused when they are shown: sizes and places that no run can have recorded.
#include "made_run.h"

#include <hdf5.h>
#include <string.h>
#include <talus/workshop.h>
#include <unistd.h>

static const char scene_text[] =
    "dimension: 2\n"
    "step: 1e-3\n"
    "periodic: {x: [0, 0.2]}\n"
    "materials: {m: {density: 1000}}\n"
    "shapes: {brick: {box: [0.02, 0.01]}}\n"
    "grains:\n"
    "  - {type: list, items: [{shape: brick, position: [0.1, 0.3]}, {radius: 0.01, position: "
    "[0.05, 0.1]}]}\n"
    "until: {time: 2e-3}\n"
    "output: {frames: 1e-3}\n";

static int make_run(void** state)
{
    (void)state;
    return make_run_of(scene_text);
}

/// Exchange one number of frame 1; returns what it was.
static double exchange(const char* column, int at, double value)
{
    char path[200];
    double x[16];
    snprintf(path, sizeof path, "%s/frames.h5", run_folder);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    snprintf(path, sizeof path, "/frames/000001/grains/%s", column);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    const double before = x[at];
    x[at] = value;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    return before;
}

static talus_status show(talus_error* error)
{
    talus_recording* rec = NULL;
    const talus_world* world = NULL;
    check_ok(talus_recording_open(run_folder, &rec, NULL, error), *error);
    const talus_status status = talus_recording_show(rec, 1, &world, error);
    talus_recording_close(rec);
    return status;
}

static void test_values(void** state)
{
    (void)state;
    static const struct {
        const char* column;
        int at;
        double value;
        talus_status expected;
    } cases[] = {
        {"scale", 0, 0.0, TALUS_ERR_FORMAT},      {"scale", 0, -1.0, TALUS_ERR_FORMAT},
        {"scale", 0, NAN, TALUS_ERR_FORMAT},      {"scale", 0, INFINITY, TALUS_ERR_FORMAT},
        {"radius", 1, 0.0, TALUS_ERR_FORMAT},     {"position", 1, 1e300, TALUS_ERR_FORMAT},
        {"position", 2, -1e20, TALUS_ERR_FORMAT}, {"position", 1, NAN, TALUS_OK},
        {"position", 1, 1e6, TALUS_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        talus_error error = {0};
        const double before = exchange(cases[i].column, cases[i].at, cases[i].value);
        assert_int_equal(show(&error), cases[i].expected);
        if (cases[i].expected) assert_non_null(strstr(error.text, "impossible size or place"));
        exchange(cases[i].column, cases[i].at, before);
        assert_int_equal(show(&error), TALUS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, make_run, remove_run);
}

/// series.csv: rows as they were, cut at the checkpoint on resume, whole lines on a full disk.
#include "record/files.h"
#include "record/record.h"
#include "record_world.h"

#include <signal.h>
#include <sys/resource.h>

static char* contents(const char* folder)
{
    char* path = sample_path(folder, "series.csv");
    unsigned char* data = NULL;
    size_t size;
    talus_error error = {0};
    check_ok(files_read(path, &data, &size, &error), error);
    data[size] = '\0';
    free(path);
    return (char*)data;
}

static void write_rows(series* s, talus_world* w, uint64_t from, uint64_t to)
{
    talus_error error = {0};
    for (uint64_t k = from; k < to; k++) {
        sample_state(w, k);
        check_ok(series_write(s, w, 1e-3, &error), error);
    }
}

static void test_resume(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_error error = {0};
    talus_world* w = sample_world(2, 1);
    series* s = NULL;
    int64_t bytes = 0;
    check_ok(series_open(folder, 0, w, &s, &error), error);
    write_rows(s, w, 0, 9);
    check_ok(series_sync(s, NULL, &error), error);
    char* unbroken = contents(folder);
    series_close(s);

    check_ok(series_open(folder, 0, w, &s, &error), error);
    write_rows(s, w, 0, 4);
    check_ok(series_sync(s, &bytes, &error), error);
    write_rows(s, w, 4, 6);
    series_close(s); // flushed, but after the checkpoint
    check_ok(series_open(folder, bytes, w, &s, &error), error);
    write_rows(s, w, 4, 9);
    series_close(s);
    char* resumed = contents(folder);
    assert_string_equal(resumed, unbroken);
    assert_non_null(strstr(unbroken, ",kinetic_energy,"));
    assert_non_null(strstr(unbroken, ",left_wall_force_y,"));

    // A file of other columns, or one that is too short, is not continued.
    talus_world* other = sample_world(3, 1);
    assert_int_equal(series_open(folder, bytes, other, &s, &error), TALUS_ERR_FORMAT);
    assert_int_equal(series_open(folder, (int64_t)strlen(resumed) + 5, w, &s, &error),
                     TALUS_ERR_FORMAT);
    char* after = contents(folder);
    assert_string_equal(after, resumed);
    assert_int_equal(series_open("/nowhere", 0, w, &s, &error), TALUS_ERR_IO);
    free(unbroken);
    free(resumed);
    free(after);
    talus_world_destroy(w);
    talus_world_destroy(other);
    sample_remove(folder);
}

/// The first line of the series of a world.
static char* header_of(const talus_world* w, const char* folder)
{
    talus_error error = {0};
    series* s = NULL;
    check_ok(series_open(folder, 0, w, &s, &error), error);
    series_close(s);
    return contents(folder);
}

/// Columns of one method only; a series of the other one is not continued.
static void test_methods(void** state)
{
    (void)state;
    static const char* const contact[] = {",sweeps,",    ",converged,", ",residual,",
                                          ",stiffness,", ",yielding,",  ",second,"};
    static const char* const soft[] = {",elastic_energy,", ",dissipated,", ",input_work,",
                                       ",energy_error,"};
    char* folder = sample_folder();
    talus_world* w = sample_world(2, 1);
    char* rigid = header_of(w, folder);
    w->def.method = TALUS_METHOD_SOFT;
    talus_error error = {0};
    series* s = NULL;
    assert_int_equal(series_open(folder, (int64_t)strlen(rigid), w, &s, &error), TALUS_ERR_FORMAT);
    char* springs = header_of(w, folder);
    for (size_t i = 0; i < sizeof contact / sizeof *contact; i++) {
        assert_non_null(strstr(rigid, contact[i]));
        assert_null(strstr(springs, contact[i]));
    }
    for (size_t i = 0; i < sizeof soft / sizeof *soft; i++) {
        assert_null(strstr(rigid, soft[i]));
        assert_non_null(strstr(springs, soft[i]));
    }
    free(rigid);
    free(springs);
    talus_world_destroy(w);
    sample_remove(folder);
}

static void test_disk_full(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_error error = {0};
    talus_world* w = sample_world(3, 1);
    series* s = NULL;
    check_ok(series_open(folder, 0, w, &s, &error), error);
    write_rows(s, w, 0, 5);
    check_ok(series_sync(s, NULL, &error), error);
    char* before = contents(folder);
    write_rows(s, w, 5, 20); // less than it gathers before it writes by itself
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t unlimited = limit.rlim_cur;
    limit.rlim_cur = strlen(before) + 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(series_sync(s, NULL, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "series.csv: File too large"));
    char* after = contents(folder);
    assert_string_equal(after, before);
    limit.rlim_cur = unlimited;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_ok(series_sync(s, NULL, &error), error);
    free(after);
    after = contents(folder);
    int rows = -1; // the header
    for (const char* c = after; *c; c++) rows += *c == '\n';
    assert_int_equal(rows, 20);
    free(after);
    free(before);
    series_close(s);
    talus_world_destroy(w);
    sample_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_disk_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

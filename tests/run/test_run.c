/// Parts of the run room: output marks, JSON, the directory that is never overwritten.
#include "support.h"

#include "base/json.h"
#include "run/directory.h"
#include "run/run.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

// ---- marks -------------------------------------------------------------------------------------

/// A frame every ten steps, counted over a million steps of a summed time.
static void test_marks_do_not_drift(void** state)
{
    (void)state;
    const double h = 1e-3, interval = 1e-2;
    double time = 0;
    int64_t mark = 0;
    for (int64_t step = 1; step <= 1000000; step++) {
        time += h; // rounds differently from step*h, as a world's time does
        int64_t now = schedule_mark(time, h, interval);
        assert_int_equal(now - mark, step % 10 == 0 ? 1 : 0);
        mark = now;
    }
}

/// With an interval of 2.5 steps the nearest steps are alternately two and three apart.
static void test_marks_take_the_nearest_step(void** state)
{
    (void)state;
    int64_t changes = 0, mark = 0;
    for (int step = 1; step <= 1000; step++) {
        int64_t now = schedule_mark(step * 0.4, 0.4, 1.0);
        assert_true(now - mark <= 1);
        changes += now - mark;
        mark = now;
    }
    assert_int_equal(changes, 400);
}

// ---- JSON --------------------------------------------------------------------------------------

static void test_json_escapes(void** state)
{
    (void)state;
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    json j = json_begin(file);
    json_string(&j, "a\"b", "\\ \n \x01 \xc3\xa9 \xff");
    json_number(&j, "x", NAN);
    json_number(&j, "y", 0.1);
    json_array(&j, "empty");
    json_array_end(&j);
    json_array(&j, "list");
    json_integer(&j, NULL, -3);
    json_bool(&j, NULL, true);
    json_array_end(&j);
    json_vector(&j, "v", (double[3]){1, -INFINITY, 2});
    json_end(&j);
    fclose(file);
    assert_string_equal(text, "{\n"
                              "  \"a\\\"b\": \"\\\\ \\n \\u0001 \xc3\xa9 \\ufffd\",\n"
                              "  \"x\": null,\n"
                              "  \"y\": 0.10000000000000001,\n"
                              "  \"empty\": [],\n"
                              "  \"list\": [\n    -3,\n    true\n  ],\n"
                              "  \"v\": [1, null, 2]\n"
                              "}\n");
    free(text);
}

// ---- directory ---------------------------------------------------------------------------------

static void make_temporary(char path[DIRECTORY_PATH_SIZE])
{
    const char* base = getenv("TMPDIR");
    snprintf(path, DIRECTORY_PATH_SIZE, "%s/talus-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
}

static void put(const char* directory, const char* name)
{
    talus_error error;
    check_ok(directory_write(directory, name, "x", 1, &error), error);
}

static void remove_all(const char* directory, const char* const* names, int count)
{
    for (int i = 0; i < count; i++) directory_remove(directory, names[i], NULL);
    assert_int_equal(rmdir(directory), 0);
}

static void test_foreign_directory_is_refused(void** state)
{
    (void)state;
    char dir[DIRECTORY_PATH_SIZE];
    talus_error error;
    make_temporary(dir);
    check_ok(directory_check(dir, false, &error), error);
    put(dir, "log.txt"); // somebody's, since there is no lock of ours
    assert_int_equal(directory_check(dir, true, &error), TALUS_ERR_EXISTS);
    put(dir, "thesis.tex");
    assert_int_equal(directory_check(dir, false, &error), TALUS_ERR_EXISTS);
    assert_int_equal(directory_check(dir, true, &error), TALUS_ERR_EXISTS);
    // A file that happens to be called like one of ours does not make it a run.
    put(dir, "scene.yaml");
    assert_int_equal(directory_check(dir, true, &error), TALUS_ERR_EXISTS);
    assert_non_null(strstr(error.text, dir));
    remove_all(dir, (const char*[]){"log.txt", "thesis.tex", "scene.yaml"}, 3);
}

static void test_clean_removes_only_own_files(void** state)
{
    (void)state;
    char dir[DIRECTORY_PATH_SIZE], folder[DIRECTORY_PATH_SIZE];
    talus_error error;
    int lock = -1;
    make_temporary(dir);
    check_ok(directory_lock(dir, &lock, &error), error);
    put(dir, "log.txt");
    put(dir, "scene.yaml.tmp");
    check_ok(directory_check(dir, false, &error), error); // a beginning that was killed is no run
    check_ok(directory_path(folder, dir, "frames", &error), error);
    check_ok(directory_make(folder, &error), error);
    const char* own[] = {"scene.yaml", "run.json", "summary.json.tmp", "scene.yaml.tmp",
                         "frames.h5",  "log.txt",  "checkpoint.h5",    "series.csv"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) put(dir, own[i]);
    put(folder, "segment-000003.h5");
    put(folder, "mine.txt");
    put(dir, "notes.txt");
    put(dir, "scene.yaml.mine");

    assert_int_equal(directory_check(dir, false, &error), TALUS_ERR_EXISTS);
    check_ok(directory_check(dir, true, &error), error);
    check_ok(directory_clean(dir, &error), error);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) assert_false(directory_has(dir, own[i]));
    assert_false(directory_has(folder, "segment-000003.h5"));
    assert_true(directory_has(folder, "mine.txt"));
    assert_true(directory_has(dir, "notes.txt"));
    assert_true(directory_has(dir, "scene.yaml.mine"));

    remove_all(folder, (const char*[]){"mine.txt"}, 1);
    remove_all(dir, (const char*[]){"notes.txt", "scene.yaml.mine", ".talus.lock"}, 3);
    close(lock);
}

static void test_second_lock_is_refused(void** state)
{
    (void)state;
    char dir[DIRECTORY_PATH_SIZE];
    talus_error error;
    int first = -1, second = -1;
    make_temporary(dir);
    check_ok(directory_lock(dir, &first, &error), error);
    assert_int_equal(directory_lock(dir, &second, &error), TALUS_ERR_STATE);
    close(first);
    check_ok(directory_lock(dir, &second, &error), error);
    close(second);
    remove_all(dir, (const char*[]){".talus.lock"}, 1);
}

static void test_long_path_is_an_error(void** state)
{
    (void)state;
    static char dir[2 * DIRECTORY_PATH_SIZE];
    memset(dir, 'a', sizeof dir - 1);
    talus_error error;
    assert_int_equal(directory_make(dir, &error), TALUS_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_do_not_drift),
        cmocka_unit_test(test_marks_take_the_nearest_step),
        cmocka_unit_test(test_json_escapes),
        cmocka_unit_test(test_foreign_directory_is_refused),
        cmocka_unit_test(test_clean_removes_only_own_files),
        cmocka_unit_test(test_second_lock_is_refused),
        cmocka_unit_test(test_long_path_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

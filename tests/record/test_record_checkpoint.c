/// Checkpoints: restored bit for bit, and never wrong: cut at any length, damaged in any byte,
/// foreign, of another version, dimension or scene, with a full disk.
#include "record/files.h"
#include "record/record.h"
#include "record_world.h"

#include <signal.h>
#include <sys/resource.h>

typedef struct run_state {
    int64_t phase;
    double mark;
} run_state;

static talus_status save(const char* folder, const talus_world* w, int64_t phase,
                         talus_error* error)
{
    run_state run = {phase, 0.5};
    char note[5] = "note";
    checkpoint_extra extras[2] = {{"run", &run, sizeof run}, {"note", note, sizeof note}};
    return checkpoint_write(folder, w, extras, 2, error);
}

static talus_status load(const char* folder, talus_world* w, int64_t* phase, bool* previous,
                         talus_error* error)
{
    run_state run = {-1, 0};
    checkpoint_extra extras[1] = {{"run", &run, sizeof run}};
    talus_status status = checkpoint_read(folder, w, extras, 1, previous, error);
    *phase = run.phase;
    return status;
}

/// A copy of the file's bytes, for damaging.
static unsigned char* bytes_of(const char* path, size_t* size)
{
    unsigned char* data = NULL;
    talus_error error = {0};
    check_ok(files_read(path, &data, size, &error), error);
    return data;
}

static void put_bytes(const char* path, const void* data, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_round_trip(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        char* folder = sample_folder();
        talus_error error = {0};
        talus_world* w = sample_world(dim, 1);
        talus_world* back = sample_world(dim, 1);
        talus_world* expected = sample_world(dim, 1);
        int64_t phase;
        bool previous;
        // 4 then 3 then 5: rows grow, vanish and come back.
        for (uint64_t key = 2; key < 8; key++) {
            sample_state(w, key);
            check_ok(save(folder, w, (int64_t)key, &error), error);
            check_ok(load(folder, back, &phase, &previous, &error), error);
            sample_state(expected, key);
            assert_true(sample_equal(w, expected));
            assert_true(sample_equal(back, expected));
            assert_int_equal(phase, key);
            assert_false(previous);
        }
        char* path = sample_path(folder, "checkpoint.h5");
        assert_int_equal(unlink(path), 0);
        check_ok(load(folder, back, &phase, &previous, &error), error);
        sample_state(expected, 6);
        assert_true(sample_equal(back, expected));
        assert_true(previous);
        free(path);
        talus_world_destroy(w);
        talus_world_destroy(back);
        talus_world_destroy(expected);
        sample_remove(folder);
    }
}

/// Whatever happens to checkpoint.h5, the one before it is taken; without one it is an error and
/// the world stays as it was.
static void check_damaged(const char* folder, const char* path, const char* previous_path,
                          const void* data, size_t size, const void* good, size_t good_size)
{
    talus_error error = {0};
    talus_world* back = sample_world(2, 1);
    talus_world* expected = sample_world(2, 1);
    int64_t phase;
    bool previous = false;
    put_bytes(path, data, size);
    put_bytes(previous_path, good, good_size);
    sample_state(back, 9);
    check_ok(load(folder, back, &phase, &previous, &error), error);
    sample_state(expected, 1);
    assert_true(previous);
    assert_int_equal(phase, 1);
    assert_true(sample_equal(back, expected));

    assert_int_equal(unlink(previous_path), 0);
    sample_state(back, 9);
    sample_state(expected, 9);
    talus_status status = load(folder, back, &phase, &previous, &error);
    assert_int_equal(status, TALUS_ERR_FORMAT);
    assert_non_null(strstr(error.text, "no good checkpoint"));
    assert_int_equal(phase, -1);
    assert_true(sample_equal(back, expected));
    talus_world_destroy(back);
    talus_world_destroy(expected);
}

static void test_damage(void** state)
{
    (void)state;
    char* folder = sample_folder();
    char* path = sample_path(folder, "checkpoint.h5");
    char* previous_path = sample_path(folder, "checkpoint.previous.h5");
    talus_error error = {0};
    talus_world* w = sample_world(2, 1);
    sample_state(w, 1);
    check_ok(save(folder, w, 1, &error), error);
    size_t good_size, size;
    unsigned char* good = bytes_of(path, &good_size);
    sample_state(w, 2);
    check_ok(save(folder, w, 2, &error), error);
    unsigned char* data = bytes_of(path, &size);

    // Cut: every length in the head, then about sixty more.
    for (size_t length = 0; length < size; length += length < 64 ? 3 : 1 + size / 60) {
        check_damaged(folder, path, previous_path, data, length, good, good_size);
    }
    check_damaged(folder, path, previous_path, data, size - 1, good, good_size);
    // One bit turned over anywhere in the contents.
    rng random = rng_make(5, 0, 0);
    for (int i = 0; i < 60; i++) {
        size_t at = 512 + (size_t)rng_below(&random, size - 512);
        data[at] ^= 16;
        check_damaged(folder, path, previous_path, data, size, good, good_size);
        data[at] ^= 16;
    }
    // Foreign: a text, and an HDF5 file that is no checkpoint.
    check_damaged(folder, path, previous_path, "hello\n", 6, good, good_size);
    check_damaged(folder, path, previous_path, data + 512, size - 512, good, good_size);
    free(good);
    free(data);
    free(path);
    free(previous_path);
    talus_world_destroy(w);
    sample_remove(folder);
}

/// The sample world with the method soft.
static talus_world* soft_world(talus_integrator integrator)
{
    talus_world* w = sample_world(2, 1);
    w->def.method = TALUS_METHOD_SOFT;
    w->def.soft.integrator = integrator;
    w->def.soft.bound = TALUS_BOUND_ELASTIC;
    return w;
}

static void refuse(const char* folder, talus_world* w, const char* because)
{
    talus_error error = {0};
    int64_t phase;
    assert_int_equal(load(folder, w, &phase, NULL, &error), TALUS_ERR_STATE);
    print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, because));
    assert_int_equal(phase, -1);
    assert_int_equal(w->state.step, 0);
    talus_world_destroy(w);
}

/// The sample world with its first solid under another name (NULL: without solids), or with one
/// corner moved.
static talus_world* reshaped_world(const char* name, double moved)
{
    talus_error error = {0};
    talus_world* sample = sample_world(2, 1);
    talus_world* w = NULL;
    check_ok(talus_world_create(talus_world_options(sample), &w, &error), error);
    talus_pair_def pair = talus_pair_default();
    check_ok(talus_world_add_material(w, "glass", &pair, NULL, &error), error);
    check_ok(talus_world_add_material(w, "steel", &pair, NULL, &error), error);
    const double points[] = {0, 0, 0.3, 0.1, 0.2 + moved, 0.3, -0.1, 0.2};
    const int size = 4;
    if (name) sample_solid(w, name, points, &size, 1);
    talus_world_destroy(sample);
    return w;
}

/// Whole checkpoints that are not for this world are refused, even with a good one before them.
static void test_other(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_error error = {0};
    talus_world* w = sample_world(2, 1);
    sample_state(w, 1);
    check_ok(save(folder, w, 1, &error), error);
    check_ok(save(folder, w, 1, &error), error);
    refuse(folder, sample_world(3, 1), "\"dimension 2\" where this one has \"dimension 3\"");
    refuse(folder, sample_world(2, 8), "\"seed 1\" where this one has \"seed 8\"");
    talus_world* more = sample_world(2, 1);
    talus_wall_def wall = talus_wall_default();
    wall.name = "gate";
    wall.shape.normal[1] = 1.0;
    check_ok(talus_world_add_wall(more, &wall, NULL, &error), error);
    refuse(folder, more, "\"nothing more\" where this one has \"wall gate");

    refuse(folder, soft_world(TALUS_INTEGRATOR_GEAR5),
           "\"method contact\" where this one has \"method soft, integrator gear5");
    talus_world* soft = soft_world(TALUS_INTEGRATOR_GEAR5);
    check_ok(save(folder, soft, 1, &error), error);
    check_ok(save(folder, soft, 1, &error), error);
    refuse(folder, soft_world(TALUS_INTEGRATOR_VERLET), "has \"method soft, integrator verlet");
    refuse(folder, sample_world(2, 1), "elongation geometric, law linear, bound elastic\" where");
    talus_world_destroy(soft);
    check_ok(save(folder, w, 1, &error), error);
    check_ok(save(folder, w, 1, &error), error);

    refuse(folder, reshaped_world(NULL, 0.0), "\"solid kite, geometry ");
    refuse(folder, reshaped_world("kite", 1e-15), "\"solid kite, geometry ");
    refuse(folder, reshaped_world("brick", 0.0), "has \"solid brick, geometry ");

    // Extras of another size or name.
    double small = 3.0;
    checkpoint_extra wrong = {"run", &small, sizeof small};
    assert_int_equal(checkpoint_peek(folder, &wrong, 1, &error), TALUS_ERR_STATE);
    wrong.name = "walk";
    assert_int_equal(checkpoint_peek(folder, &wrong, 1, &error), TALUS_ERR_STATE);
    assert_true(small == 3.0);
    run_state run = {0};
    checkpoint_extra right = {"run", &run, sizeof run};
    check_ok(checkpoint_peek(folder, &right, 1, &error), error);
    assert_int_equal(run.phase, 1);

    char* path = sample_path(folder, "checkpoint.h5");
    size_t size;
    unsigned char* data = bytes_of(path, &size);
    const char head[] = "talus-checkpoint 3";
    assert_memory_equal(data, head, strlen(head));
    data[strlen(head) - 1] = '7';
    put_bytes(path, data, size);
    refuse(folder, sample_world(2, 1), "has checkpoint format 7, this program reads format 3");
    free(data);
    free(path);
    talus_world_destroy(w);
    sample_remove(folder);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/// A full disk or no folder: an error with the reason, and both checkpoints as they were.
static void test_disk_full(void** state)
{
    (void)state;
    char* folder = sample_folder();
    char* path = sample_path(folder, "checkpoint.h5");
    char* previous_path = sample_path(folder, "checkpoint.previous.h5");
    char* temporary = sample_path(folder, "checkpoint.h5.tmp");
    talus_error error = {0};
    talus_world* w = sample_world(3, 1);
    size_t size[2], after[2];
    for (uint64_t key = 1; key < 3; key++) {
        sample_state(w, key);
        check_ok(save(folder, w, (int64_t)key, &error), error);
    }
    unsigned char* before = bytes_of(path, &size[0]);
    unsigned char* before_previous = bytes_of(previous_path, &size[1]);
    for (rlim_t bytes = 0; bytes < size[0]; bytes += 1500) {
        limit_file_size(bytes);
        assert_int_equal(save(folder, w, 5, &error), TALUS_ERR_IO);
    }
    limit_file_size(RLIM_INFINITY);
    print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, "checkpoint.h5.tmp: File too large"));
    assert_int_equal(access(temporary, F_OK), -1);
    unsigned char* now = bytes_of(path, &after[0]);
    unsigned char* now_previous = bytes_of(previous_path, &after[1]);
    assert_true(after[0] == size[0] && after[1] == size[1]);
    assert_memory_equal(before, now, size[0]);
    assert_memory_equal(before_previous, now_previous, size[1]);
    assert_int_equal(save("/nowhere", w, 5, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "No such file or directory"));
    free(before);
    free(before_previous);
    free(now);
    free(now_previous);
    free(path);
    free(previous_path);
    free(temporary);
    talus_world_destroy(w);
    sample_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_other),
        cmocka_unit_test(test_disk_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Checkpoints: restored bit for bit, and never wrong: cut at any length, damaged in any byte,
/// foreign, of another version, dimension or scene, with a full disk.
#include "base/hash.h"
#include "record/files.h"
#include "record/h5.h"
#include "record/record.h"
#include "record_world.h"
#include "run/run.h"

#include <signal.h>
#include <sys/resource.h>

typedef struct life {
    int64_t phase;
    double mark;
    bool done;
    int32_t level;
    char note[5];
} life;

static const stored_field life_fields[] = {FIELD(life, phase), FIELD(life, mark), FIELD(life, done),
                                           FIELD(life, level), FIELD(life, note)};
static const stored_fields life_list = FIELD_LIST(life, life_fields);

static talus_status save(const char* folder, const talus_world* w, int64_t phase,
                         talus_error* error)
{
    life now[2] = {{phase, 0.5, true, -3, "note"}, {phase, -0.5, false, 7, "full"}};
    const checkpoint_part parts[2] = {{"run", &life_list, 1, now}, {"lives", &life_list, 2, now}};
    return checkpoint_write(folder, w, CHECKPOINT_STATE, parts, 2, error);
}

static talus_status load(const char* folder, talus_world* w, int64_t* phase, bool* previous,
                         talus_error* error)
{
    life now = {.phase = -1};
    const checkpoint_part part = {"run", &life_list, 1, &now};
    talus_status status = checkpoint_read(folder, w, &part, 1, previous, error);
    *phase = now.phase;
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
    w->method = method_of(TALUS_METHOD_SOFT);
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

    talus_world_destroy(w);
    sample_remove(folder);
}

/// An older or newer checkpoint is refused with that word, be it one of the bytes of today's.
static void test_versions(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_error error = {0};
    talus_world* w = sample_world(2, 1);
    check_ok(save(folder, w, 1, &error), error);
    char* path = sample_path(folder, "checkpoint.h5");
    size_t size;
    unsigned char* data = bytes_of(path, &size);
    const char head[] = "talus-checkpoint 10";
    assert_memory_equal(data, head, strlen(head));
    memcpy(data, "talus-checkpoint 09", strlen(head));
    put_bytes(path, data, size);
    refuse(folder, sample_world(2, 1),
           "is a checkpoint of version 9, written by an older Talus; this one reads version 10: "
           "start the run again");
    memcpy(data, "talus-checkpoint 11", strlen(head));
    put_bytes(path, data, size);
    refuse(folder, sample_world(2, 1),
           "is a checkpoint of version 11, written by a newer Talus; this one reads version 10: go "
           "on with that one");
    // As they were written before, cut short: the version is said before anything else.
    put_bytes(path, "talus-checkpoint 1\nsize 12\n", 27);
    refuse(folder, sample_world(2, 1), "version 1, written by an older Talus");
    free(data);
    free(path);
    talus_world_destroy(w);
    sample_remove(folder);
}

// ---- fields ------------------------------------------------------------------------------------

/// Give every field of a struct a value that depends on its place.
static void fill(const stored_fields* list, char* data, int* number)
{
    for (int i = 0; i < list->count; i++) {
        const stored_field* f = &list->field[i];
        char* at = data + f->offset;
        const int n = ++*number;
        const double real = 0.1 * n;
        const int64_t large = 1000000007LL * n;
        const int32_t small = -n;
        const bool truth = n % 2;
        switch (f->type) {
        case FIELD_F64:
            for (size_t k = 0; k < f->size; k += sizeof real) memcpy(at + k, &real, sizeof real);
            break;
        case FIELD_I64:
            for (size_t k = 0; k < f->size; k += sizeof large) memcpy(at + k, &large, sizeof large);
            break;
        case FIELD_I32: memcpy(at, &small, sizeof small); break;
        case FIELD_BOOL: memcpy(at, &truth, sizeof truth); break;
        case FIELD_TEXT: snprintf(at, f->size, "text %d", n); break;
        case FIELD_STRUCT: fill(f->own, at, number); break;
        }
    }
}

static size_t alignment(const stored_field* f)
{
    if (f->type == FIELD_STRUCT) return 8;
    return f->type == FIELD_TEXT ? 1 : f->size < 8 ? f->size : 8;
}

/// Between the fields of a struct, as they are listed, there is only what their alignment asks for:
/// none was forgotten.
static void check_whole(const stored_fields* list)
{
    size_t end = 0;
    for (int i = 0; i < list->count; i++) {
        const stored_field* f = &list->field[i];
        const size_t unit = alignment(f);
        if (f->offset != (end + unit - 1) / unit * unit) {
            print_message("before the field %s stands one that is not in the list\n", f->name);
        }
        assert_int_equal(f->offset, (end + unit - 1) / unit * unit);
        if (f->type == FIELD_STRUCT) check_whole(f->own);
        end = f->offset + f->size;
    }
    assert_int_equal(list->size, (end + 7) / 8 * 8);
}

/// All fields of a run's parts come back, those of several rows too.
static void test_every_field(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        const stored_fields* fields;
    } parts[] = {{"run", &run_state_fields},
                 {"phases", &phase_log_fields},
                 {"inlets", &inlet_state_fields},
                 {"last", &step_result_fields}};
    char* folder = sample_folder();
    talus_world* w = sample_world(2, 1);
    for (int p = 0; p < 4; p++) {
        const stored_fields* list = parts[p].fields;
        check_whole(list);
        enum { ROWS = 3 };
        char* before = calloc(ROWS, list->size);
        char* after = calloc(ROWS, list->size);
        int number = 0;
        for (int i = 0; i < ROWS; i++) fill(list, before + list->size * (size_t)i, &number);
        talus_error error = {0};
        checkpoint_part part = {parts[p].name, list, ROWS, before};
        check_ok(checkpoint_write(folder, w, CHECKPOINT_STATE, &part, 1, &error), error);
        part.data = after;
        check_ok(checkpoint_peek(folder, &part, 1, &error), error);
        assert_memory_equal(before, after, ROWS * list->size);
        part.rows = 2;
        assert_int_equal(checkpoint_peek(folder, &part, 1, &error), TALUS_ERR_STATE);
        assert_non_null(strstr(error.text, "has 3 rows, expected 2"));
        free(before);
        free(after);
    }
    // And those of the world.
    talus_world* back = sample_world(2, 1);
    talus_error error = {0};
    int number = 0;
    fill(&step_result_fields, (char*)&w->last, &number);
    w->totals.shown = (talus_totals){.steps = 1,
                                     .sweeps = 2,
                                     .updates = 3,
                                     .unconverged = 4,
                                     .yielding = 5,
                                     .certified = {21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
                                     .frozen_friction = 32,
                                     .unproved_sliding = 50,
                                     .worst_estimate = 51,
                                     .worst_certified = 33,
                                     .worst_time = 34,
                                     .worst_grains = 35,
                                     .worst_grain = 36,
                                     .worst_place = {37, 38, 39},
                                     .audits = 40,
                                     .audits_held = 41,
                                     .audits_unanswered = 42,
                                     .audit_least = 43,
                                     .audit_most = 44,
                                     .audit_grains = 47,
                                     .audit_touching = 48,
                                     .audit_largest = 49,
                                     .audit_updates = 45,
                                     .last_updates = 46,
                                     .second = 6,
                                     .removed = 7,
                                     .cut = 9,
                                     .sunk = 4,
                                     .sunk_depth = 0.3,
                                     .resolved_step = 0.2,
                                     .safe_step = 1e-4,
                                     .dissipated = 8,
                                     .input = 9,
                                     .start = 10,
                                     .seconds_solve = 13};
    w->totals.power_lost = 11;
    w->totals.power_input = 12;
    w->solves = 14;
    w->state.grains.next_id = 15;
    check_ok(checkpoint_write(folder, w, CHECKPOINT_STATE, NULL, 0, &error), error);
    back->totals.shown.seconds_solve = 99;
    check_ok(checkpoint_read(folder, back, NULL, 0, NULL, &error), error);
    assert_memory_equal(&back->last, &w->last, sizeof w->last);
    assert_int_equal(back->solves, 14);
    assert_int_equal(back->state.grains.next_id, 15);
    assert_true(back->totals.shown.seconds_solve == 99); // those of this process
    back->totals.shown.seconds_solve = 13;
    assert_memory_equal(&back->totals, &w->totals, sizeof w->totals);
    talus_world_destroy(w);
    talus_world_destroy(back);
    sample_remove(folder);
}

static void refuse_part(const char* folder, const stored_field* fields, int count,
                        const char* because)
{
    life now = {.phase = -1};
    const stored_fields list = {fields, count, sizeof now};
    const checkpoint_part part = {"run", &list, 1, &now};
    talus_error error = {0};
    assert_int_equal(checkpoint_peek(folder, &part, 1, &error), TALUS_ERR_STATE);
    print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, because));
    assert_int_equal(now.phase, -1);
}

/// A field that is missing, not known or of another type is named.
static void test_fields(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_error error = {0};
    talus_world* w = sample_world(2, 1);
    check_ok(save(folder, w, 1, &error), error);
    const stored_field more[] = {
        FIELD(life, phase), FIELD(life, mark), FIELD(life, done),
        FIELD(life, level), FIELD(life, note), {"pace", FIELD_F64, offsetof(life, mark), 8, NULL}};
    refuse_part(folder, more, 6, "checkpoint.h5: the field state/run.pace is missing");
    refuse_part(folder, more, 4, "checkpoint.h5: the field state/run.note is not known");
    stored_field other[5];
    memcpy(other, more, sizeof other);
    other[1].type = FIELD_I64;
    refuse_part(folder, other, 5,
                "the field state/run.mark is a real number of 8 bytes, expected an integer of 8");
    other[1].type = FIELD_F64;
    other[4].size = 4;
    refuse_part(folder, other, 5, "state/run.note is a text of 5 bytes, expected a text of 4");
    life now = {0};
    checkpoint_part walk = {"walk", &life_list, 1, &now};
    assert_int_equal(checkpoint_peek(folder, &walk, 1, &error), TALUS_ERR_STATE);
    assert_non_null(strstr(error.text, "state/walk is missing"));
    walk.name = "run";
    check_ok(checkpoint_peek(folder, &walk, 1, &error), error);
    assert_true(now.phase == 1 && now.mark == 0.5 && now.done && now.level == -3);
    assert_string_equal(now.note, "note");
    talus_world_destroy(w);
    sample_remove(folder);
}

/// Change the HDF5 file inside a checkpoint and give it its right size and hash again.
static void edit(const char* path, void (*change)(hid_t file))
{
    size_t size;
    unsigned char* data = bytes_of(path, &size);
    put_bytes(path, data + 512, size - 512);
    free(data);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    change(file);
    H5Fclose(file);
    data = bytes_of(path, &size);
    char head[512] = "";
    snprintf(head, sizeof head, "talus-checkpoint 10\nsize %zu\nhash %016llx\n", size,
             (unsigned long long)hash_bytes(HASH_START, data, size));
    talus_error error = {0};
    check_ok(files_write(path, head, sizeof head, data, size, false, &error), error);
    free(data);
}

static void without_mass(hid_t file)
{
    assert_true(H5Ldelete(file, "grains/mass", H5P_DEFAULT) >= 0);
}

static void with_colour(hid_t file)
{
    const double colour = 1;
    hid_t group = H5Gopen2(file, "grains", H5P_DEFAULT);
    assert_true(h5_write(group, "colour", COLUMN_F64, 1, 1, &colour, false));
    H5Gclose(group);
}

static void with_whole_radius(hid_t file)
{
    const int64_t radius[64] = {0};
    hid_t group = H5Gopen2(file, "grains", H5P_DEFAULT);
    int64_t count = 0;
    assert_true(h5_get_numbers(group, "count", COLUMN_I64, 1, &count));
    H5Ldelete(group, "radius", H5P_DEFAULT);
    assert_true(h5_write(group, "radius", COLUMN_I64, count, 1, radius, false));
    H5Gclose(group);
}

static void without_world(hid_t file)
{
    assert_true(H5Ldelete(file, "state/world", H5P_DEFAULT) >= 0);
}

/// The same of the world's own fields, in files that are whole.
static void test_world_fields(void** state)
{
    (void)state;
    static const struct {
        void (*change)(hid_t file);
        const char* because;
    } cases[] = {{without_mass, "checkpoint.h5: the field grains/mass is missing"},
                 {with_colour, "checkpoint.h5: the field grains/colour is not known"},
                 {with_whole_radius, "checkpoint.h5: the field grains/radius is of another type"},
                 {without_world, "checkpoint.h5: state/world is missing"}};
    talus_world* w = sample_world(2, 1);
    sample_state(w, 1);
    for (int i = 0; i < 4; i++) {
        char* folder = sample_folder();
        char* path = sample_path(folder, "checkpoint.h5");
        talus_error error = {0};
        check_ok(save(folder, w, 1, &error), error);
        edit(path, cases[i].change);
        refuse(folder, sample_world(2, 1), cases[i].because);
        free(path);
        sample_remove(folder);
    }
    talus_world_destroy(w);
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

static talus_status save_behind(checkpoint_writer** writer, const char* folder,
                                const talus_world* w, int64_t phase, talus_error* error)
{
    life now[2] = {{phase, 0.5, true, -3, "note"}, {phase, -0.5, false, 7, "full"}};
    const checkpoint_part parts[2] = {{"run", &life_list, 1, now}, {"lives", &life_list, 2, now}};
    return checkpoint_write_behind(writer, folder, w, CHECKPOINT_STATE, parts, 2, error);
}

/// A checkpoint that another thread writes while the world changes has the bytes of one that nobody
/// hurried; what fails is told by whoever waits, once, and leaves the files as they were.
static void test_behind(void** state)
{
    (void)state;
    char *folder = sample_folder(), *other = sample_folder();
    char *path = sample_path(folder, "checkpoint.h5"), *plain = sample_path(other, "checkpoint.h5");
    char* previous = sample_path(folder, "checkpoint.previous.h5");
    talus_error error = {0};
    talus_world* w = sample_world(3, 1);
    checkpoint_writer* writer = NULL;
    size_t size, plain_size;
    check_ok(checkpoint_writer_wait(writer, &error), error); // none yet
    for (uint64_t key = 1; key < 8; key++) {
        sample_state(w, key);
        check_ok(save(other, w, (int64_t)key, &error), error);
        check_ok(save_behind(&writer, folder, w, (int64_t)key, &error), error);
        sample_state(w, key + 1);
        if (key % 3 != 0) continue; // the next one waits by itself
        check_ok(checkpoint_writer_wait(writer, &error), error);
        unsigned char *behind = bytes_of(path, &size), *before = bytes_of(plain, &plain_size);
        assert_int_equal(size, plain_size);
        assert_memory_equal(behind, before, size);
        free(behind);
        free(before);
    }
    check_ok(checkpoint_writer_wait(writer, &error), error);
    assert_int_equal(access(previous, F_OK), 0);
    check_ok(checkpoint_writer_wait(writer, &error), error); // nothing to wait for

    unsigned char* good = bytes_of(path, &plain_size);
    limit_file_size(1000);
    check_ok(save_behind(&writer, folder, w, 9, &error), error);
    assert_int_equal(save_behind(&writer, folder, w, 10, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "checkpoint.h5.tmp: File too large"));
    limit_file_size(RLIM_INFINITY);
    check_ok(checkpoint_writer_wait(writer, &error), error); // it was told
    unsigned char* now = bytes_of(path, &size);
    assert_int_equal(size, plain_size);
    assert_memory_equal(now, good, size);
    check_ok(save_behind(&writer, "/nowhere", w, 9, &error), error);
    assert_int_equal(checkpoint_writer_wait(writer, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "No such file or directory"));
    check_ok(save_behind(&writer, folder, w, 11, &error), error);
    checkpoint_writer_free(writer); // waits
    free(now);
    now = bytes_of(path, &size);
    assert_true(size != plain_size || memcmp(now, good, size) != 0);
    free(now);
    free(good);
    free(path);
    free(plain);
    free(previous);
    talus_world_destroy(w);
    sample_remove(folder);
    sample_remove(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_other),        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_every_field),  cmocka_unit_test(test_fields),
        cmocka_unit_test(test_world_fields), cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

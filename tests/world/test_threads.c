/// The same bits for 1, 2, 3 and 8 threads: state, contact forces, what a step says of itself, and
/// the files of a record. Beds of grains are shaken out of a jittered lattice: balls and boxes in
/// 2D and 3D, periodic or between walls of which one is mobile and carries glued grains, with plain
/// friction or with every law there is. ThreadSanitizer runs this test too (.ci/run).
///
/// A bed has more grains, and more contacts, than the limits below which the engine keeps to one
/// thread (base/parallel.h), and no number of threads divides them evenly. It is not scaled down
/// for sanitizers: below the limits it would test nothing. They see fewer steps of the long run and
/// one number of threads beside one.
#include "support.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/talus.h>
#include <unistd.h>

static const int THREADS[] = {1, 3, 2, 8};
enum { THREAD_COUNTS = 4, MOST_STEPS = 1000 };

/// Numbers of threads to compare with one thread: the first of THREADS[1..], or all.
static int last_thread_count(void)
{
    return test_scale() < 1.0 ? 1 : THREAD_COUNTS - 1;
}

/// What a bed is made of.
typedef struct bed {
    const char* name;
    int dim, side;        ///< grains along a side of the lattice
    bool boxes, compound; ///< boxes instead of balls; all laws instead of friction
    bool lid; ///< walls and a mobile lid with grains glued to it instead of a periodic cell
    int steps, sweeps; ///< sweeps of a step; 0: until it has converged
} bed;

// ---- making a bed ------------------------------------------------------------------------------

static void add_plane(talus_world* world, const char* name, int axis, double sign, double at,
                      const talus_drive_def* drive)
{
    talus_error error;
    talus_wall_def wall = talus_wall_default();
    wall.name = name;
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[axis] = sign;
    wall.position[axis] = at;
    if (drive) wall.drive = *drive;
    check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
}

static void add_walls(talus_world* world, const bed* b, double extent, double top)
{
    const int up = b->dim - 1;
    add_plane(world, "floor", up, 1.0, 0.0, NULL);
    if (!b->lid) return;
    const char* names[2][2] = {{"left", "right"}, {"front", "back"}};
    for (int k = 0; k < up; k++) {
        add_plane(world, names[k][0], k, 1.0, 0.0, NULL);
        add_plane(world, names[k][1], k, -1.0, extent, NULL);
    }
    talus_drive_def push = talus_drive_default();
    push.kind = TALUS_DRIVE_FORCE;
    push.mass = 1e5;
    push.force[up] = -1e6;
    push.free_axes[up] = true;
    add_plane(world, "lid", up, -1.0, top, &push);
}

static void add_box(talus_world* world, int dim)
{
    talus_error error;
    double points[24];
    for (int i = 0; i < 8 * dim; i++) {
        points[i] = ((i / dim >> i % dim & 1) - 0.5) * (1.3 - 0.15 * (i % dim));
    }
    talus_solid_def def = talus_solid_default();
    def.name = "box";
    def.points = points;
    def.point_count = 1 << dim;
    check_ok(talus_world_add_solid(world, &def, NULL, &error), error);
}

static void add_material(talus_world* world, bool compound)
{
    talus_error error;
    talus_pair_def law = talus_pair_default();
    law.friction = 0.4;
    if (compound) {
        law.dynamic_friction = 0.3;
        law.restitution = 0.3;
        law.tangential_restitution = 0.2;
        law.rolling = 0.02;
        law.torsion = 0.01;
        law.cohesion_force = 500.0;
        law.cohesion_energy = 5.0;
    }
    check_ok(talus_world_add_material(world, "grit", &law, NULL, &error), error);
}

static void add_grains(talus_world* world, const bed* b, double spacing)
{
    const int dim = b->dim, side = b->side, count = dim == 2 ? side * side : side * side * side;
    rng random = rng_make(3, 0, 0);
    talus_error error;
    for (int i = 0; i < count; i++) {
        talus_grain_def grain = talus_grain_default();
        grain.solid = (talus_solid_id){b->boxes ? 0 : -1};
        for (int k = 0, rest = i; k < dim; k++, rest /= side) {
            grain.position[k] = (rest % side + 0.5) * spacing;
            grain.velocity[k] = 4.0 * rng_uniform(&random) - 2.0;
        }
        for (int k = 0; k < 3; k++) grain.rotation[k] = 0.3 * rng_uniform(&random);
        grain.radius = 0.9 + 0.1 * rng_uniform(&random);
        grain.external_torque[2] = i % 7 == 0 ? 100.0 : 0.0;
        const bool highest = grain.position[dim - 1] > (side - 1) * spacing;
        if (b->lid && highest && i % 3 == 0) grain.glued_to = talus_world_find_wall(world, "lid");
        check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);
    }
}

/// A square (2D) or cubic (3D) lattice over a floor; grains nearly touch and move at random, so
/// that contacts open and close in every step.
static talus_world* make_bed(const bed* b, int threads)
{
    const double spacing = b->boxes ? 1.34 : 2.04, extent = b->side * spacing;
    talus_error error;
    talus_world_def options = talus_world_default();
    options.dim = b->dim;
    options.threads = threads;
    options.gravity[b->dim - 1] = -10.0;
    options.drag = 10.0;
    options.has_domain = true;
    for (int k = 0; k < b->dim; k++) {
        options.periodic[k] = !b->lid && k < b->dim - 1;
        options.cell_high[k] = extent;
        options.domain_low[k] = -extent;
        options.domain_high[k] = 2.0 * extent;
    }
    if (b->sweeps > 0) {
        options.solver.stop = TALUS_STOP_SWEEPS;
        options.solver.max_sweeps = b->sweeps;
    }
    talus_world* world;
    check_ok(talus_world_create(&options, &world, &error), error);
    add_material(world, b->compound);
    if (b->boxes) add_box(world, b->dim);
    add_walls(world, b, extent, extent + 1.5);
    add_grains(world, b, spacing);
    return world;
}

// ---- comparing runs ----------------------------------------------------------------------------

/// Hash of all that a step leaves behind.
static uint64_t hash_all(const talus_world* world, const talus_step_result* r)
{
    const talus_contacts c = talus_world_contacts(world);
    const size_t numbers = (size_t)c.count * (size_t)c.dim;
    const double facts[] = {
        r->residual,          r->overlap_mean,         r->overlap_max,
        r->kinetic_energy,    r->rigidity.system_size, r->rigidity.velocity_error,
        r->rigidity.stiffness};
    const int64_t counts[] = {r->contacts, r->active, r->sweeps, r->updates, r->converged};
    uint64_t hash = talus_world_hash(world);
    hash = hash_bytes(hash, c.force, sizeof(double) * numbers);
    hash = hash_bytes(hash, c.torque, sizeof(double) * (size_t)c.count * (c.dim == 2 ? 1 : 3));
    hash = hash_bytes(hash, c.gap, sizeof(double) * (size_t)c.count);
    hash = hash_bytes(hash, c.state, (size_t)c.count);
    hash = hash_bytes(hash, c.bonded, (size_t)c.count);
    hash = hash_bytes(hash, facts, sizeof facts);
    hash = hash_bytes(hash, counts, sizeof counts);
    for (int w = 0; w < talus_world_wall_count(world); w++) {
        talus_wall_state wall;
        talus_error error;
        check_ok(talus_world_wall(world, (talus_wall_id){w}, &wall, &error), error);
        hash = hash_bytes(hash, wall.force, sizeof wall.force);
        hash = hash_bytes(hash, wall.torque, sizeof wall.torque);
    }
    return hash;
}

/// Hash after every step into hashes[steps]; returns how many contacts the last step had.
static int64_t run_bed(const bed* b, int threads, int steps, uint64_t* hashes)
{
    talus_error error;
    talus_step_result result = {0};
    talus_world* world = make_bed(b, threads);
    for (int i = 0; i < steps; i++) {
        check_ok(talus_world_step(world, b->boxes ? 0.01 : 0.02, &result, &error), error);
        hashes[i] = hash_all(world, &result);
    }
    check_ok(talus_world_validate(world, &error), error);
    assert_true(talus_world_grains(world).count >= PARALLEL_LEAST);
    talus_world_destroy(world);
    return result.contacts;
}

/// The same hash after every step with one thread and with the numbers THREADS[1..last].
static void check_bed(const bed* b, int last)
{
    static uint64_t one[MOST_STEPS], several[MOST_STEPS];
    const int steps = b->steps > 100 ? test_count(b->steps, 8) : b->steps;
    const int64_t contacts = run_bed(b, 1, steps, one);
    check_below(b->name, (double)PARALLEL_CHUNK / (double)contacts, 1.0,
                "contacts make more than one chunk");
    for (int t = 1; t <= last; t++) {
        assert_int_equal(run_bed(b, THREADS[t], steps, several), contacts);
        for (int i = 0; i < steps; i++) {
            if (one[i] == several[i]) continue;
            fail_msg("%s, step %d: %016jx with one thread, %016jx with %d", b->name, i + 1,
                     (uintmax_t)one[i], (uintmax_t)several[i], THREADS[t]);
        }
    }
}

static void test_short_runs(void** state)
{
    (void)state;
    const bed beds[] = {
        {.name = "disks", .dim = 2, .side = 104, .steps = 10, .sweeps = 5},
        {.name = "spheres", .dim = 3, .side = 20, .steps = 8, .sweeps = 5},
        {.name = "rectangles", .dim = 2, .side = 71, .boxes = true, .steps = 6, .sweeps = 5},
        {.name = "cuboids", .dim = 3, .side = 16, .boxes = true, .steps = 4, .sweeps = 5},
        {.name = "compound disks", .dim = 2, .side = 93, .compound = true, .steps = 8, .sweeps = 5},
        {.name = "compound spheres",
         .dim = 3,
         .side = 20,
         .compound = true,
         .steps = 5,
         .sweeps = 5},
        {.name = "compound rectangles",
         .dim = 2,
         .side = 71,
         .boxes = true,
         .compound = true,
         .steps = 5,
         .sweeps = 5},
        {.name = "disks under a lid", .dim = 2, .side = 93, .lid = true, .steps = 8, .sweeps = 5},
        {.name = "compound spheres under a lid",
         .dim = 3,
         .side = 20,
         .compound = true,
         .lid = true,
         .steps = 5,
         .sweeps = 5},
        {.name = "cuboids under a lid",
         .dim = 3,
         .side = 16,
         .boxes = true,
         .lid = true,
         .steps = 3,
         .sweeps = 5},
        {.name = "solved spheres", .dim = 3, .side = 20, .steps = 3},
    };
    for (size_t i = 0; i < sizeof beds / sizeof beds[0]; i++) {
        check_bed(&beds[i], last_thread_count());
    }
}

/// A thousand steps of a bed that falls, settles and lies, with one thread and with three.
static void test_long_run(void** state)
{
    (void)state;
    const bed b = {.name = "settling", .dim = 2, .side = 64, .steps = MOST_STEPS, .sweeps = 3};
    check_bed(&b, 1);
}

// ---- records -----------------------------------------------------------------------------------

static unsigned char* read_whole(const char* folder, const char* name, size_t* size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char* data = malloc(*size);
    assert_true(data && fread(data, 1, *size, file) == *size);
    fclose(file);
    unlink(path);
    return data;
}

/// Three steps, with a frame after each and a checkpoint at the end.
static void record_bed(const bed* b, int threads, const char* folder)
{
    talus_error error;
    frames* record = NULL;
    talus_world* world = make_bed(b, threads);
    const frames_options options = {.contacts = true};
    check_ok(frames_open(folder, (frames_position){0}, options, &record, &error), error);
    for (int i = 0; i < 3; i++) {
        check_ok(talus_world_step(world, 0.02, NULL, &error), error);
        check_ok(frames_write(record, world, &error), error);
    }
    check_ok(frames_finish(record, &error), error);
    frames_close(record);
    talus_world_destroy(world);
}

static void test_records(void** state)
{
    (void)state;
    const bed b = {.name = "recorded", .dim = 3, .side = 28, .sweeps = 2};
    char folder[] = "/tmp/talus-threads-XXXXXX";
    assert_non_null(mkdtemp(folder));
    unsigned char* one = NULL;
    size_t one_size = 0;
    for (int t = 0; t <= last_thread_count(); t++) {
        size_t size;
        record_bed(&b, THREADS[t], folder);
        unsigned char* data = read_whole(folder, "frames.h5", &size);
        if (t == 0) {
            one = data;
            one_size = size;
            continue;
        }
        assert_int_equal(size, one_size);
        assert_memory_equal(data, one, size);
        free(data);
    }
    free(one);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/// test_threads [long|short]: the long run alone, or all but it (cmake/Tests.cmake runs both parts
/// side by side); all without an argument.
int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "long") == 0) cmocka_set_test_filter("test_long_run");
    if (argc > 1 && strcmp(argv[1], "short") == 0) cmocka_set_skip_filter("test_long_run");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_runs),
        cmocka_unit_test(test_long_run),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}

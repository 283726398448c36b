/// Worlds of the method soft give the same bits for any number of threads, for every vector width,
/// however their steps are cut into calls, and after a restart from a checkpoint: positions,
/// velocities, contact forces, elongations and energies.
///
/// A bed of balls of two materials is thrown together: periodic, or between walls of which one
/// shakes and one is mobile and carries glued grains; with friction, or with every law there is.
/// It has more grains than the limit below which the engine keeps to one thread (base/parallel.h).
#include "support.h"

#include "base/hash.h"
#include "base/rng.h"
#include "base/vector_width.h"
#include "record/record.h"
#include "world/world.h"

#include <string.h>
#include <talus/talus.h>
#include <unistd.h>

typedef struct bed {
    const char* name;
    int dim, side;
    bool walls, compound;
    talus_soft_def soft;
    bool bare; ///< walls that hold no grains
} bed;

static const bed beds[] = {
    {"2D, periodic, Gear 5, geometric",
     2,
     67,
     false,
     false,
     {.integrator = TALUS_INTEGRATOR_GEAR5},
     false},
    {"2D, walls, all laws, leapfrog",
     2,
     67,
     true,
     true,
     {.integrator = TALUS_INTEGRATOR_LEAPFROG},
     false},
    {"3D, periodic, Verlet, Cundall",
     3,
     17,
     false,
     false,
     {.integrator = TALUS_INTEGRATOR_VERLET,
      .elongation = TALUS_ELONGATION_CUNDALL,
      .bound = TALUS_BOUND_TOTAL},
     false},
    {"3D, walls, all laws, Gear 3",
     3,
     17,
     true,
     true,
     {.integrator = TALUS_INTEGRATOR_GEAR3},
     false},
    {"3D, walls, Hertz, Gear 5",
     3,
     17,
     true,
     false,
     {.integrator = TALUS_INTEGRATOR_GEAR5, .law = TALUS_SOFT_HERTZ},
     false},
    {"3D, bare walls, Verlet", 3, 17, true, false, {.integrator = TALUS_INTEGRATOR_VERLET}, true},
    {"3D, bare walls, leapfrog",
     3,
     17,
     true,
     false,
     {.integrator = TALUS_INTEGRATOR_LEAPFROG},
     true},
    {"3D, periodic, leapfrog, Cundall",
     3,
     17,
     false,
     false,
     {.integrator = TALUS_INTEGRATOR_LEAPFROG, .elongation = TALUS_ELONGATION_CUNDALL},
     false},
};
enum { BEDS = sizeof beds / sizeof *beds, STEPS = 60 };

static const double STEP = 1e-4;

static void add_plane(talus_world* w, const char* name, int axis, double sign, double at,
                      const talus_drive_def* drive)
{
    talus_error error;
    talus_wall_def wall = talus_wall_default();
    wall.name = name;
    wall.material = (talus_material_id){1};
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[axis] = sign;
    wall.position[axis] = at;
    if (drive) wall.drive = *drive;
    check_ok(talus_world_add_wall(w, &wall, NULL, &error), error);
}

/// Walls all round: a shaking one below, a mobile one above.
static void add_walls(talus_world* w, const bed* b)
{
    static const char* const names[3][2] = {{"left", "right"}, {"front", "back"}, {"down", "up"}};
    for (int k = 0; k < b->dim - 1; k++) {
        add_plane(w, names[k][0], k, 1.0, 0.0, NULL);
        add_plane(w, names[k][1], k, -1.0, b->side, NULL);
    }
    const int up = b->dim - 1;
    talus_drive_def shake = talus_drive_default(), load = talus_drive_default();
    shake.kind = TALUS_DRIVE_SINE;
    shake.amplitude[0] = shake.amplitude[up] = 0.02;
    shake.frequency = 20.0;
    load.kind = TALUS_DRIVE_FORCE;
    load.mass = 50.0;
    load.free_axes[up] = true;
    load.force[up] = -500.0;
    add_plane(w, names[2][0], up, 1.0, 0.0, &shake);
    add_plane(w, names[2][1], up, -1.0, b->side + 0.5, &load);
}

static void add_materials(talus_world* w, const bed* b)
{
    talus_error error;
    talus_pair_def soft = talus_pair_default();
    soft.soft.stiffness = 1e5;
    soft.soft.young = 3e5;
    soft.restitution = 0.6;
    soft.friction = 0.5;
    if (b->compound) {
        soft.dynamic_friction = 0.4;
        soft.rolling = 0.05;
        soft.torsion = 0.02;
        soft.cohesion_force = 3.0;
        soft.cohesion_energy = 0.01;
    }
    talus_pair_def hard = soft;
    hard.soft.stiffness *= 2.0;
    hard.soft.young *= 2.0;
    check_ok(talus_world_add_material(w, "soft", &soft, NULL, &error), error);
    check_ok(talus_world_add_material(w, "hard", &hard, NULL, &error), error);
}

/// Balls on a lattice, out of place and on their way, in an order that has nothing to do with it.
static void add_balls(talus_world* w, const bed* b)
{
    talus_error error;
    const int count = (int)pow(b->side, b->dim), stride = 1009;
    for (int i = 0; i < count; i++) {
        rng r = rng_make(7, (uint64_t)i, 0);
        talus_grain_def g = talus_grain_default();
        int spot = (int)((int64_t)i * stride % count);
        g.radius = 0.46 + 0.06 * rng_uniform(&r);
        g.mass = 1.0;
        g.material = (talus_material_id){i % 3 == 0};
        for (int k = 0; k < b->dim; k++, spot /= b->side) {
            g.position[k] = spot % b->side + 0.5 + 0.05 * (rng_uniform(&r) - 0.5);
            g.velocity[k] = 8.0 * (rng_uniform(&r) - 0.5);
        }
        g.spin[2] = 10.0 * (rng_uniform(&r) - 0.5);
        if (b->walls && i % 500 == 0) g.fixed = true;
        if (b->walls && !b->bare && i % 500 == 250) g.glued_to = talus_world_find_wall(w, "up");
        check_ok(talus_world_add_grain(w, &g, NULL, &error), error);
    }
}

static talus_world* make(const bed* b, int threads, talus_vector_width width)
{
    talus_error error;
    talus_world* w;
    talus_world_def def = talus_world_default();
    def.dim = b->dim;
    def.method = TALUS_METHOD_SOFT;
    def.soft = b->soft;
    def.soft.mark = talus_soft_default().mark;
    def.soft.vector = width;
    def.threads = threads;
    def.drag = 0.01;
    def.gravity[b->dim - 1] = -9.81;
    for (int k = 0; k < b->dim && !b->walls; k++) {
        def.periodic[k] = true;
        def.cell_high[k] = b->side;
    }
    check_ok(talus_world_create(&def, &w, &error), error);
    add_materials(w, b);
    if (b->walls) add_walls(w, b);
    add_balls(w, b);
    return w;
}

static uint64_t hash_column(uint64_t hash, const double* numbers, int64_t count)
{
    return numbers ? hash_bytes(hash, numbers, sizeof *numbers * (size_t)count) : hash;
}

/// All that is promised to be the same, but for the energies.
static uint64_t hash_of_state(const talus_world* w)
{
    const contacts* c = &w->state.contacts;
    const int width = c->dim == 2 ? 1 : 3;
    uint64_t hash = talus_world_hash(w);
    hash = hash_column(hash, c->force, c->count * c->dim);
    hash = hash_column(hash, c->normal, c->count * c->dim);
    hash = hash_column(hash, c->slip, c->count * width);
    hash = hash_column(hash, c->roll, c->count * width);
    hash = hash_column(hash, w->state.grains.rate2, w->state.grains.count * c->dim);
    hash = hash_column(hash, w->state.walls.force, 3 * w->state.walls.count);
    hash = hash_bytes(hash, c->state, (size_t)c->count);
    return hash_bytes(hash, c->bonded, (size_t)c->count);
}

static uint64_t hash_of(const talus_world* w)
{
    return hash_bytes(hash_of_state(w), &w->last.energy, sizeof w->last.energy);
}

static void steps(talus_world* w, int count, int at_once)
{
    talus_error error;
    for (int done = 0; done < count; done += at_once) {
        const int more = count - done < at_once ? count - done : at_once;
        check_ok(talus_world_steps(w, STEP, more, NULL, &error), error);
    }
    check_ok(talus_world_validate(w, &error), error);
}

static uint64_t finish(talus_world* w)
{
    const uint64_t hash = hash_of(w);
    talus_world_destroy(w);
    return hash;
}

static void test_threads_and_widths(void** state)
{
    (void)state;
    const talus_vector_width widths[] = {TALUS_VECTOR_PORTABLE, TALUS_VECTOR_AVX2};
    for (int i = 0; i < BEDS; i++) {
        talus_world* w = make(&beds[i], 1, TALUS_VECTOR_BEST);
        steps(w, STEPS, STEPS);
        const talus_step_result* r = talus_world_last(w);
        printf("%s: %lld contacts, kinetic %.3g, elastic %.3g, error %.2g\n", beds[i].name,
               (long long)r->active, r->kinetic_energy, r->energy.elastic, r->energy.error);
        assert_true(r->active > talus_world_grains(w).count / 2);
        check_below(
            "books of energy, a step", fabs(r->energy.error) / STEPS, 2e-4 * r->energy.start,
            "thousands of contacts begin and end in 60 steps, each off by half a step of its "
            "power; 1 % in all is where the verdict of a run begins to warn");
        const uint64_t hash = finish(w);
        for (int threads = 2; threads <= 3; threads++) {
            talus_world* other = make(&beds[i], threads, TALUS_VECTOR_BEST);
            steps(other, STEPS, STEPS);
            assert_int_equal(finish(other), hash);
        }
        for (int k = 0; k < 2; k++) {
            if (!vector_width_is_there(widths[k])) continue;
            talus_world* other = make(&beds[i], 1, widths[k]);
            steps(other, STEPS, STEPS);
            assert_int_equal(finish(other), hash);
        }
    }
}

/// Sums of some thousand numbers in another order.
static void check_same_sum(double x, double y, double scale)
{
    check_below("difference of sums", fabs(x - y), 1e-12 * scale, "thousands of roundings");
}

/// Spheres that no external force acts on are moved in their rows: a force of zero leads to the
/// general loops, with the same bits, and with energies that are added up in another order.
static void test_spheres_at_once(void** state)
{
    (void)state;
    const double zero[3] = {0.0, 0.0, 0.0};
    talus_error error;
    for (int i = 0; i < BEDS; i++) {
        if (beds[i].dim != 3) continue;
        talus_world* plain = make(&beds[i], 1, TALUS_VECTOR_BEST);
        talus_world* pushed = make(&beds[i], 1, TALUS_VECTOR_BEST);
        check_ok(talus_world_set_grain_force(pushed, 1, zero, zero, &error), error);
        assert_true(pushed->state.grains.force && !plain->state.grains.force);
        steps(plain, STEPS, STEPS);
        steps(pushed, STEPS, STEPS);
        assert_int_equal(hash_of_state(pushed), hash_of_state(plain));
        const talus_soft_energy *e = &plain->last.energy, *f = &pushed->last.energy;
        check_same_sum(e->elastic, f->elastic, e->start);
        check_same_sum(e->dissipated, f->dissipated, e->start);
        check_same_sum(e->input, f->input, e->start);
        talus_world_destroy(plain);
        talus_world_destroy(pushed);
    }
}

/// A few balls at a plate, among many that are far from it: threads find their contacts beside the
/// forces of the others.
static void test_few_at_walls(void** state)
{
    (void)state;
    talus_error error;
    uint64_t hash[3];
    for (int threads = 1; threads <= 3; threads++) {
        const bed b = {"3D, periodic, a plate", 3, 17, false, false, talus_soft_default(), true};
        talus_world* w = make(&b, threads, TALUS_VECTOR_BEST);
        talus_wall_def plate = talus_wall_default();
        plate.name = "plate";
        plate.shape.kind = TALUS_SHAPE_PLATE;
        plate.shape.edge_u[0] = plate.shape.edge_v[1] = 1.5;
        plate.shape.skin = 0.05;
        for (int k = 0; k < 3; k++) plate.position[k] = 5.0;
        check_ok(talus_world_add_wall(w, &plate, NULL, &error), error);
        steps(w, STEPS, STEPS);
        const contacts* list = &w->state.contacts;
        int64_t held = 0;
        while (held < list->count && list->a_row[held] < 0) held++;
        assert_true(held > 0 && 18 * held < w->state.grains.count);
        hash[threads - 1] = finish(w);
        assert_int_equal(hash[threads - 1], hash[0]);
    }
}

static void test_calls(void** state)
{
    (void)state;
    for (int i = 0; i < BEDS; i++) {
        talus_world* whole = make(&beds[i], 1, TALUS_VECTOR_BEST);
        talus_world* pieces = make(&beds[i], 1, TALUS_VECTOR_BEST);
        steps(whole, STEPS, STEPS);
        steps(pieces, STEPS, 7);
        assert_int_equal(finish(pieces), finish(whole));
    }
}

static void test_restart(void** state)
{
    (void)state;
    talus_error error;
    for (int i = 0; i < BEDS; i++) {
        char folder[] = "/tmp/talus-soft-XXXXXX", path[64];
        assert_non_null(mkdtemp(folder));
        talus_world* whole = make(&beds[i], 1, TALUS_VECTOR_BEST);
        talus_world* back = make(&beds[i], 1, TALUS_VECTOR_BEST);
        steps(whole, STEPS / 2, STEPS / 2);
        check_ok(checkpoint_write(folder, whole, CHECKPOINT_STATE, NULL, 0, &error), error);
        check_ok(checkpoint_read(folder, back, NULL, 0, NULL, &error), error);
        steps(whole, STEPS / 2, STEPS / 2);
        steps(back, STEPS / 2, STEPS / 2);
        assert_int_equal(finish(back), finish(whole));
        snprintf(path, sizeof path, "%s/checkpoint.h5", folder);
        unlink(path);
        rmdir(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_widths),
        cmocka_unit_test(test_spheres_at_once),
        cmocka_unit_test(test_few_at_walls),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_restart),
    };
    return cmocka_run_group_tests_name("soft worlds", tests, NULL, NULL);
}

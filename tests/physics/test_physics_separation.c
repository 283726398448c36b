/// Overlaps are taken apart after a step by moving bodies, and no velocity changes.
///
/// What is left is at most 1e-4 of the thinner body. Nobody is moved farther in a step than was
/// searched for contacts, a hundredth of a radius at rest: deep overlaps take some steps.
#include "physics.h"

/// Largest overlap that is left alone.
static const double ALLOWED = 1e-4;

static talus_world* separating_world(int dim)
{
    talus_world_def def = physics_def(dim);
    assert_true(def.solver.separate_overlaps); // the default
    return physics_world(&def, 0.3);
}

/// Two balls of different masses overlap by a tenth, across the boundary of a periodic cell or not.
/// They part, their centre of mass stays, and nothing moves.
static void a_pair_parts_at_rest(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int periodic = 0; periodic < 2; periodic++) {
            talus_world_def def = physics_def(dim);
            def.periodic[0] = periodic;
            def.cell_low[0] = -3.0, def.cell_high[0] = 3.0;
            talus_world* world = physics_world(&def, 0.3);
            const double at = periodic ? 2.9 : 0.0, r = 0.5, m1 = 1.0, m2 = 3.0, apart = 0.9;
            talus_grain_def one = physics_ball(r, m1, at, 0, 0);
            talus_grain_def two =
                physics_ball(r, m2, periodic ? at + apart - 6.0 : at + apart, 0, 0);
            int64_t a = physics_add(world, &one), b = physics_add(world, &two);
            for (int step = 0; step < 150; step++) {
                assert_true(physics_step(world, 1e-3).kinetic_energy == 0.0);
            }
            double between = grain_x(world, b, 0) - grain_x(world, a, 0);
            if (periodic) between += between < 0 ? 6.0 : 0.0;
            check_close("distance", between, 2 * r, ALLOWED * 2 * r, "what is allowed");
            // a has gone back by 3/4 of the way, b forth by 1/4.
            double gone = grain_x(world, a, 0) - at;
            if (periodic) gone = remainder(gone, 6.0);
            check_close("share of the light ball", gone, -0.75 * (between - apart), 1e-12,
                        "centre of mass, rounding");
            talus_world_destroy(world);
        }
    }
}

/// An overlap that came about in a step is taken back in it; one that was there before goes step by
/// step, a thousandth at a time. A row of balls is hit and gets a single sweep, from the far end
/// on: the blow does not get through, and the first balls are pushed into each other.
static void a_step_takes_its_overlaps_back(void** state)
{
    (void)state;
    const double r = 0.5, h = 1e-3, speed = 20.0;
    for (int on = 0; on < 2; on++) {
        talus_world_def def = physics_def(2);
        def.solver.separate_overlaps = on;
        def.solver.method = TALUS_SOLVER_SWEEPS;
        def.solver.stop = TALUS_STOP_SWEEPS;
        def.solver.max_sweeps = 1;
        talus_world* world = physics_world(&def, 0.0);
        for (int i = 0; i < 4; i++) {
            talus_grain_def ball = physics_ball(r, 1.0, 2 * r * i, 0, 0);
            ball.velocity[0] = i == 0 ? speed : 0.0;
            physics_add(world, &ball);
        }
        const double energy = physics_kinetic_energy(world);
        const talus_step_result first = physics_step(world, h);
        if (on) {
            check_below("overlap after the step", first.overlap_thickness_max, 1.5 * ALLOWED,
                        "what is allowed, and pushes that end before they are all done");
        } else {
            assert_true(first.overlap_thickness_max > 1e-3);
        }
        check_below("energy", physics_kinetic_energy(world) / energy, 1.0, "none was made");
        talus_world_destroy(world);
    }
    talus_world* world = separating_world(2);
    talus_grain_def one = physics_ball(r, 1.0, 0, 0, 0), two = physics_ball(r, 1.0, 0.99, 0, 0);
    physics_add(world, &one), physics_add(world, &two);
    for (int i = 1; i <= 9; i++) {
        check_close("overlap from the start", physics_step(world, h).overlap_thickness_max,
                    0.01 - i * 10 * ALLOWED, 1e-6, "ten times what is allowed in a step");
    }
    talus_world_destroy(world);
}

/// Solids part by moving and turning: a block that stands with one corner in the floor.
static void a_block_leaves_the_floor(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = separating_world(dim);
        physics_plane(world, "floor", 0, dim == 2, dim == 3);
        talus_solid_id shape = physics_box_solid(world, "block", dim, 1.0, 0.4, 0.4);
        talus_grain_def block = physics_block(shape, 0, dim == 2 ? 0.18 : 0, dim == 3 ? 0.18 : 0);
        if (dim == 2) block.rotation[2] = 0.02;
        if (dim == 3) block.rotation[0] = 0.01, block.rotation[1] = 0.02;
        physics_add(world, &block);
        const double before = physics_step(world, 1e-3).overlap_thickness_max;
        talus_step_result last = {0};
        for (int step = 0; step < 150; step++) last = physics_step(world, 1e-3);
        printf("     %dD: overlap %.3g, then %.3g of the thickness\n", dim, before,
               last.overlap_thickness_max);
        assert_true(before > 0.05);
        check_below("overlap", last.overlap_thickness_max, ALLOWED, "what is allowed");
        assert_true(last.kinetic_energy == 0.0);
        talus_world_destroy(world);
    }
}

/// Weight brings no energy in: a column that was placed with overlaps stretches and stays at rest.
static void a_column_stretches(void** state)
{
    (void)state;
    enum { N = 10 };
    talus_world_def def = physics_def(2);
    def.gravity[1] = -9.81;
    talus_world* world = physics_world(&def, 0.3);
    physics_plane(world, "floor", 0, 1, 0);
    int64_t id[N];
    for (int i = 0; i < N; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, 0, 0.49 + 0.99 * i, 0);
        id[i] = physics_add(world, &ball);
    }
    talus_step_result last = {0};
    double fastest = 0.0;
    for (int step = 0; step < 400; step++) {
        last = physics_step(world, 1e-3);
        fastest = fmax(fastest, last.kinetic_energy);
    }
    // Bodies that were parted by up to half of what is allowed too far would fall that deep.
    check_below("kinetic energy", fastest, N * 9.81 * N * ALLOWED,
                "a fall through what is allowed");
    check_below("overlap", last.overlap_thickness_max, ALLOWED * (1 + 1e-6), "what is allowed");
    check_close("top", grain_x(world, id[N - 1], 1), 0.5 + N - 1.0, N * ALLOWED, "N contacts");
    talus_world_destroy(world);
}

/// A lid that can move gives way; balls wedged between walls that cannot stay where they are.
static void walls_give_way_if_they_can(void** state)
{
    (void)state;
    for (int mobile = 0; mobile < 2; mobile++) {
        talus_world* world = separating_world(2);
        physics_plane(world, "floor", 0, 1, 0);
        talus_wall_def lid = physics_plane_def("lid", 0, -1, 0);
        lid.position[1] = 0.96;
        if (mobile) {
            lid.drive.kind = TALUS_DRIVE_FORCE;
            lid.drive.mass = 2.0;
            lid.drive.free_axes[1] = true;
        }
        talus_wall_id wall = physics_wall(world, &lid);
        talus_grain_def ball = physics_ball(0.5, 1.0, 0, 0.48, 0);
        int64_t id = physics_add(world, &ball);
        talus_step_result last = {0};
        for (int step = 0; step < 60; step++) last = physics_step(world, 1e-3);
        printf("     lid %s: overlap %.3g\n", mobile ? "mobile" : "fixed", last.overlap_max);
        assert_true(last.kinetic_energy == 0.0);
        if (mobile) {
            check_below("overlap", last.overlap_max, ALLOWED, "what is allowed");
            check_close("lid", wall_state(world, wall).position[1], 1.0, 2 * ALLOWED,
                        "two contacts");
        } else {
            check_close("ball", grain_x(world, id, 1), 0.48, 1e-12, "nowhere better to go");
        }
        talus_world_destroy(world);
    }
}

/// Grains in a row that bonds without range join are moved out of the floor together, and hold.
static void bonds_are_not_torn(void** state)
{
    (void)state;
    enum { N = 6 };
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.3;
    pair.cohesion_force = 1e3;
    talus_world_def def = physics_def(2);
    def.gravity[1] = -1.0;
    talus_world* world = physics_world_pair(&def, &pair);
    talus_error error;
    talus_material_id smooth;
    const talus_pair_def plain = talus_pair_default();
    check_ok(talus_world_add_material(world, "smooth", &plain, &smooth, &error), error);
    check_ok(talus_world_set_pair(world, (talus_material_id){0}, smooth, &plain, &error), error);
    talus_wall_def floor_def = physics_plane_def("floor", 0, 1, 0);
    floor_def.material = smooth;
    physics_wall(world, &floor_def);
    for (int i = 0; i < N; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, 0.8 * i, 0.495 + 0.6 * i, 0);
        physics_add(world, &ball);
    }
    talus_step_result last = {0};
    for (int step = 0; step < 30; step++) last = physics_step(world, 1e-4);
    talus_contacts c = talus_world_contacts(world);
    int held = 0;
    for (int64_t i = 0; i < c.count; i++) held += c.a[i] >= 0 && c.bonded[i];
    assert_int_equal(held, N - 1);
    check_below("overlap", last.overlap_max, ALLOWED * (1 + 1e-6), "what is allowed");
    talus_world_destroy(world);
}

/// The same bits for any number of threads: spheres on a lattice that is too narrow.
static uint64_t hash_of_lattice(int side, int steps, int threads, bool separate,
                                talus_step_result* last)
{
    talus_world_def def = physics_def(3);
    def.solver.separate_overlaps = separate;
    def.threads = threads;
    def.solver.tolerance = 1e-3;
    talus_world* world = physics_world(&def, 0.3);
    dice d = {7};
    for (int i = 0; i < side * side * side; i++) {
        const double jitter = 0.004 * dice_roll(&d);
        talus_grain_def ball =
            physics_ball(0.5, 1.0, 0.998 * (i % side) + jitter, 0.998 * (i / side % side),
                         0.998 * (i / (side * side)) - jitter);
        physics_add(world, &ball);
    }
    for (int step = 0; step < steps; step++) *last = physics_step(world, 1e-3);
    const uint64_t hash = talus_world_hash(world);
    talus_world_destroy(world);
    return hash;
}

static void threads_do_not_matter(void** state)
{
    (void)state;
    talus_step_result last = {0};
    const uint64_t few = hash_of_lattice(12, 40, 1, true, &last);
    assert_true(last.contacts > 4000); // else one thread does it all
    check_below("overlap", last.overlap_max, 1e-3, "there was up to 1e-2");
    for (int threads = 2; threads <= 3; threads++) {
        assert_true(hash_of_lattice(12, 40, threads, true, &last) == few);
    }
    // So many pushes that threads share them.
    const uint64_t many = hash_of_lattice(36, 3, 1, true, &last);
    assert_true(last.contacts > 130000);
    assert_true(hash_of_lattice(36, 3, 1, false, &last) != many);
    for (int threads = 2; threads <= 3; threads++) {
        assert_true(hash_of_lattice(36, 3, threads, true, &last) == many);
    }
}

/// A heap of rods falls into a bin twice as wide as they are long. Wedged between its walls they
/// cannot be taken apart, and pushes must not carry what they overlap to one place, step by step
/// deeper. At this step, ten times too long, they come to overlap by some hundredths of their
/// thickness while they fall; then that stays. (Pushes drove the lowest ones through the floor.)
static void wedged_rods_do_not_sink(void** state)
{
    (void)state;
    const double thick = 0.006, length = 0.3, h = 5e-3;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        talus_world_def def = talus_world_default();
        def.dim = 2;
        def.gravity[1] = -9.81;
        talus_world* world = physics_world(&def, 0.5);
        physics_container(world, 2, length, 3.0);
        talus_solid_id shape = physics_box_solid(world, "rod", 2, length, thick, 0);
        dice d = {seed};
        for (int i = 0; i < 30; i++) {
            const double aside = 0.48 * length * (2.0 * dice_roll(&d) - 1.0);
            talus_grain_def rod = physics_block(shape, aside, 0.16 + 0.035 * i, 0);
            rod.rotation[2] = 0.2 * (dice_roll(&d) - 0.5);
            rod.velocity[1] = -2.0;
            physics_add(world, &rod);
        }
        double overlap[2] = {0.0, 0.0};
        for (int i = 0; i < 300; i++) {
            const double now = physics_step(world, h).overlap_thickness_max;
            overlap[i >= 150] = fmax(overlap[i >= 150], now);
        }
        printf("     overlap while they fall %.3g of the thickness, then %.3g\n", overlap[0],
               overlap[1]);
        check_below("overlap", overlap[0], 0.12, "what a way may overlap, and a fifth");
        check_below("growth at rest", overlap[1] - overlap[0], 0.01, "as far as pushes may go");
        talus_world_destroy(world);
    }
}

/// Needles that cross: an overlap that is little of a mean diameter is most of their thickness.
static void overlaps_have_a_meaning(void** state)
{
    (void)state;
    talus_world_def def = physics_def(3);
    def.solver.separate_overlaps = false;
    talus_world* world = physics_world(&def, 0.3);
    talus_solid_id shape = physics_box_solid(world, "needle", 3, 1.0, 0.02, 0.02);
    talus_grain_def one = physics_block(shape, 0, 0, 0), two = physics_block(shape, 0, 0, 0.004);
    two.rotation[2] = 0.5 * M_PI;
    physics_add(world, &one);
    physics_add(world, &two);
    const talus_step_result result = physics_step(world, 1e-4);
    check_close("overlap in thicknesses", result.overlap_thickness_max, 0.016 / 0.02, 1e-9,
                "0.016 of 0.02");
    talus_world_destroy(world);
}

/// A drum in which disks move by 0.05 diameters in a step: the largest overlap of all stays below
/// 1e-3 of a diameter from the first turn to the last.
static void a_drum_keeps_its_grains(void** state)
{
    (void)state;
    enum { N = 90 };
    const double R = 1.0, d = 0.1, W = 1.0, h = 0.05 * d / (W * R);
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.gravity[1] = -9.81;
    talus_world* world = physics_world(&def, 0.5);
    talus_wall_def drum = talus_wall_default();
    drum.name = "drum";
    drum.shape.kind = TALUS_SHAPE_CYLINDER;
    drum.shape.inside = true;
    drum.shape.radius = R;
    drum.drive.kind = TALUS_DRIVE_VELOCITY;
    drum.drive.spin[2] = W;
    physics_wall(world, &drum);
    dice roll = {5};
    for (int i = 0; i < N; i++) {
        talus_grain_def disk = physics_ball(0.5 * d * (0.7 + 0.6 * dice_roll(&roll)), 0,
                                            -0.6 + 0.135 * (i % 10), -0.6 + 0.135 * (i / 10), 0);
        disk.density = 1.0;
        physics_add(world, &disk);
    }
    const int turns = test_scale() < 1.0 ? 1 : 3, quarter = (int)lround(0.5 * M_PI / (W * h));
    for (int k = 0; k < 4 * turns; k++) {
        double worst = 0.0;
        for (int step = 0; step < quarter; step++) {
            worst = fmax(worst, physics_step(world, h).overlap_thickness_max);
        }
        printf("     quarter %2d: %.2e of a diameter at most\n", k + 1, worst);
        check_below("overlap", worst, 1e-3, "what was promised");
    }
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_takes_its_overlaps_back), cmocka_unit_test(a_pair_parts_at_rest),
        cmocka_unit_test(a_block_leaves_the_floor),       cmocka_unit_test(a_column_stretches),
        cmocka_unit_test(walls_give_way_if_they_can),     cmocka_unit_test(bonds_are_not_torn),
        cmocka_unit_test(wedged_rods_do_not_sink),        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(overlaps_have_a_meaning),        cmocka_unit_test(a_drum_keeps_its_grains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// The force ensemble: known sets of solutions, isostatic packings, averages, and a world that does
/// not notice.
#include "physics.h"

static talus_ensemble ensemble_of(talus_world* world, talus_ensemble_def def)
{
    talus_error error;
    talus_ensemble e;
    uint64_t before = talus_world_hash(world);
    check_ok(talus_measure_ensemble(world, &def, &e, &error), error);
    assert_true(talus_world_hash(world) == before);
    assert_int_equal(e.verified, e.samples);
    printf("%s\n", e.verdict);
    return e;
}

static talus_ensemble_def tight(double step, int samples)
{
    talus_ensemble_def def = talus_ensemble_default();
    def.step = step;
    def.samples = samples;
    def.tolerance = 1e-12;
    return def;
}

static double part_along(const talus_ensemble* e, int i, int64_t c, double x, double y)
{
    const double* f = e->force + (i * e->contacts + c) * e->dim;
    return f[0] * x + f[1] * y;
}

// ---- a disk in a groove ------------------------------------------------------------------------

/// Both walls of the groove rise at the angle `slope` from the disk's resting points.
static talus_world* groove(double mu, double slope, double mass)
{
    talus_world* world = physics_world_g(2, mu, 0, -10, 0);
    physics_plane(world, "left", sin(slope), cos(slope), 0);
    physics_plane(world, "right", -sin(slope), cos(slope), 0);
    talus_grain_def disk = physics_ball(0.1, mass, 0, 0.1 / cos(slope), 0);
    physics_add(world, &disk);
    return world;
}

/// Four force components, three equations: N cos s + T sin s = m g / 2 on both sides, where T is
/// the friction up the wall, and |T| <= mu N cuts a finite piece out of the line.
static void test_groove_has_one_free_parameter(void** state)
{
    (void)state;
    const double mu = 0.4, slope = 0.7, mass = 2.0, g = 10.0, half = 0.5 * mass * g;
    const double least = half / (cos(slope) + mu * sin(slope));
    const double most = half / (cos(slope) - mu * sin(slope));
    talus_world* world = groove(mu, slope, mass);
    talus_ensemble e = ensemble_of(world, tight(1e-3, 40));
    assert_int_equal(e.contacts, 2);
    assert_int_equal(e.rank, 1);
    assert_int_equal(e.unknowns, 4);
    assert_int_equal(e.equations, 3);
    assert_int_equal(e.independent, 3);
    double low = INFINITY, high = 0.0, off_line = 0.0, off_mirror = 0.0;
    const int64_t left = e.a[0] == -1 ? 0 : 1, right = 1 - left;
    for (int i = 0; i < e.samples; i++) {
        double n = part_along(&e, i, left, sin(slope), cos(slope));
        double t = part_along(&e, i, left, -cos(slope), sin(slope));
        double mirror = part_along(&e, i, right, -sin(slope), cos(slope));
        off_line = fmax(off_line, fabs(n * cos(slope) + t * sin(slope) - half));
        off_mirror = fmax(off_mirror, fabs(n - mirror));
        low = fmin(low, n);
        high = fmax(high, n);
    }
    const char* why = "residual 1e-12 times the conditioning of two contacts, below 10, times m g";
    check_below("distance from the line of solutions", off_line, 1e-10, why);
    check_below("difference of left and right", off_mirror, 1e-10, why);
    check_below("least normal force of the theory", least, low + 1e-10, why);
    check_below("largest normal force", high, most + 1e-10, why);
    check_below("0.6 of the admissible range", 0.6 * (most - least), high - low,
                "random starts reach beyond both ends, so the projections come near them");
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

/// The same groove without friction: two forces, two equations that matter.
static void test_smooth_groove_is_determined(void** state)
{
    (void)state;
    talus_world* world = groove(0.0, 0.7, 2.0);
    talus_ensemble e = ensemble_of(world, tight(1e-3, 12));
    assert_int_equal(e.rank, 0);
    assert_int_equal(e.unknowns, 2);
    assert_int_equal(e.equations, 2);
    assert_int_equal(e.independent, 2);
    const int64_t left = e.a[0] == -1 ? 0 : 1;
    check_close("normal force", part_along(&e, 0, left, sin(0.7), cos(0.7)), 10.0 / cos(0.7), 1e-10,
                "residual 1e-12 times m g");
    check_below("spread", e.force_change, 1e-11, "residual 1e-12, conditioning below 10");
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

/// Torques at both contacts add two unknowns that may be traded for friction or for each other.
static void test_rolling_friction_adds_unknowns(void** state)
{
    (void)state;
    talus_world* world = groove(0.4, 0.7, 2.0);
    talus_error error;
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.4;
    pair.rolling = 0.01;
    check_ok(
        talus_world_set_pair(world, (talus_material_id){0}, (talus_material_id){0}, &pair, &error),
        error);
    talus_ensemble e = ensemble_of(world, tight(1e-3, 40));
    assert_int_equal(e.unknowns, 6);
    assert_int_equal(e.equations, 3);
    assert_int_equal(e.independent, 3);
    assert_int_equal(e.rank, 3);
    double moment = 0.0, bound = 0.0;
    for (int i = 0; i < e.samples; i++) {
        double sum = e.torque[2 * i] + e.torque[2 * i + 1];
        for (int64_t c = 0; c < 2; c++) {
            const double *f = e.force + (2 * i + c) * 2, *n = e.normal + 2 * c;
            sum += 0.1 * (f[0] * n[1] - f[1] * n[0]); // arm -R n
            double excess = fabs(e.torque[2 * i + c]) - 0.01 * (f[0] * n[0] + f[1] * n[1]);
            bound = fmax(bound, excess);
        }
        moment = fmax(moment, fabs(sum));
    }
    const char* why = "residual 1e-12 times a conditioning below 100 times m g R";
    check_below("moment left on the disk", moment, 1e-9, why);
    check_below("torque beyond its bound", bound, 1e-9, why);
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

/// A ball on a floor may roll: both its momentum and its spin ask for no friction. In 3D nothing
/// turns it about the normal, either.
static void test_ball_that_may_roll(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = physics_world_g(dim, 0.4, 0, dim == 2 ? -10 : 0, dim == 2 ? 0 : -10);
        physics_plane(world, "floor", 0, dim == 2, dim == 3);
        talus_grain_def ball = physics_ball(0.1, 2.0, 0, dim == 2 ? 0.1 : 0, 0.1);
        physics_add(world, &ball);
        talus_ensemble e = ensemble_of(world, tight(1e-3, 6));
        assert_int_equal(e.rank, 0);
        assert_int_equal(e.unknowns, dim);
        assert_int_equal(e.equations, dim == 2 ? 3 : 6);
        assert_int_equal(e.independent, dim);
        talus_ensemble_free(&e);
        talus_world_destroy(world);
    }
}

/// A brick on its corners, 2 (3D: 4). Without friction they bear its weight and its torques about
/// the horizontal axes, 2 (3): a table is determined on three legs. With friction all 3 (6)
/// equations count.
static void test_brick_on_its_corners(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i / 2, corners = dim == 2 ? 2 : 4;
        const bool rough = i % 2;
        talus_world* world =
            physics_world_g(dim, rough ? 0.4 : 0, 0, dim == 2 ? -10 : 0, dim == 2 ? 0 : -10);
        physics_plane(world, "floor", 0, dim == 2, dim == 3);
        talus_solid_id shape = physics_box_solid(world, "brick", dim, 3, 1, 1);
        talus_grain_def brick = physics_block(shape, 0, dim == 2 ? 0.5 : 0, 0.5);
        physics_add(world, &brick);
        talus_ensemble e = ensemble_of(world, tight(1e-3, 12));
        const int equations = dim == 2 ? 3 : 6, unknowns = rough ? dim * corners : corners;
        const int independent = rough ? equations : dim;
        assert_int_equal(e.unknowns, unknowns);
        assert_int_equal(e.equations, equations);
        assert_int_equal(e.independent, independent);
        assert_int_equal(e.rank, unknowns - independent);
        talus_ensemble_free(&e);
        talus_world_destroy(world);
    }
}

// ---- packings ----------------------------------------------------------------------------------

/// Balls that have fallen into an open box and come to rest; linear drag takes their energy.
static talus_world* settled(int dim, int count, double half_width, double mu)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -10.0;
    def.solver.tolerance = 1e-8;
    def.solver.max_sweeps = 3000;
    def.drag = 1.0;
    talus_world* world = physics_world(&def, mu);
    dice d = {3};
    physics_container(world, dim, half_width, 60);
    physics_fill(world, dim, count, half_width, 0.5, 0.3, &d);
    physics_steps(world, 5e-3, 2000);
    return world;
}

/// Frictionless grains of many sizes come to rest when they have as many contacts as they need.
static void test_frictionless_packing_is_isostatic(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world* world = settled(dim, test_count(40, 20), dim == 2 ? 3.0 : 1.5, 0.0);
        talus_ensemble_def def = tight(5e-3, 9);
        def.tolerance = 1e-9;
        talus_ensemble e = ensemble_of(world, def);
        printf("%dD: %lld unknowns, %lld equations, conditioning %.3g, singular values %.3g ...\n",
               dim, (long long)e.unknowns, (long long)e.equations, e.conditioning, e.singular[0]);
        assert_int_equal(e.rank, 0);
        assert_int_equal(e.independent, e.unknowns);
        check_below("unknowns", (double)e.unknowns, (double)e.equations,
                    "an isostatic packing has no more; a grain alone on the floor has one of two");
        check_below("nine tenths of the equations", 0.9 * (double)e.equations, (double)e.unknowns,
                    "else the packing would not be at rest");
        check_below("spread of the forces", e.force_change, 10 * e.force_error,
                    "tolerance times conditioning, as measured, times the factor of the rank");
        check_below("error of the forces", e.force_error, 1e-4,
                    "tolerance 1e-9 times a conditioning of at most 1e5: the estimate is not idle");
        talus_ensemble_free(&e);
        talus_world_destroy(world);
    }
}

/// With friction forces differ, velocities do not; from one kind of start the stress differs less
/// than the forces.
static void test_frictional_packing(void** state)
{
    (void)state;
    talus_ensemble_def def = tight(5e-3, 16);
    def.tolerance = 1e-7;
    def.starts = TALUS_START_RANDOM;
    // Coulomb's law may admit a motion beside rest, and a random start may find it: in a packing of
    // 60, three of 16 did. The first of six packings whose solutions all move alike is taken.
    talus_world* world = NULL;
    talus_ensemble e = {.velocity_change = 1.0};
    for (int k = 0; k < 6 && e.velocity_change > 1e-3 * e.force_change; k++) {
        talus_ensemble_free(&e);
        if (world) talus_world_destroy(world);
        world = settled(2, test_count(60, 50) + 2 * k, 4.0, 0.5);
        e = ensemble_of(world, def);
    }
    printf("rank %d, %lld unknowns, %lld equations, %lld of them independent\n", e.rank,
           (long long)e.unknowns, (long long)e.equations, (long long)e.independent);
    assert_true(e.rank > 0);
    // A grain that could roll makes its equations depend on each other. So the bound is that of
    // the independent ones, which holds for any packing.
    assert_true(e.independent <= e.equations);
    assert_true(e.rank <= e.unknowns - e.independent);
    check_below("spread of the velocities", e.velocity_change, 1e-3 * e.force_change,
                "the residual bounds it by 1e-7 times the conditioning of this packing, some 1e3");
    check_below("spread of the stress, twice", 2.0 * e.stress_change, e.force_change,
                "an average over some hundred forces; independent ones would give a tenth");
    check_below("distance of the histograms", e.histogram_distance, 0.2,
                "two histograms of a hundred independent forces differ by about 0.1");
    check_below("spread from the start at the last forces", e.force_change_of[1], 0.0,
                "none asked");
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

/// Stress of a column under a lid: sigma_yy = force of the lid over the area, whatever the sample.
static void test_stress_of_a_loaded_stack(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_wall_def lid = physics_plane_def("lid", 0, -1, 0);
    lid.position[1] = 2.0;
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.mass = 1.0;
    lid.drive.free_axes[1] = true;
    lid.drive.force[1] = -30.0;
    physics_wall(world, &lid);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 2; j++) {
            talus_grain_def disk = physics_ball(0.5, 1.0, 1.2 * i, 0.5 + j, 0);
            physics_add(world, &disk);
        }
    }
    talus_ensemble e = ensemble_of(world, tight(1e-3, 30));
    const char* why = "residual 1e-12 times the conditioning of nine contacts";
    check_close("volume: box around the disks", e.volume, 3.4 * 2.0, 1e-12, "rounding");
    check_close("sigma_yy", e.stress_mean[4], 30.0 / 3.4, 1e-9, why);
    check_close("spread of sigma_yy", e.stress_spread[4], 0.0, 1e-9, why);
    check_close("sigma_xx", e.stress_mean[0], 0.0, 1e-9, why);
    // Three columns share the lid, which cannot turn: two ways to share it differently.
    assert_int_equal(e.rank, 2);
    assert_int_equal(e.unknowns, 9);
    assert_int_equal(e.equations, 13);
    // Nothing loads the six disks along x.
    assert_int_equal(e.independent, 7);
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

/// Too many unknowns for a dense matrix: the count remains. Disks under a lid that cannot turn.
static void test_many_unknowns(void** state)
{
    (void)state;
    enum { DISKS = 1001 };
    talus_world* world = physics_world_g(2, 0.0, 0, 0, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_wall_def lid = physics_plane_def("lid", 0, -1, 0);
    lid.position[1] = 1.0;
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.mass = DISKS;
    lid.drive.free_axes[1] = true;
    lid.drive.force[1] = -10.0 * DISKS;
    physics_wall(world, &lid);
    for (int i = 0; i < DISKS; i++) {
        talus_grain_def disk = physics_ball(0.5, 1.0, 1.2 * i, 0.5, 0);
        physics_add(world, &disk);
    }
    talus_ensemble_def def = tight(1e-3, 3);
    def.tolerance = 1e-6;
    def.starts = TALUS_START_RANDOM;
    talus_ensemble e = ensemble_of(world, def);
    assert_int_equal(e.unknowns, 2 * DISKS);
    assert_int_equal(e.equations, 2 * DISKS + 1);
    assert_int_equal(e.independent, -1);
    assert_int_equal(e.rank, 2); // of three samples
    assert_non_null(strstr(e.verdict, "more if some of the equations depend on each other"));
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

// ---- the world does not notice -----------------------------------------------------------------

/// A world with all that an attempt touches: a mobile wall with a glued grain, a driven wall,
/// rolling friction, bonds.
static talus_world* busy_world(int dim)
{
    talus_world_def def = physics_def(dim);
    def.gravity[dim - 1] = -10.0;
    def.solver.tolerance = 1e-6;
    def.solver.max_sweeps = 500;
    talus_world* world = physics_world(&def, 0.5);
    talus_error error;
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.6;
    pair.dynamic_friction = 0.4;
    pair.rolling = 0.02;
    pair.torsion = 0.01;
    pair.cohesion_force = 1.0;
    pair.cohesion_energy = 0.01;
    check_ok(
        talus_world_set_pair(world, (talus_material_id){0}, (talus_material_id){0}, &pair, &error),
        error);
    physics_container(world, dim, 2.0, 20.0);
    dice d = {5};
    physics_fill(world, dim, 30, 2.0, 0.4, 0.2, &d);
    talus_wall_def lid = physics_plane_def("lid", 0, dim == 2 ? -1 : 0, dim == 2 ? 0 : -1);
    lid.position[dim - 1] = 12.0;
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.mass = 2.0;
    lid.drive.free_axes[dim - 1] = true;
    lid.drive.force[dim - 1] = -20.0;
    talus_grain_def knob = physics_ball(0.3, 1.0, 0, 0, 0);
    knob.position[dim - 1] = 12.0;
    knob.glued_to = physics_wall(world, &lid);
    physics_add(world, &knob);
    physics_steps(world, 2e-3, 700);
    return world;
}

static void test_world_is_left_as_it_is(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world *one = busy_world(dim), *two = busy_world(dim);
        talus_ensemble_def def = tight(2e-3, 3);
        def.tolerance = 1e-4;
        def.max_sweeps = 2000;
        talus_error error;
        talus_ensemble e, again;
        check_ok(talus_measure_ensemble(one, &def, &e, &error), error);
        assert_true(e.loaded > 0);
        check_ok(talus_measure_ensemble(one, &def, &again, &error), error);
        assert_memory_equal(e.force, again.force,
                            sizeof(double) * (size_t)(e.samples * e.contacts * dim));
        assert_memory_equal(e.singular, again.singular, sizeof(double) * (size_t)e.samples);
        assert_true(talus_world_hash(one) == talus_world_hash(two));
        assert_true(talus_world_totals(one)->sweeps == talus_world_totals(two)->sweeps);
        // The steps that follow have the same random numbers, contacts and bonds.
        physics_steps(one, 2e-3, 20);
        physics_steps(two, 2e-3, 20);
        assert_true(talus_world_hash(one) == talus_world_hash(two));
        talus_ensemble_free(&e);
        talus_ensemble_free(&again);
        talus_world_destroy(one);
        talus_world_destroy(two);
    }
}

// ---- edges -------------------------------------------------------------------------------------

static void test_nothing_loaded(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(3, 0.5, 0, 0, -10);
    talus_ensemble e = ensemble_of(world, tight(1e-3, 4));
    assert_int_equal(e.contacts, 0);
    assert_int_equal(e.rank, 0);
    assert_non_null(strstr(e.verdict, "nothing to compare"));
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

static void test_samples_that_fail_are_left_out(void** state)
{
    (void)state;
    talus_world* world = groove(0.4, 0.7, 2.0);
    talus_ensemble_def def = tight(1e-3, 6);
    def.max_sweeps = 1;
    talus_ensemble e;
    talus_error error;
    check_ok(talus_measure_ensemble(world, &def, &e, &error), error);
    assert_int_equal(e.verified, 0);
    assert_non_null(strstr(e.verdict, "Only 0 of 6"));
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

/// Progress so far; counts how often it was told within the first solution.
typedef struct news {
    double last;
    int within_first;
} news;

static void note_progress(void* user, double done, int samples)
{
    news* t = user;
    assert_true(done >= t->last && done <= samples);
    t->last = done;
    t->within_first += done < 1.0;
}

/// Solutions share the updates that they may take; those that end so are as exact as they became,
/// and the time goes by with news from the first sweep on.
static void test_updates_are_shared(void** state)
{
    (void)state;
    talus_world* world = settled(2, 60, 4.0, 0.5);
    talus_ensemble_def def = tight(5e-3, 6);
    news told = {0};
    def.tolerance = 1e-15; // out of reach of so few sweeps
    def.max_updates = 6 * 1000 * 200;
    def.progress = note_progress;
    def.progress_user = &told;
    talus_ensemble e = ensemble_of(world, def);
    int64_t updates = 0;
    for (int i = 0; i < e.samples; i++) updates += e.sample[i].sweeps * e.contacts;
    assert_true(updates <= def.max_updates);
    assert_true(updates > def.max_updates / 2);
    assert_true(told.within_first > 0);
    assert_true(told.last == 6.0);
    talus_ensemble_free(&e);
    talus_world_destroy(world);
}

static void test_refusals(void** state)
{
    (void)state;
    talus_world* world = groove(0.4, 0.7, 2.0);
    talus_ensemble e;
    talus_error error;
    for (int i = 0; i < 7; i++) {
        talus_ensemble_def def = tight(1e-3, 4);
        if (i == 0) def.step = 0.0;
        if (i == 1) def.samples = 1;
        if (i == 2) def.tolerance = 0.0;
        if (i == 3) def.starts = 8;
        if (i == 4) def.volume = -1.0;
        if (i == 5) def.max_sweeps = 0;
        if (i == 6) def.max_updates = -1;
        assert_int_equal(talus_measure_ensemble(world, &def, &e, &error), TALUS_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "ensemble: "));
    }
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groove_has_one_free_parameter),
        cmocka_unit_test(test_smooth_groove_is_determined),
        cmocka_unit_test(test_rolling_friction_adds_unknowns),
        cmocka_unit_test(test_ball_that_may_roll),
        cmocka_unit_test(test_brick_on_its_corners),
        cmocka_unit_test(test_frictionless_packing_is_isostatic),
        cmocka_unit_test(test_frictional_packing),
        cmocka_unit_test(test_stress_of_a_loaded_stack),
        cmocka_unit_test(test_many_unknowns),
        cmocka_unit_test(test_world_is_left_as_it_is),
        cmocka_unit_test(test_nothing_loaded),
        cmocka_unit_test(test_samples_that_fail_are_left_out),
        cmocka_unit_test(test_updates_are_shared),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

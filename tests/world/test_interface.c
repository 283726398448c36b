/// What programs may rely on: ids that cannot be swapped, definitions that know whether they were
/// made by their _default(), programs that were compiled with fewer fields, arrays lent to be read
/// or to be written, and walls that say all about themselves.
#include "physics.h"

#include <string.h>

static talus_world* empty_world(void)
{
    talus_error error;
    talus_world_def def = talus_world_default();
    talus_world* world = NULL;
    check_ok(talus_world_create(&def, &world, &error), error);
    return world;
}

// ---- version -----------------------------------------------------------------------------------

static void test_version(void** state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TALUS_VERSION_MAJOR, TALUS_VERSION_MINOR,
             TALUS_VERSION_PATCH);
    assert_string_equal(text, talus_version());
    assert_int_equal(TALUS_VERSION,
                     10000 * TALUS_VERSION_MAJOR + 100 * TALUS_VERSION_MINOR + TALUS_VERSION_PATCH);
}

// ---- ids ---------------------------------------------------------------------------------------

static void test_ids(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = empty_world();
    const talus_pair_def law = talus_pair_default();
    talus_material_id glass, steel;
    check_ok(talus_world_add_material(world, "glass", &law, &glass, &error), error);
    check_ok(talus_world_add_material(world, "steel", &law, &steel, &error), error);
    assert_false(talus_material_equal(glass, steel));
    assert_true(talus_material_equal(talus_world_find_material(world, "steel"), steel));
    assert_string_equal(talus_world_material_name(world, steel), "steel");
    assert_int_equal(talus_world_material_count(world), 2);
    assert_true(talus_material_is_none(talus_world_find_material(world, "gold")));
    assert_null(talus_world_material_name(world, TALUS_NO_MATERIAL));
    assert_true(talus_wall_is_none(talus_world_find_wall(world, "floor")));
    assert_true(talus_solid_is_none(talus_world_find_solid(world, "cube")));

    const talus_wall_id floor = physics_plane(world, "floor", 0, 0, 1);
    assert_true(talus_wall_equal(talus_world_find_wall(world, "floor"), floor));
    talus_grain_def grain = talus_grain_default();
    grain.radius = 0.1, grain.position[2] = 0.1, grain.material = steel;
    physics_add(world, &grain);
    grain.position[2] = 0.3;
    physics_add(world, &grain);
    grain.position[0] = 5.0, grain.fixed = true;
    physics_add(world, &grain);
    const talus_grains g = talus_world_grains(world);
    assert_true(talus_material_equal(g.material[0], steel));
    assert_true(talus_solid_is_none(g.solid[0]) && talus_wall_is_none(g.glued_to[0]));
    assert_int_equal(g.glued_to[0].index, TALUS_GRAIN_FREE);
    assert_int_equal(g.glued_to[2].index, TALUS_GRAIN_FIXED);

    physics_step(world, 1e-3);
    const talus_contacts c = talus_world_contacts(world);
    assert_int_equal(c.count, 2);
    assert_true(talus_wall_equal(talus_contact_wall(&c, 0), floor));
    assert_true(talus_wall_is_none(talus_contact_wall(&c, 1)));

    talus_pair_def read = talus_pair_default(), other = talus_pair_default();
    other.friction = 0.7, other.soft.stiffness = 3e5;
    check_ok(talus_world_set_pair(world, glass, steel, &other, &error), error);
    check_ok(talus_world_pair(world, steel, glass, &read, &error), error);
    assert_true(memcmp(&read, &other, sizeof read) == 0);
    assert_int_equal(talus_world_pair(world, glass, TALUS_NO_MATERIAL, &read, &error),
                     TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

// ---- definitions -------------------------------------------------------------------------------

static void check_refused(talus_status status, const talus_error* error, const char* name)
{
    char text[128];
    snprintf(text, sizeof text, "talus_%s_def was not made by talus_%s_default()", name, name);
    assert_int_equal(status, TALUS_ERR_ARGUMENT);
    assert_string_equal(error->text, text);
}

#define REFUSED(call, name) check_refused(call, &error, name)

static void test_definitions_of_nobody(void** state)
{
    (void)state;
    talus_error error;
    talus_world *world = empty_world(), *other;
    const talus_material_id first = {0};
    const talus_wall_id floor = physics_plane(world, "floor", 0, 0, 1);
    const talus_grain_def grain = {.radius = 1.0, .scale = 1.0, .density = 1.0};
    const talus_pair_def pair = {.friction = 0.5};
    const talus_solid_def solid = {.name = "cube"};
    const talus_drive_def drive = {.kind = TALUS_DRIVE_FIXED};
    const talus_solver_def solver = {.max_sweeps = 1};
    const talus_wall_def wall = {.name = "wall"};
    talus_world_def def = {.dim = 2};
    REFUSED(talus_world_create(&def, &other, &error), "world");
    def = talus_world_default();
    def.solver = solver;
    REFUSED(talus_world_create(&def, &other, &error), "solver");
    def = talus_world_default();
    memset(&def.soft, 0, sizeof def.soft);
    REFUSED(talus_world_create(&def, &other, &error), "soft");
    talus_wall_def moving = physics_plane_def("moving", 0, 0, 1);
    moving.drive = drive;
    REFUSED(talus_world_add_wall(world, &moving, NULL, &error), "drive");
    REFUSED(talus_world_add_wall(world, &wall, NULL, &error), "wall");
    REFUSED(talus_world_set_drive(world, floor, &drive, &error), "drive");
    REFUSED(talus_world_set_solver(world, &solver, &error), "solver");
    REFUSED(talus_world_add_material(world, "glass", &pair, NULL, &error), "pair");
    REFUSED(talus_world_set_pair(world, first, first, &pair, &error), "pair");
    REFUSED(talus_world_add_solid(world, &solid, NULL, &error), "solid");
    REFUSED(talus_world_add_grain(world, &grain, NULL, &error), "grain");
    talus_wall_def out = {.name = NULL};
    REFUSED(talus_world_wall_options(world, floor, &out, &error), "wall");
    talus_world_destroy(world);
}

/// The same of what is measured.
static void test_measures_of_nobody(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = empty_world();
    const talus_measure_def measure = {.bins = 10};
    talus_stress stress;
    talus_fabric fabric;
    talus_forces forces;
    talus_network network;
    talus_energy energy;
    talus_rheology rheology;
    REFUSED(talus_measure_stress(world, &measure, &stress, &error), "measure");
    REFUSED(talus_measure_fabric(world, &measure, &fabric, &error), "measure");
    REFUSED(talus_measure_forces(world, &measure, &forces, &error), "measure");
    REFUSED(talus_measure_network(world, &measure, &network, &error), "measure");
    REFUSED(talus_measure_energy(world, &measure, &energy, &error), "measure");
    REFUSED(talus_measure_rheology(world, &measure, &rheology, &error), "measure");
    const talus_domain_def domain = {.walls = true};
    const talus_voronoi_def voronoi = {.bins = 10};
    const talus_rdf_def rdf = {.bins = 10};
    const talus_profile_def profile = {.bins = 10};
    const talus_field_def field = {.stress = true};
    const talus_slope_def slope = {.low = 0.2};
    const talus_ensemble_def ensemble = {.samples = 1};
    talus_packing packing;
    talus_voronoi cells;
    talus_rdf pairs;
    talus_profile rows;
    talus_field fields;
    talus_slope surface;
    talus_ensemble solutions;
    REFUSED(talus_measure_packing(world, &domain, &packing, &error), "domain");
    REFUSED(talus_measure_voronoi(world, &voronoi, &cells, &error), "voronoi");
    REFUSED(talus_measure_rdf(world, &rdf, &pairs, &error), "rdf");
    REFUSED(talus_measure_profile(world, &profile, &rows, &error), "profile");
    REFUSED(talus_measure_field(world, &field, &fields, &error), "field");
    REFUSED(talus_measure_slope(world, &slope, &surface, &error), "slope");
    REFUSED(talus_measure_ensemble(world, &ensemble, &solutions, &error), "ensemble");
    talus_rdf_def within = talus_rdf_default();
    within.domain = domain;
    REFUSED(talus_measure_rdf(world, &within, &pairs, &error), "domain");
    talus_world_destroy(world);
}

/// And of the workshop.
static void test_workshop_of_nobody(void** state)
{
    (void)state;
    talus_error error;
    talus_report report = {0};
    const talus_run_def run = {.directory = "nowhere"};
    talus_summary summary;
    talus_loaded loaded;
    REFUSED(talus_run_start(&run, &summary, &report, &error), "run");
    REFUSED(talus_run_resume(&run, &summary, &report, &error), "run");
    REFUSED(talus_run_load(&run, &loaded, &report, &error), "run");
    const talus_import_def import = {.path = "nothing"};
    talus_import_result imported;
    REFUSED(talus_import(&import, &imported, &error), "import");
    const talus_advise_def advise = {.scene = "nothing"};
    static talus_advice advice;
    REFUSED(talus_advise(&advise, &advice, &report, &error), "advise");
    const talus_figure_def none = {.columns = 1, .rows = 1};
    const talus_figure_def one = talus_figure_default();
    const talus_axes_def axes = {.title = "a"};
    const talus_curve_def curve = {.count = 0};
    const talus_picture_def picture = {.walls = true};
    talus_figure* figure;
    double low[2], high[2];
    REFUSED(talus_figure_create(&none, &figure, &error), "figure");
    check_ok(talus_figure_create(&one, &figure, &error), error);
    talus_world* world = empty_world();
    REFUSED(talus_figure_axes(figure, 0, &axes, &error), "axes");
    REFUSED(talus_figure_curve(figure, 0, &curve, &error), "curve");
    REFUSED(talus_figure_world(figure, 0, world, &picture, &error), "picture");
    REFUSED(talus_picture_extent(world, &picture, low, high, &error), "picture");
    talus_world_destroy(world);
    talus_figure_destroy(figure);
}

/// A program that was compiled when a grain ended before `fixed` has memory for no more than that.
static void test_older_programs(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = empty_world();
    volatile size_t known = offsetof(talus_grain_def, fixed); // the compiler need not know
    talus_grain_def* old = malloc(known);
    talus_grain_default_sized(old, known);
    assert_true(old->density == 2500.0);
    old->radius = 0.5, old->velocity[0] = 2.0;
    const talus_grain_def fresh = talus_grain_default();
    check_ok(talus_world_add_grain(world, old, NULL, &error), error);
    const talus_grains g = talus_world_grains(world);
    assert_true(g.radius[0] == 0.5 && g.velocity[0] == 2.0);
    assert_true(g.glued_to[0].index == TALUS_GRAIN_FREE && g.tag[0] == fresh.tag);
    free(old);
    talus_world_destroy(world);

    // Fields with a default that is not zero.
    volatile size_t before = offsetof(talus_world_def, retry_depth);
    talus_world_def* options = malloc(before);
    talus_world_default_sized(options, before);
    options->dim = 2;
    // The nested options lie behind: they are the library's.
    check_ok(talus_world_create(options, &world, &error), error);
    const talus_world_def* now = talus_world_options(world);
    assert_int_equal(now->dim, 2);
    assert_int_equal(now->retry_depth, 6);
    assert_int_equal(now->solver.max_sweeps, talus_solver_default().max_sweeps);
    free(options);
    talus_world_destroy(world);
}

/// A program compiled with later headers than the library it meets.
static void test_later_programs(void** state)
{
    (void)state;
    talus_error error;
    struct {
        talus_grain_def known;
        double later;
    } grain;
    memset(&grain, 0xff, sizeof grain);
    talus_grain_default_sized(&grain.known, sizeof grain);
    assert_true(grain.later == 0.0);
    grain.known.radius = 1.0;
    talus_world* world = empty_world();
    assert_int_equal(talus_world_add_grain(world, &grain.known, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "compiled with a later one"));
    talus_world_destroy(world);
}

// ---- writing -----------------------------------------------------------------------------------

static void test_editing(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = empty_world();
    talus_grain_def grain = talus_grain_default();
    grain.radius = 0.1;
    const int64_t id = physics_add(world, &grain);
    talus_editable_grains e;
    check_ok(talus_world_edit_grains(world, &e, &error), error);
    assert_true(e.count == 1 && e.dim == 3 && e.spin_dim == 3 && e.rotation_dim == 4);
    e.velocity[1] = 2.0, e.tag[0] = 7, e.external_force[0] = 3.0;
    const talus_grains g = talus_world_grains(world);
    assert_ptr_equal(g.velocity, e.velocity);
    assert_true(g.tag[0] == 7 && g.external_force[0] == 3.0 && grain_v(world, id, 1) == 2.0);
    talus_world_destroy(world);
}

/// With the method soft a grain that was moved far must meet its new neighbours at once.
static void test_soft_sees_the_change(void** state)
{
    (void)state;
    talus_error error;
    talus_world_def def = talus_world_default();
    def.dim = 2, def.method = TALUS_METHOD_SOFT;
    talus_world* world;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def law = talus_pair_default();
    law.soft.stiffness = 1e4;
    check_ok(talus_world_add_material(world, "stone", &law, NULL, &error), error);
    talus_grain_def grain = talus_grain_default();
    grain.radius = 0.5, grain.mass = 1.0;
    for (int i = 0; i < 3; i++) {
        grain.position[0] = 10.0 * i;
        physics_add(world, &grain);
    }
    physics_steps(world, 1e-4, 3);
    assert_int_equal(talus_world_contacts(world).count, 0);
    physics_edit(world).position[2 * 2] = 10.99;
    physics_step(world, 1e-4);
    assert_int_equal(talus_world_contacts(world).count, 1);
    talus_world_destroy(world);
}

// ---- walls -------------------------------------------------------------------------------------

static void test_wall_options(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = empty_world();
    const talus_pair_def law = talus_pair_default();
    talus_material_id steel;
    check_ok(talus_world_add_material(world, "glass", &law, NULL, &error), error);
    check_ok(talus_world_add_material(world, "steel", &law, &steel, &error), error);
    talus_wall_def def = physics_plane_def("wheel", 0, 0, 1);
    def.rotation[1] = 0.25, def.material = steel;
    def.drive.kind = TALUS_DRIVE_VELOCITY;
    def.drive.velocity[0] = 0.5, def.drive.spin[1] = 0.125;
    def.drive.has_pivot = true, def.drive.pivot[2] = 2.0;
    const talus_wall_id wheel = physics_wall(world, &def);
    for (int i = 0; i < 100; i++) physics_step(world, 0.01);

    talus_wall_def now = talus_wall_default();
    check_ok(talus_world_wall_options(world, wheel, &now, &error), error);
    assert_string_equal(now.name, "wheel");
    assert_true(talus_material_equal(now.material, steel));
    assert_int_equal(now.shape.kind, TALUS_SHAPE_PLANE);
    assert_int_equal(now.drive.kind, TALUS_DRIVE_VELOCITY);
    assert_true(now.drive.velocity[0] == 0.5 && now.drive.spin[1] == 0.125);
    check_close("turned by", now.rotation[1], 0.25 + 0.125, 1e-13, "100 roundings");
    check_close("pivot moved by", now.drive.pivot[0], 0.5, 1e-13, "100 roundings");
    check_close("position", now.position[0], wall_state(world, wheel).position[0], 0, "the same");
    assert_true(talus_material_equal(wall_state(world, wheel).material, steel));

    // The same wall in another world goes on as this one.
    talus_world* second = empty_world();
    now.material = (talus_material_id){0};
    const talus_wall_id copy = physics_wall(second, &now);
    for (int i = 0; i < 100; i++) physics_step(world, 0.01), physics_step(second, 0.01);
    const talus_wall_state a = wall_state(world, wheel), b = wall_state(second, copy);
    for (int k = 0; k < 3; k++) {
        check_close("position", b.position[k], a.position[k], 1e-12, "100 roundings");
    }

    // Tables come with it; a removed wall has no definition.
    const double table[2][7] = {{0, 0, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0, 0}};
    talus_drive_def drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_TABLE, drive.table = table[0], drive.table_rows = 2;
    check_ok(talus_world_set_drive(world, wheel, &drive, &error), error);
    check_ok(talus_world_wall_options(world, wheel, &now, &error), error);
    assert_true(now.drive.table_rows == 2 && now.drive.table[7] == 1.0);
    assert_ptr_not_equal(now.drive.table, table[0]);
    check_close("began", wall_state(world, wheel).drive_start, 2.0, 1e-12, "200 steps of 0.01");
    check_ok(talus_world_remove_wall(world, wheel, &error), error);
    assert_int_equal(talus_world_wall_options(world, wheel, &now, &error), TALUS_ERR_ARGUMENT);
    talus_world_destroy(second);
    talus_world_destroy(world);
}

static void check_says(talus_status status, talus_status wanted, const talus_error* error,
                       const char* words)
{
    assert_int_equal(status, wanted);
    if (!strstr(error->text, words)) fail_msg("'%s' does not say '%s'", error->text, words);
}

static void test_wall_velocity(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = empty_world();
    const double v[3] = {1, 0, -2}, along[3] = {0, 0, -2}, spin[3] = {0, 0, 1}, bad[3] = {NAN};
    const talus_wall_id fixed = physics_plane(world, "floor", 0, 0, 1);
    check_says(talus_world_set_wall_velocity(world, fixed, v, NULL, &error), TALUS_ERR_STATE,
               &error, "wall 'floor': its motion is fixed");

    talus_drive_def drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_SINE, drive.frequency = 1.0;
    check_ok(talus_world_set_drive(world, fixed, &drive, &error), error);
    check_says(talus_world_set_wall_velocity(world, fixed, v, NULL, &error), TALUS_ERR_STATE,
               &error, "its motion is a sine");

    drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_VELOCITY;
    check_ok(talus_world_set_drive(world, fixed, &drive, &error), error);
    check_ok(talus_world_set_wall_velocity(world, fixed, v, spin, &error), error);
    physics_step(world, 0.5);
    assert_true(wall_state(world, fixed).position[2] == -1.0);
    assert_true(wall_state(world, fixed).spin[2] == 1.0);
    check_says(talus_world_set_wall_velocity(world, fixed, bad, NULL, &error), TALUS_ERR_ARGUMENT,
               &error, "must be finite");

    talus_wall_def lid = physics_plane_def("lid", 0, 0, -1);
    lid.drive.kind = TALUS_DRIVE_FORCE;
    lid.drive.mass = 2.0, lid.drive.free_axes[2] = true;
    const talus_wall_id mobile = physics_wall(world, &lid);
    check_says(talus_world_set_wall_velocity(world, mobile, v, NULL, &error), TALUS_ERR_ARGUMENT,
               &error, "nor moves in this direction");
    check_says(talus_world_set_wall_velocity(world, mobile, along, spin, &error),
               TALUS_ERR_ARGUMENT, &error, "neither turns");
    check_ok(talus_world_set_wall_velocity(world, mobile, along, NULL, &error), error);
    physics_step(world, 0.5);
    assert_true(wall_state(world, mobile).position[2] == -1.0);
    talus_world_destroy(world);
}

static void test_wall_force(void** state)
{
    (void)state;
    talus_error error;
    talus_world* world = empty_world();
    const double force[3] = {0, 0, 6}, bad[3] = {0, 0, INFINITY};
    talus_wall_def lid = physics_plane_def("lid", 0, 0, -1);
    const talus_wall_id id = physics_wall(world, &lid);
    check_says(talus_world_set_wall_force(world, id, force, &error), TALUS_ERR_STATE, &error,
               "wall 'lid': its motion is fixed, and no force is applied to it");
    talus_drive_def drive = talus_drive_default();
    drive.kind = TALUS_DRIVE_SERVO, drive.mass = 2.0, drive.servo_axis[2] = 1.0;
    drive.area = 1.0;
    check_ok(talus_world_set_drive(world, id, &drive, &error), error);
    check_says(talus_world_set_wall_force(world, id, force, &error), TALUS_ERR_STATE, &error,
               "its motion is a servo");
    drive.kind = TALUS_DRIVE_FORCE, drive.free_axes[2] = true;
    check_ok(talus_world_set_drive(world, id, &drive, &error), error);
    check_ok(talus_world_set_wall_force(world, id, force, &error), error);
    physics_step(world, 0.5);
    check_close("velocity", wall_state(world, id).velocity[2], 1.5, 1e-15, "F h/m");
    assert_true(wall_state(world, id).applied[2] == 6.0);
    check_says(talus_world_set_wall_force(world, id, bad, &error), TALUS_ERR_ARGUMENT, &error,
               "finite");
    assert_int_equal(talus_world_set_wall_force(world, TALUS_NO_WALL, force, &error),
                     TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_definitions_of_nobody),
        cmocka_unit_test(test_measures_of_nobody),
        cmocka_unit_test(test_workshop_of_nobody),
        cmocka_unit_test(test_older_programs),
        cmocka_unit_test(test_later_programs),
        cmocka_unit_test(test_editing),
        cmocka_unit_test(test_soft_sees_the_change),
        cmocka_unit_test(test_wall_options),
        cmocka_unit_test(test_wall_velocity),
        cmocka_unit_test(test_wall_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Worlds that their owner steps (talus/record.h): saved, loaded and recorded, in pieces or at
/// once.
#include "support.h"

#include <math.h>
#include <string.h>
#include <talus/workshop.h>
#include <unistd.h>

static char folder[64], path[96];

static int make_folder(void** state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/talus-recorder-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char* in_folder(const char* name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/// Squares and balls on a mesh-free floor beside a driven lid; every kind of list in a definition
/// but triangles.
static talus_world* make_world(void)
{
    talus_error error = {0};
    talus_world_def def = talus_world_default();
    talus_world* world;
    def.dim = 2;
    def.gravity[1] = -9.81;
    check_ok(talus_world_create(&def, &world, &error), error);
    talus_pair_def law = talus_pair_default();
    law.friction = 0.3;
    check_ok(talus_world_add_material(world, "glass", &law, NULL, &error), error);
    const double corners[] = {0.1, 0.1, 0.12, 0.1, 0.12, 0.12, 0.1, 0.12};
    talus_solid_def square = talus_solid_default();
    square.name = "square";
    square.points = corners;
    square.point_count = 4;
    check_ok(talus_world_add_solid(world, &square, NULL, &error), error);
    const double table[] = {0, 0, -0.1, 0, 0, 0, 0, 0.05, 0, -1.0 / 3.0, 0, 0, 0, 0};
    talus_wall_def wall = talus_wall_default();
    wall.name = "floor";
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[1] = 1;
    check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    wall.name = "lid";
    wall.shape.normal[1] = -1;
    wall.position[1] = 0.5;
    wall.drive.kind = TALUS_DRIVE_TABLE;
    wall.drive.table = table;
    wall.drive.table_rows = 2;
    check_ok(talus_world_add_wall(world, &wall, NULL, &error), error);
    for (int i = 0; i < 12; i++) {
        talus_grain_def grain = talus_grain_default();
        grain.radius = 0.01;
        if (i % 2) grain.solid.index = 0;
        grain.position[0] = 0.025 * (i % 4);
        grain.position[1] = 0.02 + 0.03 * (i / 4);
        check_ok(talus_world_add_grain(world, &grain, NULL, &error), error);
    }
    return world;
}

static talus_run* open_record(talus_world* world, const char* name, bool resumed)
{
    talus_error error = {0};
    talus_record_def def = talus_record_default();
    talus_run* run;
    def.directory = in_folder(name);
    def.frame_interval = 0.01;
    check_ok(talus_record_open(world, &def, resumed, &run, &error), error);
    return run;
}

static void test_saved(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_world *world = make_world(), *loaded;
    check_ok(talus_world_steps(world, 1e-3, 40, NULL, &error), error);
    check_ok(talus_world_save(world, in_folder("world.h5"), &error), error);
    check_ok(talus_world_load(path, NULL, &loaded, &error), error);
    talus_solid_def square = talus_solid_default();
    check_ok(talus_world_solid_options(loaded, (talus_solid_id){0}, &square, &error), error);
    assert_true(square.points[2] == 0.12 && square.point_count == 4); // as it was given
    check_ok(talus_world_steps(world, 1e-3, 40, NULL, &error), error);
    check_ok(talus_world_steps(loaded, 1e-3, 40, NULL, &error), error);
    assert_true(talus_world_hash(loaded) == talus_world_hash(world));
    assert_int_equal(talus_world_solid_options(loaded, (talus_solid_id){1}, &square, &error),
                     TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
    talus_world_destroy(loaded);
}

/// In one piece, and in two with the world from the checkpoint in between.
static void test_recorded(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_summary whole, part;
    talus_step_result result;
    talus_world* world = make_world();
    talus_run* run = open_record(world, "whole", false);
    check_ok(talus_record_steps(run, 1e-3, 60, &result, &error), error);
    assert_int_equal(result.step, 60);
    check_ok(talus_run_close(run, &whole, &error), error);
    assert_int_equal(whole.frames, 7);

    talus_world* other = make_world();
    run = open_record(other, "parts", false);
    check_ok(talus_record_steps(run, 1e-3, 25, NULL, &error), error);
    check_ok(talus_record_frame(run, &error), error);
    check_ok(talus_record_frame(run, &error), error); // there is one of this step: nothing
    check_ok(talus_run_close(run, &part, &error), error);
    assert_int_equal(part.frames, 4);
    talus_world_destroy(other);
    talus_run_def from = talus_run_default();
    talus_report report = {0};
    talus_loaded loaded;
    from.directory = in_folder("parts");
    check_ok(talus_run_load(&from, &loaded, &report, &error), error);
    assert_true(loaded.step_length == 1e-3);
    run = open_record(loaded.world, "parts", true);
    check_ok(talus_record_steps(run, 1e-3, 35, NULL, &error), error);
    check_ok(talus_run_close(run, &part, &error), error);
    assert_true(part.state_hash == whole.state_hash);
    assert_int_equal(part.steps, 60);
    talus_world_destroy(loaded.world);
    talus_world_destroy(world);
}

/// A step that cannot be taken ends nothing: its owner may mend the world and go on.
static void test_failed_step(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_summary summary;
    talus_world* world = make_world();
    talus_run* run = open_record(world, "failed", false);
    talus_editable_grains grains;
    check_ok(talus_record_steps(run, 1e-3, 5, NULL, &error), error);
    check_ok(talus_world_edit_grains(world, &grains, &error), error);
    const double speed = grains.velocity[0];
    grains.velocity[0] = NAN;
    assert_int_equal(talus_record_steps(run, 1e-3, 1, NULL, &error), TALUS_ERR_NUMERIC);
    check_ok(talus_world_edit_grains(world, &grains, &error), error);
    grains.velocity[0] = speed;
    check_ok(talus_record_steps(run, 1e-3, 5, NULL, &error), error);
    check_ok(talus_run_close(run, &summary, &error), error);
    assert_int_equal(summary.steps, 10);
    talus_world_destroy(world);
}

static void test_mistakes(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_run* run;
    talus_world* world = make_world();
    talus_record_def def = talus_record_default();
    assert_int_equal(talus_record_open(world, &def, false, &run, &error), TALUS_ERR_ARGUMENT);
    def.directory = in_folder("mistakes");
    def.checkpoint_seconds = 0;
    assert_int_equal(talus_record_open(world, &def, false, &run, &error), TALUS_ERR_ARGUMENT);
    def.checkpoint_seconds = 300;
    def.series_interval = -1;
    assert_int_equal(talus_record_open(world, &def, false, &run, &error), TALUS_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "series_interval"));
    run = open_record(world, "mistakes", false);
    assert_int_equal(talus_record_steps(run, 1e-3, 0, NULL, &error), TALUS_ERR_ARGUMENT);
    assert_int_equal(talus_record_steps(run, -1, 1, NULL, &error), TALUS_ERR_ARGUMENT);
    check_ok(talus_run_close(run, NULL, &error), error);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_failed_step),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

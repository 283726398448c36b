/// A run in its user's hands (talus_run_open() and its relatives): step by step it is the run of
/// talus_run_start(), and what its user keeps and sets comes back when it goes on.
#include "support.h"

#include "run/settings.h"

#include <string.h>
#include <talus/workshop.h>
#include <unistd.h>

static const char scene_text[] =
    "dimension: 2\n"
    "step: 1e-3\n"
    "gravity: [0, -10]\n"
    "walls:\n"
    "  - {name: floor, type: plane, point: [0, 0], normal: [0, 1]}\n"
    "  - {name: lid, type: plane, point: [0, 0.3], normal: [0, -1]}\n"
    "grains:\n"
    "  - {type: lattice, low: [0, 0.01], high: [0.1, 0.15], radius: 0.01}\n"
    "phases:\n"
    "  - {name: down, until: {time: 0.05}}\n"
    "  - {name: up, gravity: [1, -5], until: {time: 0.05}}\n"
    "output: {frames: 0.02, series: 0.01}\n";

static char folder[64], scene[96], place[96];

static int make_folder(void** state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/talus-steered-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(scene, sizeof scene, "%s/scene.yaml", folder);
    FILE* file = fopen(scene, "w");
    if (!file) return -1;
    fputs(scene_text, file);
    return fclose(file);
}

static int remove_folder(void** state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static talus_run_def options(const char* name)
{
    talus_run_def def = talus_run_default();
    snprintf(place, sizeof place, "%s/%s", folder, name);
    def.scene = scene;
    def.directory = place;
    return def;
}

static talus_run* open_run(const talus_run_def* def, bool resumed)
{
    talus_run* run = NULL;
    talus_report report = {0};
    talus_error error = {0};
    check_ok(talus_run_open(def, resumed, &run, &report, &error), error);
    talus_report_clear(&report);
    return run;
}

/// Push the grains about, by a number that is kept, until the run ends or `most` steps are done.
static void steer(talus_run* run, int64_t most)
{
    talus_error error = {0};
    for (int64_t step = 0; step < most; step++) {
        bool going, stepped;
        check_ok(talus_run_goes_on(run, &going, &error), error);
        if (!going) return;
        talus_editable_grains g;
        check_ok(talus_world_edit_grains(talus_run_world(run), &g, &error), error);
        int64_t size;
        double pushes = 0;
        const void* kept = talus_run_kept(run, &size);
        if (size == sizeof pushes) memcpy(&pushes, kept, sizeof pushes);
        pushes += 1 + g.velocity[1];
        for (int64_t i = 0; i < g.count; i++) g.force[2 * i] = 0.1 * sin(pushes);
        check_ok(talus_run_keep(run, &pushes, sizeof pushes, &error), error);
        check_ok(talus_run_step(run, &stepped, &error), error);
        assert_true(stepped);
        check_ok(talus_run_record(run, NULL, &error), error);
    }
}

static void test_by_hand_is_the_same_run(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_report report = {0};
    talus_summary whole, mine;
    talus_run_def def = options("whole");
    check_ok(talus_run_start(&def, &whole, &report, &error), error);
    def = options("by-hand");
    talus_run* run = open_run(&def, false);
    bool going = true, stepped, frame;
    int frames = 0;
    for (;;) {
        check_ok(talus_run_goes_on(run, &going, &error), error);
        if (!going) break;
        assert_true(talus_run_step_length(run) == 1e-3);
        check_ok(talus_run_step(run, &stepped, &error), error);
        check_ok(talus_run_record(run, &frame, &error), error);
        frames += frame;
    }
    check_ok(talus_run_close(run, &mine, &error), error);
    assert_true(mine.state_hash == whole.state_hash);
    assert_int_equal(mine.steps, 100);
    assert_int_equal(frames, 5);
    assert_int_equal(mine.frames, whole.frames);
    assert_string_equal(mine.outcome, "finished");
    talus_report_clear(&report);
}

static void test_kept_bytes_come_back(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_summary whole, part;
    talus_run_def def = options("kept");
    talus_run* run = open_run(&def, false);
    steer(run, 1000);
    check_ok(talus_run_close(run, &whole, &error), error);
    def = options("kept-in-parts");
    for (int k = 0; k < 4; k++) { // 30 steps at a time: phases change in the second part
        run = open_run(&def, k > 0);
        steer(run, 30);
        const talus_status status = talus_run_close(run, &part, &error);
        assert_int_equal(status, k < 3 ? TALUS_INTERRUPTED : TALUS_OK);
    }
    assert_true(part.state_hash == whole.state_hash);
    // It is over: nothing to do, and nothing is changed by it.
    run = open_run(&def, true);
    bool going;
    check_ok(talus_run_goes_on(run, &going, &error), error);
    assert_false(going);
    check_ok(talus_run_close(run, &part, &error), error);
    assert_true(part.nothing_to_do);
}

static void test_stopped_by_a_rule(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_summary summary;
    talus_run_def def = options("stopped");
    talus_run* run = open_run(&def, false);
    steer(run, 40);
    talus_run_stop(run, "dense enough");
    check_ok(talus_run_close(run, &summary, &error), error);
    assert_string_equal(summary.outcome, "finished: dense enough");
    assert_int_equal(summary.steps, 40);
    talus_run_abandon(NULL);
    check_ok(talus_run_close(NULL, NULL, NULL), error);
}

/// All that settings tell of one world is made so in another, and told again with the same text.
static void test_settings(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_world* world[2];
    for (int k = 0; k < 2; k++) {
        talus_world_def def = talus_world_default();
        def.dim = 3;
        check_ok(talus_world_create(&def, &world[k], &error), error);
        static const char* const names[] = {"a", "b", "c"};
        for (int i = 0; i < 3; i++) {
            talus_wall_def wall = talus_wall_default();
            wall.name = names[i];
            wall.shape.kind = TALUS_SHAPE_PLANE;
            wall.shape.normal[2] = 1;
            check_ok(talus_world_add_wall(world[k], &wall, NULL, &error), error);
        }
    }
    const double gravity[3] = {0.1, -1.0 / 3.0, 1e-300};
    const double table[] = {0, 1, 2, 3, 0, 0, 0, 0.1, -1, 1.0 / 7.0, 0, 0, 0, 0};
    talus_solver_def solver = talus_solver_default();
    solver.method = TALUS_SOLVER_SWEEPS;
    solver.order = TALUS_ORDER_PARALLEL;
    solver.stop = TALUS_STOP_SWEEPS;
    solver.max_sweeps = 77;
    solver.tolerance = 1.0 / 3.0;
    solver.warm_start = false;
    talus_drive_def by_table = talus_drive_default(), servo = talus_drive_default();
    by_table.kind = TALUS_DRIVE_TABLE;
    by_table.table = table;
    by_table.table_rows = 2;
    servo.kind = TALUS_DRIVE_SERVO;
    servo.mass = 2.5;
    servo.servo_axis[2] = -1;
    servo.stress = 1e4;
    servo.area = 0.3;
    servo.weight = true;
    check_ok(talus_world_set_gravity(world[0], gravity, &error), error);
    check_ok(talus_world_set_solver(world[0], &solver, &error), error);
    check_ok(talus_world_set_drive(world[0], (talus_wall_id){0}, &by_table, &error), error);
    check_ok(talus_world_set_drive(world[0], (talus_wall_id){2}, &servo, &error), error);
    text_buffer told = {0}, again = {0};
    settings_tell(world[0], &told);
    check_ok(settings_restore(world[1], told.data, &error), error);
    settings_tell(world[1], &again);
    assert_string_equal(told.data, again.data);
    assert_non_null(strstr(told.data, "0x1.5555555555555p-2")); // a third, to the last bit

    // What makes no sense is refused.
    static const char* const wrong[] = {"gravity 1 2\n", "gravitation 1 2 3\n", "solver\n",
                                        "drive 0 1 2\n", "drive 77 0\n",        "x"};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(settings_restore(world[1], wrong[i], &error), TALUS_ERR_FORMAT);
    }
    text_free(&told);
    text_free(&again);
    for (int k = 0; k < 2; k++) talus_world_destroy(world[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand_is_the_same_run),
        cmocka_unit_test(test_kept_bytes_come_back),
        cmocka_unit_test(test_stopped_by_a_rule),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

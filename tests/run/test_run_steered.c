/// A run in its user's hands (talus_run_open() and its relatives): step by step it is the run of
/// talus_run_start(), and what its user keeps and sets comes back when it goes on.
#include "support.h"

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
        for (int64_t i = 0; i < g.count; i++) g.external_force[2 * i] = 0.1 * sin(pushes);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand_is_the_same_run),
        cmocka_unit_test(test_kept_bytes_come_back),
        cmocka_unit_test(test_stopped_by_a_rule),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/// The advice on the method: numbers of BUW 1.37 and steps of both methods against a computation by
/// hand, what is done with phases of unknown length, inlets and scenes that only one method knows.
/// Seconds are only checked for what follows from them.
#include "support.h"

#include "scene/scene.h"

#include <string.h>
#include <talus/workshop.h>
#include <unistd.h>

static char scene_path[] = "/tmp/talus-test-advise-XXXXXX";

/// A row of eight disks of radius 0.1 and mass 3 that begin with the speed 0.5, on a spring of
/// 1200 N/m.
#define ROW                                                                                        \
    "dimension: 2\n"                                                                               \
    "materials: {rubber: {restitution: 0.5, stiffness: 1200}}\n"                                   \
    "grains: [{type: chain, direction: [1, 0], count: 8, radius: 0.1, mass: 3, velocity: [0.3, "   \
    "0.4]}]\n"

static void write_scene(const char* text)
{
    FILE* file = fopen(scene_path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/// With so little time that only scenes of a few steps end within it.
static talus_advice advise(const char* text)
{
    talus_advise_def def = talus_advise_default();
    talus_advice advice;
    talus_report report = {0};
    talus_error error = {0};
    write_scene(text);
    def.scene = scene_path;
    def.seconds = 1e-6;
    check_ok(talus_advise(&def, &advice, &report, &error), error);
    assert_int_equal(report.count, 0);
    printf("%s\n", advice.words);
    return advice;
}

/// What must hold of every comparison, whatever the seconds are.
static void check_consistent(const talus_advice* a)
{
    for (int m = 0; m < 2; m++) {
        const talus_cost* c = &a->cost[m];
        assert_true(c->possible);
        assert_true(c->trial_steps > 0 && c->trial_seconds > 0.0);
        check_close("steps", c->steps * c->step, a->duration,
                    c->trial_whole ? c->step : 1e-12 * a->duration,
                    "roundings; a trial ends with a whole step");
        check_close("seconds", c->seconds, c->steps * c->step_seconds, 1e-12 * c->seconds,
                    "roundings");
    }
    check_close("ratio", a->ratio, a->cost[0].seconds / a->cost[1].seconds, 1e-12 * a->ratio,
                "roundings");
    const talus_method cheaper = a->ratio < 1.0 ? TALUS_METHOD_CONTACT : TALUS_METHOD_SOFT;
    assert_int_equal(a->use, a->close ? TALUS_METHOD_CONTACT : cheaper);
    // A spring k times as stiff needs sqrt(k) times as many steps.
    check_close("even", a->cost[1].seconds * sqrt(a->even_stiffness / a->stiffness),
                a->cost[0].seconds, 1e-12 * a->cost[0].seconds, "roundings");
}

static void test_estimate(void** state)
{
    (void)state;
    const double n = 8, r = 0.1, m = 3, v = 0.5, k = 1200;
    talus_advice a = advise("step: 0.01\nuntil: {time: 5}\n" ROW);
    check_close("n", a.grains, n, 0, "counted");
    check_close("r", a.radius, r, 1e-15, "a rounding");
    check_close("m", a.mass, m, 1e-14, "a rounding");
    check_close("v", a.speed, v, 1e-15, "a rounding");
    check_close("K", a.stiffness, k, 0, "as given");
    assert_false(a.stiffness_chosen);
    check_close("L/d", a.size, 8, 1e-12, "roundings");
    // 8^(2/2) sqrt(3 0.25/(1200 0.01)) = 8 sqrt(1/16)
    check_close("N_I", a.papers_sweeps, 8, 1e-14, "a rounding");
    check_close("BUW 1.37", a.ratio_papers, 2, 1e-14, "roundings");
    check_close("with L/d", a.ratio_talus, 2, 1e-12, "roundings");
    // v sqrt(m/K) = 0.5/20, over a diameter of 0.2; the deepest of many impacts is 3 times that
    check_close("overlap", a.overlap, 3 * 0.125, 1e-14, "roundings");
    check_close("steps", a.cost[TALUS_METHOD_CONTACT].steps, 500, 1e-9, "roundings");
    check_consistent(&a);
    check_close("even overlap", a.even_overlap, a.overlap / a.ratio, 1e-12 * a.even_overlap,
                "of impacts: as 1/sqrt(K)");

    a = advise("step: 0.01\nuntil: {time: 5}\ndimension: 3\ngrains: [{type: chain, direction: [1, "
               "0, 0], count: 27, radius: 0.1, mass: 3, velocity: [0, 0, 2]}]\n");
    assert_true(a.stiffness_chosen);
    check_close("3D, N_I", a.papers_sweeps, 9, 1e-13, "roundings");
    // Springs chosen for overlaps of 1e-3 diameters under impacts: 3 sqrt(m v^2/K) = 2e-3 r
    check_close("3D, BUW 1.37", a.ratio_papers, 9 * 2e-3 / 3, 1e-13, "roundings");
    check_close("3D, with L/d", a.ratio_talus, 27 * 2e-3 / 3, 1e-12, "roundings");
    check_close("3D, overlap", a.overlap, 1e-3, 1e-15, "roundings");
    check_consistent(&a);
}

/// Steps of the soft method, phase by phase, as the scene chooses them.
static double soft_steps(const char* const* sets, int count, double first, double second)
{
    talus_scene* scene = NULL;
    talus_world* world = NULL;
    talus_error error = {0};
    check_ok(talus_scene_load(scene_path, sets, count, &scene, NULL, &error), error);
    check_ok(talus_scene_build(scene, NULL, &world, NULL, &error), error);
    const double steps = first / scene_phase_step(scene, 0) + second / scene_phase_step(scene, 1);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return steps;
}

static void test_phases(void** state)
{
    (void)state;
    talus_advice a = advise(
        "step: 0.01\nphases:\n"
        "- {until: {time: 2}}\n"
        "- {until: {steps: 150, kinetic_energy: 1.0e-9}, step: 0.02, pairs: "
        "[{between: [rubber, rubber], friction: 0, restitution: 0.5, stiffness: 2400}]}\n" ROW);
    check_close("duration", a.duration, 2 + 150 * 0.02, 1e-12, "roundings");
    check_close("contact", a.cost[TALUS_METHOD_CONTACT].steps, 350, 1e-9, "roundings");
    const char* sets[] = {"method=soft", "step=auto", "phases[1].step=auto"};
    const double expected = soft_steps(sets, 3, 2, 3);
    check_close("soft", a.cost[TALUS_METHOD_SOFT].steps, expected, 1e-9 * expected, "roundings");
    assert_true(a.at_most);
    assert_int_equal(a.unknown_phases, 0);
    check_consistent(&a);

    a = advise(
        "step: 0.01\nphases:\n- {until: {time: 2}}\n- {until: {kinetic_energy: 1.0e-9}}\n" ROW);
    assert_int_equal(a.unknown_phases, 1);
    assert_false(a.per_second);
    check_close("known part", a.duration, 2, 1e-12, "roundings");
    check_consistent(&a);

    a = advise("step: 0.01\nuntil: {kinetic_energy: 1.0e-9}\n" ROW);
    assert_true(a.per_second);
    check_close("a second", a.cost[TALUS_METHOD_CONTACT].steps, 100, 1e-9, "roundings");
    assert_non_null(strstr(a.words, "one simulated second"));
    check_consistent(&a);
}

/// A scene of the method soft: the other one gets steps of a tenth of r/v.
static void test_soft_scene(void** state)
{
    (void)state;
    talus_advice a = advise("method: soft\nstep: auto\nuntil: {time: 5}\n" ROW);
    assert_int_equal(a.method, TALUS_METHOD_SOFT);
    check_close("contact step", a.cost[TALUS_METHOD_CONTACT].step, 0.1 * 0.1 / 0.5, 1e-8,
                "written with six digits");
    check_consistent(&a);
    a = advise("method: soft\nstep: 1e-4\nuntil: {time: 5}\n" ROW);
    check_close("as written", a.cost[TALUS_METHOD_SOFT].steps, 5e4, 1e-6, "roundings");
}

/// A trial that comes to the end knows how long the scene is.
static void test_whole(void** state)
{
    (void)state;
    talus_advice a = advise("step: 0.01\nuntil: {steps: 1, kinetic_energy: 1.0e-9}\n" ROW);
    const talus_cost* contact = &a.cost[TALUS_METHOD_CONTACT];
    assert_int_equal(contact->trial_steps, 1);
    // The first step uses up the time; more of it is needed to see that nothing comes after.
    write_scene("step: 0.01\nuntil: {steps: 3, kinetic_energy: 1.0e-9}\n" ROW);
    talus_advise_def def = talus_advise_default();
    talus_error error = {0};
    def.scene = scene_path;
    def.seconds = 30;
    check_ok(talus_advise(&def, &a, NULL, &error), error);
    assert_true(contact->trial_whole && a.cost[TALUS_METHOD_SOFT].trial_whole);
    assert_false(a.at_most);
    check_close("seconds", contact->seconds, contact->trial_seconds, 1e-12, "a rounding");
    check_close("duration", a.duration, 0.03, 1e-15, "roundings");
    check_consistent(&a);
}

/// An inlet that has not poured anything yet: an empty world must step, and costs are scaled.
static void test_inlet(void** state)
{
    (void)state;
    talus_advice a = advise(
        "step: 0.01\nuntil: {time: 20}\ndimension: 2\ngrains: [{type: inlet, low: [0, 0], high: "
        "[1, 1], rate: 100, radius: 0.02, velocity: [0, -1]}]\n");
    check_close("n", a.grains, 2000, 1e-9, "rate times time");
    for (int m = 0; m < 2; m++) {
        const talus_cost* c = &a.cost[m];
        check_below("grains", c->trial_grains, 50, "a few steps");
        check_close("scaled from 50", c->step_seconds,
                    40 * c->trial_seconds / (double)c->trial_steps, 1e-9 * c->step_seconds,
                    "roundings");
    }
    check_consistent(&a);
}

static void test_one_method(void** state)
{
    (void)state;
    talus_advice a = advise("dimension: 3\nstep: 0.01\nuntil: {time: 5}\ngravity: [0, 0, -10]\n"
                            "shapes: {die: {box: [0.1, 0.1, 0.1]}}\n"
                            "grains:\n  - {type: lattice, shape: die, low: [0, 0, 0], counts: [2, "
                            "2, 2], spacing: [0.3, 0.3, 0.3]}\n");
    const talus_cost* soft = &a.cost[TALUS_METHOD_SOFT];
    assert_false(soft->possible);
    assert_non_null(strstr(soft->reason, ":7:5: grains[0]: the method soft knows balls"));
    assert_true(a.cost[TALUS_METHOD_CONTACT].possible);
    assert_int_equal(a.use, TALUS_METHOD_CONTACT);
    check_close("nothing to compare", a.ratio, 0, 0, "left alone");
    assert_non_null(strstr(a.words, "use method: contact"));
}

static void test_mistakes(void** state)
{
    (void)state;
    talus_advise_def def = talus_advise_default();
    talus_advice a;
    talus_report report = {0};
    talus_error error = {0};
    assert_int_equal(talus_advise(&def, &a, &report, &error), TALUS_ERR_ARGUMENT);
    def.scene = scene_path;
    def.seconds = NAN;
    assert_int_equal(talus_advise(&def, &a, &report, &error), TALUS_ERR_ARGUMENT);
    def.seconds = 0;
    write_scene("step: fast\nuntil: {time: 5}\n" ROW);
    assert_int_equal(talus_advise(&def, &a, &report, &error), TALUS_ERR_SCENE);
    assert_int_equal(report.count, 1);
    assert_non_null(strstr(report.lines[0], ":1:7: step"));
    talus_report_clear(&report);
    write_scene("step: 0.01\nuntil: {time: 5}\n" ROW);
    check_ok(talus_advise(&def, &a, NULL, NULL), error);
    def.scene = "/nowhere/at/all.yaml";
    assert_int_equal(talus_advise(&def, &a, &report, &error), TALUS_ERR_IO);
}

int main(void)
{
    const int file = mkstemp(scene_path);
    if (file < 0) return 1;
    close(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimate),   cmocka_unit_test(test_phases),
        cmocka_unit_test(test_soft_scene), cmocka_unit_test(test_whole),
        cmocka_unit_test(test_inlet),      cmocka_unit_test(test_one_method),
        cmocka_unit_test(test_mistakes),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(scene_path);
    return failed;
}

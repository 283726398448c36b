/// Scenes: the effective scene reads back to itself, overrides act, and the world is what the file
/// says.
#include "support.h"

#include "scene/model.h"

#include <string.h>
#include <unistd.h>

/// Relative to the source tree, into which main() goes.
#define SCENES "tests/scenes/"

static talus_scene* load(const char* path, const char* const* sets, int set_count)
{
    talus_scene* scene = NULL;
    talus_report report = {0};
    talus_error error = {0};
    talus_status status = talus_scene_load(path, sets, set_count, &scene, &report, &error);
    for (int i = 0; i < report.count; i++) printf("%s\n", report.lines[i]);
    if (status < 0 && report.count == 0) printf("%s\n", error.text);
    talus_report_clear(&report);
    assert_int_equal(status, TALUS_OK);
    return scene;
}

static talus_world* build(talus_scene* scene)
{
    talus_world* world = NULL;
    talus_report report = {0};
    talus_error error = {0};
    talus_status status = talus_scene_build(scene, NULL, &world, &report, &error);
    if (status < 0) printf("%s\n", error.text);
    talus_report_clear(&report);
    assert_int_equal(status, TALUS_OK);
    return world;
}

/// An unused path for a file of this test.
static char* temporary(void)
{
    static const char pattern[] = "/tmp/talus-test-scene-XXXXXX";
    char* path = strdup(pattern);
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    return path;
}

static char* slurp(const char* path)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char* text = calloc(1, 1 << 20);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    assert_true(size > 0);
    fclose(file);
    return text;
}

/// Write the effective scene, load it, write that: the same text and the same world.
static void check_round_trip(const char* name)
{
    talus_error error = {0};
    char *first = temporary(), *second = temporary();
    talus_scene* a = load(name, NULL, 0);
    check_ok(talus_scene_write(a, first, &error), error);
    talus_scene* b = load(first, NULL, 0);
    check_ok(talus_scene_write(b, second, &error), error);
    char *text_a = slurp(first), *text_b = slurp(second);
    assert_string_equal(text_a, text_b);

    talus_world *world_a = build(a), *world_b = build(b);
    talus_grains grains_a = talus_world_grains(world_a), grains_b = talus_world_grains(world_b);
    assert_int_equal(grains_a.count, grains_b.count);
    assert_true(grains_a.count > 10);
    assert_true(talus_world_hash(world_a) == talus_world_hash(world_b));
    assert_memory_equal(grains_a.mass, grains_b.mass, sizeof(double) * (size_t)grains_a.count);
    assert_memory_equal(grains_a.material, grains_b.material,
                        sizeof(int32_t) * (size_t)grains_a.count);
    talus_world_destroy(world_a);
    talus_world_destroy(world_b);
    talus_scene_destroy(a);
    talus_scene_destroy(b);
    unlink(first);
    unlink(second);
    free(first);
    free(second);
    free(text_a);
    free(text_b);
}

static void test_round_trip(void** state)
{
    (void)state;
    check_round_trip(SCENES "every_key_2d.yaml");
    check_round_trip(SCENES "every_key_3d.yaml");
    check_round_trip(SCENES "every_shape_2d.yaml");
    check_round_trip(SCENES "every_shape_3d.yaml");
}

/// Numbers that need 17 digits come back as they were.
static void test_numbers_round_trip(void** state)
{
    (void)state;
    const char* const sets[] = {"step=0.1", "gravity=[0.30000000000000004, -1e-320]",
                                "drag=1.7976931348623157e308"};
    talus_error error = {0};
    char* path = temporary();
    talus_scene* a = load(SCENES "every_key_2d.yaml", sets, 3);
    check_ok(talus_scene_write(a, path, &error), error);
    talus_scene* b = load(path, NULL, 0);
    assert_true(a->step.length == 0.1 && b->step.length == 0.1);
    assert_true(b->world.gravity[0] == 0.1 + 0.2);
    assert_true(b->world.gravity[1] == -1e-320);
    assert_true(b->world.drag == 1.7976931348623157e308);
    talus_scene_destroy(a);
    talus_scene_destroy(b);
    unlink(path);
    free(path);
}

static void test_meaning(void** state)
{
    (void)state;
    talus_scene* scene = load(SCENES "every_key_2d.yaml", NULL, 0);
    assert_string_equal(talus_scene_title(scene), "every key, flat");
    assert_int_equal(scene->material_count, 3);
    assert_int_equal(scene->wall_count, 6);
    assert_true(scene->world.solver.push_out_overlap);
    assert_int_equal(scene->world.solver.max_sweeps, 1000);

    // Shapes are given by natural points and kept by centre and half lengths.
    const talus_wall_def* ramp = &scene->walls[2].def;
    check_close("middle of the segment", ramp->position[0], 0.25, 1e-15, "one rounding");
    check_close("half of the segment", ramp->shape.edge_u[1], 0.05, 1e-15, "two roundings");
    check_close("rotation in degrees", ramp->rotation[2], 0.17453292519943295, 1e-16, "rounding");
    check_close("unit normal", scene->walls[0].def.shape.normal[1], 1.0, 0.0, "2/2");
    check_close("phase in degrees", scene->walls[0].def.drive.phase, 1.5707963267948966, 3e-16,
                "rounding");
    assert_int_equal(scene->walls[4].def.drive.table_rows, 2);
    check_close("spin of the second row", scene->walls[4].def.drive.table[13], 2.0, 0.0, "copied");
    assert_true(scene->walls[5].def.drive.free_axes[1] && !scene->walls[5].def.drive.free_axes[0]);

    // Items have from their source what they do not say, density follows the material.
    const scene_source* list = &scene->sources[5];
    assert_int_equal(list->list.rows[0].tag, 1);
    check_close("radius of the source", list->list.rows[0].radius, 0.015, 0.0, "copied");
    check_close("own density", list->list.rows[1].density, 1000.0, 0.0, "copied");
    assert_int_equal(list->list.rows[2].glued_to.index, 0);
    check_close("mass instead of density", scene->sources[4].base.mass, 0.5, 0.0, "copied");

    // Phases: the solver keeps what a phase does not change; the time step is the phase's own.
    assert_int_equal(scene_phase_count(scene), 2);
    assert_string_equal(scene_phase_name(scene, 1), "settle");
    check_close("step of the phase", scene_phase_step(scene, 1), 5e-4, 0.0, "copied");
    check_close("step of the scene", scene_phase_step(scene, 0), 1e-3, 0.0, "copied");
    assert_int_equal(scene->phases[1].solver.order, TALUS_ORDER_ALTERNATING);
    check_close("hold", scene_phase_end(scene, 1)->hold, 0.01, 0.0, "copied");
    assert_true(scene_phase_end(scene, 0)->kinetic_energy < 0.0);
    assert_true(scene->phases[0].pours[0] && !scene->phases[1].pours[0]);
    talus_scene_destroy(scene);
}

static void test_overrides(void** state)
{
    (void)state;
    const char* const sets[] = {"walls.floor.motion.frequency=30",
                                "walls[1].point=[0, 2.5]",
                                "walls.2.thickness=0.02",
                                "materials.glass.friction=0.9",
                                "phases.settle.until.time=1",
                                "policies.escape=accept",
                                "grains.tap.rate=7"};
    talus_scene* scene = load(SCENES "every_key_2d.yaml", sets, 7);
    check_close("by name", scene->walls[0].def.drive.frequency, 30.0, 0.0, "copied");
    check_close("by [index]", scene->walls[1].def.position[1], 2.5, 0.0, "copied");
    check_close("by .index", scene->walls[2].def.shape.skin, 0.01, 0.0, "half");
    check_close("in a map", scene->materials[0].law.friction, 0.9, 0.0, "copied");
    check_close("in a phase", scene_phase_end(scene, 1)->duration, 1.0, 0.0, "copied");
    check_close("in a source", scene->sources[7].inlet.rate, 7.0, 0.0, "copied");
    assert_int_equal(scene->world.on_escape, TALUS_POLICY_ACCEPT);
    talus_scene_destroy(scene);

    // A section that is not in the file is made.
    const char* const fresh[] = {"solver.max_sweeps=12"};
    scene = load(SCENES "every_key_3d.yaml", fresh, 1);
    assert_int_equal(scene->world.solver.max_sweeps, 12);
    talus_scene_destroy(scene);
}

/// Overlaps are left alone where a number of sweeps is asked for, also if a phase does it, unless
/// the scene has said that they are not.
static void test_separation_in_phases(void** state)
{
    (void)state;
    static const char text[] = "dimension: 2\nstep: 1e-3\nmaterials: {glass: {density: 1}}\n"
                               "solver: {%s}\n"
                               "grains: [{type: list, items: [{position: [0, 0], radius: 1}]}]\n"
                               "phases:\n"
                               "  - {until: {time: 1}, solver: {stop: sweeps}}\n"
                               "  - {until: {time: 1}, solver: {max_sweeps: 5}}\n"
                               "  - {until: {time: 1}, solver: {stop: residual}}\n";
    static const struct {
        const char* said;
        bool wanted[3];
    } cases[3] = {{"max_sweeps: 7", {false, false, true}},
                  {"separate_overlaps: true", {true, true, true}},
                  {"separate_overlaps: false", {false, false, false}}};
    for (int k = 0; k < 3; k++) {
        char* path = temporary();
        FILE* file = fopen(path, "wb");
        fprintf(file, text, cases[k].said);
        fclose(file);
        talus_scene* scene = load(path, NULL, 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(scene->phases[i].solver.separate_overlaps, cases[k].wanted[i]);
        }
        talus_scene_destroy(scene);
        unlink(path);
        free(path);
    }
}

static void test_phases_and_inlet(void** state)
{
    (void)state;
    talus_error error = {0};
    talus_scene* scene = load(SCENES "every_key_2d.yaml", NULL, 0);
    talus_world* world = build(scene);
    int64_t before = talus_world_grains(world).count;
    inlet_state inlet_now = {0};
    check_ok(scene_phase_begin(scene, 0, world, &error), error);
    // 100 grains/s for 0.1 s: ten grains into an inlet with room for many more.
    for (int i = 0; i < 100; i++) {
        check_ok(scene_pour(scene, 0, &inlet_now, world, 1e-3, &error), error);
    }
    int64_t poured = talus_world_grains(world).count - before;
    assert_true(poured >= 9 && poured <= 10);
    assert_int_equal(inlet_now.poured, poured);

    check_ok(scene_phase_begin(scene, 1, world, &error), error);
    check_ok(scene_pour(scene, 1, &inlet_now, world, 1.0, &error), error);
    assert_int_equal(talus_world_grains(world).count, before + poured);
    talus_wall_state wall;
    check_ok(talus_world_wall(world, (talus_wall_id){2}, &wall, &error), error);
    assert_false(wall.present);
    check_ok(talus_world_wall(world, (talus_wall_id){0}, &wall, &error), error);
    assert_int_equal(wall.drive, TALUS_DRIVE_FIXED);
    check_close("gravity of the phase", talus_world_options(world)->gravity[0], 0.5, 0.0, "copied");
    check_close("solver of the phase", talus_world_options(world)->solver.tolerance, 1e-6, 0.0,
                "copied");
    check_ok(talus_world_validate(world, &error), error);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

static void count_warnings(void* user, talus_log_level level, const char* text)
{
    if (level == TALUS_LOG_WARNING && strstr(text, "falls behind")) ++*(int*)user;
}

/// An inlet without room says so when its backlog doubles, not at every step.
static void test_blocked_inlet(void** state)
{
    (void)state;
    // 1000 grains/s for 0.1 s into a spot for a single grain: some 100 are left waiting.
    const char* const sets[] = {"grains.tap.low=[0.5, 1.8]", "grains.tap.high=[0.55, 1.83]",
                                "grains.tap.rate=1000", "grains.tap.radius=0.01",
                                "grains.tap.limit=1000"};
    talus_scene* scene = load(SCENES "every_key_2d.yaml", sets, 5);
    talus_world* world = NULL;
    talus_error error = {0};
    int warnings = 0;
    talus_world_def options = talus_world_default();
    options.log = count_warnings;
    options.log_user = &warnings;
    check_ok(talus_scene_build(scene, &options, &world, NULL, &error), error);
    inlet_state inlet_now = {0};
    for (int i = 0; i < 100; i++) {
        check_ok(scene_pour(scene, 0, &inlet_now, world, 1e-3, &error), error);
    }
    assert_true(inlet_now.poured >= 1 && inlet_now.poured < 20);
    assert_int_equal(warnings, 3); // at 16, 32 and 64
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_numbers_round_trip),
        cmocka_unit_test(test_meaning),          cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_phases_and_inlet), cmocka_unit_test(test_separation_in_phases),
        cmocka_unit_test(test_blocked_inlet),
    };
    const char* source = getenv("TALUS_SOURCE");
    if (source && chdir(source) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

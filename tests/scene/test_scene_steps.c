/// Steps of the method contact as scenes have them: chosen by `auto`, or given and too long; inlets
/// that walls go through; fillings with solids.
#include "support.h"

#include "base/vec.h"
#include "scene/model.h"
#include "world/world.h"

#include <math.h>
#include <string.h>
#include <talus/scene.h>
#include <unistd.h>

static char scene_path[] = "/tmp/talus-test-steps-XXXXXX";
static char other_path[] = "/tmp/talus-test-steps-XXXXXX";

typedef struct made {
    talus_scene* scene;
    talus_world* world;
    char warnings[4096];
    char mistakes[4096];
} made;

static void hear(void* user, talus_log_level level, const char* text)
{
    made* m = user;
    if (level != TALUS_LOG_WARNING) return;
    const size_t used = strlen(m->warnings);
    snprintf(m->warnings + used, sizeof m->warnings - used, "%s\n", text);
}

static made* make_from(const char* path)
{
    static made m;
    m = (made){0};
    talus_report report = {0};
    talus_error error = {0};
    talus_world_def options = talus_world_default();
    options.log = hear;
    options.log_user = &m;
    talus_status status = talus_scene_load(path, NULL, 0, &m.scene, &report, &error);
    if (status >= 0) status = talus_scene_build(m.scene, &options, &m.world, &report, &error);
    for (int i = 0; i < report.count; i++) {
        const size_t used = strlen(m.mistakes);
        snprintf(m.mistakes + used, sizeof m.mistakes - used, "%s\n", report.lines[i]);
    }
    assert_true(status >= 0 || report.count > 0);
    talus_report_clear(&report);
    return &m;
}

static made* make(const char* text)
{
    FILE* file = fopen(scene_path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return make_from(scene_path);
}

static void drop(made* m)
{
    talus_world_destroy(m->world);
    talus_scene_destroy(m->scene);
}

#define CONTACT "dimension: 2\nstep: auto\nuntil: {time: 1}\n"
#define BALL "grains: [{type: list, radius: 0.005, items: [{position: [0, 0.005]}]}]\n"
#define FLOOR "{name: floor, type: plane, normal: [0, 1]}"

static void check_step(const char* name, const char* text, double bound, double length,
                       const char* of)
{
    made* m = make(text);
    assert_string_equal(m->mistakes, "");
    const talus_step_advice* a = scene_phase_advice(m->scene, 0);
    printf("%s: %g s from %g s, of %s\n", name, a->length, a->bound, a->of);
    check_close(name, a->bound, bound, 1e-9 * bound, "a few roundings");
    check_close("step", scene_phase_step(m->scene, 0), length, 0.0, "the decimal number itself");
    assert_string_equal(a->of, of);
    assert_string_equal(m->warnings, "");
    assert_int_equal(talus_world_options(m->world)->on_coarse, TALUS_POLICY_RETRY);
    drop(m);
}

static void test_auto(void** state)
{
    (void)state;
    check_step("gravity", CONTACT "gravity: [0, -10]\nwalls: [" FLOOR "]\n" BALL,
               0.1 * sqrt(0.01 / 10), 0.002, "gravity");
    // From 1 m down to the floor, less the one ball that lies there already in the estimate.
    const double volume = M_PI * 0.005 * 0.005, fall = 1.01 - volume / (0.5 * 0.01);
    check_step("fall",
               CONTACT "gravity: [0, -10]\nwalls: [" FLOOR "]\n"
                       "grains: [{type: list, radius: 0.005, items: [{position: [0, 1.005]}]}]\n",
               0.5 * 0.01 / sqrt(20 * fall), 0.001, "a fall");
    check_step("shaken",
               CONTACT "walls: [{name: floor, type: plane, normal: [0, 1], motion: {type: sine, "
                       "amplitude: [0, 1e-5], frequency: 50}}]\n" BALL,
               1.0 / 2500, 2e-4, "a shaken wall");
    // It turns about the origin; the farthest corner of the grains' box is at (0.005, 0.01).
    check_step("driven",
               CONTACT
               "walls: [{name: floor, type: plane, normal: [0, 1], motion: {type: velocity, "
               "velocity: [2, 0]}}]\n" BALL,
               0.5 * 0.01 / 2, 0.002, "a driven wall");
    check_step("servo",
               CONTACT "walls: [{name: lid, type: plane, point: [0, 1], normal: [0, -1], motion: "
                       "{type: servo, mass: 2, axis: [0, -1], stress: 100, area: 0.5}}]\n" BALL,
               0.1 * sqrt(0.01 / 25), 0.002, "the force on a wall");
    check_step("poured",
               CONTACT "grains: [{type: inlet, radius: {distribution: uniform, min: 0.002, max: "
                       "0.004}, low: [0, 0], high: [1, 1], rate: 10, velocity: [0, -4]}]\n",
               0.5 * 0.004 / 4, 5e-4, "a grain of an inlet");
    check_step("thin",
               CONTACT "shapes: {tile: {box: [0.1, 0.004]}}\ngrains: [{type: list, shape: tile, "
                       "velocity: [1, 0], items: [{position: [0, 0.002]}]}]\n",
               0.5 * 0.004 / 1, 0.002, "a grain");
}

/// Each phase has its own; the effective scene has numbers and the policy, and means the same.
static void test_phases(void** state)
{
    (void)state;
    made* m = make("dimension: 2\nstep: auto\ngravity: [0, -10]\nwalls: [" FLOOR "]\n" BALL
                   "phases:\n- {until: {time: 1}}\n"
                   "- {until: {time: 1}, set_motion: {floor: {type: sine, amplitude: [0, 1e-4], "
                   "frequency: 100}}}\n- {until: {time: 1}, step: 1e-3, gravity: [0, -0.1]}\n");
    assert_string_equal(m->mistakes, "");
    const double expected[] = {0.002, 2e-4, 1e-3};
    for (int i = 0; i < 3; i++) {
        check_close("step", scene_phase_step(m->scene, i), expected[i], 0.0, "decimal numbers");
    }
    check_close("of the scene", talus_scene_step_length(m->scene), 2e-4, 0.0, "the shortest");
    talus_error error;
    check_ok(talus_scene_write(m->scene, other_path, &error), error);
    drop(m);
    m = make_from(other_path);
    assert_string_equal(m->mistakes, "");
    for (int i = 0; i < 3; i++) {
        check_close("again", scene_phase_step(m->scene, i), expected[i], 0.0, "as written");
        assert_false(scene_phase_step_chosen(m->scene, i));
    }
    assert_int_equal(talus_world_options(m->world)->on_coarse, TALUS_POLICY_RETRY);
    drop(m);
    // A policy that is given stays.
    m = make(CONTACT "gravity: [0, -10]\npolicies: {coarse: accept}\n" BALL);
    assert_int_equal(talus_world_options(m->world)->on_coarse, TALUS_POLICY_ACCEPT);
    drop(m);
    m = make(CONTACT BALL);
    assert_non_null(strstr(m->mistakes,
                           ":2:7: step: 'auto' cannot be settled: no gravity, no force "
                           "and no speed is known at the start"));
    drop(m);
}

/// Three times the advised bound is the line.
static void test_too_long(void** state)
{
    (void)state;
    const double bound = 0.1 * sqrt(0.01 / 10);
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "dimension: 2\nstep: %.6g\ngravity: [0, -10]\nuntil: {time: 1}\nwalls: [" FLOOR
                 "]\n" BALL,
                 (i == 0 ? 2.9 : 3.1) * bound);
        made* m = make(text);
        printf("%s", m->warnings);
        assert_true((strstr(m->warnings, ":2:7: step: ") != NULL) == (i == 1));
        assert_true((strstr(m->warnings, "0.002 s would do") != NULL) == (i == 1));
        assert_int_equal(talus_world_options(m->world)->on_coarse, TALUS_POLICY_ACCEPT);
        drop(m);
    }
}

#define INLET(low, high)                                                                           \
    "grains:\n  - {type: inlet, radius: 0.01, low: " low ", high: " high ", rate: 10}\n"
#define STEPPED "dimension: 2\nstep: 1e-3\nuntil: {time: 1}\n"

static void test_inlets(void** state)
{
    (void)state;
    const char wall[] = "walls: [{name: slide, type: segment, from: [-1, 0], to: [1, 0.5]}]\n";
    const struct {
        const char *inlet, *mistake, *warning;
    } cases[] = {
        {INLET("[-0.2, 0.1]", "[0.2, 0.5]"), "slide", NULL},
        {INLET("[-0.2, 0.4]", "[0.2, 0.6]"), NULL, NULL},
        {INLET("[1.2, 0.1]", "[1.4, 0.9]"), NULL, NULL}, // beyond its end
        // It goes through the box, but too near to its side for a grain behind it.
        {INLET("[-0.2, 0.29]", "[0.2, 0.6]"), NULL, NULL},
    };
    for (int i = 0; i < 4; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s%s", STEPPED, wall, cases[i].inlet);
        made* m = make(text);
        printf("%s%s", m->mistakes, m->warnings);
        if (cases[i].mistake)
            assert_non_null(strstr(m->mistakes, ":6:5: grains[0]: wall 'slide' goes through"));
        else
            assert_string_equal(m->mistakes, "");
        assert_string_equal(m->warnings, "");
        drop(m);
    }
    made* m = make(STEPPED "walls: [" FLOOR "]\n" INLET("[0, -0.1]", "[1, 0.5]"));
    printf("%s", m->warnings);
    assert_non_null(
        strstr(m->warnings, ":6:5: grains[0]: part of the inlet is inside or behind wall"));
    drop(m);
    // A gate that is gone when the inlet opens is not in its way.
    m = make(
        "dimension: 2\nstep: 1e-3\nwalls: [{name: gate, type: segment, from: [-1, 0], to: [1, "
        "0]}]\n" INLET("[-0.5, -0.5]",
                       "[0.5, 0.5]") "phases:\n- {until: {time: 1}}\n"
                                     "- {until: {time: 1}, remove: [gate], pour: [source0]}\n");
    assert_string_equal(m->mistakes, "");
    drop(m);
}

/// All pairs of grains apart, and all corners in the region.
static void check_filled(const made* m, int64_t count, const double low[3], const double high[3])
{
    const grains* g = &m->world->state.grains;
    const int dim = g->dim;
    assert_int_equal(g->count, count);
    double deepest = -INFINITY, out = -INFINITY;
    talus_grain_def* rows = calloc((size_t)count, sizeof *rows);
    for (int64_t i = 0; i < count; i++) {
        rows[i] = talus_grain_default();
        rows[i].solid.index = g->solid[i];
        rows[i].scale = g->scale[i];
        rows[i].radius = g->radius[i];
        memcpy(rows[i].position, g->position + dim * i, sizeof(double) * (size_t)dim);
        if (dim == 2)
            rows[i].rotation[2] = g->rotation[i];
        else
            rotation_from_quat(g->rotation + 4 * i, rows[i].rotation);
        const solid* s = grain_solid(g, i);
        double q[4];
        quat_from_rotation(q, rows[i].rotation);
        for (int v = 0; v < s->part[0].vertex_count; v++) {
            double x[3] = {0}, turned[3];
            memcpy(x, s->part[0].vertex + dim * v, sizeof(double) * (size_t)dim);
            quat_rotate(turned, q, x);
            for (int k = 0; k < dim; k++) {
                const double at = rows[i].position[k] + rows[i].scale * turned[k];
                out = fmax(out, fmax(low[k] - at, at - high[k]));
            }
        }
    }
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < i; j++) {
            double delta[3] = {0};
            for (int k = 0; k < dim; k++) delta[k] = rows[j].position[k] - rows[i].position[k];
            deepest = fmax(deepest, scene_pair_depth(m->world, &rows[i], &rows[j], delta));
        }
    }
    free(rows);
    printf("deepest overlap %g, farthest out %g\n", deepest, out);
    assert_true(deepest <= 0.0);
    assert_true(out <= 1e-12);
}

/// Squares and cubes as dense as disks and spheres can be filled (0.82 and 0.54 in such boxes);
/// their balls would have to fill 1.26 and 1.36 of the region. One that asks for too much says what
/// it got, and no number twice.
static void test_dense_fill(void** state)
{
    (void)state;
    made* m = make("dimension: 2\nstep: 1e-3\nstrict: true\nuntil: {time: 1}\n"
                   "shapes: {sq: {box: [0.01, 0.01]}}\n"
                   "walls: [{name: box, type: box, low: [0, 0], high: [0.2, 0.15]}]\n"
                   "grains: [{type: fill, region: {low: [0, 0], high: [0.2, 0.15]}, shape: sq, "
                   "rotation: random, count: 240}]\n");
    assert_string_equal(m->mistakes, "");
    check_filled(m, 240, (double[3]){0, 0, 0}, (double[3]){0.2, 0.15, 0}); // 0.8
    drop(m);
    m = make("dimension: 3\nstep: 1e-3\nstrict: true\nuntil: {time: 1}\n"
             "shapes: {cube: {box: [0.01, 0.01, 0.01]}}\n"
             "grains: [{type: fill, region: {low: [0, 0, 0], high: [0.06, 0.06, 0.06]}, shape: "
             "cube, rotation: random, count: 104}]\n");
    assert_string_equal(m->mistakes, "");
    check_filled(m, 104, (double[3]){0, 0, 0}, (double[3]){0.06, 0.06, 0.06}); // 0.48
    drop(m);
    m = make("dimension: 2\nstep: 1e-3\nstrict: true\nuntil: {time: 1}\n"
             "shapes: {sq: {box: [0.01, 0.01]}}\n"
             "grains: [{type: fill, region: {low: [0, 0], high: [0.05, 0.05]}, shape: sq, "
             "rotation: random, count: 24, sweeps: 50}]\n");
    printf("%s", m->mistakes);
    const char* said = strstr(m->mistakes, " of 24 grains could be placed: a solid fraction of ");
    assert_non_null(said);
    assert_null(strstr(said + 5, "of 24"));
    drop(m);
}

int main(void)
{
    assert_true(mkstemp(scene_path) >= 0 && mkstemp(other_path) >= 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto),       cmocka_unit_test(test_phases),
        cmocka_unit_test(test_too_long),   cmocka_unit_test(test_inlets),
        cmocka_unit_test(test_dense_fill),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(scene_path);
    unlink(other_path);
    return failed;
}

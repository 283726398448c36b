/// What a scene of the method soft leaves to the program: each load that decides a stiffness,
/// against a computation by hand; springs of pairs; what stands in the effective scene.
#include "support.h"

#include "scene/model.h"
#include "world/world.h"

#include <string.h>
#include <talus/scene.h>
#include <unistd.h>

static char scene_path[] = "/tmp/talus-test-soft-XXXXXX";
static char other_path[] = "/tmp/talus-test-soft-XXXXXX";

/// A scene with its world.
typedef struct made {
    talus_scene* scene;
    talus_world* world;
} made;

/// Warnings, a line each.
typedef struct heard {
    char text[4096];
    int count;
} heard;

static void hear(void* user, talus_log_level level, const char* text)
{
    heard* h = user;
    if (level != TALUS_LOG_WARNING) return;
    const size_t used = strlen(h->text);
    snprintf(h->text + used, sizeof h->text - used, "%s\n", text);
    h->count++;
}

static made make_from(const char* path, heard* warnings)
{
    made m = {0};
    talus_world_def options = talus_world_default();
    options.log = warnings ? hear : NULL;
    options.log_user = warnings;
    talus_error error = {0};
    check_ok(talus_scene_load(path, NULL, 0, &m.scene, NULL, &error), error);
    check_ok(talus_scene_build(m.scene, &options, &m.world, NULL, &error), error);
    return m;
}

static made make_heard(const char* text, heard* warnings)
{
    FILE* file = fopen(scene_path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return make_from(scene_path, warnings);
}

static made make(const char* text)
{
    return make_heard(text, NULL);
}

static void drop(made m)
{
    talus_world_destroy(m.world);
    talus_scene_destroy(m.scene);
}

/// The scene's choice must be this, for this reason.
static void check_choice(const char* name, const char* text, double expected, estimate_reason why)
{
    made m = make(text);
    const soft_choices* s = scene_choices(m.scene);
    assert_true(s->stiffness);
    printf("%s: decided by %s, v = %g (%s)\n", name, estimate_reason_words(s->estimate.reason),
           s->estimate.speed, s->estimate.speed_of);
    assert_int_equal(s->estimate.reason, why);
    check_close(name, s->chosen, expected, 1e-12 * expected, "a dozen roundings");
    check_close("in the world", materials_pair(&m.world->state.materials, 0, 0)->soft.stiffness,
                s->chosen, 0, "the same number");
    drop(m);
}

/// The stiffness that bears a lasting force and impacts at a speed of this mass within `depth`: the
/// largest force is taken as 8 times the mean, the deepest impact as 3 times that of one.
static double bearing(double force, double speed, double mass, double depth)
{
    const double load = 8.0 * force, impact = 3.0 * speed * sqrt(mass);
    const double root = (sqrt(impact * impact + 4.0 * load * depth) - impact) / (2.0 * load);
    return load > 0.0 ? 1.0 / (root * root) : impact * impact / (depth * depth);
}

#define SOFT "dimension: 2\nstep: auto\nmethod: soft\nuntil: {time: 1}\n"
/// Ten disks of diameter 0.2 and mass 3, one on the other, the lowest on the floor y = 0.
#define COLUMN                                                                                     \
    "walls: [{name: floor, type: plane, normal: [0, 1]}]\n"                                        \
    "grains:\n  - {type: chain, start: [0, 0], direction: [0, 1], count: 10, radius: 0.1, mass: "  \
    "3}\n"

static void test_loads(void** state)
{
    (void)state;
    const double d = 0.2, depth = 1e-3 * d, g = 10.0, m = 3.0;
    check_choice("weight", SOFT "gravity: [0, -10]\n" COLUMN, bearing(10.0 * m * g, 0, m, depth),
                 ESTIMATE_WEIGHT);
    check_choice("overlap", SOFT "gravity: [0, -10]\nsoft: {overlap: 0.01}\n" COLUMN,
                 bearing(10.0 * m * g, 0, m, 0.01 * d), ESTIMATE_WEIGHT);
    check_choice(
        "later gravity",
        "dimension: 2\nstep: auto\nmethod: soft\ngravity: [0, -10]\nphases:\n- {until: {time: "
        "1}}\n- {until: {time: 1}, gravity: [0, -20]}\n" COLUMN,
        bearing(10.0 * m * 2.0 * g, 0, m, depth), ESTIMATE_WEIGHT);
    check_choice("cohesion", SOFT "materials: {a: {cohesion_force: 7}}\n" COLUMN,
                 bearing(7.0, 0, m, depth), ESTIMATE_COHESION);
    check_choice("external force",
                 SOFT "grains: [{type: chain, direction: [1, 0], count: 3, radius: 0.1, force: [3, "
                      "4]}]\n",
                 bearing(5.0, 0, m, depth), ESTIMATE_FORCES);
    check_choice("a grain at the start",
                 SOFT "grains: [{type: chain, direction: [1, 0], count: 3, radius: 0.1, mass: 3, "
                      "velocity: [0.3, 0.4]}]\n",
                 bearing(0, 0.5, m, depth), ESTIMATE_IMPACTS);
}

static void test_walls(void** state)
{
    (void)state;
    const double d = 0.2, depth = 1e-3 * d, m = 3.0;
    // A row of five disks bears a lid: a fifth of the force is for each.
    const char row[] =
        "grains: [{type: chain, start: [0, 0.1], direction: [1, 0], count: 5, radius: "
        "0.1, mass: 3}]\n";
    char text[1024];
    snprintf(
        text, sizeof text, "%s%s%s", SOFT, row,
        "walls: [{type: plane, point: [0, 0.2], normal: [0, -1], motion: {type: force, mass: 1, "
        "force: [0, -100]}}]\n");
    check_choice("force", text, bearing(20.0, 0, m, depth), ESTIMATE_WALLS);
    snprintf(
        text, sizeof text, "%s%s%s", SOFT, row,
        "walls: [{type: plane, point: [0, 0.2], normal: [0, -1], motion: {type: servo, mass: 1, "
        "axis: [0, -1], stress: 50, area: 1}}]\n");
    check_choice("stress", text, bearing(50.0 * d, 0, m, depth), ESTIMATE_WALLS);
    snprintf(text, sizeof text, "%s%s%s", SOFT, row,
             "walls: [{type: plane, point: [0, 0.2], normal: [0, -1], motion: {type: velocity, "
             "velocity: [0, -0.5]}}]\n");
    check_choice("moving wall", text, bearing(0, 0.5, m, depth), ESTIMATE_IMPACTS);
    const double shaken = 2.0 * M_PI * 5.0 * 0.01;
    snprintf(text, sizeof text, "%s%s%s", SOFT, row,
             "walls: [{type: plane, normal: [0, 1], motion: {type: sine, amplitude: [0, 0.01], "
             "frequency: 5}}]\n");
    check_choice("shaken wall", text, bearing(0, shaken, m, depth), ESTIMATE_IMPACTS);
    // Spin 2 about (0.1, 0.1), the corner of the row's box that is farthest is at (1, 0.1 +- 0.1).
    const double arm2 = 0.8 * 0.8 + 0.1 * 0.1;
    snprintf(
        text, sizeof text, "%s%s%s", SOFT, row,
        "walls: [{type: cylinder, center: [0.2, 0.1], radius: 3, motion: {type: velocity, spin: "
        "2}}]\n");
    check_choice("turning wall", text, bearing(0, 2.0 * sqrt(arm2), m, depth), ESTIMATE_IMPACTS);
}

/// The top of a disk that hangs over the floor is 1.2 above it; packed at solid fraction 1/2 in a
/// column of its own width, the disk would fill (pi d^2/4)/(d/2) of that, and the rest is the fall.
static void test_fall(void** state)
{
    (void)state;
    const double d = 0.2, depth = 1e-3 * d;
    const double fall = 1.2 - 0.5 * M_PI * d;
    // At 0.78, from where on fillings bear weight, a little farther: what collapses counts 1.2
    // times.
    const double drop = 1.2 - 0.25 * M_PI * d / 0.78;
    const double speed = sqrt(20.0 * (fall + 1.2 * 1.2 / 9.0 * drop));
    check_choice("fall",
                 SOFT "gravity: [0, -10]\nwalls: [{type: plane, normal: [0, 1]}]\ngrains: [{type: "
                      "list, items: [{position: [0, 1.1], radius: 0.1, mass: 3}]}]\n",
                 bearing(30.0, speed, 3.0, depth), ESTIMATE_IMPACTS);
    // The floor of a box, turned by a right angle: its half width 2 is below its middle.
    check_choice("fall in a box",
                 SOFT
                 "gravity: [0, -10]\nwalls: [{type: box, low: [-2, -5], high: [2, 5], rotation: "
                 "90}]\ngrains: [{type: list, items: [{position: [0, -0.9], radius: 0.1, mass: "
                 "3}]}]\n",
                 bearing(30.0, speed, 3.0, depth), ESTIMATE_IMPACTS);
}

/// An inlet alone: its grains are the grains.
static void test_inlet(void** state)
{
    (void)state;
    const double d = 0.2, depth = 1e-3 * d;
    check_choice("inlet",
                 SOFT
                 "grains: [{type: inlet, low: [0, 5], high: [1, 6], rate: 7, radius: 0.1, mass: "
                 "3, velocity: [0, -2]}]\n",
                 bearing(0, 2.0, 3.0, depth), ESTIMATE_IMPACTS);
}

/// With the law of areas the same force at the same depth needs a stiffer constant: the area of
/// the lens of two disks with radius r whose centres are 2r - s apart, by the circular segments.
static void test_area_law(void** state)
{
    (void)state;
    const double r = 0.1, depth = 1e-3 * 2.0 * r;
    made m = make(SOFT "gravity: [0, -10]\nsoft: {law: area}\n" COLUMN);
    const double k = scene_choices(m.scene)->chosen;
    const double half = acos((2.0 * r - depth) / (2.0 * r));
    const double lens = r * r * (2.0 * half - sin(2.0 * half));
    check_close("force of the lens", k * lens / (2.0 * r), 8.0 * 300.0, 8.0 * 300.0 * 1e-3,
                "the lens as two parabolas is exact to the order of the overlap, 1e-3");
    drop(m);
}

/// The effective scene holds the number, so that a resumed run takes it as given.
static void test_effective(void** state)
{
    (void)state;
    talus_error error = {0};
    made a = make(SOFT "gravity: [0, -10]\nmaterials: {x: {}, y: {stiffness: 1e4}, z: {}}\npairs: "
                       "[{between: [x, y], friction: 0.5}, {between: [x, z], friction: 0, "
                       "stiffness: 77, poisson: 0.1}]\n" COLUMN);
    check_ok(talus_scene_write(a.scene, other_path, &error), error);
    made b = make_from(other_path, NULL);
    assert_false(scene_choices(b.scene)->stiffness);
    for (int i = 0; i < 9; i++) {
        double *ours[SPRING_COUNT], *theirs[SPRING_COUNT];
        springs_of(&a.world->state.materials.pair[i], ours);
        springs_of(&b.world->state.materials.pair[i], theirs);
        for (int s = 0; s < SPRING_COUNT; s++) assert_true(*ours[s] == *theirs[s]);
    }
    const double k = scene_choices(a.scene)->chosen;
    const materials* m = &a.world->state.materials;
    check_close("x with x", materials_pair(m, 0, 0)->soft.stiffness, k, 0.0, "chosen");
    check_close("y with y", materials_pair(m, 1, 1)->soft.stiffness, 1e4, 0.0, "given");
    check_close("z with z", materials_pair(m, 2, 2)->soft.stiffness, k, 0.0, "chosen");
    check_close("x with y", materials_pair(m, 0, 1)->soft.stiffness, 2.0 / (1.0 / k + 1e-4), 1e-9,
                "springs in series, a few roundings");
    check_close("its friction", materials_pair(m, 0, 1)->friction, 0.5, 0.0, "given");
    check_close("x with z", materials_pair(m, 0, 2)->soft.stiffness, 77.0, 0.0, "given");
    check_close("its ratio", materials_pair(m, 0, 2)->soft.stiffness_ratio, 1.0 / 3.0, 0.0,
                "default");
    check_close("its Poisson's ratio", materials_pair(m, 0, 2)->soft.poisson, 0.1, 0.0, "given");
    drop(a);
    drop(b);
}

/// Damping between unlike materials: the larger one, also where it follows from a restitution; a
/// pair that states its law has the one it states, or that of its own restitution.
static void test_damping(void** state)
{
    (void)state;
    made a = make(SOFT "gravity: [0, -10]\nmaterials: {x: {}, y: {damping: 0.05}, z: {damping: 3}, "
                       "e: {restitution: "
                       "0.5}}\npairs: [{between: [x, z], friction: 0, restitution: 0.5}, "
                       "{between: [y, z], friction: 0, damping: 7}]\n" COLUMN);
    const materials* m = &a.world->state.materials;
    const double half = log(2.0) / sqrt(M_PI * M_PI + log(2.0) * log(2.0)); // e = 0.5, PLMH (8)
    const char* why = "a few roundings";
    check_close("x with y", pair_damping(materials_pair(m, 0, 1)), 1.0, 0.0, "critical for e = 0");
    check_close("z with e", pair_damping(materials_pair(m, 2, 3)), 3.0, 0.0, "of z");
    check_close("y with e", pair_damping(materials_pair(m, 1, 3)), half, 1e-15, why);
    check_close("x with z", pair_damping(materials_pair(m, 0, 2)), half, 1e-15, why);
    check_close("y with z", pair_damping(materials_pair(m, 1, 2)), 7.0, 0.0, "given");
    drop(a);
}

/// Steps that are chosen: for the stiffest pair that there will be in each phase, the inlet's
/// grains included; in the effective scene; and the world is none the wiser.
static void test_auto_step(void** state)
{
    (void)state;
    talus_error error = {0};
    made a =
        make("dimension: 2\nstep: auto\nmethod: soft\nmaterials: {x: {stiffness: 1e4, restitution: "
             "1}}\n" COLUMN
             "  - {type: inlet, name: tap, low: [3, 3], high: [4, 4], rate: 1, mass: 0.03, radius: "
             "{distribution: uniform, min: 0.02, max: 0.05}}\n"
             "phases:\n- {until: {time: 1}, pour: [tap]}\n- {until: {time: 1}, pairs: [{between: "
             "[x, x], friction: 0, restitution: 1, stiffness: 4e4}]}\n- {until: {time: 1}, step: "
             "1e-7}\n");
    const talus_soft_times *first = scene_phase_times(a.scene, 0),
                           *second = scene_phase_times(a.scene, 1);
    check_close("two grains of the inlet", first->contact, M_PI * sqrt(0.5 * 0.03 / 1e4), 1e-16,
                "PLMH 10 without damping; a few roundings");
    check_close("pair of the inlet", first->mass, 0.015, 1e-16, "two equal grains");
    check_close("stiffer pair", second->contact, 0.5 * first->contact, 1e-12 * first->contact,
                "t_c goes with the root of the stiffness; a few roundings");
    check_close("step", scene_phase_step(a.scene, 0), first->chosen, 0.0, "the same number");
    check_close("its step", scene_phase_step(a.scene, 1), second->chosen, 0.0, "the same number");
    check_close("given step", scene_phase_step(a.scene, 2), 1e-7, 0.0, "given");
    check_close("scene", talus_scene_step_length(a.scene), second->chosen, 0.0, "the shortest");
    assert_int_equal(a.world->state.grains.count, 10);
    assert_int_equal(a.world->state.grains.next_id, 10);
    assert_true(materials_pair(&a.world->state.materials, 0, 0)->soft.stiffness == 1e4);
    check_ok(talus_scene_write(a.scene, other_path, &error), error);
    made b = make_from(other_path, NULL);
    for (int p = 0; p < 3; p++) {
        assert_true(scene_phase_step(a.scene, p) == scene_phase_step(b.scene, p));
        assert_false(b.scene->phases[p].step.chosen);
    }
    drop(a);
    drop(b);
}

/// Its warnings must name a step that is too long, the one that is stable and the one that is used.
static void check_warning(const heard* h, const char* path, double step, const talus_soft_times* t)
{
    char words[256];
    snprintf(words, sizeof words,
             "%s %g s is too long for soft grains (stable up to %.3g s): %.3g s is used, as step: "
             "auto would\n",
             path, step, t->stable, t->chosen);
    assert_non_null(strstr(h->text, words));
}

/// A step with which the integrator would be unstable is replaced by that of `auto`, with one
/// warning for each line that states one; a step that is only too coarse is kept. The effective
/// scene has what is used.
static void test_unstable_step(void** state)
{
    (void)state;
    static const char start[] =
        "dimension: 2\nmethod: soft\nmaterials: {x: {stiffness: 1e4, restitution: 1}}\n" COLUMN;
    char text[2048];
    snprintf(text, sizeof text, "%sstep: auto\nuntil: {time: 1}\n", start);
    made chosen = make(text);
    const talus_soft_times* t = scene_phase_times(chosen.scene, 0);
    assert_true(t->chosen < t->stable);
    const double coarse = 0.5 * (t->bound + t->stable);
    snprintf(text, sizeof text,
             "%sstep: 1\nphases:\n- {until: {time: 1}}\n- {until: {time: 1}, step: 2}\n- {until: "
             "{time: 1}}\n- {until: {time: 1}, step: %.17g}\n",
             start, coarse);

    heard h = {0};
    made a = make_heard(text, &h);
    printf("%s", h.text);
    assert_int_equal(h.count, 2);
    check_warning(&h, "step", 1.0, t);
    check_warning(&h, "phases[1].step", 2.0, t);
    for (int p = 0; p < 3; p++) assert_true(scene_phase_step(a.scene, p) == t->chosen);
    assert_true(scene_phase_step(a.scene, 3) == coarse);
    assert_true(talus_scene_step_length(a.scene) == t->chosen);

    talus_error error = {0};
    check_ok(talus_scene_write(a.scene, other_path, &error), error);
    h = (heard){0};
    made b = make_from(other_path, &h);
    assert_int_equal(h.count, 0);
    for (int p = 0; p < 4; p++) {
        assert_true(scene_phase_step(a.scene, p) == scene_phase_step(b.scene, p));
    }
    drop(a);
    drop(b);
    drop(chosen);
}

/// The keys of one method do not disturb the other.
static void test_other_method(void** state)
{
    (void)state;
    made a = make("dimension: 2\nstep: 1\nmethod: contact\nuntil: {time: 1}\nsoft: {law: hertz}\n"
                  "materials: {x: {friction: 0.5}}\npolicies: {nan: retry}\n" COLUMN);
    assert_false(scene_choices(a.scene)->stiffness);
    assert_true(materials_pair(&a.world->state.materials, 0, 0)->soft.stiffness == 0.0);
    drop(a);
    made b = make(
        SOFT
        "solver: {tolerance: 1e-4}\npolicies: {unconverged: retry, nan: retry}\nmaterials: {x: "
        "{stiffness: 5}}\n" COLUMN);
    assert_int_equal(talus_world_options(b.world)->method, TALUS_METHOD_SOFT);
    assert_int_equal(talus_world_options(b.world)->on_nan, TALUS_POLICY_STOP);
    drop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),         cmocka_unit_test(test_walls),
        cmocka_unit_test(test_fall),          cmocka_unit_test(test_inlet),
        cmocka_unit_test(test_area_law),      cmocka_unit_test(test_damping),
        cmocka_unit_test(test_effective),     cmocka_unit_test(test_auto_step),
        cmocka_unit_test(test_unstable_step), cmocka_unit_test(test_other_method),
    };
    int one = mkstemp(scene_path), two = mkstemp(other_path);
    if (one < 0 || two < 0) return 1;
    close(one);
    close(two);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(scene_path);
    unlink(other_path);
    return failed;
}

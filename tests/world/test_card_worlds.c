/// Whole worlds that are stepped with a card have the CPU's bits, step by step: every kind of
/// contact, lids, policies that take steps back, solvers that look on and go on; soft spheres with
/// all laws, many steps in a call. And whatever call
/// of the driver fails, with `gpu` the step ends with a message and the world as it was, with
/// `auto` the CPU goes on. The driver is the fake one of test_card (tests/support/fake_cuda.c).
#include "world/world.h"

#include "base/hash.h"
#include "card/card.h"
#include "support.h"

#include <string.h>
#include <talus/scene.h>
#include <unistd.h>

/// A world as a scene; so many steps are taken in a call.
typedef struct sample {
    const char *name, *scene;
    int together;      ///< 0: one
    bool listed_by_us; ///< lists of soft spheres are made by the CPU
} sample;

#define DISKS                                                                                      \
    "dimension: 2\n"                                                                               \
    "until: {steps: 1}\n"                                                                          \
    "step: 1.0e-3\n"                                                                               \
    "gravity: [0, -9.81]\n"                                                                        \
    "walls:\n"                                                                                     \
    "  - {name: box, type: box, low: [0, 0], high: [0.2, 0.4], open: [top]}\n"                     \
    "  - {name: lid, type: plane, point: [0, 0.181], normal: [0, -1],\n"                           \
    "     motion: {type: force, mass: 2, force: [0, -30]}}\n"                                      \
    "materials:\n"
#define MANY_DISKS                                                                                 \
    "grains:\n"                                                                                    \
    "  - {type: lattice, counts: [20, 18], low: [0.005, 0.005], spacing: 0.01, jitter: 0.1,\n"     \
    "     radius: {distribution: uniform, min: 0.0044, max: 0.005}, velocity: [0.1, -0.1]}\n"
#define SPHERES                                                                                    \
    "dimension: 3\n"                                                                               \
    "until: {steps: 1}\n"                                                                          \
    "step: 1.0e-3\n"                                                                               \
    "gravity: [0, 0, -9.81]\n"                                                                     \
    "walls:\n"                                                                                     \
    "  - {name: box, type: box, low: [0, 0, 0], high: [0.07, 0.07, 0.2], open: [top]}\n"           \
    "  - {name: lid, type: plane, point: [0, 0, 0.071], normal: [0, 0, -1],\n"                     \
    "     motion: {type: force, mass: 1, force: [0, 0, -20]}}\n"                                   \
    "materials:\n"
#define MANY_SPHERES                                                                               \
    "grains:\n"                                                                                    \
    "  - {type: lattice, counts: [7, 7, 7], low: [0.005, 0.005, 0.005], spacing: 0.01,\n"          \
    "     jitter: 0.1, radius: {distribution: uniform, min: 0.0044, max: 0.005},\n"                \
    "     velocity: [0.1, 0, -0.2]}\n"
#define FALLING                                                                                    \
    "dimension: 2\n"                                                                               \
    "until: {steps: 1}\n"                                                                          \
    "step: 2.0e-3\n"                                                                               \
    "gravity: [0, -9.81]\n"                                                                        \
    "walls:\n"                                                                                     \
    "  - {name: floor, type: plane, normal: [0, 1]}\n"                                             \
    "materials:\n"
#define CHIPS                                                                                      \
    "shapes:\n"                                                                                    \
    "  chip: {random: {vertices: 5, count: 5, aspect: [1, 0.7]}}\n"                                \
    "grains:\n"                                                                                    \
    "  - {type: lattice, shape: chip, counts: [8, 8], low: [0.01, 0.01], spacing: 0.02,\n"         \
    "     diameter: 0.018, rotation: random}\n"                                                    \
    "  - {type: lattice, counts: [8, 3], low: [0.01, 0.17], spacing: 0.02, radius: 0.009}\n"
#define ROCKS                                                                                      \
    "shapes:\n"                                                                                    \
    "  rock: {random: {vertices: 10, count: 5}}\n"                                                 \
    "grains:\n"                                                                                    \
    "  - {type: lattice, shape: rock, counts: [3, 3, 3], low: [0.01, 0.01, 0.01], spacing: 0.02,"  \
    "\n     diameter: 0.019, rotation: random, velocity: [0, 0, -0.5]}\n"                          \
    "  - {type: lattice, counts: [3, 3, 1], low: [0.01, 0.01, 0.06], spacing: 0.02,\n"             \
    "     radius: 0.009, velocity: [0, 0, -0.5]}\n"

// Soft spheres: 1331 in a box whose lid is moved into them, so that lists are made anew; in a cell
// across whose borders they meet; thrown out of the domain, or through a hole in the floor.
#define SOFT(integrator, more)                                                                     \
    "dimension: 3\n"                                                                               \
    "method: soft\n"                                                                               \
    "until: {steps: 1}\n"                                                                          \
    "step: 2.0e-5\n"                                                                               \
    "gravity: [0, 0, -9.81]\n"                                                                     \
    "soft: {integrator: " integrator "" more "}\n"
#define SOFT_BOX                                                                                   \
    "walls:\n"                                                                                     \
    "  - {name: box, type: box, low: [0, 0, 0], high: [0.11, 0.11, 0.2], open: [top]}\n"           \
    "  - {name: lid, type: plane, point: [0, 0, 0.1085], normal: [0, 0, -1],\n"                    \
    "     motion: {type: velocity, velocity: [0, 0, -1.5]}}\n"                                     \
    "grains:\n"                                                                                    \
    "  - {type: lattice, counts: [11, 11, 11], low: [0.005, 0.005, 0.005], spacing: 0.0099,\n"     \
    "     jitter: 0.05, radius: {distribution: uniform, min: 0.0046, max: 0.00494},\n"             \
    "     velocity: [0.4, 0.1, -0.2], spin: [10, 20, 30]}\n"
#define SOFT_CELL                                                                                  \
    "periodic: {x: [0, 0.1], y: [0, 0.1]}\n"                                                       \
    "walls:\n"                                                                                     \
    "  - {name: floor, type: plane, normal: [0, 0, 1]}\n"                                          \
    "grains:\n"                                                                                    \
    "  - {type: lattice, counts: [10, 10, 7], low: [0.005, 0.005, 0.0045], spacing: 0.01,\n"       \
    "     jitter: 0.3, radius: {distribution: uniform, min: 0.0044, max: 0.005},\n"                \
    "     velocity: [2.5, 1, -2]}\n"

static const sample soft_samples[] = {
    {.name = "soft spheres under a lid",
     .scene = SOFT("verlet", "") "materials:\n"
                                 "  m: {density: 2500, friction: 0.3, restitution: 0.5, "
                                 "stiffness: 2.0e+4}\n" SOFT_BOX,
     .together = 37},
    {.name = "soft spheres across a cell",
     .scene = SOFT("leapfrog", "") "materials:\n"
                                   "  m: {density: 2500, friction: 0.3, restitution: 0.5, "
                                   "stiffness: 2.0e+4}\n" SOFT_CELL,
     .together = 37},
    {.name = "friction bounded as PLMH do, by velocity times step",
     .scene =
         SOFT("verlet", ", bound: elastic, elongation: cundall") "materials:\n"
                                                                 "  m: {density: 2500, friction: "
                                                                 "0.3, restitution: 0.5, "
                                                                 "stiffness: 2.0e+4}\n" SOFT_CELL,
     .together = 37},
    {.name = "Hertz and Mindlin",
     .scene = SOFT(
         "verlet",
         ", law: hertz") "materials:\n"
                         "  m: {density: 2500, friction: 0.3, restitution: 0.5, young: 2.0e+7, "
                         "poisson: 0.3}\n" SOFT_BOX,
     .together = 37},
    {.name = "soft spheres that roll, twist, stick and slide",
     .scene = SOFT("leapfrog",
                   ", elongation: cundall") "materials:\n"
                                            "  m: {density: 2500, friction: 0.5, dynamic_friction: "
                                            "0.3, rolling_kind: radius,\n"
                                            "      rolling: 0.1, torsion: 0.05, cohesion_force: "
                                            "0.2, cohesion_energy: 1.0e-6,\n"
                                            "      restitution: 0.5, stiffness: 2.0e+4}\n" SOFT_BOX,
     .together = 37},
    {.name = "two materials, grains that leave the domain",
     .scene = SOFT(
         "verlet",
         "") "domain: {low: [-1, -1, 0.0], high: [1, 1, 0.075]}\n"
             "policies: {escape: accept}\n"
             "materials:\n"
             "  m: {density: 2500, friction: 0.3, restitution: 0.5, stiffness: 2.0e+4}\n"
             "  n: {density: 1500, friction: 0.1, restitution: 0.9, stiffness: 1.0e+4}\n" SOFT_CELL
             "  - {type: lattice, material: n, counts: [10, 10, 1], low: [0.005, 0.005, "
             "0.0725], spacing: 0.01, radius: 0.004, velocity: [0, 0, 2]}\n",
     .together = 37},
    {.name = "a large sphere among small ones, whose lists the CPU makes",
     .scene = SOFT(
         "verlet",
         "") "materials:\n"
             "  m: {density: 2500, friction: 0.3, restitution: 0.5, stiffness: 2.0e+4}\n" SOFT_CELL
             "  - {type: list, radius: 0.02, items: [{position: [0.05, 0.05, 0.095], velocity: [0, "
             "0, -3]}]}\n",
     .together = 37,
     .listed_by_us = true},
};
enum { SOFT_SAMPLES = sizeof soft_samples / sizeof *soft_samples };

static const sample samples[] = {
    {.name = "disks under a lid",
     .scene = DISKS "  m: {density: 2500, friction: 0.3}\n" MANY_DISKS},
    {.name = "spheres under a lid",
     .scene = SPHERES "  m: {density: 2500, friction: 0.3}\n" MANY_SPHERES},
    {.name = "few sweeps, and steps that are tried again",
     .scene = DISKS "  m: {density: 2500, friction: 0.5}\n" MANY_DISKS
                    "solver: {method: accelerated, max_sweeps: 60, tolerance: 0.05}\n"
                    "policies: {unconverged: retry, retry_depth: 8, coarse: retry}\n"},
    {.name = "rolling disks",
     .scene = DISKS
     "  m: {density: 2500, friction: 0.4, rolling_kind: radius, rolling: 0.1}\n" MANY_DISKS},
    {.name = "rolling and torsion",
     .scene = SPHERES "  m: {density: 2500, friction: 0.4, rolling_kind: radius, rolling: 0.1, "
                      "torsion: 0.05}\n" MANY_SPHERES},
    {.name = "bonds in the plane",
     .scene = DISKS "  m: {density: 2500, friction: 0.4, cohesion_force: 5, "
                    "cohesion_energy: 0.001}\n" MANY_DISKS},
    {.name = "bonds in space",
     .scene = SPHERES "  m: {density: 2500, friction: 0.4, cohesion_force: 1}\n" MANY_SPHERES},
    {.name = "two frictions",
     .scene = DISKS "  m: {density: 2500, friction: 0.5, dynamic_friction: 0.3}\n" MANY_DISKS},
    {.name = "restitution",
     .scene = FALLING "  m: {density: 2500, friction: 0.3, restitution: 0.7}\n" MANY_DISKS},
    {.name = "polygons and disks", .scene = FALLING "  m: {density: 2500, friction: 0.5}\n" CHIPS},
    {.name = "polyhedra and spheres under a lid",
     .scene = SPHERES "  m: {density: 2500, friction: 0.4}\n" ROCKS},
    {.name = "polygons that roll and stick",
     .scene = FALLING "  m: {density: 2500, friction: 0.5, cohesion_force: 2}\n" CHIPS},
    {.name = "coloured sweeps without momentum",
     .scene = DISKS "  m: {density: 2500, friction: 0.3}\n" MANY_DISKS
                    "solver: {method: coloured, stop: sweeps, max_sweeps: 40}\n"},
    {.name = "the residual as rule",
     .scene = SPHERES "  m: {density: 2500, friction: 0.3}\n" MANY_SPHERES
                      "solver: {stop: residual, tolerance: 1.0e-4}\n"},
};
enum { SAMPLES = sizeof samples / sizeof *samples, STEPS = 40 };

typedef struct stepped {
    talus_scene* scene;
    talus_world* world;
    double h;
    int together;
} stepped;

static void say_report(const talus_report* report, const talus_error* error)
{
    for (int i = 0; i < report->count; i++) print_error("%s\n", report->lines[i]);
    fail_msg("%s", error->text);
}

static stepped begin(const sample* s, const char* device)
{
    char path[] = "/tmp/talus-card-XXXXXX";
    const int file = mkstemp(path);
    const size_t size = strlen(s->scene);
    assert_true(file >= 0 && write(file, s->scene, size) == (ssize_t)size);
    close(file);
    talus_report report = {0};
    talus_error error = {0};
    stepped w = {0};
    if (talus_scene_load(path, NULL, 0, &w.scene, &report, &error) < 0) say_report(&report, &error);
    unlink(path);
    talus_world_def options = talus_world_default();
    options.device = device;
    options.threads = 1;
    if (talus_scene_build(w.scene, &options, &w.world, &report, &error) < 0) {
        say_report(&report, &error);
    }
    w.h = talus_scene_step_length(w.scene);
    w.together = s->together > 0 ? s->together : 1;
    w.world->device.least = 1;
    return w;
}

static void end(stepped* w)
{
    talus_world_destroy(w->world);
    talus_scene_destroy(w->scene);
}

/// State, forces of contacts and what the step says of itself.
static uint64_t hash_all(const talus_world* w)
{
    const talus_contacts c = talus_world_contacts(w);
    const talus_step_result* last = talus_world_last(w);
    const double said[] = {(double)last->sweeps, (double)last->updates, last->residual,
                           last->rigidity.velocity_error, last->rigidity.certified};
    uint64_t hash = talus_world_hash(w);
    hash = hash_bytes(hash, c.force, sizeof(double) * (size_t)(c.count * c.dim));
    return hash_bytes(hash, said, sizeof said);
}

static void step(stepped* w)
{
    talus_error error = {0};
    if (talus_world_steps(w->world, w->h, w->together, NULL, &error) < 0) {
        fail_msg("%s", error.text);
    }
}

static int64_t launches_of(const card* c, const char* kernel)
{
    card_kernel_time t = {0};
    while (card_next_time(c, &t)) {
        if (strcmp(t.name, kernel) == 0) return t.launches;
    }
    return 0;
}

static void compare(const sample* s, int steps)
{
    int64_t touching = 0;
    stepped cpu = begin(s, "cpu"), gpu = begin(s, "gpu");
    for (int i = 0; i < steps; i++) {
        step(&cpu);
        step(&gpu);
        if (i == 0) card_time_kernels(gpu.world->device.open, true);
        touching += talus_world_last(cpu.world)->active;
        if (hash_all(cpu.world) != hash_all(gpu.world)) {
            fail_msg("%s: step %d differs", s->name, i + 1);
        }
    }
    printf("%s: %lld active contacts in all, %lld sweeps\n", s->name, (long long)touching,
           (long long)talus_world_totals(gpu.world)->sweeps);
    assert_true(touching > steps);
    assert_string_equal(talus_world_device(gpu.world), "gpu:0 (Fake card A)");
    if (gpu.world->soft) { // lists of pairs are made there, too
        assert_true(launches_of(gpu.world->device.open, "soft_move") > steps);
        const int64_t lists = launches_of(gpu.world->device.open, "list_write_pairs");
        assert_true(s->listed_by_us ? lists == 0 : lists > 0);
    }
    end(&cpu);
    end(&gpu);
}

static void test_same_bits(void** state)
{
    (void)state;
    for (int k = 0; k < SAMPLES; k++) compare(&samples[k], test_count(STEPS, STEPS - 10));
}

static void test_same_bits_in_any_order(void** state)
{
    (void)state;
    setenv("FAKE_CUDA_ORDER", "11", 1);
    for (int k = 0; k < SAMPLES; k++) compare(&samples[k], test_count(STEPS, STEPS - 10));
    unsetenv("FAKE_CUDA_ORDER");
}

// ---- a card that fails -------------------------------------------------------------------------

enum { FAILING_STEPS = 3, SETTLED = 40 };

/// A world that has come to some rest, to be copied, and the CPU's hashes after each step from
/// there.
typedef struct rested {
    const char* name;
    stepped from;
    uint64_t expected[FAILING_STEPS];
    int64_t sweeps;
} rested;

static rested bring_to_rest(const sample* s)
{
    rested r = {.name = s->name, .from = begin(s, "cpu")};
    for (int i = 0; i < SETTLED; i++) step(&r.from);
    stepped copy = {.h = r.from.h, .together = r.from.together};
    assert_int_equal(talus_world_copy(r.from.world, &copy.world, NULL), TALUS_OK);
    for (int i = 0; i < FAILING_STEPS; i++) {
        step(&copy);
        r.expected[i] = hash_all(copy.world);
        r.sweeps += talus_world_last(copy.world)->sweeps;
    }
    talus_world_destroy(copy.world);
    return r;
}

/// Steps with a card that fails in some call, from there on or in the next one. False: they did not
/// come to that call.
static bool fails_at(const rested* r, const char* device, int call, const char* manner)
{
    char failure[60];
    talus_error error = {0};
    stepped w = {.h = r->from.h};
    bool failed = false;
    snprintf(failure, sizeof failure, "any:%d:719%s", call, manner);
    setenv("FAKE_CUDA_FAIL", failure, 1);
    assert_int_equal(talus_world_copy(r->from.world, &w.world, NULL), TALUS_OK);
    if (strcmp(device, "auto") == 0) {
        assert_int_equal(talus_world_set_device(w.world, device, &error), TALUS_OK);
        w.world->device.least = 1;
    } else if (talus_world_set_device(w.world, device, &error) < 0) {
        assert_string_equal(talus_world_options(w.world)->device, "cpu");
        failed = true;
    }
    for (int i = 0; i < FAILING_STEPS;) {
        const uint64_t before = talus_world_hash(w.world);
        const talus_status status = talus_world_steps(w.world, w.h, r->from.together, NULL, &error);
        if (status >= 0) {
            if (hash_all(w.world) != r->expected[i]) {
                fail_msg("%s, %s, call %d: step %d differs", r->name, device, call, i + 1);
            }
            i++;
            continue;
        }
        assert_int_equal(status, TALUS_ERR_DEVICE);
        assert_true(talus_world_hash(w.world) == before);
        assert_string_equal(device, "gpu");
        assert_false(failed);
        failed = true;
        assert_int_equal(talus_world_set_device(w.world, "cpu", NULL), TALUS_OK);
    }
    const world_device* d = &w.world->device;
    const bool by_itself = strcmp(device, "auto") == 0;
    if (by_itself) failed = d->given_up;
    if (!failed && d->open) failed = card_state(d->open, &error) < 0; // only in its last part
    const char* said = by_itself ? d->reason : error.text;
    if (failed && !strstr(said, "CUDA_ERROR_LAUNCH_FAILED")) {
        fail_msg("%s, %s, call %d: %s", r->name, device, call, said);
    }
    talus_world_destroy(w.world);
    unsetenv("FAKE_CUDA_FAIL");
    return failed;
}

/// Every call of the first sweeps, then more and more sparsely. Some calls may fail without anybody
/// noticing it, such as those that give memory back: it is over when many do so one after the
/// other.
static void fail_everywhere(const sample* s)
{
    enum { UNNOTICED = 20 };
    static const char* const manners[] = {"", ":stay", ":later"};
    rested r = bring_to_rest(s);
    int call = 1, tried = 0, failed = 0;
    for (int unnoticed = 0; unnoticed < UNNOTICED; tried++) {
        const bool noticed = fails_at(&r, "gpu", call, manners[tried % 3]);
        failed += noticed + fails_at(&r, "auto", call, manners[(tried + 1) % 3]);
        unnoticed = noticed ? 0 : unnoticed + 1;
        call += 1 + call / test_count(12, 6);
    }
    printf("%s: %lld sweeps, %d failures in %d calls\n", r.name, (long long)r.sweeps, failed, call);
    assert_true(failed > 50);
    end(&r.from);
}

static void test_soft(void** state)
{
    static const char* orders[] = {"", "7"};
    (void)state;
    for (int k = 0; k < SOFT_SAMPLES; k++) {
        setenv("FAKE_CUDA_ORDER", orders[k % 2], 1);
        compare(&soft_samples[k], test_count(12, 5));
    }
    unsetenv("FAKE_CUDA_ORDER");
}

static void test_every_call(void** state)
{
    static const sample chips = {
        .name = "polygons in steps that are halved",
        .scene = FALLING "  m: {density: 2500, friction: 0.5}\n" CHIPS "solver: {max_sweeps: 20}\n"
                         "policies: {unconverged: retry, retry_depth: 1, coarse: retry}\n"};
    (void)state;
    fail_everywhere(&samples[0]);
    fail_everywhere(&samples[4]);
    fail_everywhere(&chips);
    fail_everywhere(&soft_samples[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_same_bits_in_any_order),
        cmocka_unit_test(test_soft),
        cmocka_unit_test(test_every_call),
    };
    if (!card_built_in()) {
        printf("skipped: this build has no kernels for cards\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// A world whose user wants a graphics card: what is said, what happens without one, and that the
/// CPU goes on with the same bits when one fails. The driver is the fake one of test_card.
#include "world/world.h"

#include "support.h"

#include <string.h>

enum { STEPS = 40, FAILS_AT = 15 };

typedef struct said {
    char text[4000];
    int lines, warnings;
} said;

static void listen(void* user, talus_log_level level, const char* text)
{
    said* s = user;
    s->lines++;
    s->warnings += level == TALUS_LOG_WARNING;
    const size_t at = strlen(s->text);
    snprintf(s->text + at, sizeof s->text - at, "%s\n", text);
}

static void driver_has(const char* cards)
{
    unsetenv("FAKE_CUDA_FAIL");
    setenv("FAKE_CUDA_CARDS", cards, 1);
}

/// Disks that fall into a box and come to lie on each other.
static talus_world* make_heap(talus_method method, const char* device, said* s)
{
    talus_error error = {0};
    talus_world_def def = talus_world_default();
    talus_world* w;
    def.dim = 2;
    def.gravity[1] = -9.81;
    def.method = method;
    def.device = device;
    def.log = listen;
    def.log_user = s;
    if (talus_world_create(&def, &w, &error) < 0) fail_msg("%s", error.text);
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.4;
    pair.soft.stiffness = 1e5;
    pair.soft.damping = 0.2;
    if (talus_world_add_material(w, "glass", &pair, NULL, &error) < 0) fail_msg("%s", error.text);
    talus_wall_def floor = talus_wall_default();
    floor.name = "floor";
    floor.shape.kind = TALUS_SHAPE_PLANE;
    floor.shape.normal[1] = 1.0;
    if (talus_world_add_wall(w, &floor, NULL, &error) < 0) fail_msg("%s", error.text);
    for (int i = 0; i < 60; i++) {
        talus_grain_def g = talus_grain_default();
        g.radius = 0.05;
        g.position[0] = 0.101 * (i % 6) + 0.01 * (i / 6 % 3);
        g.position[1] = 0.05 + 0.1001 * (i / 6);
        assert_int_equal(talus_world_add_grain(w, &g, NULL, &error), TALUS_OK);
    }
    return w;
}

static const char* may(const talus_world_def* def, const physical_state* state)
{
    (void)def, (void)state;
    return NULL;
}

static void step(talus_world* w, int steps)
{
    talus_error error = {0};
    const double h = w->method->undoable ? 2e-3 : 1e-4;
    for (int i = 0; i < steps; i++) {
        if (talus_world_step(w, h, NULL, &error) < 0) fail_msg("%s", error.text);
    }
}

static void check_has(const char* text, const char* part)
{
    if (strstr(text, part)) return;
    print_error("'%s' does not have '%s'\n", text, part);
    fail();
}

// ---- what is chosen ----------------------------------------------------------------------------

static void test_cpu(void** state)
{
    (void)state;
    said s = {.text = ""};
    driver_has("0");
    talus_world* w = make_heap(TALUS_METHOD_CONTACT, NULL, &s);
    step(w, 1);
    assert_string_equal(talus_world_device(w), "cpu");
    assert_string_equal(talus_world_device_reason(w), "asked for");
    assert_int_equal(s.lines, 0);
    talus_world_destroy(w);
}

static void test_no_such_device(void** state)
{
    (void)state;
    static const char* wrong[] = {"",       "gpu:",     "gpu:-1", "gpu: 1",
                                  "gpu:1x", "gpu:1000", "card",   "CPU"};
    talus_error error = {0};
    talus_world* w;
    talus_world_def def = talus_world_default();
    for (int i = 0; i < 8; i++) {
        def.device = wrong[i];
        assert_int_equal(talus_world_create(&def, &w, &error), TALUS_ERR_ARGUMENT);
        check_has(error.text, "is unknown (expected cpu, gpu, gpu:N");
    }
    device_choice choice;
    assert_int_equal(device_read("gpu:12", &choice, NULL), TALUS_OK);
    assert_true(choice.kind == DEVICE_GPU && choice.card == 12);
    assert_int_equal(device_read("gpu", &choice, NULL), TALUS_OK);
    assert_true(choice.kind == DEVICE_GPU && choice.card == 0);
}

/// With `gpu` there has to be a card; with `auto` the CPU takes its place and says why.
static void test_without_a_card(void** state)
{
    (void)state;
    talus_error error = {0};
    said s = {.text = ""};
    driver_has("0");
    talus_world* w = make_heap(TALUS_METHOD_CONTACT, "gpu", &s);
    const uint64_t before = talus_world_hash(w);
    assert_int_equal(talus_world_step(w, 1e-3, NULL, &error), TALUS_ERR_DEVICE);
    check_has(error.text, "finds no card");
    assert_true(talus_world_hash(w) == before);
    assert_int_equal(talus_world_set_device(w, "gpu:1", &error), TALUS_ERR_DEVICE);
    assert_int_equal(talus_world_set_device(w, "auto", &error), TALUS_OK);
    assert_string_equal(talus_world_options(w)->device, "auto");
    w->why_no_card = may;
    w->device.least = 1;
    step(w, 3);
    assert_string_equal(talus_world_device(w), "cpu");
    check_has(talus_world_device_reason(w), "finds no card");
    check_has(s.text, "device auto: the CPU does the steps: no graphics card can be used");
    assert_int_equal(s.lines, 1);
    talus_world_destroy(w);
}

/// What no card can do is done by the CPU, with `gpu` too, and told.
static void test_what_cards_cannot(void** state)
{
    (void)state;
    said s = {.text = ""}, t = {.text = ""};
    driver_has("2");
    talus_world* w = make_heap(TALUS_METHOD_SOFT, "gpu:1", &s);
    step(w, 3);
    assert_string_equal(talus_world_device(w), "cpu");
    assert_string_equal(talus_world_device_reason(w), "the method soft is on a card in 3D only");
    check_has(s.text,
              "device gpu:1: the CPU does the steps: the method soft is on a card in 3D only");
    assert_true(s.lines == 1 && s.warnings == 1);
    talus_world_destroy(w);
    w = make_heap(TALUS_METHOD_SOFT, "auto", &t);
    step(w, 3);
    assert_true(t.lines == 1 && t.warnings == 0);
    talus_world_destroy(w);
}

static void test_size(void** state)
{
    (void)state;
    said s = {.text = ""};
    driver_has("1");
    talus_world* w = make_heap(TALUS_METHOD_CONTACT, "auto", &s);
    w->why_no_card = may;
    step(w, 2);
    assert_string_equal(talus_world_device(w), "cpu");
    check_has(talus_world_device_reason(w), "worth while from 500000 grains on");
    w->device.least = 60;
    step(w, 2);
    assert_string_equal(talus_world_device(w), "gpu:0 (Fake card A)");
    check_has(talus_world_device_reason(w), "enough grains");
    assert_int_equal(s.lines, 2);
    // A copy has its own way to the card, and the same device.
    talus_world* copy;
    assert_int_equal(talus_world_copy(w, &copy, NULL), TALUS_OK);
    assert_string_equal(talus_world_options(copy)->device, "auto");
    assert_true(talus_world_options(copy)->device != talus_world_options(w)->device);
    step(copy, 1);
    talus_world_destroy(copy);
    assert_int_equal(talus_world_set_device(w, "cpu", NULL), TALUS_OK);
    step(w, 1);
    assert_string_equal(talus_world_device(w), "cpu");
    talus_world_destroy(w);
}

/// Contacts that are left to the CPU while a card does the rest: said once for each reason.
static void test_shared(void** state)
{
    (void)state;
    static const char why[] = "some are too odd";
    said s = {.text = ""};
    driver_has("1");
    talus_world* w = make_heap(TALUS_METHOD_CONTACT, "gpu", &s);
    device_shared(&w->device, why, &w->log); // nobody has a card yet
    step(w, 2);
    const int before = s.lines;
    for (int i = 0; i < 3; i++) device_shared(&w->device, why, &w->log);
    assert_int_equal(s.lines, before + 1);
    check_has(s.text, "device gpu: the CPU solves the contacts of steps in which some are too odd");
    assert_string_equal(talus_world_device(w), "gpu:0 (Fake card A)");
    assert_string_equal(
        talus_world_device_reason(w),
        "asked for; the CPU solves the contacts of steps in which some are too odd");
    talus_world_destroy(w);
}

// ---- a card that fails -------------------------------------------------------------------------

/// A card that fails at an attempt, as seen by whoever asked for it.
typedef struct failing {
    int attempts, fails_at;
    int failed;
} failing;

static bool count_attempts(void* user, const step_outcome* outcome)
{
    failing* f = user;
    (void)outcome;
    return ++f->attempts == f->fails_at;
}

static talus_status fail_as_a_card(void* user, const struct problem* p, const step_order* order,
                                   const step_outcome* outcome, talus_error* error)
{
    failing* f = user;
    (void)p, (void)outcome;
    assert_non_null(order->card);
    f->failed++;
    if (error) {
        error->status = TALUS_ERR_DEVICE;
        snprintf(error->text, sizeof error->text, "the card went up in smoke");
    }
    return TALUS_ERR_DEVICE;
}

static talus_world* failing_heap(const char* device, failing* f, said* s)
{
    driver_has("1");
    talus_world* w = make_heap(TALUS_METHOD_CONTACT, device, s);
    w->why_no_card = may;
    w->device.least = 1;
    world_watch(w, (world_watcher){.user = f, .wants = count_attempts, .take = fail_as_a_card});
    return w;
}

/// With `auto` the CPU does the step again, and the bits are those of a run without the card.
static void test_cpu_goes_on(void** state)
{
    (void)state;
    said s = {.text = ""}, quiet = {.text = ""};
    failing f = {.fails_at = FAILS_AT};
    talus_world *w = failing_heap("auto", &f, &s),
                *plain = make_heap(TALUS_METHOD_CONTACT, "cpu", &quiet);
    for (int i = 0; i < STEPS; i++) {
        step(w, 1);
        step(plain, 1);
        assert_true(talus_world_hash(w) == talus_world_hash(plain));
        assert_true(talus_world_last(w)->sweeps == talus_world_last(plain)->sweeps);
        assert_string_equal(talus_world_device(w),
                            i + 1 < FAILS_AT ? "gpu:0 (Fake card A)" : "cpu");
    }
    assert_int_equal(f.failed, 1);
    assert_null(w->device.open);
    check_has(talus_world_device_reason(w), "at t = 0.028 the card went up in smoke");
    check_has(s.text, "device auto: the CPU goes on from there: at t = 0.028");
    assert_int_equal(s.warnings, 1);
    const talus_totals *a = talus_world_totals(w), *b = talus_world_totals(plain);
    assert_true(a->steps == b->steps && a->sweeps == b->sweeps && a->updates == b->updates);
    talus_world_destroy(w);
    talus_world_destroy(plain);
}

/// With `gpu` the step fails, and the world is as before it: another device can go on.
static void test_gpu_stops(void** state)
{
    (void)state;
    said s = {.text = ""}, quiet = {.text = ""};
    talus_error error = {0};
    failing f = {.fails_at = FAILS_AT};
    talus_world *w = failing_heap("gpu", &f, &s),
                *plain = make_heap(TALUS_METHOD_CONTACT, "cpu", &quiet);
    step(w, FAILS_AT - 1);
    step(plain, FAILS_AT - 1);
    assert_int_equal(talus_world_step(w, 2e-3, NULL, &error), TALUS_ERR_DEVICE);
    assert_string_equal(error.text, "the card went up in smoke");
    assert_true(talus_world_hash(w) == talus_world_hash(plain));
    assert_int_equal(talus_world_set_device(w, "cpu", &error), TALUS_OK);
    step(w, STEPS);
    step(plain, STEPS);
    assert_true(talus_world_hash(w) == talus_world_hash(plain));
    talus_world_destroy(w);
    talus_world_destroy(plain);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_without_a_card),
        cmocka_unit_test(test_what_cards_cannot),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_cpu_goes_on),
        cmocka_unit_test(test_gpu_stops),
    };
    if (!card_built_in()) {
        printf("skipped: this build has no kernels for cards\n");
        return 0;
    }
    return cmocka_run_group_tests(all, NULL, NULL);
}

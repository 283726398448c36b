/// Arrays that outlive the world's next change (talus_world_detach): same values at the same
/// addresses while the world goes on, and a world that does not notice. AddressSanitizer sees
/// whatever is freed too early, twice or never.
#include "support.h"

#include <string.h>
#include <talus/world.h>

enum { GRAINS = 20 };

/// A column of disks on a floor.
static talus_world* column(talus_method method)
{
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.gravity[1] = -9.81;
    def.method = method;
    talus_world* world = NULL;
    assert_int_equal(talus_world_create(&def, &world, NULL), TALUS_OK);
    talus_pair_def law = talus_pair_default();
    law.friction = 0.3;
    law.soft.stiffness = 1e6;
    assert_int_equal(talus_world_add_material(world, "glass", &law, NULL, NULL), TALUS_OK);
    talus_wall_def floor = talus_wall_default();
    floor.name = "floor";
    floor.shape.normal[1] = 1.0;
    assert_int_equal(talus_world_add_wall(world, &floor, NULL, NULL), TALUS_OK);
    for (int i = 0; i < GRAINS; i++) {
        talus_grain_def grain = talus_grain_default();
        grain.radius = 0.01;
        grain.position[1] = 0.00999 + 0.01999 * i; // soft disks must overlap to touch
        assert_int_equal(talus_world_add_grain(world, &grain, NULL, NULL), TALUS_OK);
    }
    return world;
}

static void add_more(talus_world* world)
{
    for (int i = 0; i < 500; i++) {
        talus_grain_def grain = talus_grain_default();
        grain.radius = 0.01;
        grain.position[0] = 1.0 + 0.02 * i;
        grain.position[1] = 0.01;
        assert_int_equal(talus_world_add_grain(world, &grain, NULL, NULL), TALUS_OK);
    }
}

static void check_method(talus_method method, double h)
{
    talus_world* world = column(method);
    talus_world* plain = column(method);
    assert_int_equal(talus_world_steps(world, h, 5, NULL, NULL), TALUS_OK);
    assert_int_equal(talus_world_steps(plain, h, 5, NULL, NULL), TALUS_OK);

    const talus_grains grains = talus_world_grains(world);
    const talus_contacts contacts = talus_world_contacts(world);
    assert_true(contacts.count >= GRAINS);
    double position[2 * GRAINS], force[2 * GRAINS];
    memcpy(position, grains.position, sizeof position);
    memcpy(force, contacts.force, sizeof force);

    talus_arrays* kept = NULL;
    assert_int_equal(talus_world_detach(world, true, true, &kept, NULL), TALUS_OK);
    assert_ptr_not_equal(talus_world_grains(world).position, grains.position);
    assert_ptr_not_equal(talus_world_contacts(world).force, contacts.force);
    assert_int_equal(talus_world_validate(world, NULL), TALUS_OK);

    add_more(world);
    add_more(plain);
    assert_int_equal(talus_world_steps(world, h, 5, NULL, NULL), TALUS_OK);
    assert_int_equal(talus_world_steps(plain, h, 5, NULL, NULL), TALUS_OK);
    assert_memory_equal(position, grains.position, sizeof position);
    assert_memory_equal(force, contacts.force, sizeof force);
    assert_int_equal(talus_world_hash(world), talus_world_hash(plain)); // the same bits

    talus_world_destroy(world);
    assert_memory_equal(position, grains.position, sizeof position);
    talus_arrays_free(kept);
    talus_world_destroy(plain);
}

static void detached_arrays_live_on(void** state)
{
    (void)state;
    check_method(TALUS_METHOD_CONTACT, 1e-3);
    check_method(TALUS_METHOD_SOFT, 1e-6);
}

static void an_empty_world_has_nothing_to_detach(void** state)
{
    (void)state;
    talus_world_def def = talus_world_default();
    talus_world* world = NULL;
    assert_int_equal(talus_world_create(&def, &world, NULL), TALUS_OK);
    talus_arrays* kept = NULL;
    assert_int_equal(talus_world_detach(world, true, true, &kept, NULL), TALUS_OK);
    talus_arrays_free(kept);
    talus_arrays_free(NULL);
    talus_world_destroy(world);
}

static void at_least_one_step_is_asked_for(void** state)
{
    (void)state;
    const talus_method methods[] = {TALUS_METHOD_CONTACT, TALUS_METHOD_SOFT};
    for (int i = 0; i < 2; i++) {
        talus_world_def def = talus_world_default();
        def.method = methods[i];
        talus_world* world = NULL;
        assert_int_equal(talus_world_create(&def, &world, NULL), TALUS_OK);
        for (int64_t count = -1; count < 1; count++) {
            talus_error error;
            assert_int_equal(talus_world_steps(world, 1e-3, count, NULL, &error),
                             TALUS_ERR_ARGUMENT);
            assert_non_null(strstr(error.text, "at least 1"));
        }
        assert_int_equal(talus_world_last(world)->step, 0);
        talus_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detached_arrays_live_on),
        cmocka_unit_test(an_empty_world_has_nothing_to_detach),
        cmocka_unit_test(at_least_one_step_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

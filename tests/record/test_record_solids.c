/// Checkpoints of worlds with solids: a restored world goes on to the same bits, in 2D and 3D, with
/// contacts of solids among themselves, with balls, planes, meshes and solid obstacles.
#include "record/record.h"
#include "record_world.h"

enum { BEFORE = 60, AFTER = 60 };
static const double step_length = 2e-3;

/// Floor, a fixed obstacle, and in 3D a mesh; what a scene would build.
static talus_world* empty_world(int dim, double kite_size)
{
    static const double sheet[] = {-1, -1, -0.4, 2, -1, -0.4, -1, 2, -0.4};
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.gravity[1] = -9.81;
    def.periodic[0] = true;
    def.cell_low[0] = -1.0;
    def.cell_high[0] = 1.5;
    talus_world* w = NULL;
    talus_error error = {0};
    check_ok(talus_world_create(&def, &w, &error), error);
    talus_pair_def pair = talus_pair_default();
    pair.friction = 0.5;
    check_ok(talus_world_add_material(w, "stone", &pair, NULL, &error), error);
    const double kite[] = {0, 0, kite_size, 0.1, 0.2, 0.3, -0.1, 0.2};
    const int kite_count = 4;
    if (dim == 2) sample_solid(w, "dart", kite, &kite_count, 1);
    sample_solids(w);
    talus_wall_def wall = talus_wall_default();
    wall.name = "floor";
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[1] = 1.0;
    check_ok(talus_world_add_wall(w, &wall, NULL, &error), error);
    wall.name = "block";
    wall.shape = (talus_shape_def){.kind = TALUS_SHAPE_SOLID, .solid = {1}};
    wall.position[0] = 0.2;
    wall.position[1] = 0.1;
    check_ok(talus_world_add_wall(w, &wall, NULL, &error), error);
    if (dim == 2) return w;
    wall.name = "back";
    wall.shape = (talus_shape_def){
        .kind = TALUS_SHAPE_MESH, .triangles = sheet, .triangle_count = 1, .skin = 0.01};
    wall.position[0] = wall.position[1] = 0.0;
    check_ok(talus_world_add_wall(w, &wall, NULL, &error), error);
    return w;
}

static void drop_grains(talus_world* w)
{
    talus_error error = {0};
    rng random = rng_make(3, 1, 4);
    for (int i = 0; i < 24; i++) {
        talus_grain_def g = talus_grain_default();
        g.solid = (talus_solid_id){i % (talus_world_solid_count(w) + 1) - 1}; // a ball now and then
        g.scale = 0.6 + 0.4 * rng_uniform(&random);
        g.radius = 0.1;
        g.position[0] = -0.9 + 0.6 * (i % 4);
        g.position[1] = 0.7 + 0.5 * (i / 4);
        for (int k = 0; k < 3; k++) g.rotation[k] = 2.0 * rng_uniform(&random);
        for (int k = 0; k < 3; k++) g.velocity[k] = rng_uniform(&random) - 0.5;
        g.velocity[1] = -3.0;
        for (int k = 0; k < 3; k++) g.spin[k] = 4.0 * rng_uniform(&random) - 2.0;
        check_ok(talus_world_add_grain(w, &g, NULL, &error), error);
    }
}

static void advance(talus_world* w, int steps)
{
    talus_error error = {0};
    for (int i = 0; i < steps; i++) check_ok(talus_world_step(w, step_length, NULL, &error), error);
}

/// Contacts with force in which a solid takes part, between two grains or with a wall.
static int64_t solid_contacts(const talus_world* w, bool with_wall)
{
    int64_t count = 0;
    talus_contacts c = talus_world_contacts(w);
    for (int64_t i = 0; i < c.count; i++) {
        int64_t b = grains_find(&w->state.grains, c.b[i]);
        double force = fabs(c.force[i * c.dim]) + fabs(c.force[i * c.dim + 1]);
        count += (c.a[i] < 0) == with_wall && w->state.grains.solid[b] >= 0 && force > 0.0;
    }
    return count;
}

static void go_on(int dim)
{
    char* folder = sample_folder();
    talus_error error = {0};
    talus_world* w = empty_world(dim, 0.3);
    drop_grains(w);
    int64_t among = 0, walls_touched = 0;
    for (int life = 0; life < 3; life++) {
        advance(w, BEFORE);
        check_ok(checkpoint_write(folder, w, CHECKPOINT_STATE, NULL, 0, &error), error);
        talus_world* back = empty_world(dim, 0.3);
        check_ok(checkpoint_read(folder, back, NULL, 0, NULL, &error), error);
        assert_true(sample_equal(w, back));
        check_ok(talus_world_validate(back, &error), error);
        among += solid_contacts(w, false);
        walls_touched += solid_contacts(w, true);
        advance(w, AFTER);
        advance(back, AFTER);
        assert_true(sample_equal(w, back));
        assert_true(talus_world_hash(w) == talus_world_hash(back));
        talus_world_destroy(w);
        w = back;
    }
    print_message("%dD: %lld contacts of solids with grains and %lld with walls at three "
                  "checkpoints\n",
                  dim, (long long)among, (long long)walls_touched);
    assert_true(among > 0 && walls_touched > 0);
    talus_world_destroy(w);
    sample_remove(folder);
}

static void test_go_on_2d(void** state)
{
    (void)state;
    go_on(2);
}

static void test_go_on_3d(void** state)
{
    (void)state;
    go_on(3);
}

/// A corner that moved by the last digit is another shape.
static void test_changed_shape(void** state)
{
    (void)state;
    char* folder = sample_folder();
    talus_error error = {0};
    talus_world* w = empty_world(2, 0.3);
    check_ok(checkpoint_write(folder, w, CHECKPOINT_STATE, NULL, 0, &error), error);
    talus_world* other = empty_world(2, nextafter(0.3, 1.0));
    assert_int_equal(checkpoint_read(folder, other, NULL, 0, NULL, &error), TALUS_ERR_STATE);
    print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, "belongs to another scene: it has \"solid dart, "));
    talus_world_destroy(other);
    talus_world_destroy(w);
    sample_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_on_2d),
        cmocka_unit_test(test_go_on_3d),
        cmocka_unit_test(test_changed_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// src/engine/geometry: the sentences of shape_check() about definitions that make no sense.
#include "support.h"

#include "geometry/shape.h"

static void expect_error(talus_shape_def shape, int dim, const char* sentence)
{
    talus_error error = {0};
    assert_int_equal(shape_check(&shape, dim, &error), TALUS_ERR_ARGUMENT);
    assert_string_equal(error.text, sentence);
    assert_int_equal(shape_check(&shape, dim, NULL), TALUS_ERR_ARGUMENT);
}

static void test_bad_definitions(void** state)
{
    (void)state;
    talus_error error;
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .radius = -1}, 2,
                 "cylinder: radius must be positive, got -1");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .radius = NAN}, 2,
                 "cylinder: radius must be positive, got nan");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .radius = 1, .axis = {0, 2, 0}}, 3,
                 "cylinder: axis must be a unit vector, its length is 2");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_PLANE, .normal = {0, 0, 1}}, 2,
                 "plane: normal must be a unit vector, its length is 0");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_PLANE, .normal = {0, 0, 1 + 2e-9}}, 3,
                 "plane: normal must be a unit vector, its length is 1.000000002");
    check_ok(shape_check(&(talus_shape_def){.kind = TALUS_SHAPE_PLANE, .normal = {0, 0, 1 + 9e-10}},
                         3, &error),
             error);
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_SEGMENT, .edge_u = {1, 0, 0}}, 3,
                 "segment: only possible in 2D, the world is 3D");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_SEGMENT, .edge_u = {0, 0, 1}}, 2,
                 "segment: edge_u must be finite and longer than zero, its length is 0");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_SEGMENT, .edge_u = {1, 0}, .skin = -0.5}, 2,
                 "segment: skin must not be negative, got -0.5");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_PLATE}, 2,
                 "plate: only possible in 3D, the world is 2D");
    talus_shape_def flat = {.kind = TALUS_SHAPE_PLATE, .edge_u = {1, 0, 0}, .edge_v = {2, 0, 0}};
    expect_error(flat, 3,
                 "plate: edge_u and edge_v must not be parallel, the sine of their angle is 0");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_BOX, .half_size = {1, 1, 0}}, 3,
                 "box: half_size[2] must be positive, got 0");
    talus_shape_def box = {.kind = TALUS_SHAPE_BOX, .half_size = {1, 1, 1}, .open_faces = 32};
    expect_error(box, 3, "box: open faces need a box seen from inside, got faces 0x20 of a solid");
    box.inside = true;
    expect_error(box, 2, "box: open faces 0x20 name a face that a 2D box does not have");
    box.open_faces = 63;
    expect_error(box, 3, "box: at least one face must be closed, all 6 are open");
    talus_shape_def cone = {.kind = TALUS_SHAPE_CONE, .axis = {1, 0, 0}};
    expect_error(cone, 2, "cone: only possible in 3D, the world is 2D");
    expect_error(cone, 3, "cone: one of radius and radius_high must be positive, both are 0");
    cone.radius = cone.radius_high = 2.0;
    expect_error(cone, 3, "cone: with half_length 0 the two radii must differ, both are 2");
    expect_error((talus_shape_def){.kind = TALUS_SHAPE_COUNT}, 3, "unknown kind of shape: 8");
    expect_error((talus_shape_def){0}, 4, "a shape lives in 2 or 3 dimensions, got 4");
}

static void test_bad_meshes(void** state)
{
    (void)state;
    double corners[2][9] = {{0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 1, 1, 0, 1, 0, 1, 1}};
    talus_shape_def mesh = {.kind = TALUS_SHAPE_MESH, .triangles = corners[0], .triangle_count = 2};
    talus_error error;
    check_ok(shape_check(&mesh, 3, &error), error);
    expect_error(mesh, 2, "mesh: only possible in 3D, the world is 2D");
    mesh.skin = -1.0;
    expect_error(mesh, 3, "mesh: skin must not be negative, got -1");
    mesh.skin = 0.0;
    corners[1][4] = NAN;
    expect_error(mesh, 3, "mesh: triangle 1 is not finite");
    corners[1][4] = INFINITY;
    expect_error(mesh, 3, "mesh: triangle 1 is not finite");
    // 72 bytes times 2^61 are 9 times 2^64: no bytes at all where the product wraps.
    const int64_t counts[] = {0, -1, (1 << 18) + 1, (int64_t)1 << 61};
    const char* const given[] = {"0", "-1", "262145", "2305843009213693952"};
    for (int i = 0; i < 4; i++) {
        char sentence[120];
        mesh.triangle_count = counts[i];
        snprintf(sentence, sizeof sentence,
                 "mesh: the number of triangles must be from 1 to 262144, got %s", given[i]);
        expect_error(mesh, 3, sentence);
    }
    mesh.triangle_count = 2;
    mesh.triangles = NULL;
    expect_error(mesh, 3, "mesh: triangles is NULL, want the corners");
}

static void test_names(void** state)
{
    (void)state;
    const char* const names[] = {"plane",    "segment", "plate", "box",
                                 "cylinder", "cone",    "solid", "mesh"};
    for (int kind = 0; kind < TALUS_SHAPE_COUNT; kind++)
        assert_string_equal(shape_name((talus_shape_kind)kind), names[kind]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_bad_meshes),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// What walls look like: what has no end is cut at the box, faces of a box look outwards, and open
/// ones are missing.
#include "support.h"

#include "base/vec.h"
#include "geometry/wall_faces.h"

static const char* const why = "rounding of a turn and a few sums";
#define ROUNDING 1e-14

/// A wall at (1, 2, 3), turned by 30 degrees about z, with a box about it that is not symmetric.
static placed_wall wall_of(int dim, const talus_shape_def* shape)
{
    placed_wall w = {.dim = dim,
                     .shape = shape,
                     .position = {1.0, 2.0, dim == 3 ? 3.0 : 0.0},
                     .rotation = {cos(M_PI / 12.0), 0.0, 0.0, sin(M_PI / 12.0)},
                     .box_low = {-1.0, 0.0, dim == 3 ? 2.5 : 0.0},
                     .box_high = {2.0, 5.0, dim == 3 ? 6.0 : 0.0}};
    return w;
}

/// A plane's face lies in it and reaches exactly as far as the box's projection.
static void test_planes_are_cut(void** state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const talus_shape_def shape = {.kind = TALUS_SHAPE_PLANE, .normal = {0.0, 1.0, 0.0}};
        const placed_wall w = wall_of(dim, &shape);
        const double normal[3] = {-0.5, 0.5 * sqrt(3.0), 0.0}, along[3] = {0.5 * sqrt(3.0), 0.5, 0};
        wall_face face;
        assert_int_equal(wall_face_count(&w), 1);
        assert_true(wall_face_at(&w, 0, &face));
        assert_int_equal(face.count, dim == 2 ? 2 : 4);
        double low = INFINITY, high = -INFINITY, from = INFINITY, to = -INFINITY;
        for (int c = 0; c < face.count; c++) {
            double arm[3];
            vec_sub(3, arm, face.corner[c], w.position);
            check_close("height over the plane", vec_dot(3, normal, arm), 0.0, ROUNDING, why);
            low = fmin(low, vec_dot(3, along, arm)), high = fmax(high, vec_dot(3, along, arm));
            from = fmin(from, face.corner[c][2]), to = fmax(to, face.corner[c][2]);
        }
        // The corners of the box that are farthest along the plane.
        check_close("low end", low, -2.0 * along[0] - 2.0 * along[1], ROUNDING, why);
        check_close("high end", high, 1.0 * along[0] + 3.0 * along[1], ROUNDING, why);
        check_close("lower edge", from, dim == 3 ? 2.5 : 0.0, ROUNDING, why);
        check_close("upper edge", to, dim == 3 ? 6.0 : 0.0, ROUNDING, why);
    }
}

/// Endless cylinders end with the box, others where they say; a circle is one rim.
static void test_mantles(void** state)
{
    (void)state;
    talus_shape_def shape = {.kind = TALUS_SHAPE_CYLINDER, .axis = {0.0, 0.0, 1.0}, .radius = 0.5};
    wall_mantle m;
    placed_wall w = wall_of(3, &shape);
    assert_true(wall_mantle_of(&w, &m));
    assert_int_equal(m.rims, 2);
    assert_false(m.closed);
    check_close("low rim", m.centre[0][2], 2.5, ROUNDING, why);
    check_close("high rim", m.centre[1][2], 6.0, ROUNDING, why);
    shape.half_length = 0.25;
    assert_true(wall_mantle_of(&w, &m));
    assert_true(m.closed);
    for (int rim = 0; rim < 2; rim++) {
        double at[3], arm[3];
        wall_rim_point(&m, rim, 0.7, at);
        vec_sub(3, arm, at, w.position);
        check_close("distance from the axis", hypot(arm[0], arm[1]), 0.5, ROUNDING, why);
        check_close("height", arm[2], rim ? 0.25 : -0.25, ROUNDING, why);
    }
    w = wall_of(2, &shape);
    assert_true(wall_mantle_of(&w, &m));
    assert_int_equal(m.rims, 1);
    shape.kind = TALUS_SHAPE_PLATE;
    assert_false(wall_mantle_of(&w, &m));
}

/// Of a container the open faces are missing; the others go round counterclockwise from outside.
static void test_faces_of_a_box(void** state)
{
    (void)state;
    const talus_shape_def shape = {.kind = TALUS_SHAPE_BOX,
                                   .inside = true,
                                   .half_size = {0.5, 1.0, 1.5},
                                   .open_faces = TALUS_FACE_Z_HIGH};
    const placed_wall w = wall_of(3, &shape);
    int found = 0;
    for (int64_t i = 0; i < wall_face_count(&w); i++) {
        wall_face face;
        if (!wall_face_at(&w, i, &face)) {
            assert_int_equal(1 << i, TALUS_FACE_Z_HIGH);
            continue;
        }
        double u[3], v[3], normal[3], out[3];
        vec_sub(3, u, face.corner[1], face.corner[0]);
        vec_sub(3, v, face.corner[2], face.corner[1]);
        vec_cross(normal, u, v);
        vec_sub(3, out, face.corner[0], w.position);
        assert_true(vec_dot(3, normal, out) > 0.0);
        found++;
    }
    assert_int_equal(found, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes_are_cut),
        cmocka_unit_test(test_mantles),
        cmocka_unit_test(test_faces_of_a_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

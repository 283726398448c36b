/// Contacts with meshes that are not the nearest yet, but that a step may bring: the other end of
/// an edge that lies nearly flat on a face, and what rises behind a hollow.
///
/// Independent computations: planes and lines in closed form.
#include "mesh_support.h"

/// Contacts of this kind, and the largest gap among them.
static int count_kind(const touch_list* list, feature_kind kind, double* widest)
{
    int count = 0;
    *widest = -INFINITY;
    for (int k = 0; k < list->count; k++) {
        if (feature_kind_of(list->row[k].feature) != kind) continue;
        *widest = fmax(*widest, list->row[k].gap);
        count++;
    }
    return count;
}

/// A box over the upper edge of a blade, tilted against it: the end of the edge that is nearer is
/// the minimum of the distance, but a step may turn the box onto the other end. Both are held if
/// the box may turn as far as it is tilted.
static void test_edge_nearly_flat_on_a_face(void** state)
{
    (void)state;
    talus_error error;
    soup* s = soup_new();
    const int32_t a = soup_vertex(s, -0.2, 0.0, 0.0), c = soup_vertex(s, 0.2, 0.0, 0.0);
    soup_triangle(s, a, soup_vertex(s, 0.0, 0.0, -1.0), c);
    mesh* m = soup_mesh(s, 0.0);
    body b;
    const double half[3] = {0.4, 0.2, 0.1}, reach = 0.02, radius = vec_norm(3, half);
    check_ok(polytope_box(3, half, &b.shape, &error), error);
    for (int i = 0; i < 8; i++) {
        const double tilt = 0.25 * (i + 0.5) * reach / radius, turn[3] = {0.0, tilt, 0.0};
        // The lower face is 1e-3 above the nearer end.
        const double at[3] = {0.0, 0.0, half[2] / cos(tilt) + 0.2 * tan(tilt) + 1e-3};
        double q[4], widest;
        quat_from_rotation(q, turn);
        body_place(&b, q, at, 0.0);
        touch_list list = ask(m, &b.c, at, reach);
        const int ends = count_kind(&list, FEATURE_VERTEX_FACE, &widest);
        assert_int_equal(ends, i < 4 ? 2 : 1);
        const double far_end = (1e-3 + (i < 4 ? 0.4 * tan(tilt) : 0.0)) * cos(tilt);
        check_close("gap over the farther end held", widest, far_end, 1e-15, "roundoff");
        touch_list_free(&list);
    }
    polytope_free(&b.shape);
    mesh_free(m);
}

/// A bar across the edge of the same blade, rolled about its length: both of its lower edges are
/// held if it may roll as far.
static void test_bar_rolled_on_an_edge(void** state)
{
    (void)state;
    talus_error error;
    soup* s = soup_new();
    const int32_t a = soup_vertex(s, -1.0, 0.0, 0.0), c = soup_vertex(s, 1.0, 0.0, 0.0);
    soup_triangle(s, a, soup_vertex(s, 0.0, 0.0, -1.0), c);
    mesh* m = soup_mesh(s, 0.0);
    body b;
    const double half[3] = {0.05, 0.4, 0.05}, reach = 0.02, radius = vec_norm(3, half);
    check_ok(polytope_box(3, half, &b.shape, &error), error);
    for (int i = 0; i < 8; i++) {
        const double roll = 0.25 * (i + 0.5) * reach / radius, turn[3] = {0.0, roll, 0.0};
        const double lowest = half[2] * cos(roll) + half[0] * sin(roll);
        const double at[3] = {0.0, 0.0, lowest + 1e-3};
        double q[4], widest;
        quat_from_rotation(q, turn);
        body_place(&b, q, at, 0.0);
        touch_list list = ask(m, &b.c, at, reach);
        assert_int_equal(count_kind(&list, FEATURE_EDGE_EDGE, &widest), i < 4 ? 2 : 1);
        const double higher = 1e-3 + (i < 4 ? 2.0 * half[0] * sin(roll) : 0.0);
        check_close("gap of the higher edge held", widest, higher, 1e-15, "roundoff");
        touch_list_free(&list);
    }
    polytope_free(&b.shape);
    mesh_free(m);
}

/// A floor, and from x = 0 on a slope that rises by `angle`; both are as wide as `wide` each way.
static mesh* floor_and_slope(double angle, double wide)
{
    soup* s = soup_new();
    int32_t v[3][2];
    for (int i = 0; i < 2; i++) {
        const double y = i ? wide : -wide;
        v[0][i] = soup_vertex(s, -1.0, y, 0.0);
        v[1][i] = soup_vertex(s, 0.0, y, 0.0);
        v[2][i] = soup_vertex(s, cos(angle), y, sin(angle));
    }
    for (int i = 0; i < 2; i++) {
        soup_triangle(s, v[i][0], v[i + 1][0], v[i + 1][1]);
        soup_triangle(s, v[i][0], v[i + 1][1], v[i][1]);
    }
    return soup_mesh(s, 0.0);
}

/// A box and a ball that stand on the floor before a slope. The slope is met as the plane that it
/// is as soon as a step may bring them there, though what would touch it is not over it yet; what
/// is under floor and slope is not held by them.
static void test_before_a_hollow_edge(void** state)
{
    (void)state;
    talus_error error;
    body b;
    const double half[3] = {0.1, 0.1, 0.1}, reach = 0.02;
    check_ok(polytope_box(3, half, &b.shape, &error), error);
    for (int i = 0; i < 30; i++) {
        const double angle = 0.1 + 0.3 * (i % 5), before = 0.0049 * (i / 5); // the edge, by so much
        const double normal[3] = {-sin(angle), 0.0, cos(angle)};
        mesh* m = floor_and_slope(angle, 1.0);
        for (int below = 0; below < 2; below++) {
            const double at[3] = {-half[0] - before, 0.01, below ? -half[2] : half[2]};
            body_place(&b, identity, at, 0.0);
            touch_list list = ask(m, &b.c, at, reach);
            int on_slope = 0;
            for (int k = 0; k < list.count; k++) {
                if (vec_dot(3, list.row[k].normal, normal) < 1.0 - 1e-12) continue;
                check_close("gap to the slope", list.row[k].gap, before * sin(angle), 1e-15,
                            "roundoff");
                on_slope++;
            }
            // Its two lower front corners; the edge belongs to the slope too.
            assert_int_equal(on_slope, below || before > reach ? 0 : 2);
            touch_list_free(&list);
        }
        // A ball whose foot on the slope's plane is before the edge.
        const double radius = 0.1, foot = radius * tan(angle), x = -foot - before;
        const double place[3] = {x, 0.01, radius}, gap = vec_dot(3, place, normal) - radius;
        const convex ball = ball_of(radius);
        touch_list list = ask(m, &ball, place, reach);
        bool met = false;
        for (int k = 0; k < list.count; k++) {
            met = met || (fabs(list.row[k].gap - gap) < 1e-15 &&
                          vec_dot(3, list.row[k].normal, normal) > 1.0 - 1e-12);
        }
        assert_true(met == (hypot(gap, before * cos(angle)) <= reach));
        touch_list_free(&list);
        mesh_free(m);
    }
    polytope_free(&b.shape);
}

/// A rod that lies across the rim of floor and slope, on the rim of the floor and just before that
/// of the slope: the rim of the slope is met as the line that it is.
static void test_before_a_hollow_end(void** state)
{
    (void)state;
    talus_error error;
    body b;
    const double half[3] = {0.02, 0.4, 0.02}, angle = 0.7, reach = 0.01;
    const double normal[3] = {-sin(angle), 0.0, cos(angle)};
    mesh* m = floor_and_slope(angle, 0.1);
    check_ok(polytope_box(3, half, &b.shape, &error), error);
    for (int i = 1; i < 4; i++) {
        // Its middle is beyond the rim and lower than this, so that it touches nothing else.
        const double before = 0.004 * i, tilt = 0.05, turn[3] = {-tilt, 0.0, 0.0};
        const double height = half[2] / cos(tilt) - 0.2 * tan(tilt) + 1e-4;
        const double at[3] = {-half[0] - before, 0.3, height};
        double q[4];
        quat_from_rotation(q, turn);
        body_place(&b, q, at, 0.0);
        touch_list list = ask(m, &b.c, at, reach);
        int on_slope = 0;
        for (int k = 0; k < list.count; k++) {
            const touch* t = list.row + k;
            on_slope += feature_kind_of(t->feature) == FEATURE_EDGE_EDGE &&
                        vec_dot(3, t->normal, normal) > cos(0.1);
        }
        if (on_slope != (before <= reach)) print_touches(&list);
        assert_int_equal(on_slope, before <= reach);
        touch_list_free(&list);
    }
    polytope_free(&b.shape);
    mesh_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edge_nearly_flat_on_a_face),
        cmocka_unit_test(test_bar_rolled_on_an_edge),
        cmocka_unit_test(test_before_a_hollow_edge),
        cmocka_unit_test(test_before_a_hollow_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Overlap regions of grains with walls: closed formulas, the cutting lines of overlap_model.h, and
/// the gradient of the area.
#include "overlap_specimen.h"

#include "base/vec.h"
#include "geometry/feature.h"

static const char* rounding = "rounding of a dozen operations on numbers of order 1";

static void wall_regions(const talus_shape_def* wall, const overlap_shape* form,
                         const specimen* grain, const double local[2], overlap_scratch* s)
{
    const overlap_body body = body_of(grain);
    assert_int_equal(overlap_wall(wall, form, &body, local, s), TALUS_OK);
}

/// Area of a circular segment of this height.
static double segment_area(double r, double height)
{
    const double half = acos((r - height) / r);
    return r * r * (half - sin(half) * cos(half));
}

static void test_plane(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen box = specimen_make(&square), disk = specimen_disk(0.5),
             two = specimen_make(&pitchfork);
    const talus_shape_def floor = {.kind = TALUS_SHAPE_PLANE, .normal = {0.0, 1.0, 0.0}};
    const talus_shape_def ramp = {.kind = TALUS_SHAPE_PLANE, .normal = {-0.6, 0.8, 0.0}};
    // Far along the plane nothing is lost.
    wall_regions(&floor, NULL, &box, (double[2]){1e9, 0.4}, &s);
    assert_int_equal(s.count, 1);
    check_close("area", s.region[0].area, 0.1, 1e-15, rounding);
    check_close("length", s.region[0].length, 1.0, 1e-15, rounding);
    check_close("normal", s.region[0].normal[1], 1.0, 1e-15, rounding);
    check_close("centroid", s.region[0].centroid[1], -0.45, 1e-15, rounding);
    check_close("centroid", s.region[0].centroid[0], 0.0, 1e-15, rounding);
    wall_regions(&ramp, NULL, &disk, (double[2]){-0.6 * 0.3, 0.8 * 0.3}, &s);
    check_close("disk", s.region[0].area, segment_area(0.5, 0.2), 1e-15, rounding);
    check_close("disk normal", s.region[0].normal[0], -0.6, 1e-15, rounding);
    check_close("disk length", s.region[0].length, 0.8, 1e-15, rounding);
    wall_regions(&floor, NULL, &disk, (double[2]){0.0, 0.5 - 1e-9}, &s);
    check_close("shallow disk / series", s.region[0].area / (4.0 / 3.0 * 1e-9 * sqrt(1e-9)), 1.0,
                3e-7, "a depth of 1e-9 is rounded to 1e-16");
    wall_regions(&floor, NULL, &disk, (double[2]){0.0, -9.0}, &s);
    check_close("all behind", s.region[0].area, 0.25 * M_PI, 1e-15, rounding);
    check_close("normal all behind", s.region[0].normal[1], 1.0, 1e-15, "that of the plane");
    wall_regions(&floor, NULL, &disk, (double[2]){0.0, 0.5}, &s);
    assert_int_equal(s.count, 0);
    specimen_place(&two, M_PI, 1.0); // prongs down
    wall_regions(&floor, NULL, &two, (double[2]){0.0, 0.7}, &s);
    assert_int_equal(s.count, 2);
    assert_int_equal(feature_part_b(s.region[0].feature), 1);
    assert_int_equal(feature_part_b(s.region[1].feature), 2);
    overlap_scratch_free(&s);
    specimen_free(&box);
    specimen_free(&two);
}

static void test_container(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen box = specimen_make(&square), disk = specimen_disk(0.5);
    talus_shape_def room = {.kind = TALUS_SHAPE_BOX, .inside = true, .half_size = {3.0, 2.0, 0.0}};
    wall_regions(&room, NULL, &box, (double[2]){-2.6, -1.7}, &s); // in the lower left corner
    assert_int_equal(s.count, 2);
    check_close("x low", s.region[0].area, 0.1, 2e-15, rounding);
    check_close("x low, normal", s.region[0].normal[0], 1.0, 1e-15, rounding);
    assert_int_equal(feature_part_a(s.region[0].feature), 0);
    check_close("y low", s.region[1].area, 0.2, 2e-15, rounding);
    check_close("y low, normal", s.region[1].normal[1], 1.0, 1e-15, rounding);
    assert_int_equal(feature_part_a(s.region[1].feature), 2);
    wall_regions(&room, NULL, &disk, (double[2]){2.7, 1.6}, &s);
    check_close("x high", s.region[0].area, segment_area(0.5, 0.2), 2e-15, rounding);
    check_close("y high", s.region[1].area, segment_area(0.5, 0.1), 2e-15, rounding);
    check_close("y high, normal", s.region[1].normal[1], -1.0, 1e-15, rounding);

    room.open_faces = TALUS_FACE_Y_HIGH;
    wall_regions(&room, NULL, &box, (double[2]){2.6, 1.9}, &s); // half above the rim
    assert_int_equal(s.count, 1);
    check_close("up to the rim", s.region[0].area, 0.1 * 0.6, 2e-15, rounding);
    // Across the rim of a thin wall, the centre just within or just above: nothing jumps.
    wall_regions(&room, NULL, &disk, (double[2]){2.8, 2.0 - 1e-9}, &s);
    const double below = s.region[0].area;
    wall_regions(&room, NULL, &disk, (double[2]){2.8, 2.0 + 1e-9}, &s);
    check_close("across the rim", s.region[0].area, below, 1e-8, "length times 2e-9");
    wall_regions(&room, NULL, &disk, (double[2]){3.4, 0.5}, &s); // fell out: deep below the rim
    check_close("escaped, normal", s.region[0].normal[0], -1.0, 1e-15, "back in");
    check_below("escaped", -s.region[0].area, -0.5, "most of the disk is behind the face");
    wall_regions(&room, NULL, &disk, (double[2]){3.4, 1.65}, &s); // came round the rim
    check_close("from outside", s.region[0].normal[0], 1.0, 1e-15, "pushed out");
    check_close("from outside", s.region[0].area, segment_area(0.5, 0.1), 2e-15, rounding);
    overlap_scratch_free(&s);
    specimen_free(&box);
}

static void test_segment(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen disk = specimen_disk(0.5), box = specimen_make(&square);
    talus_shape_def wall = {.kind = TALUS_SHAPE_SEGMENT, .edge_u = {2.0, 0.0, 0.0}};
    for (int side = -1; side <= 1; side += 2) {
        wall_regions(&wall, NULL, &disk, (double[2]){0.3, side * 0.4}, &s);
        check_close("thin, area", s.region[0].area, segment_area(0.5, 0.1), 1e-15, rounding);
        check_close("thin, normal", s.region[0].normal[1], side, 1e-15, rounding);
        wall_regions(&wall, NULL, &disk, (double[2]){2.0, side * 0.4}, &s);
        check_close("at the end", s.region[0].area, 0.5 * segment_area(0.5, 0.1), 1e-15, rounding);
        wall_regions(&wall, NULL, &box, (double[2]){-2.25, side * 0.4}, &s);
        check_close("over the end", s.region[0].area, 0.25 * 0.1, 1e-15, rounding);
    }
    wall_regions(&wall, NULL, &disk, (double[2]){2.6, 0.1}, &s);
    assert_int_equal(s.count, 0);

    wall.skin = 0.05;
    polytope line;
    overlap_shape form;
    talus_error error;
    check_ok(polytope_segment((double[2]){-2.0, 0.0}, wall.edge_u, &line, &error), error);
    check_ok(overlap_shape_make(&line, 1, wall.skin, &form, &error), error);
    assert_int_equal(form.corner_count, OVERLAP_ROUND + 2);
    for (int side = -1; side <= 1; side += 2) {
        wall_regions(&wall, &form, &disk, (double[2]){0.3, side * 0.53}, &s);
        check_close("thick, area", s.region[0].area, segment_area(0.5, 0.02), 1e-15, rounding);
        check_close("thick, normal", s.region[0].normal[1], side, 1e-14, rounding);
        // Beyond the end: two circles.
        overlap_scratch lens = {0};
        const overlap_body a = {.radius = 0.05}, b = {.radius = 0.5};
        assert_int_equal(overlap_bodies(&a, &b, (double[2]){0.53 * 0.6, side * 0.53 * 0.8}, &lens),
                         TALUS_OK);
        wall_regions(&wall, &form, &disk, (double[2]){2.0 + 0.53 * 0.6, side * 0.53 * 0.8}, &s);
        check_close("round end", s.region[0].area, lens.region[0].area, 0.0048 * 0.05 * 0.1,
                    "height of a chord times the width of the end");
        overlap_scratch_free(&lens);
    }
    polytope_free(&line);
    overlap_shape_free(&form);
    overlap_scratch_free(&s);
    specimen_free(&box);
}

/// Round and solid obstacles are bodies; only the point that centroids are told from differs.
static void test_obstacles(void** state)
{
    (void)state;
    rng r = rng_make(71, 0, 0);
    overlap_scratch s = {0}, expected = {0};
    specimen all[SPECIMENS];
    specimens_make(all, &r);
    const specimen post = specimen_disk(0.6);
    specimen rock = specimen_make(&ell);
    const talus_shape_def round = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.6};
    const talus_shape_def solid = {.kind = TALUS_SHAPE_SOLID};
    double worst = 0.0;
    for (int t = 0; t < 2000; t++) {
        specimen* b = &all[t % SPECIMENS];
        if (b->number) specimen_place(b, uniform(&r, 0.0, 6.3), 1.0);
        const double local[2] = {uniform(&r, -1.0, 1.0), uniform(&r, -1.0, 1.0)};
        const bool first = t / SPECIMENS % 2 == 0;
        wall_regions(first ? &round : &solid, first ? NULL : &rock.shape, b, local, &s);
        const overlap_body wall = body_of(first ? &post : &rock), grain = body_of(b);
        assert_int_equal(overlap_bodies(&wall, &grain, local, &expected), TALUS_OK);
        assert_int_equal(s.count, expected.count);
        double v[2], w[2];
        total_vector(&s, v);
        total_vector(&expected, w);
        worst = fmax(worst, hypot(v[0] - w[0], v[1] - w[1]));
        worst = fmax(worst, fabs(total_area(&s) - total_area(&expected)));
        for (int c = 0; c < 2 && s.count == 1; c++) {
            const double away = s.region[0].centroid[c] + local[c] - expected.region[0].centroid[c];
            worst = fmax(worst, s.region[0].area * fabs(away));
            assert_int_equal(s.region[0].feature, expected.region[0].feature);
        }
    }
    check_below("difference", worst, 1e-12, "rounding, times 1/sin of angles down to 1e-3");
    overlap_scratch_free(&s);
    overlap_scratch_free(&expected);
    specimen_free(&rock);
    specimens_free(all);
}

static void test_drum_formulas(void** state)
{
    (void)state;
    overlap_scratch s = {0};
    specimen disk = specimen_disk(0.5), box = specimen_make(&square), fan = specimen_make(&plus);
    talus_shape_def drum = {.kind = TALUS_SHAPE_CYLINDER, .inside = true, .radius = 2.0};
    wall_regions(&drum, NULL, &disk, (double[2]){0.0, -1.5}, &s);
    assert_int_equal(s.count, 0);
    // A crescent is the disk without the lens.
    const overlap_body inside = {.radius = 2.0}, grain = body_of(&disk);
    for (double depth = 0.1; depth < 1.0; depth += 0.2) {
        const double local[2] = {0.0, -1.5 - depth};
        assert_int_equal(overlap_bodies(&inside, &grain, local, &s), TALUS_OK);
        const double lens = s.region[0].area, length = s.region[0].length;
        const double moment = lens * (s.region[0].centroid[1] - local[1]);
        wall_regions(&drum, NULL, &disk, local, &s);
        assert_int_equal(s.count, 1);
        check_close("crescent", s.region[0].area, 0.25 * M_PI - lens, 2e-15, rounding);
        check_close("chord", s.region[0].length, length, 2e-15, rounding);
        check_close("normal", s.region[0].normal[1], 1.0, 1e-15, rounding);
        check_close("moment", s.region[0].area * s.region[0].centroid[1], -moment, 2e-15, rounding);
    }
    // Shallow: the crescent of two parabolas, of curvatures 1/0.5 and 1/2.
    const double d = 1e-8, bend = 1.0 / 0.5 - 1.0 / 2.0;
    wall_regions(&drum, NULL, &disk, (double[2]){1.5 + d, 0.0}, &s);
    check_close("shallow crescent / series",
                s.region[0].area / (4.0 / 3.0 * d * sqrt(2.0 * d / bend)), 1.0, 2e-7,
                "a depth of 1e-8 beside the radius of 2 is rounded to 4e-16, and enters to 3/2");
    // Two corners of a square are out, each on its own, until the side between them is.
    const double at = sqrt(4.0 - 0.25) - 0.5;
    wall_regions(&drum, NULL, &box, (double[2]){at + 1e-4, 0.0}, &s);
    assert_int_equal(s.count, 2);
    assert_true(s.region[0].feature != s.region[1].feature);
    check_close("same areas", s.region[0].area, s.region[1].area, 1e-16, "mirror images");
    // The circle runs as (1, -sqrt(3.75)/0.5) there: a triangle of legs 1e-4 and that times it.
    check_close("corner / triangle", s.region[0].area / (0.5e-8 * sqrt(3.75) / 0.5), 1.0, 1e-3,
                "the arc under the legs is bent by their length over the radius");
    wall_regions(&drum, NULL, &box, (double[2]){1.6, 0.0}, &s);
    assert_int_equal(s.count, 1);
    check_close("side", s.region[0].normal[0], -1.0, 1e-15, rounding);
    wall_regions(&drum, NULL, &box, (double[2]){0.0, 9.0}, &s);
    check_close("all out", s.region[0].area, 1.0, 1e-14, rounding);
    check_close("all out, normal", s.region[0].normal[1], -1.0, 1e-15, "towards the middle");
    drum.radius = 0.3; // smaller than the grain
    specimen_place(&fan, 0.1, 1.0);
    wall_regions(&drum, NULL, &fan, (double[2]){0.0, 0.0}, &s);
    assert_int_equal(s.count, 4);
    wall_regions(&drum, NULL, &disk, (double[2]){0.1, 0.0}, &s);
    check_close("ring", s.region[0].area, M_PI * 0.16, 1e-15, rounding);
    check_close("ring, centroid", s.region[0].centroid[0] * 0.16, 0.09 * 0.1, 1e-15, rounding);
    overlap_scratch_free(&s);
    specimen_free(&box);
    specimen_free(&fan);
}

/// Random grains across the edge of a drum, against cutting lines and the gradient.
static void test_drum_model(void** state)
{
    (void)state;
    rng r = rng_make(72, 0, 0);
    overlap_scratch s = {0};
    specimen all[SPECIMENS];
    specimens_make(all, &r);
    const double h = 1e-6;
    double worst = 0.0;
    int several = 0;
    for (int t = 0; t < test_count(1000, 100); t++) {
        specimen* b = &all[t % SPECIMENS];
        const double angle = uniform(&r, 0.0, 6.3), from = uniform(&r, 0.0, 6.3);
        const double circle = uniform(&r, 0.3, 2.0), away = circle + uniform(&r, -0.9, 0.4);
        const double local[2] = {away * cos(from), away * sin(from)};
        const talus_shape_def drum = {
            .kind = TALUS_SHAPE_CYLINDER, .inside = true, .radius = circle};
        if (b->number) specimen_place(b, angle, 1.0);
        wall_regions(&drum, NULL, b, local, &s);
        const model_set grain = model_at(b, angle, (double[2]){0.0, 0.0});
        const model_set wall = {
            .radius = circle, .centre = {-local[0], -local[1]}, .complement = true};
        const model_answer model = model_overlap(&wall, &grain, -1.2, 1.2, 4000);
        compare_regions(&s, &model, 2e-4, &several);
        double v[2];
        total_vector(&s, v);
        for (int c = 0; c < 2; c++) {
            double moved[2] = {local[0], local[1]}, area[2];
            for (int side = 0; side < 2; side++) {
                moved[c] = local[c] + (side ? h : -h);
                wall_regions(&drum, NULL, b, moved, &s);
                area[side] = total_area(&s);
            }
            worst = fmax(worst, fabs((area[1] - area[0]) / (2.0 * h) + v[c]));
        }
    }
    printf("%d in several regions\n", several);
    assert_true(several > 10);
    check_below("worst gradient", worst, 1e-3, "sqrt(h) where a side or circle is tangent");
    overlap_scratch_free(&s);
    specimens_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),         cmocka_unit_test(test_container),
        cmocka_unit_test(test_segment),       cmocka_unit_test(test_obstacles),
        cmocka_unit_test(test_drum_formulas), cmocka_unit_test(test_drum_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

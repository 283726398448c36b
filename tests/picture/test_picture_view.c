/// Pictures from any direction, and what stands below and beside them: projections against vectors
/// written out by hand, the order of depth, scale bars measured in pixels.
#include "figure_image.h"
#include "physics.h"
#include "picture/figure.h"

/// Rounding of a handful of products of numbers of order 1.
#define ROUNDING 1e-14

static picture picture_with(talus_figure* figure, const talus_world* world,
                            const talus_picture_def* def)
{
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, def, &error), error);
    return figure->panel[0].picture;
}

/// A world of three balls at places without symmetry.
static talus_world* three_balls(void)
{
    static const double at[3][3] = {{0.3, -1.2, 2.1}, {-0.8, 0.4, 0.9}, {1.7, 1.1, -0.6}};
    talus_world* world = physics_world_g(3, 0.5, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        const talus_grain_def ball = physics_ball(0.2 + 0.1 * i, 1.0, at[i][0], at[i][1], at[i][2]);
        physics_add(world, &ball);
    }
    return world;
}

// ---- views -------------------------------------------------------------------------------------

/// Azimuth 30 and elevation 45 degrees: x of the picture along (-1/2, sqrt(3)/2, 0), the eye at
/// (sqrt(6)/4, sqrt(2)/4, sqrt(2)/2), y of the picture along (-sqrt(6)/4, -sqrt(2)/4, sqrt(2)/2).
static void test_oblique_projection(void** state)
{
    (void)state;
    talus_world* world = three_balls();
    talus_figure* figure = new_figure();
    talus_picture_def def = talus_picture_default();
    def.oblique = true, def.azimuth = 30.0, def.elevation = 45.0;
    const picture seen = picture_with(figure, world, &def);
    assert_int_equal(seen.piece_count, 3);
    const double a = sqrt(6.0) / 4.0, b = sqrt(2.0) / 4.0, c = sqrt(0.5);
    const talus_grains g = talus_world_grains(world);
    double before = -INFINITY;
    for (int i = 0; i < 3; i++) {
        int found = -1;
        for (int k = 0; k < 3; k++) found = seen.piece[i].size == g.radius[k] ? k : found;
        const double *p = g.position + 3 * found, *q = seen.point + 2 * seen.piece[i].first;
        check_close("place", q[0], -0.5 * p[0] + sqrt(0.75) * p[1], ROUNDING,
                    "rounding of a few products");
        check_close("place", q[1], -a * p[0] - b * p[1] + c * p[2], ROUNDING,
                    "rounding of a few products");
        const double depth = a * p[0] + b * p[1] + c * p[2];
        assert_true(depth > before); // the nearest is drawn last
        before = depth;
    }
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

/// Directions along the axes give the same as looking along these.
static void test_oblique_along_axes(void** state)
{
    (void)state;
    static const struct {
        int view;
        double azimuth, elevation;
    } same[] = {{0, 0, 0}, {1, -90, 0}, {2, -90, 90}};
    talus_world* world = three_balls();
    for (int i = 0; i < 3; i++) {
        talus_figure *one = new_figure(), *other = new_figure();
        talus_picture_def def = talus_picture_default();
        def.view = same[i].view;
        const picture straight = picture_with(one, world, &def);
        def.oblique = true, def.azimuth = same[i].azimuth, def.elevation = same[i].elevation;
        const picture oblique = picture_with(other, world, &def);
        assert_int_equal(straight.point_count, oblique.point_count);
        for (int64_t k = 0; k < 2 * straight.point_count; k++) {
            check_close("place", oblique.point[k], straight.point[k], ROUNDING,
                        "rounding of a few products");
        }
        talus_figure_destroy(one);
        talus_figure_destroy(other);
    }
    talus_world_destroy(world);
}

/// A floor is behind the grains seen from above, and in front of them seen from below.
static void test_floor_behind(void** state)
{
    (void)state;
    talus_world* world = three_balls();
    const double normal[3] = {0, 0, 1};
    talus_wall_def floor = talus_wall_default();
    floor.name = "floor";
    floor.shape.kind = TALUS_SHAPE_PLANE;
    floor.position[2] = -1.0;
    memcpy(floor.shape.normal, normal, sizeof normal);
    talus_error error;
    check_ok(talus_world_add_wall(world, &floor, NULL, &error), error);
    for (int below = 0; below < 2; below++) {
        talus_figure* figure = new_figure();
        talus_picture_def def = talus_picture_default();
        def.oblique = true, def.elevation = below ? -30.0 : 30.0;
        const picture seen = picture_with(figure, world, &def);
        assert_int_equal(seen.piece_count, 4);
        const piece* patch = &seen.piece[below ? 3 : 0];
        assert_int_equal(patch->kind, PIECE_POLYGON);
        assert_true(patch->filled == !below);
        // Under the box around the balls, whose sides are parallel to the axes: x from -1.1 to 2.1,
        // y from -1.4 to 1.5, of which a side of the patch has the length seen from the side.
        double area = 0.0;
        for (int k = 0; k < 4; k++) {
            const double *p = seen.point + 2 * (patch->first + k),
                         *q = seen.point + 2 * (patch->first + (k + 1) % 4);
            area += 0.5 * (p[0] * q[1] - p[1] * q[0]);
        }
        check_close("area of the patch", fabs(area), 3.2 * 2.9 * 0.5, ROUNDING,
                    "rounding of a few products"); // sin 30 degrees
        talus_figure_destroy(figure);
    }
    talus_world_destroy(world);
}

/// Of a box around the grains, the three faces behind them come first, the others after the grains.
static void test_box_faces(void** state)
{
    (void)state;
    talus_world* world = three_balls();
    talus_wall_def box = talus_wall_default();
    box.name = "box";
    box.shape.kind = TALUS_SHAPE_BOX;
    box.shape.inside = true;
    for (int k = 0; k < 3; k++) box.shape.half_size[k] = 3.0;
    talus_error error;
    check_ok(talus_world_add_wall(world, &box, NULL, &error), error);
    talus_figure* figure = new_figure();
    talus_picture_def def = talus_picture_default();
    def.oblique = true, def.azimuth = -60.0, def.elevation = 25.0;
    const picture seen = picture_with(figure, world, &def);
    int behind = 0;
    for (int64_t i = 0; i < seen.piece_count; i++) behind += seen.piece[i].behind;
    assert_int_equal(behind, 3);
    assert_int_equal(seen.piece_count, 9);
    for (int i = 0; i < 3; i++) assert_true(seen.piece[i].behind && seen.piece[i].wall);
    for (int i = 6; i < 9; i++) assert_true(!seen.piece[i].behind && seen.piece[i].wall);
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

/// Hidden grains are neither drawn nor do they count for the extent.
static void test_hidden_and_extent(void** state)
{
    (void)state;
    talus_world* world = three_balls();
    const uint8_t hidden[] = {1, 0, 0};
    talus_picture_def def = talus_picture_default();
    def.hidden = hidden;
    def.view = 2;
    double low[2], high[2];
    talus_error error;
    check_ok(talus_picture_extent(world, &def, low, high, &error), error);
    check_close("place", low[0], -0.8 - 0.3, ROUNDING, "rounding of a few products");
    check_close("place", high[0], 1.7 + 0.4, ROUNDING, "rounding of a few products");
    check_close("place", low[1], 0.4 - 0.3, ROUNDING, "rounding of a few products");
    check_close("place", high[1], 1.1 + 0.4, ROUNDING, "rounding of a few products");
    talus_world_destroy(world);
}

// ---- colours -----------------------------------------------------------------------------------

/// Ends of the maps as matplotlib gives them (its tables, rounded to three digits).
static void test_maps(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        rgb low, high;
    } ends[TALUS_MAP_COUNT] = {
        {"viridis", {0.267, 0.005, 0.329}, {0.993, 0.906, 0.144}},
        {"plasma", {0.050, 0.030, 0.528}, {0.940, 0.975, 0.131}},
        {"inferno", {0.001, 0.000, 0.014}, {0.988, 0.998, 0.645}},
        {"cividis", {0.000, 0.135, 0.305}, {0.996, 0.909, 0.218}},
        {"coolwarm", {0.230, 0.299, 0.754}, {0.706, 0.016, 0.150}},
        {"turbo", {0.190, 0.072, 0.232}, {0.480, 0.016, 0.011}},
        {"grey", {0, 0, 0}, {1, 1, 1}},
    };
    for (int i = 0; i < TALUS_MAP_COUNT; i++) {
        assert_string_equal(talus_map_name((talus_map)i), ends[i].name);
        for (int end = 0; end < 2; end++) {
            const rgb seen = colour_of_map((talus_map)i, end ? 1.5 : -0.5);
            const rgb expected = end ? ends[i].high : ends[i].low;
            check_close("colour", seen.red, expected.red, 1e-12,
                        "rounding; tables have three digits");
            check_close("colour", seen.green, expected.green, 1e-12,
                        "rounding; tables have three digits");
            check_close("colour", seen.blue, expected.blue, 1e-12,
                        "rounding; tables have three digits");
        }
    }
    assert_null(talus_map_name(TALUS_MAP_COUNT));
    check_close("colour", colour_of_map(TALUS_MAP_GREY, 0.25).green, 0.25, 1e-12,
                "rounding; tables have three digits");
}

// ---- below the picture -------------------------------------------------------------------------

/// Longest run of black pixels in a row.
static int longest_run(const image* m, int y)
{
    int longest = 0, run = 0;
    for (int x = 0; x < m->width; x++) {
        run = pixel(m, x, y) == 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/// A figure of two disks a distance apart, with a scale bar below, fitted to it.
static image with_bar(double apart, double* dots_a_unit)
{
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    talus_grain_def disk = physics_ball(0.05 * apart, 1.0, 0, 0, 0);
    physics_add(world, &disk);
    disk.position[0] = apart;
    physics_add(world, &disk);
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.hidden = true;
    axes.x_low = -0.5 * apart, axes.x_high = 1.5 * apart;
    axes.y_low = -0.5 * apart, axes.y_high = 0.5 * apart;
    set_axes(figure, axes);
    const int colour[] = {TALUS_COLOUR_BLUE, TALUS_COLOUR_VERMILLION};
    talus_picture_def def = talus_picture_default();
    def.grain_colour = colour;
    def.scale_bar = true;
    def.length_unit = "m";
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    check_ok(talus_figure_fit(figure, 400.0, 1.0, &error), error);
    talus_world_destroy(world);
    image m = write_and_read(figure);
    // Middles of the two disks: mean place of their colours.
    double middle[2] = {0}, count[2] = {0};
    const unsigned light[2] = {0x80b9d9, 0xeaaf80};
    for (int y = 0; y < m.height; y++) {
        for (int x = 0; x < m.width; x++) {
            for (int k = 0; k < 2; k++) {
                const unsigned c = pixel(&m, x, y);
                const int away = abs((int)(c >> 16) - (int)(light[k] >> 16)) +
                                 abs((int)(c >> 8 & 255) - (int)(light[k] >> 8 & 255)) +
                                 abs((int)(c & 255) - (int)(light[k] & 255));
                if (away > 6) continue;
                middle[k] += x;
                count[k]++;
            }
        }
    }
    assert_true(count[0] > 0 && count[1] > 0);
    *dots_a_unit = (middle[1] / count[1] - middle[0] / count[0]) / apart;
    return m;
}

/// The bar is as long as its label says: the largest of 1, 2, 5 times a power of ten metres that
/// takes at most a quarter of the picture, which is twice `apart` wide.
static void test_scale_bar(void** state)
{
    (void)state;
    static const struct {
        double apart, bar;
    } cases[] = {{1.0, 0.5}, {0.03, 0.01}, {7e-4, 2e-4}, {45.0, 20.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double unit;
        image m = with_bar(cases[i].apart, &unit);
        int longest = 0;
        for (int y = 0; y < m.height; y++) {
            const int run = longest_run(&m, y);
            longest = run > longest ? run : longest;
        }
        // Both ends of the bar are rounded to whole pixels.
        check_close("length of the bar, pixels", longest, cases[i].bar * unit, 2.0,
                    "ends fall on whole pixels");
        cairo_surface_destroy(m.surface);
    }
}

/// Fitted pages leave no paper unused: the picture is twice as wide as high, 8 points of margin
/// around it and 26 for the strip below; sizes are multiples of the unit.
static void test_fit(void** state)
{
    (void)state;
    double unit;
    image m = with_bar(1.0, &unit);
    assert_int_equal(m.width, 2 * 400);
    const double expected = 0.5 * (400.0 - 16.0) + 16.0 + 26.0;
    assert_int_equal(m.height, 2 * (int)ceil(expected));
    check_close("pixels a unit", unit, 2.0 * (400.0 - 16.0) / 2.0, 1.0,
                "middles of disks to half a pixel");
    cairo_surface_destroy(m.surface);
}

/// With an equal width of the largest force in all pictures, a bar is as wide as its force says.
static void test_force_scale(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def disk = physics_ball(0.5, 1.0, 0, 0.5, 0);
    physics_add(world, &disk);
    for (int i = 0; i < 3; i++) physics_step(world, 1e-3);
    talus_figure* figure = new_figure();
    talus_picture_def def = talus_picture_default();
    def.forces = true;
    def.force_largest = 40.0;
    def.force_width = 0.6;
    const picture seen = picture_with(figure, world, &def);
    const piece* bar = &seen.piece[seen.piece_count - 1];
    assert_int_equal(bar->kind, PIECE_BAR);
    // The disk weighs 1 kg: 10 N of 40 N, of which the bar would be 0.6 diameters wide.
    check_close("width of the bar", bar->size, 0.6 * 10.0 / 40.0, 1e-6, "the solver's tolerance");
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

static void test_refused_views(void** state)
{
    (void)state;
    talus_world* world = three_balls();
    talus_figure* figure = new_figure();
    talus_error error;
    talus_picture_def bad = talus_picture_default();
    bad.oblique = true, bad.elevation = 91.0;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "elevation");
    bad = talus_picture_default();
    bad.fade = 2.0;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "fade");
    bad = talus_picture_default();
    bad.map = TALUS_MAP_COUNT;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "scales of colours");
    bad = talus_picture_default();
    bad.forces = true, bad.force_largest = NAN;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "widest bar");
    check_refused(talus_figure_fit(figure, 1.0, 0.0, &error), TALUS_ERR_ARGUMENT, &error, "high");
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oblique_projection), cmocka_unit_test(test_oblique_along_axes),
        cmocka_unit_test(test_floor_behind),       cmocka_unit_test(test_box_faces),
        cmocka_unit_test(test_hidden_and_extent),  cmocka_unit_test(test_maps),
        cmocka_unit_test(test_scale_bar),          cmocka_unit_test(test_fit),
        cmocka_unit_test(test_force_scale),        cmocka_unit_test(test_refused_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

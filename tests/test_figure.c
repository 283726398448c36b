/// Figures as files: pixels where points are, nothing cut off, odd data, pictures of worlds, and
/// arguments that make no sense.
#include "draw/figure.h"
#include "figure_image.h"
#include "physics.h"

// ---- curves -----------------------------------------------------------------------------------

static void test_dot_is_where_its_numbers_say(void** state)
{
    (void)state;
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = 10.0, axes.x_high = 20.0, axes.y_low = 1e-3, axes.y_high = 10.0;
    axes.y_log = true;
    set_axes(figure, axes);
    const double x[] = {12.0, 17.0}, y[] = {1.0, 0.01};
    add_curve(figure, curve_of(x, y, 1, TALUS_CURVE_DOTS, TALUS_COLOUR_BLUE));
    add_curve(figure, curve_of(x + 1, y + 1, 1, TALUS_CURVE_DOTS, TALUS_COLOUR_VERMILLION));
    image m = write_and_read(figure);
    assert_int_equal(m.width, 800);
    assert_int_equal(m.height, 600);
    assert_int_equal(colour_at(&m, 0.2, 0.75), blue);
    assert_int_equal(colour_at(&m, 0.7, 0.25), vermillion);
    const double area = M_PI / 4.0 * 12.0 * 12.0;
    check_close("area of a dot", count_colour(&m, blue), area, 40.0, "its rim is mixed with white");
    cairo_surface_destroy(m.surface);
}

/// A line from far outside through the panel: seen where it crosses, and nowhere beyond the frame,
/// even where cairo's numbers would overflow.
static void test_lines_are_clipped(void** state)
{
    (void)state;
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = 0.0, axes.x_high = 1.0, axes.y_low = 0.0, axes.y_high = 1.0;
    set_axes(figure, axes);
    const double x[] = {-1e12, 1e12, 0.25, 0.25}, y[] = {-1e12, 1e12, -1e9, 1e9};
    add_curve(figure, curve_of(x, y, 2, TALUS_CURVE_LINE, TALUS_COLOUR_BLUE));
    add_curve(figure, curve_of(x + 2, y + 2, 2, TALUS_CURVE_LINE_DOTS, TALUS_COLOUR_VERMILLION));
    image m = write_and_read(figure);
    assert_int_equal(colour_at(&m, 0.5, 0.5), blue);
    assert_int_equal(colour_at(&m, 0.9, 0.9), blue);
    assert_int_equal(colour_at(&m, 0.25, 0.6), vermillion);
    for (int i = 0; i < m.height; i++) {
        for (int k = 0; k < m.width; k++) {
            const bool in =
                k >= m.left - 1 && k <= m.right + 1 && i >= m.top - 1 && i <= m.bottom + 1;
            const unsigned colour = pixel(&m, k, i);
            if (!in) assert_true(colour != blue && colour != vermillion);
        }
    }
    cairo_surface_destroy(m.surface);
}

static void test_breaks_and_steps(void** state)
{
    (void)state;
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = 0.0, axes.x_high = 4.0, axes.y_low = 0.0, axes.y_high = 1.0;
    set_axes(figure, axes);
    const double x[] = {0.5, 1.5, NAN, 2.5, 3.5}, y[] = {0.8, 0.8, 0.8, 0.8, 0.8};
    const double edge[] = {1.0, 2.0, 3.0}, count[] = {0.5, 0.25, 0.0};
    add_curve(figure, curve_of(x, y, 5, TALUS_CURVE_LINE, TALUS_COLOUR_BLUE));
    add_curve(figure, curve_of(edge, count, 3, TALUS_CURVE_STEPS, TALUS_COLOUR_VERMILLION));
    image m = write_and_read(figure);
    assert_int_equal(colour_at(&m, 0.25, 0.8), blue);
    assert_int_equal(colour_at(&m, 0.50, 0.8), 0xffffff);
    assert_int_equal(colour_at(&m, 0.75, 0.8), blue);
    assert_int_equal(colour_at(&m, 0.25, 0.3), vermillion); // first edge
    assert_int_equal(colour_at(&m, 0.4, 0.5), vermillion);  // first bin
    assert_int_equal(colour_at(&m, 0.6, 0.25), vermillion); // second bin
    assert_int_equal(colour_at(&m, 0.75, 0.1), vermillion); // last edge
    cairo_surface_destroy(m.surface);
}

/// Thinning out a million points hides none of them: the lone high one is there.
static void test_a_million_points(void** state)
{
    (void)state;
    enum { COUNT = 1000000, LONE = 250000 };
    double* x = malloc(COUNT * sizeof *x);
    double* y = malloc(COUNT * sizeof *y);
    for (int i = 0; i < COUNT; i++) {
        x[i] = (double)i / COUNT;
        y[i] = i == LONE ? 0.9 : 0.1 + 0.1 * sin(0.01 * i);
    }
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = 0.0, axes.x_high = 1.0, axes.y_low = 0.0, axes.y_high = 1.0;
    set_axes(figure, axes);
    add_curve(figure, curve_of(x, y, COUNT, TALUS_CURVE_DOTS, TALUS_COLOUR_VERMILLION));
    add_curve(figure, curve_of(x, y, COUNT, TALUS_CURVE_LINE, TALUS_COLOUR_BLUE));
    image m = write_and_read(figure);
    assert_int_equal(colour_at(&m, 0.25, 0.5), blue);
    assert_int_equal(colour_at(&m, 0.5, 0.1), blue);
    assert_true(count_colour(&m, vermillion) > 20); // the rims of dots beside the line
    cairo_surface_destroy(m.surface);
    free(x);
    free(y);
}

// ---- layout -----------------------------------------------------------------------------------

/// Long labels everywhere, and nothing beyond the page (see write_and_read()); axes of a column in
/// line.
static void test_panels_are_in_line(void** state)
{
    (void)state;
    talus_figure_def def = talus_figure_default();
    def.rows = 2;
    def.panel_height = 200.0;
    def.title = "A title over all of them: κ_{eff}^{2}";
    talus_figure* figure;
    talus_error error;
    check_ok(talus_figure_create(&def, &figure, &error), error);
    talus_axes_def axes = talus_axes_default();
    axes.title = "title";
    axes.x_label = "x_{long}^{2} (m)";
    axes.y_label = "y (N)";
    axes.x_low = -1e6, axes.x_high = 1e6, axes.y_low = 0.0, axes.y_high = 1.234567;
    check_ok(talus_figure_axes(figure, 0, &axes, &error), error);
    axes.y_low = 100000.0, axes.y_high = 100001.0;
    check_ok(talus_figure_axes(figure, 1, &axes, &error), error);
    const image m = write_and_read(figure);
    assert_int_equal(m.height, 848); // two panels and the title
    // Both frames have their left side in one column, which is dark along both.
    assert_true(dark_part(&m, false, m.left) > 0.6);
    cairo_surface_destroy(m.surface);
}

/// A factor that is wider than the numbers is not cut off (see write_and_read()).
static void test_wide_factor(void** state)
{
    (void)state;
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.y_high = 5e100;
    set_axes(figure, axes);
    const image m = write_and_read(figure);
    cairo_surface_destroy(m.surface);
}

static void test_legend_avoids_the_curve(void** state)
{
    (void)state;
    for (int mirror = 0; mirror < 2; mirror++) {
        double x[50], y[50];
        for (int i = 0; i < 50; i++) {
            x[i] = i;
            y[i] = mirror ? 50.0 - i : i;
        }
        talus_figure* figure = new_figure();
        talus_curve_def def = curve_of(x, y, 50, TALUS_CURVE_LINE, TALUS_COLOUR_BLUE);
        def.label = "a curve";
        add_curve(figure, def);
        image m = write_and_read(figure);
        // The sample of the legend is in the upper left of a rising curve, else in the upper right.
        int left = 0, right = 0;
        const int middle = (m.left + m.right) / 2, end = m.top + (m.bottom - m.top) / 5;
        for (int i = m.top; i < end; i++) {
            for (int k = m.left; k < m.right; k++) {
                if (pixel(&m, k, i) == blue) (k < middle ? left++ : right++);
            }
        }
        assert_true(left > 20 && right > 20); // curve on one side, sample on the other
        cairo_surface_destroy(m.surface);
    }
}

// ---- odd data ----------------------------------------------------------------------------------

static void test_odd_data(void** state)
{
    (void)state;
    static const double odd[][4] = {{NAN, NAN, NAN, NAN}, {INFINITY, -INFINITY, 1e308, -1e308},
                                    {0, 0, 0, 0},         {5, 5, 5, 5},
                                    {-1, -2, -3, 0},      {1e-320, 1e-310, 1, 1e290},
                                    {1, 1 + 1e-15, 1, 1}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (int mode = 0; mode < 16; mode++) {
            talus_figure* figure = new_figure();
            talus_axes_def axes = talus_axes_default();
            axes.x_log = mode & 1;
            axes.y_log = mode & 2;
            axes.equal = mode & 4;
            set_axes(figure, axes);
            for (int style = TALUS_CURVE_LINE; style <= TALUS_CURVE_STEPS; style++) {
                talus_curve_def def = curve_of(odd[i], odd[(i + 3) % (sizeof odd / sizeof *odd)],
                                               mode & 8 ? 4 : 1, (talus_curve_style)style, -1);
                def.y_error = odd[i];
                def.label = style == 0 ? "label" : NULL;
                add_curve(figure, def);
            }
            talus_error error;
            check_ok(talus_figure_mark(figure, 0, true, odd[i][0], "mark", &error), error);
            check_ok(talus_figure_text(figure, 0, odd[i][0], odd[i][1], "text", &error), error);
            check_ok(talus_figure_write(figure, "test_figure_odd.png", 72.0, &error), error);
            talus_figure_destroy(figure);
        }
    }
    unlink("test_figure_odd.png");
}

static void test_empty_figure_in_all_formats(void** state)
{
    (void)state;
    static const char* const path[] = {"test_figure.svg", "test_figure.pdf", "test_figure.PNG"};
    static const char* const start[] = {"<?xml", "%PDF", "\x89PNG"};
    talus_figure* figure = new_figure();
    talus_error error;
    for (int i = 0; i < 3; i++) {
        char head[8] = "";
        check_ok(talus_figure_write(figure, path[i], 72.0, &error), error);
        FILE* file = fopen(path[i], "rb");
        assert_non_null(file);
        assert_int_equal(fread(head, 1, strlen(start[i]), file), strlen(start[i]));
        fclose(file);
        assert_string_equal(head, start[i]);
        unlink(path[i]);
    }
    talus_figure_destroy(figure);
}

// ---- pictures of worlds ------------------------------------------------------------------------

/// The same colour, but for the rounding to bytes.
static void check_colour(unsigned seen, rgb expected)
{
    assert_true(fabs((seen >> 16) / 255.0 - expected.red) < 0.01);
    assert_true(fabs((seen >> 8 & 255) / 255.0 - expected.green) < 0.01);
    assert_true(fabs((seen & 255) / 255.0 - expected.blue) < 0.01);
}

/// Two disks on a floor, one coloured by the lower, one by the upper end of the scale.
static void test_picture_of_disks(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def disk = physics_ball(0.5, 1.0, 0, 0.5, 0);
    physics_add(world, &disk);
    disk.position[0] = 2.0;
    physics_add(world, &disk);
    for (int i = 0; i < 3; i++) physics_step(world, 1e-3);
    const double value[] = {0.0, 1.0};
    talus_picture_def def = talus_picture_default();
    def.value = value;
    def.value_label = "value";
    talus_figure* figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    axes.x_low = -1.0, axes.x_high = 3.0, axes.y_low = -0.5, axes.y_high = 1.5;
    set_axes(figure, axes);
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    image m = write_and_read(figure);
    // The scale of colours stands right of the frame, dark at its left and right side too.
    const double frame = 2.0 * (m.bottom - m.top); // the axes are twice as long as high
    m.right = m.left + (int)lround(frame);
    check_colour(colour_at(&m, 0.25, 0.5), colour_of_scale(0.0));
    check_colour(colour_at(&m, 0.75, 0.5), colour_of_scale(1.0));
    assert_int_equal(colour_at(&m, 0.5, 0.5), 0xffffff);
    assert_true(is_dark(colour_at(&m, 0.5, 0.25))); // the floor
    cairo_surface_destroy(m.surface);
    talus_world_destroy(world);
}

/// Colours of one's own for grains: a light shade of the palette, and no scale beside them.
static void test_picture_of_own_colours(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    const talus_grain_def disk = physics_ball(0.5, 1.0, 0, 0, 0);
    physics_add(world, &disk);
    int colour[] = {TALUS_COLOUR_BLUE};
    talus_picture_def def = talus_picture_default();
    def.grain_colour = colour;
    talus_figure* figure = new_figure();
    const picture* made = &figure->panel[0].picture;
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    const rgb light = colour_mix(colour_of_palette(TALUS_COLOUR_BLUE), (rgb){1.0, 1.0, 1.0}, 0.5);
    assert_true(memcmp(&made->piece[0].colour, &light, sizeof light) == 0);
    assert_false(made->scaled);
    colour[0] = 8;
    assert_int_equal(talus_figure_world(figure, 0, world, &def, &error), TALUS_ERR_ARGUMENT);
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

/// The force between a disk and the floor is a bar from the contact to the centre.
static void test_picture_of_forces(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(2, 0.5, 0, -10, 0);
    physics_plane(world, "floor", 0, 1, 0);
    talus_grain_def disk = physics_ball(0.5, 1.0, 0, 0.5, 0);
    physics_add(world, &disk);
    for (int i = 0; i < 3; i++) physics_step(world, 1e-3);
    talus_picture_def def = talus_picture_default();
    def.forces = true;
    for (int own = 0; own < 2; own++) {
        const int colour[] = {TALUS_COLOUR_BLUE};
        def.force_colour = own ? colour : NULL;
        talus_figure* figure = new_figure();
        talus_axes_def axes = talus_axes_default();
        axes.x_low = -1.0, axes.x_high = 1.0, axes.y_low = -0.5, axes.y_high = 1.5;
        set_axes(figure, axes);
        talus_error error;
        check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
        image m = write_and_read(figure);
        const unsigned expected = own ? blue : vermillion;
        assert_int_equal(colour_at(&m, 0.5, 0.40), expected);
        assert_int_equal(colour_at(&m, 0.6, 0.40), expected); // 0.6 of a diameter wide
        assert_true(colour_at(&m, 0.7, 0.40) != expected);
        cairo_surface_destroy(m.surface);
    }
    talus_world_destroy(world);
}

/// The nearer ball hides the other one, from each side.
static void test_picture_of_balls(void** state)
{
    (void)state;
    talus_world* world = physics_world_g(3, 0.5, 0, 0, 0);
    const double value[] = {0.0, 1.0};
    for (int i = 0; i < 2; i++) {
        talus_grain_def ball = physics_ball(0.5, 1.0, 0, 0, 0);
        ball.position[1] = 2.0 * i;
        physics_add(world, &ball);
    }
    talus_picture_def def = talus_picture_default();
    def.value = value;
    talus_figure* figure = new_figure();
    panel* p = &figure->panel[0];
    talus_error error;
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    assert_int_equal(p->picture.piece_count, 2);
    // Looking along y the ball at y = 0 is nearer: drawn last, and not faded.
    const rgb front = colour_of_scale(0.0);
    assert_true(memcmp(&p->picture.piece[1].colour, &front, sizeof front) == 0);
    def.view = 2; // from above both are seen
    check_ok(talus_figure_world(figure, 0, world, &def, &error), error);
    check_close("extent", p->picture.y.high - p->picture.y.low, 3.0, 1e-12, "rounding");
    talus_figure_destroy(figure);
    talus_world_destroy(world);
}

// ---- wrong arguments ---------------------------------------------------------------------------

static void check_refused(talus_status status, talus_status expected, const talus_error* error,
                          const char* word)
{
    assert_int_equal(status, expected);
    assert_int_equal(error->status, expected);
    assert_non_null(strstr(error->text, word));
}

static void test_refused_figures_and_axes(void** state)
{
    (void)state;
    talus_error error;
    talus_figure* figure = NULL;
    talus_figure_def def = talus_figure_default();
    def.columns = 0;
    check_refused(talus_figure_create(&def, &figure, &error), TALUS_ERR_ARGUMENT, &error, "panels");
    assert_null(figure);
    def = talus_figure_default();
    def.panel_width = NAN;
    check_refused(talus_figure_create(&def, &figure, &error), TALUS_ERR_ARGUMENT, &error, "points");
    figure = new_figure();
    talus_axes_def axes = talus_axes_default();
    check_refused(talus_figure_axes(figure, 1, &axes, &error), TALUS_ERR_ARGUMENT, &error,
                  "panel 1");
    check_refused(talus_figure_axes(figure, -1, &axes, &error), TALUS_ERR_ARGUMENT, &error,
                  "panel -1");
    axes.x_low = NAN;
    check_refused(talus_figure_axes(figure, 0, &axes, &error), TALUS_ERR_ARGUMENT, &error,
                  "axis x");
    axes = talus_axes_default();
    axes.y_log = true, axes.y_high = 1.0;
    check_refused(talus_figure_axes(figure, 0, &axes, &error), TALUS_ERR_ARGUMENT, &error,
                  "positive");
    axes = talus_axes_default();
    axes.y_low = 1.0, axes.y_high = 1.0 + 1e-13;
    check_refused(talus_figure_axes(figure, 0, &axes, &error), TALUS_ERR_ARGUMENT, &error, "close");
    axes = talus_axes_default();
    axes.legend = (talus_legend)99;
    check_refused(talus_figure_axes(figure, 0, &axes, &error), TALUS_ERR_ARGUMENT, &error,
                  "legend");
    talus_figure_destroy(figure);
    talus_figure_destroy(NULL);
}

static void test_refused_curves(void** state)
{
    (void)state;
    talus_error error;
    talus_figure* figure = new_figure();
    const double x[] = {1.0, 2.0};
    const talus_curve_def good = curve_of(x, x, 2, TALUS_CURVE_LINE, -1);
    talus_curve_def bad[6] = {good, good, good, good, good, good};
    bad[0].count = -1;
    bad[1].y = NULL;
    bad[2].colour = COLOUR_PALETTE;
    bad[3].marker = -2;
    bad[4].width = 0.0;
    bad[5].style = (talus_curve_style)17;
    for (int i = 0; i < 6; i++) {
        check_refused(talus_figure_curve(figure, 0, &bad[i], &error), TALUS_ERR_ARGUMENT, &error,
                      "figure");
    }
    assert_int_equal(talus_figure_curve(figure, 0, &bad[0], NULL), TALUS_ERR_ARGUMENT);
    assert_int_equal(figure->panel[0].curve_count, 0);
    check_refused(talus_figure_text(figure, 0, 0, 0, NULL, &error), TALUS_ERR_ARGUMENT, &error,
                  "text");
    talus_figure_destroy(figure);
}

static void test_refused_pictures(void** state)
{
    (void)state;
    talus_error error;
    talus_figure* figure = new_figure();
    talus_world* world = physics_world_g(2, 0.5, 0, 0, 0);
    talus_picture_def bad = talus_picture_default();
    bad.view = 3;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "axes");
    bad = talus_picture_default();
    bad.value_low = 1.0;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "scale");
    bad = talus_picture_default();
    bad.forces = true, bad.force_width = -1.0;
    check_refused(talus_figure_world(figure, 0, world, &bad, &error), TALUS_ERR_ARGUMENT, &error,
                  "width");
    // An empty world is a picture of nothing.
    talus_picture_def empty = talus_picture_default();
    check_ok(talus_figure_world(figure, 0, world, &empty, &error), error);
    image m = write_and_read(figure);
    cairo_surface_destroy(m.surface);
    talus_world_destroy(world);
}

static void test_refused_files(void** state)
{
    (void)state;
    talus_error error;
    talus_figure* figure = new_figure();
    check_refused(talus_figure_write(figure, "figure.jpeg", 72.0, &error), TALUS_ERR_ARGUMENT,
                  &error, "figure.jpeg");
    check_refused(talus_figure_write(figure, ".png", 72.0, &error), TALUS_ERR_ARGUMENT, &error,
                  ".png");
    check_refused(talus_figure_write(figure, "no/such/folder/f.png", 72.0, &error), TALUS_ERR_IO,
                  &error, "no/such/folder/f.png");
    check_refused(talus_figure_write(figure, "no/such/folder/f.svg", 72.0, &error), TALUS_ERR_IO,
                  &error, "No such file");
    check_refused(talus_figure_write(figure, "f.png", 1e9, &error), TALUS_ERR_ARGUMENT, &error,
                  "dots");
    check_refused(talus_figure_write(figure, "f.png", 0.0, &error), TALUS_ERR_ARGUMENT, &error,
                  "dots");
    assert_int_not_equal(access("f.png", F_OK), 0);
    talus_figure_destroy(figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot_is_where_its_numbers_say),
        cmocka_unit_test(test_lines_are_clipped),
        cmocka_unit_test(test_breaks_and_steps),
        cmocka_unit_test(test_a_million_points),
        cmocka_unit_test(test_panels_are_in_line),
        cmocka_unit_test(test_wide_factor),
        cmocka_unit_test(test_legend_avoids_the_curve),
        cmocka_unit_test(test_odd_data),
        cmocka_unit_test(test_empty_figure_in_all_formats),
        cmocka_unit_test(test_picture_of_disks),
        cmocka_unit_test(test_picture_of_own_colours),
        cmocka_unit_test(test_picture_of_forces),
        cmocka_unit_test(test_picture_of_balls),
        cmocka_unit_test(test_refused_figures_and_axes),
        cmocka_unit_test(test_refused_curves),
        cmocka_unit_test(test_refused_pictures),
        cmocka_unit_test(test_refused_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Figures as files: pixels where points are, nothing cut off, odd data, and
/// arguments that make no sense.
#include "figure_image.h"
#include "picture/figure.h"
#include "random.h"

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

/// Share of the axes between these parts of them that has another colour.
static double other_part(const image* m, unsigned colour, double x0, double x1, double y0,
                         double y1)
{
    int all = 0, missing = 0;
    for (double x = x0; x <= x1; x += 0.002) {
        for (double y = y0; y <= y1; y += 0.002) {
            all++;
            missing += colour_at(m, x, y) != colour;
        }
    }
    return (double)missing / all;
}

/// Histograms, dashes and points in no order are thinned out too; what they show stays: a filled
/// square, and the lone point outside.
static void test_many_points_of_every_style(void** state)
{
    (void)state;
    enum { COUNT = 300000, LONE = 250000 };
    double* x = malloc(COUNT * sizeof *x);
    double* y = malloc(COUNT * sizeof *y);
    static const talus_curve_style style[] = {TALUS_CURVE_STEPS, TALUS_CURVE_LINE, TALUS_CURVE_LINE,
                                              TALUS_CURVE_LINE};
    for (int mode = 0; mode < 4; mode++) {
        const bool ordered = mode < 2, dashed = mode % 2 == 0;
        rng random = rng_make(5, 0, 0);
        for (int i = 0; i < COUNT; i++) {
            x[i] = ordered ? (double)i / COUNT : uniform(&random, 0.2, 0.8);
            y[i] = i == LONE ? 0.95 : uniform(&random, 0.2, 0.7);
        }
        if (!ordered) x[LONE] = 0.9;
        talus_figure* figure = new_figure();
        talus_axes_def axes = talus_axes_default();
        axes.x_low = 0.0, axes.x_high = 1.0, axes.y_low = 0.0, axes.y_high = 1.0;
        set_axes(figure, axes);
        talus_curve_def def = curve_of(x, y, COUNT, style[mode], TALUS_COLOUR_BLUE);
        if (dashed) def.dash = TALUS_DASH_DASHED;
        add_curve(figure, def);
        image m = write_and_read(figure);
        // Gaps of dashes are not always closed by other dashes.
        assert_true(other_part(&m, blue, 0.25, 0.75, 0.25, 0.65) < (dashed ? 0.1 : 0.01));
        int lone = 0;
        for (double up = 0.72; up < 0.9; up += 0.002) {
            // Unordered, the lines to the lone point come from anywhere in the square.
            for (double right = 0.6; right < 0.95; right += 0.002) {
                lone += colour_at(&m, right, up) == blue;
            }
        }
        assert_true(lone > 100);
        assert_int_equal(colour_at(&m, 0.1, 0.9), 0xffffff);
        cairo_surface_destroy(m.surface);
    }
    free(x);
    free(y);
}

/// A dashed line of thousands of points has the dashes of the straight line that it is.
static void test_dashes_go_on(void** state)
{
    (void)state;
    enum { COUNT = 4000 };
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (double)i / (COUNT - 1);
        y[i] = 0.5;
    }
    const double ends[] = {0.0, 1.0}, height[] = {0.5, 0.5};
    image seen[2];
    for (int many = 0; many < 2; many++) {
        talus_figure* figure = new_figure();
        talus_axes_def axes = talus_axes_default();
        axes.x_low = 0.0, axes.x_high = 1.0, axes.y_low = 0.0, axes.y_high = 1.0;
        set_axes(figure, axes);
        talus_curve_def def = curve_of(many ? x : ends, many ? y : height, many ? COUNT : 2,
                                       TALUS_CURVE_LINE, TALUS_COLOUR_BLUE);
        def.dash = TALUS_DASH_DASHED;
        add_curve(figure, def);
        seen[many] = write_and_read(figure);
    }
    int differ = 0, dark = 0;
    const int middle = (seen[0].top + seen[0].bottom) / 2;
    for (int k = seen[0].left + 2; k < seen[0].right - 2; k++) {
        differ += (pixel(&seen[0], k, middle) == blue) != (pixel(&seen[1], k, middle) == blue);
        dark += pixel(&seen[0], k, middle) == blue;
    }
    assert_true(dark > 100);
    assert_true(differ <= 4); // where one pixel more or less of a dash is mixed with white
    for (int many = 0; many < 2; many++) cairo_surface_destroy(seen[many].surface);
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
            check_ok(talus_figure_write(figure, "test_figure_odd.png", 144.0, &error), error);
            talus_figure_destroy(figure);
            image m = read_image("test_figure_odd.png");
            // There is a frame; one with equal units may be narrow.
            if (!axes.equal) assert_true(m.right - m.left > 100 && m.bottom - m.top > 100);
            cairo_surface_destroy(m.surface);
        }
    }
    unlink("test_figure_odd.png");
}

/// Ranges that doubles can hardly hold: no division by zero, and points where they are: together in
/// the middle of the axes.
static void test_shortest_ranges(void** state)
{
    (void)state;
    static const double end[] = {5e-324, 1e-323, 1e-310, 1e-300, 1e-291};
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
        const double x[] = {0.0, end[i]};
        talus_axes_def axes = talus_axes_default();
        for (int equal = 0; equal < 2; equal++) {
            axes.equal = equal;
            talus_figure* figure = new_figure();
            set_axes(figure, axes);
            add_curve(figure, curve_of(x, x, 2, TALUS_CURVE_DOTS, TALUS_COLOUR_BLUE));
            image m = write_and_read(figure);
            assert_int_equal(colour_at(&m, 0.5, 0.5), blue);
            cairo_surface_destroy(m.surface);
        }
        talus_figure* figure = new_figure();
        talus_error error;
        axes.y_high = end[i];
        check_refused(talus_figure_axes(figure, 0, &axes, &error), TALUS_ERR_ARGUMENT, &error,
                      "close");
        talus_figure_destroy(figure);
    }
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

// ---- wrong arguments ---------------------------------------------------------------------------

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
    talus_curve_def bad[7] = {good, good, good, good, good, good, good};
    bad[0].count = -1;
    bad[1].y = NULL;
    bad[2].colour = COLOUR_PALETTE;
    bad[3].marker = -2;
    bad[4].width = 0.0;
    bad[5].style = (talus_curve_style)17;
    bad[6].count = (int64_t)1 << 60;
    for (int i = 0; i < 7; i++) {
        check_refused(talus_figure_curve(figure, 0, &bad[i], &error), TALUS_ERR_ARGUMENT, &error,
                      "figure");
    }
    assert_int_equal(talus_figure_curve(figure, 0, &bad[0], NULL), TALUS_ERR_ARGUMENT);
    assert_int_equal(figure->panel[0].series_count, 0);
    check_refused(talus_figure_text(figure, 0, 0, 0, NULL, &error), TALUS_ERR_ARGUMENT, &error,
                  "text");
    talus_figure_destroy(figure);
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
        cmocka_unit_test(test_many_points_of_every_style),
        cmocka_unit_test(test_dashes_go_on),
        cmocka_unit_test(test_panels_are_in_line),
        cmocka_unit_test(test_wide_factor),
        cmocka_unit_test(test_legend_avoids_the_curve),
        cmocka_unit_test(test_odd_data),
        cmocka_unit_test(test_shortest_ranges),
        cmocka_unit_test(test_empty_figure_in_all_formats),
        cmocka_unit_test(test_refused_figures_and_axes),
        cmocka_unit_test(test_refused_curves),
        cmocka_unit_test(test_refused_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

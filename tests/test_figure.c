/// Figures: ticks and texts against known answers, pixels where points are, nothing cut off or on
/// top of each other, odd data, and arguments that make no sense.
#include "draw/picture.h"
#include "draw/plot.h"
#include "draw/text.h"
#include "physics.h"
#include "random.h"

#include <string.h>
#include <talus/figure.h>
#include <unistd.h>

// ---- ticks -------------------------------------------------------------------------------------

static void check_labels(double low, double high, bool log, int wanted, const char* expected,
                         const char* factor)
{
    ticks t;
    char all[TICKS_MAX * (TICKS_TEXT + 1)] = "";
    ticks_make(low, high, log, wanted, &t);
    for (int i = 0; i < t.count; i++) {
        if (i > 0) strcat(all, " ");
        strcat(all, t.label[i]);
    }
    assert_string_equal(all, expected);
    assert_string_equal(t.factor, factor);
}

static void test_ticks_known(void** state)
{
    (void)state;
    check_labels(0, 1, false, 5, "0.0 0.2 0.4 0.6 0.8 1.0", "");
    check_labels(-3.2, 7.9, false, 6, "−2 0 2 4 6", "");
    check_labels(-0.05, 0.05, false, 5, "−0.04 −0.02 0.00 0.02 0.04", "");
    check_labels(0, 2e6, false, 4, "0.0 0.5 1.0 1.5 2.0", "×10^{6}");
    check_labels(1e-7, 4e-7, false, 4, "1 2 3 4", "×10^{−7}");
    check_labels(1000, 1003, false, 3, "1000 1001 1002 1003", "");
    check_labels(1, 1e4, true, 6, "10^{0} 10^{1} 10^{2} 10^{3} 10^{4}", "");
    check_labels(1e-6, 1, true, 4, "10^{−6} 10^{−4} 10^{−2} 10^{0}", "");
    check_labels(0.9, 60, true, 6, "1 2 5 10 20 50", "");
    check_labels(2e6, 3e7, true, 6, "2×10^{6} 5×10^{6} 10^{7} 2×10^{7}", "");
    check_labels(0.9, 60, true, 4, "1 3 10 30", "");
    check_labels(0.9, 60, true, 2, "1 10", "");
    check_labels(2, 3, true, 5, "2.0 2.2 2.4 2.6 2.8 3.0", "");
}

static void test_ticks_minor(void** state)
{
    (void)state;
    ticks t;
    ticks_make(0, 1, false, 5, &t); // steps of 0.2, in four parts each
    assert_int_equal(t.minor_count, 15);
    check_close("first minor tick", t.minor[0], 0.05, 1e-15, "rounding");
    ticks_make(1, 100, true, 5, &t);
    assert_int_equal(t.minor_count, 16); // 2 to 9 and 20 to 90
}

/// Whatever the range, there are at least two ticks, in order, within the axis, and their labels
/// are their numbers.
static void test_ticks_any_range(void** state)
{
    (void)state;
    rng random = rng_make(7, 0, 0);
    for (int i = 0; i < 20000; i++) {
        const double size = pow(10.0, uniform(&random, -12.0, 12.0));
        const double low = uniform(&random, -size, size);
        const double high = low + size * pow(10.0, uniform(&random, -6.0, 1.0));
        ticks t;
        ticks_make(low, high, false, 2 + i % 9, &t);
        assert_in_range(t.count, 2, 12);
        double factor = 1.0;
        int exponent = 0;
        if (sscanf(t.factor, "×10^{−%d}", &exponent) == 1) {
            factor = pow(10.0, -exponent);
        } else if (sscanf(t.factor, "×10^{%d}", &exponent) == 1) {
            factor = pow(10.0, exponent);
        }
        const double step = t.at[1] - t.at[0];
        for (int k = 0; k < t.count; k++) {
            assert_true(t.at[k] >= low - 1e-6 * step && t.at[k] <= high + 1e-6 * step);
            assert_true(k == 0 || t.at[k] > t.at[k - 1]);
            const bool minus = strncmp(t.label[k], "−", 3) == 0;
            const double said = factor * strtod(t.label[k] + (minus ? 3 : 0), NULL);
            assert_true(fabs((minus ? -said : said) - t.at[k]) <= 1e-5 * step);
        }
    }
}

// ---- texts -------------------------------------------------------------------------------------

static cairo_t* some_page(void)
{
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 400, 300);
    cairo_t* cr = cairo_create(surface);
    cairo_surface_destroy(surface);
    return cr;
}

static double width_of(cairo_t* cr, const char* text)
{
    return text_measure(cr, text, 10.0).width;
}

static void test_text_scripts(void** state)
{
    (void)state;
    cairo_t* cr = some_page();
    const double n = width_of(cr, "N"), script = 0.72 * width_of(cr, "abc");
    const char* why = "a script is 0.72 of the size; hinting of glyph widths";
    check_close("N_{abc}", width_of(cr, "N_{abc}"), n + script, 1.5, why);
    check_close("one above the other", width_of(cr, "N_{a}^{abc}"), n + script, 1.5, why);
    check_close("never closed", width_of(cr, "N_{abc"), width_of(cr, "N_{abc}"), 1e-9, "the same");
    check_close("nested", width_of(cr, "N^{a_{b}}") > n, 1, 0, "exact");
    assert_true(width_of(cr, "a_b^c}") > width_of(cr, "abc")); // plain without an opening brace
    const text_size plain = text_measure(cr, "N", 10.0);
    assert_true(text_measure(cr, "N^{2}", 10.0).above > plain.above);
    assert_true(text_measure(cr, "N_{2}", 10.0).below > plain.below);
    assert_true(width_of(cr, NULL) == 0.0 && width_of(cr, "") == 0.0);
    cairo_destroy(cr);
}

static void test_text_not_utf8(void** state)
{
    (void)state;
    static const char* const bad[] = {
        "a\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "tab\tline\n"};
    cairo_t* cr = some_page();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char* copy = text_copy(bad[i]);
        text_draw(cr, copy, 10.0, 5.0, 5.0, 0.5, 0.0);
        assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
        free(copy);
    }
    char* good = text_copy("κ ⟨f⟩ 𝜔");
    assert_string_equal(good, "κ ⟨f⟩ 𝜔");
    free(good);
    cairo_destroy(cr);
}

// ---- pictures read back ------------------------------------------------------------------------

/// A PNG as it lies on the disk, and where in it the frame of its (only) panel is.
typedef struct image {
    cairo_surface_t* surface;
    int width, height;
    int left, right, top, bottom; ///< of the frame
} image;

static unsigned pixel(const image* m, int x, int y)
{
    const unsigned char* data = cairo_image_surface_get_data(m->surface);
    uint32_t value;
    memcpy(&value, data + y * cairo_image_surface_get_stride(m->surface) + 4 * x, sizeof value);
    return value & 0xffffff;
}

static bool is_dark(unsigned colour)
{
    return (colour >> 16) + (colour >> 8 & 255) + (colour & 255) < 3 * 128;
}

/// Share of dark pixels in a row or column.
static double dark_part(const image* m, bool row, int at)
{
    const int count = row ? m->width : m->height;
    int dark = 0;
    for (int i = 0; i < count; i++) dark += is_dark(row ? pixel(m, i, at) : pixel(m, at, i));
    return (double)dark / count;
}

static image read_image(const char* path)
{
    image m = {.surface = cairo_image_surface_create_from_png(path)};
    assert_int_equal(cairo_surface_status(m.surface), CAIRO_STATUS_SUCCESS);
    m.width = cairo_image_surface_get_width(m.surface);
    m.height = cairo_image_surface_get_height(m.surface);
    m.right = m.width - 1, m.bottom = m.height - 1;
    while (m.left < m.right && dark_part(&m, false, m.left) < 0.5) m.left++;
    while (m.right > m.left && dark_part(&m, false, m.right) < 0.5) m.right--;
    while (m.top < m.bottom && dark_part(&m, true, m.top) < 0.5) m.top++;
    while (m.bottom > m.top && dark_part(&m, true, m.bottom) < 0.5) m.bottom--;
    return m;
}

/// Colour at a place given in parts of the axes.
static unsigned colour_at(const image* m, double x, double y)
{
    return pixel(m, (int)lround(m->left + x * (m->right - m->left)),
                 (int)lround(m->bottom - y * (m->bottom - m->top)));
}

static int count_colour(const image* m, unsigned colour)
{
    int count = 0;
    for (int y = 0; y < m->height; y++) {
        for (int x = 0; x < m->width; x++) count += pixel(m, x, y) == colour;
    }
    return count;
}

/// No ink may touch the border of the page: something would be cut off.
static void check_border_is_white(const image* m)
{
    for (int x = 0; x < m->width; x++) {
        assert_int_equal(pixel(m, x, 0), 0xffffff);
        assert_int_equal(pixel(m, x, m->height - 1), 0xffffff);
    }
    for (int y = 0; y < m->height; y++) {
        assert_int_equal(pixel(m, 0, y), 0xffffff);
        assert_int_equal(pixel(m, m->width - 1, y), 0xffffff);
    }
}

static const unsigned blue = 0x0072b2, vermillion = 0xd55e00;

static talus_figure* new_figure(void)
{
    talus_figure_def def = talus_figure_default();
    talus_figure* figure;
    talus_error error;
    check_ok(talus_figure_create(&def, &figure, &error), error);
    return figure;
}

static void add_curve(talus_figure* figure, talus_curve_def def)
{
    talus_error error;
    check_ok(talus_figure_curve(figure, 0, &def, &error), error);
}

static talus_curve_def curve_of(const double* x, const double* y, int64_t count,
                                talus_curve_style style, int colour)
{
    talus_curve_def def = talus_curve_default();
    def.x = x;
    def.y = y;
    def.count = count;
    def.style = style;
    def.colour = colour;
    def.marker = 0;
    def.width = 3.0;
    def.dot_size = 6.0;
    return def;
}

/// Write a figure, forget it, and look at the file.
static image write_and_read(talus_figure* figure)
{
    static const char path[] = "test_figure.png";
    talus_error error;
    check_ok(talus_figure_write(figure, path, 144.0, &error), error);
    talus_figure_destroy(figure);
    image m = read_image(path);
    assert_int_equal(unlink(path), 0);
    check_border_is_white(&m);
    return m;
}

static void set_axes(talus_figure* figure, talus_axes_def def)
{
    talus_error error;
    check_ok(talus_figure_axes(figure, 0, &def, &error), error);
}

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

// ---- layout ------------------------------------------------------------------------------------

/// Numbers of an axis do not touch each other.
static void check_ticks_apart(cairo_t* cr, const axis* x, const axis* y, double width)
{
    ticks x_ticks, y_ticks;
    axes_ticks(cr, x, y, width, 0.75 * width, &x_ticks, &y_ticks);
    axis page = *x;
    page.from = 0.0, page.to = width;
    for (int i = 1; i < x_ticks.count; i++) {
        const double distance = axis_at(&page, x_ticks.at[i]) - axis_at(&page, x_ticks.at[i - 1]);
        const double room = 0.5 * (text_measure(cr, x_ticks.label[i], PLOT_SMALL_TEXT).width +
                                   text_measure(cr, x_ticks.label[i - 1], PLOT_SMALL_TEXT).width);
        assert_true(distance > room);
    }
    page = *y;
    page.from = 0.0, page.to = 0.75 * width;
    for (int i = 1; i < y_ticks.count; i++) {
        const double distance = axis_at(&page, y_ticks.at[i]) - axis_at(&page, y_ticks.at[i - 1]);
        assert_true(distance > 1.1 * PLOT_SMALL_TEXT);
    }
}

static void test_numbers_do_not_touch(void** state)
{
    (void)state;
    cairo_t* cr = some_page();
    rng random = rng_make(11, 0, 0);
    for (int i = 0; i < 3000; i++) {
        const double size = pow(10.0, uniform(&random, -8.0, 8.0));
        const double low = uniform(&random, -size, size);
        const axis linear = {.low = low, .high = low + size * uniform(&random, 0.01, 2.0)};
        const axis log = {
            .low = size, .high = size * pow(10.0, uniform(&random, 0.05, 14.0)), .log = true};
        check_ticks_apart(cr, i % 2 ? &linear : &log, i % 3 ? &linear : &log,
                          uniform(&random, 120.0, 600.0));
    }
    cairo_destroy(cr);
}

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
        cmocka_unit_test(test_ticks_known),
        cmocka_unit_test(test_ticks_minor),
        cmocka_unit_test(test_ticks_any_range),
        cmocka_unit_test(test_text_scripts),
        cmocka_unit_test(test_text_not_utf8),
        cmocka_unit_test(test_dot_is_where_its_numbers_say),
        cmocka_unit_test(test_lines_are_clipped),
        cmocka_unit_test(test_breaks_and_steps),
        cmocka_unit_test(test_a_million_points),
        cmocka_unit_test(test_numbers_do_not_touch),
        cmocka_unit_test(test_panels_are_in_line),
        cmocka_unit_test(test_legend_avoids_the_curve),
        cmocka_unit_test(test_odd_data),
        cmocka_unit_test(test_empty_figure_in_all_formats),
        cmocka_unit_test(test_picture_of_disks),
        cmocka_unit_test(test_picture_of_forces),
        cmocka_unit_test(test_picture_of_balls),
        cmocka_unit_test(test_refused_figures_and_axes),
        cmocka_unit_test(test_refused_curves),
        cmocka_unit_test(test_refused_pictures),
        cmocka_unit_test(test_refused_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Parts of figures: ticks and texts against known answers, numbers and legends that keep off each
/// other.
#include "picture/plot.h"
#include "picture/text.h"
#include "random.h"
#include "support.h"

#include <string.h>

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

// ---- layout -----------------------------------------------------------------------------------

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

/// The label of a mark stands in the upper right; the legend goes elsewhere.
static void test_legend_avoids_labels(void** state)
{
    (void)state;
    cairo_t* cr = some_page();
    const talus_figure_def def = talus_figure_default();
    talus_figure* figure;
    talus_error error;
    check_ok(talus_figure_create(&def, &figure, &error), error);
    const plot p = {.cr = cr,
                    .panel = &figure->panel[0],
                    .x = {.high = 1.0, .to = 400.0},
                    .y = {.high = 1.0, .from = 300.0},
                    .box = {0.0, 0.0, 400.0, 300.0}};
    check_ok(talus_figure_mark(figure, 0, true, 0.7, "a label", &error), error);
    check_ok(talus_figure_text(figure, 0, 0.1, 0.1, "a text", &error), error);
    const rectangle upper_right = {300.0, 0.0, 100.0, 40.0}, upper_left = {0.0, 0.0, 100.0, 40.0},
                    lower_left = {0.0, 260.0, 100.0, 40.0};
    assert_int_equal(notes_under(&p, &upper_right), 1);
    assert_int_equal(notes_under(&p, &upper_left), 0);
    assert_int_equal(notes_under(&p, &lower_left), 1);
    talus_figure_destroy(figure);
    cairo_destroy(cr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks_known),          cmocka_unit_test(test_ticks_minor),
        cmocka_unit_test(test_ticks_any_range),      cmocka_unit_test(test_text_scripts),
        cmocka_unit_test(test_text_not_utf8),        cmocka_unit_test(test_numbers_do_not_touch),
        cmocka_unit_test(test_legend_avoids_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

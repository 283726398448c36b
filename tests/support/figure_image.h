/// Figures as tests want them: written, read back, and where in the PNG things are.
#ifndef TALUS_TESTS_FIGURE_IMAGE_H
#define TALUS_TESTS_FIGURE_IMAGE_H

#include "support.h"

#include <cairo.h>
#include <string.h>
#include <talus/figure.h>
#include <unistd.h>

/// A PNG as it lies on the disk, and where in it the frame of its (only) panel is.
typedef struct image {
    cairo_surface_t* surface;
    int width, height;
    int left, right, top, bottom; ///< of the frame
} image;

static inline unsigned pixel(const image* m, int x, int y)
{
    const unsigned char* data = cairo_image_surface_get_data(m->surface);
    uint32_t value;
    memcpy(&value, data + y * cairo_image_surface_get_stride(m->surface) + 4 * x, sizeof value);
    return value & 0xffffff;
}

static inline bool is_dark(unsigned colour)
{
    return (colour >> 16) + (colour >> 8 & 255) + (colour & 255) < 3 * 128;
}

/// Share of dark pixels in a row or column.
static inline double dark_part(const image* m, bool row, int at)
{
    const int count = row ? m->width : m->height;
    int dark = 0;
    for (int i = 0; i < count; i++) dark += is_dark(row ? pixel(m, i, at) : pixel(m, at, i));
    return (double)dark / count;
}

static inline image read_image(const char* path)
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
static inline unsigned colour_at(const image* m, double x, double y)
{
    return pixel(m, (int)lround(m->left + x * (m->right - m->left)),
                 (int)lround(m->bottom - y * (m->bottom - m->top)));
}

static inline int count_colour(const image* m, unsigned colour)
{
    int count = 0;
    for (int y = 0; y < m->height; y++) {
        for (int x = 0; x < m->width; x++) count += pixel(m, x, y) == colour;
    }
    return count;
}

/// No ink may touch the border of the page: something would be cut off.
static inline void check_border_is_white(const image* m)
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

static inline talus_figure* new_figure(void)
{
    talus_figure_def def = talus_figure_default();
    talus_figure* figure;
    talus_error error;
    check_ok(talus_figure_create(&def, &figure, &error), error);
    return figure;
}

static inline void add_curve(talus_figure* figure, talus_curve_def def)
{
    talus_error error;
    check_ok(talus_figure_curve(figure, 0, &def, &error), error);
}

static inline talus_curve_def curve_of(const double* x, const double* y, int64_t count,
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
static inline image write_and_read(talus_figure* figure)
{
    char path[64]; // of this process alone: tests run side by side
    talus_error error;
    snprintf(path, sizeof path, "test_figure_%d.png", (int)getpid());
    check_ok(talus_figure_write(figure, path, 144.0, &error), error);
    talus_figure_destroy(figure);
    image m = read_image(path);
    assert_int_equal(unlink(path), 0);
    check_border_is_white(&m);
    return m;
}

static inline void set_axes(talus_figure* figure, talus_axes_def def)
{
    talus_error error;
    check_ok(talus_figure_axes(figure, 0, &def, &error), error);
}

static inline void check_refused(talus_status status, talus_status expected,
                                 const talus_error* error, const char* word)
{
    assert_int_equal(status, expected);
    assert_int_equal(error->status, expected);
    assert_non_null(strstr(error->text, word));
}

#endif

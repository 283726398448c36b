/// Figures become files. A file appears whole or not at all.
#include "base/error.h"
#include "picture/plot.h"
#include "record/files.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <string.h>
#include <strings.h>

/// Largest picture that cairo can hold, dots a side.
enum { WRITE_MAX_DOTS = 32767 };

typedef enum file_kind { FILE_PNG, FILE_SVG, FILE_PDF, FILE_UNKNOWN } file_kind;

static file_kind kind_of(const char* path)
{
    static const char* const ending[] = {".png", ".svg", ".pdf"};
    const size_t length = strlen(path);
    for (int k = 0; k < FILE_UNKNOWN; k++) {
        const size_t size = strlen(ending[k]);
        if (length > size && strcasecmp(path + length - size, ending[k]) == 0) return (file_kind)k;
    }
    return FILE_UNKNOWN;
}

/// Where cairo puts the bytes of a file.
static cairo_status_t collect(void* to, const unsigned char* data, unsigned length)
{
    text_buffer* buffer = to;
    char* room = text_room(buffer, length);
    if (!room) return CAIRO_STATUS_NO_MEMORY;
    memcpy(room, data, length);
    buffer->size += length;
    return CAIRO_STATUS_SUCCESS;
}

/// Whole dots, but none for the rounding of a size that was chosen in dots.
static int dots_for(double size)
{
    return (int)ceil(size - 1e-6);
}

/// The same layout in all formats and resolutions: glyphs are as wide as they are designed.
static void plain_metrics(cairo_t* cr)
{
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
}

/// Draw the figure and collect the file's bytes.
static cairo_status_t render(const talus_figure* figure, file_kind kind, double scale,
                             text_buffer* out)
{
    double width, height;
    page_size(figure, &width, &height);
    cairo_surface_t* surface =
        kind == FILE_SVG   ? cairo_svg_surface_create_for_stream(collect, out, width, height)
        : kind == FILE_PDF ? cairo_pdf_surface_create_for_stream(collect, out, width, height)
                           : cairo_image_surface_create(CAIRO_FORMAT_RGB24, dots_for(scale * width),
                                                        dots_for(scale * height));
    cairo_t* cr = cairo_create(surface);
    if (kind == FILE_PNG) cairo_scale(cr, scale, scale);
    plain_metrics(cr);
    const bool drawn = page_draw(cr, figure);
    cairo_status_t status = drawn ? cairo_status(cr) : CAIRO_STATUS_NO_MEMORY;
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS && kind == FILE_PNG) {
        status = cairo_surface_write_to_png_stream(surface, collect, out);
    }
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

talus_status talus_figure_fit(talus_figure* figure, double most, double unit, talus_error* error)
{
    if (!(most >= 50.0 && most <= 10000.0) || !(unit >= 0.0 && unit <= 50.0)) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: panels can be 50 to 10000 points high and rounded to 50 points, "
                         "got %g and %g",
                         most, unit);
    }
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    cairo_t* cr = cairo_create(surface);
    plain_metrics(cr);
    page_fit(cr, figure, most, unit);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return TALUS_OK;
}

talus_status talus_figure_write(const talus_figure* figure, const char* path, double dots,
                                talus_error* error)
{
    const file_kind kind = kind_of(path);
    if (kind == FILE_UNKNOWN) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: the name of a file must end in .png, .svg or .pdf, got '%s'",
                         path);
    }
    double width, height;
    page_size(figure, &width, &height);
    if (kind == FILE_PNG &&
        (!(dots >= 1.0) || !(dots / 72.0 * fmax(width, height) <= WRITE_MAX_DOTS))) {
        return error_set(error, TALUS_ERR_ARGUMENT,
                         "figure: %g x %g points at %g dots an inch make no picture of 1 to %d "
                         "dots a side",
                         width, height, dots, WRITE_MAX_DOTS);
    }
    for (int i = 0; i < figure->panel_count; i++) {
        const panel* p = &figure->panel[i];
        // Pictures are to scale, which no logarithmic axis is.
        if (p->has_picture && (p->axes.x_log || p->axes.y_log)) {
            return error_set(error, TALUS_ERR_ARGUMENT,
                             "figure: the picture of a world in panel %d needs linear axes", i);
        }
    }
    text_buffer bytes = {0};
    const cairo_status_t drawn = render(figure, kind, dots / 72.0, &bytes);
    talus_status status = TALUS_OK;
    if (drawn == CAIRO_STATUS_NO_MEMORY || bytes.failed) {
        status = error_memory(error, "drawing a figure");
    } else if (drawn != CAIRO_STATUS_SUCCESS) {
        status = error_set(error, TALUS_ERR_IO, "cannot draw %s: %s", path,
                           cairo_status_to_string(drawn));
    } else {
        status = files_replace(path, bytes.data, bytes.size, false, error);
    }
    text_free(&bytes);
    return status;
}

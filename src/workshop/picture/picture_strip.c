/// What stands beside and below a picture: the key of colours, and a strip with a bar of round
/// length, a sample of the widest force, and a caption.
#include "picture/plot.h"
#include "picture/text.h"

#include <stdio.h>

#define STRIP 26.0     // height of the strip
#define SPACE 6.0      // between sample and label
#define THICK 2.0      // of the bar
#define LONGEST 0.25   // the bar, part of the picture's width
#define KEY_LINE 15.0  // height of a row of the key
#define KEY_SAMPLE 9.0 // side of its squares

// ---- the key -----------------------------------------------------------------------------------

double picture_key_room(cairo_t* cr, const picture* q)
{
    double widest = 0.0;
    for (int i = 0; q->keyed && i < COLOUR_PALETTE; i++) {
        widest = fmax(widest, text_measure(cr, q->colour_name[i], PLOT_SMALL_TEXT).width);
    }
    return q->keyed ? KEY_SAMPLE + SPACE + widest + SPACE : 0.0;
}

void picture_key(cairo_t* cr, const picture* q, double left, double top)
{
    for (int i = 0; i < COLOUR_PALETTE; i++) {
        if (!q->colour_name[i]) continue;
        plot_colour(cr, colour_mix(colour_of_palette(i), (rgb){1.0, 1.0, 1.0}, 0.5));
        cairo_rectangle(cr, left, top, KEY_SAMPLE, KEY_SAMPLE);
        cairo_fill_preserve(cr);
        cairo_set_source_rgb(cr, 0.0, 0.0, 0.0);
        cairo_set_line_width(cr, 0.5);
        cairo_stroke(cr);
        text_draw(cr, q->colour_name[i], PLOT_SMALL_TEXT, left + KEY_SAMPLE + SPACE,
                  top + KEY_SAMPLE - 1.0, 0.0, 0.0);
        top += KEY_LINE;
    }
}

// ---- the strip ---------------------------------------------------------------------------------

/// A unit with a prefix, and what it is in the unit without.
typedef struct prefixed {
    const char* name;
    double size;
} prefixed;

/// "5 cm", "45 kN": in the largest of the units, the last one ending with a size of 0, that leaves
/// a number of 1 or more; "4.5×10^{-6} unit" in a unit of one's own.
static void write_quantity(double value, const char* unit, const prefixed* units, char* out,
                           size_t size)
{
    if (units) {
        while (units[1].size > 0.0 && value < (1.0 - 1e-9) * units->size) units++;
        value /= units->size;
        unit = units->name;
    }
    const char* space = unit && *unit ? " " : "";
    const int exponent = value > 0.0 ? (int)floor(log10(value) + 1e-9) : 0;
    if (exponent >= -4 && exponent < 5) {
        snprintf(out, size, exponent < 2 ? "%.2g%s%s" : "%.0f%s%s", value, space, unit);
        return;
    }
    snprintf(out, size, "%.2g×10^{%d}%s%s", value / pow(10.0, exponent), exponent, space, unit);
}

static bool is_unit(const char* unit, char letter)
{
    return unit && unit[0] == letter && !unit[1];
}

double picture_strip_room(const panel* p)
{
    const picture* q = &p->picture;
    const bool any = q->bar || q->caption || q->force_unit;
    return p->has_picture && p->axes.hidden && any ? STRIP : 0.0;
}

/// Samples begin at x, centred at height y; returns where the next one begins.
static double draw_bar(const plot* p, double x, double y)
{
    const double unit = p->box.width / fabs(p->x.high - p->x.low);
    // The largest of 1, 2 and 5 times a power of ten that is not too long.
    const double longest = LONGEST * p->box.width / unit;
    const double power = pow(10.0, floor(log10(longest)));
    const double rest = longest / power * (1.0 + 1e-9);
    const double length = power * (rest >= 5.0 ? 5.0 : rest >= 2.0 ? 2.0 : 1.0);
    static const prefixed metres[] = {{"km", 1e3},  {"m", 1.0},   {"cm", 1e-2}, {"mm", 1e-3},
                                      {"µm", 1e-6}, {"nm", 1e-9}, {NULL, 0.0}};
    const char* name = p->panel->picture.length_unit;
    char label[64];
    write_quantity(length, name ? name : "", is_unit(name, 'm') ? metres : NULL, label,
                   sizeof label);
    cairo_set_source_rgb(p->cr, 0.0, 0.0, 0.0);
    cairo_rectangle(p->cr, x, y - 0.5 * THICK, length * unit, THICK);
    cairo_fill(p->cr);
    x += length * unit + SPACE;
    text_draw(p->cr, label, PLOT_TEXT, x, y + 0.36 * PLOT_TEXT, 0.0, 0.0);
    return x + text_measure(p->cr, label, PLOT_TEXT).width + 3.0 * SPACE;
}

static void draw_force(const plot* p, double x, double y)
{
    enum { LENGTH = 18 };
    const picture* q = &p->panel->picture;
    const double unit = p->box.width / fabs(p->x.high - p->x.low);
    static const prefixed newtons[] = {{"GN", 1e9},  {"MN", 1e6},  {"kN", 1e3},  {"N", 1.0},
                                       {"mN", 1e-3}, {"µN", 1e-6}, {"nN", 1e-9}, {NULL, 0.0}};
    char label[64];
    write_quantity(q->force, q->force_unit, is_unit(q->force_unit, 'N') ? newtons : NULL, label,
                   sizeof label);
    plot_colour(p->cr, colour_of_palette(TALUS_COLOUR_VERMILLION));
    const double width = fmin(q->force_size * unit, STRIP - 4.0);
    cairo_rectangle(p->cr, x, y - 0.5 * width, LENGTH, width);
    cairo_fill(p->cr);
    cairo_set_source_rgb(p->cr, 0.0, 0.0, 0.0);
    text_draw(p->cr, label, PLOT_TEXT, x + LENGTH + SPACE, y + 0.36 * PLOT_TEXT, 0.0, 0.0);
}

void picture_strip(const plot* p)
{
    const picture* q = &p->panel->picture;
    const rectangle* b = &p->box;
    if (!p->panel->axes.hidden) {
        // The bar in the lower left corner, on white so that it can be read.
        if (!q->bar) return;
        const double left = b->left + 10.0, low = b->top + b->height - 14.0;
        cairo_push_group(p->cr);
        const double right = draw_bar(p, left, low) - 3.0 * SPACE;
        cairo_pattern_t* bar = cairo_pop_group(p->cr);
        cairo_set_source_rgba(p->cr, 1.0, 1.0, 1.0, 0.8);
        cairo_rectangle(p->cr, left - 4.0, low - 8.0, right - left + 8.0, 16.0);
        cairo_fill(p->cr);
        cairo_set_source(p->cr, bar);
        cairo_paint(p->cr);
        cairo_pattern_destroy(bar);
        return;
    }
    const double y = b->top + b->height + 0.5 * STRIP;
    double x = b->left;
    if (q->bar) x = draw_bar(p, x, y);
    if (q->force_unit && q->force > 0.0) draw_force(p, x, y);
    cairo_set_source_rgb(p->cr, 0.0, 0.0, 0.0);
    text_draw(p->cr, q->caption, PLOT_TEXT, b->left + b->width, y + 0.36 * PLOT_TEXT, 1.0, 0.0);
}

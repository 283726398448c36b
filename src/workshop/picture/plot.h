/// The axes of a panel while it is drawn: where numbers are on the page, and the pieces of a panel
/// that are drawn there. Lengths on the page are points of 1/72 inch, y downwards.
#ifndef TALUS_PICTURE_PLOT_H
#define TALUS_PICTURE_PLOT_H

#include "picture/figure.h"
#include "picture/ticks.h"

#include <cairo.h>
#include <math.h>

/// Sizes of texts.
#define PLOT_TEXT 10.0
#define PLOT_SMALL_TEXT 9.0
#define PLOT_TITLE 11.0

/// An axis: numbers from `low` to `high` lie between `from` and `to` on the page.
typedef struct axis {
    double low, high;
    bool log;
    double from, to;
} axis;

typedef struct rectangle {
    double left, top, width, height;
} rectangle;

typedef struct plot {
    cairo_t* cr;
    const panel* panel;
    axis x, y;
    rectangle box; ///< within the axes
    ticks x_ticks, y_ticks;
} plot;

/// Place of a number on the page; NAN if it has none: not finite, or not positive on a logarithmic
/// axis.
static inline double axis_at(const axis* a, double value)
{
    if (!(fabs(value) <= FIGURE_LARGEST) || (a->log && !(value > 0.0))) return NAN;
    const double part = a->log ? (log(value) - log(a->low)) / (log(a->high) - log(a->low))
                               : (value - a->low) / (a->high - a->low);
    return a->from + part * (a->to - a->from);
}

static inline void plot_colour(cairo_t* cr, rgb c)
{
    cairo_set_source_rgb(cr, c.red, c.green, c.blue);
}

// ---- data series (series.c, line.c)
// ------------------------------------------------------------------

/// The line of a series or the outline of its histogram.
void series_line(const plot* p, const panel_series* c);
/// All of a series: line, error bars, markers.
void series_draw(const plot* p, const panel_series* c);
/// What the legend shows of a series, `width` long, centred at height y.
void series_sample(cairo_t* cr, const panel_series* c, double x, double y, double width);
/// Colour, width and dashes of a series' line.
void series_pen(cairo_t* cr, const panel_series* c);
static inline bool series_has_line(const panel_series* c)
{
    return c->def.style != TALUS_CURVE_DOTS;
}
static inline bool series_has_dots(const panel_series* c)
{
    return c->def.style == TALUS_CURVE_DOTS || c->def.style == TALUS_CURVE_LINE_DOTS;
}

// ---- legend (legend.c) -------------------------------------------------------------------------

/// Room of the legend; zero if no series has a label.
void legend_size(cairo_t* cr, const panel* p, double* width, double* height);
/// Draw it, `right` of the axes if it stands outside.
void legend_draw(const plot* p, double right);

// ---- marks and texts (notes.c) -----------------------------------------------------------------

void notes_marks(const plot* p);
void notes_texts(const plot* p);
/// How many texts and labels of marks lie under a rectangle.
int notes_under(const plot* p, const rectangle* r);

// ---- pictures (picture_draw.c) -----------------------------------------------------------------

void picture_draw(const plot* p);
/// The scale of colours in `bar`, with its ticks and label on the right.
void picture_scale(cairo_t* cr, const picture* q, rectangle bar);
/// How much room its ticks and label take.
double picture_scale_room(cairo_t* cr, const picture* q, double height);
/// And how much the factor of its numbers takes above it.
double picture_scale_above(cairo_t* cr, const picture* q, double height);

// ---- beside and below them (picture_strip.c) ---------------------------------------------------

/// The key of colours, and its width with the room after it.
void picture_key(cairo_t* cr, const picture* q, double left, double top);
double picture_key_room(cairo_t* cr, const picture* q);
/// Scale bar, sample of the forces and caption, below hidden axes; within visible ones the bar.
void picture_strip(const plot* p);
/// Height that they take below.
double picture_strip_room(const panel* p);

// ---- axes (axes.c) -----------------------------------------------------------------------------

/// Ends of both axes, from the definition or from what is in the panel.
void axes_range(const panel* p, axis* x, axis* y);
/// Ticks for axes of this size on the page, so few that their labels do not touch.
void axes_ticks(cairo_t* cr, const axis* x, const axis* y, double width, double height,
                ticks* x_ticks, ticks* y_ticks);
/// Frame, ticks and their labels, labels of the axes, title.
void axes_draw(const plot* p);
/// Room that labels need on each side of the frame.
typedef struct margins {
    double left, right, top, bottom;
} margins;
margins axes_margins(cairo_t* cr, const panel* p, const ticks* x_ticks, const ticks* y_ticks);

// ---- the page (page.c) -------------------------------------------------------------------------

void page_size(const talus_figure* figure, double* width, double* height);
/// Change the size of panels so that pictures fill them, see talus_figure_fit().
void page_fit(cairo_t* cr, talus_figure* figure, double most, double unit);
/// False if memory is short.
bool page_draw(cairo_t* cr, const talus_figure* figure);

#endif

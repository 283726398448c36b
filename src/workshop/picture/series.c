/// Data series of a panel: pens, markers, error bars.
#include "picture/cover.h"

/// Series of more points than this show one marker only where several would cover each other.
enum { SERIES_MANY = 20000 };
/// Such markers are this close.
#define SERIES_CLOSE 0.25

void series_pen(cairo_t* cr, const panel_series* c)
{
    static const double dashed[] = {5.0, 3.0}, dotted[] = {1.0, 2.2};
    plot_colour(cr, colour_of_palette(c->def.colour));
    cairo_set_line_width(cr, c->def.width);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    switch (c->def.dash) {
    case TALUS_DASH_DASHED: cairo_set_dash(cr, dashed, 2, 0.0); break;
    case TALUS_DASH_DOTTED: cairo_set_dash(cr, dotted, 2, 0.0); break;
    case TALUS_DASH_SOLID: cairo_set_dash(cr, NULL, 0, 0.0); break;
    }
}

// ---- markers -----------------------------------------------------------------------------------

static void polygon_path(cairo_t* cr, double x, double y, double radius, int corners, double turn)
{
    for (int k = 0; k < corners; k++) {
        const double angle = turn + 2.0 * M_PI * k / corners;
        cairo_line_to(cr, x + radius * sin(angle), y - radius * cos(angle));
    }
    cairo_close_path(cr);
}

/// Outline of a marker of this diameter. Areas are about equal.
static void marker_path(cairo_t* cr, int marker, double x, double y, double size)
{
    const double r = 0.5 * size;
    cairo_new_path(cr);
    switch (marker) {
    case 0: cairo_arc(cr, x, y, r, 0.0, 2.0 * M_PI); break;
    case 1: polygon_path(cr, x, y, 1.25 * r, 4, 0.25 * M_PI); break;
    case 2: polygon_path(cr, x, y, 1.4 * r, 3, 0.0); break;
    case 3: polygon_path(cr, x, y, 1.3 * r, 4, 0.0); break;
    case 4: polygon_path(cr, x, y, 1.4 * r, 3, M_PI); break;
    default:
        cairo_move_to(cr, x - r, y - r);
        cairo_line_to(cr, x + r, y + r);
        cairo_move_to(cr, x - r, y + r);
        cairo_line_to(cr, x + r, y - r);
        break;
    }
}

/// Every second shape is open, so that neighbours differ in more than their corners.
static void marker_draw(cairo_t* cr, const panel_series* c, double x, double y)
{
    const int marker = c->def.marker;
    const rgb colour = colour_of_palette(c->def.colour);
    marker_path(cr, marker, x, y, c->def.dot_size);
    if (marker == 1 || marker == 3) {
        cairo_set_source_rgb(cr, 1.0, 1.0, 1.0);
        cairo_fill_preserve(cr);
    }
    plot_colour(cr, colour);
    if (marker == 0 || marker == 2 || marker == 4) {
        cairo_fill(cr);
    } else {
        cairo_stroke(cr);
    }
}

static bool inside(const rectangle* box, double x, double y)
{
    // Half a point of grace: ends of axes are often at the last point.
    return x >= box->left - 0.5 && x <= box->left + box->width + 0.5 && y >= box->top - 0.5 &&
           y <= box->top + box->height + 0.5;
}

static void thin_pen(cairo_t* cr, const panel_series* c)
{
    plot_colour(cr, colour_of_palette(c->def.colour));
    cairo_set_dash(cr, NULL, 0, 0.0);
    cairo_set_line_width(cr, fmin(1.0, 0.25 * c->def.dot_size));
}

static void draw_error_bars(const plot* p, const panel_series* c)
{
    const double top = p->box.top, bottom = top + p->box.height, cap = 0.35 * c->def.dot_size;
    thin_pen(p->cr, c);
    for (int64_t i = 0; i < c->def.count; i++) {
        const double x = axis_at(&p->x, c->def.x[i]), half = c->def.y_error[i];
        if (!(x >= p->box.left - 0.5 && x <= p->box.left + p->box.width + 0.5)) continue;
        if (!(half > 0.0 && half <= FIGURE_LARGEST)) continue;
        double high = axis_at(&p->y, c->def.y[i] + half), low = axis_at(&p->y, c->def.y[i] - half);
        if (isnan(low)) low = p->y.from;
        if (isnan(high)) continue;
        cairo_move_to(p->cr, x, fmin(fmax(high, top - 10.0), bottom + 10.0));
        cairo_line_to(p->cr, x, fmin(fmax(low, top - 10.0), bottom + 10.0));
        const double ends[2] = {high, low};
        for (int k = 0; k < 2; k++) {
            if (!inside(&p->box, x, ends[k])) continue;
            cairo_move_to(p->cr, x - cap, ends[k]);
            cairo_line_to(p->cr, x + cap, ends[k]);
        }
        cairo_stroke(p->cr);
    }
}

static void draw_dots(const plot* p, const panel_series* c)
{
    cover covered = {0};
    if (c->def.count > SERIES_MANY) covered = cover_make(&p->box, 1.0, SERIES_CLOSE);
    thin_pen(p->cr, c);
    for (int64_t i = 0; i < c->def.count; i++) {
        const double x = axis_at(&p->x, c->def.x[i]), y = axis_at(&p->y, c->def.y[i]);
        if (inside(&p->box, x, y) && cover_point(&covered, x, y)) marker_draw(p->cr, c, x, y);
    }
    cover_free(&covered);
}

void series_draw(const plot* p, const panel_series* c)
{
    cairo_save(p->cr);
    cairo_rectangle(p->cr, p->box.left, p->box.top, p->box.width, p->box.height);
    cairo_clip(p->cr);
    if (series_has_line(c)) series_line(p, c);
    if (c->def.y_error) draw_error_bars(p, c);
    cairo_restore(p->cr);
    // Not clipped: dots at the ends of an axis are drawn whole.
    if (series_has_dots(c)) draw_dots(p, c);
}

void series_sample(cairo_t* cr, const panel_series* c, double x, double y, double width)
{
    if (series_has_line(c)) {
        series_pen(cr, c);
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + width, y);
        cairo_stroke(cr);
    }
    if (series_has_dots(c)) {
        thin_pen(cr, c);
        panel_series shown = *c;
        shown.def.dot_size = fmin(fmax(c->def.dot_size, 3.0), 8.0);
        marker_draw(cr, &shown, x + 0.5 * width, y);
    }
}

/// The page: panels side by side, their axes in line.
#include "picture/plot.h"
#include "picture/text.h"

#include <stdlib.h>

#define TITLE_ROOM 24.0 // above all panels
#define GAP 8.0         // between the axes and what stands right of them
#define BAR 10.0        // width of a scale of colours

/// How a panel is divided.
typedef struct panel_layout {
    axis x, y;
    margins m;     ///< labels, legend and scale included
    double labels; ///< of the right margin: what numbers need
} panel_layout;

/// Least size of the axes, however long the labels are.
#define LEAST_AXES 20.0

static double width_of_axes(const talus_figure* f, const margins* m)
{
    return fmax(f->def.panel_width - m->left - m->right, LEAST_AXES);
}

static double height_of_axes(const talus_figure* f, const margins* m)
{
    return fmax(f->def.panel_height - m->top - m->bottom, LEAST_AXES);
}

/// Margins of one panel; the ticks depend on the size of the axes, and that on the ticks' labels,
/// so that a second look is taken.
static panel_layout layout_panel(cairo_t* cr, const talus_figure* f, const panel* p)
{
    panel_layout l = {.m = {40.0, 10.0, 20.0, 30.0}};
    axes_range(p, &l.x, &l.y);
    for (int look = 0; look < 2; look++) {
        const double height = height_of_axes(f, &l.m);
        ticks x_ticks, y_ticks;
        axes_ticks(cr, &l.x, &l.y, width_of_axes(f, &l.m), height, &x_ticks, &y_ticks);
        l.m = axes_margins(cr, p, &x_ticks, &y_ticks);
        l.labels = l.m.right;
        if (p->has_picture && p->picture.scaled) {
            l.m.right += GAP + BAR + picture_scale_room(cr, &p->picture, height);
            l.m.top = fmax(l.m.top, picture_scale_above(cr, &p->picture, height));
        }
        if (p->has_picture && p->picture.keyed) {
            l.m.right += GAP + picture_key_room(cr, &p->picture);
        }
        double legend_width, legend_height;
        legend_size(cr, p, &legend_width, &legend_height);
        if (p->axes.legend == TALUS_LEGEND_OUTSIDE) l.m.right += legend_width;
    }
    return l;
}

/// Panels of a column share their left and right margins, panels of a row the others.
static void align_panels(const talus_figure* f, panel_layout* layout)
{
    const int columns = f->def.columns;
    for (int i = 0; i < f->panel_count; i++) {
        for (int k = 0; k < f->panel_count; k++) {
            margins *a = &layout[i].m, *b = &layout[k].m;
            if (i % columns == k % columns) {
                a->left = b->left = fmax(a->left, b->left);
                a->right = b->right = fmax(a->right, b->right);
            }
            if (i / columns == k / columns) {
                a->top = b->top = fmax(a->top, b->top);
                a->bottom = b->bottom = fmax(a->bottom, b->bottom);
            }
        }
    }
}

/// Let one unit be as long in x as in y: the box is made narrower or lower, and where it would
/// become a sliver the axis goes on instead.
static void make_equal(plot* p)
{
    enum { SLIVER = 5 };
    rectangle* b = &p->box;
    double x_range = fabs(p->x.high - p->x.low), y_range = fabs(p->y.high - p->y.low);
    const double least_x = y_range * b->width / b->height / SLIVER,
                 least_y = x_range * b->height / b->width / SLIVER;
    axis* shorter = x_range < least_x ? &p->x : y_range < least_y ? &p->y : NULL;
    if (shorter) {
        const double middle = 0.5 * (shorter->low + shorter->high);
        const double half = 0.5 * (shorter == &p->x ? least_x : least_y);
        const double sign = shorter->high > shorter->low ? 1.0 : -1.0;
        shorter->low = middle - sign * half;
        shorter->high = middle + sign * half;
        x_range = fabs(p->x.high - p->x.low), y_range = fabs(p->y.high - p->y.low);
    }
    const double unit = fmin(b->width / x_range, b->height / y_range);
    const double width = unit * x_range, height = unit * y_range;
    *b = (rectangle){b->left + 0.5 * (b->width - width), b->top + 0.5 * (b->height - height), width,
                     height};
}

static void draw_panel(cairo_t* cr, const talus_figure* f, const panel* p, const panel_layout* l,
                       double left, double top)
{
    plot place = {.cr = cr,
                  .panel = p,
                  .x = l->x,
                  .y = l->y,
                  .box = {left + l->m.left, top + l->m.top, width_of_axes(f, &l->m),
                          height_of_axes(f, &l->m)}};
    rectangle* box = &place.box;
    if ((p->axes.equal || p->has_picture) && !place.x.log && !place.y.log) make_equal(&place);
    place.x.from = box->left;
    place.x.to = box->left + box->width;
    place.y.from = box->top + box->height;
    place.y.to = box->top;
    axes_ticks(cr, &place.x, &place.y, box->width, box->height, &place.x_ticks, &place.y_ticks);
    cairo_save(cr);
    cairo_rectangle(cr, box->left, box->top, box->width, box->height);
    cairo_clip(cr);
    if (p->has_picture) picture_draw(&place);
    notes_marks(&place);
    cairo_restore(cr);
    for (int64_t i = 0; i < p->series_count; i++) series_draw(&place, &p->series[i]);
    notes_texts(&place);
    axes_draw(&place);
    double right = place.box.left + place.box.width + GAP;
    if (p->has_picture && p->picture.scaled) {
        const rectangle bar = {right, place.box.top, BAR, place.box.height};
        picture_scale(cr, &p->picture, bar);
        right += BAR + picture_scale_room(cr, &p->picture, place.box.height);
    }
    if (p->has_picture) {
        picture_strip(&place);
        picture_key(cr, &p->picture, right, place.box.top + 2.0);
        right += picture_key_room(cr, &p->picture);
    }
    legend_draw(&place, right);
}

void page_size(const talus_figure* f, double* width, double* height)
{
    *width = f->def.columns * f->def.panel_width;
    *height = f->def.rows * f->def.panel_height + (f->title ? TITLE_ROOM : 0.0);
}

/// A multiple of `unit` that is not smaller, but for rounding errors; panels have 50 points at
/// least.
static double round_up(double size, double unit)
{
    const double large = fmax(size, 50.0);
    return unit > 0.0 ? unit * ceil(large / unit - 1e-6) : large;
}

void page_fit(cairo_t* cr, talus_figure* f, double most, double unit)
{
    double wide = 0.0, high = 0.0;
    f->def.panel_width = round_up(f->def.panel_width, unit);
    for (int i = 0; i < f->panel_count; i++) {
        const panel* p = &f->panel[i];
        if (!p->has_picture) continue;
        // The margins depend on the height a little: labels beside it may be more or fewer.
        for (int look = 0; look < 2; look++) {
            const panel_layout l = layout_panel(cr, f, p);
            const double shape = fabs(l.y.high - l.y.low) / fabs(l.x.high - l.x.low);
            const double rows = l.m.top + l.m.bottom;
            const double needed = rows + shape * width_of_axes(f, &l.m);
            high = fmax(high, fmin(needed, most));
            wide = fmax(wide, needed <= most ? f->def.panel_width
                                             : l.m.left + l.m.right + (most - rows) / shape);
            f->def.panel_height = round_up(fmin(needed, most), unit);
        }
    }
    if (high > 0.0) f->def.panel_height = round_up(high, unit);
    if (wide > 0.0) f->def.panel_width = round_up(fmin(wide, f->def.panel_width), unit);
}

bool page_draw(cairo_t* cr, const talus_figure* f)
{
    panel_layout* layout = calloc((size_t)f->panel_count, sizeof *layout);
    if (!layout) return false;
    double width, height;
    page_size(f, &width, &height);
    cairo_set_source_rgb(cr, 1.0, 1.0, 1.0);
    cairo_paint(cr);
    cairo_set_source_rgb(cr, 0.0, 0.0, 0.0);
    text_draw(cr, f->title, PLOT_TITLE + 1.0, 0.5 * width, 0.7 * TITLE_ROOM, 0.5, 0.0);
    const double top = f->title ? TITLE_ROOM : 0.0;
    for (int i = 0; i < f->panel_count; i++) layout[i] = layout_panel(cr, f, &f->panel[i]);
    align_panels(f, layout);
    for (int i = 0; i < f->panel_count; i++) {
        draw_panel(cr, f, &f->panel[i], &layout[i], i % f->def.columns * f->def.panel_width,
                   top + i / f->def.columns * f->def.panel_height);
    }
    free(layout);
    return true;
}

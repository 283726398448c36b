/// Marks across a panel and texts in it.
#include "draw/plot.h"
#include "draw/text.h"

#define GAP 3.0 // between a mark and its text, and between a text and the frame

static void draw_vertical(const plot* p, const panel_mark* m, double x)
{
    const double right = p->box.left + p->box.width;
    cairo_move_to(p->cr, x, p->box.top);
    cairo_line_to(p->cr, x, p->box.top + p->box.height);
    cairo_stroke(p->cr);
    const text_size size = text_measure(p->cr, m->label, PLOT_SMALL_TEXT);
    const bool fits = x + GAP + size.width <= right - GAP;
    text_draw(p->cr, m->label, PLOT_SMALL_TEXT, fits ? x + GAP : x - GAP,
              p->box.top + 2.0 * GAP + size.above, fits ? 0.0 : 1.0, 0.0);
}

static void draw_horizontal(const plot* p, const panel_mark* m, double y)
{
    const double right = p->box.left + p->box.width;
    cairo_move_to(p->cr, p->box.left, y);
    cairo_line_to(p->cr, right, y);
    cairo_stroke(p->cr);
    const text_size size = text_measure(p->cr, m->label, PLOT_SMALL_TEXT);
    const bool fits = y - GAP - size.below - size.above >= p->box.top + GAP;
    text_draw(p->cr, m->label, PLOT_SMALL_TEXT, right - 2.0 * GAP,
              fits ? y - GAP - size.below : y + GAP + size.above, 1.0, 0.0);
}

void notes_marks(const plot* p)
{
    static const double dash[] = {3.0, 2.0};
    cairo_set_dash(p->cr, dash, 2, 0.0);
    cairo_set_line_width(p->cr, 0.7);
    cairo_set_source_rgb(p->cr, 0.35, 0.35, 0.35);
    for (int64_t i = 0; i < p->panel->mark_count; i++) {
        const panel_mark* m = &p->panel->mark[i];
        const double at = axis_at(m->vertical ? &p->x : &p->y, m->at);
        const double low = m->vertical ? p->box.left : p->box.top;
        const double high = low + (m->vertical ? p->box.width : p->box.height);
        if (!(at >= low && at <= high)) continue;
        if (m->vertical) {
            draw_vertical(p, m, at);
        } else {
            draw_horizontal(p, m, at);
        }
    }
    cairo_set_dash(p->cr, NULL, 0, 0.0);
}

void notes_texts(const plot* p)
{
    cairo_set_source_rgb(p->cr, 0.0, 0.0, 0.0);
    for (int64_t i = 0; i < p->panel->text_count; i++) {
        const panel_text* t = &p->panel->text[i];
        double x = axis_at(&p->x, t->x), y = axis_at(&p->y, t->y);
        const double right = p->box.left + p->box.width, bottom = p->box.top + p->box.height;
        if (!(x >= p->box.left && x <= right && y >= p->box.top && y <= bottom)) continue;
        const text_size size = text_measure(p->cr, t->text, PLOT_SMALL_TEXT);
        x = fmax(fmin(x, right - GAP - size.width), p->box.left + GAP);
        y = fmin(fmax(y, p->box.top + GAP + size.above), bottom - GAP - size.below);
        text_draw(p->cr, t->text, PLOT_SMALL_TEXT, x, y, 0.0, 0.0);
    }
}

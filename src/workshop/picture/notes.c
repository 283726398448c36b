/// Marks across a panel and texts in it.
#include "picture/plot.h"
#include "picture/text.h"

#define GAP 3.0 // between a mark and its text, and between a text and the frame

/// Place of a mark on the page; NAN if the panel does not show it.
static double place_of_mark(const plot* p, const panel_mark* m)
{
    const double at = axis_at(m->vertical ? &p->x : &p->y, m->at);
    const double low = m->vertical ? p->box.left : p->box.top;
    const double high = low + (m->vertical ? p->box.width : p->box.height);
    return at >= low && at <= high ? at : NAN;
}

/// Room of a mark's label: right of the upper end of a vertical one, above the right end of a
/// horizontal one; on the other side if there is no room.
static rectangle room_of_label(const plot* p, const panel_mark* m, double at)
{
    const text_size size = text_measure(p->cr, m->label, PLOT_SMALL_TEXT);
    const double right = p->box.left + p->box.width, height = size.above + size.below;
    rectangle r = {.width = size.width, .height = height};
    if (m->vertical) {
        r.left = at + GAP + size.width <= right - GAP ? at + GAP : at - GAP - size.width;
        r.top = p->box.top + 2.0 * GAP;
    } else {
        r.left = right - 2.0 * GAP - size.width;
        r.top = at - GAP - height >= p->box.top + GAP ? at - GAP - height : at + GAP;
    }
    return r;
}

/// Room of a text, which stays within the frame; of no width if its point does not.
static rectangle room_of_text(const plot* p, const panel_text* t)
{
    const double x = axis_at(&p->x, t->x), y = axis_at(&p->y, t->y);
    const double right = p->box.left + p->box.width, bottom = p->box.top + p->box.height;
    if (!(x >= p->box.left && x <= right && y >= p->box.top && y <= bottom)) {
        return (rectangle){0};
    }
    const text_size size = text_measure(p->cr, t->text, PLOT_SMALL_TEXT);
    const double height = size.above + size.below;
    return (rectangle){fmax(fmin(x, right - GAP - size.width), p->box.left + GAP),
                       fmin(fmax(y - size.above, p->box.top + GAP), bottom - GAP - height),
                       size.width, height};
}

static void draw_text_in(cairo_t* cr, const char* text, const rectangle* room)
{
    const double above = text_measure(cr, text, PLOT_SMALL_TEXT).above;
    text_draw(cr, text, PLOT_SMALL_TEXT, room->left, room->top + above, 0.0, 0.0);
}

void notes_marks(const plot* p)
{
    static const double dash[] = {3.0, 2.0};
    cairo_set_line_width(p->cr, 0.7);
    cairo_set_source_rgb(p->cr, 0.35, 0.35, 0.35);
    for (int64_t i = 0; i < p->panel->mark_count; i++) {
        const panel_mark* m = &p->panel->mark[i];
        const double at = place_of_mark(p, m);
        if (isnan(at)) continue;
        cairo_set_dash(p->cr, dash, 2, 0.0);
        cairo_move_to(p->cr, m->vertical ? at : p->box.left, m->vertical ? p->box.top : at);
        cairo_rel_line_to(p->cr, m->vertical ? 0.0 : p->box.width,
                          m->vertical ? p->box.height : 0.0);
        cairo_stroke(p->cr);
        const rectangle room = room_of_label(p, m, at);
        draw_text_in(p->cr, m->label, &room);
    }
    cairo_set_dash(p->cr, NULL, 0, 0.0);
}

void notes_texts(const plot* p)
{
    cairo_set_source_rgb(p->cr, 0.0, 0.0, 0.0);
    for (int64_t i = 0; i < p->panel->text_count; i++) {
        const rectangle room = room_of_text(p, &p->panel->text[i]);
        if (room.width > 0.0) draw_text_in(p->cr, p->panel->text[i].text, &room);
    }
}

static bool overlap(const rectangle* a, const rectangle* b)
{
    return a->left < b->left + b->width && b->left < a->left + a->width &&
           a->top < b->top + b->height && b->top < a->top + a->height;
}

int notes_under(const plot* p, const rectangle* r)
{
    int count = 0;
    for (int64_t i = 0; i < p->panel->mark_count; i++) {
        const panel_mark* m = &p->panel->mark[i];
        const double at = place_of_mark(p, m);
        if (isnan(at) || !m->label) continue;
        const rectangle room = room_of_label(p, m, at);
        count += overlap(&room, r);
    }
    for (int64_t i = 0; i < p->panel->text_count; i++) {
        const rectangle room = room_of_text(p, &p->panel->text[i]);
        count += room.width > 0.0 && overlap(&room, r);
    }
    return count;
}

/// Lines and polygons, cut where they leave the axes.
#include "picture/pen.h"

/// Parts of a path that are stroked at once, and their length on the page: the cost of stroking
/// grows faster than the path.
enum { PEN_PARTS = 1000 };
#define PEN_LENGTH 5000.0
/// Only lines longer than this are left out where others cover them: short ones cost little, and
/// gaps in a row of them could be seen.
#define PEN_LONG 10.0
/// Differences of places below this do not overflow.
#define PEN_FARTHEST 1e150

pen pen_make(const plot* p, double beyond)
{
    const rectangle* box = &p->box;
    pen made = {.cr = p->cr,
                .left = box->left - beyond,
                .right = box->left + box->width + beyond,
                .top = box->top - beyond,
                .bottom = box->top + box->height + beyond};
    if (cairo_get_dash_count(p->cr) == 2) cairo_get_dash(p->cr, made.dash, NULL);
    return made;
}

static bool has_place(double x, double y)
{
    return fabs(x) < PEN_FARTHEST && fabs(y) < PEN_FARTHEST;
}

static double between(double at, double low, double high)
{
    return fmin(fmax(at, low), high);
}

// ---- lines -------------------------------------------------------------------------------------

/// Cut the part [*t0, *t1] of a segment off where p t > q (Liang and Barsky); false if none is
/// left.
static bool cut(double p, double q, double* t0, double* t1)
{
    if (p == 0.0) return q >= 0.0;
    const double t = q / p;
    if (p < 0.0) {
        *t0 = fmax(*t0, t);
    } else {
        *t1 = fmin(*t1, t);
    }
    return *t0 <= *t1;
}

void pen_stroke(pen* p)
{
    cairo_stroke(p->cr);
    p->parts = 0;
    p->length = 0.0;
    p->joined = false;
}

/// Add a segment that lies where the pen draws. A path that became long is stroked, and the next
/// one begins with the same segment again, so that its corner is drawn and its dashes go on.
static void add_part(pen* p, const double from[2], const double to[2])
{
    const double length = hypot(to[0] - from[0], to[1] - from[1]);
    const double period = p->dash[0] + p->dash[1];
    if (!p->joined) {
        cairo_move_to(p->cr, from[0], from[1]);
        p->walked = p->begin;
    }
    cairo_line_to(p->cr, to[0], to[1]);
    p->parts++;
    p->length += length;
    if (p->parts >= PEN_PARTS || p->length >= PEN_LENGTH) {
        pen_stroke(p);
        if (period > 0.0) {
            p->begin = p->walked;
            cairo_set_dash(p->cr, p->dash, 2, p->begin);
        }
        cairo_move_to(p->cr, from[0], from[1]);
        cairo_line_to(p->cr, to[0], to[1]);
        p->parts = 1;
    }
    if (period > 0.0) p->walked = fmod(p->walked + length, period);
}

void pen_to(pen* p, double x, double y)
{
    if (!has_place(x, y)) {
        p->down = p->joined = false;
        return;
    }
    if (p->down) {
        const double dx = x - p->x, dy = y - p->y;
        if (fabs(dx) < p->closest && fabs(dy) < p->closest) return;
        double t0 = 0.0, t1 = 1.0;
        bool visible = cut(-dx, p->x - p->left, &t0, &t1) && cut(dx, p->right - p->x, &t0, &t1) &&
                       cut(-dy, p->y - p->top, &t0, &t1) && cut(dy, p->bottom - p->y, &t0, &t1);
        p->joined = p->joined && t0 == 0.0;
        if (visible) {
            // Held between the sides again: far away, rounding is larger than the page.
            const double from[2] = {between(p->x + t0 * dx, p->left, p->right),
                                    between(p->y + t0 * dy, p->top, p->bottom)};
            const double to[2] = {between(p->x + t1 * dx, p->left, p->right),
                                  between(p->y + t1 * dy, p->top, p->bottom)};
            // A long segment that other lines cover is left out; it covers others from now on.
            visible = !p->covered || cover_line(p->covered, from, to) ||
                      hypot(to[0] - from[0], to[1] - from[1]) <= PEN_LONG;
            if (visible) add_part(p, from, to);
        }
        p->joined = visible && t1 == 1.0;
    }
    p->down = true;
    p->x = x;
    p->y = y;
}

// ---- polygons ----------------------------------------------------------------------------------

/// How far inside one of the four sides a point is.
static double depth(const pen* p, int side, const double at[2])
{
    switch (side) {
    case 0: return at[0] - p->left;
    case 1: return p->right - at[0];
    case 2: return at[1] - p->top;
    default: return p->bottom - at[1];
    }
}

static void corner_to(pen_shape* s, int side, const double at[2]);

/// Where an edge crosses a side, there is a corner.
static void cross_side(pen_shape* s, int side, const double from[2], const double to[2])
{
    const double a = depth(s->pen, side, from), b = depth(s->pen, side, to);
    if ((a < 0.0) == (b < 0.0)) return;
    const double t = a / (a - b);
    const double at[2] = {from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])};
    corner_to(s, side + 1, at);
}

/// A corner comes to a side, having passed those before.
static void corner_to(pen_shape* s, int side, const double at[2])
{
    const pen* p = s->pen;
    if (side == 4) {
        cairo_line_to(p->cr, between(at[0], p->left, p->right), between(at[1], p->top, p->bottom));
        return;
    }
    if (s->side[side].any) {
        cross_side(s, side, s->side[side].last, at);
    } else {
        s->side[side].any = true;
        s->side[side].first[0] = at[0], s->side[side].first[1] = at[1];
    }
    s->side[side].last[0] = at[0], s->side[side].last[1] = at[1];
    if (depth(p, side, at) >= 0.0) corner_to(s, side + 1, at);
}

void pen_corner(pen_shape* s, double x, double y)
{
    if (has_place(x, y)) corner_to(s, 0, (const double[2]){x, y});
}

void pen_close(pen_shape* s)
{
    for (int side = 0; side < 4; side++) {
        if (s->side[side].any) cross_side(s, side, s->side[side].last, s->side[side].first);
    }
    cairo_close_path(s->pen->cr);
}

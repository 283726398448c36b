/// Lines of curves: from points to a path that is clipped to the axes, and no finer than one can
/// see.
#include "draw/plot.h"

/// Curves of more points than this are thinned out.
enum { LINE_MANY = 5000 };
/// Parts of a path that are stroked at once: the cost of stroking grows faster than the path.
enum { LINE_CHUNK = 1000 };
/// Width of the columns of the page in which a thinned line keeps its first, lowest, highest and
/// last point.
#define LINE_COLUMN 0.25
/// Lines go on this far beyond the axes, so that their ends and corners are not seen.
#define LINE_BEYOND 50.0

/// A pen that draws from point to point.
typedef struct pen {
    cairo_t* cr;
    double left, right, top, bottom; ///< where it draws
    bool down;                       ///< there is a last point
    bool joined;                     ///< and the path ends there
    bool chunks;                     ///< stroke in chunks
    int parts;
    double x, y; ///< last point
} pen;

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

static void pen_lift(pen* p)
{
    p->down = p->joined = false;
}

static void pen_to(pen* p, double x, double y)
{
    if (!isfinite(x) || !isfinite(y)) {
        pen_lift(p);
        return;
    }
    if (p->down) {
        const double dx = x - p->x, dy = y - p->y;
        double t0 = 0.0, t1 = 1.0;
        const bool visible =
            cut(-dx, p->x - p->left, &t0, &t1) && cut(dx, p->right - p->x, &t0, &t1) &&
            cut(-dy, p->y - p->top, &t0, &t1) && cut(dy, p->bottom - p->y, &t0, &t1);
        if (visible) {
            if (!p->joined || t0 > 0.0) cairo_move_to(p->cr, p->x + t0 * dx, p->y + t0 * dy);
            cairo_line_to(p->cr, p->x + t1 * dx, p->y + t1 * dy);
            p->parts++;
        }
        p->joined = visible && t1 == 1.0;
        if (p->chunks && p->parts >= LINE_CHUNK) {
            cairo_stroke(p->cr);
            p->parts = 0;
            p->joined = false;
        }
    }
    p->down = true;
    p->x = x;
    p->y = y;
}

/// Points of a line that fall into the same column of the page.
typedef struct column_points {
    bool open;
    double column;
    double low[2], high[2], last[2];
    bool low_first;
} column_points;

static void column_flush(column_points* c, pen* to)
{
    if (!c->open) return;
    const double* first = c->low_first ? c->low : c->high;
    const double* second = c->low_first ? c->high : c->low;
    pen_to(to, first[0], first[1]);
    pen_to(to, second[0], second[1]);
    pen_to(to, c->last[0], c->last[1]);
    c->open = false;
}

static void column_add(column_points* c, pen* to, double x, double y)
{
    const double column = floor(x / LINE_COLUMN);
    if (!isfinite(x) || !isfinite(y) || !c->open || column != c->column) {
        column_flush(c, to);
        pen_to(to, x, y);
        if (!isfinite(x) || !isfinite(y)) return;
        *c = (column_points){true, column, {x, y}, {x, y}, {x, y}, true};
        return;
    }
    if (y < c->low[1]) {
        c->low[0] = x, c->low[1] = y;
        c->low_first = false;
    }
    if (y > c->high[1]) {
        c->high[0] = x, c->high[1] = y;
        c->low_first = true;
    }
    c->last[0] = x, c->last[1] = y;
}

static void draw_steps(const plot* p, const panel_curve* c, pen* to)
{
    const talus_curve_def* def = &c->def;
    // Where nothing was counted a logarithmic axis shows its lower end.
    const double base = p->y.log ? p->y.from : axis_at(&p->y, 0.0);
    double before = base;
    for (int64_t i = 0; i < def->count; i++) {
        const double x = axis_at(&p->x, def->x[i]);
        double y = axis_at(&p->y, def->y[i]);
        if (p->y.log && def->y[i] <= 0.0) y = base;
        if (isfinite(before)) pen_to(to, x, before);
        pen_to(to, x, y);
        before = y;
    }
}

void curve_line(const plot* p, const panel_curve* c)
{
    const talus_curve_def* def = &c->def;
    const bool many = def->count > LINE_MANY;
    const rectangle* box = &p->box;
    pen to = {.cr = p->cr,
              .left = box->left - LINE_BEYOND,
              .right = box->left + box->width + LINE_BEYOND,
              .top = box->top - LINE_BEYOND,
              .bottom = box->top + box->height + LINE_BEYOND,
              .chunks = many && def->dash == TALUS_DASH_SOLID};
    curve_pen(p->cr, c);
    if (def->style == TALUS_CURVE_STEPS) {
        draw_steps(p, c, &to);
    } else {
        column_points column = {0};
        for (int64_t i = 0; i < def->count; i++) {
            const double x = axis_at(&p->x, def->x[i]), y = axis_at(&p->y, def->y[i]);
            if (many) {
                column_add(&column, &to, x, y);
            } else {
                pen_to(&to, x, y);
            }
        }
        column_flush(&column, &to);
    }
    cairo_stroke(p->cr);
}

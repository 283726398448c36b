/// Lines of data series: from points to a path that is no finer than one can see.
#include "picture/pen.h"

/// Series of more points than this are thinned out.
enum { LINE_MANY = 5000 };
/// Width of the columns of the page in which a thinned line keeps its first, lowest, highest and
/// last point, and the least distance of points that it keeps.
#define LINE_CLOSE 0.25
/// Lines go on this far beyond the axes, so that their ends and corners are not seen.
#define LINE_BEYOND 50.0

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
    const double column = floor(x / LINE_CLOSE);
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

/// A line's way from its points to the page.
typedef struct line_path {
    bool thin;
    pen to;
    column_points column;
} line_path;

static void path_to(line_path* path, double x, double y)
{
    if (path->thin) {
        column_add(&path->column, &path->to, x, y);
    } else {
        pen_to(&path->to, x, y);
    }
}

void series_line(const plot* p, const panel_series* c)
{
    const talus_curve_def* def = &c->def;
    series_pen(p->cr, c);
    line_path path = {.thin = def->count > LINE_MANY, .to = pen_make(p, LINE_BEYOND)};
    cover covered = {0};
    if (path.thin) {
        covered = cover_make(&p->box, def->width, fmax(LINE_CLOSE, 0.4 * def->width));
        path.to.closest = LINE_CLOSE;
        path.to.covered = &covered;
    }
    if (def->style == TALUS_CURVE_STEPS) {
        // Where nothing was counted a logarithmic axis shows its lower end.
        const double base = p->y.log ? p->y.from : axis_at(&p->y, 0.0);
        double before = base;
        for (int64_t i = 0; i < def->count; i++) {
            const double x = axis_at(&p->x, def->x[i]);
            double y = axis_at(&p->y, def->y[i]);
            if (p->y.log && def->y[i] <= 0.0) y = base;
            if (isfinite(before)) path_to(&path, x, before);
            path_to(&path, x, y);
            before = y;
        }
    } else {
        for (int64_t i = 0; i < def->count; i++) {
            path_to(&path, axis_at(&p->x, def->x[i]), axis_at(&p->y, def->y[i]));
        }
    }
    column_flush(&path.column, &path.to);
    pen_stroke(&path.to);
    cover_free(&covered);
}

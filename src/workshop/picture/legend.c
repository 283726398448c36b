/// The legend: a sample and the label of each data series, where it hides least.
#include "picture/plot.h"
#include "picture/text.h"

#define LINE 14.0   // height of a row
#define SAMPLE 22.0 // length of a sample
#define SPACE 6.0   // between sample and label, and around the whole

void legend_size(cairo_t* cr, const panel* p, double* width, double* height)
{
    double widest = 0.0;
    int rows = 0;
    for (int64_t i = 0; i < p->series_count; i++) {
        if (!p->series[i].label) continue;
        widest = fmax(widest, text_measure(cr, p->series[i].label, PLOT_SMALL_TEXT).width);
        rows++;
    }
    *width = rows ? SAMPLE + widest + 3.0 * SPACE : 0.0;
    *height = rows ? rows * LINE + SPACE : 0.0;
}

static bool holds(const rectangle* r, double x, double y)
{
    return x >= r->left && x <= r->left + r->width && y >= r->top && y <= r->top + r->height;
}

/// How much of a series a rectangle hides: the part of its points, or of places on its line.
static double hidden_of_series(const plot* p, const panel_series* c, const rectangle* r)
{
    enum { SAMPLES = 2000 };
    const talus_curve_def* def = &c->def;
    const int64_t stride = def->count / SAMPLES + 1;
    const int between = series_has_line(c) && def->count < SAMPLES / 10 ? 10 : 1;
    int64_t hidden = 0, seen = 0;
    double x_before = NAN, y_before = NAN;
    for (int64_t i = 0; i < def->count; i += stride) {
        const double x = axis_at(&p->x, def->x[i]), y = axis_at(&p->y, def->y[i]);
        for (int k = 1; k <= between; k++) {
            const double part = (double)k / between;
            const double at_x = k == between ? x : x_before + part * (x - x_before);
            const double at_y = k == between ? y : y_before + part * (y - y_before);
            if (!holds(&p->box, at_x, at_y)) continue;
            seen++;
            hidden += holds(r, at_x, at_y);
        }
        x_before = x;
        y_before = y;
    }
    return seen ? (double)hidden / (double)seen : 0.0;
}

/// Place at the left or right side, `down` (0 to 1) of the way from top to bottom.
static rectangle beside(const plot* p, bool left, double down, double width, double height)
{
    const double inset = 7.0; // clear of the ticks
    const rectangle* b = &p->box;
    return (rectangle){left ? b->left + inset : b->left + b->width - inset - width,
                       b->top + inset + down * (b->height - 2.0 * inset - height), width, height};
}

/// Corners are preferred to places between them.
static rectangle best_place(const plot* p, double width, double height)
{
    static const double down[] = {0.0, 1.0, 0.5, 0.25, 0.75};
    rectangle best = {0};
    double least = INFINITY;
    for (int k = 0; k < 10; k++) {
        const rectangle other = beside(p, k % 2 == 1, down[k / 2], width, height);
        double hidden = notes_under(p, &other);
        for (int64_t i = 0; i < p->panel->series_count; i++) {
            hidden += hidden_of_series(p, &p->panel->series[i], &other);
        }
        if (hidden < least) {
            least = hidden;
            best = other;
        }
    }
    return best;
}

void legend_draw(const plot* p, double right)
{
    const talus_legend place = p->panel->axes.legend;
    double width, height;
    legend_size(p->cr, p->panel, &width, &height);
    if (width <= 0.0 || place == TALUS_LEGEND_NONE) return;
    const bool left = place == TALUS_LEGEND_TOP_LEFT || place == TALUS_LEGEND_BOTTOM_LEFT;
    const bool top = place == TALUS_LEGEND_TOP_LEFT || place == TALUS_LEGEND_TOP_RIGHT;
    const rectangle r =
        place == TALUS_LEGEND_OUTSIDE ? (rectangle){right, p->box.top, width, height}
        : place == TALUS_LEGEND_AUTO  ? best_place(p, width, height)
                                      : beside(p, left, top ? 0.0 : 1.0, width, height);
    cairo_set_source_rgba(p->cr, 1.0, 1.0, 1.0, 0.8);
    cairo_rectangle(p->cr, r.left, r.top, r.width, r.height);
    cairo_fill(p->cr);
    double y = r.top + 0.5 * SPACE + 0.5 * LINE;
    for (int64_t i = 0; i < p->panel->series_count; i++) {
        const panel_series* c = &p->panel->series[i];
        if (!c->label) continue;
        series_sample(p->cr, c, r.left + SPACE, y, SAMPLE);
        cairo_set_source_rgb(p->cr, 0.0, 0.0, 0.0);
        text_draw(p->cr, c->label, PLOT_SMALL_TEXT, r.left + SAMPLE + 2.0 * SPACE,
                  y + 0.36 * PLOT_SMALL_TEXT, 0.0, 0.0);
        y += LINE;
    }
}

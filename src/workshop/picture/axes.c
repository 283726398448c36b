/// Axes: their ends, their frame with ticks inside, their labels.
#include "picture/plot.h"
#include "picture/text.h"

#include <stdlib.h>

/// Part of the range that an axis goes on beyond its data.
#define AXES_BEYOND 0.04
#define TICK 4.5
#define MINOR_TICK 2.5
#define GAP 4.0          // between frame, numbers and labels
#define FACTOR_ROOM 14.0 // of the common factor of the numbers, above the frame

// ---- ends --------------------------------------------------------------------------------------

static void span_add_if(span* s, double value, bool log)
{
    if (!log || value > 0.0) span_add(s, value);
}

/// On a logarithmic axis a few values far below all others, rounding errors of a frame at rest for
/// instance, would press the rest together: of the lowest in STRAY_PART those that lie STRAY times
/// below the others do not count.
#define STRAY_PART 20
#define STRAY 1e-3

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/// Lowest value of all curves that counts on a logarithmic axis; 0: all do.
static double lowest_that_counts(const panel* p, bool of_x)
{
    int64_t room = 1, count = 0;
    if (!(of_x ? p->axes.x_log : p->axes.y_log)) return 0.0;
    for (int64_t i = 0; i < p->series_count; i++) room += p->series[i].def.count;
    double* value = malloc(sizeof *value * (size_t)room);
    if (!value) return 0.0; // then the axis is longer
    for (int64_t i = 0; i < p->series_count; i++) {
        const talus_curve_def* def = &p->series[i].def;
        for (int64_t k = 0; k < def->count; k++) {
            const double one = of_x ? def->x[k] : def->y[k];
            if (isfinite(one) && one > 0.0) value[count++] = one;
        }
    }
    qsort(value, (size_t)count, sizeof *value, ascending);
    const double least = count > 0 ? STRAY * value[count / STRAY_PART] : 0.0;
    free(value);
    return least;
}

static void add_series(const panel* p, const panel_series* c, const double least_of[2], span* x,
                       span* y)
{
    const talus_curve_def* def = &c->def;
    for (int64_t i = 0; i < def->count; i++) {
        const bool drawn =
            isfinite(def->x[i]) && isfinite(def->y[i]) && (!p->axes.x_log || def->x[i] > 0.0);
        if (!drawn || (p->axes.x_log && def->x[i] < least_of[0])) continue;
        if (p->axes.y_log && def->y[i] > 0.0 && def->y[i] < least_of[1]) continue;
        if (!p->axes.y_log || def->y[i] > 0.0 || def->style == TALUS_CURVE_STEPS) {
            span_add_if(x, def->x[i], p->axes.x_log);
        }
        span_add_if(y, def->y[i], p->axes.y_log);
        if (!def->y_error || !(def->y_error[i] > 0.0)) continue;
        span_add_if(y, def->y[i] + def->y_error[i], p->axes.y_log);
        // An error bar that reaches far down must not press the data to the top.
        const double least = p->axes.y_log ? 0.3 * def->y[i] : -INFINITY;
        span_add_if(y, fmax(def->y[i] - def->y_error[i], least), p->axes.y_log);
    }
}

/// Round off what the data say: room beyond them, no range of no length.
static span widen(span s, bool log, bool from_zero)
{
    if (span_is_empty(s)) return log ? (span){0.1, 10.0} : (span){0.0, 1.0};
    if (log) {
        // So far from the ends of what doubles can hold that there is room for room.
        const double low = fmin(fmax(log10(s.low), -290.0), 290.0);
        const double high = fmin(fmax(log10(s.high), -290.0), 290.0);
        const double beyond = high - low < FIGURE_CLOSEST ? 0.3 : AXES_BEYOND * (high - low);
        return (span){pow(10.0, low - beyond), pow(10.0, high + beyond)};
    }
    const double size = fmax(fabs(s.low), fabs(s.high)), range = s.high - s.low;
    if (span_too_short(s.low, s.high)) {
        const double half = size > FIGURE_SHORTEST ? 0.1 * size : 1.0;
        return (span){s.low - half, s.high + half};
    }
    const bool zero = from_zero && s.low >= 0.0;
    return (span){zero ? 0.0 : s.low - AXES_BEYOND * range, s.high + AXES_BEYOND * range};
}

void axes_range(const panel* p, axis* x, axis* y)
{
    span in_x = span_empty(), in_y = span_empty();
    bool histogram = false;
    const double least[2] = {lowest_that_counts(p, true), lowest_that_counts(p, false)};
    for (int64_t i = 0; i < p->series_count; i++) {
        add_series(p, &p->series[i], least, &in_x, &in_y);
        histogram = histogram || p->series[i].def.style == TALUS_CURVE_STEPS;
    }
    for (int64_t i = 0; i < p->mark_count; i++) {
        const panel_mark* m = &p->mark[i];
        span_add_if(m->vertical ? &in_x : &in_y, m->at,
                    m->vertical ? p->axes.x_log : p->axes.y_log);
    }
    if (p->has_picture && !span_is_empty(p->picture.x)) {
        span_add_if(&in_x, p->picture.x.low, p->axes.x_log);
        span_add_if(&in_x, p->picture.x.high, p->axes.x_log);
        span_add_if(&in_y, p->picture.y.low, p->axes.y_log);
        span_add_if(&in_y, p->picture.y.high, p->axes.y_log);
    }
    const talus_axes_def* def = &p->axes;
    const bool given_x = def->x_low != def->x_high, given_y = def->y_low != def->y_high;
    const span range_x = given_x ? (span){def->x_low, def->x_high} : widen(in_x, def->x_log, false);
    const span range_y =
        given_y ? (span){def->y_low, def->y_high} : widen(in_y, def->y_log, histogram);
    *x = (axis){.low = range_x.low, .high = range_x.high, .log = def->x_log};
    *y = (axis){.low = range_y.low, .high = range_y.high, .log = def->y_log};
}

// ---- ticks -------------------------------------------------------------------------------------

static double widest_label(cairo_t* cr, const ticks* t)
{
    double widest = 0.0;
    for (int i = 0; i < t->count; i++) {
        widest = fmax(widest, text_measure(cr, t->label[i], PLOT_SMALL_TEXT).width);
    }
    return widest;
}

/// Smallest distance of neighbouring ticks on an axis of this length on the page.
static double closest(const axis* a, double length, const ticks* t)
{
    axis page = *a;
    page.from = 0.0, page.to = length;
    double least = INFINITY;
    for (int i = 1; i < t->count; i++) {
        least = fmin(least, fabs(axis_at(&page, t->at[i]) - axis_at(&page, t->at[i - 1])));
    }
    return least;
}

/// Minor ticks that would be closer than one can see are left out.
static void thin_out(ticks* t, double length)
{
    if (t->minor_count > length / 2.5) t->minor_count = 0;
}

void axes_ticks(cairo_t* cr, const axis* x, const axis* y, double width, double height,
                ticks* x_ticks, ticks* y_ticks)
{
    int wanted = (int)fmin(width / 45.0, 12.0);
    do {
        ticks_make(fmin(x->low, x->high), fmax(x->low, x->high), x->log, wanted, x_ticks);
    } while (closest(x, width, x_ticks) < widest_label(cr, x_ticks) + 6.0 && --wanted >= 2);
    ticks_make(fmin(y->low, y->high), fmax(y->low, y->high), y->log, (int)fmin(height / 30.0, 12.0),
               y_ticks);
    thin_out(x_ticks, width);
    thin_out(y_ticks, height);
}

// ---- drawing -----------------------------------------------------------------------------------

static double tallest_label(cairo_t* cr, const ticks* t)
{
    double tallest = 0.0;
    for (int i = 0; i < t->count; i++) {
        const text_size s = text_measure(cr, t->label[i], PLOT_SMALL_TEXT);
        tallest = fmax(tallest, s.above + s.below);
    }
    return tallest;
}

margins axes_margins(cairo_t* cr, const panel* p, const ticks* x_ticks, const ticks* y_ticks)
{
    const text_size x_label = text_measure(cr, p->x_label, PLOT_TEXT);
    const text_size y_label = text_measure(cr, p->y_label, PLOT_TEXT);
    const text_size title = text_measure(cr, p->title, PLOT_TITLE);
    if (p->axes.hidden) {
        return (margins){2.0 * GAP, 2.0 * GAP,
                         2.0 * GAP + (p->title ? title.above + 0.6 * PLOT_TITLE : 0.0),
                         2.0 * GAP + picture_strip_room(p)};
    }
    const double factor = y_ticks->factor[0] ? FACTOR_ROOM : 0.0;
    const bool below = p->x_label || x_ticks->factor[0];
    const double left = 2.0 * GAP + widest_label(cr, y_ticks) +
                        (p->y_label ? y_label.above + y_label.below + GAP : 0.0);
    return (margins){
        .left = fmax(left, text_measure(cr, y_ticks->factor, PLOT_SMALL_TEXT).width + GAP),
        .right = fmax(2.0 * GAP, 0.5 * widest_label(cr, x_ticks)),
        .top = 2.0 * GAP + fmax(factor, p->title ? title.above + 0.3 * PLOT_TITLE : 0.0),
        .bottom = 2.0 * GAP + tallest_label(cr, x_ticks) +
                  (below ? 0.8 * PLOT_TEXT + fmax(x_label.below, 2.0) + GAP : 0.0),
    };
}

/// A short line inwards from both sides of the frame.
static void tick_line(const plot* p, bool vertical, double at, double length)
{
    const rectangle* b = &p->box;
    if (vertical) {
        cairo_move_to(p->cr, b->left, at);
        cairo_rel_line_to(p->cr, length, 0.0);
        cairo_move_to(p->cr, b->left + b->width, at);
        cairo_rel_line_to(p->cr, -length, 0.0);
    } else {
        cairo_move_to(p->cr, at, b->top + b->height);
        cairo_rel_line_to(p->cr, 0.0, -length);
        cairo_move_to(p->cr, at, b->top);
        cairo_rel_line_to(p->cr, 0.0, length);
    }
}

static void draw_ticks(const plot* p, bool vertical)
{
    const axis* a = vertical ? &p->y : &p->x;
    const ticks* t = vertical ? &p->y_ticks : &p->x_ticks;
    for (int i = 0; i < t->minor_count; i++) {
        tick_line(p, vertical, axis_at(a, t->minor[i]), MINOR_TICK);
    }
    for (int i = 0; i < t->count; i++) tick_line(p, vertical, axis_at(a, t->at[i]), TICK);
    cairo_stroke(p->cr);
    for (int i = 0; i < t->count; i++) {
        const double at = axis_at(a, t->at[i]);
        if (vertical) {
            text_draw(p->cr, t->label[i], PLOT_SMALL_TEXT, p->box.left - GAP,
                      at + 0.36 * PLOT_SMALL_TEXT, 1.0, 0.0);
        } else {
            const text_size s = text_measure(p->cr, t->label[i], PLOT_SMALL_TEXT);
            text_draw(p->cr, t->label[i], PLOT_SMALL_TEXT, at,
                      p->box.top + p->box.height + GAP + s.above, 0.5, 0.0);
        }
    }
}

/// Size of a label that is no longer than its axis: smaller letters rather than a cut one.
static double label_size(cairo_t* cr, const char* label, double length)
{
    const double width = text_measure(cr, label, PLOT_TEXT).width;
    return width > length ? PLOT_TEXT * length / width : PLOT_TEXT;
}

/// Baselines do not depend on scripts in a label, so that those of panels side by side agree.
static void draw_labels(const plot* p, const margins* m)
{
    const rectangle* b = &p->box;
    const panel* q = p->panel;
    const double right = b->left + b->width;
    const double under =
        b->top + b->height + 2.0 * GAP + tallest_label(p->cr, &p->x_ticks) + 0.8 * PLOT_TEXT;
    const double y_label = text_measure(p->cr, q->y_label, PLOT_TEXT).above;
    text_draw(p->cr, q->x_label, label_size(p->cr, q->x_label, b->width), b->left + 0.5 * b->width,
              under, 0.5, 0.0);
    text_draw(p->cr, p->x_ticks.factor, PLOT_SMALL_TEXT, right, under, 1.0, 0.0);
    text_draw(p->cr, q->y_label, label_size(p->cr, q->y_label, b->height),
              b->left - m->left + GAP + y_label, b->top + 0.5 * b->height, 0.5, 0.5 * M_PI);
    // The factor ends where the axis is, so that it does not meet the title.
    const double over = b->top - GAP - 0.3 * PLOT_TITLE;
    text_draw(p->cr, p->y_ticks.factor, PLOT_SMALL_TEXT, b->left, over, 1.0, 0.0);
    text_draw(p->cr, q->title, PLOT_TITLE, b->left + 0.5 * b->width, over, 0.5, 0.0);
}

void axes_draw(const plot* p)
{
    const margins m = axes_margins(p->cr, p->panel, &p->x_ticks, &p->y_ticks);
    cairo_set_source_rgb(p->cr, 0.0, 0.0, 0.0);
    if (p->panel->axes.hidden) {
        text_draw(p->cr, p->panel->title, PLOT_TITLE, p->box.left + 0.5 * p->box.width,
                  p->box.top - GAP - 0.3 * PLOT_TITLE, 0.5, 0.0);
        return;
    }
    cairo_set_dash(p->cr, NULL, 0, 0.0);
    cairo_set_line_width(p->cr, 0.8);
    cairo_set_line_join(p->cr, CAIRO_LINE_JOIN_MITER);
    cairo_rectangle(p->cr, p->box.left, p->box.top, p->box.width, p->box.height);
    cairo_stroke(p->cr);
    draw_ticks(p, false);
    draw_ticks(p, true);
    draw_labels(p, &m);
}

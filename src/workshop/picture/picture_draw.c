/// Pictures on the page: pieces one after the other, and the scale of colours.
#include "picture/pen.h"
#include "picture/text.h"

/// Pictures of more pieces than this have balls without lights.
enum { PICTURE_MANY = 20000 };
/// Lines and polygons go on this far beyond the axes, so that their ends are not seen.
#define PICTURE_BEYOND 50.0
/// Largest circles and widths of bars on the page.
#define PICTURE_LARGEST 1e5

/// Points on the page for one unit.
static double unit_of(const plot* p)
{
    return fabs(p->x.to - p->x.from) / fabs(p->x.high - p->x.low);
}

/// A ball lit from the upper left.
static void light_ball(cairo_t* cr, double x, double y, double radius, rgb colour)
{
    const rgb light = colour_mix(colour, (rgb){1.0, 1.0, 1.0}, 0.6);
    const rgb dark = colour_mix(colour, (rgb){0.0, 0.0, 0.0}, 0.25);
    cairo_pattern_t* shade =
        cairo_pattern_create_radial(x - 0.35 * radius, y - 0.35 * radius, 0.0, x, y, radius);
    cairo_pattern_add_color_stop_rgb(shade, 0.0, light.red, light.green, light.blue);
    cairo_pattern_add_color_stop_rgb(shade, 0.5, colour.red, colour.green, colour.blue);
    cairo_pattern_add_color_stop_rgb(shade, 1.0, dark.red, dark.green, dark.blue);
    cairo_set_source(cr, shade);
    cairo_fill_preserve(cr);
    cairo_pattern_destroy(shade);
}

static void draw_edge(cairo_t* cr, const piece* q, double size)
{
    if (!q->edged || size < 1.0) {
        cairo_new_path(cr);
        return;
    }
    plot_colour(cr, colour_mix(q->colour, (rgb){0.0, 0.0, 0.0}, 0.55));
    cairo_set_line_width(cr, fmin(0.5, 0.06 * size));
    cairo_stroke(cr);
}

static void draw_circle(const plot* p, const piece* q, const double* at)
{
    const double x = axis_at(&p->x, at[0]), y = axis_at(&p->y, at[1]);
    const double radius = q->size * unit_of(p);
    const rectangle* b = &p->box;
    if (!(x + radius > b->left && x - radius < b->left + b->width && y + radius > b->top &&
          y - radius < b->top + b->height && radius < PICTURE_LARGEST)) {
        return;
    }
    cairo_new_path(p->cr);
    cairo_arc(p->cr, x, y, fmax(radius, 0.15), 0.0, 2.0 * M_PI);
    if (q->ball && radius > 1.5 && p->panel->picture.piece_count <= PICTURE_MANY) {
        light_ball(p->cr, x, y, radius, q->colour);
    } else {
        plot_colour(p->cr, q->colour);
        cairo_fill_preserve(p->cr);
    }
    draw_edge(p->cr, q, 2.0 * radius);
}

/// The line of a round wall: whole, or of a very large one the part near the panel.
static void draw_ring(const plot* p, const piece* q, const double* at)
{
    enum { STEPS = 256 };
    const double x = axis_at(&p->x, at[0]), y = axis_at(&p->y, at[1]);
    const double radius = q->size * unit_of(p);
    const double mx = p->box.left + 0.5 * p->box.width, my = p->box.top + 0.5 * p->box.height;
    const double reach = p->box.width + p->box.height;
    if (!isfinite(x + y + radius) || fabs(hypot(mx - x, my - y) - radius) > reach) return;
    plot_colour(p->cr, q->colour);
    cairo_set_line_width(p->cr, 1.2);
    if (radius < PICTURE_LARGEST) {
        cairo_new_path(p->cr);
        cairo_arc(p->cr, x, y, radius, 0.0, 2.0 * M_PI);
        cairo_close_path(p->cr);
        cairo_stroke(p->cr);
        return;
    }
    pen to = pen_make(p, PICTURE_BEYOND);
    const double middle = atan2(my - y, mx - x), half = 2.0 * reach / radius;
    for (int k = -STEPS; k <= STEPS; k++) {
        const double angle = middle + half * k / STEPS;
        pen_to(&to, x + radius * cos(angle), y + radius * sin(angle));
    }
    pen_stroke(&to);
}

static void trace_polygon(const plot* p, const piece* q)
{
    const pen within = pen_make(p, PICTURE_BEYOND);
    const double* at = p->panel->picture.point + 2 * q->first;
    pen_shape shape = {.pen = &within};
    for (int32_t i = 0; i < q->point_count; i++) {
        pen_corner(&shape, axis_at(&p->x, at[2 * i]), axis_at(&p->y, at[2 * i + 1]));
    }
    pen_close(&shape);
}

/// A polygon, or all of a grain. Of several the edges come first, so that the filling, which is
/// one path and has no seams, hides those inside.
static void draw_filled(const plot* p, const piece* q, int64_t count)
{
    if (count > 1) {
        cairo_new_path(p->cr);
        for (int64_t i = 0; i < count; i++) trace_polygon(p, q + i);
        draw_edge(p->cr, q, 16.0);
    }
    cairo_new_path(p->cr);
    for (int64_t i = 0; i < count; i++) trace_polygon(p, q + i);
    plot_colour(p->cr, q->colour);
    cairo_fill_preserve(p->cr);
    if (count == 1) draw_edge(p->cr, q, 8.0);
    cairo_new_path(p->cr);
}

static void draw_line(const plot* p, const piece* q, const double* at)
{
    const double given = q->kind == PIECE_BAR ? q->size * unit_of(p) : q->wall ? 1.2 : 0.6;
    const double width = fmin(fmax(given, 0.1), PICTURE_LARGEST);
    const int32_t count = q->point_count + (q->kind == PIECE_POLYGON ? 1 : 0);
    pen to = pen_make(p, PICTURE_BEYOND + 0.5 * width);
    plot_colour(p->cr, q->colour);
    cairo_set_line_width(p->cr, width);
    for (int32_t i = 0; i < count; i++) {
        const double* point = at + 2 * (i % q->point_count);
        const double x = axis_at(&p->x, point[0]), y = axis_at(&p->y, point[1]);
        if (isfinite(x) && isfinite(y)) pen_to(&to, x, y);
    }
    pen_stroke(&to);
}

/// The edge of a half-plane through the whole panel, hatched behind.
static void draw_plane(const plot* p, const piece* q, const double* at)
{
    const double x = axis_at(&p->x, at[0]), y = axis_at(&p->y, at[1]);
    // The page's y goes down; axes may be reversed.
    const double nx = at[2] * (p->x.high > p->x.low ? 1.0 : -1.0);
    const double ny = at[3] * (p->y.high > p->y.low ? -1.0 : 1.0);
    const double length = p->box.width + p->box.height;
    // The point of the edge that is nearest to the middle of the panel.
    const double mx = p->box.left + 0.5 * p->box.width, my = p->box.top + 0.5 * p->box.height;
    const double along = (mx - x) * -ny + (my - y) * nx;
    const double cx = x - along * ny, cy = y + along * nx;
    if (!(hypot(cx - mx, cy - my) < length)) return;
    plot_colour(p->cr, q->colour);
    cairo_set_line_width(p->cr, 1.2);
    cairo_move_to(p->cr, cx + length * ny, cy - length * nx);
    cairo_line_to(p->cr, cx - length * ny, cy + length * nx);
    cairo_stroke(p->cr);
    const double space = 5.0, depth = 4.0;
    cairo_set_line_width(p->cr, 0.5);
    for (double s = -length; s < length; s += space) {
        const double sx = cx - s * ny, sy = cy + s * nx;
        cairo_move_to(p->cr, sx, sy);
        cairo_rel_line_to(p->cr, -depth * nx + depth * ny, -depth * ny - depth * nx);
    }
    cairo_stroke(p->cr);
}

void picture_draw(const plot* p)
{
    const picture* all = &p->panel->picture;
    cairo_set_dash(p->cr, NULL, 0, 0.0);
    cairo_set_line_join(p->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_ROUND);
    for (int64_t i = 0; i < all->piece_count; i++) {
        const piece* q = &all->piece[i];
        const double* at = all->point + 2 * q->first;
        switch (q->kind) {
        case PIECE_CIRCLE:
            if (q->filled) {
                draw_circle(p, q, at);
            } else {
                draw_ring(p, q, at);
            }
            break;
        case PIECE_PLANE: draw_plane(p, q, at); break;
        case PIECE_POLYGON:
        case PIECE_LINE:
        case PIECE_BAR:
            if (q->filled) {
                int64_t count = 1;
                while (i + count < all->piece_count && all->piece[i + count].joined) count++;
                draw_filled(p, q, count);
                i += count - 1;
            } else {
                draw_line(p, q, at);
            }
            break;
        }
    }
    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_BUTT);
}

// ---- the scale of colours ----------------------------------------------------------------------

static void scale_ticks(const picture* q, double height, ticks* out)
{
    ticks_make(q->value.low, q->value.high, false, (int)fmin(height / 30.0, 8.0), out);
}

double picture_scale_room(cairo_t* cr, const picture* q, double height)
{
    ticks t;
    scale_ticks(q, height, &t);
    double widest = text_measure(cr, t.factor, PLOT_SMALL_TEXT).width - 10.0;
    for (int i = 0; i < t.count; i++) {
        widest = fmax(widest, text_measure(cr, t.label[i], PLOT_SMALL_TEXT).width);
    }
    const text_size label = text_measure(cr, q->value_label, PLOT_TEXT);
    return widest + label.above + label.below + 12.0;
}

double picture_scale_above(cairo_t* cr, const picture* q, double height)
{
    ticks t;
    scale_ticks(q, height, &t);
    return t.factor[0] ? text_measure(cr, t.factor, PLOT_SMALL_TEXT).above + 8.0 : 0.0;
}

void picture_scale(cairo_t* cr, const picture* q, rectangle bar)
{
    enum { STRIPES = 128 };
    ticks t;
    scale_ticks(q, bar.height, &t);
    for (int k = 0; k < STRIPES; k++) {
        const double from = bar.top + bar.height * (1.0 - (k + 1.0) / STRIPES);
        plot_colour(cr, colour_of_map(q->map, (k + 0.5) / STRIPES));
        // Each stripe goes on under the next one: no seams.
        cairo_rectangle(cr, bar.left, from, bar.width,
                        fmin(2.0 * bar.height / STRIPES, bar.top + bar.height - from));
        cairo_fill(cr);
    }
    const axis a = {
        .low = q->value.low, .high = q->value.high, .from = bar.top + bar.height, .to = bar.top};
    const double right = bar.left + bar.width;
    cairo_set_source_rgb(cr, 0.0, 0.0, 0.0);
    cairo_set_line_width(cr, 0.8);
    cairo_rectangle(cr, bar.left, bar.top, bar.width, bar.height);
    for (int i = 0; i < t.count; i++) {
        cairo_move_to(cr, right, axis_at(&a, t.at[i]));
        cairo_rel_line_to(cr, -3.0, 0.0);
    }
    cairo_stroke(cr);
    for (int i = 0; i < t.count; i++) {
        text_draw(cr, t.label[i], PLOT_SMALL_TEXT, right + 4.0,
                  axis_at(&a, t.at[i]) + 0.36 * PLOT_SMALL_TEXT, 0.0, 0.0);
    }
    text_draw(cr, t.factor, PLOT_SMALL_TEXT, bar.left, bar.top - 4.0, 0.0, 0.0);
    const text_size label = text_measure(cr, q->value_label, PLOT_TEXT);
    const double room = picture_scale_room(cr, q, bar.height);
    text_draw(cr, q->value_label, PLOT_TEXT, right + room - 4.0 - label.below,
              bar.top + 0.5 * bar.height, 0.5, 0.5 * M_PI);
}

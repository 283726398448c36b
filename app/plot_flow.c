/// Plots of surfaces and of the flow through a plane.
#include "plot.h"

#include <math.h>
#include <string.h>

// ---- the surface of a heap ---------------------------------------------------------------------

/// Points that are in the fit or not.
static void draw_points(plot_sheet* sheet, const talus_slope* s, bool fitted)
{
    double *x = sheet_array(sheet, s->count), *y = sheet_array(sheet, s->count);
    int64_t count = 0;
    for (int64_t i = 0; x && y && i < s->count; i++) {
        if ((s->fitted[i] != 0) != fitted) continue;
        x[count] = s->distance[i];
        y[count++] = s->top[i];
    }
    plot_curve c = {.style = TALUS_CURVE_DOTS,
                    .colour = fitted ? TALUS_COLOUR_BLUE : TALUS_COLOUR_GREY,
                    .x = x,
                    .y = y,
                    .count = count};
    snprintf(c.label, sizeof c.label, fitted ? "in the fit" : "not in it");
    sheet_curve(sheet, c);
}

/// The line of least squares through the fitted points on one side: it passes through their mean.
static void draw_side(plot_sheet* sheet, const talus_slope* s, double rise, int side)
{
    double mean[2] = {0}, low = INFINITY, high = -INFINITY;
    int64_t count = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const double at = s->distance[i];
        if (!s->fitted[i] || (side < 0 && at >= 0.0) || (side > 0 && at < 0.0)) continue;
        mean[0] += at;
        mean[1] += s->top[i];
        low = fmin(low, at);
        high = fmax(high, at);
        count++;
    }
    double *x = sheet_array(sheet, 2), *y = sheet_array(sheet, 2);
    if (count < 2 || !x || !y) return;
    for (int k = 0; k < 2; k++) mean[k] /= (double)count;
    x[0] = low, x[1] = high;
    for (int k = 0; k < 2; k++) y[k] = mean[1] + rise * (x[k] - mean[0]);
    sheet_curve(sheet, (plot_curve){.colour = TALUS_COLOUR_VERMILLION, .x = x, .y = y, .count = 2});
}

void plot_repose(plot_job* job, plot_sheet* sheet)
{
    frame_range f;
    const talus_world* world;
    talus_error error = {0};
    talus_slope s;
    talus_slope_def def = talus_slope_default();
    def.kind = job->options->slope;
    def.region = job->options->measure.region;
    if (!frames_of(job->recording, &job->options->frames, false, &f)) return;
    talus_status status = talus_recording_show(job->recording, f.last, &world, &error);
    if (status >= 0) status = talus_measure_slope(world, &def, &s, &error);
    if (status < 0) {
        sheet_nothing(sheet, "%s", error.text);
        return;
    }
    const double degree = M_PI / 180.0;
    draw_points(sheet, &s, true);
    draw_points(sheet, &s, false);
    if (def.kind == TALUS_SLOPE_PLANE) {
        draw_side(sheet, &s, job->dim == 2 ? s.rise[0] : hypot(s.rise[0], s.rise[1]), 0);
    } else if (job->dim == 2) {
        draw_side(sheet, &s, tan(s.flank[0] * degree), -1);
        draw_side(sheet, &s, -tan(s.flank[1] * degree), 1);
    } else {
        draw_side(sheet, &s, -tan(s.angle * degree), 0);
    }
    double* column[3];
    for (int k = 0; k < 3; k++) column[k] = sheet_array(sheet, s.count);
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (int64_t i = 0; !sheet->failed && i < s.count; i++) {
        x[0] = fmin(x[0], s.distance[i]), x[1] = fmax(x[1], s.distance[i]);
        y[0] = fmin(y[0], s.top[i]), y[1] = fmax(y[1], s.top[i]);
        column[0][i] = s.distance[i];
        column[1][i] = s.top[i];
        column[2][i] = s.fitted[i];
    }
    sheet->length = s.count;
    sheet_column(sheet, "distance", column[0]);
    sheet_column(sheet, "height", column[1]);
    sheet_column(sheet, "fitted", column[2]);
    plot_panel* p = &sheet->panel[0];
    snprintf(p->title, PLOT_TEXT, "t = %.4g%s: angle %.1f° ± %.1f°", talus_world_time(world),
             job->reduced ? "" : " s", s.angle, s.error);
    plot_label(job, p->x_label, "horizontal distance", "m");
    plot_label(job, p->y_label, "height", "m"); // short: the panel of a flat heap is low
    p->equal = true;
    // The surface fills the panel, beside its labels.
    const double ratio = x[1] > x[0] ? (y[1] - y[0]) / (x[1] - x[0]) : 1.0;
    sheet->shape = fmin(fmax(0.85 * ratio + 0.17, 0.35), 1.2);
    talus_slope_free(&s);
}

// ---- flow through a plane ----------------------------------------------------------------------

/// The plane: across the axis asked for, at the place asked for, else downwards through the middle
/// of the space that the grains have in the first frame.
static talus_status place_gate(const plot_job* job, const talus_world* world, talus_gate* gate,
                               int* axis, talus_error* error)
{
    const plot_options* o = job->options;
    *gate = talus_gate_default(job->dim);
    gate->region = o->measure.region;
    *axis = o->axis >= 0 ? o->axis : job->dim - 1;
    if (o->axis >= 0) {
        for (int k = 0; k < 3; k++) gate->normal[k] = k == o->axis ? 1.0 : 0.0;
    }
    gate->point[*axis] = o->at;
    if (!isnan(o->at)) return TALUS_OK;
    talus_packing p;
    const talus_status status = talus_measure_packing(world, NULL, &p, error);
    if (status < 0) return status;
    gate->point[*axis] = 0.5 * (p.low[*axis] + p.high[*axis]);
    return TALUS_OK;
}

/// The numbers of the intervals between frames.
typedef struct flow_columns {
    double *time, *middle, *mass, *rate, *forward, *backward, *lost;
} flow_columns;

static talus_status count_frames(plot_job* job, const frame_range* f, flow_columns* out,
                                 talus_gate* gate, int* axis, talus_error* error)
{
    talus_places before = {0}, now = {0};
    talus_status status = TALUS_OK;
    double mass = 0.0, lost = 0.0;
    for (int64_t i = 0; status >= 0 && i < f->count; i++) {
        const talus_world* world;
        talus_crossings c;
        status = talus_recording_show(job->recording, f->first + i * f->stride, &world, error);
        if (status >= 0 && i == 0) status = place_gate(job, world, gate, axis, error);
        if (status >= 0) status = talus_measure_places(world, &now, error);
        if (status < 0) break;
        if (i > 0) {
            status = talus_measure_crossings(&before, &now, gate, &c, error);
            if (status < 0) break;
            mass += c.forward_mass - c.backward_mass;
            lost += c.lost_mass;
            out->time[i - 1] = now.time;
            out->middle[i - 1] = 0.5 * (before.time + now.time);
            out->mass[i - 1] = mass;
            out->rate[i - 1] = c.mass_rate;
            out->forward[i - 1] = (double)c.forward;
            out->backward[i - 1] = (double)c.backward;
            out->lost[i - 1] = lost;
        }
        talus_places_free(&before);
        before = now;
        now = (talus_places){0};
    }
    talus_places_free(&before);
    talus_places_free(&now);
    return status;
}

void plot_flow(plot_job* job, plot_sheet* sheet)
{
    frame_range f;
    talus_error error = {0};
    talus_gate gate;
    int axis = 0;
    flow_columns c;
    double** const column[] = {&c.time,    &c.middle,   &c.mass, &c.rate,
                               &c.forward, &c.backward, &c.lost};
    static const char* const name[] = {"time",    "middle",   "mass",     "mass_rate",
                                       "forward", "backward", "mass_lost"};
    if (!frames_of(job->recording, &job->options->frames, true, &f)) return;
    if (f.count < 2) {
        sheet_nothing(sheet, "a flow needs two frames");
        return;
    }
    for (int k = 0; k < 7; k++) *column[k] = sheet_array(sheet, f.count);
    if (sheet->failed) return;
    if (count_frames(job, &f, &c, &gate, &axis, &error) < 0) {
        sheet_nothing(sheet, "%s", error.text);
        return;
    }
    sheet->length = f.count - 1;
    for (int k = 0; k < 7; k++) sheet_column(sheet, name[k], *column[k]);
    sheet->rows = 2;
    sheet_curve(sheet,
                (plot_curve){
                    .colour = TALUS_COLOUR_BLUE, .x = c.time, .y = c.mass, .count = sheet->length});
    sheet_curve(sheet, (plot_curve){.panel = 1,
                                    .colour = TALUS_COLOUR_BLUE,
                                    .x = c.middle,
                                    .y = c.rate,
                                    .count = sheet->length});
    snprintf(sheet->panel[0].title, PLOT_TEXT, "through the plane %c = %.4g%s, %s", 'x' + axis,
             gate.point[axis], job->reduced ? "" : " m",
             gate.normal[axis] > 0.0 ? "along the axis" : "downwards");
    for (int i = 0; i < 2; i++) plot_label(job, sheet->panel[i].x_label, "time t", "s");
    plot_label(job, sheet->panel[0].y_label, "mass", "kg");
    plot_label(job, sheet->panel[1].y_label, "mass flow", "kg/s");
}

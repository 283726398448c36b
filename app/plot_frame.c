/// Plots of one frame, or of the mean over several: distributions of forces, directions and
/// distances.
#include "plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/// Measure a frame and add it to what `user` holds.
typedef talus_status frame_fn(const plot_job* job, const talus_world* world, void* user,
                              plot_sheet* sheet, talus_error* error);

/// Carry out for all frames chosen, the last one if none was. The panel's title says which.
static bool each_frame(plot_job* job, plot_sheet* sheet, frame_fn* measure, void* user)
{
    frame_range f;
    talus_error error = {0};
    if (!frames_of(job->recording, &job->options->frames, false, &f)) {
        sheet_nothing(sheet, "there are no such frames");
        return false;
    }
    int64_t good = 0;
    for (int64_t i = 0; i < f.count && !sheet->failed; i++) {
        const talus_world* world;
        const int64_t at = f.first + i * f.stride;
        talus_status status = talus_recording_show(job->recording, at, &world, &error);
        if (status >= 0) status = measure(job, world, user, sheet, &error);
        good += status >= 0;
    }
    if (sheet->failed) return false;
    if (good == 0) {
        sheet_nothing(sheet, "%s", error.text);
        return false;
    }
    const double* time = talus_recording_times(job->recording);
    const char* unit = job->reduced ? "" : " s";
    if (f.count == 1) {
        snprintf(sheet->panel[0].title, PLOT_TEXT, "t = %.4g%s", time[f.first], unit);
    } else {
        snprintf(sheet->panel[0].title, PLOT_TEXT, "mean of %lld frames, t = %.4g to %.4g%s",
                 (long long)good, time[f.first], time[f.last], unit);
    }
    return true;
}

/// Say more in the title of the first panel.
static void add_to_title(plot_sheet* sheet, const char* format, ...) TALUS_PRINTF(2, 3);
static void add_to_title(plot_sheet* sheet, const char* format, ...)
{
    char* title = sheet->panel[0].title;
    const size_t used = strlen(title);
    va_list rest;
    va_start(rest, format);
    snprintf(title + used, PLOT_TEXT - used, ": ");
    const size_t now = strlen(title);
    vsnprintf(title + now, PLOT_TEXT - now, format, rest);
    va_end(rest);
}

// ---- sums of histograms ------------------------------------------------------------------------

/// The mean of histograms with the same bins, each weighted by its number of values.
typedef struct histogram_sum {
    int bins;
    double *edge, *density; ///< belong to the sheet
    double weight;
} histogram_sum;

static void sum_add(histogram_sum* sum, plot_sheet* sheet, int bins, const double* edge,
                    const double* density, double weight)
{
    if (!sum->edge) {
        sum->bins = bins;
        sum->edge = sheet_array(sheet, bins + 1);
        sum->density = sheet_array(sheet, bins);
        if (!sum->edge || !sum->density) return;
        memcpy(sum->edge, edge, (size_t)(bins + 1) * sizeof *edge);
    }
    if (sheet->failed || !(weight > 0.0)) return;
    const double part = weight / (sum->weight + weight);
    for (int i = 0; i < bins; i++) sum->density[i] += part * (density[i] - sum->density[i]);
    sum->weight += weight;
}

static void sum_histogram(histogram_sum* sum, plot_sheet* sheet, const talus_histogram* h)
{
    sum_add(sum, sheet, h->bins, h->edge, h->density, (double)h->total);
}

static void draw_sum(plot_sheet* sheet, int panel, const char* name, const char* label,
                     const histogram_sum* sum)
{
    sheet_histogram(sheet, panel, name, label, sum->bins, sum->edge, sum->density);
}

// ---- forces ------------------------------------------------------------------------------------

typedef struct force_sum {
    histogram_sum normal, tangential, mobility;
    double rubbing, mobilised, mean; ///< sums over contacts that can slide
} force_sum;

static talus_status add_forces(const plot_job* job, const talus_world* world, void* user,
                               plot_sheet* sheet, talus_error* error)
{
    force_sum* sum = user;
    talus_forces f;
    const talus_status status = talus_measure_forces(world, &job->options->measure, &f, error);
    if (status < 0) return status;
    sum_histogram(&sum->normal, sheet, &f.normal);
    sum_histogram(&sum->tangential, sheet, &f.tangential);
    sum_histogram(&sum->mobility, sheet, &f.mobility);
    sum->rubbing += (double)f.rubbing;
    if (f.rubbing > 0) {
        sum->mobilised += f.mobilised * (double)f.rubbing;
        sum->mean += f.mean_mobility * (double)f.rubbing;
    }
    talus_forces_free(&f);
    return TALUS_OK;
}

void plot_forces(plot_job* job, plot_sheet* sheet)
{
    force_sum sum = {0};
    if (!each_frame(job, sheet, add_forces, &sum)) return;
    if (!(sum.normal.weight > 0.0)) {
        sheet_nothing(sheet, "no contact carries a force there");
        return;
    }
    draw_sum(sheet, 0, "normal", "normal, f_{n}/⟨f_{n}⟩", &sum.normal);
    if (sum.tangential.weight > 0.0) {
        draw_sum(sheet, 0, "tangential", "tangential, |f_{t}|/⟨|f_{t}|⟩", &sum.tangential);
    }
    sheet->panel[0].y_log = true;
    snprintf(sheet->panel[0].x_label, PLOT_TEXT, "force / mean force");
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "probability density P");
}

void plot_friction(plot_job* job, plot_sheet* sheet)
{
    force_sum sum = {0};
    if (!each_frame(job, sheet, add_forces, &sum)) return;
    if (!(sum.rubbing > 0.0)) {
        sheet_nothing(sheet, "no loaded contact has friction there");
        return;
    }
    draw_sum(sheet, 0, "density", "", &sum.mobility);
    sheet_mark(sheet, 0, true, sum.mean / sum.rubbing, "");
    add_to_title(sheet, "%.1f %% mobilised, mean %.3f", 100.0 * sum.mobilised / sum.rubbing,
                 sum.mean / sum.rubbing);
    snprintf(sheet->panel[0].x_label, PLOT_TEXT, "mobilisation |f_{t}|/µf_{n}");
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "probability density P");
    sheet->panel[0].x_high = 1.0;
}

// ---- directions --------------------------------------------------------------------------------

typedef struct fabric_sum {
    histogram_sum rose, normal;
    double* loaded; ///< [bins] contacts that a mean normal force is over; belongs to the sheet
    double tensor[9];
    double contacts;
} fabric_sum;

static talus_status add_fabric(const plot_job* job, const talus_world* world, void* user,
                               plot_sheet* sheet, talus_error* error)
{
    fabric_sum* sum = user;
    talus_fabric f;
    const talus_status status = talus_measure_fabric(world, &job->options->measure, &f, error);
    if (status < 0) return status;
    const double weight = (double)f.contacts;
    sum_add(&sum->rose, sheet, f.bins, f.edge, f.rose, weight);
    // The mean normal force of each direction, over all contacts in that direction.
    if (!sum->loaded) sum->loaded = sheet_array(sheet, f.bins);
    sum_add(&sum->normal, sheet, f.bins, f.edge, f.normal, 0.0); // makes its arrays
    for (int i = 0; !sheet->failed && i < f.bins; i++) {
        const double count = weight * f.rose[i];
        if (!(count > 0.0) || isnan(f.normal[i])) continue;
        sum->loaded[i] += count;
        sum->normal.density[i] += count / sum->loaded[i] * (f.normal[i] - sum->normal.density[i]);
    }
    for (int k = 0; k < 9 && weight > 0.0; k++) sum->tensor[k] += weight * f.tensor[k];
    sum->contacts += weight;
    talus_fabric_free(&f);
    return TALUS_OK;
}

/// The outline of a rose: circle sectors all round; those from pi to 2 pi repeat the others.
static void draw_rose(plot_sheet* sheet, int panel, const histogram_sum* sum, double scale)
{
    enum { ARC = 6 };
    const int64_t count = 2 * (int64_t)sum->bins * (ARC + 1) + 1;
    double *x = sheet_array(sheet, count), *y = sheet_array(sheet, count);
    if (!x || !y) return;
    int64_t at = 0;
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < sum->bins; i++) {
            const double r = scale * (isnan(sum->density[i]) ? 0.0 : sum->density[i]);
            for (int k = 0; k <= ARC; k++) {
                const double part = (double)k / ARC;
                const double angle =
                    half * M_PI + (1.0 - part) * sum->edge[i] + part * sum->edge[i + 1];
                x[at] = r * cos(angle);
                y[at++] = r * sin(angle);
            }
        }
    }
    x[at] = x[0], y[at] = y[0];
    plot_curve c = {.panel = panel, .colour = TALUS_COLOUR_BLUE, .x = x, .y = y, .count = at + 1};
    sheet_curve(sheet, c);
}

/// r = 1 + a cos 2(angle - main).
static void draw_fit(plot_sheet* sheet, int panel, double a, double main, talus_dash dash)
{
    enum { POINTS = 180 };
    double *x = sheet_array(sheet, POINTS + 1), *y = sheet_array(sheet, POINTS + 1);
    if (!x || !y) return;
    for (int i = 0; i <= POINTS; i++) {
        const double angle = 2.0 * M_PI * i / POINTS;
        const double r = 1.0 + a * cos(2.0 * (angle - main));
        x[i] = r * cos(angle);
        y[i] = r * sin(angle);
    }
    plot_curve c = {.panel = panel,
                    .dash = dash,
                    .colour =
                        dash == TALUS_DASH_DOTTED ? TALUS_COLOUR_GREY : TALUS_COLOUR_VERMILLION,
                    .x = x,
                    .y = y,
                    .count = POINTS + 1};
    sheet_curve(sheet, c);
}

/// Ends of both axes so that the largest radius fits.
static void frame_rose(plot_sheet* sheet, int panel, const histogram_sum* sum, double scale,
                       const char* letter)
{
    double largest = 1.0;
    for (int i = 0; i < sum->bins; i++) largest = fmax(largest, scale * sum->density[i]);
    plot_panel* p = &sheet->panel[panel];
    p->x_high = p->y_high = 1.15 * largest;
    p->x_low = p->y_low = -1.15 * largest;
    p->equal = true;
    snprintf(p->x_label, PLOT_TEXT, "%s cos θ", letter);
    snprintf(p->y_label, PLOT_TEXT, "%s sin θ", letter);
}

static void draw_fabric_2d(plot_sheet* sheet, const fabric_sum* sum)
{
    const talus_principal p = talus_measure_principal(2, sum->tensor);
    const double a = 2.0 * (p.value[0] - p.value[1]) / sum->contacts;
    const double main = atan2(p.direction[1], p.direction[0]);
    add_to_title(sheet, "contacts, a_{c} = %.3f at %.0f°", a,
                 fmod(main + M_PI, M_PI) * 180.0 / M_PI);
    draw_rose(sheet, 0, &sum->rose, M_PI);
    draw_fit(sheet, 0, a, main, TALUS_DASH_SOLID);
    draw_fit(sheet, 0, 0.0, 0.0, TALUS_DASH_DOTTED);
    frame_rose(sheet, 0, &sum->rose, M_PI, "πE");
    double mean = 0.0;
    for (int i = 0; i < sum->rose.bins; i++) {
        const double width = sum->rose.edge[i + 1] - sum->rose.edge[i];
        if (!isnan(sum->normal.density[i])) {
            mean += width * sum->rose.density[i] * sum->normal.density[i];
        }
    }
    draw_rose(sheet, 1, &sum->normal, 1.0 / mean);
    draw_fit(sheet, 1, 0.0, 0.0, TALUS_DASH_DOTTED);
    snprintf(sheet->panel[1].title, PLOT_TEXT, "normal forces");
    frame_rose(sheet, 1, &sum->normal, 1.0 / mean, "⟨f_{n}⟩(θ)/⟨f_{n}⟩");
}

void plot_fabric(plot_job* job, plot_sheet* sheet)
{
    fabric_sum sum = {0};
    if (!each_frame(job, sheet, add_fabric, &sum)) return;
    if (!(sum.contacts > 0.0)) {
        sheet_nothing(sheet, "no contact carries a force there");
        return;
    }
    for (int i = 0; i < sum.normal.bins; i++) {
        if (!(sum.loaded[i] > 0.0)) sum.normal.density[i] = NAN; // no contact: no force of one
    }
    sheet->columns = 2;
    if (job->dim == 2) sheet->shape = 1.0;
    draw_sum(sheet, 0, "contacts", "", &sum.rose);
    draw_sum(sheet, 1, "mean_normal_force", "", &sum.normal);
    if (job->dim == 2) {
        sheet->curve_count = 0; // roses instead of the outlines over the angle
        draw_fabric_2d(sheet, &sum);
        return;
    }
    for (int i = 0; i < 2; i++) {
        snprintf(sheet->panel[i].x_label, PLOT_TEXT, "|cos| of the angle to the axis z");
        sheet->panel[i].x_high = 1.0;
    }
    // In the legend, for there is no place in a histogram that a word would not cover.
    static const double ends[] = {0.0, 1.0}, even[] = {1.0, 1.0};
    sheet_curve(sheet, (plot_curve){.label = "isotropic",
                                    .dash = TALUS_DASH_DASHED,
                                    .colour = TALUS_COLOUR_BLUE,
                                    .x = ends,
                                    .y = even,
                                    .count = 2});
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "density of contacts");
    plot_label(job, sheet->panel[1].y_label, "mean normal force ⟨f_{n}⟩", "N");
}

// ---- space -------------------------------------------------------------------------------------

typedef struct rdf_sum {
    int bins;
    double *r, *g, *near; ///< belong to the sheet
    double width;         ///< of a bin
    double diameter;      ///< mean of all grains
    int64_t frames;
} rdf_sum;

static talus_status add_rdf(const plot_job* job, const talus_world* world, void* user,
                            plot_sheet* sheet, talus_error* error)
{
    rdf_sum* sum = user;
    talus_rdf_def def = talus_rdf_default();
    talus_rdf g;
    def.domain.bounds = job->options->measure.region;
    def.range = sum->width * sum->bins; // that of the first frame, so that the bins agree
    talus_status status = talus_measure_rdf(world, &def, &g, error);
    if (status < 0) {
        // Too narrow for centres far from the boundary: count all, with what is inside of shells.
        def.edge = TALUS_RDF_SHELL;
        status = talus_measure_rdf(world, &def, &g, error);
    }
    if (status < 0) return status;
    const talus_grains grains = talus_world_grains(world);
    if (sum->frames++ == 0) {
        sum->bins = g.bins;
        sum->width = g.width;
        sum->r = sheet_array(sheet, g.bins);
        sum->g = sheet_array(sheet, g.bins);
        sum->near = sheet_array(sheet, g.bins);
        for (int64_t i = 0; i < grains.count; i++) {
            sum->diameter += 2.0 * grains.radius[i] / (double)grains.count;
        }
    }
    for (int i = 0; !sheet->failed && i < g.bins; i++) {
        sum->r[i] = g.r[i];
        sum->g[i] += (g.g[i] - sum->g[i]) / (double)sum->frames;
        sum->near[i] += (g.coordination[i] - sum->near[i]) / (double)sum->frames;
    }
    talus_rdf_free(&g);
    return TALUS_OK;
}

void plot_rdf(plot_job* job, plot_sheet* sheet)
{
    rdf_sum sum = {0};
    if (!each_frame(job, sheet, add_rdf, &sum)) return;
    double* x = sheet_array(sheet, sum.bins);
    for (int i = 0; x && i < sum.bins; i++) x[i] = sum.r[i] / sum.diameter;
    sheet->length = sum.bins;
    sheet_column(sheet, "r", sum.r);
    sheet_column(sheet, "r_over_d", x);
    sheet_column(sheet, "g", sum.g);
    sheet_column(sheet, "neighbours_within", sum.near);
    sheet_curve(sheet,
                (plot_curve){.colour = TALUS_COLOUR_BLUE, .x = x, .y = sum.g, .count = sum.bins});
    sheet_mark(sheet, 0, false, 1.0, "");
    snprintf(sheet->panel[0].x_label, PLOT_TEXT, "distance r/⟨d⟩");
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "pair distribution g(r)");
}

typedef struct voronoi_sum {
    histogram_sum local;
    double mean; ///< sum over cells
} voronoi_sum;

static talus_status add_voronoi(const plot_job* job, const talus_world* world, void* user,
                                plot_sheet* sheet, talus_error* error)
{
    voronoi_sum* sum = user;
    talus_voronoi_def def = talus_voronoi_default();
    talus_voronoi v;
    def.region = job->options->measure.region;
    def.boundary = false; // cells that walls cut are not of the packing
    talus_status status = talus_measure_voronoi(world, &def, &v, error);
    if (status < 0) return status;
    double* edge = sheet_array(sheet, v.bins + 1);
    for (int i = 0; edge && i <= v.bins; i++) edge[i] = (double)i / v.bins;
    if (edge) sum_add(&sum->local, sheet, v.bins, edge, v.histogram, (double)v.counted);
    if (v.counted > 0) sum->mean += v.mean * (double)v.counted;
    talus_voronoi_free(&v);
    return TALUS_OK;
}

void plot_voronoi(plot_job* job, plot_sheet* sheet)
{
    voronoi_sum sum = {0};
    if (!each_frame(job, sheet, add_voronoi, &sum)) return;
    if (!(sum.local.weight > 0.0)) {
        sheet_nothing(sheet, "all Voronoi cells touch the boundary there");
        return;
    }
    draw_sum(sheet, 0, "density", "", &sum.local);
    sheet_mark(sheet, 0, true, sum.mean / sum.local.weight, "");
    add_to_title(sheet, "mean %.4f", sum.mean / sum.local.weight);
    snprintf(sheet->panel[0].x_label, PLOT_TEXT, "solid fraction φ of a Voronoi cell");
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "probability density P");
}

// ---- profiles ----------------------------------------------------------------------------------

typedef struct profile_sum {
    int bins;
    double *position, *fraction, *temperature, *velocity[3], *pressure; ///< belong to the sheet
    double* density;  ///< mean over frames; velocities and temperatures are weighed by it
    double low, high; ///< ends of the first frame's profile, so that the slices agree
    int64_t frames;
} profile_sum;

/// Axis of a profile: the one asked for, or the last.
static int profile_axis(const plot_job* job)
{
    return job->options->axis >= 0 ? job->options->axis : job->dim - 1;
}

static talus_status add_profile(const plot_job* job, const talus_world* world, void* user,
                                plot_sheet* sheet, talus_error* error)
{
    profile_sum* sum = user;
    talus_profile_def def = talus_profile_default();
    talus_profile p;
    def.domain.bounds = job->options->measure.region;
    def.axis = profile_axis(job);
    if (sum->frames > 0) def.low = sum->low, def.high = sum->high;
    const talus_status status = talus_measure_profile(world, &def, &p, error);
    if (status < 0) return status;
    if (sum->frames++ == 0) {
        double** const made[] = {&sum->position, &sum->fraction, &sum->temperature, &sum->pressure,
                                 &sum->density};
        for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
            *made[k] = sheet_array(sheet, p.bins);
        }
        for (int k = 0; k < job->dim; k++) sum->velocity[k] = sheet_array(sheet, p.bins);
        const double half = p.bins > 1 ? 0.5 * (p.position[1] - p.position[0]) : 0.0;
        sum->bins = p.bins;
        sum->low = p.position[0] - half;
        sum->high = p.position[p.bins - 1] + half;
        for (int i = 0; !sheet->failed && i < p.bins; i++) sum->position[i] = p.position[i];
    }
    const double part = 1.0 / (double)sum->frames;
    for (int i = 0; !sheet->failed && i < p.bins; i++) {
        double trace = 0.0;
        sum->density[i] += part * (p.density[i] - sum->density[i]);
        const double heavy = sum->density[i] > 0.0 ? part * p.density[i] / sum->density[i] : 0.0;
        for (int k = 0; k < job->dim; k++) {
            trace += p.contact[9 * i + 4 * k] + p.kinetic[9 * i + 4 * k];
            sum->velocity[k][i] += heavy * (p.velocity[job->dim * i + k] - sum->velocity[k][i]);
        }
        sum->fraction[i] += part * (p.fraction[i] - sum->fraction[i]);
        sum->temperature[i] += heavy * (p.temperature[i] - sum->temperature[i]);
        sum->pressure[i] += part * (trace / job->dim - sum->pressure[i]);
    }
    talus_profile_free(&p);
    return TALUS_OK;
}

static void draw_profile(const plot_job* job, plot_sheet* sheet, const profile_sum* sum, int panel,
                         const char* name, const double* data, const char* label)
{
    sheet_column(sheet, name, data);
    plot_curve c = {.panel = panel,
                    .style = TALUS_CURVE_LINE_DOTS,
                    .colour = -1,
                    .x = sum->position,
                    .y = data,
                    .count = sum->bins};
    snprintf(c.label, sizeof c.label, "%s", label);
    sheet_curve(sheet, c);
    const char axis[] = {(char)('x' + profile_axis(job)), '\0'};
    plot_label(job, sheet->panel[panel].x_label, axis, "m");
    sheet->panel[panel].x_low = sum->low;
    sheet->panel[panel].x_high = sum->high;
}

void plot_profile(plot_job* job, plot_sheet* sheet)
{
    static const char* const names[] = {"velocity_x", "velocity_y", "velocity_z"};
    static const char* const labels[] = {"v_{x}", "v_{y}", "v_{z}"};
    profile_sum sum = {0};
    if (!each_frame(job, sheet, add_profile, &sum)) return;
    // Where there never is a grain, nothing moves and nothing presses: these are no zeros.
    for (int i = 0; i < sum.bins; i++) {
        if (sum.density[i] > 0.0) continue;
        for (int k = 0; k < job->dim; k++) sum.velocity[k][i] = NAN;
        sum.temperature[i] = sum.pressure[i] = NAN;
    }
    sheet->columns = sheet->rows = 2;
    sheet->length = sum.bins;
    sheet_column(sheet, "position", sum.position);
    draw_profile(job, sheet, &sum, 0, "fraction", sum.fraction, "");
    for (int k = 0; k < job->dim; k++) {
        draw_profile(job, sheet, &sum, 1, names[k], sum.velocity[k], labels[k]);
    }
    draw_profile(job, sheet, &sum, 2, "temperature", sum.temperature, "");
    draw_profile(job, sheet, &sum, 3, "pressure", sum.pressure, "");
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "solid fraction φ");
    plot_label(job, sheet->panel[1].y_label, "velocity", "m/s");
    plot_label(job, sheet->panel[2].y_label, "granular temperature", "m^{2}/s^{2}");
    plot_label(job, sheet->panel[3].y_label, "pressure", plot_stress_unit(job));
}

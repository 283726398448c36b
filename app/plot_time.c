/// Plots over time: numbers measured in frame after frame.
#include "budget.h"
#include "plot.h"

#include <math.h>
#include <string.h>

enum { TIME_MOST = 16 };

/// A number of a frame.
typedef struct time_number {
    const char *name, *label; ///< of the column and in the legend; NULL: no curve
    int panel;
    talus_dash dash;
} time_number;

/// Measure a frame into out[], one number after the other.
typedef talus_status time_fn(const plot_job* job, const talus_world* world, double* out,
                             talus_error* error);

/// Measure all frames: columns frame, time and the numbers; the curves over time. Returns the
/// columns' arrays in data[]; false if there is nothing to plot.
static bool measure_frames(plot_job* job, plot_sheet* sheet, const time_number* number, int count,
                           time_fn* measure, double* data[TIME_MOST], double** times)
{
    frame_range f;
    talus_error error = {0};
    double out[TIME_MOST];
    if (!frames_of(job->recording, &job->options->frames, true, &f)) {
        sheet_nothing(sheet, "there are no such frames");
        return false;
    }
    double *frame = sheet_array(sheet, f.count), *time = sheet_array(sheet, f.count);
    for (int k = 0; k < count; k++) data[k] = sheet_array(sheet, f.count);
    if (sheet->failed) return false;
    int64_t good = 0;
    for (int64_t i = 0; i < f.count; i++) {
        const talus_world* world;
        const int64_t at = f.first + i * f.stride;
        talus_status status = talus_recording_show(job->recording, at, &world, &error);
        for (int k = 0; k < count; k++) out[k] = NAN;
        if (status >= 0) status = measure(job, world, out, &error);
        good += status >= 0;
        frame[i] = (double)at;
        time[i] = talus_recording_times(job->recording)[at];
        for (int k = 0; k < count; k++) data[k][i] = status >= 0 ? out[k] : NAN;
    }
    if (good == 0) {
        sheet_nothing(sheet, "%s", error.text);
        return false;
    }
    sheet->length = f.count;
    sheet_column(sheet, "frame", frame);
    sheet_column(sheet, "time", time);
    for (int k = 0; k < count; k++) sheet_column(sheet, number[k].name, data[k]);
    *times = time;
    return true;
}

/// The same, with the numbers over time.
static bool over_time(plot_job* job, plot_sheet* sheet, const time_number* number, int count,
                      time_fn* measure)
{
    double *data[TIME_MOST], *time;
    if (!measure_frames(job, sheet, number, count, measure, data, &time)) return false;
    for (int k = 0; k < count; k++) {
        if (!number[k].label) continue;
        plot_curve c = {.panel = number[k].panel,
                        .style = sheet->length < 40 ? TALUS_CURVE_LINE_DOTS : TALUS_CURVE_LINE,
                        .dash = number[k].dash,
                        .colour = -1,
                        .x = time,
                        .y = data[k],
                        .count = sheet->length};
        snprintf(c.label, sizeof c.label, "%s", number[k].label);
        sheet_curve(sheet, c);
    }
    for (int i = 0; i < sheet->columns * sheet->rows; i++) {
        plot_label(job, sheet->panel[i].x_label, "time t", "s");
    }
    return !sheet->failed;
}

/// Say in the title which volume the numbers are of: `usual`, if nothing else limits it.
static void title_space(const plot_job* job, plot_sheet* sheet, const char* usual)
{
    const talus_region* box = &job->options->measure.region;
    bool limited = false;
    for (int k = 0; k < job->dim; k++) {
        limited = limited || isfinite(box->low[k]) || isfinite(box->high[k]);
    }
    snprintf(sheet->panel[0].title, PLOT_TEXT, "in the %s",
             limited         ? "region"
             : job->periodic ? "periodic cell"
                             : usual);
}

// ---- energy ------------------------------------------------------------------------------------

static talus_status measure_energy(const plot_job* job, const talus_world* world, double* out,
                                   talus_error* error)
{
    talus_energy e;
    const talus_status status = talus_measure_energy(world, &job->options->measure, &e, error);
    if (status < 0) return status;
    out[0] = e.kinetic;
    out[1] = e.translational;
    out[2] = e.rotational;
    out[3] = e.fluctuating;
    out[4] = e.potential;
    return TALUS_OK;
}

/// Value at a time, linear between the rows of a series; NaN before the first and after the last.
static double between_rows(const double* time, const double* data, int64_t rows, double at)
{
    int64_t low = 0, high = rows - 1;
    if (rows < 1 || at < time[0] || at > time[high]) return NAN;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (time[middle] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (!(time[high] > time[low])) return data[high];
    const double part = (at - time[low]) / (time[high] - time[low]);
    return data[low] + part * (data[high] - data[low]);
}

/// Energies that the method soft adds up: from the series, whole run.
static void add_soft_energies(plot_job* job, plot_sheet* sheet)
{
    static const time_number soft[] = {{"elastic_energy", "elastic", 0, TALUS_DASH_DASHED},
                                       {"dissipated", "dissipated", 0, TALUS_DASH_DASHED},
                                       {"input_work", "work done", 0, TALUS_DASH_DASHED},
                                       {"energy_error", "error", 0, TALUS_DASH_DOTTED}};
    if (!job->has_series) return;
    const double* time = talus_series_column(&job->series, "time");
    const double* frame_time = sheet->column[1].data;
    for (size_t k = 0; time && k < sizeof soft / sizeof *soft; k++) {
        const double* data = talus_series_column(&job->series, soft[k].name);
        double* out = data ? sheet_array(sheet, sheet->length) : NULL;
        if (!out) continue;
        for (int64_t i = 0; i < sheet->length; i++) {
            out[i] = between_rows(time, data, job->series.rows, frame_time[i]);
        }
        sheet_column(sheet, soft[k].name, out);
        plot_curve c = {
            .dash = soft[k].dash, .colour = -1, .x = frame_time, .y = out, .count = sheet->length};
        snprintf(c.label, sizeof c.label, "%s", soft[k].label);
        sheet_curve(sheet, c);
    }
}

/// Column of an energy over the frames, if it is known of any; and its curve, if it has a label.
static void add_energy(plot_sheet* sheet, const char* name, const char* label, const double* data)
{
    bool any = false;
    for (int64_t i = 0; i < sheet->length; i++) any |= isfinite(data[i]);
    if (!any) return;
    sheet_column(sheet, name, data);
    if (!label) return;
    plot_curve c = {.dash = TALUS_DASH_DASHED,
                    .colour = -1,
                    .x = sheet->column[1].data,
                    .y = data,
                    .count = sheet->length};
    snprintf(c.label, sizeof c.label, "%s", label);
    sheet_curve(sheet, c);
}

/// Rigid grains: the walls' work and what was dissipated since the first of the frames.
static void add_rigid_budget(plot_job* job, plot_sheet* sheet)
{
    double *work = sheet_array(sheet, sheet->length), *lost = sheet_array(sheet, sheet->length);
    budget b = {0};
    bool good = work && lost;
    for (int64_t i = 0; i < sheet->length && work && lost; i++) {
        const int64_t frame = (int64_t)sheet->column[0].data[i];
        const talus_world* world;
        talus_error error;
        good = good && talus_recording_show(job->recording, frame, &world, &error) >= 0;
        if (i == 0) good = good && budget_begin(&b, &job->series, world, &error) >= 0;
        good = good && budget_advance(&b, world, &error) >= 0;
        work[i] = good ? b.wall_work : NAN;
        lost[i] = good ? b.dissipated : NAN;
    }
    budget_end(&b);
    if (!work || !lost) return;
    // Where walls turn, or grains come and go, only the beginning has a budget.
    const bool known = sheet->length > 0 && isfinite(lost[sheet->length - 1]);
    add_energy(sheet, "wall_work", known ? "work of walls" : NULL, work);
    add_energy(sheet, "dissipated", known ? "dissipated" : NULL, lost);
}

/// A copy of a curve's values that it shows from now on, to be changed: the CSV keeps the values as
/// they are. NULL if memory is short.
static double* own_values(plot_sheet* sheet, plot_curve* curve)
{
    double* shown = sheet_array(sheet, curve->count);
    if (!shown) return NULL;
    memcpy(shown, curve->y, sizeof *shown * (size_t)curve->count);
    curve->y = shown;
    return shown;
}

/// The zero of a potential energy is anywhere: show it from its lowest value on, beside the others.
/// Without gravity there is none to show. It is the last curve so far.
static void show_potential(plot_sheet* sheet)
{
    plot_curve* potential = &sheet->curve[sheet->curve_count - 1];
    double largest = 0.0, lowest = INFINITY;
    for (int64_t i = 0; i < potential->count; i++) {
        if (!isfinite(potential->y[i])) continue;
        largest = fmax(largest, fabs(potential->y[i]));
        lowest = fmin(lowest, potential->y[i]);
    }
    if (largest == 0.0) {
        sheet->curve_count--;
        return;
    }
    double* shown = own_values(sheet, potential);
    for (int64_t i = 0; shown && i < potential->count; i++) shown[i] -= lowest;
}

void plot_energy(plot_job* job, plot_sheet* sheet)
{
    static const time_number numbers[] = {
        {"kinetic", "kinetic", 0, TALUS_DASH_SOLID},
        {"translational", NULL, 0, TALUS_DASH_SOLID},
        {"rotational", "rotation alone", 0, TALUS_DASH_SOLID},
        {"fluctuating", NULL, 0, TALUS_DASH_SOLID},
        {"potential", "potential, from its lowest", 0, TALUS_DASH_SOLID}};
    if (!over_time(job, sheet, numbers, 5, measure_energy)) return;
    plot_label(job, sheet->panel[0].y_label, "energy", "J");
    show_potential(sheet);
    add_soft_energies(job, sheet);
    // The budget is one of all grains, and of rigid ones.
    const talus_region *r = &job->options->measure.region, all = talus_region_default();
    if (job->has_series && !talus_series_column(&job->series, "elastic_energy") &&
        memcmp(r, &all, sizeof all) == 0) {
        add_rigid_budget(job, sheet);
    }
}

// ---- stress ------------------------------------------------------------------------------------

static talus_status measure_stress(const plot_job* job, const talus_world* world, double* out,
                                   talus_error* error)
{
    talus_stress s;
    const talus_status status = talus_measure_stress(world, &job->options->measure, &s, error);
    if (status < 0) return status;
    out[0] = s.pressure;
    out[1] = s.deviator;
    static const int place_2d[] = {0, 4, 1}, place_3d[] = {0, 4, 8, 1, 2, 5};
    const int* place = job->dim == 2 ? place_2d : place_3d;
    const int components = job->dim == 2 ? 3 : 6;
    for (int k = 0; k < components; k++) out[2 + k] = s.total[place[k]];
    out[2 + components] = s.volume;
    return TALUS_OK;
}

void plot_stress(plot_job* job, plot_sheet* sheet)
{
    static const time_number two[] = {{"pressure", "pressure p", 0, TALUS_DASH_SOLID},
                                      {"deviator", "deviator q", 0, TALUS_DASH_SOLID},
                                      {"stress_xx", "σ_{xx}", 1, TALUS_DASH_SOLID},
                                      {"stress_yy", "σ_{yy}", 1, TALUS_DASH_SOLID},
                                      {"stress_xy", "σ_{xy}", 1, TALUS_DASH_DASHED},
                                      {"volume", NULL, 0, TALUS_DASH_SOLID}};
    static const time_number three[] = {{"pressure", "pressure p", 0, TALUS_DASH_SOLID},
                                        {"deviator", "deviator q", 0, TALUS_DASH_SOLID},
                                        {"stress_xx", "σ_{xx}", 1, TALUS_DASH_SOLID},
                                        {"stress_yy", "σ_{yy}", 1, TALUS_DASH_SOLID},
                                        {"stress_zz", "σ_{zz}", 1, TALUS_DASH_SOLID},
                                        {"stress_xy", "σ_{xy}", 1, TALUS_DASH_DASHED},
                                        {"stress_xz", "σ_{xz}", 1, TALUS_DASH_DASHED},
                                        {"stress_yz", "σ_{yz}", 1, TALUS_DASH_DASHED},
                                        {"volume", NULL, 0, TALUS_DASH_SOLID}};
    const bool flat = job->dim == 2;
    sheet->rows = 2;
    if (!over_time(job, sheet, flat ? two : three, flat ? 6 : 9, measure_stress)) return;
    title_space(job, sheet, "box around the grains");
    for (int i = 0; i < 2; i++) {
        plot_label(job, sheet->panel[i].y_label, i ? "stress σ" : "stress", plot_stress_unit(job));
    }
}

// ---- contacts ----------------------------------------------------------------------------------

static talus_status measure_coordination(const plot_job* job, const talus_world* world, double* out,
                                         talus_error* error)
{
    const talus_measure_def* def = &job->options->measure;
    for (int few = 0; few < 2; few++) {
        talus_coordination z;
        const talus_status status =
            talus_measure_coordination(world, def->threshold, few, &def->region, &z, error);
        if (status < 0) return status;
        out[0] = z.all;
        // Where no grains hold each other there is no backbone, and nothing that rattles in it.
        out[1 + few] = z.backbone > 0.0 ? z.backbone : NAN;
        out[3 + few] = z.backbone > 0.0 ? (double)z.rattlers : NAN;
    }
    return TALUS_OK;
}

void plot_coordination(plot_job* job, plot_sheet* sheet)
{
    time_number numbers[] = {{"all", "all grains", 0, TALUS_DASH_SOLID},
                             {"backbone", "backbone, 3 contacts", 0, TALUS_DASH_SOLID},
                             {"backbone_2", "backbone, 2 contacts", 0, TALUS_DASH_DASHED},
                             {"rattlers", "< 3 contacts", 1, TALUS_DASH_SOLID},
                             {"rattlers_2", "< 2 contacts", 1, TALUS_DASH_DASHED}};
    if (job->dim == 3) {
        numbers[1].label = "backbone, 4 contacts";
        numbers[3].label = "< 4 contacts";
    }
    sheet->rows = 2;
    if (!over_time(job, sheet, numbers, 5, measure_coordination)) return;
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "contacts per grain Z");
    snprintf(sheet->panel[1].y_label, PLOT_TEXT, "rattlers");
}

static talus_status measure_anisotropy(const plot_job* job, const talus_world* world, double* out,
                                       talus_error* error)
{
    talus_fabric f;
    const talus_status status = talus_measure_fabric(world, &job->options->measure, &f, error);
    if (status < 0) return status;
    if (f.contacts > 0) { // without contacts there are no directions
        out[0] = f.contact_anisotropy;
        out[1] = f.normal_anisotropy;
        out[2] = f.tangential_anisotropy;
        out[3] = f.contact_angle * 180.0 / M_PI;
        out[4] = f.normal_angle * 180.0 / M_PI;
    }
    talus_fabric_free(&f);
    return TALUS_OK;
}

void plot_anisotropy(plot_job* job, plot_sheet* sheet)
{
    static const time_number numbers[] = {
        {"contacts", "contacts a_{c}", 0, TALUS_DASH_SOLID},
        {"normal_forces", "normal forces a_{n}", 0, TALUS_DASH_SOLID},
        {"tangential_forces", "tangential forces a_{t}", 0, TALUS_DASH_SOLID},
        {"contact_angle", "contacts", 1, TALUS_DASH_SOLID},
        {"normal_force_angle", "normal forces", 1, TALUS_DASH_SOLID}};
    sheet->rows = job->dim == 2 ? 2 : 1;
    // The angles are those of 2D.
    if (!over_time(job, sheet, numbers, job->dim == 2 ? 5 : 3, measure_anisotropy)) return;
    bool any = false;
    for (int64_t i = 0; i < sheet->length; i++) any = any || isfinite(sheet->curve[0].y[i]);
    if (!any) {
        sheet_nothing(sheet, "no contact carries a force there");
        return;
    }
    // Where pushes and pulls cancel there is no mean force to compare with; forces that only push
    // have an anisotropy of 1 at most.
    for (int k = 1; k < 3; k++) {
        double* shown = own_values(sheet, &sheet->curve[k]);
        for (int64_t i = 0; shown && i < sheet->length; i++) {
            if (fabs(shown[i]) > 2.0) shown[i] = NAN;
        }
    }
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "anisotropy");
    snprintf(sheet->panel[1].y_label, PLOT_TEXT, "main direction (degrees)");
}

// ---- space and flow ----------------------------------------------------------------------------

static talus_status measure_packing(const plot_job* job, const talus_world* world, double* out,
                                    talus_error* error)
{
    talus_domain_def def = talus_domain_default();
    talus_packing p;
    def.bounds = job->options->measure.region;
    const talus_status status = talus_measure_packing(world, &def, &p, error);
    if (status < 0) return status;
    out[0] = p.fraction;
    out[1] = p.volume;
    out[2] = p.solid;
    return TALUS_OK;
}

void plot_packing(plot_job* job, plot_sheet* sheet)
{
    static const time_number numbers[] = {{"fraction", "", 0, TALUS_DASH_SOLID},
                                          {"volume", NULL, 0, TALUS_DASH_SOLID},
                                          {"solid_volume", NULL, 0, TALUS_DASH_SOLID}};
    if (!over_time(job, sheet, numbers, 3, measure_packing)) return;
    title_space(job, sheet, "space between walls");
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "solid fraction φ");
}

static talus_status measure_slope(const plot_job* job, const talus_world* world, double* out,
                                  talus_error* error)
{
    talus_slope_def def = talus_slope_default();
    talus_slope s;
    def.kind = job->options->slope;
    def.region = job->options->measure.region;
    const talus_status status = talus_measure_slope(world, &def, &s, error);
    if (status < 0) return status;
    out[0] = s.angle;
    out[1] = s.error;
    out[2] = s.height;
    talus_slope_free(&s);
    return TALUS_OK;
}

void plot_slope(plot_job* job, plot_sheet* sheet)
{
    static const time_number numbers[] = {{"angle", "", 0, TALUS_DASH_SOLID},
                                          {"error", NULL, 0, TALUS_DASH_SOLID},
                                          {"height", NULL, 0, TALUS_DASH_SOLID}};
    if (!over_time(job, sheet, numbers, 3, measure_slope)) return;
    // A cloud of falling grains has no slope: its fit is far too uncertain, or upside down.
    const double most_error = 10.0;
    const double* error = sheet->column[sheet->column_count - 2].data;
    double* shown = own_values(sheet, &sheet->curve[0]);
    for (int64_t i = 0; shown && i < sheet->length; i++) {
        if (shown[i] < 0.0 || error[i] > most_error) shown[i] = NAN;
    }
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "angle of the surface (degrees)");
}

static talus_status measure_rheology(const plot_job* job, const talus_world* world, double* out,
                                     talus_error* error)
{
    talus_rheology r;
    const talus_status status = talus_measure_rheology(world, &job->options->measure, &r, error);
    if (status < 0) return status;
    out[0] = r.inertial;
    out[1] = r.friction;
    out[2] = r.rate;
    out[3] = r.shear;
    out[4] = r.pressure;
    return TALUS_OK;
}

void plot_inertial(plot_job* job, plot_sheet* sheet)
{
    static const time_number numbers[] = {{"inertial_number", NULL, 0, TALUS_DASH_SOLID},
                                          {"friction", NULL, 0, TALUS_DASH_SOLID},
                                          {"shear_rate", NULL, 0, TALUS_DASH_SOLID},
                                          {"shear_stress", NULL, 0, TALUS_DASH_SOLID},
                                          {"pressure", NULL, 0, TALUS_DASH_SOLID}};
    double *data[TIME_MOST], *time;
    if (!measure_frames(job, sheet, numbers, 5, measure_rheology, data, &time)) return;
    double fastest = 0.0;
    for (int64_t i = 0; i < sheet->length; i++) {
        if (isfinite(data[0][i]) && isfinite(data[1][i])) fastest = fmax(fastest, data[0][i]);
    }
    if (fastest == 0.0) {
        sheet_nothing(sheet, "no frame has both a shear rate and a pressure");
        return;
    }
    plot_curve dots = {.style = TALUS_CURVE_DOTS,
                       .colour = TALUS_COLOUR_BLUE,
                       .x = data[0],
                       .y = data[1],
                       .count = sheet->length};
    // Frames at rest would stretch the axis by all the decades of rounding.
    double* shown = own_values(sheet, &dots);
    for (int64_t i = 0; shown && i < sheet->length; i++) {
        if (data[0][i] < 1e-6 * fastest) shown[i] = NAN;
    }
    sheet_curve(sheet, dots);
    sheet->panel[0].x_log = true;
    snprintf(sheet->panel[0].x_label, PLOT_TEXT, "inertial number I");
    snprintf(sheet->panel[0].y_label, PLOT_TEXT, "effective friction µ = τ/p");
}

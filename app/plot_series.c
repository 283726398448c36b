/// Plots of series.csv: forces on walls, how well the solver did, and any column.
#include "base/words.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A column of the series over time; false if there is none of that name.
static bool add_series(plot_job* job, plot_sheet* sheet, int panel, const char* name,
                       const char* label)
{
    const double* time = talus_series_column(&job->series, "time");
    const double* data = talus_series_column(&job->series, name);
    if (!time || !data) return false;
    if (sheet->column_count == 0) {
        sheet->length = job->series.rows;
        sheet_column(sheet, "time", time);
    }
    if (data != time) sheet_column(sheet, name, data);
    plot_curve c = {.panel = panel, .colour = -1, .x = time, .y = data, .count = job->series.rows};
    snprintf(c.label, sizeof c.label, "%s", label);
    sheet_curve(sheet, c);
    return true;
}

static void name_time(plot_job* job, plot_sheet* sheet)
{
    for (int i = 0; i < sheet->columns * sheet->rows; i++) {
        plot_label(job, sheet->panel[i].x_label, "time t", "s");
    }
}

// ---- walls -------------------------------------------------------------------------------------

void plot_walls(plot_job* job, plot_sheet* sheet)
{
    static const char* const ending[] = {"_force_x", "_force_y", "_force_z"};
    const size_t length = strlen(ending[0]);
    for (int k = 0; k < job->dim; k++) {
        for (int i = 0; i < job->series.columns; i++) {
            const char* name = job->series.name[i];
            const size_t size = strlen(name);
            if (size <= length || strcmp(name + size - length, ending[k]) != 0) continue;
            char label[PLOT_TEXT];
            snprintf(label, sizeof label, "%.*s", (int)(size - length), name);
            add_series(job, sheet, k, name, label);
        }
        char name[16];
        snprintf(name, sizeof name, "force F_{%c}", 'x' + k);
        plot_label(job, sheet->panel[k].y_label, name, "N");
    }
    sheet->rows = job->dim;
    name_time(job, sheet);
    if (sheet->curve_count == 0) sheet_nothing(sheet, "the run has no walls");
}

// ---- convergence -------------------------------------------------------------------------------

/// Errors below this are rounding: where nothing touches yet, or everything is exact.
static const double ROUNDING = 1e-12;

/// Leave rounding out of the curves of a panel that has more to show, for it would press the rest
/// of a logarithmic axis together. The CSV keeps it.
static void hide_rounding(plot_sheet* sheet, int panel)
{
    double largest = 0.0;
    for (int i = 0; i < sheet->curve_count; i++) {
        const plot_curve* c = &sheet->curve[i];
        for (int64_t k = 0; k < c->count && c->panel == panel; k++) {
            if (isfinite(c->y[k])) largest = fmax(largest, c->y[k]);
        }
    }
    for (int i = 0; i < sheet->curve_count && largest > 1e3 * ROUNDING; i++) {
        plot_curve* c = &sheet->curve[i];
        if (c->panel != panel) continue;
        double* shown = sheet_array(sheet, c->count);
        for (int64_t k = 0; k < c->count && shown; k++) {
            shown[k] = c->y[k] < ROUNDING ? NAN : c->y[k];
        }
        if (shown) c->y = shown;
    }
}

void plot_convergence(plot_job* job, plot_sheet* sheet)
{
    static const struct {
        const char *column, *label;
        int panel;
    } shown[] = {{"residual", "", 0},
                 {"sweeps", "needed", 1},
                 {"sweeps_for_rigid", "for a rigid packing", 1},
                 {"overlap_max", "largest", 2},
                 {"overlap_mean", "mean", 2},
                 {"certified", "certified", 3},
                 {"velocity_error", "estimated", 3}};
    static const char* const labels[] = {"residual", "sweeps", "overlap / diameter",
                                         "error of velocities"};
    const bool rigid = talus_series_column(&job->series, "residual") != NULL;
    sheet->columns = rigid ? 2 : 1;
    sheet->rows = rigid ? 2 : 1;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const int panel = rigid ? shown[i].panel : 0;
        if (!rigid && shown[i].panel != 2) continue;
        add_series(job, sheet, panel, shown[i].column, shown[i].label);
    }
    for (int i = 0; i < sheet->columns * sheet->rows; i++) {
        snprintf(sheet->panel[i].y_label, PLOT_TEXT, "%s", labels[rigid ? i : 2]);
        sheet->panel[i].y_log = true;
        hide_rounding(sheet, i);
    }
    name_time(job, sheet);
    if (sheet->curve_count == 0) sheet_nothing(sheet, "the series has none of the columns for it");
}

// ---- any column --------------------------------------------------------------------------------

void plot_series(plot_job* job, plot_sheet* sheet)
{
    const plot_options* o = job->options;
    for (int i = 0; i < o->columns.count; i++) {
        const char* name = o->columns.items[i];
        if (add_series(job, sheet, 0, name, name)) continue;
        const char* near =
            nearest_name(name, (const char* const*)job->series.name, job->series.columns);
        for (int k = 0; k < job->series.columns && !near; k++) { // `kinetic` for `kinetic_energy`
            if (strstr(job->series.name[k], name)) near = job->series.name[k];
        }
        sheet_nothing(sheet, "series.csv has no column '%s'%s%s%s", name,
                      near ? "; did you mean '" : "; its first line names them all",
                      near ? near : "", near ? "'?" : "");
        return;
    }
    name_time(job, sheet);
    if (o->columns.count == 1) {
        snprintf(sheet->panel[0].y_label, PLOT_TEXT, "%s", o->columns.items[0]);
        sheet->curve[0].label[0] = '\0';
    }
    if (o->columns.count == 0) sheet_nothing(sheet, "`series` needs names of columns behind it");
}

/// Inside of `talus plot`: a plot fills a sheet, from which the figure and its CSV are written.
#ifndef TALUS_PLOT_H
#define TALUS_PLOT_H

#include "recorded.h"

enum { PLOT_PANELS = 4, PLOT_TEXT = 96 };

// ---- sheets (plot_sheet.c) ---------------------------------------------------------------------

typedef struct plot_panel {
    char title[PLOT_TEXT], x_label[PLOT_TEXT], y_label[PLOT_TEXT];
    bool x_log, y_log, equal;
    double x_low, x_high, y_low, y_high; ///< ends of the axes; equal: from the data
} plot_panel;

/// A curve; its arrays belong to the sheet.
typedef struct plot_curve {
    int panel;
    char label[PLOT_TEXT]; ///< empty: not in the legend
    talus_curve_style style;
    talus_dash dash;
    int colour; ///< of talus_colour, -1: the next one
    const double *x, *y;
    int64_t count;
} plot_curve;

typedef struct plot_column {
    char name[PLOT_TEXT];
    const double* data;
} plot_column;

/// A thin line through a panel, or a text in it.
typedef struct plot_note {
    int panel;
    bool is_text, vertical;
    double x, y; ///< a line lies at x
    char text[PLOT_TEXT];
} plot_note;

typedef struct plot_sheet {
    int columns, rows; ///< of panels
    double shape;      ///< height of a panel over its width; 0: as usual
    plot_panel panel[PLOT_PANELS];
    int curve_count, column_count, array_count, note_count;
    int64_t curve_capacity, column_capacity, array_capacity;
    plot_curve* curve;
    plot_column* column;
    int64_t length; ///< rows of the CSV
    double** array;
    plot_note note[2 * PLOT_PANELS];
    bool failed;   ///< memory was short
    char why[512]; ///< there is nothing to plot
} plot_sheet;

void sheet_free(plot_sheet* sheet);
/// An array that belongs to the sheet, of zeros; NULL if memory is short.
double* sheet_array(plot_sheet* sheet, int64_t count);
/// Add a column of the CSV; its data belong to the sheet and have `length` rows.
void sheet_column(plot_sheet* sheet, const char* name, const double* data);
/// Add a curve.
void sheet_curve(plot_sheet* sheet, plot_curve curve);
/// Add a line through a panel.
void sheet_mark(plot_sheet* sheet, int panel, bool vertical, double at, const char* text);
/// Write a text into a panel.
void sheet_text(plot_sheet* sheet, int panel, double x, double y, const char* text);
/// Add a histogram: columns `low`, `high` and one of this name, and its outline.
void sheet_histogram(plot_sheet* sheet, int panel, const char* name, const char* label, int bins,
                     const double* edge, const double* density);
/// Say that there is nothing to plot.
void sheet_nothing(plot_sheet* sheet, const char* format, ...) TALUS_PRINTF(2, 3);
bool sheet_write_csv(const plot_sheet* sheet, const char* path);
bool sheet_write_figure(const plot_sheet* sheet, const char* path, double width, double dots);

// ---- the command -------------------------------------------------------------------------------

typedef struct plot_options {
    const char* directory;
    const char* output;
    const char* format;
    frame_choice frames;
    bool only_csv, force, quiet;
    talus_measure_def measure;
    int axis;  ///< of profiles and planes, -1: not given
    double at; ///< where the plane is on the axis; NaN: not given
    talus_slope_kind slope;
    double width, dots;    ///< 0: not given
    argument_list what;    ///< the plots asked for
    argument_list columns; ///< of `series`
} plot_options;

typedef struct plot_job {
    const plot_options* options;
    talus_recording* recording;
    talus_series series;
    bool has_series;
    bool contacts, reduced, gravity;
    bool periodic; ///< along all axes
    int dim;
} plot_job;

/// What a plot needs of a run. One for worlds with gravity can be had without, but not by `all`.
enum { PLOT_NEEDS_CONTACTS = 1, PLOT_NEEDS_SERIES = 2, PLOT_WANTS_GRAVITY = 4 };

typedef struct plot_kind {
    const char* name;
    const char* summary;
    unsigned needs;
    void (*fill)(plot_job* job, plot_sheet* sheet);
} plot_kind;

/// "time t (s)", without the unit if the run has none.
void plot_label(const plot_job* job, char out[PLOT_TEXT], const char* name, const char* unit);
/// Unit of a stress.
const char* plot_stress_unit(const plot_job* job);

// ---- over time (plot_time.c) -------------------------------------------------------------------

void plot_energy(plot_job* job, plot_sheet* sheet);
void plot_stress(plot_job* job, plot_sheet* sheet);
void plot_coordination(plot_job* job, plot_sheet* sheet);
void plot_anisotropy(plot_job* job, plot_sheet* sheet);
void plot_packing(plot_job* job, plot_sheet* sheet);
void plot_inertial(plot_job* job, plot_sheet* sheet);
void plot_slope(plot_job* job, plot_sheet* sheet);

// ---- of one frame, or the mean of several (plot_frame.c) ---------------------------------------

void plot_forces(plot_job* job, plot_sheet* sheet);
void plot_friction(plot_job* job, plot_sheet* sheet);
void plot_fabric(plot_job* job, plot_sheet* sheet);
void plot_rdf(plot_job* job, plot_sheet* sheet);
void plot_voronoi(plot_job* job, plot_sheet* sheet);
void plot_profile(plot_job* job, plot_sheet* sheet);

// ---- surfaces and flow (plot_flow.c) -----------------------------------------------------------

void plot_repose(plot_job* job, plot_sheet* sheet);
void plot_flow(plot_job* job, plot_sheet* sheet);

// ---- from series.csv (plot_series.c) -----------------------------------------------------------

void plot_walls(plot_job* job, plot_sheet* sheet);
void plot_convergence(plot_job* job, plot_sheet* sheet);
void plot_series(plot_job* job, plot_sheet* sheet);

#endif

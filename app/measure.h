/// talus measure: the quantities, and the numbers that they give frame by frame.
#ifndef TALUS_APP_MEASURE_H
#define TALUS_APP_MEASURE_H

#include "recorded.h"

enum { MEASURE_MOST_COLUMNS = 24 };

/// A number of every frame.
typedef struct measure_number {
    const char* quantity; ///< it belongs to; static text
    int order;            ///< place of that in the list of quantities
    char name[48];
    const char* unit; ///< static text, as of a run in SI units and in 3D
    double* value;    ///< [frames] NaN where it is not defined
} measure_number;

/// A table, averaged over the frames.
typedef struct measure_table {
    const char* quantity;
    const char* name; ///< static text
    int columns;
    const char* column[MEASURE_MOST_COLUMNS]; ///< names, static text
    const char* unit[MEASURE_MOST_COLUMNS];   ///< static text
    int64_t rows;
    double* mean;   ///< [columns][rows] over the frames that have a number there
    double* weight; ///< [columns][rows] sum of their weights, 0: none has
    bool mixed;     ///< its rows do not lie in the same places in all frames: it means nothing
} measure_table;

/// All that was measured.
typedef struct measured {
    int64_t frames, frame; ///< how many there are, and which is being filled
    const char* quantity;  ///< being measured
    int order;             ///< place of that in the list of quantities
    int number_count, table_count;
    int64_t number_capacity, table_capacity;
    measure_number* number;
    measure_table* table;
    bool failed; ///< memory was short
} measured;

/// What has to be the same in all frames so that tables can be averaged; [0] alone if it is a
/// length.
typedef struct measure_extent {
    bool known, given; ///< given: by the user, and not to be stretched
    double low[3], high[3];
} measure_extent;

/// What a quantity is measured with.
typedef struct measure_task {
    const char* directory;
    talus_recording* recording;
    const talus_world* world; ///< the frame being measured; NULL: it cannot be read again
    frame_range frames;
    int64_t frame;
    int dim;
    talus_measure_def def;
    int axis;    ///< of profiles: 0, 1, 2, -1: the last
    bool radial; ///< shells about that axis
    talus_slope_kind slope;
    double column; ///< of slopes: its width, 0: chosen by the library
    bool touching; ///< slopes of grains with a contact force only
    bool inner;    ///< Voronoi cells: only those that no boundary cuts
    talus_rdf_edge edge;
    talus_kernel kernel; ///< of fields
    int cells[3];        ///< of fields, 0: chosen by the library
    int gate_axis;       ///< -1: no gate is given
    double gate_at;
    talus_places places; ///< of the frame before, to count crossings of the gate
    measure_extent ends; ///< of profiles in all frames
    measure_extent box;  ///< of the grid of fields in all frames
    double field_width;  ///< of the kernel in all frames, 0: not known yet
    double rdf_range;    ///< in all frames, 0: not known yet
    measured* out;
} measure_task;

enum {
    MEASURE_CONTACTS = 1, ///< needs contacts to be recorded
    MEASURE_ONCE = 2,     ///< is of the whole run, not of a frame
    MEASURE_NAMED = 4,    ///< is measured only if it is named
};

/// A quantity: the only list of them is in measure_quantities.c.
typedef struct measure_quantity {
    const char* name;
    const char* what; ///< one line
    unsigned flags;   ///< MEASURE_ bits
    talus_status (*measure)(measure_task* task, talus_error* error);
    /// Look at a frame before any is measured, if there are several: find an extent. May be NULL.
    talus_status (*look)(measure_task* task, talus_error* error);
    /// Fill in what follows from the means over all frames. May be NULL.
    void (*finish)(measure_task* task);
} measure_quantity;

const measure_quantity* measure_quantities(int* count);

// ---- measure_space.c ---------------------------------------------------------------------------

talus_status measure_packing(measure_task* task, talus_error* error);
talus_status measure_voronoi(measure_task* task, talus_error* error);
talus_status measure_rdf(measure_task* task, talus_error* error);
talus_status measure_profile(measure_task* task, talus_error* error);
talus_status measure_profile_look(measure_task* task, talus_error* error);
talus_status measure_field(measure_task* task, talus_error* error);
talus_status measure_field_look(measure_task* task, talus_error* error);
talus_status measure_slope(measure_task* task, talus_error* error);
talus_status measure_flux(measure_task* task, talus_error* error);

// ---- measure_values.c --------------------------------------------------------------------------

/// Note a number of the frame being filled; `name` is copied.
void measured_number(measured* m, const char* name, const char* unit, double value);
/// The same, of a task.
void measure_note(measure_task* task, const char* name, const char* unit, double value);
/// Note a tensor's entries as NAME_xx, NAME_xy, ...
void measured_tensor(measured* m, const char* name, const char* unit, int dim,
                     const double tensor[9]);
/// A column to be noted.
typedef struct measure_column {
    const char* name; ///< static text, as the unit
    const char* unit;
    const double* data;   ///< [rows], copied; NaN: not defined
    int stride;           ///< doubles from row to row; 0: 1
    const double* weight; ///< [rows] with which it enters the mean over frames; NULL: 1
} measure_column;

/// Note a table of the frame being filled; `name` is static text. The first `places` columns say
/// where a row lies: a table of which they change from frame to frame is `mixed`.
void measured_rows(measured* m, const char* name, int places, int columns,
                   const measure_column* column, int64_t rows);
/// Leave out tables that are mixed; `tell` says so on stderr.
void measured_drop_mixed(measured* m, bool tell);
void measured_free(measured* m);

/// Mean, standard deviation, smallest and largest over the frames where a number is defined.
typedef struct measure_spread {
    int64_t count;
    double mean, spread, low, high;
} measure_spread;

measure_spread measure_spread_of(const measured* m, const measure_number* number);

// ---- measure_shear.c ---------------------------------------------------------------------------

/// Add the columns of a profile that measure_profile_finish() fills; `nothing` has as many NaN as
/// there are rows. Returns how many.
int measure_shear_columns(measure_column* column, const double* nothing, bool contacts);
void measure_profile_finish(measure_task* task);

// ---- measure_print.c ---------------------------------------------------------------------------

/// How the run's numbers are to be read.
typedef struct measure_style {
    bool reduced;      ///< no units
    int dim;           ///< units of 2D or 3D
    bool tables;       ///< print tables too
    const char* title; ///< of the run
} measure_style;

void measure_print(const measure_task* task, const measure_style* style);
void measure_write_json(FILE* file, const measure_task* task, const measure_style* style);
/// One row for each frame into `path`, each table into a file beside it; false, with a message.
bool measure_write_csv(const char* path, const measure_task* task, const measure_style* style,
                       bool force);

#endif

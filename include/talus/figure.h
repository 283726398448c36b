/// Figures for papers: panels with axes, curves and legends, or with a picture of a world, written
/// as PNG, SVG or PDF. No display is needed.
///
/// Texts are UTF-8; `_{...}` and `^{...}` in them set subscripts and superscripts ("N_{I}^{1/2}",
/// "⟨f⟩", "ω").
#ifndef TALUS_FIGURE_H
#define TALUS_FIGURE_H

#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_figure talus_figure;

/// Options of a figure. Fill with talus_figure_default(); copied on use.
typedef struct talus_figure_def {
    talus_mark mark;     ///< set by talus_figure_default()
    int columns, rows;   ///< panels side by side and above each other [default 1, 1]
    double panel_width;  ///< of one panel with its labels, points of 1/72 inch [default 400]
    double panel_height; ///< [default 300]
    const char* title;   ///< above all panels; may be NULL
} talus_figure_def;

TALUS_DEFAULT(talus_figure_def, talus_figure_default);

/// Make an empty figure. The caller owns *out and ends it with talus_figure_destroy().
TALUS_API talus_status talus_figure_create(const talus_figure_def* def, talus_figure** out,
                                           talus_error* error);
TALUS_API void talus_figure_destroy(talus_figure* figure);

typedef enum talus_legend {
    TALUS_LEGEND_AUTO = 0, ///< where it hides least, if a curve has a label
    TALUS_LEGEND_TOP_LEFT,
    TALUS_LEGEND_TOP_RIGHT,
    TALUS_LEGEND_BOTTOM_LEFT,
    TALUS_LEGEND_BOTTOM_RIGHT,
    TALUS_LEGEND_OUTSIDE, ///< right of the axes
    TALUS_LEGEND_NONE,
} talus_legend;

/// Axes of a panel. Fill with talus_axes_default(); copied on use.
typedef struct talus_axes_def {
    talus_mark mark;     ///< set by talus_axes_default()
    const char* title;   ///< above the panel; may be NULL
    const char* x_label; ///< with its unit; may be NULL
    const char* y_label;
    bool x_log, y_log; ///< logarithmic; values <= 0 are left out [default false]
    /// Ends of the axis; low > high reverses it; equal: from the data [default 0, 0]
    double x_low, x_high;
    double y_low, y_high;
    bool equal;          ///< one unit is as long in x as in y [default false]
    bool hidden;         ///< no frame, ticks and labels: nothing but the title [default false]
    talus_legend legend; ///< [default TALUS_LEGEND_AUTO]
} talus_axes_def;

TALUS_DEFAULT(talus_axes_def, talus_axes_default);

/// Give a panel its axes; panels are counted row by row from 0. Without this call a panel has
/// talus_axes_default().
TALUS_API talus_status talus_figure_axes(talus_figure* figure, int panel, const talus_axes_def* def,
                                         talus_error* error);

typedef enum talus_curve_style {
    TALUS_CURVE_LINE = 0,
    TALUS_CURVE_DOTS,      ///< markers only
    TALUS_CURVE_LINE_DOTS, ///< markers joined by a line
    TALUS_CURVE_STEPS,     ///< a histogram's outline: y[i] holds from x[i] to x[i + 1]
} talus_curve_style;

/// The palette: told apart by colour-blind people too.
typedef enum talus_colour {
    TALUS_COLOUR_BLACK = 0,
    TALUS_COLOUR_BLUE,
    TALUS_COLOUR_VERMILLION,
    TALUS_COLOUR_GREEN,
    TALUS_COLOUR_ORANGE,
    TALUS_COLOUR_SKY,
    TALUS_COLOUR_PURPLE,
    TALUS_COLOUR_GREY,
    TALUS_COLOUR_COUNT
} talus_colour;

typedef enum talus_dash {
    TALUS_DASH_SOLID = 0,
    TALUS_DASH_DASHED,
    TALUS_DASH_DOTTED,
} talus_dash;

/// A curve. Fill with talus_curve_default(); arrays and texts are copied.
typedef struct talus_curve_def {
    talus_mark mark;       ///< set by talus_curve_default()
    const char* label;     ///< in the legend; NULL: not there
    const double* x;       ///< [count]
    const double* y;       ///< [count]; a NaN breaks the line
    const double* y_error; ///< [count] half length of error bars; may be NULL
    int64_t count;
    talus_curve_style style;
    talus_dash dash;
    int colour;   ///< one of talus_colour; -1: the next one [default -1]
    int marker;   ///< shape of the dots, 0 to 5: circle, square, triangle, diamond, triangle upside
                  ///< down, cross; -1: the next one [default -1]
    double width; ///< of lines, points [default 1.2]
    double dot_size; ///< diameter of markers, points [default 4.5]
} talus_curve_def;

TALUS_DEFAULT(talus_curve_def, talus_curve_default);

TALUS_API talus_status talus_figure_curve(talus_figure* figure, int panel,
                                          const talus_curve_def* def, talus_error* error);

/// Draw a thin line through the whole panel at x (vertical) or y (horizontal), with a short text at
/// its end; `label` may be NULL.
TALUS_API talus_status talus_figure_mark(talus_figure* figure, int panel, bool vertical, double at,
                                         const char* label, talus_error* error);

/// Write a text at a point of the panel in its own coordinates.
TALUS_API talus_status talus_figure_text(talus_figure* figure, int panel, double x, double y,
                                         const char* text, talus_error* error);

/// Scales of colours. All but turbo are even in brightness or in their distance from the middle.
typedef enum talus_map {
    TALUS_MAP_VIRIDIS = 0, ///< dark blue, green, yellow
    TALUS_MAP_PLASMA,      ///< dark blue, red, yellow
    TALUS_MAP_INFERNO,     ///< black, red, light yellow
    TALUS_MAP_CIVIDIS,     ///< dark blue to yellow, the same for colour-blind people
    TALUS_MAP_COOLWARM,    ///< blue, white, red: for values on both sides of the middle
    TALUS_MAP_TURBO,       ///< rainbow
    TALUS_MAP_GREY,        ///< black to white
    TALUS_MAP_COUNT
} talus_map;

/// Name of a scale of colours ("viridis"), NULL if there is none of this number.
TALUS_API const char* talus_map_name(talus_map map);

/// How a world is drawn. Fill with talus_picture_default(); copied on use.
typedef struct talus_picture_def {
    talus_mark mark;              ///< set by talus_picture_default()
    const double* value;          ///< [grains] colours the grains; NULL: all alike
    const char* value_label;      ///< with its unit, beside the scale of colours
    double value_low, value_high; ///< ends of that scale; equal: from the data [default 0, 0]
    talus_map map;                ///< [default TALUS_MAP_VIRIDIS]
    /// [grains] one of talus_colour for each grain, in a light shade and without a scale; NULL, or
    /// if `value` is given: as said there
    const int* grain_colour;
    /// [TALUS_COLOUR_COUNT] what the colours of grains mean, for a key beside the picture; texts
    /// may be NULL; NULL: no key [default]
    const char* const* colour_names;
    const uint8_t* hidden; ///< [grains] 1: left out, as are forces between such; NULL: none
    bool walls;            ///< [default true]
    bool forces;           ///< contacts as bars of a width by their normal force [default false]
    /// [contacts] one of talus_colour for the bar of each contact; NULL: pressure vermillion,
    /// tension blue
    const int* force_colour;
    double force_width;   ///< width of the bar of the largest force, mean diameters (of solids that
                          ///< of a ball of their volume), up to 1000 [default 0.4]
    double force_largest; ///< force of that width, N; 0: the largest that is shown [default 0]
    int view;             ///< 3D: axis along which one looks, 0 to 2 [default 1]
    bool oblique;         ///< 3D: look from the direction below instead [default false]
    double azimuth;       ///< of the eye about z, from x towards y, degrees [default -60]
    double elevation;     ///< of the eye over the plane of x and y, -90 to 90 degrees [default 25]
    double fade;          ///< 3D: part by which the farthest grains fade, 0 to 1 [default 0.5]
    bool scale_bar;       ///< a bar of round length below, or within visible axes [default false]
    const char* length_unit; ///< of the bar; "m" is written as km, cm, mm, µm, nm; may be NULL
    const char* force_unit;  ///< a sample of the widest bar with its force stands there too; NULL:
                             ///< no sample
    const char* caption;     ///< below the picture on the right, if axes are hidden; may be NULL
} talus_picture_def;

TALUS_DEFAULT(talus_picture_def, talus_picture_default);

/// Draw the world as it is now into a panel, to scale. Its axes are coordinates; a
/// logarithmic one is refused by talus_figure_write().
TALUS_API talus_status talus_figure_world(talus_figure* figure, int panel, const talus_world* world,
                                          const talus_picture_def* def, talus_error* error);

/// The extent of that picture in its plane, without margins: low and high x, low and high y;
/// low > high if there is nothing to see. In 2D and along an axis these are coordinates.
TALUS_API talus_status talus_picture_extent(const talus_world* world, const talus_picture_def* def,
                                            double low[2], double high[2], talus_error* error);

/// Resize all panels so that their pictures fill them: as wide as they are and as high as needed,
/// or, if that is more than `most` points, that high and narrower. Sizes are rounded to multiples
/// of `unit` points (0: not at all).
TALUS_API talus_status talus_figure_fit(talus_figure* figure, double most, double unit,
                                        talus_error* error);

/// Write the figure; the format follows from the ending of the path: .png, .svg or .pdf. `dots` is
/// the resolution of a PNG in dots an inch [e.g. 144].
TALUS_API talus_status talus_figure_write(const talus_figure* figure, const char* path, double dots,
                                          talus_error* error);

#ifdef __cplusplus
}
#endif
#endif

/// Inside of a figure: panels, and what was put into them, as copies.
#ifndef TALUS_PICTURE_FIGURE_H
#define TALUS_PICTURE_FIGURE_H

#include "picture/colour.h"

#include <math.h>
#include <talus/figure.h>

enum { FIGURE_MARKERS = 6 };

/// A range of numbers; empty while low > high.
typedef struct span {
    double low, high;
} span;

/// Numbers beyond this are treated as if they were not finite: differences of others do not
/// overflow.
#define FIGURE_LARGEST 1e300
/// Ranges of relative length below this have no ticks that doubles could tell apart.
#define FIGURE_CLOSEST 1e-11
/// Nor have ranges shorter than this: what is divided by parts of them would overflow.
#define FIGURE_SHORTEST 1e-290

/// A data series; colour and marker are decided.
typedef struct panel_series {
    talus_curve_def def; ///< its arrays and its label are owned by the series
    double* data;        ///< x, y and, if there are any, error bars, one after the other
    char* label;
} panel_series;

typedef struct panel_mark {
    bool vertical;
    double at;
    char* label; ///< may be NULL
} panel_mark;

typedef struct panel_text {
    double x, y;
    char* text;
} panel_text;

/// Pictures consist of these, in coordinates of the panel, drawn in this order.
typedef enum piece_kind {
    PIECE_CIRCLE,  ///< one point; `size` is the radius; a disk, or of a wall only its line
    PIECE_POLYGON, ///< closed
    PIECE_LINE,    ///< open
    PIECE_BAR,     ///< a line of width `size`
    PIECE_PLANE,   ///< a point and a normal: the edge of the half-plane behind it, hatched
} piece_kind;

typedef struct piece {
    piece_kind kind;
    int32_t point_count;
    int64_t first; ///< its points in picture.point
    double size;   ///< in units of the axes
    bool filled;
    bool edged;  ///< with a thin dark outline
    bool ball;   ///< shaded as a ball
    bool wall;   ///< belongs to a wall: `colour` is that of its lines
    bool joined; ///< a polygon of the same grain as the one before it: no edge between them
    bool behind; ///< all grains: drawn before everything that is not
    rgb colour;  ///< of the filling, else of the line
} piece;

typedef struct picture {
    int64_t piece_count, piece_capacity;
    piece* piece;
    int64_t point_count, point_capacity;
    double* point; ///< [point_count][2]
    span x, y;     ///< extent of what is finite
    bool scaled;   ///< a scale of colours stands beside it
    talus_map map; ///< with these colours
    span value;    ///< of that scale
    char* value_label;
    bool keyed; ///< a key of these names of colours stands beside it
    char* colour_name[COLOUR_PALETTE];
    bool bar;          ///< a bar of round length stands below or in it
    double force;      ///< of the sample bar, N; 0: none
    double force_size; ///< width of that bar, in units of the axes
    char *length_unit, *force_unit, *caption;
} picture;

typedef struct panel {
    talus_axes_def axes; ///< its texts are those below
    char *title, *x_label, *y_label;
    int64_t series_count, series_capacity;
    panel_series* series;
    int next_colour, next_marker;
    int64_t mark_count, mark_capacity;
    panel_mark* mark;
    int64_t text_count, text_capacity;
    panel_text* text;
    bool has_picture;
    picture picture;
} panel;

struct talus_figure {
    talus_figure_def def; ///< its title is the one below
    char* title;
    int panel_count;
    panel* panel;
};

/// The panel of this number; fails if there is none.
talus_status figure_panel(talus_figure* figure, int number, panel** out, talus_error* error);
/// The ends of an axis or scale must be equal (not given), or finite, apart, and positive if `log`.
talus_status figure_check_ends(const char* name, double low, double high, bool log,
                               talus_error* error);
/// A copy of a text that may be NULL.
talus_status figure_copy(const char* text, char** out, talus_error* error);

static inline span span_empty(void)
{
    return (span){1.0, 0.0};
}
static inline bool span_is_empty(span s)
{
    return s.low > s.high;
}
/// Is a range from low to high too short for an axis or a scale?
static inline bool span_too_short(double low, double high)
{
    const double range = fabs(high - low);
    return range <= FIGURE_CLOSEST * fmax(fabs(low), fabs(high)) || range < FIGURE_SHORTEST;
}
static inline void span_add(span* s, double value)
{
    if (!(value >= -FIGURE_LARGEST && value <= FIGURE_LARGEST)) return;
    if (span_is_empty(*s)) {
        s->low = s->high = value;
    } else if (value < s->low) {
        s->low = value;
    } else if (value > s->high) {
        s->high = value;
    }
}

void picture_free(picture* p);

#endif

/// A pen for lines and polygons that may reach far beyond the axes: what goes to cairo lies near
/// them, with the slopes as they are, and long lines are stroked bit by bit.
#ifndef TALUS_PICTURE_PEN_H
#define TALUS_PICTURE_PEN_H

#include "picture/cover.h"

typedef struct pen {
    cairo_t* cr;
    double left, right, top, bottom; ///< where it draws
    double closest;                  ///< points closer than this to the last one are left out
    cover* covered;                  ///< long lines that it hides are left out; may be NULL
    double dash[2];                  ///< lengths of dashes and gaps; 0, 0: solid
    bool down;                       ///< there is a last point
    bool joined;                     ///< and the path ends there
    double x, y;                     ///< last point
    int parts;                       ///< of the path that is not stroked yet
    double length;                   ///< of those parts
    double begin;                    ///< where in the dashes the paths of this stroke begin
    double walked;                   ///< where in them the path is now
} pen;

/// A pen with the dashes that cairo has now. It draws within the axes and `beyond` them, so that
/// ends and corners of what it cuts off are not seen.
pen pen_make(const plot* p, double beyond);
/// Go to a point, with a line from the last one; a point that is not finite lifts the pen.
void pen_to(pen* p, double x, double y);
/// Stroke what was drawn.
void pen_stroke(pen* p);

/// A closed polygon, cut at one side of where a pen draws after the other (Sutherland and Hodgman).
typedef struct pen_shape {
    const pen* pen;
    struct {
        bool any;
        double first[2], last[2]; ///< corners that came to this side
    } side[4];
} pen_shape;

/// Add a corner; one that is not finite is left out.
void pen_corner(pen_shape* s, double x, double y);
/// Close the polygon: what is left of it is cairo's path, to be filled or stroked.
void pen_close(pen_shape* s);

#endif

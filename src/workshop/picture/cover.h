/// What is drawn already on the page, in small squares: of a million dots or lines that cover each
/// other, only those are drawn that show something new.
#ifndef TALUS_PICTURE_COVER_H
#define TALUS_PICTURE_COVER_H

#include "picture/plot.h"

typedef struct cover {
    unsigned char* bit; ///< one for each square; NULL: not looked after, everything is new
    int64_t columns, rows;
    double left, top, cell;
} cover;

/// Squares of side `cell` within a box and `beyond` it. If memory is short, everything is new.
cover cover_make(const rectangle* box, double beyond, double cell);
void cover_free(cover* c);
/// Cover the square of a point; false if it was covered, or lies outside.
bool cover_point(cover* c, double x, double y);
/// Cover the squares along a line; false if all of them were.
bool cover_line(cover* c, const double from[2], const double to[2]);

#endif

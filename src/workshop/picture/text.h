/// Texts of figures: UTF-8 with subscripts and superscripts, `_{...}` and `^{...}`.
#ifndef TALUS_PICTURE_TEXT_H
#define TALUS_PICTURE_TEXT_H

#include <cairo.h>

/// Room that a text takes, from the left end of its baseline.
typedef struct text_size {
    double width, above, below;
} text_size;

/// A copy of a text on the heap, bytes that are no UTF-8 replaced by '?': cairo refuses to draw
/// these. NULL if memory is short.
char* text_copy(const char* text);

/// `text` may be NULL: no room.
text_size text_measure(cairo_t* cr, const char* text, double size);
/// Draw with the baseline at (x, y), in the present colour. `align` is the part of the width that
/// lies before x: 0 left, 0.5 centred, 1 right. `angle` turns about (x, y), counterclockwise.
void text_draw(cairo_t* cr, const char* text, double size, double x, double y, double align,
               double angle);

#endif

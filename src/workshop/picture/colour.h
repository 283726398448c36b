/// Colours of figures: the palette of curves and the scale of values.
#ifndef TALUS_PICTURE_COLOUR_H
#define TALUS_PICTURE_COLOUR_H

#include <talus/figure.h>

enum { COLOUR_PALETTE = TALUS_COLOUR_COUNT };

typedef struct rgb {
    double red, green, blue;
} rgb;

/// A colour of the palette, `index` from 0 to COLOUR_PALETTE - 1: told apart by colour-blind people
/// too, and in print (after Okabe and Ito, grey in place of their yellow, which is lost on white).
rgb colour_of_palette(int index);
/// Colour of a place on a scale of values, 0 to 1; beyond: that of the end. Grey for a NaN.
rgb colour_of_map(talus_map map, double place);
/// From `a` (part 0) to `b` (part 1).
rgb colour_mix(rgb a, rgb b, double part);

#endif

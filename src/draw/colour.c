/// The palette and the scale of colours.
#include "draw/colour.h"

#include <math.h>

rgb colour_of_palette(int index)
{
    static const rgb palette[COLOUR_PALETTE] = {
        {0.000, 0.000, 0.000}, // black
        {0.000, 0.447, 0.698}, // blue
        {0.835, 0.369, 0.000}, // vermillion
        {0.000, 0.620, 0.451}, // bluish green
        {0.902, 0.624, 0.000}, // orange
        {0.337, 0.706, 0.914}, // sky blue
        {0.800, 0.475, 0.655}, // reddish purple
        {0.500, 0.500, 0.500}, // grey
    };
    return palette[index % COLOUR_PALETTE];
}

rgb colour_mix(rgb a, rgb b, double part)
{
    return (rgb){a.red + part * (b.red - a.red), a.green + part * (b.green - a.green),
                 a.blue + part * (b.blue - a.blue)};
}

rgb colour_of_scale(double place)
{
    static const rgb table[] = {
        {0.267, 0.005, 0.329}, {0.282, 0.141, 0.458}, {0.254, 0.265, 0.530}, {0.207, 0.372, 0.553},
        {0.164, 0.471, 0.558}, {0.128, 0.567, 0.551}, {0.135, 0.659, 0.518}, {0.267, 0.749, 0.441},
        {0.478, 0.821, 0.318}, {0.741, 0.873, 0.150}, {0.993, 0.906, 0.144},
    };
    enum { LAST = sizeof table / sizeof *table - 1 };
    if (isnan(place)) return (rgb){0.8, 0.8, 0.8};
    const double at = fmin(fmax(place, 0.0), 1.0) * LAST;
    const int left = at < LAST ? (int)at : LAST - 1;
    return colour_mix(table[left], table[left + 1], at - left);
}

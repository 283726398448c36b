/// Squares of the page that are covered, a bit each.
#include "picture/cover.h"

#include <stdlib.h>

cover cover_make(const rectangle* box, double beyond, double cell)
{
    cover c = {.left = box->left - beyond, .top = box->top - beyond, .cell = cell};
    c.columns = (int64_t)((box->width + 2.0 * beyond) / cell) + 1;
    c.rows = (int64_t)((box->height + 2.0 * beyond) / cell) + 1;
    c.bit = calloc((size_t)(c.columns * c.rows / 8 + 1), 1);
    return c;
}

void cover_free(cover* c)
{
    free(c->bit);
    c->bit = NULL;
}

bool cover_point(cover* c, double x, double y)
{
    if (!c->bit) return true;
    const double column = floor((x - c->left) / c->cell), row = floor((y - c->top) / c->cell);
    if (!(column >= 0.0 && row >= 0.0 && column < (double)c->columns && row < (double)c->rows)) {
        return false;
    }
    const int64_t place = (int64_t)row * c->columns + (int64_t)column;
    const unsigned char bit = (unsigned char)(1u << (place & 7));
    if (c->bit[place >> 3] & bit) return false;
    c->bit[place >> 3] |= bit;
    return true;
}

bool cover_line(cover* c, const double from[2], const double to[2])
{
    const double dx = to[0] - from[0], dy = to[1] - from[1];
    const int64_t steps = (int64_t)ceil(fmax(fabs(dx), fabs(dy)) / c->cell);
    bool any = false;
    for (int64_t i = 0; i <= steps; i++) {
        const double t = steps > 0 ? (double)i / (double)steps : 0.0;
        if (cover_point(c, from[0] + t * dx, from[1] + t * dy)) any = true;
    }
    return any;
}

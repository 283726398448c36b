/// Energies of errors from the smallest cells up.
#include "solve/scales.h"

#include <math.h>
#include <stdlib.h>

/// Cells of four diameters hold some 30 contacts of disks and 200 of spheres, enough to tell a
/// strain from flicker. They are wider if there would be more of them than bodies, as in a long
/// tube: the curve counts the cells beside it, too.
enum { FIRST_LEVEL = 2 };

scales scales_begin(const problem* p, int parts)
{
    scales s = {.dim = p->dim, .level = FIRST_LEVEL, .parts = parts};
    uint32_t last = 0;
    for (int64_t i = 0; i < p->rows; i++) last = p->curve[i] > last ? p->curve[i] : last;
    while ((int64_t)(last >> (s.dim * s.level)) >= p->rows) s.level++;
    s.cells = (last >> (s.dim * s.level)) + 1;
    if (s.cells == 1) return s;
    const size_t numbers = (size_t)s.cells * (size_t)parts * (size_t)(s.dim * s.dim + 1);
    s.stress = calloc(numbers, sizeof *s.stress);
    return s;
}

void scales_free(scales* s)
{
    free(s->stress);
    *s = (scales){0};
}

/// Add up the parts, in order.
static void join_parts(scales* s)
{
    const int64_t numbers = s->cells * (s->dim * s->dim + 1);
    for (int part = 1; part < s->parts; part++) {
        for (int64_t k = 0; k < numbers; k++) s->stress[k] += s->stress[part * numbers + k];
    }
}

/// Energy that strains of the cells explain.
static double explained(const scales* s)
{
    const int square = s->dim * s->dim;
    double sum = 0.0;
    for (int64_t cell = 0; cell < s->cells; cell++) {
        const double* of = s->stress + cell * (square + 1);
        if (of[square] > 0.0) sum += s->dim * vec_dot(square, of, of) / of[square];
    }
    return sum;
}

/// Put the 2^dim cells that follow each other along the curve into one.
static void coarsen(scales* s)
{
    const int width = s->dim * s->dim + 1;
    for (int64_t cell = 0; cell < s->cells; cell++) {
        const double* from = s->stress + cell * width;
        double* to = s->stress + (cell >> s->dim) * width;
        for (int k = 0; k < width; k++) {
            to[k] = (cell & ((1 << s->dim) - 1)) == 0 ? from[k] : to[k] + from[k];
        }
    }
    s->cells = ((s->cells - 1) >> s->dim) + 1;
    s->level++;
}

double scales_weigh(scales* s, double energy, double length)
{
    double sum = 0.0, rest = energy;
    if (!s->stress) return length * length * energy;
    join_parts(s);
    for (;;) {
        const double width = fmin(ldexp(1.0, s->level), length);
        const double larger = fmin(explained(s), rest); // directions of contacts are never even
        sum += width * width * (rest - larger);
        rest = larger;
        if (s->cells == 1) return sum + length * length * rest;
        coarsen(s);
    }
}

/// Energies of errors from the smallest cells up.
#include "rigid/scales.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

/// Cells of four diameters hold some 30 contacts of disks and 200 of spheres, enough to tell a
/// strain from flicker. They are wider where the problem has no room for so many, as in a long tube
/// or a flat bed: the curve counts the empty cells beside it, too.
static const double FIRST_WIDTH = 4.0;

scales scales_begin(const problem* p, int parts)
{
    const int dim = p->dim;
    scales s = {.dim = dim, .parts = parts, .unit = p->curve_cell};
    uint32_t last = 0;
    for (int64_t i = 0; i < p->rows; i++) last = p->curve[i] > last ? p->curve[i] : last;
    while (ldexp(s.unit, s.level) < FIRST_WIDTH) s.level++;
    while ((int64_t)(last >> (dim * s.level)) >= problem_cells(p->rows) / parts) s.level++;
    s.cells = (last >> (dim * s.level)) + 1;
    if (s.cells == 1) return s;
    s.stress = p->cells;
    return s;
}

void scales_clear(const scales* s, int part)
{
    const int64_t numbers = s->cells * scales_numbers(s->dim);
    if (s->stress) memset(s->stress + part * numbers, 0, sizeof(double) * (size_t)numbers);
}

/// Add up the parts, in order.
static void join_parts(scales* s, int threads)
{
    const int64_t numbers = s->cells * scales_numbers(s->dim);
#pragma omp parallel for num_threads(parallel_threads(threads, numbers)) schedule(static)
    for (int64_t k = 0; k < numbers; k++) {
        for (int part = 1; part < s->parts; part++) s->stress[k] += s->stress[part * numbers + k];
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

double scales_weigh(scales* s, double energy, double length, int threads)
{
    double sum = 0.0, rest = energy;
    if (!s->stress) return length * length * energy;
    join_parts(s, threads);
    for (; s->cells > 1; coarsen(s)) {
        const double width = fmin(ldexp(s->unit, s->level), length);
        const double larger = fmin(explained(s), rest); // directions of contacts are never even
        sum += width * width * (rest - larger);
        rest = larger;
    }
    const double whole = fmin(ldexp(s->unit, s->level), length);
    return sum + whole * whole * rest;
}

/// On which lengths do the errors of the contacts vary?
///
/// The bodies lie in cells of a lattice, cells in larger cells and so on, as the keys of the Z
/// curve have them (state/morton.h). The errors e_c of the contacts of a cell add up to a stress,
/// sum e (x) n. If they belong to one motion of the whole cell (a strain) they add up; if each
/// contact flickers for itself they cancel. The part of the energy sum |e_c|^2 / m_c that a strain
/// per cell of width l explains is
///     E_l = sum over cells of dim |sum e (x) n|^2 / sum m
/// (least squares, contacts in all directions alike). What cells of width l explain and cells of
/// width 2 l do not varies on a length between the two. Torques are left out: errors of rolling
/// count on the smallest scale.
#ifndef TALUS_RIGID_SCALES_H
#define TALUS_RIGID_SCALES_H

#include "rigid/problem.h"

enum { SCALES_PARTS = 16 };

/// Contacts may be added in several parts at a time, each by one thread. The sums are in the room
/// that the problem has for them.
typedef struct scales {
    int dim, level; ///< cells are 2^level times as wide as those of the curve
    int64_t cells;
    int parts;
    double unit;    ///< width of the curve's cells in diameters
    double* stress; ///< [parts][cells][dim * dim + 1] stress and sum of m; NULL: a single cell
} scales;

scales scales_begin(const problem* p, int parts);
/// Empty a part; before anything is added to it.
void scales_clear(const scales* s, int part);

/// Sums of a cell.
static ALWAYS_INLINE int scales_numbers(const int dim)
{
    return dim * dim + 1;
}
/// The cell of a contact, which is that of its body b.
static ALWAYS_INLINE int64_t scales_cell(const scales* s, const problem* p, int64_t c)
{
    return p->curve[p->pair[2 * c + 1]] >> (s->dim * s->level);
}
/// What a contact with this row and the error e adds to number k of its cell.
static ALWAYS_INLINE double scales_term(const int dim, int k, const double* e, const double* row)
{
    return k < dim * dim ? e[k / dim] * row[k % dim] : row[contact_mn(dim)];
}

/// Add contact c with the error e to its cell.
static ALWAYS_INLINE void scales_add(const scales* s, const problem* p, const int dim, int part,
                                     int64_t c, const double* e)
{
    if (!s->stress) return;
    double* sum = s->stress + (part * s->cells + scales_cell(s, p, c)) * scales_numbers(dim);
    const double* row = p->contact + c * problem_width(dim);
    for (int k = 0; k < scales_numbers(dim); k++) sum[k] += scales_term(dim, k, e, row);
}

/// Sum over all scales of l^2 times the energy on that scale; `energy` is that of all scales,
/// `length` the size of the system in diameters. Adds the cells up: to be called once.
double scales_weigh(scales* s, double energy, double length, int threads);

#endif

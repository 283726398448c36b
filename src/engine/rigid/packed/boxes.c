/// Boxes in space of one size, each for a block of contacts, and a curve that passes through all of
/// one before it comes to the next.
///
/// The boxes are made of the cells of problem.curve: as wide as needed for a given number of
/// contacts in those that have any. They fill the extent of the bodies evenly; where contacts join
/// both ends of it, as in a periodic cell, their number is even, so that boxes that touch there
/// differ in the parity of their coordinates, too.
#include "rigid/packed/layout.h"

#include "base/portable.h"
#include "state/morton.h"

#include <math.h>
#include <stdlib.h>

/// Cells, 2^level wide, in which contacts are counted to know how many a box will have.
enum { COUNTED_LEVEL_PLANE = 3, COUNTED_LEVEL_SPACE = 2 };
/// Least width of a box, in cells, which are a mean diameter wide: contacts of a body reach no
/// farther than into the next box.
static const double NARROWEST = 4.0;
/// Extents, in cells, that may have more than two boxes: of two it does not matter if they touch
/// at both ends.
enum { LEAST_ROUND = 10 };

/// Cells along the axes: the first that bodies have, how many, and of how many boxes.
typedef struct lattice {
    int64_t low[3], cells[3], boxes[3];
} lattice;

/// What the contacts tell of it.
typedef struct contact_survey {
    int rounds;      ///< axes, one bit each, along which they join both ends
    double occupied; ///< volume, in cells, of the larger cells that have any
} contact_survey;

static bool has_place(const packed_layout* l, int32_t row)
{
    return l->moves[row] && problem_mobile_wall(l->p, row) < 0;
}

static void find_extent(const packed_layout* l, lattice* out)
{
    const int dim = l->p->dim;
    for (int k = 0; k < dim; k++) {
        uint32_t low = UINT32_MAX, high = 0;
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) reduction(min                 \
                                                                               : low)              \
    reduction(max                                                                                  \
              : high)
        for (int32_t i = 0; i < (int32_t)l->p->rows; i++) {
            if (!has_place(l, i)) continue;
            const uint32_t at = l->curve[i] >> k & morton_axis(dim);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        const bool any = low <= high;
        out->low[k] = any ? morton_coordinate(dim, low) : 0;
        out->cells[k] = any ? morton_coordinate(dim, high) - out->low[k] + 1 : 1;
    }
}

/// Is a body more than half of the extent away from another, along axis k?
static bool apart_along(const lattice* at, int dim, int k, uint32_t key_a, uint32_t key_b)
{
    const int64_t a = morton_coordinate(dim, key_a >> k), b = morton_coordinate(dim, key_b >> k);
    return 2 * llabs(a - b) > at->cells[k];
}

/// What the bits of axis k of two keys differ by at least if apart_along is true.
static uint32_t least_difference(const lattice* at, int dim, int k)
{
    if (at->cells[k] < LEAST_ROUND) return UINT32_MAX;
    int level = 0;
    while (INT64_C(4) << level <= at->cells[k]) level++;
    return UINT32_C(1) << (dim * level + k);
}

static talus_status survey_contacts(const packed_layout* l, const lattice* at, contact_survey* out)
{
    const problem* p = l->p;
    const int dim = p->dim;
    uint32_t axis[3], least[3];
    for (int k = 0; k < dim; k++) {
        axis[k] = morton_axis(dim) << k;
        least[k] = least_difference(at, dim, k);
    }
    int level = dim == 2 ? COUNTED_LEVEL_PLANE : COUNTED_LEVEL_SPACE;
    uint32_t last = 0;
    for (int64_t i = 0; i < p->rows; i++) last = l->curve[i] > last ? l->curve[i] : last;
    while (last >> dim * level > p->rows) level++;
    const int64_t cells = (last >> dim * level) + 1;
    uint8_t* any = calloc((size_t)cells, 1);
    if (!any) return TALUS_ERR_MEMORY;
    int rounds = 0;
    int64_t occupied = 0;
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) reduction(| : rounds)
    for (int64_t c = 0; c < p->count; c++) {
        const int32_t* later = p->pair + 2 * packed_ahead(c, p->count);
        __builtin_prefetch(l->curve + later[0]);
        __builtin_prefetch(l->curve + later[1]);
        const int32_t a = p->pair[2 * c], b = p->pair[2 * c + 1];
        const uint32_t key_a = l->curve[a], key_b = l->curve[b];
        __atomic_store_n(&any[key_b >> dim * level], 1, __ATOMIC_RELAXED);
        for (int k = 0; k < dim; k++) {
            if (((key_a ^ key_b) & axis[k]) < least[k]) continue;
            if (!has_place(l, a) || !has_place(l, b)) continue;
            rounds |= apart_along(at, dim, k, key_a, key_b) << k;
        }
    }
    for (int64_t k = 0; k < cells; k++) occupied += any[k];
    free(any);
    *out = (contact_survey){rounds, ldexp((double)occupied, dim * level)};
    return TALUS_OK;
}

/// Along the axis with the fewest boxes first: what its number is rounded by is made good along the
/// others.
static void lay_boxes(const packed_layout* l, const contact_survey* contacts, lattice* at)
{
    const int dim = l->p->dim;
    double volume = contacts->occupied * (double)BOX_CONTACTS / (double)l->p->count;
    for (int k = 0; k < dim; k++) at->boxes[k] = 0;
    for (int left = dim; left > 0; left--) {
        int axis = -1, step = 1;
        for (int k = 0; k < dim; k++) {
            const int own = contacts->rounds >> k & 1 ? 2 : 1;
            if (at->boxes[k] > 0) continue;
            if (axis >= 0 && step * at->cells[k] >= own * at->cells[axis]) continue;
            axis = k;
            step = own;
        }
        const double width = left == 3 ? portable_cbrt(volume) : left == 2 ? sqrt(volume) : volume;
        const double cells = (double)at->cells[axis];
        const int64_t pairs = (int64_t)(cells / (step * fmax(NARROWEST, width)) + 0.5);
        at->boxes[axis] = pairs < 1 ? 1 : step * pairs;
        volume *= (double)at->boxes[axis] / cells;
    }
}

talus_status packed_boxes(packed_layout* l)
{
    const int dim = l->p->dim;
    lattice at;
    contact_survey contacts;
    if (l->p->count == 0) {
        for (int64_t i = 0; i < l->p->rows; i++) l->key[i] = 0;
        return TALUS_OK;
    }
    find_extent(l, &at);
    if (survey_contacts(l, &at, &contacts)) return TALUS_ERR_MEMORY;
    lay_boxes(l, &contacts, &at);
    double scale[3];
    for (int k = 0; k < dim; k++)
        scale[k] = ldexp((double)at.boxes[k] / (double)at.cells[k], BOX_LEVEL);
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) schedule(static)
    for (int64_t i = 0; i < l->p->rows; i++) {
        uint32_t cell[3] = {0, 0, 0};
        for (int k = 0; k < dim; k++) {
            const int64_t from = morton_coordinate(dim, l->curve[i] >> k) - at.low[k];
            const int64_t inside = from < 0 ? 0 : from < at.cells[k] ? from : at.cells[k] - 1;
            cell[k] = (uint32_t)((double)inside * scale[k]);
        }
        l->key[i] = morton_key(dim, cell);
    }
    return TALUS_OK;
}

/// Lists of near balls, of any mix of sizes.
///
/// Balls are sorted into cells, those of a size (within a factor of two of their reach) into cells
/// of their own, twice as wide as the largest reach of that size. A ball looks through the cells
/// around it of its own size and of all larger ones, three at most along each axis; what it finds
/// among larger ones is put into their lists afterwards. So a large ball never searches the many
/// cells of small ones that it covers. Cells along x follow each other in memory, and whoever is in
/// them is tested without a branch.
#include "scene/generate_near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parallel.h"

enum { SIZES = 64 };       ///< of balls; the last takes all that are smaller
enum { PORTION = 512 };    ///< balls whose lists are found together
enum { CELLS_A_BALL = 2 }; ///< at most: empty ones cost as much as full ones

/// The cells of one size.
typedef struct size_cells {
    int64_t count;  ///< balls
    double largest; ///< reach
    double low[3], width[3];
    int64_t cells[3];
    int64_t first_cell; ///< in `start`
} size_cells;

/// What a portion of balls has found.
typedef struct portion {
    int32_t* found;
    int64_t count, capacity;
} portion;

struct near_scratch {
    size_cells size[SIZES];
    near_ball* sorted; ///< by size and cell, wrapped into the periodic cell
    int32_t* number;   ///< theirs
    int32_t* cell;     ///< [count] of each ball, counted through all sizes
    uint8_t* size_of;  ///< [count]
    int32_t* found;    ///< [count] how many each ball has found
    int64_t ball_capacity;
    int32_t* start; ///< [cells + 1] in `sorted`
    int64_t start_capacity;
    portion* portions;
    int64_t portion_capacity, portion_count;
};

// ---- cells -------------------------------------------------------------------------------------

static int64_t cell_along(const size_cells* s, int k, double x)
{
    const double at = floor((x - s->low[k]) / s->width[k]);
    return (int64_t)fmin(fmax(at, 0.0), (double)(s->cells[k] - 1));
}

/// Lay out the cells of a size in a box; along periodic axes they fit into the period.
static int64_t lay_out_cells(size_cells* s, int dim, const double low[3], const double high[3])
{
    double width = 2.0 * s->largest;
    for (;; width *= 1.25) {
        double all = 1.0;
        for (int k = 0; k < 3; k++) {
            const double fit = k < dim ? floor((high[k] - low[k]) / width) : 1.0;
            s->cells[k] = (int64_t)fmin(fmax(fit, 1.0), 1e9);
            all *= (double)s->cells[k];
        }
        if (all <= CELLS_A_BALL * (double)s->count + 1.0) break;
    }
    for (int k = 0; k < 3; k++) {
        s->low[k] = low[k];
        s->width[k] = k < dim && high[k] > low[k] ? (high[k] - low[k]) / (double)s->cells[k] : 1.0;
    }
    return s->cells[0] * s->cells[1] * s->cells[2];
}

/// The box that holds all balls, as they are wrapped.
static void bound(const near_lists* n, const near_ball* balls, int64_t count, double low[3],
                  double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], balls[i].centre[k]);
            high[k] = fmax(high[k], balls[i].centre[k]);
        }
    }
    for (int k = 0; k < n->dim; k++) {
        if (!n->cell.periodic[k]) continue;
        low[k] = n->cell.low[k];
        high[k] = n->cell.low[k] + n->cell.length[k];
    }
}

static int size_number(double largest, double reach)
{
    int exponent;
    frexp(largest / reach, &exponent); // 1 for a ratio of 1
    return exponent < SIZES ? exponent - 1 : SIZES - 1;
}

/// Sort the balls into cells; returns false when memory is short.
static bool sort_balls(near_lists* n, const near_ball* balls, int64_t count)
{
    near_scratch* s = n->scratch;
    double low[3], high[3], largest = 0.0;
    memset(s->size, 0, sizeof s->size);
    bound(n, balls, count, low, high);
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, balls[i].reach);
    for (int64_t i = 0; i < count; i++) {
        s->size_of[i] = (uint8_t)size_number(largest, balls[i].reach);
        size_cells* size = &s->size[s->size_of[i]];
        size->count++;
        size->largest = fmax(size->largest, balls[i].reach);
    }
    int64_t cells = 0;
    for (int l = 0; l < SIZES; l++) {
        if (s->size[l].count == 0) continue;
        s->size[l].first_cell = cells;
        cells += lay_out_cells(&s->size[l], n->dim, low, high);
    }
    if (!arrays_renew(&s->start_capacity, cells + 2, ARRAY(s->start))) return false;
    memset(s->start, 0, (size_t)(cells + 2) * sizeof *s->start);
#pragma omp parallel for num_threads(parallel_threads(n->threads, count)) schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const size_cells* size = &s->size[s->size_of[i]];
        double x[3] = {balls[i].centre[0], balls[i].centre[1], balls[i].centre[2]};
        int32_t image[3] = {0};
        cell_wrap(&n->cell, n->dim, x, image);
        const int64_t at[3] = {cell_along(size, 0, x[0]), cell_along(size, 1, x[1]),
                               cell_along(size, 2, x[2])};
        s->cell[i] =
            (int32_t)(size->first_cell + at[0] + size->cells[0] * (at[1] + size->cells[1] * at[2]));
    }
    for (int64_t i = 0; i < count; i++) s->start[s->cell[i] + 2]++;
    for (int64_t c = 2; c < cells + 2; c++) s->start[c] += s->start[c - 1];
    for (int64_t i = 0; i < count; i++) s->number[s->start[s->cell[i] + 1]++] = (int32_t)i;
#pragma omp parallel for num_threads(parallel_threads(n->threads, count)) schedule(static)
    for (int64_t k = 0; k < count; k++) {
        int32_t image[3] = {0};
        s->sorted[k] = balls[s->number[k]];
        cell_wrap(&n->cell, n->dim, s->sorted[k].centre, image);
    }
    return true;
}

// ---- a ball's look around ----------------------------------------------------------------------

/// Cells along an axis: from `low` to `high`, which a periodic axis wraps.
typedef struct span {
    int64_t low, high;
} span;

static span span_around(const size_cells* s, const cell* c, int k, double x, double reach)
{
    double low = floor((x - reach - s->low[k]) / s->width[k]);
    double high = floor((x + reach - s->low[k]) / s->width[k]);
    const double last = (double)(s->cells[k] - 1);
    if (!c->periodic[k]) low = fmin(fmax(low, 0.0), last), high = fmax(fmin(high, last), 0.0);
    if (high - low >= last) low = 0.0, high = last; // each once
    return (span){(int64_t)low, (int64_t)high};
}

static int64_t wrap(int64_t i, int64_t cells)
{
    return i < 0 ? i + cells : i >= cells ? i - cells : i;
}

/// Test the balls `from` to `to` of the sorted ones; the numbers of those that are near are added
/// to the portion, which has room.
static void test_run(const near_lists* n, const near_ball* ball, int64_t from, int64_t to,
                     portion* p)
{
    const near_scratch* s = n->scratch;
    double period[3];
    for (int k = 0; k < 3; k++) {
        period[k] = k < n->dim && n->cell.periodic[k] ? n->cell.length[k] : INFINITY;
    }
    int32_t* out = p->found + p->count;
    int64_t found = 0;
    for (int64_t j = from; j < to; j++) {
        const near_ball* other = &s->sorted[j];
        double squared = 0.0;
        for (int k = 0; k < 3; k++) {
            const double d = fabs(other->centre[k] - ball->centre[k]), image = period[k] - d;
            const double least = d < image ? d : image;
            squared += least * least;
        }
        const double reach = ball->reach + other->reach;
        out[found] = s->number[j];
        found += squared < reach * reach;
    }
    p->count += found;
}

/// Look through the cells of one size around a ball.
static bool look_around(const near_lists* n, const near_ball* ball, const size_cells* size,
                        portion* p)
{
    const near_scratch* s = n->scratch;
    const double reach = ball->reach + size->largest;
    span along[3];
    for (int k = 0; k < 3; k++) {
        along[k] =
            k < n->dim ? span_around(size, &n->cell, k, ball->centre[k], reach) : (span){0, 0};
    }
    for (int64_t z = along[2].low; z <= along[2].high; z++) {
        for (int64_t y = along[1].low; y <= along[1].high; y++) {
            const int32_t* row = s->start + size->first_cell +
                                 size->cells[0] * (wrap(y, size->cells[1]) +
                                                   size->cells[1] * wrap(z, size->cells[2]));
            const int64_t cells = size->cells[0];
            // The middle of the row, and what sticks out of a periodic cell at both ends.
            const span runs[3] = {
                {along[0].low < 0 ? 0 : along[0].low,
                 along[0].high >= cells ? cells - 1 : along[0].high},
                {along[0].low < 0 ? along[0].low + cells : 0, along[0].low < 0 ? cells - 1 : -1},
                {0, along[0].high >= cells ? along[0].high - cells : -1}};
            for (int r = 0; r < 3; r++) {
                if (runs[r].low > runs[r].high) continue;
                const int64_t from = row[runs[r].low], to = row[runs[r].high + 1];
                if (!arrays_grow(&p->capacity, p->count + (to - from), ARRAY(p->found)))
                    return false;
                test_run(n, ball, from, to, p);
            }
        }
    }
    return true;
}

/// Find what is near the balls of a portion and as large as they are or larger.
static bool find_portion(const near_lists* n, const near_ball* balls, int64_t movable,
                         int64_t first, int64_t last, portion* p)
{
    const near_scratch* s = n->scratch;
    p->count = 0;
    for (int64_t i = first; i < last; i++) {
        const int64_t before = p->count;
        near_ball ball = balls[i];
        int32_t image[3] = {0};
        cell_wrap(&n->cell, n->dim, ball.centre, image);
        for (int l = 0; l <= s->size_of[i]; l++) {
            // One that stays is only of interest to larger ones that move.
            if (s->size[l].count == 0 || (i >= movable && l == s->size_of[i])) continue;
            if (!look_around(n, &ball, &s->size[l], p)) return false;
        }
        int64_t kept = before;
        for (int64_t k = before; k < p->count; k++) {
            const int32_t j = p->found[k];
            p->found[kept] = j;
            kept += j != i && (i < movable || j < movable);
        }
        p->count = kept;
        s->found[i] = (int32_t)(kept - before);
    }
    return true;
}

// ---- the whole ---------------------------------------------------------------------------------

static bool make_room(near_lists* n, int64_t movable, int64_t count)
{
    if (!n->scratch) n->scratch = calloc(1, sizeof *n->scratch);
    near_scratch* s = n->scratch;
    if (!s || !arrays_renew(&n->first_capacity, movable + 1, ARRAY(n->first)) ||
        !arrays_renew(&s->ball_capacity, count, ARRAY(s->sorted), ARRAY(s->number), ARRAY(s->cell),
                      ARRAY(s->size_of), ARRAY(s->found)))
        return false;
    s->portion_count = (count + PORTION - 1) / PORTION;
    const int64_t before = s->portion_capacity;
    if (!arrays_grow(&s->portion_capacity, s->portion_count, ARRAY(s->portions))) return false;
    for (int64_t k = before; k < s->portion_capacity; k++) s->portions[k] = (portion){0};
    return true;
}

/// Go through what balls found among larger ones: count it in the larger ones' `first`, or put it
/// into their lists, of which used[] says how full they are.
static void tell_larger_ones(near_lists* n, int64_t movable, int64_t count, int32_t* used)
{
    const near_scratch* s = n->scratch;
    for (int64_t c = 0; c < s->portion_count; c++) {
        const int32_t* found = s->portions[c].found;
        const int64_t last = (c + 1) * PORTION < count ? (c + 1) * PORTION : count;
        for (int64_t i = c * PORTION; i < last; found += s->found[i++]) {
            for (int32_t k = 0; k < s->found[i]; k++) {
                const int32_t j = found[k];
                if (j >= movable || s->size_of[j] == s->size_of[i]) continue;
                if (used)
                    n->near[n->first[j] + used[j]++] = (int32_t)i;
                else
                    n->first[j + 1]++;
            }
        }
    }
}

/// Put together what all portions have found.
static bool gather(near_lists* n, int64_t movable, int64_t count)
{
    const near_scratch* s = n->scratch;
    const bool mixed = s->size[0].count < count;
    n->first[0] = 0;
    for (int64_t i = 0; i < movable; i++) n->first[i + 1] = s->found[i];
    if (mixed) tell_larger_ones(n, movable, count, NULL);
    for (int64_t i = 0; i < movable; i++) n->first[i + 1] += n->first[i];
    if (!arrays_renew(&n->near_capacity, n->first[movable], ARRAY(n->near))) return false;
#pragma omp parallel for num_threads(parallel_threads(n->threads, count)) schedule(static)
    for (int64_t c = 0; c < s->portion_count; c++) {
        const int32_t* found = s->portions[c].found;
        for (int64_t i = c * PORTION; i < (c + 1) * PORTION && i < movable; found += s->found[i++])
            memcpy(n->near + n->first[i], found, (size_t)s->found[i] * sizeof *found);
    }
    if (!mixed) return true;
    memcpy(s->cell, s->found, (size_t)count * sizeof *s->cell); // cells are not needed any more
    tell_larger_ones(n, movable, count, s->cell);
    return true;
}

bool near_find(near_lists* n, const near_ball* balls, int64_t movable, int64_t count)
{
    if (!make_room(n, movable, count) || !sort_balls(n, balls, count)) return false;
    near_scratch* s = n->scratch;
    bool good = true;
#pragma omp parallel for num_threads(parallel_threads(n->threads, count)) schedule(dynamic)        \
    reduction(&& : good)
    for (int64_t c = 0; c < s->portion_count; c++) {
        const int64_t last = (c + 1) * PORTION < count ? (c + 1) * PORTION : count;
        good = find_portion(n, balls, movable, c * PORTION, last, &s->portions[c]) && good;
    }
    return good && gather(n, movable, count);
}

void near_free(near_lists* n)
{
    near_scratch* s = n->scratch;
    for (int64_t c = 0; s && c < s->portion_capacity; c++) free(s->portions[c].found);
    if (s) {
        free(s->sorted), free(s->number), free(s->cell), free(s->size_of), free(s->found);
        free(s->start), free(s->portions);
    }
    free(s);
    free(n->first);
    free(n->near);
    n->scratch = NULL, n->first = NULL, n->near = NULL;
    n->first_capacity = n->near_capacity = 0;
}

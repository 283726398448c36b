#include "rigid/residual_card.h"

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "rigid/packed/on_card.h"
#include "rigid/residual_jobs.h"

#include <stdlib.h>
#include <string.h>

/// What is on the card. The first ones are arrays of the problem and of its packed form.
typedef enum residual_array {
    ROWS_BODY,
    ROWS_FREE,
    CONTACTS,
    PAIRS,
    BLOCK_OF,
    BLOCK_ROWS,
    BODY_OF,
    SPIN_SCALE,
    TERMS,
    ERRORS,
    COUNTS,
    PART_SUMS,
    CELL_LIST,
    CELL_START,
    CELL_SUMS,
    RESIDUAL_ARRAYS
} residual_array;

struct residual_card {
    card* card;
    card_buffer on[RESIDUAL_ARRAYS];
    bool ready; ///< the problem is there
    scales by_scale;
    int64_t arrangement;   ///< whose pairs, bodies and lists of cells are there
    double curve_cell;     ///< width of the cells that these lists have begun with
    problem there;         ///< the problem, and its packed form, as kernels see them
    packed_problem packed; ///< with what on_card.c does not need
    int64_t list_capacity, start_capacity, body_capacity;
    int32_t *list, *start; ///< what CELL_LIST and CELL_START hold
    int32_t* body_of;      ///< body of a packed row that is to be shown, -1
};

void residual_card_begin(residual_card* r)
{
    if (r) r->ready = false;
}

void residual_card_free(residual_card* r)
{
    if (!r) return;
    for (int k = 0; k < RESIDUAL_ARRAYS && r->card; k++) card_free(r->card, &r->on[k]);
    free(r->list);
    free(r->start);
    free(r->body_of);
    free(r);
}

static size_t bytes_of(const residual_card* r, const packed_problem* packed, residual_array array)
{
    const problem* p = packed->problem;
    const int dim = p->dim;
    const size_t count = (size_t)p->count, rows = (size_t)p->rows, number = sizeof(double);
    const size_t stride = (size_t)problem_stride(dim), parts = (size_t)residual_parts(p->count);
    const size_t cells = r->by_scale.stress ? (size_t)r->by_scale.cells : 0;
    const size_t packed_rows = (size_t)packed->row_count;
    switch (array) {
    case ROWS_BODY:
    case ROWS_FREE: return rows * stride * number;
    case CONTACTS: return count * (size_t)problem_width(dim) * number;
    case PAIRS: return count * 2 * sizeof(int32_t);
    case BLOCK_OF: return p->block ? count * sizeof(int32_t) : 0;
    case BLOCK_ROWS: return (size_t)(p->block_count * block_width(dim)) * number;
    case BODY_OF: return packed_rows * sizeof(int32_t);
    case SPIN_SCALE: return dim == 2 ? packed_rows * number : 0;
    case TERMS: return count * RESIDUAL_SUMS * number;
    case ERRORS: return count * (size_t)dim * number;
    case COUNTS: return count;
    case PART_SUMS: return parts * RESIDUAL_SUMS * number;
    case CELL_LIST: return cells > 0 ? count * sizeof(int32_t) : 0;
    case CELL_START: return parts * (cells + 1) * sizeof(int32_t);
    default: return parts * cells * (size_t)scales_numbers(dim) * number;
    }
}

/// Is there room for what is not there yet?
static bool fits(const residual_card* r, const packed_problem* packed)
{
    size_t missing = 0;
    for (int k = 0; k < RESIDUAL_ARRAYS; k++) {
        const size_t bytes = bytes_of(r, packed, (residual_array)k);
        if (bytes > r->on[k].capacity) missing += bytes;
    }
    return missing == 0 || missing <= card_free_memory(r->card);
}

bool residual_card_can(residual_card** r, const packed_problem* packed)
{
    const problem* p = packed->problem;
    if (!packed->on_card || p->compound_count > 0) return false;
    if (!*r) *r = calloc(1, sizeof **r);
    if (!*r) return false;
    if ((*r)->ready) return true;
    (*r)->card = packed_card_of(packed);
    (*r)->by_scale = scales_begin(p, residual_parts(p->count));
    return fits(*r, packed);
}

// ---- once a solve ------------------------------------------------------------------------------

/// Sort the contacts of a part by their cells; those of a cell stay in order.
static void list_part(residual_card* r, const problem* p, int part)
{
    const int64_t cells = r->by_scale.cells;
    const int64_t first = residual_part_first(p->count, part, r->by_scale.parts),
                  last = residual_part_first(p->count, part + 1, r->by_scale.parts);
    int32_t* start = r->start + part * (cells + 1);
    memset(start, 0, sizeof *start * (size_t)(cells + 1));
    for (int64_t c = first; c < last; c++) start[scales_cell(&r->by_scale, p, c) + 1]++;
    start[0] = (int32_t)first;
    for (int64_t k = 0; k < cells; k++) start[k + 1] += start[k];
    for (int64_t c = first; c < last; c++) {
        r->list[start[scales_cell(&r->by_scale, p, c)]++] = (int32_t)c;
    }
    for (int64_t k = cells; k > 0; k--) start[k] = start[k - 1]; // each has moved on to the next
    start[0] = (int32_t)first;
}

static talus_status list_cells(residual_card* r, const problem* p, int threads)
{
    const int parts = r->by_scale.parts;
    if (!arrays_renew(&r->list_capacity, p->count, ARRAY(r->list)) ||
        !arrays_renew(&r->start_capacity, parts * (r->by_scale.cells + 1), ARRAY(r->start))) {
        return TALUS_ERR_MEMORY;
    }
#pragma omp parallel for num_threads(parallel_threads(threads, p->count)) if (parts > 1)
    for (int k = 0; k < parts; k++) list_part(r, p, k);
    return TALUS_OK;
}

/// Rows that are shown: copies are equal to what is there.
static talus_status list_bodies(residual_card* r, const packed_problem* packed)
{
    if (!arrays_renew(&r->body_capacity, packed->row_count, ARRAY(r->body_of))) {
        return TALUS_ERR_MEMORY;
    }
    for (int64_t k = 0; k < packed->row_count; k++) {
        r->body_of[k] = packed->private_row[k] ? -1 : packed->body_of[k];
    }
    return TALUS_OK;
}

static void put(residual_card* r, const packed_problem* packed, residual_array array,
                const void* from)
{
    const size_t bytes = bytes_of(r, packed, array);
    card_renew(r->card, &r->on[array], bytes);
    if (from && bytes > 0) card_put(r->card, &r->on[array], 0, from, bytes);
}

static void point_to_card(residual_card* r, const packed_problem* packed)
{
    const problem* p = packed->problem;
    r->there = (problem){.dim = p->dim,
                         .rows = p->rows,
                         .body = r->on[ROWS_BODY].at,
                         .free = r->on[ROWS_FREE].at,
                         .count = p->count,
                         .pair = r->on[PAIRS].at,
                         .contact = r->on[CONTACTS].at,
                         .block = p->block ? r->on[BLOCK_OF].at : NULL,
                         .blocks = r->on[BLOCK_ROWS].at,
                         .mobile_first = p->mobile_first,
                         .mobile_count = p->mobile_count};
    r->packed = *packed_card_there(packed);
    r->packed.body_of = r->on[BODY_OF].at;
    r->packed.values[PACKED_SPIN_SCALE] = r->on[SPIN_SCALE].at;
}

/// Take the problem to the card, as it is but for impulses and velocities.
static talus_status take_there(residual_card* r, const packed_problem* packed, int threads)
{
    const problem* p = packed->problem;
    // With the layout of the last problem all contacts join the same bodies in the same places.
    const bool known = r->arrangement == packed->arrangement && r->curve_cell == p->curve_cell;
    const bool has_cells = r->by_scale.stress != NULL;
    if (has_cells && !known) TRY(list_cells(r, p, threads));
    if (!known) TRY(list_bodies(r, packed));
    const void* from[RESIDUAL_ARRAYS] = {[ROWS_FREE] = p->free,
                                         [CONTACTS] = p->contact,
                                         [PAIRS] = known ? NULL : p->pair,
                                         [BLOCK_OF] = p->block,
                                         [BLOCK_ROWS] = p->blocks,
                                         [BODY_OF] = known ? NULL : r->body_of,
                                         [SPIN_SCALE] = packed->values[PACKED_SPIN_SCALE],
                                         [CELL_LIST] = has_cells && !known ? r->list : NULL,
                                         [CELL_START] = has_cells && !known ? r->start : NULL};
    for (int k = 0; k < RESIDUAL_ARRAYS; k++) put(r, packed, (residual_array)k, from[k]);
    // Rows that do not move are not shown: they are what they are without contacts.
    card_copy(r->card, &r->on[ROWS_BODY], 0, &r->on[ROWS_FREE], 0, bytes_of(r, packed, ROWS_FREE));
    point_to_card(r, packed);
    r->arrangement = packed->arrangement;
    r->curve_cell = p->curve_cell;
    r->ready = true;
    return card_state(r->card, NULL);
}

// ---- a look ------------------------------------------------------------------------------------

/// Names are those of kernels in the plane and in space.
static void launch(residual_card* r, const char* const name[2], int64_t count, const void* job)
{
    card_launch(r->card, card_find(r->card, "card_residual", name[r->there.dim == 3]),
                card_grid_of(count, RESIDUAL_THREADS), job);
}

static void show(residual_card* r)
{
    static const char* const impulses[2] = {"show_impulses_2d", "show_impulses_3d"};
    static const char* const rows[2] = {"show_rows_2d", "show_rows_3d"};
    static const char* const walls[2] = {"show_walls_2d", "show_walls_3d"};
    card_show_job job = {.packed = r->packed, .p = r->there};
    job.count = r->packed.batch_count * PACKED_LANES;
    launch(r, impulses, job.count, &job);
    job.count = r->packed.row_count;
    launch(r, rows, job.count, &job);
    job.count = r->there.mobile_count;
    launch(r, walls, job.count, &job);
}

static void add_up(residual_card* r)
{
    static const char* const terms[2] = {"residual_terms_2d", "residual_terms_3d"};
    static const char* const sums[2] = {"residual_parts_sums", "residual_parts_sums"};
    const card_terms_job each = {.p = r->there,
                                 .terms = r->on[TERMS].at,
                                 .error = r->on[ERRORS].at,
                                 .counts = r->on[COUNTS].at};
    const card_parts_job parts = {.count = r->there.count,
                                  .parts = r->by_scale.parts,
                                  .terms = r->on[TERMS].at,
                                  .sums = r->on[PART_SUMS].at};
    launch(r, terms, r->there.count, &each);
    launch(r, sums, (int64_t)parts.parts * RESIDUAL_SUMS * RESIDUAL_THREADS, &parts);
}

static void add_cells(residual_card* r)
{
    static const char* const each[2] = {"residual_cells_2d", "residual_cells_3d"};
    static const char* const join[2] = {"residual_join_cells", "residual_join_cells"};
    const int64_t numbers = r->by_scale.cells * scales_numbers(r->there.dim);
    const card_cells_job job = {.p = r->there,
                                .parts = r->by_scale.parts,
                                .cells = r->by_scale.cells,
                                .list = r->on[CELL_LIST].at,
                                .start = r->on[CELL_START].at,
                                .error = r->on[ERRORS].at,
                                .counts = r->on[COUNTS].at,
                                .stress = r->on[CELL_SUMS].at};
    launch(r, each, r->by_scale.parts * numbers, &job);
    launch(r, join, numbers, &job);
    card_get(r->card, r->by_scale.stress, &r->on[CELL_SUMS], 0, sizeof(double) * (size_t)numbers);
}

talus_status residual_card_measure(residual_card* r, const packed_problem* packed, double size,
                                   int threads, residual_report* out)
{
    double part[SCALES_PARTS][RESIDUAL_SUMS];
    if (!r->ready) TRY(take_there(r, packed, threads));
    show(r);
    add_up(r);
    if (r->by_scale.stress) add_cells(r);
    card_get(r->card, part, &r->on[PART_SUMS], 0, bytes_of(r, packed, PART_SUMS));
    TRY(card_state(r->card, NULL));
    scales joined = r->by_scale;
    joined.parts = 1;
    *out = residual_conclude(packed->problem, size, part, &joined, threads);
    return TALUS_OK;
}

/// Hierarchical hashed grid (after Ericson, Real-Time Collision Detection, 7.2): see grid.h.
///
/// Cost a ball: one filing, and for every level in use at most 3^dim cells to look into. Balls are
/// filed with a copy of what the search reads, neighbouring cells along x lie side by side in
/// memory, and balls are searched for in the order in which they are filed: mostly from cache.
#include "detect/grid.h"

#include "base/array.h"
#include "base/counting_sort.h"
#include "base/vec.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 64 };
/// Up to so many balls the memory of a search is not worth giving back.
enum { KEEP_BALLS = 50000 };

/// One level: cells of edge `edge`; on periodic axes a whole number of them fills the cell.
typedef struct level {
    bool used;
    double size;        ///< balls of this level have 2 reach <= size
    double per_edge[3]; ///< 1 / (edge of the cells), which is >= size
    double origin[3];
    int32_t cells[3]; ///< number of cells on a periodic axis, 0 on an open one
    bool halves;      ///< balls look into half of the rows around them: the other half finds them
} level;

/// A ball as filed: what the search needs of it, and its cell to tell hash collisions apart.
typedef struct entry {
    double position[3];
    double reach;
    int32_t cell[3];
    int32_t ball;
    int32_t level;
    bool mobile;
} entry;

/// Pairs found by one thread over its range of balls.
typedef struct pair_buffer {
    pair_list pairs;
    bool failed;
} pair_buffer;

struct grid {
    level levels[MAX_LEVELS];
    int level_count;
    double smallest;       ///< least reach, that of level 0
    entry* entries;        ///< [balls], sorted by bucket
    int32_t* bucket_of;    ///< [balls]
    int32_t* order;        ///< [balls] in the order of `entries`
    int32_t* bucket_start; ///< [buckets + 1]
    int64_t* row_start;    ///< [balls + 1]
    int64_t ball_capacity, bucket_capacity;
    uint64_t bucket_mask;
    pair_buffer* buffers;
    int64_t buffer_count, buffer_capacity;
};

void pair_list_free(pair_list* list)
{
    free(list->a);
    free(list->b);
    *list = (pair_list){0};
}

grid* grid_create(void)
{
    return calloc(1, sizeof(grid));
}

/// Give all memory back but the grid's own.
static void grid_release(grid* g)
{
    for (int64_t t = 0; t < g->buffer_count; t++) pair_list_free(&g->buffers[t].pairs);
    free(g->buffers);
    free(g->entries);
    free(g->bucket_of);
    free(g->order);
    free(g->bucket_start);
    free(g->row_start);
    *g = (grid){0};
}

void grid_destroy(grid* g)
{
    if (!g) return;
    grid_release(g);
    free(g);
}

void grid_give_back(grid* g)
{
    if (g->ball_capacity > KEEP_BALLS) grid_release(g);
}

// ---- workspace ---------------------------------------------------------------------------------

/// Room for the balls, as many buckets, rounded up to a power of two, and a buffer for each thread.
static bool grid_reserve(grid* g, int64_t count, int threads)
{
    int64_t buckets = 64;
    while (buckets < count) buckets *= 2;
    g->bucket_mask = (uint64_t)buckets - 1;
    if (!arrays_renew(&g->ball_capacity, count + 1, ARRAY(g->entries), ARRAY(g->bucket_of),
                      ARRAY(g->order), ARRAY(g->row_start)) ||
        !arrays_renew(&g->bucket_capacity, buckets + 1, ARRAY(g->bucket_start)) ||
        !arrays_grow(&g->buffer_capacity, threads, ARRAY(g->buffers))) {
        return false;
    }
    for (; g->buffer_count < threads; g->buffer_count++) {
        g->buffers[g->buffer_count] = (pair_buffer){0};
    }
    return true;
}

// ---- filing ------------------------------------------------------------------------------------

static int level_of(double reach, double smallest)
{
    double ratio = reach / smallest;
    if (!(ratio < 0x1p62)) return MAX_LEVELS - 1; // also if it overflowed
    int exponent;
    double mantissa = frexp(ratio, &exponent);        // mantissa in [1/2, 1)
    int l = mantissa > 0.5 ? exponent : exponent - 1; // smallest l with ratio <= 2^l
    return l < 0 ? 0 : l;
}

/// Monotonous in x, which is all that the search relies on.
static ALWAYS_INLINE int32_t cell_coordinate(const level* l, int k, double x)
{
    double c = (x - l->origin[k]) * l->per_edge[k];
    const double far = 0x1p29; // balls farther off than this share cells: slow, not wrong
    c = c < -far ? -far : c > far ? far : c;
    const int32_t whole = (int32_t)c;
    return whole - (whole > c);
}

static int32_t wrap_coordinate(int32_t c, int32_t cells)
{
    int32_t r = c % cells;
    return r < 0 ? r + cells : r;
}

/// Linear, so that a row of cells along x is a row of buckets; odd factors scatter rows and levels.
static uint64_t cell_hash(int level_index, const int32_t c[3])
{
    return (uint64_t)c[0] + (uint64_t)c[1] * 0x9e3779b97f4a7c15u +
           (uint64_t)c[2] * 0xbf58476d1ce4e5b9u + (uint64_t)level_index * 0x94d049bb133111ebu;
}

static double find_smallest(const ball_set* balls, int threads)
{
    double smallest = INFINITY;
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(min : smallest)
    for (int64_t i = 0; i < balls->count; i++) {
        smallest = balls->reach[i] < smallest ? balls->reach[i] : smallest;
    }
    return smallest;
}

/// Twice the largest reach of each level.
static void find_sizes(grid* g, const ball_set* balls, int threads)
{
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        double size[MAX_LEVELS] = {0.0};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < balls->count; i++) {
            const int l = level_of(balls->reach[i], g->smallest);
            size[l] = 2.0 * balls->reach[i] > size[l] ? 2.0 * balls->reach[i] : size[l];
        }
#pragma omp critical(grid_sizes)
        for (int l = 0; l < MAX_LEVELS; l++) {
            g->levels[l].size = size[l] > g->levels[l].size ? size[l] : g->levels[l].size;
        }
    }
}

/// Cells no larger than the largest ball of the level asks for: balls of one size have narrow ones.
static void lay_cells(level* l, int dim, const cell* periodic)
{
    l->used = l->halves = true;
    for (int k = 0; k < dim; k++) {
        l->origin[k] = 0.0;
        l->per_edge[k] = 1.0 / l->size;
        l->cells[k] = 0;
        if (!periodic->periodic[k]) continue;
        const double fit = fmin(floor(periodic->length[k] / l->size), 0x1p29);
        l->cells[k] = fit < 1.0 ? 1 : (int32_t)fit;
        l->per_edge[k] = (double)l->cells[k] / periodic->length[k];
        l->origin[k] = periodic->low[k];
        // With few cells around, a row lies before a ball as well as behind it.
        if (l->cells[k] < 5) l->halves = false;
    }
}

static void find_levels(grid* g, const ball_set* balls, const cell* periodic, int threads)
{
    memset(g->levels, 0, sizeof g->levels);
    g->smallest = find_smallest(balls, threads);
    find_sizes(g, balls, threads);
    g->level_count = 0;
    for (int l = 0; l < MAX_LEVELS; l++) {
        if (g->levels[l].size == 0.0) continue;
        lay_cells(&g->levels[l], balls->dim, periodic);
        g->level_count = l + 1;
    }
}

static entry entry_of(const grid* g, const ball_set* balls, int64_t i)
{
    const int dim = balls->dim;
    entry e = {.ball = (int32_t)i, .reach = balls->reach[i], .mobile = balls->inv_mass[i] > 0.0};
    e.level = level_of(e.reach, g->smallest);
    const level* l = &g->levels[e.level];
    for (int k = 0; k < dim; k++) {
        e.position[k] = balls->position[i * dim + k];
        const int32_t c = cell_coordinate(l, k, e.position[k]);
        e.cell[k] = l->cells[k] ? wrap_coordinate(c, l->cells[k]) : c;
    }
    return e;
}

/// Sort the balls by the bucket of their cell; inside a bucket in ascending index.
static void file_balls(grid* g, const ball_set* balls, int threads)
{
    const int64_t count = balls->count;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const entry e = entry_of(g, balls, i);
        g->bucket_of[i] = (int32_t)(cell_hash(e.level, e.cell) & g->bucket_mask);
    }
    counting_sort(g->bucket_of, count, (int64_t)g->bucket_mask + 1, threads, g->bucket_start,
                  g->order);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t e = 0; e < count; e++) g->entries[e] = entry_of(g, balls, g->order[e]);
}

// ---- searching ---------------------------------------------------------------------------------

/// A ball looking for partners in one level.
typedef struct search {
    const grid* grid;
    const cell* periodic;
    const entry* ball;
    int level;
    pair_buffer* out;
} search;

/// Tell of a pair that is in reach.
static ALWAYS_INLINE void meet(const search* s, const int dim, const entry* other)
{
    const entry* self = s->ball;
    if (!self->mobile && !other->mobile) return;
    double delta[3];
    vec_sub(dim, delta, other->position, self->position);
    cell_nearest(s->periodic, dim, delta);
    const double sum = self->reach + other->reach;
    if (vec_dot(dim, delta, delta) > sum * sum) return;
    pair_list* pairs = &s->out->pairs;
    if (pairs->count == pairs->capacity &&
        !arrays_grow(&pairs->capacity, pairs->count + 1, ARRAY(pairs->a), ARRAY(pairs->b))) {
        s->out->failed = true;
        return;
    }
    const int32_t i = self->ball, j = other->ball;
    pairs->a[pairs->count] = i < j ? i : j;
    pairs->b[pairs->count] = i < j ? j : i;
    pairs->count++;
}

/// A row of cells along x, and which of its balls the searching one meets.
typedef struct cell_row {
    int32_t x[2], y, z;
    int32_t after; ///< balls with a higher index only
} cell_row;

/// Meet the balls of a row that are filed in buckets [first, end).
static ALWAYS_INLINE void search_buckets(const search* s, const int dim, const cell_row* row,
                                         uint64_t first, uint64_t end)
{
    const grid* g = s->grid;
    for (int32_t e = g->bucket_start[first]; e < g->bucket_start[end]; e++) {
        const entry* other = &g->entries[e];
        if (other->level != s->level || other->cell[0] < row->x[0] || other->cell[0] > row->x[1] ||
            other->cell[1] != row->y || other->cell[2] != row->z || other->ball <= row->after) {
            continue;
        }
        meet(s, dim, other);
    }
}

/// The buckets of a row lie side by side, but for the end of the table.
static ALWAYS_INLINE void search_row(const search* s, const int dim, const cell_row* row)
{
    const int32_t c[3] = {row->x[0], row->y, row->z};
    const uint64_t buckets = s->grid->bucket_mask + 1;
    const uint64_t first = cell_hash(s->level, c) & s->grid->bucket_mask;
    const uint64_t end = first + (uint64_t)(row->x[1] - row->x[0]) + 1;
    search_buckets(s, dim, row, first, end < buckets ? end : buckets);
    if (end > buckets) search_buckets(s, dim, row, 0, end - buckets);
}

/// A row that may go beyond the ends of a periodic cell, where it goes on at the other end.
static ALWAYS_INLINE void search_around(const search* s, const int dim, const cell_row* row)
{
    const int32_t cells = s->grid->levels[s->level].cells[0];
    cell_row part = *row;
    if (cells && row->x[0] < 0) {
        part.x[0] = row->x[0] + cells;
        part.x[1] = cells - 1;
        search_row(s, dim, &part);
    }
    if (cells && row->x[1] >= cells) {
        part.x[0] = 0;
        part.x[1] = row->x[1] - cells;
        search_row(s, dim, &part);
    }
    part.x[0] = cells && row->x[0] < 0 ? 0 : row->x[0];
    part.x[1] = cells && row->x[1] >= cells ? cells - 1 : row->x[1];
    search_row(s, dim, &part);
}

/// Range of cells, along one axis, that may hold the centre of a partner.
static ALWAYS_INLINE void search_range(const search* s, int k, int32_t range[2])
{
    const level* l = &s->grid->levels[s->level];
    double x = s->ball->position[k], far = s->ball->reach + 0.5 * l->size;
    range[0] = cell_coordinate(l, k, x - far);
    range[1] = cell_coordinate(l, k, x + far);
    if (l->cells[k] && range[1] - range[0] + 1 >= l->cells[k]) { // around the whole cell: once each
        range[0] = 0;
        range[1] = l->cells[k] - 1;
    }
}

/// Inside one level every pair is met once: by the ball in the earlier row, in one row and where
/// that is not clear by the one with the lower index. Across levels the finer ball meets all.
static ALWAYS_INLINE void search_level(const search* s, const int dim)
{
    const level* l = &s->grid->levels[s->level];
    const entry* self = s->ball;
    const bool own = s->level == self->level, halves = own && l->halves;
    int32_t range[3][2] = {{0, 0}, {0, 0}, {0, 0}};
    for (int k = 0; k < dim; k++) search_range(s, k, range[k]);
    const bool whole = range[0][1] - range[0][0] + 1 == l->cells[0];
    const int32_t own_y = cell_coordinate(l, 1, self->position[1]);
    const int32_t own_z = dim == 3 ? cell_coordinate(l, 2, self->position[2]) : 0;
    const int32_t own_x = cell_coordinate(l, 0, self->position[0]);
    const int32_t turn = l->cells[0] && !whole ? own_x - wrap_coordinate(own_x, l->cells[0]) : 0;
    cell_row row = {.x = {range[0][0] - turn, range[0][1] - turn}};
    for (int32_t z = halves ? own_z : range[2][0]; z <= range[2][1]; z++) {
        row.z = l->cells[2] ? wrap_coordinate(z, l->cells[2]) : z;
        for (int32_t y = halves && z == own_z ? own_y : range[1][0]; y <= range[1][1]; y++) {
            row.y = l->cells[1] ? wrap_coordinate(y, l->cells[1]) : y;
            const bool by_index = own && (!halves || (z == own_z && y == own_y));
            row.after = by_index ? self->ball : -1;
            search_around(s, dim, &row);
        }
    }
}

/// Search for the partners of the balls filed at [first, last), and add the pairs to `out`.
static void search_entries(const grid* g, const cell* periodic, int dim, int64_t first,
                           int64_t last, pair_buffer* out)
{
    search s = {.grid = g, .periodic = periodic, .out = out};
    for (int64_t e = first; e < last; e++) {
        s.ball = &g->entries[e];
        for (s.level = s.ball->level; s.level < g->level_count; s.level++) {
            if (!g->levels[s.level].used) continue;
            if (dim == 2) {
                search_level(&s, 2);
            } else {
                search_level(&s, 3);
            }
        }
    }
}

/// Pieces of the balls, which take different times, are dealt out as threads ask for them.
static void search_all(grid* g, const cell* periodic, const ball_set* balls, int threads)
{
    enum { PIECE = 2000 };
    const int64_t count = balls->count, pieces = (count + PIECE - 1) / PIECE;
    for (int t = 0; t < threads; t++) {
        g->buffers[t].pairs.count = 0;
        g->buffers[t].failed = false;
    }
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        pair_buffer* out = &g->buffers[threads > 1 ? omp_get_thread_num() : 0];
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < pieces; k++) {
            search_entries(g, periodic, balls->dim, count * k / pieces, count * (k + 1) / pieces,
                           out);
        }
    }
}

// ---- collecting --------------------------------------------------------------------------------

static int compare_index(const void* x, const void* y)
{
    int32_t i = *(const int32_t*)x, j = *(const int32_t*)y;
    return (i > j) - (i < j);
}

static void sort_row(int32_t* b, int64_t count)
{
    if (count > 32) { // a large ball among many small ones
        qsort(b, (size_t)count, sizeof *b, compare_index);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        int32_t x = b[i];
        int64_t j = i;
        for (; j > 0 && b[j - 1] > x; j--) b[j] = b[j - 1];
        b[j] = x;
    }
}

/// x++, by any of so many threads.
static ALWAYS_INLINE int64_t count_up(int64_t* x, int threads)
{
    return threads > 1 ? __atomic_fetch_add(x, 1, __ATOMIC_RELAXED) : (*x)++;
}

/// Gather the threads' pairs into one list sorted by (a, b): the same whatever the threads did.
static talus_status collect(grid* g, int64_t ball_count, int threads, pair_list* out)
{
    int64_t total = 0;
    for (int t = 0; t < threads; t++) {
        if (g->buffers[t].failed) return TALUS_ERR_MEMORY;
        total += g->buffers[t].pairs.count;
    }
    out->count = 0;
    if (total == 0) return TALUS_OK;
    if (!arrays_renew(&out->capacity, total, ARRAY(out->a), ARRAY(out->b))) {
        return TALUS_ERR_MEMORY;
    }
    int64_t* start = g->row_start;
    memset(start, 0, sizeof *start * (size_t)(ball_count + 1));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        const pair_list* p = &g->buffers[t].pairs;
        for (int64_t k = 0; k < p->count; k++) count_up(&start[p->a[k] + 1], threads);
    }
    for (int64_t i = 0; i < ball_count; i++) start[i + 1] += start[i];
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        const pair_list* p = &g->buffers[t].pairs;
        for (int64_t k = 0; k < p->count; k++) {
            const int64_t place = count_up(&start[p->a[k]], threads);
            out->a[place] = p->a[k];
            out->b[place] = p->b[k];
        }
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < ball_count; i++) { // each start has moved on to the next one's
        const int64_t begin = i > 0 ? start[i - 1] : 0;
        sort_row(out->b + begin, start[i] - begin);
    }
    out->count = total;
    return TALUS_OK;
}

talus_status grid_pairs(grid* g, const ball_set* balls, const cell* periodic, int threads,
                        pair_list* out)
{
    const int64_t n = balls->count;
    out->count = 0;
    if (n == 0) return TALUS_OK;
    if (threads < 1 || n < 2000) threads = 1; // a second thread costs more than it brings
    if (!grid_reserve(g, n, threads)) return TALUS_ERR_MEMORY;
    find_levels(g, balls, periodic, threads);
    file_balls(g, balls, threads);
    search_all(g, periodic, balls, threads);
    return collect(g, n, threads, out);
}

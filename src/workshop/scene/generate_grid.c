/// Hierarchy of hashed grids: insertion, moves and the visit of overlapping balls.
///
/// A query at level l reaches radius + largest_l + gap in every direction and visits the cells
/// there, from the middle outwards: a spot that is taken is mostly taken by the nearest ball. When
/// the cells are more than the balls inserted (a large query among tiny balls) it looks at all
/// balls instead. Cells along x are neighbours in the table of buckets, unless they are cut by its
/// end.
#include "scene/generate_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/vec.h"

/// Farthest cell from the origin: beyond it cells are shared, which costs time only.
static const double FARTHEST_CELL = 0x1p29;

talus_status ball_grid_init(ball_grid* grid, int dim, const cell* c, double radius,
                            talus_error* error)
{
    memset(grid, 0, sizeof *grid);
    grid->dim = dim;
    grid->radius = radius;
    if (c) grid->cell = *c;
    grid->bucket_mask = 255;
    grid->heads = malloc(256 * sizeof *grid->heads);
    if (!grid->heads) return error_memory(error, "grid of grains");
    memset(grid->heads, 0xff, 256 * sizeof *grid->heads);
    return TALUS_OK;
}

void ball_grid_free(ball_grid* grid)
{
    free(grid->balls);
    free(grid->heads);
    memset(grid, 0, sizeof *grid);
}

/// Copy a position with its periodic axes wrapped; unused components are zero.
static void wrapped(const ball_grid* grid, const double* centre, double out[3])
{
    int32_t image[3] = {0};
    out[0] = centre[0], out[1] = centre[1], out[2] = grid->dim == 3 ? centre[2] : 0.0;
    cell_wrap(&grid->cell, grid->dim, out, image);
}

static int32_t cell_index(const ball_grid* grid, const grid_level* level, int k, double x)
{
    double origin = grid->cell.periodic[k] ? grid->cell.low[k] : 0.0;
    double index = floor((x - origin) / level->width[k]);
    return (int32_t)fmin(fmax(index, -FARTHEST_CELL), FARTHEST_CELL);
}

static int32_t wrap_index(const ball_grid* grid, const grid_level* level, int k, int32_t i)
{
    if (!grid->cell.periodic[k]) return i;
    int32_t n = level->cells[k];
    return i >= 0 && i < n ? i : ((i % n) + n) % n;
}

/// Hash of a row of cells along x; the cell x is x further.
static uint64_t row_hash(int level, int32_t y, int32_t z)
{
    uint64_t state = (uint64_t)level ^ (uint64_t)(uint32_t)y << 8 ^ (uint64_t)(uint32_t)z << 36;
    return rng_mix(&state);
}

static int64_t* head_of(const ball_grid* grid, uint64_t row, int32_t x)
{
    return &grid->heads[(row + (uint64_t)(int64_t)x) & (uint64_t)grid->bucket_mask];
}

/// Level for a radius, made when it is new. When all levels are taken the last one is used: its
/// `largest` then widens the reach of queries, which stay right.
static int level_of(ball_grid* grid, double radius)
{
    int exponent;
    (void)frexp(grid->radius / radius, &exponent);
    exponent--;
    if (ldexp(grid->radius, -exponent) < radius) exponent--; // rounding of the ratio
    for (int l = 0; l < grid->level_count; l++) {
        if (grid->levels[l].exponent == exponent) return l;
    }
    if (grid->level_count == BALL_GRID_LEVELS) return BALL_GRID_LEVELS - 1;
    grid_level* level = &grid->levels[grid->level_count];
    level->exponent = exponent;
    for (int k = 0; k < 3; k++) {
        level->width[k] = ldexp(2.0 * grid->radius, -exponent);
        if (!grid->cell.periodic[k]) continue;
        double fit = floor(grid->cell.length[k] / level->width[k]);
        level->cells[k] = (int32_t)fmin(fmax(fit, 1.0), FARTHEST_CELL);
        level->width[k] = grid->cell.length[k] / (double)level->cells[k];
    }
    return grid->level_count++;
}

static void find_cell(const ball_grid* grid, int l, const double centre[3], int32_t at[3])
{
    const grid_level* level = &grid->levels[l];
    at[0] = at[1] = at[2] = 0;
    for (int k = 0; k < grid->dim; k++) {
        at[k] = wrap_index(grid, level, k, cell_index(grid, level, k, centre[k]));
    }
}

static void link_ball(ball_grid* grid, int64_t ball)
{
    grid_ball* b = &grid->balls[ball];
    find_cell(grid, b->level, b->centre, b->at);
    int64_t* head = head_of(grid, row_hash(b->level, b->at[1], b->at[2]), b->at[0]);
    b->next = *head;
    *head = ball;
}

static void unlink_ball(ball_grid* grid, int64_t ball)
{
    const grid_ball* b = &grid->balls[ball];
    int64_t* slot = head_of(grid, row_hash(b->level, b->at[1], b->at[2]), b->at[0]);
    while (*slot != ball) slot = &grid->balls[*slot].next;
    *slot = b->next;
}

/// Empty the buckets and put in again the balls that are not taken out.
static void relink(ball_grid* grid)
{
    memset(grid->heads, 0xff, (size_t)(grid->bucket_mask + 1) * sizeof *grid->heads);
    for (int64_t i = 0; i < grid->count; i++) {
        if (grid->balls[i].level >= 0) link_ball(grid, i);
    }
}

void ball_grid_truncate(ball_grid* grid, int64_t count)
{
    grid->count = count;
    relink(grid);
}

talus_status ball_grid_add(ball_grid* grid, const double* centre, double radius, talus_error* error)
{
    if (grid->count == grid->capacity) { // double the room, with as many buckets as balls
        const int64_t capacity = grid->capacity > 0 ? 2 * grid->capacity : 256;
        grid_ball* balls = realloc(grid->balls, (size_t)capacity * sizeof *balls);
        if (!balls) return error_memory(error, "grid of grains");
        grid->balls = balls;
        int64_t* heads = realloc(grid->heads, (size_t)capacity * sizeof *heads);
        if (!heads) return error_memory(error, "grid of grains");
        grid->heads = heads;
        grid->capacity = capacity;
        grid->bucket_mask = capacity - 1;
        relink(grid);
    }
    int level = level_of(grid, radius);
    grid->levels[level].largest = fmax(grid->levels[level].largest, radius);
    grid_ball* b = &grid->balls[grid->count];
    *b = (grid_ball){.radius = radius, .level = level};
    wrapped(grid, centre, b->centre);
    link_ball(grid, grid->count++);
    return TALUS_OK;
}

void ball_grid_move(ball_grid* grid, int64_t ball, const double* centre)
{
    grid_ball* b = &grid->balls[ball];
    int32_t at[3];
    wrapped(grid, centre, b->centre);
    find_cell(grid, b->level, b->centre, at);
    if (memcmp(at, b->at, sizeof at) == 0) return;
    unlink_ball(grid, ball);
    link_ball(grid, ball);
}

void ball_grid_remove(ball_grid* grid, int64_t ball)
{
    unlink_ball(grid, ball);
    grid->balls[ball].level = -1;
}

typedef struct query {
    const ball_grid* grid;
    double centre[3];
    double radius, gap;
    ball_grid_fn* visitor;
    void* user;
} query;

static bool query_test(const query* q, int64_t ball)
{
    const grid_ball* b = &q->grid->balls[ball];
    double delta[3] = {0};
    bool far = false; // only then is there a nearer image to look for
    for (int k = 0; k < q->grid->dim; k++) {
        delta[k] = b->centre[k] - q->centre[k];
        far |= q->grid->cell.periodic[k] && fabs(delta[k]) > 0.5 * q->grid->cell.length[k];
    }
    if (far) cell_nearest(&q->grid->cell, q->grid->dim, delta);
    double squared = vec_dot(3, delta, delta);
    double reach = q->radius + b->radius + q->gap;
    if (reach <= 0.0 || squared >= reach * reach) return true;
    return q->visitor(q->user, ball, delta, sqrt(squared));
}

static bool query_cell(const query* q, int level, uint64_t row, const int32_t at[3])
{
    const ball_grid* grid = q->grid;
    for (int64_t i = *head_of(grid, row, at[0]); i >= 0; i = grid->balls[i].next) {
        const grid_ball* b = &grid->balls[i];
        // A bucket may hold several cells: only this one's balls, so that none comes twice.
        if (b->at[0] != at[0] || b->at[1] != at[1] || b->at[2] != at[2] || b->level != level) {
            continue;
        }
        if (!query_test(q, i)) return false;
    }
    return true;
}

/// Cells along an axis: from `low` to `high`, beginning at `middle`.
typedef struct span {
    int32_t low, middle, high;
} span;

/// The next cell of a span, going away from the middle on both sides in turn.
static int32_t outwards(const span* s, int32_t i)
{
    int32_t both =
        s->middle - s->low < s->high - s->middle ? s->middle - s->low : s->high - s->middle;
    if (i <= 2 * both) return s->middle + (i % 2 == 1 ? (i + 1) / 2 : -(i / 2));
    return s->middle - s->low > both ? s->middle - (i - both) : s->middle + (i - both);
}

static bool query_level(const query* q, int l)
{
    const ball_grid* grid = q->grid;
    const grid_level* level = &grid->levels[l];
    double reach = q->radius + level->largest + q->gap;
    span s[3] = {{0}};
    double cells = 1.0;
    for (int k = 0; k < grid->dim; k++) {
        s[k].low = cell_index(grid, level, k, q->centre[k] - reach);
        s[k].middle = cell_index(grid, level, k, q->centre[k]);
        s[k].high = cell_index(grid, level, k, q->centre[k] + reach);
        if (grid->cell.periodic[k] && s[k].high - s[k].low >= level->cells[k]) { // each once
            s[k].low = 0;
            s[k].high = level->cells[k] - 1;
            s[k].middle = wrap_index(grid, level, k, s[k].middle);
        }
        cells *= (double)(s[k].high - s[k].low + 1);
    }
    if (cells > (double)grid->count) {
        for (int64_t i = 0; i < grid->count; i++) {
            if (grid->balls[i].level == l && !query_test(q, i)) return false;
        }
        return true;
    }
    int32_t at[3] = {0};
    for (int32_t z = 0; z <= s[2].high - s[2].low; z++) {
        if (grid->dim == 3) at[2] = wrap_index(grid, level, 2, outwards(&s[2], z));
        for (int32_t y = 0; y <= s[1].high - s[1].low; y++) {
            at[1] = wrap_index(grid, level, 1, outwards(&s[1], y));
            const uint64_t row = row_hash(l, at[1], at[2]);
            for (int32_t x = 0; x <= s[0].high - s[0].low; x++) {
                at[0] = wrap_index(grid, level, 0, outwards(&s[0], x));
                if (!query_cell(q, l, row, at)) return false;
            }
        }
    }
    return true;
}

bool ball_grid_visit(const ball_grid* grid, const double* centre, double radius, double gap,
                     ball_grid_fn* visitor, void* user)
{
    query q = {.grid = grid, .radius = radius, .gap = gap, .visitor = visitor, .user = user};
    wrapped(grid, centre, q.centre);
    for (int l = 0; l < grid->level_count; l++) {
        if (!query_level(&q, l)) return false;
    }
    return true;
}

static bool stop_at_first(void* user, int64_t ball, const double delta[3], double distance)
{
    (void)user, (void)ball, (void)delta, (void)distance;
    return false;
}

bool ball_grid_clear(const ball_grid* grid, const double* centre, double radius, double gap)
{
    return ball_grid_visit(grid, centre, radius, gap, stop_at_first, NULL);
}

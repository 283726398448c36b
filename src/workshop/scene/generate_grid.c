/// Hierarchy of hashed grids: insertion, moves and the visit of overlapping balls.
///
/// A query at level l reaches radius + largest_l + gap in every direction and visits the cells
/// there; when these are more than the balls inserted (a large query among tiny balls) it looks at
/// all balls instead.
#include "scene/generate_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/vec.h"

talus_status ball_grid_init(ball_grid* grid, int dim, const cell* c, talus_error* error)
{
    memset(grid, 0, sizeof *grid);
    grid->dim = dim;
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

static int64_t cell_index(const ball_grid* grid, const grid_level* level, int k, double x)
{
    double origin = grid->cell.periodic[k] ? grid->cell.low[k] : 0.0;
    double index = floor((x - origin) / level->width[k]);
    // Beyond 2^52 neighbouring cells cannot be told apart anyway; keeps the conversion defined.
    return (int64_t)fmin(fmax(index, -0x1p52), 0x1p52);
}

static int64_t wrap_index(const ball_grid* grid, const grid_level* level, int k, int64_t i)
{
    if (!grid->cell.periodic[k]) return i;
    int64_t n = level->cells[k];
    return ((i % n) + n) % n;
}

static int64_t bucket_of(const ball_grid* grid, int level, const int64_t at[3])
{
    uint64_t state = (uint64_t)level;
    for (int k = 0; k < 3; k++) state = rng_mix(&state) ^ (uint64_t)at[k];
    return (int64_t)(rng_mix(&state) & (uint64_t)grid->bucket_mask);
}

/// Level for a radius, made when it is new. When all levels are taken the last one is used: its
/// `largest` then widens the reach of queries, which stay right.
static int level_of(ball_grid* grid, double radius)
{
    int exponent = ilogb(radius);
    for (int l = 0; l < grid->level_count; l++) {
        if (grid->levels[l].exponent == exponent) return l;
    }
    if (grid->level_count == BALL_GRID_LEVELS) return BALL_GRID_LEVELS - 1;
    grid_level* level = &grid->levels[grid->level_count];
    level->exponent = exponent;
    for (int k = 0; k < 3; k++) {
        level->width[k] = ldexp(1.0, exponent + 2);
        if (!grid->cell.periodic[k]) continue;
        double fit = floor(grid->cell.length[k] / level->width[k]);
        level->cells[k] = (int64_t)fmin(fmax(fit, 1.0), 0x1p52);
        level->width[k] = grid->cell.length[k] / (double)level->cells[k];
    }
    return grid->level_count++;
}

static void link_ball(ball_grid* grid, int64_t ball)
{
    grid_ball* b = &grid->balls[ball];
    const grid_level* level = &grid->levels[b->level];
    for (int k = 0; k < grid->dim; k++) {
        b->at[k] = wrap_index(grid, level, k, cell_index(grid, level, k, b->centre[k]));
    }
    int64_t bucket = bucket_of(grid, b->level, b->at);
    b->next = grid->heads[bucket];
    grid->heads[bucket] = ball;
}

static void unlink_ball(ball_grid* grid, int64_t ball)
{
    int64_t* slot = &grid->heads[bucket_of(grid, grid->balls[ball].level, grid->balls[ball].at)];
    while (*slot != ball) slot = &grid->balls[*slot].next;
    *slot = grid->balls[ball].next;
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
    unlink_ball(grid, ball);
    wrapped(grid, centre, grid->balls[ball].centre);
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

static bool query_cell(const query* q, int level, const int64_t at[3])
{
    const ball_grid* grid = q->grid;
    int64_t i = grid->heads[bucket_of(grid, level, at)];
    for (; i >= 0; i = grid->balls[i].next) {
        const grid_ball* b = &grid->balls[i];
        // A bucket may hold several cells: only this one's balls, so that none comes twice.
        if (b->level != level || memcmp(b->at, at, sizeof b->at) != 0) continue;
        if (!query_test(q, i)) return false;
    }
    return true;
}

static bool query_level(const query* q, int l)
{
    const ball_grid* grid = q->grid;
    const grid_level* level = &grid->levels[l];
    double reach = q->radius + level->largest + q->gap;
    int64_t first[3] = {0}, span[3] = {1, 1, 1};
    double cells = 1.0;
    for (int k = 0; k < grid->dim; k++) {
        first[k] = cell_index(grid, level, k, q->centre[k] - reach);
        span[k] = cell_index(grid, level, k, q->centre[k] + reach) - first[k] + 1;
        if (grid->cell.periodic[k] && span[k] > level->cells[k]) span[k] = level->cells[k];
        cells *= (double)span[k];
    }
    if (cells > (double)grid->count) {
        for (int64_t i = 0; i < grid->count; i++) {
            if (grid->balls[i].level == l && !query_test(q, i)) return false;
        }
        return true;
    }
    int64_t at[3] = {0};
    for (int64_t z = 0; z < span[2]; z++) {
        if (grid->dim == 3) at[2] = wrap_index(grid, level, 2, first[2] + z);
        for (int64_t y = 0; y < span[1]; y++) {
            at[1] = wrap_index(grid, level, 1, first[1] + y);
            for (int64_t x = 0; x < span[0]; x++) {
                at[0] = wrap_index(grid, level, 0, first[0] + x);
                if (!query_cell(q, l, at)) return false;
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

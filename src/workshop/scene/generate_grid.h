/// Balls in a hierarchy of hashed grids, to ask who stands near a spot.
///
/// A level holds the balls of radius R / 2^(l + 1) to R / 2^l, where R is given at the start, in
/// cells as wide as the largest diameter, so that a query visits few cells per level whatever the
/// mix of sizes. Cells are kept in a hash table: the domain needs no bounds.
#ifndef TALUS_SCENE_GENERATE_GRID_H
#define TALUS_SCENE_GENERATE_GRID_H

#include <talus/base.h>

#include "state/cell.h"

enum { BALL_GRID_LEVELS = 48 };

typedef struct grid_ball {
    double centre[3]; ///< wrapped into the periodic cell
    double radius;
    int64_t next;  ///< in the bucket, -1: last
    int32_t at[3]; ///< grid cell
    int level;
} grid_ball;

typedef struct grid_level {
    int exponent;   ///< balls with R / 2^(exponent + 1) < radius <= R / 2^exponent
    double largest; ///< radius ever inserted
    double width[3];
    int32_t cells[3]; ///< along periodic axes
} grid_level;

typedef struct ball_grid {
    int dim;
    cell cell;
    double radius; ///< R
    int level_count;
    grid_level levels[BALL_GRID_LEVELS];
    grid_ball* balls; ///< in the order of insertion; the index is the handle
    int64_t count, capacity;
    int64_t* heads; ///< [bucket_mask + 1]
    int64_t bucket_mask;
} ball_grid;

/// Start an empty grid. `radius` is the largest of most of the balls to come: others may be of any
/// size, but searches are fastest when it fits. `c` may be NULL. Free with ball_grid_free(), also
/// after a failure.
talus_status ball_grid_init(ball_grid* grid, int dim, const cell* c, double radius,
                            talus_error* error);
void ball_grid_free(ball_grid* grid);

/// Insert a ball; its handle is the number of balls inserted before.
talus_status ball_grid_add(ball_grid* grid, const double* centre, double radius,
                           talus_error* error);
void ball_grid_move(ball_grid* grid, int64_t ball, const double* centre);
/// Take a ball out (its level becomes -1); the other handles stay.
void ball_grid_remove(ball_grid* grid, int64_t ball);
/// Keep only the first `count` balls, of which none was taken out.
void ball_grid_truncate(ball_grid* grid, int64_t count);

/// Told of a ball that overlaps the query: `delta` = its centre - query centre (nearest image),
/// `distance` its length. Returns false to end the visit.
typedef bool ball_grid_fn(void* user, int64_t ball, const double delta[3], double distance);

/// Visit, each once, the balls whose distance is below radius + theirs + gap. Returns false when
/// the visitor ended it.
bool ball_grid_visit(const ball_grid* grid, const double* centre, double radius, double gap,
                     ball_grid_fn* visitor, void* user);
/// Whether that visit would find nothing.
bool ball_grid_clear(const ball_grid* grid, const double* centre, double radius, double gap);

#endif

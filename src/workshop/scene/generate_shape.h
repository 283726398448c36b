/// The shapes that a scene names, and which of them a grain gets.
///
/// A name stands for one solid or, if its shapes are random, for several variants. Generators place
/// balls; a source with a shape then puts into each ball a solid that this ball holds.
#ifndef TALUS_SCENE_GENERATE_SHAPE_H
#define TALUS_SCENE_GENERATE_SHAPE_H

#include "geometry/solid.h"

/// A name and its solids, numbers first .. first + count - 1; count 0: its definition is wrong.
typedef struct named_shape {
    const char* name;
    int first, count;
} named_shape;

typedef struct shape_table {
    named_shape* rows;
    int count;
    const char** names; ///< [count]
    solids solids;      ///< all of them, and those that have no name
} shape_table;

/// What the grains of a source look like. Zero: balls.
typedef struct shape_choice {
    const shape_table* table; ///< NULL: balls
    int first, count;         ///< variants
    double scale;             ///< > 0: of every grain; 0: as large as its ball allows
    bool any_rotation;        ///< each turned at random
    double rotation[3];       ///< else: rotation vector; 2D: [2]
} shape_choice;

/// Radius of the ball that holds the largest variant at the chosen scale (at scale 1 if it follows
/// from the ball).
double shape_choice_radius(const shape_choice* c);
/// Mean volume of the grains in units of the volume of the ball in which each is placed.
double shape_choice_fill(const shape_choice* c, int dim);
/// Turn the ball `g` into the solid that grain `number` of a source is. Depends on the arguments
/// only. Nothing happens if the choice is a ball.
void shape_choice_apply(const shape_choice* c, int dim, uint64_t seed, uint64_t source,
                        uint64_t number, talus_grain_def* g);
/// Volume (2D: area) of a grain; without a table of a ball.
double shape_volume(const shape_table* table, int dim, const talus_grain_def* g);

/// Rotation vector of a unit quaternion w x y z.
void rotation_from_quat(const double q[4], double rotation[3]);

#endif

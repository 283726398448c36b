/// Making a picture out of a world: its grains, walls and forces become flat pieces.
#ifndef TALUS_PICTURE_PICTURE_H
#define TALUS_PICTURE_PICTURE_H

#include "base/vec.h"
#include "picture/figure.h"

/// How the world is seen, from afar: the picture's x and y as directions in the world.
typedef struct view {
    int dim;
    double right[3], up[3]; ///< unit, orthogonal
    double eye[3];          ///< unit, towards the eye; zero in 2D
    int axis[2];            ///< world axes of the picture's x and y; -1 if oblique
    double centre[3];       ///< mean position of the grains that are shown
    span depth;             ///< of the grains, along the line of sight, larger is nearer
} view;

/// A picture being made; `failed` once memory was short.
typedef struct picture_maker {
    const talus_world* world;
    const talus_picture_def* def;
    view view;
    picture* out;
    bool failed;
} picture_maker;

static inline void view_point(const view* v, const double* at, double out[2])
{
    out[0] = vec_dot(v->dim, v->right, at);
    out[1] = vec_dot(v->dim, v->up, at);
}
static inline bool view_oblique(const view* v)
{
    return v->axis[0] < 0;
}
static inline double view_depth(const view* v, const double* at)
{
    return v->dim == 2 ? 0.0 : vec_dot(3, v->eye, at);
}

/// Add a piece with room for its points, which go to *points; NULL if memory is short.
piece* picture_add(picture_maker* m, piece_kind kind, int32_t point_count, double** points);
static inline bool picture_hides(const picture_maker* m, int64_t grain)
{
    return m->def->hidden && m->def->hidden[grain];
}
/// Let the picture be so large that it holds the points of a piece.
void picture_hold(picture_maker* m, const piece* p);

void picture_grains(picture_maker* m);
void picture_walls(picture_maker* m);
void picture_forces(picture_maker* m);

#endif

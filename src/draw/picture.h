/// Making a picture out of a world: its grains, walls and forces become flat pieces.
#ifndef TALUS_DRAW_PICTURE_H
#define TALUS_DRAW_PICTURE_H

#include "draw/figure.h"

/// How the world is seen: which axes lie in the picture, and where the eye is.
typedef struct view {
    int dim;
    int across, up; ///< axes of the picture's x and y
    int along;      ///< axis along which one looks (3D), -1 in 2D
    double towards; ///< sign of that axis' direction towards the eye
    span depth;     ///< of the grains, along the line of sight, larger is nearer
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
    out[0] = at[v->across];
    out[1] = at[v->up];
}
static inline double view_depth(const view* v, const double* at)
{
    return v->along < 0 ? 0.0 : v->towards * at[v->along];
}

/// Add a piece with room for its points, which go to *points; NULL if memory is short.
piece* picture_add(picture_maker* m, piece_kind kind, int32_t point_count, double** points);
/// Let the picture be so large that it holds the points of a piece.
void picture_hold(picture_maker* m, const piece* p);

void picture_grains(picture_maker* m);
void picture_walls(picture_maker* m);
void picture_forces(picture_maker* m);

#endif

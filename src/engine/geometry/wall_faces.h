/// What a wall looks like, for exports, the viewer and pictures: flat faces, which in the plane are
/// lines, and the mantle of a round wall. Skins are left out. What has no end is cut at a box, such
/// as the one around the grains. A wall that is a solid has the faces of its solid.
#ifndef TALUS_GEOMETRY_WALL_FACES_H
#define TALUS_GEOMETRY_WALL_FACES_H

#include <talus/wall.h>

/// A wall where it stands.
typedef struct placed_wall {
    int dim;
    const talus_shape_def* shape;
    double position[3], rotation[4];
    double box_low[3], box_high[3]; ///< where planes and endless cylinders are cut
} placed_wall;

/// A line, triangle or quadrangle, with its corners in the world. Those of a box go round
/// counterclockwise, seen from outside.
typedef struct wall_face {
    int count;
    double corner[4][3];
} wall_face;

/// The round part of a cylinder or cone between two rims; in the plane a circle, one rim.
typedef struct wall_mantle {
    double frame[3][3];  ///< unit, in the world: the axis, and two directions across it
    int rims;            ///< 2; in the plane 1
    double height[2];    ///< of the rims along the axis, over the wall's position
    double centre[2][3]; ///< of the rims
    double radius[2];    ///< likewise
    bool closed;         ///< by caps at both ends
} wall_mantle;

/// How far the box reaches along a direction of the world, as seen from the wall's position.
void wall_box_along(const placed_wall* w, const double direction[3], double* low, double* high);
int64_t wall_face_count(const placed_wall* w);
/// Face number i; false if a container lacks it.
bool wall_face_at(const placed_wall* w, int64_t i, wall_face* out);
/// The mantle of a cylinder or cone; false if the wall is neither.
bool wall_mantle_of(const placed_wall* w, wall_mantle* out);
/// A point of a rim, at an angle about the axis.
void wall_rim_point(const wall_mantle* m, int rim, double angle, double out[3]);

#endif

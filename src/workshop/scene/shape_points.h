/// Corners of well-known bodies about the origin, from which convex hulls are made.
#ifndef TALUS_SCENE_SHAPE_POINTS_H
#define TALUS_SCENE_SHAPE_POINTS_H

#include "base/rng.h"

/// Most corners of a box or a Platonic solid, doubles included.
enum { POINTS_ROOM = 3 * 20 };

/// Corners of a box with these whole edge lengths. Each function returns the number of corners and
/// writes [count][dim].
int points_box(int dim, const double size[3], double* out);
/// Regular polygon of this circumradius, its lowest side (along y) level; 3D: the prism on it, of
/// this height along z. Room for 2 * sides * dim doubles is enough.
int points_prism(int dim, int sides, double radius, double height, double* out);
/// Platonic solid of 4, 6, 8, 12 or 20 faces and this circumradius; the cube stands upright.
/// Returns 0 for other numbers.
int points_platonic(int faces, double radius, double* out);
/// Edge of a body divided by its circumradius: regular polygon, Platonic solid.
double points_polygon_edge(int sides);
double points_platonic_edge(int faces);
/// `count` points drawn on the ellipse or ellipsoid with these half axes: uniform on the unit
/// sphere, then stretched.
void points_ellipsoid(int dim, int count, const double half_axes[3], rng* r, double* out);

#endif

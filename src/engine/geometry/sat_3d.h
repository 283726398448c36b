/// Separating axes of two polyhedra: the faces of the difference body A - B are the faces of both
/// and the pairs of edges whose arcs cross on the Gauss map (Gregorius, GDC 2013). The largest
/// separation along them is minus the depth where the cores overlap, and a lower bound of the
/// distance where they do not.
#ifndef TALUS_GEOMETRY_SAT_3D_H
#define TALUS_GEOMETRY_SAT_3D_H

#include "geometry/convex_axis.h"

/// Calls `take` for axes whose separation is above the floor it returned last.
typedef double axis_taker(void* context, const axis* found);

/// All face axes above `floor`, which rises to what `take` returns; returns the last floor.
double sat_faces(const convex_pair* p, double floor, axis_taker* take, void* context);
/// The same for pairs of edges. Only edges that come within `range` of the other body are looked
/// at.
double sat_edges(const convex_pair* p, double floor, double range, axis_taker* take, void* context);

/// Nearest points of the lines of two edges or corners (codes of convex.h).
void edge_points(const convex_pair* p, int of_a, int of_b, double on_a[3], double on_b[3]);
/// The axis of a face of a (or b): its separation and points.
void axis_of_face(const convex_pair* p, axis_kind kind, int face, axis* out);
/// The axis across edge i of a and edge j of b, without its points; false if they span no face of
/// the difference body or separate by no more than `floor`.
bool axis_of_edges(const convex_pair* p, int i, int j, double floor, axis* out);

#endif

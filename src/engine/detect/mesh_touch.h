/// Contacts of balls and convex bodies with a mesh of triangles (geometry/mesh.h).
///
/// Both sides of the surface act; the side is that of b's middle, the mean of its corners. If the
/// way from the middle to a corner goes through the surface, the corner has gone through: its gap
/// to the triangle it went through, and to others that bound the hollow there, is negative. If a
/// corner is beyond the plane of a triangle without that, b reaches round a rim: the rim holds it,
/// the triangle does not. What lies hidden behind another triangle does not touch.
///
/// Names of contacts (feature.h), a is the mesh:
///   FEATURE_FACE_VERTEX  2 t + s under corner v of b: t the largest triangle of the flat patch, so
///                        that the name stays while a body slides over a plane; s = 1 on the side
///                        to which the triangle's corners do not turn counterclockwise
///   FEATURE_VERTEX_FACE  corner of the mesh on face f of b
///   FEATURE_EDGE_EDGE    of b the code says what meets: see mesh_pair
/// A ball is a body with the one corner 0.
#ifndef TALUS_DETECT_MESH_TOUCH_H
#define TALUS_DETECT_MESH_TOUCH_H

#include "geometry/convex.h"
#include "geometry/mesh.h"

/// Codes of b in FEATURE_EDGE_EDGE.
typedef enum mesh_pair {
    PAIR_EDGE_EDGE = 0, ///< + 2 g + s: edge of the mesh, edge g of b; s = 1: normal along -(e x g)
    PAIR_EDGE_VERTEX = PAIR_EDGE_EDGE + 2 * POLYTOPE_MAX_EDGES,  ///< + v: edge, corner v of b
    PAIR_VERTEX_EDGE = PAIR_EDGE_VERTEX + POLYTOPE_MAX_VERTICES, ///< + g: corner, edge g of b
    PAIR_VERTEX_VERTEX = PAIR_VERTEX_EDGE + POLYTOPE_MAX_EDGES,  ///< + v: corner, corner v of b
} mesh_pair;

/// Points found, as many as there are. Zero is the empty list.
typedef struct touch_list {
    touch* row;
    int count;
    int64_t capacity;
} touch_list;

void touch_list_free(touch_list* list);

/// Append the contacts of a convex body b (a ball too) with the mesh, in the mesh's frame: b's
/// vertices are turned into it, its origin is at `delta`. a is the mesh, so normals point from the
/// mesh to b; points are from the mesh's origin. Every pair of features that can touch first and
/// has a gap of at most `reach` gives one point: corner of b on a triangle, edge of b across a
/// sharp or free edge of the mesh, face of b on a sharp or free corner, and corners near corners or
/// edges. In ascending feature. Of several points in one plane at most four are kept.
talus_status mesh_touches(const mesh* m, const convex* b, const double delta[3], double reach,
                          const convex_hint* hint, touch_list* out);

/// Gap of one named pair of features, as convex_gap().
double mesh_gap(const mesh* m, const convex* b, const double delta[3], int64_t feature);

#endif

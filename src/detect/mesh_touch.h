/// Contacts of balls and convex bodies with a mesh of triangles (shape/mesh.h).
#ifndef TALUS_DETECT_MESH_TOUCH_H
#define TALUS_DETECT_MESH_TOUCH_H

#include "detect/convex.h"
#include "shape/mesh.h"

/// Points found, as many as there are. Zero is the empty list.
typedef struct touch_list {
    touch* row;
    int count, capacity;
} touch_list;

void touch_list_free(touch_list* list);

/// Append the contacts of a convex body b (a ball too) with the mesh, in the mesh's frame: b's
/// vertices are turned into it, its origin is at `delta`. a is the mesh, so normals point from the
/// mesh to b; points are from the mesh's origin. Every pair of features that can touch first and
/// has a gap of at most `reach` gives one point: corner of b on a triangle, edge of b across a
/// sharp or free edge of the mesh, face of b on a sharp or free corner. In ascending feature.
/// Of several corners of b on coplanar triangles at most four are kept.
talus_status mesh_touches(const mesh* m, const convex* b, const double delta[3], double reach,
                          const convex_hint* hint, touch_list* out);

/// Gap of one named pair of features, as convex_gap().
double mesh_gap(const mesh* m, const convex* b, const double delta[3], int64_t feature);

#endif

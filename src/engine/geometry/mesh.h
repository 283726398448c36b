/// A surface of triangles: an obstacle of any shape, of given triangles or made from a cone or
/// plate. Both sides act. Where triangles meet in a flat or hollow edge, the edge itself never
/// touches anything: so flat parts behave like one plane, without double contacts.
#ifndef TALUS_GEOMETRY_MESH_H
#define TALUS_GEOMETRY_MESH_H

#include <stdbool.h>
#include <stdint.h>
#include <talus/base.h>

/// Counts that fit into a contact's feature (geometry/feature.h).
enum { MESH_MAX_TRIANGLES = 1 << 18 };

typedef struct mesh mesh; ///< triangles with adjacency and a box tree; see mesh.c

/// Plain triangles: corners are welded where they agree to the bit or within
/// 1e-9 of the extent.
typedef struct triangles {
    int64_t vertex_count, triangle_count;
    double* vertex;    ///< [vertex_count][3]
    int32_t* triangle; ///< [triangle_count][3]
    int32_t* group;    ///< [triangle_count] number of the OBJ object or group, from 0
    int group_count;
} triangles;

void triangles_free(triangles* t);
/// Join corners that are within 1e-9 of the extent; those that are left keep their order.
talus_status triangles_weld(triangles* t, talus_error* error);

/// Build a mesh of triangles that are welded; those without area are left out. `skin`: rounded half
/// thickness.
talus_status mesh_make(const triangles* t, double skin, mesh** out, talus_error* error);
void mesh_free(mesh* m);
/// Radius of the ball about the origin that holds the mesh.
double mesh_bound(const mesh* m);
int64_t mesh_triangle_count(const mesh* m);
/// Corners [9] of a triangle, for pictures and export.
const double* mesh_triangle(const mesh* m, int64_t triangle);

#endif

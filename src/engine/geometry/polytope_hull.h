/// Within src/engine/geometry: from triangles around a set of points to a polyhedron with whole
/// faces.
#ifndef TALUS_GEOMETRY_POLYTOPE_HULL_H
#define TALUS_GEOMETRY_POLYTOPE_HULL_H

#include "geometry/polytope.h"

/// A closed surface of triangles, nearly convex: off by rounding and by less than `flat`.
typedef struct triangulation {
    const double* point; ///< [point_count][3], largest extent between 1/2 and 1
    int point_count;
    int32_t* corner; ///< [count][3] counterclockwise from outside
    int count;
    double flat;     ///< triangles within this distance of a plane belong to one face
    double straight; ///< corners within this distance of a line belong to one edge
} triangulation;

/// Merge triangles into faces: topology, normals, and, in face order, `offset` of the given points.
/// `corner_of` [point_count] says which point each vertex is; vertices are left to the caller.
/// *proper is false, and *out empty, if the result would be no convex polyhedron.
talus_status hull_merge(const triangulation* t, polytope* out, int32_t* corner_of, bool* proper,
                        talus_error* error);

#endif

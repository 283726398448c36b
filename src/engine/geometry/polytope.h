/// A convex polygon (2D) or polyhedron (3D): corners, faces, edges, and who is whose neighbour.
///
/// In 2D the faces are the sides: face f goes from vertex f to vertex f + 1 (counterclockwise), and
/// the arrays of edges and of face loops stay NULL. In 3D every face is a whole flat polygon, never
/// a triangle of one, so that a cube has six faces and twelve edges.
#ifndef TALUS_GEOMETRY_POLYTOPE_H
#define TALUS_GEOMETRY_POLYTOPE_H

#include <stdint.h>
#include <talus/base.h>

/// Largest counts of a polytope: they must fit into a contact's feature (geometry/feature.h).
enum { POLYTOPE_MAX_VERTICES = 4096, POLYTOPE_MAX_EDGES = 16384 };

typedef struct polytope {
    int dim;
    int vertex_count, face_count, edge_count;
    double* vertex;       ///< [vertex_count][dim]; 2D: counterclockwise
    double* normal;       ///< [face_count][dim] unit, outward
    double* offset;       ///< [face_count] normal.x on the face
    int32_t* face_first;  ///< 3D: [face_count + 1] where a face's loop begins in face_vertex
    int32_t* face_vertex; ///< 3D: loops, counterclockwise seen from outside
    int32_t* face_edge;   ///< 3D: [as face_vertex] edge from this corner of the loop to the next
    int32_t* edge;        ///< 3D: [edge_count][4] v0, v1, then the face in whose loop v0 precedes
                          ///< v1, then the other face
} polytope;

/// Convex hull of points [count][dim] by qhull. Flat faces are merged, corners inside the hull or
/// on a flat face or straight edge are left out. Fails on fewer than dim + 1 points, points in a
/// line or plane, or numbers that are not finite. The caller owns *out: polytope_free().
talus_status polytope_hull(int dim, const double* points, int count, polytope* out,
                           talus_error* error);
/// A degenerate polygon of two corners (2D): a segment, both sides of which act.
talus_status polytope_segment(const double from[2], const double to[2], polytope* out,
                              talus_error* error);
/// A rectangle or cuboid about the origin.
talus_status polytope_box(int dim, const double half_size[3], polytope* out, talus_error* error);
/// A regular prism of `sides` sides about `axis` (unit) through the origin, whose cross-section has
/// the area of a circle of this radius.
talus_status polytope_prism(const double axis[3], double radius, double half_length, int sides,
                            polytope* out, talus_error* error);
void polytope_free(polytope* p);
/// A copy of a polytope, owned by the caller.
talus_status polytope_copy(const polytope* p, polytope* out);
/// Shift all corners by `by` [dim].
void polytope_shift(polytope* p, const double* by);

/// Mass properties for density 1.
typedef struct mass_properties {
    double volume;     ///< 2D: area
    double centre[3];  ///< of mass
    double inertia[9]; ///< about the centre: tensor [3][3]; 2D: only [8], about z
} mass_properties;

/// Exact mass properties of a polytope rounded by `skin` >= 0 (its Minkowski sum with a ball).
mass_properties polytope_mass(const polytope* p, double skin);

/// Smallest distance of two parallel planes that hold the polytope between them.
double polytope_width(const polytope* p);

/// Signed distance from the surface to a point, negative inside, with the unit outward normal at
/// the nearest surface point. *feature names the part of the surface: a vertex v as v, an edge e as
/// vertex_count + e, a face f as vertex_count + edge_count + f.
double polytope_point(const polytope* p, const double* point, double* normal, int32_t* feature);

#endif

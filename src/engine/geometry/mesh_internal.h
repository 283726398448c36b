/// What a mesh holds, for mesh.c that makes it and detect/mesh_touch.c that asks it.
///
/// A patch is a connected set of triangles in one plane; all its triangles carry the very same
/// mean plane. The index of its largest triangle is the name of the patch. An edge within a
/// patch is flat and never touches anything. Whether another edge or a corner sticks out towards a
/// body depends on the direction in which the body lies, and is decided in the query.
#ifndef TALUS_GEOMETRY_MESH_INTERNAL_H
#define TALUS_GEOMETRY_MESH_INTERNAL_H

#include "geometry/mesh.h"

/// A box of the tree. Leaves have count > 0 and hold order[first .. first + count); of an inner
/// node the left child is the next node and the right one is `right`.
typedef struct mesh_node {
    double low[3], high[3];
    int32_t first, count, right;
} mesh_node;

struct mesh {
    double skin;
    double size;  ///< largest |coordinate|: the scale of roundoff
    double bound; ///< radius of the ball about the origin that holds all
    int32_t vertex_count, triangle_count, edge_count, node_count;
    double* vertex;         ///< [vertex_count][3]
    int32_t* triangle;      ///< [triangle_count][3]
    double* corner;         ///< [triangle_count][9] corners once more, side by side
    double* normal;         ///< [triangle_count][3] unit, of the patch
    double* offset;         ///< [triangle_count] normal.x on the patch
    int32_t* patch;         ///< [triangle_count] name of the patch
    int32_t* triangle_edge; ///< [triangle_count][3] edge k goes from corner k to corner k + 1
    int32_t* edge;          ///< [edge_count][2] lower corner first
    int32_t* edge_first;    ///< [edge_count + 1] where an edge's triangles begin in the next two
    int32_t* edge_opposite; ///< [3 triangle_count] corner that faces the edge in that triangle
    int32_t* edge_triangle; ///< [3 triangle_count]
    uint8_t* edge_sharp;    ///< [edge_count] 0: within a patch
    int32_t* vertex_first;  ///< [vertex_count + 1] where a corner's neighbours begin in the next
    int32_t* vertex_near;   ///< [2 edge_count] corners at the other ends of its edges
    uint8_t* vertex_kind;   ///< [vertex_count] mesh_vertex_kind
    mesh_node* node;        ///< [node_count], the root first
    int32_t* order;         ///< [triangle_count] triangles in the order of the leaves
};

/// A corner within a patch or on a straight edge is never the first to touch a face.
typedef enum mesh_vertex_kind { VERTEX_FLAT, VERTEX_STRAIGHT, VERTEX_CORNER } mesh_vertex_kind;

#endif

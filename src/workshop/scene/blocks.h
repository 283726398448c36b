/// Sources whose grains come with shapes of their own: Voronoi cells, arches, masonry.
///
/// Each makes a list of shapes (corners of a convex body about an origin) and of blocks, which are
/// shapes put somewhere and turned; several blocks may share a shape. The caller adds them to the
/// world.
#ifndef TALUS_SCENE_BLOCKS_H
#define TALUS_SCENE_BLOCKS_H

#include "scene/generate.h"

typedef enum block_edge { EDGE_NONE = -1, EDGE_BOTTOM = 0, EDGE_TOP = 1, EDGE_COUNT } block_edge;

typedef struct block {
    int shape;
    double origin[3];   ///< where the origin of its shape is
    double rotation[3]; ///< rotation vector; 2D: [2]
    bool fixed;         ///< a springer
    block_edge edge;    ///< whether it belongs to the bottom or the top
} block;

/// Zero, with `dim`, is the empty list.
typedef struct block_list {
    int dim;
    double* points; ///< [first[shape_count]][dim]
    int* first;     ///< [shape_count + 1] first point of each shape
    int shape_count;
    int64_t shape_capacity, point_capacity;
    block* rows;
    int64_t count, capacity;
} block_list;

void block_list_free(block_list* list);
/// Add a shape, the hull of points [count][dim] about its origin; its number goes to *shape.
talus_status block_list_add_shape(block_list* list, const double* points, int count, int* shape,
                                  talus_error* error);
talus_status block_list_add(block_list* list, const block* row, talus_error* error);

/// Voronoi cells of random points in a box.
typedef struct voronoi_def {
    double low[3], high[3];
    int64_t count;
    int lloyd;  ///< times that every point is moved to the centre of its cell
    double gap; ///< between neighbours, m
    double
        depth[EDGE_COUNT]; ///< cells that come so near to the bottom or top belong to it; < 0: none
} voronoi_def;

/// Fill a box with Voronoi cells: they touch its sides and, but for the gap, each other. Where the
/// box spans the periodic cell they close around it.
talus_status generate_voronoi(const voronoi_def* def, const generate_context* context,
                              block_list* out, talus_error* error);

/// An arch of equal voussoirs with radial joints, upright in the plane of the first and the last
/// axis. The corners are on the circles of radius -+ thickness/2.
typedef struct arch_def {
    double centre[3];
    double radius; ///< mean
    double thickness;
    double depth; ///< 3D: along y
    double angle; ///< of the whole arch, rad, symmetric about the vertical
    int64_t blocks;
    bool springers; ///< a fixed block more at each end
} arch_def;

talus_status generate_arch(const arch_def* def, int dim, block_list* out, talus_error* error);

/// A wall of bricks in running bond: every other course begins and ends with a half brick.
typedef struct masonry_def {
    double low[3];
    double brick[3]; ///< length, (3D: depth,) height
    int64_t bricks;  ///< whole ones in the first course
    int64_t courses;
    double gap; ///< of all joints
    bool opening;
    double from, to;       ///< the opening's sides along x
    int64_t first, height; ///< its lowest course, and how many
    double bearing;        ///< how far the lintel above it rests on each side; 0: none
} masonry_def;

talus_status generate_masonry(const masonry_def* def, int dim, block_list* out, talus_error* error);

#endif

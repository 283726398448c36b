/// Shapes of walls: which parts of a shape's surface are near a point.
///
/// A grain is a ball, so a contact between a ball and any shape is "surface point nearest to the
/// ball's centre". One file per shape implements one query in the shape's own frame; shape.c
/// dispatches. In 2D the third component of every vector is zero.
#ifndef TALUS_GEOMETRY_SHAPE_H
#define TALUS_GEOMETRY_SHAPE_H

#include <talus/wall.h>

/// Most hits a single query can return (a container box has six faces).
#define SHAPE_MAX_HITS 6

/// One part of the surface near the query point, in the shape's frame.
typedef struct shape_hit {
    double distance;  ///< from the surface to the point along `normal`; negative: behind
    double normal[3]; ///< unit, from the surface towards the allowed side
    int32_t feature;  ///< stable number of the part (face, edge, rim), so that contacts persist
} shape_hit;

/// Parts of the surface whose distance to `point` is at most `reach` (not negative), in ascending
/// feature order.
/// Returns their number (0 to SHAPE_MAX_HITS). Never two hits for the same place: a ball resting on
/// a flat face near an edge touches the face only.
int shape_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                shape_hit hits[SHAPE_MAX_HITS]);

/// Check that a definition makes sense (unit vectors, positive sizes, fits `dim`).
talus_status shape_check(const talus_shape_def* shape, int dim, talus_error* error);

/// Radius of the ball about the shape's origin that holds its surface; INFINITY if unbounded.
double shape_bound(const talus_shape_def* shape, int dim);

/// Name used in scenes and files, such as "plane". Static text.
const char* shape_name(talus_shape_kind kind);

// One per file; same contract as shape_query().
int plane_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                shape_hit* hits);
int segment_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                  shape_hit* hits);
int plate_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                shape_hit* hits);
int box_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
              shape_hit* hits);
int cylinder_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
                   shape_hit* hits);
int cone_query(const talus_shape_def* shape, int dim, const double point[3], double reach,
               shape_hit* hits);

#endif

/// Contacts between two convex bodies: where they are nearest or overlap, and the few points that
/// hold one on the other.
///
/// A body is a polytope turned into world axes (or any common axes), about an origin of its own,
/// and rounded by a skin. A ball is one corner with a skin. convex_2d.c and convex_3d.c do the
/// work. Distances are those of the rounded bodies.
///
/// Which normal? Of the directions that separate two bodies now, each gives a constraint that is
/// sufficient for the end of the step. Where they are separated by more than one (a corner that
/// passes another corner), the one is taken that the free motion would penetrate least: so a block
/// that slides over the joint between two others is not stopped by it. Overlaps up to 1e-3 of the
/// smaller body count as separated.
///
/// A slow block would be stopped all the same, for its weight moves it more than its creep. So a
/// face along which the bodies graze (to 1e-5 of the smaller body, over or under) and are pressed
/// by no more than 1e-4 in the step goes before one that the motion only comes to in this step or
/// the next, and stays while it was there in the last step. What remains: a block sunk by more than
/// 1e-5 that closes on the side of the next one by less than it is sunk is stopped there for that
/// step, and for good if it moves by less than 1e-4 a step; and creep below 1e-7 a step.
///
/// A face that was there in the last step is taken again while it separates the bodies by no less
/// than the best axis, to 1e-6 of their size (axis_cache.c), and the four points of the last step
/// stay while they hold nearly as well (touches.c): so nothing flickers at rest.
///
/// Names of points: FEATURE_VERTEX_FACE and FEATURE_FACE_VERTEX hold a corner and a face;
/// FEATURE_EDGE_EDGE holds two codes, where e is the edge e (3D), and edge_count + v the corner v
/// (2D and balls: edge_count is 0). They name a and b, not the body whose face gave the axis. Two
/// balls have the name 0.
#ifndef TALUS_GEOMETRY_CONVEX_H
#define TALUS_GEOMETRY_CONVEX_H

#include "geometry/polytope.h"

/// A convex body in place. Nothing is owned.
typedef struct convex {
    const polytope* shape; ///< topology only; NULL for a ball (one corner, no faces)
    int dim;
    int vertex_count;     ///< of the shape; 1 for a ball
    const double* vertex; ///< [vertex_count][dim] about the body's origin, turned and scaled
    const double* normal; ///< [face_count][dim] turned
    double skin;
    double thickness; ///< least width, skin included; 0: not known
} convex;

/// What a step would do to the bodies without contacts, and what was there before. Zero or NULL
/// where not known: then the answer is that of pure geometry.
typedef struct convex_hint {
    double shift[3];  ///< displacement of b's origin relative to a's in the step
    double turn_a[3]; ///< rotation vectors in the step, in the common axes; 2D: [2]
    double turn_b[3];
    const int64_t* kept; ///< bare features of the last step's points, ascending
    int kept_count;
} convex_hint;

/// A point of a contact.
typedef struct touch {
    double point[3];  ///< midway between the surfaces, from a's origin
    double normal[3]; ///< unit, from a to b
    double gap;
    int64_t feature; ///< bare (feature.h)
} touch;

/// Most points of a contact of bodies at rest, and of bodies that move.
enum { CONVEX_REST_TOUCHES = 4, CONVEX_MAX_TOUCHES = 8 };

/// Signed distance between a and b, whose origin is at `delta` from a's: Euclid's distance where
/// they are apart, minus the least displacement that separates them where they overlap; skins taken
/// off. *normal (unit, from a to b) is the direction in which it is measured.
double convex_distance(const convex* a, const convex* b, const double delta[3], double normal[3]);
/// How far they overlap, -convex_distance(), and 0 where they are apart, which costs less to find
/// out than by how much.
double convex_overlap(const convex* a, const convex* b, const double delta[3]);

/// Points that hold a and b apart, in ascending feature: none if the distance is above `reach`;
/// else at least one, at most 2 in 2D and 4 in 3D. Points of one contact share the normal; each gap
/// is at most `reach`. `hint` may be NULL.
int convex_touches(const convex* a, const convex* b, const double delta[3], double reach,
                   const convex_hint* hint, touch out[CONVEX_MAX_TOUCHES]);

/// Gap of the features named by `feature` as the bodies stand now, measured along the normal of the
/// face, or across both edges: what the contact of that name would have, however far it is. The
/// `normal` that the contact had tells on which side of each other edges are.
double convex_gap(const convex* a, const convex* b, const double delta[3], int64_t feature,
                  const double normal[3]);

/// The size by which a body counts as at rest: its diameter, or a few times its thickness if it is
/// slender, for it has gone through another when a compact body has hardly moved.
double rest_size(double diameter, double thickness);

/// Leave out the points that others hold: point p is left out if there is a q such that p is higher
/// over the surface by no less than it is beside q. With turns of less than 1 in a step it cannot
/// come down before q does. So the upper corners of a plate that lies flat are left out, and no
/// corner of a rod that tips. Returns how many are left, in the order they had.
int touches_drop_held(touch* points, int count, int dim);

/// How many points (3D) a contact with this normal needs. Gaps change linearly over the contact, so
/// all corners of the common part bound them; four of them hold a body at rest, but when the bodies
/// turn or fall on each other within the step those left out would dip in. `size` is that of the
/// smaller body; a `reach` beyond what bodies at rest have tells that they were found to move.
int touches_most(const convex_hint* hint, const double normal[3], double reach, double size);

/// Of `count` points in one plane (3D), the `most` that hold best: the deepest, those that span the
/// largest area, and from the fifth on those farthest from all others; points in `kept` are
/// preferred to others as good. Writes them to the front of `points` in ascending feature; returns
/// how many.
int touches_reduce(touch* points, int count, int most, const convex_hint* hint);

#endif

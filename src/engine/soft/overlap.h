/// Overlap areas of bodies in 2D: the geometry of the overlap-area law of Pena, Lind, McNamara and
/// Herrmann (PLMH), for polygons (convex, concave, rounded), disks and walls.
///
/// Two bodies that touch have one or more connected overlap regions. With V the sum of the outward
/// area vectors (length times outward normal) of those pieces of a region's boundary that lie on
/// the outline of a, the normal is V/|V| and the contact length |V|: for a lens between two
/// crossing points exactly the normal and the length of the chord between them. Where b is shifted
/// by d, the area changes by -V.d, so that k A is the potential of a force k V.
///
/// Area and centroid times area are continuous in the motion. V is too, but where the area itself
/// has a kink: two sides of one direction that face the same way pass each other (V changes by
/// twice the common length of these sides), or bodies come to touch along a side.
///
/// A solid is cut once into disjoint convex cells (overlap_shape): parts that overlap do not count
/// twice. Sides that cells share (seams) are no outline: their area vectors cancel within a region,
/// and pieces that meet along one belong to one region. Disks and circular walls are exact. The
/// rounded corners of a solid with a skin are chords, OVERLAP_ROUND to the full turn, with their
/// ends on the circle: flat sides are exact, and the chords lie up to 1 - cos(pi/OVERLAP_ROUND) =
/// 0.5 % of the skin below the arcs. (Arcs would be exact for one part, but the skins of several
/// parts overlap, and what is left of one part is then not convex.)
///
/// Names: feature_of_parts() (geometry/feature.h) of the parts of one piece of the region, with
/// the running numbers of the cells within their parts as features: the lowest name of its pieces.
/// It changes when the region spreads to an earlier part: `pieces` then still has bits in common
/// with what it was.
#ifndef TALUS_SOFT_OVERLAP_H
#define TALUS_SOFT_OVERLAP_H

#include "geometry/polytope.h"

#include <talus/wall.h>

enum { OVERLAP_ROUND = 32 };

/// Two cells that share a stretch of a side.
typedef struct overlap_seam {
    int cell[2];
    int edge[2]; ///< the side of each cell, numbered like its first corner
} overlap_seam;

/// A solid, or a wall of convex parts, as disjoint convex cells in its own frame.
typedef struct overlap_shape {
    int cell_count, corner_count, seam_count;
    int* first;         ///< [cell_count + 1] first corner of each cell
    int* part;          ///< [cell_count] part of the solid, ascending
    int* order;         ///< [cell_count] running number of the cell within its part
    overlap_seam* seam; ///< [seam_count]
    double radius;      ///< of the circle about the origin that holds all
    double* number;     ///< [overlap_size()] placed by the identity
} overlap_shape;

/// Cut convex parts, each rounded by `skin`, into disjoint cells: those of a solid, or of a wall's
/// form. The caller owns *out: overlap_shape_free().
talus_status overlap_shape_make(const polytope* part, int part_count, double skin,
                                overlap_shape* out, talus_error* error);
void overlap_shape_free(overlap_shape* s);

/// Numbers of a placed shape: corners [corner_count][2] counterclockwise cell by cell, ends of the
/// seams [seam_count][2][2], lowest and highest corners of the cells [cell_count][2][2].
int64_t overlap_size(const overlap_shape* s);
/// Turn a shape by the angle with this cosine and sine, and scale it; `number` has room for
/// overlap_size().
void overlap_place(const overlap_shape* s, double cosine, double sine, double scale,
                   double* number);

/// A body in place, about its centre. Nothing is owned.
typedef struct overlap_body {
    const overlap_shape* shape; ///< NULL for a disk
    const double* number;       ///< the shape placed
    double radius; ///< of a disk; of a shape: of a circle about the centre that holds it
} overlap_body;

/// A connected overlap region.
typedef struct overlap_region {
    double area;
    double length;      ///< of the contact: 0 where one body is all within the other
    double centroid[2]; ///< from a's centre (overlap_bodies()) or b's (overlap_wall())
    double normal[2];   ///< unit, from a to b; where the length is 0, the direction of b's centre
    int64_t feature;    ///< name: the lowest of its pieces
    uint64_t pieces;    ///< a bit for each piece, by its place among all that could be, modulo 64
} overlap_region;

/// Memory that queries share; zero it to begin. The regions of the last query are in it.
typedef struct overlap_scratch {
    int64_t count, capacity;
    overlap_region* region; ///< [count] in ascending order of their names
    int64_t piece_count, piece_capacity;
    struct overlap_piece* piece;
    int64_t corner_capacity;
    struct overlap_corner* corner; ///< [2][corner_capacity]
    double* height;                ///< [corner_capacity]
} overlap_scratch;

void overlap_scratch_free(overlap_scratch* s);

/// Overlap regions of two bodies; `delta` is b's centre from a's. Fails only when memory is short.
talus_status overlap_bodies(const overlap_body* a, const overlap_body* b, const double delta[2],
                            overlap_scratch* s);

/// Overlap regions of a wall (a) and a grain (b), all in the wall's axes: `grain` is placed in
/// them, `local` is its centre from the wall's origin. `form` is the shape made of the parts of a
/// wall_form: needed for solids, boxes from outside and segments with a skin. Centroids are from
/// the grain's centre, so that a far origin of the wall costs no digits.
///
///  - Plane: the half-plane behind it.
///  - Box from inside: each closed face on its own, part number 0 x low, 1 x high, 2 y low, 3 y
///    high; the half-plane behind it, up to the rim where it meets an open face. A grain whose
///    centre is behind such a face by more than its depth below the rim, or by more than the half
///    size, has come round the rim and meets the face from outside.
///  - Cylinder: the disk, or from inside all that is outside of it. There every corner that is out
///    may have its own region; the number of its first corner in the cell stands for the feature
///    of the wall.
///  - Segment without skin: what lies beyond the segment, seen from the grain's centre, at right
///    angles to it: the half-plane limited to the stretch of the segment. A grain that passes an
///    end sees the other side when its centre crosses the line, and what it overlaps jumps (the
///    area does not jump for a disk): where grains go round ends, give the segment a thickness.
///  - Segment with skin, box from outside, solid: convex parts, rounded.
talus_status overlap_wall(const talus_shape_def* wall, const overlap_shape* form,
                          const overlap_body* grain, const double local[2], overlap_scratch* s);

#endif

/// What the files of the overlap areas share (soft/overlap.h): pieces of regions, and how one cell
/// is cut by another, by a line and by a circle.
#ifndef TALUS_SOFT_OVERLAP_PIECES_H
#define TALUS_SOFT_OVERLAP_PIECES_H

#include "soft/overlap.h"

#include <math.h>
#include <stdbool.h>

/// A corner of a polygon in the making, and whose outline its next side is on.
typedef struct overlap_corner {
    double x, y;
    bool of_a;
} overlap_corner;

/// The overlap of a cell of a with a cell of b.
typedef struct overlap_piece {
    double area;
    double centroid[2];
    double vector[2]; ///< area vector of the boundary that is a's, seams included
    int cell[2];      ///< of a and b; 0 for a disk
    int corner;       ///< outside of a circle: the first corner of the piece
    double span[2];   ///< outside of a circle: where it begins and ends along the cell's sides
    int64_t root;     ///< lowest piece known to be of the same region
} overlap_piece;

/// A placed convex cell.
typedef struct overlap_cell {
    const double* point; ///< [count][2] counterclockwise
    int count;
    const double* box; ///< lowest and highest corner
} overlap_cell;

static inline double cross_2d(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

static inline int cell_corners(const overlap_shape* s, int cell)
{
    return s->first[cell + 1] - s->first[cell];
}
/// The placed corners, seams and boxes of a body.
static inline const double* cell_points(const overlap_body* b, int cell)
{
    return b->number + 2 * b->shape->first[cell];
}
static inline const double* body_seam(const overlap_body* b, int seam)
{
    return b->number + 2 * b->shape->corner_count + 4 * seam;
}
static inline const double* cell_box(const overlap_body* b, int cell)
{
    return b->number + 2 * b->shape->corner_count + 4 * b->shape->seam_count + 4 * cell;
}
static inline overlap_cell body_cell(const overlap_body* b, int cell)
{
    return (overlap_cell){cell_points(b, cell), cell_corners(b->shape, cell), cell_box(b, cell)};
}
static inline int body_cells(const overlap_body* b)
{
    return b->shape ? b->shape->cell_count : 1;
}

/// Add a piece, so far a region of its own.
talus_status scratch_add(overlap_scratch* s, const overlap_piece* piece);
/// Two pieces belong to one region.
void pieces_join(overlap_piece* piece, int64_t k, int64_t l);
/// Find the pieces of two bodies and which of them meet.
talus_status pieces_find(const overlap_body* a, const overlap_body* b, const double delta[2],
                         overlap_scratch* s);
/// How regions are told: a wall and its grain were looked at with the grain as a.
typedef struct region_view {
    bool wall;         ///< a and b change places
    int face;          ///< stands for the wall's part, if it has none
    double towards[2]; ///< direction from a to b, for a region that has none
} region_view;

/// Add the regions of all pieces, in ascending order of their names.
talus_status pieces_to_regions(const overlap_body* a, const overlap_body* b,
                               const region_view* view, overlap_scratch* s);

/// Keep what is left of the line from u to v; its new side is of b. `height` [count] receives what
/// is proportional to the distances from the line. Returns the number of corners in `out`, which
/// has room for count + 1; -1 if all of the polygon is left of the line and nothing was written.
int clip_line(const overlap_corner* corner, int count, const double u[2], const double v[2],
              double* height, overlap_corner* out);
/// Area, centroid and a's area vector of a polygon; false if the area is not above 0.
bool polygon_piece(const overlap_corner* corner, int count, overlap_piece* out);

/// Overlap of two cells, the second shifted; false if there is none. The scratch has room for the
/// corners of both and 4 more.
bool piece_of_cells(const overlap_cell* a, const overlap_cell* b, const double shift[2],
                    overlap_scratch* s, overlap_piece* out);
/// Overlap of two disks, the second at `delta`.
bool piece_of_disks(double radius_a, double radius_b, const double delta[2], overlap_piece* out);
/// Overlap of a cell, shifted, with a disk at the origin; the area vector is that of the cell.
bool piece_in_disk(const double* p, int n, const double shift[2], double radius,
                   overlap_piece* out);
/// What of a disk at the origin is outside of a circle at `centre`; the area vector is the disk's.
bool piece_of_crescent(double radius, double circle, const double centre[2], overlap_piece* out);
/// What of a cell of a, shifted, is outside of a circle at the origin: pieces are added, with the
/// area vector of the cell.
talus_status pieces_outside(const double* p, int n, const double shift[2], double circle, int cell,
                            overlap_scratch* s);

/// Does the stretch from u to v, shifted, have more than a point in a cell or disk at the origin?
bool stretch_in_cell(const double u[2], const double v[2], const double shift[2], const double* p,
                     int n);
bool stretch_in_disk(const double u[2], const double v[2], const double shift[2], double radius);

#endif

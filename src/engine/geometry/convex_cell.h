/// A convex polygon (2D) or polyhedron (3D) that planes cut smaller, such as a Voronoi cell.
///
/// It is kept as loops of corners, counterclockwise seen from outside: one loop for each face in
/// 3D, a single one in 2D. Neighbouring loops hold the same bits for a corner they share. Memory
/// grows with the cell and is kept for the next one: zero a convex_cell to begin.
#ifndef TALUS_GEOMETRY_CONVEX_CELL_H
#define TALUS_GEOMETRY_CONVEX_CELL_H

#include <stdint.h>
#include <talus/base.h>

typedef struct convex_loops {
    int faces;    ///< 2D: 1, or 0 when nothing is left
    int* first;   ///< [faces + 1] first corner of each loop
    double* x;    ///< [corners][3]; 2D: the third is 0
    int32_t* tag; ///< 3D: [faces]; 2D: [corners] of the side from this corner to the next
    int64_t face_capacity, corner_capacity;
} convex_loops;

typedef struct convex_cell {
    int dim;
    convex_loops now, spare; ///< `spare` receives what a cut leaves
    double* section;         ///< [section_capacity][4] corners of the new face, and their angles
    int64_t section_capacity;
} convex_cell;

void convex_cell_free(convex_cell* c);
/// Begin with a box; the sides across axis k get tag[k].
talus_status convex_cell_box(convex_cell* c, int dim, const double low[3], const double high[3],
                             const int32_t tag[3]);
/// Begin with given loops: `faces` of them, of count[] corners each, out of x [corners][dim] by the
/// indices `corner` (NULL: in order). Corners are shifted by `shift` [dim]; all tags are 0.
talus_status convex_cell_loops(convex_cell* c, int dim, int faces, const int32_t* first,
                               const int32_t* corner, const double* x, const double* shift);
/// Copy a cell.
talus_status convex_cell_copy(convex_cell* c, const convex_cell* from);
/// Keep what is on the side normal.x <= offset; the new face gets `tag`.
talus_status convex_cell_cut(convex_cell* c, const double normal[3], double offset, int32_t tag);

/// Is there anything left?
static inline bool convex_cell_is_empty(const convex_cell* c)
{
    return c->now.faces == 0;
}
/// Distance of the farthest corner from the origin.
double convex_cell_radius(const convex_cell* c);
/// Least and largest coordinate of its corners along each axis; inside out when it is empty.
void convex_cell_extent(const convex_cell* c, double low[3], double high[3]);
/// Volume (2D: area) and, if `centre` is not NULL, centre of mass.
double convex_cell_volume(const convex_cell* c, double centre[3]);
/// Area of face f (2D: length of side f) and, if `centre` is not NULL, its centre of mass.
double convex_cell_face(const convex_cell* c, int f, double centre[3]);
/// Faces (2D: sides).
static inline int convex_cell_faces(const convex_cell* c)
{
    return c->dim == 3 || c->now.faces == 0 ? c->now.faces : c->now.first[1];
}
/// Volume (2D: area) of the part of a ball that is in the cell, in closed form.
double convex_cell_ball(const convex_cell* c, const double centre[3], double radius);

#endif

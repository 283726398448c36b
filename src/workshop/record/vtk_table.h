/// One table of a frame as VTK sees it: points, cells, and fields on one of the two.
#ifndef TALUS_RECORD_VTK_TABLE_H
#define TALUS_RECORD_VTK_TABLE_H

#include "record/frame.h"
#include "record/shapes.h"

/// The tables of an export.
typedef enum vtk_kind {
    VTK_GRAINS,   ///< points; fields on points, as on those of all others on cells
    VTK_CONTACTS, ///< lines from centre to centre
    VTK_SOLIDS,   ///< a polygon or polyhedron for each convex part of a grain
    VTK_WALLS,    ///< lines, then polygons
    VTK_KINDS,
} vtk_kind;

/// VTK's numbers of cells (vtkCellType.h).
enum { VTK_VERTEX = 1, VTK_POLY_LINE = 4, VTK_POLYGON = 7, VTK_POLYHEDRON = 42 };

typedef struct vtk_table {
    bool at_points; ///< where the fields are
    int64_t points, cells, faces;
    double* point;        ///< [points][3]
    uint8_t* type;        ///< [cells], ascending
    int64_t* offset;      ///< [cells + 1] where in `corner` a cell begins
    int64_t* corner;      ///< points of the cells
    int64_t* face_first;  ///< [cells + 1] faces of a polyhedron; NULL without polyhedra
    int64_t* face_offset; ///< [faces + 1] where in `face_corner` a face begins
    int64_t* face_corner; ///< points of the faces, counterclockwise from outside
    int field_count;
    frame_field* field; ///< plane vectors have a third component 0
} vtk_table;

/// "grains", "contacts", ...
const char* vtk_kind_name(vtk_kind kind);
/// Whether a run with these shapes has something of a kind, in a frame like this one.
bool vtk_table_is_wanted(vtk_kind kind, const shapes* all, const frame_data* frame);
/// Make a table of a frame. The caller ends it with vtk_table_free(), also after a failure.
talus_status vtk_table_make(vtk_kind kind, const shapes* all, const frame_data* frame,
                            vtk_table* out, talus_error* error);
void vtk_table_free(vtk_table* table);

#endif

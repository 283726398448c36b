/// The shapes of a run in frames.h5: what the grains of each shape and the walls look like.
///
/// Shapes and walls are only ever added, so those of the newest frame serve all frames before it.
#ifndef TALUS_RECORD_SHAPES_H
#define TALUS_RECORD_SHAPES_H

#include "record/h5.h"

#include <talus/world.h>

#define SHAPES_GROUP "shapes"

/// Write the world's solids and the shapes of its walls as group SHAPES_GROUP of `file`, in place
/// of the one that is there; false if HDF5 failed.
bool shapes_write(hid_t file, const talus_world* world, bool reduced_units);

/// Shapes read back. Counts are those of the last entries of the arrays named *_first.
typedef struct shapes {
    int dim;
    int solid_count, wall_count;
    char** name;           ///< [solid_count]
    double* radius;        ///< [solid_count] of the ball about the centre that holds all
    double* skin;          ///< [solid_count] radius by which parts are rounded
    int32_t* part_first;   ///< [solid_count + 1] parts of a solid
    int32_t* vertex_first; ///< [parts + 1] corners of a part
    int32_t* face_first;   ///< [parts + 1] faces of a part
    int32_t* loop_first;   ///< [faces + 1] where the loop of a face begins
    int32_t* loop;         ///< corners of the faces, rows of `vertex`
    double* vertex;        ///< [corners][dim] in the body frame
    talus_shape_def* wall; ///< [wall_count]; their triangles are those below
    double* triangles;     ///< [][9]
} shapes;

/// Read the shapes of a frames file. One without them gives none. The caller ends them with
/// shapes_free(), also after a failure.
talus_status shapes_read(hid_t file, const char* path, int dim, shapes* out, talus_error* error);
void shapes_free(shapes* s);

#endif

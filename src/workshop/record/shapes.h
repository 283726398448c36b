/// The shapes of a run: what the grains of each shape and the walls look like.
///
/// Shapes and walls are only ever added, so those of the newest frame serve all frames before it.
/// Like frames (frame.h) they are made from a world or read from a file (shapes_h5.h).
#ifndef TALUS_RECORD_SHAPES_H
#define TALUS_RECORD_SHAPES_H

#include <talus/world.h>

/// Solids as flat arrays with offsets, walls as their definitions. A solid is a run of parts, a
/// part a run of corners and of faces, a face a loop of corners. In 2D a part has one face, the
/// polygon itself, so that one loop over faces draws both. Counts are those of the last entries of
/// the arrays named *_first.
typedef struct shapes {
    int dim;
    int solid_count, wall_count;
    char** name;           ///< [solid_count]
    double* radius;        ///< [solid_count] of the ball about the centre that holds all
    double* skin;          ///< [solid_count] radius by which parts are rounded
    double* volume;        ///< [solid_count] 2D: area; this and the next two only from a world
    double* centre;        ///< [solid_count][3] of mass, in the frame of the given points
    double* inertia;       ///< [solid_count][9] tensor of unit mass in the body frame
    int32_t* part_first;   ///< [solid_count + 1] parts of a solid
    int32_t* vertex_first; ///< [parts + 1] corners of a part
    int32_t* face_first;   ///< [parts + 1] faces of a part
    int32_t* loop_first;   ///< [faces + 1] where the loop of a face begins
    int32_t* loop;         ///< corners of the faces, rows of `vertex`
    double* vertex;        ///< [corners][dim] in the body frame
    talus_shape_def* wall; ///< [wall_count]; their triangles are those below
    double* triangles;     ///< [][9]
} shapes;

/// The solids and walls of a world. False when memory is short or a number does not fit. The caller
/// ends them with shapes_free(), also after a failure.
bool shapes_of_world(const talus_world* world, shapes* out);
void shapes_free(shapes* s);

#endif

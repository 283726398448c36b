/// The shape of a grain or obstacle that is not a ball: one or more convex parts, rigidly joined
/// and rounded by a skin, with its mass properties.
///
/// The body frame has its origin at the centre of mass and the axes in which the points were given.
#ifndef TALUS_GEOMETRY_SOLID_H
#define TALUS_GEOMETRY_SOLID_H

#include "geometry/polytope.h"

#include <talus/world.h>

enum { SOLID_MAX_PARTS = 256 };

typedef struct solid {
    char* name;
    int dim;
    int part_count;
    polytope* part;    ///< [part_count] in the body frame
    double skin;       ///< radius by which every part is rounded
    double volume;     ///< 2D: area
    double centre[3];  ///< centre of mass in the frame in which the points were given
    double radius;     ///< of the ball about the centre of mass that holds all, skin included
    double thickness;  ///< smallest width, skin included; of several parts that of the thickest
    double thinnest;   ///< the same of the thinnest part
    double inertia[9]; ///< of unit mass, m^2, tensor in the body frame; 2D: only [8]
    double root[9];    ///< its symmetric square root: w = root (spin in the body frame), m/s
    double unroot[9];  ///< inverse of that root
    double moment[3];  ///< 3D: principal moments of that tensor, ascending
    double axis[9];    ///< [3][3] 3D: their axes, one a row
    double* points;  ///< [point_count][dim] as they were given, part by part: hulls shifted to the
    int* part_sizes; ///< [part_count]      centre of mass do not give the same solid again
    int point_count;
} solid;

/// Make a solid; points are hulled part by part. Masses of parts that overlap count twice.
talus_status solid_make(const talus_solid_def* def, int dim, solid* out, talus_error* error);
/// The definition from which solid_make() makes the same solid, to the last bit. Its pointers are
/// the solid's.
talus_solid_def solid_definition(const solid* s);
void solid_free(solid* s);

/// All solids of a world. Rows never move out of order and are never removed.
typedef struct solids {
    int count;
    int64_t capacity;
    solid* row;  ///< [count]
    int* bucket; ///< [2 capacity] rows by the hash of their names, -1 where empty
} solids;

void solids_free(solids* s);
/// Fill an empty list with copies of those of another one.
talus_status solids_copy(solids* to, const solids* from);
talus_status solids_add(solids* s, const talus_solid_def* def, int dim, int* index,
                        talus_error* error);
/// Index of a name, -1 if there is none.
int solids_find(const solids* s, const char* name);

#endif

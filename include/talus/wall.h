/// Walls: shapes that act on grains, and the ways they move.
///
/// A wall is a rigid body with a pose; its shape is given in the body frame. Vectors are always
/// three doubles; in 2D the third is ignored, and a spin is about z (index 2).
#ifndef TALUS_WALL_H
#define TALUS_WALL_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum talus_shape_kind {
    TALUS_SHAPE_PLANE = 0, ///< half-space (2D: half-plane) behind `normal` through the position
    TALUS_SHAPE_SEGMENT,   ///< 2D only: finite segment, both sides act
    TALUS_SHAPE_PLATE,     ///< 3D only: finite parallelogram, both sides act
    TALUS_SHAPE_BOX,       ///< rectangle or cuboid, from inside (container) or from outside
    TALUS_SHAPE_CYLINDER,  ///< circle (2D) or cylinder (3D), from inside or from outside
    TALUS_SHAPE_CONE,      ///< 3D only: thin shell of revolution: frustum, tube, ring plate
    TALUS_SHAPE_SOLID,     ///< a shape of talus_world_add_solid(), from outside
    TALUS_SHAPE_MESH,      ///< 3D only: surface of triangles, both sides act
    TALUS_SHAPE_COUNT
} talus_shape_kind;

/// Faces of a box in its own frame, as bits of talus_shape_def.open_faces.
enum {
    TALUS_FACE_X_LOW = 1,
    TALUS_FACE_X_HIGH = 2,
    TALUS_FACE_Y_LOW = 4,
    TALUS_FACE_Y_HIGH = 8,
    TALUS_FACE_Z_LOW = 16,
    TALUS_FACE_Z_HIGH = 32,
};

/// A wall's shape in its own frame, whose origin is the wall's position. Lengths in metres.
typedef struct talus_shape_def {
    talus_shape_kind kind;
    bool inside;             ///< box, cylinder: grains live inside [default false]
    double normal[3];        ///< plane: unit normal towards the grains
    double edge_u[3];        ///< segment: from centre to one end; plate: half of the first edge
    double edge_v[3];        ///< plate: half of the second edge, not parallel to the first
    double half_size[3];     ///< box: half edge lengths
    unsigned open_faces;     ///< box from inside: faces that are missing, TALUS_FACE_ bits
    double axis[3];          ///< cylinder (3D), cone: unit axis
    double radius;           ///< cylinder; cone: radius at the low end of the axis
    double radius_high;      ///< cone: radius at the high end
    double half_length;      ///< cylinder, cone: along the axis; 0 = infinite (cylinder only)
    double skin;             ///< segment, plate, cone, mesh: rounded half thickness [default 0]
    talus_solid_id solid;    ///< solid: which
    const double* triangles; ///< mesh: [triangle_count][3][3] corners; copied on use
    int64_t triangle_count;
    double reserve[8]; ///< room for later fields, zero
} talus_shape_def;

/// Ways a wall can move.
typedef enum talus_drive_kind {
    TALUS_DRIVE_FIXED = 0,
    TALUS_DRIVE_VELOCITY, ///< constant velocity and spin
    TALUS_DRIVE_SINE,     ///< displacement amplitude*sin(2 pi f t + phase) about the start
    TALUS_DRIVE_TABLE,    ///< velocity and spin linear between table rows, held beyond the ends
    TALUS_DRIVE_FORCE,    ///< mobile with a mass, along the free axes, under an applied force
    TALUS_DRIVE_SERVO,    ///< mobile along `servo_axis`, applied force = stress * current area
    TALUS_DRIVE_COUNT
} talus_drive_kind;

/// Motion of a wall. Fill with talus_drive_default(); copied on use, tables included.
typedef struct talus_drive_def {
    talus_mark mark;          ///< set by talus_drive_default()
    talus_drive_kind kind;    ///< [default TALUS_DRIVE_FIXED]; times count from when it was given
    double velocity[3];       ///< VELOCITY: m/s
    double spin[3];           ///< VELOCITY: rad/s
    double pivot[3];          ///< point the rotation leaves at rest, in the world at the start
    bool has_pivot;           ///< false: the wall's position is the pivot [default false]
    double amplitude[3];      ///< SINE: m
    double spin_amplitude[3]; ///< SINE: rotation vector amplitude, rad
    double frequency;         ///< SINE: Hz
    double phase;             ///< SINE: rad
    const double* table;      ///< TABLE: [table_rows][7]: t, vx, vy, vz, wx, wy, wz, ascending t
    int table_rows;
    double mass;          ///< FORCE, SERVO: kg, > 0
    bool free_axes[3];    ///< FORCE: world axes along which it may move
    double force[3];      ///< FORCE: N
    bool weight;          ///< FORCE, SERVO: gravity acts on it too [default false]
    double damping;       ///< FORCE, SERVO: drag of the wall, N s/m [default 0]
    double servo_axis[3]; ///< SERVO: unit direction in which the wall pushes
    double stress;        ///< SERVO: Pa (2D: N/m), positive pushes along servo_axis
    double area;          ///< SERVO: area (2D: length) when no spans are given
    int span_count;       ///< SERVO: area = product of the distances between these wall pairs
    talus_wall_id span_wall[2][2]; ///< both walls of a pair must be planes
    double reserve[16];            ///< room for later fields, zero
} talus_drive_def;

TALUS_DEFAULT(talus_drive_def, talus_drive_default);

/// A wall to be added. Fill with talus_wall_default(); copied on use.
typedef struct talus_wall_def {
    talus_mark mark;  ///< set by talus_wall_default()
    const char* name; ///< unique, not empty
    talus_shape_def shape;
    double position[3];         ///< origin of the shape's frame
    double rotation[3];         ///< rotation vector (rad) of the frame; 2D: [2] is the angle
    talus_material_id material; ///< [default the first]
    talus_drive_def drive;
} talus_wall_def;

TALUS_DEFAULT(talus_wall_def, talus_wall_default);

#ifdef __cplusplus
}
#endif
#endif

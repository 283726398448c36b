/// The walls: shape, pose, motion, and the force that the grains put on them.
#ifndef TALUS_STATE_WALLS_H
#define TALUS_STATE_WALLS_H

#include "base/columns.h"
#include "state/wall_form.h"

#include <talus/wall.h>
#include <talus/world.h>

/// What never changes about a wall, or only by the user's command.
typedef struct wall_record {
    char* name;
    talus_shape_def shape; ///< its triangles are owned by the record
    wall_form form;        ///< the same for solids
    double* triangles;
    int material;
    talus_drive_def drive; ///< its table is owned by the record
    double* table;
} wall_record;

typedef struct walls {
    int64_t count, capacity;
    const solids* solids; ///< the world's
    wall_record* record;  ///< [count]
    int64_t record_capacity;
    uint8_t* present;       ///< [count] 0 once removed
    double* position;       ///< [count][3]
    double* rotation;       ///< [count][4]
    double* velocity;       ///< [count][3] of the wall's position
    double* spin;           ///< [count][3]
    double* force;          ///< [count][3] of the grains on it, last step
    double* torque;         ///< [count][3] about its position
    double* applied;        ///< [count][3] applied force
    double* start_position; ///< [count][3] where the present drive began
    double* start_rotation; ///< [count][4]
    double* start_time;     ///< [count]
    double* rate2;          ///< [count][3] method soft, as all below: acceleration
    double* rate3;          ///< [count][3] and its derivatives
    double* rate4;          ///< [count][3]
    double* rate5;          ///< [count][3]
    double* moved;          ///< [count][3] position less that of the last force evaluation
    double* turned;         ///< [count][3] turn since then
} walls;

const column* walls_columns(int* count_out);

void walls_init(walls* w, const solids* all);
void walls_free(walls* w);
/// Fill an empty table with copies of the walls of another world, for the solids of this one.
talus_status walls_copy(walls* to, const walls* from, int dim, talus_error* error);
/// A wall's definition must have a name of its own, a place, and a shape that makes sense.
talus_status walls_check(const walls* w, const talus_wall_def* def, int dim, talus_error* error);
/// Check a definition and add a copy of it.
talus_status walls_add(walls* w, const talus_wall_def* def, int dim, double time, int* index,
                       talus_error* error);
/// Add a wall at rest as it was in another world, to the last bit: its directions are not made unit
/// vectors once more. Its drive, which may name walls that are yet to come, is left out.
talus_status walls_restore(walls* w, const talus_wall_def* def, int dim, talus_error* error);
talus_status walls_set_drive(walls* w, int wall, const talus_drive_def* drive, int dim, double time,
                             talus_error* error);
/// Change what a motion says about velocity or force; fails with motions that say nothing of it.
talus_status walls_set_velocity(walls* w, int wall, const double velocity[3], const double spin[3],
                                int dim, talus_error* error);
talus_status walls_set_force(walls* w, int wall, const double force[3], int dim,
                             talus_error* error);
/// Make the columns that the method soft needs, of zeros, if there are none.
talus_status walls_need_soft(walls* w);
int walls_find(const walls* w, const char* name);
static inline bool wall_is_mobile(const walls* w, int wall)
{
    talus_drive_kind kind = w->record[wall].drive.kind;
    return kind == TALUS_DRIVE_FORCE || kind == TALUS_DRIVE_SERVO;
}

#endif

/// How walls move: prescribed motions, and mobile walls under a force or a servo.
#ifndef TALUS_STATE_DRIVE_H
#define TALUS_STATE_DRIVE_H

#include "state/cell.h"
#include "state/grains.h"
#include "state/walls.h"

/// Set every wall's velocity and spin for the step [time, time + h]: the mean over the step for
/// prescribed motions (so that no drift builds up), the free velocity for mobile walls; and the
/// applied force of the latter.
void drive_begin_step(walls* w, const double gravity[3], double time, double h);
/// Move every wall by its velocity and spin over h; rotations are exact and about the pivot.
void drive_move(walls* w, double h);
/// Inverse mass matrix of a mobile wall in world axes, [dim][dim].
void drive_mobility(const walls* w, int wall, int dim, double* matrix);
/// What a mobile wall's damping leaves of its velocity and of every impulse on it in a step of h.
double drive_slowing(const walls* w, int wall, double h);
/// Put glued grains where their walls carry them, with the walls' velocities.
void drive_carry_grains(const walls* w, const cell* periodic, grains* g, int threads);
/// The same for the rows [first, last).
void drive_carry_rows(const walls* w, const cell* periodic, grains* g, int64_t first, int64_t last);
/// Move the walls with a prescribed motion on from `time` by h; their velocities are then those of
/// the end. Displacement and turn are added to w->moved and w->turned. Mobile walls stay as they
/// are.
void drive_advance(walls* w, double time, double h);
/// Acceleration of a mobile wall by the forces of the grains (w->force), the applied one, its
/// weight and its drag, at its present velocity.
void drive_acceleration(walls* w, int wall, const double gravity[3], double acceleration[3]);
/// Largest speed that a prescribed motion about `pivot` can give to a grain anywhere in the box
/// [low, high]; of the motion alone if the box is empty. Mobile walls have none of their own: 0.
double drive_top_speed(const talus_drive_def* d, int dim, const double pivot[3],
                       const double low[3], const double high[3]);
/// Force that a mobile wall with this motion is pushed with now, 0 for others, N.
double drive_push(const walls* w, const talus_drive_def* d);
/// Where the pivot of a wall's motion is now.
void drive_pivot(const walls* w, int wall, double pivot[3]);
/// Note where a newly glued grain sits in its wall's frame.
void drive_glue(const walls* w, grains* g, int64_t row);

#endif

/// How long steps of the method contact may be, from what is known before they are taken.
#ifndef TALUS_WORLD_ADVISE_STEP_H
#define TALUS_WORLD_ADVISE_STEP_H

#include "world/world.h"

/// Begin an advice with the thickness of the thinnest grain; add to it what moves grains; end it.
/// `of` is static text, such as "gravity".
talus_step_advice advice_begin(double thickness);
void advice_add_speed(talus_step_advice* a, double speed, const char* of);
void advice_add_acceleration(talus_step_advice* a, double acceleration, const char* of);
/// A wall with this motion, its own or one to come, among grains in the box [low, high].
void advice_add_drive(talus_step_advice* a, const walls* w, int wall, const talus_drive_def* drive,
                      int dim, const double low[3], const double high[3]);
/// The force on a mobile wall. It is a matter of choice: one that lies on grains does not move with
/// the acceleration that it would have alone.
void advice_add_push(talus_step_advice* a, const walls* w, const talus_drive_def* drive, int dim,
                     const double gravity[3]);
/// The speeds that the grains have and the forces on them.
void advice_add_grains(talus_step_advice* a, const grains* g);
void advice_end(talus_step_advice* a);
/// The largest of 1, 2 or 5 times a power of ten up to `bound`: as decimal numbers are written, so
/// that times in a scene are whole numbers of steps.
double advice_round(double bound);
/// The inertial time d sqrt(rho/P), in which the pressure P between grains moves one by its
/// diameter d. P is the mean over the grains that contacts of the last step press on, in their own
/// volume, d the mean diameter of all; infinite if nothing presses.
talus_status advice_inertial_time(const physical_state* state, int threads, double* out);
/// The longest step that resolves it.
talus_status advice_resolved_step(const physical_state* state, int threads, double* out);
/// Thickness of the thinnest free grain, infinite without one.
double advice_thickness(const grains* g);

#endif

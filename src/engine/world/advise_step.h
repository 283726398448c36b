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
/// Thickness of the thinnest free grain, infinite without one.
double advice_thickness(const grains* g);

#endif

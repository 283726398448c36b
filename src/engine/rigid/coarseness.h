/// How coarse is a step? What straight paths and fixed normals leave out of its contacts.
///
/// A step takes gaps and normals from its start and moves bodies along straight lines. Two balls
/// that slide past each other by s in the step so end s^2 / (2 D) nearer or farther than they
/// should, where D is the distance of their centres. That is an error of second order, which no
/// solver can mend: it shows as overlap, and as contacts that should not be. Here it is foreseen
/// from the velocities without contacts, before anything is solved.
#ifndef TALUS_RIGID_COARSENESS_H
#define TALUS_RIGID_COARSENESS_H

#include "detect/physical_state.h"

/// Largest error of a contact that closes in the step, in units of the thickness of the thinner
/// body: `velocity` [grains][dim] and `spin` [grains][1 or 3] are those without contacts, and the
/// walls have those of the step.
double coarseness_find(const step_order* order, const contacts* list, const double* velocity,
                       const double* spin);

#endif

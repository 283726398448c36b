/// What a step takes from a gap to second order.
///
/// A contact problem sees a gap as g + h u_n: a straight way across a flat surface. A grain that is
/// carried round in a drum comes nearer to the wall all the same, by h^2 v^2/2R, and a corner on a
/// face that turns under it does too. Left alone this adds up: the grain sinks by h v^2/2R a
/// second. So the second term of Taylor's series, h^2/2 G'', is counted in the gap where it is
/// negative, with G'' for the velocities before the step. Normals stay those of the step's start:
/// the impulse then halves the angle between the chords before and after it, and a frictionless
/// slide along a curve keeps its energy (docs/theory.md, "Second order").
///
/// Where G'' is positive the gap opens and closes again by itself in the next step: nothing is
/// counted, and nothing is trusted to a motion that an impact may end. A bond keeps its width and
/// counts it.
#ifndef TALUS_RIGID_CURVATURE_H
#define TALUS_RIGID_CURVATURE_H

#include "detect/contacts.h"
#include "detect/physical_state.h"

/// Velocity (at most 0) by which the curvature of a contact's surface and the turning of its bodies
/// close its gap in a step of h, beyond the u_n of the contact problem.
double curvature_closing(const physical_state* state, const contacts* list, int64_t c, double h);

/// Normal velocity, towards each other, with which a bonded pair of grains keeps its gap while it
/// turns: a step straight along the tangent widens it, and a tumbling cluster would come apart in
/// time. Below 0 only next to a wall that turns. Taken for all bonds of a rigid cluster these
/// velocities are a uniform contraction across the axis, so they strain nothing.
double curvature_of_bond(const physical_state* state, const contacts* list, int64_t c, double h);

#endif

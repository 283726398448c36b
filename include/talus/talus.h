/// Talus: simulation of rigid grains by Contact Dynamics. This header includes those of the engine
/// (libtalus): worlds, their steps and what can be measured in them. <talus/workshop.h> has the
/// rest.
#ifndef TALUS_H
#define TALUS_H

#include <talus/base.h>
#include <talus/ensemble.h>
#include <talus/fields.h>
#include <talus/measure.h>
#include <talus/soft.h>
#include <talus/solver.h>
#include <talus/wall.h>
#include <talus/world.h>

#endif

/// Talus: simulation of rigid grains by Contact Dynamics. This header includes all the others.
#ifndef TALUS_H
#define TALUS_H

#include <talus/advise.h>
#include <talus/base.h>
#include <talus/ensemble.h>
#include <talus/exchange.h>
#include <talus/fields.h>
#include <talus/figure.h>
#include <talus/measure.h>
#include <talus/recording.h>
#include <talus/run.h>
#include <talus/scene.h>
#include <talus/soft.h>
#include <talus/solver.h>
#include <talus/wall.h>
#include <talus/world.h>

#endif

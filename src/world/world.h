/// Inside of a world. Only src/world and the rooms below it may look.
#ifndef TALUS_WORLD_WORLD_H
#define TALUS_WORLD_WORLD_H

#include "base/log.h"
#include "body/cell.h"
#include "body/grains.h"
#include "body/materials.h"
#include "body/walls.h"
#include "detect/contacts.h"
#include "step/step.h"

#include <talus/world.h>

struct talus_world {
    talus_world_def def; ///< as given, solver and gravity as last set
    log_sink log;
    cell cell;
    materials materials;
    grains grains;
    walls walls;
    contacts contacts;       ///< of the last step; their impulses warm-start the next
    stepper* stepper;        ///< the way of stepping time, with its workspace
    int64_t step;            ///< steps done
    double time;
    talus_totals totals;
    talus_step_result last;
};

#endif

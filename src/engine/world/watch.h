/// Looking at the contact problems of a world's steps as they are solved.
#ifndef TALUS_WORLD_WATCH_H
#define TALUS_WORLD_WATCH_H

#include "detect/physical_state.h"

struct problem; // rigid/problem.h

typedef struct world_watcher {
    /// After every attempt of a step: is its problem wanted? NULL: nobody looks.
    bool (*wants)(void* user, const step_outcome* outcome);
    /// The problem that was wanted, from the impulses of the last step. A failure fails the step.
    talus_status (*take)(void* user, const struct problem* p, const step_order* order,
                         const step_outcome* outcome, talus_error* error);
    void* user;
} world_watcher;

/// Let a watcher look at the attempts of all steps from now on. The steps keep their bits.
void world_watch(talus_world* world, world_watcher watcher);

#endif
